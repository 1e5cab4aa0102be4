//! Does the test do the same when the same schedule is run again?
//!
//! The search repeats beginnings of runs, and notices if a thread then stands before another operation. That misses a test with
//! few runs, and what shows in values only. So when a search has found nothing, its first run is repeated a few times, and
//! what the threads did and saw is compared step by step. Another operation is a failure, since what was searched means nothing
//! then. Another value is told: addresses and clocks may well be stored, and nothing may depend on them.

use crate::report::{Failure, FailureKind};
use crate::runtime::context::Note;
use crate::runtime::current::{try_with, with};
use crate::runtime::failure::{RunFailure, StepRecord};
use crate::runtime::fibers::Fibers;
use crate::runtime::identity::OUTLIVES_ITS_RUN;
use crate::runtime::thread::CodeLocation;
use crate::runtime::word::{hand_over, last_run};
use preempt_stateless::runner::{Diverged, Runner};
use preempt_stateless::{Executable, Flow, Move};

/// A search with fewer runs repeats its first one so many times, if it is short: half of all orders of a map with two keys are
/// the same.
const FEW_RUNS: u64 = 8;

/// So many steps are repeated, if the run is not longer.
const STEPS: usize = 1000;

/// What differs between two runs of the same schedule.
pub(crate) enum Difference {
    /// What the threads did.
    Operations(Failure),
    /// What they saw or stored.
    Values(String),
}

/// Repeats the first run of a search, of which there were so many. Objects from outside of the test keep the values that the search
/// has left in them.
pub(crate) fn repeat_first_run(fibers: &mut Fibers, runs: u64) -> Option<Difference> {
    let first = fibers.take_first_run()?;
    fibers.end_run();
    let past = last_run();
    fibers.repeats = true;
    let difference = compare(fibers, &first, runs);
    fibers.end_run();
    fibers.repeats = false;
    hand_over(past);
    difference
}

fn compare(fibers: &mut Fibers, first: &[StepRecord], runs: u64) -> Option<Difference> {
    let step = |record: &StepRecord| Move { thread: record.thread, choice: u8::from(record.spurious) };
    let schedule: Vec<Move> = first.iter().map(step).collect();
    let most = if runs < FEW_RUNS { FEW_RUNS as usize } else { 2 };
    let times = (STEPS / schedule.len().max(1)).clamp(1, most);
    let mut notes: Option<Vec<String>> = None;
    for _ in 0..times {
        let run = repeat(fibers, &schedule);
        // A test with one run may use what was made outside of it. It cannot be repeated then.
        if run.failed.as_ref().is_some_and(|failed| failed.contains(OUTLIVES_ITS_RUN)) {
            return None;
        }
        if let Some(differs) = run.differs_from(first) {
            return Some(Difference::Operations(differs));
        }
        let Some(notes) = &notes else {
            notes = Some(run.notes);
            continue;
        };
        if let Some(differs) = differing_values(first, notes, &run.notes) {
            return Some(Difference::Values(differs));
        }
    }
    None
}

/// A run of the schedule once more, as far as it fits.
struct Repetition {
    steps: Vec<StepRecord>,
    /// What each step saw or stored.
    notes: Vec<String>,
    /// What comes next, after a run that does not fit: thread and text.
    next: Option<(usize, String)>,
    failed: Option<String>,
}

fn repeat(fibers: &mut Fibers, schedule: &[Move]) -> Repetition {
    fibers.record = true;
    let mut runner = Runner::new(fibers);
    let mut flow = Flow::Continue;
    for &step in schedule {
        match runner.step(step) {
            Ok(Flow::Continue) => {}
            Ok(Flow::Stop) => {
                flow = Flow::Stop;
                break;
            }
            Err(_) => break,
        }
    }
    let stuck = schedule.get(runner.len()).map(|step| step.thread);
    let thread = stuck.or_else(|| runner.enabled().first().copied().filter(|_| flow == Flow::Continue));
    let next = thread.map(|thread| {
        (
            thread,
            with(|context| {
                let pending = context.threads.get(thread).and_then(|thread| thread.pending);
                pending.map_or("nothing more".into(), |pending| at(pending.label.verb, pending.location))
            }),
        )
    });
    if next.is_none() {
        runner.program_mut().end();
    }
    let run = with(|context| {
        let steps = context.steps.clone().unwrap_or_default();
        let mut notes = vec![String::new(); steps.len()];
        for (number, Note { text, value }) in context.notes.drain(..) {
            if let Some(note) = notes.get_mut(number) {
                *note = value.map_or(text.clone(), |value| format!("{text}, now {value}"));
            }
        }
        let failed = context.failures().first().map(|failed| match failed {
            RunFailure::Panic { message, .. } => format!("a panic: {message}"),
            RunFailure::Deadlock { .. } => "a deadlock".into(),
            RunFailure::Race { .. } => "a data race".into(),
            RunFailure::Leak { .. } => "a leak".into(),
            RunFailure::Overflow { .. } => "a stack overflow".into(),
        });
        Repetition { steps, notes, next, failed }
    });
    fibers.record = false;
    run
}

fn at(verb: &str, location: CodeLocation) -> String {
    format!("{verb} at {location}")
}

