//! loom's `Notify`: one thread waits, others let it go on. What executors are made of.

use crate::runtime::context::set;
use crate::runtime::current::{expect_choices, try_with};
use crate::runtime::identity::{ObjectTag, Tagged, resolve};
use crate::runtime::opcode::Opcode;
use crate::runtime::operate::{operate, operate_or_defer};
use preempt_stateless::{ObjectId, Operation};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

/// A notification that one thread at a time may wait for. One that comes early is kept, and several are one.
///
/// ```
/// use preempt::{sync::{Arc, Notify}, thread};
///
/// preempt::check(|| {
///     let notify = Arc::new(Notify::new());
///     let other = Arc::clone(&notify);
///     let child = thread::spawn(move || other.notify());
///     notify.wait();
///     child.join().unwrap();
/// });
/// ```
pub struct Notify {
    tag: ObjectTag,
    /// One wait may end spuriously.
    spurious: AtomicBool,
    waiting: AtomicBool,
}

impl Tagged for Notify {
    fn tag(&self) -> &ObjectTag {
        &self.tag
    }
}

impl Notify {
    /// Nothing was notified. A wait ends spuriously only if that is to be explored ([`crate::Checker::spurious`]).
    #[track_caller]
    pub const fn new() -> Notify {
        Notify { tag: ObjectTag::new(), spurious: AtomicBool::new(false), waiting: AtomicBool::new(false) }
    }

    /// As [`Notify::new`], and runs in which one of the waits ends spuriously are always explored, as loom does.
    #[track_caller]
    pub const fn with_spurious_wakeup() -> Notify {
        Notify { tag: ObjectTag::new(), spurious: AtomicBool::new(true), waiting: AtomicBool::new(false) }
    }

    #[track_caller]
    fn name(&self) -> ObjectId {
        resolve(self).tag.id()
    }

    /// Lets the thread go on that waits, or the next one that does.
    #[track_caller]
    pub fn notify(&self) {
        let id = self.name();
        operate_or_defer(
            Operation::new(Opcode::Notify).writes(id).releasing(),
            "notify",
            Some(id),
            move |context| {
                context.object(id, "notify").gate = 1;
                context.release(id);
            },
        );
    }

    /// Waits for a notification, and takes it.
    ///
    /// # Panics
    /// If another thread is waiting.
    #[track_caller]
    pub fn wait(&self) {
        let this = resolve(self);
        let id = this.name();
        assert!(
            !this.waiting.swap(true, Ordering::Relaxed),
            "only one thread at a time may wait on a Notify"
        );
        let once = this.spurious.load(Ordering::Relaxed);
        if once {
            expect_choices();
        }
        let may_be_spurious = once || try_with(|context| context.may_be_spurious()) == Some(true);
        let operation = Operation::new(Opcode::AwaitNotification)
            .writes(id)
            .needs(set(id, 1))
            .may_be_spurious(may_be_spurious);
        operate(operation, "wait", Some(id), |context| match context.spurious {
            true => this.spurious.store(false, Ordering::Relaxed),
            false => {
                context.object(id, "notify").gate = 0;
                context.acquire(id);
            }
        });
        this.waiting.store(false, Ordering::Relaxed);
    }
}

impl Default for Notify {
    #[track_caller]
    fn default() -> Notify {
        Notify::new()
    }
}

impl fmt::Debug for Notify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notify").finish_non_exhaustive()
    }
}
