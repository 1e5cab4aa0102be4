//! Theorem 1 of Lal and Reps 2009 (paper 002) on random pairs and triples of pushdown systems: what (⇒*₁; ⇒*₂)^K reaches is what
//! the reduced system of Fig. 4 reaches, listed state by state, in diagrams (section 5), and stage by stage (Table 1).

use crate::common::{cases, random_pds};
use preempt_core::{Budget, Rng};
use preempt_pushdown::reduction::reduce;
use preempt_pushdown::stages::{run_through, stages};
use preempt_pushdown::symbolic::analysis::{Direction, analyse};
use preempt_pushdown::*;
use std::collections::{BTreeSet, VecDeque};

const HEIGHT: usize = 3;

/// Threads that cannot empty their stacks: a symbol below the start that no rule takes away. Symbol 0 is e', symbol 1 e''.
fn random_system(rng: &mut Rng, threads: usize, states: u32) -> Concurrent {
    let threads = (0..threads)
        .map(|number| {
            let (symbols, rules) = (1 + rng.below(2) as u32, 1 + rng.below(6));
            let mut pds = random_pds(rng, states, symbols, rules);
            for rule in &mut pds.rules {
                rule.from.1 += 2;
                rule.word = match rule.word {
                    Word::Pop => Word::Pop,
                    Word::Step(symbol) => Word::Step(symbol + 2),
                    Word::Push(top, below) => Word::Push(top + 2, below + 2),
                };
            }
            pds.symbols += 2;
            pds.rules.extend((0..states).map(|state| Rule::new((state, 0), state, Word::Push(2, 1))));
            Thread {
                name: format!("t{number}"),
                pds,
                start: 0,
                bad: None,
                interruptions: Vec::new(),
                tags: Vec::new(),
            }
        })
        .collect();
    Concurrent { states, initial: 0, open: Vec::new(), threads }
}

/// What is reached in K rounds without a stack higher than `HEIGHT`.
fn rounds(system: &Concurrent, contexts: usize) -> BTreeSet<Global> {
    let mut reached = BTreeSet::from([system.beginning()]);
    for _ in 0..contexts {
        for (number, thread) in system.threads.iter().enumerate() {
            let mut waiting: VecDeque<Global> = reached.iter().cloned().collect();
            while let Some(at) = waiting.pop_front() {
                let own = Configuration { state: at.state, stack: at.stacks[number].clone() };
                for (_, next) in thread.pds.successors(&own) {
                    let mut global = at.clone();
                    (global.state, global.stacks[number]) = (next.state, next.stack);
                    if global.stacks[number].len() <= HEIGHT + 1 && reached.insert(global.clone()) {
                        waiting.push_back(global);
                    }
                }
            }
        }
    }
    reached
}

fn compare(seed: u64, threads: usize, contexts: usize) -> usize {
    let budget = Budget::unlimited();
    let mut rng = Rng::new(seed);
    let system = random_system(&mut rng, threads, 2);
    let brute = rounds(&system, contexts);
    let reduced = reduce(&system, contexts, &budget).expect("it is small");
    let guesses = reduced.guesses(system.initial);
    let reached: Vec<Automaton<()>> = guesses
        .iter()
        .map(|starts| {
            let given = Automaton::of(reduced.pds.states, &reduced.beginning(&system, starts), (), ());
            post_star(&reduced.pds, &Boolean, given, &budget).expect("it ends").automaton
        })
        .collect();
    let by_theorem = |global: &Global| {
        let mut ways = guesses.iter().zip(&reached);
        ways.any(|(starts, automaton)| automaton.accepts(&reduced.ending(starts, global)))
    };
    for global in &brute {
        assert!(by_theorem(global), "seed {seed}: {global:?} is reached, and Theorem 1 does not say so");
    }
    // The other direction: what the reduced system reaches with a stack no higher than this must be told by a run. Higher
    // stacks in between may be needed, so the run of each thread is asked for stage by stage.
    let mut checked = 0;
    for (starts, automaton) in guesses.iter().zip(&reached) {
        for state in 0..system.states {
            let ends: Vec<State> = starts.iter().skip(1).copied().chain([state]).collect();
            let wanted = reduced.ending(starts, &Global { state, stacks: vec![Vec::new(); threads] }).state;
            let found = automaton.find_configuration(|at, top| at == wanted && top == reduced.end());
            checked += usize::from(found.is_some());
            // Some run of the threads must fit, if and only if one is found: tuples between the threads are tried.
            assert_eq!(
                found.is_some(),
                fits(&system, 0, starts, &ends, &budget),
                "seed {seed}: from {starts:?} to {ends:?}"
            );
        }
    }
    checked
}

