//! A stored counterexample, executed again by the reference interpreter.

use crate::error::Error;
use crate::model::LoadedModel;
use preempt_core::{Budget, Guarantee, Property, PropertyKind, Report, RunInfo, Verdict};
use preempt_model::check::Check;
use preempt_model::search::{self, Misfit, Replayed};
use preempt_model::{Interpreter, Model};
use preempt_report::Recorded;

/// A formula that was given apart from the model is named by its text; the model must be loaded with it.
pub fn formula_outside_of_the_model(loaded: &LoadedModel, recorded: &Recorded) -> Option<String> {
    let Some(Property { kind: PropertyKind::Ltl, name, .. }) = &recorded.property else { return None };
    let known = loaded.model.formulas.iter().any(|formula| formula.name == *name);
    (!known).then(|| name.clone())
}

/// The same run with the same violation; or where it does not fit the model.
pub fn replay(loaded: &LoadedModel, recorded: &Recorded, budget: &Budget) -> Result<Report, Error> {
    let report = match in_any_model(loaded, recorded, budget) {
        // The run of an engine that knows no procedures: it names variables as that engine does.
        Err(Error::Refused(_)) if loaded.has_procedures() => {
            let inlined = loaded.without_procedures(budget)?;
            in_any_model(&inlined, recorded, budget)?
        }
        report => report?,
    };
    let run = RunInfo {
        file: loaded.file.clone(),
        engine: "reference".into(),
        options: crate::engine::reported(&[]),
        ..RunInfo::default()
    };
    Ok(Report { run, ..report })
}

/// Whose run may it be: one of the model by itself, or while a claim watches? See [`Check::model_of`].
pub(crate) fn may_count_claim(recorded: &Recorded) -> &'static [bool] {
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

fn in_any_model(loaded: &LoadedModel, recorded: &Recorded, budget: &Budget) -> Result<Report, Error> {
    let mut first = None;
    for counts_claim in may_count_claim(recorded) {
        match replayed(loaded, &loaded.model.counting_claim(*counts_claim), recorded, budget) {
            Ok(report) => return Ok(report),
            Err(error) => first = first.or(Some(error)),
        }
    }
    Err(first.unwrap_or_else(|| Error::refused("there is no model to replay it in")))
}

fn replayed(
    loaded: &LoadedModel,
    model: &Model,
    recorded: &Recorded,
    budget: &Budget,
) -> Result<Report, Error> {
    let interpreter = loaded.interpreter_of(model, budget)?;
    let misfit = |misfit: Misfit| {
        let place = match recorded.trace.steps.is_empty() {
            true => "at the beginning".to_string(),
            false => format!("at step {}", misfit.step + 1),
        };
        Error::refused(format!("the counterexample does not fit the model {place}: {}", misfit.reason))
            .hint("was the model changed since, or are other -D definitions needed?")
    };
    let go_on = || budget.exhausted().map_or(Ok(()), |reason| Err(Error::Stopped(reason)));
    let found = search::recognise(&interpreter, &recorded.trace).map_err(misfit)?;
    go_on()?;
    let run = search::replay(&interpreter, &found.initial, &found.steps, false).map_err(misfit)?;
    go_on()?;
    if !is_violated(&interpreter, recorded, &run)? {
        let what = recorded.property.as_ref().map_or("anything", |property| property.name.as_str());
        return Err(Error::refused(format!(
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
    Ok(Report {
        violation,
        counterexample: Some(trace),
        ..Report::new(Verdict::Violated, Guarantee::Exhaustive)
    })
}

fn is_violated<'m>(
    interpreter: &Interpreter<'m>,
    recorded: &Recorded,
    run: &Replayed<Interpreter<'m>>,
) -> Result<bool, Error> {
    let Some(property) = &recorded.property else { return Ok(run.violation.is_some()) };
    if run.violation.as_ref().is_some_and(|it| it.kind == property.kind && it.name == property.name) {
        return Ok(true);
    }
    for check in candidates(interpreter.model(), property) {
        let violated = check
            .is_violated_by(interpreter, run, &recorded.trace)
            .map_err(|error| Error::refused(error.to_string()))?;
        if violated {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The checks that may have found a violation of this kind and name.
fn candidates(model: &Model, property: &Property) -> Vec<Check> {
    let claims = || (0..model.claims.len()).map(Check::Claim);
    let is_named =
        |claim: &Check| matches!(claim, Check::Claim(number) if model.claims[*number].name == property.name);
    match property.kind {
        PropertyKind::Deadlock => vec![Check::Safety],
        // An assertion may be a claim's own.
        PropertyKind::Assertion | PropertyKind::RuntimeError => claims().collect(),
        PropertyKind::Exclusive | PropertyKind::Coverability => Vec::new(),
        PropertyKind::TraceAssertion => vec![Check::Trace],
        PropertyKind::Never => claims().filter(is_named).collect(),
        PropertyKind::Ltl => {
            let named = model.formulas.iter().filter(|formula| formula.name == property.name);
            named.cloned().map(Check::Formula).collect()
        }
        PropertyKind::Acceptance => vec![Check::Acceptance],
        PropertyKind::NonProgress => vec![Check::Progress],
    }
}
