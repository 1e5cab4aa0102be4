//! The entry: one check of a model, on a thread of its own, within its limits.

use crate::error::{Cap, Ended, Unsupported};
use crate::search::{Answer, Basis, Caps, Search, Setting};
use preempt_core::{
    Budget, Guarantee, Limits, Outcome, Progress, SourceMap, Stats, StopReason, Verdict, run_supervised,
};
use preempt_model::Model;
use std::time::Instant;

/// How a model is checked.
#[derive(Debug, Clone)]
pub struct RoundsOptions {
    /// Contexts of each thread; `None` for as many as it takes.
    pub contexts: Option<u32>,
    /// How many threads a start that can be repeated is good for.
    pub instances: u32,
    /// Are equal threads sorted, beside the rounds, to prove that nothing goes wrong?
    pub symmetry: bool,
    /// Beyond this, rounds give up.
    pub caps: Caps,
    /// Time and memory.
    pub limits: Limits,
}

impl Default for RoundsOptions {
    fn default() -> RoundsOptions {
        let (caps, limits) = (Caps::default(), Limits::default());
        RoundsOptions { contexts: None, instances: 4, symmetry: true, caps, limits }
    }
}

/// The outcome, and how far the search has gone.
#[derive(Debug, Clone, PartialEq)]
pub struct RoundsReport {
    /// Verdict, guarantee and counterexample.
    pub outcome: Outcome,
    /// The contexts of each thread that were looked at, or that the violation takes.
    pub contexts: u32,
    /// The threads in the order of the round robin.
    pub threads: Vec<String>,
    /// Are these all threads that there can be?
    pub complete: bool,
    /// What the answer rests on, if there is one.
    pub basis: Option<Basis>,
    /// Does the violation take the fewest contexts?
    pub fewest: bool,
    /// Valuations of the shared variables that were met.
    pub shared_states: u64,
    /// Configurations that were stored.
    pub configurations: u64,
}

/// Looks for failing assertions and run-time errors, round by round, until something goes wrong, the bound or a limit is
/// reached, or nothing new can come.
///
/// ```
/// use preempt_core::{Guarantee, Silent, Verdict};
/// use preempt_promela::{Additions, load};
/// use preempt_rounds::{Basis, RoundsOptions, check};
///
/// let text = "bit x, y; active proctype P() { x = 1 } active proctype Q() { y = x; assert(y <= x) }";
/// let loaded = load("p.pml", text, &Additions::default(), &mut |name| Err(name.to_string()));
/// let model = loaded.model.expect("there are no mistakes in it");
/// let report = check(&model, &loaded.sources, &RoundsOptions::default(), &mut Silent)?;
/// assert_eq!(report.outcome.verdict, Verdict::Holds);
/// assert_eq!(report.outcome.guarantee, Guarantee::Exhaustive, "for any number of contexts");
/// # Ok::<(), preempt_rounds::Unsupported>(())
/// ```
pub fn check(
    model: &Model,
    sources: &SourceMap,
    options: &RoundsOptions,
    progress: &mut dyn Progress,
) -> Result<RoundsReport, Unsupported> {
    let (begin, budget) = (Instant::now(), Budget::within(&options.limits));
    let owned = (model.clone(), sources.clone(), options.clone(), budget.clone());
    let snapshot = || budget.counters().snapshot();
    let searched = run_supervised(&budget, progress, snapshot, move || {
        let (model, sources, options, budget) = &owned;
        search(model, sources, options, budget)
    });
    let mut report = searched.unwrap_or_else(|reason| Ok(nothing_done(reason)))?;
    report.outcome.stats.time = begin.elapsed();
    Ok(report)
}

fn search(
    model: &Model,
    sources: &SourceMap,
    options: &RoundsOptions,
    budget: &Budget,
) -> Result<RoundsReport, Unsupported> {
    let setting = match Setting::new(model, sources, options.instances, budget) {
        Ok(setting) => setting,
        Err(ended) => return Ok(nothing_done(reason(ended)?)),
    };
    let mut search = match Search::new(&setting, options.contexts, options.symmetry, options.caps, budget) {
        Ok(search) => search,
        Err(ended) => return Ok(nothing_done(reason(ended)?)),
    };
    let answer = match search.advance(&mut || false) {
        Ok(answer) => answer,
        Err(ended) => {
            let reason = reason(ended)?;
            let looked_at = search.round().saturating_sub(1);
            let mut report = report(&search, &setting, stopped(reason, looked_at), budget);
            report.basis = None;
            return Ok(report);
        }
    };
    let answer = answer.unwrap_or_else(|| stopped(StopReason::Interrupted, 0));
    Ok(report(&search, &setting, answer, budget))
}

/// The limit that was reached.
fn reason(ended: Ended) -> Result<StopReason, Unsupported> {
    match ended {
        Ended::Unsupported(what) => Err(Unsupported(what)),
        Ended::Stopped(reason) => Ok(reason),
        Ended::TooMuch(Cap::Depth) => Ok(StopReason::Depth),
        Ended::TooMuch(Cap::States) => Ok(StopReason::States),
    }
}

fn stopped(reason: StopReason, rounds: u32) -> Answer {
    Answer {
        verdict: Verdict::Inconclusive(reason),
        guarantee: Guarantee::Contexts(rounds),
        contexts: rounds,
        violation: None,
        fewest: false,
        basis: Basis::Rounds,
        complete: true,
    }
}

fn nothing_done(reason: StopReason) -> RoundsReport {
    let outcome = Outcome {
        verdict: Verdict::Inconclusive(reason),
        guarantee: Guarantee::Contexts(0),
        violation: None,
        counterexample: None,
        stats: Stats::default(),
    };
    RoundsReport {
        outcome,
        contexts: 0,
        threads: Vec::new(),
        complete: true,
        basis: None,
        fewest: false,
        shared_states: 0,
        configurations: 0,
    }
}

fn report(search: &Search<'_>, setting: &Setting<'_>, answer: Answer, budget: &Budget) -> RoundsReport {
    let (violation, counterexample) = answer.violation.unzip();
    let mut stats = Stats { peak_bytes: budget.counters().bytes.get(), ..Stats::default() };
    if let Some(property) = &violation {
        stats.violations.insert(property.kind, 1);
    }
    let (verdict, guarantee) = (answer.verdict, answer.guarantee);
    RoundsReport {
        outcome: Outcome { verdict, guarantee, violation, counterexample, stats },
        contexts: answer.contexts,
        threads: setting.threads.all.iter().map(|thread| thread.name.clone()).collect(),
        complete: answer.complete,
        basis: Some(answer.basis),
        fewest: answer.fewest,
        shared_states: search.shared_states(),
        configurations: search.configurations(),
    }
}
