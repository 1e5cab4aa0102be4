//! How a search reports what it is doing and learns that it should stop.

use crate::budget::Budget;
use crate::verdict::StopReason;

/// Called by an engine now and then (not for every state). Engines do no input or output themselves.
pub trait Progress {
    /// The numbers of the search right now.
    fn update(&mut self, progress: &Snapshot);

    /// Must the search end now, with what it has? Called as often as [`Budget::exhausted`](crate::Budget::exhausted).
    fn stop(&self) -> Option<StopReason>;

    /// The budget of the whole job: for work that is too deep inside an engine to ask a listener.
    fn budget(&self) -> Budget {
        Budget::unlimited()
    }
}

/// The numbers of a search that is under way; 0 for what the engine does not count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Distinct states stored so far.
    pub states: u64,
    /// Steps executed so far.
    pub transitions: u64,
    /// States that are stored and wait to be expanded.
    pub frontier: u64,
    /// Steps of the longest path so far.
    pub depth: u64,
    /// Of the bound's unit: preemptions, switches, rounds.
    pub level: u32,
    /// Memory used so far; 0 where it is not known.
    pub bytes: u64,
}

/// Hears nothing and never stops.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn update(&mut self, _: &Snapshot) {}

    fn stop(&self) -> Option<StopReason> {
        None
    }
}
