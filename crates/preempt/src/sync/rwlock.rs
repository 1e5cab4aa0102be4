//! `std::sync::RwLock`. Readers are independent of each other: their orders are not told apart.

use crate::runtime::context::clear;
use crate::runtime::operate::{operate, operate_later};
use crate::runtime::place::{Tag, Tagged, here};
use preempt_stateless::{ObjectId, Operation};
use std::cell::{Cell, UnsafeCell};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

/// The gate: the number of readers, and this bit for a writer.
const WRITER: u128 = 1 << 64;

/// As `std::sync::RwLock`.
pub struct RwLock<T: ?Sized> {
    tag: Tag,
    poisoned: Cell<bool>,
    data: UnsafeCell<T>,
}

// SAFETY: as for std's; see `Mutex`.
#[allow(unsafe_code)]
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: see above.
#[allow(unsafe_code)]
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

impl<T> RwLock<T> {
    pub const fn new(value: T) -> RwLock<T> {
        RwLock { tag: Tag::new(), poisoned: Cell::new(false), data: UnsafeCell::new(value) }
    }

    pub fn into_inner(self) -> LockResult<T> {
        let poisoned = self.poisoned.get();
        wrap(poisoned, self.data.into_inner())
    }
}

fn wrap<G>(poisoned: bool, inner: G) -> LockResult<G> {
    if poisoned { Err(PoisonError::new(inner)) } else { Ok(inner) }
}

impl<T: ?Sized> Tagged for RwLock<T> {
    fn tag(&self) -> &Tag {
        &self.tag
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Of a lock that somebody has taken.
    fn name(&self) -> ObjectId {
        self.tag.id()
    }

    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let this = here(self);
        let id = this.name();
        operate(Operation::local(20).reads(id).needs(clear(id, WRITER)), "read lock", Some(id), |context| {
            context.object(id, "rwlock").gate += 1;
            context.acquire(id);
        });
        wrap(this.poisoned.get(), RwLockReadGuard { lock: this, not_send: std::marker::PhantomData })
    }

    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let this = here(self);
        let id = this.name();
        let operation = Operation::local(21).writes(id).needs(clear(id, u128::MAX));
        operate(operation, "write lock", Some(id), |context| {
            take(context, id);
        });
        wrap(this.poisoned.get(), RwLockWriteGuard::new(this))
    }

    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let this = here(self);
        let id = this.name();
        let taken = operate(Operation::local(22).reads(id), "try read lock", Some(id), |context| {
            let object = context.object(id, "rwlock");
            let free = object.gate & WRITER == 0;
            object.gate += u128::from(free);
            context.acquire(id);
            free
        });
        match taken {
            Some(true) => {
                wrap(this.poisoned.get(), RwLockReadGuard { lock: this, not_send: std::marker::PhantomData })
                    .map_err(TryLockError::Poisoned)
            }
            _ => Err(TryLockError::WouldBlock),
        }
    }

    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        let this = here(self);
        let id = this.name();
        let taken = operate(Operation::local(23).writes(id), "try write lock", Some(id), |context| {
            let free = context.object(id, "rwlock").gate == 0;
            if free {
                take(context, id);
            }
            free
        });
        match taken {
            Some(true) => {
                wrap(this.poisoned.get(), RwLockWriteGuard::new(this)).map_err(TryLockError::Poisoned)
            }
            _ => Err(TryLockError::WouldBlock),
        }
    }

    pub fn is_poisoned(&self) -> bool {
        here(self).poisoned.get()
    }

    pub fn clear_poison(&self) {
        here(self).poisoned.set(false);
    }

    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        wrap(self.poisoned.get(), self.data.get_mut())
    }
}

/// A writer has the lock: it knows what earlier writers and readers knew.
fn take(context: &mut crate::runtime::context::Context, id: ObjectId) {
    let holder = Some(context.current);
    let object = context.object(id, "rwlock");
    object.gate = WRITER;
    object.holder = holder;
    let readers = object.readers.clone();
    context.me().clock.join(&readers);
    context.acquire(id);
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> RwLock<T> {
        RwLock::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> RwLock<T> {
        RwLock::new(value)
    }
}

impl<T: ?Sized> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RwLock").field("poisoned", &self.poisoned.get()).finish_non_exhaustive()
    }
}

/// As `std::sync::RwLockReadGuard`.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    not_send: std::marker::PhantomData<*const ()>,
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the guard exists, so its thread holds the lock for reading.
        #[allow(unsafe_code)]
        unsafe {
            &*self.lock.data.get()
        }
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    #[track_caller]
    fn drop(&mut self) {
        let id = self.lock.name();
        operate_later(Operation::local(24).reads(id).releasing(), "read unlock", Some(id), move |context| {
            let clock = context.me().clock.clone();
            let object = context.object(id, "rwlock");
            object.gate -= 1;
            object.readers.join(&clock);
        });
    }
}

/// As `std::sync::RwLockWriteGuard`.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    calm: bool,
    not_send: std::marker::PhantomData<*const ()>,
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// The writer becomes a reader; no other writer comes in between.
    #[track_caller]
    pub fn downgrade(this: RwLockWriteGuard<'a, T>) -> RwLockReadGuard<'a, T> {
        let this = std::mem::ManuallyDrop::new(this);
        let id = this.lock.name();
        operate(Operation::local(26).writes(id).releasing(), "downgrade", Some(id), |context| {
            let object = context.object(id, "rwlock");
            (object.gate, object.holder) = (1, None);
            context.release(id);
        });
        RwLockReadGuard { lock: this.lock, not_send: std::marker::PhantomData }
    }

    fn new(lock: &'a RwLock<T>) -> RwLockWriteGuard<'a, T> {
        RwLockWriteGuard { lock, calm: !std::thread::panicking(), not_send: std::marker::PhantomData }
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the guard exists, so its thread holds the lock for writing.
        #[allow(unsafe_code)]
        unsafe {
            &*self.lock.data.get()
        }
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard exists, so its thread holds the lock for writing; the guard is borrowed exclusively.
        #[allow(unsafe_code)]
        unsafe {
            &mut *self.lock.data.get()
        }
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    #[track_caller]
    fn drop(&mut self) {
        if self.calm && std::thread::panicking() {
            self.lock.poisoned.set(true);
        }
        let id = self.lock.name();
        operate_later(
            Operation::local(25).writes(id).releasing(),
            "write unlock",
            Some(id),
            move |context| {
                let object = context.object(id, "rwlock");
                object.gate = 0;
                object.holder = None;
                context.release(id);
            },
        );
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
