//! The stores that do not keep states, against the brute-force oracle on random models. With room enough they find what
//! the exact store finds, at the same cost; without, they may miss it, but never say that there is nothing, nor that
//! there is something where there is not.

use preempt_core::{Cost, Guarantee, Outcome, Silent, SourceMap, StopReason, Verdict};
use preempt_explicit::{
    Figure, Order, Published, Reduction, SearchOptions, Storage, SuccessorSource, check, count,
};
use preempt_model::generator::{faulty_program_from_seed, program_from_seed};
use preempt_model::search::RunCost;
use preempt_model::search::oracle::{CheapestCosts, cheapest_costs, cheapest_costs_by};
use preempt_model::{Interpreter, Model};

fn programs(few: u64) -> u64 {
    std::env::var("PREEMPT_PROGRAMS").ok().and_then(|number| number.parse().ok()).unwrap_or(few)
}

/// Models with more states than this are left out: the oracle is slow.
const LARGEST: u64 = 1000;

const AMPLE: Storage = Storage::Bitstate { hashes: 3, bits: Some(1 << 22) };

/// A model that is small enough, and what is true of it.
struct Case<'a> {
    model: &'a Model,
    sources: &'a SourceMap,
    interpreter: &'a Interpreter<'a>,
    oracle: CheapestCosts<Interpreter<'a>>,
    name: String,
}

impl Case<'_> {
    fn check(&self, options: &SearchOptions) -> Outcome {
        check(self.model, self.sources, options, &mut Silent).expect("a supported model")
    }

    fn count(&self, options: &SearchOptions) -> Outcome {
        count(self.model, self.sources, options, &mut Silent).expect("a supported model")
    }

    fn name(&self, what: &str) -> String {
        format!("{what}: {}", self.name)
    }
}

