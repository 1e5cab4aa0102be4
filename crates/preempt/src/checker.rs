//! The search over a test: options, the run, and the replay of what it finds.

use crate::backtrace;
use crate::report::{Failure, FailureKind, FailureStep, Report, Teller};
use crate::runtime::context::{try_with, with};
use crate::runtime::failure::{Failed, StepRecord};
use crate::runtime::fibers::Fibers;
use crate::schedule::{decode, encode};
use crate::supervise::{Pulse, Pulses, apart};
use preempt_core::{Location, StopReason, Verdict};
use preempt_stateless::parallel;
use preempt_stateless::runner::{Diverged, Runner};
use preempt_stateless::{Executable, Exploration, Flow, Limits, Move, ObjectId, Stop, Strategy, explore};
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// How a test is searched. Environment variables win over what the code says, so that CI can search further:
/// `PREEMPT_MAX_PREEMPTIONS`, `PREEMPT_MAX_EXECUTIONS`, `PREEMPT_MAX_DURATION` (in seconds), `PREEMPT_MAX_STEPS`,
/// `PREEMPT_FAIR_BOUND`, `PREEMPT_SPURIOUS`, `PREEMPT_THREADS`, `PREEMPT_STRATEGY` (`marking`, `basic`, `bpor`, `dpor`,
/// `cb-dfs`, `random`, `pct`; seeds as in `random:7` and `pct:7`), `PREEMPT_WATCHDOG` (in seconds) and `PREEMPT_REPLAY`
/// (`FILE:LINE=SCHEDULE`, for the check that is called there); `none` lifts a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checker {
    pub(crate) limits: Limits,
    pub(crate) strategy: Strategy,
    pub(crate) spurious: u32,
    pub(crate) threads: usize,
    pub(crate) replay: Option<String>,
    pub(crate) watchdog: Option<Duration>,
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
        let watchdog = Some(Duration::from_secs(10));
        Checker { limits, strategy: Strategy::Marking, spurious: 0, threads: 1, replay: None, watchdog }
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

    /// A run with more steps is reported as a livelock. 10 000 unless said otherwise. Steps of a thread that nobody else
    /// could have moved instead of, and that do not yield, count a hundredth: long work is no livelock.
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

    /// Runs this schedule only, from [`Failure::schedule`].
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

    /// Searches, and says what was found. The test must do the same in the same schedule.
    ///
    /// # Panics
    /// If a variable of the environment or the schedule to replay makes no sense.
    #[track_caller]
    pub fn run<F>(&self, test: F) -> Report
    where
        F: Fn() + Send + Sync + 'static,
    {
        let at = std::panic::Location::caller();
        let place = format!("{}:{}", at.file(), at.line());
        let read = |name: &str| std::env::var(name).ok();
        let checker = self.clone().overridden(read, &place).unwrap_or_else(|wrong| panic!("{wrong}"));
        let mut report = checker.search(Arc::new(test));
        if let Some(failure) = &mut report.failure {
            failure.check = place;
            failure.test = std::thread::current().name().filter(|name| *name != "main").map(str::to_string);
        }
        report
    }

    fn search(self, test: Arc<dyn Fn() + Send + Sync>) -> Report {
        let pulses = Pulses::default();
        let spurious = self.spurious;
        let program = {
            let pulses = Arc::clone(&pulses);
            move || {
                let pulse = Arc::<Pulse>::default();
                pulses.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&pulse));
                Fibers::new(Arc::clone(&test), spurious, pulse)
            }
        };
        if let Some(schedule) = self.replay {
            // Whoever replays may want to look at it for long, with a debugger.
            let replayed =
                apart(&pulses, None, move || replay_report(&mut program(), &schedule, &self.limits));
            return replayed.unwrap_or_else(hangs);
        }
        let make = program.clone();
        let (limits, strategy, threads) = (self.limits, self.strategy, self.threads);
        let found = apart(&pulses, self.watchdog, move || {
            let mut fibers = make();
            let found = match strategy {
                Strategy::Marking if threads > 1 => parallel::explore(make, &limits, threads),
                strategy => explore(&mut fibers, strategy, &limits, &mut ()),
            };
            let diverged = match &found.stop {
                Some(Stop::Diverged(diverged)) => Some(nondeterminism(&fibers, diverged)),
                _ => None,
            };
            (found, diverged)
        });
        let (found, diverged) = match found {
            Ok(found) => found,
            Err(who) => return hangs(who),
        };
        let failing = found.failure.clone().filter(|_| diverged.is_none());
        let failure = match failing {
            None => Ok(diverged),
            // What is shown has been replayed, on an OS thread that no panic has been left in.
            Some(failing) => apart(&pulses, self.watchdog, move || {
                Some(retell(&mut program(), &failing.schedule, failing.livelock, &limits))
            }),
        };
        let shared = pulses.lock().unwrap_or_else(PoisonError::into_inner);
        let nothing_shared = !shared.iter().any(|pulse| pulse.shared.load(Ordering::Relaxed));
        match failure {
            Ok(failure) => Report { nothing_shared, ..report(&found, failure, strategy) },
            Err(who) => hangs(who),
        }
    }
}

