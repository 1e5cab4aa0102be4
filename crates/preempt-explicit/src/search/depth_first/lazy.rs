//! Expanding one process after the other, the newest first as Spin does: what one of them leads to is searched before the
//! next is expanded.

use super::{Arrival, DepthFirst, Ended, PathStore};
use crate::reduction::Reduction;
use crate::replay::{Ending, NOBODY};
use crate::search::holzmann_florian::Visit;
use crate::successors::{Event, Replayable};
use preempt_core::{PropertyKind, StopReason};

impl<S: Replayable + ?Sized, P: PathStore> DepthFirst<'_, S, P> {
    /// Decides which processes are expanded in the last state, and in which order: the first one last.
    pub(super) fn plan(&mut self) {
        let Some(frame) = self.path.last_mut() else { return };
        let state = self.store.open(&*self.system, frame.state);
        let (last, count) = (frame.visit.last, self.system.process_count(state) as u8);
        frame.runs_alone =
            self.policy.reduction == Reduction::Exact && self.system.runs_alone(state, usize::from(last));
        let asks = self.policy.reduction == Reduction::Strong && self.asking.is_due();
        let chosen = if asks { self.system.persistent_on_path(state) } else { None };
        match chosen {
            Some(mut chosen) => {
                chosen.sort_unstable();
                let left_out = || (0..count).filter(|process| !chosen.contains(process));
                // Who cannot move is not left out.
                let helps = left_out().any(|process| self.system.can_move(state, usize::from(process)));
                self.asking.answered(helps);
                frame.left_out = left_out().collect();
                self.todo.extend(chosen);
            }
            None => {
                if asks {
                    self.asking.answered(false);
                }
                self.todo.extend(0..count);
            }
        }
        let todo = &mut self.todo[frame.first_todo..];
        self.policy.processes.arrange(todo, &mut self.rng);
        // Whether leaving it is a preemption, must be known before the others are tried: it comes first, at the end.
        if (frame.runs_alone || self.policy.bound.is_some())
            && let Some(place) = todo.iter().position(|process| *process == last)
        {
            todo[place..].rotate_left(1);
        }
    }

    /// Expands a process in the last state.
    pub(super) fn expand(&mut self, process: u8) -> Option<Ended> {
        let frame = self.path.last_mut()?;
        let switches = frame.visit.last != NOBODY && process != frame.visit.last;
        // Without a bound nobody comes first, and preemptions are not counted.
        let counted = self.policy.bound.is_some() && switches && frame.last_moved;
        let preemptions = frame.visit.preemptions + u32::from(counted);
        if self.policy.bound.is_some_and(|bound| preemptions > bound) {
            return None;
        }
        frame.process = process;
        let state = self.store.open(&*self.system, frame.state);
        let (list, bytes, kinds) = (&mut self.successors, &mut self.bytes, &mut self.kinds);
        list.clear();
        bytes.clear();
        kinds.clear();
        let moved = self.system.expand(state, usize::from(process), &mut |event| match event {
            Event::Arrival { state, runs, steps } => {
                list.push((bytes.len(), state.len(), runs, steps));
                bytes.extend_from_slice(state);
            }
            Event::Violation { kind, .. } => kinds.push(kind),
        });
        frame.moved |= moved;
        if process == frame.visit.last && moved {
            frame.last_moved = true;
            if frame.runs_alone {
                self.todo.truncate(frame.first_todo);
            }
        }
        self.policy.transitions.arrange(list, &mut self.rng);
        for (start, length, runs, steps) in list.drain(..) {
            let Some(state) = self.store.keep(&*self.system, &bytes[start..start + length]) else {
                return Some(Ended::Stopped(StopReason::Memory));
            };
            let visit = Visit { preemptions, last: runs, safe: false };
            self.arrivals.push(Arrival { state, process, visit, steps });
        }
        let mut ended = None;
        for number in 0..self.kinds.len() {
            let ending = Ending::During { process, violation: number as u32 };
            let found = self.violation(self.kinds[number], ending);
            ended = ended.or(found);
        }
        ended
    }

    /// Everything was tried in the last state.
    pub(super) fn leave(&mut self) -> Option<Ended> {
        let frame = self.path.last()?;
        // Without its budget the system has no moves either.
        let may_be_dead = !self.policy.eager && !frame.moved && self.budget.stopped().is_none();
        if may_be_dead {
            let state = self.store.open(&*self.system, frame.state);
            if !self.system.may_end(state)
                && let Some(ended) = self.violation(PropertyKind::Deadlock, Ending::InState)
            {
                return Some(ended);
            }
        }
        let frame = self.path.pop()?;
        self.store.leave(frame.state, frame.was_on_path);
        None
    }
}
