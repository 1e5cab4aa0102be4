//! Any number of threads: random programs against brute force on the interpreter with few threads, by every engine; and
//! programs with known answers.
//!
//! `PREEMPT_CASES=20 cargo test --release` for twenty times as many.

use preempt_boolean::generator::{self, Shape};
use preempt_boolean::{BooleanOptions, load, print};
use preempt_core::{Silent, SourceMap, StopReason, Verdict};
use preempt_model::interpreter::State;
use preempt_model::{Interpreter, Model, System};
use preempt_rounds::any_number::{AnyNumberOptions, AnyNumberReport, check};
use preempt_wsts::Engine;
use std::collections::HashSet;

/// Brute force gives up beyond so many states.
const MOST: usize = 3_000;

fn program(text: &str) -> (Model, SourceMap) {
    let options = BooleanOptions { any_threads: true, ..BooleanOptions::default() };
    let loaded = load("test.bp", text, &options);
    (loaded.model.unwrap_or_else(|| panic!("{:?}\n{text}", loaded.diagnostics)), loaded.sources)
}

/// Does something go wrong with so many processes at a time? `None` if there are too many states.
fn brute(model: &Model, sources: &SourceMap, processes: usize) -> Option<bool> {
    let system = Interpreter::new(model, sources).expect("initial values have a meaning");
    let mut seen: HashSet<State> = system.initial_states().into_iter().collect();
    let mut waiting: Vec<State> = seen.iter().cloned().collect();
    while let Some(state) = waiting.pop() {
        for process in 0..system.process_count(&state) {
            let mut before = state.clone();
            if let Some(holder) = system.exclusive(&before)
                && holder != process
            {
                if !system.successors(&before, holder).is_empty() {
                    continue;
                }
                before = system.release(&before);
            }
            for step in system.successors(&before, process) {
                if step.violation.is_some() {
                    return Some(true);
                }
                let Some(next) = step.state.filter(|next| system.process_count(next) <= processes) else {
                    continue;
                };
                if seen.insert(next.clone()) {
                    waiting.push(next);
                }
                if seen.len() > MOST {
                    return None;
                }
            }
        }
    }
    Some(false)
}

fn ask(model: &Model, sources: &SourceMap, engine: Engine) -> AnyNumberReport {
    let options = AnyNumberOptions { engine, ..AnyNumberOptions::default() };
    check(model, sources, &options, &mut Silent).expect("it is supported")
}

fn cases(count: u64) -> u64 {
    count * std::env::var("PREEMPT_CASES").ok().and_then(|times| times.parse().ok()).unwrap_or(1)
}

/// With how many threads besides `main` brute force was compared, how many programs fail, and how many hold.
fn compare(seeds: std::ops::Range<u64>, shape: impl Fn(u64) -> Shape, alone: bool) -> [usize; 3] {
    let mut counts = [0; 3];
    for seed in seeds {
        let mut text = print::program(&generator::program(seed, &shape(seed)));
        if alone {
            // Nobody is started: any number of threads execute a `main` that calls the first thread's procedure.
            text = without_starts(&text);
        }
        let (model, sources) = program(&text);
        let report = ask(&model, &sources, Engine::Auto);
        let verdict = report.outcome.verdict;
        let engines =
            if seed.is_multiple_of(5) { &[Engine::Basis, Engine::Weight, Engine::Forward][..] } else { &[] };
        for engine in engines {
            let other = ask(&model, &sources, *engine).outcome.verdict;
            let nothing = *engine == Engine::Forward && matches!(other, Verdict::Inconclusive(_));
            assert!(
                other == verdict || nothing,
                "{seed} {engine:?}: {other:?}, and auto {verdict:?}\n{text}"
            );
        }
        let needed = report.outcome.counterexample.as_ref().map(|trace| trace.processes);
        match verdict {
            Verdict::Violated => counts[1] += 1,
            Verdict::Holds => counts[2] += 1,
            Verdict::Inconclusive(reason) => panic!("{seed}: {reason:?}\n{text}"),
        }
        for processes in 2..=4 {
            let Some(fails) = brute(&model, &sources, processes) else { break };
            counts[0] += 1;
            let found = needed.is_some_and(|needed| needed <= processes);
            assert!(!found || fails, "{seed}: a run with {needed:?} processes is not found\n{text}");
            assert!(!fails || verdict == Verdict::Violated, "{seed}: {processes} processes fail\n{text}");
            if fails {
                break;
            }
        }
    }
    counts
}

