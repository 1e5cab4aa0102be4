//! From what the search found to what is reported. Every counterexample is executed again by the system's own
//! definition, and its cost counted again, before anybody sees it.

use super::explore::Search;
use super::ways::{End, Run, path_to_violation};
use super::{Error, Goal, Options, Order, Report};
use crate::reduction::Reduction;
use crate::store::Opened;
use crate::successors::Successors;
use preempt_core::{
    Bound, Guarantee, Memory, Outcome, Property, PropertyKind, Stats, StopReason, Trace, Verdict,
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

    pub fn finished(mut self) -> Report {
        let mut all: Vec<_> = std::mem::take(&mut self.all).into_iter().collect();
        all.sort_by_key(|(_, (cost, _))| *cost);
        let mut errors = Vec::new();
        for (violation, (cost, end)) in all {
            let error = self.told(cost, end);
            assert_eq!(error.property, violation, "internal error: another violation");
            errors.push(error);
        }
        let violated = match self.goal {
            Goal::Count => self.tally.stats.violations.values().any(|count| *count > 0),
            // What was met beyond the bound, the depth or the cost that is allowed does not count.
            Goal::First | Goal::All => !errors.is_empty(),
        };
        match (violated, self.tally.cut_by_depth) {
            (true, _) => self.report(Verdict::Violated, errors),
            (false, true) => self.stopped(StopReason::Depth),
            (false, false) => self.report(Verdict::Holds, Vec::new()),
        }
    }

    pub fn stopped(self, reason: StopReason) -> Report {
        self.report(Verdict::Inconclusive(reason), Vec::new())
    }

    pub fn violated(mut self, cost: RunCost, end: End) -> Report {
        let error = self.told(cost, end);
        self.report(Verdict::Violated, vec![error])
    }

    /// The run is executed again; a difference is our own mistake.
    fn told(&mut self, cost: RunCost, end: End) -> Error {
        let run = self
            .ways
            .run(&self.store, &mut self.system, end)
            .unwrap_or_else(|| panic!("internal error: the way to the violation is lost"));
        let in_state = matches!(end, End::In { .. });
        let error = executed_again(self.system.meaning(), &run, in_state, self.options.fair_switch);
        let shown = self.charges.of_run(&error.trace);
        assert_eq!(shown, cost, "internal error: the run found costs something else when replayed");
        error
    }

    /// Keeps the violation if it is a new one, or cheaper than when it was met before.
    pub fn remember(&mut self, cost: RunCost, end: End) {
        let violation = self.words_for(end);
        let known = self.all.entry(violation).or_insert((cost, end));
        if cost < known.0 {
            *known = (cost, end);
        }
    }

    fn words_for(&mut self, end: End) -> Property {
        let (End::During { state, .. } | End::In { state, .. }) = end;
        let mut opened = Opened::default();
        self.store.open(&self.system, state, &mut opened);
        let state = self.system.state_of(&opened.bytes);
        let system = self.system.meaning();
        let words = match end {
            End::In { .. } => wrong_with(system, &state),
            End::During { process, violation, .. } => path_to_violation(system, &state, process, violation)
                .and_then(|path| replay(system, &state, &path, false).ok())
                .and_then(|replayed| replayed.violation)
                .map(Property::from),
        };
        words.unwrap_or_else(|| panic!("internal error: the violation found is none"))
    }

    fn report(mut self, verdict: Verdict, errors: Vec<Error>) -> Report {
        let memory = self.memory();
        self.tally.stats.time = self.tally.elapsed();
        reported(self.options, verdict, errors, self.tally.stats, memory)
    }
}

/// Executes a run; it must end in a violation, of its last state or during its last step.
pub(super) fn executed_again<S: System>(
    system: &S,
    run: &Run<S>,
    in_state: bool,
    fair_switch: bool,
) -> Error {
    let (violation, trace) = execute(system, &run.initial, &run.steps, in_state, fair_switch)
        .unwrap_or_else(|misfit| panic!("internal error: the run found does not replay: {misfit:?}"));
    let violation = violation.unwrap_or_else(|| panic!("internal error: the run found violates nothing"));
    Error { property: violation, trace }
}

/// Tells the same errors as runs of `system`, whose steps have the same names as those of `changed`, in which they were
/// found. False if one could not be told.
pub(crate) fn told_of<S: System>(system: &S, changed: &S, report: &mut Report, fair_switch: bool) -> bool {
    let initial = system.initial_states().swap_remove(0);
    for error in &mut report.errors {
        let in_state = error.property.kind == PropertyKind::Deadlock;
        let retold = recognise(changed, &error.trace)
            .and_then(|found| execute(system, &initial, &found.steps, in_state, fair_switch));
        let Ok((Some(violation), trace)) = retold else { return false };
        *error = Error { property: violation, trace };
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
    options: &Options,
    verdict: Verdict,
    errors: Vec<Error>,
    mut stats: Stats,
    memory: Memory,
) -> Report {
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
    Report { outcome: Outcome { verdict, guarantee, violation, counterexample, stats }, errors, simplest }
}
