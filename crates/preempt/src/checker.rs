//! The entries: [`check`], and [`Checker`] with its options.

use crate::page;
use crate::report::CheckReport;
use crate::reproduce::CheckOrigin;
use crate::scheduled::SchedulerLink;
use crate::search::search;
use preempt_core::Verdict;
use preempt_stateless::{ExplorationLimits, Strategy};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How a test is searched.
///
/// ```
/// use preempt::sync::{Arc, Mutex};
/// use preempt::{Checker, Verdict, thread};
///
/// let report = Checker::new().max_preemptions(Some(2)).run(|| {
///     let total = Arc::new(Mutex::new(0));
///     let other = Arc::clone(&total);
///     let child = thread::spawn(move || *other.lock().unwrap() += 1);
///     *total.lock().unwrap() += 1;
///     child.join().unwrap();
///     assert_eq!(*total.lock().unwrap(), 2);
/// });
/// assert_eq!(report.verdict, Verdict::Holds);
/// assert!(report.exhaustive, "there is no run with more than two preemptions");
/// ```
///
/// Environment variables win over what the code says, so that CI can search further:
/// `PREEMPT_MAX_PREEMPTIONS`, `PREEMPT_MAX_EXECUTIONS`, `PREEMPT_MAX_DURATION` (in seconds), `PREEMPT_MAX_STEPS`,
/// `PREEMPT_FAIR_BOUND`, `PREEMPT_SPURIOUS`, `PREEMPT_THREADS`, `PREEMPT_STRATEGY` (`marking`, `basic`, `bpor`, `dpor`,
/// `cb-dfs`, `round-robin`, `random`, `pct`; seeds as in `random:7` and `pct:7`), `PREEMPT_WATCHDOG` (in seconds) and `PREEMPT_REPLAY`
/// (`FILE:LINE=SCHEDULE`, for the check that is called there); `none` lifts a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checker {
    pub(crate) limits: ExplorationLimits,
    pub(crate) strategy: Strategy,
    /// How many steps of a thread may be spurious.
    pub(crate) spurious: u32,
    pub(crate) threads: usize,
    pub(crate) replay: Option<String>,
    pub(crate) leaks: bool,
    /// The first run is repeated if there were so many.
    pub(crate) repeat_from: u64,
    pub(crate) watchdog: Option<Duration>,
    /// Where the result is written as a page.
    pub(crate) page: Option<PathBuf>,
    /// Which package the test uses: see [`Checker::on_behalf_of`].
    pub(crate) package: &'static str,
}

impl Default for Checker {
    fn default() -> Checker {
        Checker::new()
    }
}

impl Checker {
    /// No bound on preemptions: 0, 1, 2, ... until everything was explored. A thread may be one yield ahead of others.
    pub fn new() -> Checker {
        let limits = ExplorationLimits { fair: Some(1), ..ExplorationLimits::default() };
        let watchdog = Some(Duration::from_secs(10));
        let (strategy, replay) = (Strategy::Marking, None);
        let (leaks, repeat_from, page, package) = (false, 1, None, "preempt");
        Checker {
            limits,
            strategy,
            spurious: 0,
            threads: 1,
            replay,
            leaks,
            repeat_from,
            watchdog,
            page,
            package,
        }
    }

    /// Explores every run with at most so many preemptions; `None`: every run.
    #[must_use]
    pub fn max_preemptions(mut self, most: Option<u32>) -> Checker {
        self.limits.preemptions = most;
        self
    }

    /// Explores by another algorithm. Random strategies prove nothing, and end as inconclusive if nothing fails.
    #[must_use]
    pub fn strategy(mut self, strategy: Strategy) -> Checker {
        self.strategy = strategy;
        self
    }

    /// Ends after so many complete runs; if nothing has failed by then, that is inconclusive.
    #[must_use]
    pub fn max_executions(mut self, most: u64) -> Checker {
        self.limits.executions = Some(most);
        self
    }

    /// Ends after so much time; if nothing has failed by then, that is inconclusive.
    #[must_use]
    pub fn max_duration(mut self, most: Duration) -> Checker {
        self.limits.time = Some(most);
        self
    }

    /// A run with more steps is reported as a livelock. 10 000 unless said otherwise. Steps of a thread that nobody else
    /// could have moved instead of, and that do not yield, count a hundredth: long work is no livelock.
    #[must_use]
    pub fn max_steps(mut self, most: usize) -> Checker {
        self.limits.steps = most;
        self
    }

