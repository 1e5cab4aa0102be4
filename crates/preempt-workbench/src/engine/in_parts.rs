//! The explicit engine in several processes: each of them calls this, and the first has the report.

use super::explicit::{note_symmetry, options, refused, used};
use crate::again::bound_of_the_run;
use crate::checks::checks;
use crate::error::Error;
use crate::frontend::Input;
use crate::model::LoadedModel;
use crate::plan::Plan;
use preempt_core::{Cost, Minimality, Progress, PropertyResult, Report, RunInfo, Trace, Verdict};
use preempt_explicit::{
    CheckError, Exchange, Goal, InParts, PartFiles, PartsReport, Scratch, SearchOptions, SearchReport,
    Traffic, answer_in_parts,
};
use preempt_model::check::Check;
use std::sync::Arc;

/// Whoever waits for the answer, and who carries mail between the processes.
#[allow(missing_debug_implementations, reason = "a listener need not have one")]
pub struct Together<'a> {
    /// Hears how far this process is, and may end it.
    pub progress: &'a mut dyn Progress,
    /// Between the processes.
    pub exchange: &'a mut dyn Exchange,
    /// Where this process keeps its part of a checkpoint.
    pub files: &'a mut dyn PartFiles,
    /// Where the run is found if memory is too small for that.
    pub scratch: Option<Arc<dyn Scratch>>,
}

/// What was planned, by several processes together. Only the first has a report; all know what each has sent.
pub fn search_together(
    plan: &Plan,
    input: &Input,
    together: Together<'_>,
) -> Result<(Option<Report>, Vec<Traffic>), Error> {
    let Together { progress, exchange, files, scratch } = together;
    let settings = &plan.settings;
    let engine = plan.engine.ok_or_else(|| Error::refused("no engine is needed for this"))?;
    let budget = progress.budget();
    let loaded = input.model()?.without_procedures(&budget)?;
    let goal = if plan.request.is_given("count") { Goal::Count } else { Goal::First };
    let options = SearchOptions { scratch, ..options(settings)? };
    let question = question(plan, &loaded, goal, &options)?;
    loaded.interpreter(&budget)?;
    let job = InParts { options: &options, goal, exchange, files, progress };
    let answer = answer_in_parts(&question, &loaded.model, &loaded.sources, job);
    let PartsReport { report, traffic, cost } = answer.map_err(|why| match why {
        CheckError::Unsupported(_) => {
            refused(why).hint("`preempt check` does it in one process; --property chooses what is asked")
        }
        why => refused(why),
    })?;
    let Some(found) = report else { return Ok((None, traffic)) };
    let is_undecided = matches!(found.outcome.verdict, Verdict::Inconclusive(_));
    let mut report = match goal {
        Goal::Count => Report::from(found.outcome),
        Goal::First | Goal::All => reported(found, &question, &loaded),
    };
    if let (Some(cost), true) = (cost, is_undecided) {
        let (charged, steps) = (cost.preemptions, cost.steps);
        report.note(format!(
            "there is a violation: its simplest run has {steps} steps, and {charged} of what --cost counts; that run was not \
             found in one process (see --disk)"
        ));
    }
    report.again = bound_of_the_run(settings, &loaded, &question, &report);
    note_symmetry(&loaded, &options, goal, std::slice::from_ref(&question), &budget, &mut report)?;
    let weak_fairness = (goal != Goal::Count).then_some(false);
    let options = used(settings, &options, weak_fairness);
    report.run = RunInfo { options, ..plan.info(input.file(), engine) };
    Ok((Some(report), traffic))
}

/// One question is asked: several would be several searches.
fn question(plan: &Plan, loaded: &LoadedModel, goal: Goal, options: &SearchOptions) -> Result<Check, Error> {
    if goal == Goal::Count {
        return match plan.settings.property {
            Some(_) => Err(Error::refused("--count and --property do not go together")
                .hint("the states of the model are counted, whatever it asks for")),
            None => Ok(Check::Safety),
        };
    }
    let checks = checks(&plan.settings, &loaded.model)?;
    let [question] = checks.as_slice() else {
        let names: Vec<String> = checks.iter().map(|check| check.name(&loaded.model)).collect();
        return Err(Error::refused("several processes answer one question, and this model asks for more")
            .hint(format!(
                "choose with --property, as in --property safety; there are: {}",
                names.join(", ")
            )));
    };
    if options.cost != Cost::Preemptions && question.is_about_cycles() {
        return Err(Error::refused("--cost: the cost of a run without end is counted in preemptions")
            .hint("leave out --cost, or check --property safety"));
    }
    Ok(question.clone())
}

fn reported(found: SearchReport, question: &Check, loaded: &LoadedModel) -> Report {
    let is_simplest = found.outcome.verdict == Verdict::Violated && found.simplest;
    let property = PropertyResult {
        name: question.name(&loaded.model),
        verdict: found.outcome.verdict,
        violation: found.outcome.violation.clone(),
        cost: found.outcome.counterexample.as_ref().filter(|_| is_simplest).map(Trace::cost),
        answer: None,
    };
    let minimality = if is_simplest { Minimality::Simplest } else { Minimality::Nothing };
    Report { minimality, properties: vec![property], shown: 0, ..Report::from(found.outcome) }
}
