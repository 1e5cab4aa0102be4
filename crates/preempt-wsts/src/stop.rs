//! When a search has to end without an answer, asked by every engine now and then.

use preempt_core::{Limits, StopReason};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

pub(crate) struct Stop<'a> {
    pub(crate) deadline: Option<Instant>,
    pub(crate) limits: Limits,
    /// Somebody else has the answer, or the user wants no more.
    pub(crate) cancelled: &'a AtomicBool,
    /// What the engines have done together, for whoever watches.
    pub(crate) counters: &'a Counters,
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
}

impl Stop<'_> {
    pub(crate) fn reason(&self) -> Option<StopReason> {
        let over = |limit: Option<u64>, counter: &AtomicU64| {
            limit.is_some_and(|limit| counter.load(Ordering::Relaxed) > limit)
        };
        if self.cancelled.load(Ordering::Relaxed) {
            Some(StopReason::Interrupted)
        } else if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            Some(StopReason::Time)
        } else if over(self.limits.states, &self.counters.states) {
            Some(StopReason::States)
        } else if over(self.limits.memory_bytes, &self.counters.bytes) {
            Some(StopReason::Memory)
        } else {
            None
        }
    }
}
