//! How the schedules are chosen: by one of the schedulers here, or by one of the user's.
//!
//! Those of shuttle stand for preempt's strategies and run as such. Within a scheduler of the user's they choose step by step, as
//! shuttle has it.

pub use crate::nondeterminism::{AnnotationScheduler, UncontrolledNondeterminismCheckScheduler};
pub use crate::replay::ReplayScheduler;
pub use crate::schedule::{Schedule, ScheduleStep};
pub use crate::schedulers::{
    DfsScheduler, PctScheduler, RandomScheduler, RoundRobinScheduler, UrwRandomScheduler, UrwScheduler,
};
pub use crate::task::{Task, TaskId};

use preempt::Strategy;

/// What a scheduler stands for.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct SearchPlan {
    /// Which algorithm.
    pub strategy: Strategy,
    /// So many at most.
    pub executions: Option<usize>,
    /// This schedule only.
    pub replay: Option<String>,
    /// May the test use [`crate::rand`]?
    pub random: bool,
}

/// Decides who runs, and gives random numbers. It lives through all executions of a test.
///
/// ```
/// use shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};
/// use shuttle::{Config, Runner};
///
/// /// One execution in which whoever was created last comes first.
/// struct YoungestFirst(bool);
///
/// impl Scheduler for YoungestFirst {
///     fn new_execution(&mut self) -> Option<Schedule> {
///         (!std::mem::replace(&mut self.0, true)).then(|| Schedule::new(0))
///     }
///     fn next_task(&mut self, runnable: &[&Task], _current: Option<TaskId>, _yields: bool) -> Option<TaskId> {
///         runnable.last().map(|task| task.id())
///     }
///     fn next_u64(&mut self) -> u64 {
///         4
///     }
/// }
///
/// let executions = Runner::new(YoungestFirst(false), Config::new()).run(|| {
///     shuttle::thread::spawn(|| ()).join().unwrap();
/// });
/// assert_eq!(executions, 1);
/// ```
pub trait Scheduler {
    /// An execution is to begin; `None`: there shall be none any more.
    fn new_execution(&mut self) -> Option<Schedule>;

    /// Which of these tasks runs next? There is at least one. `None`: the execution is given up. `current_task` has run last, and is `None`
    /// when the main task is to begin; `is_yielding` says that it would rather let others come first.
    fn next_task(
        &mut self,
        runnable_tasks: &[&Task],
        current_task: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId>;

    /// The next random number, for the task that runs.
    fn next_u64(&mut self) -> u64;

    /// What it stands for, if preempt has that: then it is not asked for steps.
    #[doc(hidden)]
    fn plan(&self) -> Option<SearchPlan> {
        None
    }
}

impl<S: Scheduler + ?Sized> Scheduler for Box<S> {
    fn new_execution(&mut self) -> Option<Schedule> {
        (**self).new_execution()
    }

    fn next_task(
        &mut self,
        runnable_tasks: &[&Task],
        current_task: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        (**self).next_task(runnable_tasks, current_task, is_yielding)
    }

    fn next_u64(&mut self) -> u64 {
        (**self).next_u64()
    }

    fn plan(&self) -> Option<SearchPlan> {
        (**self).plan()
    }
}

/// A scheduler as preempt asks it.
pub(crate) struct Asked<'a, S: ?Sized> {
    scheduler: &'a mut S,
    /// It did not want the main task to begin.
    given_up: bool,
}

impl<'a, S: Scheduler + ?Sized> Asked<'a, S> {
    pub fn new(scheduler: &'a mut S) -> Asked<'a, S> {
        Asked { scheduler, given_up: false }
    }
}

impl<S: Scheduler + ?Sized> preempt::Scheduler for Asked<'_, S> {
    /// In shuttle the beginning of the main task is a step, too.
    fn begin_run(&mut self) -> bool {
        let begins = self.scheduler.new_execution().is_some();
        if begins {
            let first = self.scheduler.next_task(&[&Task::main()], None, false);
            let main = Task::main().id();
            assert!(first.is_none_or(|task| task == main), "only the main task can run at the beginning");
            self.given_up = first.is_none();
        }
        begins
    }

    fn choose(&mut self, enabled: &[preempt::EnabledThread], last: usize, yields: bool) -> Option<usize> {
        if self.given_up {
            return None;
        }
        let tasks: Vec<Task> = enabled.iter().map(Task::from).collect();
        let tasks: Vec<&Task> = tasks.iter().collect();
        self.scheduler.next_task(&tasks, Some(TaskId::from(last)), yields).map(usize::from)
    }

    fn random_number(&mut self) -> u64 {
        self.scheduler.next_u64()
    }
}
