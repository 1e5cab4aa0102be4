//! Random programs with recursion, brute force on the interpreter against rounds: the same verdict, in the same round.
//!
//! `PREEMPT_CASES=20 cargo test --release` for twenty times as many.

use preempt_boolean::generator::{self, Shape};
use preempt_boolean::{load, print};
use preempt_core::{Budget, Guarantee, Silent, SourceMap, Verdict};
use preempt_model::interpreter::State;
use preempt_model::{Interpreter, Model, System};
use preempt_rounds::threads::Threads;
use preempt_rounds::{Caps, RoundsOptions, check};
use std::collections::HashSet;

/// Brute force gives up beyond so many states.
const MOST: usize = 20_000;

/// In which round something goes wrong, if in one of so many; `None` if there are too many states, or calls are too deep.
fn brute(model: &Model, sources: &SourceMap, rounds: u32) -> Option<Option<u32>> {
    let system = Interpreter::new(model, sources).ok()?;
    let threads = Threads::of(model, sources, 4, &Budget::unlimited()).ok()?;
    let mut reached: HashSet<State> = HashSet::from([system.close(&threads.initial)]);
    for round in 1..=rounds {
        for process in 0..threads.initial.processes.len() {
            let mut closed = reached.clone();
            let mut waiting: Vec<State> = reached.iter().cloned().collect();
            while let Some(state) = waiting.pop() {
                for step in system.successors(&state, process) {
                    if step.violation.is_some() {
                        return Some(Some(round));
                    }
                    let Some(next) = step.state else { continue };
                    let deep = system.open(&next).processes.iter().any(|process| process.frames.len() > 8);
                    if deep || closed.len() > MOST {
                        return None;
                    }
                    if closed.insert(next.clone()) {
                        waiting.push(next);
                    }
                }
            }
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
    }
    Some(None)
}

fn cases(count: u64) -> u64 {
    count * std::env::var("PREEMPT_CASES").ok().and_then(|times| times.parse().ok()).unwrap_or(1)
}

/// How many were compared, how many of them fail, and how many were proved without a bound.
fn compare(count: u64, shape: impl Fn(u64) -> Shape) -> [usize; 3] {
    let mut compared = [0; 3];
    for seed in 0..cases(count) {
        let text = print::program(&generator::program(seed, &shape(seed)));
        let loaded = load("test.bp", &text, &preempt_boolean::BooleanOptions::default());
        let model = loaded.model.unwrap_or_else(|| panic!("{:?}\n{text}", loaded.diagnostics));
        let threads = Threads::of(&model, &loaded.sources, 4, &Budget::unlimited()).unwrap();
        // The number of a process is its place in the round robin only if all were started at once.
        if !threads.sites.is_empty() || threads.all.iter().any(|thread| thread.exclusive) {
            continue;
        }
        let Some(expected) = brute(&model, &loaded.sources, 3) else { continue };
        compared[0] += 1;
        for (contexts, symmetry) in [(Some(3), false), (Some(3), true), (None, false), (None, true)] {
            let caps = Caps { depth: 20, ..Caps::default() };
            let options = RoundsOptions { contexts, symmetry, caps, ..RoundsOptions::default() };
            let report = check(&model, &loaded.sources, &options, &mut Silent).unwrap();
            let what = || format!("seed {seed}, {contexts:?} contexts, symmetry {symmetry}\n{text}");
            match (expected, &report.outcome.verdict) {
                (Some(round), verdict) => {
                    assert_eq!(*verdict, Verdict::Violated, "{}", what());
                    assert_eq!(report.contexts, round, "{}", what());
                    assert!(report.outcome.counterexample.is_some() && report.fewest);
                }
                (None, Verdict::Violated) => assert!(contexts.is_none() && report.contexts > 3, "{}", what()),
                (None, Verdict::Holds) if contexts.is_none() => {
                    assert_eq!(report.outcome.guarantee, Guarantee::Exhaustive);
                    compared[2] += 1;
                }
                (None, verdict) if contexts.is_some() => assert_eq!(*verdict, Verdict::Holds, "{}", what()),
                // Beyond three rounds the stacks may grow for ever.
                (None, _) => {}
            }
        }
        compared[1] += usize::from(expected.is_some());
    }
    println!("{} compared, {} fail, {} times proved without a bound", compared[0], compared[1], compared[2]);
    compared
}

#[test]
fn recursive_programs_fail_in_the_round_in_which_brute_force_fails() {
    let [compared, fail, proved] =
        compare(120, |seed| Shape { statements: 3, ..Shape::recursive(2 + (seed % 2) as usize) });
    assert!(compared > 50 && fail > 10 && proved > 10, "{compared} {fail} {proved}");
}

#[test]
fn small_programs_with_everything_agree_too() {
    let shape = |seed: u64| Shape {
        statements: 3,
        everything: seed.is_multiple_of(2),
        ..Shape::small(1 + (seed % 3) as usize)
    };
    let [compared, fail, proved] = compare(150, shape);
    assert!(compared > 60 && fail > 10 && proved > 20, "{compared} {fail} {proved}");
}

/// What equal threads sorted have found is an answer only with the fewest contexts, which depend on who is who.
#[test]
fn equal_threads_fail_in_the_round_in_which_brute_force_fails() {
    let shape = |seed: u64| {
        let threads = 2 + (seed % 3) as usize;
        let shape = if seed.is_multiple_of(4) { Shape::recursive(threads) } else { Shape::small(threads) };
        Shape { statements: 3, equal: true, ..shape }
    };
    let [compared, fail, proved] = compare(80, shape);
    assert!(compared > 20 && fail > 6 && proved > 6, "{compared} {fail} {proved}");
}
