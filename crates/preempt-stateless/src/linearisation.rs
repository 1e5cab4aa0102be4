//! The orders of a graph's steps, and the cheapest of them: what a failing run is shown as.
//!
//! Every order of the steps that keeps to the happens-before graph is a run with the same graph, so which of them is shown is
//! ours to choose, and the one with the fewest preemptions is the simplest. It is found forward from the empty prefix
//! ([`preempt_model::search::cheapest_linearisation`], the equation of Musuvathi and Qadeer 2007, paper 001). A table would
//! have the same answer ([`crate::context_bound`] is one), but it looks at all prefixes of the graph, and forward search only
//! at those that cost no more than the answer: it is needed once for each failing run, and failing runs are long.

use crate::counts::Counts;
use crate::executable::{Executable, Move};
use crate::graph::Graph;
use crate::runner::Diverged;
use preempt_model::search::{self, NextStep, PartialOrder};

/// A run that is equivalent to this one and has as few preemptions as any: its steps, and how many.
///
/// # Errors
/// If the program cannot do these steps.
///
/// ```
/// use preempt_stateless::program::{Op, Program};
/// use preempt_stateless::{Move, cheapest_linearisation};
///
/// // Two threads that have nothing in common, interleaved with three preemptions.
/// let mut program = Program::new(vec![vec![Op::Add(0), Op::Add(0)], vec![Op::Add(1), Op::Add(1)]]);
/// let run = [0, 1, 0, 1].map(Move::from);
/// let (cheapest, preemptions) = cheapest_linearisation(&mut program, &run).unwrap();
/// assert_eq!((cheapest, preemptions), ([0, 0, 1, 1].map(Move::from).to_vec(), 0));
/// ```
pub fn cheapest_linearisation(
    program: &mut impl Executable,
    schedule: &[Move],
) -> Result<(Vec<Move>, u32), Diverged> {
    let graph = Graph::of_run(program, schedule)?;
    Ok(graph.cheapest_linearisation(None).unwrap_or_default())
}

impl Graph {
    /// An order of all steps with the fewest preemptions, and how many. `None` if each has a step beyond the fair bound.
    pub fn cheapest_linearisation(&self, fair: Option<u32>) -> Option<(Vec<Move>, u32)> {
        search::cheapest_linearisation(&Linearisations { graph: self, fair }, |_| true)
    }

    /// Does the prefix have everything that happened before the thread's next step in this graph?
    fn is_ready(&self, counts: &[u32], thread: usize) -> bool {
        let next = self.threads()[thread].events.get(counts[thread] as usize);
        next.is_some_and(|event| {
            let seen = event.clock.iter().zip(counts).enumerate();
            seen.into_iter().all(|(other, (seen, count))| other == thread || seen <= count)
        })
    }
}

/// All orders of a graph's steps within the fair bound.
struct Linearisations<'a> {
    graph: &'a Graph,
    fair: Option<u32>,
}

impl PartialOrder for Linearisations<'_> {
    /// How many steps of each thread.
    type Prefix = Counts;
    type Step = Move;

    fn empty(&self) -> Counts {
        Counts::zero(self.graph.threads().len())
    }

    fn is_complete(&self, counts: &Counts) -> bool {
        let logs = self.graph.threads().iter();
        logs.zip(&**counts).all(|(log, &count)| log.events.len() == count as usize)
    }

    fn is_enabled(&self, counts: &Counts, thread: usize) -> bool {
        self.graph.enabled_in(counts, thread)
    }

    fn next(&self, counts: &Counts, last: Option<usize>) -> Vec<NextStep<Self>> {
        // No order that separates hidden steps is cheaper: see `racing.rs`.
        let must_continue =
            self.graph.must_continue(counts).filter(|&thread| self.graph.is_ready(counts, thread));
        let mut threads: Vec<usize> = match must_continue {
            Some(thread) => vec![thread],
            None => (0..counts.len()).filter(|&thread| self.graph.is_ready(counts, thread)).collect(),
        };
        // Of equally cheap orders, one in which a thread goes on while it can.
        threads.sort_by_key(|&thread| Some(thread) != last);
        let fair =
            |thread: &usize| self.fair.is_none_or(|most| self.graph.unfairness(counts, *thread) <= most);
        let step = |thread: usize| {
            let event = &self.graph.threads()[thread].events[counts[thread] as usize];
            let mut after = counts.clone();
            after[thread] += 1;
            NextStep {
                process: thread,
                runs: thread,
                step: Move { thread, choice: event.choice },
                after: Some(after),
            }
        };
        threads.into_iter().filter(fair).map(step).collect()
    }
}
