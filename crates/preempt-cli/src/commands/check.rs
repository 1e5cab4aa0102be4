//! `preempt check`: the simplest run that breaks the model.

use super::explicit;
use super::model::{Ready, prepared};
use super::net;
use super::outcome::{info, json, options, present};
use super::partial;
use super::symbolic;
use super::trail;
use crate::ExitStatus;
use crate::args::{CheckArgs, CostUnit, ReductionKind, SearchOrder, StoreKind};
use crate::backend::{Asking, ExplicitOptions, Model, Question, answer_all};
use crate::console::{self, Failure};
use crate::input;
use crate::plan::{Engine, Input};
use crate::progress::Watch;
use clap::ValueEnum;
use preempt_core::diagnostic::nearest;
use preempt_core::{Answered, Observer, Outcome, Property, PropertyKind, Trace};
use preempt_report::TextOptions;
use std::path::Path;

pub fn run(args: &CheckArgs) -> Result<ExitStatus, Failure> {
    for path in [&args.trace, &args.trail, &args.search.checkpoint].into_iter().flatten() {
        could_be_written(path)?;
    }
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
    let boolean = source.input == Input::Boolean;
    let formula = args.ltl.as_deref();
    let Some(ready) = prepared(&args.model, source, engine, formula, args.output.color)? else {
        return Ok(ExitStatus::Input);
    };
    let ready = ready.without_procedures()?;
    let settings = explicit::check_options(args)?;
    if engine != Engine::Explicit {
        explicit::refuse_elsewhere(&args.search, Some(args))?;
    }
    let questions = questions(args, &ready.model)?;
    explicit::refuse_checkpoints(&args.search, &questions)?;
    partial::refuse_beyond_safety(&args.search, &questions)?;
    let Shown { outcome, promise, properties, number, all } =
        answer(&ready, engine, args, &questions, &settings)?;
    if let (true, Some(fault)) = (boolean, &outcome.violation)
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
        // Several runs have no command in common but the one that was given.
        again: outcome
            .counterexample
            .as_ref()
            .filter(|_| !args.all_errors)
            .and_then(|trace| again(args, trace)),
        properties,
        shown: number,
        all,
        ..TextOptions::default()
    };
    let used = (engine == Engine::Explicit).then_some(&settings);
    let info = info(&ready.file, engine, &args.search, used, Some(args.weak_fairness));
    let json = json(&info, &outcome, &text);
    console::print(&present(&info, &outcome, &args.output, text))?;
    if let (Some(path), Some(_)) = (&args.trace, &outcome.counterexample) {
        std::fs::write(path, json).map_err(|error| cannot_write(path, &error.to_string()))?;
    }
    trail::write(args, &ready, &outcome)?;
    Ok(outcome.verdict.into())
}

