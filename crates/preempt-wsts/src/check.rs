//! The entry and the strategy: pre-checks on every target, backward and forward at the same time; the first result wins.
//!
//! Proofs and runs are found by different means, and it is not known before which of them there is: so they are looked for
//! at the same time. Nothing leaves here unverified: a run is replayed by the firing rule, and a certificate is checked by
//! [`checker`](crate::checker). What there was no time to verify does not count.

use crate::backward::backward;
use crate::certificate::Certificate;
use crate::checker;
use crate::forward::forward;
use crate::reduce::reduce;
use crate::refute::Refuter;
use crate::run::{Coverability, Run};
use crate::weight;
use crate::weight::net::{Diagrams, backward_by_weight};
use preempt_core::{
    Budget, Counters, Guarantee, Limits, Outcome, Progress, Property, PropertyKind, Stats, StopReason,
    Verdict, run_supervised,
};
use preempt_net::Problem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Which algorithm decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Engine {
    /// Pre-checks, backward and forward at the same time.
    #[default]
    Auto,
    /// Only the pre-checks: they prove, or they say nothing.
    Prechecks,
    /// Only backward by basis (Fig. 1 of Bingham and Hu 2005).
    Basis,
    /// Only backward by weight (Fig. 3), with the optimisation of section 4.1.
    Weight,
    /// Fig. 3 as it stands, on the net as it is. Slower; but a run that it finds has the fewest tokens.
    WeightPlain,
    /// Only forward: it finds a run, or it says nothing.
    Forward,
}

impl Engine {
    /// Every engine, the default first.
    pub const ALL: [Engine; 6] = [
        Engine::Auto,
        Engine::Prechecks,
        Engine::Basis,
        Engine::Weight,
        Engine::WeightPlain,
        Engine::Forward,
    ];

    /// Why the engine does not apply to the problem, if it does not.
    pub fn refuses(self, problem: &Problem) -> Option<&'static str> {
        match self {
            Engine::Weight => {
                let all: Vec<usize> = (0..problem.targets.len()).collect();
                weight::net::refuses(&reduce(problem, &all).problem, true)
            }
            Engine::WeightPlain => weight::net::refuses(problem, false),
            Engine::Auto | Engine::Prechecks | Engine::Basis | Engine::Forward => None,
        }
    }

    /// As it is written on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Auto => "auto",
            Engine::Prechecks => "prechecks",
            Engine::Basis => "basis",
            Engine::Weight => "weight",
            Engine::WeightPlain => "weight-plain",
            Engine::Forward => "forward",
        }
    }
}

/// How a problem is decided.
#[derive(Debug, Clone, Copy, Default)]
pub struct CoverOptions {
    /// Which algorithm decides.
    pub engine: Engine,
    /// Of the searches together; the time is that of the verification, too.
    pub limits: Limits,
    /// Search the net as it is, without structural reduction: to see what that is good for.
    pub unreduced: bool,
}

/// The outcome, with what it rests on.
#[derive(Debug, Clone)]
pub struct CoverReport {
    /// "Violated" means that a target can be covered; the counterexample is a run to it.
    pub outcome: Outcome,
    /// For "violated".
    pub run: Option<Run>,
    /// For "holds"; verified already.
    pub certificate: Option<Certificate>,
    /// No run to a target has fewer tokens at once. Claimed only where it is proven; otherwise the run was just
    /// found.
    pub fewest_tokens: bool,
    /// What the engine by weight needed.
    pub diagrams: Option<Diagrams>,
    /// What the searches by basis and forward have done.
    pub work: Work,
    /// The engine that decided.
    pub answered_by: Engine,
    /// Something that must not happen: an engine's result was refuted by its verification. The verdict is then
    /// inconclusive.
    pub internal_error: Option<String>,
}

/// What the searches have done, each in its own units.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// Elements of the basis, backward.
    pub elements: u64,
    /// Elements that an invariant has shown to be unreachable.
    pub pruned: u64,
    /// Predecessors that were computed, backward.
    pub predecessors: u64,
    /// Markings that were met, forward.
    pub markings: u64,
    /// Transitions that were fired, forward.
    pub firings: u64,
}

