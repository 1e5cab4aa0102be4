//! `Arc` and `Weak` whose clones, drops and counts are steps.
//!
//! For tests in which it matters who drops the last reference (because the value's destructor does operations) or what
//! `strong_count`, `get_mut`, `try_unwrap` and `upgrade` return, and for those that look for leaks
//! ([`crate::Checker::check_leaks`]). Where it does not matter std's own are better: they add no steps, and can be made of
//! unsized types by coercion. (These can by [`Arc::from_std`].)
//!
//! A reference that nobody has cloned, counted or made weak is nobody else's: dropping it is no step. Cloning is one
//! that does not conflict with other clones, since increments commute and show nobody the count.

use crate::runtime::context::{Location_, active, try_with, with};
use crate::runtime::operate::{operate, operate_later};
use preempt_stateless::{ObjectId, Operation};
use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::panic::Location;
use std::pin::Pin;

const COUNT: u32 = 70;
const CLONE: u32 = 71;
const DROP: u32 = 72;

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

    fn object(&self, location: Location_) -> ObjectId {
        with(|context| context.counted_object(self.address(), location))
    }

    /// A step that depends on a count, or changes one.
    #[track_caller]
    fn step<R>(&self, write: bool, verb: &'static str, effect: impl Fn() -> R) -> R {
        let done = active().then(|| {
            let id = self.object(Location::caller());
            let operation =
                if write { Operation::local(COUNT).writes(id) } else { Operation::local(CLONE).reads(id) };
            operate(operation, verb, Some(id), |_| effect())
        });
        // While the thread panics or the run is cut there are no steps.
        done.flatten().unwrap_or_else(effect)
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
        // SAFETY: the caller's.
        Arc { inner: unsafe { std::sync::Arc::from_raw(pointer) } }
    }

    /// As std's.
    ///
    /// # Safety
    /// As std's.
    #[track_caller]
    #[allow(unsafe_code)]
    pub unsafe fn increment_strong_count(pointer: *const T) {
        // SAFETY: the caller's; the reference itself is not taken.
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
        // SAFETY: the caller's.
        drop(unsafe { Arc::from_raw(pointer) });
    }

    /// The step of a drop. Who drops the last one knows what all the others knew.
    #[track_caller]
    fn dropping(&self) {
        let shared = try_with(|context| context.shared_object(self.address())).flatten();
        if let Some(id) = shared {
            operate_later(
                Operation::local(DROP).writes(id).releasing(),
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

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T: ?Sized> AsRef<T> for Arc<T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized> Borrow<T> for Arc<T> {
    fn borrow(&self) -> &T {
        self
    }
}

impl<T: Default> Default for Arc<T> {
    #[track_caller]
    fn default() -> Arc<T> {
        Arc::new(T::default())
    }
}

impl<T> From<T> for Arc<T> {
    #[track_caller]
    fn from(value: T) -> Arc<T> {
        Arc::new(value)
    }
}

impl<T> From<Vec<T>> for Arc<[T]> {
    #[track_caller]
    fn from(values: Vec<T>) -> Arc<[T]> {
        Arc::from_std(values.into())
    }
}

impl From<&str> for Arc<str> {
    #[track_caller]
    fn from(text: &str) -> Arc<str> {
        Arc::from_std(text.into())
    }
}

impl<T: ?Sized + PartialEq> PartialEq for Arc<T> {
    fn eq(&self, other: &Arc<T>) -> bool {
        **self == **other
    }
}

impl<T: ?Sized + Eq> Eq for Arc<T> {}

impl<T: ?Sized + PartialOrd> PartialOrd for Arc<T> {
    fn partial_cmp(&self, other: &Arc<T>) -> Option<std::cmp::Ordering> {
        (**self).partial_cmp(&**other)
    }
}

impl<T: ?Sized + Ord> Ord for Arc<T> {
    fn cmp(&self, other: &Arc<T>) -> std::cmp::Ordering {
        (**self).cmp(&**other)
    }
}

impl<T: ?Sized + Hash> Hash for Arc<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized> fmt::Pointer for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&Arc::as_ptr(self), f)
    }
}

/// As `std::sync::Weak`, with steps.
pub struct Weak<T: ?Sized> {
    inner: std::sync::Weak<T>,
    /// Of the object, which may be gone.
    name: Option<ObjectId>,
}

impl<T> Weak<T> {
    /// As std's: it was never alive.
    pub const fn new() -> Weak<T> {
        Weak { inner: std::sync::Weak::new(), name: None }
    }
}

impl<T> Default for Weak<T> {
    fn default() -> Weak<T> {
        Weak::new()
    }
}

impl<T: ?Sized> Weak<T> {
    /// A strong reference, if there still is one.
    #[track_caller]
    pub fn upgrade(&self) -> Option<Arc<T>> {
        let upgrade = || self.inner.upgrade();
        let name = self.name.filter(|_| active());
        let done = name.and_then(|id| {
            operate(Operation::local(COUNT).writes(id), "upgrade", Some(id), |context| {
                let upgraded = upgrade();
                if upgraded.is_some() {
                    context.acquire(id);
                }
                upgraded
            })
        });
        done.unwrap_or_else(upgrade).map(|inner| Arc { inner })
    }

    /// How many strong references there are.
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        self.step(COUNT, "strong_count");
        self.inner.strong_count()
    }

    /// How many weak references there are.
    #[track_caller]
    pub fn weak_count(&self) -> usize {
        self.step(COUNT, "weak_count");
        self.inner.weak_count()
    }

    /// As std's.
    pub fn ptr_eq(&self, other: &Weak<T>) -> bool {
        self.inner.ptr_eq(&other.inner)
    }
}

impl<T: ?Sized> Clone for Weak<T> {
    #[track_caller]
    fn clone(&self) -> Weak<T> {
        self.step(CLONE, "clone Weak");
        Weak { inner: self.inner.clone(), name: self.name }
    }
}

impl<T: ?Sized> Drop for Weak<T> {
    #[track_caller]
    fn drop(&mut self) {
        self.step(DROP, "drop Weak");
    }
}

impl<T: ?Sized> Weak<T> {
    #[track_caller]
    fn step(&self, code: u32, verb: &'static str) {
        if let Some(id) = self.name.filter(|_| active()) {
            operate_later(Operation::local(code).writes(id), verb, Some(id), move |context| {
                if code == DROP {
                    context.release(id);
                }
            });
        }
    }
}

impl<T: ?Sized> fmt::Debug for Weak<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(Weak)")
    }
}
