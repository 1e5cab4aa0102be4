//! `--fair-switch`: a process that only spins may be left for free. The model's `search/spinning.rs` on byte vectors, and what
//! was found out is remembered: a process that goes on comes through states that were looked at when it was asked about the
//! first of them.
//!
//! A process spins in a state if it can move and every state that it alone can reach comes back to this one. So it spins in all
//! of them or in none: they are a component without a way out. And it spins nowhere on a way to a state in which it cannot
//! move, or hands on to another process, or whose answer is known: from a state in which it spins it cannot come back to one
//! that is not known to belong to the same component.

use crate::successors::{Event, Successors};
use preempt_core::Budget;
use std::collections::HashMap;

/// How often, in states, the budget is looked at.
const LOOK_UP_EVERY: usize = 64;

/// Two copies of a state, its number, and its predecessors, beside the bytes themselves.
const BYTES_OF_A_STATE: usize = 192;

/// After so many bytes everything is forgotten.
const MOST_BYTES: usize = 1 << 24;

/// What is known of processes in states.
#[derive(Debug, Default)]
pub struct Spinning {
    /// By the bytes of a state after the number of the process.
    known: HashMap<Vec<u8>, bool, foldhash::fast::FixedState>,
    bytes: usize,
}

/// A state of the search below: who comes there, and where it is left.
struct Node {
    state: Vec<u8>,
    predecessors: Vec<usize>,
    successors: Vec<usize>,
    next: usize,
}

impl Spinning {
    /// Can `process` move, and can every state that it alone can reach come back to this one by its moves alone?
    /// False also if the budget ends first.
    pub fn spins<S: Successors + ?Sized>(
        &mut self,
        system: &mut S,
        budget: &Budget,
        state: &[u8],
        process: usize,
    ) -> bool {
        if process >= system.process_count(state) {
            return false;
        }
        if let Some(known) = self.known.get(&named(state, process)) {
            return *known;
        }
        // Never while only part of a component is noted.
        if self.bytes > MOST_BYTES {
            (self.known, self.bytes) = (HashMap::default(), 0);
        }
        let mut alone = Alone { process, numbers: HashMap::default(), nodes: Vec::new(), bytes: 0 };
        alone.number(state);
        let mut path = Vec::new();
        let mut entering = Some(0);
        loop {
            if let Some(number) = entering.take() {
                let state = &alone.nodes[number].state;
                let is_known = number > 0 && self.known.contains_key(&self::named(state, process));
                if !is_known {
                    path.push(number);
                }
                if is_known || !alone.enter(system, number) {
                    for number in path {
                        self.note(&alone.nodes[number].state, process, false);
                    }
                    return false;
                }
                let is_due = alone.nodes.len() % LOOK_UP_EVERY == LOOK_UP_EVERY - 1;
                if is_due && budget.exhausted_with(alone.bytes as u64).is_some() {
                    return false;
                }
            }
            let Some(here) = path.last() else { break };
            let node = &mut alone.nodes[*here];
            match node.successors.get(node.next).copied() {
                Some(next) => {
                    node.next += 1;
                    // Whoever has been entered has a predecessor on the path, or was left.
                    entering = (!alone.is_entered(next)).then_some(next);
                }
                None => {
                    path.pop();
                }
            }
        }
        let spins = alone.all_come_back();
        if spins {
            alone.nodes.iter().for_each(|node| self.note(&node.state, process, true));
        } else {
            self.note(state, process, false);
        }
        spins
    }

    fn note(&mut self, state: &[u8], process: usize, spins: bool) {
        self.bytes += state.len() + BYTES_OF_A_STATE / 2;
        self.known.insert(named(state, process), spins);
    }

    pub fn bytes(&self) -> u64 {
        self.bytes as u64
    }
}

fn named(state: &[u8], process: usize) -> Vec<u8> {
    let mut named = Vec::with_capacity(state.len() + 1);
    named.push(process as u8);
    named.extend_from_slice(state);
    named
}

/// The states that one process alone can reach.
struct Alone {
    process: usize,
    numbers: HashMap<Vec<u8>, usize, foldhash::fast::FixedState>,
    nodes: Vec<Node>,
    bytes: usize,
}

/// A state that was met and not entered yet.
const OPEN: usize = usize::MAX;

