//! From a path through states to a counterexample.
//!
//! A search finds a path: states as byte vectors, and who moved from each to the next. Here it becomes a run of the
//! system's own definition (the interpreter, or a Rust type), which is executed step by step and counts its own switches.
//! Nothing is shown that did not pass through here, so a mistake in machine code, in a store or in a search can hide a
//! violation but cannot make one up.
//!
//! Paths are not stored with their steps: one stable state may lead to the next through an atomic sequence of many. For
//! each pair of states the definition lists everything that the process can do ([`stable::expand`]) and the shortest
//! sequence that ends in the right state is taken. That costs one expansion for each state of the path, by the slowest
//! engine there is, and is done once for each violation that is shown.
//!
//! * [`cheapest_order`]: the same steps in another order, with as few preemptions as they allow;
//! * [`lasso`]: the same for runs without end.
//!
//! [`stable::expand`]: preempt_model::search::stable::expand

mod cheapest_order;
#[cfg(feature = "native")]
mod lasso;

#[cfg(feature = "native")]
pub use lasso::LassoPath;

use crate::search::{Counterexample, SearchReport};
use cheapest_order::{MOST_PREFIXES, cheapest_order};
use preempt_core::{Budget, Property, PropertyKind, StopReason, Trace};
use preempt_model::System;
use preempt_model::search::stable::{Event, expand};
use preempt_model::search::{Misfit, recognise, replay, wrong_with};

/// Stands for "no process": before the first step nobody has run.
pub const NOBODY: u8 = u8::MAX;

/// A path through stable states, and how it ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatePath {
    /// The initial state first.
    pub states: Vec<PathState>,
    pub ending: Ending,
}

/// A state on a path, and the step that led to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathState {
    pub bytes: Vec<u8>,
    /// The process that made the step; [`NOBODY`] for an initial state.
    pub by: u8,
    /// The process running afterwards: in a rendezvous the receiver.
    pub last: u8,
}

/// How a path ends in a violation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Its last state is one.
    InState,
    /// A step of this process from there is one: of the violations that its expansion meets, this one, counted from 0.
    During { process: u8, violation: u32 },
}

/// How a path is replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplayOptions {
    /// Leaving a process that only spins is free.
    pub fair_switch: bool,
    /// Look for an order of the same steps that has fewer preemptions.
    pub reorder: bool,
}

/// Why a path is not shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplayError {
    /// The budget has ended first.
    Stopped(StopReason),
    /// It is no run to a violation.
    Wrong(String),
}

impl ReplayError {
    /// For a path that this very search has found: one that does not replay is our own mistake.
    pub fn stop_reason(self) -> StopReason {
        match self {
            ReplayError::Stopped(reason) => reason,
            ReplayError::Wrong(why) => panic!("internal error: {why}"),
        }
    }

    /// The path to the violation is not there, unless the budget ended before it was found.
    pub fn lost(budget: &Budget) -> ReplayError {
        let wrong = || ReplayError::Wrong("the path to the violation is lost".into());
        budget.stopped().map_or_else(wrong, ReplayError::Stopped)
    }
}

/// Some steps of a system.
type Steps<S> = Vec<(usize, <S as System>::Action)>;

/// A run from one of the initial states.
struct Run<S: System> {
    initial: S::State,
    steps: Steps<S>,
}

/// Replays paths by a system's definition, within a budget.
pub struct Replayer<'a, S: System> {
    pub system: &'a S,
    /// The state that a byte vector stands for.
    pub state_of: &'a dyn Fn(&[u8]) -> S::State,
    pub budget: &'a Budget,
}

