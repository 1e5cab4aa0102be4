//! Replays one schedule.
//!
//! In shuttle a task may try to do what it has to wait for, which is a step there. Here it cannot move, and such a step is left out.

use crate::current::VectorClock;
use crate::schedule::{Schedule, ScheduleStep, decode};
use crate::scheduler::{Scheduler, SearchPlan};
use crate::schedulers::RandomNumbers;
use crate::task::{Task, TaskId};
use preempt::Strategy;
use std::path::Path;

/// One schedule, which has failed before.
#[derive(Debug, Clone)]
pub struct ReplayScheduler {
    /// A string of preempt's.
    ours: Option<String>,
    schedule: Schedule,
    /// The last task that could run at some time.
    youngest: TaskId,
    /// So many of its steps are done.
    done: usize,
    started: bool,
    allow_incomplete: bool,
    target: Option<VectorClock>,
    numbers: RandomNumbers,
}

impl ReplayScheduler {
    /// A schedule as a failure shows it, or as shuttle writes it.
    ///
    /// # Panics
    /// If it is neither.
    pub fn new_from_encoded(encoded_schedule: &str) -> ReplayScheduler {
        let text = encoded_schedule.trim();
        let ours = text.starts_with("p1:");
        let schedule = if ours { Some(Schedule::default()) } else { decode(text) };
        let schedule = schedule.unwrap_or_else(|| panic!("invalid schedule: {text}"));
        ReplayScheduler {
            ours: ours.then(|| text.to_string()),
            ..ReplayScheduler::new_from_schedule(schedule)
        }
    }

    /// A schedule in a file.
    ///
    /// # Errors
    /// If the file cannot be read.
    ///
    /// # Panics
    /// If it has no schedule.
    pub fn new_from_file<P: AsRef<Path>>(path: P) -> std::io::Result<ReplayScheduler> {
        Ok(ReplayScheduler::new_from_encoded(&std::fs::read_to_string(path)?))
    }

    /// A schedule as data.
    pub fn new_from_schedule(schedule: Schedule) -> ReplayScheduler {
        let numbers = RandomNumbers::new(schedule.seed);
        ReplayScheduler {
            ours: None,
            schedule,
            youngest: TaskId::from(0),
            done: 0,
            started: false,
            allow_incomplete: false,
            target: None,
            numbers,
        }
    }

    /// The schedule may end before the test does, or not fit: then the execution is given up. A string of preempt's may always end
    /// early.
    pub fn set_allow_incomplete(&mut self) {
        self.allow_incomplete = true;
    }

    /// Leaves out the steps that do not happen before this.
    pub fn set_target_clock(&mut self, clock: impl Into<VectorClock>) {
        self.target = Some(clock.into());
    }
}

impl Scheduler for ReplayScheduler {
    /// # Panics
    /// If it is part of another scheduler and has a string of preempt's.
    fn new_execution(&mut self) -> Option<Schedule> {
        assert!(
            self.ours.is_none(),
            "a schedule of preempt's is replayed by itself, not within another scheduler"
        );
        (!std::mem::replace(&mut self.started, true)).then(|| Schedule::new(self.numbers.begin()))
    }

    /// # Panics
    /// If the schedule has ended or has a task that there is not, unless that is allowed.
    fn next_task(&mut self, runnable: &[&Task], _: Option<TaskId>, _: bool) -> Option<TaskId> {
        self.youngest = runnable.iter().map(|task| task.id()).fold(self.youngest, TaskId::max);
        loop {
            let Some(step) = self.schedule.steps.get(self.done) else {
                assert!(self.allow_incomplete, "schedule ended early");
                return None;
            };
            let ScheduleStep::Task(next) = *step else {
                panic!("expected context switch but next schedule step is random choice");
            };
            let Some(task) = runnable.iter().find(|task| task.id() == next) else {
                // It waits, and could try in vain there. Tasks are numbered in the order in which they can first run.
                if next <= self.youngest && !self.allow_incomplete {
                    self.done += 1;
                    continue;
                }
                assert!(
                    self.allow_incomplete,
                    "scheduled task is not runnable, expected to run {next:?}, but choices were {runnable:?}"
                );
                return None;
            };
            self.done += 1;
            if self.target.as_ref().is_none_or(|target| task.clock <= *target) {
                return Some(next);
            }
            // Left out, with the random numbers that it would have used.
            while self.schedule.steps.get(self.done) == Some(&ScheduleStep::Random) {
                self.done += 1;
                self.numbers.next();
            }
        }
    }

    /// # Panics
    /// If the schedule has no random number here.
    fn next_u64(&mut self) -> u64 {
        let random = self.schedule.steps.get(self.done) == Some(&ScheduleStep::Random);
        assert!(random, "expected random choice but next schedule step is context switch");
        self.done += 1;
        self.numbers.next()
    }

    fn plan(&self) -> Option<SearchPlan> {
        let replay = Some(self.ours.clone()?);
        Some(SearchPlan { strategy: Strategy::Marking, executions: Some(1), replay, random: true })
    }
}