fn each_case(faulty: bool, fair_switch: bool, few: u64, mut visit: impl FnMut(&Case<'_>)) {
    let mut compared = 0;
    for seed in 0..programs(few) {
        let seed = 2_000_000 + seed;
        let program = if faulty { faulty_program_from_seed(seed) } else { program_from_seed(seed) };
        let (model, sources) = program.to_model();
        let Ok(interpreter) = Interpreter::new(&model, &sources) else { continue };
        let mut options = SearchOptions { fair_switch, ..SearchOptions::default() };
        options.limits.states = Some(LARGEST);
        let whole = count(&model, &sources, &options, &mut Silent).expect("a supported model");
        if matches!(whole.verdict, Verdict::Inconclusive(_)) {
            continue;
        }
        let oracle = cheapest_costs(&interpreter, fair_switch);
        let name = format!("seed {seed}\n{}", program.to_promela());
        visit(&Case { model: &model, sources: &sources, interpreter: &interpreter, oracle, name });
        compared += 1;
    }
    println!("{compared} programs compared");
    assert!(compared * 2 > programs(few), "most programs are small enough");
}

fn cost_by(unit: Cost, outcome: &Outcome) -> Option<RunCost> {
    let trace = outcome.counterexample.as_ref()?;
    let charged = match unit {
        Cost::Preemptions => trace.preemptions(),
        Cost::Switches => trace.switches(),
        Cost::Steps => 0,
    };
    Some(RunCost { preemptions: charged as u32, steps: trace.steps.len() as u64 })
}

fn within(unit: Cost, cost: RunCost, bound: Option<u32>) -> bool {
    let charged = if unit == Cost::Steps { cost.steps } else { u64::from(cost.preemptions) };
    bound.is_none_or(|bound| charged <= u64::from(bound))
}

/// In order of cost, for every cost and bound: as the exact store, to the step. A holds is called approximate.
fn compact_as_exact(case: &Case<'_>, fair_switch: bool) {
    // One width a program: they take turns.
    let bits = [64, 96, 128][case.oracle.states.len() % 3];
    let store = Storage::Compact { bits };
    let units: &[Cost] =
        if fair_switch { &[Cost::Preemptions] } else { &[Cost::Preemptions, Cost::Switches, Cost::Steps] };
    for unit in units {
        let other = cheapest_costs_by(case.interpreter, *unit, false);
        let oracle = if *unit == Cost::Preemptions { &case.oracle } else { &other };
        for bound in [None, Some(0), Some(2)] {
            let options =
                SearchOptions { store, cost: *unit, bound, fair_switch, ..SearchOptions::default() };
            let name = case.name(&format!("{bits} bits, {unit:?} within {bound:?}"));
            let found = case.check(&options);
            let expected = oracle.cheapest().filter(|cost| within(*unit, *cost, bound));
            assert_eq!(cost_by(*unit, &found), expected, "{name}");
            let verdict = if expected.is_some() { Verdict::Violated } else { Verdict::Holds };
            assert_eq!(found.verdict, verdict, "{name}");
            let Guarantee::Approximate { probability, bound: said } = found.guarantee else {
                panic!("{name}: {:?}", found.guarantee);
            };
            assert!((0.0..1e-9).contains(&probability), "{name}: {probability}");
            assert_eq!(said.map(|bound| bound.most), bound, "{name}");
            let exact = case.count(&SearchOptions { store: Storage::Exact, ..options.clone() });
            let counted = case.count(&options);
            let numbers = |outcome: &Outcome| {
                let stats = &outcome.stats;
                (stats.states, stats.transitions, stats.revisits, stats.violations.clone())
            };
            assert_eq!(numbers(&counted), numbers(&exact), "{name}: counted");
        }
    }
    for bound in [None, Some(0), Some(1)] {
        let store = Storage::Compact { bits: 64 };
        let options = SearchOptions {
            store,
            bound,
            fair_switch,
            reduction: Reduction::Exact,
            ..SearchOptions::default()
        };
        for successors in [SuccessorSource::Native, SuccessorSource::Interpreted] {
            let found = case.check(&SearchOptions { successors, ..options.clone() });
            let expected = case.oracle.cheapest().filter(|cost| within(Cost::Preemptions, *cost, bound));
            let fewest = |cost: RunCost| cost.preemptions;
            let name = case.name(&format!("reduced within {bound:?}, {successors:?}"));
            assert_eq!(cost_by(Cost::Preemptions, &found).map(fewest), expected.map(fewest), "{name}");
        }
    }
}

/// With room enough: the fewest preemptions within every bound, and all states.
fn ample_bits_as_exact(case: &Case<'_>, fair_switch: bool) {
    for reduction in [Reduction::None, Reduction::Exact] {
        for bound in [None, Some(0), Some(1), Some(2)] {
            let options =
                SearchOptions { store: AMPLE, bound, fair_switch, reduction, ..SearchOptions::default() };
            let name = case.name(&format!("{reduction:?} within {bound:?}"));
            let found = case.check(&options);
            let expected = case.oracle.cheapest().filter(|cost| within(Cost::Preemptions, *cost, bound));
            let fewest = |cost: RunCost| cost.preemptions;
            assert_eq!(cost_by(Cost::Preemptions, &found).map(fewest), expected.map(fewest), "{name}");
            partial_unless_violated(&found, expected.is_some(), &name);
            if reduction == Reduction::None {
                let counted = case.count(&options);
                let states = case.oracle.states_within(bound.unwrap_or(u32::MAX)) as u64;
                assert_eq!(counted.stats.states, states, "{name}: counted");
                assert_eq!(counted.stats.revisits, 0, "{name}");
            }
        }
    }
    if fair_switch {
        return;
    }
    // Where steps alone count, they are the fewest.
    let oracle = cheapest_costs_by(case.interpreter, Cost::Steps, false);
    let found = case.check(&SearchOptions { store: AMPLE, cost: Cost::Steps, ..SearchOptions::default() });
    assert_eq!(cost_by(Cost::Steps, &found), oracle.cheapest(), "{}", case.name("steps"));
    let oracle = cheapest_costs_by(case.interpreter, Cost::Switches, false);
    let found = case.check(&SearchOptions { store: AMPLE, cost: Cost::Switches, ..SearchOptions::default() });
    let fewest = |cost: RunCost| cost.preemptions;
    let found = cost_by(Cost::Switches, &found).map(fewest);
    assert_eq!(found, oracle.cheapest().map(fewest), "{}", case.name("switches"));
}

fn partial_unless_violated(found: &Outcome, violated: bool, name: &str) {
    let verdict = if violated { Verdict::Violated } else { Verdict::Inconclusive(StopReason::Partial) };
    assert_eq!(found.verdict, verdict, "{name}");
    let coverage = found.stats.coverage.as_ref().expect("a search that visits only part says how much");
    assert!(coverage.share.is_some_and(|share| (0.0..=1.0).contains(&share)), "{name}: {coverage:?}");
    assert!(coverage.hash_factor.is_some_and(|factor| factor > 0.0), "{name}: {coverage:?}");
}

/// Depth first: the same states and the same verdict as with the exact store.
fn depth_first(case: &Case<'_>) {
    let violated = case.oracle.cheapest().is_some();
    for store in [Storage::Compact { bits: 64 }, Storage::Compact { bits: 128 }, AMPLE] {
        for reduction in [Reduction::None, Reduction::Exact, Reduction::Strong] {
            let options =
                SearchOptions { store, order: Order::DepthFirst, reduction, ..SearchOptions::default() };
            let name = case.name(&format!("{store:?}, {reduction:?}"));
            let found = case.check(&options);
            assert_eq!(found.verdict == Verdict::Violated, violated, "{name}");
            assert_eq!(found.counterexample.is_some(), violated, "{name}");
            let exact = SearchOptions { store: Storage::Exact, ..options.clone() };
            let numbers = |outcome: &Outcome| {
                let stats = &outcome.stats;
                (stats.states, stats.transitions, stats.depth, stats.violations.clone())
            };
            assert_eq!(numbers(&found), numbers(&case.check(&exact)), "{name}");
            if reduction == Reduction::None {
                assert_eq!(numbers(&case.count(&options)), numbers(&case.count(&exact)), "{name}: counted");
            }
        }
    }
}

/// Much too little room: nothing is proved, and nothing is invented.
fn tiny_bits(case: &Case<'_>) {
    let published = |figure| Order::Published(Published { figure, cycles: false, shortening: false });
    let orders = [
        Order::ByCost,
        Order::DepthFirst,
        published(Figure::NaiveBounded),
        published(Figure::ContextBounded),
    ];
    let cheapest = case.oracle.cheapest();
    for order in orders {
        for bits in [64, 256, 1024] {
            for hashes in [1, 3] {
                let store = Storage::Bitstate { hashes, bits: Some(bits) };
                let bound = (order != Order::DepthFirst).then_some(2);
                let options = SearchOptions { store, order, bound, ..SearchOptions::default() };
                let name = case.name(&format!("{order:?}, {bits} bits, {hashes} functions"));
                let found = case.check(&options);
                assert_ne!(found.verdict, Verdict::Holds, "{name}");
                if let Some(trace) = &found.counterexample {
                    let preemptions = trace.preemptions() as u32;
                    assert!(cheapest.is_some_and(|cost| cost.preemptions <= preemptions), "{name}");
                    assert!(bound.is_none_or(|bound| preemptions <= bound), "{name}");
                }
                assert!(found.stats.states <= case.oracle.states.len() as u64, "{name}");
            }
        }
    }
}

#[test]
fn compact() {
    each_case(false, false, 60, |case| compact_as_exact(case, false));
    each_case(true, false, 30, |case| compact_as_exact(case, false));
    each_case(false, true, 20, |case| compact_as_exact(case, true));
}

#[test]
fn bitstate_with_ample_memory() {
    each_case(false, false, 100, |case| ample_bits_as_exact(case, false));
    each_case(true, false, 50, |case| ample_bits_as_exact(case, false));
    each_case(false, true, 30, |case| ample_bits_as_exact(case, true));
}

#[test]
fn without_states_depth_first() {
    each_case(false, false, 80, depth_first);
    each_case(true, false, 50, depth_first);
}

#[test]
fn bitstate_with_tiny_memory() {
    each_case(false, false, 80, tiny_bits);
    each_case(true, false, 50, tiny_bits);
}

/// Section 3.2 of paper 000. Who ran last is not stored, so that even with ample memory something may be missed; but
/// hardly ever, and never without a preemption. What is found is within the bound.
#[test]
fn context_bounded_with_replicated_storage() {
    let (mut violated, mut missed) = (0, 0);
    each_case(false, false, 200, |case| {
        for bound in [0, 1, 2, 3] {
            let order = Order::Published(Published {
                figure: Figure::ContextBounded,
                cycles: false,
                shortening: false,
            });
            let options = SearchOptions { order, bound: Some(bound), ..SearchOptions::default() };
            let exact = case.check(&options);
            let bits = case.check(&SearchOptions { store: AMPLE, ..options });
            let name = case.name(&format!("within {bound}"));
            partial_unless_violated(&bits, bits.verdict == Verdict::Violated, &name);
            assert!(bits.verdict != Verdict::Violated || exact.verdict == Verdict::Violated, "{name}");
            let trace = bits.counterexample.as_ref();
            assert!(trace.is_none_or(|trace| trace.preemptions() as u32 <= bound), "{name}");
            violated += u32::from(exact.verdict == Verdict::Violated);
            missed += u32::from(exact.verdict == Verdict::Violated && bits.verdict != Verdict::Violated);
            assert!(bits.stats.states <= case.oracle.states_within(bound) as u64, "{name}");
        }
    });
    println!("{missed} of {violated} violations missed since the last process is not stored");
    assert!(violated > 100 && missed * 20 <= violated, "{missed} of {violated}");
}
