//! Synchronisation. `Arc` counts in steps, and one that is not dropped is a leak.

pub use preempt::sync::tracked::{Arc, Weak};
pub use preempt::sync::{
    Barrier, BarrierWaitResult, Condvar, LazyLock, LockResult, Mutex, MutexGuard, Notify, Once, OnceLock,
    OnceState, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError, TryLockResult,
    WaitTimeoutResult, atomic, mpsc,
};
