//! The reference search and the oracle answer alike, on random programs: states within every bound, the verdict, and
//! the cost of the cheapest violation. `PREEMPT_CASES` says on how many programs.

use preempt_core::{PropertyKind, Silent, Verdict};
use preempt_model::generator::{Program, faulty_programs, programs};
use preempt_model::search::oracle::{self, CheapestCosts};
use preempt_model::search::{self, ReferenceOptions, RunCost};
use preempt_model::{Interpreter, System};
use proptest::prelude::{Strategy, TestCaseError, prop_assert, prop_assert_eq};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// The oracle takes its time: larger state spaces are left out.
const MOST_STATES: u64 = 1500;

const BOUNDS: [Option<u32>; 6] = [None, Some(0), Some(1), Some(2), Some(3), Some(4)];

#[test]
fn search_and_oracle_agree() {
    on_random(programs(), 256, agree);
}

#[test]
fn search_and_oracle_agree_on_faulty_programs() {
    on_random(faulty_programs(), 64, agree);
}

fn on_random(
    programs: impl Strategy<Value = Program>,
    cases: u32,
    test: impl Fn(&Program) -> Result<(), TestCaseError>,
) {
    let cases = std::env::var("PREEMPT_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(cases);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    // Always the same programs: a failure elsewhere is a failure here.
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let result = TestRunner::new_with_rng(config, random).run(&programs, |program| test(&program));
    if let Err(error) = result {
        match error {
            proptest::test_runner::TestError::Fail(reason, program) => {
                panic!("{reason}\n{}\n{program:?}", program.to_promela());
            }
            abort => panic!("{abort}"),
        }
    }
}

fn agree(program: &Program) -> Result<(), TestCaseError> {
    let (model, sources) = program.to_model();
    let system = Interpreter::new(&model, &sources).expect("initial values are constants");
    let mut options = ReferenceOptions::default();
    options.limits.states = Some(MOST_STATES);
    if matches!(search::count(&system, &options, &mut Silent).verdict, Verdict::Inconclusive(_)) {
        return Ok(());
    }
    for fair_switch in [false, true] {
        let answers = oracle::cheapest_costs(&system, fair_switch);
        for bound in BOUNDS {
            let options = ReferenceOptions { bound, fair_switch, ..ReferenceOptions::default() };
            count_agrees(&system, &options, &answers)?;
            check_agrees(&system, &options, &answers)?;
        }
    }
    Ok(())
}

fn within(options: &ReferenceOptions, cost: RunCost) -> bool {
    options.bound.is_none_or(|most| cost.preemptions <= most)
}

fn count_agrees<S: System>(
    system: &S,
    options: &ReferenceOptions,
    answers: &CheapestCosts<S>,
) -> Result<(), TestCaseError> {
    let outcome = search::count(system, options, &mut Silent);
    let most = options.bound.unwrap_or(u32::MAX);
    prop_assert_eq!(outcome.stats.states, answers.states_within(most) as u64, "states with {:?}", options);
    for level in &outcome.stats.levels {
        let expected = answers.states.values().filter(|preemptions| **preemptions == level.level).count();
        prop_assert_eq!(level.states, expected as u64, "new states of {:?} with {:?}", level, options);
    }
    let violated = answers.cheapest().is_some_and(|cost| within(options, cost));
    let expected = if violated { Verdict::Violated } else { Verdict::Holds };
    prop_assert_eq!(outcome.verdict, expected, "count with {:?}", options);
    for (violation, cost) in &answers.violations {
        let counted = outcome.stats.violations.contains_key(&violation.kind);
        prop_assert!(counted || !within(options, *cost), "{:?} is not counted with {:?}", violation, options);
    }
    let deadlocked = answers.deadlock.is_some_and(|cost| within(options, cost));
    let counted = outcome.stats.violations.contains_key(&PropertyKind::Deadlock);
    prop_assert_eq!(counted, deadlocked, "deadlock with {:?}", options);
    Ok(())
}

fn check_agrees<S: System>(
    system: &S,
    options: &ReferenceOptions,
    answers: &CheapestCosts<S>,
) -> Result<(), TestCaseError> {
    let outcome = search::check(system, options, &mut Silent);
    let Some(cost) = answers.cheapest().filter(|cost| within(options, *cost)) else {
        prop_assert_eq!(outcome.verdict, Verdict::Holds, "check with {:?}", options);
        prop_assert_eq!(outcome.counterexample, None);
        return Ok(());
    };
    prop_assert_eq!(outcome.verdict, Verdict::Violated, "check with {:?}", options);
    let trace = outcome.counterexample.expect("a violation comes with its run");
    let shown = RunCost { preemptions: trace.preemptions() as u32, steps: trace.steps.len() as u64 };
    prop_assert_eq!(shown, cost, "cheapest with {:?}", options);
    let property = outcome.violation.expect("a violation has a name");
    let known = match property.kind {
        PropertyKind::Deadlock => answers.deadlock == Some(cost),
        _ => answers.violations.iter().any(|(violation, known)| {
            *known == cost && violation.kind == property.kind && violation.name == property.name
        }),
    };
    prop_assert!(known, "{:?} does not cost {:?} with {:?}", property, cost, options);
    Ok(())
}
