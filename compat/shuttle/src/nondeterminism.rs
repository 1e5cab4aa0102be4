//! Schedulers around another one.

use crate::schedule::Schedule;
use crate::scheduler::Scheduler;
use crate::task::{Task, TaskId};

/// What was asked, and answered.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Recorded {
    Task { chosen: Option<TaskId>, runnable: Vec<TaskId>, yields: bool },
    Random(u64),
}

/// Runs each execution of another scheduler twice: the second time everything that a scheduler sees must be the same.
#[derive(Debug, Clone)]
pub struct UncontrolledNondeterminismCheckScheduler<S> {
    scheduler: S,
    /// Is this the first time?
    recording: bool,
    recorded: Vec<Recorded>,
    /// How many of those the second time has come to.
    repeated: usize,
}

impl<S: Scheduler> UncontrolledNondeterminismCheckScheduler<S> {
    /// Of another one.
    pub fn new(scheduler: S) -> UncontrolledNondeterminismCheckScheduler<S> {
        UncontrolledNondeterminismCheckScheduler {
            scheduler,
            recording: false,
            recorded: Vec::new(),
            repeated: 0,
        }
    }

    fn next_recorded(&mut self) -> Recorded {
        let (step, steps) = (self.repeated, self.recorded.len());
        self.repeated += 1;
        self.recorded.get(step).cloned().unwrap_or_else(|| {
            panic!(
                "possible nondeterminism: current execution should have ended after {steps} steps, whereas current step \
                 count is {step}"
            )
        })
    }
}

impl<S: Scheduler> Scheduler for UncontrolledNondeterminismCheckScheduler<S> {
    /// # Panics
    /// If the second time was shorter.
    fn new_execution(&mut self) -> Option<Schedule> {
        self.recording = !self.recording;
        let repeated = std::mem::take(&mut self.repeated);
        if !self.recording {
            return Some(Schedule::new(0));
        }
        let steps = self.recorded.len();
        assert!(
            repeated == steps,
            "possible nondeterminism: current execution ended earlier than expected (expected length {steps} but ended after \
             {repeated})"
        );
        self.recorded.clear();
        self.scheduler.new_execution()
    }

    /// # Panics
    /// If the second time is not as the first.
    fn next_task(&mut self, tasks: &[&Task], current: Option<TaskId>, yields: bool) -> Option<TaskId> {
        let runnable: Vec<TaskId> = tasks.iter().map(|task| task.id()).collect();
        if self.recording {
            let chosen = self.scheduler.next_task(tasks, current, yields);
            self.recorded.push(Recorded::Task { chosen, runnable, yields });
            return chosen;
        }
        let Recorded::Task { chosen, runnable: expected, yields: yielded } = self.next_recorded() else {
            panic!(
                "possible nondeterminism: next step was context switch, but recording expected random number generation"
            )
        };
        assert!(
            expected == runnable,
            "possible nondeterminism: set of runnable tasks is different than expected.\nExpected:\n{expected:?}\nbut \
             got:\n{runnable:?}"
        );
        assert!(
            yielded == yields,
            "possible nondeterminism: `next_task` was called with `is_yielding` equal to {yielded} in the original \
             execution, and {yields} in the current execution"
        );
        chosen
    }

    /// # Panics
    /// If the second time is not as the first.
    fn next_u64(&mut self) -> u64 {
        if self.recording {
            let number = self.scheduler.next_u64();
            self.recorded.push(Recorded::Random(number));
            return number;
        }
        match self.next_recorded() {
            Recorded::Random(number) => number,
            Recorded::Task { .. } => panic!(
                "possible nondeterminism: next step was random number generation, but recording expected context switch"
            ),
        }
    }
}

/// Passes everything on. In shuttle it writes a file for its explorer, if a feature says so that is off by default and is
/// missing here.
#[derive(Debug, Clone)]
pub struct AnnotationScheduler<S>(S);

impl<S: Scheduler> AnnotationScheduler<S> {
    /// Of another one.
    pub fn new(inner: S) -> AnnotationScheduler<S> {
        AnnotationScheduler(inner)
    }
}

impl<S: Scheduler> Scheduler for AnnotationScheduler<S> {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.0.new_execution()
    }

    fn next_task(&mut self, tasks: &[&Task], current: Option<TaskId>, yields: bool) -> Option<TaskId> {
        self.0.next_task(tasks, current, yields)
    }

    fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    fn plan(&self) -> Option<crate::scheduler::SearchPlan> {
        self.0.plan()
    }
}
