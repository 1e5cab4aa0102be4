//! Several questions at once, on random programs with random formulas and labels: the cheapest violation over all of them,
//! and the list of those that fail, are what the reference engine finds when it is asked one by one.

use preempt_core::{
    Limits, Minimality, PropertyKind, PropertyResult, Silent, Span, StopReason, Trace, TraceCost, Verdict,
};
use preempt_explicit::{Answers, Portfolio, Reduction, SearchOptions, SuccessorSource};
use preempt_model::check::{Check, CheckOptions};
use preempt_model::check_all::check_all;
use preempt_model::generator::{formula_from_seed, program_from_seed};
use preempt_model::property::Formula;
use preempt_model::search::{self, RunCost, cost_of_run};
use preempt_model::{Interpreter, Model};

fn programs(few: u64) -> u64 {
    std::env::var("PREEMPT_PROGRAMS").ok().and_then(|number| number.parse().ok()).unwrap_or(few)
}

/// Graphs with more nodes than this are left out: the reference is slow.
const LARGEST: u64 = 1000;

fn questions(model: &mut Model, seed: u64) -> Vec<Check> {
    for (number, location) in model.codes.iter_mut().flat_map(|code| &mut code.locations).enumerate() {
        location.accept = (number as u64 + seed).is_multiple_of(5);
    }
    let span = Span::new(preempt_core::SourceId(0), 0, 0);
    let formula = |seed: u64| {
        let formula = formula_from_seed(model, seed)?;
        Some(Check::Formula(Formula { name: format!("f{seed}"), formula, span }))
    };
    let formulas = [formula(seed), formula(seed + 1_000_000)];
    let mut questions = vec![Check::Safety, Check::Acceptance];
    questions.extend(formulas.into_iter().flatten());
    // Any order: of two that cost the same, the first is shown.
    questions.rotate_left(seed as usize % 4);
    questions
}

/// What a run that violates the question costs.
fn cost_of(question: &Check, interpreter: &Interpreter<'_>, trace: &Trace, fair_switch: bool) -> RunCost {
    let own = question.model_of(interpreter.model());
    let interpreter = interpreter.of(&own).expect("initial values have a meaning");
    cost_of_run(&interpreter, trace, fair_switch)
}

/// The cheapest violation, asked one by one: finite runs and runs without end apart.
fn cheapest(
    question: &Check,
    interpreter: &Interpreter<'_>,
    options: &search::ReferenceOptions,
) -> Option<Option<RunCost>> {
    let asking = CheckOptions { search: options.clone(), weakly_fair: false };
    let of_run = |trace: &Trace| cost_of(question, interpreter, trace, options.fair_switch);
    let answer = question.check_cheapest(interpreter, &asking, &mut Silent).ok()?;
    let mut costs: Vec<RunCost> = answer.outcome.counterexample.as_ref().map(of_run).into_iter().collect();
    if matches!(answer.outcome.verdict, Verdict::Inconclusive(_)) {
        return None;
    }
    if question.is_about_cycles() {
        let infinite = question.check_infinite(interpreter, &asking, &mut Silent).ok()?;
        if matches!(infinite.verdict, Verdict::Inconclusive(_)) {
            return None;
        }
        costs.extend(infinite.counterexample.as_ref().map(of_run));
    }
    Some(costs.into_iter().min())
}

fn failing(properties: &[PropertyResult]) -> Vec<&str> {
    properties.iter().filter(|it| it.verdict == Verdict::Violated).map(|it| it.name.as_str()).collect()
}

