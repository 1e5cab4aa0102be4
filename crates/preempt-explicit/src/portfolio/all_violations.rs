//! Every different violation of any question, each at its cheapest and with its own run.

use super::{Account, Answers, Portfolio};
use crate::CheckError;
use crate::check::{How, ask, explore_saved};
use crate::search::{Checkpoints, Counterexample, Goal, NoCheckpoints, SearchJob, SearchReport};
use preempt_core::{Minimality, Progress, PropertyResult, Trace, Verdict};
use preempt_model::check::Check;
use preempt_model::search::RunCost;

pub(super) fn find(
    strategy: &Portfolio<'_>,
    questions: &[Check],
    checkpoints: Option<&mut dyn Checkpoints>,
    progress: &mut dyn Progress,
) -> Result<Option<Answers>, CheckError> {
    let Portfolio { model, sources, weakly_fair, .. } = *strategy;
    let mut account = Account::open(strategy.options);
    let mut none = NoCheckpoints;
    let checkpoints: &mut dyn Checkpoints = match checkpoints {
        Some(checkpoints) => checkpoints,
        None => &mut none,
    };
    let goal = Goal::All;
    let mut reports: Vec<SearchReport> = Vec::new();
    for (number, question) in questions.iter().enumerate() {
        account.share((questions.len() - number) as u64);
        let options = account.left(strategy.options, None);
        let report = strategy.with_fallback(&options, |options| match question {
            Check::Safety => {
                explore_saved(model, sources, SearchJob::new(options, goal, checkpoints, progress))
            }
            _ => ask(question, model, sources, How { options, weakly_fair, goal, in_turns: true }, progress),
        })?;
        account.visited += report.visited;
        reports.push(report);
    }
    let properties = questions
        .iter()
        .zip(&reports)
        .map(|(question, report)| answered(question.name(model), report))
        .collect();
    let mut errors: Vec<(RunCost, Counterexample)> = Vec::new();
    let mut cheapest: Vec<Option<RunCost>> = Vec::new();
    for (question, report) in questions.iter().zip(&reports) {
        let known = errors.len();
        for error in &report.errors {
            errors.push((strategy.cost(question, &error.trace)?, error.clone()));
        }
        cheapest.push(errors.get(known).map(|(cost, _)| *cost));
    }
    let numbered = || reports.iter().enumerate();
    let is_open = |report: &SearchReport| matches!(report.outcome.verdict, Verdict::Inconclusive(_));
    let best = cheapest.iter().enumerate().filter_map(|(number, cost)| Some(((*cost)?, number))).min();
    let open = || numbered().find(|(_, report)| is_open(report)).map(|(number, _)| number);
    let shown = best.map(|(_, number)| number).or_else(open).unwrap_or(0);
    let known = |report: &SearchReport| {
        report.outcome.verdict == Verdict::Holds || report.simplest && !is_open(report)
    };
    let minimality = match best {
        Some(_) if reports.iter().all(known) => Minimality::Simplest,
        Some(_) if known(&reports[shown]) => Minimality::SimplestOfProperty,
        _ => Minimality::Nothing,
    };
    // What two questions have in common (a claim's division by zero, say) is one violation.
    errors.sort_by_key(|(cost, _)| *cost);
    let mut different: Vec<Counterexample> = Vec::new();
    for (_, error) in errors {
        if different.iter().all(|known| known.property != error.property) {
            different.push(error);
        }
    }
    if shown >= reports.len() {
        return Ok(None);
    }
    let mut report = reports.swap_remove(shown);
    report.errors = different;
    report.outcome.stats.time = account.started.elapsed();
    report.visited = account.visited;
    Ok(Some(Answers { report, minimality, properties, shown }))
}

fn answered(name: String, report: &SearchReport) -> PropertyResult {
    let simplest = report.outcome.counterexample.as_ref().filter(|_| report.simplest);
    PropertyResult {
        name,
        verdict: report.outcome.verdict,
        violation: report.outcome.violation.clone(),
        cost: simplest.map(Trace::cost),
        answer: None,
    }
}
