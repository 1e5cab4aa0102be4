//! The published searches expand every process of a state at once: `Search(s, n, p, safe)` of the figures, up to the
//! recursive calls. What is wrong with a step from the state is known before anything is tried from it, which Figs. 3 and 5
//! need to choose: Fig. 5 for the ample set, and the cycle rule of section 3.1 to see whether a process is caught.

use super::{Arrival, DepthFirst, Ended, PathStore};
use crate::replay::{Ending, NOBODY};
use crate::search::holzmann_florian::{Figure, Visit};
use crate::successors::{Event, Replayable};
use preempt_core::{PropertyKind, StopReason};

/// What one process can do in a state.
struct Moves<H> {
    moved: bool,
    /// Target, who runs then, and after how many steps.
    arrivals: Vec<(H, u8, u32)>,
    violations: Vec<PropertyKind>,
}

/// One process's steps, all of them at the same price.
struct Call {
    process: usize,
    preemptions: u32,
    safe: bool,
}

impl<S: Replayable + ?Sized, P: PathStore> DepthFirst<'_, S, P> {
    /// Expands every process in the last state, and pushes what is to be visited from it.
    pub(super) fn expand_everybody(&mut self) -> Option<Ended> {
        let frame = self.path.last()?;
        let (state, visit) = (frame.state, frame.visit);
        let count = self.system.process_count(self.store.open(&*self.system, state));
        let mut moves = Vec::with_capacity(count);
        for process in 0..count {
            let Some(own) = self.moves(state, process) else {
                return Some(Ended::Stopped(StopReason::Memory));
            };
            moves.push(own);
        }
        let bound = self.policy.bound.unwrap_or(u32::MAX);
        for (process, own) in moves.iter().enumerate() {
            // A step of another process than the last one is a preemption if that one could go on.
            let switches = visit.last != NOBODY && usize::from(visit.last) != process;
            let preempts = switches && moves.get(usize::from(visit.last)).is_some_and(|last| last.moved);
            if visit.preemptions + u32::from(preempts && !visit.safe) > bound {
                continue;
            }
            for (number, kind) in own.violations.iter().enumerate() {
                let ending = Ending::During { process: process as u8, violation: number as u32 };
                if let Some(ended) = self.violation(*kind, ending) {
                    return Some(ended);
                }
            }
        }
        // Without its budget the system has no moves either.
        if let Some(reason) = self.budget.stopped() {
            return Some(Ended::Stopped(reason));
        }
        if moves.iter().all(|own| !own.moved) {
            let bytes = self.store.open(&*self.system, state);
            if !self.system.may_end(bytes)
                && let Some(ended) = self.violation(PropertyKind::Deadlock, Ending::InState)
            {
                return Some(ended);
            }
        }
        for Call { process, preemptions, safe } in self.calls(state, visit, &moves) {
            for (state, runs, steps) in moves[process].arrivals.iter().rev().copied() {
                let visit = Visit { preemptions, last: runs, safe };
                self.arrivals.push(Arrival { state, process: process as u8, visit, steps });
            }
        }
        None
    }

    /// `None` if the store is full.
    fn moves(&mut self, state: P::State, process: usize) -> Option<Moves<P::State>> {
        let (list, bytes, mut violations) = (&mut self.successors, &mut self.bytes, Vec::new());
        list.clear();
        bytes.clear();
        let open = self.store.open(&*self.system, state);
        let moved = self.system.expand(open, process, &mut |event| match event {
            Event::Arrival { state, runs, steps } => {
                list.push((bytes.len(), state.len(), runs, steps));
                bytes.extend_from_slice(state);
            }
            Event::Violation { kind, .. } => violations.push(kind),
        });
        let mut arrivals = Vec::with_capacity(list.len());
        for (start, length, runs, steps) in list.drain(..) {
            let to = self.store.keep(&*self.system, &bytes[start..start + length])?;
            arrivals.push((to, runs, steps));
        }
        Some(Moves { moved, arrivals, violations })
    }

    /// The recursive calls, the first one last: lines 16 to 30 of Fig. 3, lines 18 to 44 of Fig. 5.
    fn calls(&mut self, state: P::State, visit: Visit, moves: &[Moves<P::State>]) -> Vec<Call> {
        let figure = self.policy.published.map_or(Figure::NaiveBounded, |published| published.figure);
        let heeds_cycles = self.policy.published.is_some_and(|published| published.cycles);
        let last = usize::from(visit.last);
        let mut cycle = false;
        if figure == Figure::WithReduction && visit.last != NOBODY {
            let bytes = self.store.open(&*self.system, state);
            let ample = (0..moves.len())
                .find(|process| moves[*process].moved && self.system.runs_alone(bytes, *process));
            if let Some(process) = ample {
                cycle = moves[process].arrivals.iter().any(|(to, ..)| self.store.is_on_path(*to));
                let has_credit = self.policy.bound.is_none_or(|bound| visit.preemptions < bound);
                if !cycle && has_credit {
                    return vec![Call { process, preemptions: visit.preemptions, safe: true }];
                }
            }
        }
        let own = moves.get(last);
        let is_blocked = own.is_none_or(|own| !own.moved);
        let is_caught = heeds_cycles
            && own.is_some_and(|own| {
                let is_back = |(to, ..): &(P::State, u8, u32)| self.store.is_on_path(*to);
                !own.arrivals.is_empty() && own.arrivals.iter().all(is_back)
            });
        let free = is_blocked || visit.safe || cycle || is_caught;
        let switched = visit.preemptions + u32::from(!free);
        let call = |process: usize| {
            let preemptions = if process == last { visit.preemptions } else { switched };
            Call { process, preemptions, safe: false }
        };
        match figure {
            // The figure takes all successors alike.
            Figure::NaiveBounded => (0..moves.len()).rev().map(call).collect(),
            // The process that ran goes on first: it stands last.
            Figure::ContextBounded | Figure::WithReduction => {
                let others = (0..moves.len()).filter(|process| *process != last);
                others.chain(own.map(|_| last)).map(call).collect()
            }
        }
    }
}
