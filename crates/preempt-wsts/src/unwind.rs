//! From a path with acceleration back to a run: loops that were taken "any number of times" are taken as often as
//! the end of the run needs them.

use crate::answer::POLL;
use crate::forward::{Node, OMEGA, Packed};
use crate::stop::Stop;
use preempt_net::predecessor::predecessors_while;
use preempt_net::{Marking, Place, Problem};

/// Runs longer than this are not told.
const LONGEST: usize = 1 << 20;

/// At a node: these places were given any number of tokens, because the way from the ancestor adds to them.
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

impl Unwinding<'_> {
    /// The transitions from the root to the end of the path, and the smallest marking to begin with.
    pub(crate) fn run(&self, target: &Marking, stop: &Stop) -> Option<(Vec<usize>, Marking)> {
        let mut needed = target.clone();
        let mut backward = Vec::new();
        let last = self.path.len() - 1;
        let loops = self.node(last).accelerations.len();
        self.walk(last, loops, 0, &mut needed, &mut backward, stop)?;
        backward.reverse();
        Some((backward, needed))
    }

    fn node(&self, depth: usize) -> &Node {
        &self.nodes[self.path[depth] as usize]
    }

    /// Backward from one depth to another, with only the first `loops` accelerations of the first node.
    fn walk(
        &self,
        from: usize,
        loops: usize,
        to: usize,
        needed: &mut Marking,
        backward: &mut Vec<usize>,
        stop: &Stop,
    ) -> Option<()> {
        for depth in (to + 1..=from).rev() {
            let node = self.node(depth);
            let count = if depth == from { loops } else { node.accelerations.len() };
            for (number, acceleration) in node.accelerations[..count].iter().enumerate().rev() {
                let ancestor = self.nodes[acceleration.ancestor as usize].depth as usize;
                while acceleration.places.iter().any(|(p, n)| needed.get(*p) > u64::from(*n)) {
                    self.walk(depth, number, ancestor, needed, backward, stop)?;
                }
            }
            let transition = &self.problem.net.transitions[node.transition as usize];
            let before = predecessors_while(transition, needed, &|n| stop.may_hold(n as u64 * 80))?;
            // With transfers there are several ways; the one that was taken lies below the marking before.
            let state = &self.node(depth - 1).state;
            *needed = if before.len() == 1 {
                before.into_iter().next()?
            } else {
                before.into_iter().find(|marking| within(marking, state))?
            };
            backward.push(node.transition as usize);
            if backward.len() > LONGEST || (backward.len().is_multiple_of(POLL) && stop.reason().is_some()) {
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
