//! The entry: one check of a program as pushdown systems, on a thread of its own, within its limits.
//!
//! K = 1, 2, 3, ... contexts of each thread, until something goes wrong or the bound is reached. A program with one thread
//! has one context, so that K = 1 decides it whatever its recursion; and where no rule leads to an error at all, no number of
//! contexts does.

use crate::program::{Lowered, lower, unsupported};
use crate::replay::counterexample;
use crate::semiring::Unfinished;
use crate::symbolic::analysis::{Direction, analyse};
use preempt_bdd::TableOptions;
use preempt_core::{
    Budget, Guarantee, Limits, Outcome, Progress, Property, SourceMap, Stats, StopReason, Trace, Verdict,
    run_supervised,
};
use preempt_model::{Interpreter, Model, System};
use preempt_rounds::Ended;
use preempt_symbolic::Unsupported;
use preempt_symbolic::liveness::Liveness;
use preempt_symbolic::threads::Threads;
use std::time::Instant;

/// How a program is checked.
#[derive(Debug, Clone)]
pub struct PushdownOptions {
    /// Contexts of each thread; `None` for as many as it takes.
    pub contexts: Option<u32>,
    /// Forward from the beginning, or backward from errors.
    pub direction: Direction,
    /// How many threads a start that can be repeated is good for.
    pub instances: u32,
    /// The table in which the diagrams live.
    pub table: TableOptions,
    /// Time and memory; states and depth mean nothing here.
    pub limits: Limits,
}

impl Default for PushdownOptions {
    fn default() -> PushdownOptions {
        PushdownOptions {
            contexts: None,
            direction: Direction::Forward,
            instances: 4,
            table: TableOptions::default(),
            limits: Limits::default(),
        }
    }
}

/// The outcome, and how far the analysis has gone.
#[derive(Debug, Clone, PartialEq)]
pub struct PushdownReport {
    /// Verdict, guarantee and counterexample.
    pub outcome: Outcome,
    /// The contexts of each thread that were looked at, or that the violation takes.
    pub contexts: u32,
    /// The threads in the order of their turns.
    pub threads: Vec<String>,
    /// Are these all threads that there can be?
    pub complete: bool,
    /// The numbers of the analysis.
    pub numbers: Numbers,
}

/// What an analysis counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Numbers {
    /// |P|.
    pub shared_states: u64,
    /// |Γ|, of all threads together.
    pub symbols: u64,
    /// |Δ|, of all threads together.
    pub rules: u64,
    /// Transitions of the last automaton.
    pub transitions: u64,
    /// Nodes of decision diagrams, at most.
    pub nodes: u64,
}

/// Looks for failing assertions and run-time errors within a number of contexts of each thread.
///
/// ```
/// use preempt_core::{Silent, Verdict};
/// use preempt_pushdown::{PushdownOptions, check};
///
/// let text = "decl x; void main() begin x := F; start_thread t(); f(); assert(!x); end
///             void t() begin x := T; end
///             void f() begin if * then f(); fi end";
/// let loaded = preempt_boolean::load("p.bp", text, &Default::default());
/// let model = loaded.model.expect("there are no mistakes in it");
/// let report = check(&model, &loaded.sources, &PushdownOptions::default(), &mut Silent)?;
/// assert_eq!((report.outcome.verdict, report.contexts), (Verdict::Violated, 2));
/// # Ok::<(), preempt_symbolic::Unsupported>(())
/// ```
pub fn check(
    model: &Model,
    sources: &SourceMap,
    options: &PushdownOptions,
    progress: &mut dyn Progress,
) -> Result<PushdownReport, Unsupported> {
    if let Some(why) = options.table.refused() {
        return Err(Unsupported(why.to_string()));
    }
    if let Some(what) = unsupported(model) {
        return Err(Unsupported(what.to_string()));
    }
    let (begin, budget) = (Instant::now(), Budget::within(&options.limits));
    let owned = (model.clone(), sources.clone(), options.clone(), budget.clone());
    let snapshot = || budget.counters().snapshot();
    let analysed = run_supervised(&budget, progress, snapshot, move || {
        let (model, sources, options, budget) = &owned;
        analysed(model, sources, options, budget)
    });
    let mut report = match analysed {
        Ok(report) => report?,
        // The analysis did not end in time, but it has said which number of contexts it is at.
        Err(reason) => {
            let rounds = budget.counters().level.get().saturating_sub(1) as u32;
            stopped(reason, rounds, PushdownReport::nothing())
        }
    };
    report.outcome.stats.time = begin.elapsed();
    Ok(report)
}

impl PushdownReport {
    fn nothing() -> PushdownReport {
        PushdownReport {
            outcome: Outcome {
                verdict: Verdict::Inconclusive(StopReason::Interrupted),
                guarantee: Guarantee::Contexts(0),
                violation: None,
                counterexample: None,
                stats: Stats::default(),
            },
            contexts: 0,
            threads: Vec::new(),
            complete: true,
            numbers: Numbers::default(),
        }
    }
}

fn stopped(reason: StopReason, rounds: u32, report: PushdownReport) -> PushdownReport {
    let outcome = Outcome {
        verdict: Verdict::Inconclusive(reason),
        guarantee: Guarantee::Contexts(rounds),
        ..report.outcome
    };
    PushdownReport { outcome, contexts: rounds, ..report }
}

