//! Violations: which of them are kept, and how they are shown in the end.

use super::ByCost;
use super::cost_store::{CostStore, End, Pending, Who};
use super::expansion_log::ProcessSet;
use crate::CheckError;
use crate::replay::{Ending, ReplayError, ReplayOptions};
use crate::search::report::{Findings, report};
use crate::search::{Counterexample, Goal, SearchReport};
use crate::successors::Replayable;
use preempt_core::{Budget, Progress, Verdict};
use preempt_model::search::RunCost;

impl<S: Replayable + ?Sized, T: CostStore> ByCost<'_, S, T> {
    /// A violation that is not in a step.
    pub(super) fn end_here(&mut self, item: T::Item, state: &[u8]) {
        self.log(item.with(Who::Nobody), ProcessSet::default());
        let end = End { site: item.site(), last: item.last(), ending: Ending::InState };
        self.violation(self.at, end, state);
    }

    pub(super) fn violation(&mut self, cost: RunCost, end: End, state: &[u8]) {
        if self.goal == Goal::Count || !self.is_within(cost) {
            return;
        }
        if self.options.limits.depth.is_some_and(|most| cost.steps > most) {
            if self.goal == Goal::First {
                self.beyond.retain(|(known, _)| *known <= cost);
            }
            if self.goal == Goal::All || self.beyond.is_empty() {
                self.beyond.push((cost, end));
            }
            return;
        }
        if self.goal == Goal::All {
            self.remember(cost, end, state);
        } else if self.cheapest.is_none_or(|(known, _)| cost < known) {
            self.store.hold(end.site);
            if let Some((_, other)) = self.cheapest.replace((cost, end)) {
                self.store.release(other.site);
            }
        }
    }

    /// Keeps the violation if it is a new one, or cheaper than when it was met before.
    fn remember(&mut self, cost: RunCost, end: End, state: &[u8]) {
        let Some(violation) = self.system.violation(state, end.ending) else {
            // If the budget has ended, the search will see that, too.
            ReplayError::lost(&self.budget.shared).stop_reason();
            return;
        };
        let known = self.all.entry(violation).or_insert((cost, end));
        if cost < known.0 {
            *known = (cost, end);
        }
    }

    /// Everything was done, and there is no cheapest violation to be shown.
    pub(super) fn finished(mut self, progress: &dyn Progress) -> Result<SearchReport, CheckError> {
        let verdict = match self.goal {
            Goal::Count => self.budget.conclude(self.statistics.has_violations(), None),
            // What was met beyond the bound, the depth or the cost that is allowed does not count.
            Goal::First | Goal::All => self.budget.conclude(!self.all.is_empty(), None),
        };
        let mut all: Vec<_> = std::mem::take(&mut self.all).into_iter().collect();
        all.sort_by_key(|(_, (cost, _))| *cost);
        let mut errors = Vec::new();
        let budget = self.begin_replay(progress);
        for (violation, (cost, end)) in all {
            match self.replay(cost, end, &budget) {
                Ok(error) if error.property == violation => errors.push(error),
                Ok(_) => return self.not_replayed(ReplayError::Wrong("another violation".into())),
                Err(error) => return self.not_replayed(error),
            }
        }
        Ok(self.report(verdict, errors))
    }

    pub(super) fn violated(
        mut self,
        cost: RunCost,
        end: End,
        progress: &dyn Progress,
    ) -> Result<SearchReport, CheckError> {
        let budget = self.begin_replay(progress);
        match self.replay(cost, end, &budget) {
            Ok(error) => Ok(self.report(Verdict::Violated, vec![error])),
            Err(error) => self.not_replayed(error),
        }
    }

    fn begin_replay(&mut self, progress: &dyn Progress) -> Budget {
        let budget = self.budget.for_replay(progress);
        self.system.work_within(&budget);
        budget
    }

    /// The run to a violation, replayed: it must cost what was found.
    fn replay(&mut self, cost: RunCost, end: End, budget: &Budget) -> Result<Counterexample, ReplayError> {
        let path = self.store.path_to(self.system, &end, budget)?;
        let options = ReplayOptions { fair_switch: self.options.fair_switch, reorder: false };
        let error = self.system.replay(&path, options, budget)?;
        let shown = self.cost_model.of_run(&error.trace);
        match shown == cost || !T::IS_EXACT && shown < cost {
            true => Ok(error),
            false => Err(ReplayError::Wrong(format!("the run found costs {shown:?} and not {cost:?}"))),
        }
    }

    /// What was found cannot be shown. That is our own mistake, unless it came from a checkpoint.
    fn not_replayed(self, error: ReplayError) -> Result<SearchReport, CheckError> {
        match error {
            ReplayError::Wrong(why) if self.resumed => {
                Err(CheckError::Checkpoint(format!("what it found does not happen: {why}")))
            }
            error => Ok(self.report(Verdict::Inconclusive(error.stop_reason()), Vec::new())),
        }
    }

    pub(super) fn report(mut self, verdict: Verdict, errors: Vec<Counterexample>) -> SearchReport {
        let mut memory = self.store.memory();
        memory.store += self.system.bytes();
        self.statistics.stats.time = self.budget.elapsed();
        let (stats, reach) = (self.statistics.stats, self.store.reach());
        report(self.options, Findings { verdict, errors, stats, memory, reach })
    }
}
