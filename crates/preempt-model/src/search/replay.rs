//! Executes a run again, step by step, and counts its switches: every counterexample passes through here before
//! anybody sees it.

use super::spinning::spins;
use crate::system::{System, Violation};
use preempt_core::{Change, Step, SwitchKind, Trace, Value};

#[derive(Debug, Clone)]
pub struct Replayed<S: System> {
    pub trace: Trace,
    pub last_state: Option<S::State>,
    /// Of the last step; earlier ones are passed over as the search passes over them.
    pub violation: Option<Violation>,
}

/// The step at which a run does not fit the system, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    pub step: usize,
    pub reason: String,
}

/// `steps` names for each step the process and its action.
pub fn replay<S: System>(
    system: &S,
    initial: &S::State,
    steps: &[(usize, S::Action)],
    fair_switch: bool,
) -> Result<Replayed<S>, Misfit> {
    let mut state = Some(initial.clone());
    let mut variables = system.variables(initial);
    let mut trace = Trace { initial: variables.clone(), ..Trace::default() };
    trace.processes = system.process_count(initial);
    let mut last = None;
    let mut violation = None;
    for (number, (process, action)) in steps.iter().enumerate() {
        let misfit = |reason: String| Misfit { step: number, reason };
        let Some(before) = state.take() else {
            return Err(misfit("the run ended with the step before".into()));
        };
        let before = settled(system, before);
        let successor = system
            .successors(&before, *process)
            .into_iter()
            .find(|successor| successor.action == *action)
            .ok_or_else(|| misfit(format!("{} cannot do this", system.process_name(&before, *process))))?;
        let switch = switch_kind(system, &before, last, *process, fair_switch);
        let description = system.describe(&before, *process, action);
        let after =
            successor.state.as_ref().map_or_else(|| variables.clone(), |state| system.variables(state));
        trace.steps.push(Step {
            process: system.process_name(&before, *process),
            pid: *process,
            location: description.location,
            text: description.text,
            choice: description.choice,
            switch,
            changed: changes(&variables, &after),
            output: description.output,
            partner: description.partner,
        });
        variables = after;
        violation = successor.violation;
        last = Some(successor.runs);
        state = successor.state;
        if let Some(state) = &state {
            trace.processes = trace.processes.max(system.process_count(state));
        }
    }
    let last_state = state.map(|state| settled(system, state));
    Ok(Replayed { trace, last_state, violation })
}

/// A process that blocks in its atomic sequence has given up the processor.
fn settled<S: System>(system: &S, state: S::State) -> S::State {
    match system.exclusive(&state) {
        Some(holder) if system.successors(&state, holder).is_empty() => system.release(&state),
        _ => state,
    }
}

fn switch_kind<S: System>(
    system: &S,
    state: &S::State,
    last: Option<usize>,
    process: usize,
    fair_switch: bool,
) -> SwitchKind {
    let Some(last) = last.filter(|last| *last != process) else { return SwitchKind::None };
    let gone = last >= system.process_count(state);
    if gone
        || system.successors(state, last).is_empty()
        || (fair_switch && system.exclusive(state).is_none() && spins(system, state, last))
    {
        SwitchKind::Forced
    } else {
        SwitchKind::Preemption
    }
}

/// What is different, what is new, and what is gone.
fn changes(before: &[Change], after: &[Change]) -> Vec<Change> {
    let find = |changes: &[Change], name: &str| changes.iter().find(|change| change.name == name).cloned();
    let mut changed: Vec<Change> =
        after.iter().filter(|change| find(before, &change.name).as_ref() != Some(*change)).cloned().collect();
    let gone = before.iter().filter(|change| find(after, &change.name).is_none());
    changed.extend(gone.map(|change| Change { name: change.name.clone(), value: Value::Gone }));
    changed
}
