//! From what the search found to what is reported. Every counterexample is executed again by the system's own
//! definition, and its cost counted again, before anybody sees it.

use super::explore::Search;
use super::ways::{End, Run, path_to_violation};
use super::{Counterexample, Goal, Order, SearchOptions, SearchReport};
use crate::CheckError;
use crate::reduction::Reduction;
use crate::store::Opened;
use crate::successors::Successors;
use preempt_core::{
    Bound, Budget, Guarantee, Memory, Outcome, Progress, Property, PropertyKind, Stats, StopReason, Trace,
    Verdict,
};
use preempt_model::System;
use preempt_model::search::{Misfit, RunCost, recognise, replay, wrong_with};

impl<S: Successors> Search<'_, S> {
    pub fn memory(&self) -> Memory {
        Memory {
            store: self.store.bytes() + self.system.bytes(),
            frontier: self.frontier.most_bytes(),
            parents: self.ways.bytes(),
        }
    }

    /// Everything was done.
    pub fn finished(mut self, progress: &dyn Progress) -> Result<SearchReport, CheckError> {
        let verdict = match self.goal {
            Goal::Count => self.tally.conclude(),
            // What was met beyond the bound, the depth or the cost that is allowed does not count.
            Goal::First | Goal::All => self.tally.conclude_with(!self.all.is_empty()),
        };
        let mut all: Vec<_> = std::mem::take(&mut self.all).into_iter().collect();
        all.sort_by_key(|(_, (cost, _))| *cost);
        let mut errors = Vec::new();
        let budget = self.tally.begin_telling(&mut self.system, progress);
        for (violation, (cost, end)) in all {
            match self.told(cost, end, &budget) {
                Ok(error) if error.property == violation => errors.push(error),
                Ok(_) => return self.untold(Untold::Wrong("another violation".into())),
                Err(untold) => return self.untold(untold),
            }
        }
        Ok(self.report(verdict, errors))
    }

    /// What was found cannot be shown. That is our own mistake, unless it came from a checkpoint.
    fn untold(self, untold: Untold) -> Result<SearchReport, CheckError> {
        match untold {
            Untold::Stopped(reason) => Ok(self.stopped(reason)),
            Untold::Wrong(why) if self.resumed => {
                Err(CheckError::Checkpoint(format!("what it found does not happen: {why}")))
            }
            Untold::Wrong(why) => panic!("internal error: {why}"),
        }
    }

    pub fn stopped(self, reason: StopReason) -> SearchReport {
        self.report(Verdict::Inconclusive(reason), Vec::new())
    }

    pub fn violated(
        mut self,
        cost: RunCost,
        end: End,
        progress: &dyn Progress,
    ) -> Result<SearchReport, CheckError> {
        let budget = self.tally.begin_telling(&mut self.system, progress);
        match self.told(cost, end, &budget) {
            Ok(error) => Ok(self.report(Verdict::Violated, vec![error])),
            Err(untold) => self.untold(untold),
        }
    }

    /// The run, executed again.
    fn told(&mut self, cost: RunCost, end: End, budget: &Budget) -> Result<Counterexample, Untold> {
        let Some(run) = self.ways.run(&self.store, &mut self.system, end, budget) else {
            let wrong = || Untold::Wrong("the way to the violation is lost".into());
            return Err(budget.stopped().map_or_else(wrong, Untold::Stopped));
        };
        let in_state = matches!(end, End::In { .. });
        let error = executed(self.system.reference(), &run, in_state, self.options.fair_switch, budget)?;
        let shown = self.charges.of_run(&error.trace);
        match shown == cost {
            true => Ok(error),
            false => Err(Untold::Wrong(format!("the run found costs {shown:?} and not {cost:?}"))),
        }
    }

    /// Keeps the violation if it is a new one, or cheaper than when it was met before.
    pub fn remember(&mut self, cost: RunCost, end: End) {
        let Some(violation) = self.words_for(end) else {
            // That the budget has ended, the search will see, too.
            lost(&self.tally.budget);
            return;
        };
        let known = self.all.entry(violation).or_insert((cost, end));
        if cost < known.0 {
            *known = (cost, end);
        }
    }

    /// `None` if there is none, or the budget has ended.
    pub fn words_for(&mut self, end: End) -> Option<Property> {
        let mut opened = Opened::default();
        self.store.open(&self.system, end.state(), &mut opened);
        let state = self.system.state_of(&opened.bytes);
        let system = self.system.reference();
        match end {
            End::In { .. } => wrong_with(system, &state),
            End::During { process, violation, .. } => path_to_violation(system, &state, process, violation)
                .and_then(|path| replay(system, &state, &path, false).ok())
                .and_then(|replayed| replayed.violation)
                .map(Property::from),
        }
    }

    fn report(mut self, verdict: Verdict, errors: Vec<Counterexample>) -> SearchReport {
        let memory = self.memory();
        self.tally.stats.time = self.tally.elapsed();
        reported(self.options, verdict, errors, self.tally.stats, memory)
    }
}

