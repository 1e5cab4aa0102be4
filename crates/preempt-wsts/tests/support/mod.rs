//! Random small nets, and a brute-force search that knows nothing of orderings.
#![allow(dead_code)]

use preempt_net::{Marking, Move, Net, Problem, Range, Transition};
use std::collections::{BTreeSet, VecDeque};

/// Small numbers from a seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        (0..8).for_each(|_| {
            random.below(2);
        });
        random
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Weights and read arcs.
    Plain,
    /// Resets, transfers and copies too.
    Moving,
    /// Zero tests and intervals too.
    Testing,
}

pub fn random_problem(random: &mut Random, kind: Kind) -> Problem {
    let places = 2 + random.below(4) as u32;
    let count = 1 + random.below(5);
    let transitions = (0..count).map(|number| random_transition(random, places, kind, number)).collect();
    let initial = (0..places)
        .map(|_| match random.below(6) {
            0 => Range::at_least(random.below(2)),
            1 => Range { low: 0, high: Some(random.below(3)) },
            2 | 3 => Range::exactly(0),
            _ => Range::exactly(random.below(4)),
        })
        .collect();
    let targets = (0..1 + random.below(2)).map(|_| tokens(random, places, 3, 2)).collect();
    let net = Net { places: (0..places).map(|p| format!("p{p}")).collect(), transitions };
    Problem { net, initial, targets, spans: Vec::new() }
}

fn tokens(random: &mut Random, places: u32, most: u64, rare: u64) -> Marking {
    (0..places).map(|place| (place, if random.one_in(rare) { random.below(most + 1) } else { 0 })).collect()
}

fn random_transition(random: &mut Random, places: u32, kind: Kind, number: u64) -> Transition {
    let mut consume = tokens(random, places, 2, 3);
    let mut produce = tokens(random, places, 2, 3);
    if random.one_in(3) {
        // A read arc.
        let read = Marking::from_pairs([(random.below(places.into()) as u32, 1 + random.below(2))]);
        (consume, produce) = (consume.plus(&read), produce.plus(&read));
    }
    let mut moves = Vec::new();
    let mut at_most = Vec::new();
    for from in 0..places {
        if kind != Kind::Plain && random.one_in(5) {
            let length = [0, 1, 1, 1, 2][random.below(5) as usize];
            let mut to: Vec<u32> = (0..length).map(|_| random.below(places.into()) as u32).collect();
            to.sort_unstable();
            if to != [from] {
                moves.push(Move { from, to });
            }
        }
        if kind == Kind::Testing && random.one_in(6) {
            at_most.push((from, consume.get(from) + random.below(2)));
        }
    }
    Transition { name: format!("t{number}"), consume, produce, moves, at_most }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Brute {
    Covered,
    /// Everything was visited.
    Never,
    /// Something was left out.
    Unknown,
}

/// Every marking that can be reached with few tokens, from every initial marking with few extra tokens.
pub fn brute_force(problem: &Problem, extra: u64, heaviest: u64, most_states: usize) -> Brute {
    let mut starts = vec![Marking::new()];
    let mut whole = true;
    for (place, range) in (0u32..).zip(&problem.initial) {
        let high = range.high.unwrap_or_else(|| {
            whole = false;
            range.low + extra
        });
        starts = starts
            .iter()
            .flat_map(|start| (range.low..=high).map(move |n| start.plus(&Marking::from_pairs([(place, n)]))))
            .collect();
    }
    let mut seen: BTreeSet<Marking> = starts.iter().cloned().collect();
    let mut open: VecDeque<Marking> = starts.into();
    while let Some(marking) = open.pop_front() {
        if problem.covers_target(&marking) {
            return Brute::Covered;
        }
        for transition in &problem.net.transitions {
            let Some(after) = transition.fire(&marking) else { continue };
            if after.weight() > heaviest || seen.len() >= most_states {
                whole = false;
            } else if seen.insert(after.clone()) {
                open.push_back(after);
            }
        }
    }
    if whole { Brute::Never } else { Brute::Unknown }
}

/// Is a target covered by a run that never has more than so many tokens?
pub fn covered_within(problem: &Problem, most: u64) -> bool {
    let mut starts = vec![Marking::new()];
    for (place, range) in (0u32..).zip(&problem.initial) {
        let high = range.high.unwrap_or(most).min(most);
        let more = |start: &Marking| -> Vec<Marking> {
            (range.low..=high).map(|n| start.plus(&Marking::from_pairs([(place, n)]))).collect()
        };
        starts = starts.iter().flat_map(more).filter(|start| start.weight() <= most).collect();
    }
    let mut seen: BTreeSet<Marking> = starts.iter().cloned().collect();
    while let Some(marking) = starts.pop() {
        if problem.covers_target(&marking) {
            return true;
        }
        for transition in &problem.net.transitions {
            let after = transition.fire(&marking).filter(|after| after.weight() <= most);
            starts.extend(after.filter(|after| seen.insert(after.clone())));
        }
    }
    false
}
