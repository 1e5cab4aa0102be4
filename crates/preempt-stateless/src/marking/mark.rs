//! `Mark`: closes graphs without running the program (paper 001, Algorithm 2, lines 15 to 22).

use super::{NEVER, Search};
use crate::executable::Executable;
use crate::explore::{ExplorationStop, RunObserver};
use crate::prefix::Prefix;
use crate::table::Table;

/// `Mark` looks at the clock whenever it has looked at so many prefixes.
const LOOK_EVERY: u32 = 1024;

impl<E: Executable, T: RunObserver, H: Table> Search<'_, E, T, H> {
    /// Lines 15 to 22: closes the graph, and the prefixes of it that have become closed with it. Prefixes that were
    /// closed already learn that they open later than they thought. `Err` if the time is over: one run may have very many.
    pub(super) fn mark(&mut self, mut work: Vec<Prefix>) -> Result<(), ExplorationStop> {
        let mut until_look = LOOK_EVERY;
        while let Some(prefix) = work.pop() {
            until_look -= 1;
            if until_look == 0 {
                until_look = LOOK_EVERY;
                self.recorder.check_limits()?;
            }
            if self.opening_of(prefix.stamp) == NEVER {
                continue;
            }
            let Some(opens_at) = self.opens_at(&prefix) else { continue };
            if self.closed.raise(prefix.stamp, opens_at, self.epoch) {
                self.marks += 1;
                self.push_predecessors(&prefix, &mut work);
            }
        }
        Ok(())
    }

    pub(super) fn mark_predecessors(&mut self, prefix: &Prefix) -> Result<(), ExplorationStop> {
        let mut work = Vec::new();
        self.push_predecessors(prefix, &mut work);
        self.mark(work)
    }

    /// The prefixes without a block of steps that is maximal. The prefix that has only the first step of the block leads to
    /// this one and nowhere else, so it is as closed as this one; those in between are never looked at.
    fn push_predecessors(&mut self, prefix: &Prefix, work: &mut Vec<Prefix>) {
        let opens_at = self.opening_of(prefix.stamp);
        for thread in 0..self.graph.threads().len() {
            let Some((start, first)) = self.graph.without_block(prefix, thread) else { continue };
            if first != prefix.stamp {
                self.closed.raise(first, opens_at, self.epoch);
            }
            work.push(start);
        }
    }

    /// Line 18: is every step within the bound one to a closed graph? Then the smallest bound within which the graph is open
    /// again: the least, over its steps, of what the step costs and when its successor opens, whichever is more.
    ///
    /// Line 17's condition, that the predecessor lies within the bound itself, only saves work in the paper (its
    /// invariant MIa); a graph beyond the bound has nothing behind it within the bound, so closing it is right too,
    /// and needs no dynamic program.
    fn opens_at(&mut self, prefix: &Prefix) -> Option<u32> {
        let Search { graph, bounds, closed, moves, openings, .. } = self;
        moves.clear();
        openings.clear();
        match graph.must_continue(&prefix.counts) {
            Some(thread) => moves.push(thread.into()),
            None => {
                graph.add_moves_in(&prefix.counts, moves);
                moves.retain(|step| !graph.is_deferred(&prefix.counts, step.thread));
            }
        }
        for step in &*moves {
            let next = graph.successor_stamp(prefix, *step);
            let opening = next.map_or(NEVER, |next| closed.opens_at(next, self.epoch));
            if opening <= self.bound && bounds.of_step(graph, prefix, step.thread) <= self.bound {
                return None;
            }
            openings.push(opening);
        }
        let mut opens_at = NEVER;
        for (step, opening) in moves.iter().zip(openings) {
            // Also if the step leads to a graph that is closed already: `unfair` must not depend on the order of search.
            self.unfair |= !bounds.fair(graph, prefix, step.thread);
            if *opening < opens_at {
                let cost = bounds.of_step(graph, prefix, step.thread);
                opens_at = opens_at.min(cost.max(*opening));
            }
        }
        Some(opens_at)
    }
}
