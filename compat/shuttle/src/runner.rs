//! A search with options.

use crate::scheduler::{Asked, Scheduler, SearchPlan};
use preempt::{CheckReport, Checker, Failure, FailureKind, Strategy};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What becomes of a failing schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailurePersistence {
    /// It is shown within the report only.
    None,
    /// It is also shown in shuttle's way.
    Print,
    /// It is written to a file in this directory, or in the current one.
    File(Option<PathBuf>),
}

/// What happens to a run with too many steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MaxSteps {
    /// There is no limit.
    None,
    /// It fails.
    FailAfter(usize),
    /// It is given up, and the next one begins.
    ContinueAfter(usize),
}

/// The options.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Config {
    /// Not used: stacks are as large as std's.
    pub stack_size: usize,
    /// What becomes of a failing schedule.
    pub failure_persistence: FailurePersistence,
    /// So many steps of a run at most.
    pub max_steps: MaxSteps,
    /// So much time for the search at most.
    pub max_time: Option<Duration>,
    /// Not used: there are no warnings.
    pub silence_warnings: bool,
    /// Not used.
    pub record_steps_in_span: bool,
}

impl Config {
    /// shuttle's defaults.
    pub fn new() -> Config {
        Config {
            stack_size: 0xf000,
            failure_persistence: FailurePersistence::Print,
            max_steps: MaxSteps::FailAfter(1_000_000),
            max_time: None,
            silence_warnings: false,
            record_steps_in_span: false,
        }
    }

    fn checker(&self) -> Checker {
        let steps = match self.max_steps {
            MaxSteps::None => usize::MAX,
            // The beginning of the main task is one, which is none here.
            MaxSteps::FailAfter(steps) | MaxSteps::ContinueAfter(steps) => steps.saturating_sub(1),
        };
        let mut checker = Checker::new().on_behalf_of("shuttle").max_steps(steps);
        checker = checker.give_up_long_runs(matches!(self.max_steps, MaxSteps::ContinueAfter(_)));
        // Tests for shuttle count their runs.
        checker = checker.check_determinism(false);
        if let Some(time) = self.max_time {
            checker = checker.max_duration(time);
        }
        checker
    }

    fn planned_checker(&self, plan: SearchPlan) -> Checker {
        let mut checker = self.checker().strategy(plan.strategy);
        if let Some(executions) = plan.executions {
            checker = checker.max_executions(executions as u64);
        }
        match plan.replay {
            Some(schedule) => checker.replay(&schedule),
            None => checker,
        }
    }

    /// The report of a failure, with the schedule as shuttle shows it.
    fn failure_message(&self, report: &CheckReport, failure: &Failure) -> String {
        let schedule = &failure.schedule;
        let report = format!("{}{report}", familiar_words(failure));
        match &self.failure_persistence {
            FailurePersistence::None => report,
            FailurePersistence::Print => format!(
                "{report}\nfailing schedule:\n\"\n{schedule}\n\"\npass that string to `shuttle::replay` to replay the failure"
            ),
            FailurePersistence::File(directory) => {
                let directory = directory.clone().unwrap_or_default();
                let free = |number: &usize| !directory.join(format!("schedule{number:03}.txt")).exists();
                let number = (0..).find(free).unwrap_or_default();
                let path = directory.join(format!("schedule{number:03}.txt"));
                match std::fs::write(&path, schedule) {
                    Ok(()) => format!("{report}\nfailing schedule persisted to file: {}", path.display()),
                    Err(error) => format!("{report}\nfailing schedule: {schedule} (not written: {error})"),
                }
            }
        }
    }
}

/// What tests for shuttle expect to read, where the report has other words for it.
fn familiar_words(failure: &Failure) -> &'static str {
    let rwlock = ["read lock", "write lock"].iter().any(|verb| failure.message.contains(verb));
    match failure.kind {
        FailureKind::Deadlock if failure.message.contains("which it holds itself") => match rwlock {
            true => "a thread tried to acquire a RwLock it already holds\n",
            false => "a thread tried to acquire a Mutex it already holds\n",
        },
        FailureKind::Livelock => "exceeded max_steps bound\n",
        FailureKind::Nondeterminism => "possible nondeterminism\n",
        _ => "",
    }
}

