//! `--fair-switch`: a process that only spins may be left for free. The model's `search/spinning.rs` on byte vectors.

use crate::successors::{Event, Successors};
use preempt_core::Budget;
use std::collections::HashMap;

/// How often, in states, the budget is looked at.
const LOOK_UP_EVERY: usize = 64;

/// Two copies of a state, its number, and its predecessors, beside the bytes themselves.
const BYTES_OF_A_STATE: usize = 192;

/// Can `process` move, and can every state that it alone can reach come back to this one by its moves alone?
/// False also if the budget ends first.
pub fn spins<S: Successors + ?Sized>(system: &mut S, budget: &Budget, state: &[u8], process: usize) -> bool {
    if process >= system.process_count(state) {
        return false;
    }
    let mut number: HashMap<Vec<u8>, usize> = HashMap::from([(state.to_vec(), 0)]);
    let mut states = vec![state.to_vec()];
    let mut predecessors: Vec<Vec<usize>> = vec![Vec::new()];
    let mut next = 0;
    while next < states.len() {
        let bytes = states.len() * (2 * state.len() + BYTES_OF_A_STATE);
        if next % LOOK_UP_EVERY == LOOK_UP_EVERY - 1 && budget.exhausted_with(bytes as u64).is_some() {
            return false;
        }
        let mut arrivals: Vec<(Vec<u8>, u8)> = Vec::new();
        let moved = system.expand(&states[next].clone(), process, &mut |event| {
            if let Event::Arrival { state, runs, .. } = event {
                arrivals.push((state.to_vec(), runs));
            }
        });
        // Handing on to another process, or ending, is not spinning.
        let alone = arrivals
            .iter()
            .all(|(state, runs)| usize::from(*runs) == process && process < system.process_count(state));
        if !moved || !alone {
            return false;
        }
        for (state, _) in arrivals {
            let target = *number.entry(state.clone()).or_insert_with(|| {
                states.push(state);
                predecessors.push(Vec::new());
                states.len() - 1
            });
            predecessors[target].push(next);
        }
        next += 1;
    }
    let mut met = vec![false; predecessors.len()];
    let mut waiting = vec![0];
    while let Some(state) = waiting.pop() {
        if !std::mem::replace(&mut met[state], true) {
            waiting.extend(&predecessors[state]);
        }
    }
    met.into_iter().all(|met| met)
}
