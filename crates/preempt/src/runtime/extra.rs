//! Steps that most tests can do without, since they only cost runs. When a test turns out to need them, its search begins again with
//! them: what a thread does must not depend on what others have asked for.

use super::context::Context;
use super::current::with;
use super::opcode::Opcode;
use super::operate::{begin_at, operate_at};
use super::thread::{CodeLocation, Label, Pending};
use preempt_stateless::{ObjectId, Operation};
use std::panic::Location;

/// The end of a thread is a step: the test asks whether a thread has ended.
pub(crate) const ENDS: u8 = 1;

/// Under shuttle's rules ([`crate::hooks::shuttle_rules`]) a yield says that something happens that the search does not see, such
/// as an access to an object of std's. So once a test yields, the beginning of a thread is a step, whose order among
/// others and yields matters, and every step depends on every yield.
pub(crate) const YIELDS: u8 = 2;

/// The objects by which yields depend on steps, and on beginnings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct YieldObjects {
    steps: ObjectId,
    beginnings: ObjectId,
}

impl Context {
    /// Has the run these steps?
    pub fn has_extra(&self, kind: u8) -> bool {
        self.extra & kind != 0
    }

    fn yield_objects(&mut self) -> YieldObjects {
        match self.yield_objects {
            Some(objects) => objects,
            None => {
                let objects = YieldObjects { steps: self.fresh_object(), beginnings: self.fresh_object() };
                *self.yield_objects.insert(objects)
            }
        }
    }

    /// A yield, or a sleep, which is no yield under shuttle's rules: whoever sleeps need not let others come first.
    pub fn yield_operation(&mut self, sleeps: bool) -> Operation {
        let operation = Operation::new(Opcode::Yield);
        let operation = if sleeps && self.stricter { operation } else { operation.yielding() };
        if self.stricter {
            self.wanted |= YIELDS;
        }
        if !self.has_extra(YIELDS) {
            return operation;
        }
        let YieldObjects { steps, beginnings } = self.yield_objects();
        operation.writes(steps).writes(beginnings)
    }

    /// What the operation has to read to depend on yields, if it must, and if there is room for that.
    #[inline]
    pub fn steps_of_yields(&mut self, operation: &Operation) -> Option<ObjectId> {
        if !self.has_extra(YIELDS) {
            return None;
        }
        let is_yield = operation.code == u32::from(Opcode::Yield);
        (!is_yield && operation.accesses[2].is_none()).then(|| self.yield_objects().steps)
    }
}

/// If it is one, the running thread does its first step, which it is spawned at `origin` for.
pub(super) fn begin_as_a_step() {
    let caller: CodeLocation = Location::caller();
    let begins = with(|context| {
        let begins = context.has_extra(YIELDS) && context.current != 0;
        begins.then(|| (context.yield_objects().beginnings, context.me().origin.unwrap_or(caller)))
    });
    if let Some((beginnings, location)) = begins {
        let operation = Operation::new(Opcode::Begin).writes(beginnings);
        begin_at(&Pending { operation, label: Label { verb: "begin", object: None }, location });
    }
}

/// If it is one, the running thread does its last step. Its thread-local values are dropped after it, as with std.
pub(super) fn end_as_a_step() {
    let caller: CodeLocation = Location::caller();
    let ended = with(|context| {
        let current = context.current;
        context.has_extra(ENDS).then(|| (context.end_of(current), context.me().at.unwrap_or(caller)))
    });
    if let Some((ended, location)) = ended {
        let operation = Operation::new(Opcode::End).writes(ended).releasing();
        let label = Label { verb: "end", object: None };
        operate_at(&Pending { operation, label, location }, |context| context.object(ended, "end").gate = 1);
    }
}
