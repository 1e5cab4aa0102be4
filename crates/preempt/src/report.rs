//! What a check has found.

use crate::operations::OperationCount;
use crate::reproduce::CheckOrigin;
use preempt_core::{Change, Location, Step, StopReason, SwitchKind, Trace, Value, Verdict};
use preempt_report::text::{TextOptions, render_run};
use std::fmt;

/// The outcome of [`crate::Checker::run`].
#[derive(Debug, Clone)]
pub struct CheckReport {
    /// Does the test hold in every schedule within the bounds?
    pub verdict: Verdict,
    /// Complete runs, over all bounds together.
    pub executions: u64,
    /// Runs that were begun and not completed.
    pub pruned: u64,
    /// Steps done, over all runs.
    pub steps: u64,
    /// Of the default strategy: prefixes of happens-before graphs that were closed without running the test (calls of `Mark`,
    /// Musuvathi and Qadeer 2007, paper 001). Of the paper's Algorithm 1: states visited. 0 for others.
    pub prefixes: u64,
    /// Every run with at most so many preemptions was explored.
    pub complete_to: Option<u32>,
    /// Every run was explored: nothing was cut by a bound.
    pub exhaustive: bool,
    /// Runs were left out in which a thread yields too far ahead of others: see [`crate::Checker::fair_bound`].
    pub unfair: bool,
    /// No two threads have used the same object of preempt's, in any run: no schedule could matter.
    pub nothing_shared: bool,
    /// What the threads have done, over all runs: the operations between which another thread can come. Threads in the order of
    /// their numbers, operations in that of their places.
    pub operations: Vec<OperationCount>,
    /// A run of the same schedule had other values: where, and which. Nothing else differed, or it would be a failure.
    pub differing_values: Option<String>,
    /// The simplest run that fails, if one does.
    pub failure: Option<Failure>,
}

impl CheckReport {
    /// Nothing was explored.
    pub(crate) fn empty(verdict: Verdict) -> CheckReport {
        CheckReport {
            verdict,
            executions: 0,
            pruned: 0,
            steps: 0,
            prefixes: 0,
            complete_to: None,
            exhaustive: false,
            unfair: false,
            nothing_shared: false,
            operations: Vec::new(),
            differing_values: None,
            failure: None,
        }
    }
}

impl CheckReport {
    /// What was explored, in one line: `613 executions, all graphs with at most 2 preemptions under sequential consistency; 0
    /// cut`. A graph is what runs that differ only in the order of independent steps have in common, and a run is cut if it
    /// was begun and not completed.
    pub fn coverage(&self) -> String {
        let how_far = match (self.exhaustive, self.complete_to) {
            (true, _) => format!("all graphs {MODEL}"),
            (false, Some(1)) => format!("all graphs with at most 1 preemption {MODEL}"),
            (false, Some(bound)) => format!("all graphs with at most {bound} preemptions {MODEL}"),
            (false, None) => "not complete for any bound".to_string(),
        };
        let plural = if self.executions == 1 { "" } else { "s" };
        let time = match self.verdict {
            Verdict::Inconclusive(StopReason::Time) => "; the time was over",
            Verdict::Inconclusive(StopReason::Depth) => "; runs were given up for their length",
            _ => "",
        };
        let fair = if self.unfair { " within the fair bound" } else { "" };
        format!("{} execution{plural}, {how_far}{fair}; {} cut{time}", self.executions, self.pruned)
    }
}

/// What kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// A thread panicked, and nobody joined it.
    Panic,
    /// Nobody can move, and somebody has not finished.
    Deadlock,
    /// Two accesses to a cell that nothing orders.
    DataRace,
    /// The run does not end.
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
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// What went wrong, with its places.
    pub message: String,
    /// For [`crate::Checker::replay`] and `PREEMPT_REPLAY`.
    pub schedule: String,
    /// The preemptions of the run.
    pub preemptions: u32,
    /// No run with fewer fails. So it is with all strategies that raise the bound on preemptions step by step; random ones,
    /// and a search without a bound, promise nothing.
    pub fewest_preemptions: bool,
    /// Of the run, in order.
    pub steps: Vec<FailureStep>,
    /// What the run has used, in the order of its first use.
    pub objects: Vec<FailureObject>,
    /// Of a panic: the program's own frames, if `RUST_BACKTRACE` is set.
    pub backtrace: Option<String>,
    /// Where the check was called, `FILE:LINE`.
    pub check: String,
    pub(crate) origin: CheckOrigin,
    /// The name of the test, if its thread has one.
    pub test: Option<String>,
}

