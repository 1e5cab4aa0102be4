//! The context bound of a prefix (Musuvathi and Qadeer 2007, paper 001, section 3.2): the fewest preemptions of any order of
//! its steps, by the paper's dynamic program with a table.
//!
//! **What it computes.** `CB(x, t)`, the fewest preemptions of a run that does the steps of `x` in some order and then one
//! of `t`. The equation is in [`preempt_model::search::cheapest_linearisation`]; here it is solved backward, for all
//! prefixes of the one that is needed.
//!
//! **Why it is right.** `CB(x, t)` depends on the prefix `x` alone, and stamps identify prefixes: so what was computed for
//! the prefix of one graph holds for every graph that has the same prefix, in whatever run it occurs. By Theorem 1 every
//! graph with a context bound of at most c is reached by a run all of whose prefixes have one of at most c.
//!
//! **What it costs.** Whether `CB(x) ≤ c` is NP-complete (Theorem 5). The table has up to k^n prefixes for n threads with k
//! steps, and it is only needed beyond the cost of the path at hand, which is an upper bound and known without effort
//! (`marking.rs`). Prefixes that separate hidden steps from the step before are left out: they are in no cheaper run
//! (`racing.rs`), and n threads with k private steps each have n blocks instead of k^n prefixes.
//!
//! With a *fair* bound (paper 003, definition 1.9) steps that are too far ahead in yields do not exist. How far ahead one is
//! follows from the prefix and the thread, so such steps are just left out of the minimum.
//!
//! [`crate::linearisation`] solves the same equation forward, for one graph at a time; the table is shared by all graphs.

use crate::graph::Graph;
use crate::prefix::Prefix;
use crate::stamp::Stamp;
use crate::table::StampMap;
use preempt_model::search::Arrival;

/// The context bound of a prefix none of whose orders keeps to the fair bound.
pub const UNREACHABLE: u32 = u32::MAX;

/// The table of the dynamic program.
#[derive(Debug, Clone, Default)]
pub struct ContextBounds {
    /// Where the arrivals of a prefix stand in the list of all: from, to.
    arrivals: StampMap<(u32, u32)>,
    all: Vec<Arrival<u64>>,
    fair: Option<u32>,
}

impl ContextBounds {
    /// Of runs with at most this unfairness.
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

    /// Forgets everything: fewer steps are hidden now, so that prefixes have arrivals that were left out.
    pub fn forget(&mut self) {
        self.arrivals.clear();
        self.all.clear();
    }

    /// Does the thread's next step keep to the fair bound? It must be enabled.
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
