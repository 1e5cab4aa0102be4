//! The engine for contexts of threads: explicit rounds and decision diagrams, in turns or each by its name.

use super::{Context, Engine, number, reported, word};
use crate::error::Error;
use crate::executed::{Seen, executed, marked};
use crate::frontend::{Input, Kind};
use crate::plan::Plan;
use crate::settings::{self, Method, Settings};
use crate::verb::Verb;
use preempt_bdd::TableOptions;
use preempt_core::{Guarantee, Measure, Minimality, OptionValue, Report, Statistics, StopReason, Verdict};
use preempt_rounds::{Basis, Cap, Caps, RoundsOptions, RoundsReport};
use preempt_symbolic::portfolio::{self, Answered, PortfolioReport};
use preempt_symbolic::{SymbolicOptions, SymbolicReport, VariableOrder};
use std::borrow::Cow;

pub const SYMBOLIC: Engine = Engine {
    name: "symbolic",
    description: "a number of contexts per thread, by rounds of states or by BDDs; assertions, recursion",
    takes: |kind| match kind {
        Kind::Model => Ok(&[Verb::Check]),
        Kind::Net | Kind::System => Err("it analyses threads, and this has none"),
    },
    check,
    count: None,
    counts: [Some(Measure::SharedStates), None],
};

fn check(plan: &Plan, input: &Input, context: &mut Context<'_>) -> Result<Report, Error> {
    let loaded = marked(Cow::Borrowed(input.model()?));
    if plan.settings.method == Some(Method::Pushdown) {
        return super::pushdown::check(plan, input, context);
    }
    let options = options(plan)?;
    let refused = |why: String| Error::refused(why).hint("try --engine explicit");
    let (model, sources, progress) = (&loaded.model, &loaded.sources, &mut *context.progress);
    let method = plan.settings.method.unwrap_or(Method::Portfolio);
    let found = match method {
        Method::Portfolio => portfolio::check(model, sources, &options, &caps(&options), progress)
            .map_err(|why| refused(why.to_string()))?,
        Method::Rounds => {
            let rounds = RoundsOptions {
                contexts: options.contexts,
                instances: options.instances,
                caps: caps(&options),
                limits: options.limits,
                ..RoundsOptions::default()
            };
            let found = preempt_rounds::check(model, sources, &rounds, progress);
            by_rounds(found.map_err(|why| refused(why.to_string()))?)
        }
        // `auto` takes another engine for pushdown systems.
        Method::Lazy | Method::Eager | Method::Pushdown => {
            let report = preempt_symbolic::check(model, sources, &options, progress)
                .map_err(|why| refused(why.to_string()))?;
            let answered = Answered::Diagrams;
            PortfolioReport { report, answered, configurations: 0, fewest: true, too_much: None }
        }
    };
    let PortfolioReport { report: analysed, answered, configurations, fewest, too_much } = found;
    let mut report = Report {
        statistics: numbers(&analysed, configurations),
        minimality: match analysed.outcome.counterexample {
            Some(_) if fewest => Minimality::FewestContexts,
            _ => Minimality::Nothing,
        },
        ..Report::from(analysed.outcome)
    };
    if report.verdict == Verdict::Violated {
        report.again = vec![("contexts", analysed.contexts.to_string())];
    } else if !analysed.complete {
        repeated_starts(&mut report, &plan.settings, options.instances);
    }
    // These limits are the rounds' own, and no option changes them.
    match report.verdict {
        Verdict::Inconclusive(StopReason::Depth) => {
            let most = caps(&options).depth;
            report.statement =
                Some(format!("there are stacks of more than {most} calls, which rounds do not list"));
        }
        Verdict::Inconclusive(StopReason::States) if method == Method::Rounds => {
            report.statement = Some("there are too many states for rounds".into());
        }
        _ => {}
    }
    if matches!(method, Method::Portfolio | Method::Rounds) {
        report.note(rests_on(method, answered, &report.verdict, too_much));
    }
    // Rounds ask the interpreter for every step; diagrams know sets of states only.
    if let (Answered::Rounds(_), Verdict::Holds) = (answered, report.verdict) {
        report.executed = executed(&loaded, Seen::EveryStep);
    }
    report.run.options = used(method, &options, &analysed.threads);
    Ok(report)
}

/// More threads may be started than were looked at. That is an answer within a bound if the user has set it, as it is with
/// `--contexts`, and none if the number is ours.
pub(super) fn repeated_starts(report: &mut Report, settings: &Settings, instances: u32) {
    if settings.instances.is_some() && report.verdict == Verdict::Inconclusive(StopReason::Partial) {
        let contexts = match report.guarantee {
            Guarantee::Contexts(most) => Some(most),
            _ => None,
        };
        report.verdict = Verdict::conclude(false, None);
        report.guarantee = Guarantee::Instances { most: instances, contexts };
    }
    // Where no thread could do anything wrong, their number does not matter.
    if (report.verdict, report.guarantee) == (Verdict::Holds, Guarantee::Exhaustive) {
        return;
    }
    report.note(format!(
        "threads are started in a loop; of each such start {instances} were considered (--instances N for more, --threads \
         any for any number)"
    ));
}

