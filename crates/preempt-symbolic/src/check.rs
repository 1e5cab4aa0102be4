//! The entry: one check of a model, on a thread of its own, within its limits.

use crate::baton::Baton;
use crate::driver::{Conclusion, Driver, Program};
use crate::error::{AnalysisError, Unsupported};
use crate::round_robin::Method;
use crate::vars::VariableOrder;
use preempt_core::{
    Budget, Guarantee, Limits, Outcome, Progress, SourceMap, Stats, StopReason, Verdict, run_supervised,
};
use preempt_model::Model;
use preempt_model::inline::inline_leaves;
use std::sync::Arc;
use std::time::Instant;

/// How a model is checked.
#[derive(Debug, Clone)]
pub struct SymbolicOptions {
    /// Contexts of each thread; `None` for as many as it takes.
    pub contexts: Option<u32>,
    /// Whether a thread is analysed before or after it is known what the others do.
    pub method: Method,
    /// How many threads a start that can be repeated is good for.
    pub instances: u32,
    /// Where the program's variables stand in the diagrams.
    pub order: VariableOrder,
    /// How shared states are carried through the diagrams.
    pub shared: SharedStates,
    /// The table in which the diagrams live.
    pub table: preempt_bdd::TableOptions,
    /// Time and memory; states and depth mean nothing here.
    pub limits: Limits,
}

/// How shared states are carried through the diagrams (`numbers`): it decides how fast they are, never what they answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SharedStates {
    /// By number where a short search of explicit rounds finds few of them, otherwise bit by bit.
    #[default]
    Auto,
    /// Bit by bit.
    Bits,
    /// By number, beginning with the first one alone: those that are met later are added.
    Numbers,
}

impl Default for SymbolicOptions {
    fn default() -> SymbolicOptions {
        SymbolicOptions {
            contexts: None,
            method: Method::Lazy,
            instances: 4,
            order: VariableOrder::default(),
            shared: SharedStates::default(),
            table: preempt_bdd::TableOptions::default(),
            limits: Limits::default(),
        }
    }
}

/// The outcome, and how far the analysis has gone.
#[derive(Debug, Clone, PartialEq)]
pub struct SymbolicReport {
    /// Verdict, guarantee and counterexample.
    pub outcome: Outcome,
    /// The contexts of each thread that were looked at, or that the violation takes.
    pub contexts: u32,
    /// The threads in the order of the round robin.
    pub threads: Vec<String>,
    /// Are these all threads that there can be?
    pub complete: bool,
    /// Nodes in the table at the end.
    pub nodes: u64,
    /// Valuations of the shared variables that a context of the last round can end with.
    pub shared_states: u64,
}

/// Looks for failing assertions and run-time errors within a number of contexts of each thread.
///
/// The analysis runs on a thread of its own; `progress` hears how far it is, and may end it. A violation comes with a run
/// that the reference interpreter has executed.
///
/// ```
/// use preempt_core::{Silent, Verdict};
/// use preempt_promela::{Additions, load};
/// use preempt_symbolic::{SymbolicOptions, check};
///
/// let text = "bit x; active [2] proctype P() { assert(x == 0); x = 1 }";
/// let loaded = load("p.pml", text, &Additions::default(), &mut |name| Err(name.to_string()));
/// let model = loaded.model.expect("there are no mistakes in it");
/// let report = check(&model, &loaded.sources, &SymbolicOptions::default(), &mut Silent)?;
/// assert_eq!(report.outcome.verdict, Verdict::Violated);
/// assert_eq!(report.contexts, 1, "the second process fails after the first has ended");
/// # Ok::<(), preempt_symbolic::Unsupported>(())
/// ```
pub fn check(
    model: &Model,
    sources: &SourceMap,
    options: &SymbolicOptions,
    progress: &mut dyn Progress,
) -> Result<SymbolicReport, Unsupported> {
    if let Some(why) = options.table.refused() {
        return Err(Unsupported(why.to_string()));
    }
    let (begin, budget) = (Instant::now(), Budget::within(&options.limits));
    // An operation on diagrams cannot be interrupted, so that its thread may outlive the check.
    let owned = (model.clone(), sources.clone(), options.clone(), budget.clone());
    let snapshot = || budget.counters().snapshot();
    let analysed = run_supervised(&budget, progress, snapshot, move || {
        let (model, sources, options, budget) = &owned;
        analyse(model, sources, options, budget, None)
    });
    let mut report = analysed.unwrap_or_else(|reason| Ok(nothing_done(reason)))?;
    report.outcome.stats.time = begin.elapsed();
    Ok(report)
}

/// `baton`: somebody else works at the same question, in turns.
pub(crate) fn analyse(
    model: &Model,
    sources: &SourceMap,
    options: &SymbolicOptions,
    budget: &Budget,
    baton: Option<&Arc<Baton>>,
) -> Result<SymbolicReport, Unsupported> {
    // A table that is full because nobody wants to know any more is not full.
    let reason = |error: AnalysisError| match error {
        AnalysisError::Unsupported(what) => Err(Unsupported(what)),
        AnalysisError::TableFull => Ok(budget.stopped().unwrap_or(StopReason::Memory)),
        AnalysisError::Stopped(reason) => Ok(reason),
    };
    // Each call costs a join with a summary: small procedures are copied to where they are called. A run of the copy is a
    // run of the program, step by step.
    let expanded = inline_leaves(model, budget).unwrap_or_else(|_| model.clone());
    let program = Program { written: model, sources, expanded: &expanded };
    let mut driver = match Driver::new(program, options, budget, baton.cloned()) {
        Ok(driver) => driver,
        Err(error) => return Ok(nothing_done(reason(error)?)),
    };
    let conclusion = match driver.run() {
        Ok(conclusion) => conclusion,
        Err(error) => driver.stopped(reason(error)?),
    };
    Ok(report(driver, conclusion, budget))
}

/// A limit was reached before anything was looked at, or nobody knows how far it came.
pub(crate) fn nothing_done(reason: StopReason) -> SymbolicReport {
    let outcome = Outcome {
        verdict: Verdict::Inconclusive(reason),
        guarantee: Guarantee::Contexts(0),
        violation: None,
        counterexample: None,
        stats: Stats::default(),
    };
    SymbolicReport { outcome, contexts: 0, threads: Vec::new(), complete: true, nodes: 0, shared_states: 0 }
}

fn report(driver: Driver<'_>, conclusion: Conclusion, budget: &Budget) -> SymbolicReport {
    let (violation, counterexample) = conclusion.violation.unzip();
    // a node, and its place in the table that finds it
    let mut stats = Stats { peak_bytes: driver.nodes * 24, ..Stats::default() };
    if let Some(property) = &violation {
        stats.violations.insert(property.kind, 1);
    }
    let outcome = Outcome {
        verdict: conclusion.verdict,
        guarantee: conclusion.guarantee,
        violation,
        counterexample,
        stats,
    };
    SymbolicReport {
        outcome,
        contexts: conclusion.contexts,
        threads: driver.setting.threads.all.iter().map(|thread| thread.name.clone()).collect(),
        complete: driver.setting.threads.complete,
        nodes: driver.nodes,
        shared_states: budget.counters().states.get(),
    }
}