/// Is there a way from these starts of thread `number` through it and all after it to these ends? By Table 1's stages, with the
/// rules of each round told and applied.
fn fits(system: &Concurrent, number: usize, starts: &[State], ends: &[State], budget: &Budget) -> bool {
    if number == system.threads.len() {
        return starts == ends;
    }
    let (reached, rows) = stages(system, number, starts, budget).expect("it ends");
    for (round, row) in rows.iter().enumerate() {
        assert!(row.runs <= u64::from(system.states).pow(round as u32), "Table 1: Num");
        assert!(row.split <= u64::from(system.states), "Table 1: Split");
    }
    reached.keys().any(|between| {
        let rounds = Rounds { starts: starts.to_vec(), ends: between.clone(), fails: false };
        let rules = run_through(system, number, &rounds, budget).expect("it ends").expect("it was reached");
        let thread = &system.threads[number];
        let mut at = Configuration { state: starts[0], stack: vec![thread.start] };
        for (round, rules) in rules.iter().enumerate() {
            at.state = starts[round];
            for rule in rules {
                at = thread.pds.rules[*rule].apply(&at).expect("every rule can be applied");
            }
            assert_eq!(at.state, between[round]);
        }
        fits(system, number + 1, between, ends, budget)
    })
}

#[test]
fn theorem_1_holds_for_pairs() {
    let total: usize = (0..cases(700)).map(|seed| compare(seed, 2, 1 + (seed % 2) as usize)).sum();
    assert!(total > 700);
}

#[test]
fn theorem_1_holds_for_three_threads_and_for_three_rounds() {
    for seed in 0..cases(40) {
        compare(seed, 3, 2);
        compare(seed, 2, 3);
    }
}

/// Section 5: the diagrams say the same, forward and backward, as to whether a thread can go wrong.
#[test]
fn diagrams_agree_with_brute_force() {
    let budget = Budget::unlimited();
    let table = preempt_bdd::TableOptions { nodes: 1 << 16, cache: 1 << 14 };
    let (mut wrong, mut right) = (0, 0);
    for seed in 0..cases(500) {
        let mut rng = Rng::new(seed);
        let threads = 1 + rng.below(3);
        let states = 2 + rng.below(3) as u32;
        let mut system = random_system(&mut rng, threads, states);
        // A thread goes wrong at some head.
        let number = rng.below(threads);
        let thread = &mut system.threads[number];
        let bad = thread.pds.symbols;
        let (state, symbol) = (rng.below(states as usize) as u32, 2 + rng.below(bad as usize - 2) as u32);
        thread.pds.rules.push(Rule::new((state, symbol), state, Word::Step(bad)));
        (thread.pds.symbols, thread.bad) = (bad + 1, Some(bad));
        let contexts = 1 + rng.below(3);
        let brute = rounds(&system, contexts).iter().any(|at| at.stacks[number].first() == Some(&bad));
        let found: Vec<_> = [Direction::Forward, Direction::Backward]
            .into_iter()
            .map(|direction| {
                analyse(&system, contexts, direction, table, &budget).expect("the table is large enough")
            })
            .collect();
        let says = |it: usize| found[it].failure.is_some();
        assert_eq!(says(0), says(1), "seed {seed}: forward and backward differ");
        if brute {
            assert!(says(0), "seed {seed}: brute force finds an error");
        }
        wrong += usize::from(brute);
        right += usize::from(!says(0));
        for analysed in &found {
            // Whatever is found is told rule by rule, and ends with the error.
            let Some(rounds) = &analysed.failure else { continue };
            assert_eq!(rounds.iter().filter(|it| it.fails).count(), 1, "seed {seed}");
            for (number, own) in rounds.iter().enumerate() {
                let rules = run_through(&system, number, own, &budget).expect("it ends");
                assert!(rules.is_some(), "seed {seed}: thread {number} cannot do {own:?}");
                if let Some(next) = rounds.get(number + 1) {
                    assert_eq!(own.ends, next.starts, "seed {seed}");
                }
            }
            let (first, last) = (&rounds[0], &rounds[rounds.len() - 1]);
            assert_eq!(first.starts[1..], last.ends[..contexts - 1], "seed {seed}: the rounds do not fit");
        }
    }
    assert!(wrong > 50 && right > 50, "{wrong} wrong and {right} right are too few");
}
