//! Random pushdown systems, and brute force on stacks of bounded height.

use preempt_core::Rng;
use preempt_pushdown::*;
use std::collections::{BTreeSet, VecDeque};

/// How many random systems: `PREEMPT_CASES`, or so many.
pub fn cases(usual: u64) -> u64 {
    std::env::var("PREEMPT_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// A system with few states and symbols, so that rules meet.
pub fn random_pds(rng: &mut Rng, states: u32, symbols: u32, rules: usize) -> Pds {
    let mut number = |below: u32| rng.below(below as usize) as u32;
    let rules = (0..rules)
        .map(|_| {
            let from = (number(states), number(symbols));
            let word = match number(5) {
                0 | 1 => Word::Pop,
                2 | 3 => Word::Step(number(symbols)),
                _ => Word::Push(number(symbols), number(symbols)),
            };
            Rule::new(from, number(states), word)
        })
        .collect();
    Pds { states, symbols, rules }
}

/// Everything that can be reached without a stack higher than `height`: a part of what can be reached.
pub fn reached_within<L>(pds: &Pds<L>, first: &Configuration, height: usize) -> BTreeSet<Configuration> {
    let mut reached = BTreeSet::from([first.clone()]);
    let mut waiting = VecDeque::from([first.clone()]);
    while let Some(configuration) = waiting.pop_front() {
        for (_, next) in pds.successors(&configuration) {
            if next.stack.len() <= height && reached.insert(next.clone()) {
                waiting.push_back(next);
            }
        }
    }
    reached
}

/// Every configuration with a stack of at most this height.
pub fn configurations(states: u32, symbols: u32, height: usize) -> Vec<Configuration> {
    let mut stacks = vec![Vec::new()];
    let mut all = stacks.clone();
    for _ in 0..height {
        let longer = |stack: &Vec<Symbol>| {
            let stack = stack.clone();
            (0..symbols).map(move |symbol| stack.iter().copied().chain([symbol]).collect::<Vec<_>>())
        };
        stacks = stacks.iter().flat_map(longer).collect();
        all.extend(stacks.iter().cloned());
    }
    (0..states)
        .flat_map(|state| all.iter().map(move |stack| Configuration { state, stack: stack.clone() }))
        .collect()
}
