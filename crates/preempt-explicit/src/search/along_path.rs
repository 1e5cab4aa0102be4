//! Depth-first search where there are many states: by all threads.
//!
//! Which state a depth-first search comes to next is not known to be decided faster by many processors than by one (J. Reif,
//! "Depth-first search is inherently sequential", 1985). But whether anything is violated does not depend on the order. So what
//! is small is searched along a path; if that was not enough, all threads look in any order for a violation ([`super::by_level`]);
//! and only if there is one, the path goes on to it, so that the run is that which comes first.
//!
//! **With the strong reduction** the sets that all threads try are those that serve every order
//! ([`crate::reduction::strong::Cycles`]): mostly there are more states than along a path, but as many with any number of threads.

use super::by_level::{Ended, Plan};
use super::depth_first::{DepthFirst, ExactPathStore};
use super::simplest::{by_all, left, reported};
use super::{Goal, Order, SearchJob, SearchOptions, SearchReport, Storage};
use crate::CheckError;
use crate::successors::Parallel;
use preempt_core::{Limits, Progress, StopReason, Verdict};
use std::time::Instant;

/// Can all threads decide it? Bounds and limits of depth make the answer depend on the order; so does a limit of states beyond which
/// nothing is tried, and it is soon reached.
pub fn is_for(options: &SearchOptions, goal: Goal) -> bool {
    let is_exact = (options.store, options.order) == (Storage::Exact, Order::DepthFirst);
    let is_whole = options.bound.is_none() && options.limits.depth.is_none();
    is_exact && is_whole && goal != Goal::All && !options.gives_up
}

impl SearchJob<'_> {
    pub(super) fn search_along_path<S: Parallel>(self, system: &mut S) -> Result<SearchReport, CheckError> {
        let SearchJob { options, goal, .. } = self;
        let (policy, started) = (self.policy(), Instant::now());
        let along_path = |system: &mut S, states: Option<u64>, progress: &mut dyn Progress| {
            let left = left(options, started);
            let options = SearchOptions { limits: Limits { states, ..left.limits }, ..left };
            let store = ExactPathStore::new(None, false);
            DepthFirst::new(system, store, policy.clone(), &options, goal).run(progress)
        };
        let first = options.in_order_first;
        let states = options.limits.states.map_or(first, |most| most.min(first));
        let found = along_path(system, Some(states), self.progress)?;
        let is_cut = found.outcome.verdict == Verdict::Inconclusive(StopReason::States);
        if !is_cut || options.limits.states == Some(states) {
            return Ok(found);
        }
        let plan = Plan::unordered(policy.reduction, goal);
        let searched = by_all(system, &left(options, started), plan, self.progress)?;
        let mut found = match searched.ended {
            // What comes first may lie within the limit all the same.
            Ended::Violated(_) | Ended::Stopped(StopReason::States) if goal == Goal::First => {
                along_path(system, options.limits.states, self.progress)?
            }
            _ => reported(options, goal, searched),
        };
        found.outcome.stats.time = started.elapsed();
        Ok(found)
    }
}
