//! `--fair-switch`: a process that only spins may be left for free. The model's `search/spinning.rs` on byte vectors, and what
//! was found out is remembered: a process that goes on comes through states that were looked at when it was asked about the
//! first of them.
//!
//! A process spins in a state if it can move and every state that it alone can reach comes back to this one. So it spins in all
//! of them: they are a component without a way out. And it spins nowhere on a way to a state in which it cannot
//! move, or hands on to another process, or is known not to spin.

use crate::successors::{Event, Successors};
use preempt_core::Budget;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};

/// How often, in states, the budget is looked at.
const LOOK_UP_EVERY: usize = 64;

/// So many states are compared one by one; where there are more, they are found by their hashes.
const FEW: usize = 8;

/// States that are remembered; what is new takes the place of what is old. Fewer, if they would take more bytes than these.
const REMEMBERED: usize = 1 << 14;
const MOST_BYTES: usize = 1 << 23;
const FEWEST: usize = 16;

/// Who spins where, as far as that is known.
#[derive(Debug, Default)]
pub struct Spinning {
    known: Known,
    alone: Alone,
    path: Vec<u32>,
}

/// What was found out, each in the place that its hash says.
#[derive(Debug, Default)]
struct Known {
    answers: Vec<Option<Answer>>,
    /// Of each state as many bytes as the longest has.
    bytes: Vec<u8>,
    longest: usize,
}

#[derive(Debug, Clone, Copy)]
struct Answer {
    hash: u64,
    length: u32,
    process: u8,
    spins: bool,
}

fn hash_of(state: &[u8], process: usize) -> u64 {
    let mut hasher = foldhash::fast::FixedState::with_seed(process as u64).build_hasher();
    hasher.write(state);
    hasher.finish()
}

impl Known {
    fn place(&self, hash: u64) -> usize {
        hash as usize % self.answers.len().max(1)
    }

    fn get(&self, state: &[u8], process: usize, hash: u64) -> Option<bool> {
        let place = self.place(hash);
        let answer = (*self.answers.get(place)?)?;
        let start = place * self.longest;
        let is_it = answer.hash == hash
            && usize::from(answer.process) == process
            && self.bytes.get(start..start + answer.length as usize) == Some(state);
        is_it.then_some(answer.spins)
    }

    fn put(&mut self, state: &[u8], process: usize, hash: u64, spins: bool) {
        if state.len() > self.longest {
            self.longest = state.len();
            let places = (MOST_BYTES / self.longest).clamp(FEWEST, REMEMBERED);
            self.answers = vec![None; places];
            self.bytes = vec![0; places * self.longest];
        }
        let place = self.place(hash);
        let start = place * self.longest;
        self.bytes[start..start + state.len()].copy_from_slice(state);
        self.answers[place] =
            Some(Answer { hash, length: state.len() as u32, process: process as u8, spins });
    }
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
        let hash = hash_of(state, process);
        if let Some(known) = self.known.get(state, process, hash) {
            return known;
        }
        let Spinning { known, alone, path } = self;
        alone.clear();
        path.clear();
        let mut entering = Some(alone.number(state, hash));
        loop {
            if let Some(number) = entering.take() {
                let node = &alone.nodes[number as usize];
                // Of whoever is known to spin the component may not be known as a whole.
                let is_out = known.get(alone.state(node), process, node.hash) == Some(false);
                if !is_out {
                    path.push(number);
                }
                if is_out || !alone.enter(system, process, number) {
                    for number in path.iter() {
                        let node = &alone.nodes[*number as usize];
                        known.put(alone.state(node), process, node.hash, false);
                    }
                    return false;
                }
                let is_due = alone.nodes.len() % LOOK_UP_EVERY == LOOK_UP_EVERY - 1;
                if is_due && budget.exhausted_with(alone.bytes()).is_some() {
                    return false;
                }
            }
            let Some(here) = path.last() else { break };
            match alone.next_of(*here) {
                Some(next) => entering = (!alone.nodes[next as usize].is_entered).then_some(next),
                None => {
                    path.pop();
                }
            }
        }
        let spins = alone.all_come_back();
        if spins {
            alone.nodes.iter().for_each(|node| known.put(alone.state(node), process, node.hash, true));
        } else {
            known.put(state, process, hash, false);
        }
        spins
    }

    pub fn bytes(&self) -> u64 {
        let known = self.known.bytes.capacity() + self.known.answers.capacity() * size_of::<Option<Answer>>();
        known as u64 + self.alone.bytes()
    }
}

/// The states that one process alone can reach.
#[derive(Debug, Default)]
struct Alone {
    nodes: Vec<Node>,
    /// Of all states, one after the other.
    bytes: Vec<u8>,
    /// From where to where.
    edges: Vec<(u32, u32)>,
    /// Where there are more than a few.
    by_hash: HashMap<u64, Vec<u32>, foldhash::fast::FixedState>,
    /// What one step leads to.
    arrivals: Vec<(usize, usize)>,
}