/// One step of a failing run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureStep {
    /// The number of the thread, in the order of creation.
    pub thread: usize,
    /// `name(number)`.
    pub thread_name: String,
    /// What the thread did, to which object, and what came of it: `counter: load -> 0`.
    pub operation: String,
    /// The object, if there is one: see [`Failure::objects`].
    pub object: Option<String>,
    /// What the object holds now, if it is an atomic and the step has changed it.
    pub value: Option<String>,
    /// Where in the test.
    pub location: Location,
    /// Did it leave a thread that could have gone on?
    pub preemption: bool,
    /// Did it leave a thread that could not?
    pub forced: bool,
    /// Is it a step? The accesses to memory that race are none, and stand behind the steps that they came after.
    pub scheduled: bool,
}

/// An object of a failing run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureObject {
    /// What the test calls it where it is first used, if the text was found; otherwise its kind and a number.
    pub name: String,
    /// Without paths: `Mutex<u32>`.
    pub type_name: String,
    /// Where it was made. Atomics have no room to know that.
    pub made: Option<Location>,
    /// Where the run has first used it.
    pub first_used: Location,
}

impl fmt::Display for FailureObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FailureObject { name, type_name, made, first_used } = self;
        match made {
            Some(made) => write!(f, "{name}: {type_name}, made at {made}"),
            None => write!(f, "{name}: {type_name}, first used at {first_used}"),
        }
    }
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
            objects: Vec::new(),
            backtrace: None,
            check: String::new(),
            origin: CheckOrigin::default(),
            test: None,
        }
    }

    /// The text of a `#[test]` that repeats this run, to keep it in the suite. It fails as long as the run does. (Empty for tests
    /// that are written for loom, which replays nothing.)
    pub fn reproduction(&self) -> String {
        self.origin.reproduction(&self.check, self.test.as_deref(), &self.schedule)
    }

    /// The run in the shape that all reports share.
    pub fn trace(&self) -> Trace {
        let steps = self.steps.iter().map(|step| Step {
            process: step.thread_name.clone(),
            pid: step.thread,
            location: Some(step.location.clone()),
            calls: Vec::new(),
            text: step.operation.clone(),
            choice: None,
            switch: match (step.preemption, step.forced) {
                (true, _) => SwitchKind::Preemption,
                (false, true) => SwitchKind::Forced,
                (false, false) => SwitchKind::None,
            },
            changed: change_of(step).into_iter().collect(),
            output: None,
            partner: None,
        });
        let processes = self.steps.iter().map(|step| step.thread + 1).max().unwrap_or(0);
        Trace { initial: Vec::new(), steps: steps.collect(), loop_start: None, processes }
    }
}

/// `counter = 1`.
fn change_of(step: &FailureStep) -> Option<Change> {
    let (name, value) = (step.object.clone()?, step.value.as_ref()?);
    let value = value.parse().map_or_else(|_| Value::Name(value.clone()), Value::Number);
    Some(Change { name, value })
}

/// Whatever orderings the program names, its atomics have no stale values.
const MODEL: &str = "under sequential consistency";

/// So many steps of a long run are shown.
const SHOWN: usize = 400;

/// So many objects are listed.
const OBJECTS: usize = 30;

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut trace = self.trace();
        // What one thread does without a switch is folded, however long.
        let switches = trace.steps.windows(2).filter(|pair| pair[0].pid != pair[1].pid).count();
        let shown = if switches < SHOWN / 8 { usize::MAX } else { SHOWN };
        let left_out = trace.steps.len().saturating_sub(shown);
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
        if !self.objects.is_empty() {
            writeln!(f, "objects:")?;
            for object in self.objects.iter().take(OBJECTS) {
                writeln!(f, "  {object}")?;
            }
            if self.objects.len() > OBJECTS {
                writeln!(f, "  and {} more", self.objects.len() - OBJECTS)?;
            }
            writeln!(f)?;
        }
        if let Some(backtrace) = &self.backtrace {
            writeln!(f, "backtrace of the panic:\n{backtrace}")?;
        }
        if !self.schedule.is_empty() && self.kind != FailureKind::Nondeterminism {
            let test = self.test.as_ref().map(|test| format!(" {test}")).unwrap_or_default();
            let (check, schedule) = (&self.check, &self.schedule);
            let reproduction = self.reproduction();
            write!(f, "run it again: PREEMPT_REPLAY='{check}={schedule}' cargo test{test}")?;
            match reproduction.is_empty() {
                true => writeln!(f, "\n")?,
                false => {
                    writeln!(f, ", or .replay(\"{schedule}\")\nto keep it, as a test:\n\n{reproduction}")?
                }
            }
        }
        Ok(())
    }
}

impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(failure) = &self.failure {
            write!(f, "{failure}")?;
        }
        write!(f, "{}", self.coverage())?;
        if self.nothing_shared && self.failure.is_none() {
            write!(
                f,
                "\nnothing was shared: no two threads have used the same object of preempt's, so there was one schedule \
                 to run. If the test is about threads, it uses types of std's in place of preempt's"
            )?;
        }
        match &self.differing_values {
            Some(what) => write!(f, "\n{what}"),
            None => Ok(()),
        }
    }
}
