//! `std::sync`. `Arc` and `Weak` are std's own, as shuttle's are.

pub use preempt::sync::{
    Arc, Barrier, BarrierWaitResult, Condvar, LazyLock, LockResult, Mutex, MutexGuard, Once, OnceLock,
    OnceState, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError, TryLockResult,
    WaitTimeoutResult, Weak, mpsc,
};

/// `std::sync::atomic`, and atomics of 128 bits.
pub mod atomic {
    pub use crate::wide::{AtomicI128, AtomicU128};
    pub use preempt::sync::atomic::*;
}
