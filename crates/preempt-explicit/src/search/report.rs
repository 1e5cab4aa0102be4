//! From what a search has found to what is reported.

use super::{Counterexample, Order, SearchOptions, SearchReport};
use crate::reduction::Reduction;
use crate::store::known::Reach;
use preempt_core::{Bound, Guarantee, Memory, Outcome, Stats, StopReason, Verdict};

/// What a search has found.
pub struct Findings {
    pub verdict: Verdict,
    /// The cheapest first.
    pub errors: Vec<Counterexample>,
    pub stats: Stats,
    pub memory: Memory,
    /// What the store may have missed decides what "nothing found" is worth.
    pub reach: Reach,
}

pub fn report(options: &SearchOptions, findings: Findings) -> SearchReport {
    let Findings { mut verdict, errors, mut stats, memory, reach } = findings;
    if options.order == Order::DepthFirst {
        // Preemptions are not counted there, so nothing can be said by their number.
        stats.levels.clear();
    }
    if !options.levels && options.bound.is_none() {
        // Whoever asks for no order is told nothing that depends on it.
        stats.levels.clear();
        stats.depth = 0;
    }
    let bound = options.bound.map(|most| Bound { unit: options.cost, most });
    let mut guarantee = bound.map_or(Guarantee::Exhaustive, Guarantee::Bounded);
    // The reduction keeps the fewest preemptions, but not the fewest steps.
    let mut simplest = options.order == Order::ByCost && options.reduction == Reduction::None;
    match reach {
        Reach::Whole => {}
        Reach::Approximate(probability) => guarantee = Guarantee::Approximate { probability, bound },
        Reach::Partial(coverage) => {
            simplest = false;
            stats.coverage = Some(coverage);
            if verdict == Verdict::Holds {
                verdict = Verdict::Inconclusive(StopReason::Partial);
            }
        }
    }
    let (violation, counterexample) =
        errors.first().map(|error| (error.property.clone(), error.trace.clone())).unzip();
    let peak_bytes = memory.store + memory.frontier + memory.parents;
    let stats = Stats { peak_bytes, memory: Some(memory), unit: options.cost, ..stats };
    let visited = stats.states;
    let outcome = Outcome { verdict, guarantee, violation, counterexample, stats };
    SearchReport { outcome, errors, simplest, visited }
}
