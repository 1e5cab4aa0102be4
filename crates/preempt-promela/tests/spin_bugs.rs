//! Models on which Spin 6.5.2 is known to go wrong (issues of nimble-code/Spin), each with the right answer.

use preempt_core::{Outcome, PropertyKind, Silent, Verdict};
use preempt_model::Interpreter;
use preempt_model::check::{Check, CheckOptions};
use preempt_promela::{Additions, load};

fn answer(source: &str, wanted: fn(&Check) -> bool, weakly_fair: bool) -> Outcome {
    let loaded = load("test.pml", source, &Additions::default(), &mut |name| Err(format!("no {name}")));
    let model = loaded.model.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
    let interpreter = Interpreter::new(&model, &loaded.sources).expect("initial values have a meaning");
    let question = Check::all(&model).into_iter().find(wanted).expect("the model asks this");
    question
        .check(&interpreter, &CheckOptions { weakly_fair, ..CheckOptions::default() }, &mut Silent)
        .expect("the formula is small")
}

fn is_formula(question: &Check) -> bool {
    matches!(question, Check::Formula(_))
}

fn is_safety(question: &Check) -> bool {
    *question == Check::Safety
}

/// Issue 38: under weak fairness (`pan -a -f`) a violated `<>[]` was missed. Here one process turns `p` on and off
/// for ever and the other only counts; every fair run violates the formula.
#[test]
fn a_formula_violated_in_every_fair_run_is_violated() {
    let source = r"
        bool p; byte n;
        active proctype Toggle() { do :: p = true; p = false od }
        active proctype Count() { do :: n = (n + 1) % 2 od }
        ltl settles { <> [] p }
    ";
    let outcome = answer(source, is_formula, true);
    assert_eq!(outcome.verdict, Verdict::Violated);
    let trace = outcome.counterexample.expect("a run");
    let start = trace.loop_start.expect("a loop");
    let movers: std::collections::BTreeSet<usize> =
        trace.steps[start..].iter().map(|step| step.pid).collect();
    assert_eq!(movers.len(), 2, "in a fair loop both processes move");
}

/// The other direction: a run in which one process is never let on is not fair, so it violates nothing.
#[test]
fn an_unfair_run_is_no_counterexample_under_fairness() {
    let source = r"
        bool done; byte n;
        active proctype Finish() { done = true }
        active proctype Count() { do :: n = (n + 1) % 2 od }
        ltl finishes { <> done }
    ";
    assert_eq!(answer(source, is_formula, false).verdict, Verdict::Violated);
    assert_eq!(answer(source, is_formula, true).verdict, Verdict::Holds);
}

/// Issue 78: the default reduction took `_pid` for a local constant and missed the assertion.
#[test]
fn an_assertion_about_the_process_number_is_found() {
    let source = r"
        active [2] proctype P() { assert(_pid == 0) }
    ";
    let outcome = answer(source, is_safety, false);
    assert_eq!(outcome.violation.map(|it| it.kind), Some(PropertyKind::Assertion));
    assert_eq!(outcome.counterexample.map(|it| it.steps.len()), Some(1));
}

/// Issue 28: breadth-first search lost deadlocks after a rendezvous.
#[test]
fn a_deadlock_behind_a_rendezvous_is_found() {
    let source = r"
        chan c = [0] of { byte };
        active proctype S() { c!1; c!2 }
        active proctype R() { byte v; c?v }
    ";
    let outcome = answer(source, is_safety, false);
    assert_eq!(outcome.violation.map(|it| it.kind), Some(PropertyKind::Deadlock));
    assert_eq!(outcome.counterexample.map(|it| it.steps.len()), Some(2));
}

/// Bounded context switching (`-DBCS`): a preemption that begins with a rendezvous costs one like any other, and a
/// process that blocks inside atomic is left for free.
#[test]
fn bounds_are_exact_with_rendezvous_and_atomic() {
    let rendezvous = r"
        chan c = [0] of { byte };
        byte x, y, z;
        active proctype P() { x = 1; x = 2; x = 3; false }
        active proctype S() { c!x; c!x; false }
        active proctype R() { c?y; c?z; false }
    ";
    assert_eq!(states_within(rendezvous, &[0, 1, 2]), [15, 32, 34]);
    let blocked = r"
        bit x;
        active proctype Q() { x == 1; x = 0; false }
        active proctype P() { atomic { x = 1; x == 0 }; false }
    ";
    assert_eq!(states_within(blocked, &[0, 1]), [5, 5]);
    let both = r"
        byte x, y;
        active proctype Q() { y = x; false }
        active proctype P() { x = 1; atomic { x = 2; false } }
    ";
    assert_eq!(states_within(both, &[0, 1, 2]), [7, 9, 9]);
}

fn states_within(source: &str, bounds: &[u32]) -> Vec<u64> {
    let loaded = load("test.pml", source, &Additions::default(), &mut |name| Err(format!("no {name}")));
    let model = loaded.model.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
    let interpreter = Interpreter::new(&model, &loaded.sources).expect("initial values have a meaning");
    let states = |bound: &u32| {
        let options = preempt_model::search::ReferenceOptions { bound: Some(*bound), ..Default::default() };
        preempt_model::search::count(&interpreter, &options, &mut Silent).stats.states
    };
    bounds.iter().map(states).collect()
}
