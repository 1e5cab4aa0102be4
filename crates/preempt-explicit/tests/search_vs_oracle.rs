//! The search against the brute-force oracle on random models: verdict, fewest preemptions, fewest steps, states
//! within each bound, each distinct violation with its cheapest cost; and the work done is never more under a bound.

use preempt_core::{Cost, Outcome, Silent, SourceMap, Verdict};
use preempt_explicit::{
    Figure, Goal, Order, Published, Reduction, SearchOptions, SuccessorSource, check, count, explore,
};
use preempt_model::generator::{faulty_program_from_seed, program_from_seed};
use preempt_model::search::RunCost;
use preempt_model::search::oracle::{CheapestCosts, cheapest_costs, cheapest_costs_by};
use preempt_model::search::recognise;
use preempt_model::{Interpreter, Model};
use std::collections::BTreeSet;

fn programs(few: u64) -> u64 {
    std::env::var("PREEMPT_PROGRAMS").ok().and_then(|number| number.parse().ok()).unwrap_or(few)
}

fn cost(outcome: &Outcome) -> Option<RunCost> {
    let trace = outcome.counterexample.as_ref()?;
    Some(RunCost { preemptions: trace.preemptions() as u32, steps: trace.steps.len() as u64 })
}

/// Models with more states than this are left out: the oracle is slow.
const LARGEST: u64 = 3000;

/// True if the model was small enough to be compared.
fn compare(model: &Model, sources: &SourceMap, fair_switch: bool, name: &str) -> bool {
    let Ok(interpreter) = Interpreter::new(model, sources) else { return false };
    let mut options = SearchOptions { fair_switch, ..SearchOptions::default() };
    options.limits.states = Some(LARGEST);
    let run =
        |options: &SearchOptions| count(model, sources, options, &mut Silent).expect("a supported model");
    let whole = run(&options);
    if matches!(whole.verdict, Verdict::Inconclusive(_)) {
        return false;
    }
    let oracle: CheapestCosts<Interpreter<'_>> = cheapest_costs(&interpreter, fair_switch);
    assert_eq!(whole.stats.states, oracle.states.len() as u64, "{name}: states");
    assert_eq!(whole.stats.revisits, 0, "{name}: revisits");
    let cheapest = oracle.cheapest();
    for bound in [0, 1, 2] {
        let bounded = SearchOptions { bound: Some(bound), ..options.clone() };
        let counted = run(&bounded);
        assert_eq!(counted.stats.states, oracle.states_within(bound) as u64, "{name}: states within {bound}");
        assert!(counted.stats.transitions <= whole.stats.transitions, "{name}: transitions within {bound}");
        let checked = check(model, sources, &bounded, &mut Silent).expect("a supported model");
        let expected = cheapest.filter(|cost| cost.preemptions <= bound);
        assert_eq!(cost(&checked), expected, "{name}: cheapest violation within {bound}");
    }
    for successors in [SuccessorSource::Native, SuccessorSource::Interpreted] {
        let options = SearchOptions { successors, ..options.clone() };
        let checked = check(model, sources, &options, &mut Silent).expect("a supported model");
        assert_eq!(cost(&checked), cheapest, "{name}: cheapest violation, {successors:?}");
        assert_eq!(checked.verdict == Verdict::Violated, cheapest.is_some(), "{name}: verdict");
    }
    with_reduction(model, sources, &options, cheapest, name);
    if !fair_switch {
        simplified(model, sources, &options, cheapest, name);
        other_costs(model, sources, &options, &interpreter, name);
        depth_first(model, sources, &options, &whole, name);
        published(model, sources, &options, &oracle, name);
    }
    let all = explore(model, sources, &options, Goal::All, &mut Silent).expect("a supported model");
    let found: BTreeSet<_> = all
        .errors
        .iter()
        .filter(|error| error.property.kind != preempt_core::PropertyKind::Deadlock)
        .map(|error| (error.property.name.clone(), error.trace.preemptions(), error.trace.steps.len()))
        .collect();
    let expected: BTreeSet<_> = oracle
        .violations
        .iter()
        .map(|(violation, cost)| (violation.name.clone(), cost.preemptions as usize, cost.steps as usize))
        .collect();
    // The same words may be said of several places.
    let cheapest_of = |set: &BTreeSet<(String, usize, usize)>| {
        let mut names = BTreeSet::new();
        set.iter().filter(|(name, ..)| names.insert(name.clone())).cloned().collect::<Vec<_>>()
    };
    assert_eq!(cheapest_of(&found), cheapest_of(&expected), "{name}: all violations");
    true
}

