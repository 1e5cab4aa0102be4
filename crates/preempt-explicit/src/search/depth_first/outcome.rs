//! Violations on the path, and what is reported in the end.

use super::{DepthFirst, Ended, PathStore};
use crate::CheckError;
use crate::replay::{Ending, NOBODY, PathState, ReplayOptions, StatePath};
use crate::search::holzmann_florian::{ByteVisit, Figure};
use crate::search::report::{Findings, report};
use crate::search::{Counterexample, Goal, SearchReport};
use crate::successors::Replayable;
use preempt_core::{Memory, Progress, PropertyKind, StopReason, Verdict};

impl<S: Replayable + ?Sized, P: PathStore> DepthFirst<'_, S, P> {
    pub fn run(mut self, progress: &mut dyn Progress) -> Result<SearchReport, CheckError> {
        let ended = self.search_everything(progress);
        if let Some(error) = self.system.error() {
            return Err(error.into());
        }
        let verdict = match (ended, self.budget.stopped()) {
            (Some(Ended::Stopped(reason)), _) | (_, Some(reason)) => Err(reason),
            (Some(Ended::Violated(ending)), None) => {
                let path = self.current_path(ending);
                self.replay_finally(&path, progress).map(Some)
            }
            (None, None) => match self.shortest.take() {
                Some((path, error)) if self.hides_switches() => {
                    Ok(Some(self.replay_finally(&path, progress).unwrap_or(error)))
                }
                shortest => Ok(shortest.map(|(_, error)| error)),
            },
        };
        let (verdict, errors) = match verdict {
            Err(reason) => (Verdict::Inconclusive(reason), Vec::new()),
            Ok(Some(error)) => (Verdict::Violated, vec![error]),
            Ok(None) => {
                let violated = self.statistics.has_violations();
                (self.budget.conclude(violated, self.policy.misses()), Vec::new())
            }
        };
        let store = self.store.bytes() + self.system.bytes();
        let memory = Memory { store, frontier: self.most_bytes, parents: 0 };
        self.statistics.stats.time = self.budget.elapsed();
        let (stats, reach) = (self.statistics.stats, self.store.reach());
        Ok(report(self.options, Findings { verdict, errors, stats, memory, reach }))
    }

    /// Every visit that the search makes, as bytes, in order and errors passed over; and was everything visited?
    pub fn visits(mut self, progress: &mut dyn Progress) -> Result<(Vec<ByteVisit>, bool), CheckError> {
        self.visits = Some(Vec::new());
        let ended = self.search_everything(progress);
        if let Some(error) = self.system.error() {
            return Err(error.into());
        }
        let is_complete = ended.is_none() && self.budget.stopped().is_none() && !self.budget.cut_by_depth;
        let (store, system) = (&mut self.store, &*self.system);
        let visits = self.visits.take().unwrap_or_default().into_iter();
        let visits = visits.map(|(state, visit)| (store.open(system, state).to_vec(), visit)).collect();
        Ok((visits, is_complete))
    }

    /// The path ends in a violation.
    pub(super) fn violation(&mut self, kind: PropertyKind, ending: Ending) -> Option<Ended> {
        if self.visits.is_some() {
            return None;
        }
        let has_limit = self.longest < u64::MAX || self.policy.shortens();
        if self.goal != Goal::Count && has_limit {
            return self.violation_within_length(ending);
        }
        self.statistics.violation(kind);
        (self.goal != Goal::Count).then_some(Ended::Violated(ending))
    }

    /// The same where a run may be too long. How long it is, is known when it was replayed: an atomic sequence may have been
    /// found by more steps than it needs.
    fn violation_within_length(&mut self, ending: Ending) -> Option<Ended> {
        let path = self.current_path(ending);
        let options = ReplayOptions { fair_switch: self.options.fair_switch, reorder: false };
        let error = match self.system.replay(&path, options, &self.budget.shared) {
            Ok(error) => error,
            Err(error) => return Some(Ended::Stopped(error.stop_reason())),
        };
        let length = error.trace.steps.len() as u64;
        if !self.is_within_length(length) {
            return None;
        }
        self.statistics.violation(error.property.kind);
        if !self.policy.shortens() || length == 0 {
            return Some(Ended::Violated(ending));
        }
        // From now on only shorter runs count.
        self.longest = length - 1;
        self.shortest = Some((path, error));
        None
    }

    fn current_path(&mut self, ending: Ending) -> StatePath {
        let (store, system) = (&mut self.store, &*self.system);
        let mut by = NOBODY;
        let states = self.path.iter().map(|frame| {
            let state =
                PathState { bytes: store.open(system, frame.state).to_vec(), by, last: frame.visit.last };
            by = frame.process;
            state
        });
        StatePath { states: states.collect(), ending }
    }

    /// Does a run have switches that the search does not count?
    fn hides_switches(&self) -> bool {
        self.policy.published.is_some_and(|published| published.figure == Figure::WithReduction)
    }

    /// The run that is shown. If it has switches that were not counted, its steps are put into an order with fewer.
    fn replay_finally(
        &mut self,
        path: &StatePath,
        progress: &dyn Progress,
    ) -> Result<Counterexample, StopReason> {
        let budget = self.budget.for_replay(progress);
        self.system.work_within(&budget);
        let options = ReplayOptions { fair_switch: self.options.fair_switch, reorder: self.hides_switches() };
        self.system.replay(path, options, &budget).map_err(|error| error.stop_reason())
    }
}
