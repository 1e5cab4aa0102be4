//! From what the search found to what is reported. Every counterexample is executed again by the interpreter, and
//! its cost counted again, before anybody sees it.

use super::explore::Search;
use super::ways::End;
use super::{Error, Memory, Report};
use crate::store::Opened;
use crate::successors::Successors;
use preempt_core::{Bound, Cost, Guarantee, Outcome, Property, PropertyKind, StopReason, Trace, Verdict};
use preempt_model::System;
use preempt_model::search::stable::{Event, expand};
use preempt_model::search::{RunCost, deadlock, is_deadlock, replay};
use preempt_model::system::Violation;

impl<S: Successors> Search<'_, '_, S> {
    pub fn memory(&self) -> Memory {
        Memory { store: self.store.bytes(), frontier: self.frontier.most_bytes(), parents: self.ways.bytes() }
    }

    pub fn bytes(&self) -> u64 {
        let Memory { store, frontier, parents } = self.memory();
        store + frontier + parents
    }

    pub fn finished(mut self) -> Report {
        let all = std::mem::take(&mut self.all);
        let mut all: Vec<_> = all.into_iter().collect();
        all.sort_by_key(|(_, (cost, _))| *cost);
        for (violation, (cost, end)) in all {
            let error = self.told(cost, end);
            assert_eq!(error.property, property(violation), "internal error: another violation");
            self.errors.push(error);
        }
        let violated = self.stats.violations.values().any(|count| *count > 0);
        match (violated, self.cut_by_depth) {
            (true, _) => {
                let first = self.errors.first().cloned();
                self.report(Verdict::Violated, first)
            }
            (false, true) => self.stopped(StopReason::Depth),
            (false, false) => self.report(Verdict::Holds, None),
        }
    }

    pub fn stopped(self, reason: StopReason) -> Report {
        self.report(Verdict::Inconclusive(reason), None)
    }

    pub fn violated(mut self, cost: RunCost, end: End) -> Report {
        let error = self.told(cost, end);
        self.report(Verdict::Violated, Some(error))
    }

    /// The run is executed again; a difference is our own mistake.
    fn told(&mut self, cost: RunCost, end: End) -> Error {
        let interpreter = self.interpreter;
        let steps = self
            .ways
            .run(&self.store, &mut self.system, interpreter, end)
            .unwrap_or_else(|| panic!("internal error: the way to the violation is lost"));
        let initial = interpreter.initial_states().swap_remove(0);
        let replayed = replay(interpreter, &initial, &steps, self.options.fair_switch)
            .unwrap_or_else(|misfit| panic!("internal error: the run found does not replay: {misfit:?}"));
        let shown = RunCost {
            preemptions: replayed.trace.preemptions() as u32,
            steps: replayed.trace.steps.len() as u64,
        };
        assert_eq!(shown, cost, "internal error: the run found costs something else when replayed");
        let violation = match end {
            End::During { .. } => replayed.violation,
            End::In { .. } => replayed
                .last_state
                .filter(|state| is_deadlock(interpreter, state))
                .map(|state| deadlock(interpreter, &state)),
        };
        let violation = violation.unwrap_or_else(|| panic!("internal error: the run found violates nothing"));
        let trace: Trace = replayed.trace;
        Error { property: property(violation), trace }
    }

    /// Keeps the violation if it is a new one, or cheaper than when it was met before.
    pub fn remember(&mut self, cost: RunCost, end: End) {
        let violation = self.words_for(end);
        let known = self.all.entry(violation).or_insert((cost, end));
        if cost < known.0 {
            *known = (cost, end);
        }
    }

    fn words_for(&mut self, end: End) -> Violation {
        let (End::During { state, .. } | End::In { state, .. }) = end;
        let mut opened = Opened::default();
        self.store.open(&mut self.system, state, &mut opened);
        let state = self.system.interpreted(&opened.bytes);
        let End::During { process, violation: wanted, .. } = end else {
            return deadlock(self.interpreter, &state);
        };
        let mut seen = 0;
        let mut found = None;
        expand(self.interpreter, &state, usize::from(process), |event| {
            if let Event::Violation { violation, .. } = event {
                if seen == wanted {
                    found = Some(violation);
                }
                seen += 1;
            }
        });
        found.unwrap_or(Violation { kind: PropertyKind::RuntimeError, name: String::new(), location: None })
    }

    fn report(mut self, verdict: Verdict, error: Option<Error>) -> Report {
        let memory = self.memory();
        self.stats.time = self.started.elapsed();
        self.stats.peak_bytes = memory.store + memory.frontier + memory.parents;
        let guarantee = match self.options.bound {
            None => Guarantee::Exhaustive,
            Some(most) => Guarantee::Bounded(Bound { unit: Cost::Preemptions, most }),
        };
        let (violation, counterexample) = error.map(|error| (error.property, error.trace)).unzip();
        let outcome = Outcome { verdict, guarantee, violation, counterexample, stats: self.stats };
        Report { outcome, errors: self.errors, memory }
    }
}

fn property(violation: Violation) -> Property {
    Property { kind: violation.kind, name: violation.name, location: violation.location }
}
