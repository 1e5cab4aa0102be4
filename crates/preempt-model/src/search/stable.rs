//! From one stable state to the next: a step, or a whole atomic sequence of steps.
//!
//! A state is *stable* if every process may be offered a step. In the middle of an atomic sequence only one may,
//! so these states are passed through and not stored, as in Spin: each path to a stable state is one transition. A depth-first
//! search without recursion, since an atomic sequence can be as long as it likes; a path that comes back to a state it has passed
//! leads nowhere and is dropped.

use crate::system::{Successor, System, Violation};
use preempt_core::Budget;
use std::collections::HashSet;
use std::rc::Rc;

/// What happens on the way. `path` is every step from the stable state where it began.
#[derive(Debug)]
pub enum Event<'a, S: System> {
    /// A stable state is reached.
    Arrival {
        /// Process and move of every step.
        path: &'a [(usize, S::Action)],
        /// Which.
        state: S::State,
        /// Who is running there.
        runs: usize,
    },
    /// A step violates something.
    Violation {
        /// Process and move of every step, that one included.
        path: &'a [(usize, S::Action)],
        /// What.
        violation: Violation,
    },
}

/// How often, in steps, the budget is looked at.
const LOOK_UP_EVERY: u64 = 256;

/// A step on the current path with its part of every table, beside the states themselves.
const BYTES_OF_A_STEP: u64 = 384;

/// Follows every path of `process` until everybody may run again. Says whether it could move at all.
pub fn expand<S: System>(
    system: &S,
    state: &S::State,
    process: usize,
    visit: impl FnMut(Event<'_, S>),
) -> bool {
    expand_within(system, &system.budget(), state, process, visit)
}

/// As [`expand`], with a budget of its own: an atomic sequence may be long, or have no end. If the budget is stopped,
/// what was visited is not all.
pub fn expand_within<S: System>(
    system: &S,
    budget: &Budget,
    state: &S::State,
    process: usize,
    mut visit: impl FnMut(Event<'_, S>),
) -> bool {
    let first = system.successors(state, process);
    let moved = !first.is_empty();
    // The steps to the state that is looked at; for each but the last one there is a level.
    let mut path = Vec::new();
    let mut levels: Vec<Level<S>> = vec![Level { process, passed: None, successors: first.into_iter() }];
    // The states in the middle of the sequence that the path has passed.
    let mut passed: HashSet<Rc<S::State>, foldhash::fast::RandomState> = HashSet::default();
    let (mut steps, mut bytes) = (0u64, 0);
    while let Some(level) = levels.last_mut() {
        let Some(successor) = level.successors.next() else {
            if let Some(state) = levels.pop().and_then(|level| level.passed) {
                bytes -= bytes_of_level(system, &state);
                passed.remove(&state);
            }
            path.pop();
            continue;
        };
        steps += 1;
        if steps.is_multiple_of(LOOK_UP_EVERY) && budget.exhausted_with(bytes).is_some() {
            break;
        }
        let Successor { action, state, runs, violation } = successor;
        path.push((level.process, action));
        if let Some(violation) = violation {
            visit(Event::Violation { path: &path, violation });
        }
        match state.map(|state| (system.exclusive(&state), state)) {
            None => {}
            Some((None, state)) => visit(Event::Arrival { path: &path, state, runs }),
            // An atomic sequence that comes back to where it was never ends and leads nowhere else.
            Some((Some(_), state)) if passed.contains(&state) => {}
            Some((Some(holder), state)) => {
                let successors = system.successors(&state, holder);
                if !successors.is_empty() {
                    let state = Rc::new(state);
                    bytes += bytes_of_level(system, &state);
                    passed.insert(Rc::clone(&state));
                    let successors = successors.into_iter();
                    levels.push(Level { process: holder, passed: Some(state), successors });
                    continue;
                }
                visit(Event::Arrival { path: &path, state: system.release(&state), runs });
            }
        }
        path.pop();
    }
    moved
}

/// A state on the way, and what can be done there.
struct Level<S: System> {
    process: usize,
    /// The state; `None` for the one where it began.
    passed: Option<Rc<S::State>>,
    successors: std::vec::IntoIter<Successor<S::State, S::Action>>,
}

/// Each state is there twice for a moment: among the successors of the one before, and passed.
fn bytes_of_level<S: System>(system: &S, state: &S::State) -> u64 {
    system.state_bytes(state) as u64 + BYTES_OF_A_STEP
}
