//! loom's `Notify`: one thread waits, others let it go on. What executors are made of.

use crate::runtime::context::{expect_other_ways, set, try_with};
use crate::runtime::operate::{operate, operate_later};
use crate::runtime::place::{Tag, Tagged, here};
use preempt_stateless::{ObjectId, Operation};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

/// A notification that one thread at a time may wait for. One that comes early is kept, and several are one.
pub struct Notify {
    tag: Tag,
    /// A wait may end for no reason, once.
    spurious: AtomicBool,
    waiting: AtomicBool,
}

impl Tagged for Notify {
    fn tag(&self) -> &Tag {
        &self.tag
    }
}

impl Notify {
    /// A wait ends for no reason only if that is to be explored ([`crate::Checker::spurious`]).
    pub const fn new() -> Notify {
        Notify { tag: Tag::new(), spurious: AtomicBool::new(false), waiting: AtomicBool::new(false) }
    }

    /// Runs in which one of the waits ends for no reason are always explored, as loom does.
    pub const fn restless() -> Notify {
        Notify { tag: Tag::new(), spurious: AtomicBool::new(true), waiting: AtomicBool::new(false) }
    }

    #[track_caller]
    fn name(&self) -> ObjectId {
        here(self).tag.id()
    }

    /// Lets the thread go on that waits, or the next one that does.
    #[track_caller]
    pub fn notify(&self) {
        let id = self.name();
        operate_later(Operation::local(80).writes(id).releasing(), "notify", Some(id), move |context| {
            context.object(id, "notify").gate = 1;
            context.release(id);
        });
    }

    /// Waits for a notification, and takes it.
    ///
    /// # Panics
    /// If another thread is waiting.
    #[track_caller]
    pub fn wait(&self) {
        let this = here(self);
        let id = this.name();
        assert!(
            !this.waiting.swap(true, Ordering::Relaxed),
            "only one thread at a time may wait on a Notify"
        );
        let once = this.spurious.load(Ordering::Relaxed);
        if once {
            expect_other_ways();
        }
        let varies = once || try_with(|context| context.may_vary()) == Some(true);
        let operation = Operation::local(81).writes(id).needs(set(id, 1)).varying(varies);
        operate(operation, "wait", Some(id), |context| match context.varied {
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
    fn default() -> Notify {
        Notify::new()
    }
}

impl fmt::Debug for Notify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notify").finish_non_exhaustive()
    }
}
