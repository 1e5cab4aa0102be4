//! Depth-first search where there are many states: by all threads.
//!
//! Which state a depth-first search comes to next is not known to be decided faster by many processors than by one (J. Reif,
//! "Depth-first search is inherently sequential", 1985). But whether anything is violated does not depend on the order. So what
//! is small is searched along a path; if that was not enough, all threads look in any order for a violation ([`super::by_level`]);
//! and only if there is one, the path goes on to it, so that the run is that which comes first. With a greatest depth, and where states
//! are known by fingerprints, they look bucket by bucket ([`super::by_bucket`]): the depth of a state is then that of its shortest run.
//!
//! **With the strong reduction** the sets that all threads try are those that serve every order
//! ([`crate::reduction::strong::Cycles`]): mostly there are more states than along a path, but as many with any number of threads.

use super::by_bucket::tabled::{Exact, Prints};
use super::by_level::{Ended, Plan};
use super::simplest::{by_all, by_bucket_of_all, found_among_mistaken, left, reported};
use super::{
    Goal, NoCheckpoints, Order, SearchJob, SearchOptions, SearchReport, Storage, Variety, by_bucket,
};
use crate::CheckError;
use crate::reduction::Reduction;
use crate::successors::Parallel;
use preempt_core::{Cost, Limits, Progress, StopReason, Verdict};
use std::time::Instant;

/// Can all threads decide it? A bound makes the answer depend on the order; so does a limit of states beyond which
/// nothing is tried, and it is soon reached. What bits of an array miss depends on it, too.
pub fn is_for(options: &SearchOptions, goal: Goal) -> bool {
    let tells_apart = matches!(options.store, Storage::Exact | Storage::Compact { .. });
    let is_along_path = options.order == Order::DepthFirst && options.bound.is_none();
    is_along_path && tells_apart && goal != Goal::All && !options.gives_up
}

impl SearchJob<'_> {
    pub(super) fn search_along_path<S: Parallel>(
        mut self,
        system: &mut S,
    ) -> Result<SearchReport, CheckError> {
        let SearchJob {
            options,
            goal,
            variety: Variety { seed: first_seed, processes, transitions, .. },
            ..
        } = self;
        let (reduction, started) = (self.policy().reduction, Instant::now());
        let along_path = |system: &mut S, states: Option<u64>, seed: u64, progress: &mut dyn Progress| {
            let left = left(options, started);
            let options = SearchOptions { limits: Limits { states, ..left.limits }, ..left };
            let mut none = NoCheckpoints;
            let job = SearchJob::new(&options, goal, &mut none, progress);
            let variety = Variety { seed: first_seed + seed, processes, transitions, sketch: None };
            SearchJob { variety, ..job }.search(system)
        };
        let first = options.in_order_first;
        let states = options.limits.states.map_or(first, |most| most.min(first));
        let found = along_path(system, Some(states), 0, self.progress)?;
        let is_decided = match found.outcome.verdict {
            Verdict::Inconclusive(StopReason::States) => options.limits.states == Some(states),
            // The path may have come too late to something.
            Verdict::Inconclusive(StopReason::Depth) => false,
            _ => true,
        };
        if is_decided {
            return Ok(found);
        }
        let left = left(options, started);
        let searched = match (options.store, options.limits.depth) {
            (Storage::Exact, None) => by_all(system, &left, Plan::unordered(reduction, goal), self.progress)?,
            _ => {
                let left = SearchOptions { reduction, cost: Cost::Steps, ..left };
                let plan = by_bucket::Plan::unordered(&left, goal);
                match options.store {
                    Storage::Compact { bits } => {
                        let prints = Prints::new(bits, plan.levels, 0);
                        by_bucket_of_all(system, (&left, plan), prints, self.progress)?
                    }
                    _ => by_bucket_of_all(system, (&left, plan), Ok(Exact), self.progress)?,
                }
            }
        };
        let states = options.limits.states;
        let mut found = match searched.ended {
            Ended::Violated(_) if goal == Goal::First => {
                let found = match options.store {
                    Storage::Exact => along_path(system, states, 0, self.progress)?,
                    _ => found_among_mistaken(|seed| along_path(system, states, seed, self.progress))?,
                };
                match found.outcome.verdict {
                    // The path came too late to where it is.
                    Verdict::Holds | Verdict::Inconclusive(StopReason::Depth) => {
                        found_among_mistaken(|seed| self.shortest(system, reduction, seed, started))?
                    }
                    _ => found,
                }
            }
            // What comes first may lie within the limit all the same.
            Ended::Stopped(StopReason::States) if goal == Goal::First => {
                along_path(system, states, 0, self.progress)?
            }
            _ => reported(options, goal, searched),
        };
        found.outcome.stats.time = started.elapsed();
        Ok(found)
    }

    /// With a greatest depth a path may come to a state so late that it does not come to the violation, which is near. Then the shortest
    /// run is as good as any.
    fn shortest<S: Parallel>(
        &mut self,
        system: &mut S,
        reduction: Reduction,
        seed: u64,
        started: Instant,
    ) -> Result<SearchReport, CheckError> {
        let reduction = if reduction == Reduction::Exact { reduction } else { Reduction::None };
        let left = left(self.options, started);
        let charged = SearchOptions { order: Order::ByCost, cost: Cost::Steps, fair_switch: false, ..left };
        let options = SearchOptions { reduction, ..charged };
        let mut none = NoCheckpoints;
        let job = SearchJob::new(&options, self.goal, &mut none, self.progress);
        SearchJob { variety: Variety { seed, ..Variety::default() }, ..job }.search(system)
    }
}
