//! Runs one schedule, for its steps and what goes wrong in it.

use crate::backtrace;
use crate::describe::FailureWriter;
use crate::naming::{ObjectNames, place};
use crate::report::{CheckReport, Failure, FailureKind, FailureStep};
use crate::runtime::current::with;
use crate::runtime::failure::{Access, RunFailure, StepRecord};
use crate::runtime::fibers::Fibers;
use crate::schedule::{Randomness, decode_with_randomness, encode};
use crate::scheduled::RandomNumbers;
use crate::source::is_own;
use preempt_core::{StopReason, Verdict};
use preempt_stateless::runner::Runner;
use preempt_stateless::{Executable, ExplorationLimits, Flow, Move};

/// The report of a schedule that somebody wants to see.
pub(crate) fn replay_report(fibers: &mut Fibers, schedule: &str, limits: &ExplorationLimits) -> CheckReport {
    let (schedule, randomness) = decode_with_randomness(schedule).unwrap_or_else(|wrong| panic!("{wrong}"));
    (fibers.random_seed, fibers.numbers) = match randomness {
        None => (0, None),
        Some(Randomness::Seed(seed)) => (seed, None),
        Some(Randomness::Numbers(numbers)) => (0, Some(RandomNumbers::Given(numbers.into()))),
    };
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
        schedule: encode(schedule) + &run.seed,
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
    /// Behind the schedule: its random numbers.
    seed: String,
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
    let (steps, objects, description, backtrace, seed) = with(|context| {
        let thread = |number: usize| format!("{}({number})", context.thread_label(number));
        let failures = context.failures();
        let racing = racing_accesses(&failures);
        let accesses: Vec<_> = racing.iter().map(|access| (access.object, access.location)).collect();
        let names = ObjectNames::of_run(context, &accesses);
        let records = context.steps.as_deref().unwrap_or_default();
        let mut steps: Vec<FailureStep> = records
            .iter()
            .zip(&switches)
            .map(|(record, switch)| step_of(record, *switch, &names, &thread))
            .collect();
        for (number, note) in &context.notes {
            if let Some(step) = steps.get_mut(*number) {
                step.operation.push_str(&note.text);
                step.value.clone_from(&note.value);
            }
        }
        for (step, record) in steps.iter_mut().zip(records) {
            step.operation.push_str(if record.spurious { ", spuriously" } else { "" });
        }
        insert_accesses(&mut steps, &racing, &names, &thread);
        let writer = FailureWriter { thread: &thread, object: &|id| names.get(id).to_string() };
        let backtrace = failures.first().and_then(backtrace::of_user);
        let randomness = match &context.numbers {
            // Those that were not there are 0.
            Some((numbers, used)) => {
                Randomness::Numbers((0..*used).map(|index| numbers.given(index)).collect())
            }
            None => Randomness::Seed(context.random_seed),
        };
        let seed = if context.used_random { randomness.encode() } else { String::new() };
        (steps, names.list.clone(), writer.describe(&failures), backtrace, seed)
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
        schedule: encode(&done) + &seed,
        preemptions,
        steps: steps.clone(),
        objects,
        backtrace,
        ..Failure::without_run(kind, message)
    });
    ReplayedRun { failure, preemptions, steps, seed }
}

/// `counter: load`, in its place.
fn step_of(
    record: &StepRecord,
    (preemption, forced): (bool, bool),
    names: &ObjectNames,
    thread: &impl Fn(usize) -> String,
) -> FailureStep {
    let object = record.object.map(|id| names.get(id)).filter(|name| !name.is_empty());
    let mut location = place(record.location);
    // A step of ours, such as the end of a task: it is done for something that the test has made.
    if is_own(record.location.file())
        && let Some(origin) = record.object.and_then(|id| names.origin(id))
    {
        location = origin.clone();
    }
    FailureStep {
        thread: record.thread,
        thread_name: thread(record.thread),
        operation: object.map_or(record.verb.to_string(), |object| format!("{object}: {}", record.verb)),
        object: object.map(str::to_string),
        value: None,
        location,
        preemption,
        forced,
        scheduled: true,
    }
}

/// The two of a data race that are no steps, the later one first.
fn racing_accesses(failures: &[RunFailure]) -> Vec<Access> {
    let race = failures.iter().find_map(|failure| match failure {
        RunFailure::Race { first, second } => Some([*second, *first]),
        _ => None,
    });
    race.into_iter().flatten().filter(|access| access.after.is_some()).collect()
}

/// The accesses as rows of the run, each behind the steps that it came after.
fn insert_accesses(
    steps: &mut Vec<FailureStep>,
    racing: &[Access],
    names: &ObjectNames,
    thread: &impl Fn(usize) -> String,
) {
    for access in racing {
        let Some(after) = access.after.filter(|after| *after <= steps.len()) else { continue };
        let verb = if access.write { "write" } else { "read" };
        let object = names.get(access.object);
        // What a thread does before its first step stands before it, and so does the switch to it.
        let (mut preemption, mut forced) = (false, false);
        if let Some(next) = steps.get_mut(after).filter(|next| next.thread == access.thread) {
            preemption = std::mem::take(&mut next.preemption);
            forced = std::mem::take(&mut next.forced);
        }
        let row = FailureStep {
            thread: access.thread,
            thread_name: thread(access.thread),
            operation: format!("{object}: {verb} ✗ races"),
            object: Some(object.to_string()),
            value: None,
            location: place(access.location),
            preemption,
            forced,
            scheduled: false,
        };
        steps.insert(after, row);
    }
}
