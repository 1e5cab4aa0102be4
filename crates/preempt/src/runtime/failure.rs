//! What can go wrong in a run, as the runtime records it.

use super::context::Context;
use super::leaks::LiveObject;
use super::thread::CodeLocation;
use preempt_stateless::{Need, ObjectId};
use std::backtrace::Backtrace;
use std::sync::Arc;

/// What went wrong.
#[derive(Debug, Clone)]
pub(crate) enum RunFailure {
    /// `ending`: in the destructor of a thread-local value.
    Panic {
        thread: usize,
        message: String,
        location: Option<String>,
        ending: bool,
        backtrace: Option<Arc<Backtrace>>,
    },
    Overflow {
        thread: usize,
        stack: usize,
        at: Option<CodeLocation>,
    },
    Race {
        first: Access,
        second: Access,
    },
    Deadlock {
        waiting: Vec<Waiting>,
    },
    Leak {
        survivors: Vec<LiveObject>,
    },
}

/// One side of a data race.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Access {
    pub thread: usize,
    pub write: bool,
    pub location: CodeLocation,
    /// To which object.
    pub object: ObjectId,
    /// After so many steps of the run; none if it was one of them.
    pub after: Option<usize>,
}

/// A thread that cannot go on, for what, and who could let it.
#[derive(Debug, Clone)]
pub(crate) struct Waiting {
    pub thread: usize,
    pub verb: &'static str,
    pub object: Option<ObjectId>,
    pub location: CodeLocation,
    pub on: Option<usize>,
}

/// A step that was done.
#[derive(Debug, Clone)]
pub(crate) struct StepRecord {
    pub thread: usize,
    pub verb: &'static str,
    pub object: Option<ObjectId>,
    pub location: CodeLocation,
    /// It happened for no reason.
    pub spurious: bool,
}

impl Context {
    /// Nobody can move: a deadlock, if somebody has not finished.
    pub fn conclude(&mut self) {
        let waiting: Vec<Waiting> = (0..self.threads.len())
            .filter(|&thread| !self.threads[thread].finished)
            .filter_map(|thread| {
                let pending = self.threads[thread].pending?;
                let on = pending.operation.needs.iter().flatten().find_map(|need| match *need {
                    Need::Clear { object, mask } => {
                        let held = self.objects.get(object).filter(|held| held.gate & mask != 0);
                        held.and_then(|held| held.holder.or_else(|| self.reader_of(object)))
                    }
                    Need::Finished(other) => Some(other),
                    Need::Set { .. } => None,
                });
                let (verb, object) = (pending.label.verb, pending.label.object);
                Some(Waiting { thread, verb, object, location: pending.location, on })
            })
            .collect();
        let only_daemons = waiting.iter().all(|wait| self.threads[wait.thread].daemon);
        if !only_daemons && self.failed.is_empty() {
            self.failed.push(RunFailure::Deadlock { waiting });
        }
    }

    /// Panics that nobody has joined and been given, races, deadlocks.
    pub fn failures(&self) -> Vec<RunFailure> {
        let counts = |failed: &&RunFailure| match failed {
            RunFailure::Panic { thread, ending, .. } => {
                let thread = &self.threads[*thread];
                if *ending { thread.fatal } else { thread.panicked && !thread.handled }
            }
            _ => true,
        };
        let Some(mut first) = self.failed.iter().position(|failed| counts(&failed)) else {
            return Vec::new();
        };
        // A panic that only passes on what a join has returned: the one before is what happened.
        let passed_on =
            |message: &str| message.contains("Any { .. }") || message.contains("scoped thread panicked");
        if matches!(&self.failed[first], RunFailure::Panic { message, .. } if passed_on(message)) {
            first = first.saturating_sub(1);
        }
        let (cause, later) = (&self.failed[first], &self.failed[first + 1..]);
        std::iter::once(cause).chain(later.iter().filter(counts)).cloned().collect()
    }

    /// Somebody who holds the lock for reading, as far as the steps of the run were recorded.
    fn reader_of(&self, lock: ObjectId) -> Option<usize> {
        let steps = self.steps.iter().flatten().filter(|step| step.object == Some(lock));
        let mut readers = Vec::new();
        for step in steps {
            match step.verb {
                "read lock" => readers.push(step.thread),
                "read unlock" => {
                    if let Some(own) = readers.iter().position(|reader| *reader == step.thread) {
                        readers.remove(own);
                    }
                }
                _ => {}
            }
        }
        readers.first().copied()
    }
}
