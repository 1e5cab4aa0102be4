//! The strategy: pre-checks on every target and then backward, with forward at their side; the first answer wins.
//!
//! Nothing leaves here unverified: a run is replayed by the firing rule, and a certificate is checked by
//! [`checker`](crate::checker).

use crate::answer::{Answer, Run};
use crate::backward::backward;
use crate::certificate::{Certificate, Refutation};
use crate::checker;
use crate::forward::forward;
use crate::reduce::reduce;
use crate::refute::refute;
use crate::stop::Stop;
use crate::weight;
use crate::weight::net::{Diagrams, backward_by_weight};
use preempt_core::{
    Budget, Guarantee, Limits, Outcome, Progress, Property, PropertyKind, Stats, StopReason, Verdict,
    run_supervised,
};
use preempt_net::Problem;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Engine {
    /// Pre-checks and then backward, with forward at their side.
    #[default]
    Auto,
    /// Only the pre-checks: they prove, or they say nothing.
    Prechecks,
    /// Only backward by basis (Fig. 1).
    Basis,
    /// Only backward by weight (Fig. 3), with the optimisation of section 4.1.
    Weight,
    /// Fig. 3 as it stands, on the net as it is. Slower; but a run that it finds has the fewest tokens.
    WeightPlain,
    /// Only forward: it finds a run, or it says nothing.
    Forward,
}

impl Engine {
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

#[derive(Debug, Clone, Copy, Default)]
pub struct CoverOptions {
    pub engine: Engine,
    pub limits: Limits,
    /// Search the net as it is, without structural reduction: to see what that is good for.
    pub unreduced: bool,
}

/// The answer, with what it rests on.
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
    /// The engine that found the answer.
    pub answered_by: Engine,
    /// Something that must not happen: an engine's answer was refuted by its verification. The verdict is then
    /// inconclusive.
    pub internal_error: Option<String>,
}

/// Can a target be covered?
pub fn check(problem: &Problem, options: &CoverOptions, progress: &mut dyn Progress) -> CoverReport {
    let (begin, stop) = (Instant::now(), Arc::new(Stop::within(options.limits)));
    let owned = (problem.clone(), *options, Arc::clone(&stop));
    let checked = run_supervised(
        &stop.budget,
        progress,
        || stop.counters.snapshot(),
        move || {
            let (problem, options, stop) = &owned;
            whole(problem, options, stop)
        },
    );
    let mut checked = checked.unwrap_or_else(|reason| {
        let told = Told { answer: Answer::Unknown(reason), engine: options.engine, diagrams: None };
        concluded(problem, options, &stop, told)
    });
    checked.outcome.stats.time = begin.elapsed();
    checked
}

/// What a step takes when it is told, about.
const TOLD_STEP_BYTES: u64 = 600;

/// The engines, the verification of what they say, and the run for people.
fn whole(problem: &Problem, options: &CoverOptions, stop: &Stop) -> CoverReport {
    concluded(problem, options, stop, run_engines(problem, options, stop))
}

fn concluded(problem: &Problem, options: &CoverOptions, stop: &Stop, told: Told) -> CoverReport {
    let Told { answer, engine, diagrams } = told;
    let (answer, internal_error) = match verified(problem, &answer, &stop.budget) {
        Ok(()) => (answer, None),
        Err(Unverified::Stopped(reason)) => (Answer::Unknown(reason), None),
        Err(Unverified::Wrong(reason)) => {
            let error = format!("the answer of the engine `{}` is wrong: {reason}", engine.name());
            (Answer::Unknown(StopReason::Partial), Some(error))
        }
    };
    let snapshot = stop.counters.snapshot();
    let stats = Stats {
        states: snapshot.states,
        transitions: snapshot.transitions,
        pruned: stop.counters.pruned.load(Ordering::Relaxed),
        peak_bytes: snapshot.bytes,
        depth: match &answer {
            Answer::Covered(run) => run.transitions.len() as u64,
            _ => 0,
        },
        ..Stats::default()
    };
    let (verdict, run, certificate) = match answer {
        Answer::Covered(run) => (Verdict::Violated, Some(run), None),
        // The certificate was checked: nothing is left to be done.
        Answer::Safe(certificate) => (Verdict::conclude(false, None), None, Some(certificate)),
        Answer::Unknown(reason) => (Verdict::Inconclusive(reason), None, None),
    };
    let fewest_tokens = match (&run, diagrams) {
        (Some(run), Some(diagrams)) if engine == Engine::WeightPlain => fewest(problem, run, diagrams),
        _ => false,
    };
    let parametric = problem.initial.iter().any(|range| range.high.is_none());
    // It has been replayed; only the words for it may be too many.
    let bytes = |run: &Run| run.transitions.len() as u64 * TOLD_STEP_BYTES;
    let may_be_told = |run: &&Run| options.limits.memory_bytes.is_none_or(|most| bytes(run) <= most);
    let outcome = Outcome {
        verdict,
        guarantee: if parametric { Guarantee::Parameterised } else { Guarantee::Exhaustive },
        violation: run
            .as_ref()
            .map(|_| Property::new(PropertyKind::Coverability, "the target can be covered".into(), None)),
        counterexample: run
            .as_ref()
            .filter(may_be_told)
            .and_then(|run| run.trace(problem, None, &stop.budget)),
        stats,
    };
    CoverReport { outcome, run, certificate, fewest_tokens, diagrams, answered_by: engine, internal_error }
}

