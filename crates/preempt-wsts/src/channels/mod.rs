//! Lossy channel systems: can something bad be reached? By basis (Fig. 1 of Bingham and Hu 2005, paper 004) where the values can
//! be listed, and by weight (Fig. 3) on decision diagrams. What is found is a run, with the messages that are lost on the way,
//! replayed by the exact rule; or an inductive basis, checked by [`checker`], which shares no code with the engines.

mod certificate;
pub mod checker;
mod diagrams;
mod symbolic_checker;

use crate::basis::{BasisOutcome, by_basis};
use crate::weight::net::Diagrams;
use crate::weight::slots::TABLES;
use crate::weight::{Layer, WeightOutcome, by_weight};
use diagrams::Slices;
use preempt_bdd::{Bdd, Full, TableOptions};
use preempt_core::{Budget, StopReason};
use preempt_net::WellStructured;
use preempt_net::channels::{ChannelSystem, State, Step};

/// One thing that happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A rule.
    Step(Step),
    /// The message at a place of a channel is lost.
    Lose {
        /// By its number.
        channel: usize,
        /// From the head, counted from 0.
        at: usize,
    },
}

/// From an initial state to a bad one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelRun {
    /// Where it begins.
    pub initial: State,
    /// In their order.
    pub events: Vec<Event>,
}

/// A set that nothing enters from outside, with all bad states in it and no initial one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChannelCertificate {
    /// By its smallest states.
    Basis(Vec<State>),
    /// What lies above the states of a diagram: where the smallest ones are too many to be listed.
    Diagram(DiagramProof),
}

/// A set of states of at most some weight, as a diagram over the bits of variables and messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiagramProof {
    /// The most messages on their way.
    pub weight: u64,
    /// A bit, and what follows if it is 0 and if it is 1: 0 is false, 1 is true, and `n + 2` is the n-th of this list.
    pub nodes: Vec<((Part, usize), usize, usize)>,
    /// The diagram itself, named as those are.
    pub root: usize,
}

/// What has bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// By its number.
    Variable(usize),
    /// Of a rule: both by their numbers. In no certificate.
    Parameter(usize, usize),
    /// Channel and slot, counted from the head: is a message there?
    Present(usize, usize),
    /// Channel, slot and field.
    Field(usize, usize, usize),
}

/// What is known about a system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChannelVerdict {
    /// The run was replayed.
    Reached(ChannelRun),
    /// The certificate was checked.
    Safe(ChannelCertificate),
    /// Nobody knows.
    Unknown(StopReason),
}

/// Which algorithm decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelEngine {
    /// Backward by basis.
    Basis,
    /// Backward by weight, on diagrams.
    Weight,
}

/// What was found, and what it cost.
#[derive(Debug, Clone)]
pub struct ChannelReport {
    /// With what it rests on.
    pub verdict: ChannelVerdict,
    /// By weight only.
    pub diagrams: Option<Diagrams>,
    /// Something that must not happen: a result was refuted by its verification.
    pub internal_error: Option<String>,
}

/// Elements of a certificate that are listed from a diagram, at most.
const MOST_ELEMENTS: usize = 1_000;

/// Can something bad be reached?
///
/// ```
/// use preempt_core::{Budget, SourceMap};
/// use preempt_net::channels::read_within;
/// use preempt_wsts::channels::{ChannelEngine, ChannelVerdict, check};
///
/// let text = "var x : 0..2 channel c : 0..2 init x = 0
///             rule send when x = 0 do x := 1, send c(2) rule take when recv c(n) do x := n bad x = 2";
/// let (system, _) = read_within(SourceMap::new().add("x.channels", text), text, &Budget::unlimited());
/// for engine in [ChannelEngine::Basis, ChannelEngine::Weight] {
///     let found = check(&system, engine, &Budget::unlimited());
///     assert!(matches!(found.verdict, ChannelVerdict::Reached(run) if run.events.len() == 2));
/// }
/// ```
pub fn check(system: &ChannelSystem, engine: ChannelEngine, budget: &Budget) -> ChannelReport {
    let (verdict, diagrams) = match engine {
        ChannelEngine::Basis => (basis(system, budget), None),
        ChannelEngine::Weight => {
            let mut diagrams = Diagrams::default();
            let mut verdict = None;
            // A small table first: most systems need no more, and a large one takes time to make.
            for (table, most_nodes) in TABLES {
                if verdict.is_none() && budget.exhausted().is_none() {
                    verdict = weight(system, table, most_nodes, &mut diagrams, budget).ok();
                }
            }
            let stopped = ChannelVerdict::Unknown(budget.exhausted().unwrap_or(StopReason::Memory));
            let verdict = verdict.unwrap_or(stopped);
            (verdict, Some(diagrams))
        }
    };
    let wrong = match &verdict {
        ChannelVerdict::Reached(run) => {
            run.replay(system).is_none().then(|| "its run cannot be replayed".to_string())
        }
        ChannelVerdict::Safe(certificate) => match checker::verify_within(system, certificate, budget) {
            Ok(Ok(())) => None,
            Ok(Err(reason)) => Some(reason),
            Err(reason) => {
                return ChannelReport {
                    verdict: ChannelVerdict::Unknown(reason),
                    diagrams,
                    internal_error: None,
                };
            }
        },
        ChannelVerdict::Unknown(_) => None,
    };
    match wrong {
        Some(reason) => ChannelReport {
            verdict: ChannelVerdict::Unknown(StopReason::Partial),
            diagrams,
            internal_error: Some(format!("the result of {engine:?} is wrong: {reason}")),
        },
        None => ChannelReport { verdict, diagrams, internal_error: None },
    }
}

