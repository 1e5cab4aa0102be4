//! Backward by basis for any well-structured system: the classical algorithm (Abdulla, Cerans, Jonsson and Tsay 1996; Fig. 1
//! of Bingham and Hu 2005, paper 004), lightest states first. Nets have a search of their own (`backward`), on sparse markings.
//!
//! What leads to the targets is upward closed and has a finite basis (Definition 2, Lemma 1). The search keeps a basis, adds
//! the smallest predecessors of its elements and leaves out what lies above another. It ends, because no infinite sequence
//! of states avoids having one above an earlier one; then the basis is inductive, or an element lies below an initial state and
//! the way back is a run.
//!
//! States are taken in the order of their weight. Where no step changes the weight, a predecessor is never lighter than what
//! it leads to, so that the first element below an initial state that is *taken* is one of the lightest there are.
//!
//! Every new element is compared with all others: the square of the basis, for bases that are small.

use preempt_core::{Budget, StopReason};
use preempt_net::WellStructured;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How a search by basis ends.
#[derive(Debug, Clone)]
pub enum BasisOutcome<S, R> {
    /// From a state below an initial one: each step leads above the state that it is given with.
    Reached {
        /// The state to begin with.
        first: S,
        /// A rule, and the state above which it leads.
        steps: Vec<(R, S)>,
    },
    /// Everything that leads to a target lies above one of these, and no initial state does.
    Inductive(Vec<S>),
    /// It was stopped.
    Stopped(StopReason),
}

struct Element<S, R> {
    state: S,
    weight: u64,
    next: Option<(usize, R)>,
    /// Another element lies below.
    covered: bool,
}

/// From the targets to an initial state, or to an inductive basis.
pub fn by_basis<W: WellStructured>(
    system: &W,
    targets: &[W::State],
    below_initial: &dyn Fn(&W::State) -> bool,
    budget: &Budget,
) -> BasisOutcome<W::State, W::Rule> {
    let mut elements: Vec<Element<W::State, W::Rule>> = Vec::new();
    let mut queue = BinaryHeap::new();
    let add = |elements: &mut Vec<Element<W::State, W::Rule>>,
               queue: &mut BinaryHeap<Reverse<(u64, usize)>>,
               state: W::State,
               next: Option<(usize, W::Rule)>| {
        let weight = system.weight(&state);
        let below = |it: &Element<W::State, W::Rule>| {
            !it.covered && it.weight <= weight && system.below(&it.state, &state)
        };
        if elements.iter().any(below) {
            return;
        }
        for it in elements.iter_mut().filter(|it| !it.covered && it.weight >= weight) {
            it.covered = system.below(&state, &it.state);
        }
        queue.push(Reverse((weight, elements.len())));
        budget.counters().states.add(1);
        budget.counters().bytes.add(160 + 8 * weight);
        elements.push(Element { state, weight, next, covered: false });
    };
    for target in targets {
        add(&mut elements, &mut queue, target.clone(), None);
        if let Some(reason) = budget.exhausted() {
            return BasisOutcome::Stopped(reason);
        }
    }
    let rules = system.rules();
    while let Some(Reverse((_, number))) = queue.pop() {
        // What lies below was taken or will be, and its predecessors are smaller too.
        if elements[number].covered {
            continue;
        }
        let state = elements[number].state.clone();
        if below_initial(&state) {
            return reached(&elements, number);
        }
        for rule in &rules {
            if let Some(reason) = budget.exhausted() {
                return BasisOutcome::Stopped(reason);
            }
            for before in system.predecessor_basis(&state, rule) {
                budget.counters().transitions.add(1);
                add(&mut elements, &mut queue, before, Some((number, rule.clone())));
            }
        }
    }
    BasisOutcome::Inductive(elements.into_iter().filter(|it| !it.covered).map(|it| it.state).collect())
}

fn reached<S: Clone, R: Clone>(elements: &[Element<S, R>], number: usize) -> BasisOutcome<S, R> {
    let mut steps = Vec::new();
    let mut next = &elements[number].next;
    while let Some((number, rule)) = next {
        steps.push((rule.clone(), elements[*number].state.clone()));
        next = &elements[*number].next;
    }
    BasisOutcome::Reached { first: elements[number].state.clone(), steps }
}
