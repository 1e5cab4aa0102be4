//! `--fair-switch`: a process that only spins may be left for free. The model's `search/spinning.rs` on byte vectors.

use crate::successors::{Event, Successors};
use std::collections::HashMap;

/// Can `process` move, and can every state that it alone can reach come back to this one by its moves alone?
pub fn spins<S: Successors>(system: &mut S, state: &[u8], process: usize) -> bool {
    if process >= system.process_count(state) {
        return false;
    }
    let mut number: HashMap<Vec<u8>, usize> = HashMap::from([(state.to_vec(), 0)]);
    let mut states = vec![state.to_vec()];
    let mut predecessors: Vec<Vec<usize>> = vec![Vec::new()];
    let mut next = 0;
    while next < states.len() {
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
