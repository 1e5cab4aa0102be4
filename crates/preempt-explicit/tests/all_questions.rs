//! Several questions at once, on random programs with random formulas and labels: the cheapest violation over all of them,
//! and the list of those that fail, are what the reference engine finds when it is asked one by one.

use preempt_core::{Answered, Promise, Silent, Span, Trace, Verdict};
use preempt_explicit::{Options, Reduction, Source, Strategy};
use preempt_model::all_questions::answer_all;
use preempt_model::generator::{formula_from_seed, program_from_seed};
use preempt_model::property::Formula;
use preempt_model::question::{Asking, Question};
use preempt_model::search::{self, RunCost, cost_of_run};
use preempt_model::{Interpreter, Model};

fn programs(few: u64) -> u64 {
    std::env::var("PREEMPT_PROGRAMS").ok().and_then(|number| number.parse().ok()).unwrap_or(few)
}

/// Graphs with more nodes than this are left out: the reference is slow.
const LARGEST: u64 = 1000;

fn questions(model: &mut Model, seed: u64) -> Vec<Question> {
    for (number, location) in model.codes.iter_mut().flat_map(|code| &mut code.locations).enumerate() {
        location.accept = (number as u64 + seed).is_multiple_of(5);
    }
    let span = Span::new(preempt_core::SourceId(0), 0, 0);
    let formula = |seed: u64| {
        let formula = formula_from_seed(model, seed)?;
        Some(Question::Formula(Formula { name: format!("f{seed}"), formula, span }))
    };
    let formulas = [formula(seed), formula(seed + 1_000_000)];
    let mut questions = vec![Question::Safety, Question::Acceptance];
    questions.extend(formulas.into_iter().flatten());
    // Any order: of two that cost the same, the first is shown.
    questions.rotate_left(seed as usize % 4);
    questions
}

/// The cheapest violation, asked one by one: finite runs and runs without end apart.
fn cheapest(
    question: &Question,
    interpreter: &Interpreter<'_>,
    options: &search::Options,
) -> Option<Option<RunCost>> {
    let asking = Asking { options: options.clone(), weakly_fair: false };
    let of_run = |trace: &Trace| cost_of_run(interpreter, trace, options.fair_switch);
    let answer = question.answer_at_its_cheapest(interpreter, &asking, &mut Silent).ok()?;
    let mut costs: Vec<RunCost> = answer.outcome.counterexample.as_ref().map(of_run).into_iter().collect();
    if matches!(answer.outcome.verdict, Verdict::Inconclusive(_)) {
        return None;
    }
    if question.is_about_cycles() {
        let infinite = question.answer_infinite(interpreter, &asking, &mut Silent).ok()?;
        if matches!(infinite.verdict, Verdict::Inconclusive(_)) {
            return None;
        }
        costs.extend(infinite.counterexample.as_ref().map(of_run));
    }
    Some(costs.into_iter().min())
}

fn failing(properties: &[Answered]) -> Vec<&str> {
    properties.iter().filter(|it| it.verdict == Verdict::Violated).map(|it| it.name.as_str()).collect()
}

#[test]
fn the_cheapest_over_all_questions_is_shown() {
    let (mut asked, mut violated, mut not_the_first, mut several) = (0, 0, 0, 0);
    for seed in 0..programs(40) {
        let program = program_from_seed(seed);
        let (mut model, sources) = program.to_model();
        let questions = questions(&mut model, seed);
        let interpreter = Interpreter::new(&model, &sources).expect("initial values have a meaning");
        let fair_switch = seed % 5 == 4;
        for bound in [None, Some(seed as u32 % 3)] {
            let mut plain = search::Options { bound, fair_switch, ..search::Options::default() };
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
            let name = |what: &str| format!("seed {seed}, {what}, within {bound:?}\n{}", program.to_promela());
            let asking = Asking { options: plain, weakly_fair: false };
            let reference = answer_all(&questions, &interpreter, &asking, &mut Silent)
                .expect("small formulas")
                .expect("there are questions");
            let of_run = |trace: &Trace| cost_of_run(&interpreter, trace, fair_switch);
            let shown = reference.outcome.counterexample.as_ref().map(|run| (of_run(run), reference.shown));
            assert_eq!(shown, expected, "{}", name("reference"));
            assert_eq!(failing(&reference.properties), fails, "{}", name("reference"));
            for (reduction, successors) in
                [(Reduction::None, Source::Native), (Reduction::Exact, Source::Native), (Reduction::None, Source::Interpreted)]
            {
                let name = name(&format!("{reduction:?}, {successors:?}"));
                let options = Options { bound, fair_switch, reduction, successors, ..Options::default() };
                let strategy = Strategy {
                    model: &model,
                    sources: &sources,
                    options: &options,
                    weakly_fair: false,
                    chooses_reduction: reduction == Reduction::Exact,
                    proofs_use_statics: false,
                    shortest: false,
                    may_interpret: false,
                };
                let answers = strategy
                    .simplest(&questions, None, &mut Silent)
                    .expect("a supported model")
                    .expect("there are questions");
                let outcome = &answers.report.outcome;
                let shown = outcome.counterexample.as_ref().map(|run| (of_run(run), answers.shown));
                assert_eq!(shown, expected, "{name}");
                assert_eq!(failing(&answers.properties), fails, "{name}");
                let verdict = if expected.is_some() { Verdict::Violated } else { Verdict::Holds };
                assert_eq!(outcome.verdict, verdict, "{name}");
                assert_eq!(answers.promise == Promise::Simplest, expected.is_some(), "{name}");
                if reduction == Reduction::None {
                    let all = strategy
                        .all_violations(&questions, None, &mut Silent)
                        .expect("a supported model")
                        .expect("there are questions");
                    assert_eq!(failing(&all.properties), fails, "{name}");
                    let first = all.report.errors.first().map(|error| of_run(&error.trace));
                    assert_eq!(first, expected.map(|(cost, _)| cost), "{name}");
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
