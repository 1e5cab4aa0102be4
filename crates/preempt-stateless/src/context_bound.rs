//! The context bound of a partial order (paper 001, section 3.2): the fewest preemptions of any order of its steps.
//!
//! Deciding it is NP-complete (Theorem 5), so this is the paper's dynamic program over prefixes. What it finds is kept
//! by stamp and reused for every graph with the same prefix, in whatever run it occurs.
//!
//! With a fair bound (paper 003, definition 1.9) steps that are too far ahead in yields do not exist: unfairness is a
//! property of the prefix and the thread, so the program below only leaves those steps out.

use crate::executable::{Executable, Move, Stamp};
use crate::graph::Graph;
use crate::prefix::Prefix;
use crate::runner::Diverged;
use crate::table::ByStamp;

/// A run that is equivalent to this one and has as few preemptions as any: its steps, and how many.
///
/// # Errors
/// If the program cannot do these steps.
pub fn cheapest_linearisation(
    program: &mut impl Executable,
    schedule: &[Move],
) -> Result<(Vec<Move>, u32), Diverged> {
    let graph = Graph::of_run(program, schedule)?;
    let (mut bounds, whole) = (ContextBounds::new(None), graph.whole());
    let cost = bounds.of_prefix(&graph, &whole);
    Ok((bounds.cheapest(&graph, &whole), cost))
}

/// The costs of arriving in a prefix, by the thread that did the last step.
#[derive(Debug, Clone, Copy)]
struct Arrival {
    thread: u64,
    /// `CB(x - t, t)`.
    cost: u32,
    /// Can the thread go on? If not, leaving it is free.
    enabled: bool,
}

/// No order of the steps exists, because of the fair bound.
pub const UNREACHABLE: u32 = u32::MAX;

/// The table of the dynamic program.
#[derive(Debug, Clone, Default)]
pub struct ContextBounds {
    /// Where those of a prefix stand in the list of all.
    arrivals: ByStamp<(u32, u32)>,
    all: Vec<Arrival>,
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

    fn arrivals(&self, stamp: Stamp) -> Option<&[Arrival]> {
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

    /// `CB(x)`: the fewest preemptions of a run that does exactly these steps.
    pub fn of_prefix(&mut self, graph: &Graph, prefix: &Prefix) -> u32 {
        if prefix.stamp == Stamp::EMPTY {
            return 0;
        }
        self.compute(graph, prefix);
        let arrivals = self.arrivals(prefix.stamp).unwrap_or_default();
        arrivals.iter().map(|arrival| arrival.cost).min().unwrap_or(UNREACHABLE)
    }

    /// An order of the prefix's steps with the fewest preemptions: who moves when.
    pub fn cheapest(&mut self, graph: &Graph, prefix: &Prefix) -> Vec<Move> {
        self.compute(graph, prefix);
        let index = |name: u64| graph.threads().iter().position(|log| log.name == name);
        let mut order = Vec::new();
        let mut prefix = prefix.clone();
        // Who does the step after this prefix: leaving a thread for it costs one if that thread could go on.
        let mut follower = None;
        while let Some(arrivals) = self.arrivals(prefix.stamp) {
            let price = |arrival: &Arrival| {
                let left = arrival.enabled && follower.is_some_and(|thread| thread != arrival.thread);
                arrival.cost.saturating_add(u32::from(left))
            };
            let Some(best) = arrivals.iter().min_by_key(|arrival| price(arrival)) else { break };
            let Some(thread) = index(best.thread) else { break };
            follower = Some(best.thread);
            let Some((start, _)) = graph.without_block(&prefix, thread) else { break };
            let block = start.counts[thread] as usize..prefix.counts[thread] as usize;
            let events = graph.threads()[thread].events[block].iter().rev();
            order.extend(events.map(|event| Move { thread, way: event.way }));
            prefix = start;
        }
        order.reverse();
        order
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
                let enabled = graph.enabled_in(&top.counts, thread);
                self.all.push(Arrival { thread: graph.threads()[thread].name, cost, enabled });
            }
            self.arrivals.insert(top.stamp, (from, self.all.len() as u32));
            work.pop();
        }
    }

    /// The recursive equation at the end of paper 001's section 2; the first step is free.
    fn known_step(&self, graph: &Graph, prefix: &Prefix, thread: usize) -> u32 {
        let Some(arrivals) = self.arrivals(prefix.stamp) else { return 0 };
        let name = graph.threads()[thread].name;
        let price = |arrival: &Arrival| match arrival.thread == name || !arrival.enabled {
            true => arrival.cost,
            false => arrival.cost.saturating_add(1),
        };
        arrivals.iter().map(price).min().unwrap_or(UNREACHABLE)
    }
}