impl<S: System> Replayer<'_, S> {
    /// The path as a counterexample.
    pub fn counterexample(
        &self,
        path: &StatePath,
        options: ReplayOptions,
    ) -> Result<Counterexample, ReplayError> {
        let run = self.run(path)?;
        let in_state = path.ending == Ending::InState;
        let found = self.execute(&run, in_state, options.fair_switch)?;
        if !options.reorder {
            return Ok(found);
        }
        let other = cheapest_order(self.system, &run, &found.property, in_state, MOST_PREFIXES);
        let other = other.and_then(|other| self.execute(&other, in_state, options.fair_switch).ok());
        let cost = |it: &Counterexample| (it.trace.preemptions(), it.trace.steps.len());
        Ok(other.filter(|other| cost(other) < cost(&found)).unwrap_or(found))
    }

    /// What is violated in a state, or in a step from it; `None` if nothing is, or the budget has ended.
    pub fn violation(&self, state: &[u8], ending: Ending) -> Option<Property> {
        let state = (self.state_of)(state);
        match ending {
            Ending::InState => wrong_with(self.system, &state),
            Ending::During { process, violation } => {
                let steps = steps_to_violation(self.system, &state, process, violation)?;
                replay(self.system, &state, &steps, false).ok()?.violation.map(Property::from)
            }
        }
    }

    /// The path as steps of the definition.
    fn run(&self, path: &StatePath) -> Result<Run<S>, ReplayError> {
        let lost = || ReplayError::lost(self.budget);
        let (first, rest) = path.states.split_first().ok_or_else(lost)?;
        let initial = (self.state_of)(&first.bytes);
        let (mut state, mut steps) = (initial.clone(), Vec::new());
        for next in rest {
            let to = (self.state_of)(&next.bytes);
            let part = self.steps_between(&state, next.by, &to, next.last)?;
            steps.extend(part);
            state = to;
        }
        if let Ending::During { process, violation } = path.ending {
            steps.extend(steps_to_violation(self.system, &state, process, violation).ok_or_else(lost)?);
        }
        Ok(Run { initial, steps })
    }

    /// The process's steps from one stable state to the next.
    fn steps_between(
        &self,
        from: &S::State,
        process: u8,
        to: &S::State,
        last: u8,
    ) -> Result<Steps<S>, ReplayError> {
        let found = shortest_between(self.system, from, process, to, last);
        // What a stopped budget left out may be just what was looked for.
        if let Some(reason) = self.budget.exhausted() {
            return Err(ReplayError::Stopped(reason));
        }
        found.ok_or_else(|| ReplayError::lost(self.budget))
    }

    /// Executes a run; it must end in a violation.
    fn execute(
        &self,
        run: &Run<S>,
        in_state: bool,
        fair_switch: bool,
    ) -> Result<Counterexample, ReplayError> {
        let executed = execute(self.system, &run.initial, &run.steps, in_state, fair_switch);
        if let Some(reason) = self.budget.stopped() {
            return Err(ReplayError::Stopped(reason));
        }
        match executed {
            Ok((Some(property), trace)) => Ok(Counterexample { property, trace }),
            Ok((None, _)) => Err(ReplayError::Wrong("the run found violates nothing".into())),
            Err(misfit) => Err(ReplayError::Wrong(format!("the run found does not replay: {misfit:?}"))),
        }
    }
}

/// Replays the counterexamples of a simplified model as runs of `system`, the model as it stands, whose steps have the
/// same names. False if the steps of one could not be told apart.
pub fn replay_in_original<S: System>(
    system: &S,
    simplified: &S,
    report: &mut SearchReport,
    fair_switch: bool,
) -> bool {
    let initial = system.initial_states().swap_remove(0);
    for error in &mut report.errors {
        let in_state = error.property.kind == PropertyKind::Deadlock;
        let replayed = recognise(simplified, &error.trace)
            .and_then(|found| execute(system, &initial, &found.steps, in_state, fair_switch));
        let Ok((Some(property), trace)) = replayed else { return false };
        *error = Counterexample { property, trace };
    }
    if let Some(first) = report.errors.first() {
        report.outcome.violation = Some(first.property.clone());
        report.outcome.counterexample = Some(first.trace.clone());
    }
    true
}

fn execute<S: System>(
    system: &S,
    initial: &S::State,
    steps: &[(usize, S::Action)],
    in_state: bool,
    fair_switch: bool,
) -> Result<(Option<Property>, Trace), Misfit> {
    let replayed = replay(system, initial, steps, fair_switch)?;
    let violation = match in_state {
        true => replayed.last_state.and_then(|state| wrong_with(system, &state)),
        false => replayed.violation.map(Property::from),
    };
    Ok((violation, replayed.trace))
}

/// The process's steps from a state to one of its violations, counted from 0.
fn steps_to_violation<S: System>(system: &S, from: &S::State, process: u8, wanted: u32) -> Option<Steps<S>> {
    let mut met = 0;
    let mut found = None;
    expand(system, from, usize::from(process), |event| {
        if let Event::Violation { path, .. } = event {
            if met == wanted {
                found = Some(path.to_vec());
            }
            met += 1;
        }
    });
    found
}

/// The fewest of the process's steps from one stable state to the other.
fn shortest_between<S: System>(
    system: &S,
    from: &S::State,
    process: u8,
    to: &S::State,
    last: u8,
) -> Option<Steps<S>> {
    let mut found: Option<Steps<S>> = None;
    expand(system, from, usize::from(process), |event| {
        if let Event::Arrival { path, state, runs } = event
            && state == *to
            && runs == usize::from(last)
            && found.as_ref().is_none_or(|known| path.len() < known.len())
        {
            found = Some(path.to_vec());
        }
    });
    found
}
