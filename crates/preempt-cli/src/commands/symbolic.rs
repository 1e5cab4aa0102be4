//! `preempt check` by the symbolic engine: threads with a number of contexts each, procedures and recursion included.

use super::again::{self, Found};
use super::explicit;
use super::model::prepared;
use super::outcome::{Delivery, present};
use super::trail;
use crate::ExitStatus;
use crate::args::{AnalysisMethod, CheckArgs, SymbolicArgs, VariableOrder};
use crate::backend::Check;
use crate::backend::symbolic::{self, Method, SymbolicOptions, SymbolicReport};
use crate::console::{self, Failure};
use crate::input;
use crate::job;
use crate::plan::{Engine, Input};
use crate::progress::Watch;
use preempt_core::Verdict;
use preempt_report::{RunInfo, Setting, TextOptions, to_json};

pub fn check(args: &CheckArgs, source: input::Model) -> Result<ExitStatus, Failure> {
    explicit::refuse_options_of_nets(args)?;
    refuse_what_does_not_fit(args)?;
    let options = options(args)?;
    let input = source.input;
    let Some(ready) = prepared(&args.model, source, Engine::Symbolic, None, args.output.color)? else {
        return Ok(ExitStatus::Input);
    };
    job::current().about(RunInfo {
        file: ready.file.clone(),
        engine: Engine::Symbolic.name().into(),
        options: Vec::new(),
    });
    let mut watch = Watch::start();
    let report = symbolic::check(&ready.model, &ready.sources, &options, &mut watch);
    watch.finish();
    let report = report.map_err(|why| Failure::new(why.to_string()).hint("try --engine explicit"))?;
    if !report.complete && report.outcome.verdict != Verdict::Violated {
        console::complain(&format!(
            "note: threads are started in a loop; of each such start {} were considered (--instances)\n",
            options.instances
        ));
    }
    let info = info(&ready.file, &options, &report);
    let text = TextOptions {
        full: args.full,
        promise: report
            .outcome
            .counterexample
            .as_ref()
            .map(|_| "a run with the fewest contexts of each thread"),
        again: (report.outcome.verdict == Verdict::Violated)
            .then(|| again::command(args, input, Found::Contexts(report.contexts)))
            .flatten(),
        ..TextOptions::default()
    };
    let text = present(&info, &report.outcome, &args.output, text);
    let mut delivery = Delivery::of(text, report.outcome.verdict);
    if let (Some(path), Some(_)) = (&args.trace, &report.outcome.counterexample) {
        delivery.file(path, to_json(&info, &report.outcome));
    }
    trail::write(args, &ready, &Check::Safety, &report.outcome, &mut delivery)?;
    Ok(delivery.deliver())
}

/// The engine for what is asked, if none is named: a bound on contexts is the symbolic engine's, and its options are
/// given to no other; so are the explicit engine's.
pub fn default_engine(args: &CheckArgs, input: Input) -> Engine {
    let engine = input.engine(None);
    if given(&args.symbolic).is_some() {
        return Engine::Symbolic;
    }
    let elsewhere = explicit_only(args).is_some() || args.property.is_some() || args.ltl.is_some();
    if engine == Engine::Symbolic && elsewhere { Engine::Explicit } else { engine }
}

/// Another engine must not pass over these in silence.
pub fn refuse_elsewhere(args: &SymbolicArgs) -> Result<(), Failure> {
    match given(args) {
        Some(name) => {
            Err(Failure::new(format!("{name} is an option of the symbolic engine"))
                .hint("use --engine symbolic"))
        }
        None => Ok(()),
    }
}

fn given(args: &SymbolicArgs) -> Option<&'static str> {
    let options = [
        ("--contexts", args.contexts.is_some()),
        ("--method", args.method.is_some()),
        ("--instances", args.instances.is_some()),
        ("--bdd-nodes", args.bdd_nodes.is_some()),
        ("--bdd-cache", args.bdd_cache.is_some()),
        ("--bdd-order", args.bdd_order.is_some()),
    ];
    options.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
}