/// Fig. 3 without lifting has looked at all runs with fewer tokens than this one has at most, and there was none.
fn fewest(problem: &Problem, run: &Run, diagrams: Diagrams) -> bool {
    let most = problem.most_tokens(&run.initial, &run.transitions).unwrap_or(0);
    // Below the heaviest target nothing was looked at; but with one target every run ends with its tokens.
    let heaviest = problem.targets.iter().map(preempt_net::Marking::weight).max().unwrap_or(0);
    most == diagrams.n && (most > heaviest || problem.targets.len() == 1)
}

/// Why an answer does not count.
enum Unverified {
    Wrong(String),
    Stopped(StopReason),
}

fn verified(problem: &Problem, answer: &Answer, budget: &Budget) -> Result<(), Unverified> {
    let stopped = |reason: StopReason| Err(Unverified::Stopped(reason));
    match answer {
        Answer::Covered(run) => match run.is_counterexample(problem, &|| budget.exhausted().is_some()) {
            Some(true) => Ok(()),
            Some(false) => Err(Unverified::Wrong("its run cannot be replayed".into())),
            None => stopped(budget.stopped().unwrap_or(StopReason::Partial)),
        },
        Answer::Safe(certificate) => match checker::verify_within(problem, certificate, budget) {
            Ok(verdict) => verdict.map_err(Unverified::Wrong),
            Err(reason) => stopped(reason),
        },
        Answer::Unknown(_) => Ok(()),
    }
}

/// What an engine has to say.
struct Told {
    answer: Answer,
    engine: Engine,
    diagrams: Option<Diagrams>,
}

fn run_engines(problem: &Problem, options: &CoverOptions, stop: &Stop) -> Told {
    let engine = options.engine;
    let all: Vec<usize> = (0..problem.targets.len()).collect();
    let told = |answer: Answer| Told { answer, engine, diagrams: None };
    let by_weight =
        |(answer, diagrams): (Answer, Diagrams)| Told { answer, engine, diagrams: Some(diagrams) };
    match engine {
        Engine::Basis if options.unreduced => told(backward(problem, &all, stop)),
        Engine::Basis => told(on_reduced(problem, &all, stop, backward)),
        Engine::Forward if options.unreduced => told(forward(problem, &all, stop)),
        Engine::Forward => told(on_reduced(problem, &all, stop, forward)),
        Engine::Weight if options.unreduced => by_weight(backward_by_weight(problem, &all, true, stop)),
        Engine::Weight => {
            let reduced = reduce(problem, &all);
            let (answer, diagrams) = backward_by_weight(&reduced.problem, &all, true, stop);
            by_weight((reduced.lift(problem, answer), diagrams))
        }
        Engine::WeightPlain => by_weight(backward_by_weight(problem, &all, false, stop)),
        Engine::Prechecks => {
            let (refutations, open) = prechecks(problem, all, stop);
            told(proof_or(refutations, &open, stop))
        }
        Engine::Auto => side_by_side(problem, &all, stop),
    }
}

/// For the forward search.
const STACK: usize = 64 << 20;

/// Pre-checks and then backward, with forward at their side. Who has an answer ends the others; nobody listens to a second
/// one, and if nobody has one, it is unknown.
fn side_by_side(problem: &Problem, all: &[usize], stop: &Stop) -> Told {
    let first: Mutex<Option<Told>> = Mutex::new(None);
    let tell = |answer: Answer, engine: Engine| {
        first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(Told {
            answer,
            engine,
            diagrams: None,
        });
        stop.answered();
    };
    std::thread::scope(|scope| {
        // A run is unwound by recursion, as deep as its loops are nested. Without the thread the others go on alone.
        let _ = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || {
            if let found @ Answer::Covered(_) = on_reduced(problem, all, stop, forward) {
                tell(found, Engine::Forward);
            }
        });
        let (refutations, open) = prechecks(problem, all.to_vec(), stop);
        if open.is_empty() {
            return tell(proof_or(refutations, &open, stop), Engine::Prechecks);
        }
        match on_reduced(problem, &open, stop, backward) {
            Answer::Safe(mut certificate) => {
                certificate.refutations = refutations;
                tell(Answer::Safe(certificate), Engine::Basis);
            }
            found @ Answer::Covered(_) => tell(found, Engine::Basis),
            // Forward goes on, and if it finds nothing either, nothing is told.
            Answer::Unknown(_) => {}
        }
    });
    let told = first.into_inner().unwrap_or_else(PoisonError::into_inner);
    told.unwrap_or_else(|| Told {
        answer: Answer::Unknown(stop.reason().unwrap_or(StopReason::Partial)),
        engine: Engine::Auto,
        diagrams: None,
    })
}

/// The answer of a search on the reduced net, as one about the net itself.
fn on_reduced(
    problem: &Problem,
    open: &[usize],
    stop: &Stop,
    search: impl Fn(&Problem, &[usize], &Stop) -> Answer,
) -> Answer {
    let reduced = reduce(problem, open);
    reduced.lift(problem, search(&reduced.problem, open, stop))
}

/// The targets that are refuted, and those that are not.
fn prechecks(problem: &Problem, targets: Vec<usize>, stop: &Stop) -> (Vec<Refutation>, Vec<usize>) {
    let mut refutations = Vec::new();
    let mut open = Vec::new();
    for target in targets {
        let refutation = if stop.reason().is_some() { None } else { refute(problem, target, stop) };
        match refutation {
            Some(refutation) => refutations.push(refutation),
            None => open.push(target),
        }
    }
    (refutations, open)
}

fn proof_or(refutations: Vec<Refutation>, open: &[usize], stop: &Stop) -> Answer {
    if open.is_empty() {
        Answer::Safe(Certificate { refutations, basis: None })
    } else {
        Answer::Unknown(stop.reason().unwrap_or(StopReason::Partial))
    }
}
