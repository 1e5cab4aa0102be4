//! `std::sync::atomic`. Values are sequentially consistent, whatever the ordering: stale values are *not* explored.
//! The orderings decide what a thread may rely on: a data race that they leave open is reported.
//!
//! ```
//! use preempt::cell::UnsafeCell;
//! use preempt::sync::atomic::{AtomicBool, Ordering};
//! use preempt::{Checker, FailureKind, sync::Arc, thread};
//!
//! struct Message {
//!     ready: AtomicBool,
//!     text: UnsafeCell<u32>,
//! }
//! // SAFETY: whether the accesses are ordered is what the test is about.
//! unsafe impl Sync for Message {}
//!
//! let publish = |order: Ordering| {
//!     move || {
//!         let message = Arc::new(Message { ready: AtomicBool::new(false), text: UnsafeCell::new(0) });
//!         let other = Arc::clone(&message);
//!         let child = thread::spawn(move || {
//!             other.text.with_mut(|text| unsafe { *text = 7 });
//!             other.ready.store(true, order);
//!         });
//!         if message.ready.load(Ordering::Acquire) {
//!             assert_eq!(message.text.with(|text| unsafe { *text }), 7);
//!         }
//!         child.join().unwrap();
//!     }
//! };
//! assert!(Checker::new().run(publish(Ordering::Release)).failure.is_none());
//! let failure = Checker::new().run(publish(Ordering::Relaxed)).failure.unwrap();
//! assert_eq!(failure.kind, FailureKind::DataRace);
//! ```

mod access;

use crate::runtime::word::Word;
use access::{Arguments, Modification};
use std::fmt;

pub use access::fence;
pub use std::sync::atomic::{Ordering, compiler_fence};

/// As the function of that name in older editions of std.
#[track_caller]
pub fn spin_loop_hint() {
    crate::hint::spin_loop();
}

