//! What a search may use, and when it looks whether that has run out: the one place where limits, the observer of the
//! search and cancellation meet.
//!
//! Everything rests on [`Budget`], which is shared with whoever works for the search: machine code in a long atomic
//! sequence, the interpreter that replays a run. The search itself asks at every step ([`SearchBudget::poll`]), which is
//! one load; only every so many steps it looks at the clock, counts its memory and lets the observer speak.

use preempt_core::{Budget, Limits, Progress, Snapshot, StopReason, Verdict};
use preempt_model::search::replay_budget;
use std::time::{Duration, Instant};

/// True every so many times: for what is too dear to be done each time.
#[derive(Debug, Clone, Copy)]
pub struct Every {
    period: u32,
    left: u32,
}

impl Every {
    pub const fn new(period: u32) -> Every {
        Every { period, left: period }
    }

    #[inline]
    pub fn is_due(&mut self) -> bool {
        self.left -= 1;
        let is_due = self.left == 0;
        if is_due {
            self.left = self.period;
        }
        is_due
    }
}

/// The limits of one search, and what is left of them.
#[derive(Debug)]
pub struct SearchBudget {
    /// Shared with whoever computes states. If it is stopped, part of the work could not be done.
    pub shared: Budget,
    limits: Limits,
    started: Instant,
    /// The time that an earlier part of the search took, before its checkpoint.
    pub before: Duration,
    /// Something lies beyond the greatest depth and was not visited.
    pub cut_by_depth: bool,
    look: Every,
}

impl SearchBudget {
    /// The clock starts now; every so many polls it is looked at.
    pub fn new(limits: Limits, period: u32) -> SearchBudget {
        SearchBudget {
            shared: Budget::unlimited(),
            limits,
            started: Instant::now(),
            before: Duration::ZERO,
            cut_by_depth: false,
            look: Every::new(period),
        }
    }

    /// The search begins, as part of the observer's job.
    pub fn begin(&mut self, progress: &dyn Progress) -> &Budget {
        let time = self.limits.time.map(|most| most.saturating_sub(self.elapsed()));
        self.shared = progress.budget().part(&Limits { time, ..self.limits });
        &self.shared
    }

    /// What was found is replayed within this budget.
    pub fn for_replay(&self, progress: &dyn Progress) -> Budget {
        replay_budget(progress, &self.limits, self.elapsed())
    }

    pub fn elapsed(&self) -> Duration {
        self.before + self.started.elapsed()
    }

    /// Was it stopped, so that what came back is not all?
    pub fn stopped(&self) -> Option<StopReason> {
        self.shared.stopped()
    }

    /// Every so many polls the clock is looked at.
    pub fn look_every(&mut self, period: u32) {
        self.look = Every::new(period);
    }

    /// No more states than this, if the limits allow so many.
    pub fn lower_states(&mut self, most: u64) {
        self.limits.states = Some(self.limits.states.map_or(most, |limit| limit.min(most)));
    }

    /// Is a run of so many steps within the greatest depth? If not, that is remembered.
    pub fn is_within_depth(&mut self, steps: u64) -> bool {
        let deep = self.limits.depth.is_some_and(|most| steps > most);
        self.cut_by_depth |= deep;
        !deep
    }

    /// Why the search must stop now, if it must. The snapshot is taken only where somebody looks at it.
    #[inline]
    pub fn poll(
        &mut self,
        states: u64,
        progress: &mut dyn Progress,
        snapshot: impl FnOnce() -> Snapshot,
    ) -> Option<StopReason> {
        if self.limits.states.is_some_and(|most| states > most) {
            return Some(StopReason::States);
        }
        if !self.look.is_due() {
            return self.shared.stopped();
        }
        let snapshot = snapshot();
        self.shared.uses(snapshot.bytes);
        progress.update(&snapshot);
        progress.stop().or_else(|| self.shared.exhausted_with(0))
    }

    /// What a search says that has come to its end, with a violation or without; `missed` says what it may have passed by.
    pub fn conclude(&self, violated: bool, missed: Option<StopReason>) -> Verdict {
        match self.shared.stopped() {
            Some(reason) => Verdict::Inconclusive(reason),
            None => Verdict::conclude(violated, self.cut_by_depth.then_some(StopReason::Depth).or(missed)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use preempt_core::Silent;

    #[test]
    fn every_third() {
        let mut every = Every::new(3);
        let due: Vec<bool> = (0..7).map(|_| every.is_due()).collect();
        assert_eq!(due, [false, false, true, false, false, true, false]);
    }

    #[test]
    fn each_limit_stops_with_its_own_reason() {
        let stops = |limits: Limits, states: u64, bytes: u64| {
            let mut budget = SearchBudget::new(limits, 1);
            budget.begin(&Silent);
            budget.poll(states, &mut Silent, || Snapshot { bytes, ..Snapshot::default() })
        };
        let none = Limits::default();
        assert_eq!(stops(none, u64::MAX, u64::MAX), None);
        assert_eq!(stops(Limits { states: Some(7), ..none }, 7, 0), None);
        assert_eq!(stops(Limits { states: Some(7), ..none }, 8, 0), Some(StopReason::States));
        assert_eq!(stops(Limits { memory_bytes: Some(7), ..none }, 0, 7), None);
        assert_eq!(stops(Limits { memory_bytes: Some(7), ..none }, 0, 8), Some(StopReason::Memory));
        assert_eq!(stops(Limits { time: Some(Duration::ZERO), ..none }, 0, 0), Some(StopReason::Time));
    }

    #[test]
    fn a_search_that_was_cut_does_not_hold() {
        let mut budget = SearchBudget::new(Limits { depth: Some(3), ..Limits::default() }, 1);
        assert!(budget.is_within_depth(3));
        assert_eq!(budget.conclude(false, None), Verdict::conclude(false, None));
        assert!(!budget.is_within_depth(4));
        assert_eq!(budget.conclude(false, None), Verdict::Inconclusive(StopReason::Depth));
        budget.shared.stop(StopReason::Memory);
        assert_eq!(budget.conclude(true, None), Verdict::Inconclusive(StopReason::Memory));
    }
}
