//! `std::sync::Mutex`, with poisoning. Locking, trying to and unlocking are steps.

use super::poison::{PanicWatch, Poison, exclusive_guard_impls, lock_impls, shared_guard_impls};
use crate::runtime::context::{Context, clear};
use crate::runtime::identity::{ObjectTag, Tagged, resolve};
use crate::runtime::opcode::Opcode;
use crate::runtime::operate::{operate, operate_or_defer};
use preempt_stateless::{ObjectId, Operation};
use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::{LockResult, TryLockError, TryLockResult};

/// As `std::sync::Mutex`.
///
/// ```
/// use preempt::{sync::{Arc, Mutex}, thread};
///
/// preempt::check(|| {
///     let list = Arc::new(Mutex::new(vec![1]));
///     let other = Arc::clone(&list);
///     let child = thread::spawn(move || other.lock().unwrap().push(2));
///     list.lock().unwrap().push(3);
///     child.join().unwrap();
///     let list = list.lock().unwrap();
///     assert!(*list == [1, 2, 3] || *list == [1, 3, 2]);
/// });
/// ```
pub struct Mutex<T: ?Sized> {
    tag: ObjectTag,
    poison: Poison,
    data: UnsafeCell<T>,
}

lock_impls!(Mutex);

// SAFETY: as for std's. The modelled threads share one OS thread, and the search lets one at a time hold the lock.
#[allow(unsafe_code)]
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

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

impl<T: ?Sized> Mutex<T> {
    /// Waits until nobody holds the lock, and takes it.
    ///
    /// # Errors
    /// With the guard, if the lock is poisoned.
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let this = resolve(self);
        let id = this.name();
        operate(Operation::new(Opcode::Lock).writes(id).needs(clear(id, 1)), "lock", Some(id), |context| {
            take(context, id);
        });
        this.poison.wrap(MutexGuard::new(this))
    }

    /// Takes the lock, if nobody holds it.
    ///
    /// # Errors
    /// If somebody does; with the guard, if the lock is poisoned.
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let this = resolve(self);
        let id = this.name();
        let taken = operate(Operation::new(Opcode::TryLock).writes(id), "try_lock", Some(id), |context| {
            let free = context.object(id, "mutex").gate == 0;
            if free {
                take(context, id);
            }
            context.note_taken(free);
            free
        });
        match taken {
            Some(true) => this.poison.try_wrap(MutexGuard::new(this)),
            _ => Err(TryLockError::WouldBlock),
        }
    }
}

/// As `std::sync::MutexGuard`.
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized> {
    pub(crate) lock: &'a Mutex<T>,
    watch: PanicWatch,
    not_send: PhantomData<*const ()>,
}

exclusive_guard_impls!(MutexGuard);

// SAFETY: as for std's: sharing a guard shares the data.
#[allow(unsafe_code)]
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// Of a lock that the running thread has taken.
    pub(crate) fn new(lock: &'a Mutex<T>) -> MutexGuard<'a, T> {
        MutexGuard { lock, watch: PanicWatch::new(), not_send: PhantomData }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[track_caller]
    fn drop(&mut self) {
        self.watch.end(&self.lock.poison);
        let id = self.lock.name();
        let operation = Operation::new(Opcode::Unlock).writes(id).releasing();
        operate_or_defer(operation, "unlock", Some(id), move |context| give(context, id));
    }
}
