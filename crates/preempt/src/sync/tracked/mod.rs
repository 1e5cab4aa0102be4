//! `Arc` and `Weak` whose clones, drops and counts are steps.
//!
//! For tests in which it matters who drops the last reference (because the value's destructor does operations) or what
//! `strong_count`, `get_mut`, `try_unwrap` and `upgrade` return, and for those that look for leaks
//! ([`crate::Checker::check_leaks`]). Where it does not matter std's own are better: they add no steps, and can be made of
//! unsized types by coercion. (These can by [`Arc::from_std`].)
//!
//! A reference that nobody has cloned, counted or made weak is nobody else's: dropping it is no step. Cloning is one
//! that does not conflict with other clones, since increments commute and show nobody the count; nor with drops, since
//! whoever clones has a reference, so no drop beside it is that of the last one. Only drops conflict with each other, and
//! everything does with what looks at the count.
//!
//! ```
//! use preempt::{sync::tracked::Arc, thread};
//!
//! preempt::check(|| {
//!     let value = Arc::new(7);
//!     let other = Arc::clone(&value);
//!     let child = thread::spawn(move || Arc::try_unwrap(other).is_ok());
//!     let mine = Arc::try_unwrap(value).is_ok();
//!     let theirs = child.join().unwrap();
//!     assert!(!(mine && theirs), "two threads cannot both have the last reference");
//! });
//! ```

mod traits;
mod weak;

pub use weak::Weak;

use crate::runtime::current::{active, try_with, with};
use crate::runtime::opcode::Opcode;
use crate::runtime::operate::{operate, operate_or_defer};
use crate::runtime::thread::CodeLocation;
use preempt_stateless::{ObjectId, Operation};
use std::mem::ManuallyDrop;
use std::panic::Location;
use std::pin::Pin;

/// The part of a counted object that drops have in common.
const DROPS: u64 = 0;

/// As `std::sync::Arc`, with steps.
pub struct Arc<T: ?Sized> {
    inner: std::sync::Arc<T>,
}

impl<T> Arc<T> {
    /// As std's.
    #[track_caller]
    pub fn new(value: T) -> Arc<T> {
        Arc::from_std(std::sync::Arc::new(value))
    }

    /// As std's.
    #[track_caller]
    pub fn pin(value: T) -> Pin<Arc<T>> {
        // SAFETY: a counted value does not move, and is given out by `get_mut` and `try_unwrap` only, which need an
        // `Arc` that is not pinned.
        #[allow(unsafe_code)]
        unsafe {
            Pin::new_unchecked(Arc::new(value))
        }
    }

    /// The value, if there are no others.
    ///
    /// # Errors
    /// The `Arc` itself, if there are others.
    #[track_caller]
    pub fn try_unwrap(this: Arc<T>) -> Result<T, Arc<T>> {
        match this.alone("try_unwrap", false) {
            true => {
                this.forgotten();
                std::sync::Arc::try_unwrap(this.into_std()).map_err(|inner| Arc { inner })
            }
            false => Err(this),
        }
    }

    /// The value, if this was the last one.
    #[track_caller]
    pub fn into_inner(this: Arc<T>) -> Option<T> {
        this.dropping();
        std::sync::Arc::into_inner(this.into_std())
    }

    /// The value, or a clone of it if there are others.
    #[track_caller]
    pub fn unwrap_or_clone(this: Arc<T>) -> T
    where
        T: Clone,
    {
        Arc::try_unwrap(this).unwrap_or_else(|this| (*this).clone())
    }

    /// The value, cloned before if there are others.
    #[track_caller]
    pub fn make_mut(this: &mut Arc<T>) -> &mut T
    where
        T: Clone,
    {
        if !this.alone("make_mut", true) {
            *this = Arc::new((**this).clone());
        }
        std::sync::Arc::make_mut(&mut this.inner)
    }
}

impl<T: ?Sized> Arc<T> {
    /// An `Arc` of std's that nobody else has a reference to. Unlike ours it can be coerced to an unsized type first.
    #[track_caller]
    pub fn from_std(inner: std::sync::Arc<T>) -> Arc<T> {
        let this = Arc { inner };
        let (address, location) = (this.address(), Location::caller());
        try_with(|context| context.counted(address, location));
        this
    }

    /// Without our own destructor: its step is done or not wanted.
    fn into_std(self) -> std::sync::Arc<T> {
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is not used again, and not dropped.
        #[allow(unsafe_code)]
        unsafe {
            std::ptr::read(&this.inner)
        }
    }

    fn address(&self) -> usize {
        std::sync::Arc::as_ptr(&self.inner).cast::<()>().addr()
    }

    fn object(&self, location: CodeLocation) -> ObjectId {
        with(|context| context.counted_object(self.address(), location))
    }

