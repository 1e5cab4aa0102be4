//! Searches that do not keep the states they met: they carry whole states along, and know a state again by its
//! fingerprint (`--store compact`) or by some bits (`--store bitstate`). What is not found is then not proved to be
//! absent, but what is found is real: it is replayed like everything else.
//!
//! * [`by_cost`]: in order of cost, with [`frontier`] and [`paths`];
//! * [`depth_first`]: along one path, also within a bound with the replicated storage of paper 000.

pub mod by_cost;
pub mod depth_first;
pub mod frontier;
pub mod paths;

use super::tally::Tally;
use super::verdict::{executed_again, lost, reported};
use super::ways::{Run, path_between, path_to_violation};
use super::{Counterexample, Figure, Goal, Order, Published, SearchOptions, SearchReport, Storage};
use crate::reduction::Reduction;
use crate::store::bits::Bits;
use crate::store::fingerprints::Fingerprints;
use crate::store::known::{Known, Reach};
use crate::store::sketch::Sketch;
use crate::successors::Successors;
use crate::{CheckError, Unsupported};
use by_cost::ByCost;
use depth_first::{DepthFirst, Rule};
use paths::Reached;
use preempt_core::{Bound, Budget, Guarantee, Limits, Memory, Progress, StopReason, Verdict};

/// What may differ between searches that are otherwise the same.
#[derive(Debug, Default)]
pub struct Variety<'a> {
    /// Of the hash functions.
    pub seed: u64,
    pub processes: Turn,
    pub transitions: Turn,
    /// Told of every new state.
    pub sketch: Option<&'a mut Sketch>,
}

/// The order in which a depth-first search tries what it can do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Turn {
    /// The last one first, as Spin does with processes.
    #[default]
    Usual,
    Reversed,
    /// By chance.
    Shuffled,
}

/// How a path ends in a violation: in its last state, or during a step of a process from there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    InState,
    During { process: u8, violation: u32 },
}

/// Bits of the store `bitstate` where nothing else is said: 64 MB.
const USUAL_BITS: u64 = 1 << 29;

/// A copy of each state for each number of preemptions up to the bound: not for any bound.
const LARGEST_REPLICATED: u32 = 255;

/// Searches with a store that does not keep states.
pub fn search<S: Successors>(
    system: S,
    options: &SearchOptions,
    goal: Goal,
    variety: Variety<'_>,
    progress: &mut dyn Progress,
) -> Result<SearchReport, CheckError> {
    if goal == Goal::All {
        return Err(Unsupported("every violation, with a store that does not keep states".into()).into());
    }
    let in_order = options.order == Order::ByCost;
    match options.store {
        Storage::Exact => Err(Unsupported("the exact store in a search that carries states".into()).into()),
        Storage::Compact { bits } => {
            let known = Fingerprints::new(bits, in_order);
            search_with(system, known, options, goal, variety, progress)
        }
        Storage::Bitstate { hashes, bits } => {
            let bits = bits.unwrap_or_else(|| bits_within(&options.limits, in_order));
            let Some(known) = Bits::new(bits, hashes, options.cost) else {
                return Err(Unsupported(format!(
                    "a store of {} bytes: there is not so much memory",
                    bits / 8
                ))
                .into());
            };
            search_with(system, known, options, goal, variety, progress)
        }
    }
}

/// Of the memory, a half is for what waits where that is much, and a quarter where it is one path.
fn bits_within(limits: &Limits, in_order: bool) -> u64 {
    let bits_of_each = if in_order { 4 } else { 6 };
    limits.memory_bytes.map_or(USUAL_BITS, |bytes| bytes.saturating_mul(bits_of_each))
}

fn search_with<S: Successors, K: Known>(
    system: S,
    known: K,
    options: &SearchOptions,
    goal: Goal,
    variety: Variety<'_>,
    progress: &mut dyn Progress,
) -> Result<SearchReport, CheckError> {
    let rule = match options.order {
        Order::ByCost => {
            return ByCost::new(system, known, variety, options, goal).run(progress);
        }
        Order::DepthFirst => Rule::Once,
        Order::Published(Published { figure, cycles: false, shortening: false }) => {
            match (figure, options.store) {
                (Figure::NaiveBounded, _) => Rule::Once,
                (Figure::ContextBounded, Storage::Bitstate { .. }) => Rule::Replicated,
                _ => return Err(not_published()),
            }
        }
        Order::Published(_) => return Err(not_published()),
        Order::Random(_) => return Err(Unsupported("a store for random walks".into()).into()),
    };
    if rule == Rule::Replicated && options.bound.is_none_or(|bound| bound > LARGEST_REPLICATED) {
        let most = LARGEST_REPLICATED;
        return Err(Unsupported(format!(
            "replicated storage needs a bound of at most {most}: it has a copy of each state for each number up to it"
        ))
        .into());
    }
    DepthFirst::new(system, known, rule, variety, options, goal).run(progress)
}

fn not_published() -> CheckError {
    Unsupported("a published search that must know more of a state than this store keeps".into()).into()
}

/// A new state has been met.
fn note(sketch: &mut Option<&mut Sketch>, state: &[u8]) {
    if let Some(sketch) = sketch {
        sketch.add(state);
    }
}

/// Executes a path again, within the budget. `processes` are those that led from each state to the next.
pub fn replayed<S: Successors>(
    system: &S,
    states: &[Reached],
    processes: &[u8],
    ending: Ending,
    fair_switch: bool,
    budget: &Budget,
) -> Result<Counterexample, StopReason> {
    let along: Vec<_> = states.iter().map(|reached| system.state_of(&reached.state)).collect();
    let meaning = system.reference();
    let mut steps = Vec::new();
    for (i, pair) in along.windows(2).enumerate() {
        let path = path_between(meaning, &pair[0], processes[i], &pair[1], states[i + 1].last);
        steps.extend(path.filter(|_| budget.exhausted().is_none()).ok_or_else(|| lost(budget))?);
    }
    if let Ending::During { process, violation } = ending {
        let path = along.last().and_then(|end| path_to_violation(meaning, end, process, violation));
        steps.extend(path.ok_or_else(|| lost(budget))?);
    }
    let initial = along.into_iter().next().ok_or_else(|| lost(budget))?;
    executed_again(meaning, &Run { initial, steps }, ending == Ending::InState, fair_switch, budget)
}

/// What the store knows of its own gaps decides what "nothing found" is worth.
pub fn hashed_report(
    options: &SearchOptions,
    reach: Reach,
    verdict: Verdict,
    errors: Vec<Counterexample>,
    mut tally: Tally,
    memory: Memory,
) -> SearchReport {
    tally.stats.time = tally.elapsed();
    let mut report = reported(options, verdict, errors, tally.stats, memory);
    match reach {
        Reach::Approximate(probability) => {
            let bound = options.bound.map(|most| Bound { unit: options.cost, most });
            report.outcome.guarantee = Guarantee::Approximate { probability, bound };
        }
        Reach::Partial(coverage) => {
            report.simplest = false;
            report.outcome.stats.coverage = Some(coverage);
            if verdict == Verdict::Holds {
                report.outcome.verdict = Verdict::Inconclusive(StopReason::Partial);
            }
        }
    }
    report
}

/// The reductions are for where one violation is looked for.
fn reduction_for(options: &SearchOptions, goal: Goal) -> Reduction {
    match (goal, options.order) {
        (Goal::First, Order::ByCost | Order::DepthFirst) => options.reduction,
        _ => Reduction::None,
    }
}
