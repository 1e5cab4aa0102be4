//! `std::sync::Condvar`. Any waiter may be the one that `notify_one` wakes; a wait with a time-out may time out
//! whenever it has not been notified; spurious wake-ups are explored if [`crate::Checker::spurious`] says so.

use super::mutex::{MutexGuard, give, take};
use crate::runtime::context::{Context, clear, set};
use crate::runtime::current::with;
use crate::runtime::identity::{ObjectTag, Tagged, resolve};
use crate::runtime::opcode::Opcode;
use crate::runtime::operate::{operate, operate_or_defer};
use crate::thread::timed_out;
use preempt_stateless::{ObjectId, Operation};
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::{LockResult, PoisonError};
use std::time::Duration;

/// As `std::sync::Condvar`.
///
/// ```
/// use preempt::{sync::{Arc, Condvar, Mutex}, thread};
///
/// preempt::check(|| {
///     let shared = Arc::new((Mutex::new(false), Condvar::new()));
///     let other = Arc::clone(&shared);
///     let child = thread::spawn(move || {
///         *other.0.lock().unwrap() = true;
///         other.1.notify_one();
///     });
///     let ready = shared.1.wait_while(shared.0.lock().unwrap(), |ready| !*ready).unwrap();
///     assert!(*ready);
///     drop(ready);
///     child.join().unwrap();
/// });
/// ```
pub struct Condvar {
    tag: ObjectTag,
}

impl Tagged for Condvar {
    fn tag(&self) -> &ObjectTag {
        &self.tag
    }
}

/// As `std::sync::WaitTimeoutResult`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Did the wait end because its time had passed?
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

/// The thread takes the oldest notification that is for it, and is no candidate for others any more. False if there
/// is none. Later notifications have at least the same candidates among those who wait, so oldest first wastes none.
///
/// It takes none if it wakes up spuriously, although there may be one.
fn wake(context: &mut Context, id: ObjectId) -> bool {
    let (bit, varied) = (1 << context.current, context.spurious);
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
    /// A condition variable that nobody waits on.
    #[track_caller]
    pub const fn new() -> Condvar {
        Condvar { tag: ObjectTag::new() }
    }

    #[track_caller]
    fn name(&self) -> ObjectId {
        resolve(self).tag.id()
    }

    /// Gives the mutex back and waits; true if notified.
    #[track_caller]
    fn suspend<'a, T>(&self, guard: MutexGuard<'a, T>, timeout: bool) -> (MutexGuard<'a, T>, bool) {
        // The guard's own unlocking is part of the wait.
        let guard = ManuallyDrop::new(guard);
        let mutex = guard.lock;
        let (id, lock) = (self.name(), mutex.name());
        operate(
            Operation::new(Opcode::Wait).writes(id).writes(lock).releasing(),
            "wait",
            Some(id),
            |context| {
                give(context, lock);
                context.object(id, "condvar").waiting |= 1 << context.current;
            },
        );
        let operation = Operation::new(Opcode::Wake).writes(id).writes(lock).needs(clear(lock, 1));
        let (me, weak) = with(|context| (context.current, context.may_be_spurious()));
        let operation = match timeout {
            true => operation,
            false => operation.needs(set(id, 1 << me)).may_be_spurious(weak),
        };
        let notified = operate(operation, "wake", Some(id), |context| {
            take(context, lock);
            let notified = wake(context, id);
            context.note_text(|_| if notified || !timeout { String::new() } else { " -> timed out".into() });
            notified
        });
        let guard = MutexGuard::new(mutex);
        if timeout && notified == Some(false) {
            timed_out();
        }
        (guard, notified.unwrap_or(true))
    }

    /// Gives the mutex back, waits for a notification, and takes the mutex again.
    ///
    /// # Errors
    /// With the guard, if the mutex is poisoned.
    #[track_caller]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let (guard, _) = self.suspend(guard, false);
        if guard.lock.is_poisoned() { Err(PoisonError::new(guard)) } else { Ok(guard) }
    }

    /// Waits as long as the condition holds.
    ///
    /// # Errors
    /// With the guard, if the mutex is poisoned.
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

    /// Waits as long as the condition holds, or until a time-out.
    ///
    /// # Errors
    /// With the guard, if the mutex is poisoned.
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

    /// As [`Condvar::wait`], or until a time-out. The time may always have passed, and never needs to have. If it has, so it
    /// has on the thread's virtual clock.
    ///
    /// # Errors
    /// With the guard, if the mutex is poisoned.
    #[track_caller]
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        duration: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let (guard, notified) = self.suspend(guard, true);
        if !notified {
            with(|context| context.advance_time(duration));
        }
        let poisoned = guard.lock.is_poisoned();
        let result = (guard, WaitTimeoutResult(!notified));
        if poisoned { Err(PoisonError::new(result)) } else { Ok(result) }
    }

    /// Lets one of those go on who wait: any of them.
    #[track_caller]
    pub fn notify_one(&self) {
        let id = self.name();
        operate_or_defer(
            Operation::new(Opcode::NotifyOne).writes(id).releasing(),
            "notify_one",
            Some(id),
            move |context| {
                let object = context.object(id, "condvar");
                if object.waiting != 0 {
                    object.permits.push(object.waiting);
                }
                open(context, id);
            },
        );
    }

    /// Lets all go on who wait.
    #[track_caller]
    pub fn notify_all(&self) {
        let id = self.name();
        operate_or_defer(
            Operation::new(Opcode::NotifyAll).writes(id).releasing(),
            "notify_all",
            Some(id),
            move |context| {
                let object = context.object(id, "condvar");
                let waiting = object.waiting;
                object
                    .permits
                    .extend((0..128).map(|thread| 1 << thread).filter(|one: &u128| waiting & one != 0));
                open(context, id);
            },
        );
    }
}

impl Default for Condvar {
    #[track_caller]
    fn default() -> Condvar {
        Condvar::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}
