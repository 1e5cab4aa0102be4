//! Pushdown systems: threads as rules on stacks, a number of contexts for each, recursion included.

use super::symbolic::table;
use super::{Context, Engine, number, reported, word};
use crate::error::Error;
use crate::frontend::{Input, Kind};
use crate::plan::Plan;
use crate::settings::{self, Method};
use crate::verb::Verb;
use preempt_core::{Measure, Minimality, OptionValue, Report, Statistics, Verdict};
use preempt_pushdown::{Direction, PushdownOptions, PushdownReport};

pub const PUSHDOWN: Engine = Engine {
    name: "pushdown",
    description: "threads as rules on stacks, a number of contexts each, forward or backward; assertions",
    takes: |kind| match kind {
        Kind::Model => Ok(&[Verb::Check]),
        Kind::Net | Kind::System => Err("it analyses threads, and this has none"),
    },
    check,
    count: None,
    counts: [Some(Measure::SharedStates), None],
};

pub(super) fn check(plan: &Plan, input: &Input, context: &mut Context<'_>) -> Result<Report, Error> {
    let loaded = input.model()?;
    let options = options(plan)?;
    let found = preempt_pushdown::check(&loaded.model, &loaded.sources, &options, context.progress).map_err(
        |why| Error::refused(format!("not as rules on stacks: {}", why.0)).hint("try another engine"),
    )?;
    let mut report = Report {
        statistics: numbers(&found),
        minimality: match found.outcome.counterexample {
            Some(_) => Minimality::FewestContexts,
            None => Minimality::Nothing,
        },
        ..Report::from(found.outcome)
    };
    if report.verdict == Verdict::Violated {
        report.again = vec![("contexts", found.contexts.to_string())];
    } else if !found.complete {
        report.note(format!(
            "threads are started in a loop; of each such start {} were considered (--instances)",
            options.instances
        ));
    }
    report.run.options = used(&options, &found.threads);
    Ok(report)
}

fn numbers(found: &PushdownReport) -> Statistics {
    let stats = &found.outcome.stats;
    Statistics::of(stats.time, found.numbers.nodes * 24).with([
        (Measure::Contexts, found.contexts.into()),
        (Measure::Threads, found.threads.len() as u64),
        (Measure::SharedStates, found.numbers.shared_states),
        (Measure::StackSymbols, found.numbers.symbols),
        (Measure::Rules, found.numbers.rules),
        (Measure::BddNodes, found.numbers.nodes),
    ])
}

pub(super) fn options(plan: &Plan) -> Result<PushdownOptions, Error> {
    let settings = &plan.settings;
    let usual = PushdownOptions::default();
    Ok(PushdownOptions {
        contexts: settings.contexts,
        direction: match settings.direction {
            Some(settings::Direction::Backward) => Direction::Backward,
            Some(settings::Direction::Forward) | None => Direction::Forward,
        },
        instances: settings.instances.unwrap_or(usual.instances),
        table: table(settings, usual.table)?,
        limits: settings.limits,
    })
}

fn used(options: &PushdownOptions, threads: &[String]) -> Vec<(&'static str, OptionValue)> {
    let direction = match options.direction {
        Direction::Forward => settings::Direction::Forward,
        Direction::Backward => settings::Direction::Backward,
    };
    reported(&[
        ("contexts", number(options.contexts)),
        ("method", word(Method::Pushdown.word())),
        ("direction", word(direction.word())),
        ("instances", OptionValue::Number(options.instances.into())),
        ("threads", word(&threads.join(", "))),
    ])
}
