//! Backward by basis: the classical algorithm (Abdulla, Cerans, Jonsson and Tsay 1996; Fig. 1 of Bingham and Hu 2005, paper
//! 004) on sparse markings, smallest first.
//!
//! The markings from which a target can be covered are upward closed, and so have a finite basis of smallest ones
//! (Dickson 1913). The search keeps a basis, adds the smallest predecessors of its elements, and leaves out what lies above
//! an element (`subsumption`). Because the order has no infinite sequence without one element above an earlier one, it
//! ends; then the basis is inductive, which is the certificate, or it lies below an initial marking, and the way back
//! along `next` is the run. The basis can be as large as the problem is hard (EXPSPACE for nets), so whatever no run can
//! reach is not followed (`prune`), two tokens that are never there together stand for whatever is above them (`together`), and only
//! transitions that put a token where one is wanted are tried.
//!
//! A net with tests for few tokens is not monotone; then the search is on a relaxation, a run of which may be spurious.

use crate::certificate::{Certificate, InductiveBasis};
use crate::prune::Pruner;
use crate::run::{Coverability, Run};
use crate::sign::{always_empty, exclude};
use crate::subsumption::Trie;
use crate::together::Together;
use preempt_core::{Budget, StopReason};
use preempt_net::predecessor::predecessors_while;
use preempt_net::{Marking, Problem};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

struct Element {
    marking: Marking,
    /// The element it is a predecessor of, and by which transition.
    next: Option<(u32, u32)>,
}

/// From the open targets to the initial markings, or to an inductive basis without them.
pub(crate) fn backward(problem: &Problem, open: &[usize], budget: &Budget) -> Coverability {
    let mut live = vec![true; problem.net.transitions.len()];
    let empty = always_empty(problem, &live);
    exclude(problem, &empty, &mut live);
    let mut search = Search {
        problem,
        elements: Vec::new(),
        trie: Trie::new(),
        queue: BinaryHeap::new(),
        pruner: Pruner::new(problem, &live, &empty, budget),
        spurious: false,
        oracle: Oracle::NotAsked,
    };
    let producers = producers(problem, &live);
    // Lightest first: a target above another one is left out.
    let mut open = open.to_vec();
    open.sort_by_key(|target| problem.targets[*target].weight());
    for target in &open {
        if let Some(reason) = budget.exhausted() {
            return Coverability::Unknown(reason);
        }
        if let Some(run) = search.add(problem.targets[*target].clone(), None, budget) {
            return Coverability::Covered(run);
        }
    }
    let mut steps = 0u32;
    let mut helpful: Vec<u32> = Vec::new();
    while let Some(Reverse((_, number))) = search.queue.pop() {
        steps = steps.wrapping_add(1);
        if steps.is_multiple_of(32) {
            budget.counters().frontier.set(search.queue.len() as u64);
            if let Some(reason) = budget.exhausted() {
                return Coverability::Unknown(reason);
            }
        }
        let marking = search.elements[number as usize].marking.clone();
        // A smaller one was found in the meantime, and its predecessors are smaller too.
        if search.trie.has_below(&marking, Some(number)) {
            continue;
        }
        // Only transitions that put a token where one is wanted lead out of what is already covered.
        helpful.clear();
        helpful.extend(marking.iter().flat_map(|(place, _)| producers[place as usize].iter()));
        helpful.sort_unstable();
        helpful.dedup();
        for transition in &helpful {
            let transition_data = &problem.net.transitions[*transition as usize];
            let each = 64 + 16 * marking.support_len() as u64;
            let Some(before) = predecessors_while(transition_data, &marking, &|n| {
                budget.exhausted_with(n as u64 * each).is_none()
            }) else {
                return Coverability::Unknown(budget.exhausted().unwrap_or(StopReason::Partial));
            };
            for before in before {
                budget.counters().transitions.add(1);
                if let Some(run) = search.add(before, Some((number, *transition)), budget) {
                    return Coverability::Covered(run);
                }
            }
        }
    }
    if search.spurious {
        // An initial marking was met, but only in the relaxation of a net that is not monotone.
        return Coverability::Unknown(StopReason::Partial);
    }
    let Some(elements) = minimal(search.elements, budget) else {
        return Coverability::Unknown(budget.exhausted().unwrap_or(StopReason::Partial));
    };
    let basis = InductiveBasis { empty, bounds: search.pruner.into_bounds(), elements };
    Coverability::Safe(Certificate { refutations: Vec::new(), basis: Some(basis) })
}

