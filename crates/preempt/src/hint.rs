//! `std::hint`.
//!
//! ```
//! use preempt::sync::atomic::{AtomicBool, Ordering};
//! use preempt::{hint, sync::Arc, thread};
//!
//! preempt::check(|| {
//!     let ready = Arc::new(AtomicBool::new(false));
//!     let other = Arc::clone(&ready);
//!     let child = thread::spawn(move || other.store(true, Ordering::Release));
//!     // Without the hint nothing says that this loop waits for others, and it would be a livelock.
//!     while !ready.load(Ordering::Acquire) {
//!         hint::spin_loop();
//!     }
//!     child.join().unwrap();
//! });
//! ```

pub use std::hint::{assert_unchecked, black_box, cold_path, select_unpredictable, unreachable_unchecked};

/// In a spin loop: a step that counts as a yield under the fair bound (see [`crate::thread::yield_now`]).
#[track_caller]
pub fn spin_loop() {
    crate::thread::yield_now();
}
