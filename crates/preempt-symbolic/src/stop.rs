//! Why an analysis ends without an answer, and the watch that ends it.

use preempt_bdd::Full;
use preempt_core::{Limits, Observer, Progress, StopReason};
use std::time::{Duration, Instant};

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
    observer: &'o mut dyn Observer,
    deadline: Option<Instant>,
    started: Instant,
    pub progress: Progress,
}

impl<'o> Watch<'o> {
    pub fn new(limits: &Limits, observer: &'o mut dyn Observer) -> Watch<'o> {
        let started = Instant::now();
        let deadline = limits.time.and_then(|time| started.checked_add(time));
        Watch { observer, deadline, started, progress: Progress::default() }
    }

    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub fn look(&mut self) -> Result<()> {
        self.progress.transitions += 1;
        self.observer.progress(&self.progress);
        if let Some(reason) = self.observer.stop() {
            return Err(Stop::Limit(reason));
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Stop::Limit(StopReason::Time));
        }
        Ok(())
    }
}
