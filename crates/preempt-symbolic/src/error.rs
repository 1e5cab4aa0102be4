//! Why an analysis ends without a verdict.

use preempt_bdd::Full;
use preempt_core::StopReason;
use preempt_rounds::Ended;

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

impl From<Ended> for AnalysisError {
    fn from(ended: Ended) -> AnalysisError {
        match ended {
            Ended::Unsupported(what) => AnalysisError::Unsupported(what),
            Ended::Stopped(reason) => AnalysisError::Stopped(reason),
            Ended::TooMuch(_) => AnalysisError::TableFull,
        }
    }
}

pub(crate) fn unsupported<T>(what: impl Into<String>) -> Result<T> {
    Err(AnalysisError::Unsupported(what.into()))
}