impl Alone {
    fn number(&mut self, state: &[u8]) -> usize {
        if let Some(number) = self.numbers.get(state) {
            return *number;
        }
        let number = self.nodes.len();
        self.numbers.insert(state.to_vec(), number);
        let (predecessors, successors) = (Vec::new(), Vec::new());
        self.nodes.push(Node { state: state.to_vec(), predecessors, successors, next: OPEN });
        self.bytes += 2 * state.len() + BYTES_OF_A_STATE;
        number
    }

    fn is_entered(&self, number: usize) -> bool {
        self.nodes[number].next != OPEN
    }

    /// False if the process cannot move here, or does not go on alone: handing on to another process, or ending, is not spinning.
    fn enter<S: Successors + ?Sized>(&mut self, system: &mut S, number: usize) -> bool {
        let (mut arrivals, state) = (Vec::new(), std::mem::take(&mut self.nodes[number].state));
        let moved = system.expand(&state, self.process, &mut |event| {
            if let Event::Arrival { state, runs, .. } = event {
                arrivals.push((state.to_vec(), runs));
            }
        });
        self.nodes[number].state = state;
        self.nodes[number].next = 0;
        let goes_on = |(state, runs): &(Vec<u8>, u8)| {
            usize::from(*runs) == self.process && self.process < system.process_count(state)
        };
        if !moved || !arrivals.iter().all(goes_on) {
            return false;
        }
        for (state, _) in arrivals {
            let target = self.number(&state);
            self.nodes[target].predecessors.push(number);
            self.nodes[number].successors.push(target);
        }
        true
    }

    /// Backwards from the first state: is every state met?
    fn all_come_back(&self) -> bool {
        let mut met = vec![false; self.nodes.len()];
        let mut waiting = vec![0];
        while let Some(state) = waiting.pop() {
            if !std::mem::replace(&mut met[state], true) {
                waiting.extend(&self.nodes[state].predecessors);
            }
        }
        met.into_iter().all(|met| met)
    }
}

#[cfg(all(test, feature = "native"))]
mod tests {
    use super::*;
    use crate::Native;
    use preempt_model::generator::program_from_seed;
    use std::collections::HashSet;

    /// As it is defined: everything that can be reached comes back.
    fn by_definition(system: &mut Native<'_>, state: &[u8], process: usize) -> bool {
        let reached = |system: &mut Native<'_>, from: &[u8]| {
            let (mut met, mut waiting) = (HashSet::from([from.to_vec()]), vec![from.to_vec()]);
            let mut goes_on = true;
            while let Some(state) = waiting.pop() {
                let mut next = Vec::new();
                goes_on &= system.expand(&state, process, &mut |event| {
                    if let Event::Arrival { state, runs, .. } = event {
                        next.push((state.to_vec(), runs));
                    }
                });
                goes_on &= next.iter().all(|(state, runs)| {
                    usize::from(*runs) == process && process < system.process_count(state)
                });
                if !goes_on {
                    break;
                }
                waiting
                    .extend(next.into_iter().filter(|(state, _)| met.insert(state.clone())).map(|it| it.0));
            }
            goes_on.then_some(met)
        };
        let Some(all) = reached(system, state) else { return false };
        all.iter().all(|other| reached(system, other).is_some_and(|met| met.contains(state)))
    }

    /// In whatever order states are asked about.
    #[test]
    fn what_is_remembered_is_as_defined() {
        let (mut asked, mut spinning) = (0, 0);
        for seed in 0..60 {
            let (model, sources) = program_from_seed(8_800_000 + seed).to_model();
            let Ok(mut system) = Native::new(&model, &sources) else { continue };
            let (mut met, mut waiting) = (HashSet::new(), system.initial());
            let mut known = Spinning::default();
            while let Some(state) = waiting.pop().filter(|_| met.len() < 150) {
                if !met.insert(state.clone()) {
                    continue;
                }
                for process in 0..system.process_count(&state) {
                    let spins = known.spins(&mut system, &Budget::unlimited(), &state, process);
                    assert_eq!(spins, by_definition(&mut system, &state, process), "seed {seed}");
                    (asked, spinning) = (asked + 1, spinning + u32::from(spins));
                    system.expand(&state, process, &mut |event| {
                        if let Event::Arrival { state, .. } = event {
                            waiting.push(state.to_vec());
                        }
                    });
                }
            }
        }
        assert!(spinning > 50 && asked > 10 * spinning, "{spinning} of {asked}");
    }
}