fn label(thread: usize) -> String {
    let label = try_with(|context| (thread < context.threads.len()).then(|| context.thread_label(thread)));
    format!("{}({thread})", label.flatten().unwrap_or_else(|| "thread".into()))
}

impl Repetition {
    fn differs_from(&self, first: &[StepRecord]) -> Option<Failure> {
        let alike = |(a, b): (&StepRecord, &StepRecord)| {
            (a.thread, a.verb, a.object, a.location) == (b.thread, b.verb, b.object, b.location)
        };
        let same = first.iter().zip(&self.steps).take_while(|pair| alike(*pair)).count();
        let did = first.get(same).map(|record| (record.thread, at(record.verb, record.location)));
        let now = self.steps.get(same).map(|record| (record.thread, at(record.verb, record.location)));
        let now = now.or_else(|| self.next.clone());
        let failed = self.failed.as_ref().map(|failed| format!("\n  in one of them: {failed}"));
        if did.is_none() && now.is_none() && failed.is_none() {
            return None;
        }
        let mut text = String::new();
        if let Some((thread, _)) = did.as_ref().or(now.as_ref()) {
            let words = |step: &Option<(usize, String)>| {
                step.as_ref().map_or("nothing more".into(), |step| step.1.clone())
            };
            let (did, now) = (words(&did), words(&now));
            let objects = if did == now { ", with another object" } else { "" };
            text = format!(", in {}\n  one did: {did}\n  the other would do: {now}{objects}", label(*thread));
        }
        text.push_str(&failed.unwrap_or_default());
        Some(not_deterministic(same, &text))
    }
}

/// What the first step that differs saw or stored.
fn differing_values(steps: &[StepRecord], one: &[String], other: &[String]) -> Option<String> {
    let number = (0..steps.len()).find(|&step| !same_but_addresses(&one[step], &other[step]))?;
    let record = &steps[number];
    let thread = label(record.thread);
    Some(format!(
        "two runs of the same schedule had other values: step {} of {thread}, {}\n  in one: {verb}{}\n  in the other: \
         {verb}{}\nIf they come of time, random numbers or the order of a HashMap, one value of many was searched",
        number + 1,
        at(record.verb, record.location),
        one[number],
        other[number],
        verb = record.verb,
    ))
}

/// Are the texts the same but for numbers that may be addresses? Those differ from run to run, and are kept in integers by many.
fn same_but_addresses(one: &str, other: &str) -> bool {
    let parts = |text: &'_ str| -> Vec<String> {
        let digit = |c: &char| c.is_ascii_digit();
        let chars: Vec<char> = text.chars().collect();
        chars.chunk_by(|a, b| digit(a) == digit(b)).map(|part| part.iter().collect()).collect()
    };
    // As systems with 64 bits place what a program allocates.
    let address = |part: &str| part.parse::<u64>().is_ok_and(|number| (1 << 32..1 << 47).contains(&number));
    let (one, other) = (parts(one), parts(other));
    one.len() == other.len() && one.iter().zip(&other).all(|(a, b)| a == b || address(a) && address(b))
}

/// The run that did something else still stands where it did; the one before it has done the same steps up to there.
pub(crate) fn divergence(fibers: &Fibers, diverged: &Diverged) -> Failure {
    let difference = try_with(|context| {
        let (now, before) = (context.steps.as_deref().unwrap_or_default(), &fibers.before);
        let alike =
            |a: &StepRecord, b: &StepRecord| (a.thread, a.verb, a.location) == (b.thread, b.verb, b.location);
        let same = before.len() >= now.len() && now.iter().zip(before).all(|(a, b)| alike(a, b));
        let next = |thread: usize| before.iter().skip(now.len()).find(|record| record.thread == thread);
        let differ = context.threads.iter().enumerate().filter(|_| same).find_map(|(number, thread)| {
            let (would, did) = (thread.pending?, next(number)?);
            let differ = (would.label.verb, would.location) != (did.verb, did.location);
            differ.then_some((number, Some(did), would))
        });
        let now_before = context.threads.get(diverged.thread).and_then(|thread| thread.pending);
        let differ = differ.or(now_before.map(|would| (diverged.thread, None, would)));
        let mut text = String::new();
        if let Some((number, did, would)) = differ {
            let did =
                did.map(|did| format!("  one did: {} at {}\n", did.verb, did.location)).unwrap_or_default();
            let would = format!("{} at {}", would.label.verb, would.location);
            let thread = context.thread_label(number);
            text = format!(", in {thread}({number})\n{did}  the other would do: {would}");
        }
        for failed in &context.failed {
            if let RunFailure::Panic { message, .. } = failed {
                text.push_str(&format!("\n  in this run: {message}"));
            }
        }
        text
    });
    not_deterministic(diverged.step, &difference.unwrap_or_default())
}

/// The failure of a test that does something else when the same schedule is run again.
fn not_deterministic(step: usize, difference: &str) -> Failure {
    let message = format!(
        "the test is not deterministic: two runs of the same schedule differed at step {step}{difference}\nWhat a thread \
         does may depend on preempt's types only: not on time, random numbers, the order of a HashMap, addresses, or what \
         outlives a run. If the last clone of an Arc drops something that does operations, use \
         preempt::sync::tracked::Arc"
    );
    Failure::without_run(FailureKind::Nondeterminism, message)
}
