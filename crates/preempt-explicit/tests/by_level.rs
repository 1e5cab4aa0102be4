//! The search level by level against the one in order of cost, on random programs: the same states, transitions and
//! violations at every level, the same verdicts and the same runs, with one thread and with several.

use preempt_core::{Cost, Limits, Outcome, Silent, SourceMap, StopReason, Verdict};
use preempt_explicit::{Goal, Order, Reduction, SearchOptions, SearchReport, Storage, explore};
use preempt_model::Model;
use preempt_model::generator::{faulty_program_from_seed, program_from_seed};

fn programs(few: u64) -> u64 {
    std::env::var("PREEMPT_PROGRAMS").ok().and_then(|number| number.parse().ok()).unwrap_or(few)
}

/// Larger ones take too long.
const LARGEST: u64 = 5000;

pub fn each_program(few: u64, mut visit: impl FnMut(&Model, &SourceMap, &str)) {
    let mut compared = 0;
    for seed in 0..programs(few) {
        let program = match seed % 3 {
            0 => faulty_program_from_seed(4_000_000 + seed),
            _ => program_from_seed(4_000_000 + seed),
        };
        let (model, sources) = program.to_model();
        let limits = Limits { states: Some(LARGEST), ..Limits::default() };
        let small = SearchOptions { limits, ..in_order() };
        let Ok(whole) = explore(&model, &sources, &small, Goal::Count, &mut Silent) else { continue };
        if matches!(whole.outcome.verdict, Verdict::Inconclusive(_)) {
            continue;
        }
        visit(&model, &sources, &format!("seed {seed}\n{}", program.to_promela()));
        compared += 1;
    }
    assert!(compared * 2 > programs(few), "most programs are small enough");
}

/// In order of cost and nothing else.
pub fn in_order() -> SearchOptions {
    SearchOptions { in_order_first: u64::MAX, ..SearchOptions::default() }
}

/// Level by level from the first state on.
pub fn by_level(threads: usize) -> SearchOptions {
    SearchOptions { in_order_first: 0, threads, ..SearchOptions::default() }
}

pub fn search(model: &Model, sources: &SourceMap, options: &SearchOptions, goal: Goal) -> SearchReport {
    explore(model, sources, options, goal, &mut Silent).expect("a supported model")
}

#[test]
fn the_same_numbers_at_every_level() {
    each_program(45, |model, sources, name| {
        for bound in [None, Some(0), Some(1), Some(2)] {
            for fair_switch in [false, true] {
                let numbers = |options: SearchOptions| {
                    let options = SearchOptions { bound, fair_switch, ..options };
                    let stats = search(model, sources, &options, Goal::Count).outcome.stats;
                    (stats.states, stats.transitions, stats.violations, stats.levels, stats.revisits)
                };
                let expected = numbers(in_order());
                for threads in [1, 2] {
                    let name = format!("within {bound:?}, fair {fair_switch}, {threads} threads: {name}");
                    assert_eq!(numbers(by_level(threads)), expected, "{name}");
                }
            }
        }
        for bound in [None, Some(1)] {
            let numbers = |options: SearchOptions| {
                let options = SearchOptions { bound, cost: Cost::Switches, ..options };
                let stats = search(model, sources, &options, Goal::Count).outcome.stats;
                (stats.states, stats.transitions, stats.violations, stats.levels)
            };
            assert_eq!(numbers(by_level(2)), numbers(in_order()), "switches within {bound:?}: {name}");
        }
        let plain = |threads| {
            let options = SearchOptions { levels: false, ..by_level(threads) };
            let stats = search(model, sources, &options, Goal::Count).outcome.stats;
            assert!(stats.levels.is_empty());
            (stats.states, stats.transitions, stats.violations)
        };
        let whole = search(model, sources, &in_order(), Goal::Count).outcome.stats;
        for threads in [1, 2, 3] {
            let expected = (whole.states, whole.transitions, whole.violations.clone());
            assert_eq!(plain(threads), expected, "{threads} threads: {name}");
        }
    });
}

#[test]
fn the_same_runs() {
    let mut violated = 0;
    each_program(45, |model, sources, name| {
        for bound in [None, Some(0), Some(1), Some(2)] {
            for (fair_switch, reduction) in [
                (false, Reduction::None),
                (true, Reduction::None),
                (false, Reduction::Exact),
                (true, Reduction::Exact),
            ] {
                let found = |options: SearchOptions| {
                    let options = SearchOptions { bound, fair_switch, reduction, ..options };
                    let Outcome { verdict, guarantee, violation, counterexample, .. } =
                        search(model, sources, &options, Goal::First).outcome;
                    (verdict, guarantee, violation, counterexample)
                };
                let expected = found(in_order());
                violated += u32::from(expected.0 == Verdict::Violated);
                for threads in [1, 2] {
                    let how =
                        format!("within {bound:?}, fair {fair_switch}, {reduction:?}, {threads} threads");
                    assert_eq!(found(by_level(threads)), expected, "{how}: {name}");
                }
            }
        }
        let switches = |options: SearchOptions| {
            let options = SearchOptions { cost: Cost::Switches, ..options };
            let found = search(model, sources, &options, Goal::First).outcome;
            (found.verdict, found.counterexample)
        };
        assert_eq!(switches(by_level(1)), switches(in_order()), "switches: {name}");
        let all = |options: SearchOptions| search(model, sources, &options, Goal::All).errors;
        assert_eq!(all(by_level(2)), all(in_order()), "all errors: {name}");
    });
    assert!(violated > 20, "{violated}");
}