struct Search<'p> {
    problem: &'p Problem,
    elements: Vec<Element>,
    trie: Trie,
    queue: BinaryHeap<Reverse<(u64, u32)>>,
    pruner: Pruner<'p>,
    spurious: bool,
    oracle: Oracle,
}

/// What a forward analysis says about pairs of tokens. It is asked when the search turns out to be one.
enum Oracle {
    NotAsked,
    Silent,
    Knows(Together),
}

/// The oracle is asked when there is an element for so many places: what it costs grows with the net.
const PLACES_FOR_AN_ELEMENT: usize = 8;

impl Search<'_> {
    /// The run, if an initial marking covers the new element.
    fn add(&mut self, marking: Marking, next: Option<(u32, u32)>, budget: &Budget) -> Option<Run> {
        if self.trie.has_below(&marking, None) {
            return None;
        }
        if let Some(initial) = self.problem.initial_covering(&marking) {
            let run = Run { initial, transitions: self.path(next) };
            if run.is_counterexample(self.problem, &|| budget.exhausted().is_some()) == Some(true) {
                return Some(run);
            }
            // Or there was no time to replay it; then the search ends at its next look at the clock.
            self.spurious = true;
            return None;
        }
        if self.pruner.excluded(&marking) {
            budget.counters().pruned.add(1);
            return None;
        }
        let marking = match self.excluded_pair(&marking, budget) {
            None => marking,
            Some(pair) if self.trie.has_below(&pair, None) => return None,
            Some(pair) => pair,
        };
        let number = self.elements.len() as u32;
        self.trie.insert(&marking, number);
        self.queue.push(Reverse((marking.weight(), number)));
        budget.counters().states.add(1);
        // The marking twice, here and in the trie, whose nodes keep room for children.
        budget.counters().bytes.add(100 + 120 * marking.support_len() as u64);
        self.elements.push(Element { marking, next });
        None
    }

    /// Two tokens of the marking that are never there together.
    fn excluded_pair(&mut self, marking: &Marking, budget: &Budget) -> Option<Marking> {
        let waits = self.elements.len() < self.problem.net.places.len() / PLACES_FOR_AN_ELEMENT;
        if matches!(self.oracle, Oracle::NotAsked) && !waits {
            self.oracle = Together::of(self.problem, budget).map_or(Oracle::Silent, Oracle::Knows);
        }
        match &self.oracle {
            Oracle::Knows(together) => together.excluded(marking),
            Oracle::NotAsked | Oracle::Silent => None,
        }
    }

    fn path(&self, mut next: Option<(u32, u32)>) -> Vec<usize> {
        let mut transitions = Vec::new();
        while let Some((element, transition)) = next {
            transitions.push(transition as usize);
            next = self.elements[element as usize].next;
        }
        transitions
    }
}

/// For each place the live transitions that can put a token there.
fn producers(problem: &Problem, live: &[bool]) -> Vec<Vec<u32>> {
    let mut producers = vec![Vec::new(); problem.net.places.len()];
    for (number, transition) in problem.net.transitions.iter().enumerate().filter(|(t, _)| live[*t]) {
        for (place, n) in transition.produce.iter() {
            // Putting back no more than was taken helps nobody, unless the rest goes away.
            if n > transition.consume.get(place) || transition.move_of(place).is_some() {
                producers[place as usize].push(number as u32);
            }
        }
        for to in transition.moves.iter().flat_map(|moved| &moved.to) {
            producers[*to as usize].push(number as u32);
        }
    }
    producers
}

/// Without those that cover another one; `None` if it was stopped.
fn minimal(elements: Vec<Element>, budget: &Budget) -> Option<Vec<Marking>> {
    let mut markings: Vec<Marking> = elements.into_iter().map(|element| element.marking).collect();
    markings.sort_unstable_by_key(Marking::weight);
    let mut trie = Trie::new();
    let (mut looked_at, mut stopped) = (0u32, false);
    markings.retain(|marking| {
        looked_at += 1;
        stopped = stopped || (looked_at.is_multiple_of(256) && budget.exhausted().is_some());
        let new = !stopped && !trie.has_below(marking, None);
        if new {
            trie.insert(marking, 0);
        }
        new
    });
    (!stopped).then_some(markings)
}