impl Work {
    fn counted(counters: &Counters) -> Work {
        let (markings, firings) = (counters.markings.get(), counters.firings.get());
        Work {
            elements: counters.states.get().saturating_sub(markings),
            pruned: counters.pruned.get(),
            predecessors: counters.transitions.get().saturating_sub(firings),
            markings,
            firings,
        }
    }
}

/// Can a target be covered?
///
/// ```
/// use preempt_core::{Silent, SourceMap, Verdict};
/// use preempt_net::spec;
/// use preempt_wsts::{CoverOptions, check};
///
/// // One token for any number of processes: can two of them be in their critical sections?
/// let text = "vars idle critical token
///             rules idle >= 1, token >= 1 -> idle' = idle - 1, token' = token - 1, critical' = critical + 1;
///                   critical >= 1 -> critical' = critical - 1, idle' = idle + 1, token' = token + 1;
///             init idle >= 1, critical = 0, token = 1
///             target critical >= 2";
/// let mut sources = SourceMap::new();
/// let (problem, mistakes) = spec::read(sources.add("mutex.spec", text), text);
/// assert!(mistakes.is_empty());
/// let report = check(&problem, &CoverOptions::default(), &mut Silent);
/// assert_eq!(report.outcome.verdict, Verdict::Holds);
/// assert!(report.certificate.is_some(), "and it has been checked");
/// ```
pub fn check(problem: &Problem, options: &CoverOptions, progress: &mut dyn Progress) -> CoverReport {
    let begin = Instant::now();
    let job = Budget::within(&Limits { time: options.limits.time, ..Limits::default() });
    let budgets = Budgets { searches: job.part(&options.limits), job };
    let owned = (problem.clone(), *options, budgets.clone());
    let snapshot = || budgets.searches.counters().snapshot();
    let checked = run_supervised(&budgets.job, progress, snapshot, move || {
        let (problem, options, budgets) = &owned;
        concluded(problem, options, budgets, run_engines(problem, options, &budgets.searches))
    });
    let mut report = checked.unwrap_or_else(|reason| {
        let result = Coverability::Unknown(reason);
        concluded(problem, options, &budgets, Decided { result, engine: options.engine, diagrams: None })
    });
    report.outcome.stats.time = begin.elapsed();
    report
}

/// Clones are the same budgets.
#[derive(Clone)]
struct Budgets {
    /// Of the whole check: verification and the making of the run are within it.
    job: Budget,
    /// Its part for the searches: the first one to decide ends it.
    searches: Budget,
}

/// What a step of a trace takes, about.
const TRACE_STEP_BYTES: u64 = 600;

/// Verifies what an engine has found, and makes the run for people.
fn concluded(
    problem: &Problem,
    options: &CoverOptions,
    budgets: &Budgets,
    Decided { result, engine, diagrams }: Decided,
) -> CoverReport {
    let (result, internal_error) = match verified(problem, &result, &budgets.job) {
        Ok(()) => (result, None),
        Err(Unverified::Stopped(reason)) => (Coverability::Unknown(reason), None),
        Err(Unverified::Wrong(reason)) => {
            let error = format!("the result of the engine `{}` is wrong: {reason}", engine.name());
            (Coverability::Unknown(StopReason::Partial), Some(error))
        }
    };
    let counters = budgets.searches.counters();
    // There are no states to count: what was done is in `work`, or in the diagrams.
    let stats = Stats { peak_bytes: counters.bytes.get(), ..Stats::default() };
    let work = if diagrams.is_some() { Work::default() } else { Work::counted(counters) };
    let (verdict, run, certificate) = match result {
        Coverability::Covered(run) => (Verdict::Violated, Some(run), None),
        // The certificate was checked: nothing is left to be done.
        Coverability::Safe(certificate) => (Verdict::conclude(false, None), None, Some(certificate)),
        Coverability::Unknown(reason) => (Verdict::Inconclusive(reason), None, None),
    };
    let fewest_tokens = match (&run, diagrams) {
        (Some(run), Some(diagrams)) if engine == Engine::WeightPlain => fewest(problem, run, diagrams),
        _ => false,
    };
    let parametric = problem.initial.iter().any(|range| range.high.is_none());
    // It has been replayed; only the words for it may be too many.
    let bytes = |run: &Run| run.transitions.len() as u64 * TRACE_STEP_BYTES;
    let fits = |run: &&Run| options.limits.memory_bytes.is_none_or(|most| bytes(run) <= most);
    let outcome = Outcome {
        verdict,
        guarantee: if parametric { Guarantee::Parameterised } else { Guarantee::Exhaustive },
        violation: run
            .as_ref()
            .map(|_| Property::new(PropertyKind::Coverability, "the target can be covered".into(), None)),
        counterexample: run.as_ref().filter(fits).and_then(|run| run.trace(problem, None, &budgets.job)),
        stats,
    };
    CoverReport {
        outcome,
        run,
        certificate,
        fewest_tokens,
        diagrams,
        work,
        answered_by: engine,
        internal_error,
    }
}