/// The exact reduction keeps the fewest preemptions within every bound, and never does more.
fn with_reduction(
    model: &Model,
    sources: &SourceMap,
    options: &SearchOptions,
    cheapest: Option<RunCost>,
    name: &str,
) {
    for bound in [None, Some(0), Some(1), Some(2)] {
        for successors in [SuccessorSource::Native, SuccessorSource::Interpreted] {
            let options = SearchOptions { bound, successors, ..options.clone() };
            let run = |reduction| {
                let options = SearchOptions { reduction, ..options.clone() };
                check(model, sources, &options, &mut Silent).expect("a supported model")
            };
            let reduced = run(Reduction::Exact);
            let expected = cheapest
                .map(|cost| cost.preemptions)
                .filter(|preemptions| bound.is_none_or(|most| *preemptions <= most));
            let found = cost(&reduced).map(|cost| cost.preemptions);
            assert_eq!(found, expected, "{name}: fewest preemptions within {bound:?}, reduced");
            if expected.is_none() {
                let whole = run(Reduction::None);
                assert!(reduced.stats.states <= whole.stats.states, "{name}: reduced states");
                assert!(reduced.stats.transitions <= whole.stats.transitions, "{name}: reduced transitions");
            }
        }
    }
}

/// Static optimisations keep the fewest preemptions within every bound, with the exact reduction and without; the run
/// is one of the model itself.
fn simplified(
    model: &Model,
    sources: &SourceMap,
    options: &SearchOptions,
    cheapest: Option<RunCost>,
    name: &str,
) {
    for bound in [None, Some(0), Some(1), Some(2)] {
        let expected = cheapest
            .map(|cost| cost.preemptions)
            .filter(|preemptions| bound.is_none_or(|most| *preemptions <= most));
        for (reduction, successors) in [
            (Reduction::None, SuccessorSource::Native),
            (Reduction::None, SuccessorSource::Interpreted),
            (Reduction::Exact, SuccessorSource::Native),
        ] {
            let options = SearchOptions { bound, successors, reduction, simplify: true, ..options.clone() };
            let checked = check(model, sources, &options, &mut Silent).expect("a supported model");
            let found = cost(&checked).map(|cost| cost.preemptions);
            assert_eq!(
                found, expected,
                "{name}: fewest preemptions within {bound:?}, {reduction:?}, simplify"
            );
            if let Some(trace) = &checked.counterexample {
                let interpreter = Interpreter::new(model, sources).expect("a model that can begin");
                let found = recognise(&interpreter, trace).is_ok();
                assert!(found, "{name}: a run of the model");
            }
        }
    }
}

/// Fewest switches, and fewest steps.
fn other_costs(
    model: &Model,
    sources: &SourceMap,
    options: &SearchOptions,
    interpreter: &Interpreter<'_>,
    name: &str,
) {
    for unit in [Cost::Switches, Cost::Steps] {
        let oracle = cheapest_costs_by(interpreter, unit, false);
        let options = SearchOptions { cost: unit, ..options.clone() };
        let checked = check(model, sources, &options, &mut Silent).expect("a supported model");
        let found = checked.counterexample.as_ref().map(|trace| {
            let charged = if unit == Cost::Switches { trace.switches() } else { 0 };
            RunCost { preemptions: charged as u32, steps: trace.steps.len() as u64 }
        });
        assert_eq!(found, oracle.cheapest(), "{name}: cheapest by {unit:?}");
        let counted = count(model, sources, &options, &mut Silent).expect("a supported model");
        assert_eq!(counted.stats.states, oracle.states.len() as u64, "{name}: states by {unit:?}");
        if unit == Cost::Switches {
            for bound in [0, 1, 2, 3] {
                let options = SearchOptions { bound: Some(bound), ..options.clone() };
                let counted = count(model, sources, &options, &mut Silent).expect("a supported model");
                let expected = oracle.states_within(bound) as u64;
                assert_eq!(counted.stats.states, expected, "{name}: states within {bound} switches");
                let checked = check(model, sources, &options, &mut Silent).expect("a supported model");
                let found = checked.counterexample.map(|trace| trace.switches());
                let expected = oracle.cheapest().filter(|cost| cost.preemptions <= bound);
                assert_eq!(
                    found,
                    expected.map(|cost| cost.preemptions as usize),
                    "{name}: within {bound} switches"
                );
            }
        }
    }
}

/// The same states and the same verdict, with and without reduction.
fn depth_first(model: &Model, sources: &SourceMap, options: &SearchOptions, whole: &Outcome, name: &str) {
    let options = SearchOptions { order: Order::DepthFirst, ..options.clone() };
    let counted = count(model, sources, &options, &mut Silent).expect("a supported model");
    let numbers = |outcome: &Outcome| {
        (outcome.stats.states, outcome.stats.transitions, outcome.stats.violations.clone())
    };
    assert_eq!(numbers(&counted), numbers(whole), "{name}: depth first");
    for reduction in [Reduction::None, Reduction::Exact, Reduction::Strong] {
        let options = SearchOptions { reduction, ..options.clone() };
        let checked = check(model, sources, &options, &mut Silent).expect("a supported model");
        assert_eq!(checked.verdict, whole.verdict, "{name}: depth first, {reduction:?}");
        assert_eq!(checked.counterexample.is_some(), checked.verdict == Verdict::Violated, "{name}");
    }
}

