//! A search over a test, and the report of what it found.
//!
//! What is shown has been replayed: the schedule that failed is run again, on an OS thread of its own, and its steps are
//! what the report has.

use crate::checker::Checker;
use crate::determinism::{Difference, divergence, repeat_first_run};
use crate::operations::operations;
use crate::replay::{replay_failure, replay_report};
use crate::report::{CheckReport, Failure, FailureKind};
use crate::runtime::extra::{ENDS, YIELDS};
use crate::runtime::fibers::{Fibers, FirstRun};
use crate::scheduled::{ChosenRuns, RandomNumbers, SchedulerLink};
use crate::supervise::{Heartbeat, Heartbeats, run_supervised};
use preempt_core::{StopReason, Verdict};
use preempt_stateless::{
    Exploration, ExplorationLimits, ExplorationStop, Strategy, chosen, explore, parallel,
};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, PoisonError};

/// Runs the test in every schedule within the checker's limits, or in those that a scheduler of the user's chooses, or replays one.
pub(crate) fn search(
    checker: Checker,
    test: Arc<dyn Fn() + Send + Sync>,
    scheduler: Option<SchedulerLink>,
) -> CheckReport {
    let heartbeats = Heartbeats::default();
    let (max_spurious, check_leaks) = (checker.spurious, checker.leaks);
    let extra = Arc::new(AtomicU8::new(0));
    let first = FirstRun::default();
    let program = {
        let (heartbeats, extra) = (Arc::clone(&heartbeats), Arc::clone(&extra));
        move || {
            let heartbeat = Arc::<Heartbeat>::default();
            heartbeats.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&heartbeat));
            let (extra, first) = (Arc::clone(&extra), Arc::clone(&first));
            let mut fibers = Fibers::new(Arc::clone(&test), max_spurious, extra, first, heartbeat);
            fibers.check_leaks = check_leaks;
            fibers
        }
    };
    if let Some(schedule) = checker.replay {
        // Whoever replays may want to look at it for long, with a debugger.
        let replay = |schedule: String| {
            let program = program.clone();
            let replayed = run_supervised(&heartbeats, None, move || {
                replay_report(&mut program(), &schedule, &checker.limits)
            });
            replayed.unwrap_or_else(hang_report)
        };
        // A schedule does not say which extra steps it has: those that it fits with.
        let attempt = |steps| {
            extra.store(steps, Ordering::Relaxed);
            let report = replay(schedule.clone());
            let misfits = |failure: &Failure| failure.kind == FailureKind::Nondeterminism;
            let fits =
                extra.load(Ordering::Relaxed) == steps && !report.failure.as_ref().is_some_and(misfits);
            (fits, report)
        };
        let (fits, report) = attempt(0);
        if fits {
            return report;
        }
        let fitting = [ENDS, YIELDS, ENDS | YIELDS].into_iter().map(attempt).find(|(fits, _)| *fits);
        return fitting.map_or(report, |(_, fitting)| fitting);
    }
    let (limits, strategy, threads) = (checker.limits, checker.strategy, checker.threads);
    let chance = match strategy {
        Strategy::Random(seed) | Strategy::Pct { seed, .. } => Some(seed),
        _ => None,
    };
    let repeat_from = checker.repeat_from;
    // A scheduler decides when a thread begins, too. Where nothing is reduced, all steps of shuttle's cost little, and no search has to
    // begin again for them.
    if scheduler.is_some() || checker.package == "shuttle" && is_partial(strategy) {
        extra.store(YIELDS, Ordering::Relaxed);
    }
    let meets_at_yields = checker.package == "loom";
    let (found, operations) = loop {
        let before = extra.load(Ordering::Relaxed);
        let (make, asked) = (program.clone(), scheduler.clone());
        let make = move || {
            let mut fibers = make();
            (fibers.random_seed, fibers.varies_random) = (chance.unwrap_or(0), chance.is_some());
            fibers.numbers = asked.clone().map(RandomNumbers::Asked);
            fibers
        };
        let runs = scheduler.clone().map(ChosenRuns::new);
        let found = run_supervised(&heartbeats, checker.watchdog, move || {
            explore_all(make, strategy, runs, &limits, threads, repeat_from)
        });
        // A test that asks for extra steps is searched anew with them.
        let operations = operations(&heartbeats);
        // loom repeats whole schedules, so its tests may let threads meet in objects of std's (they loop on the count of an
        // `Arc`, say), and yield in between. Equivalent schedules differ then, unless all steps depend on yields.
        let diverged = found
            .as_ref()
            .is_ok_and(|(_, difference, _)| matches!(difference, Some(Difference::Operations(_))));
        if diverged && meets_at_yields && before & YIELDS == 0 {
            extra.fetch_or(YIELDS, Ordering::Relaxed);
        }
        if extra.load(Ordering::Relaxed) == before {
            break (found, operations);
        }
    };
    let (found, difference, seed) = match found {
        Ok(found) => found,
        Err(who) => return hang_report(who),
    };
    let (diverged, differing_values) = match difference {
        Some(Difference::Operations(failure)) => (Some(failure), None),
        Some(Difference::Values(what)) => (None, Some(what)),
        None => (None, None),
    };
    let failing = found.failure.clone().filter(|_| diverged.is_none());
    let numbers = scheduler.as_ref().map(|scheduler| RandomNumbers::Given(scheduler.numbers().into()));
    let failure = match failing {
        None => Ok(diverged),
        // What is shown has been replayed, on an OS thread that no panic has been left in.
        Some(failing) => run_supervised(&heartbeats, checker.watchdog, move || {
            let mut fibers = program();
            fibers.random_seed = seed;
            fibers.numbers = numbers;
            Some(replay_failure(&mut fibers, &failing.schedule, failing.livelock, &limits))
        }),
    };
    let shared = heartbeats.lock().unwrap_or_else(PoisonError::into_inner);
    let nothing_shared = !shared.iter().any(|heartbeat| heartbeat.shared.load(Ordering::Relaxed));
    match failure {
        Ok(failure) => CheckReport {
            nothing_shared,
            differing_values,
            operations,
            ..report(&found, failure, (strategy, scheduler.is_some()))
        },
        Err(who) => hang_report(who),
    }
}

