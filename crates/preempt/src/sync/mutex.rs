//! `std::sync::Mutex`, with poisoning.

use crate::runtime::context::{Context, clear};
use crate::runtime::operate::{operate, operate_later};
use crate::runtime::place::{Tag, Tagged, here};
use preempt_stateless::{ObjectId, Operation};
use std::cell::{Cell, UnsafeCell};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

const LOCK: u32 = 10;
const UNLOCK: u32 = 11;
const TRY_LOCK: u32 = 12;

/// As `std::sync::Mutex`. Locking, trying to and unlocking are steps.
pub struct Mutex<T: ?Sized> {
    tag: Tag,
    poisoned: Cell<bool>,
    data: UnsafeCell<T>,
}

// SAFETY: as for std's. The modelled threads share one OS thread, and the search lets one at a time hold the lock;
// `poisoned` is changed by its holder only.
#[allow(unsafe_code)]
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: see above.
#[allow(unsafe_code)]
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

impl<T> Mutex<T> {
    pub const fn new(value: T) -> Mutex<T> {
        Mutex { tag: Tag::new(), poisoned: Cell::new(false), data: UnsafeCell::new(value) }
    }

    pub fn into_inner(self) -> LockResult<T> {
        let poisoned = self.poisoned.get();
        wrap(poisoned, self.data.into_inner())
    }
}

fn wrap<G>(poisoned: bool, inner: G) -> LockResult<G> {
    if poisoned { Err(PoisonError::new(inner)) } else { Ok(inner) }
}

/// The lock is taken by the running thread.
pub(crate) fn take(context: &mut Context, id: ObjectId) {
    let holder = Some(context.current);
    let object = context.object(id, "mutex");
    object.gate = 1;
    object.holder = holder;
    context.acquire(id);
}

/// The lock is free again.
pub(crate) fn give(context: &mut Context, id: ObjectId) {
    let object = context.object(id, "mutex");
    object.gate = 0;
    object.holder = None;
    context.release(id);
}

impl<T: ?Sized> Tagged for Mutex<T> {
    fn tag(&self) -> &Tag {
        &self.tag
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Of a mutex that somebody has locked.
    pub(crate) fn name(&self) -> ObjectId {
        self.tag.id()
    }

    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let this = here(self);
        let id = this.name();
        operate(Operation::local(LOCK).writes(id).needs(clear(id, 1)), "lock", Some(id), |context| {
            take(context, id);
        });
        wrap(this.poisoned.get(), MutexGuard::new(this))
    }

    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let this = here(self);
        let id = this.name();
        let taken = operate(Operation::local(TRY_LOCK).writes(id), "try_lock", Some(id), |context| {
            let free = context.object(id, "mutex").gate == 0;
            if free {
                take(context, id);
            }
            free
        });
        match taken {
            Some(true) => wrap(this.poisoned.get(), MutexGuard::new(this)).map_err(TryLockError::Poisoned),
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

impl<T: Default> Default for Mutex<T> {
    fn default() -> Mutex<T> {
        Mutex::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Mutex<T> {
        Mutex::new(value)
    }
}

impl<T: ?Sized> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mutex").field("poisoned", &self.poisoned.get()).finish_non_exhaustive()
    }
}

/// As `std::sync::MutexGuard`.
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized> {
    pub(crate) mutex: &'a Mutex<T>,
    /// The thread was not panicking when it took the lock.
    calm: bool,
    not_send: std::marker::PhantomData<*const ()>,
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    pub(crate) fn new(mutex: &'a Mutex<T>) -> MutexGuard<'a, T> {
        let calm = !std::thread::panicking();
        MutexGuard { mutex, calm, not_send: std::marker::PhantomData }
    }
}

// SAFETY: as for std's: sharing a guard shares the data.
#[allow(unsafe_code)]
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the guard exists, so its thread holds the lock.
        #[allow(unsafe_code)]
        unsafe {
            &*self.mutex.data.get()
        }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard exists, so its thread holds the lock, and the guard is borrowed exclusively.
        #[allow(unsafe_code)]
        unsafe {
            &mut *self.mutex.data.get()
        }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[track_caller]
    fn drop(&mut self) {
        if self.calm && std::thread::panicking() {
            self.mutex.poisoned.set(true);
        }
        let id = self.mutex.name();
        let operation = Operation::local(UNLOCK).writes(id).releasing();
        operate_later(operation, "unlock", Some(id), move |context| give(context, id));
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
