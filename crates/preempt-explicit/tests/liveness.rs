//! Runs without end against the reference engine, on random programs with random formulas and labels: the verdict by
//! each algorithm, fair and not; and the cost of the simplest run, within every bound.

use preempt_core::{Outcome, Silent, Span, Trace, Verdict};
use preempt_explicit::{
    CycleMethod, Order, Reduction, SearchOptions, answer, answers_of_others, decide_cycles, why_not_reduced,
};
use preempt_model::check::{Check, CheckOptions};
use preempt_model::generator::{formula_from_seed, program_from_seed};
use preempt_model::property::Formula;
use preempt_model::search::{self, RunCost};
use preempt_model::{Interpreter, Model};

fn programs(few: u64) -> u64 {
    std::env::var("PREEMPT_PROGRAMS").ok().and_then(|number| number.parse().ok()).unwrap_or(few)
}

/// Graphs with more nodes than this are left out: the reference is slow.
const LARGEST: u64 = 1000;

const REDUCTIONS: [Reduction; 3] = [Reduction::None, Reduction::Exact, Reduction::Strong];

/// Puts accept and progress labels on some of the locations.
fn label(model: &mut Model, seed: u64) {
    let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut one_in = |number: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random.is_multiple_of(number)
    };
    for location in model.codes.iter_mut().flat_map(|code| &mut code.locations) {
        location.accept = one_in(4);
        location.progress = one_in(6);
    }
}

/// What can be asked of a random program.
fn questions(model: &Model, seed: u64) -> Vec<Check> {
    let span = Span::new(preempt_core::SourceId(0), 0, 0);
    let formula = formula_from_seed(model, seed)
        .map(|formula| Check::Formula(Formula { name: "random".into(), formula, span }));
    formula.into_iter().chain([Check::Acceptance, Check::Progress]).collect()
}

/// What a run costs: for one without end, its stem and a second round of its loop, so that the switch that closes the
/// loop is counted even if there is no stem.
fn cost(interpreter: &Interpreter<'_>, trace: &Trace, fair_switch: bool) -> RunCost {
    let start = trace.loop_start.unwrap_or(trace.steps.len());
    let mut twice = trace.clone();
    twice.steps.extend_from_within(start..);
    let known = search::recognise(interpreter, &twice).expect("the run can be executed again");
    let run = search::replay(interpreter, &known.initial, &known.steps, fair_switch).expect("it replays");
    let mut once = run.trace;
    once.steps.drain(start..trace.steps.len());
    RunCost { preemptions: once.preemptions() as u32, steps: once.steps.len() as u64 }
}

fn shown(
    question: &Check,
    interpreter: &Interpreter<'_>,
    outcome: &Outcome,
    fair_switch: bool,
) -> (Verdict, Option<(RunCost, bool)>) {
    let own = question.model_of(interpreter.model());
    let interpreter = interpreter.of(&own).expect("initial values have a meaning");
    let of_run = |trace: &Trace| (cost(&interpreter, trace, fair_switch), trace.loop_start.is_some());
    (outcome.verdict, outcome.counterexample.as_ref().map(of_run))
}

#[test]
fn the_simplest_run_within_every_bound() {
    let (mut lassos, mut asked) = (0, 0);
    for seed in 0..programs(25) {
        let program = program_from_seed(seed);
        let (mut model, sources) = program.to_model();
        label(&mut model, seed);
        let interpreter = Interpreter::new(&model, &sources).expect("initial values have a meaning");
        let fair_switch = seed % 4 == 3;
        for question in questions(&model, seed) {
            for bound in [None, Some(0), Some(1), Some(2), Some(3), Some(4)] {
                let mut options =
                    search::ReferenceOptions { bound, fair_switch, ..search::ReferenceOptions::default() };
                options.limits.states = Some(LARGEST);
                let asking = CheckOptions { search: options, weakly_fair: false };
                let Ok(expected) = question.check(&interpreter, &asking, &mut Silent) else { break };
                if matches!(expected.verdict, Verdict::Inconclusive(_)) {
                    break;
                }
                let expected = shown(&question, &interpreter, &expected, fair_switch);
                for reduction in REDUCTIONS {
                    let options = SearchOptions { bound, fair_switch, reduction, ..SearchOptions::default() };
                    let found = answer(&question, &model, &sources, &options, false, &mut Silent)
                        .expect("a supported model");
                    let name = format!(
                        "seed {seed}, {question:?} within {bound:?}, {reduction:?}\n{}",
                        program.to_promela()
                    );
                    assert_eq!(
                        shown(&question, &interpreter, &found.outcome, fair_switch),
                        expected,
                        "{name}"
                    );
                    assert_eq!(found.simplest, expected.0 == Verdict::Violated, "{name}");
                }
                asked += 1;
                lassos += u64::from(expected.1.is_some_and(|(_, has_loop)| has_loop));
            }
        }
    }
    eprintln!("{asked} questions, {lassos} answered by a lasso");
    assert!(asked > 0 && lassos * 10 > asked, "{lassos} of {asked} are answered by a lasso");
}

