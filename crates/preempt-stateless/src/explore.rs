//! What all algorithms share: the limits, the bound raised step by step, and what is reported.

use crate::executable::{Executable, Move, RunEnd};
use crate::graph::Graph;
use crate::runner::{Diverged, Runner};
use crate::{basic, bpor, cb_dfs, marking, pct, random};
use std::time::{Duration, Instant};

/// Which algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strategy {
    /// Paper 001, Algorithm 2.
    #[default]
    Marking,
    /// Paper 001, Algorithm 1.
    Basic,
    /// Paper 003, Algorithm 1 with Algorithm 2, and Algorithm 3 if there is a fair bound.
    Bpor,
    /// Paper 003, Algorithm 1 without a bound on preemptions.
    Dpor,
    /// Plain depth-first search within the bound.
    CbDfs,
    /// Schedules by chance; the number is the seed.
    Random(u64),
    /// Random priorities with `depth - 1` points where they change.
    Pct { seed: u64, depth: u32 },
}

/// How far to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The largest bound on preemptions; `None`: until nothing is cut.
    pub preemptions: Option<u32>,
    /// A thread may be so many yields ahead of an enabled one (paper 003, definition 1.9).
    pub fair: Option<u32>,
    /// A longer run is a livelock (paper 003, Algorithm 3, line 2).
    pub steps: usize,
    pub executions: Option<u64>,
    pub time: Option<Duration>,
    /// End with the first failure?
    pub stop_at_failure: bool,
}

impl Default for Limits {
    fn default() -> Limits {
        let steps = 10_000;
        Limits { preemptions: None, fair: None, steps, executions: None, time: None, stop_at_failure: true }
    }
}

/// Why an exploration ended before it was complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    Executions,
    Time,
    /// Ended with a failure, as asked.
    Failure,
    /// The program is not deterministic.
    Diverged(Diverged),
}

/// A run that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failing {
    /// Who moves when.
    pub schedule: Vec<Move>,
    pub preemptions: u32,
    /// It did not end within the limit on steps.
    pub livelock: bool,
}

/// What was explored and found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exploration {
    /// Complete runs, over all bounds together.
    pub executions: u64,
    /// Runs that were begun and not completed.
    pub pruned: u64,
    /// Steps done, over all runs.
    pub steps: u64,
    /// `executions` when the bound 0, 1, 2, ... was complete.
    pub per_bound: Vec<u64>,
    /// The largest bound that is complete.
    pub complete_to: Option<u32>,
    /// Nothing was cut by any bound.
    pub exhaustive: bool,
    pub failure: Option<Failing>,
    pub failures: u64,
    pub stop: Option<Stop>,
    /// Happens-before graphs in the table, prefixes included; 0 for algorithms without one.
    pub graphs: u64,
    /// Prefixes whose context bound was computed.
    pub prefixes: u64,
    /// Calls of `Mark` (paper 001, Algorithm 2), or states visited (Algorithm 1).
    pub visits: u64,
}

/// Hears of every complete run.
pub trait Terminal {
    fn terminal(&mut self, graph: &Graph);

    /// Algorithms that do not need graphs build them only if asked.
    fn wants_graphs(&self) -> bool {
        true
    }
}

impl Terminal for () {
    fn terminal(&mut self, _: &Graph) {}

    fn wants_graphs(&self) -> bool {
        false
    }
}

impl<F: FnMut(&Graph)> Terminal for F {
    fn terminal(&mut self, graph: &Graph) {
        self(graph);
    }
}

/// Runs the runner's path again for the graph that those who want one are shown.
pub(crate) fn show<E: Executable>(
    runner: &mut Runner<'_, E>,
    terminal: &mut impl Terminal,
) -> Result<(), Stop> {
    if terminal.wants_graphs() {
        let schedule = runner.schedule();
        runner.reset();
        runner.arrive()?;
        // Not one of the search's own runs.
        runner.runs -= 1;
        let mut graph = Graph::new(runner.program());
        for step in schedule {
            graph.follow(runner, step)?;
        }
        terminal.terminal(&graph);
    }
    Ok(())
}

/// Explores the program with the strategy, bound by bound.
pub fn explore<E: Executable>(
    program: &mut E,
    strategy: Strategy,
    limits: &Limits,
    terminal: &mut impl Terminal,
) -> Exploration {
    match strategy {
        Strategy::Marking => marking::explore(program, limits, terminal),
        Strategy::Basic => basic::explore(program, limits, terminal),
        Strategy::Bpor => bpor::explore(program, limits, terminal),
        Strategy::Dpor => bpor::explore_unbounded(program, limits, terminal),
        Strategy::CbDfs => cb_dfs::explore(program, limits, terminal),
        Strategy::Random(seed) => random::explore(program, limits, seed, terminal),
        Strategy::Pct { seed, depth } => pct::explore(program, limits, seed, depth, terminal),
    }
}

/// Watches the limits and collects the numbers for one exploration.
#[derive(Debug)]
pub(crate) struct Watch<'a> {
    pub limits: &'a Limits,
    pub found: Exploration,
    began: Instant,
}

impl<'a> Watch<'a> {
    pub fn new(limits: &'a Limits) -> Watch<'a> {
        Watch { limits, found: Exploration::default(), began: Instant::now() }
    }

    /// Counts a complete run. `Err` if the exploration is over.
    pub fn ended(&mut self, end: RunEnd, failing: impl FnOnce() -> Failing) -> Result<(), Stop> {
        self.found.executions += 1;
        if end == RunEnd::Failed {
            self.failed(failing())?;
        }
        self.check()
    }

    pub fn failed(&mut self, failing: Failing) -> Result<(), Stop> {
        self.found.failures += 1;
        if self.found.failure.as_ref().is_none_or(|known| failing.preemptions < known.preemptions) {
            self.found.failure = Some(failing);
        }
        if self.limits.stop_at_failure { Err(Stop::Failure) } else { Ok(()) }
    }

    /// Are the limits reached?
    pub fn check(&self) -> Result<(), Stop> {
        if self.limits.executions.is_some_and(|most| self.found.executions >= most) {
            return Err(Stop::Executions);
        }
        // The clock is asked for every run only: a run is short compared to the limits that people set.
        if self.limits.time.is_some_and(|most| self.began.elapsed() >= most) {
            return Err(Stop::Time);
        }
        Ok(())
    }

    /// Every run with at most `bound` preemptions was explored.
    pub fn completed(&mut self, bound: u32) {
        self.found.complete_to = Some(bound);
        self.found.per_bound.push(self.found.executions);
    }

    pub fn finish(mut self, result: Result<(), Stop>, runs: u64, steps: u64) -> Exploration {
        self.found.stop = result.err();
        self.found.pruned = runs.saturating_sub(self.found.executions);
        self.found.steps = steps;
        self.found
    }
}

impl From<Diverged> for Stop {
    fn from(diverged: Diverged) -> Stop {
        Stop::Diverged(diverged)
    }
}

/// The preemptions of a schedule, counted by running it. `None` if it cannot be run.
pub fn preemptions_of(program: &mut impl Executable, schedule: &[Move]) -> Option<u32> {
    let mut runner = Runner::new(program);
    let mut count = 0;
    for &step in schedule {
        count += u32::from(runner.preempts(step.thread));
        runner.step(step).ok()?;
    }
    Some(count)
}
