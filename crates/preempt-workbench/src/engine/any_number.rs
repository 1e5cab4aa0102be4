//! Programs with any number of threads, by the engines for nets.

use super::{Context, number, reported, word};
use crate::error::Error;
use crate::model::LoadedModel;
use crate::plan::Plan;
use preempt_core::{Measure, Minimality, Report, Statistics, StopReason, Verdict};
use preempt_rounds::Caps;
use preempt_rounds::any_number::{self, AnyNumberOptions, AnyNumberReport};
use preempt_wsts::Engine as Way;

/// Assertions of a program; starts are not bounded. With `--threads any` the program was read so that each may be repeated.
pub(super) fn check(
    way: Way,
    plan: &Plan,
    loaded: &LoadedModel,
    context: &mut Context<'_>,
) -> Result<Report, Error> {
    let any = plan.settings.any_threads;
    if any && !plan.front_end.any_threads {
        return Err(Error::refused(format!("--threads any is not for {}", plan.front_end.plural))
            .hint("it does not say which of its processes there may be any number of"));
    }
    let limits = plan.settings.limits;
    let usual = Caps::default();
    let bytes = limits.memory_bytes.map_or(usual.bytes, |most| usual.bytes.min(most / 2));
    let options = AnyNumberOptions { engine: way, caps: Caps { bytes, ..usual }, limits };
    let found = any_number::check(&loaded.model, &loaded.sources, &options, context.progress)
        .map_err(|why| Error::refused(format!("as a thread-transition system: {}", why.0)))?;
    let mut report = Report {
        statistics: numbers(&found),
        minimality: Minimality::Nothing,
        ..Report::from(found.outcome.clone())
    };
    match report.verdict {
        Verdict::Holds => {
            let threads = if any { "any number of threads" } else { "however many threads it starts" };
            report.statement = Some(format!("no assertion fails, with {threads}"));
            let (elements, refuted) = found.certificate.unwrap_or_default();
            report.note(match refuted {
                0 => format!("an inductive basis of {elements} elements was checked"),
                _ => "a linear argument that nothing goes wrong was checked".to_string(),
            });
        }
        Verdict::Violated => {
            let threads = report.counterexample.as_ref().map_or(0, |trace| trace.processes);
            report.note(format!("the reference interpreter has executed the run, with {threads} threads"));
            report.again = vec![("engine", found.answered_by.name().to_string())];
        }
        Verdict::Inconclusive(_) => {}
    }
    if let Some(why) = &found.why {
        report.note(why.clone());
    }
    if let (Verdict::Inconclusive(StopReason::Interrupted), Some(reason)) =
        (report.verdict, context.progress.budget().stopped())
    {
        report.verdict = Verdict::Inconclusive(reason);
    }
    if !matches!(report.verdict, Verdict::Inconclusive(_)) {
        report.run.answered_by = Some(found.answered_by.name().into());
    }
    let threads = if any { word("any") } else { number(None) };
    report.run.options = reported(&[("threads", threads)]);
    Ok(report)
}

fn numbers(found: &AnyNumberReport) -> Statistics {
    let stats = &found.outcome.stats;
    let work = &found.work;
    Statistics::of(stats.time, stats.peak_bytes).with([
        (Measure::SharedStates, found.shared_states),
        (Measure::LocalStates, found.local_states),
        (Measure::BasisElements, work.elements),
        (Measure::PrunedElements, work.pruned),
        (Measure::Predecessors, work.predecessors),
        (Measure::Markings, work.markings),
        (Measure::Firings, work.firings),
    ])
}
