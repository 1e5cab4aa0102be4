//! From one stable state to the next: a step, or a whole atomic sequence of steps.
//!
//! A state is *stable* if every process may be offered a step. In the middle of an atomic sequence only one may,
//! so these states are passed through and not stored, as in Spin: each path to a stable state is one transition.

use crate::system::{System, Violation};
use std::collections::HashSet;

/// What happens on the way. `path` is every step from the stable state where it began.
#[derive(Debug)]
pub enum Event<'a, S: System> {
    Arrival { path: &'a [(usize, S::Action)], state: S::State, runs: usize },
    Violation { path: &'a [(usize, S::Action)], violation: Violation },
}

/// Follows every way on for `process` until everybody may run again. Says whether it could move at all.
pub fn expand<S: System>(
    system: &S,
    state: &S::State,
    process: usize,
    mut visit: impl FnMut(Event<'_, S>),
) -> bool {
    let mut path = Vec::new();
    step(system, state, process, &mut path, &mut HashSet::new(), &mut visit)
}

fn step<S: System>(
    system: &S,
    state: &S::State,
    process: usize,
    path: &mut Vec<(usize, S::Action)>,
    passed: &mut HashSet<S::State>,
    visit: &mut impl FnMut(Event<'_, S>),
) -> bool {
    let successors = system.successors(state, process);
    let moved = !successors.is_empty();
    for successor in successors {
        path.push((process, successor.action));
        if let Some(violation) = successor.violation {
            visit(Event::Violation { path, violation });
        }
        if let Some(next) = successor.state {
            arrive(system, next, successor.runs, path, passed, visit);
        }
        path.pop();
    }
    moved
}

fn arrive<S: System>(
    system: &S,
    state: S::State,
    runs: usize,
    path: &mut Vec<(usize, S::Action)>,
    passed: &mut HashSet<S::State>,
    visit: &mut impl FnMut(Event<'_, S>),
) {
    let Some(holder) = system.exclusive(&state) else {
        return visit(Event::Arrival { path, state, runs });
    };
    // An atomic sequence that comes back to where it was never ends and leads nowhere else.
    if !passed.insert(state.clone()) {
        return;
    }
    if !step(system, &state, holder, path, passed, visit) {
        visit(Event::Arrival { path, state: system.release(&state), runs });
    }
    passed.remove(&state);
}
