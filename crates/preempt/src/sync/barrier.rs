//! `std::sync::Barrier`.

use crate::runtime::context::set;
use crate::runtime::identity::{ObjectTag, Tagged, resolve};
use crate::runtime::opcode::Opcode;
use crate::runtime::operate::operate;
use preempt_stateless::Operation;
use std::fmt;

/// As `std::sync::Barrier`.
///
/// ```
/// use preempt::{sync::{Arc, Barrier}, thread};
///
/// preempt::check(|| {
///     let barrier = Arc::new(Barrier::new(2));
///     let other = Arc::clone(&barrier);
///     let child = thread::spawn(move || other.wait().is_leader());
///     let mine = barrier.wait().is_leader();
///     assert_ne!(mine, child.join().unwrap(), "one of them is the leader");
/// });
/// ```
pub struct Barrier {
    tag: ObjectTag,
    size: usize,
}

impl Tagged for Barrier {
    fn tag(&self) -> &ObjectTag {
        &self.tag
    }
}

/// As `std::sync::BarrierWaitResult`.
#[derive(Debug)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Was this thread the last to arrive?
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// A barrier for so many threads.
    #[track_caller]
    pub const fn new(n: usize) -> Barrier {
        Barrier { tag: ObjectTag::new(), size: if n == 0 { 1 } else { n } }
    }

    /// The last to arrive is the leader. Arriving is one step, and leaving is another for those who had to wait.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        let id = resolve(self).tag.id();
        let size = self.size;
        // Rounds have objects of their own, so that leaving one does not conflict with arriving in the next.
        let round = operate(
            Operation::new(Opcode::BarrierArrive).writes(id).releasing(),
            "arrive",
            Some(id),
            |context| {
                let object = context.object(id, "barrier");
                let (round, last) = (object.count / size, object.count % size == size - 1);
                object.count += 1;
                context.release(id);
                if last {
                    context.acquire(id);
                }
                (context.part(id, round as u64), last)
            },
        );
        let Some((round, last)) = round else { return BarrierWaitResult(false) };
        if last {
            operate(
                Operation::new(Opcode::BarrierOpen).writes(round).releasing(),
                "open barrier",
                Some(id),
                |context| {
                    context.object(round, "barrier round").gate = 1;
                    context.release(round);
                },
            );
        } else {
            operate(
                Operation::new(Opcode::BarrierLeave).reads(round).needs(set(round, 1)),
                "leave",
                Some(id),
                |context| {
                    context.acquire(round);
                },
            );
        }
        BarrierWaitResult(last)
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}
