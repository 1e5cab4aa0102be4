//! Any number of threads: a program without recursion is a thread-transition system ([`system`](mod@self)), and whether
//! something goes wrong in it is a question of coverability, which `preempt-wsts` decides: with a certificate that is checked,
//! or with a run, which is led back to the program and executed by the reference interpreter, with as many threads as it needs.
//!
//! There is no bound on threads, contexts or starts. With recursion local states would have no end: then there is too much to
//! be listed, and no answer. The interpreter has at most 255 processes; a run that needs more is reported as one that cannot be
//! shown.

mod system;

use crate::error::{Cap, Ended, Result, Unsupported, go_on, unsupported};
use crate::run::Run;
use crate::search::{Caps, Setting, start};
use crate::supported::supported;
use crate::turns::Turns;
use preempt_core::{
    Budget, Guarantee, Limits, Outcome, Progress, Property, Snapshot, SourceMap, Stats, StopReason, Trace,
    Verdict, run_supervised,
};
use preempt_model::Model;
use preempt_model::interpreter::MAX_PROCESSES;
use preempt_wsts::{CoverOptions, Engine, Work};
use std::time::Instant;
use system::{Local, STARTED, ThreadTransitionSystem, system};

/// How a program is checked.
#[derive(Debug, Clone, Default)]
pub struct AnyNumberOptions {
    /// Who decides the thread-transition system.
    pub engine: Engine,
    /// Beyond this there is too much to be listed.
    pub caps: Caps,
    /// Time and memory.
    pub limits: Limits,
}

/// The outcome, and what it took.
#[derive(Debug, Clone)]
pub struct AnyNumberReport {
    /// Verdict and counterexample.
    pub outcome: Outcome,
    /// Shared states of the thread-transition system.
    pub shared_states: u64,
    /// Its local states.
    pub local_states: u64,
    /// Its rules.
    pub rules: u64,
    /// What the engine has done.
    pub work: Work,
    /// Elements of the inductive basis and refuted targets of the certificate that was checked.
    pub certificate: Option<(usize, usize)>,
    /// Who decided.
    pub answered_by: Engine,
    /// Why there is no answer, where a limit is not the reason.
    pub why: Option<String>,
}

/// Is there a run, with however many threads, in which an assertion fails?
///
/// ```
/// use preempt_core::{Silent, Verdict};
/// use preempt_boolean::{BooleanOptions, load};
/// use preempt_rounds::any_number::{AnyNumberOptions, check};
///
/// // Any number of threads, and one of them at a time behind the door.
/// let text = "decl door := T, inside := F;
///             void main() begin
///               atomic_begin; assume(door); door := F; atomic_end;
///               assert(!inside); inside := T; inside := F; door := T;
///             end";
/// let options = BooleanOptions { any_threads: true, ..BooleanOptions::default() };
/// let loaded = load("door.bp", text, &options);
/// let model = loaded.model.expect("there are no mistakes in it");
/// let report = check(&model, &loaded.sources, &AnyNumberOptions::default(), &mut Silent)?;
/// assert_eq!(report.outcome.verdict, Verdict::Holds);
/// assert!(report.certificate.is_some(), "and it was checked");
/// # Ok::<(), preempt_rounds::Unsupported>(())
/// ```
pub fn check(
    model: &Model,
    sources: &SourceMap,
    options: &AnyNumberOptions,
    progress: &mut dyn Progress,
) -> std::result::Result<AnyNumberReport, Unsupported> {
    let (begin, budget) = (Instant::now(), Budget::within(&options.limits));
    let owned = (model.clone(), sources.clone(), options.clone(), budget.clone());
    let snapshot = || budget.counters().snapshot();
    let checked = run_supervised(&budget, progress, snapshot, move || {
        let (model, sources, options, budget) = &owned;
        decide(model, sources, options, budget)
    });
    let mut report = match checked.unwrap_or_else(|reason| Err(Ended::Stopped(reason))) {
        Ok(report) => report,
        Err(Ended::Unsupported(what)) => return Err(Unsupported(what)),
        Err(Ended::Stopped(reason)) => undecided(reason, None, options.engine),
        Err(Ended::TooMuch(cap)) => {
            let (reason, why) = match cap {
                Cap::Depth => (StopReason::Depth, "calls within calls: local states have no end"),
                Cap::States => (StopReason::States, "there are too many shared and local states"),
            };
            undecided(reason, Some(why.into()), options.engine)
        }
    };
    report.outcome.stats.time = begin.elapsed();
    report.outcome.stats.peak_bytes = budget.counters().bytes.get();
    Ok(report)
}

