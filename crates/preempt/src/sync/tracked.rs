//! `Arc` and `Weak` whose clones, drops and counts are steps.
//!
//! For tests in which it matters who drops the last reference (because the value's destructor does operations) or what
//! `strong_count`, `get_mut`, `try_unwrap` and `upgrade` return. Where it does not matter std's own are better: they
//! add no steps, and can be made of unsized types by coercion.

use crate::runtime::context::{Context, active};
use crate::runtime::operate::{operate, operate_later};
use crate::runtime::place::{Tag, Tagged, here};
use preempt_stateless::{ObjectId, Operation};
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::Deref;

const COUNT: u32 = 70;
const CLONE: u32 = 71;
const DROP: u32 = 72;

struct Inner<T: ?Sized> {
    tag: Tag,
    value: T,
}

impl<T: ?Sized> Tagged for Inner<T> {
    fn tag(&self) -> &Tag {
        &self.tag
    }
}

impl<T: ?Sized> Inner<T> {
    #[track_caller]
    fn name(&self) -> ObjectId {
        here(self).tag.id()
    }

    /// A step that changes a count or depends on it. Whose result says so learns what happened to the clones that are gone;
    /// for others the count is a relaxed atomic, as std's.
    #[track_caller]
    fn step<R>(
        &self,
        code: u32,
        verb: &'static str,
        acquires: impl Fn(&R) -> bool,
        effect: impl Fn() -> R,
    ) -> R {
        let done = active().then(|| {
            let id = self.name();
            operate(Operation::local(code).writes(id), verb, Some(id), |context| {
                context.object(id, "arc");
                let result = effect();
                if acquires(&result) {
                    context.acquire(id);
                }
                result
            })
        });
        // While the thread panics or the run is cut there are no steps.
        done.flatten().unwrap_or_else(effect)
    }
}

/// As `std::sync::Arc`, with steps.
pub struct Arc<T: ?Sized> {
    inner: std::sync::Arc<Inner<T>>,
}

impl<T> Arc<T> {
    pub fn new(value: T) -> Arc<T> {
        Arc { inner: std::sync::Arc::new(Inner { tag: Tag::new(), value }) }
    }

    /// # Errors
    /// The `Arc` itself, if there are others.
    #[track_caller]
    pub fn try_unwrap(this: Arc<T>) -> Result<T, Arc<T>> {
        match this.inner.step(
            COUNT,
            "try_unwrap",
            |alone| *alone,
            || std::sync::Arc::strong_count(&this.inner) == 1,
        ) {
            true => match std::sync::Arc::try_unwrap(this.into_std()) {
                Ok(inner) => Ok(inner.value),
                Err(inner) => Err(Arc { inner }),
            },
            false => Err(this),
        }
    }

    /// The value, if this was the last one.
    #[track_caller]
    pub fn into_inner(this: Arc<T>) -> Option<T> {
        this.dropping();
        std::sync::Arc::into_inner(this.into_std()).map(|inner| inner.value)
    }

    /// The value, or a clone of it if there are others.
    #[track_caller]
    pub fn unwrap_or_clone(this: Arc<T>) -> T
    where
        T: Clone,
    {
        Arc::try_unwrap(this).unwrap_or_else(|this| (*this).clone())
    }

    /// Without our own destructor: its step is done or not wanted.
    fn into_std(self) -> std::sync::Arc<Inner<T>> {
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is not used again, and not dropped.
        #[allow(unsafe_code)]
        unsafe {
            std::ptr::read(&this.inner)
        }
    }
}

impl<T: ?Sized> Arc<T> {
    #[track_caller]
    pub fn strong_count(this: &Arc<T>) -> usize {
        this.inner.step(COUNT, "strong_count", |_| false, || std::sync::Arc::strong_count(&this.inner))
    }

    #[track_caller]
    pub fn weak_count(this: &Arc<T>) -> usize {
        this.inner.step(COUNT, "weak_count", |_| false, || std::sync::Arc::weak_count(&this.inner))
    }

    #[track_caller]
    pub fn downgrade(this: &Arc<T>) -> Weak<T> {
        let inner = this.inner.step(CLONE, "downgrade", |_| true, || std::sync::Arc::downgrade(&this.inner));
        Weak { inner, name: active().then(|| this.inner.name()) }
    }

    #[track_caller]
    pub fn get_mut(this: &mut Arc<T>) -> Option<&mut T> {
        let alone =
            || std::sync::Arc::strong_count(&this.inner) == 1 && std::sync::Arc::weak_count(&this.inner) == 0;
        match this.inner.step(COUNT, "get_mut", |alone| *alone, alone) {
            true => std::sync::Arc::get_mut(&mut this.inner).map(|inner| &mut inner.value),
            false => None,
        }
    }

    pub fn ptr_eq(this: &Arc<T>, other: &Arc<T>) -> bool {
        std::sync::Arc::ptr_eq(&this.inner, &other.inner)
    }

    pub fn as_ptr(this: &Arc<T>) -> *const T {
        &raw const this.inner.value
    }

    /// The step of a drop. Who drops the last one knows what all the others knew.
    #[track_caller]
    fn dropping(&self) {
        if active() {
            let id = self.inner.name();
            operate_later(
                Operation::local(DROP).writes(id),
                "drop Arc",
                Some(id),
                move |context: &mut Context| {
                    context.object(id, "arc");
                    context.release(id);
                    context.acquire(id);
                },
            );
        }
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    #[track_caller]
    fn clone(&self) -> Arc<T> {
        Arc { inner: self.inner.step(CLONE, "clone Arc", |_| false, || std::sync::Arc::clone(&self.inner)) }
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
        &self.inner.value
    }
}

impl<T: ?Sized> AsRef<T> for Arc<T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: Default> Default for Arc<T> {
    fn default() -> Arc<T> {
        Arc::new(T::default())
    }
}

impl<T> From<T> for Arc<T> {
    fn from(value: T) -> Arc<T> {
        Arc::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// As `std::sync::Weak`, with steps.
pub struct Weak<T: ?Sized> {
    inner: std::sync::Weak<Inner<T>>,
    /// Of the object, which may be gone.
    name: Option<ObjectId>,
}

impl<T: ?Sized> Weak<T> {
    #[track_caller]
    pub fn upgrade(&self) -> Option<Arc<T>> {
        let upgrade = || self.inner.upgrade();
        let name = self.name.filter(|_| active());
        let done = name.and_then(|id| {
            operate(Operation::local(CLONE).writes(id), "upgrade", Some(id), |context| {
                let upgraded = upgrade();
                if upgraded.is_some() {
                    context.acquire(id);
                }
                upgraded
            })
        });
        done.unwrap_or_else(upgrade).map(|inner| Arc { inner })
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
