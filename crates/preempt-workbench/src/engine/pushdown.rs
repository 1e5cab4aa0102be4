//! Pushdown systems: threads as rules on stacks, a number of contexts for each, recursion included.

use super::symbolic::{repeated_starts, table};
use super::{Context, Engine, number, reported, word};
use crate::error::Error;
use crate::frontend::{Input, Kind};
use crate::model::LoadedModel;
use crate::plan::Plan;
use crate::settings::{self, Method};
use crate::verb::Verb;
use preempt_core::{
    ErrorProjection, Measure, Minimality, OptionValue, ProjectedStatement, Report, Statistics, Verdict,
};
use preempt_model::{CodeId, LocationId};
use preempt_pushdown::projection::{EdgeAt, project};
use preempt_pushdown::{Direction, PushdownOptions, PushdownReport};
use std::collections::{BTreeMap, BTreeSet};

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
        repeated_starts(&mut report, &plan.settings, options.instances);
    }
    report.run.options = used(&options, &found.threads);
    if plan.settings.error_projection && !matches!(report.verdict, Verdict::Inconclusive(_)) {
        let options = PushdownOptions { contexts: options.contexts.or(Some(found.contexts)), ..options };
        let projected = project(&loaded.model, &loaded.sources, &options, context.progress)
            .map_err(|why| Error::refused(format!("not as rules on stacks: {}", why.0)))?;
        match projected {
            Ok(edges) => report.projection = Some(projection(loaded, &edges, options.contexts.unwrap_or(1))),
            Err(_) => {
                report.warn("a limit was reached before it was known which statements lie on error traces")
            }
        }
    }
    Ok(report)
}

/// Every statement of the source: the same one may be in several codes.
fn projection(loaded: &LoadedModel, edges: &BTreeSet<EdgeAt>, contexts: u32) -> ErrorProjection {
    let mut statements: BTreeMap<(u32, u32, String), ProjectedStatement> = BTreeMap::new();
    for (code, definition) in loaded.model.codes.iter().enumerate() {
        for (place, location) in definition.locations.iter().enumerate() {
            for (number, edge) in location.edges.iter().enumerate() {
                if edge.text.is_empty() || edge.span.start == edge.span.end {
                    continue;
                }
                let at = (CodeId(code as u16), LocationId(place as u32), number as u32);
                let location = loaded.sources.location(edge.span);
                let key = (location.line, location.column, edge.text.clone());
                let statement = statements.entry(key).or_insert_with(|| ProjectedStatement {
                    location,
                    procedure: definition.name.clone(),
                    text: edge.text.clone(),
                    on_error_trace: false,
                });
                statement.on_error_trace |= edges.contains(&at);
            }
        }
    }
    let text = loaded.sources.sources().next().map(|(_, source)| source.text.lines().map(str::to_string));
    ErrorProjection {
        contexts,
        statements: statements.into_values().collect(),
        lines: text.map(Iterator::collect).unwrap_or_default(),
    }
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
