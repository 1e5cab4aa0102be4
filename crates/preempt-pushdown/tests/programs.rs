//! Programs with recursion: pushdown systems forward and backward, diagrams lazy and eager, and sequentialized, give the same
//! verdict and the same number of contexts; programs without recursion are compared with brute force.
//!
//! `PREEMPT_CASES=2000 cargo test --release -p preempt-pushdown programs` for more of them.

use crate::common::cases;
use preempt_boolean::generator::{self, Shape};
use preempt_boolean::{load, print, sequentialize};
use preempt_core::{Budget, Guarantee, Limits, Silent, SourceMap, StopReason, Verdict};
use preempt_model::{Interpreter, Model, System};
use preempt_pushdown::{Direction, PushdownOptions, PushdownReport};
use preempt_symbolic::{Method, SymbolicOptions};
use std::collections::HashSet;

const TABLE: preempt_bdd::TableOptions = preempt_bdd::TableOptions { nodes: 1 << 20, cache: 1 << 14 };

pub fn model(text: &str) -> (Model, SourceMap) {
    let loaded = load("test.bp", text, &preempt_boolean::BooleanOptions::default());
    (loaded.model.unwrap_or_else(|| panic!("{:?}\n{text}", loaded.diagnostics)), loaded.sources)
}

pub fn sample(name: &str) -> (Model, SourceMap) {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/boolean");
    let text = std::fs::read_to_string(folder.join(name).with_extension("bp"));
    model(&text.expect("the sample is there"))
}

pub fn pushdown(
    (model, sources): &(Model, SourceMap),
    contexts: Option<u32>,
    direction: Direction,
) -> PushdownReport {
    let options = PushdownOptions { contexts, direction, table: TABLE, ..PushdownOptions::default() };
    preempt_pushdown::check(model, sources, &options, &mut Silent).expect("it is supported")
}

/// The contexts that it takes to fail, if at most so many do.
fn diagrams(program: &(Model, SourceMap), contexts: u32, method: Method) -> Option<u32> {
    let options =
        SymbolicOptions { contexts: Some(contexts), method, table: TABLE, ..SymbolicOptions::default() };
    let report = preempt_symbolic::check(&program.0, &program.1, &options, &mut Silent).expect("supported");
    match report.outcome.verdict {
        Verdict::Violated => Some(report.contexts),
        Verdict::Holds => None,
        Verdict::Inconclusive(reason) => panic!("{reason:?}"),
    }
}

pub fn answer(report: &PushdownReport) -> Option<u32> {
    match report.outcome.verdict {
        Verdict::Violated => {
            assert!(report.outcome.counterexample.is_some(), "a violation has a run");
            Some(report.contexts)
        }
        Verdict::Holds => None,
        Verdict::Inconclusive(reason) => panic!("{reason:?}"),
    }
}

const WAYS: [Direction; 2] = [Direction::Forward, Direction::Backward];

#[test]
fn forward_backward_and_diagrams_agree_on_recursive_programs() {
    let (mut compared, mut failing) = (0, 0);
    for seed in 0..cases(40) {
        for (threads, contexts) in [(1, 1), (2, 2), (3, 2), (2, 3)] {
            let shape = Shape { statements: 3, ..Shape::recursive(threads) };
            let text = print::program(&generator::program(seed, &shape));
            let program = model(&text);
            let expected = diagrams(&program, contexts, Method::Lazy);
            for direction in WAYS {
                let found = answer(&pushdown(&program, Some(contexts), direction));
                assert_eq!(found, expected, "{direction:?}, seed {seed}, K = {contexts}\n{text}");
            }
            if seed.is_multiple_of(4) {
                assert_eq!(
                    diagrams(&program, contexts, Method::Eager),
                    expected,
                    "eager, seed {seed}\n{text}"
                );
                let made = sequentialize::to_boolean(
                    &program.0,
                    &program.1,
                    contexts as usize,
                    &Budget::unlimited(),
                );
                if let Ok(made) = made {
                    let sequential = model(&print::program(&made));
                    let found = diagrams(&sequential, 1, Method::Lazy);
                    assert_eq!(found.is_some(), expected.is_some(), "sequentialized, seed {seed}\n{text}");
                }
            }
            compared += 1;
            failing += usize::from(expected.is_some());
        }
    }
    println!("{compared} compared, {failing} failing");
    assert!(failing > compared / 20 && failing < compared * 19 / 20);
}

