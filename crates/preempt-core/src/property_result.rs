//! What became of each of several properties that were asked together, and what is promised of the run that is shown.

use crate::property::Property;
use crate::verdict::Verdict;

/// One of the properties that were asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PropertyResult {
    /// What was asked, as in `safety` or `ltl p`.
    pub name: String,
    pub verdict: Verdict,
    /// What exactly is violated.
    pub violation: Option<Property>,
    /// Of the simplest run that violates it, where that run is known.
    pub cost: Option<TraceCost>,
}

/// As a run shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceCost {
    pub preemptions: usize,
    pub steps: usize,
}

/// How much is known about the run that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Minimality {
    Nothing,
    /// No run that violates anything has fewer preemptions (or switches, where those are charged).
    Fewest,
    /// No run that violates the same property costs less; one that violates another might.
    SimplestOfProperty,
    /// No run that violates anything costs less.
    Simplest,
}
