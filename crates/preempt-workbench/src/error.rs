//! Why there is no report.

use preempt_core::{Diagnostic, SourceMap, StopReason};
use preempt_report::{Style, render_diagnostics, why_stopped};
use std::fmt;

/// Why there is no report.
#[derive(Debug, Clone)]
pub enum Error {
    /// What was asked for cannot be done.
    Refused(Refusal),
    /// The text has mistakes.
    Mistakes(Box<Mistakes>),
    /// A limit was reached, or somebody stopped the job, before there was anything to report.
    Stopped(StopReason),
}

/// What cannot be done, and what could be done instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// One sentence, naming what cannot be done.
    pub message: String,
    /// The reason, or a way out.
    pub hint: Option<String>,
}

/// What is wrong with a text; the sources say where.
#[derive(Debug, Clone)]
pub struct Mistakes {
    /// All of them, warnings included.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts that they are about.
    pub sources: SourceMap,
}

impl Error {
    /// What was asked for cannot be done, for this reason.
    pub fn refused(message: impl Into<String>) -> Error {
        Error::Refused(Refusal { message: message.into(), hint: None })
    }

    /// With a way out. Other errors speak for themselves.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Error {
        match self {
            Error::Refused(refusal) => Error::Refused(Refusal { hint: Some(hint.into()), ..refusal }),
            other => other,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Refused(Refusal { message, hint: None }) => f.write_str(message),
            Error::Refused(Refusal { message, hint: Some(hint) }) => write!(f, "{message} ({hint})"),
            Error::Mistakes(mistakes) => {
                let Mistakes { diagnostics, sources } = &**mistakes;
                f.write_str(render_diagnostics(diagnostics, sources, 100, Style::plain()).trim_end())
            }
            Error::Stopped(reason) => f.write_str(why_stopped(*reason)),
        }
    }
}

impl std::error::Error for Error {}