/// What is asked: everything the model says about itself, or what the arguments name.
fn questions(args: &CheckArgs, model: &Model) -> Result<Vec<Question>, Failure> {
    if args.weak_fairness && args.search.bound.is_some() {
        return Err(Failure::new("--weak-fairness and --bound do not go together")
            .hint("a fair run may need any number of preemptions: ask one of the two"));
    }
    let all = Question::all(model);
    if args.non_progress {
        return Ok(vec![Question::Progress]);
    }
    if args.ltl.is_some() {
        // It was added behind the model's own formulas.
        return Ok(all
            .into_iter()
            .rfind(|question| matches!(question, Question::Formula(_)))
            .into_iter()
            .collect());
    }
    let Some(wanted) = &args.property else { return Ok(all) };
    let names = |question: &Question| -> Vec<String> {
        match question {
            Question::Formula(formula) => vec![formula.name.clone()],
            Question::Claim(number) => vec![model.claims[*number].name.clone(), "never".into()],
            Question::Safety => vec!["safety".into()],
            Question::Trace => vec!["trace".into()],
            Question::Acceptance => vec!["acceptance".into()],
            Question::Progress => vec!["progress".into()],
        }
    };
    let chosen: Vec<Question> =
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
    properties: Vec<Answered>,
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
    questions: &[Question],
    settings: &ExplicitOptions,
) -> Result<Shown, Failure> {
    let mut watch = Watch::start();
    let shown = match engine {
        Engine::Explicit => explicit::answers(ready, questions, settings, args, &mut watch).map(|answers| {
            answers.map(|answers| Shown {
                outcome: answers.report.outcome,
                promise: explicit::promised(answers.promise, settings),
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
    questions: &[Question],
    settings: &ExplicitOptions,
    observer: &mut dyn Observer,
) -> Result<Option<Shown>, Failure> {
    let asking = Asking { options: options(&args.search), weakly_fair: args.weak_fairness };
    let answers = answer_all(questions, &ready.interpreter()?, &asking, observer)
        .map_err(|(name, error)| Failure::new(format!("{name}: {error}")))?;
    Ok(answers.map(|answers| Shown {
        outcome: answers.outcome,
        promise: explicit::promised(answers.promise, settings),
        properties: answers.properties,
        number: answers.shown,
        all: Vec::new(),
    }))
}

/// Asked before the search, which may take hours: a mistake in the name should not cost them.
pub(super) fn could_be_written(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if path.is_dir() {
        return Err(cannot_write(path, "it is a directory"));
    }
    if !folder.is_dir() {
        return Err(cannot_write(path, &format!("there is no directory `{}`", folder.display())));
    }
    Ok(())
}

pub(super) fn cannot_write(path: &Path, why: &str) -> Failure {
    Failure::new(format!("cannot write to `{}`: {why}", path.display()))
}

/// The shortest command that finds the same run: within the bound of that run, the search ends soonest.
fn again(args: &CheckArgs, trace: &Trace) -> Option<String> {
    let file = args.model.file.to_str().filter(|file| *file != "-")?;
    let mut words = vec!["preempt".to_string(), "check".into(), quoted(file)];
    for define in &args.model.defines {
        words.push(quoted(&format!("-D{}={}", define.name, define.value)));
    }
    if let Some(input) = args.model.input.and_then(|input| input.to_possible_value()) {
        words.push(format!("--input {}", input.get_name()));
    }
    if let Some(dialect) = args.model.dialect.and_then(|dialect| dialect.to_possible_value()) {
        words.push(format!("--dialect {}", dialect.get_name()));
    }
    if let Some(label) = &args.model.error_label {
        words.push(format!("--error-label {}", quoted(label)));
    }
    if args.search.fair_switch {
        words.push("--fair-switch".into());
    }
    if let Some(path) = args.trace.as_ref().and_then(|path| path.to_str()) {
        words[1] = "replay".into();
        words.insert(3, quoted(path));
        return Some(words.join(" "));
    }
    if let Some(name) = &args.property {
        words.push(format!("--property {}", quoted(name)));
    }
    if let Some(formula) = &args.ltl {
        words.push(format!("--ltl {}", quoted(formula)));
    }
    if args.non_progress {
        words.push("--non-progress".into());
    }
    if args.stutter_invariant {
        words.push("--stutter-invariant".into());
    }
    if args.weak_fairness {
        words.push("--weak-fairness".into());
        return Some(words.join(" "));
    }
    if args.search.search == Some(SearchOrder::Swarm) {
        // What it finds depends on how fast it is.
        return None;
    }
    if let Some(store) = args.search.store.filter(|store| *store != StoreKind::Exact) {
        words.extend(store.to_possible_value().map(|store| format!("--store {}", store.get_name())));
    }
    if args.search.search.is_some_and(|order| order != SearchOrder::FewestPreemptions) {
        let order = args.search.search.and_then(|order| order.to_possible_value())?;
        words.push(format!("--search {}", order.get_name()));
        words.extend(args.search.bound.map(|bound| format!("--bound {bound}")));
        words.extend(args.search.seed.map(|seed| format!("--seed {seed}")));
        if args.search.search == Some(SearchOrder::Random) {
            words.extend(args.search.max_depth.map(|depth| format!("--max-depth {depth}")));
        }
        if args.reduction == Some(ReductionKind::Paper) {
            words.push("--reduction paper".into());
        }
        return Some(words.join(" "));
    }
    let charged = match args.search.cost {
        // The switch that closes a loop is not seen if there is no stem, and counts nevertheless.
        None | Some(CostUnit::Preemptions) => {
            trace.preemptions() + usize::from(trace.loop_start == Some(0) && !trace.steps.is_empty())
        }
        Some(CostUnit::Switches) => {
            words.push("--cost switches".into());
            trace.switches()
        }
        Some(CostUnit::Steps) => {
            words.push("--cost steps".into());
            trace.steps.len()
        }
    };
    words.push(format!("--bound {charged}"));
    Some(words.join(" "))
}

/// For a shell.
pub(super) fn quoted(word: &str) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "-_=./,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(harmless) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;

    fn again_for(arguments: &[&str]) -> Option<String> {
        let arguments = ["preempt", "check"].iter().chain(arguments);
        let Ok(Cli { command: Command::Check(args) }) = Cli::try_parse_from(arguments) else {
            panic!("not a check");
        };
        again(&args, &Trace::default())
    }

    #[test]
    fn the_command_that_shows_the_run_again() {
        assert_eq!(again_for(&["a.pml"]).as_deref(), Some("preempt check a.pml --bound 0"));
        assert_eq!(
            again_for(&["it's here.pml", "-DN=3", "-D", "X", "--fair-switch", "--max-time", "3s"]).as_deref(),
            Some(r"preempt check 'it'\''s here.pml' -DN=3 -DX=1 --fair-switch --bound 0")
        );
        assert_eq!(again_for(&["-"]), None);
    }
}
