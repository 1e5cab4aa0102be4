//! How far a search may go: the bound that is part of the question, and the limits that are not.

use std::time::Duration;

/// At most this many of the unit. A bound is part of the question: "no violation within it" is an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bound {
    pub unit: Cost,
    pub most: u32,
}

/// What a run is charged for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Cost {
    /// Leaving a process that could have gone on.
    #[default]
    Preemptions,
    /// Leaving a process, also when it could not go on.
    Switches,
    Steps,
}

/// Resources. Running out of one is no answer: the verdict is inconclusive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    pub states: Option<u64>,
    pub depth: Option<u64>,
    pub time: Option<Duration>,
    pub memory_bytes: Option<u64>,
}
