//! What all algorithms share: which one, how far it goes, and what it reports.

use crate::bound::BoundFunction;
use crate::executable::{Executable, Move};
use crate::graph::Graph;
use crate::runner::{Diverged, Runner};
use crate::{basic, bpor, cb_dfs, marking, pct, random};
use std::time::Duration;

/// Which algorithm explores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strategy {
    /// Musuvathi and Qadeer 2007 (paper 001), Algorithm 2: each happens-before graph once ([`crate::marking`]).
    #[default]
    Marking,
    /// The same paper's Algorithm 1: each prefix of each graph once ([`crate::basic`]).
    Basic,
    /// Coons, Musuvathi and McKinley 2013 (paper 003), Algorithm 1 with Algorithm 2, and with Algorithm 3 if there is a fair
    /// bound ([`crate::bpor`]).
    Bpor,
    /// The same with another bound function. The limit on preemptions is then one on what it counts.
    BporBy(BoundFunction),
    /// The same paper's Algorithm 1 without a bound on preemptions: dynamic partial-order reduction.
    Dpor,
    /// Depth-first search within the bound, without reduction ([`crate::cb_dfs`]).
    CbDfs,
    /// One run in which the threads take turns, a step each ([`crate::random::take_turns`]).
    RoundRobin,
    /// Random schedules ([`crate::random`]); the number is the seed.
    Random(u64),
    /// Probabilistic concurrency testing ([`crate::pct`]).
    Pct {
        /// Of the random priorities.
        seed: u64,
        /// The priorities change at `depth - 1` points of a run.
        depth: u32,
    },
}

/// How far an exploration goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExplorationLimits {
    /// The largest bound on preemptions; `None`: until nothing is cut.
    pub preemptions: Option<u32>,
    /// A thread may be so many yields ahead of an enabled one (paper 003, definition 1.9).
    pub fair: Option<u32>,
    /// A longer run is a livelock (paper 003, Algorithm 3, line 2).
    pub steps: usize,
    /// A longer run is no failure, but given up.
    pub gives_up_long_runs: bool,
    /// So many complete runs.
    pub executions: Option<u64>,
    /// So much time.
    pub time: Option<Duration>,
    /// End with the first failure?
    pub stop_at_failure: bool,
}

impl Default for ExplorationLimits {
    /// None but 10 000 steps of a run; ends with the first failure.
    fn default() -> ExplorationLimits {
        ExplorationLimits {
            preemptions: None,
            fair: None,
            steps: 10_000,
            gives_up_long_runs: false,
            executions: None,
            time: None,
            stop_at_failure: true,
        }
    }
}

/// Why an exploration ended before it was complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExplorationStop {
    /// The limit on executions was reached.
    Executions,
    /// The time was over.
    Time,
    /// A run failed, and the limits say that the exploration ends then.
    Failure,
    /// Another search of the same program has ended.
    Elsewhere,
    /// The program cannot be run like this (see [`Executable::gave_up`]).
    GaveUp,
    /// The program is not deterministic.
    Diverged(Diverged),
}

impl From<Diverged> for ExplorationStop {
    fn from(diverged: Diverged) -> ExplorationStop {
        ExplorationStop::Diverged(diverged)
    }
}

/// A run that failed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FailingRun {
    /// Who moves when.
    pub schedule: Vec<Move>,
    /// How many of its switches are preemptions.
    pub preemptions: u32,
    /// It did not end within the limit on steps.
    pub livelock: bool,
}

impl FailingRun {
    /// The cheapest order of a failing run that was found within the bound.
    pub(crate) fn cheapest(graph: &Graph, fair: Option<u32>, bound: u32) -> FailingRun {
        // The run itself is an order within both bounds, so there is one.
        let found = graph.cheapest_linearisation(fair);
        let (schedule, preemptions) = found.unwrap_or_else(|| (graph.path().to_vec(), bound));
        FailingRun { schedule, preemptions, livelock: false }
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
    /// Steps beyond the fair bound were left out.
    pub unfair: bool,
    /// Runs were given up, for their length or by whoever chose their steps.
    pub given_up: u64,
    /// Of the failing runs one with the fewest preemptions.
    pub failure: Option<FailingRun>,
    /// How many runs failed.
    pub failures: u64,
    /// `None` if the exploration is complete within its bounds.
    pub stop: Option<ExplorationStop>,
    /// Happens-before graphs in the table, prefixes included; 0 for algorithms without one.
    pub graphs: u64,
    /// Prefixes whose context bound was computed.
    pub prefixes: u64,
    /// Calls of `Mark` (paper 001, Algorithm 2), or states visited (Algorithm 1).
    pub visits: u64,
}

/// Is shown the graph of every complete run.
///
/// Any `FnMut(&Graph)` is one, and `()` is one that does not look.
pub trait RunObserver {
    /// A run is complete.
    fn observe(&mut self, graph: &Graph);

    /// Algorithms that do not need graphs themselves build them only if this is true.
    fn wants_graphs(&self) -> bool {
        true
    }
}

impl RunObserver for () {
    fn observe(&mut self, _: &Graph) {}

    fn wants_graphs(&self) -> bool {
        false
    }
}

impl<F: FnMut(&Graph)> RunObserver for F {
    fn observe(&mut self, graph: &Graph) {
        self(graph);
    }
}

/// Explores the program with the strategy, bound by bound.
///
/// Two threads that each take the same lock once have two happens-before graphs, and both need no preemption:
///
/// ```
/// use preempt_stateless::program::{Op, Program};
/// use preempt_stateless::{ExplorationLimits, Strategy, explore};
///
/// let mut program = Program::new(vec![vec![Op::Lock(0), Op::Unlock(0)]; 2]);
/// let found = explore(&mut program, Strategy::Marking, &ExplorationLimits::default(), &mut ());
/// assert_eq!((found.executions, found.exhaustive), (2, true));
/// assert_eq!(found.per_bound, [2]);
/// ```
///
/// A failure is shown by a run with the fewest preemptions:
///
/// ```
/// use preempt_stateless::program::{Op, Program};
/// use preempt_stateless::{ExplorationLimits, Strategy, explore};
///
/// // The second thread fails if it looks between the two stores of the first.
/// let mut program = Program::new(vec![vec![Op::Store(0, 1), Op::Store(0, 0)], vec![Op::FailIf(0, 1)]]);
/// let found = explore(&mut program, Strategy::Marking, &ExplorationLimits::default(), &mut ());
/// let failure = found.failure.unwrap();
/// assert_eq!(failure.schedule, [0, 1].map(preempt_stateless::Move::from));
/// assert_eq!(failure.preemptions, 1);
/// ```
pub fn explore<E: Executable>(
    program: &mut E,
    strategy: Strategy,
    limits: &ExplorationLimits,
    observer: &mut impl RunObserver,
) -> Exploration {
    match strategy {
        Strategy::Marking => marking::explore(program, limits, observer),
        Strategy::Basic => basic::explore(program, limits, observer),
        Strategy::Bpor => bpor::explore(program, limits, BoundFunction::Preemptions, observer),
        Strategy::BporBy(function) => bpor::explore(program, limits, function, observer),
        Strategy::Dpor => bpor::explore_unbounded(program, limits, observer),
        Strategy::CbDfs => cb_dfs::explore(program, limits, observer),
        Strategy::RoundRobin => random::take_turns(program, limits, observer),
        Strategy::Random(seed) => random::explore(program, limits, seed, observer),
        Strategy::Pct { seed, depth } => pct::explore(program, limits, seed, depth, observer),
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
