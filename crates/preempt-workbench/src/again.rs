//! Under which bound the same run is found again soonest.

use crate::model::LoadedModel;
use crate::settings::{CostUnit, Reduction, SearchOrder, Settings};
use preempt_core::{Budget, Report, SwitchKind, Trace};
use preempt_model::check::Check;
use preempt_model::search;

/// The bound of the run itself, within which a search in the order of cost ends soonest; or the one that was given, where
/// it decides what is searched.
pub fn bound_of_the_run(
    settings: &Settings,
    loaded: &LoadedModel,
    check: &Check,
    report: &Report,
) -> Vec<(&'static str, String)> {
    let Some(trace) = &report.counterexample else { return Vec::new() };
    let bound = |most: u64| vec![("bound", most.to_string())];
    if settings.search.is_some_and(|order| order != SearchOrder::FewestPreemptions) {
        return settings.bound.map_or(Vec::new(), |given| bound(given.into()));
    }
    // Depth first, or fair: a bound does not go with these.
    if settings.reduction == Some(Reduction::Strong) || settings.weak_fairness {
        return Vec::new();
    }
    let charged = match settings.cost {
        None | Some(CostUnit::Preemptions) => {
            trace.preemptions() + usize::from(closing_preemption(loaded, check, trace, settings.fair_switch))
        }
        Some(CostUnit::Switches) => trace.switches(),
        Some(CostUnit::Steps) => trace.steps.len(),
    };
    bound(charged as u64)
}

/// A run without end and without a stem does not show the switch that leads back to its beginning: the first step of the
/// loop, taken once more, tells whether it is a preemption.
fn closing_preemption(loaded: &LoadedModel, check: &Check, trace: &Trace, fair_switch: bool) -> bool {
    if trace.loop_start != Some(0) || trace.steps.is_empty() {
        return false;
    }
    let last_switch = || {
        let model = check.model_of(&loaded.model);
        let interpreter = loaded.interpreter_of(&model, &Budget::unlimited()).ok()?;
        let found = search::recognise(&interpreter, trace).ok()?;
        let once_more: Vec<_> = found.steps.iter().chain(found.steps.first()).cloned().collect();
        let run = search::replay(&interpreter, &found.initial, &once_more, fair_switch).ok()?;
        run.trace.steps.last().map(|step| step.switch)
    };
    // Where it cannot be told, a bound that is too large shows the run as well.
    last_switch().is_none_or(|switch| switch == SwitchKind::Preemption)
}