/// Fig. 3 without lifting has looked at all runs with fewer tokens than this one has at most, and there was none.
fn fewest(problem: &Problem, run: &Run, diagrams: Diagrams) -> bool {
    let most = problem.most_tokens(&run.initial, &run.transitions).unwrap_or(0);
    // Below the heaviest target nothing was looked at; but with one target every run ends with its tokens.
    let heaviest = problem.targets.iter().map(preempt_net::Marking::weight).max().unwrap_or(0);
    most == diagrams.n && (most > heaviest || problem.targets.len() == 1)
}

/// Why a result does not count.
enum Unverified {
    Wrong(String),
    Stopped(StopReason),
}

fn verified(problem: &Problem, result: &Coverability, budget: &Budget) -> Result<(), Unverified> {
    let stopped = |reason: StopReason| Err(Unverified::Stopped(reason));
    match result {
        Coverability::Covered(run) => {
            match run.is_counterexample(problem, &|| budget.exhausted().is_some()) {
                Some(true) => Ok(()),
                Some(false) => Err(Unverified::Wrong("its run cannot be replayed".into())),
                None => stopped(budget.stopped().unwrap_or(StopReason::Partial)),
            }
        }
        Coverability::Safe(certificate) => match checker::verify_within(problem, certificate, budget) {
            Ok(verdict) => verdict.map_err(Unverified::Wrong),
            Err(reason) => stopped(reason),
        },
        Coverability::Unknown(_) => Ok(()),
    }
}

/// The result of an engine.
struct Decided {
    result: Coverability,
    engine: Engine,
    diagrams: Option<Diagrams>,
}

fn run_engines(problem: &Problem, options: &CoverOptions, budget: &Budget) -> Decided {
    let engine = options.engine;
    let all: Vec<usize> = (0..problem.targets.len()).collect();
    let decided = |result: Coverability| Decided { result, engine, diagrams: None };
    let by_weight =
        |(result, diagrams): (Coverability, Diagrams)| Decided { result, engine, diagrams: Some(diagrams) };
    match engine {
        Engine::Basis if options.unreduced => decided(backward(problem, &all, budget)),
        Engine::Basis => decided(on_reduced(problem, &all, budget, backward)),
        Engine::Forward if options.unreduced => decided(forward(problem, &all, budget)),
        Engine::Forward => decided(on_reduced(problem, &all, budget, forward)),
        Engine::Weight if options.unreduced => by_weight(backward_by_weight(problem, &all, true, budget)),
        Engine::Weight => {
            let reduced = reduce(problem, &all);
            let (result, diagrams) = backward_by_weight(&reduced.problem, &all, true, budget);
            by_weight((reduced.lift(problem, result), diagrams))
        }
        Engine::WeightPlain => by_weight(backward_by_weight(problem, &all, false, budget)),
        Engine::Prechecks => {
            let (refuter, open) = prechecks(problem, &all, budget);
            decided(match open.is_empty() {
                true => Coverability::Safe(refuter.certificate(true)),
                false => Coverability::Unknown(budget.exhausted().unwrap_or(StopReason::Partial)),
            })
        }
        Engine::Auto => side_by_side(problem, &all, budget),
    }
}

/// For the forward search.
const STACK: usize = 64 << 20;
/// The searches have so much time before the pre-checks begin, which solve linear programs: most nets are decided then, and a
/// machine of two cores has them for the two searches.
const HEAD_START: Duration = Duration::from_millis(20);