macro_rules! atomic {
    ($(#[$doc:meta])* $name:ident$(<$p:ident>)?, $type:ty) => {
        $(#[$doc])*
        pub struct $name$(<$p>)? {
            word: Word<$type>,
        }

        impl$(<$p>)? $name$(<$p>)? {
            /// An atomic with this value.
            pub const fn new(value: $type) -> Self {
                $name { word: Word::new(value) }
            }

            /// Reads the value: a step.
            ///
            /// # Panics
            /// If the ordering is one of stores only.
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $type {
                self.word.load(order)
            }

            /// Writes a value: a step.
            ///
            /// # Panics
            /// If the ordering is one of loads only.
            #[track_caller]
            pub fn store(&self, value: $type, order: Ordering) {
                self.word.store(value, order);
            }

            /// Writes a value and returns the old one: a step.
            #[track_caller]
            pub fn swap(&self, value: $type, order: Ordering) -> $type {
                self.word.modify(Modification::always("swap", order, Arguments::One(value)), |_| Some(value)).0
            }

            /// Writes a value if the current one is as given, and returns that: a step.
            ///
            /// # Errors
            /// The current value, if it is another one.
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $type,
                new: $type,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$type, $type> {
                self.word.exchange(current, new, Modification::exchange(current, new, success, failure, false))
            }

            /// As [`Self::compare_exchange`], but it may fail spuriously.
            ///
            /// # Errors
            /// The current value, if it is another one, or spuriously if that is to be explored
            /// ([`crate::Checker::spurious`]).
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $type,
                new: $type,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$type, $type> {
                self.word.exchange(current, new, Modification::exchange(current, new, success, failure, true))
            }

            /// Replaces the value by what the function makes of it, with as many exchanges as it takes; returns the old one.
            ///
            /// # Errors
            /// The current value, if the function returns `None` for it.
            #[track_caller]
            pub fn fetch_update<F>(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut f: F,
            ) -> Result<$type, $type>
            where
                F: FnMut($type) -> Option<$type>,
            {
                let mut old = self.load(fetch_order);
                while let Some(new) = f(old) {
                    match self.compare_exchange_weak(old, new, set_order, fetch_order) {
                        Ok(old) => return Ok(old),
                        Err(now) => old = now,
                    }
                }
                Err(old)
            }

            /// As [`Self::fetch_update`], under its newer name.
            ///
            /// # Errors
            /// The current value, if the function returns `None` for it.
            #[track_caller]
            pub fn try_update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                f: impl FnMut($type) -> Option<$type>,
            ) -> Result<$type, $type> {
                self.fetch_update(set_order, fetch_order, f)
            }

            /// As [`Self::fetch_update`], with a function that always returns a value.
            #[track_caller]
            pub fn update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut f: impl FnMut($type) -> $type,
            ) -> $type {
                match self.fetch_update(set_order, fetch_order, |old| Some(f(old))) {
                    Ok(old) | Err(old) => old,
                }
            }

            /// An access that is not atomic, and checked for data races.
            #[track_caller]
            pub fn get_mut(&mut self) -> &mut $type {
                self.word.record_access(true);
                self.word.get_mut()
            }

            /// As [`Self::get_mut`], under loom's name: the closure may read and write the value.
            #[track_caller]
            pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut $type) -> R) -> R {
                self.word.record_access(true);
                let mut value = self.word.peek();
                let result = f(&mut value);
                self.word.poke(value);
                result
            }

            /// loom's read without synchronisation: no step, and checked for data races with stores.
            ///
            /// # Safety
            /// Nothing has to be kept here: a data race is reported.
            #[track_caller]
            #[allow(unsafe_code)]
            pub unsafe fn unsync_load(&self) -> $type {
                self.word.record_access(false);
                self.word.peek()
            }

            /// As std's, which has been deprecated in favour of [`Self::compare_exchange`].
            #[track_caller]
            pub fn compare_and_swap(&self, current: $type, new: $type, order: Ordering) -> $type {
                let failure = match order {
                    Ordering::AcqRel => Ordering::Acquire,
                    Ordering::Release => Ordering::Relaxed,
                    order => order,
                };
                match self.compare_exchange(current, new, order, failure) {
                    Ok(old) | Err(old) => old,
                }
            }

            /// The value.
            pub fn into_inner(self) -> $type {
                self.word.peek()
            }
        }

        impl$(<$p>)? fmt::Debug for $name$(<$p>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.word.peek().fmt(f)
            }
        }

        impl$(<$p>)? From<$type> for $name$(<$p>)? {
            fn from(value: $type) -> Self {
                $name::new(value)
            }
        }
    };
}

macro_rules! integer {
    ($name:ident, $type:ty) => {
        atomic!(
            #[doc = concat!("As `std::sync::atomic::", stringify!($name), "`.")]
            $name,
            $type
        );

        impl Default for $name {
            fn default() -> $name {
                $name::new(0)
            }
        }

        fetch!(
            $name,
            $type,
            fetch_add(|old, value| old.wrapping_add(value)),
            fetch_sub(|old, value| old.wrapping_sub(value)),
            fetch_and(|old, value| old & value),
            fetch_nand(|old, value| !(old & value)),
            fetch_or(|old, value| old | value),
            fetch_xor(|old, value| old ^ value),
            fetch_max(|old, value| old.max(value)),
            fetch_min(|old, value| old.min(value))
        );
    };
}

macro_rules! fetch {
    ($name:ident, $type:ty, $($method:ident(|$old:ident, $value:ident| $new:expr)),*) => {
        impl $name {
            $(
                #[doc = concat!("As std's `", stringify!($method), "`: a step that returns the old value.")]
                #[track_caller]
                pub fn $method(&self, $value: $type, order: Ordering) -> $type {
                    let how = Modification::always(stringify!($method), order, Arguments::One($value));
                    self.word.modify(how, |$old: $type| Some($new)).0
                }
            )*
        }
    };
}

integer!(AtomicI8, i8);
integer!(AtomicI16, i16);
integer!(AtomicI32, i32);
integer!(AtomicI64, i64);
integer!(AtomicIsize, isize);
integer!(AtomicU8, u8);
integer!(AtomicU16, u16);
integer!(AtomicU32, u32);
integer!(AtomicU64, u64);
integer!(AtomicUsize, usize);

