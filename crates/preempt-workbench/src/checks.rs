//! Which properties of a model are checked: everything that it says about itself, or what the settings name.

use crate::error::Error;
use crate::settings::Settings;
use preempt_core::Report;
use preempt_core::diagnostic::nearest;
use preempt_model::Model;
use preempt_model::check::Check;

pub fn checks(settings: &Settings, model: &Model) -> Result<Vec<Check>, Error> {
    let all = Check::all(model);
    if settings.non_progress {
        return Ok(vec![Check::Progress]);
    }
    if settings.ltl.is_some() {
        // It was added behind the model's own formulas.
        return Ok(all.into_iter().rfind(|check| matches!(check, Check::Formula(_))).into_iter().collect());
    }
    let Some(wanted) = &settings.property else { return Ok(all) };
    let names = |check: &Check| -> Vec<String> {
        match check {
            Check::Formula(formula) => vec![formula.name.clone()],
            Check::Claim(number) => vec![model.claims[*number].name.clone(), "never".into()],
            Check::Safety => vec!["safety".into()],
            Check::Trace => vec!["trace".into()],
            Check::Acceptance => vec!["acceptance".into()],
            Check::Progress => vec!["progress".into()],
        }
    };
    let chosen: Vec<Check> = all.iter().filter(|check| names(check).contains(wanted)).cloned().collect();
    if chosen.is_empty() {
        let known: Vec<String> = all.iter().flat_map(names).collect();
        let error = Error::refused(format!("the model has no property `{wanted}`"));
        return Err(match nearest(wanted, known.iter().map(String::as_str)) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error.hint(format!("it has: {}", known.join(", "))),
        });
    }
    Ok(chosen)
}

/// The check that a report's counterexample belongs to. An engine that knows safety only has no list of properties.
pub fn shown_check(settings: &Settings, model: &Model, report: &Report) -> Result<Check, Error> {
    if report.properties.is_empty() {
        return Ok(Check::Safety);
    }
    Ok(checks(settings, model)?.get(report.shown).cloned().unwrap_or(Check::Safety))
}