#[derive(Debug)]
struct Node {
    hash: u64,
    start: usize,
    length: usize,
    is_entered: bool,
    /// Of the edges, those that begin here and were not taken yet.
    next: u32,
    end: u32,
}

impl Alone {
    fn clear(&mut self) {
        self.nodes.clear();
        self.bytes.clear();
        self.edges.clear();
        self.by_hash.clear();
    }

    fn bytes(&self) -> u64 {
        let nodes = self.nodes.capacity() * (size_of::<Node>() + 32);
        (nodes + self.bytes.capacity() + 8 * self.edges.capacity()) as u64
    }

    fn state(&self, node: &Node) -> &[u8] {
        &self.bytes[node.start..node.start + node.length]
    }

    fn number(&mut self, state: &[u8], hash: u64) -> u32 {
        let is_it = |number: &u32| {
            let node = &self.nodes[*number as usize];
            node.hash == hash && self.state(node) == state
        };
        let known = match self.nodes.len() {
            0..=FEW => (0..self.nodes.len() as u32).find(is_it),
            _ => self.by_hash.get(&hash).and_then(|some| some.iter().copied().find(is_it)),
        };
        if let Some(number) = known {
            return number;
        }
        let number = self.nodes.len() as u32;
        let start = self.bytes.len();
        self.bytes.extend_from_slice(state);
        self.nodes.push(Node { hash, start, length: state.len(), is_entered: false, next: 0, end: 0 });
        // From then on they are found so.
        let not_there = match self.nodes.len() {
            0..=FEW => 0..0,
            count if count == FEW + 1 => 0..count,
            count => count - 1..count,
        };
        for number in not_there {
            let hash = self.nodes[number].hash;
            self.by_hash.entry(hash).or_default().push(number as u32);
        }
        number
    }

    /// False if the process cannot move here, or does not go on alone: handing on to another process, or ending, is not spinning.
    fn enter<S: Successors + ?Sized>(&mut self, system: &mut S, process: usize, number: u32) -> bool {
        let node = &mut self.nodes[number as usize];
        node.is_entered = true;
        let state = self.bytes[node.start..node.start + node.length].to_vec();
        let (mut arrivals, mut bytes) = (std::mem::take(&mut self.arrivals), Vec::new());
        arrivals.clear();
        let mut alone = true;
        let moved = system.expand(&state, process, &mut |event| {
            if let Event::Arrival { state, runs, .. } = event {
                alone &= usize::from(runs) == process;
                arrivals.push((bytes.len(), state.len()));
                bytes.extend_from_slice(state);
            }
        });
        let lives = |(start, length): &(usize, usize)| {
            process < system.process_count(&bytes[*start..*start + *length])
        };
        let goes_on = moved && alone && arrivals.iter().all(lives);
        if goes_on {
            let first = self.edges.len() as u32;
            for (start, length) in arrivals.drain(..) {
                let state = &bytes[start..start + length];
                let target = self.number(state, hash_of(state, process));
                self.edges.push((number, target));
            }
            let node = &mut self.nodes[number as usize];
            (node.next, node.end) = (first, self.edges.len() as u32);
        }
        self.arrivals = arrivals;
        goes_on
    }

    /// Where the next edge from here leads.
    fn next_of(&mut self, number: u32) -> Option<u32> {
        let node = &mut self.nodes[number as usize];
        (node.next < node.end).then(|| {
            node.next += 1;
            self.edges[node.next as usize - 1].1
        })
    }

    /// Backwards from the first state: is every state met?
    fn all_come_back(&mut self) -> bool {
        self.edges.sort_unstable_by_key(|(_, to)| *to);
        let mut met = vec![false; self.nodes.len()];
        let mut waiting = vec![0u32];
        while let Some(state) = waiting.pop() {
            if !std::mem::replace(&mut met[state as usize], true) {
                let first = self.edges.partition_point(|(_, to)| *to < state);
                let into = self.edges[first..].iter().take_while(|(_, to)| *to == state);
                waiting.extend(into.map(|(from, _)| from));
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

    /// Of large states there is room for few, and they are told apart as well.
    #[test]
    fn what_is_remembered_is_bounded() {
        let mut known = Known::default();
        for length in [3, 1000, 1 << 20] {
            let states: Vec<Vec<u8>> = (0..40).map(|number| vec![number; length]).collect();
            for (number, state) in states.iter().enumerate() {
                let hash = hash_of(state, 1);
                known.put(state, 1, hash, number % 2 == 0);
                assert_eq!(known.get(state, 1, hash), Some(number % 2 == 0));
                assert_eq!(known.get(state, 2, hash), None);
            }
            assert!(known.bytes.len() <= MOST_BYTES.max(FEWEST * length), "{length}");
            assert!(states.iter().any(|state| known.get(state, 1, hash_of(state, 1)).is_some()));
        }
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
