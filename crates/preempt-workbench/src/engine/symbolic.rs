//! The symbolic engine: sets of states as decision diagrams, a number of contexts for each thread, recursion included.

use super::{Context, Engine, number, reported, word};
use crate::error::Error;
use crate::frontend::{Input, Kind};
use crate::plan::Plan;
use crate::settings::{self, Method, Settings};
use crate::verb::Verb;
use preempt_bdd::TableOptions;
use preempt_core::{Measure, Minimality, OptionValue, Report, Statistics, Verdict};
use preempt_symbolic::{SymbolicOptions, SymbolicReport, VariableOrder};

pub const SYMBOLIC: Engine = Engine {
    name: "symbolic",
    description: "sets of states as BDDs, a number of contexts per thread; assertions, recursion",
    takes: |kind| match kind {
        Kind::Model => Ok(&[Verb::Check]),
        Kind::Net | Kind::System => Err("it analyses threads, and this has none"),
    },
    check,
    count: None,
    counts: [Some(Measure::SharedStates), None],
};

fn check(plan: &Plan, input: &Input, context: &mut Context<'_>) -> Result<Report, Error> {
    let loaded = input.model()?;
    if plan.settings.method == Some(Method::Pushdown) {
        return super::pushdown::check(plan, input, context);
    }
    let options = options(plan)?;
    let found = preempt_symbolic::check(&loaded.model, &loaded.sources, &options, context.progress)
        .map_err(|why| Error::refused(why.to_string()).hint("try --engine explicit"))?;
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

/// Of its outcome only time and memory are about this engine.
fn numbers(found: &SymbolicReport) -> Statistics {
    let stats = &found.outcome.stats;
    Statistics::of(stats.time, stats.peak_bytes).with([
        (Measure::Contexts, found.contexts.into()),
        (Measure::Threads, found.threads.len() as u64),
        (Measure::SharedStates, found.shared_states),
        (Measure::BddNodes, found.nodes),
    ])
}

fn options(plan: &Plan) -> Result<SymbolicOptions, Error> {
    let settings = &plan.settings;
    let mut options = SymbolicOptions {
        contexts: settings.contexts,
        limits: settings.limits,
        method: match settings.method {
            Some(Method::Eager) => preempt_symbolic::Method::Eager,
            Some(Method::Lazy | Method::Pushdown) | None => preempt_symbolic::Method::Lazy,
        },
        order: match settings.bdd_order {
            Some(settings::VariableOrder::Declared) => VariableOrder::Declared,
            Some(settings::VariableOrder::Dependencies) | None => VariableOrder::Dependencies,
        },
        ..SymbolicOptions::default()
    };
    options.instances = settings.instances.unwrap_or(options.instances);
    options.table = table(settings, options.table)?;
    Ok(options)
}

/// The table of diagrams, as large as the settings allow.
pub(super) fn table(settings: &Settings, usual: TableOptions) -> Result<TableOptions, Error> {
    let mut table = usual;
    if let Some(bytes) = settings.limits.memory_bytes {
        // of each part a half
        table.nodes = table.nodes.min(at_most(bytes / 2 / 24));
        table.cache = table.cache.min(at_most(bytes / 2 / 24).next_power_of_two() / 2);
    }
    if let Some(nodes) = settings.bdd_nodes {
        table.nodes = at_most(nodes);
    }
    if let Some(cache) = settings.bdd_cache {
        table.cache = at_most(cache);
    }
    match table.refused() {
        Some(why) => {
            Err(Error::refused(why.to_string())
                .hint("choose smaller numbers for --bdd-nodes and --bdd-cache"))
        }
        None => Ok(table),
    }
}

/// A table has at least room for a little.
fn at_most(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX).max(1 << 10)
}

fn used(options: &SymbolicOptions, threads: &[String]) -> Vec<(&'static str, OptionValue)> {
    let method = match options.method {
        preempt_symbolic::Method::Lazy => Method::Lazy,
        preempt_symbolic::Method::Eager => Method::Eager,
    };
    let order = match options.order {
        VariableOrder::Declared => settings::VariableOrder::Declared,
        VariableOrder::Dependencies => settings::VariableOrder::Dependencies,
    };
    reported(&[
        ("contexts", number(options.contexts)),
        ("method", word(method.word())),
        ("instances", OptionValue::Number(options.instances.into())),
        ("bdd_order", word(order.word())),
        ("threads", word(&threads.join(", "))),
    ])
}
