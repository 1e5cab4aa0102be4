//! What several searches share that explore the same program side by side (see [`crate::parallel`]): their number of
//! runs, their budget, and how far each has come.

use crate::explore::{ExplorationLimits, ExplorationStop};
use crate::racing::SharedRacing;
use preempt_core::{Budget, Limits, StopReason};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// A search, as a member of a team.
#[derive(Debug, Clone)]
pub(crate) struct Team {
    pub progress: std::sync::Arc<TeamProgress>,
    /// What they know to race; a search by itself has nobody to tell.
    pub racing: Option<std::sync::Arc<SharedRacing>>,
    pub size: usize,
    /// Which of them this is: each begins elsewhere.
    pub member: usize,
}

/// How far the searches of a team have come.
#[derive(Debug)]
pub(crate) struct TeamProgress {
    executions: AtomicU64,
    /// Their time; it is stopped when one of them ends before it is complete.
    pub budget: Budget,
    /// `executions` when each bound was complete.
    pub per_bound: Mutex<Vec<u64>>,
    /// Why the first of them ended before it was complete.
    pub stop: Mutex<Option<ExplorationStop>>,
    /// How many searches have completed each bound; those that have ended have completed all.
    arrived: Mutex<Vec<usize>>,
    left: AtomicUsize,
    arrival: Condvar,
}

impl TeamProgress {
    /// The clock starts now.
    pub fn new(limits: &ExplorationLimits) -> TeamProgress {
        TeamProgress {
            executions: AtomicU64::new(0),
            budget: Budget::within(&Limits { time: limits.time, ..Limits::default() }),
            per_bound: Mutex::default(),
            stop: Mutex::default(),
            arrived: Mutex::default(),
            left: AtomicUsize::new(0),
            arrival: Condvar::new(),
        }
    }

    pub fn executions(&self) -> u64 {
        self.executions.load(Ordering::SeqCst)
    }

    pub fn add_execution(&self) {
        self.executions.fetch_add(1, Ordering::SeqCst);
    }

    /// Waits until all searches have completed the bound, or one has ended.
    pub fn wait_for_all(&self, bound: u32, searches: usize) {
        let mut arrived = self.arrived.lock().unwrap_or_else(PoisonError::into_inner);
        let least = arrived.len().max(bound as usize + 1);
        arrived.resize(least, 0);
        arrived[bound as usize] += 1;
        self.arrival.notify_all();
        while arrived[bound as usize] + self.left.load(Ordering::SeqCst) < searches
            && self.budget.stopped().is_none()
        {
            arrived = self.arrival.wait(arrived).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// One search has ended.
    pub fn leave(&self) {
        self.left.fetch_add(1, Ordering::SeqCst);
        self.wake();
    }

    /// One search ended before it was complete, so all are to end.
    pub fn stop_all(&self, stop: ExplorationStop) {
        let out_of_time = stop == ExplorationStop::Time;
        self.stop.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(stop);
        self.budget.stop(if out_of_time { StopReason::Time } else { StopReason::Partial });
        self.wake();
    }

    /// All are to end, for a reason that is reported otherwise: a search has panicked.
    pub fn abandon(&self) {
        self.budget.stop(StopReason::Partial);
        self.wake();
    }

    fn wake(&self) {
        // Whoever is about to wait has looked at the budget before it gives this lock back, or looks at it after.
        drop(self.arrived.lock().unwrap_or_else(PoisonError::into_inner));
        self.arrival.notify_all();
    }
}
