//! post* and pre* against brute force on stacks of bounded height, and against each other.
//!
//! A configuration that brute force reaches must be accepted. One that is accepted and not reached within the height must be
//! reached by the run that its witness tells (`witnesses.rs` applies it rule by rule): together this is equality.

use crate::common::{cases, configurations, random_pds, reached_within};
use preempt_core::{Budget, Rng};
use preempt_pushdown::witness::{from_reaching, to_reached};
use preempt_pushdown::*;

fn applied<L>(pds: &Pds<L>, first: &Configuration, rules: &[usize]) -> Option<Configuration> {
    rules.iter().try_fold(first.clone(), |at, rule| pds.rules[*rule].apply(&at))
}

#[test]
fn post_star_pre_star_and_brute_force_agree() {
    let budget = Budget::unlimited();
    let mut accepted = 0;
    for seed in 0..cases(1500) {
        let mut rng = Rng::new(seed);
        let (states, symbols) = (1 + rng.below(3) as u32, 1 + rng.below(3) as u32);
        let rules = 1 + rng.below(9);
        let pds = random_pds(&mut rng, states, symbols, rules);
        let first = Configuration { state: 0, stack: vec![0] };
        let reached = reached_within(&pds, &first, 6);
        let post = post_star(&pds, &Boolean, Automaton::of(states, &first, (), ()), &budget)
            .expect("nothing ends it")
            .automaton;
        for configuration in &reached {
            assert!(post.accepts(configuration), "seed {seed}: {configuration:?} is missing");
        }
        for configuration in configurations(states, symbols, 3) {
            if post.accepts(&configuration) {
                accepted += 1;
                let witness = to_reached(&post, &configuration);
                let witness = witness.unwrap_or_else(|| panic!("seed {seed}: no run to {configuration:?}"));
                assert_eq!(witness.first, first, "seed {seed}");
                assert_eq!(
                    applied(&pds, &first, &witness.rules).as_ref(),
                    Some(&configuration),
                    "seed {seed}"
                );
            }
            if configuration.stack.is_empty() {
                continue;
            }
            let target = Automaton::of(states, &configuration, (), ());
            let pre = pre_star(&pds, &Boolean, target, &budget).expect("nothing ends it");
            assert_eq!(
                pre.accepts(&first),
                post.accepts(&configuration),
                "seed {seed}: forward and backward differ about {configuration:?}"
            );
            if pre.accepts(&first) {
                let witness = from_reaching(&pre, &first).expect("it is accepted");
                assert_eq!(
                    applied(&pds, &first, &witness.rules).as_ref(),
                    Some(&configuration),
                    "seed {seed}"
                );
            }
        }
    }
    assert!(accepted > cases(1500), "the random systems do nothing");
}

/// Lengths of shortest runs: what another semiring says with the same saturation.
#[test]
fn weights_are_the_lengths_of_shortest_runs() {
    let budget = Budget::unlimited();
    for seed in 0..cases(400) {
        let mut rng = Rng::new(seed);
        let plain = random_pds(&mut rng, 2, 3, 7);
        let rules = plain.rules.iter().map(|rule| Rule {
            from: rule.from,
            to: rule.to,
            word: rule.word,
            label: 1u64,
        });
        let pds = Pds { states: plain.states, symbols: plain.symbols, rules: rules.collect() };
        let first = Configuration { state: 0, stack: vec![0] };
        // Breadth first; a run of so few steps has no higher stack.
        let mut levels = vec![std::collections::BTreeSet::from([first.clone()])];
        for _ in 0..6 {
            let last = levels.last().expect("there is a first");
            let next = last.iter().flat_map(|at| pds.successors(at)).map(|(_, next)| next);
            let next = next.filter(|next| !levels.iter().any(|level| level.contains(next))).collect();
            levels.push(next);
        }
        let post = post_star(&pds, &Shortest, Automaton::of(2, &first, 0, 0), &budget).expect("it ends");
        for (length, level) in levels.iter().enumerate() {
            for configuration in level.iter().filter(|it| it.stack.len() == 1) {
                let least = post.automaton.leaving(configuration.state).iter();
                let least = least.map(|edge| &post.automaton.transitions[*edge]).filter(|transition| {
                    transition.symbol == configuration.stack[0]
                        && post.automaton.finals.contains(&transition.to)
                });
                let least = least.map(|transition| transition.weight).min();
                assert_eq!(least, Some(length as u64), "seed {seed}: {configuration:?}");
                let target = Automaton::of(2, configuration, 0, 0);
                let pre = pre_star(&pds, &Shortest, target, &budget).expect("it ends");
                let least = pre.leaving(0).iter().map(|edge| &pre.transitions[*edge]);
                let least = least.filter(|it| it.symbol == 0 && pre.finals.contains(&it.to));
                let least = least.map(|it| it.weight).min();
                assert_eq!(least, Some(length as u64), "seed {seed}: backward {configuration:?}");
            }
        }
    }
}

/// Recursion without an end is no reason not to come to an end.
#[test]
fn endless_recursion_ends_with_an_answer() {
    let rules = vec![Rule::new((0, 0), 0, Word::Push(0, 1)), Rule::new((0, 0), 1, Word::Pop)];
    let pds = Pds { states: 2, symbols: 2, rules };
    let start = Automaton::of(2, &Configuration { state: 0, stack: vec![0] }, (), ());
    let post = post_star(&pds, &Boolean, start, &Budget::unlimited()).expect("it ends").automaton;
    assert!(post.accepts(&Configuration { state: 1, stack: vec![1; 1000] }));
    assert!(post.transitions.len() < 10);
}
