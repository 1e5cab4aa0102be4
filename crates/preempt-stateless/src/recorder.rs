//! Counts the runs of a search, keeps its limits, and collects what it reports.

use crate::executable::{Executable, RunEnd};
use crate::explore::{Exploration, ExplorationLimits, ExplorationStop, FailingRun, RunObserver};
use crate::graph::Graph;
use crate::runner::Runner;
use crate::team::TeamProgress;
use preempt_core::StopReason;
use std::sync::{Arc, PoisonError};

/// The limits and numbers of one search.
#[derive(Debug)]
pub(crate) struct RunRecorder<'a> {
    pub limits: &'a ExplorationLimits,
    pub exploration: Exploration,
    team: Arc<TeamProgress>,
}

impl<'a> RunRecorder<'a> {
    /// Of a search by itself.
    pub fn new(limits: &'a ExplorationLimits) -> RunRecorder<'a> {
        RunRecorder::of_member(limits, Arc::new(TeamProgress::new(limits)))
    }

    /// Of one of several searches: the limits hold for all of them together.
    pub fn of_member(limits: &'a ExplorationLimits, team: Arc<TeamProgress>) -> RunRecorder<'a> {
        RunRecorder { limits, exploration: Exploration::default(), team }
    }

    /// Counts a complete run. `Err` if the exploration is over.
    pub fn completed_run(
        &mut self,
        end: RunEnd,
        failing: impl FnOnce() -> FailingRun,
    ) -> Result<(), ExplorationStop> {
        self.exploration.executions += 1;
        self.team.add_execution();
        if end == RunEnd::Failed {
            self.failed(failing())?;
        }
        self.check_limits()
    }

    /// Counts a run that was given up before its end. `Err` if the exploration is over.
    pub fn gave_up_run(&mut self) -> Result<(), ExplorationStop> {
        self.exploration.given_up += 1;
        self.completed_run(RunEnd::Fine, FailingRun::default)
    }

    /// Keeps a failing run. `Err` if the exploration is over.
    pub fn failed(&mut self, failing: FailingRun) -> Result<(), ExplorationStop> {
        if failing.livelock && self.limits.gives_up_long_runs {
            self.exploration.given_up += 1;
            return Ok(());
        }
        self.exploration.failures += 1;
        let known = self.exploration.failure.as_ref();
        if known.is_none_or(|known| failing.preemptions < known.preemptions) {
            self.exploration.failure = Some(failing);
        }
        if self.limits.stop_at_failure { Err(ExplorationStop::Failure) } else { Ok(()) }
    }

    /// `Err` if a limit is reached, by all searches together. Called once for each run, and looks at the clock: a run is
    /// short compared to the limits that people set.
    pub fn check_limits(&self) -> Result<(), ExplorationStop> {
        if self.limits.executions.is_some_and(|most| self.team.executions() >= most) {
            return Err(ExplorationStop::Executions);
        }
        match self.team.budget.exhausted() {
            None => Ok(()),
            Some(StopReason::Time) => Err(ExplorationStop::Time),
            Some(_) => Err(ExplorationStop::Elsewhere),
        }
    }

    /// Every run with at most `bound` preemptions was explored.
    pub fn completed_bound(&mut self, bound: u32) {
        self.exploration.complete_to = Some(bound);
        let mut per_bound = self.team.per_bound.lock().unwrap_or_else(PoisonError::into_inner);
        if per_bound.len() <= bound as usize {
            per_bound.push(self.team.executions());
        }
        self.exploration.per_bound.clone_from(&per_bound);
    }

    /// Is this the last bound to be explored?
    pub fn is_last(&self, bound: u32) -> bool {
        self.limits.preemptions.is_some_and(|most| bound >= most)
    }

    /// The search has ended.
    pub fn finish(
        mut self,
        result: Result<(), ExplorationStop>,
        runner: &Runner<'_, impl Executable>,
    ) -> Exploration {
        self.exploration.stop = result.err();
        if let Some(stop) = self.exploration.stop.clone().filter(|stop| *stop != ExplorationStop::Elsewhere) {
            self.team.stop_all(stop);
        }
        self.team.leave();
        self.exploration.pruned = runner.runs.saturating_sub(self.exploration.executions);
        self.exploration.steps = runner.steps;
        self.exploration
    }
}

/// Runs the runner's path again, for the graph that an observer wants to see.
pub(crate) fn observe_path<E: Executable>(
    runner: &mut Runner<'_, E>,
    observer: &mut impl RunObserver,
) -> Result<(), ExplorationStop> {
    if observer.wants_graphs() {
        let schedule = runner.schedule();
        runner.reset();
        runner.arrive()?;
        // Not one of the search's own runs.
        runner.runs -= 1;
        let mut graph = Graph::new(runner.program());
        for step in schedule {
            graph.follow(runner, step)?;
        }
        observer.observe(&graph);
    }
    Ok(())
}
