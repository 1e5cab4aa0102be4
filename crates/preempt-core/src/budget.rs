//! What a whole job may use, from the first byte read to the last byte written: limits, the listener and cancellation in
//! one place.
//!
//! A [`Budget`] is shared by everybody who works on a job: the front end, the engines, their threads. Whoever notices
//! that something has run out says so ([`Budget::stop`]), and every loop that an input can make long polls:
//! [`Budget::stopped`] is one load; [`Budget::exhausted`] looks at the clock and at the counters too; [`Budget::poll`] does
//! that and lets a listener hear the numbers. The first reason stays, so that a part which was cut short cannot be
//! mistaken for one that came to its end: a search may say "holds" only if its budget was not stopped.

use crate::counters::Counters;
use crate::limits::Limits;
use crate::progress::{Progress, Snapshot};
use crate::verdict::StopReason;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
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
    limits: Limits,
    /// As whoever works within it has counted last.
    counters: Arc<Counters>,
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

    /// The clock starts now. States and bytes are counted by whoever uses them ([`Budget::counters`]); depth is not a
    /// budget's business, since a search that is too deep somewhere goes on elsewhere.
    pub fn within(limits: &Limits) -> Budget {
        Budget {
            deadline: limits.time.and_then(|most| Instant::now().checked_add(most)),
            limits: *limits,
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

    /// Was it stopped, or has time, memory or the number of states run out? Looks at the clock: ask every few hundred
    /// iterations.
    pub fn exhausted(&self) -> Option<StopReason> {
        self.exhausted_with(0)
    }

    /// As [`Budget::exhausted`], for something that needs so many bytes beside what was counted.
    pub fn exhausted_with(&self, more_bytes: u64) -> Option<StopReason> {
        if self.limits.states.is_some_and(|most| self.counters.states.get() > most) {
            self.stop(StopReason::States);
        }
        let used = self.counters.bytes.get().saturating_add(more_bytes);
        if self.limits.memory_bytes.is_some_and(|most| used > most) {
            self.stop(StopReason::Memory);
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.stop(StopReason::Time);
        }
        self.stopped()
    }

    /// Publishes the numbers, lets the listener hear them, and passes on its word to stop. As [`Budget::exhausted`]
    /// otherwise.
    pub fn poll(&self, snapshot: &Snapshot, progress: &mut dyn Progress) -> Option<StopReason> {
        self.counters.publish(snapshot);
        progress.update(snapshot);
        if let Some(reason) = progress.stop() {
            self.stop(reason);
        }
        self.exhausted()
    }

    /// The limits it was made with. A part has its own, beside those of the whole.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The numbers of those who work within it. A part has numbers of its own.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// So many bytes are used now.
    pub fn uses(&self, bytes: u64) {
        self.counters.bytes.set(bytes);
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
    fn what_is_counted_runs_out() {
        let budget = Budget::within(&Limits { states: Some(10), ..Limits::default() });
        budget.counters().states.add(10);
        assert_eq!(budget.exhausted(), None);
        budget.counters().states.add(1);
        assert_eq!(budget.exhausted(), Some(StopReason::States));
    }

    #[test]
    fn a_poll_informs_the_listener_and_obeys_it() {
        struct Listener(u64);
        impl Progress for Listener {
            fn update(&mut self, progress: &Snapshot) {
                self.0 = progress.states;
            }

            fn stop(&self) -> Option<StopReason> {
                (self.0 > 1).then_some(StopReason::Interrupted)
            }
        }
        let (budget, mut listener) = (Budget::unlimited(), Listener(0));
        let snapshot = |states: u64| Snapshot { states, ..Snapshot::default() };
        assert_eq!(budget.poll(&snapshot(1), &mut listener), None);
        assert_eq!(budget.poll(&snapshot(2), &mut listener), Some(StopReason::Interrupted));
        assert_eq!((listener.0, budget.counters().snapshot()), (2, snapshot(2)));
        assert_eq!(budget.stopped(), Some(StopReason::Interrupted));
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
