//! `preempt check`: the simplest run that breaks the model.

use super::again::{self, Found};
use super::explicit;
use super::model::{Ready, prepared};
use super::net;
use super::outcome::{Delivery, info, json, options, outputs, present};
use super::partial;
use super::symbolic;
use super::trail;
use crate::ExitStatus;
use crate::args::CheckArgs;
use crate::backend::{Check, CheckOptions, Model, SearchOptions, check_all};
use crate::console::Failure;
use crate::files::could_be_written;
use crate::input;
use crate::job;
use crate::plan::{Engine, Input};
use crate::progress::Watch;
use preempt_core::diagnostic::nearest;
use preempt_core::{Outcome, Progress, Property, PropertyKind, PropertyResult, Trace};
use preempt_report::TextOptions;

pub fn run(args: &CheckArgs) -> Result<ExitStatus, Failure> {
    could_be_written(outputs(args), &[&args.model.file])?;
    let source = input::read(&args.model)?;
    trail::refuse_elsewhere(args, source.input)?;
    let engine = match args.search.engine {
        None | Some(Engine::Auto) if source.input != Input::Net && source.input != Input::Pnml => {
            symbolic::default_engine(args, source.input)
        }
        wanted => source.input.engine(wanted),
    };
    if engine == Engine::Symbolic {
        return symbolic::check(args, source);
    }
    symbolic::refuse_elsewhere(&args.symbolic)?;
    if matches!(source.input, Input::Net | Input::Pnml) {
        return net::check(args, source, engine);
    }
    let input = source.input;
    explicit::refuse_options_of_nets(args)?;
    let formula = args.ltl.as_deref();
    let Some(ready) = prepared(&args.model, source, engine, formula, args.output.color)? else {
        return Ok(ExitStatus::Input);
    };
    let ready = ready.without_procedures()?;
    let settings = explicit::check_options(args)?;
    if engine != Engine::Explicit {
        explicit::refuse_elsewhere(&args.search, Some(args))?;
    }
    job::current().about(info(&ready.file, engine, &args.search, None, Some(args.weak_fairness)));
    let questions = questions(args, &ready.model)?;
    explicit::refuse_checkpoints(&args.search, &questions)?;
    partial::refuse_beyond_safety(&args.search, &questions)?;
    let Shown { outcome, promise, properties, number, all } =
        answer(&ready, engine, args, &questions, &settings)?;
    if let (Input::Boolean, Some(fault)) = (input, &outcome.violation)
        && fault.kind == PropertyKind::RuntimeError
    {
        // A Boolean program may start any number of threads: that an engine cannot is no mistake in it.
        return Err(Failure::new(format!(
            "`{}` cannot be explored state by state: {}",
            ready.file, fault.name
        )));
    }
    let text = TextOptions {
        full: args.full,
        promise,
        again: outcome.counterexample.as_ref().and_then(|trace| {
            let closing =
                again::closing_preemption(&ready, &questions[number], trace, args.search.fair_switch);
            again::command(args, input, Found::Run { engine, trace, closing })
        }),
        properties,
        shown: number,
        all,
        ..TextOptions::default()
    };
    let used = (engine == Engine::Explicit).then_some(&settings);
    let info = info(&ready.file, engine, &args.search, used, Some(args.weak_fairness));
    let json = json(&info, &outcome, &text);
    let mut delivery = Delivery::of(present(&info, &outcome, &args.output, text), outcome.verdict);
    if let (Some(path), Some(_)) = (&args.trace, &outcome.counterexample) {
        delivery.file(path, json);
    }
    trail::write(args, &ready, &questions[number], &outcome, &mut delivery)?;
    Ok(delivery.deliver())
}

/// What is asked: everything the model says about itself, or what the arguments name.
fn questions(args: &CheckArgs, model: &Model) -> Result<Vec<Check>, Failure> {
    if args.weak_fairness && args.search.bound.is_some() {
        return Err(Failure::new("--weak-fairness and --bound do not go together")
            .hint("a fair run may need any number of preemptions: ask one of the two"));
    }
    let all = Check::all(model);
    if args.non_progress {
        return Ok(vec![Check::Progress]);
    }
    if args.ltl.is_some() {
        // It was added behind the model's own formulas.
        return Ok(all
            .into_iter()
            .rfind(|question| matches!(question, Check::Formula(_)))
            .into_iter()
            .collect());
    }
    let Some(wanted) = &args.property else { return Ok(all) };
    let names = |question: &Check| -> Vec<String> {
        match question {
            Check::Formula(formula) => vec![formula.name.clone()],
            Check::Claim(number) => vec![model.claims[*number].name.clone(), "never".into()],
            Check::Safety => vec!["safety".into()],
            Check::Trace => vec!["trace".into()],
            Check::Acceptance => vec!["acceptance".into()],
            Check::Progress => vec!["progress".into()],
        }
    };
    let chosen: Vec<Check> =
        all.iter().filter(|question| names(question).contains(wanted)).cloned().collect();
    if chosen.is_empty() {
        let known: Vec<String> = all.iter().flat_map(names).collect();
        let failure = Failure::new(format!("the model has no property `{wanted}`"));
        return Err(match nearest(wanted, known.iter().map(String::as_str)) {
            Some(near) => failure.hint(format!("did you mean `{near}`?")),
            None => failure.hint(format!("it has: {}", known.join(", "))),
        });
    }
    Ok(chosen)
}

/// What was asked, and what is to be shown.
struct Shown {
    outcome: Outcome,
    promise: Option<&'static str>,
    /// What became of each question.
    properties: Vec<PropertyResult>,
    /// To which of them the outcome belongs.
    number: usize,
    /// Every violation, where all were asked for.
    all: Vec<(Property, Trace)>,
}

/// Asks all the questions together.
fn answer(
    ready: &Ready,
    engine: Engine,
    args: &CheckArgs,
    questions: &[Check],
    settings: &SearchOptions,
) -> Result<Shown, Failure> {
    let mut watch = Watch::start();
    let shown = match engine {
        Engine::Explicit => explicit::answers(ready, questions, settings, args, &mut watch).map(|answers| {
            answers.map(|answers| Shown {
                outcome: answers.report.outcome,
                promise: explicit::promised(answers.minimality, settings),
                properties: answers.properties,
                number: answers.shown,
                all: match args.all_errors {
                    true => answers.report.errors.into_iter().map(|it| (it.property, it.trace)).collect(),
                    false => Vec::new(),
                },
            })
        }),
        _ => by_reference(ready, args, questions, settings, &mut watch),
    };
    watch.finish();
    shown?.ok_or_else(|| Failure::new("there is nothing to check"))
}

fn by_reference(
    ready: &Ready,
    args: &CheckArgs,
    questions: &[Check],
    settings: &SearchOptions,
    progress: &mut dyn Progress,
) -> Result<Option<Shown>, Failure> {
    let asking = CheckOptions { options: options(&args.search), weakly_fair: args.weak_fairness };
    let answers = check_all(questions, &ready.interpreter()?, &asking, progress)
        .map_err(|(name, error)| Failure::new(format!("{name}: {error}")))?;
    Ok(answers.map(|answers| Shown {
        outcome: answers.outcome,
        promise: explicit::promised(answers.minimality, settings),
        properties: answers.properties,
        number: answers.shown,
        all: Vec::new(),
    }))
}