atomic!(
    #[doc = "As `std::sync::atomic::AtomicBool`."]
    AtomicBool,
    bool
);
fetch!(
    AtomicBool,
    bool,
    fetch_and(|old, value| old & value),
    fetch_nand(|old, value| !(old & value)),
    fetch_or(|old, value| old | value),
    fetch_xor(|old, value| old ^ value)
);

impl AtomicBool {
    /// As std's `fetch_not`: a step that returns the old value.
    #[track_caller]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.fetch_xor(true, order)
    }
}

impl AtomicBool {
    /// A store of `true`, with release, that lets those go on who wait in [`AtomicBool::wait_open`].
    #[track_caller]
    pub(crate) fn open(&self) {
        self.word.open();
    }

    /// A load, with acquire, that waits until the value is `true`.
    #[track_caller]
    pub(crate) fn wait_open(&self) {
        self.word.wait_open();
    }
}

impl Default for AtomicBool {
    fn default() -> AtomicBool {
        AtomicBool::new(false)
    }
}

atomic!(#[doc = "As `std::sync::atomic::AtomicPtr`."] AtomicPtr<T>, *mut T);

// SAFETY: as for std's: the pointer is only a value here, and following it is the user's.
#[allow(unsafe_code)]
unsafe impl<T> Sync for AtomicPtr<T> {}
// SAFETY: as for `Sync`.
#[allow(unsafe_code)]
unsafe impl<T> Send for AtomicPtr<T> {}

impl<T> AtomicPtr<T> {
    /// As std's `fetch_ptr_add`: a step that returns the old value.
    #[track_caller]
    pub fn fetch_ptr_add(&self, count: usize, order: Ordering) -> *mut T {
        self.change("fetch_ptr_add", order, |old| old.wrapping_add(count))
    }

    /// As std's `fetch_ptr_sub`: a step that returns the old value.
    #[track_caller]
    pub fn fetch_ptr_sub(&self, count: usize, order: Ordering) -> *mut T {
        self.change("fetch_ptr_sub", order, |old| old.wrapping_sub(count))
    }

    /// As std's `fetch_byte_add`: a step that returns the old value.
    #[track_caller]
    pub fn fetch_byte_add(&self, bytes: usize, order: Ordering) -> *mut T {
        self.change("fetch_byte_add", order, |old| old.wrapping_byte_add(bytes))
    }

    /// As std's `fetch_byte_sub`: a step that returns the old value.
    #[track_caller]
    pub fn fetch_byte_sub(&self, bytes: usize, order: Ordering) -> *mut T {
        self.change("fetch_byte_sub", order, |old| old.wrapping_byte_sub(bytes))
    }

    /// As std's `fetch_and`: a step that returns the old value.
    #[track_caller]
    pub fn fetch_and(&self, bits: usize, order: Ordering) -> *mut T {
        self.change("fetch_and", order, |old| old.map_addr(|address| address & bits))
    }

    /// As std's `fetch_or`: a step that returns the old value.
    #[track_caller]
    pub fn fetch_or(&self, bits: usize, order: Ordering) -> *mut T {
        self.change("fetch_or", order, |old| old.map_addr(|address| address | bits))
    }

    /// As std's `fetch_xor`: a step that returns the old value.
    #[track_caller]
    pub fn fetch_xor(&self, bits: usize, order: Ordering) -> *mut T {
        self.change("fetch_xor", order, |old| old.map_addr(|address| address ^ bits))
    }

    #[track_caller]
    fn change(&self, verb: &'static str, order: Ordering, new: impl Fn(*mut T) -> *mut T) -> *mut T {
        self.word.modify(Modification::always(verb, order, Arguments::None), |old| Some(new(old))).0
    }
}

impl<T> Default for AtomicPtr<T> {
    fn default() -> AtomicPtr<T> {
        AtomicPtr::new(std::ptr::null_mut())
    }
}