    /// A step that depends on a count, or changes one.
    #[track_caller]
    fn step<R>(&self, write: bool, verb: &'static str, effect: impl Fn() -> R) -> R {
        if !active() {
            return effect();
        }
        let id = self.object(Location::caller());
        let operation = if write {
            Operation::new(Opcode::Count).writes(id)
        } else {
            Operation::new(Opcode::CloneCounted).reads(id)
        };
        // While the thread panics or the run is cut there are no steps.
        operate(operation, verb, Some(id), |_| effect()).unwrap_or_else(effect)
    }

    /// Is this the only reference, or the only strong one? Then it knows what those knew that are gone.
    #[track_caller]
    fn alone(&self, verb: &'static str, weak: bool) -> bool {
        let inner = &self.inner;
        let alone =
            || std::sync::Arc::strong_count(inner) == 1 && (!weak || std::sync::Arc::weak_count(inner) == 0);
        let shared = try_with(|context| context.shared_object(self.address())).flatten();
        if shared.is_none() {
            return alone();
        }
        let alone = self.step(true, verb, alone);
        if let Some(id) = shared.filter(|_| alone) {
            try_with(|context| context.acquire(id));
        }
        alone
    }

    /// How many references there are; as with std's nothing follows from it.
    #[track_caller]
    pub fn strong_count(this: &Arc<T>) -> usize {
        this.step(true, "strong_count", || std::sync::Arc::strong_count(&this.inner))
    }

    /// How many weak references there are.
    #[track_caller]
    pub fn weak_count(this: &Arc<T>) -> usize {
        this.step(true, "weak_count", || std::sync::Arc::weak_count(&this.inner))
    }

    /// As std's.
    #[track_caller]
    pub fn downgrade(this: &Arc<T>) -> Weak<T> {
        let inner = this.step(true, "downgrade", || std::sync::Arc::downgrade(&this.inner));
        Weak { inner, name: active().then(|| this.object(Location::caller())) }
    }

    /// The value, if there is no other reference.
    #[track_caller]
    pub fn get_mut(this: &mut Arc<T>) -> Option<&mut T> {
        match this.alone("get_mut", true) {
            true => std::sync::Arc::get_mut(&mut this.inner),
            false => None,
        }
    }

    /// As std's.
    pub fn ptr_eq(this: &Arc<T>, other: &Arc<T>) -> bool {
        std::sync::Arc::ptr_eq(&this.inner, &other.inner)
    }

    /// As std's.
    pub fn as_ptr(this: &Arc<T>) -> *const T {
        std::sync::Arc::as_ptr(&this.inner)
    }

    /// As std's: the reference lives on.
    pub fn into_raw(this: Arc<T>) -> *const T {
        std::sync::Arc::into_raw(this.into_std())
    }

    /// As std's.
    ///
    /// # Safety
    /// As std's: the pointer comes from [`Arc::into_raw`].
    #[allow(unsafe_code)]
    pub unsafe fn from_raw(pointer: *const T) -> Arc<T> {
        // SAFETY: the caller promises that the pointer comes from `into_raw`, which is std's on the same allocation.
        Arc { inner: unsafe { std::sync::Arc::from_raw(pointer) } }
    }

    /// As std's.
    ///
    /// # Safety
    /// As std's.
    #[track_caller]
    #[allow(unsafe_code)]
    pub unsafe fn increment_strong_count(pointer: *const T) {
        // SAFETY: the caller promises that the pointer comes from `into_raw` and that there is a reference; it is not taken
        // here, since the `Arc` is not dropped.
        let this = ManuallyDrop::new(unsafe { Arc::from_raw(pointer) });
        std::mem::forget(Arc::clone(&this));
    }

    /// As std's.
    ///
    /// # Safety
    /// As std's.
    #[track_caller]
    #[allow(unsafe_code)]
    pub unsafe fn decrement_strong_count(pointer: *const T) {
        // SAFETY: the caller promises that the pointer comes from `into_raw` and gives up the reference.
        drop(unsafe { Arc::from_raw(pointer) });
    }

    /// The step of a drop. Who drops the last one knows what all the others knew.
    #[track_caller]
    fn dropping(&self) {
        let shared = try_with(|context| context.shared_object(self.address())).flatten();
        if let Some(id) = shared {
            // Who looks at the count writes the object itself.
            let drops = with(|context| context.part(id, DROPS));
            operate_or_defer(
                Operation::new(Opcode::DropCounted).reads(id).writes(drops).releasing(),
                "drop Arc",
                Some(id),
                move |context| {
                    context.release(id);
                },
            );
        }
        if std::sync::Arc::strong_count(&self.inner) == 1 {
            if let Some(id) = shared {
                try_with(|context| context.acquire(id));
            }
            self.forgotten();
        }
    }

    /// The value is nobody's any more.
    fn forgotten(&self) {
        try_with(|context| context.uncounted(self.address()));
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    #[track_caller]
    fn clone(&self) -> Arc<T> {
        Arc { inner: self.step(false, "clone Arc", || std::sync::Arc::clone(&self.inner)) }
    }
}

impl<T: ?Sized> Drop for Arc<T> {
    #[track_caller]
    fn drop(&mut self) {
        self.dropping();
    }
}
