//! `std::sync::Once`, `OnceLock` and `LazyLock`, made of a mutex and a flag.

use super::atomic::{AtomicBool, Ordering};
use super::mutex::Mutex;
use crate::runtime::identity::{ObjectTag, Tagged, resolve};
use std::cell::UnsafeCell;
use std::fmt;
use std::ops::Deref;
use std::sync::PoisonError;

/// As `std::sync::Once`.
#[derive(Debug)]
pub struct Once {
    tag: ObjectTag,
    done: AtomicBool,
    running: Mutex<()>,
}

/// As `std::sync::OnceState`.
#[derive(Debug)]
pub struct OnceState {
    poisoned: bool,
}

impl OnceState {
    /// Has an earlier call panicked?
    pub fn is_poisoned(&self) -> bool {
        self.poisoned
    }
}

impl Tagged for Once {
    fn tag(&self) -> &ObjectTag {
        &self.tag
    }
}

impl Once {
    /// Nothing was called yet.
    #[allow(clippy::new_without_default)]
    #[track_caller]
    pub const fn new() -> Once {
        Once { tag: ObjectTag::new(), done: AtomicBool::new(false), running: Mutex::new(()) }
    }

    /// Calls the function, unless one was called before; waits while another is called.
    ///
    /// # Panics
    /// If an earlier call has panicked, as std's does.
    #[track_caller]
    pub fn call_once(&self, f: impl FnOnce()) {
        let this = resolve(self);
        if this.is_completed() {
            return;
        }
        let Ok(_running) = this.running.lock() else { panic!("Once instance has previously been poisoned") };
        if !this.is_completed() {
            f();
            this.done.open();
        }
    }

    /// As `call_once`, also after a call that has panicked.
    #[track_caller]
    pub fn call_once_force(&self, f: impl FnOnce(&OnceState)) {
        let this = resolve(self);
        if this.is_completed() {
            return;
        }
        let (_running, poisoned) = match this.running.lock() {
            Ok(running) => (running, false),
            Err(poison) => (poison.into_inner(), true),
        };
        if !this.is_completed() {
            f(&OnceState { poisoned });
            this.running.clear_poison();
            this.done.open();
        }
    }

    /// Waits until some call has completed.
    ///
    /// # Panics
    /// If a call has panicked before.
    #[track_caller]
    pub fn wait(&self) {
        let this = resolve(self);
        assert!(!this.running.is_poisoned(), "Once instance has previously been poisoned");
        this.done.wait_open();
    }

    /// As [`Once::wait`], also after a call that has panicked.
    #[track_caller]
    pub fn wait_force(&self) {
        resolve(self).done.wait_open();
    }

    /// Has some call completed?
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        resolve(self).done.load(Ordering::Acquire)
    }
}

/// As `std::sync::OnceLock`.
///
/// ```
/// use preempt::{sync::OnceLock, thread};
///
/// // A static is as it was declared at the start of every run.
/// static ID: OnceLock<u32> = OnceLock::new();
///
/// preempt::check(|| {
///     let child = thread::spawn(|| *ID.get_or_init(|| 1));
///     let mine = *ID.get_or_init(|| 2);
///     assert_eq!(mine, child.join().unwrap(), "both see the value of whoever came first");
/// });
/// ```
pub struct OnceLock<T> {
    tag: ObjectTag,
    done: AtomicBool,
    running: Mutex<()>,
    value: UnsafeCell<Option<T>>,
}

impl<T> Tagged for OnceLock<T> {
    fn tag(&self) -> &ObjectTag {
        &self.tag
    }
}

// SAFETY: as for std's: the value is written once, by who holds the mutex, before `done`, and only read afterwards.
#[allow(unsafe_code)]
unsafe impl<T: Sync + Send> Sync for OnceLock<T> {}

impl<T> OnceLock<T> {
    /// A cell without a value.
    #[track_caller]
    pub const fn new() -> OnceLock<T> {
        let (done, running) = (AtomicBool::new(false), Mutex::new(()));
        OnceLock { tag: ObjectTag::new(), done, running, value: UnsafeCell::new(None) }
    }

