//! Forward: a best-first search for a run that covers a target, nearest first by [`Distance`], and only with transitions
//! that the state inequation has a use for. It finds runs and proves nothing.
//!
//! In a monotone net more tokens never hurt, so the search begins with as many as allowed: a parametric place has
//! a number beyond every number. A marking below one that is known is not followed. Without resets and transfers
//! a path that leads to more tokens can be repeated, so those places get any number at once (Karp and Miller 1969);
//! [`unwind`](crate::unwind) turns such a path into a run again, and the firing rule replays it, so that nothing here needs to be right
//! for an answer to be right. States are known by fingerprints and the search above a marking is cut short, since a state that is
//! left out wrongly is only a run that is not found.

use crate::distance::{Distance, NEVER};
use crate::inequation::Inequation;
use crate::relevant::relevant;
use crate::run::{Coverability, Run};
use crate::sign::{always_empty, exclude};
use crate::subsumption::Trie;
use crate::unwind::{Acceleration, Unwinding, within};
use foldhash::{HashSet, HashSetExt};
use preempt_core::{Budget, StopReason};
use preempt_net::{Marking, Place, Problem, Transition};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::BuildHasher;
use std::time::Duration;

/// More tokens than any number.
pub(crate) const OMEGA: u32 = u32::MAX;
/// More tokens than this on one place and the search does not go on from there.
const MOST: u32 = 1 << 30;
/// In nets that are not monotone a parametric place begins with so many more tokens at most.
const MOST_EXTRA: u64 = 6;
/// How many branches to look at for a known marking above a new one.
const LOOK_ABOVE: u32 = 400;
/// So many markings are looked at before the state inequation is solved.
const MOST_UNGUIDED: usize = 3000;
/// The state inequation is solved for so many targets at most, so often, and for so long.
const MOST_GUIDED: usize = 4;
const MOST_ROUNDS: usize = 3;
const GUIDE_LIMIT: Duration = Duration::from_millis(300);
/// Paths that could not be unwound to a run: a net with such paths has many of them, and each attempt is long.
const MOST_FAILED: u32 = 8;
/// How many ancestors to look at for a smaller one.
const LOOK_BACK: usize = 300;

pub(crate) type Packed = Box<[(Place, u32)]>;

pub(crate) struct Node {
    parent: u32,
    pub(crate) transition: u32,
    pub(crate) depth: u32,
    pub(crate) state: Packed,
    pub(crate) accelerations: Vec<Acceleration>,
}

const ROOT: u32 = u32::MAX;

/// How a marking was reached.
struct Arrival {
    parent: u32,
    transition: u32,
    depth: u32,
}

pub(crate) fn forward(problem: &Problem, open: &[usize], budget: &Budget) -> Coverability {
    let mut live = vec![true; problem.net.transitions.len()];
    let empty = always_empty(problem, &live);
    exclude(problem, &empty, &mut live);
    let mut search = Search::new(problem, open, live);
    if let Some(found) = search.go(MOST_UNGUIDED, budget) {
        return found;
    }
    let mut guided = search.live.clone();
    exclude_unused(problem, open, &mut guided, budget);
    if guided != search.live {
        search = Search::new(problem, open, guided);
    }
    search.go(usize::MAX, budget).unwrap_or(Coverability::Unknown(StopReason::Partial))
}

/// The state inequation shows the way: a transition that none of its solutions uses, for no target, is on no run to a
/// target. A program takes longer than many markings, and most runs are found without one.
fn exclude_unused(problem: &Problem, open: &[usize], live: &mut [bool], budget: &Budget) {
    if open.len() > MOST_GUIDED {
        return;
    }
    let mut useful = vec![false; live.len()];
    for target in open.iter().map(|target| &problem.targets[*target]) {
        let mut left = live.to_vec();
        // What is left over may exclude more.
        for _ in 0..MOST_ROUNDS {
            let inequation = Inequation::new(problem, &left, GUIDE_LIMIT, budget);
            let Some((_, unused)) = inequation.unused(target, &[]) else { break };
            unused.iter().for_each(|transition| left[*transition] = false);
            let empty = always_empty(problem, &left);
            exclude(problem, &empty, &mut left);
        }
        useful.iter_mut().zip(left).for_each(|(useful, left)| *useful |= left);
    }
    live.copy_from_slice(&useful);
}

