//! What a run costs, counted again from its steps.

use super::replay::{settled, switch_kind};
use crate::system::System;
use preempt_core::{SwitchKind, Trace};

/// Preemptions first, then steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunCost {
    /// Processes left that could have gone on.
    pub preemptions: u32,
    /// By anybody.
    pub steps: u64,
}

/// The cost of a run; of one without end, that of its stem and one round of its loop, the switch that closes it included.
pub fn cost_of_run<S: System>(system: &S, trace: &Trace, fair_switch: bool) -> RunCost {
    let unseen = u32::from(closes_unseen(system, trace, fair_switch));
    RunCost { preemptions: trace.preemptions() as u32 + unseen, steps: trace.steps.len() as u64 }
}

/// Coming back to the first state, is the process that is running there preempted? Where a stem leads to the loop, that
/// switch is seen; without one, nobody ran before the first step.
fn closes_unseen<S: System>(system: &S, trace: &Trace, fair_switch: bool) -> bool {
    let (Some(0), Some(first), Some(last)) = (trace.loop_start, trace.steps.first(), trace.steps.last())
    else {
        return false;
    };
    let initial = system.initial_states().into_iter().find(|state| system.variables(state) == trace.initial);
    initial.is_some_and(|state| {
        let (_, running) = last.running_after();
        let state = settled(system, state);
        switch_kind(system, &state, Some(running), first.pid, fair_switch) == SwitchKind::Preemption
    })
}
