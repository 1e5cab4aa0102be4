//! The exit statuses, which are part of the interface: scripts rely on them.

use preempt_core::Verdict;
use std::process::ExitCode;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ExitStatus {
    /// The property holds, as far as the text says; or the command had nothing to decide and did its work.
    Holds = 0,
    /// A counterexample was found and replayed.
    Violated = 1,
    /// The command line or the input is wrong; stderr says how.
    Input = 2,
    /// A limit was reached, or the search visits only part and found nothing there.
    Inconclusive = 3,
    /// The answer is known, but it or a file that was asked for could not be written; stderr says which.
    Unwritten = 4,
}

impl From<Verdict> for ExitStatus {
    fn from(verdict: Verdict) -> ExitStatus {
        match verdict {
            Verdict::Holds => ExitStatus::Holds,
            Verdict::Violated => ExitStatus::Violated,
            Verdict::Inconclusive(_) => ExitStatus::Inconclusive,
        }
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> ExitCode {
        ExitCode::from(status as u8)
    }
}