/// What needs states or runs one by one.
fn explicit_only(args: &CheckArgs) -> Option<&'static str> {
    let own = args.search.max_states.map(|_| "--max-states");
    own.or(explicit::mentioned(&args.search, args))
}

fn refuse_what_does_not_fit(args: &CheckArgs) -> Result<(), Failure> {
    let options = [
        ("--property", args.property.as_ref().is_some_and(|name| name != "safety")),
        ("--ltl", args.ltl.is_some()),
        ("--non-progress", args.non_progress),
        ("--weak-fairness", args.weak_fairness),
    ];
    let refused = options.into_iter().find(|(_, given)| *given).map(|(name, _)| name);
    match refused.or(explicit_only(args)) {
        Some(name) => Err(Failure::new(format!("{name} does not go with the symbolic engine"))
            .hint("it looks for failing assertions and run-time errors within a number of contexts")),
        None => Ok(()),
    }
}

fn options(args: &CheckArgs) -> Result<SymbolicOptions, Failure> {
    let symbolic = &args.symbolic;
    if symbolic.contexts == Some(0) {
        return Err(Failure::new("--contexts 0: without a context no thread makes a step")
            .hint("each thread needs at least one"));
    }
    let mut options = SymbolicOptions {
        contexts: symbolic.contexts,
        limits: args.search.limits(),
        ..SymbolicOptions::default()
    };
    if let Some(contexts) = symbolic.contexts.filter(|contexts| *contexts > MOST_CONTEXTS) {
        return Err(Failure::new(format!("--contexts {contexts}: at most {MOST_CONTEXTS} can be looked at")));
    }
    options.method = match symbolic.method {
        Some(AnalysisMethod::Eager) => Method::Eager,
        Some(AnalysisMethod::Lazy) | None => Method::Lazy,
    };
    options.order = match symbolic.bdd_order {
        Some(VariableOrder::Declared) => symbolic::VariableOrder::Declared,
        Some(VariableOrder::Dependencies) | None => symbolic::VariableOrder::Dependencies,
    };
    options.instances = symbolic.instances.unwrap_or(options.instances);
    if let Some(bytes) = options.limits.memory_bytes {
        // of each part a half
        options.table.nodes = options.table.nodes.min(at_most(bytes / 2 / 24));
        options.table.cache = options.table.cache.min(at_most(bytes / 2 / 24).next_power_of_two() / 2);
    }
    if let Some(nodes) = symbolic.bdd_nodes {
        options.table.nodes = at_most(nodes);
    }
    if let Some(cache) = symbolic.bdd_cache {
        options.table.cache = at_most(cache);
    }
    match options.table.refused() {
        Some(why) => {
            Err(Failure::new(why.to_string()).hint("choose smaller numbers for --bdd-nodes and --bdd-cache"))
        }
        None => Ok(options),
    }
}

/// Every context takes three more bits for every shared bit.
const MOST_CONTEXTS: u32 = 64;

/// A table has at least room for a little.
fn at_most(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX).max(1 << 10)
}

fn info(file: &str, options: &SymbolicOptions, report: &SymbolicReport) -> RunInfo {
    let method = match options.method {
        Method::Lazy => "lazy",
        Method::Eager => "eager",
    };
    let bound = options.contexts.map_or(Setting::Unset, |bound| Setting::Number(bound.into()));
    let settings = [
        ("method", Setting::Text(method.into())),
        ("bound", bound),
        ("contexts", Setting::Number(report.contexts.into())),
        ("threads", Setting::Text(report.threads.join(", "))),
        ("bdd_nodes", Setting::Number(report.nodes)),
    ];
    let options = settings.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
    RunInfo { file: file.to_string(), engine: Engine::Symbolic.name().into(), options }
}