impl Default for Config {
    fn default() -> Config {
        Config::new()
    }
}

/// A scheduler with options.
///
/// ```
/// use shuttle::scheduler::PctScheduler;
/// use shuttle::{Config, Runner};
///
/// let executions = Runner::new(PctScheduler::new(3, 50), Config::new()).run(|| {
///     shuttle::thread::spawn(|| ()).join().unwrap();
/// });
/// assert_eq!(executions, 50);
/// ```
#[derive(Debug)]
pub struct Runner<S: ?Sized + Scheduler> {
    config: Config,
    scheduler: S,
}

impl<S: Scheduler + 'static> Runner<S> {
    /// To be run.
    pub fn new(scheduler: S, config: Config) -> Runner<S> {
        Runner { config, scheduler }
    }

    /// Runs the test; returns the number of executions.
    ///
    /// # Panics
    /// With the simplest run that fails, if there is one.
    #[track_caller]
    pub fn run<F: Fn() + Send + Sync + 'static>(mut self, f: F) -> usize {
        let report = match self.scheduler.plan() {
            Some(plan) => self.run_planned(plan, f),
            None => self.config.checker().run_scheduled_by(&mut Asked::new(&mut self.scheduler), move || {
                preempt::thread::shuttle_rules(false);
                crate::current::begin_run(true);
                f();
            }),
        };
        if let Some(failure) = &report.failure {
            panic!("{}", self.config.failure_message(&report, failure));
        }
        report.executions as usize
    }

    /// By preempt's own strategies.
    #[track_caller]
    fn run_planned<F: Fn() + Send + Sync + 'static>(&self, plan: SearchPlan, f: F) -> CheckReport {
        let by_priorities = matches!(plan.strategy, Strategy::Pct { .. });
        let everything = matches!(plan.strategy, Strategy::Marking) && plan.executions.is_none();
        let f = Arc::new(f);
        let test = |parks: bool| {
            let (f, random) = (Arc::clone(&f), plan.random);
            move || {
                preempt::thread::shuttle_rules(parks);
                crate::current::begin_run(random);
                f();
            }
        };
        let checker = self.config.planned_checker(plan.clone());
        let mut report = checker.run(test(false));
        // A park may return for no reason. That comes second: it would hide that nobody unparks.
        if everything
            && report.failure.is_none()
            && report.operations.iter().any(|each| each.operation == "park")
        {
            let executions = report.executions;
            report = checker.run(test(true));
            report.executions += executions;
        }
        // Priorities need somebody to give them to; shuttle refuses such tests too.
        let idle = by_priorities && report.failure.is_none() && report.steps == 0;
        assert!(!idle, "test closure did not exercise any concurrency");
        report
    }
}

/// Several schedulers, each in a thread of the operating system.
pub struct PortfolioRunner {
    schedulers: Vec<Box<dyn Scheduler + Send>>,
    config: Config,
}

impl PortfolioRunner {
    /// To be run. The first failure is the one that is shown, whether or not the others are waited for.
    pub fn new(_stop_on_first_failure: bool, config: Config) -> PortfolioRunner {
        PortfolioRunner { schedulers: Vec::new(), config }
    }

    /// One more.
    pub fn add(&mut self, scheduler: impl Scheduler + Send + 'static) {
        self.schedulers.push(Box::new(scheduler));
    }

    /// Runs the test with all of them.
    ///
    /// # Panics
    /// If one of them fails.
    #[track_caller]
    pub fn run<F: Fn() + Send + Sync + 'static>(self, f: F) {
        let f = Arc::new(f);
        let threads: Vec<_> = self
            .schedulers
            .into_iter()
            .map(|scheduler| {
                let (config, f) = (self.config.clone(), Arc::clone(&f));
                std::thread::spawn(move || {
                    Runner::new(scheduler as Box<dyn Scheduler>, config).run(move || f());
                })
            })
            .collect();
        let results: Vec<_> = threads.into_iter().map(std::thread::JoinHandle::join).collect();
        if let Some(Err(failure)) = results.into_iter().find(Result::is_err) {
            std::panic::resume_unwind(failure);
        }
    }
}

impl std::fmt::Debug for PortfolioRunner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PortfolioRunner").field("config", &self.config).finish_non_exhaustive()
    }
}
