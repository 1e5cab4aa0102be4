//! The search over a test: options, the run, and the replay of what it finds.

use crate::report::{Failure, FailureKind, FailureStep, Report, Teller};
use crate::runtime::context::{try_with, with};
use crate::runtime::failure::Failed;
use crate::runtime::fibers::Fibers;
use crate::schedule::{decode, encode};
use preempt_core::{Location, StopReason, Verdict};
use preempt_stateless::parallel;
use preempt_stateless::runner::{Diverged, Runner};
use preempt_stateless::{Executable, Exploration, Flow, Limits, Move, ObjectId, Stop, Strategy, explore};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// How a test is searched. Environment variables win over what the code says, so that CI can search further:
/// `PREEMPT_MAX_PREEMPTIONS`, `PREEMPT_MAX_EXECUTIONS`, `PREEMPT_MAX_DURATION` (in seconds), `PREEMPT_MAX_STEPS`,
/// `PREEMPT_FAIR_BOUND`, `PREEMPT_SPURIOUS`, `PREEMPT_THREADS`, `PREEMPT_STRATEGY` (`marking`, `basic`, `bpor`, `dpor`,
/// `cb-dfs`, `random`, `pct`; seeds as in `random:7` and `pct:7`) and `PREEMPT_REPLAY`; `none` lifts a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checker {
    pub(crate) limits: Limits,
    pub(crate) strategy: Strategy,
    pub(crate) spurious: u32,
    pub(crate) threads: usize,
    pub(crate) replay: Option<String>,
    pub(crate) leaks: bool,
}

impl Default for Checker {
    fn default() -> Checker {
        Checker::new()
    }
}

impl Checker {
    /// No bound on preemptions: 0, 1, 2, ... until everything was explored. A thread may be one yield ahead of others.
    pub fn new() -> Checker {
        let limits = Limits { fair: Some(1), ..Limits::default() };
        Checker { limits, strategy: Strategy::Marking, spurious: 0, threads: 1, replay: None, leaks: false }
    }

    /// Explores every run with at most so many preemptions; `None`: every run.
    #[must_use]
    pub fn max_preemptions(mut self, most: Option<u32>) -> Checker {
        self.limits.preemptions = most;
        self
    }

    #[must_use]
    pub fn strategy(mut self, strategy: Strategy) -> Checker {
        self.strategy = strategy;
        self
    }

    #[must_use]
    pub fn max_executions(mut self, most: u64) -> Checker {
        self.limits.executions = Some(most);
        self
    }

    #[must_use]
    pub fn max_duration(mut self, most: Duration) -> Checker {
        self.limits.time = Some(most);
        self
    }

