//! `std::sync::Barrier`.

use crate::runtime::context::set;
use crate::runtime::operate::operate;
use crate::runtime::place::{Tag, Tagged, here};
use preempt_stateless::Operation;
use std::fmt;

/// As `std::sync::Barrier`.
pub struct Barrier {
    tag: Tag,
    size: usize,
}

impl Tagged for Barrier {
    fn tag(&self) -> &Tag {
        &self.tag
    }
}

/// As `std::sync::BarrierWaitResult`.
#[derive(Debug)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    pub const fn new(n: usize) -> Barrier {
        Barrier { tag: Tag::new(), size: if n == 0 { 1 } else { n } }
    }

    /// The last to arrive is the leader. Arriving is one step, and leaving is another for those who had to wait.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        let id = here(self).tag.id();
        let size = self.size;
        // Rounds have objects of their own, so that leaving one does not conflict with arriving in the next.
        let round = operate(Operation::local(40).writes(id).releasing(), "arrive", Some(id), |context| {
            let object = context.object(id, "barrier");
            let (round, last) = (object.count / size, object.count % size == size - 1);
            object.count += 1;
            context.release(id);
            if last {
                context.acquire(id);
            }
            (context.part(id, round as u64), last)
        });
        let Some((round, last)) = round else { return BarrierWaitResult(false) };
        if last {
            operate(Operation::local(41).writes(round).releasing(), "open barrier", Some(id), |context| {
                context.object(round, "barrier round").gate = 1;
                context.release(round);
            });
        } else {
            operate(Operation::local(42).reads(round).needs(set(round, 1)), "leave", Some(id), |context| {
                context.acquire(round);
            });
        }
        BarrierWaitResult(last)
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}