fn basis(system: &ChannelSystem, budget: &Budget) -> ChannelVerdict {
    if system.too_large_to_list().is_some() {
        return ChannelVerdict::Unknown(StopReason::Partial);
    }
    match by_basis(system, &system.bad_basis(), &|state| system.is_initial(state), budget) {
        BasisOutcome::Stopped(reason) => ChannelVerdict::Unknown(reason),
        BasisOutcome::Inductive(elements) => ChannelVerdict::Safe(ChannelCertificate::Basis(elements)),
        BasisOutcome::Reached { first, steps } => {
            let (mut events, mut state) = (Vec::new(), first.clone());
            for (step, next) in steps {
                let Some(mut after) = system.fire(&state, &step) else { break };
                events.push(Event::Step(step));
                lose(&mut after, &next, &mut events);
                state = next;
            }
            ChannelVerdict::Reached(ChannelRun { initial: first, events })
        }
    }
}

/// Messages are lost until the state is the smaller one.
fn lose(state: &mut State, wanted: &State, events: &mut Vec<Event>) {
    for (channel, (word, wanted)) in state.words.iter_mut().zip(&wanted.words).enumerate() {
        // From the end: a message stays if it is the last one that is still wanted.
        let mut left = wanted.len();
        for at in (0..word.len()).rev() {
            if left > 0 && word[at] == wanted[left - 1] {
                left -= 1;
            } else {
                word.remove(at);
                events.push(Event::Lose { channel, at });
            }
        }
    }
}

/// In one table, which is left when it has more nodes than `most_nodes`. "Full" also when the budget is exhausted.
fn weight(
    system: &ChannelSystem,
    table: TableOptions,
    most_nodes: usize,
    diagrams: &mut Diagrams,
    budget: &Budget,
) -> Result<ChannelVerdict, Full> {
    let slices = Slices::new(system, table, budget)?;
    *diagrams = Diagrams::default();
    diagrams.delta = system.deflation().unwrap_or(0);
    let outcome = by_weight(&slices, true, &mut |weight, rounds| {
        let nodes = slices.space.nodes();
        diagrams.nodes = diagrams.nodes.max(nodes);
        (diagrams.weight, diagrams.rounds, diagrams.height) = (weight, rounds, slices.height(weight));
        budget.counters().states.set(nodes as u64);
        budget.counters().bytes.set(24 * nodes as u64);
        if nodes > most_nodes { Err(Full) } else { slices.space.go_on() }
    })?;
    match outcome {
        WeightOutcome::Reached { part, weight, layers } => {
            diagrams.n = weight;
            let start = slices.pick(&part, weight).ok_or(Full)?;
            let run = walk(system, &slices, &layers, start)?;
            Ok(run.map_or(ChannelVerdict::Unknown(StopReason::Partial), ChannelVerdict::Reached))
        }
        WeightOutcome::Converged { set, n } => {
            diagrams.n = n;
            let proof = match slices.minimal(&set, n, MOST_ELEMENTS)? {
                Some(elements) => ChannelCertificate::Basis(elements),
                None => ChannelCertificate::Diagram(slices.proof(&set, n)?),
            };
            Ok(ChannelVerdict::Safe(proof))
        }
    }
}

/// From a state in the last layer through earlier and earlier ones to a bad state.
fn walk(
    system: &ChannelSystem,
    slices: &Slices<'_>,
    layers: &[Layer<Bdd>],
    start: State,
) -> Result<Option<ChannelRun>, Full> {
    let first_with = |state: &State, before: usize| -> Result<Option<usize>, Full> {
        for (number, layer) in layers.iter().enumerate().take(before) {
            if slices.contains(&layer.set, layer.weight, state)? {
                return Ok(Some(number));
            }
        }
        Ok(None)
    };
    let steps = system.rules();
    let mut run = ChannelRun { initial: start.clone(), events: Vec::new() };
    let (mut state, mut before) = (start, layers.len());
    'next: while !system.is_bad(&state) {
        let Some(at) = first_with(&state, before)? else { return Ok(None) };
        before = at;
        if layers[at].lifted {
            for channel in 0..state.words.len() {
                for place in 0..state.words[channel].len() {
                    let mut fewer = state.clone();
                    fewer.words[channel].remove(place);
                    if first_with(&fewer, at + 1)?.is_some() {
                        run.events.push(Event::Lose { channel, at: place });
                        (state, before) = (fewer, at + 1);
                        continue 'next;
                    }
                }
            }
            return Ok(None);
        }
        for step in &steps {
            for after in WellStructured::fire(system, &state, step) {
                if first_with(&after, at)?.is_none() {
                    continue;
                }
                let Some(mut whole) = system.fire(&state, step) else { return Ok(None) };
                run.events.push(Event::Step(step.clone()));
                lose(&mut whole, &after, &mut run.events);
                state = after;
                continue 'next;
            }
        }
        return Ok(None);
    }
    Ok(Some(run))
}

impl ChannelRun {
    /// The states on the way, the first one included; nothing unless it begins initially, goes by the exact rule, and ends badly.
    pub fn replay(&self, system: &ChannelSystem) -> Option<Vec<State>> {
        if !system.is_initial(&self.initial) {
            return None;
        }
        let mut states = vec![self.initial.clone()];
        for event in &self.events {
            let state = states.last()?;
            states.push(match event {
                Event::Step(step) => system.fire(state, step)?,
                Event::Lose { channel, at } => {
                    let mut after = state.clone();
                    let word = after.words.get_mut(*channel).filter(|word| *at < word.len())?;
                    word.remove(*at);
                    after
                }
            });
        }
        system.is_bad(states.last()?).then_some(states)
    }
}
