//! The verdict of a search over states, how far it reaches, and what it cost.

use crate::limits::{Bound, Cost};
use crate::property::{Property, PropertyKind};
use crate::trace::Trace;
use std::collections::BTreeMap;
use std::time::Duration;

/// What is known about a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Nothing violates it, as far as the guarantee reaches.
    Holds,
    /// There is a run that violates it.
    Violated,
    /// The search ended before either was known.
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

/// Why a search ended before it had a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StopReason {
    /// The limit on states.
    States,
    /// Some paths were longer than the limit.
    Depth,
    /// The limit on time.
    Time,
    /// The limit on memory, or there was no more of it.
    Memory,
    /// By the user, or because the result is not needed any more.
    Interrupted,
    /// The search visits only part of the state space, and found nothing there.
    Partial,
}

/// What a "holds" rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Guarantee {
    /// All runs were looked at.
    Exhaustive,
    /// All runs within the bound were looked at.
    Bounded(Bound),
    /// Each thread has at most so many execution contexts; the threads take turns in round-robin order.
    Contexts(u32),
    /// Of each start that can be repeated at most so many threads, as the user has bounded them; and at most so many
    /// contexts of each thread, unless the answer is for any number of them.
    Instances {
        /// Threads of each such start.
        most: u32,
        /// `None`: any number.
        contexts: Option<u32>,
    },
    /// Fingerprints instead of states: with this probability a state was missed, of those within the bound.
    Approximate {
        /// An upper bound, from the size of the store.
        probability: f64,
        /// `None`: all runs.
        bound: Option<Bound>,
    },
    /// For any number of processes.
    Parameterised,
}

/// Everything that an engine returns.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// About one property.
    pub verdict: Verdict,
    /// What a "holds" rests on.
    pub guarantee: Guarantee,
    /// The violated property, with its counterexample where one was wanted.
    pub violation: Option<Property>,
    /// The run that violates it, replayed.
    pub counterexample: Option<Trace>,
    /// What the search cost.
    pub stats: Stats,
}

/// The numbers of a search over states.
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
    /// The longest path, in steps, on which the search met a new state; 0 where steps were not counted.
    pub depth: u64,
    /// From beginning to end.
    pub time: Duration,
    /// The most memory in use.
    pub peak_bytes: u64,
    /// What the memory was used for, where that is known.
    pub memory: Option<Memory>,
    /// What the levels count.
    pub unit: Cost,
    /// What was new at each level of the cost.
    pub levels: Vec<Level>,
    /// How many of each kind were met.
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
    /// The states.
    pub store: u64,
    /// What was waiting to be expanded.
    pub frontier: u64,
    /// How states were reached, for showing runs.
    pub parents: u64,
}

/// What was new at one level of the cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Level {
    /// So many of the unit.
    pub level: u32,
    /// Reached at this level and not before.
    pub states: u64,
    /// Taken at this level.
    pub transitions: u64,
}
