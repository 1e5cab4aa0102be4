//! From a path and a cycle to a run: executed again by the interpreter, and read again by the observer that defines
//! the property.

use super::space::{Edge, NOBODY, Space};
use crate::search::path_between;
use crate::store::StateNumber;
use crate::watched::PlaceOf;
use preempt_core::{Budget, Trace};
use preempt_model::Interpreter;
use preempt_model::monitor::{Monitor, finds_violation};
use preempt_model::search::{RunCost, replay};

/// A path from an initial state, and a cycle at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lasso {
    pub initial: StateNumber,
    pub stem: Vec<Edge>,
    pub cycle: Vec<Edge>,
}

/// The run, replayed; a difference is our own mistake. `cost` is what it must cost, where that was counted. `None` if the
/// budget ends.
pub fn told<'m, M: Monitor<Interpreter<'m>, Place: PlaceOf>>(
    space: &mut Space<'_, 'm, M>,
    lasso: &Lasso,
    cost: Option<RunCost>,
    fair_switch: bool,
    budget: &Budget,
) -> Option<Trace> {
    let mut steps = Vec::new();
    let mut stem_steps = 0;
    for (number, edge) in lasso.stem.iter().chain(&lasso.cycle).enumerate() {
        if budget.exhausted().is_some() {
            return None;
        }
        // A state of rest repeats itself without a step.
        if edge.by != NOBODY {
            let (from, to) = (space.state_of(edge.from), space.state_of(edge.to));
            let path = path_between(space.reference(), &from, edge.by, &to, edge.runs);
            if budget.stopped().is_some() {
                return None;
            }
            let path = path.unwrap_or_else(|| panic!("internal error: a step of the run is lost"));
            // What a run costs does not depend on who watches it.
            steps.extend(path.into_iter().map(|(process, (_, action))| (process, action)));
        }
        if number + 1 == lasso.stem.len() {
            stem_steps = steps.len();
        }
    }
    let (initial, _) = space.state_of(lasso.initial);
    let replayed = replay(space.reference().system, &initial, &steps, fair_switch);
    if budget.stopped().is_some() {
        return None;
    }
    let replayed =
        replayed.unwrap_or_else(|misfit| panic!("internal error: the run found does not replay: {misfit:?}"));
    let mut states: Vec<_> = replayed.stable.iter().map(|(_, state)| state.clone()).collect();
    let loop_start = replayed.stable.iter().position(|(steps, _)| *steps == stem_steps);
    let comes_back = loop_start.is_some_and(|start| states.get(start) == states.last());
    assert!(comes_back, "internal error: the loop does not come back");
    // Coming back, the last state is the first of the loop; a loop without steps repeats it.
    if steps.len() > stem_steps {
        states.pop();
    }
    let accepted = finds_violation(space.monitor(), &states, loop_start);
    assert!(accepted, "internal error: the run is not a violation");
    let mut trace = replayed.trace;
    if let Some(cost) = cost {
        // The switch that closes the loop is not seen in one round of it, if there is no stem to show it before.
        let shown = trace.preemptions() as u32;
        let as_found = (shown..=shown + u32::from(stem_steps == 0)).contains(&cost.preemptions)
            && trace.steps.len() as u64 == cost.steps;
        assert!(as_found, "internal error: the run costs {shown} preemptions and not {cost:?}");
    }
    trace.loop_start = Some(stem_steps);
    Some(trace)
}