/// Brute force: the first round in which something goes wrong. `None` if there are too many states.
fn brute_force(program: &(Model, SourceMap), contexts: u32) -> Option<Option<u32>> {
    let interpreter = Interpreter::new(&program.0, &program.1).ok()?;
    let mut states: HashSet<_> = interpreter.initial_states().into_iter().collect();
    for round in 1..=contexts {
        let mut process = 0;
        while states.iter().any(|state| interpreter.process_count(state) > process) {
            let mut open: Vec<_> = states.drain().collect();
            let mut met: HashSet<_> = open.iter().cloned().collect();
            while let Some(state) = open.pop() {
                let moves = match process < interpreter.process_count(&state) {
                    true => interpreter.successors(&state, process),
                    false => Vec::new(),
                };
                if interpreter.exclusive(&state).is_none() {
                    states.insert(state.clone());
                } else if moves.is_empty() {
                    let free = interpreter.release(&state);
                    if met.insert(free.clone()) {
                        open.push(free);
                    }
                }
                for step in moves {
                    if step.violation.is_some() {
                        return Some(Some(round));
                    }
                    if let Some(next) = step.state.filter(|next| met.insert(next.clone())) {
                        open.push(next);
                    }
                }
                if met.len() > 20_000 {
                    return None;
                }
            }
            process += 1;
        }
    }
    Some(None)
}

#[test]
fn programs_without_recursion_agree_with_brute_force() {
    let mut compared = 0;
    for seed in 0..cases(40) {
        for (threads, contexts) in [(2, 2), (3, 2)] {
            let shape = Shape { statements: 4, ..Shape::small(threads) };
            let text = print::program(&generator::program(seed, &shape));
            let program = model(&text);
            let Some(expected) = brute_force(&program, contexts) else { continue };
            for direction in WAYS {
                let report = pushdown(&program, Some(contexts), direction);
                assert_eq!(answer(&report), expected, "{direction:?}, seed {seed}\n{text}");
            }
            compared += 1;
        }
    }
    assert!(compared > cases(40) as usize);
}

#[test]
fn sample_models_fail_within_the_known_contexts() {
    for (name, contexts) in [
        ("bluetooth_v1_1a1s", 2),
        ("bluetooth_v2_1a2s", 2),
        ("mutual_recursion_broken", 1),
        ("lock_broken", 2),
    ] {
        for direction in WAYS {
            let report = pushdown(&sample(name), None, direction);
            assert_eq!(answer(&report), Some(contexts), "{name} {direction:?}");
        }
    }
    for direction in WAYS {
        let report = pushdown(&sample("mutual_recursion"), Some(2), direction);
        assert_eq!(answer(&report), None);
    }
}

/// One thread: K = 1 decides, however deep the recursion.
#[test]
fn one_thread_is_decided_for_good() {
    let text = "decl x; void main() begin x := F; f(); assert(!x); end void f() begin if * then f(); fi end";
    for direction in WAYS {
        let report = pushdown(&model(text), None, direction);
        assert_eq!(
            (report.outcome.verdict, report.outcome.guarantee),
            (Verdict::Holds, Guarantee::Exhaustive)
        );
    }
}

#[test]
fn recursion_that_never_ends_has_an_answer_and_limits_are_kept() {
    let text = "decl x; void main() begin x := F; start_thread t(); f(); assert(!x); end
                void t() begin x := T; t(); end void f() begin f(); x := F; end";
    let program = model(text);
    let report = pushdown(&program, Some(3), Direction::Forward);
    assert_eq!(answer(&report), None, "main never comes back from f");
    let limits = Limits { time: Some(std::time::Duration::ZERO), ..Limits::default() };
    let options = PushdownOptions { limits, table: TABLE, ..PushdownOptions::default() };
    let report = preempt_pushdown::check(&program.0, &program.1, &options, &mut Silent).expect("supported");
    assert_eq!(report.outcome.verdict, Verdict::Inconclusive(StopReason::Time));
}
