//! Random walks and swarms on random models: what they find is real and within the bound, what they do not find they
//! leave open, and on small faulty programs they find it.

use preempt_core::{Cost, Limits, Progress, Silent, Snapshot, SourceMap, StopReason, Verdict};
use preempt_explicit::{
    Goal, Order, SearchOptions, SearchReport, Storage, SuccessorSource, SwarmSize, Walks, check, count,
    explore, swarm,
};
use preempt_model::generator::program_from_seed;
use preempt_model::search::oracle::cheapest_costs;
use preempt_model::{Interpreter, Model};
use std::time::{Duration, Instant};

fn programs(few: u64) -> u64 {
    std::env::var("PREEMPT_PROGRAMS").ok().and_then(|number| number.parse().ok()).unwrap_or(few)
}

/// Some small programs: their fewest preemptions, their states, and a search of theirs.
fn each(few: u64, mut visit: impl FnMut(Option<u32>, u64, &str, &dyn Fn(Task) -> SearchReport)) {
    let mut compared = 0;
    for seed in 3_000_000..3_000_000 + programs(few) {
        let program = program_from_seed(seed);
        let (model, sources) = program.to_model();
        let Ok(interpreter) = Interpreter::new(&model, &sources) else { continue };
        let mut options = SearchOptions::default();
        options.limits.states = Some(1000);
        let whole = check(&model, &sources, &options, &mut Silent).expect("a supported model");
        if matches!(whole.verdict, Verdict::Inconclusive(_)) {
            continue;
        }
        let oracle = cheapest_costs(&interpreter, false);
        let fewest = oracle.cheapest().map(|cost| cost.preemptions);
        let name = format!("seed {seed}\n{}", program.to_promela());
        visit(fewest, oracle.states.len() as u64, &name, &|task| {
            match task {
                Task::Walk(options) => explore(&model, &sources, &options, Goal::First, &mut Silent),
                Task::Swarm(options, seed) => {
                    swarm(&model, &sources, &options, SwarmSize { seed, threads: 2 }, &mut Silent)
                }
            }
            .expect("a supported model")
        });
        compared += 1;
    }
    assert!(compared * 2 > programs(few), "most programs are small enough");
}

enum Task {
    Walk(SearchOptions),
    Swarm(SearchOptions, u64),
}

/// The run is one of the model's, and no simpler than the simplest.
fn is_real(report: &SearchReport, fewest: Option<u32>, bound: Option<u32>, name: &str) {
    assert!(!report.simplest, "{name}");
    match (&report.outcome.counterexample, report.outcome.verdict) {
        (Some(trace), Verdict::Violated) => {
            let preemptions = trace.preemptions() as u32;
            assert!(fewest.is_some_and(|fewest| fewest <= preemptions), "{name}");
            assert!(bound.is_none_or(|bound| preemptions <= bound), "{name}");
        }
        (None, Verdict::Inconclusive(_)) => {}
        (_, verdict) => panic!("{name}: {verdict:?}"),
    }
}

#[test]
fn walks() {
    let (mut violated, mut found) = (0, 0);
    each(100, |fewest, states, name, run| {
        for bound in [None, Some(0), Some(2)] {
            for successors in [SuccessorSource::Native, SuccessorSource::Interpreted] {
                let order = Order::Random(Walks { seed: 7, most: Some(100) });
                let mut options = SearchOptions { order, bound, successors, ..SearchOptions::default() };
                options.limits.depth = Some(300);
                let report = run(Task::Walk(options));
                is_real(&report, fewest, bound, name);
                let stats = &report.outcome.stats;
                assert!(stats.executions <= 100, "{name}");
                assert!(stats.states <= states + states / 20 + 1, "{name}: {} of {states}", stats.states);
                if report.outcome.verdict != Verdict::Violated {
                    assert_eq!(stats.executions, 100, "{name}");
                    assert_eq!(report.outcome.verdict, Verdict::Inconclusive(StopReason::Partial), "{name}");
                }
                if bound.is_none() {
                    violated += u32::from(fewest.is_some());
                    found += u32::from(report.outcome.verdict == Verdict::Violated);
                }
            }
        }
    });
    println!("{found} of {violated} found by a hundred walks");
    assert!(violated > 50 && found * 4 >= violated * 3, "{found} of {violated}");
}

