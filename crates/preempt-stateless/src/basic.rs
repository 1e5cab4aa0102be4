//! Musuvathi and Qadeer 2007 (paper 001), Algorithm 1: every happens-before graph within the bound is visited once, prefixes
//! included.
//!
//! **What it computes.** A depth-first search over graphs as states: from a graph it goes on to each successor that is not in
//! the hash table and whose context bound is within the bound.
//!
//! **Why it is right.** Theorem 2: at the end exactly the graphs with a context bound of at most c are in the table. By
//! Theorem 1 each of them is reached by a run all of whose prefixes are within the bound, so cutting the others loses none.
//!
//! **What it costs.** A run of the program for every *prefix* that it has not seen, where Algorithm 2
//! ([`crate::marking`], the default) makes one for every *complete* graph. It is here to be compared with, and as the
//! plainest search that reduces soundly under a bound. Raising the bound starts anew; complete graphs are counted once.

use crate::context_bound::ContextBounds;
use crate::executable::{Executable, Flow, Move};
use crate::explore::{Exploration, ExplorationLimits, ExplorationStop, FailingRun, RunObserver};
use crate::graph::Graph;
use crate::prefix::Prefix;
use crate::recorder::RunRecorder;
use crate::runner::Runner;
use crate::stamp::Stamp;
use std::collections::HashSet;

type Stamps = HashSet<Stamp, foldhash::fast::FixedState>;

struct Search<'a, E, T> {
    runner: Runner<'a, E>,
    graph: Graph,
    /// The hash table `H`, of this bound.
    visited: Stamps,
    /// Complete graphs, of all bounds.
    executed: Stamps,
    bounds: ContextBounds,
    recorder: RunRecorder<'a>,
    observer: &'a mut T,
    bound: u32,
    cut: bool,
}

struct Frame {
    prefix: Prefix,
    /// In reverse: the next one last.
    left: Vec<Move>,
}

/// Explores bound 0, 1, 2, ... until the limit, or until nothing is cut.
pub fn explore<E: Executable>(
    program: &mut E,
    limits: &ExplorationLimits,
    observer: &mut impl RunObserver,
) -> Exploration {
    let runner = Runner::new(program);
    let graph = Graph::new(runner.program());
    let mut search = Search {
        runner,
        graph,
        visited: Stamps::default(),
        executed: Stamps::default(),
        bounds: ContextBounds::new(limits.fair),
        recorder: RunRecorder::new(limits),
        observer,
        bound: 0,
        cut: false,
    };
    let result = search.iterate();
    let Search { runner, visited, bounds, mut recorder, .. } = search;
    recorder.exploration.graphs = visited.len() as u64;
    recorder.exploration.prefixes = bounds.prefixes() as u64;
    recorder.finish(result, &runner)
}

impl<E: Executable, T: RunObserver> Search<'_, E, T> {
    fn iterate(&mut self) -> Result<(), ExplorationStop> {
        loop {
            self.cut = false;
            self.visited.clear();
            self.search()?;
            self.recorder.completed_bound(self.bound);
            self.recorder.exploration.exhaustive = !self.cut;
            if !self.cut || self.recorder.is_last(self.bound) {
                return Ok(());
            }
            self.bound += 1;
            self.runner.reset();
        }
    }

    /// Lines 3 to 10, with the stack made explicit.
    fn search(&mut self) -> Result<(), ExplorationStop> {
        let mut stack = Vec::new();
        self.enter(&mut stack, Flow::Continue)?;
        while let Some(frame) = stack.last_mut() {
            let Some(step) = frame.left.pop() else {
                stack.pop();
                if !self.graph.path().is_empty() {
                    self.graph.pop();
                    self.runner.rewind(self.graph.path().len());
                }
                continue;
            };
            let Some(next) = self.graph.successor_stamp(&frame.prefix, step) else { continue };
            if self.visited.contains(&next) {
                continue;
            }
            if self.bounds.of_step(&self.graph, &frame.prefix, step.thread) > self.bound {
                self.cut = true;
                continue;
            }
            let flow = self.graph.follow(&mut self.runner, step)?;
            self.enter(&mut stack, flow)?;
        }
        Ok(())
    }

    fn enter(&mut self, stack: &mut Vec<Frame>, flow: Flow) -> Result<(), ExplorationStop> {
        self.runner.arrive()?;
        let prefix = self.graph.whole();
        self.visited.insert(prefix.stamp);
        self.recorder.exploration.visits += 1;
        let mut left = if flow == Flow::Continue { self.runner.moves() } else { Vec::new() };
        let livelock = !left.is_empty() && self.runner.is_endless(self.recorder.limits.steps);
        if livelock {
            left.clear();
            let schedule = self.runner.schedule();
            self.recorder.failed(FailingRun { schedule, preemptions: self.bound, livelock })?;
        } else if left.is_empty() && self.executed.insert(prefix.stamp) {
            let end = self.runner.program_mut().end();
            self.observer.observe(&self.graph);
            let (graph, fair, bound) = (&self.graph, self.recorder.limits.fair, self.bound);
            self.recorder.completed_run(end, || FailingRun::cheapest(graph, fair, bound))?;
        }
        left.reverse();
        stack.push(Frame { prefix, left });
        Ok(())
    }
}