#[test]
fn the_cheapest_over_all_questions_is_shown() {
    let (mut asked, mut violated, mut not_the_first, mut several) = (0, 0, 0, 0);
    for seed in 0..programs(25) {
        let program = program_from_seed(seed);
        let (mut model, sources) = program.to_model();
        let questions = questions(&mut model, seed);
        let interpreter = Interpreter::new(&model, &sources).expect("initial values have a meaning");
        let fair_switch = seed % 5 == 4;
        for bound in [None, Some(seed as u32 % 3)] {
            let mut plain =
                search::ReferenceOptions { bound, fair_switch, ..search::ReferenceOptions::default() };
            plain.limits.states = Some(LARGEST);
            let one_by_one: Option<Vec<Option<RunCost>>> =
                questions.iter().map(|question| cheapest(question, &interpreter, &plain)).collect();
            let Some(one_by_one) = one_by_one else { break };
            let costs = one_by_one.iter().enumerate();
            let expected = costs.filter_map(|(number, cost)| Some(((*cost)?, number))).min();
            let fails: Vec<String> = questions
                .iter()
                .zip(&one_by_one)
                .filter(|(_, cost)| cost.is_some())
                .map(|(question, _)| question.name(&model))
                .collect();
            let name =
                |what: &str| format!("seed {seed}, {what}, within {bound:?}\n{}", program.to_promela());
            // Each is small enough, as was seen.
            let options = search::ReferenceOptions { limits: Limits::default(), ..plain };
            let asking = CheckOptions { search: options, weakly_fair: false };
            let reference = check_all(&questions, &interpreter, &asking, &mut Silent)
                .expect("small formulas")
                .expect("there are questions");
            let of_run = |number: usize, trace: &Trace| {
                (cost_of(&questions[number], &interpreter, trace, fair_switch), number)
            };
            let run = reference.outcome.counterexample.as_ref();
            let shown = run.map(|run| of_run(reference.shown, run));
            assert_eq!(shown, expected, "{}", name("reference"));
            assert_eq!(failing(&reference.properties), fails, "{}", name("reference"));
            for (reduction, successors) in [
                (Reduction::None, SuccessorSource::Native),
                (Reduction::Exact, SuccessorSource::Native),
                (Reduction::None, SuccessorSource::Interpreted),
            ] {
                let name = name(&format!("{reduction:?}, {successors:?}"));
                let options =
                    SearchOptions { bound, fair_switch, reduction, successors, ..SearchOptions::default() };
                let strategy = Portfolio {
                    model: &model,
                    sources: &sources,
                    options: &options,
                    weakly_fair: false,
                    chooses_reduction: reduction == Reduction::Exact,
                    proofs_simplify: false,
                    shortest: false,
                    may_interpret: false,
                };
                let answers = strategy
                    .simplest(&questions, None, &mut Silent)
                    .expect("a supported model")
                    .expect("there are questions");
                let outcome = &answers.report.outcome;
                let shown = outcome.counterexample.as_ref().map(|run| of_run(answers.shown, run));
                assert_eq!(shown, expected, "{name}");
                assert_eq!(failing(&answers.properties), fails, "{name}");
                for (property, cost) in answers.properties.iter().zip(&one_by_one) {
                    let steps = property.cost.map(|cost| cost.steps as u64);
                    assert_eq!(steps, cost.map(|cost| cost.steps), "{name}: {}", property.name);
                }
                let verdict = if expected.is_some() { Verdict::Violated } else { Verdict::Holds };
                assert_eq!(outcome.verdict, verdict, "{name}");
                assert_eq!(answers.minimality == Minimality::Simplest, expected.is_some(), "{name}");
                if reduction == Reduction::None {
                    let all = strategy
                        .all_violations(&questions, None, &mut Silent)
                        .expect("a supported model")
                        .expect("there are questions");
                    assert_eq!(failing(&all.properties), fails, "{name}");
                    let first = all.report.errors.first().map(|error| of_run(all.shown, &error.trace));
                    assert_eq!(first, expected, "{name}");
                }
            }
            asked += 1;
            violated += u64::from(expected.is_some());
            not_the_first += u64::from(expected.is_some_and(|(_, number)| number > 0));
            several += u64::from(fails.len() > 1);
        }
    }
    eprintln!("{asked} asked, {violated} violated, {not_the_first} not by the first, {several} by several");
    assert!(violated * 4 > asked && not_the_first * 10 > asked && several * 10 > asked);
}

fn loaded(text: &str) -> (Model, preempt_core::SourceMap) {
    let mut read = |_: &str| Err("there are no other files".to_string());
    let loaded = preempt_promela::load("m.pml", text, &preempt_promela::Additions::default(), &mut read);
    (loaded.model.expect("a model"), loaded.sources)
}

fn asked_in_full(
    text: &str,
    options: &SearchOptions,
    weakly_fair: bool,
) -> (Answers, Vec<(String, RunCost)>) {
    let (model, sources) = loaded(text);
    let questions = Check::all(&model);
    let strategy = Portfolio {
        model: &model,
        sources: &sources,
        options,
        weakly_fair,
        chooses_reduction: true,
        proofs_simplify: true,
        shortest: false,
        may_interpret: false,
    };
    let answers = strategy.simplest(&questions, None, &mut Silent).expect("supported").expect("questions");
    let whole = SearchOptions { reduction: Reduction::None, ..options.clone() };
    let all = Portfolio { options: &whole, ..strategy };
    let all = all.all_violations(&questions, None, &mut Silent).expect("supported").expect("questions");
    let interpreter = Interpreter::new(&model, &sources).expect("initial values have a meaning");
    let of_run = |trace: &Trace| cost_of_run(&interpreter, trace, false);
    let errors = all.report.errors.iter().map(|it| (it.property.name.clone(), of_run(&it.trace))).collect();
    (answers, errors)
}

