//! What a whole job may use, from the first byte read to the last byte written.
//!
//! A [`Budget`] is shared by everybody who works on a job: the front end, the engines, their threads. Whoever notices
//! that something has run out says so ([`Budget::stop`]), and every loop that an input can make long asks
//! ([`Budget::stopped`], one load; [`Budget::exhausted`], which looks at the clock too). The first reason stays, so that a
//! part which was cut short cannot be mistaken for one that came to its end: a search may say "holds" only if its budget
//! was not stopped.

use crate::limits::Limits;
use crate::verdict::StopReason;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Instant;

/// Time, memory, and the word to stop. Clones are the same budget.
///
/// ```
/// use preempt_core::{Budget, Limits, StopReason};
///
/// let job = Budget::within(&Limits { memory_bytes: Some(1 << 20), ..Limits::default() });
/// let phase = job.part(&Limits::default());
/// assert_eq!(phase.exhausted(), None);
/// job.stop(StopReason::Interrupted);
/// assert_eq!(phase.stopped(), Some(StopReason::Interrupted));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Budget {
    deadline: Option<Instant>,
    most_bytes: Option<u64>,
    /// As whoever works within it has counted last.
    used_bytes: Arc<AtomicU64>,
    stopped: Arc<AtomicU8>,
    /// What this is a part of.
    whole: Option<Arc<Budget>>,
}

const REASONS: [StopReason; 6] = [
    StopReason::States,
    StopReason::Depth,
    StopReason::Time,
    StopReason::Memory,
    StopReason::Interrupted,
    StopReason::Partial,
];

impl Budget {
    /// Nothing runs out by itself; it can be stopped.
    pub fn unlimited() -> Budget {
        Budget::default()
    }

    /// The clock starts now. Memory, states and depth are counted by whoever uses them.
    pub fn within(limits: &Limits) -> Budget {
        Budget {
            deadline: limits.time.and_then(|most| Instant::now().checked_add(most)),
            most_bytes: limits.memory_bytes,
            ..Budget::default()
        }
    }

    /// A budget for part of the job: it ends with the whole, and it can run out alone.
    pub fn part(&self, limits: &Limits) -> Budget {
        let part = Budget::within(limits);
        let deadline = part.deadline.into_iter().chain(self.deadline).min();
        Budget { deadline, whole: Some(Arc::new(self.clone())), ..part }
    }

    /// From any thread. If it was stopped before, that reason stays.
    pub fn stop(&self, reason: StopReason) {
        let code = REASONS.iter().position(|it| *it == reason).map_or(0, |index| index as u8 + 1);
        let _ = self.stopped.compare_exchange(0, code, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Was it stopped? One load: cheap enough for every iteration of a loop.
    pub fn stopped(&self) -> Option<StopReason> {
        let code = self.stopped.load(Ordering::Relaxed);
        let own = REASONS.get(usize::from(code).wrapping_sub(1)).copied();
        own.or_else(|| self.whole.as_ref()?.stopped())
    }

    /// Was it stopped, or is the time over? Looks at the clock: ask every few hundred iterations.
    pub fn exhausted(&self) -> Option<StopReason> {
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.stop(StopReason::Time);
        }
        self.stopped()
    }

    /// So many bytes are used now.
    pub fn uses(&self, bytes: u64) {
        self.used_bytes.store(bytes, Ordering::Relaxed);
    }

    /// As [`Budget::exhausted`], for something that needs so many bytes beside what was counted.
    pub fn exhausted_with(&self, more_bytes: u64) -> Option<StopReason> {
        let used = self.used_bytes.load(Ordering::Relaxed).saturating_add(more_bytes);
        if self.most_bytes.is_some_and(|most| used > most) {
            self.stop(StopReason::Memory);
        }
        self.exhausted()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_first_reason_stays() {
        let budget = Budget::unlimited();
        assert_eq!(budget.exhausted(), None);
        let other = budget.clone();
        other.stop(StopReason::Interrupted);
        budget.stop(StopReason::Memory);
        for it in [budget, other] {
            assert_eq!(it.stopped(), Some(StopReason::Interrupted));
        }
    }

    #[test]
    fn every_reason_is_kept_as_it_is() {
        for reason in REASONS {
            let budget = Budget::unlimited();
            budget.stop(reason);
            assert_eq!(budget.stopped(), Some(reason));
        }
    }

    #[test]
    fn a_part_ends_with_the_whole_and_can_end_alone() {
        let whole = Budget::unlimited();
        let part = whole.part(&Limits { memory_bytes: Some(100), ..Limits::default() });
        part.uses(60);
        assert_eq!(part.exhausted_with(40), None);
        assert_eq!(part.exhausted_with(41), Some(StopReason::Memory));
        assert_eq!((part.stopped(), whole.stopped()), (Some(StopReason::Memory), None));
        let other = whole.part(&Limits::default());
        whole.stop(StopReason::Interrupted);
        assert_eq!(other.stopped(), Some(StopReason::Interrupted));
        assert_eq!(part.stopped(), Some(StopReason::Memory), "its own reason stays");
    }

    #[test]
    fn time_runs_out_for_everybody() {
        let budget = Budget::within(&Limits { time: Some(Duration::ZERO), ..Limits::default() });
        assert_eq!(budget.stopped(), None, "nobody has looked at the clock");
        let other = budget.clone();
        assert_eq!(budget.exhausted(), Some(StopReason::Time));
        assert_eq!(other.stopped(), Some(StopReason::Time));
    }
}
