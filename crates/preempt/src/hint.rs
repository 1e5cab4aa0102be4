//! `std::hint`.

pub use std::hint::{black_box, unreachable_unchecked};

/// In a spin loop: a step that counts as a yield under the fair bound (see [`crate::thread::yield_now`]).
#[track_caller]
pub fn spin_loop() {
    crate::thread::yield_now();
}
