//! The end of a reference search: its verdict, and the run that was found, replayed.

use super::super::deadlock::wrong_with;
use super::super::replay::replay;
use super::super::trail::{End, StateNumber};
use super::super::{RunCost, replay_budget};
use super::{ReferenceOptions, Search};
use crate::system::System;
use preempt_core::{Bound, Cost, Guarantee, Outcome, Progress, Property, StopReason, Trace, Verdict};

impl<S: System> Search<'_, S> {
    pub(super) fn finished(self) -> Outcome {
        if let Some(reason) = self.budget.stopped() {
            return self.stopped(reason);
        }
        let violated = self.stats.violations.values().any(|count| *count > 0);
        let undone = self.cut_by_depth.then_some(StopReason::Depth);
        self.outcome(Verdict::conclude(violated, undone), None, None)
    }

    pub(super) fn stopped(self, reason: StopReason) -> Outcome {
        self.outcome(Verdict::Inconclusive(reason), None, None)
    }

    /// The run is executed again by the system itself before it is shown; a difference is our own mistake, unless the
    /// budget has ended before that.
    pub(super) fn violated(
        self,
        violation: Property,
        end: End,
        cost: RunCost,
        progress: &mut dyn Progress,
    ) -> Outcome {
        let budget = replay_budget(progress, &self.options.limits, self.started.elapsed());
        self.system.work_within(&budget);
        let state_of = |number: StateNumber| S::State::clone(&self.nodes[number as usize].state);
        let (initial, steps) = self.trail.run(self.system, state_of, end);
        let replayed = replay(self.system, &state_of(initial), &steps, self.options.fair_switch);
        if let Some(reason) = budget.stopped() {
            return self.stopped(reason);
        }
        let replayed = replayed
            .unwrap_or_else(|misfit| panic!("internal error: the run found does not replay: {misfit:?}"));
        let shown = RunCost {
            preemptions: replayed.trace.preemptions() as u32,
            steps: replayed.trace.steps.len() as u64,
        };
        assert_eq!(shown, cost, "internal error: the run found costs something else when replayed");
        let reproduced = match end {
            End::During { .. } => replayed.violation.map(Property::from),
            End::In { .. } => replayed.last_state.and_then(|state| wrong_with(self.system, &state)),
        };
        assert_eq!(reproduced.as_ref(), Some(&violation), "internal error: another violation when replayed");
        self.outcome(Verdict::Violated, Some(violation), Some(replayed.trace))
    }

    fn outcome(mut self, verdict: Verdict, violation: Option<Property>, trace: Option<Trace>) -> Outcome {
        self.stats.time = self.started.elapsed();
        self.stats.peak_bytes = self.bytes();
        let guarantee = guarantee(self.options);
        Outcome { verdict, guarantee, violation, counterexample: trace, stats: self.stats }
    }
}

/// What a "holds" rests on.
pub fn guarantee(options: &ReferenceOptions) -> Guarantee {
    match options.bound {
        None => Guarantee::Exhaustive,
        Some(most) => Guarantee::Bounded(Bound { unit: Cost::Preemptions, most }),
    }
}