#[test]
fn the_same_seed_gives_the_same_walks() {
    each(10, |_, _, name, run| {
        let walk = |seed| {
            let order = Order::Random(Walks { seed, most: Some(20) });
            let mut options = SearchOptions { order, ..SearchOptions::default() };
            options.limits.depth = Some(300);
            let report = run(Task::Walk(options));
            (report.outcome.counterexample, report.outcome.stats.transitions, report.outcome.stats.states)
        };
        assert_eq!(walk(5), walk(5), "{name}");
    });
}

#[test]
fn a_swarm_finds_what_is_wrong_with_small_programs() {
    let (mut violated, mut simplest) = (0, 0);
    each(60, |fewest, states, name, run| {
        for bound in [None, Some(1)] {
            let within = fewest.is_some_and(|fewest| bound.is_none_or(|bound| fewest <= bound));
            let mut options = SearchOptions { bound, ..SearchOptions::default() };
            options.limits.time = Some(Duration::from_millis(if within { 10_000 } else { 150 }));
            options.limits.memory_bytes = Some(1 << 22);
            let report = run(Task::Swarm(options, 1));
            is_real(&report, fewest, bound, name);
            assert_eq!(report.outcome.verdict == Verdict::Violated, within, "{name}");
            let stats = &report.outcome.stats;
            assert!(stats.states <= states + states / 20 + 1, "{name}: {} of {states}", stats.states);
            let coverage = stats.coverage.as_ref().expect("a swarm says what it did");
            assert!(coverage.states_are_estimated && !coverage.searches.is_empty(), "{name}");
            if let Some(trace) = &report.outcome.counterexample {
                violated += 1;
                simplest += u32::from(fewest == Some(trace.preemptions() as u32));
            } else {
                assert!(states < 20 || stats.states * 2 > states, "{name}: {} of {states}", stats.states);
            }
        }
    });
    println!("{simplest} of {violated} runs have the fewest preemptions");
    assert!(violated > 20 && simplest * 4 >= violated * 3, "{simplest} of {violated}");
}

fn model_of(text: &str) -> (Model, SourceMap) {
    let additions = preempt_promela::Additions::default();
    let loaded = preempt_promela::load("m.pml", text, &additions, &mut |_| Err(String::new()));
    (loaded.model.expect("a model"), loaded.sources)
}

/// Every search numbers the sets of living processes (in machine code) or the states (interpreted) as it meets them: what a
/// swarm has seen is not counted by these numbers.
#[test]
fn a_swarm_counts_states_that_are_the_same_once() {
    let (model, sources) = model_of(
        "byte n; proctype A() { n = 1 } proctype B() { n = 2 } proctype C() { n = 3 } proctype D() { n = 4 }
         active proctype P() { do :: _nr_pr < 4 -> if :: run A() :: run B() :: run C() :: run D() fi od }",
    );
    let whole = count(&model, &sources, &SearchOptions::default(), &mut Silent).expect("a supported model");
    let states = whole.stats.states;
    assert!((1000..100_000).contains(&states), "{states}");
    for successors in [SuccessorSource::Native, SuccessorSource::Interpreted] {
        for threads in [1, 4] {
            let mut options = SearchOptions { successors, ..SearchOptions::default() };
            options.limits.time = Some(Duration::from_millis(1500));
            let report = swarm(&model, &sources, &options, SwarmSize { seed: 3, threads }, &mut Silent)
                .expect("supported");
            let found = report.outcome.stats.states;
            assert!(found <= states + states / 20, "{successors:?}, {threads} threads: {found} of {states}");
            assert!(found * 2 >= states, "{successors:?}, {threads} threads: {found} of {states}");
        }
    }
}

