//! Runs without end: a path and a cycle at its end become a trace with a loop, executed by the interpreter and read again
//! by the monitor that defines the property.

use super::{NOBODY, PathState, Replayer};
use preempt_core::{StopReason, Trace};
use preempt_model::System;
use preempt_model::monitor::{Monitor, Monitored, finds_violation};
use preempt_model::search::{RunCost, replay};

/// A path from an initial state to a state that it passed before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LassoPath {
    /// The initial state first. A state at rest repeats itself by [`NOBODY`], without a step.
    pub states: Vec<PathState>,
    /// The cycle begins at this state, and the last one is the same.
    pub cycle: usize,
    /// What the run must cost, where that was counted.
    pub cost: Option<RunCost>,
    /// Leaving a process that only spins is free.
    pub fair_switch: bool,
}

impl<S: System, M: Monitor<S>> Replayer<'_, Monitored<'_, S, M>> {
    /// The run, replayed; a difference is our own mistake.
    pub fn lasso(&self, path: &LassoPath) -> Result<Trace, StopReason> {
        let (mut steps, mut stem_steps) = (Vec::new(), 0);
        for (number, pair) in path.states.windows(2).enumerate() {
            if number == path.cycle {
                stem_steps = steps.len();
            }
            let [from, to] = pair else { continue };
            if to.by != NOBODY {
                let (before, after) = ((self.state_of)(&from.bytes), (self.state_of)(&to.bytes));
                let part = self.steps_between(&before, to.by, &after, to.last);
                // What a run costs does not depend on who observes it.
                let part = part.map_err(super::ReplayError::stop_reason)?;
                steps.extend(part.into_iter().map(|(process, (_, action))| (process, action)));
            }
        }
        let Some(initial) = path.states.first().map(|first| (self.state_of)(&first.bytes).0) else {
            panic!("internal error: a path without states");
        };
        let replayed = replay(self.system.system, &initial, &steps, path.fair_switch);
        if let Some(reason) = self.budget.stopped() {
            return Err(reason);
        }
        let replayed = replayed
            .unwrap_or_else(|misfit| panic!("internal error: the run found does not replay: {misfit:?}"));
        let mut states: Vec<_> = replayed.stable.iter().map(|(_, state)| state.clone()).collect();
        let loop_start = replayed.stable.iter().position(|(steps, _)| *steps == stem_steps);
        let comes_back = loop_start.is_some_and(|start| states.get(start) == states.last());
        assert!(comes_back, "internal error: the loop does not come back");
        // Coming back, the last state is the first of the loop; a loop without steps repeats it.
        if steps.len() > stem_steps {
            states.pop();
        }
        let accepted = finds_violation(self.system.monitor, &states, loop_start);
        assert!(accepted, "internal error: the run is not a violation");
        let mut trace = replayed.trace;
        if let Some(cost) = path.cost {
            // The switch that closes the loop is not seen in one round of it, if there is no stem to show it before.
            let shown = trace.preemptions() as u32;
            let as_found = (shown..=shown + u32::from(stem_steps == 0)).contains(&cost.preemptions)
                && trace.steps.len() as u64 == cost.steps;
            assert!(as_found, "internal error: the run costs {shown} preemptions and not {cost:?}");
        }
        trace.loop_start = Some(stem_steps);
        Ok(trace)
    }
}
