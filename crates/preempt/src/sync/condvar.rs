//! `std::sync::Condvar`. Any waiter may be the one that `notify_one` wakes; a wait with a time-out may time out
//! whenever it has not been notified; spurious wake-ups are explored if asked for ([`crate::Checker::spurious`]).

use super::mutex::{MutexGuard, give, take};
use crate::runtime::context::{Context, clear, set, with};
use crate::runtime::operate::{operate, operate_later};
use crate::runtime::place::{Tag, Tagged, here};
use crate::thread::timed_out;
use preempt_stateless::{ObjectId, Operation};
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::{LockResult, PoisonError};
use std::time::Duration;

/// As `std::sync::Condvar`.
pub struct Condvar {
    tag: Tag,
}

impl Tagged for Condvar {
    fn tag(&self) -> &Tag {
        &self.tag
    }
}

/// As `std::sync::WaitTimeoutResult`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

/// The thread takes the oldest notification that is for it, and is no candidate for others any more. False if there
/// is none. Later notifications have at least the same candidates among those who wait, so oldest first wastes none.
///
/// It takes none if it wakes up by itself, although there may be one.
fn wake(context: &mut Context, id: ObjectId) -> bool {
    let (bit, varied) = (1 << context.current, context.varied);
    let object = context.object(id, "condvar");
    object.waiting &= !bit;
    let own = object.permits.iter().position(|permit| permit & bit != 0 && !varied);
    if let Some(own) = own {
        object.permits.remove(own);
    }
    object.permits.iter_mut().for_each(|permit| *permit &= !bit);
    object.permits.retain(|permit| *permit != 0);
    open(context, id);
    own.is_some()
}

/// The gate: a bit for everyone who may go on.
fn open(context: &mut Context, id: ObjectId) {
    let object = context.object(id, "condvar");
    object.gate = object.permits.iter().fold(0, |all, permit| all | permit);
}

impl Condvar {
    pub const fn new() -> Condvar {
        Condvar { tag: Tag::new() }
    }

    #[track_caller]
    fn name(&self) -> ObjectId {
        here(self).tag.id()
    }

    /// Gives the mutex back and waits; true if notified.
    #[track_caller]
    fn suspend<'a, T>(&self, guard: MutexGuard<'a, T>, timeout: bool) -> (MutexGuard<'a, T>, bool) {
        // The guard's own unlocking is part of the wait.
        let guard = ManuallyDrop::new(guard);
        let mutex = guard.mutex;
        let (id, lock) = (self.name(), mutex.name());
        operate(Operation::local(30).writes(id).writes(lock).releasing(), "wait", Some(id), |context| {
            give(context, lock);
            context.object(id, "condvar").waiting |= 1 << context.current;
        });
        let operation = Operation::local(31).writes(id).writes(lock).needs(clear(lock, 1));
        let (me, weak) = with(|context| (context.current, context.may_vary()));
        let operation = match timeout {
            true => operation,
            false => operation.needs(set(id, 1 << me)).varying(weak),
        };
        let notified = operate(operation, "wake", Some(id), |context| {
            take(context, lock);
            wake(context, id)
        });
        let guard = MutexGuard::new(mutex);
        if timeout && notified == Some(false) {
            timed_out();
        }
        (guard, notified.unwrap_or(true))
    }

    #[track_caller]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let (guard, _) = self.suspend(guard, false);
        if guard.mutex.is_poisoned() { Err(PoisonError::new(guard)) } else { Ok(guard) }
    }

    #[track_caller]
    pub fn wait_while<'a, T, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: F,
    ) -> LockResult<MutexGuard<'a, T>>
    where
        F: FnMut(&mut T) -> bool,
    {
        while condition(&mut guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// As `wait_timeout_while`: until the condition does not hold, or a time-out.
    #[track_caller]
    pub fn wait_timeout_while<'a, T, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        duration: Duration,
        mut condition: F,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)>
    where
        F: FnMut(&mut T) -> bool,
    {
        let mut result = WaitTimeoutResult(false);
        while condition(&mut guard) {
            if result.timed_out() {
                return Ok((guard, result));
            }
            (guard, result) = self.wait_timeout(guard, duration)?;
        }
        Ok((guard, WaitTimeoutResult(false)))
    }

    /// The time may always have passed, and never needs to have. If it has, so it has on the thread's virtual clock.
    #[track_caller]
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        duration: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let (guard, notified) = self.suspend(guard, true);
        if !notified {
            with(|context| context.pass(duration));
        }
        let poisoned = guard.mutex.is_poisoned();
        let result = (guard, WaitTimeoutResult(!notified));
        if poisoned { Err(PoisonError::new(result)) } else { Ok(result) }
    }

    #[track_caller]
    pub fn notify_one(&self) {
        let id = self.name();
        operate_later(Operation::local(32).writes(id).releasing(), "notify_one", Some(id), move |context| {
            let object = context.object(id, "condvar");
            if object.waiting != 0 {
                object.permits.push(object.waiting);
            }
            open(context, id);
        });
    }

    #[track_caller]
    pub fn notify_all(&self) {
        let id = self.name();
        operate_later(Operation::local(33).writes(id).releasing(), "notify_all", Some(id), move |context| {
            let object = context.object(id, "condvar");
            let waiting = object.waiting;
            object.permits.extend((0..128).map(|thread| 1 << thread).filter(|one: &u128| waiting & one != 0));
            open(context, id);
        });
    }
}

impl Default for Condvar {
    fn default() -> Condvar {
        Condvar::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}