/// Who has answered, and what the answer rests on.
fn rests_on(method: Method, answered: Answered, verdict: &Verdict, too_much: Option<Cap>) -> String {
    let answer = match (answered, verdict) {
        (Answered::Rounds(Basis::Symmetry), Verdict::Violated) => {
            "answered by explicit states with equal threads sorted; the reference interpreter has executed the run"
        }
        (Answered::Rounds(_), Verdict::Violated) => {
            "answered by explicit rounds; the reference interpreter has executed the run"
        }
        (Answered::Rounds(Basis::Rounds), _) => {
            "answered by explicit rounds: all runs of so many rounds were looked at, one state after the other"
        }
        (Answered::Rounds(Basis::NothingNew), _) => {
            "answered by explicit rounds: a round brought no new state, so that no number of contexts does"
        }
        (Answered::Rounds(Basis::Symmetry), _) => {
            "answered by explicit states with equal threads sorted: none is left, so that no number of contexts brings another"
        }
        (Answered::Diagrams, _) => "answered by decision diagrams",
        (Answered::Nobody, _) if method == Method::Rounds => "explicit rounds have not come to an end",
        (Answered::Nobody, _) => "neither explicit rounds nor decision diagrams have come to an end",
    };
    match too_much {
        None => answer.to_string(),
        Some(Cap::Depth) => format!("{answer}; the stacks are too deep for rounds"),
        Some(Cap::States) => format!("{answer}; there are too many states for rounds"),
    }
}

fn by_rounds(found: RoundsReport) -> PortfolioReport {
    let report = SymbolicReport {
        contexts: found.contexts,
        threads: found.threads,
        complete: found.complete,
        nodes: 0,
        shared_states: found.shared_states,
        outcome: found.outcome,
    };
    let answered = found.basis.map_or(Answered::Nobody, Answered::Rounds);
    let too_much = match report.outcome.verdict {
        Verdict::Inconclusive(StopReason::Depth) => Some(Cap::Depth),
        Verdict::Inconclusive(StopReason::States) => Some(Cap::States),
        _ => None,
    };
    let (configurations, fewest) = (found.configurations, found.fewest);
    PortfolioReport { report, answered, configurations, fewest, too_much }
}

/// Rounds get a part of the memory that there is.
fn caps(options: &SymbolicOptions) -> Caps {
    let caps = Caps::default();
    Caps { bytes: options.limits.memory_bytes.map_or(caps.bytes, |most| caps.bytes.min(most / 4)), ..caps }
}

/// Of its outcome only time and memory are about this engine.
fn numbers(found: &SymbolicReport, configurations: u64) -> Statistics {
    let stats = &found.outcome.stats;
    let mut numbers = Statistics::of(stats.time, stats.peak_bytes).with([
        (Measure::Contexts, found.contexts.into()),
        (Measure::Threads, found.threads.len() as u64),
        (Measure::SharedStates, found.shared_states),
    ]);
    if configurations > 0 {
        numbers.set(Measure::States, configurations);
    }
    if found.nodes > 0 || configurations == 0 {
        numbers.set(Measure::BddNodes, found.nodes);
    }
    numbers
}

fn options(plan: &Plan) -> Result<SymbolicOptions, Error> {
    let settings = &plan.settings;
    let mut options = SymbolicOptions {
        contexts: settings.contexts,
        limits: settings.limits,
        method: match settings.method {
            Some(Method::Eager) => preempt_symbolic::Method::Eager,
            _ => preempt_symbolic::Method::Lazy,
        },
        order: match settings.bdd_order {
            Some(settings::VariableOrder::Declared) => VariableOrder::Declared,
            Some(settings::VariableOrder::Dependencies) => VariableOrder::Dependencies,
            Some(settings::VariableOrder::Trial) | None => VariableOrder::Trial,
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

fn used(method: Method, options: &SymbolicOptions, threads: &[String]) -> Vec<(&'static str, OptionValue)> {
    let order = match options.order {
        VariableOrder::Declared => settings::VariableOrder::Declared,
        VariableOrder::Dependencies => settings::VariableOrder::Dependencies,
        VariableOrder::Trial => settings::VariableOrder::Trial,
    };
    reported(&[
        ("contexts", number(options.contexts)),
        ("method", word(method.word())),
        ("instances", OptionValue::Number(options.instances.into())),
        ("bdd_order", word(order.word())),
        ("threads", word(&threads.join(", "))),
    ])
}
