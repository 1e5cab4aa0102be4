//! How far a search may go: the bound, which is part of the property, and the limits, which are not.

use std::time::Duration;

/// At most this many of the unit. A bound is part of the property: "no violation within it" is a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bound {
    /// What is counted.
    pub unit: Cost,
    /// Runs that cost more are not looked at.
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
    /// Every step, whoever makes it.
    Steps,
}

/// Resources. When one runs out, the verdict is inconclusive. `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// Distinct states that are stored.
    pub states: Option<u64>,
    /// Steps of the longest path that is followed.
    pub depth: Option<u64>,
    /// Elapsed time, not processor time.
    pub time: Option<Duration>,
    /// Memory for states, diagrams and everything else that grows with the search.
    pub memory_bytes: Option<u64>,
}
