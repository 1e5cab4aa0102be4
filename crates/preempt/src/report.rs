//! What a check has found.

use crate::runtime::failure::{Access, Failed, Waiting};
use crate::runtime::living::Birth;
use preempt_core::{Location, Step, SwitchKind, Trace, Verdict};
use preempt_report::text::{TextOptions, render_run};
use std::fmt;

/// The outcome of [`crate::Checker::run`].
#[derive(Debug, Clone)]
pub struct Report {
    pub verdict: Verdict,
    /// Complete runs, over all bounds together.
    pub executions: u64,
    /// Runs that were begun and not completed.
    pub pruned: u64,
    /// Steps done, over all runs.
    pub steps: u64,
    /// Of paper 001: calls of `Mark` for the default strategy, states visited for its Algorithm 1; 0 for others.
    pub prefixes: u64,
    /// Every run with at most so many preemptions was explored.
    pub complete_to: Option<u32>,
    /// Every run was explored: nothing was cut by a bound.
    pub exhaustive: bool,
    /// No two threads have used the same object of preempt's, in any run: no schedule could matter.
    pub nothing_shared: bool,
    pub failure: Option<Failure>,
}

impl Report {
    /// Nothing was explored.
    pub(crate) fn empty(verdict: Verdict) -> Report {
        Report {
            verdict,
            executions: 0,
            pruned: 0,
            steps: 0,
            prefixes: 0,
            complete_to: None,
            exhaustive: false,
            nothing_shared: false,
            failure: None,
        }
    }
}

/// What kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureKind {
    Panic,
    Deadlock,
    DataRace,
    Livelock,
    /// Something was not freed; only if [`crate::Checker::check_leaks`] says so.
    Leak,
    /// The test does not do the same in the same schedule.
    Nondeterminism,
    /// A thread needs a larger stack, or recurs without end.
    StackOverflow,
    /// A thread has not come back: it waits for something that is not modelled.
    Hang,
}

/// A run that fails.
#[derive(Debug, Clone)]
pub struct Failure {
    pub kind: FailureKind,
    /// What went wrong, with its places.
    pub message: String,
    /// For [`crate::Checker::replay`] and `PREEMPT_REPLAY`.
    pub schedule: String,
    pub preemptions: u32,
    /// No run with fewer fails. So it is with all strategies that raise the bound on preemptions step by step; chance, and
    /// a search without a bound, promise nothing.
    pub fewest_preemptions: bool,
    pub steps: Vec<FailureStep>,
    /// Of a panic: the program's own frames, if `RUST_BACKTRACE` asks for them.
    pub backtrace: Option<String>,
    /// Where the check was called, `FILE:LINE`.
    pub check: String,
    /// The name of the test, if its thread has one.
    pub test: Option<String>,
}

/// One step of a failing run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureStep {
    pub thread: usize,
    /// `name(number)`.
    pub thread_name: String,
    pub operation: String,
    pub location: Location,
    /// Did it leave a thread that could have gone on?
    pub preemption: bool,
    /// Did it leave a thread that could not?
    pub forced: bool,
}

impl Failure {
    /// A failure with nothing to show but what it is.
    pub(crate) fn without_run(kind: FailureKind, message: String) -> Failure {
        Failure {
            kind,
            message,
            schedule: String::new(),
            preemptions: 0,
            fewest_preemptions: false,
            steps: Vec::new(),
            backtrace: None,
            check: String::new(),
            test: None,
        }
    }

    /// The run in the shape that all reports share.
    pub fn trace(&self) -> Trace {
        let steps = self.steps.iter().map(|step| Step {
            process: step.thread_name.clone(),
            pid: step.thread,
            location: Some(step.location.clone()),
            text: step.operation.clone(),
            choice: None,
            switch: match (step.preemption, step.forced) {
                (true, _) => SwitchKind::Preemption,
                (false, true) => SwitchKind::Forced,
                (false, false) => SwitchKind::None,
            },
            changed: Vec::new(),
            output: None,
            partner: None,
        });
        let processes = self.steps.iter().map(|step| step.thread + 1).max().unwrap_or(0);
        Trace { initial: Vec::new(), steps: steps.collect(), loop_start: None, processes }
    }
}

/// Whatever orderings the program names, its atomics have no stale values.
const MODEL: &str = "under sequential consistency";

