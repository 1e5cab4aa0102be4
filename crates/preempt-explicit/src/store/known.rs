//! What the search in order of cost must know of the states it met, where it does not keep the states: fingerprints
//! ([`super::fingerprints`]) or bits ([`super::bits`]).

use super::hash::StateHash;
use preempt_core::Coverage;

pub trait Known {
    /// Where a state is remembered, until the next one is met or queued.
    type Place: Copy;

    /// Meets a state. Is it new?
    fn meet(&mut self, state: StateHash, processes: usize) -> (Self::Place, bool);

    /// Meets something else that is to be known, about a state. Is it new?
    fn remember(&mut self, thing: StateHash) -> bool;

    /// Asks for the memory that meeting it will need.
    fn prefetch(&self, state: StateHash);

    /// The same for what is known of one of its processes, and of everybody queued from level `now`, after so many steps: where
    /// that lies elsewhere.
    fn prefetch_process(&self, _state: StateHash, _process: usize) {}

    fn prefetch_queued(&self, _state: StateHash, _now: u32, _steps: u64) {}

    /// Was the process expanded, alone or among the others?
    fn has_run(&self, place: Self::Place, process: usize) -> bool;

    /// Was it expanded alone?
    fn has_run_alone(&self, place: Self::Place, process: usize) -> bool;

    fn ran_alone(&mut self, place: Self::Place, process: usize);

    /// Everybody is about to be expanded who has not been; false if that was done before.
    fn begin_others(&mut self, place: Self::Place) -> bool;

    /// One of them was.
    fn ran_among_others(&mut self, place: Self::Place, process: usize);

    /// Everybody is to be queued at this cost, while the search is at level `now`. False if that is not needed, since
    /// everybody was queued at a cost as low.
    fn lower_everybody(&mut self, place: Self::Place, now: u32, level: u32, steps: u64) -> bool;

    fn bytes(&self) -> u64;

    fn reach(&self) -> Reach;
}

/// What "nothing found" means.
#[derive(Debug, Clone, PartialEq)]
pub enum Reach {
    /// No state was mistaken for another: there is nothing.
    Whole,
    /// With this probability a state was missed.
    Approximate(f64),
    /// States were missed; this much is known of how many.
    Partial(Coverage),
}
