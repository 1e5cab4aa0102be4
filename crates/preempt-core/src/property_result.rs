//! The result of each of several properties that were checked together, and what is promised of the run that is shown.

use crate::property::Property;
use crate::verdict::Verdict;

/// The result of one property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PropertyResult {
    /// The property, as in `safety` or `ltl p`.
    pub name: String,
    /// Of this property alone.
    pub verdict: Verdict,
    /// What exactly is violated.
    pub violation: Option<Property>,
    /// Of the simplest run that violates it, where that run is known.
    pub cost: Option<TraceCost>,
    /// Is its formula true? For properties that are formulas about all runs, and not promises that must hold.
    pub answer: Option<FormulaAnswer>,
}

/// What is known about the formula of a property file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormulaAnswer {
    /// It is true.
    True,
    /// It is false.
    False,
    /// Nobody knows.
    Unknown,
    /// It was not understood, and why.
    Unsupported(String),
}

impl FormulaAnswer {
    /// As it is printed: TRUE, FALSE, unknown or unsupported.
    pub fn name(&self) -> &'static str {
        match self {
            FormulaAnswer::True => "TRUE",
            FormulaAnswer::False => "FALSE",
            FormulaAnswer::Unknown => "unknown",
            FormulaAnswer::Unsupported(_) => "unsupported",
        }
    }
}

/// The cost of a run, as its trace shows it: preemptions count first, then steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceCost {
    /// How often a process was left that could have gone on.
    pub preemptions: usize,
    /// All steps; of a lasso, stem and cycle together.
    pub steps: usize,
}

/// How much is known about the run that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Minimality {
    /// It is some run that violates a property.
    Nothing,
    /// No run that violates anything has fewer preemptions (or switches, where those are charged).
    Fewest,
    /// No run that violates the same property costs less; one that violates another might.
    SimplestOfProperty,
    /// No run that violates anything costs less.
    Simplest,
    /// No run costs less among the states that their fingerprints tell apart.
    SimplestByFingerprint,
    /// No run that was found costs less; there may be others.
    SimplestFound,
    /// In no run that violates anything has every thread fewer execution contexts.
    FewestContexts,
    /// No run that covers a target has fewer tokens at once.
    FewestTokens,
}

impl Minimality {
    /// Every value.
    pub const ALL: [Minimality; 8] = [
        Minimality::Nothing,
        Minimality::Fewest,
        Minimality::SimplestOfProperty,
        Minimality::Simplest,
        Minimality::SimplestByFingerprint,
        Minimality::SimplestFound,
        Minimality::FewestContexts,
        Minimality::FewestTokens,
    ];

    /// The name for programs; `None` if nothing is known.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Minimality::Nothing => None,
            Minimality::Fewest => Some("fewest"),
            Minimality::SimplestOfProperty => Some("simplest-of-property"),
            Minimality::Simplest => Some("simplest"),
            Minimality::SimplestByFingerprint => Some("simplest-by-fingerprint"),
            Minimality::SimplestFound => Some("simplest-found"),
            Minimality::FewestContexts => Some("fewest-contexts"),
            Minimality::FewestTokens => Some("fewest-tokens"),
        }
    }
}
