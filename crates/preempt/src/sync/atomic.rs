//! `std::sync::atomic`. Values are sequentially consistent, whatever the ordering: stale values are *not* explored.
//! The orderings decide what a thread may rely on: a data race that they leave open is reported.

use crate::runtime::context::{Context, set, try_with};
use crate::runtime::operate::operate;
use crate::runtime::word::Word;
use preempt_stateless::{ObjectId, Operation};
use std::fmt;
use std::panic::Location;

pub use std::sync::atomic::{Ordering, compiler_fence};

fn acquires(order: Ordering) -> bool {
    matches!(order, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
}

fn releases(order: Ordering) -> bool {
    matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
}

/// The thread has read what the object's release sequence published.
fn read(context: &mut Context, id: ObjectId, order: Ordering) {
    context.access_atomically(id, false);
    let Context { threads, objects, current, .. } = context;
    let (me, object) = (&mut threads[*current], objects.get_mut(id));
    match acquires(order) {
        true => me.clock.join(&object.clock),
        // An acquire fence may follow.
        false => me.acquirable.join(&object.clock),
    }
}

/// A store ends the release sequence before it, a read-modify-write continues it.
fn write(context: &mut Context, id: ObjectId, order: Ordering, modify: bool) {
    context.access_atomically(id, true);
    let Context { threads, objects, current, .. } = context;
    let (me, object) = (&threads[*current], objects.get_mut(id));
    if !modify {
        object.clock.clear();
    }
    object.clock.join(if releases(order) { &me.clock } else { &me.fenced });
}

/// As `std::sync::atomic::fence`; no step.
pub fn fence(order: Ordering) {
    assert!(order != Ordering::Relaxed, "there is no such thing as a relaxed fence");
    try_with(|context| {
        if context.threads.is_empty() {
            return;
        }
        let current = context.current;
        let me = context.me();
        if acquires(order) {
            let known = me.acquirable.clone();
            me.clock.join(&known);
        }
        if releases(order) {
            me.fenced = me.clock.clone();
            me.clock.tick(current);
        }
    });
}

/// As the function of that name in older editions of std.
#[track_caller]
pub fn spin_loop_hint() {
    crate::hint::spin_loop();
}

const LOAD: u32 = 60;
const STORE: u32 = 61;
const MODIFY: u32 = 62;

/// Of a load, or of an exchange that fails: std panics too.
#[track_caller]
fn no_release(order: Ordering) {
    let release = matches!(order, Ordering::Release | Ordering::AcqRel);
    assert!(!release, "there is no such thing as a release load, nor an exchange that fails with one");
}

impl<T: Copy> Word<T> {
    #[track_caller]
    fn load(&self, order: Ordering) -> T {
        no_release(order);
        let id = self.object();
        let loaded = operate(Operation::local(LOAD).reads(id), "load", Some(id), |context| {
            read(context, id, order);
            context.peek(id)
        });
        loaded.unwrap_or_else(|| self.peek())
    }

    #[track_caller]
    fn store(&self, value: T, order: Ordering) {
        assert!(
            !matches!(order, Ordering::Acquire | Ordering::AcqRel),
            "there is no such thing as an acquire store"
        );
        let id = self.object();
        let stored = operate(Operation::local(STORE).writes(id).releasing(), "store", Some(id), |context| {
            write(context, id, order, false);
            context.poke(id, value);
        });
        if stored.is_none() {
            self.poke(value);
        }
    }

    /// Changes the value if `change` says so; returns the old one, and whether it was changed.
    #[track_caller]
    fn modify(
        &self,
        verb: &'static str,
        success: Ordering,
        failure: Ordering,
        weak: bool,
        change: impl Fn(T) -> Option<T>,
    ) -> (T, bool) {
        let id = self.object();
        let weak = weak && try_with(|context| context.may_vary()) == Some(true);
        let operation = Operation::local(MODIFY).writes(id).releasing().varying(weak);
        let modified = operate(operation, verb, Some(id), |context| {
            let old = context.peek(id);
            match change(old).filter(|_| !context.varied) {
                Some(new) => {
                    read(context, id, success);
                    write(context, id, success, true);
                    context.poke(id, new);
                    (old, true)
                }
                None => {
                    read(context, id, failure);
                    (old, false)
                }
            }
        });
        modified.unwrap_or_else(|| {
            let old = self.peek();
            let new = change(old);
            new.into_iter().for_each(|new| self.poke(new));
            (old, new.is_some())
        })
    }

    /// An access that is not atomic, to be checked for data races.
    #[track_caller]
    fn noted(&self, write: bool) {
        let location = Location::caller();
        if crate::runtime::context::active() {
            let id = self.object();
            try_with(|context| context.access_plainly(id, write, location));
        }
    }
}

macro_rules! atomic {
    ($(#[$doc:meta])* $name:ident$(<$p:ident>)?, $type:ty) => {
        $(#[$doc])*
        pub struct $name$(<$p>)? {
            word: Word<$type>,
        }

        impl$(<$p>)? $name$(<$p>)? {
            pub const fn new(value: $type) -> Self {
                $name { word: Word::new(value) }
            }

            #[track_caller]
            pub fn load(&self, order: Ordering) -> $type {
                self.word.load(order)
            }

            #[track_caller]
            pub fn store(&self, value: $type, order: Ordering) {
                self.word.store(value, order);
            }

            #[track_caller]
            pub fn swap(&self, value: $type, order: Ordering) -> $type {
                self.word.modify("swap", order, order, false, |_| Some(value)).0
            }

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
                no_release(failure);
                let change = |old: $type| (old == current).then_some(new);
                match self.word.modify("compare_exchange", success, failure, false, change) {
                    (old, true) => Ok(old),
                    (old, false) => Err(old),
                }
            }

            /// # Errors
            /// The current value, if it is another one, or for no reason if that is to be explored
            /// ([`crate::Checker::spurious`]).
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $type,
                new: $type,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$type, $type> {
                no_release(failure);
                let change = |old: $type| (old == current).then_some(new);
                match self.word.modify("compare_exchange_weak", success, failure, true, change) {
                    (old, true) => Ok(old),
                    (old, false) => Err(old),
                }
            }

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

            /// Returns the old value.
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
                self.word.noted(true);
                self.word.get_mut()
            }

            /// As [`Self::get_mut`], under loom's name: the closure may read and write the value.
            #[track_caller]
            pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut $type) -> R) -> R {
                self.word.noted(true);
                let mut value = self.word.peek();
                let result = f(&mut value);
                self.word.poke(value);
                result
            }

            /// loom's read without synchronisation: no step, and checked for data races with stores.
            ///
            /// # Safety
            /// None is asked for here: a data race is reported.
            #[track_caller]
            #[allow(unsafe_code)]
            pub unsafe fn unsync_load(&self) -> $type {
                self.word.noted(false);
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
                #[track_caller]
                pub fn $method(&self, $value: $type, order: Ordering) -> $type {
                    self.word.modify(stringify!($method), order, order, false, |$old: $type| Some($new)).0
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
    #[track_caller]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.fetch_xor(true, order)
    }
}

impl AtomicBool {
    /// A store of `true`, with release, that lets those go on who wait in [`AtomicBool::wait_open`].
    #[track_caller]
    pub(crate) fn open(&self) {
        let id = self.word.object();
        let opened = operate(Operation::local(STORE).writes(id).releasing(), "store", Some(id), |context| {
            write(context, id, Ordering::Release, false);
            context.poke(id, true);
            context.objects.get_mut(id).gate = 1;
        });
        if opened.is_none() {
            self.word.poke(true);
        }
    }

    /// A load, with acquire, that waits until the value is `true`.
    #[track_caller]
    pub(crate) fn wait_open(&self) {
        let id = self.word.object();
        operate(Operation::local(LOAD).reads(id).needs(set(id, 1)), "wait", Some(id), |context| {
            read(context, id, Ordering::Acquire);
        });
    }
}

impl Default for AtomicBool {
    fn default() -> AtomicBool {
        AtomicBool::new(false)
    }
}

atomic!(#[doc = "As `std::sync::atomic::AtomicPtr`."] AtomicPtr<T>, *mut T);

// SAFETY: as std's: the pointer is only a value here.
#[allow(unsafe_code)]
unsafe impl<T> Sync for AtomicPtr<T> {}
// SAFETY: see above.
#[allow(unsafe_code)]
unsafe impl<T> Send for AtomicPtr<T> {}

impl<T> AtomicPtr<T> {
    #[track_caller]
    pub fn fetch_ptr_add(&self, count: usize, order: Ordering) -> *mut T {
        self.change("fetch_ptr_add", order, |old| old.wrapping_add(count))
    }

    #[track_caller]
    pub fn fetch_ptr_sub(&self, count: usize, order: Ordering) -> *mut T {
        self.change("fetch_ptr_sub", order, |old| old.wrapping_sub(count))
    }

    #[track_caller]
    pub fn fetch_byte_add(&self, bytes: usize, order: Ordering) -> *mut T {
        self.change("fetch_byte_add", order, |old| old.wrapping_byte_add(bytes))
    }

    #[track_caller]
    pub fn fetch_byte_sub(&self, bytes: usize, order: Ordering) -> *mut T {
        self.change("fetch_byte_sub", order, |old| old.wrapping_byte_sub(bytes))
    }

    #[track_caller]
    pub fn fetch_and(&self, bits: usize, order: Ordering) -> *mut T {
        self.change("fetch_and", order, |old| old.map_addr(|address| address & bits))
    }

    #[track_caller]
    pub fn fetch_or(&self, bits: usize, order: Ordering) -> *mut T {
        self.change("fetch_or", order, |old| old.map_addr(|address| address | bits))
    }

    #[track_caller]
    pub fn fetch_xor(&self, bits: usize, order: Ordering) -> *mut T {
        self.change("fetch_xor", order, |old| old.map_addr(|address| address ^ bits))
    }

    #[track_caller]
    fn change(&self, verb: &'static str, order: Ordering, new: impl Fn(*mut T) -> *mut T) -> *mut T {
        self.word.modify(verb, order, order, false, |old| Some(new(old))).0
    }
}

impl<T> Default for AtomicPtr<T> {
    fn default() -> AtomicPtr<T> {
        AtomicPtr::new(std::ptr::null_mut())
    }
}