fn unpack(state: &Packed, into: &mut [u32]) {
    into.fill(0);
    for (place, n) in state.iter() {
        into[*place as usize] = *n;
    }
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
    /// Transitions that may be of use.
    live: Vec<bool>,
    /// Tokens elsewhere are of no use.
    places: Vec<bool>,
    monotone: bool,
    accelerates: bool,
    distance: Distance,
    nodes: Vec<Node>,
    /// Fingerprints: a state that is taken for another one is only a run that is not found.
    seen: HashSet<u64>,
    known: Trie,
    queue: BinaryHeap<Reverse<(u32, u32, u32)>>,
    hasher: foldhash::fast::FixedState,
    /// Nodes that cover a target, and whose path could not be unwound.
    failed: u32,
}

impl<'p> Search<'p> {
    fn new(problem: &'p Problem, open: &'p [usize], mut live: Vec<bool>) -> Search<'p> {
        let monotone = problem.net.is_monotone();
        let mut places = vec![true; problem.net.places.len()];
        if monotone {
            let cone = relevant(problem, &live, open);
            (places, live) = (cone.places, cone.transitions);
        }
        let moves = problem.net.transitions.iter().zip(&live).any(|(t, live)| *live && !t.moves.is_empty());
        Search {
            problem,
            open,
            places,
            monotone,
            accelerates: monotone && !moves,
            distance: Distance::new(problem, &live, open),
            live,
            nodes: Vec::new(),
            seen: HashSet::new(),
            known: Trie::new(),
            queue: BinaryHeap::new(),
            hasher: foldhash::fast::FixedState::default(),
            failed: 0,
        }
    }

    /// From the initial markings, or from where it was; nothing when there are so many markings.
    fn go(&mut self, most: usize, budget: &Budget) -> Option<Coverability> {
        let problem = self.problem;
        if self.nodes.is_empty() {
            for mut start in starts(problem, self.monotone) {
                if let Some(run) =
                    self.add(&mut start, Arrival { parent: ROOT, transition: 0, depth: 0 }, budget)
                {
                    return Some(Coverability::Covered(run));
                }
            }
        }
        // Each transition waits at one of the places it needs; those that need none come last.
        let mut watching: Vec<Vec<u32>> = vec![Vec::new(); problem.net.places.len() + 1];
        let live = (0..).zip(&problem.net.transitions).filter(|(number, _)| self.live[*number as usize]);
        for (number, transition) in live {
            let first = transition.consume.iter().next();
            watching[first.map_or(problem.net.places.len(), |(place, _)| place as usize)].push(number);
        }
        let mut current = vec![0u32; problem.net.places.len()];
        let mut after = current.clone();
        while self.nodes.len() < most {
            let Some(Reverse((_, _, number))) = self.queue.pop() else {
                return Some(Coverability::Unknown(StopReason::Partial));
            };
            let depth = self.nodes[number as usize].depth + 1;
            unpack(&self.nodes[number as usize].state, &mut current);
            let places = self.nodes[number as usize].state.iter().map(|(place, _)| *place as usize);
            let candidates: Vec<u32> =
                places.flat_map(|place| &watching[place]).chain(&watching[current.len()]).copied().collect();
            for at in candidates {
                // Each of them costs a walk over the net.
                if let Some(reason) = budget.exhausted() {
                    return Some(Coverability::Unknown(reason));
                }
                if !fire(&problem.net.transitions[at as usize], &current, &mut after) {
                    continue;
                }
                budget.counters().transitions.add(1);
                budget.counters().firings.add(1);
                let arrival = Arrival { parent: number, transition: at, depth };
                if let Some(run) = self.add(&mut after, arrival, budget) {
                    return Some(Coverability::Covered(run));
                }
            }
        }
        None
    }

    fn add(
        &mut self,
        state: &mut [u32],
        Arrival { parent, transition, depth }: Arrival,
        budget: &Budget,
    ) -> Option<Run> {
        for (tokens, useful) in state.iter_mut().zip(&self.places) {
            *tokens = if *useful { *tokens } else { 0 };
        }
        if !self.seen.insert(self.hasher.hash_one(&*state)) {
            return None;
        }
        let accelerations = if self.accelerates { self.accelerate(state, parent) } else { Vec::new() };
        let packed: Packed = (0..).zip(&*state).filter(|(_, n)| **n > 0).map(|(p, n)| (p, *n)).collect();
        if self.monotone {
            let marking: Marking = packed.iter().map(|(place, n)| (*place, u64::from(*n))).collect();
            if self.known.has_above(&marking, LOOK_ABOVE) && !self.nodes.is_empty() {
                return None;
            }
            self.known.insert(&marking, 0);
        }
        let far = self.distance.estimate(state);
        if far == NEVER {
            return None;
        }
        let number = self.nodes.len() as u32;
        budget.counters().states.add(1);
        budget.counters().markings.add(1);
        budget.counters().bytes.add(120 + 120 * packed.len() as u64);
        self.nodes.push(Node { parent, transition, depth, state: packed, accelerations });
        if far == 0 && self.failed < MOST_FAILED {
            match self.run(number, budget) {
                Some(run) => return Some(run),
                None => self.failed += 1,
            }
        }
        self.queue.push(Reverse((far, depth, number)));
        None
    }

    /// Any number of tokens for the places that have more than in an ancestor that is nowhere larger.
    fn accelerate(&self, state: &mut [u32], parent: u32) -> Vec<Acceleration> {
        let mut found = Vec::new();
        let mut at = parent;
        for _ in 0..LOOK_BACK {
            let Some(ancestor) = self.nodes.get(at as usize) else { break };
            if ancestor.state.iter().all(|(place, n)| state[*place as usize] >= *n) {
                let mut places = Vec::new();
                for (place, tokens) in (0..).zip(&*state) {
                    let there = ancestor.state.binary_search_by_key(&place, |(p, _)| *p);
                    let before = there.map_or(0, |entry| ancestor.state[entry].1);
                    if *tokens > before && *tokens != OMEGA {
                        places.push((place, *tokens));
                    }
                }
                if !places.is_empty() {
                    for (place, _) in &places {
                        state[*place as usize] = OMEGA;
                    }
                    found.push(Acceleration { ancestor: at, places });
                }
            }
            at = ancestor.parent;
        }
        found
    }

    /// The run to a node that covers a target, with the tokens it needs and no more. It has been replayed.
    fn run(&self, number: u32, budget: &Budget) -> Option<Run> {
        let mut path = vec![number];
        let mut at = number;
        while self.nodes[at as usize].parent != ROOT {
            at = self.nodes[at as usize].parent;
            path.push(at);
        }
        path.reverse();
        let last = &self.nodes[number as usize].state;
        let mut targets = self.open.iter().map(|target| &self.problem.targets[*target]);
        let target = targets.find(|target| within(target, last))?;
        let run = if self.monotone {
            let unwinding = Unwinding { problem: self.problem, nodes: &self.nodes, path: &path };
            let (transitions, needed) = unwinding.run(target, budget)?;
            Run { initial: self.problem.initial_covering(&needed)?, transitions }
        } else {
            let root = &self.nodes[path[0] as usize].state;
            let transitions =
                path[1..].iter().map(|node| self.nodes[*node as usize].transition as usize).collect();
            Run { initial: root.iter().map(|(place, n)| (*place, u64::from(*n))).collect(), transitions }
        };
        (run.is_counterexample(self.problem, &|| budget.exhausted().is_some()) == Some(true)).then_some(run)
    }
}
