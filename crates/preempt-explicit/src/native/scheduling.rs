//! Who may run, who could move, and who uses a channel that another has for himself: what is asked about processes other than
//! the one that moves.
#![allow(unsafe_code, reason = "states are handed to machine code as pointers")]

use super::actor::Actor;
use super::context::{Event, NO, OFFERS};
use super::moves::{LOOK_EVERY, Moves, StepList, Timeout};
use super::offers::Offer;
use crate::budget::Every;

impl Moves<'_> {
    /// Its `provided` clause holds, and no process of higher priority could move instead.
    pub(super) fn may_run(&mut self, actor: Actor<'_>, offer: Option<&Offer>) -> bool {
        if !self.program.may_be_held_back {
            return true;
        }
        if !self.is_provided(actor) {
            return false;
        }
        if !self.program.has_priorities {
            return true;
        }
        let program = self.program;
        let own = program.priority_of(actor);
        !(0..actor.process_count()).map(|other| actor.with_process(other)).any(|other| {
            program.priority_of(other) > own && self.is_provided(other) && self.could_move(other, offer)
        })
    }

    /// A clause that cannot be evaluated does not hold the process back.
    fn is_provided(&mut self, actor: Actor<'_>) -> bool {
        let code = actor.layout().codes[actor.process()];
        let Some(clause) = self.program.provided[usize::from(code.0)] else { return true };
        self.enter(actor, Timeout::Never, false);
        // SAFETY: the code belongs to the program, and the context points at the actor's state.
        unsafe { clause(&mut *self.context, actor.state(), actor.base()) != NO }
    }

    /// Is one of its commands ready, were it alone to decide? A rendezvous send is, even if nobody receives.
    pub fn could_move(&mut self, actor: Actor<'_>, offer: Option<&Offer>) -> bool {
        let edges = &self.location(actor).edges;
        edges.iter().any(|edge| match offer {
            // Nothing earlier is ready, or we would not have come here.
            None => self.ready(actor, Timeout::Never, false, edge, true) != NO,
            Some(offer) => self.accepts(actor, edge, offer) != NO,
        })
    }

    /// Can the process make a step at all?
    pub fn has_move(&mut self, actor: Actor<'_>, timeout: Timeout) -> bool {
        if !self.may_run(actor, None) {
            return false;
        }
        let mut found = StepList::default();
        let mut look = Every::new(LOOK_EVERY);
        self.location(actor).edges.iter().any(|edge| {
            self.context.picks.clear();
            loop {
                match self.ready(actor, timeout, true, edge, true) {
                    NO => {}
                    OFFERS => {
                        self.rendezvous(actor, (0, edge), &mut found);
                        if !found.steps.is_empty() {
                            return true;
                        }
                    }
                    _ => return true,
                }
                let is_over = look.is_due() && self.program.exhausted_with(0).is_some();
                if is_over || !self.context.picks.advance() {
                    return false;
                }
            }
        })
    }

    /// Is one edge of its location ready, without a timeout?
    pub fn is_ready(&mut self, actor: Actor<'_>, edge: usize) -> bool {
        let edge = &self.location(actor).edges[edge];
        self.ready(actor, Timeout::Never, false, edge, true) != NO
    }

    /// Does somebody use a channel that another process has said to use alone?
    pub(super) fn breaks_exclusive_use(&mut self, actor: Actor<'_>, event: Event) -> bool {
        let program = self.program;
        for claimed in program.exclusive_uses.iter().filter(|claimed| claimed.receive != event.send) {
            for holder in 0..actor.process_count() {
                if holder as i32 == event.process || actor.layout().codes[holder] != claimed.code {
                    continue;
                }
                let holder = actor.with_process(holder);
                self.enter(holder, Timeout::Never, false);
                // SAFETY: the code belongs to the program, and the context points at the actor's state.
                let channel = unsafe { (claimed.channel)(&mut *self.context, holder.state(), holder.base()) };
                if channel == event.channel + 1 {
                    return true;
                }
            }
        }
        false
    }
}