#[test]
fn every_algorithm_and_reduction_fair_and_not() {
    let (mut violated, mut asked, mut smaller) = (0, 0, 0);
    for seed in 0..programs(25) {
        let program = program_from_seed(seed);
        let (mut model, sources) = program.to_model();
        label(&mut model, seed);
        let interpreter = Interpreter::new(&model, &sources).expect("initial values have a meaning");
        for question in questions(&model, seed) {
            for weakly_fair in [false, true] {
                let mut options = search::ReferenceOptions::default();
                options.limits.states = Some(LARGEST);
                let asking = CheckOptions { search: options, weakly_fair };
                let Ok(expected) = question.check_infinite(&interpreter, &asking, &mut Silent) else {
                    break;
                };
                if matches!(expected.verdict, Verdict::Inconclusive(_)) {
                    break;
                }
                let mut whole = 0;
                for reduction in REDUCTIONS {
                    for method in [CycleMethod::NestedDepthFirst, CycleMethod::Components] {
                        let how = (method, weakly_fair);
                        let options = SearchOptions { reduction, ..SearchOptions::default() };
                        let found = decide_cycles(&question, &model, &sources, &options, how, &mut Silent)
                            .expect("a supported model")
                            .expect("a question about cycles");
                        let name = format!(
                            "seed {seed}, {question:?}, {reduction:?}, {how:?}\n{}",
                            program.to_promela()
                        );
                        assert_eq!(found.outcome.verdict, expected.verdict, "{name}");
                        assert_eq!(found.outcome.violation, expected.violation, "{name}");
                        let states = found.outcome.stats.states;
                        if reduction == Reduction::None {
                            whole = states;
                        } else if expected.verdict == Verdict::Holds {
                            assert!(states <= whole, "{name}");
                            smaller += u64::from(states < whole);
                        }
                    }
                }
                if weakly_fair {
                    let found =
                        answer(&question, &model, &sources, &SearchOptions::default(), true, &mut Silent)
                            .expect("a supported model");
                    let finite = found.outcome.counterexample.is_some_and(|run| run.loop_start.is_none());
                    assert!(finite || found.outcome.verdict == expected.verdict, "seed {seed}, {question:?}");
                    assert!(finite || !found.simplest, "seed {seed}, {question:?}");
                }
                asked += 1;
                violated += u64::from(expected.verdict == Verdict::Violated);
            }
        }
    }
    eprintln!("{asked} questions, {violated} violated; {smaller} answers with fewer states");
    assert!(asked > 0 && violated * 10 > asked, "{violated} of {asked} are violated");
    assert!(smaller > 0, "no reduction ever left anything out");
}

fn loaded(text: &str) -> (Model, preempt_core::SourceMap) {
    let mut read = |_: &str| Err("there are no other files".to_string());
    let loaded = preempt_promela::load("seen.pml", text, &preempt_promela::Additions::default(), &mut read);
    (loaded.model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)), loaded.sources)
}