/// `main` without its starts.
fn without_starts(text: &str) -> String {
    let lines = text.lines().map(|line| match line.trim().strip_prefix("start_thread ") {
        Some(started) if !started.starts_with("goto") => started.to_string(),
        _ => line.to_string(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn random_programs_fail_as_they_do_with_few_threads() {
    let seeds = |from: u64, count: u64| from..from + cases(count);
    let one = compare(seeds(0, 25), |_| Shape::small(1), false);
    let two = compare(seeds(10_000, 12), |_| Shape { procedures: false, ..Shape::small(2) }, false);
    let alone = compare(seeds(20_000, 15), |_| Shape { globals: 1, ..Shape::small(1) }, true);
    for [compared, fail, hold] in [one, two, alone] {
        assert!(compared > 10 && fail > 2 && hold > 2, "{one:?} {two:?} {alone:?}");
    }
    println!("compared, fail, hold: {one:?} {two:?} {alone:?}");
}

const DOOR: &str = "decl door := T, inside := F;
    void main() begin
      atomic_begin; assume(door); door := F; atomic_end;
      assert(!inside); inside := T; inside := F; door := T;
    end";

#[test]
fn a_door_lets_one_of_any_number_in() {
    let (model, sources) = program(DOOR);
    for engine in [Engine::Auto, Engine::Basis, Engine::Weight] {
        let report = ask(&model, &sources, engine);
        assert_eq!(report.outcome.verdict, Verdict::Holds, "{engine:?}");
        assert!(report.certificate.is_some());
    }
    let (model, sources) = program(&DOOR.replace("assume(door); door := F;", "door := F;"));
    let report = ask(&model, &sources, Engine::Basis);
    assert_eq!(report.outcome.verdict, Verdict::Violated);
}

/// Three threads have to count for a fourth to see it.
#[test]
fn a_run_has_as_many_threads_as_it_needs() {
    let text = "decl a := F, b := F, c := F;
        void main() begin start_thread one(); end
        void one() begin
          if a & b & c then assert(F); fi;
          if a & b then c := T; assume(F); fi;
          if a then b := T; assume(F); fi;
          a := T; assume(F);
        end";
    let (model, sources) = program(text);
    assert_eq!(brute(&model, &sources, 4), Some(false));
    assert_eq!(brute(&model, &sources, 5), Some(true));
    for engine in [Engine::Auto, Engine::Basis, Engine::Weight, Engine::Forward] {
        let report = ask(&model, &sources, engine);
        assert_eq!(report.outcome.verdict, Verdict::Violated, "{engine:?}");
        let trace = report.outcome.counterexample.expect("a run");
        assert!(trace.processes >= 5, "{engine:?}: {}", trace.processes);
        let last = trace.steps.last().expect("steps");
        assert_eq!(last.location.as_ref().map(|location| location.line), Some(4), "{last:?}");
    }
}

#[test]
fn recursion_is_no_answer() {
    let text = "decl a := F; void main() begin p(); end void p() begin if * then p(); fi; a := !a; end";
    let (model, sources) = program(text);
    let report = ask(&model, &sources, Engine::Auto);
    assert_eq!(report.outcome.verdict, Verdict::Inconclusive(StopReason::Depth));
    assert!(report.why.is_some());
}

#[test]
fn sample_models_with_any_number_of_threads() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/boolean");
    // With four readers their count in two bits is 0 again; a second stopper lets the driver stop too early.
    let expected = [
        ("lock", Verdict::Holds),
        ("lock_broken", Verdict::Violated),
        ("readers_writer", Verdict::Violated),
        ("bluetooth_v3_1a1s", Verdict::Violated),
        ("search_tree_1_1", Verdict::Holds),
    ];
    for (name, verdict) in expected {
        let path = folder.join(name).with_extension("bp");
        let text =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let (model, sources) = program(&text);
        let report = ask(&model, &sources, Engine::Auto);
        assert_eq!(report.outcome.verdict, verdict, "{name}");
        assert_eq!(report.outcome.counterexample.is_some(), verdict == Verdict::Violated, "{name}");
    }
}
