//! Runs one schedule, for its steps and what goes wrong in it.

use crate::backtrace;
use crate::describe::FailureWriter;
use crate::report::{CheckReport, Failure, FailureKind, FailureStep};
use crate::runtime::current::with;
use crate::runtime::fibers::Fibers;
use crate::schedule::{decode, encode};
use preempt_core::{Location, StopReason, Verdict};
use preempt_stateless::runner::Runner;
use preempt_stateless::{Executable, ExplorationLimits, Flow, Move, ObjectId};
use std::collections::HashMap;

/// The report of a schedule that somebody wants to see.
pub(crate) fn replay_report(fibers: &mut Fibers, schedule: &str, limits: &ExplorationLimits) -> CheckReport {
    let schedule = decode(schedule).unwrap_or_else(|wrong| panic!("{wrong}"));
    let run = replay_schedule(fibers, &schedule, limits.steps, false);
    let verdict =
        if run.failure.is_some() { Verdict::Violated } else { Verdict::Inconclusive(StopReason::Partial) };
    let steps = run.steps.len() as u64;
    CheckReport { executions: 1, steps, failure: run.failure, ..CheckReport::empty(verdict) }
}

/// Runs a failing schedule again, for its steps and to be sure: what is shown has been replayed.
pub(crate) fn replay_failure(
    fibers: &mut Fibers,
    schedule: &[Move],
    livelock: bool,
    limits: &ExplorationLimits,
) -> Failure {
    let run = replay_schedule(fibers, schedule, limits.steps, livelock);
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

/// A schedule that was run.
struct ReplayedRun {
    failure: Option<Failure>,
    preemptions: u32,
    steps: Vec<FailureStep>,
}

/// Runs a schedule; after its end on without preemptions until the run ends, unless `just_this` is to be run.
fn replay_schedule(fibers: &mut Fibers, schedule: &[Move], max_steps: usize, just_this: bool) -> ReplayedRun {
    fibers.record = true;
    let mut runner = Runner::new(fibers);
    let mut switches = Vec::new();
    let mut flow = Flow::Continue;
    let mut given = schedule.iter().copied();
    let mut problem = None;
    while flow == Flow::Continue
        && (runner.len() < schedule.len() || !just_this && !runner.is_endless(max_steps))
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
    let (steps, description, backtrace) = with(|context| {
        let thread = |number: usize| format!("{}({number})", context.thread_label(number));
        let records = context.steps.as_deref().unwrap_or_default();
        let pending = context.threads.iter().filter_map(|thread| thread.pending?.label.object);
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
                    format!("{}{object}{}", record.verb, if record.spurious { ", spuriously" } else { "" })
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
        let writer = FailureWriter { thread: &thread, object: &object };
        let failures = context.failures();
        (steps, writer.describe(&failures), failures.first().and_then(backtrace::of_user))
    });
    let description = match problem {
        Some(problem) => Some((FailureKind::Nondeterminism, problem)),
        None if livelock => Some((
            FailureKind::Livelock,
            format!("livelock: the run did not end within {} steps, though threads could move", done.len()),
        )),
        None => description,
    };
    fibers.record = false;
    let failure = description.map(|(kind, message)| Failure {
        schedule: encode(&done),
        preemptions,
        steps: steps.clone(),
        backtrace,
        ..Failure::without_run(kind, message)
    });
    ReplayedRun { failure, preemptions, steps }
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
