//! Why an analysis ends without an answer, and the watch that ends it.

use preempt_bdd::Full;
use preempt_core::{Budget, Snapshot, StopReason};
use std::sync::{Mutex, PoisonError};

/// Something in a model that the engine cannot do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported(pub String);

impl std::fmt::Display for Unsupported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "not supported by the symbolic engine: {}", self.0)
    }
}

impl std::error::Error for Unsupported {}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    Full,
    Unsupported(String),
    Limit(StopReason),
}

pub(crate) type Result<T> = std::result::Result<T, Stop>;

impl From<Full> for Stop {
    fn from(_: Full) -> Stop {
        Stop::Full
    }
}

pub(crate) fn unsupported<T>(what: impl Into<String>) -> Result<T> {
    Err(Stop::Unsupported(what.into()))
}

/// Asked between operations; a single operation is not interrupted.
pub(crate) struct Watch<'o> {
    budget: &'o Budget,
    /// Where whoever watches reads how far it is.
    told: &'o Mutex<Snapshot>,
    pub snapshot: Snapshot,
}

impl<'o> Watch<'o> {
    pub fn new(budget: &'o Budget, told: &'o Mutex<Snapshot>) -> Watch<'o> {
        Watch { budget, told, snapshot: Snapshot::default() }
    }

    pub fn look(&mut self) -> Result<()> {
        self.snapshot.transitions += 1;
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) = self.snapshot;
        go_on(self.budget)
    }
}

/// For what comes before there is a table.
pub(crate) fn go_on(budget: &Budget) -> Result<()> {
    budget.exhausted().map_or(Ok(()), |reason| Err(Stop::Limit(reason)))
}