/// Every step of these processes is private, so whoever put them off although they are seen would find nothing: both at
/// the label at once, one that has counted when the other has not, a loop that passes a label.
#[test]
fn what_is_seen_is_not_put_off() {
    let processes = "active proctype P() { byte n; n = 1; middle: n = 2; n = 3 } \
                     active proctype Q() { byte n; n = 1; middle: n = 2; n = 3 }";
    let rounds = "active proctype P() { byte n; do :: n = 1; LABEL: n = 2; n = 0 od } \
                  active proctype Q() { byte n; do :: n = 1; n = 0 od }";
    let texts = [
        (format!("{processes} ltl {{ [] !(P@middle && Q@middle) }}"), false),
        (format!("{processes} ltl {{ [] (P:n == 3 || Q:n < 3) }}"), false),
        (format!("{processes} ltl {{ [] (P:n < 3 || Q:n == 3) }}"), false),
        (format!("{processes} ltl {{ <> (Q:n == 3) }}"), true),
        (rounds.replace("LABEL", "accept"), false),
        (rounds.replace("LABEL", "progress"), false),
        (processes.replace("middle", "progress"), true),
    ];
    for (text, holds) in texts {
        let (model, sources) = loaded(&text);
        let about_progress = text.contains("progress").then(|| vec![Check::Progress]);
        for question in about_progress.unwrap_or_else(|| Check::all(&model)) {
            let expected = match holds || question == Check::Safety {
                true => Verdict::Holds,
                false => Verdict::Violated,
            };
            for reduction in REDUCTIONS {
                let options = SearchOptions { reduction, order: Order::ByCost, ..SearchOptions::default() };
                if reduction == Reduction::Strong && question == Check::Safety {
                    continue;
                }
                let found =
                    answer(&question, &model, &sources, &options, false, &mut Silent).expect("supported");
                assert_eq!(found.outcome.verdict, expected, "{question:?}, {reduction:?}: {text}");
            }
        }
    }
}

/// A never claim and a formula with X are reduced only if the user vouches for them.
#[test]
fn who_may_count_steps_is_not_reduced() {
    let text = "byte x; active [2] proctype P() { byte n; n = 1; n = 2; n = 3; x++ } \
                ltl one { X (x == 0) } never two { do :: x > 2 -> break :: else od }";
    let (model, sources) = loaded(text);
    let questions: Vec<_> =
        Check::all(&model).into_iter().filter(|question| question.is_about_cycles()).collect();
    assert_eq!(questions.len(), 2);
    for question in questions {
        let run = |reduction, stutter_invariant| {
            let options = SearchOptions { reduction, stutter_invariant, ..SearchOptions::default() };
            let reason = why_not_reduced(&question, &options, false);
            let found = answer(&question, &model, &sources, &options, false, &mut Silent).expect("supported");
            assert_eq!(found.outcome.verdict, Verdict::Holds, "{question:?}");
            (reason.is_some(), found.outcome.stats.states)
        };
        let (_, whole) = run(Reduction::None, false);
        for reduction in [Reduction::Exact, Reduction::Strong] {
            assert_eq!(run(reduction, false), (true, whole), "{question:?}");
            let (refused, states) = run(reduction, true);
            assert!(!refused && states < whole, "{question:?}: {states} of {whole} states");
        }
        let fair = SearchOptions { stutter_invariant: true, ..SearchOptions::default() };
        assert!(why_not_reduced(&question, &fair, true).is_some());
    }
}

/// One preemption between link and tail, and the other enqueuer goes round for ever; with help nobody does.
#[test]
fn a_lock_in_a_lock_free_queue() {
    let answers = |text: &str, bound: Option<u32>| -> Vec<_> {
        let (model, sources) = loaded(text);
        let interpreter = Interpreter::new(&model, &sources).expect("initial values have a meaning");
        let mut questions = Check::all(&model);
        questions.retain(Check::is_about_cycles);
        questions.push(Check::Progress);
        let options = SearchOptions { bound, ..SearchOptions::default() };
        let run = |question: &Check| {
            let found = answer(question, &model, &sources, &options, false, &mut Silent).expect("supported");
            shown(question, &interpreter, &found.outcome, false)
        };
        questions.iter().map(run).collect()
    };
    let unhelpful = include_str!("../../../models/promela/ms_queue_unhelpful.pml");
    let helpful = include_str!("../../../models/promela/ms_queue_helpful.pml");
    let lasso = (Verdict::Violated, Some((RunCost { preemptions: 1, steps: 6 }, true)));
    assert_eq!(answers(unhelpful, None), [lasso, lasso]);
    assert_eq!(answers(unhelpful, Some(1)), [lasso, lasso]);
    assert_eq!(answers(unhelpful, Some(0)), [(Verdict::Holds, None); 2]);
    assert_eq!(answers(helpful, None), [(Verdict::Holds, None); 2]);
}

