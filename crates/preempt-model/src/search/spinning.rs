//! `--fair-switch`: a process that only spins may be left for free (Holzmann and Florian 2011, paper 000, section 3.1, made
//! independent of the search order).
//!
//! A process spins in a state if everything that it can reach alone leads back there alone: then running it longer changes
//! nothing that others could see for good. The states that it reaches alone are listed, and walked backwards from the first;
//! there is a search for each state that is left, which is why it is only done on demand.

use super::stable::{Event, expand};
use crate::system::System;
use std::collections::HashMap;

/// How often, in states, the budget is looked at.
const LOOK_UP_EVERY: usize = 64;

/// Two copies of a state, its number, and its predecessors, beside the states themselves.
const BYTES_OF_A_STATE: u64 = 192;

/// Can `process` move, and can every state that it alone can reach come back to this one by its moves alone?
/// False also if the system's budget ends first.
pub(super) fn spins<S: System>(system: &S, state: &S::State, process: usize) -> bool {
    let budget = system.budget();
    let mut number = HashMap::from([(state.clone(), 0usize)]);
    let mut states = vec![state.clone()];
    let mut predecessors: Vec<Vec<usize>> = vec![Vec::new()];
    let mut bytes = 0;
    let mut next = 0;
    while next < states.len() {
        if next % LOOK_UP_EVERY == LOOK_UP_EVERY - 1 && budget.exhausted_with(bytes).is_some() {
            return false;
        }
        let mut alone = true;
        let current = states[next].clone();
        let moved = expand(system, &current, process, |event| match event {
            Event::Violation { .. } => {}
            Event::Arrival { state, runs, .. } => {
                // Handing on to another process, or ending, is not spinning.
                alone &= runs == process && process < system.process_count(&state);
                let target = *number.entry(state.clone()).or_insert_with(|| {
                    bytes += 2 * system.state_bytes(&state) as u64 + BYTES_OF_A_STATE;
                    states.push(state);
                    predecessors.push(Vec::new());
                    states.len() - 1
                });
                predecessors[target].push(next);
            }
        });
        if !moved || !alone {
            return false;
        }
        next += 1;
    }
    reaches_all(&predecessors)
}

/// Backwards from state 0: is every state met?
fn reaches_all(predecessors: &[Vec<usize>]) -> bool {
    let mut met = vec![false; predecessors.len()];
    let mut waiting = vec![0];
    while let Some(state) = waiting.pop() {
        if !std::mem::replace(&mut met[state], true) {
            waiting.extend(&predecessors[state]);
        }
    }
    met.into_iter().all(|met| met)
}
