//! The order of given steps that has the fewest preemptions (Musuvathi and Qadeer 2007, paper 001, end of section 2).
//!
//! **What it computes.** The same steps can often be done in several orders, and each order has its own number of
//! preemptions. With `E(x)` the processes that can move after a prefix `x`, and `CB(x, t)` the fewest preemptions of an
//! order of `x` that is followed by a step of `t`, the paper has the equation
//!
//! ```text
//! CB(x, t) = min over u that may have done the last step of x:  CB(x - u, u) + (1 if u ≠ t and u ∈ E(x), else 0)
//! ```
//!
//! [`Arrival::followed_by`] is what stands behind `min`. There are two ways to solve the equation: forward from the empty
//! prefix, which is here, and backward with a table (`context_bound.rs` of `preempt-stateless`), for a search that asks for
//! the bounds of very many prefixes of very many runs.
//!
//! **Why it is right.** A node of the search is a prefix together with the process that did its last step; an edge costs 0
//! or 1. Nodes are settled in the order of their cost (Dijkstra's algorithm with two queues instead of a heap), so the
//! first complete order that is met is a cheapest one. Within a cost they are settled first in, first out: of equally cheap
//! orders the shortest is found, and of those the one whose steps come first in [`PartialOrder::next`].
//!
//! **What it costs.** Deciding whether there is an order with at most c preemptions is NP-complete (Theorem 5), and there
//! are up to k^n prefixes for n processes with k steps each. Solved forward, only those are visited that cost no more than
//! the answer.

use std::collections::{HashSet, VecDeque};
use std::hash::Hash;

/// An order of the steps of a prefix, as far as its price matters to what follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival<P> {
    /// Who did the last step.
    pub last: P,
    /// The preemptions so far: `CB(x - last, last)`.
    pub cost: u32,
    /// Is `last` in `E(x)`? If not, leaving it is free.
    pub can_go_on: bool,
}

impl<P: PartialEq> Arrival<P> {
    /// The preemptions with one more step, of `next`: the paper's equation, before the minimum is taken.
    pub fn followed_by(&self, next: &P) -> u32 {
        self.cost.saturating_add(u32::from(self.can_go_on && self.last != *next))
    }
}

/// Steps with all the orders in which they can be done.
pub trait PartialOrder {
    /// Which steps have been done, and whatever else decides what can be done next.
    type Prefix: Clone + Eq + Hash;
    /// What identifies a step.
    type Step: Clone;

    /// The prefix without steps.
    fn empty(&self) -> Self::Prefix;

    /// Need no further steps be done?
    fn is_complete(&self, prefix: &Self::Prefix) -> bool;

    /// Can the process move after the prefix, whatever it would do?
    fn is_enabled(&self, prefix: &Self::Prefix, process: usize) -> bool;

    /// The steps that can be done after the prefix, which was arrived at by a step of `last`.
    fn next(&self, prefix: &Self::Prefix, last: Option<usize>) -> Vec<NextStep<Self>>;
}

/// A step that can be done after a prefix.
#[derive(Debug, Clone)]
pub struct NextStep<O: PartialOrder + ?Sized> {
    /// Who does it.
    pub process: usize,
    /// Who runs afterwards: after a rendezvous it is the other side.
    pub runs: usize,
    /// The step.
    pub step: O::Step,
    /// Where it leads; `None` if the order is complete with it.
    pub after: Option<O::Prefix>,
}

/// A cheapest order, and its preemptions. `None` if there is none, or if `go_on`, which is called with the number of
/// prefixes that were visited, says that the search has to end.
///
/// Two processes that each do two steps, the second of the one needing the first of the other:
///
/// ```
/// use preempt_model::search::{NextStep, PartialOrder, cheapest_linearisation};
///
/// struct Crossed;
///
/// impl PartialOrder for Crossed {
///     type Prefix = [u32; 2];
///     type Step = usize;
///
///     fn empty(&self) -> [u32; 2] {
///         [0, 0]
///     }
///
///     fn is_complete(&self, done: &[u32; 2]) -> bool {
///         *done == [2, 2]
///     }
///
///     fn is_enabled(&self, done: &[u32; 2], process: usize) -> bool {
///         done[process] == 0 || done[process] == 1 && done[1 - process] > 0
///     }
///
///     fn next(&self, done: &[u32; 2], _: Option<usize>) -> Vec<NextStep<Crossed>> {
///         let enabled = (0..2).filter(|&process| self.is_enabled(done, process));
///         let step = |process: usize| {
///             let mut after = *done;
///             after[process] += 1;
///             NextStep { process, runs: process, step: process, after: Some(after) }
///         };
///         enabled.map(step).collect()
///     }
/// }
///
/// // Process 0 cannot do its second step before process 1 has moved, so both switches are free.
/// let (order, preemptions) = cheapest_linearisation(&Crossed, |_| true).unwrap();
/// assert_eq!((order, preemptions), (vec![0, 1, 1, 0], 0));
/// ```
pub fn cheapest_linearisation<O: PartialOrder>(
    order: &O,
    mut go_on: impl FnMut(usize) -> bool,
) -> Option<(Vec<O::Step>, u32)> {
    /// A step on the way to a node, and the number of the step before.
    struct Link<S> {
        step: S,
        before: Option<usize>,
    }
    let mut links: Vec<Link<O::Step>> = Vec::new();
    let mut settled = HashSet::new();
    let mut cost = 0;
    let mut now = VecDeque::from([(Some(order.empty()), None, None)]);
    let mut with_one_more = VecDeque::new();
    let found = loop {
        let Some((prefix, last, link)) = now.pop_front() else {
            if with_one_more.is_empty() {
                return None;
            }
            now = std::mem::take(&mut with_one_more);
            cost += 1;
            continue;
        };
        let Some(prefix) = prefix else { break link };
        if settled.contains(&(prefix.clone(), last)) {
            continue;
        }
        if order.is_complete(&prefix) {
            break link;
        }
        if !go_on(settled.len()) {
            return None;
        }
        let can_go_on = last.is_some_and(|last| order.is_enabled(&prefix, last));
        let arrival = Arrival { last, cost, can_go_on };
        for NextStep { process, runs, step, after } in order.next(&prefix, last) {
            let queue = match arrival.followed_by(&Some(process)) > cost {
                true => &mut with_one_more,
                false => &mut now,
            };
            links.push(Link { step, before: link });
            queue.push_back((after, Some(runs), Some(links.len() - 1)));
        }
        settled.insert((prefix, last));
    };
    let mut steps = Vec::new();
    let mut link = found;
    while let Some(number) = link {
        steps.push(links[number].step.clone());
        link = links[number].before;
    }
    steps.reverse();
    Some((steps, cost))
}
