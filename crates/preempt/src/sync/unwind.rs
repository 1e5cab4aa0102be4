//! Which mirrors are safe to use across `catch_unwind`: those whose std's are. Ours are made of cells, so the compiler would
//! deny it.

use super::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8, AtomicU16,
    AtomicU32, AtomicU64, AtomicUsize,
};
use super::mpsc::{Receiver, Sender, SyncSender};
use super::{Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, tracked};
use crate::thread::{JoinHandle, ScopedJoinHandle, Thread};
use std::panic::{RefUnwindSafe, UnwindSafe};

macro_rules! safe {
    ($($name:ident$(<$($p:tt),*>)?),* $(,)?) => {
        $(
            impl$(<$($p),*>)? UnwindSafe for $name$(<$($p),*>)? {}
            impl$(<$($p),*>)? RefUnwindSafe for $name$(<$($p),*>)? {}
        )*
    };
}

safe!(
    AtomicBool,
    AtomicI8,
    AtomicI16,
    AtomicI32,
    AtomicI64,
    AtomicIsize,
    AtomicU8,
    AtomicU16,
    AtomicU32,
    AtomicU64,
    AtomicUsize,
    AtomicPtr<T>,
    Barrier,
    Condvar,
    Once,
    Sender<T>,
    SyncSender<T>,
    Receiver<T>,
    JoinHandle<T>,
    Thread,
);

// A lock is poisoned by a panic, so whoever looks knows.
impl<T: ?Sized> UnwindSafe for Mutex<T> {}
impl<T: ?Sized> RefUnwindSafe for Mutex<T> {}
impl<T: ?Sized> UnwindSafe for RwLock<T> {}
impl<T: ?Sized> RefUnwindSafe for RwLock<T> {}

impl<T: UnwindSafe> UnwindSafe for OnceLock<T> {}
impl<T: UnwindSafe + RefUnwindSafe> RefUnwindSafe for OnceLock<T> {}
impl<T: UnwindSafe, F: UnwindSafe> UnwindSafe for LazyLock<T, F> {}
impl<T: UnwindSafe + RefUnwindSafe, F: UnwindSafe> RefUnwindSafe for LazyLock<T, F> {}
impl<T: RefUnwindSafe + ?Sized> UnwindSafe for tracked::Arc<T> {}
impl<T: RefUnwindSafe + ?Sized> UnwindSafe for tracked::Weak<T> {}
impl<T> UnwindSafe for ScopedJoinHandle<'_, T> {}
impl<T> RefUnwindSafe for ScopedJoinHandle<'_, T> {}