/// The paper's searches. Fig. 3 keeps property P1: what is within the bound is found, and the states are those within
/// it. Fig. 5 considers some runs beyond the bound, but misses none within it. Fig. 2 may miss errors, but invents none.
fn published(
    model: &Model,
    sources: &SourceMap,
    options: &SearchOptions,
    oracle: &CheapestCosts<Interpreter<'_>>,
    name: &str,
) {
    for bound in [0, 1, 2, 3] {
        let within = oracle.cheapest().is_some_and(|cost| cost.preemptions <= bound);
        for figure in [Figure::NaiveBounded, Figure::ContextBounded, Figure::WithReduction] {
            for shortening in [false, true] {
                let order = Order::Published(Published { figure, cycles: false, shortening });
                let options = SearchOptions { order, bound: Some(bound), ..options.clone() };
                let found = check(model, sources, &options, &mut Silent).expect("a supported model");
                let name = format!("{name}: {figure:?} within {bound}, {shortening}");
                let violated = found.verdict == Verdict::Violated;
                let preemptions = found.counterexample.as_ref().map(|trace| trace.preemptions() as u32);
                match figure {
                    Figure::NaiveBounded => assert!(!violated || within, "{name}"),
                    Figure::ContextBounded => {
                        assert_eq!(violated, within, "{name}");
                        assert!(preemptions.is_none_or(|preemptions| preemptions <= bound), "{name}");
                    }
                    Figure::WithReduction => {
                        assert!(violated || !within, "{name}");
                        assert!(!violated || oracle.cheapest().is_some(), "{name}");
                    }
                }
                if figure == Figure::ContextBounded && !violated {
                    assert_eq!(found.stats.states, oracle.states_within(bound) as u64, "{name}: states");
                }
            }
        }
    }
}

fn campaign(faulty: bool, fair_switch: bool, few: u64) {
    let mut compared = 0;
    for seed in 0..programs(few) {
        let program = if faulty { faulty_program_from_seed(seed) } else { program_from_seed(seed) };
        let (model, sources) = program.to_model();
        let name = format!("seed {seed}\n{}", program.to_promela());
        compared += u64::from(compare(&model, &sources, fair_switch, &name));
    }
    println!("{compared} programs compared");
    assert!(compared * 2 > programs(few), "most programs are small enough");
}

/// Less is asked of each, so that there can be many: `PREEMPT_PROGRAMS=20000` for a long run.
#[test]
fn many_small_programs() {
    let (mut compared, mut violated) = (0, 0);
    let (mut left, mut of) = (0, 0);
    for seed in 0..programs(400) {
        let program = program_from_seed(1_000_000 + seed);
        let (model, sources) = program.to_model();
        let Ok(interpreter) = Interpreter::new(&model, &sources) else { continue };
        let mut options = SearchOptions::default();
        options.limits.states = Some(400);
        let whole = count(&model, &sources, &options, &mut Silent).expect("a supported model");
        if matches!(whole.verdict, Verdict::Inconclusive(_)) {
            continue;
        }
        let name = format!("seed {}\n{}", 1_000_000 + seed, program.to_promela());
        let oracle = cheapest_costs(&interpreter, false);
        assert_eq!(whole.stats.states, oracle.states.len() as u64, "{name}: states");
        let bound = (seed % 3) as u32;
        let bounded = SearchOptions { bound: Some(bound), ..options.clone() };
        let within = count(&model, &sources, &bounded, &mut Silent).expect("a supported model");
        assert_eq!(within.stats.states, oracle.states_within(bound) as u64, "{name}: states within {bound}");
        assert!(within.stats.transitions <= whole.stats.transitions, "{name}: transitions within {bound}");
        let cheapest = oracle.cheapest();
        let checked = check(&model, &sources, &options, &mut Silent).expect("a supported model");
        assert_eq!(cost(&checked), cheapest, "{name}: cheapest violation");
        let exact = SearchOptions { reduction: Reduction::Exact, ..options.clone() };
        let reduced = check(&model, &sources, &exact, &mut Silent).expect("a supported model");
        let preemptions = |cost: RunCost| cost.preemptions;
        assert_eq!(cost(&reduced).map(preemptions), cheapest.map(preemptions), "{name}: reduced");
        for simplify in [false, true] {
            let strong =
                SearchOptions { reduction: Reduction::Strong, order: Order::DepthFirst, ..options.clone() };
            let strong = SearchOptions { simplify, ..strong };
            let decided = check(&model, &sources, &strong, &mut Silent).expect("a supported model");
            assert_eq!(
                decided.verdict == Verdict::Violated,
                cheapest.is_some(),
                "{name}: strong, {simplify}"
            );
            left += decided.stats.states.min(whole.stats.states);
        }
        of += 2 * whole.stats.states;
        simplified(&model, &sources, &options, cheapest, &name);
        compared += 1;
        violated += u64::from(cheapest.is_some());
    }
    println!("{compared} programs compared, {violated} with a violation, {left} of {of} states with strong");
    assert!(compared * 2 > programs(400), "most programs are small enough");
}

#[test]
fn random_programs() {
    campaign(false, false, 60);
}

#[test]
fn programs_that_do_what_has_no_meaning() {
    campaign(true, false, 40);
}

#[test]
fn with_fair_switches() {
    campaign(false, true, 30);
}