/// A program with what is known of its threads, ready to be made into rules.
#[derive(Debug)]
pub(crate) struct Prepared<'a> {
    pub interpreter: Interpreter<'a>,
    pub threads: Threads,
    pub lowered: Result<Lowered, Unfinished>,
}

/// Finds the threads and makes rules of them; the outer error says what cannot be analysed.
pub(crate) fn prepare<'a>(
    model: &'a Model,
    sources: &'a SourceMap,
    instances: u32,
    budget: &Budget,
) -> Result<Result<Prepared<'a>, StopReason>, Unsupported> {
    let ends = |error: Ended| match error {
        Ended::Unsupported(what) => Err(Unsupported(what)),
        Ended::TooMuch(_) => Ok(StopReason::Memory),
        Ended::Stopped(reason) => Ok(reason),
    };
    let threads = match Threads::of(model, sources, instances, budget) {
        Ok(threads) => threads,
        Err(error) => return Ok(Err(ends(error)?)),
    };
    let liveness = match Liveness::of(model, budget) {
        Ok(liveness) => liveness,
        Err(error) => return Ok(Err(ends(error)?)),
    };
    let interpreter = Interpreter::new(model, sources).map_err(|fault| Unsupported(fault.0))?;
    interpreter.work_within(budget);
    let lowered = lower(model, &interpreter, &threads, &liveness, budget);
    Ok(Ok(Prepared { interpreter, threads, lowered }))
}

/// A table that is full because nobody wants to know any more is not full.
pub(crate) fn reason(unfinished: Unfinished, budget: &Budget) -> StopReason {
    match unfinished {
        Unfinished::TableFull => budget.stopped().unwrap_or(StopReason::Memory),
        Unfinished::Stopped(reason) => reason,
    }
}

fn analysed(
    model: &Model,
    sources: &SourceMap,
    options: &PushdownOptions,
    budget: &Budget,
) -> Result<PushdownReport, Unsupported> {
    let mut report = PushdownReport::nothing();
    let prepared = match prepare(model, sources, options.instances, budget)? {
        Ok(prepared) => prepared,
        Err(reason) => return Ok(stopped(reason, 0, report)),
    };
    report.threads = prepared.threads.all.iter().map(|thread| thread.name.clone()).collect();
    report.complete = prepared.threads.complete;
    let lowered = match &prepared.lowered {
        Ok(lowered) => lowered,
        Err(unfinished) => return Ok(stopped(reason(*unfinished, budget), 0, report)),
    };
    let system = &lowered.system;
    report.numbers = Numbers {
        shared_states: system.open.iter().filter(|open| **open).count() as u64,
        symbols: system.threads.iter().map(|thread| u64::from(thread.pds.symbols)).sum(),
        rules: system.rule_count() as u64,
        ..Numbers::default()
    };
    budget.counters().states.set(report.numbers.shared_states);
    if system.threads.iter().all(|thread| thread.bad.is_none()) {
        return Ok(holds(report, Guarantee::Exhaustive, 1));
    }
    let most = if system.threads.len() < 2 { Some(1) } else { options.contexts };
    let mut rounds = 0;
    loop {
        budget.counters().level.set(u64::from(rounds) + 1);
        let table = options.limits.memory_bytes.map_or(options.table, |most| options.table.within(most));
        let contexts = rounds as usize + 1;
        let analysed = match analyse(system, contexts, options.direction, table, budget) {
            Ok(analysed) => analysed,
            Err(unfinished) => return Ok(stopped(reason(unfinished, budget), rounds, report)),
        };
        report.numbers.transitions = analysed.transitions;
        report.numbers.nodes = report.numbers.nodes.max(analysed.nodes);
        rounds += 1;
        if let Some(failure) = &analysed.failure {
            return Ok(match counterexample(&prepared, lowered, failure, budget) {
                Ok(found) => violated(report, rounds, found),
                Err(unfinished) => stopped(reason(unfinished, budget), rounds - 1, report),
            });
        }
        if most.is_some_and(|most| rounds >= most) {
            let guarantee = match system.threads.len() < 2 {
                true => Guarantee::Exhaustive,
                false => Guarantee::Contexts(rounds),
            };
            return Ok(holds(report, guarantee, rounds));
        }
    }
}

fn holds(mut report: PushdownReport, guarantee: Guarantee, contexts: u32) -> PushdownReport {
    // Threads beyond those looked at may do what these do not.
    let undone = (!report.complete).then_some(StopReason::Partial);
    report.outcome.verdict = Verdict::conclude(false, undone);
    (report.outcome.guarantee, report.contexts) = (guarantee, contexts);
    report
}

fn violated(mut report: PushdownReport, contexts: u32, found: (Property, Trace)) -> PushdownReport {
    report.outcome.stats.violations.insert(found.0.kind, 1);
    report.outcome.verdict = Verdict::Violated;
    (report.outcome.guarantee, report.contexts) = (Guarantee::Contexts(contexts), contexts);
    (report.outcome.violation, report.outcome.counterexample) = (Some(found.0), Some(found.1));
    report
}
