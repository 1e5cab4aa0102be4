//! What mutexes and reader-writer locks have in common: poisoning, and guards that give the data out.

use std::cell::Cell;
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

/// Has a thread panicked while it had the lock for itself?
#[derive(Debug)]
pub(crate) struct Poison(Cell<bool>);

impl Poison {
    pub const fn new() -> Poison {
        Poison(Cell::new(false))
    }

    pub fn is_set(&self) -> bool {
        self.0.get()
    }

    pub fn clear(&self) {
        self.0.set(false);
    }

    /// What is given out, as std wraps it.
    pub fn wrap<G>(&self, inner: G) -> LockResult<G> {
        if self.is_set() { Err(PoisonError::new(inner)) } else { Ok(inner) }
    }

    /// As [`Poison::wrap`], after trying to lock.
    pub fn try_wrap<G>(&self, inner: G) -> TryLockResult<G> {
        self.wrap(inner).map_err(TryLockError::Poisoned)
    }
}

/// Part of a guard: a panic that begins while the guard exists poisons the lock, one that began before does not.
#[derive(Debug)]
pub(crate) struct PanicWatch {
    was_panicking: bool,
}

impl PanicWatch {
    pub fn new() -> PanicWatch {
        PanicWatch { was_panicking: std::thread::panicking() }
    }

    /// The guard is dropped.
    pub fn end(&self, poison: &Poison) {
        if !self.was_panicking && std::thread::panicking() {
            poison.0.set(true);
        }
    }
}

/// The methods and traits of a lock that do not lock.
macro_rules! lock_impls {
    ($name:ident) => {
        // SAFETY: as for std's. The modelled threads share one OS thread, and the search lets no writer in beside others;
        // `poison` is changed by a writer only.
        #[allow(unsafe_code)]
        unsafe impl<T: ?Sized + Send> Send for $name<T> {}

        impl<T> $name<T> {
            /// A lock that nobody holds.
            #[track_caller]
            pub const fn new(value: T) -> $name<T> {
                $name { tag: ObjectTag::new(), poison: Poison::new(), data: UnsafeCell::new(value) }
            }

            /// The value.
            ///
            /// # Errors
            /// With the value, if the lock is poisoned.
            pub fn into_inner(self) -> LockResult<T> {
                self.poison.wrap(self.data.into_inner())
            }
        }

        impl<T: ?Sized> $name<T> {
            /// The name of a lock that somebody has taken.
            pub(crate) fn name(&self) -> ObjectId {
                self.tag.id()
            }

            /// Has a thread panicked while it had the lock for itself?
            pub fn is_poisoned(&self) -> bool {
                resolve(self).poison.is_set()
            }

            /// From here on the lock is not poisoned.
            pub fn clear_poison(&self) {
                resolve(self).poison.clear();
            }

            /// The value, without locking: nobody else has a reference.
            ///
            /// # Errors
            /// With the value, if the lock is poisoned.
            pub fn get_mut(&mut self) -> LockResult<&mut T> {
                self.poison.wrap(self.data.get_mut())
            }
        }

        impl<T: ?Sized> Tagged for $name<T> {
            fn tag(&self) -> &ObjectTag {
                &self.tag
            }
        }

        impl<T: Default> Default for $name<T> {
            #[track_caller]
            fn default() -> $name<T> {
                $name::new(T::default())
            }
        }

        impl<T> From<T> for $name<T> {
            #[track_caller]
            fn from(value: T) -> $name<T> {
                $name::new(value)
            }
        }

        impl<T: ?Sized> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name))
                    .field("poisoned", &self.poison.is_set())
                    .finish_non_exhaustive()
            }
        }
    };
}

/// The traits of a guard that gives the data out for reading.
macro_rules! shared_guard_impls {
    ($name:ident) => {
        impl<T: ?Sized> Deref for $name<'_, T> {
            type Target = T;

            fn deref(&self) -> &T {
                // SAFETY: the guard exists, so its thread holds the lock, and nobody has it for writing but through this
                // guard, which is borrowed for as long as the reference.
                #[allow(unsafe_code)]
                unsafe {
                    &*self.lock.data.get()
                }
            }
        }

        impl<T: ?Sized + fmt::Debug> fmt::Debug for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: ?Sized + fmt::Display> fmt::Display for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    };
}

/// The traits of a guard that gives the data out for writing.
macro_rules! exclusive_guard_impls {
    ($name:ident) => {
        shared_guard_impls!($name);

        impl<T: ?Sized> DerefMut for $name<'_, T> {
            fn deref_mut(&mut self) -> &mut T {
                // SAFETY: the guard exists, so its thread holds the lock for itself; the guard is borrowed exclusively.
                #[allow(unsafe_code)]
                unsafe {
                    &mut *self.lock.data.get()
                }
            }
        }
    };
}

pub(crate) use {exclusive_guard_impls, lock_impls, shared_guard_impls};
