//! From a path with acceleration back to a run: loops that were taken "any number of times" are taken as often as
//! the end of the run needs them.
//!
//! Backward from the target, what is needed before each transition is computed. At a node where places were given any
//! number of tokens, the loop from the ancestor is walked once more as long as more is needed there than there was; each
//! time less is. Nested loops nest here, and the run can be exponentially longer than the path: it is given up when it
//! becomes too long.

use crate::forward::{Node, OMEGA, Packed};
use crate::run::POLL;
use preempt_core::Budget;
use preempt_net::predecessor::predecessors_while;
use preempt_net::{Marking, Place, Problem};

/// Runs longer than this are given up.
const LONGEST: usize = 1 << 20;

/// At a node: these places were given any number of tokens, because the path from the ancestor adds to them.
#[derive(Debug)]
pub(crate) struct Acceleration {
    pub(crate) ancestor: u32,
    /// The places, with the tokens they really had.
    pub(crate) places: Vec<(Place, u32)>,
}

/// The nodes from the root to a node, and what is needed of them backward.
pub(crate) struct Unwinding<'a> {
    pub(crate) problem: &'a Problem,
    pub(crate) nodes: &'a [Node],
    /// By depth.
    pub(crate) path: &'a [u32],
}

/// What is needed before the part of the run that is known, and that part, its last transition first.
struct Walked {
    needed: Marking,
    backward: Vec<usize>,
}

impl Unwinding<'_> {
    /// The transitions from the root to the end of the path, and the smallest marking to begin with.
    pub(crate) fn run(&self, target: &Marking, budget: &Budget) -> Option<(Vec<usize>, Marking)> {
        let mut walked = Walked { needed: target.clone(), backward: Vec::new() };
        let last = self.path.len() - 1;
        let loops = self.node(last).accelerations.len();
        self.walk((last, loops), 0, &mut walked, budget)?;
        walked.backward.reverse();
        Some((walked.backward, walked.needed))
    }

    fn node(&self, depth: usize) -> &Node {
        &self.nodes[self.path[depth] as usize]
    }

    /// Backward from one depth to another, with only the first `loops` accelerations of the first node.
    fn walk(
        &self,
        (from, loops): (usize, usize),
        to: usize,
        walked: &mut Walked,
        budget: &Budget,
    ) -> Option<()> {
        for depth in (to + 1..=from).rev() {
            let node = self.node(depth);
            let count = if depth == from { loops } else { node.accelerations.len() };
            for (number, acceleration) in node.accelerations[..count].iter().enumerate().rev() {
                let ancestor = self.nodes[acceleration.ancestor as usize].depth as usize;
                while acceleration.places.iter().any(|(p, n)| walked.needed.get(*p) > u64::from(*n)) {
                    self.walk((depth, number), ancestor, walked, budget)?;
                }
            }
            let transition = &self.problem.net.transitions[node.transition as usize];
            let before = predecessors_while(transition, &walked.needed, &|n| {
                budget.exhausted_with(n as u64 * 80).is_none()
            })?;
            // With transfers there are several predecessors; the one that was taken lies below the marking before.
            let state = &self.node(depth - 1).state;
            walked.needed = if before.len() == 1 {
                before.into_iter().next()?
            } else {
                before.into_iter().find(|marking| within(marking, state))?
            };
            walked.backward.push(node.transition as usize);
            let length = walked.backward.len();
            if length > LONGEST || (length.is_multiple_of(POLL) && budget.exhausted().is_some()) {
                return None;
            }
        }
        Some(())
    }
}

pub(crate) fn within(marking: &Marking, state: &Packed) -> bool {
    marking.iter().all(|(place, n)| match state.binary_search_by_key(&place, |(p, _)| *p) {
        Ok(at) => state[at].1 == OMEGA || n <= u64::from(state[at].1),
        Err(_) => false,
    })
}
