//! Every different violation of any question, each at its cheapest and with its own run.

use super::{Answers, Clock, Strategy};
use crate::Refusal;
use crate::question::{How, ask, explore_saved, interpreter};
use crate::search::{Checkpoints, Error, Goal, NoCheckpoints, Report};
use preempt_core::{Answered, Observer, Promise, Trace, Verdict};
use preempt_model::question::Question;

pub(super) fn find(
    strategy: &Strategy<'_>,
    questions: &[Question],
    checkpoints: Option<&mut dyn Checkpoints>,
    observer: &mut dyn Observer,
) -> Result<Option<Answers>, Refusal> {
    let Strategy { model, sources, weakly_fair, .. } = *strategy;
    let clock = Clock::start();
    let own = &interpreter(model, sources)?;
    let mut none = NoCheckpoints;
    let checkpoints: &mut dyn Checkpoints = match checkpoints {
        Some(checkpoints) => checkpoints,
        None => &mut none,
    };
    let how = How { weakly_fair, goal: Goal::All, in_turns: true };
    let mut reports: Vec<Report> = Vec::new();
    for question in questions {
        let options = clock.left(strategy.options, None);
        reports.push(strategy.with_fallback(&options, |options| match question {
            Question::Safety => explore_saved(model, sources, options, Goal::All, checkpoints, observer),
            _ => ask(question, model, sources, options, how, observer),
        })?);
    }
    let properties = questions
        .iter()
        .zip(&reports)
        .map(|(question, report)| answered(question.name(model), report))
        .collect();
    let by_cost = |error: &Error| strategy.cost(own, &error.trace);
    let cheapest = |report: &Report| report.errors.first().map(by_cost);
    let numbered = || reports.iter().enumerate();
    let is_open = |report: &Report| matches!(report.outcome.verdict, Verdict::Inconclusive(_));
    let best = numbered().filter_map(|(number, report)| Some((cheapest(report)?, number))).min();
    let open = || numbered().find(|(_, report)| is_open(report)).map(|(number, _)| number);
    let shown = best.map(|(_, number)| number).or_else(open).unwrap_or(0);
    let known =
        |report: &Report| report.outcome.verdict == Verdict::Holds || report.simplest && !is_open(report);
    let promise = match best {
        Some(_) if reports.iter().all(known) => Promise::Simplest,
        Some(_) if known(&reports[shown]) => Promise::SimplestOfProperty,
        _ => Promise::Nothing,
    };
    let mut errors: Vec<Error> = reports.iter().flat_map(|report| report.errors.iter().cloned()).collect();
    // What two questions have in common (a claim's division by zero, say) is one violation.
    errors.sort_by_key(by_cost);
    let mut different: Vec<Error> = Vec::new();
    for error in errors {
        if different.iter().all(|known| known.property != error.property) {
            different.push(error);
        }
    }
    if shown >= reports.len() {
        return Ok(None);
    }
    let mut report = reports.swap_remove(shown);
    report.errors = different;
    report.outcome.stats.time = clock.started.elapsed();
    Ok(Some(Answers { report, promise, properties, shown }))
}

fn answered(name: String, report: &Report) -> Answered {
    let simplest = report.outcome.counterexample.as_ref().filter(|_| report.simplest);
    Answered {
        name,
        verdict: report.outcome.verdict,
        violation: report.outcome.violation.clone(),
        cost: simplest.map(Trace::shown_cost),
    }
}
