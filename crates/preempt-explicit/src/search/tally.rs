//! What a search has seen so far, and whether it must stop.

use crate::successors::Successors;
use preempt_core::{Budget, Level, Limits, Progress, Snapshot, Stats, StopReason, Verdict};
use preempt_model::search::{RunCost, budget_for_telling};
use std::time::{Duration, Instant};

/// How often, in calls, the clock, the memory and the listener are looked at.
const LOOK_UP_EVERY: u64 = 16;

pub(super) struct Tally {
    pub stats: Stats,
    pub cut_by_depth: bool,
    /// What the search may use; it is stopped if part of the work could not be done.
    pub budget: Budget,
    limits: Limits,
    started: Instant,
    /// The time that an earlier part of the search took.
    pub before: Duration,
    asked: u64,
}

impl Tally {
    pub fn new(limits: Limits) -> Tally {
        Tally {
            stats: Stats::default(),
            cut_by_depth: false,
            budget: Budget::unlimited(),
            limits,
            started: Instant::now(),
            before: Duration::ZERO,
            asked: 0,
        }
    }

    /// The search begins: whoever computes states works within this budget.
    pub fn begin(&mut self, system: &mut impl Successors, progress: &dyn Progress) {
        let time = self.limits.time.map(|most| most.saturating_sub(self.elapsed()));
        self.budget = progress.budget().part(&Limits { time, ..self.limits });
        system.work_within(&self.budget);
    }

    /// What was found is executed again within this budget.
    pub fn begin_telling(&self, system: &mut impl Successors, progress: &dyn Progress) -> Budget {
        let budget = budget_for_telling(progress, &self.limits, self.elapsed());
        system.work_within(&budget);
        budget
    }

    /// What a search says that has come to its end without a violation to show. Violations are those that it counted.
    pub fn conclude(&self) -> Verdict {
        self.conclude_with(self.stats.violations.values().any(|count| *count > 0))
    }

    /// The same for a search that knows itself whether there is one.
    pub fn conclude_with(&self, violated: bool) -> Verdict {
        if let Some(reason) = self.budget.stopped() {
            return Verdict::Inconclusive(reason);
        }
        Verdict::conclude(violated, self.cut_by_depth.then_some(StopReason::Depth))
    }

    pub fn new_state(&mut self, cost: RunCost) {
        self.stats.states += 1;
        self.stats.depth = self.stats.depth.max(cost.steps);
        self.level(cost.preemptions).states += 1;
    }

    pub fn transition(&mut self, cost: RunCost) {
        self.stats.transitions += 1;
        self.level(cost.preemptions).transitions += 1;
    }

    fn level(&mut self, level: u32) -> &mut Level {
        let levels = &mut self.stats.levels;
        while levels.len() <= level as usize {
            levels.push(Level { level: levels.len() as u32, ..Level::default() });
        }
        &mut levels[level as usize]
    }

    /// Is a run of so many steps within the greatest depth? If not, that is remembered.
    pub fn is_within_depth(&mut self, steps: u64) -> bool {
        let deep = self.limits.depth.is_some_and(|most| steps > most);
        self.cut_by_depth |= deep;
        !deep
    }

    pub fn elapsed(&self) -> Duration {
        self.before + self.started.elapsed()
    }

    /// Why the search must stop now. `bytes` and `waiting` are asked for only now and then.
    pub fn reason_to_stop(
        &mut self,
        cost: RunCost,
        bytes: impl FnOnce() -> u64,
        waiting: u64,
        progress: &mut dyn Progress,
    ) -> Option<StopReason> {
        if self.limits.states.is_some_and(|most| self.stats.states > most) {
            return Some(StopReason::States);
        }
        self.asked += 1;
        if !self.asked.is_multiple_of(LOOK_UP_EVERY) {
            return self.budget.stopped();
        }
        let bytes = bytes();
        self.budget.uses(bytes);
        progress.update(&Snapshot {
            states: self.stats.states,
            transitions: self.stats.transitions,
            frontier: waiting,
            depth: cost.steps,
            level: cost.preemptions,
            bytes,
        });
        if let Some(reason) = progress.stop() {
            return Some(reason);
        }
        if self.limits.memory_bytes.is_some_and(|most| bytes > most) {
            self.budget.stop(StopReason::Memory);
        }
        self.budget.exhausted()
    }
}
