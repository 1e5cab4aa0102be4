//! What a run is charged for: the first part of its cost, before its steps.
//!
//! Costs are pairs, compared in order, and every step adds to at least one part and takes from none: what the search in
//! order of cost and the bounds rely on. Where preemptions or switches are charged, the first part is their number; where
//! steps are, it stays 0 and the second part does all the work.

use preempt_core::{Cost, Trace};
use preempt_model::search::RunCost;

/// What switching to another process adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CostModel {
    unit: Cost,
    /// From a process that could have gone on.
    pub preemption: u32,
    /// From one that could not.
    pub forced: u32,
}

impl CostModel {
    pub fn new(unit: Cost) -> CostModel {
        let (preemption, forced) = match unit {
            Cost::Preemptions => (1, 0),
            Cost::Switches => (1, 1),
            Cost::Steps => (0, 0),
        };
        CostModel { unit, preemption, forced }
    }

    pub fn is_within(self, cost: RunCost, bound: Option<u32>) -> bool {
        bound.is_none_or(|most| match self.unit {
            Cost::Preemptions | Cost::Switches => cost.preemptions <= most,
            Cost::Steps => cost.steps <= u64::from(most),
        })
    }

    /// What a run that was replayed costs.
    pub fn of_run(self, trace: &Trace) -> RunCost {
        let charged = match self.unit {
            Cost::Preemptions => trace.preemptions(),
            Cost::Switches => trace.switches(),
            Cost::Steps => 0,
        };
        RunCost { preemptions: charged as u32, steps: trace.steps.len() as u64 }
    }
}
