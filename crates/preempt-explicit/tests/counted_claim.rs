//! `_nr_pr` counts the claim, for whoever reads it, where a claim is asked for and nowhere else. The answers are those of
//! Spin 6.5.2: `-DNOCLAIM` for safety and labels, with the claim for formulas and claims, `-DNP` for progress.

use preempt_core::{Outcome, PropertyKind, Silent, Trace, Verdict};
use preempt_explicit::{Portfolio, Reduction, SearchOptions, SuccessorSource, answer};
use preempt_model::Interpreter;
use preempt_model::check::{Check, CheckOptions};
use preempt_model::check_all::check_all;
use preempt_model::search::{recognise, replay};
use preempt_promela::{Additions, Loaded, load};

/// A model, and for each of its questions, and for progress, what is violated.
type Case = (&'static str, &'static [Option<PropertyKind>]);

const HOLDS: Option<PropertyKind> = None;
const ASSERTION: Option<PropertyKind> = Some(PropertyKind::Assertion);
const RUNTIME: Option<PropertyKind> = Some(PropertyKind::RuntimeError);
const FORMULA: Option<PropertyKind> = Some(PropertyKind::Ltl);
const NEVER: Option<PropertyKind> = Some(PropertyKind::Never);
const LABEL: Option<PropertyKind> = Some(PropertyKind::Acceptance);
const STUCK: Option<PropertyKind> = Some(PropertyKind::Deadlock);
const IDLE: Option<PropertyKind> = Some(PropertyKind::NonProgress);

const CASES: &[Case] = &[
    ("byte x; active proctype P() { x = _nr_pr } ltl p { <> (x == 2) }", &[HOLDS, HOLDS, HOLDS]),
    ("byte x; active proctype P() { x = _nr_pr } ltl p { <> (x == 1) }", &[HOLDS, FORMULA, HOLDS]),
    // What goes wrong only while a claim watches is found with the claim.
    (
        "byte x; active proctype P() { assert(_nr_pr == 1); x = 1 } ltl p { [] (x < 2) }",
        &[HOLDS, ASSERTION, ASSERTION],
    ),
    ("byte a[2]; active proctype P() { a[_nr_pr] = 1 } ltl p { [] (a[0] == 0) }", &[HOLDS, RUNTIME, RUNTIME]),
    (
        "byte x; active proctype P() { do :: _nr_pr == 1 -> progress: x = 1 :: else -> progress2: assert(x == 1) od }",
        &[HOLDS, ASSERTION],
    ),
    ("active proctype P() { do :: _nr_pr == 1 -> progress: skip :: else -> skip od }", &[HOLDS, IDLE]),
    ("active proctype P() { accept: do :: _nr_pr == 1 od }", &[HOLDS, LABEL, HOLDS]),
    (
        "byte x; active proctype P() { _nr_pr == 1; x = 1 } never { do :: x == 1 -> break :: else od }",
        &[HOLDS, HOLDS, HOLDS],
    ),
    (
        "byte x; active proctype P() { _nr_pr == 2; x = 1 } never { do :: x == 1 -> break :: else od }",
        &[STUCK, NEVER, HOLDS],
    ),
    // The claim begins before the processes, and after the globals have their values.
    (
        "byte x; active proctype P() { byte y = _nr_pr; x = y } ltl p { [] (x != 2) }",
        &[HOLDS, FORMULA, HOLDS],
    ),
    ("byte x = _nr_pr; active proctype P() { skip } ltl p { [] (x != 0) }", &[HOLDS, FORMULA, HOLDS]),
    (
        "byte x; active proctype P() provided (_nr_pr == 1) { x = 1 } ltl p { [] (x == 0) }",
        &[HOLDS, HOLDS, HOLDS],
    ),
    (
        "byte x; active proctype P() { d_step { x = _nr_pr; x = x + _nr_pr } } ltl p { [] (x != 4) }",
        &[HOLDS, FORMULA, HOLDS],
    ),
    (
        "byte x; proctype Q(byte n) { x = n } init { run Q(_nr_pr); _nr_pr == 2; x = 9 } ltl p { <> (x == 9) }",
        &[STUCK, HOLDS, HOLDS],
    ),
    // A trace assertion is no process.
    (
        "chan c = [1] of { byte }; byte x; active proctype P() { c!_nr_pr; c?x } trace { c!1; c?1 }",
        &[HOLDS, HOLDS, HOLDS],
    ),
];

