//! `std::sync`. `Arc` and `Weak` are std's own: counting references is no step (but see [`tracked`]).
//!
//! ```
//! use preempt::{sync::{Arc, Mutex}, thread};
//!
//! preempt::check(|| {
//!     let total = Arc::new(Mutex::new(0));
//!     let other = Arc::clone(&total);
//!     let child = thread::spawn(move || *other.lock().unwrap() += 1);
//!     *total.lock().unwrap() += 1;
//!     child.join().unwrap();
//!     assert_eq!(*total.lock().unwrap(), 2);
//! });
//! ```

pub mod atomic;
mod barrier;
mod condvar;
pub mod mpsc;
mod mutex;
mod notify;
mod once;
mod poison;
mod rwlock;
pub mod tracked;
mod unwind;

pub use barrier::{Barrier, BarrierWaitResult};
pub use condvar::{Condvar, WaitTimeoutResult};
pub use mutex::{Mutex, MutexGuard};
pub use notify::Notify;
pub use once::{LazyLock, Once, OnceLock, OnceState};
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use std::sync::{Arc, LockResult, PoisonError, TryLockError, TryLockResult, Weak};