/// The way to a violation is not there: that is our own mistake, unless the budget has ended before it was found.
pub(super) fn lost(budget: &Budget) -> StopReason {
    budget.stopped().unwrap_or_else(|| panic!("internal error: the way to the violation is lost"))
}

/// Why a run is not shown.
enum Untold {
    /// The budget has ended before it was executed again.
    Stopped(StopReason),
    /// It is no run to a violation.
    Wrong(String),
}

/// Executes a run; it must end in a violation, of its last state or during its last step.
fn executed<S: System>(
    system: &S,
    run: &Run<S>,
    in_state: bool,
    fair_switch: bool,
    budget: &Budget,
) -> Result<Counterexample, Untold> {
    let executed = execute(system, &run.initial, &run.steps, in_state, fair_switch);
    if let Some(reason) = budget.stopped() {
        return Err(Untold::Stopped(reason));
    }
    match executed {
        Ok((Some(property), trace)) => Ok(Counterexample { property, trace }),
        Ok((None, _)) => Err(Untold::Wrong("the run found violates nothing".into())),
        Err(misfit) => Err(Untold::Wrong(format!("the run found does not replay: {misfit:?}"))),
    }
}

/// The same where a run that is none is our own mistake.
pub(super) fn executed_again<S: System>(
    system: &S,
    run: &Run<S>,
    in_state: bool,
    fair_switch: bool,
    budget: &Budget,
) -> Result<Counterexample, StopReason> {
    executed(system, run, in_state, fair_switch, budget).map_err(|untold| match untold {
        Untold::Stopped(reason) => reason,
        Untold::Wrong(why) => panic!("internal error: {why}"),
    })
}

/// Tells the same errors as runs of `system`, whose steps have the same names as those of `changed`, in which they were
/// found. False if one could not be told.
pub(crate) fn told_of<S: System>(
    system: &S,
    changed: &S,
    report: &mut SearchReport,
    fair_switch: bool,
) -> bool {
    let initial = system.initial_states().swap_remove(0);
    for error in &mut report.errors {
        let in_state = error.property.kind == PropertyKind::Deadlock;
        let retold = recognise(changed, &error.trace)
            .and_then(|found| execute(system, &initial, &found.steps, in_state, fair_switch));
        let Ok((Some(violation), trace)) = retold else { return false };
        *error = Counterexample { property: violation, trace };
    }
    if let Some(first) = report.errors.first() {
        report.outcome.violation = Some(first.property.clone());
        report.outcome.counterexample = Some(first.trace.clone());
    }
    true
}

fn execute<S: System>(
    system: &S,
    initial: &S::State,
    steps: &[(usize, S::Action)],
    in_state: bool,
    fair_switch: bool,
) -> Result<(Option<Property>, Trace), Misfit> {
    let replayed = replay(system, initial, steps, fair_switch)?;
    let violation = match in_state {
        true => replayed.last_state.and_then(|state| wrong_with(system, &state)),
        false => replayed.violation.map(Property::from),
    };
    Ok((violation, replayed.trace))
}

pub(super) fn reported(
    options: &SearchOptions,
    verdict: Verdict,
    errors: Vec<Counterexample>,
    mut stats: Stats,
    memory: Memory,
) -> SearchReport {
    if options.order == Order::DepthFirst {
        // Preemptions are not counted there, so nothing can be said by their number.
        stats.levels.clear();
    }
    let guarantee = match options.bound {
        None => Guarantee::Exhaustive,
        Some(most) => Guarantee::Bounded(Bound { unit: options.cost, most }),
    };
    let (violation, counterexample) =
        errors.first().map(|error| (error.property.clone(), error.trace.clone())).unzip();
    let peak_bytes = memory.store + memory.frontier + memory.parents;
    let stats = Stats { peak_bytes, memory: Some(memory), unit: options.cost, ..stats };
    // The reduction keeps the fewest preemptions, but not the fewest steps.
    let simplest = options.order == Order::ByCost && options.reduction == Reduction::None;
    let visited = stats.states;
    let outcome = Outcome { verdict, guarantee, violation, counterexample, stats };
    SearchReport { outcome, errors, simplest, visited }
}
