//! Paper 001, Algorithm 1: every happens-before graph within the bound is visited once, prefixes included.
//!
//! It makes a run for every prefix that it has not seen, where Algorithm 2 makes one for every complete graph; it is
//! here to be compared with. Raising the bound starts anew; complete graphs are counted once.

use crate::context_bound::ContextBounds;
use crate::executable::{Executable, Flow, Move, Stamp};
use crate::explore::{Exploration, Failing, Limits, Stop, Terminal, Watch};
use crate::graph::Graph;
use crate::prefix::Prefix;
use crate::runner::Runner;
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
    watch: Watch<'a>,
    terminal: &'a mut T,
    bound: u32,
    cut: bool,
}

struct Frame {
    prefix: Prefix,
    /// In reverse: the next one last.
    left: Vec<Move>,
}

/// Explores bound 0, 1, 2, ... until the limit, or until nothing is cut.
pub fn explore<E: Executable>(program: &mut E, limits: &Limits, terminal: &mut impl Terminal) -> Exploration {
    let runner = Runner::new(program);
    let graph = Graph::new(runner.program());
    let mut search = Search {
        runner,
        graph,
        visited: Stamps::default(),
        executed: Stamps::default(),
        bounds: ContextBounds::new(limits.fair),
        watch: Watch::new(limits),
        terminal,
        bound: 0,
        cut: false,
    };
    let result = search.iterate();
    let Search { runner, visited, bounds, mut watch, .. } = search;
    watch.found.graphs = visited.len() as u64;
    watch.found.prefixes = bounds.prefixes() as u64;
    watch.finish(result, runner.runs, runner.steps)
}

impl<E: Executable, T: Terminal> Search<'_, E, T> {
    fn iterate(&mut self) -> Result<(), Stop> {
        loop {
            self.cut = false;
            self.visited.clear();
            self.search()?;
            self.watch.completed(self.bound);
            self.watch.found.exhaustive = !self.cut;
            if !self.cut || self.watch.limits.preemptions.is_some_and(|most| self.bound >= most) {
                return Ok(());
            }
            self.bound += 1;
            self.runner.reset();
        }
    }

    /// Lines 3 to 10, with the stack made explicit.
    fn search(&mut self) -> Result<(), Stop> {
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

    fn enter(&mut self, stack: &mut Vec<Frame>, flow: Flow) -> Result<(), Stop> {
        self.runner.arrive()?;
        let prefix = self.graph.whole();
        self.visited.insert(prefix.stamp);
        self.watch.found.visits += 1;
        let mut left = if flow == Flow::Continue { self.runner.moves() } else { Vec::new() };
        let livelock = !left.is_empty() && self.runner.is_endless(self.watch.limits.steps);
        if livelock {
            left.clear();
            let schedule = self.runner.schedule();
            self.watch.failed(Failing { schedule, preemptions: self.bound, livelock })?;
        } else if left.is_empty() && self.executed.insert(prefix.stamp) {
            let end = self.runner.program_mut().end();
            self.terminal.terminal(&self.graph);
            let (graph, fair, bound) = (&self.graph, self.watch.limits.fair, self.bound);
            self.watch.ended(end, || Failing::cheapest(graph, fair, bound))?;
        }
        left.reverse();
        stack.push(Frame { prefix, left });
        Ok(())
    }
}
