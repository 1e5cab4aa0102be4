//! Weights: what is known of a path beside that it exists.
//!
//! A bounded idempotent semiring (Reps, Schwoon, Jha and Melski 2005): ⊗ follows one path after another, ⊕ joins what is
//! known of several, and no weight can grow for ever. Saturation needs nothing else, so that [`post_star`](crate::post_star())
//! and [`pre_star`](crate::pre_star()) are written once: with [`Boolean`] they are the algorithms for plain pushdown systems,
//! with [`Shortest`] they find lengths, and with relations as decision diagrams
//! ([`symbolic`](crate::symbolic)) those for symbolic pushdown systems (section 5 of paper 002).

use preempt_bdd::Full;
use preempt_core::{Budget, StopReason};

/// Why an analysis did not come to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfinished {
    /// The table of diagrams is full.
    TableFull,
    /// The budget is exhausted.
    Stopped(StopReason),
}

impl From<Full> for Unfinished {
    fn from(_: Full) -> Unfinished {
        Unfinished::TableFull
    }
}

/// Asks the budget; to be called in every loop.
pub fn go_on(budget: &Budget) -> Result<(), Unfinished> {
    budget.exhausted().map_or(Ok(()), |reason| Err(Unfinished::Stopped(reason)))
}

/// Weights of paths, and labels of rules that are weights of single steps.
pub trait Semiring {
    /// Of a path.
    type Weight: Clone;
    /// Of a rule.
    type Label;

    /// The path without a step.
    fn one(&self) -> Self::Weight;

    /// One path and then the other: ⊗.
    fn extend(&self, first: &Self::Weight, second: &Self::Weight) -> Result<Self::Weight, Unfinished>;

    /// A path and then a rule.
    fn after(&self, path: &Self::Weight, rule: &Self::Label) -> Result<Self::Weight, Unfinished>;

    /// A rule and then a path.
    fn before(&self, rule: &Self::Label, path: &Self::Weight) -> Result<Self::Weight, Unfinished>;

    /// What `more` adds to what is known: the new part of it; `None` if nothing is new.
    fn news(&self, known: &Self::Weight, more: &Self::Weight) -> Result<Option<Self::Weight>, Unfinished>;

    /// What is known of either: ⊕.
    fn combine(&self, known: &Self::Weight, more: &Self::Weight) -> Result<Self::Weight, Unfinished>;

    /// Is it the weight of no path at all?
    fn is_zero(&self, weight: &Self::Weight) -> bool;
}

/// There is a path, and nothing else is known.
#[derive(Debug, Clone, Copy, Default)]
pub struct Boolean;

impl Semiring for Boolean {
    type Weight = ();
    type Label = ();

    fn one(&self) {}

    fn extend(&self, _: &(), _: &()) -> Result<(), Unfinished> {
        Ok(())
    }

    fn after(&self, _: &(), _: &()) -> Result<(), Unfinished> {
        Ok(())
    }

    fn before(&self, _: &(), _: &()) -> Result<(), Unfinished> {
        Ok(())
    }

    fn news(&self, _: &(), _: &()) -> Result<Option<()>, Unfinished> {
        Ok(None)
    }

    fn combine(&self, _: &(), _: &()) -> Result<(), Unfinished> {
        Ok(())
    }

    fn is_zero(&self, _: &()) -> bool {
        false
    }
}

/// The fewest steps: ⊕ is the minimum and ⊗ the sum. Every rule is labelled with what it costs.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shortest;

impl Semiring for Shortest {
    type Weight = u64;
    type Label = u64;

    fn one(&self) -> u64 {
        0
    }

    fn extend(&self, first: &u64, second: &u64) -> Result<u64, Unfinished> {
        Ok(first.saturating_add(*second))
    }

    fn after(&self, path: &u64, rule: &u64) -> Result<u64, Unfinished> {
        Ok(path.saturating_add(*rule))
    }

    fn before(&self, rule: &u64, path: &u64) -> Result<u64, Unfinished> {
        Ok(path.saturating_add(*rule))
    }

    fn news(&self, known: &u64, more: &u64) -> Result<Option<u64>, Unfinished> {
        Ok((more < known).then_some(*more))
    }

    fn combine(&self, known: &u64, more: &u64) -> Result<u64, Unfinished> {
        Ok(*known.min(more))
    }

    fn is_zero(&self, weight: &u64) -> bool {
        *weight == u64::MAX
    }
}
