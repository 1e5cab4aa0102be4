//! What a run is charged for: the first part of its cost, before its steps.

use preempt_core::{Cost, Trace};
use preempt_model::search::RunCost;

/// What switching to another process adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Charges {
    unit: Cost,
    /// From a process that could have gone on.
    pub preemption: u32,
    /// From one that could not.
    pub forced: u32,
}

impl Charges {
    pub fn new(unit: Cost) -> Charges {
        let (preemption, forced) = match unit {
            Cost::Preemptions => (1, 0),
            Cost::Switches => (1, 1),
            Cost::Steps => (0, 0),
        };
        Charges { unit, preemption, forced }
    }

    pub fn is_within(self, cost: RunCost, bound: Option<u32>) -> bool {
        bound.is_none_or(|most| match self.unit {
            Cost::Preemptions | Cost::Switches => cost.preemptions <= most,
            Cost::Steps => cost.steps <= u64::from(most),
        })
    }

    /// What a run that was executed again really costs.
    pub fn of_run(self, trace: &Trace) -> RunCost {
        let charged = match self.unit {
            Cost::Preemptions => trace.preemptions(),
            Cost::Switches => trace.switches(),
            Cost::Steps => 0,
        };
        RunCost { preemptions: charged as u32, steps: trace.steps.len() as u64 }
    }
}