/// Everything that the sample models say about runs without end: the same verdict and the same cost as the reference's,
/// with each reduction.
#[test]
fn the_sample_models() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/promela");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("there are sample models")
        .map(|entry| entry.expect("the folder can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "pml"))
        .collect();
    files.sort();
    let (mut asked, mut lassos, mut whole, mut reduced) = (0, 0, 0, 0);
    for file in files {
        let (model, sources) = loaded(&std::fs::read_to_string(&file).expect("the model can be read"));
        let interpreter = Interpreter::new(&model, &sources).expect("initial values have a meaning");
        for question in Check::all(&model).into_iter().filter(Check::is_about_cycles) {
            let mut options = search::ReferenceOptions::default();
            options.limits.states = Some(5000);
            let asking = CheckOptions { search: options, weakly_fair: false };
            let Ok(expected) = question.check(&interpreter, &asking, &mut Silent) else { continue };
            if matches!(expected.verdict, Verdict::Inconclusive(_)) {
                continue;
            }
            let expected = shown(&question, &interpreter, &expected, false);
            asked += 1;
            lassos += u64::from(expected.1.is_some_and(|(_, has_loop)| has_loop));
            for reduction in REDUCTIONS {
                let options = SearchOptions { reduction, ..SearchOptions::default() };
                let found =
                    answer(&question, &model, &sources, &options, false, &mut Silent).expect("supported");
                let name = format!("{}, {}, {reduction:?}", file.display(), question.name(&model));
                assert_eq!(shown(&question, &interpreter, &found.outcome, false), expected, "{name}");
                match reduction {
                    _ if expected.0 == Verdict::Violated => {}
                    Reduction::None => whole += found.outcome.stats.states,
                    Reduction::Strong => reduced += found.outcome.stats.states,
                    Reduction::Exact => {}
                }
            }
        }
    }
    eprintln!("{asked} questions, {lassos} lassos; {reduced} of {whole} states where it holds");
    assert!(lassos > 5 && reduced < whole, "{asked} questions, {lassos} lassos, {reduced} of {whole} states");
}

/// Whoever finds out: the same verdict, the same run, and where there is none the same numbers. And it is not always the first
/// thread that does.
#[test]
fn several_threads_answer_as_one() {
    let (mut violated, mut asked) = (0, 0);
    let by_others = answers_of_others();
    for seed in 0..programs(60) {
        let program = program_from_seed(7_000_000 + seed);
        let (mut model, sources) = program.to_model();
        label(&mut model, seed);
        for question in questions(&model, seed) {
            for reduction in [Reduction::None, Reduction::Strong] {
                let decided = |threads, in_order_first| {
                    let mut options = SearchOptions { reduction, threads, ..SearchOptions::default() };
                    options.in_order_first = in_order_first;
                    options.limits.states = Some(20_000);
                    let how = (CycleMethod::NestedDepthFirst, false);
                    let found = decide_cycles(&question, &model, &sources, &options, how, &mut Silent);
                    found.expect("a supported model").expect("about cycles").outcome
                };
                let expected = decided(1, 0);
                if matches!(expected.verdict, Verdict::Inconclusive(_)) {
                    continue;
                }
                let holds = expected.verdict == Verdict::Holds;
                for (threads, first) in [(2, 0), (3, 0), (2, 20)] {
                    let found = decided(threads, first);
                    let name = format!("seed {seed}, {question:?}, {threads}\n{}", program.to_promela());
                    assert_eq!(found.verdict, expected.verdict, "{name}");
                    assert_eq!(found.counterexample, expected.counterexample, "{name}");
                    let numbers = |outcome: &Outcome| (outcome.stats.states, outcome.stats.transitions);
                    if holds {
                        assert_eq!(numbers(&found), numbers(&expected), "{name}");
                    }
                }
                asked += 1;
                violated += u64::from(!holds);
            }
        }
    }
    assert!(violated * 10 > asked && violated * 10 < asked * 9, "{violated} of {asked} are violated");
    assert!(answers_of_others() > by_others, "one thread has met every state");
}