    /// A run with more steps than that is given up, and not reported. What lies behind it was not explored, so a search that has
    /// found nothing else is inconclusive. False unless said otherwise.
    #[must_use]
    pub fn give_up_long_runs(mut self, give_up: bool) -> Checker {
        self.limits.gives_up_long_runs = give_up;
        self
    }

    /// A thread may be so many yields (`yield_now`, `spin_loop`) ahead of another that can move. Programs that spin
    /// need it to come to an end; programs that do not yield are not affected. 1 unless said otherwise.
    #[must_use]
    pub fn fair_bound(mut self, most: Option<u32>) -> Checker {
        self.limits.fair = most;
        self
    }

    /// So many times in a run, a thread's `compare_exchange_weak` may fail, its wait on a condition variable end or its
    /// `park` return spuriously. 0 unless said otherwise.
    ///
    /// A spurious wake-up can hide that a notification was lost: check without them first.
    #[must_use]
    pub fn spurious(mut self, most: u32) -> Checker {
        self.spurious = most;
        self
    }

    /// Searches with so many threads of the operating system. They share what is explored, so no run is made twice; which
    /// of several equally simple failures is reported may differ from time to time. The default strategy only: others
    /// use one thread.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Checker {
        self.threads = threads;
        self
    }

    /// A run that ends well and leaves something behind is a failure: a [`crate::sync::tracked::Arc`] or a
    /// [`crate::alloc::Track`] that was not dropped, or memory of [`crate::alloc::alloc`] that was not freed. What a static
    /// or a thread-local value owns does not count.
    #[must_use]
    pub fn check_leaks(mut self, check: bool) -> Checker {
        self.leaks = check;
        self
    }

    /// When nothing has failed, the first run is repeated, at most eight times, to see whether it does the same: see
    /// [`crate::FailureKind::Nondeterminism`] and [`CheckReport::differing_values`]. True unless said otherwise. A test that
    /// counts its runs in an object of std's counts these, too.
    #[must_use]
    pub fn check_determinism(mut self, check: bool) -> Checker {
        self.repeat_from = if check { 1 } else { u64::MAX };
        self
    }

    /// As [`Checker::check_determinism`], for tests with so many runs: others may count on having one only.
    #[doc(hidden)]
    #[must_use]
    pub fn check_determinism_from(mut self, runs: u64) -> Checker {
        self.repeat_from = runs;
        self
    }

    /// Runs this schedule only, from [`crate::Failure::schedule`].
    #[must_use]
    pub fn replay(mut self, schedule: &str) -> Checker {
        self.replay = Some(schedule.to_string());
        self
    }

    /// Code of the test that runs for so long without an operation hangs: it waits for something that preempt does not
    /// know, such as a mutex of std's. 10 seconds unless said otherwise; `None`: wait for ever.
    #[must_use]
    pub fn watchdog(mut self, patience: Option<Duration>) -> Checker {
        self.watchdog = patience;
        self
    }

    /// The test is written for this package, which is a layer over this one: what a report tells people to write is its.
    #[doc(hidden)]
    #[must_use]
    pub fn on_behalf_of(mut self, package: &'static str) -> Checker {
        self.package = package;
        self
    }

    /// The options without which a run might not be the same, as they are written.
    fn reproducing_options(&self) -> String {
        let mut options = String::new();
        let usual = Checker::new();
        if self.spurious != usual.spurious {
            options.push_str(&format!(".spurious({})", self.spurious));
        }
        if self.leaks {
            options.push_str(".check_leaks(true)");
        }
        if self.limits.steps != usual.limits.steps {
            options.push_str(&format!(".max_steps({})", self.limits.steps));
        }
        options
    }

    /// Searches, and says what was found. The test must do the same in the same schedule.
    ///
    /// ```
    /// use preempt::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    /// use preempt::{Checker, FailureKind, sync::Arc, thread};
    ///
    /// let lost_update = || {
    ///     let counter = Arc::new(AtomicUsize::new(0));
    ///     let other = Arc::clone(&counter);
    ///     let child = thread::spawn(move || other.store(other.load(SeqCst) + 1, SeqCst));
    ///     counter.store(counter.load(SeqCst) + 1, SeqCst);
    ///     child.join().unwrap();
    ///     assert_eq!(counter.load(SeqCst), 2, "an update is lost");
    /// };
    /// let report = Checker::new().run(lost_update);
    /// let failure = report.failure.expect("it is found");
    /// assert_eq!((failure.kind, failure.preemptions), (FailureKind::Panic, 1));
    /// println!("{failure}");
    ///
    /// // The same run once more.
    /// let again = Checker::new().replay(&failure.schedule).run(lost_update);
    /// assert_eq!(again.failure.unwrap().message, failure.message);
    /// ```
    ///
    /// # Panics
    /// If a variable of the environment or the schedule to replay makes no sense.
    #[track_caller]
    pub fn run<F>(&self, test: F) -> CheckReport
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.run_at(std::panic::Location::caller(), None, Arc::new(test))
    }

    /// As [`Checker::run`], called from there; a scheduler of the user's may choose the steps.
    pub(crate) fn run_at(
        &self,
        at: &'static std::panic::Location<'static>,
        scheduler: Option<SchedulerLink>,
        test: Arc<dyn Fn() + Send + Sync>,
    ) -> CheckReport {
        let place = format!("{}:{}", at.file(), at.line());
        let read = |name: &str| std::env::var(name).ok();
        let checker = self.clone().overridden(read, &place).unwrap_or_else(|wrong| panic!("{wrong}"));
        let mut report = search(checker, test, scheduler);
        if let Some(failure) = &mut report.failure {
            failure.check = place;
            failure.origin = CheckOrigin {
                column: at.column(),
                options: self.reproducing_options(),
                package: self.package,
            };
            failure.test = std::thread::current().name().filter(|name| *name != "main").map(str::to_string);
        }
        if let Some(path) = &self.page {
            page::write(&report, path);
        }
        report
    }
}

