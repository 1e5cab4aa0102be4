//! How the waiting states were reached: a tree of steps in which a node lives only as long as somebody holds it, an item
//! that waits or a node below. A step is a process and which of its successors; the states come back by taking the steps
//! again.

use super::cost_store::Site;
use crate::replay::{NOBODY, PathState};
use crate::successors::{Event, Successors};
use preempt_core::Budget;

/// Paths are not kept, or there is none.
pub const NO_PATH: Site = Site::MAX;

/// So many successors of one process can be told apart.
const MOST_CHOICES: u32 = 1 << 24;

#[derive(Debug, Default)]
pub struct PathTree {
    nodes: Vec<Node>,
    /// The first of a list of nodes that nobody holds.
    free: Option<Site>,
}

#[derive(Debug)]
struct Node {
    /// Of a free node: the next free one.
    parent: Site,
    holders: u32,
    /// The process in the upper eight bits, and which of its arrivals; without a parent, which initial state.
    step: u32,
}

/// A process, and which of its arrivals, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    pub process: u8,
    pub choice: u32,
}

impl PathTree {
    /// A new node that one holds; `None` if there is no room.
    pub fn add(&mut self, parent: Site, step: Step) -> Option<Site> {
        if step.choice >= MOST_CHOICES {
            return None;
        }
        self.hold(parent);
        let node = Node { parent, holders: 1, step: u32::from(step.process) << 24 | step.choice };
        match self.free {
            Some(number) => {
                let place = &mut self.nodes[number as usize];
                self.free = Some(place.parent).filter(|next| *next != NO_PATH);
                *place = node;
                Some(number)
            }
            None if self.nodes.len() < NO_PATH as usize => {
                self.nodes.push(node);
                Some(self.nodes.len() as Site - 1)
            }
            None => None,
        }
    }

    pub fn hold(&mut self, number: Site) {
        if let Some(node) = self.nodes.get_mut(number as usize) {
            node.holders += 1;
        }
    }

    pub fn release(&mut self, mut number: Site) {
        while let Some(node) = self.nodes.get_mut(number as usize) {
            node.holders -= 1;
            if node.holders > 0 {
                return;
            }
            let parent = std::mem::replace(&mut node.parent, self.free.unwrap_or(NO_PATH));
            self.free = Some(number);
            number = parent;
        }
    }

    /// Which initial state, and the steps from there.
    pub fn steps(&self, mut number: Site) -> Option<(u32, Vec<Step>)> {
        let mut steps = Vec::new();
        loop {
            let node = self.nodes.get(number as usize)?;
            if node.parent == NO_PATH {
                steps.reverse();
                return Some((node.step, steps));
            }
            steps.push(Step { process: (node.step >> 24) as u8, choice: node.step % MOST_CHOICES });
            number = node.parent;
        }
    }

    pub fn bytes(&self) -> u64 {
        (self.nodes.capacity() * size_of::<Node>()) as u64
    }
}

/// The states along a path, the initial one first; `None` if the budget ends.
pub fn states_along<S: Successors + ?Sized>(
    system: &mut S,
    initial: u32,
    steps: &[Step],
    budget: &Budget,
) -> Option<Vec<PathState>> {
    let bytes = system.initial().into_iter().nth(initial as usize)?;
    let mut states = vec![PathState { bytes, by: NOBODY, last: NOBODY }];
    for step in steps {
        if budget.exhausted().is_some() {
            return None;
        }
        let mut number = 0;
        let mut next = None;
        let from = &states.last()?.bytes;
        system.expand(from, usize::from(step.process), &mut |event| {
            if let Event::Arrival { state, runs, .. } = event {
                if number == step.choice {
                    next = Some(PathState { bytes: state.to_vec(), by: step.process, last: runs });
                }
                number += 1;
            }
        });
        states.push(next?);
    }
    Some(states)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_lives_as_long_as_it_is_held() {
        let mut paths = PathTree::default();
        let step = |process, choice| Step { process, choice };
        let root = paths.add(NO_PATH, step(0, 2)).expect("there is room");
        let left = paths.add(root, step(1, 5)).expect("there is room");
        let right = paths.add(root, step(200, (1 << 24) - 1)).expect("there is room");
        let end = paths.add(left, step(3, 0)).expect("there is room");
        assert_eq!(paths.add(left, step(3, 1 << 24)), None);
        [root, left].into_iter().for_each(|node| paths.release(node));
        assert_eq!(paths.steps(end), Some((2, vec![step(1, 5), step(3, 0)])));
        assert_eq!(paths.steps(right), Some((2, vec![step(200, (1 << 24) - 1)])));
        paths.release(end);
        // The two nodes that are free now are used again; the rest is as it was.
        let again = [paths.add(right, step(4, 4)), paths.add(right, step(5, 5))];
        assert!(again.contains(&Some(left)) && again.contains(&Some(end)));
        assert_eq!(paths.nodes.len(), 4);
        assert_eq!(paths.steps(right), Some((2, vec![step(200, (1 << 24) - 1)])));
    }
}
