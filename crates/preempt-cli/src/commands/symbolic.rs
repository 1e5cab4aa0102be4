//! `preempt check` by the symbolic engine: threads with a number of contexts each, procedures and recursion included.

use super::check::{cannot_write, could_be_written, quoted};
use super::explicit;
use super::model::prepared;
use super::outcome::present;
use super::trail;
use crate::ExitStatus;
use crate::args::{AnalysisMethod, CheckArgs, SymbolicArgs, VariableOrder};
use crate::backend::symbolic::{self, Method, Options, Order, Report};
use crate::console::{self, Failure};
use crate::input;
use crate::plan::{Engine, Input};
use crate::progress::Watch;
use preempt_core::Verdict;
use preempt_report::{RunInfo, Setting, TextOptions, to_json};

pub fn check(args: &CheckArgs, source: input::Model) -> Result<ExitStatus, Failure> {
    refuse_what_does_not_fit(args)?;
    if let Some(path) = &args.trace {
        could_be_written(path)?;
    }
    let options = options(args)?;
    let Some(ready) = prepared(&args.model, source, Engine::Symbolic, None, args.output.color)? else {
        return Ok(ExitStatus::Input);
    };
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
        again: again(args, &report),
        checked: vec!["assertions and run-time errors".into()],
        ..TextOptions::default()
    };
    console::print(&present(&info, &report.outcome, &args.output, text))?;
    if let (Some(path), Some(_)) = (&args.trace, &report.outcome.counterexample) {
        std::fs::write(path, to_json(&info, &report.outcome))
            .map_err(|error| cannot_write(path, &error.to_string()))?;
    }
    trail::write(args, &ready, &report.outcome)?;
    Ok(report.outcome.verdict.into())
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
    let options = [
        ("--bound", args.search.bound.is_some()),
        ("--fair-switch", args.search.fair_switch),
        ("--max-states", args.search.max_states.is_some()),
        ("--max-depth", args.search.max_depth.is_some()),
        ("--shortest", args.shortest),
    ];
    let own = options.into_iter().find(|(_, given)| *given).map(|(name, _)| name);
    own.or(explicit::given(&args.search, Some(args)))
}

fn refuse_what_does_not_fit(args: &CheckArgs) -> Result<(), Failure> {
    let options = [
        ("--property", args.property.as_ref().is_some_and(|name| name != "safety")),
        ("--ltl", args.ltl.is_some()),
        ("--non-progress", args.non_progress),
        ("--weak-fairness", args.weak_fairness),
        ("--certificate", args.certificate.is_some()),
    ];
    let refused = options.into_iter().find(|(_, given)| *given).map(|(name, _)| name);
    match refused.or(explicit_only(args)) {
        Some(name) => Err(Failure::new(format!("{name} does not go with the symbolic engine"))
            .hint("it looks for failing assertions and run-time errors within a number of contexts")),
        None => Ok(()),
    }
}

fn options(args: &CheckArgs) -> Result<Options, Failure> {
    let symbolic = &args.symbolic;
    if symbolic.contexts == Some(0) {
        return Err(Failure::new("--contexts 0: without a context no thread makes a step")
            .hint("each thread needs at least one"));
    }
    let mut options =
        Options { contexts: symbolic.contexts, limits: args.search.limits(), ..Options::default() };
    if let Some(contexts) = symbolic.contexts.filter(|contexts| *contexts > MOST_CONTEXTS) {
        return Err(Failure::new(format!("--contexts {contexts}: at most {MOST_CONTEXTS} can be looked at")));
    }
    options.method = match symbolic.method {
        Some(AnalysisMethod::Eager) => Method::Eager,
        Some(AnalysisMethod::Lazy) | None => Method::Lazy,
    };
    options.order = match symbolic.bdd_order {
        Some(VariableOrder::Declared) => Order::Declared,
        Some(VariableOrder::Dependencies) | None => Order::Dependencies,
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
    Ok(options)
}

/// Every context takes three more bits for every shared bit.
const MOST_CONTEXTS: u32 = 64;

/// A table has at least room for a little, and numbers its nodes with 32 bits.
fn at_most(number: u64) -> usize {
    number.clamp(1 << 10, 1 << 31) as usize
}

fn info(file: &str, options: &Options, report: &Report) -> RunInfo {
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

/// The command that finds the run again.
fn again(args: &CheckArgs, report: &Report) -> Option<String> {
    report.outcome.counterexample.as_ref()?;
    let file = args.model.file.to_str().filter(|file| *file != "-")?;
    if let Some(path) = args.trace.as_ref().and_then(|path| path.to_str()) {
        return Some(format!("preempt replay {} {}", quoted(file), quoted(path)));
    }
    Some(format!("preempt check {} --contexts {}", quoted(file), report.contexts))
}