/// A limit of states holds for walks too: as far as different states can be told without keeping them.
#[test]
fn walks_end_at_a_limit_of_states() {
    let (model, sources) = model_of("int x; active [2] proctype P() { do :: x++ :: x = x + 2 od }");
    for successors in [SuccessorSource::Native, SuccessorSource::Interpreted] {
        for most in [1, 10, 1000, 10_000] {
            let order = Order::Random(Walks { seed: 1, most: None });
            let mut options = SearchOptions { order, successors, ..SearchOptions::default() };
            options.limits.states = Some(most);
            let outcome = check(&model, &sources, &options, &mut Silent).expect("a supported model");
            assert_eq!(outcome.verdict, Verdict::Inconclusive(StopReason::States), "{most}");
            let met = outcome.stats.states;
            assert!(met >= most && met <= most + most / 20 + 70, "{met} of {most}");
        }
    }
    // A limit that is not reached ends nothing.
    let (model, sources) = model_of("byte x; active [2] proctype P() { x = 1; x = 2 }");
    let order = Order::Random(Walks { seed: 1, most: Some(300) });
    let mut options = SearchOptions { order, ..SearchOptions::default() };
    options.limits.states = Some(50);
    let outcome = check(&model, &sources, &options, &mut Silent).expect("a supported model");
    assert_eq!(outcome.verdict, Verdict::Inconclusive(StopReason::Partial));
    assert_eq!(outcome.stats.executions, 300);
}

#[test]
fn a_swarm_ends_when_it_is_told_to() {
    struct Impatient(Instant);
    impl Progress for Impatient {
        fn update(&mut self, _: &Snapshot) {}
        fn stop(&self) -> Option<preempt_core::StopReason> {
            (self.0.elapsed() > Duration::from_millis(50)).then_some(preempt_core::StopReason::Interrupted)
        }
    }
    let endless = "byte a, b, c, d; active [4] proctype P() { do :: a++ :: b++ :: c++ :: d++ od }";
    let additions = preempt_promela::Additions::default();
    let loaded = preempt_promela::load("endless.pml", endless, &additions, &mut |_| Err(String::new()));
    let model = loaded.model.expect("a model");
    let mut options = SearchOptions::default();
    let refused = swarm(&model, &loaded.sources, &options, SwarmSize { seed: 1, threads: 2 }, &mut Silent);
    assert!(refused.is_err(), "a swarm needs a limit of time");
    options.limits.time = Some(Duration::from_secs(600));
    let report = swarm(
        &model,
        &loaded.sources,
        &options,
        SwarmSize { seed: 1, threads: 2 },
        &mut Impatient(Instant::now()),
    );
    let outcome = report.expect("a supported model").outcome;
    assert_eq!(outcome.verdict, Verdict::Inconclusive(StopReason::Interrupted));
    // And when its time is over, within its memory.
    options.limits.time = Some(Duration::from_millis(300));
    options.limits.memory_bytes = Some(8 << 20);
    let started = Instant::now();
    let outcome = swarm(&model, &loaded.sources, &options, SwarmSize { seed: 1, threads: 2 }, &mut Silent)
        .expect("a supported model")
        .outcome;
    assert_eq!(outcome.verdict, Verdict::Inconclusive(StopReason::Partial));
    assert!(started.elapsed() < Duration::from_secs(20));
    assert!(outcome.stats.peak_bytes <= 12 << 20, "{}", outcome.stats.peak_bytes);
}

/// The step that fails counts, depth first too: swarms are made of such searches.
#[test]
fn what_fails_in_the_step_beyond_the_depth_is_not_shown() {
    let (model, sources) = model_of("byte x; active proctype P() { x = 1; x = 2; x = 3; assert(x != 3) }");
    for (depth, expected) in [(3, Verdict::Inconclusive(StopReason::Depth)), (4, Verdict::Violated)] {
        let limits = Limits { depth: Some(depth), ..Limits::default() };
        let options = SearchOptions { order: Order::DepthFirst, limits, ..SearchOptions::default() };
        let report = explore(&model, &sources, &options, Goal::First, &mut Silent).expect("supported");
        assert_eq!(report.outcome.verdict, expected, "{depth}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let model_text = "byte x; active [2] proctype P() { x++; assert(x < 2) }";
    let additions = preempt_promela::Additions::default();
    let loaded = preempt_promela::load("m.pml", model_text, &additions, &mut |_| Err(String::new()));
    let model = loaded.model.expect("a model");
    let order = Order::Random(Walks { seed: 1, most: Some(1) });
    let store = Storage::Compact { bits: 64 };
    for (options, goal) in [
        (SearchOptions { order, store, ..SearchOptions::default() }, Goal::First),
        (SearchOptions { store, ..SearchOptions::default() }, Goal::All),
        (SearchOptions { store, cost: Cost::Steps, ..SearchOptions::default() }, Goal::All),
    ] {
        let refused = explore(&model, &loaded.sources, &options, goal, &mut Silent);
        assert!(refused.is_err(), "{options:?}");
    }
}
