//! Forward: a best-first search for a run that covers a target, nearest first by [`Distance`].
//!
//! In a monotone net more tokens never hurt, so the search begins with as many as allowed: a parametric place has
//! a number beyond every number. How many tokens the run really needs is counted backward along it.

use crate::answer::{Answer, Run};
use crate::distance::{Distance, NEVER};
use crate::sign::{always_empty, exclude};
use crate::stop::{Counters, Stop};
use foldhash::{HashSet, HashSetExt};
use preempt_core::StopReason;
use preempt_net::predecessor::predecessors;
use preempt_net::{Marking, Place, Problem, Transition};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::BuildHasher;

/// More tokens than any number.
pub(crate) const OMEGA: u32 = u32::MAX;
/// More tokens than this on one place and the search does not go on from there.
const MOST: u32 = 1 << 30;
/// In nets that are not monotone a parametric place begins with so many more tokens at most.
const MOST_EXTRA: u64 = 6;

type Packed = Box<[(Place, u32)]>;

struct Node {
    parent: u32,
    transition: u32,
    depth: u32,
    /// Only until it is expanded.
    state: Option<Packed>,
}

const ROOT: u32 = u32::MAX;

pub(crate) fn forward(problem: &Problem, open: &[usize], stop: &Stop<'_>) -> Answer {
    let mut live = vec![true; problem.net.transitions.len()];
    let empty = always_empty(problem, &live);
    exclude(problem, &empty, &mut live);
    let monotone = problem.net.is_monotone();
    let mut search = Search {
        problem,
        open,
        distance: Distance::new(problem, &live, open),
        nodes: Vec::new(),
        seen: HashSet::new(),
        queue: BinaryHeap::new(),
        hasher: foldhash::fast::FixedState::default(),
    };
    let mut roots = Vec::new();
    for start in starts(problem, monotone) {
        roots.push(start.clone());
        if let Some(run) = search.add(&start, ROOT, roots.len() as u32 - 1, 0, &roots, stop) {
            return Answer::Covered(run);
        }
    }
    let mut current = vec![0u32; problem.net.places.len()];
    let mut after = current.clone();
    let mut steps = 0u32;
    while let Some(Reverse((_, _, number))) = search.queue.pop() {
        steps = steps.wrapping_add(1);
        if steps.is_multiple_of(32)
            && let Some(reason) = stop.reason()
        {
            return Answer::Unknown(reason);
        }
        let depth = search.nodes[number as usize].depth + 1;
        let Some(state) = search.nodes[number as usize].state.take() else { continue };
        current.fill(0);
        for (place, n) in state.iter() {
            current[*place as usize] = *n;
        }
        for (at, transition) in problem.net.transitions.iter().enumerate() {
            if !live[at] || !fire(transition, &current, &mut after) {
                continue;
            }
            Counters::add(&stop.counters.transitions, 1);
            if let Some(run) = search.add(&after, number, at as u32, depth, &roots, stop) {
                return Answer::Covered(run);
            }
        }
    }
    Answer::Unknown(StopReason::Partial)
}

/// Markings to begin with: the largest one, or some if larger ones allow less.
fn starts(problem: &Problem, monotone: bool) -> Vec<Vec<u32>> {
    let cut = |n: u64| u32::try_from(n).map_or(MOST, |n| n.min(MOST));
    if monotone {
        return vec![problem.initial.iter().map(|range| range.high.map_or(OMEGA, cut)).collect()];
    }
    let extra = |more: u64| {
        let of = |range: &preempt_net::Range| {
            let wanted = range.low.saturating_add(more);
            cut(range.high.map_or(wanted, |high| high.min(wanted)))
        };
        problem.initial.iter().map(of).collect::<Vec<u32>>()
    };
    let mut starts: Vec<Vec<u32>> = (0..=MOST_EXTRA).map(extra).collect();
    starts.dedup();
    starts
}

