//! The context bound of a partial order (paper 001, section 3.2): the fewest preemptions of any order of its steps.
//!
//! Deciding it is NP-complete (Theorem 5), so this is the paper's dynamic program over prefixes. What it finds is kept
//! by stamp and reused for every graph with the same prefix, in whatever run it occurs.
//!
//! With a fair bound (paper 003, definition 1.9) steps that are too far ahead in yields do not exist: unfairness is a
//! property of the prefix and the thread, so the program below only leaves those steps out.

use crate::executable::Stamp;
use crate::graph::Graph;
use crate::prefix::Prefix;
use crate::table::ByStamp;
use preempt_model::search::Arrival;

/// No order of the steps exists, because of the fair bound.
pub const UNREACHABLE: u32 = u32::MAX;

/// The table of the dynamic program.
#[derive(Debug, Clone, Default)]
pub struct ContextBounds {
    /// Where those of a prefix stand in the list of all.
    arrivals: ByStamp<(u32, u32)>,
    all: Vec<Arrival<u64>>,
    fair: Option<u32>,
}

impl ContextBounds {
    /// With at most this unfairness.
    pub fn new(fair: Option<u32>) -> ContextBounds {
        ContextBounds { fair, ..ContextBounds::default() }
    }

    /// How many prefixes were computed.
    pub fn prefixes(&self) -> usize {
        self.arrivals.len()
    }

    fn arrivals(&self, stamp: Stamp) -> Option<&[Arrival<u64>]> {
        self.arrivals.get(&stamp).map(|&(from, to)| &self.all[from as usize..to as usize])
    }

    /// Another graph hides other steps: what was computed may be too much.
    pub fn forget(&mut self) {
        self.arrivals.clear();
        self.all.clear();
    }

    /// Is the step fair enough? It must be enabled.
    pub fn fair(&self, graph: &Graph, prefix: &Prefix, thread: usize) -> bool {
        self.fair.is_none_or(|most| graph.unfairness(&prefix.counts, thread) <= most)
    }

    /// `CB(x, t)` for an enabled thread: the fewest preemptions of a run that ends with this step.
    pub fn of_step(&mut self, graph: &Graph, prefix: &Prefix, thread: usize) -> u32 {
        if !self.fair(graph, prefix, thread) {
            return UNREACHABLE;
        }
        self.compute(graph, prefix);
        self.known_step(graph, prefix, thread)
    }

    /// Fills the table for the prefix and everything below it, without recursion: runs can be long.
    fn compute(&mut self, graph: &Graph, prefix: &Prefix) {
        let known = |table: &Self, prefix: &Prefix| {
            prefix.stamp == Stamp::EMPTY || table.arrivals.contains_key(&prefix.stamp)
        };
        if known(self, prefix) {
            return;
        }
        let mut work = vec![prefix.clone()];
        while let Some(top) = work.last() {
            if known(self, top) {
                work.pop();
                continue;
            }
            let threads = graph.threads().len();
            // Runs that separate hidden steps are no cheaper: see `racing.rs`.
            let blocks = (0..threads).filter_map(|t| Some((t, graph.without_block(top, t)?.0)));
            let (frontier, predecessors): (Vec<usize>, Vec<Prefix>) = blocks.unzip();
            let complete = predecessors.iter().all(|predecessor| known(self, predecessor));
            if !complete {
                work.extend(predecessors.into_iter().filter(|predecessor| !known(self, predecessor)));
                continue;
            }
            let from = self.all.len() as u32;
            for (&thread, predecessor) in frontier.iter().zip(&predecessors) {
                let cost = match self.fair(graph, predecessor, thread) {
                    true => self.known_step(graph, predecessor, thread),
                    false => UNREACHABLE,
                };
                let (last, can_go_on) = (graph.threads()[thread].name, graph.enabled_in(&top.counts, thread));
                self.all.push(Arrival { last, cost, can_go_on });
            }
            self.arrivals.insert(top.stamp, (from, self.all.len() as u32));
            work.pop();
        }
    }

    /// The equation, for a prefix whose arrivals are known; the first step is free.
    fn known_step(&self, graph: &Graph, prefix: &Prefix, thread: usize) -> u32 {
        let Some(arrivals) = self.arrivals(prefix.stamp) else { return 0 };
        let name = graph.threads()[thread].name;
        arrivals.iter().map(|arrival| arrival.followed_by(&name)).min().unwrap_or(UNREACHABLE)
    }
}
