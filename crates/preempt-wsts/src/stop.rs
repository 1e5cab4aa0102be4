//! When a search has to end without an answer, asked by every engine now and then.

use preempt_core::{Budget, Limits, Snapshot, StopReason};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[derive(Debug, Default)]
pub(crate) struct Stop {
    /// Time, and what whoever watches has said.
    pub(crate) budget: Budget,
    pub(crate) limits: Limits,
    /// Somebody else has the answer. That ends the searches, and not what comes after them.
    answered: AtomicBool,
    /// What the engines have done together, for whoever watches.
    pub(crate) counters: Counters,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) states: AtomicU64,
    pub(crate) transitions: AtomicU64,
    pub(crate) frontier: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) pruned: AtomicU64,
}

impl Counters {
    pub(crate) fn add(counter: &AtomicU64, by: u64) {
        counter.fetch_add(by, Ordering::Relaxed);
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Snapshot {
            states: load(&self.states),
            transitions: load(&self.transitions),
            frontier: load(&self.frontier),
            bytes: load(&self.bytes),
            ..Snapshot::default()
        }
    }
}

impl Stop {
    /// The clock starts now.
    pub(crate) fn within(limits: Limits) -> Stop {
        Stop { budget: Budget::within(&limits), limits, ..Stop::default() }
    }

    /// Nothing but what the budget says.
    pub(crate) fn asking(budget: &Budget) -> Stop {
        Stop { budget: budget.clone(), ..Stop::default() }
    }

    pub(crate) fn answered(&self) {
        self.answered.store(true, Ordering::Relaxed);
    }

    /// May a part hold so many bytes beside what is counted? If not, the job ends.
    pub(crate) fn may_hold(&self, bytes: u64) -> bool {
        let all = self.counters.bytes.load(Ordering::Relaxed).saturating_add(bytes);
        if self.limits.memory_bytes.is_some_and(|most| all > most) {
            self.budget.stop(StopReason::Memory);
        }
        self.reason().is_none()
    }

    /// Must a search end? What comes after the searches asks the budget only.
    pub(crate) fn reason(&self) -> Option<StopReason> {
        let over = |limit: Option<u64>, counter: &AtomicU64| {
            limit.is_some_and(|limit| counter.load(Ordering::Relaxed) > limit)
        };
        if let Some(reason) = self.budget.exhausted() {
            Some(reason)
        } else if self.answered.load(Ordering::Relaxed) {
            Some(StopReason::Interrupted)
        } else if over(self.limits.states, &self.counters.states) {
            Some(StopReason::States)
        } else if over(self.limits.memory_bytes, &self.counters.bytes) {
            Some(StopReason::Memory)
        } else {
            None
        }
    }
}
