//! `preempt replay`: a stored counterexample, executed again.

use super::model::{Ready, ready};
use super::outcome::{Delivery, present};
use crate::ExitStatus;
use crate::args::ReplayArgs;
use crate::backend::{self, Check, Interpreter, Model, search};
use crate::console::Failure;
use crate::input;
use crate::job;
use crate::plan::Engine;
use preempt_core::{Guarantee, Outcome, Property, PropertyKind, Stats, Verdict};
use preempt_report::{Recorded, RunInfo, TextOptions, read_counterexample};
use std::path::Path;

pub fn run(args: &ReplayArgs) -> Result<ExitStatus, Failure> {
    let recorded = recording(&args.trace)?;
    let engine = Engine::Reference;
    let formula = formula_outside_of_the_model(args, &recorded)?;
    let Some(ready) = ready(&args.model, engine, formula.as_deref(), args.output.color)? else {
        return Ok(ExitStatus::Input);
    };
    let file = ready.file.clone();
    let outcome = match in_any_model(&ready, &recorded) {
        // The run of an engine that knows no procedures: it names variables as that engine does.
        Err(_) if backend::inline::has_procedures(&ready.model) => {
            in_any_model(&ready.without_procedures()?, &recorded)?
        }
        outcome => outcome?,
    };
    let info = RunInfo { file, engine: engine.name().into(), options: Vec::new() };
    let text = TextOptions { full: args.full, ..TextOptions::default() };
    Ok(Delivery::of(present(&info, &outcome, &args.output, text), outcome.verdict).deliver())
}

pub(super) fn recording(path: &Path) -> Result<Recorded, Failure> {
    let text = input::text_of(path)?;
    let recorded = read_counterexample(&text);
    job::check()?;
    recorded.map_err(|error| Failure::new(format!("`{}`: {error}", path.display())))
}

/// A formula that was given on the command line is named by its text; the model does not have it.
fn formula_outside_of_the_model(args: &ReplayArgs, recorded: &Recorded) -> Result<Option<String>, Failure> {
    let Some(Property { kind: PropertyKind::Ltl, name, .. }) = &recorded.property else { return Ok(None) };
    let Some(plain) = ready(&args.model, Engine::Reference, None, args.output.color)? else {
        return Ok(None);
    };
    let known = plain.model.formulas.iter().any(|formula| formula.name == *name);
    Ok((!known).then(|| name.clone()))
}

/// Whose run may it be: one of the model by itself, or while a claim watches? See
/// [`model_of`](crate::backend::Check::model_of).
pub(super) fn watched_or_not(recorded: &Recorded) -> &'static [bool] {
    match recorded.property.as_ref().map(|property| property.kind) {
        Some(PropertyKind::Never | PropertyKind::Ltl | PropertyKind::NonProgress) => &[true],
        Some(
            PropertyKind::Deadlock
            | PropertyKind::TraceAssertion
            | PropertyKind::Acceptance
            | PropertyKind::Coverability,
        ) => &[false],
        // What goes wrong in a process may do so only while a claim watches; and a claim has assertions of its own.
        Some(PropertyKind::Assertion | PropertyKind::RuntimeError | PropertyKind::Exclusive) | None => {
            &[false, true]
        }
    }
}

fn in_any_model(ready: &Ready, recorded: &Recorded) -> Result<Outcome, Failure> {
    let mut first = None;
    for counts_claim in watched_or_not(recorded) {
        match replayed(ready, &ready.model.counting_claim(*counts_claim), recorded) {
            Ok(outcome) => return Ok(outcome),
            Err(failure) => first = first.or(Some(failure)),
        }
    }
    Err(first.unwrap_or_else(|| Failure::new("there is no model to replay it in")))
}

fn replayed(ready: &Ready, model: &Model, recorded: &Recorded) -> Result<Outcome, Failure> {
    let interpreter = ready.interpreter_of(model)?;
    let misfit = |misfit: search::Misfit| {
        let place = match recorded.trace.steps.is_empty() {
            true => "at the beginning".to_string(),
            false => format!("at step {}", misfit.step + 1),
        };
        Failure::new(format!("the counterexample does not fit the model {place}: {}", misfit.reason))
            .hint("was the model changed since, or are other -D definitions needed?")
    };
    let found = search::recognise(&interpreter, &recorded.trace).map_err(misfit)?;
    job::check()?;
    let run = search::replay(&interpreter, &found.initial, &found.steps, false).map_err(misfit)?;
    job::check()?;
    if !is_violated(&interpreter, recorded, &run)? {
        let what = recorded.property.as_ref().map_or("anything", |property| property.name.as_str());
        return Err(Failure::new(format!(
            "every step fits the model, but the run does not violate `{what}`"
        ))
        .hint("was the property changed since?"));
    }
    let mut trace = run.trace.clone();
    trace.loop_start = recorded.trace.loop_start;
    // Who is stuck where, is for the model to say.
    let violation = match (&recorded.property, &run.last_state) {
        (Some(Property { kind: PropertyKind::Deadlock, .. }), Some(state)) => {
            Some(search::deadlock(&interpreter, state))
        }
        (property, _) => property.clone(),
    };
    Ok(Outcome {
        verdict: Verdict::Violated,
        guarantee: Guarantee::Exhaustive,
        violation,
        counterexample: Some(trace),
        stats: Stats::default(),
    })
}

fn is_violated<'m>(
    interpreter: &Interpreter<'m>,
    recorded: &Recorded,
    run: &search::Replayed<Interpreter<'m>>,
) -> Result<bool, Failure> {
    let Some(property) = &recorded.property else { return Ok(run.violation.is_some()) };
    if run.violation.as_ref().is_some_and(|it| it.kind == property.kind && it.name == property.name) {
        return Ok(true);
    }
    for question in candidates(interpreter.model(), property) {
        let violated = question
            .is_violated_by(interpreter, run, &recorded.trace)
            .map_err(|error| Failure::new(error.to_string()))?;
        if violated {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The questions that a violation of this kind and name may have answered.
fn candidates(model: &Model, property: &Property) -> Vec<Check> {
    let claims = || (0..model.claims.len()).map(Check::Claim);
    match property.kind {
        PropertyKind::Deadlock => vec![Check::Safety],
        // An assertion may be a claim's own.
        PropertyKind::Assertion | PropertyKind::RuntimeError => claims().collect(),
        PropertyKind::Exclusive | PropertyKind::Coverability => Vec::new(),
        PropertyKind::TraceAssertion => vec![Check::Trace],
        PropertyKind::Never => claims()
            .filter(
                |claim| matches!(claim, Check::Claim(number) if model.claims[*number].name == property.name),
            )
            .collect(),
        PropertyKind::Ltl => model
            .formulas
            .iter()
            .filter(|formula| formula.name == property.name)
            .cloned()
            .map(Check::Formula)
            .collect(),
        PropertyKind::Acceptance => vec![Check::Acceptance],
        PropertyKind::NonProgress => vec![Check::Progress],
    }
}