/// Pre-checks, backward and forward at the same time. The first one to decide ends the others; a second result is not looked
/// at, and if there is none, nothing is known. Where the pre-checks refute some of the targets and not all, backward begins
/// again with the others.
fn side_by_side(problem: &Problem, all: &[usize], budget: &Budget) -> Decided {
    let (first, is_decided) = (Mutex::new(None), Condvar::new());
    let gave_up = AtomicBool::new(false);
    let decide = |result: Coverability, engine: Engine| {
        let decided = Decided { result, engine, diagrams: None };
        first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(decided);
        is_decided.notify_all();
        budget.stop(StopReason::Interrupted);
    };
    let early = budget.part(budget.limits());
    std::thread::scope(|scope| {
        // A run is unwound by recursion, as deep as its loops are nested. Without the thread the others go on alone.
        let _ = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || {
            if let covered @ Coverability::Covered(_) = on_reduced(problem, all, budget, forward) {
                decide(covered, Engine::Forward);
            }
        });
        // With all targets, while it is not known which of them are refuted.
        let began = std::thread::Builder::new().spawn_scoped(scope, || {
            let result = on_reduced(problem, all, &early, backward);
            count_too(&early, budget);
            if matches!(result, Coverability::Unknown(_)) {
                gave_up.store(true, Ordering::Relaxed);
                is_decided.notify_all();
            } else {
                decide(result, Engine::Basis);
            }
        });
        let waiting = first.lock().unwrap_or_else(PoisonError::into_inner);
        let both_search = |first: &mut Option<Decided>| first.is_none() && !gave_up.load(Ordering::Relaxed);
        let waited = is_decided.wait_timeout_while(waiting, HEAD_START, both_search);
        if waited.unwrap_or_else(PoisonError::into_inner).0.is_some() {
            return;
        }
        let (refuter, open) = prechecks(problem, all, budget);
        if open.is_empty() && budget.exhausted().is_none() {
            return decide(Coverability::Safe(refuter.certificate(true)), Engine::Prechecks);
        }
        if open.len() == all.len() && began.is_ok() {
            return;
        }
        early.stop(StopReason::Interrupted);
        match on_reduced(problem, &open, budget, backward) {
            Coverability::Safe(mut certificate) => {
                certificate.refutations = refuter.certificate(false).refutations;
                decide(Coverability::Safe(certificate), Engine::Basis);
            }
            covered @ Coverability::Covered(_) => decide(covered, Engine::Basis),
            // Forward goes on alone.
            Coverability::Unknown(_) => {}
        }
    });
    let decided = first.into_inner().unwrap_or_else(PoisonError::into_inner);
    decided.unwrap_or_else(|| Decided {
        result: Coverability::Unknown(
            budget.exhausted().or(early.exhausted()).unwrap_or(StopReason::Partial),
        ),
        engine: Engine::Auto,
        diagrams: None,
    })
}

/// What a part has counted, as work of the whole.
fn count_too(part: &Budget, whole: &Budget) {
    let (from, to) = (part.counters(), whole.counters());
    to.states.add(from.states.get());
    to.transitions.add(from.transitions.get());
    to.pruned.add(from.pruned.get());
    to.bytes.add(from.bytes.get());
}

/// The result of a search on the reduced net, as one about the net itself.
fn on_reduced(
    problem: &Problem,
    open: &[usize],
    budget: &Budget,
    search: impl Fn(&Problem, &[usize], &Budget) -> Coverability,
) -> Coverability {
    let reduced = reduce(problem, open);
    reduced.lift(problem, search(&reduced.problem, open, budget))
}

/// Those of the targets that are not refuted, lightest first: what refutes one often refutes those above it.
fn prechecks<'p>(problem: &'p Problem, targets: &[usize], budget: &'p Budget) -> (Refuter<'p>, Vec<usize>) {
    let mut refuter = Refuter::new(problem, budget);
    let mut ordered = targets.to_vec();
    ordered.sort_by_key(|target| problem.targets[*target].weight());
    let mut open: Vec<usize> = ordered
        .into_iter()
        .filter(|target| budget.exhausted().is_some() || !refuter.refutes(*target))
        .collect();
    open.sort_unstable();
    (refuter, open)
}
