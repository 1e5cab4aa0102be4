//! `std::sync::RwLock`, with poisoning. Readers are independent of each other: runs that differ in the order of readers only
//! are run once.

use super::poison::{PanicWatch, Poison, exclusive_guard_impls, lock_impls, shared_guard_impls};
use crate::runtime::context::{Context, clear};
use crate::runtime::current::with;
use crate::runtime::identity::{ObjectTag, Tagged, resolve};
use crate::runtime::opcode::Opcode;
use crate::runtime::operate::{operate, operate_or_defer};
use preempt_stateless::{ObjectId, Operation};
use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::{LockResult, TryLockError, TryLockResult};

/// The gate: the number of readers, and this bit for a writer.
const WRITER: u128 = 1 << 64;

/// As `std::sync::RwLock`.
///
/// ```
/// use preempt::{sync::{Arc, RwLock}, thread};
///
/// preempt::check(|| {
///     let pair = Arc::new(RwLock::new((0, 0)));
///     let other = Arc::clone(&pair);
///     let writer = thread::spawn(move || *other.write().unwrap() = (1, 1));
///     let seen = *pair.read().unwrap();
///     assert_eq!(seen.0, seen.1, "a reader sees no half of a write");
///     writer.join().unwrap();
/// });
/// ```
pub struct RwLock<T: ?Sized> {
    tag: ObjectTag,
    poison: Poison,
    data: UnsafeCell<T>,
}

lock_impls!(RwLock);

// SAFETY: as for std's. The modelled threads share one OS thread, and the search lets no writer in beside others; readers
// share the data, so it must be `Sync`.
#[allow(unsafe_code)]
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

/// A writer has the lock: it knows what earlier writers and readers knew.
fn take(context: &mut Context, id: ObjectId) {
    let holder = Some(context.current);
    let object = context.object(id, "rwlock");
    object.gate = WRITER;
    object.holder = holder;
    let readers = object.readers.clone();
    context.me().clock.join(&readers);
    context.acquire(id);
}

/// Does the running thread hold the lock for reading, where that matters?
fn holds(context: &mut Context, id: ObjectId) -> bool {
    context.stricter && context.me().reading.contains(&id)
}

/// A reader has the lock, too.
fn share(context: &mut Context, id: ObjectId) {
    if context.stricter {
        context.me().reading.push(id);
    }
    context.object(id, "rwlock").gate += 1;
    context.acquire(id);
}

impl<T: ?Sized> RwLock<T> {
    /// Waits until no writer holds the lock, and takes it for reading.
    ///
    /// # Errors
    /// With the guard, if the lock is poisoned.
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let this = resolve(self);
        let id = this.name();
        let held = with(|context| holds(context, id));
        assert!(!held, "a thread tried to acquire a RwLock it already holds");
        let operation = Operation::new(Opcode::ReadLock).reads(id).needs(clear(id, WRITER));
        operate(operation, "read lock", Some(id), |context| share(context, id));
        this.poison.wrap(RwLockReadGuard::new(this))
    }

    /// Waits until nobody holds the lock, and takes it for writing.
    ///
    /// # Errors
    /// With the guard, if the lock is poisoned.
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let this = resolve(self);
        let id = this.name();
        let operation = Operation::new(Opcode::WriteLock).writes(id).needs(clear(id, u128::MAX));
        operate(operation, "write lock", Some(id), |context| take(context, id));
        this.poison.wrap(RwLockWriteGuard::new(this))
    }

    /// Takes the lock for reading, if no writer holds it.
    ///
    /// # Errors
    /// If one does; with the guard, if the lock is poisoned.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let this = resolve(self);
        let id = this.name();
        let operation = Operation::new(Opcode::TryReadLock).reads(id);
        let taken = operate(operation, "try read lock", Some(id), |context| {
            let free = context.object(id, "rwlock").gate & WRITER == 0 && !holds(context, id);
            if free {
                share(context, id);
            } else {
                context.acquire(id);
            }
            context.note_taken(free);
            free
        });
        match taken {
            Some(true) => this.poison.try_wrap(RwLockReadGuard::new(this)),
            _ => Err(TryLockError::WouldBlock),
        }
    }

    /// Takes the lock for writing, if nobody holds it.
    ///
    /// # Errors
    /// If somebody does; with the guard, if the lock is poisoned.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        let this = resolve(self);
        let id = this.name();
        let operation = Operation::new(Opcode::TryWriteLock).writes(id);
        let taken = operate(operation, "try write lock", Some(id), |context| {
            let free = context.object(id, "rwlock").gate == 0;
            if free {
                take(context, id);
            }
            context.note_taken(free);
            free
        });
        match taken {
            Some(true) => this.poison.try_wrap(RwLockWriteGuard::new(this)),
            _ => Err(TryLockError::WouldBlock),
        }
    }
}

/// As `std::sync::RwLockReadGuard`.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    not_send: PhantomData<*const ()>,
}

shared_guard_impls!(RwLockReadGuard);

impl<'a, T: ?Sized> RwLockReadGuard<'a, T> {
    fn new(lock: &'a RwLock<T>) -> RwLockReadGuard<'a, T> {
        RwLockReadGuard { lock, not_send: PhantomData }
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    #[track_caller]
    fn drop(&mut self) {
        let id = self.lock.name();
        let operation = Operation::new(Opcode::ReadUnlock).reads(id).releasing();
        operate_or_defer(operation, "read unlock", Some(id), move |context| {
            let clock = context.me().clock.clone();
            if let Some(held) = context.me().reading.iter().position(|lock| *lock == id) {
                context.me().reading.swap_remove(held);
            }
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
    watch: PanicWatch,
    not_send: PhantomData<*const ()>,
}

exclusive_guard_impls!(RwLockWriteGuard);

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    fn new(lock: &'a RwLock<T>) -> RwLockWriteGuard<'a, T> {
        RwLockWriteGuard { lock, watch: PanicWatch::new(), not_send: PhantomData }
    }

    /// The writer becomes a reader; no other writer comes in between.
    #[track_caller]
    pub fn downgrade(this: RwLockWriteGuard<'a, T>) -> RwLockReadGuard<'a, T> {
        let this = ManuallyDrop::new(this);
        let id = this.lock.name();
        let operation = Operation::new(Opcode::Downgrade).writes(id).releasing();
        operate(operation, "downgrade", Some(id), |context| {
            let object = context.object(id, "rwlock");
            (object.gate, object.holder) = (1, None);
            context.release(id);
            if context.stricter {
                context.me().reading.push(id);
            }
        });
        RwLockReadGuard::new(this.lock)
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    #[track_caller]
    fn drop(&mut self) {
        self.watch.end(&self.lock.poison);
        let id = self.lock.name();
        let operation = Operation::new(Opcode::WriteUnlock).writes(id).releasing();
        operate_or_defer(operation, "write unlock", Some(id), move |context| {
            let object = context.object(id, "rwlock");
            object.gate = 0;
            object.holder = None;
            context.release(id);
        });
    }
}
