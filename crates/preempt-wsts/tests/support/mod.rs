//! Random small nets, and a brute-force search that knows nothing of orderings.
#![allow(dead_code)]

use preempt_core::Rng;
use preempt_net::{Marking, Move, Net, Problem, Range, Transition};
use std::collections::{BTreeSet, VecDeque};

/// So many random cases, or as many as `PREEMPT_CASES` says for a long run.
pub fn cases(few: u64) -> u64 {
    std::env::var("PREEMPT_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(few)
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

pub fn random_problem(rng: &mut Rng, kind: Kind) -> Problem {
    let places = 2 + rng.below(4) as u32;
    let count = 1 + rng.below(5);
    let transitions = (0..count).map(|number| random_transition(rng, places, kind, number)).collect();
    let initial = (0..places)
        .map(|_| match rng.below(6) {
            0 => Range::at_least(rng.below_u64(2)),
            1 => Range { low: 0, high: Some(rng.below_u64(3)) },
            2 | 3 => Range::exactly(0),
            _ => Range::exactly(rng.below_u64(4)),
        })
        .collect();
    let targets = (0..1 + rng.below(2)).map(|_| tokens(rng, places, 3, 2)).collect();
    let net = Net { places: (0..places).map(|p| format!("p{p}")).collect(), transitions };
    Problem { net, initial, targets, spans: Vec::new() }
}

fn tokens(rng: &mut Rng, places: u32, most: u64, rare: usize) -> Marking {
    (0..places).map(|place| (place, if rng.one_in(rare) { rng.below_u64(most + 1) } else { 0 })).collect()
}

fn random_transition(rng: &mut Rng, places: u32, kind: Kind, number: usize) -> Transition {
    let mut consume = tokens(rng, places, 2, 3);
    let mut produce = tokens(rng, places, 2, 3);
    if rng.one_in(3) {
        // A read arc.
        let read = Marking::from_pairs([(rng.below(places as usize) as u32, 1 + rng.below_u64(2))]);
        (consume, produce) = (consume.plus(&read), produce.plus(&read));
    }
    let mut moves = Vec::new();
    let mut at_most = Vec::new();
    for from in 0..places {
        if kind != Kind::Plain && rng.one_in(5) {
            let length = [0, 1, 1, 1, 2][rng.below(5)];
            let mut to: Vec<u32> = (0..length).map(|_| rng.below(places as usize) as u32).collect();
            to.sort_unstable();
            if to != [from] {
                moves.push(Move { from, to });
            }
        }
        if kind == Kind::Testing && rng.one_in(6) {
            at_most.push((from, consume.get(from) + rng.below_u64(2)));
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
