//! What all algorithms share: the limits, the bound raised step by step, and what is reported.

use crate::bound::BoundFunction;
use crate::executable::{Executable, Move, RunEnd};
use crate::graph::Graph;
use crate::runner::{Diverged, Runner};
use crate::{basic, bpor, cb_dfs, marking, pct, random};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
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
    /// Paper 003, Algorithm 1, with another bound function. The limit on preemptions is then one on what it counts.
    BporBy(BoundFunction),
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
    /// Another search of the same program has ended.
    Elsewhere,
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

impl Failing {
    /// The cheapest order of a failing run that was found within the bound.
    pub(crate) fn cheapest(graph: &Graph, fair: Option<u32>, bound: u32) -> Failing {
        // The run itself is an order within both bounds, so there is one.
        let found = graph.cheapest_linearisation(fair);
        let (schedule, preemptions) = found.unwrap_or_else(|| (graph.path().to_vec(), bound));
        Failing { schedule, preemptions, livelock: false }
    }
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
        Strategy::Bpor => bpor::explore(program, limits, BoundFunction::Preemptions, terminal),
        Strategy::BporBy(function) => bpor::explore(program, limits, function, terminal),
        Strategy::Dpor => bpor::explore_unbounded(program, limits, terminal),
        Strategy::CbDfs => cb_dfs::explore(program, limits, terminal),
        Strategy::Random(seed) => random::explore(program, limits, seed, terminal),
        Strategy::Pct { seed, depth } => pct::explore(program, limits, seed, depth, terminal),
    }
}

/// What several searches share that explore the same program.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    executions: AtomicU64,
    /// `executions` when each bound was complete.
    pub per_bound: Mutex<Vec<u64>>,
    /// Why the first of them ended before its time.
    pub stop: Mutex<Option<Stop>>,
    stopped: AtomicBool,
    /// How many searches have completed each bound; those that have ended have completed all.
    arrived: Mutex<Vec<usize>>,
    left: AtomicUsize,
    arrival: Condvar,
}

impl Progress {
    /// Waits until all searches have completed the bound, or one has ended.
    pub fn wait_for_all(&self, bound: u32, searches: usize) {
        let mut arrived = self.arrived.lock().unwrap_or_else(PoisonError::into_inner);
        let least = arrived.len().max(bound as usize + 1);
        arrived.resize(least, 0);
        arrived[bound as usize] += 1;
        self.arrival.notify_all();
        while arrived[bound as usize] + self.left.load(Ordering::SeqCst) < searches
            && !self.stopped.load(Ordering::SeqCst)
        {
            arrived = self.arrival.wait(arrived).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// One search has ended.
    pub fn leave(&self) {
        self.left.fetch_add(1, Ordering::SeqCst);
        self.wake();
    }

    /// All are to end.
    pub fn end(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.wake();
    }

    fn wake(&self) {
        // Those who wait have looked before they hold the lock no more.
        drop(self.arrived.lock().unwrap_or_else(PoisonError::into_inner));
        self.arrival.notify_all();
    }

    pub fn executions(&self) -> u64 {
        self.executions.load(Ordering::SeqCst)
    }
}

/// Watches the limits and collects the numbers for one search.
#[derive(Debug)]
pub(crate) struct Watch<'a> {
    pub limits: &'a Limits,
    pub found: Exploration,
    progress: Arc<Progress>,
    began: Instant,
}

impl<'a> Watch<'a> {
    pub fn new(limits: &'a Limits) -> Watch<'a> {
        Watch::sharing(limits, Arc::default())
    }

    pub fn sharing(limits: &'a Limits, progress: Arc<Progress>) -> Watch<'a> {
        Watch { limits, found: Exploration::default(), progress, began: Instant::now() }
    }

    /// Counts a complete run. `Err` if the exploration is over.
    pub fn ended(&mut self, end: RunEnd, failing: impl FnOnce() -> Failing) -> Result<(), Stop> {
        self.found.executions += 1;
        self.progress.executions.fetch_add(1, Ordering::SeqCst);
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

    /// Are the limits reached, by all searches together?
    pub fn check(&self) -> Result<(), Stop> {
        if self.progress.stopped.load(Ordering::Relaxed) {
            return Err(Stop::Elsewhere);
        }
        if self.limits.executions.is_some_and(|most| self.progress.executions() >= most) {
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
        let mut per_bound = self.progress.per_bound.lock().unwrap_or_else(PoisonError::into_inner);
        if per_bound.len() <= bound as usize {
            per_bound.push(self.progress.executions());
        }
        self.found.per_bound.clone_from(&per_bound);
    }

    pub fn finish(mut self, result: Result<(), Stop>, runs: u64, steps: u64) -> Exploration {
        self.found.stop = result.err();
        if let Some(stop) = self.found.stop.clone().filter(|stop| *stop != Stop::Elsewhere) {
            self.progress.stop.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(stop);
            self.progress.end();
        }
        self.progress.leave();
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