    /// A run with more steps is reported as a livelock. 10 000 unless said otherwise.
    #[must_use]
    pub fn max_steps(mut self, most: usize) -> Checker {
        self.limits.steps = most;
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
    /// `park` return for no reason. 0 unless said otherwise.
    ///
    /// A wake-up for no reason can hide that a notification was lost: check without them first.
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

    /// Runs this schedule only, from [`Failure::schedule`].
    #[must_use]
    pub fn replay(mut self, schedule: &str) -> Checker {
        self.replay = Some(schedule.to_string());
        self
    }

    /// Searches, and says what was found. The test must do the same in the same schedule.
    ///
    /// # Panics
    /// If a variable of the environment or the schedule to replay makes no sense.
    pub fn run<F>(&self, test: F) -> Report
    where
        F: Fn() + Send + Sync + 'static,
    {
        let read = |name: &str| std::env::var(name).ok();
        let checker = self.clone().overridden(read).unwrap_or_else(|wrong| panic!("{wrong}"));
        let test: Arc<dyn Fn() + Send + Sync> = Arc::new(test);
        let make = || {
            let mut fibers = Fibers::new(Arc::clone(&test), checker.spurious);
            fibers.check_leaks = checker.leaks;
            fibers
        };
        let mut fibers = make();
        if let Some(schedule) = &checker.replay {
            return replay_report(&mut fibers, schedule, &checker.limits);
        }
        let found = match checker.strategy {
            Strategy::Marking if checker.threads > 1 => {
                parallel::explore(make, &checker.limits, checker.threads)
            }
            strategy => explore(&mut fibers, strategy, &checker.limits, &mut ()),
        };
        report(&mut fibers, found, &checker)
    }
}

/// Explores every schedule of the test, with 0, 1, 2, ... preemptions. There is no limit but what the environment says;
/// if one is reached, the test passes, and how far the search came is written to stderr.
///
/// # Panics
/// With the simplest failing run, if there is one.
#[track_caller]
pub fn check<F>(test: F)
where
    F: Fn() + Send + Sync + 'static,
{
    let report = Checker::new().run(test);
    match report.verdict {
        Verdict::Violated => panic!("{report}"),
        Verdict::Inconclusive(_) => eprintln!("preempt: inconclusive: {report}"),
        Verdict::Holds => {}
    }
}

/// As [`check`], under loom's name.
#[track_caller]
pub fn model<F>(test: F)
where
    F: Fn() + Send + Sync + 'static,
{
    check(test);
}

fn report(fibers: &mut Fibers, found: Exploration, checker: &Checker) -> Report {
    let failure = match (&found.failure, &found.stop) {
        (_, Some(Stop::Diverged(diverged))) => Some(nondeterminism(diverged)),
        (Some(failing), _) => Some(Failure {
            fewest_preemptions: matches!(
                checker.strategy,
                Strategy::Marking | Strategy::Basic | Strategy::Bpor | Strategy::CbDfs
            ),
            ..retell(fibers, &failing.schedule, failing.livelock, &checker.limits)
        }),
        (None, _) => None,
    };
    let partial = matches!(checker.strategy, Strategy::Random(_) | Strategy::Pct { .. });
    let verdict = match (&failure, &found.stop) {
        (Some(_), _) => Verdict::Violated,
        (None, Some(Stop::Time)) => Verdict::Inconclusive(StopReason::Time),
        (None, Some(_)) => Verdict::Inconclusive(StopReason::Partial),
        (None, None) if partial => Verdict::Inconclusive(StopReason::Partial),
        (None, None) => Verdict::Holds,
    };
    Report {
        verdict,
        executions: found.executions,
        pruned: found.pruned,
        steps: found.steps,
        prefixes: found.visits,
        complete_to: found.complete_to,
        exhaustive: found.exhaustive,
        failure,
    }
}

/// The run that did something else still stands where it did.
fn nondeterminism(diverged: &Diverged) -> Failure {
    let now = try_with(|context| {
        let pending = context.threads.get(diverged.thread).and_then(|thread| thread.pending);
        let at = pending
            .map(|pending| format!("\n  now it is before: {} at {}", pending.what.verb, pending.location));
        let panics = context.failed.iter().filter_map(|failed| match failed {
            Failed::Panic { message, .. } => Some(format!("\n  in this run: {message}")),
            _ => None,
        });
        at.into_iter().chain(panics).collect::<String>()
    });
    Failure {
        kind: FailureKind::Nondeterminism,
        message: format!(
            "the test is not deterministic: when the same schedule was run again, thread {} did something else at step \
             {}.{}\nWhat a thread does may depend on preempt's types only: not on time, random numbers, addresses, or \
             what outlives a run. If the last clone of an Arc drops something that does operations, use \
             preempt::sync::tracked::Arc",
            diverged.thread,
            diverged.step,
            now.unwrap_or_default()
        ),
        schedule: String::new(),
        preemptions: 0,
        fewest_preemptions: false,
        steps: Vec::new(),
    }
}

fn replay_report(fibers: &mut Fibers, schedule: &str, limits: &Limits) -> Report {
    let schedule = decode(schedule).unwrap_or_else(|wrong| panic!("{wrong}"));
    let run = rerun(fibers, &schedule, limits);
    let failure = run.failure;
    let verdict =
        if failure.is_some() { Verdict::Violated } else { Verdict::Inconclusive(StopReason::Partial) };
    let steps = run.steps.len() as u64;
    let (complete_to, exhaustive) = (None, false);
    Report { verdict, executions: 1, pruned: 0, steps, prefixes: 0, complete_to, exhaustive, failure }
}

/// Runs a failing schedule again, for its steps and to be sure: what is shown has been replayed.
fn retell(fibers: &mut Fibers, schedule: &[Move], livelock: bool, limits: &Limits) -> Failure {
    let limits = Limits { steps: if livelock { schedule.len() } else { limits.steps }, ..*limits };
    let run = rerun(fibers, schedule, &limits);
    run.failure.unwrap_or_else(|| Failure {
        kind: FailureKind::Nondeterminism,
        message: "the test is not deterministic: a schedule that failed did not fail when it was run again"
            .into(),
        schedule: encode(schedule),
        preemptions: run.preemptions,
        fewest_preemptions: false,
        steps: run.steps,
    })
}

struct Rerun {
    failure: Option<Failure>,
    preemptions: u32,
    steps: Vec<FailureStep>,
}

/// Runs a schedule; after its end, on without preemptions until the run ends.
fn rerun(fibers: &mut Fibers, schedule: &[Move], limits: &Limits) -> Rerun {
    fibers.record = true;
    let mut runner = Runner::new(fibers);
    let mut switches = Vec::new();
    let mut flow = Flow::Continue;
    let mut given = schedule.iter().copied();
    let mut problem = None;
    while flow == Flow::Continue && runner.len() < limits.steps.max(schedule.len()) {
        let moves = runner.moves();
        let own = runner.last().map(Move::from).filter(|own| moves.contains(own));
        let Some(step) = given.next().or(own).or(moves.first().copied()) else { break };
        if !moves.contains(&step) {
            let (thread, at) = (step.thread, runner.len());
            problem = Some(format!("the schedule does not fit: thread {thread} cannot move at step {at}"));
            break;
        }
        let preemption = runner.preempts(step.thread);
        switches.push((preemption, !preemption && runner.last().is_some_and(|last| last != step.thread)));
        match runner.step(step) {
            Ok(next) => flow = next,
            Err(diverged) => {
                problem = Some(format!("the schedule does not fit at step {}", diverged.step));
                break;
            }
        }
    }
    let livelock = flow == Flow::Continue && !runner.moves().is_empty() && problem.is_none();
    if !livelock && problem.is_none() {
        runner.program_mut().end();
    }
    let preemptions = switches.iter().filter(|(preemption, _)| *preemption).count() as u32;
    let done = runner.schedule();
    let (steps, told) = with(|context| {
        let thread = |number: usize| format!("{}({number})", context.thread_label(number));
        let records = context.steps.as_deref().unwrap_or_default();
        let pending = context.threads.iter().filter_map(|thread| thread.pending?.what.object);
        let used = records.iter().filter_map(|record| record.object).chain(pending);
        let names = object_names(used, |id| context.objects.get(id).map_or("", |object| object.kind));
        let object = |id: ObjectId| names.get(&id).cloned().unwrap_or_default();
        let steps: Vec<FailureStep> = records
            .iter()
            .zip(&switches)
            .map(|(record, &(preemption, forced))| FailureStep {
                thread: record.thread,
                thread_name: thread(record.thread),
                operation: {
                    let object = record.object.map(&object).unwrap_or_default();
                    format!("{}{object}{}", record.verb, if record.varied { ", for no reason" } else { "" })
                },
                location: Location {
                    file: record.location.file().to_string(),
                    line: record.location.line(),
                    column: record.location.column(),
                },
                preemption,
                forced,
            })
            .collect();
        let teller = Teller { thread: &thread, object: &object };
        (steps, teller.tell(&context.failures()))
    });
    let told = match problem {
        Some(problem) => Some((FailureKind::Nondeterminism, problem)),
        None if livelock => Some((
            FailureKind::Livelock,
            format!("livelock: the run did not end within {} steps, though threads could move", done.len()),
        )),
        None => told,
    };
    fibers.record = false;
    let failure = told.map(|(kind, message)| Failure {
        kind,
        message,
        schedule: encode(&done),
        preemptions,
        fewest_preemptions: false,
        steps: steps.clone(),
    });
    Rerun { failure, preemptions, steps }
}

/// ` mutex 1`, ` mutex 2`, ` atomic 1`, in the order of appearance; nothing for what no step has touched.
fn object_names(
    used: impl Iterator<Item = ObjectId>,
    kind_of: impl Fn(ObjectId) -> &'static str,
) -> HashMap<ObjectId, String> {
    let mut names = HashMap::new();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for (id, kind) in used.map(|id| (id, kind_of(id))).filter(|(_, kind)| !kind.is_empty()) {
        names.entry(id).or_insert_with(|| {
            let count = counts.entry(kind).or_insert(0);
            *count += 1;
            format!(" {kind} {count}")
        });
    }
    names
}