fn undecided(reason: StopReason, why: Option<String>, engine: Engine) -> AnyNumberReport {
    let outcome = Outcome {
        verdict: Verdict::Inconclusive(reason),
        guarantee: Guarantee::Parameterised,
        violation: None,
        counterexample: None,
        stats: Stats::default(),
    };
    AnyNumberReport {
        outcome,
        shared_states: 0,
        local_states: 0,
        rules: 0,
        work: Work::default(),
        certificate: None,
        answered_by: engine,
        why,
    }
}

fn decide(
    model: &Model,
    sources: &SourceMap,
    options: &AnyNumberOptions,
    budget: &Budget,
) -> Result<AnyNumberReport> {
    // Of a start that can be repeated one thread is enough to know what it does.
    let setting = Setting::new(model, sources, 1, budget)?;
    supported(model, &setting.threads)?;
    let mut turns = Turns::new(&setting, options.caps, budget);
    let start = start(&setting, &mut turns);
    let system = system(&start, &mut turns, &options.caps, budget)?;
    if let Some(why) = options.engine.refuses(&system.problem) {
        return unsupported(why);
    }
    let limits = Limits { time: None, ..options.limits };
    let cover = CoverOptions { engine: options.engine, limits, unreduced: false };
    let found = preempt_wsts::check(&system.problem, &cover, &mut Within(budget));
    go_on(budget)?;
    let mut report = undecided(StopReason::Partial, found.internal_error, found.answered_by);
    report.shared_states = system.shared_states as u64;
    report.local_states = system.local_states as u64;
    report.rules = system.steps.len() as u64;
    report.work = found.work;
    report.certificate = found.certificate.map(|certificate| {
        let elements = certificate.basis.map_or(0, |basis| basis.elements.len());
        (elements, certificate.refutations.len())
    });
    let outcome = &mut report.outcome;
    match (found.outcome.verdict, found.run) {
        (Verdict::Violated, Some(run)) => {
            match execute(&setting, &system, &mut turns, &run.transitions, budget)? {
                Some((violation, trace)) => {
                    outcome.verdict = Verdict::Violated;
                    outcome.stats.violations.insert(violation.kind, 1);
                    (outcome.violation, outcome.counterexample) = (Some(violation), Some(trace));
                }
                None => {
                    report.why = Some(format!(
                        "something goes wrong with more than {MAX_PROCESSES} threads, and the interpreter has no more: \
                     the run cannot be executed"
                    ));
                }
            }
        }
        // The certificate was checked.
        (Verdict::Holds, _) => outcome.verdict = Verdict::conclude(false, None),
        (verdict, _) => outcome.verdict = verdict,
    }
    Ok(report)
}

/// The run of the net as one of the program, replayed; nothing if it has more threads than the interpreter.
fn execute(
    setting: &Setting<'_>,
    system: &ThreadTransitionSystem,
    turns: &mut Turns<'_>,
    transitions: &[usize],
    budget: &Budget,
) -> Result<Option<(Property, Trace)>> {
    let mut run = Run::begin(setting);
    // Where every thread stands, and its process.
    let mut threads: Vec<(Local, usize)> = Vec::new();
    for (owner, thread) in (0..).zip(&setting.threads.all) {
        let Some(pid) = thread.pid else { continue };
        let stack = turns.stack(&setting.threads.initial.processes[pid]);
        let stack = if thread.exclusive { turns.exclusive(stack) } else { stack };
        threads.push((Local { owner, stack }, pid));
    }
    for transition in transitions {
        go_on(budget)?;
        let step = system.steps[*transition];
        let mover = threads.iter().position(|(local, _)| *local == step.mover);
        let mover = mover.unwrap_or_else(|| panic!("internal error: nobody stands where a thread goes on"));
        let (pid, processes) = (threads[mover].1, run.processes());
        let Some(stop) = step.stop else {
            run.turn(turns, pid, None, budget)?;
            return run.finish(budget).map(Some);
        };
        let started: Vec<u32> = turns.starts(stop.started).map(|(_, stack)| stack).collect();
        if processes + started.len() > MAX_PROCESSES {
            return Ok(None);
        }
        run.turn(turns, pid, Some(stop), budget)?;
        threads[mover].0.stack = stop.stack;
        let new = (processes..).zip(started).map(|(pid, stack)| (Local { owner: STARTED, stack }, pid));
        threads.extend(new);
    }
    panic!("internal error: the run ends before something goes wrong")
}

/// The net is decided within the budget of the whole.
struct Within<'a>(&'a Budget);

impl Progress for Within<'_> {
    fn update(&mut self, progress: &Snapshot) {
        let counters = self.0.counters();
        counters.states.set(progress.states);
        counters.transitions.set(progress.transitions);
    }

    fn stop(&self) -> Option<StopReason> {
        self.0.exhausted()
    }

    fn budget(&self) -> Budget {
        self.0.clone()
    }
}
