//! Observers in machine code find what the reference finds: the same verdict and the same cost of the simplest
//! violation, within every bound.

use preempt_core::{Outcome, Silent, Span, Verdict};
use preempt_explicit::{SearchOptions, SuccessorSource, answer};
use preempt_model::Interpreter;
use preempt_model::check::{Check, CheckOptions};
use preempt_model::generator::{formula_from_seed, program_from_seed};
use preempt_model::property::Formula;
use preempt_model::search;

fn programs(few: u64) -> u64 {
    std::env::var("PREEMPT_PROGRAMS").ok().and_then(|number| number.parse().ok()).unwrap_or(few)
}

/// Runs without end are compared in `liveness.rs`: the switch that closes a loop need not be seen in it.
fn shown(outcome: &Outcome) -> (Verdict, Option<(Option<usize>, usize)>) {
    let cost = |trace: &preempt_core::Trace| {
        (trace.loop_start.is_none().then(|| trace.preemptions()), trace.steps.len())
    };
    (outcome.verdict, outcome.counterexample.as_ref().map(cost))
}

#[test]
fn random_formulas_on_random_programs() {
    let (mut violated, mut asked) = (0, 0);
    for seed in 0..programs(50) {
        let program = program_from_seed(seed);
        let (model, sources) = program.to_model();
        let interpreter = Interpreter::new(&model, &sources).expect("initial values have a meaning");
        let Some(formula) = formula_from_seed(&model, seed) else { continue };
        let span = Span::new(preempt_core::SourceId(0), 0, 0);
        let question = Check::Formula(Formula { name: "random".into(), formula, span });
        for bound in [None, Some(0), Some(1)] {
            let mut options = search::ReferenceOptions { bound, ..search::ReferenceOptions::default() };
            options.limits.states = Some(1000);
            let asking = CheckOptions { search: options, weakly_fair: false };
            let Ok(expected) = question.check(&interpreter, &asking, &mut Silent) else { break };
            if matches!(expected.verdict, Verdict::Inconclusive(_)) {
                break;
            }
            let in_order = SearchOptions { bound, ..SearchOptions::default() };
            let interpreted = SearchOptions { successors: SuccessorSource::Interpreted, ..in_order.clone() };
            let by_level = |threads| SearchOptions { in_order_first: 0, threads, ..in_order.clone() };
            for options in [interpreted, by_level(1), by_level(2), in_order.clone()] {
                let SearchOptions { successors, threads, .. } = options;
                let found = answer(&question, &model, &sources, &options, false, &mut Silent)
                    .expect("a supported model");
                let how = format!("{successors:?}, within {bound:?}, {threads} threads");
                let name = format!("seed {seed}, {how}\n{}", program.to_promela());
                assert_eq!(shown(&found.outcome), shown(&expected), "{name}");
            }
            asked += 1;
            violated += u64::from(expected.verdict == Verdict::Violated);
        }
    }
    assert!(asked > 0 && violated * 10 > asked, "{violated} of {asked} are violated");
}

#[test]
fn claims_with_assertions_choices_and_ends() {
    let texts = [
        "never { do :: x > 2 -> break :: else od }",
        "never { T0: if :: (x == 1 && y == 0) -> goto T1 :: true -> goto T0 fi; T1: if :: y == 2 -> skip :: true -> \
         goto T1 fi }",
        "never { do :: atomic { x == 2 -> assert(y < 2) } :: x != 2 od }",
        "never { do :: assert(x + y < 4) od }",
        "never { accept: do :: y == 0 od }",
        "never { do :: 4 / (2 - x) > 0 od }",
        "never { do :: P[0]@middle && y == 1 -> break :: else od }",
    ];
    for (number, text) in texts.iter().enumerate() {
        let model_text = format!(
            "byte x, y; active proctype P() {{ do :: x < 3 -> x++; middle: skip :: x > 0 -> x-- od }} \
             active proctype Q() {{ do :: y < 2 -> atomic {{ y++; x > 0 -> x-- }} :: y > 0 -> y-- od }} {text}"
        );
        let mut read = |_: &str| Err("there are no other files".to_string());
        let loaded = preempt_promela::load(
            "claim.pml",
            &model_text,
            &preempt_promela::Additions::default(),
            &mut read,
        );
        let model = loaded.model.unwrap_or_else(|| panic!("{number}: {:?}", loaded.diagnostics));
        let interpreter = Interpreter::new(&model, &loaded.sources).expect("initial values have a meaning");
        let question = Check::Claim(0);
        for bound in [None, Some(0), Some(1)] {
            let options = search::ReferenceOptions { bound, ..search::ReferenceOptions::default() };
            let asking = CheckOptions { search: options, weakly_fair: false };
            let expected = question.check(&interpreter, &asking, &mut Silent).expect("a small claim");
            let in_order = SearchOptions { bound, ..SearchOptions::default() };
            let interpreted = SearchOptions { successors: SuccessorSource::Interpreted, ..in_order.clone() };
            let by_level = |threads| SearchOptions { in_order_first: 0, threads, ..in_order.clone() };
            for options in [interpreted, by_level(1), by_level(2), in_order.clone()] {
                let SearchOptions { successors, threads, .. } = options;
                let found = answer(&question, &model, &loaded.sources, &options, false, &mut Silent)
                    .expect("a supported model");
                assert_eq!(
                    shown(&found.outcome),
                    shown(&expected),
                    "claim {number}, {successors:?}, {threads}, {bound:?}"
                );
                assert_eq!(
                    found.outcome.violation, expected.violation,
                    "claim {number}, {successors:?}, {threads}, {bound:?}"
                );
            }
        }
    }
}