/// The test never comes back.
fn hangs(who: String) -> Report {
    let message = format!(
        "the test hangs: {who}\nNo operation has followed. It waits for something that preempt does not know, such as \
         a mutex or a channel of std's that another thread of the test holds or serves, or it computes for long without \
         an operation (PREEMPT_WATCHDOG=none waits for ever)"
    );
    let failure = Failure::without_run(FailureKind::Hang, message);
    let verdict = Verdict::Violated;
    Report { failure: Some(failure), ..Report::empty(verdict) }
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
        Verdict::Holds if report.nothing_shared => eprintln!("preempt: {report}"),
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

fn report(found: &Exploration, failure: Option<Failure>, strategy: Strategy) -> Report {
    let fewest = matches!(strategy, Strategy::Marking | Strategy::Basic | Strategy::Bpor | Strategy::CbDfs);
    let failure = failure.map(|failure| Failure {
        fewest_preemptions: fewest && failure.kind != FailureKind::Nondeterminism,
        ..failure
    });
    let partial = matches!(strategy, Strategy::Random(_) | Strategy::Pct { .. });
    let verdict = match (&failure, &found.stop) {
        (Some(_), _) => Verdict::Violated,
        (None, Some(Stop::Time)) => Verdict::Inconclusive(StopReason::Time),
        (None, Some(_)) => Verdict::Inconclusive(StopReason::Partial),
        (None, None) if partial => Verdict::Inconclusive(StopReason::Partial),
        (None, None) => Verdict::Holds,
    };
    Report {
        executions: found.executions,
        pruned: found.pruned,
        steps: found.steps,
        prefixes: found.visits,
        complete_to: found.complete_to,
        exhaustive: found.exhaustive,
        failure,
        ..Report::empty(verdict)
    }
}

/// The run that did something else still stands where it did; the one before it has done the same steps up to there.
fn nondeterminism(fibers: &Fibers, diverged: &Diverged) -> Failure {
    let told = try_with(|context| {
        let (now, before) = (context.steps.as_deref().unwrap_or_default(), &fibers.before);
        let alike =
            |a: &StepRecord, b: &StepRecord| (a.thread, a.verb, a.location) == (b.thread, b.verb, b.location);
        let same = before.len() >= now.len() && now.iter().zip(before).all(|(a, b)| alike(a, b));
        let next = |thread: usize| before.iter().skip(now.len()).find(|record| record.thread == thread);
        let differ = context.threads.iter().enumerate().filter(|_| same).find_map(|(number, thread)| {
            let (would, did) = (thread.pending?, next(number)?);
            let differ = (would.what.verb, would.location) != (did.verb, did.location);
            differ.then_some((number, Some(did), would))
        });
        let now_before = context.threads.get(diverged.thread).and_then(|thread| thread.pending);
        let differ = differ.or(now_before.map(|would| (diverged.thread, None, would)));
        let mut text = String::new();
        if let Some((number, did, would)) = differ {
            let did =
                did.map(|did| format!("  one did: {} at {}\n", did.verb, did.location)).unwrap_or_default();
            let would = format!("{} at {}", would.what.verb, would.location);
            let thread = context.thread_label(number);
            text = format!(", in {thread}({number})\n{did}  the other would do: {would}");
        }
        for failed in &context.failed {
            if let Failed::Panic { message, .. } = failed {
                text.push_str(&format!("\n  in this run: {message}"));
            }
        }
        text
    });
    let message = format!(
        "the test is not deterministic: two runs of the same schedule differed at step {}{}\nWhat a thread \
         does may depend on preempt's types only: not on time, random numbers, the order of a HashMap, addresses, or what \
         outlives a run. If the last clone of an Arc drops something that does operations, use \
         preempt::sync::tracked::Arc",
        diverged.step,
        told.unwrap_or_default()
    );
    Failure::without_run(FailureKind::Nondeterminism, message)
}

fn replay_report(fibers: &mut Fibers, schedule: &str, limits: &Limits) -> Report {
    let schedule = decode(schedule).unwrap_or_else(|wrong| panic!("{wrong}"));
    let run = rerun(fibers, &schedule, limits.steps, false);
    let verdict =
        if run.failure.is_some() { Verdict::Violated } else { Verdict::Inconclusive(StopReason::Partial) };
    let steps = run.steps.len() as u64;
    Report { executions: 1, steps, failure: run.failure, ..Report::empty(verdict) }
}

/// Runs a failing schedule again, for its steps and to be sure: what is shown has been replayed.
fn retell(fibers: &mut Fibers, schedule: &[Move], livelock: bool, limits: &Limits) -> Failure {
    let run = rerun(fibers, schedule, limits.steps, livelock);
    run.failure.unwrap_or_else(|| Failure {
        schedule: encode(schedule),
        preemptions: run.preemptions,
        steps: run.steps,
        ..Failure::without_run(
            FailureKind::Nondeterminism,
            "the test is not deterministic: a schedule that failed did not fail when it was run again".into(),
        )
    })
}

struct Rerun {
    failure: Option<Failure>,
    preemptions: u32,
    steps: Vec<FailureStep>,
}

/// Runs a schedule; after its end, unless nothing else is asked for, on without preemptions until the run ends.
fn rerun(fibers: &mut Fibers, schedule: &[Move], most: usize, just_this: bool) -> Rerun {
    fibers.record = true;
    let mut runner = Runner::new(fibers);
    let mut switches = Vec::new();
    let mut flow = Flow::Continue;
    let mut given = schedule.iter().copied();
    let mut problem = None;
    while flow == Flow::Continue && (runner.len() < schedule.len() || !just_this && !runner.is_endless(most))
    {
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
    let (steps, told, backtrace) = with(|context| {
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
        let failures = context.failures();
        (steps, teller.tell(&failures), failures.first().and_then(backtrace::of_user))
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
        schedule: encode(&done),
        preemptions,
        steps: steps.clone(),
        backtrace,
        ..Failure::without_run(kind, message)
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
