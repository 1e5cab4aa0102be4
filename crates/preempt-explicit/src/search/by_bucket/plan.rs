//! What a search bucket by bucket does, from what was asked for.

use crate::reduction::Reduction;
use crate::search::cost_model::CostModel;
use crate::search::{Goal, SearchOptions, Storage};
use crate::store::packed::Keeps;

/// What is searched, as far as the workers must know it.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Does it matter who runs? If not, everybody is expanded in a state at once.
    pub levels: bool,
    pub reduces: bool,
    pub fair_switch: bool,
    pub judges: bool,
    pub stops_at_violation: bool,
    /// If not, an atomic sequence is one.
    pub counts_steps: bool,
    /// Are the processes left out that the strong reduction need not try?
    pub persistent: bool,
    /// To leave who could go on, and who could not, costs something beside a step.
    pub charges_preemptions: bool,
    pub charges_forced: bool,
    /// May a state be met where nobody is to run any more?
    pub limits_depth: bool,
}

impl Plan {
    pub fn of(options: &SearchOptions, goal: Goal) -> Plan {
        let charged = CostModel::new(options.cost);
        let reduces = options.reduction == Reduction::Exact && goal == Goal::First;
        // How deep a state lies is how many steps its cheapest run has.
        let ordered = options.levels || options.bound.is_some() || options.limits.depth.is_some();
        let charges = charged.preemption > 0 && (ordered || goal != Goal::Count);
        Plan {
            levels: charges || reduces,
            reduces,
            fair_switch: charges && options.fair_switch,
            judges: false,
            stops_at_violation: goal != Goal::Count,
            counts_steps: true,
            persistent: false,
            charges_preemptions: charged.preemption > 0,
            charges_forced: charged.forced > 0,
            limits_depth: options.limits.depth.is_some(),
        }
    }

    /// Is anything violated at all? With options that charge steps. Without a greatest depth nothing has to wait for a later bucket, unless
    /// who runs matters.
    pub fn unordered(options: &SearchOptions, goal: Goal) -> Plan {
        let persistent = options.reduction == Reduction::Strong;
        let counts_steps = options.limits.depth.is_some();
        Plan { counts_steps, persistent, ..Plan::of(options, goal) }
    }

    /// What the store of packed keys must keep of a state; only there if states are kept.
    pub fn keeps(self, storage: Storage) -> Keeps {
        if self.levels && storage == Storage::Exact { Keeps::Processes } else { Keeps::Nothing }
    }
}