/// Every schedule within the limits; and what is to be said if the test is not deterministic.
fn explore_all(
    make: impl Fn() -> Fibers + Send + Sync + Clone,
    strategy: Strategy,
    chosen: Option<ChosenRuns>,
    limits: &ExplorationLimits,
    threads: usize,
    repeat_from: u64,
) -> (Exploration, Option<Difference>, u64) {
    let mut fibers = make();
    // Asked for a run once more, a scheduler would choose another one.
    let repeat_from = if chosen.is_some() { u64::MAX } else { repeat_from };
    let found = match (chosen, strategy) {
        (Some(mut runs), _) => chosen::explore(&mut fibers, limits, &mut runs, &mut ()),
        (None, Strategy::Marking) if threads > 1 => parallel::explore(make, limits, threads),
        (None, strategy) => explore(&mut fibers, strategy, limits, &mut ()),
    };
    // If a run has failed, it was the last.
    let seed = fibers.random_seed;
    (fibers.random_seed, fibers.varies_random) = (fibers.first_seed, false);
    let difference = match &found.stop {
        Some(ExplorationStop::Diverged(diverged)) => {
            Some(Difference::Operations(divergence(&fibers, diverged)))
        }
        Some(ExplorationStop::GaveUp) => None,
        _ if found.executions >= repeat_from && found.failure.is_none() => {
            repeat_first_run(&mut fibers, found.executions)
        }
        _ => None,
    };
    (found, difference, seed)
}

/// Does the strategy run some schedules only, one by one?
fn is_partial(strategy: Strategy) -> bool {
    matches!(strategy, Strategy::RoundRobin | Strategy::Random(_) | Strategy::Pct { .. })
}

/// The test never comes back.
fn hang_report(who: String) -> CheckReport {
    let message = format!(
        "the test hangs: {who}\nNo operation has followed. It waits for something that preempt does not know, such as \
         a mutex or a channel of std's that another thread of the test holds or serves, or it computes for long without \
         an operation (PREEMPT_WATCHDOG=none waits for ever)"
    );
    let failure = Failure::without_run(FailureKind::Hang, message);
    let verdict = Verdict::Violated;
    CheckReport { failure: Some(failure), ..CheckReport::empty(verdict) }
}

fn report(
    found: &Exploration,
    failure: Option<Failure>,
    (strategy, chosen): (Strategy, bool),
) -> CheckReport {
    let fewest =
        !chosen && matches!(strategy, Strategy::Marking | Strategy::Basic | Strategy::Bpor | Strategy::CbDfs);
    let failure = failure.map(|failure| Failure {
        fewest_preemptions: fewest && failure.kind != FailureKind::Nondeterminism,
        ..failure
    });
    let partial = chosen || is_partial(strategy);
    let undone = match &found.stop {
        Some(ExplorationStop::Time) => Some(StopReason::Time),
        Some(_) => Some(StopReason::Partial),
        None if found.given_up > 0 => Some(StopReason::Depth),
        // Without a single run nothing was shown, whatever was left out.
        None => (partial || found.executions == 0).then_some(StopReason::Partial),
    };
    let verdict = Verdict::conclude(failure.is_some(), undone);
    // No bound is complete if runs within it were given up, or if there was none.
    let undone_within = found.given_up > 0 || found.executions == 0;
    CheckReport {
        executions: found.executions,
        pruned: found.pruned,
        steps: found.steps,
        prefixes: found.visits,
        complete_to: found.complete_to.filter(|_| !undone_within),
        exhaustive: found.exhaustive && !undone_within,
        unfair: found.unfair,
        failure,
        ..CheckReport::empty(verdict)
    }
}
