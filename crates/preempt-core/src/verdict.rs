//! The answer, how far it reaches, and what it cost.

use crate::limits::{Bound, Cost};
use crate::property::{Property, PropertyKind};
use crate::trace::Trace;
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    Holds,
    Violated,
    Inconclusive(StopReason),
}

impl Verdict {
    /// What a search says at its end: whether it found a violation, and why part of its work was left undone, if so.
    /// Nowhere else does "nothing found" become [`Verdict::Holds`] (`preempt-cli/tests/layering.rs` looks for that).
    pub fn conclude(violated: bool, undone: Option<StopReason>) -> Verdict {
        match (violated, undone) {
            (true, _) => Verdict::Violated,
            (false, Some(reason)) => Verdict::Inconclusive(reason),
            (false, None) => Verdict::Holds,
        }
    }
}

/// Why a search ended before it had an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StopReason {
    States,
    Depth,
    Time,
    Memory,
    Interrupted,
    /// The search visits only part of the state space, and found nothing there.
    Partial,
}

/// What a "holds" rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Guarantee {
    Exhaustive,
    Bounded(Bound),
    /// Each thread has at most so many execution contexts; the threads take turns in round-robin order.
    Contexts(u32),
    /// Fingerprints instead of states: with this probability a state was missed, of those within the bound.
    Approximate {
        probability: f64,
        bound: Option<Bound>,
    },
    /// For any number of processes.
    Parameterised,
}

/// Everything that an engine returns.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    pub verdict: Verdict,
    pub guarantee: Guarantee,
    /// The violated property, with its counterexample where one was asked for.
    pub violation: Option<Property>,
    pub counterexample: Option<Trace>,
    pub stats: Stats,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stats {
    /// Distinct states stored.
    pub states: u64,
    /// Steps taken between stored states.
    pub transitions: u64,
    /// Expansions of an already expanded (state, process).
    pub revisits: u64,
    /// Complete runs of the stateless engine, over all bounds together; or random walks.
    pub executions: u64,
    /// Runs started and not completed.
    pub pruned: u64,
    /// The longest path, in steps, on which the search met a new state.
    pub depth: u64,
    pub time: Duration,
    pub peak_bytes: u64,
    /// What the memory was used for, where that is known.
    pub memory: Option<Memory>,
    /// What the levels count.
    pub unit: Cost,
    pub levels: Vec<Level>,
    pub violations: BTreeMap<PropertyKind, u64>,
    /// For a search that visits only part.
    pub coverage: Option<Coverage>,
}

/// How much a search has seen that visits only part of the state space.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Coverage {
    /// Bits of the store for each state found: the hash factor.
    pub hash_factor: Option<f64>,
    /// Estimated: of what the search met for the first time, so much was not taken for something met before.
    pub share: Option<f64>,
    /// The number of states is an estimate.
    pub states_are_estimated: bool,
    /// How many searches of each kind a swarm has made.
    pub searches: Vec<(String, u64)>,
}

/// In bytes, at the end of the search; the frontier at its largest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Memory {
    pub store: u64,
    pub frontier: u64,
    pub parents: u64,
}

/// What was new at one level of the cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Level {
    pub level: u32,
    pub states: u64,
    pub transitions: u64,
}
