//! Why an analysis ends without a verdict.

use preempt_bdd::Full;
use preempt_core::{Budget, StopReason};

/// Something in a model that the engine cannot do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported(pub String);

impl std::fmt::Display for Unsupported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "not supported by the symbolic engine: {}", self.0)
    }
}

impl std::error::Error for Unsupported {}

/// Why an analysis did not come to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnalysisError {
    /// The table of diagrams is full.
    TableFull,
    /// The model has something that cannot be analysed.
    Unsupported(String),
    /// The budget is exhausted.
    Stopped(StopReason),
}

/// What an analysis gives if it comes to its end.
pub type Result<T> = std::result::Result<T, AnalysisError>;

impl From<Full> for AnalysisError {
    fn from(_: Full) -> AnalysisError {
        AnalysisError::TableFull
    }
}

pub(crate) fn unsupported<T>(what: impl Into<String>) -> Result<T> {
    Err(AnalysisError::Unsupported(what.into()))
}

/// For what comes before there is a table: as [`Vars::poll`](crate::vars::Vars::poll).
pub(crate) fn go_on(budget: &Budget) -> Result<()> {
    budget.exhausted().map_or(Ok(()), |reason| Err(AnalysisError::Stopped(reason)))
}