/// Along a path, all threads decide what comes of it: the same verdict and numbers with any number of them, and the run that comes first.
#[test]
fn along_a_path() {
    let (mut violated, mut left_out) = (0, 0);
    each_program(60, |model, sources, name| {
        let along_a_path =
            |reduction, options| SearchOptions { order: Order::DepthFirst, reduction, ..options };
        let whole = search(model, sources, &in_order(), Goal::Count).outcome.stats;
        let compact = Storage::Compact { bits: 64 };
        let (exact, reductions) = (Storage::Exact, [Reduction::None, Reduction::Exact, Reduction::Strong]);
        for (reduction, store) in reductions.iter().flat_map(|it| [(*it, exact), (*it, compact)]) {
            let found = |options: SearchOptions| {
                let options = SearchOptions { store, ..along_a_path(reduction, options) };
                let Outcome { verdict, violation, counterexample, stats, .. } =
                    search(model, sources, &options, Goal::First).outcome;
                ((verdict, violation, counterexample), (stats.states, stats.transitions))
            };
            let (expected, _) = found(in_order());
            violated += u32::from(expected.0 == Verdict::Violated);
            let (_, numbers) = found(by_level(1));
            for threads in [1, 2, 3] {
                let how = format!("{reduction:?}, {store:?}, {threads} threads: {name}");
                assert_eq!(found(by_level(threads)), (expected.clone(), numbers), "{how}");
            }
        }
        let count = |reduction, threads| {
            let options = along_a_path(reduction, by_level(threads));
            let stats = search(model, sources, &options, Goal::Count).outcome.stats;
            (stats.states, stats.transitions)
        };
        assert_eq!(count(Reduction::None, 2), (whole.states, whole.transitions), "{name}");
        let options = SearchOptions { store: compact, ..along_a_path(Reduction::None, by_level(2)) };
        let counted = search(model, sources, &options, Goal::Count).outcome.stats;
        assert_eq!((counted.states, counted.transitions), (whole.states, whole.transitions), "{name}");
        let reduced = count(Reduction::Strong, 1);
        assert_eq!(count(Reduction::Strong, 3), reduced, "{name}");
        assert!(reduced.0 <= whole.states, "{name}");
        left_out += u32::from(reduced.0 < whole.states);
    });
    assert!(violated > 20 && left_out > 10, "{violated} {left_out}");
}

/// A limit of states stops it there or a little later, and says so; what lies within it is found all the same.
#[test]
fn limits() {
    each_program(20, |model, sources, name| {
        let whole = search(model, sources, &in_order(), Goal::Count).outcome.stats;
        for threads in [1, 2] {
            for most in [1, 7, whole.states - 1, whole.states] {
                let limits = Limits { states: Some(most), ..Limits::default() };
                let options = SearchOptions { limits, levels: false, ..by_level(threads) };
                let counted = search(model, sources, &options, Goal::Count).outcome;
                let is_cut = counted.verdict == Verdict::Inconclusive(StopReason::States);
                assert_eq!(is_cut, most < whole.states, "{most} of {}: {name}", whole.states);
                let check =
                    |options| search(model, sources, &SearchOptions { limits, ..options }, Goal::First);
                let (found, expected) = (check(by_level(threads)).outcome, check(in_order()).outcome);
                if expected.verdict == Verdict::Violated {
                    assert_eq!(found.counterexample, expected.counterexample, "{most}: {name}");
                }
            }
        }
    });
}

/// States of many pieces with many values each: their keys have pairs, and pairs of pairs. Processes come and go, so that there
/// are several classes, and atomic sequences, rendezvous and choices.
#[test]
fn wide_states() {
    let text = "
        byte x[255]; short i; chan c = [0] of { byte }; chan d = [3] of { byte, short };
        proctype W(byte n) { byte k; do :: k < n -> k++; x[k + n] = k :: k >= n -> break od; c!k }
        active proctype A() {
            do
            :: i < 300 -> atomic { x[(i * 7) % 255] = (i * 13) % 251; i++ }
            :: i == 7 -> run W(1); i++
            :: i == 200 && nfull(d) -> d!1,i; i++
            :: i >= 300 -> break
            od
        }
        active proctype B() { byte v; do :: c?v -> x[v] = v :: d?v,_ -> skip :: timeout -> break od }
    ";
    let loaded = preempt_promela::load("m.pml", text, &preempt_promela::Additions::default(), &mut |_| {
        Err(String::new())
    });
    let (model, sources) = (loaded.model.expect("a model"), loaded.sources);
    let numbers = |options: &SearchOptions| {
        let stats = search(&model, &sources, options, Goal::Count).outcome.stats;
        (stats.states, stats.transitions, stats.violations, stats.levels)
    };
    let expected = numbers(&in_order());
    assert!((1_000..100_000).contains(&expected.0), "{}", expected.0);
    for threads in [1, 2] {
        assert_eq!(numbers(&by_level(threads)), expected, "{threads} threads");
        let plain = numbers(&SearchOptions { levels: false, ..by_level(threads) });
        assert_eq!(
            (plain.0, plain.1, plain.2),
            (expected.0, expected.1, expected.2.clone()),
            "{threads} threads"
        );
    }
}