fn cost(preemptions: u32, steps: u64) -> RunCost {
    RunCost { preemptions, steps }
}

/// `--reduction auto`.
fn automatic() -> SearchOptions {
    SearchOptions { reduction: Reduction::Exact, ..SearchOptions::default() }
}

#[test]
fn a_formula_that_fails_sooner_is_shown_before_an_assertion() {
    let text = "byte x; active proctype A() { x = 1; x = 2; x = 3; assert(x != 3) } ltl p { [] (x < 1) }";
    let (answers, all) = asked_in_full(text, &automatic(), false);
    assert_eq!((answers.shown, answers.minimality), (1, Minimality::Simplest));
    assert_eq!(failing(&answers.properties), ["safety", "ltl p"]);
    let steps: Vec<_> = answers.properties.iter().map(|it| it.cost.map(|cost| cost.steps)).collect();
    assert_eq!(steps, [Some(4), Some(1)]);
    assert_eq!(all, [("p".to_string(), cost(0, 1)), ("assert(x != 3)".to_string(), cost(0, 4))]);
}

#[test]
fn a_run_without_end_may_cost_less_than_a_finite_one() {
    let text = "byte x; active proctype A() { do :: x = 0 od } active proctype B() { x = 1; x = 1; x = 2 } \
                ltl p { [] (x < 2) && <> (x == 1) }";
    let (answers, all) = asked_in_full(text, &automatic(), false);
    let run = answers.report.outcome.counterexample.expect("a run");
    assert_eq!((run.loop_start.is_some(), answers.minimality), (true, Minimality::Simplest));
    assert!(run.steps.len() < 3 && all.len() == 1 && all[0].1 < cost(0, 3), "{all:?}");
    // A fair run without end has no cost: the finite run is shown.
    let (answers, _) = asked_in_full(text, &automatic(), true);
    let run = answers.report.outcome.counterexample.expect("a run");
    assert_eq!((run.loop_start, run.steps.len()), (None, 3));
}

#[test]
fn claims_traces_and_labels_are_asked_too() {
    let text = "chan c = [1] of { byte }; byte x; active proctype A() { c!1; x = 1; accept: do :: x = 2 od } \
                active proctype B() { c?x; x = 3; assert(x == 0) } \
                never { do :: assert(x < 2) od } trace { c!2 }";
    let (answers, all) = asked_in_full(text, &automatic(), false);
    assert_eq!(answers.report.outcome.violation.map(|it| it.kind), Some(PropertyKind::TraceAssertion));
    assert_eq!(failing(&answers.properties).len(), 4);
    let costs: Vec<RunCost> = all.iter().map(|(_, cost)| *cost).collect();
    assert_eq!(costs, [cost(0, 1), cost(0, 3), cost(0, 4), cost(1, 4)], "{all:?}");
}

#[test]
fn a_near_violation_is_not_kept_waiting_by_a_large_search() {
    // Five counters that all look at each other: more states than anybody visits. The formula fails soon, and then nothing
    // cheaper can be elsewhere.
    let count = |name: &str| format!("active proctype {name}() {{ do :: {name}_++; m = m + {name}_ od }} ");
    let counters: String = ["a", "b", "c", "d", "e"].map(count).concat();
    let text = format!("byte m, a_, b_, c_, d_, e_; {counters} ltl p {{ [] (b_ < 2) }}");
    let (model, sources) = loaded(&text);
    let limits = Limits { states: Some(110_000), ..Limits::default() };
    let options = SearchOptions { limits, ..automatic() };
    let strategy = Portfolio {
        model: &model,
        sources: &sources,
        options: &options,
        weakly_fair: false,
        chooses_reduction: true,
        proofs_simplify: true,
        shortest: false,
        may_interpret: false,
    };
    let answers =
        strategy.simplest(&Check::all(&model), None, &mut Silent).expect("supported").expect("questions");
    assert_eq!((answers.shown, answers.minimality), (1, Minimality::Simplest));
    assert_eq!(answers.properties[1].cost, Some(TraceCost { preemptions: 0, steps: 3 }));
    assert_eq!(answers.properties[0].verdict, Verdict::Inconclusive(StopReason::States));
}
