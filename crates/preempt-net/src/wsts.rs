//! Well-structured transition systems (Definition 3), with what the classical algorithm (Fig. 1) and the one by
//! weight (Fig. 3) need of them.

use crate::marking::{Marking, Place};
use crate::net::Net;
use crate::predecessor::predecessors;
use std::hash::Hash;

/// A discrete well-structured transition system.
pub trait WellStructured {
    type State: Clone + Eq + Hash;
    /// What a step is called; together with the state before it decides the step.
    type Rule: Clone;

    /// The ordering: is `small` below (or equal to) `large`?
    fn below(&self, small: &Self::State, large: &Self::State) -> bool;

    /// The length of the longest strictly decreasing sequence from the state (Definition 5).
    fn weight(&self, state: &Self::State) -> u64;

    fn rules(&self) -> Vec<Self::Rule>;

    /// The states after the rule; none if it does not apply.
    fn fire(&self, state: &Self::State, rule: &Self::Rule) -> Vec<Self::State>;

    /// A finite basis of the states from which the rule leads to a state above `state`: Pred of Fig. 1.
    fn predecessor_basis(&self, state: &Self::State, rule: &Self::Rule) -> Vec<Self::State>;

    /// The states above this one with one more in weight. Repeated, it gives Lift (Definition 11).
    fn lift(&self, state: &Self::State) -> Vec<Self::State>;

    /// The delta of Definition 8, where every rule is weight respecting.
    fn deflation(&self) -> Option<u64>;
}

impl WellStructured for Net {
    type State = Marking;
    type Rule = usize;

    fn below(&self, small: &Marking, large: &Marking) -> bool {
        large.covers(small)
    }

    fn weight(&self, state: &Marking) -> u64 {
        state.weight()
    }

    fn rules(&self) -> Vec<usize> {
        (0..self.transitions.len()).collect()
    }

    /// By the monotone relaxation, if the net is not monotone.
    fn fire(&self, state: &Marking, rule: &usize) -> Vec<Marking> {
        self.transitions[*rule].fire_relaxed(state).into_iter().collect()
    }

    fn predecessor_basis(&self, state: &Marking, rule: &usize) -> Vec<Marking> {
        predecessors(&self.transitions[*rule], state)
    }

    fn lift(&self, state: &Marking) -> Vec<Marking> {
        (0..self.places.len() as Place).map(|place| state.plus(&Marking::from_pairs([(place, 1)]))).collect()
    }

    /// Example 4: tokens of the firing that are not in the covered marking are at most those consumed, and
    /// afterwards those produced. A reset changes the weight by what was there, so there is no delta with one.
    fn deflation(&self) -> Option<u64> {
        let keeps = |t: &crate::net::Transition| t.moves.iter().all(|moved| moved.to.len() == 1);
        self.transitions
            .iter()
            .map(|t| keeps(t).then(|| t.consume.weight().max(t.produce.weight())))
            .try_fold(0, |most, of_one| of_one.map(|delta| most.max(delta)))
    }
}
