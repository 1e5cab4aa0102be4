//! `std::sync::Once` and `OnceLock`, made of a mutex and a flag.

use super::atomic::{AtomicBool, Ordering};
use super::mutex::Mutex;
use std::cell::UnsafeCell;
use std::fmt;
use std::sync::PoisonError;

/// As `std::sync::Once`.
#[derive(Debug)]
pub struct Once {
    done: AtomicBool,
    running: Mutex<()>,
}

impl Once {
    #[allow(clippy::new_without_default)]
    pub fn new() -> Once {
        Once { done: AtomicBool::new(false), running: Mutex::new(()) }
    }

    /// # Panics
    /// If an earlier call has panicked, as std's does.
    #[track_caller]
    pub fn call_once(&self, f: impl FnOnce()) {
        if self.is_completed() {
            return;
        }
        let Ok(_running) = self.running.lock() else { panic!("Once instance has previously been poisoned") };
        if !self.is_completed() {
            f();
            self.done.store(true, Ordering::Release);
        }
    }

    #[track_caller]
    pub fn is_completed(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }
}

/// As `std::sync::OnceLock`.
pub struct OnceLock<T> {
    done: AtomicBool,
    running: Mutex<()>,
    value: UnsafeCell<Option<T>>,
}

// SAFETY: as for std's: the value is written once, by who holds the mutex, before `done`, and only read afterwards.
#[allow(unsafe_code)]
unsafe impl<T: Sync + Send> Sync for OnceLock<T> {}

impl<T> OnceLock<T> {
    #[allow(clippy::new_without_default)]
    pub fn new() -> OnceLock<T> {
        OnceLock { done: AtomicBool::new(false), running: Mutex::new(()), value: UnsafeCell::new(None) }
    }

    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        if !self.done.load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: it is done, so nobody writes the value any more.
        #[allow(unsafe_code)]
        unsafe {
            (*self.value.get()).as_ref()
        }
    }

    /// # Errors
    /// The value comes back if there is one already.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.get_or_init(|| value.take().expect("called once"));
        value.map_or(Ok(()), Err)
    }

    #[track_caller]
    pub fn get_or_init(&self, f: impl FnOnce() -> T) -> &T {
        if let Some(value) = self.get() {
            return value;
        }
        {
            let _running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            if !self.done.load(Ordering::Acquire) {
                let value = f();
                // SAFETY: not done, and the mutex is held: nobody else reads or writes the value.
                #[allow(unsafe_code)]
                unsafe {
                    *self.value.get() = Some(value);
                }
                self.done.store(true, Ordering::Release);
            }
        }
        self.get().expect("it was set")
    }

    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceLock").finish_non_exhaustive()
    }
}
