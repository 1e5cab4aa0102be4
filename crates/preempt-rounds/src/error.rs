//! Why an analysis ends without a verdict.

use preempt_core::{Budget, StopReason};

/// Something in a model that the engine cannot do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported(pub String);

impl std::fmt::Display for Unsupported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "not supported by rounds: {}", self.0)
    }
}

impl std::error::Error for Unsupported {}

/// Why nothing more is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// The model has something that cannot be done.
    Unsupported(String),
    /// A limit of the caller was reached.
    Stopped(StopReason),
    /// There is too much to be listed one by one: somebody else may still decide it.
    TooMuch(Cap),
}

/// What there is too much of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cap {
    /// Calls within calls.
    Depth,
    /// States: of configurations, of threads or shared ones.
    States,
}

/// What was computed, or why it was not.
pub type Result<T> = std::result::Result<T, Ended>;

pub(crate) fn unsupported<T>(what: impl Into<String>) -> Result<T> {
    Err(Ended::Unsupported(what.into()))
}

/// Ends the analysis if its budget is exhausted.
pub(crate) fn go_on(budget: &Budget) -> Result<()> {
    budget.exhausted().map_or(Ok(()), |reason| Err(Ended::Stopped(reason)))
}