fn fire(transition: &Transition, before: &[u32], after: &mut [u32]) -> bool {
    let enabled = transition.consume.iter().all(|(p, n)| u64::from(before[p as usize]) >= n)
        && transition.at_most.iter().all(|(p, most)| u64::from(before[*p as usize]) <= *most);
    if !enabled {
        return false;
    }
    after.copy_from_slice(before);
    let add = |slot: &mut u32, n: u32| {
        *slot = if *slot == OMEGA || n == OMEGA { OMEGA } else { slot.saturating_add(n).min(MOST) };
    };
    for (place, n) in transition.consume.iter() {
        if after[place as usize] != OMEGA {
            after[place as usize] -= n as u32;
        }
    }
    if !transition.moves.is_empty() {
        let rests: Vec<u32> =
            transition.moves.iter().map(|moved| std::mem::take(&mut after[moved.from as usize])).collect();
        for (moved, rest) in transition.moves.iter().zip(rests) {
            for to in &moved.to {
                add(&mut after[*to as usize], rest);
            }
        }
    }
    for (place, n) in transition.produce.iter() {
        add(&mut after[place as usize], u32::try_from(n).unwrap_or(MOST).min(MOST));
    }
    // Counting stops before it could go wrong.
    after.iter().all(|n| *n < MOST || *n == OMEGA)
}

struct Search<'p> {
    problem: &'p Problem,
    open: &'p [usize],
    distance: Distance,
    nodes: Vec<Node>,
    /// Fingerprints: a state that is taken for another one is only a run that is not found.
    seen: HashSet<u64>,
    queue: BinaryHeap<Reverse<(u64, u32, u32)>>,
    hasher: foldhash::fast::FixedState,
}

impl Search<'_> {
    fn add(
        &mut self,
        state: &[u32],
        parent: u32,
        transition: u32,
        depth: u32,
        roots: &[Vec<u32>],
        stop: &Stop<'_>,
    ) -> Option<Run> {
        let packed: Packed = (0..).zip(state).filter(|(_, n)| **n > 0).map(|(p, n)| (p, *n)).collect();
        if !self.seen.insert(self.hasher.hash_one(&packed)) {
            return None;
        }
        let far = self.distance.estimate(state);
        if far == NEVER {
            return None;
        }
        let number = self.nodes.len() as u32;
        Counters::add(&stop.counters.states, 1);
        Counters::add(&stop.counters.bytes, 64 + 8 * packed.len() as u64);
        self.nodes.push(Node { parent, transition, depth, state: Some(packed) });
        if far == 0
            && let Some(run) = self.run(number, roots)
        {
            return Some(run);
        }
        self.queue.push(Reverse((u64::from(far), depth, number)));
        None
    }

    /// The run to a node that covers a target, with the tokens it needs and no more.
    fn run(&self, number: u32, roots: &[Vec<u32>]) -> Option<Run> {
        let mut transitions = Vec::new();
        let mut at = number;
        let root = loop {
            let node = &self.nodes[at as usize];
            if node.parent == ROOT {
                break node.transition;
            }
            transitions.push(node.transition as usize);
            at = node.parent;
        };
        transitions.reverse();
        let start = &roots[root as usize];
        // The markings on the way, and backward from the target what is needed of them.
        let mut markings = vec![start.clone()];
        for transition in &transitions {
            let mut after = vec![0; start.len()];
            fire(&self.problem.net.transitions[*transition], markings.last()?, &mut after);
            markings.push(after);
        }
        let within = |marking: &Marking, state: &[u32]| {
            marking.iter().all(|(p, n)| state[p as usize] == OMEGA || n <= u64::from(state[p as usize]))
        };
        let last = markings.last()?;
        let targets = self.open.iter().map(|target| &self.problem.targets[*target]);
        let mut needed = targets.into_iter().find(|target| within(target, last))?.clone();
        if !self.problem.net.is_monotone() {
            let initial = (0..).zip(start).map(|(p, n)| (p, u64::from(*n))).collect();
            return Some(Run { initial, transitions });
        }
        for (transition, state) in transitions.iter().zip(&markings).rev() {
            let before = predecessors(&self.problem.net.transitions[*transition], &needed);
            needed = before.into_iter().find(|marking| within(marking, state))?;
        }
        let initial = self.problem.initial_covering(&needed)?;
        Some(Run { initial, transitions })
    }
}
