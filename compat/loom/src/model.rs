//! The search, with loom's options.

use preempt::{CheckReport, Checker, FailureKind, Verdict};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// loom's limit of branches of a run.
const MAX_BRANCHES: usize = 1000;

/// How a test is searched. What loom's variables say comes first (`LOOM_MAX_PREEMPTIONS`, `LOOM_MAX_BRANCHES`,
/// `LOOM_MAX_PERMUTATIONS`, `LOOM_MAX_DURATION`), then what the code says, and preempt's own variables win over both.
///
/// ```
/// let mut builder = loom::model::Builder::new();
/// builder.preemption_bound = Some(2);
/// builder.check(|| drop(loom::thread::spawn(|| 1).join()));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Builder {
    /// Not used: there may be any number of threads.
    pub max_threads: usize,
    /// A run with so many steps is a failure. Ours have more than loom's (an unlock is one), so the default of 1000 stands
    /// for 10 000, and larger numbers for ten times as much.
    pub max_branches: usize,
    /// So many executions at most.
    pub max_permutations: Option<usize>,
    /// So much time at most.
    pub max_duration: Option<Duration>,
    /// Every run with at most so many preemptions; none: every run.
    pub preemption_bound: Option<usize>,
    /// Keeps a failing schedule. If it has one, that is run first, and everything only if it does not fail any more.
    pub checkpoint_file: Option<PathBuf>,
    /// Not used.
    pub checkpoint_interval: usize,
    /// Not used: everything is searched.
    pub expect_explicit_explore: bool,
    /// Not used: locations are always known.
    pub location: bool,
    /// What was searched is written to stderr.
    pub log: bool,
}

/// The value of a variable of the environment.
fn read<T: FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("invalid value for `{name}`: {text}")))
}

impl Builder {
    /// What the environment says.
    ///
    /// # Panics
    /// If it makes no sense.
    pub fn new() -> Builder {
        Builder {
            max_threads: crate::MAX_THREADS,
            max_branches: read("LOOM_MAX_BRANCHES").unwrap_or(MAX_BRANCHES),
            max_permutations: read("LOOM_MAX_PERMUTATIONS"),
            max_duration: read("LOOM_MAX_DURATION").map(Duration::from_secs),
            preemption_bound: read("LOOM_MAX_PREEMPTIONS"),
            checkpoint_file: read("LOOM_CHECKPOINT_FILE"),
            checkpoint_interval: read("LOOM_CHECKPOINT_INTERVAL").unwrap_or(20_000),
            expect_explicit_explore: false,
            location: std::env::var_os("LOOM_LOCATION").is_some(),
            log: std::env::var_os("LOOM_LOG").is_some(),
        }
    }

    /// Sets the field of this name.
    pub fn checkpoint_file(&mut self, file: &str) -> &mut Builder {
        self.checkpoint_file = Some(file.into());
        self
    }

    /// Searches the test.
    ///
    /// # Panics
    /// With the simplest failing run, if there is one.
    #[track_caller]
    pub fn check<F>(&self, f: F)
    where
        F: Fn() + Sync + Send + 'static,
    {
        let steps = if self.max_branches < MAX_BRANCHES {
            self.max_branches
        } else {
            self.max_branches.saturating_mul(10)
        };
        let bound = self.preemption_bound.map(|bound| u32::try_from(bound).unwrap_or(u32::MAX));
        let mut checker =
            Checker::new().on_behalf_of("loom").check_leaks(true).max_preemptions(bound).max_steps(steps);
        // loom runs such tests once, too.
        checker = checker.check_determinism_from(2);
        if let Some(most) = self.max_permutations {
            checker = checker.max_executions(most as u64);
        }
        if let Some(most) = self.max_duration {
            checker = checker.max_duration(most);
        }
        let f = Arc::new(f);
        let test = || {
            let f = Arc::clone(&f);
            move || {
                preempt::thread::unnamed_main();
                f();
            }
        };
        if let Some(schedule) = self.kept_schedule() {
            let report = checker.clone().replay(&schedule).run(test());
            assert!(!fails_again(&report), "{report}");
        }
        let report = checker.run(test());
        match report.verdict {
            Verdict::Violated => {
                self.keep_schedule(&report);
                panic!("{report}")
            }
            Verdict::Inconclusive(_) => eprintln!("loom (preempt): inconclusive: {report}"),
            _ if self.log => eprintln!("loom (preempt): {report}"),
            _ => {}
        }
    }
}

/// A schedule that does not fit any more, since the test is another one now, says nothing.
fn fails_again(report: &CheckReport) -> bool {
    report.failure.as_ref().is_some_and(|failure| failure.kind != FailureKind::Nondeterminism)
}

impl Builder {
    /// The one in the checkpoint file. What loom has written there is none.
    fn kept_schedule(&self) -> Option<String> {
        let text = std::fs::read_to_string(self.checkpoint_file.as_ref()?).ok()?;
        Some(text.trim().to_string()).filter(|text| text.starts_with("p1:"))
    }

    fn keep_schedule(&self, report: &CheckReport) {
        if let (Some(file), Some(failure)) = (&self.checkpoint_file, &report.failure)
            && let Err(error) = std::fs::write(file, &failure.schedule)
        {
            eprintln!("loom (preempt): the schedule could not be written to {}: {error}", file.display());
        }
    }
}

impl Default for Builder {
    fn default() -> Builder {
        Builder::new()
    }
}

/// Searches every schedule of the test, or those that the environment says.
///
/// # Panics
/// With the simplest failing run, if there is one.
///
/// ```
/// use loom::sync::Arc;
/// use loom::sync::atomic::{AtomicUsize, Ordering::SeqCst};
///
/// loom::model(|| {
///     let count = Arc::new(AtomicUsize::new(0));
///     let other = Arc::clone(&count);
///     let child = loom::thread::spawn(move || other.fetch_add(1, SeqCst));
///     count.fetch_add(1, SeqCst);
///     child.join().unwrap();
///     assert_eq!(count.load(SeqCst), 2);
/// });
/// ```
#[track_caller]
pub fn model<F>(f: F)
where
    F: Fn() + Sync + Send + 'static,
{
    Builder::new().check(f);
}
