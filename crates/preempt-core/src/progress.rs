//! How a search tells what it is doing and learns that it should stop.

use crate::budget::Budget;
use crate::verdict::StopReason;

/// Called by an engine now and then (not for every state). Engines do no input or output themselves.
pub trait Progress {
    fn update(&mut self, progress: &Snapshot);

    /// Must the search end now, with what it has? Asked as often as [`Budget::exhausted`](crate::Budget::exhausted).
    fn stop(&self) -> Option<StopReason>;

    /// The budget of the whole job: for work that is too deep inside an engine to ask a listener.
    fn budget(&self) -> Budget {
        Budget::unlimited()
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Snapshot {
    pub states: u64,
    pub transitions: u64,
    pub frontier: u64,
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
