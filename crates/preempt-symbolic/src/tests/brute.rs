//! Round robin by brute force: sets of states of the reference interpreter.

use preempt_model::interpreter::{Machine, State};
use preempt_model::{Interpreter, System};
use std::collections::{BTreeSet, HashSet};

#[derive(Debug, Clone, Default)]
pub struct Rounds {
    /// The shared states and the number of configurations after each round.
    pub shared: Vec<BTreeSet<Vec<i32>>>,
    pub configurations: Vec<usize>,
    /// Round and process of the first violation, both from 0.
    pub violation: Option<(usize, usize)>,
    /// Calls deeper than the bound were not followed.
    pub cut: bool,
    /// All states that were met, at rest or not.
    pub met: BTreeSet<State>,
}

/// `None` if there are too many states.
pub fn rounds(
    system: &Interpreter<'_>,
    initial: State,
    processes: usize,
    count: usize,
    depth: usize,
) -> Option<Rounds> {
    const MOST: usize = 20_000;
    let mut result = Rounds::default();
    let mut reached: HashSet<State> = HashSet::from([initial]);
    for round in 0..count {
        for process in 0..processes {
            let mut closed: HashSet<State> = reached.clone();
            let mut waiting: Vec<State> = reached.iter().cloned().collect();
            while let Some(state) = waiting.pop() {
                for step in system.successors(&state, process) {
                    if step.violation.is_some() && result.violation.is_none() {
                        result.violation = Some((round, process));
                    }
                    let Some(next) = step.state else { continue };
                    if system.open(&next).processes.iter().any(|process| process.frames.len() > depth) {
                        result.cut = true;
                        continue;
                    }
                    if closed.insert(next.clone()) {
                        waiting.push(next);
                    }
                }
                if closed.len() > MOST {
                    return None;
                }
            }
            result.met.extend(closed.iter().cloned());
            for state in closed {
                match system.exclusive(&state) {
                    None => drop(reached.insert(state)),
                    Some(holder) if system.successors(&state, holder).is_empty() => {
                        reached.insert(system.release(&state));
                    }
                    Some(_) => {}
                }
            }
        }
        // the initial state may be inside an atomic sequence
        let open: Vec<Machine> = reached
            .iter()
            .filter(|state| system.exclusive(state).is_none())
            .map(|state| system.open(state))
            .collect();
        result.shared.push(open.iter().map(|machine| machine.globals.clone()).collect());
        result.configurations.push(open.len());
    }
    Some(result)
}
