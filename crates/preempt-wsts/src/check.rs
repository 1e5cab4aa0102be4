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
use crate::stop::{Counters, Stop};
use crate::weight;
use crate::weight::net::{Diagrams, backward_by_weight};
use preempt_core::{
    Guarantee, Limits, Observer, Outcome, Progress, Property, PropertyKind, Stats, StopReason, Verdict,
};
use preempt_net::Problem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

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
pub struct Options {
    pub engine: Engine,
    pub limits: Limits,
    /// Search the net as it is, without structural reduction: to see what that is good for.
    pub unreduced: bool,
}

/// The answer, with what it rests on.
#[derive(Debug, Clone)]
pub struct Checked {
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
pub fn check(problem: &Problem, options: &Options, observer: &mut dyn Observer) -> Checked {
    let begin = Instant::now();
    let cancelled = AtomicBool::new(false);
    let counters = Counters::default();
    let stop = Stop {
        deadline: options.limits.time.map(|time| begin + time),
        limits: options.limits,
        cancelled: &cancelled,
        counters: &counters,
    };
    let (answer, engine, diagrams) = run_engines(problem, options, &stop, observer);
    let (answer, internal_error) = match verified(problem, &answer) {
        Ok(()) => (answer, None),
        Err(reason) => {
            let error = format!("the answer of the engine `{}` is wrong: {reason}", engine.name());
            (Answer::Unknown(StopReason::Partial), Some(error))
        }
    };
    let load = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    let stats = Stats {
        states: load(&counters.states),
        transitions: load(&counters.transitions),
        pruned: load(&counters.pruned),
        peak_bytes: load(&counters.bytes),
        time: begin.elapsed(),
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
    let outcome = Outcome {
        verdict,
        guarantee: if parametric { Guarantee::Parameterised } else { Guarantee::Exhaustive },
        violation: run.as_ref().map(|_| Property {
            kind: PropertyKind::Coverability,
            name: "the target can be covered".into(),
            location: None,
        }),
        counterexample: run.as_ref().and_then(|run| run.trace(problem, None)),
        stats,
    };
    Checked { outcome, run, certificate, fewest_tokens, diagrams, answered_by: engine, internal_error }
}

/// Fig. 3 without lifting has looked at all runs with fewer tokens than this one has at most, and there was none.
fn fewest(problem: &Problem, run: &Run, diagrams: Diagrams) -> bool {
    let markings = problem.replay(&run.initial, &run.transitions).unwrap_or_default();
    let most = markings.iter().map(preempt_net::Marking::weight).max().unwrap_or(0);
    // Below the heaviest target nothing was looked at; but with one target every run ends with its tokens.
    let heaviest = problem.targets.iter().map(preempt_net::Marking::weight).max().unwrap_or(0);
    most == diagrams.n && (most > heaviest || problem.targets.len() == 1)
}

fn verified(problem: &Problem, answer: &Answer) -> Result<(), String> {
    match answer {
        Answer::Covered(run) if problem.is_counterexample(&run.initial, &run.transitions) => Ok(()),
        Answer::Covered(_) => Err("its run cannot be replayed".into()),
        Answer::Safe(certificate) => checker::verify(problem, certificate),
        Answer::Unknown(_) => Ok(()),
    }
}

/// The engines run in threads of their own, so that whoever watches is asked all the time.
fn run_engines(
    problem: &Problem,
    options: &Options,
    stop: &Stop<'_>,
    observer: &mut dyn Observer,
) -> (Answer, Engine, Option<Diagrams>) {
    std::thread::scope(|scope| {
        let (send, receive) = mpsc::channel::<Told>();
        let (engine, options) = (options.engine, *options);
        scope.spawn(move || coordinate(problem, &options, stop, &send));
        loop {
            match receive.recv_timeout(Duration::from_millis(50)) {
                Ok(found) => {
                    stop.cancelled.store(true, Ordering::Relaxed);
                    return found;
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    return (Answer::Unknown(stop.reason().unwrap_or(StopReason::Partial)), engine, None);
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    observer.progress(&Progress {
                        states: stop.counters.states.load(Ordering::Relaxed),
                        transitions: stop.counters.transitions.load(Ordering::Relaxed),
                        frontier: stop.counters.frontier.load(Ordering::Relaxed),
                        ..Progress::default()
                    });
                    if observer.stop().is_some() {
                        stop.cancelled.store(true, Ordering::Relaxed);
                    }
                }
            }
        }
    })
}

type Told = (Answer, Engine, Option<Diagrams>);

fn coordinate(problem: &Problem, options: &Options, stop: &Stop<'_>, send: &mpsc::Sender<Told>) {
    let engine = options.engine;
    let all: Vec<usize> = (0..problem.targets.len()).collect();
    // Who has an answer ends the others; nobody listens to a second one.
    let tell = |answer: Answer, engine: Engine| {
        let _ = send.send((answer, engine, None));
        stop.cancelled.store(true, Ordering::Relaxed);
    };
    match engine {
        Engine::Basis if options.unreduced => tell(backward(problem, &all, stop), engine),
        Engine::Basis => tell(on_reduced(problem, &all, stop, backward), engine),
        Engine::Forward if options.unreduced => tell(forward(problem, &all, stop), engine),
        Engine::Forward => tell(on_reduced(problem, &all, stop, forward), engine),
        Engine::Weight if options.unreduced => {
            let (answer, diagrams) = backward_by_weight(problem, &all, true, stop);
            let _ = send.send((answer, engine, Some(diagrams)));
        }
        Engine::Weight => {
            let reduced = reduce(problem, &all);
            let (answer, diagrams) = backward_by_weight(&reduced.problem, &all, true, stop);
            let _ = send.send((reduced.lift(problem, answer), engine, Some(diagrams)));
        }
        Engine::WeightPlain => {
            let (answer, diagrams) = backward_by_weight(problem, &all, false, stop);
            let _ = send.send((answer, engine, Some(diagrams)));
        }
        Engine::Prechecks => {
            let (refutations, open) = prechecks(problem, all, stop);
            tell(proof_or(refutations, &open, stop), engine);
        }
        Engine::Auto => std::thread::scope(|scope| {
            let (all, tell) = (&all, &tell);
            scope.spawn(move || {
                if let found @ Answer::Covered(_) = on_reduced(problem, all, stop, forward) {
                    tell(found, Engine::Forward);
                }
            });
            let (refutations, open) = prechecks(problem, all.clone(), stop);
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
        }),
    }
}

/// The answer of a search on the reduced net, as one about the net itself.
fn on_reduced(
    problem: &Problem,
    open: &[usize],
    stop: &Stop<'_>,
    search: impl Fn(&Problem, &[usize], &Stop<'_>) -> Answer,
) -> Answer {
    let reduced = reduce(problem, open);
    reduced.lift(problem, search(&reduced.problem, open, stop))
}

/// The targets that are refuted, and those that are not.
fn prechecks(problem: &Problem, targets: Vec<usize>, stop: &Stop<'_>) -> (Vec<Refutation>, Vec<usize>) {
    let mut refutations = Vec::new();
    let mut open = Vec::new();
    for target in targets {
        match refute(problem, target, stop) {
            Some(refutation) => refutations.push(refutation),
            None => open.push(target),
        }
    }
    (refutations, open)
}

fn proof_or(refutations: Vec<Refutation>, open: &[usize], stop: &Stop<'_>) -> Answer {
    if open.is_empty() {
        Answer::Safe(Certificate { refutations, basis: None })
    } else {
        Answer::Unknown(stop.reason().unwrap_or(StopReason::Partial))
    }
}