    /// The value, if there is one.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        let this = resolve(self);
        if !this.done.load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: it is done, so nobody writes the value any more.
        #[allow(unsafe_code)]
        unsafe {
            (*this.value.get()).as_ref()
        }
    }

    /// The value, if there is one: nobody else has a reference.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut().as_mut()
    }

    /// Gives the cell its value.
    ///
    /// # Errors
    /// The value comes back if there is one already.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.get_or_init(|| value.take().expect("called once"));
        value.map_or(Ok(()), Err)
    }

    /// The value, made by the function if there is none.
    #[track_caller]
    pub fn get_or_init(&self, f: impl FnOnce() -> T) -> &T {
        let this = resolve(self);
        if let Some(value) = this.get() {
            return value;
        }
        {
            // Not poisoned by an `f` that panics: the next one tries again, as with std's.
            let _running = this.running.lock().unwrap_or_else(PoisonError::into_inner);
            if !this.done.load(Ordering::Acquire) {
                let value = f();
                // SAFETY: not done, and the mutex is held: nobody else reads or writes the value.
                #[allow(unsafe_code)]
                unsafe {
                    *this.value.get() = Some(value);
                }
                this.done.open();
            }
        }
        this.get().expect("it was set")
    }

    /// Waits until there is a value.
    #[track_caller]
    pub fn wait(&self) -> &T {
        let this = resolve(self);
        this.done.wait_open();
        this.get().expect("it was set")
    }

    /// Takes the value out, as if there had never been one.
    pub fn take(&mut self) -> Option<T> {
        std::mem::take(self).into_inner()
    }

    /// The value, if there is one.
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }
}

impl<T> Default for OnceLock<T> {
    #[track_caller]
    fn default() -> OnceLock<T> {
        OnceLock::new()
    }
}

impl<T> From<T> for OnceLock<T> {
    #[track_caller]
    fn from(value: T) -> OnceLock<T> {
        let (done, running) = (AtomicBool::new(true), Mutex::new(()));
        OnceLock { tag: ObjectTag::new(), done, running, value: UnsafeCell::new(Some(value)) }
    }
}

impl<T> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceLock").finish_non_exhaustive()
    }
}

/// As `std::sync::LazyLock`. A static one is computed anew in every run.
pub struct LazyLock<T, F = fn() -> T> {
    tag: ObjectTag,
    once: Once,
    value: UnsafeCell<Option<T>>,
    compute: UnsafeCell<Option<F>>,
}

impl<T, F> Tagged for LazyLock<T, F> {
    fn tag(&self) -> &ObjectTag {
        &self.tag
    }
}

// SAFETY: as for std's: `once` lets one thread at a time take the function and write the value, and readers come later.
#[allow(unsafe_code)]
unsafe impl<T: Sync + Send, F: Send> Sync for LazyLock<T, F> {}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// A value that the function computes when it is first used.
    #[track_caller]
    pub const fn new(f: F) -> LazyLock<T, F> {
        let compute = UnsafeCell::new(Some(f));
        LazyLock { tag: ObjectTag::new(), once: Once::new(), value: UnsafeCell::new(None), compute }
    }

    /// The value, computed if need be.
    ///
    /// # Panics
    /// If computing the value has panicked before, as std's does.
    #[track_caller]
    pub fn force(this: &LazyLock<T, F>) -> &T {
        let this = resolve(this);
        this.once.call_once(|| {
            // SAFETY: within `once`: nobody else is here, and nobody has read the value yet.
            #[allow(unsafe_code)]
            let f = unsafe { (*this.compute.get()).take() };
            let value = f.map(|f| f());
            // SAFETY: as above.
            #[allow(unsafe_code)]
            unsafe {
                *this.value.get() = value;
            }
        });
        // SAFETY: `once` is complete, so nobody writes any more.
        #[allow(unsafe_code)]
        let value = unsafe { (*this.value.get()).as_ref() };
        value.expect("it was computed")
    }

    /// The value, computed if need be.
    ///
    /// # Panics
    /// If computing the value has panicked before.
    pub fn force_mut(this: &mut LazyLock<T, F>) -> &mut T {
        LazyLock::force(this);
        this.value.get_mut().as_mut().expect("it was computed")
    }
}

impl<T, F> LazyLock<T, F> {
    /// The value, if it was computed.
    #[track_caller]
    pub fn get(this: &LazyLock<T, F>) -> Option<&T> {
        let this = resolve(this);
        if !this.once.is_completed() {
            return None;
        }
        // SAFETY: `once` is complete, so nobody writes any more.
        #[allow(unsafe_code)]
        unsafe {
            (*this.value.get()).as_ref()
        }
    }

    /// The value, if it was computed.
    pub fn get_mut(this: &mut LazyLock<T, F>) -> Option<&mut T> {
        this.value.get_mut().as_mut()
    }
}

impl<T: Default> Default for LazyLock<T> {
    #[track_caller]
    fn default() -> LazyLock<T> {
        LazyLock::new(T::default)
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        LazyLock::force(self)
    }
}

impl<T, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LazyLock").finish_non_exhaustive()
    }
}