/// So many steps of a long run are shown.
const SHOWN: usize = 400;

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut trace = self.trace();
        let left_out = trace.steps.len().saturating_sub(SHOWN);
        trace.steps.drain(..left_out);
        let promise = Some(if self.fewest_preemptions {
            "a run with the fewest preemptions"
        } else {
            "a run that fails"
        });
        let options = TextOptions { width: 110, promise, mover: "thread", ..TextOptions::default() };
        writeln!(f, "{}\n", self.message)?;
        if left_out > 0 {
            writeln!(f, "  the last {SHOWN} of {} steps:", left_out + SHOWN)?;
        }
        if !trace.steps.is_empty() {
            let what = self.message.lines().next().unwrap_or_default();
            writeln!(f, "{}✗ {what}\n", render_run(&trace, None, &options))?;
        }
        if let Some(backtrace) = &self.backtrace {
            writeln!(f, "backtrace of the panic:\n{backtrace}")?;
        }
        if !self.schedule.is_empty() && self.kind != FailureKind::Nondeterminism {
            let test = self.test.as_ref().map(|test| format!(" {test}")).unwrap_or_default();
            let (check, schedule) = (&self.check, &self.schedule);
            writeln!(
                f,
                "run it again: PREEMPT_REPLAY='{check}={schedule}' cargo test{test}, or .replay(\"{schedule}\")"
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(failure) = &self.failure {
            write!(f, "{failure}")?;
        }
        let how_far = match (self.exhaustive, self.complete_to) {
            (true, _) => format!("complete {MODEL}"),
            (false, Some(1)) => format!("complete up to 1 preemption {MODEL}"),
            (false, Some(bound)) => format!("complete up to {bound} preemptions {MODEL}"),
            (false, None) => "not complete for any bound".to_string(),
        };
        let plural = if self.executions == 1 { "" } else { "s" };
        write!(f, "{} execution{plural}, {} pruned, {how_far}", self.executions, self.pruned)?;
        if self.nothing_shared && self.failure.is_none() {
            write!(
                f,
                "\nnothing was shared: no two threads have used the same object of preempt's, so there was one schedule \
                 to run. If the test is about threads, it uses types of std's in place of preempt's"
            )?;
        }
        Ok(())
    }
}

/// Tells a failure to people.
pub(crate) struct Teller<'a> {
    pub thread: &'a dyn Fn(usize) -> String,
    pub object: &'a dyn Fn(preempt_stateless::ObjectId) -> String,
}

impl Teller<'_> {
    pub fn tell(&self, failed: &[Failed]) -> Option<(FailureKind, String)> {
        let first = failed.first()?;
        Some(match first {
            Failed::Panic { thread, message, location, .. } => {
                let at = location.as_ref().map(|at| format!(" at {at}")).unwrap_or_default();
                let mut text = format!("{} panicked{at}: {message}", (self.thread)(*thread));
                for later in &failed[1..] {
                    if let Failed::Panic { thread, message, .. } = later {
                        text.push_str(&format!("\nthen {} panicked: {message}", (self.thread)(*thread)));
                    }
                }
                (FailureKind::Panic, text)
            }
            Failed::Overflow { thread, stack, at } => {
                let after = at.map(|at| format!(", after its operation at {at}")).unwrap_or_default();
                let text = format!(
                    "{} has overflowed its stack of {} KiB{after}\n(Builder::stack_size, or RUST_MIN_STACK in the environment, \
                     gives it a larger one)",
                    (self.thread)(*thread),
                    stack >> 10
                );
                (FailureKind::StackOverflow, text)
            }
            Failed::Race { first, second } => {
                let side = |access: &Access| {
                    let verb = if access.write { "writes" } else { "reads" };
                    format!("{} {verb} at {}", (self.thread)(access.thread), access.location)
                };
                let text = format!(
                    "data race: two accesses to the same cell, not ordered by any synchronisation\n  {}\n  {}\n\
                     nothing the first thread does after its access is acquired by the second before its own: a \
                     release store read by an acquire load, a lock, a channel or a join is missing",
                    side(first),
                    side(second)
                );
                (FailureKind::DataRace, text)
            }
            Failed::Leak { survivors } => {
                let mut text = "leak: the run is over, and not everything was freed".to_string();
                for Birth { what, thread, location, .. } in survivors {
                    text.push_str(&format!("\n  {what} of {}, made at {location}", (self.thread)(*thread)));
                }
                (FailureKind::Leak, text)
            }
            Failed::Deadlock { waiting } => (FailureKind::Deadlock, self.deadlock(waiting)),
        })
    }

    fn deadlock(&self, waiting: &[Waiting]) -> String {
        let mut text = "deadlock: nobody can go on".to_string();
        for wait in waiting {
            let object = wait.object.map(self.object).unwrap_or_default();
            let on = match wait.on {
                Some(other) if other == wait.thread => ", which it holds itself".to_string(),
                Some(other) if wait.object.is_some() => format!(", held by {}", (self.thread)(other)),
                Some(other) => format!(" {}", (self.thread)(other)),
                None => String::new(),
            };
            let (thread, verb, location) = ((self.thread)(wait.thread), wait.verb, wait.location);
            text.push_str(&format!("\n  {thread} waits at {location}: {verb}{object}{on}"));
        }
        if let Some(cycle) = cycle(waiting) {
            let names: Vec<String> = cycle.iter().map(|&thread| (self.thread)(thread)).collect();
            text.push_str(&format!("\n  in a circle: {}", names.join(" waits for ")));
        }
        text
    }
}

/// Threads each of which waits for the next; the first is the last.
fn cycle(waiting: &[Waiting]) -> Option<Vec<usize>> {
    let on = |thread: usize| waiting.iter().find(|wait| wait.thread == thread).and_then(|wait| wait.on);
    waiting.iter().find_map(|start| {
        let mut path = vec![start.thread];
        while let Some(next) = path.last().and_then(|&thread| on(thread)) {
            if next == start.thread {
                path.push(next);
                return Some(path);
            }
            if path.contains(&next) {
                return None;
            }
            path.push(next);
        }
        None
    })
}
