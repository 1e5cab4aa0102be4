//! What keeps a system from being run step by step.

use super::MAX_PROCESSES;
use std::fmt;

/// Why a system cannot be run like this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SystemRunError {
    /// Not exactly one initial state.
    InitialStates,
    /// A process has more than 255 transitions in some state.
    Choice,
    /// More than [`MAX_PROCESSES`].
    Processes,
    /// Steps depend on more than values: only a coarse run is right.
    Coarse,
}

impl fmt::Display for SystemRunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SystemRunError::InitialStates => {
                f.write_str("a run must begin in one state, and there is not exactly one")
            }
            SystemRunError::Choice => f.write_str("a process has more than 255 transitions in a state"),
            SystemRunError::Processes => write!(f, "more than {MAX_PROCESSES} processes live at a time"),
            SystemRunError::Coarse => f.write_str("a step depends on where other processes stand"),
        }
    }
}

impl std::error::Error for SystemRunError {}
