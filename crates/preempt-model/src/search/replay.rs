//! Executes a run again, step by step, and counts its switches: every counterexample passes through here before
//! anybody sees it.

use super::spinning::spins;
use crate::system::{System, Violation};
use preempt_core::{Change, Step, SwitchKind, Trace, Value};

/// A run that was executed step by step.
#[derive(Debug, Clone)]
pub struct Replayed<S: System> {
    /// As it is shown.
    pub trace: Trace,
    /// `None` if the last step has no state after it.
    pub last_state: Option<S::State>,
    /// The states at which everybody might have run, each with the number of steps before it.
    pub stable: Vec<(usize, S::State)>,
    /// Of the last step; earlier ones are passed over as the search passes over them.
    pub violation: Option<Violation>,
}

/// The step at which a run does not fit the system, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// By its number, from 0.
    pub step: usize,
    /// In words.
    pub reason: String,
}

/// How often, in steps, the budget is looked at.
const LOOK_UP_EVERY: usize = 64;

/// `steps` names for each step the process and its action. If the system's budget ends, the run does not fit.
pub fn replay<S: System>(
    system: &S,
    initial: &S::State,
    steps: &[(usize, S::Action)],
    fair_switch: bool,
) -> Result<Replayed<S>, Misfit> {
    let budget = system.budget();
    let mut state = Some(initial.clone());
    let mut variables = system.variables(initial);
    let mut trace = Trace { initial: variables.clone(), ..Trace::default() };
    trace.processes = system.process_count(initial);
    let mut last = None;
    let mut violation = None;
    let mut stable = Vec::new();
    for (number, (process, action)) in steps.iter().enumerate() {
        let misfit = |reason: String| Misfit { step: number, reason };
        if number % LOOK_UP_EVERY == LOOK_UP_EVERY - 1 && budget.exhausted().is_some() {
            return Err(misfit("the budget has ended".into()));
        }
        let Some(before) = state.take() else {
            return Err(misfit("the run ended with the step before".into()));
        };
        let before = settled(system, before);
        if system.exclusive(&before).is_none() {
            stable.push((number, before.clone()));
        }
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
            calls: description.calls,
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
    stable.extend(last_state.clone().map(|state| (steps.len(), state)));
    Ok(Replayed { trace, last_state, stable, violation })
}

/// A recorded run in the system's own terms.
#[derive(Debug, Clone)]
pub struct Recognised<S: System> {
    /// Where it begins.
    pub initial: S::State,
    /// Which process makes which move.
    pub steps: Vec<(usize, S::Action)>,
}

/// A move, and the state that it leads to.
type Candidate<S> = (<S as System>::Action, Option<<S as System>::State>);

/// So often another move is tried where two look the same, for the recorded switches' sake.
const MOST_TRIED: usize = 10_000;

/// The steps of a recorded run, found again by what it says about them. Where two moves look the same, both are
/// tried: first for a run with the recorded switches, since two places with the same statements may differ in what can
/// move there, and then for any.
pub fn recognise<S: System>(system: &S, recorded: &Trace) -> Result<Recognised<S>, Misfit> {
    let mut furthest = Misfit { step: 0, reason: "the initial values are different".into() };
    for initial in system.initial_states() {
        if system.variables(&initial) != recorded.initial {
            continue;
        }
        for switches in [true, false] {
            match recognise_from(system, &initial, recorded, switches) {
                Ok(steps) => return Ok(Recognised { initial, steps }),
                Err(misfit) => furthest = misfit,
            }
        }
    }
    Err(furthest)
}

fn recognise_from<S: System>(
    system: &S,
    initial: &S::State,
    recorded: &Trace,
    with_switches: bool,
) -> Result<Vec<(usize, S::Action)>, Misfit> {
    let budget = system.budget();
    // For each step so far: the state before it, and the moves still to be tried, the current one last.
    let mut tried: Vec<(S::State, Vec<Candidate<S>>)> = Vec::new();
    let mut state = Some(initial.clone());
    let mut furthest: Option<Misfit> = None;
    let mut tries = 0;
    loop {
        let number = tried.len();
        if number % LOOK_UP_EVERY == LOOK_UP_EVERY - 1 && budget.exhausted().is_some() {
            return Err(Misfit { step: number, reason: "the budget has ended".into() });
        }
        let Some(step) = recorded.steps.get(number) else {
            let actions = tried.iter().zip(&recorded.steps);
            return Ok(actions
                .filter_map(|((_, moves), step)| Some((step.pid, moves.last()?.0.clone())))
                .collect());
        };
        let (moves, reason) = match state.take().map(|state| settled(system, state)) {
            None => (Vec::new(), "the run has ended before this step".to_string()),
            Some(before) => {
                let last = number.checked_sub(1).map(|last| recorded.steps[last].running_after().1);
                let as_recorded =
                    !with_switches || switch_kind(system, &before, last, step.pid, false) == step.switch;
                let (moves, reason) = match as_recorded {
                    true => alike(system, &before, step),
                    false => (Vec::new(), "the switch before it is of another kind".into()),
                };
                if !moves.is_empty() {
                    state = moves.last().and_then(|(_, next)| next.clone());
                    tried.push((before, moves));
                    continue;
                }
                (moves, reason)
            }
        };
        debug_assert!(moves.is_empty());
        if furthest.as_ref().is_none_or(|known| known.step < number) {
            furthest = Some(Misfit { step: number, reason });
        }
        tries += 1;
        if with_switches && tries > MOST_TRIED {
            return Err(Misfit { step: number, reason: "too many moves look the same".into() });
        }
        // Back to the last step at which there is another move that looks the same.
        loop {
            match tried.last_mut() {
                None => return Err(furthest.unwrap_or(Misfit { step: 0, reason: String::new() })),
                Some((_, moves)) if moves.len() > 1 => {
                    moves.pop();
                    state = moves.last().and_then(|(_, next)| next.clone());
                    break;
                }
                Some(_) => {
                    tried.pop();
                }
            }
        }
    }
}

/// The moves that a recorded step may mean, or why there are none.
fn alike<S: System>(system: &S, state: &S::State, step: &Step) -> (Vec<Candidate<S>>, String) {
    if step.pid >= system.process_count(state) {
        return (Vec::new(), format!("there is no process {} here", step.pid));
    }
    let name = system.process_name(state, step.pid);
    if name != step.process {
        return (Vec::new(), format!("process {} is {name}, not {}", step.pid, step.process));
    }
    let before = system.variables(state);
    let mut texts = Vec::new();
    let mut moves = Vec::new();
    for successor in system.successors(state, step.pid) {
        let description = system.describe(state, step.pid, &successor.action);
        let partner = |partner: &Option<preempt_core::Partner>| {
            partner.as_ref().map(|partner| (partner.pid, partner.text.clone()))
        };
        let same = description.text == step.text
            && description.choice == step.choice
            && partner(&description.partner) == partner(&step.partner);
        if same {
            let after = successor.state.as_ref().map_or(before.clone(), |state| system.variables(state));
            if changes(&before, &after) == step.changed {
                moves.push((successor.action, successor.state));
            } else {
                texts.push(format!("{} with another effect", description.text));
            }
        } else {
            texts.push(description.text);
        }
    }
    let reason = match texts.as_slice() {
        [] => format!("{name} cannot move here, so it cannot do `{}`", step.text),
        _ => format!("{name} cannot do `{}` here; it can do: {}", step.text, texts.join(", ")),
    };
    (moves, reason)
}

/// A process that blocks in its atomic sequence has given up the processor.
pub fn settled<S: System>(system: &S, state: S::State) -> S::State {
    match system.exclusive(&state) {
        Some(holder) if system.successors(&state, holder).is_empty() => system.release(&state),
        _ => state,
    }
}

pub(super) fn switch_kind<S: System>(
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