fn loaded(text: &str) -> Loaded {
    load("c.pml", text, &Additions::default(), &mut |name| Err(format!("no {name}")))
}

fn violated(outcome: &Outcome) -> Option<PropertyKind> {
    assert!(!matches!(outcome.verdict, Verdict::Inconclusive(_)), "{outcome:?}");
    outcome.violation.as_ref().map(|property| property.kind)
}

fn ways() -> Vec<SearchOptions> {
    let mut ways = Vec::new();
    for reduction in [Reduction::None, Reduction::Exact] {
        for bound in [None, Some(3)] {
            ways.push(SearchOptions { reduction, bound, ..SearchOptions::default() });
        }
    }
    ways.push(SearchOptions { simplify: true, ..SearchOptions::default() });
    ways.push(SearchOptions { successors: SuccessorSource::Interpreted, ..SearchOptions::default() });
    ways
}

#[test]
fn every_question_has_the_answer_of_spin() {
    for (text, expected) in CASES {
        let Loaded { model, sources, .. } = loaded(text);
        let model = model.expect(text);
        let interpreter = Interpreter::new(&model, &sources).expect("initial values have a meaning");
        let mut questions = Check::all(&model);
        questions.push(Check::Progress);
        assert_eq!(questions.len(), expected.len(), "{text}");
        for (question, expected) in questions.iter().zip(*expected) {
            let name = question.name(&model);
            for weakly_fair in [false, true] {
                let asking = CheckOptions { weakly_fair, ..CheckOptions::default() };
                let reference = question.check(&interpreter, &asking, &mut Silent).expect("small");
                assert_eq!(violated(&reference), *expected, "{name}, reference, {weakly_fair}: {text}");
            }
            for options in ways() {
                let found = answer(question, &model, &sources, &options, false, &mut Silent).expect("can be");
                assert_eq!(violated(&found.outcome), *expected, "{name}, {options:?}: {text}");
            }
        }
    }
}

/// All questions together, by both engines: what is shown is a run of the model of the question that it answers.
#[test]
fn the_cheapest_over_all_questions_is_a_run_of_its_own_model() {
    for (text, _) in CASES {
        let Loaded { model, sources, .. } = loaded(text);
        let model = model.expect(text);
        let interpreter = Interpreter::new(&model, &sources).expect("initial values have a meaning");
        let questions = Check::all(&model);
        let strategy = Portfolio {
            model: &model,
            sources: &sources,
            options: &SearchOptions { reduction: Reduction::Exact, ..SearchOptions::default() },
            weakly_fair: false,
            chooses_reduction: true,
            proofs_simplify: true,
            shortest: false,
            may_interpret: false,
        };
        let all = strategy.simplest(&questions, None, &mut Silent).expect("can be").expect("questions");
        let reference = check_all(&questions, &interpreter, &CheckOptions::default(), &mut Silent);
        let reference = reference.expect("small").expect("questions");
        let expected = (reference.shown, violated(&reference.outcome));
        assert_eq!((all.shown, violated(&all.report.outcome)), expected, "{text}");
        let verdicts = |properties: &[preempt_core::PropertyResult]| -> Vec<Verdict> {
            properties.iter().map(|it| it.verdict).collect()
        };
        assert_eq!(verdicts(&all.properties), verdicts(&reference.properties), "{text}");
        let every =
            strategy.all_violations(&questions, None, &mut Silent).expect("can be").expect("questions");
        assert_eq!(verdicts(&every.properties), verdicts(&reference.properties), "{text}");
        let own = questions[all.shown].model_of(&model);
        let interpreter = Interpreter::new(&own, &sources).expect("initial values have a meaning");
        if let Some(trace) = &all.report.outcome.counterexample {
            let steps = |trace: &Trace| trace.steps.len();
            let found = recognise(&interpreter, trace).expect("it is a run");
            let run = replay(&interpreter, &found.initial, &found.steps, false).expect("it is a run");
            assert_eq!(steps(&run.trace), steps(trace), "{text}");
        }
    }
}