/// Explores every schedule of the test, with 0, 1, 2, ... preemptions. There is no limit but what the environment says;
/// if one is reached, the test passes, and how far the search came is written to stderr.
///
/// # Panics
/// With the simplest failing run, if there is one.
///
/// ```
/// use preempt::{sync::mpsc, thread};
///
/// preempt::check(|| {
///     let (sender, receiver) = mpsc::channel();
///     let child = thread::spawn(move || sender.send(1).unwrap());
///     assert_eq!(receiver.recv(), Ok(1));
///     child.join().unwrap();
/// });
/// ```
///
/// A test that fails shows how:
///
/// ```should_panic
/// use preempt::{sync::{Arc, Mutex}, thread};
///
/// preempt::check(|| {
///     let (a, b) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
///     let (a2, b2) = (Arc::clone(&a), Arc::clone(&b));
///     // The wrong order: a deadlock with one preemption.
///     let child = thread::spawn(move || drop((b2.lock().unwrap(), a2.lock().unwrap())));
///     drop((a.lock().unwrap(), b.lock().unwrap()));
///     child.join().unwrap();
/// });
/// ```
#[track_caller]
pub fn check<F>(test: F)
where
    F: Fn() + Send + Sync + 'static,
{
    conclude(&Checker::new().run(test));
}

/// Passes, or panics with the report. With `PREEMPT_LOG` in the environment, whoever passes says what was explored,
/// and by which operations.
#[track_caller]
pub(crate) fn conclude(report: &CheckReport) {
    match report.verdict {
        Verdict::Violated => panic!("{report}"),
        Verdict::Inconclusive(_) => tell(&format!("inconclusive: {report}")),
        Verdict::Holds if report.nothing_shared || report.differing_values.is_some() => {
            tell(&report.to_string())
        }
        Verdict::Holds if std::env::var_os("PREEMPT_LOG").is_some() => {
            eprint!("preempt: {report}\n{}", report.scheduling_points());
        }
        Verdict::Holds => {}
    }
}

/// Of a test that passes and has not shown what it should: written past the capture of the test harness, which keeps to itself
/// what passing tests print.
fn tell(what: &str) {
    let thread = std::thread::current();
    let test =
        thread.name().filter(|name| *name != "main").map(|name| format!("{name}: ")).unwrap_or_default();
    // Who cannot be told cannot be told.
    _ = writeln!(std::io::stderr(), "preempt: {test}{what}");
}

/// As [`check`], under loom's name.
#[track_caller]
pub fn model<F>(test: F)
where
    F: Fn() + Send + Sync + 'static,
{
    check(test);
}
