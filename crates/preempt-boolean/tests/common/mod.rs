//! Round robin by brute force, on the reference interpreter.

use preempt_core::{PropertyKind, SourceMap};
use preempt_model::{Interpreter, Model, System};
use std::collections::HashSet;

/// Is something wrong in a run of at most so many rounds, the processes taking turns in the order of their numbers?
/// `None` if there are more states than the limit.
pub fn fails_within(model: &Model, sources: &SourceMap, rounds: usize, limit: usize) -> Option<bool> {
    let interpreter = Interpreter::new(model, sources).expect("initial values have a meaning");
    let mut states: HashSet<_> = interpreter.initial_states().into_iter().collect();
    for _ in 0..rounds {
        let mut process = 0;
        // Processes that were started in this round have their turn in it too.
        while states.iter().any(|state| interpreter.process_count(state) > process) {
            let mut open: Vec<_> = states.drain().collect();
            let mut met: HashSet<_> = open.iter().cloned().collect();
            while let Some(state) = open.pop() {
                let holder = interpreter.exclusive(&state);
                let moves = if process < interpreter.process_count(&state) {
                    interpreter.successors(&state, process)
                } else {
                    Vec::new()
                };
                if holder.is_none() {
                    states.insert(state.clone());
                } else if moves.is_empty() {
                    let free = interpreter.release(&state);
                    if met.insert(free.clone()) {
                        open.push(free);
                    }
                }
                for successor in moves {
                    if let Some(violation) = successor.violation {
                        let deep = violation.name.contains("nested deeper");
                        assert!(violation.kind == PropertyKind::Assertion || !deep, "{violation:?}");
                        return Some(true);
                    }
                    let next = successor.state.expect("a step without violation has an outcome");
                    if met.insert(next.clone()) {
                        open.push(next);
                    }
                }
                if met.len() > limit {
                    return None;
                }
            }
            process += 1;
        }
    }
    Some(false)
}
