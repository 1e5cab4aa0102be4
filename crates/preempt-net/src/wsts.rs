//! Well-structured transition systems, with what the classical algorithm (Fig. 1) and the one by weight (Fig. 3) of Bingham
//! and Hu 2005 (paper 004) need of them. Definitions and examples are numbered as there.
//!
//! A system is well structured (Definition 3) if its states are ordered so that no infinite sequence avoids having one
//! element above an earlier one, and a larger state can do whatever a smaller one can. Then what leads to an upward-closed
//! set is upward closed again and has a finite basis, which makes coverability decidable.

use crate::marking::{Marking, Place};
use crate::net::{Net, Transition};
use crate::predecessor::predecessors;
use std::hash::Hash;

/// A discrete well-structured transition system.
pub trait WellStructured {
    /// A state; states that are equal in the ordering are equal.
    type State: Clone + Eq + Hash;
    /// What a step is called; together with the state before it decides the step.
    type Rule: Clone;

    /// The ordering: is `small` below (or equal to) `large`?
    fn below(&self, small: &Self::State, large: &Self::State) -> bool;

    /// The length of the longest strictly decreasing sequence from the state (Definition 5).
    fn weight(&self, state: &Self::State) -> u64;

    /// All rules; there are finitely many.
    fn rules(&self) -> Vec<Self::Rule>;

    /// The states after the rule; none if it does not apply.
    fn fire(&self, state: &Self::State, rule: &Self::Rule) -> Vec<Self::State>;

    /// A finite basis of the states from which the rule leads to a state above `state`: Pred of Fig. 1.
    fn predecessor_basis(&self, state: &Self::State, rule: &Self::Rule) -> Vec<Self::State>;

    /// The states above this one with one more in weight. Repeated, it gives Lift (Definition 11).
    fn lift(&self, state: &Self::State) -> Vec<Self::State>;

    /// A delta as in Definition 8, as small as can be shown; none if there is none.
    ///
    /// The convergence theorem needs it only for steps that enter the set: for `x -> x'` with `z` below `x'` and *not*
    /// below `x`.
    fn deflation(&self) -> Option<u64>;

    /// Does each rule change the weight by the same everywhere (Definition 7)?
    fn respects_weight(&self) -> bool;
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

    /// Example 4, and less where a firing cannot help without giving. The marking y of Definition 8 has what is
    /// consumed and what z wants beyond the produced tokens, so that it exceeds z by |consume| minus the produced
    /// tokens that z wants; afterwards by |produce| minus those. If z is not below the marking before, and nothing
    /// is transferred, then z wants more of some place than the marking had there: more than is consumed of it, and
    /// it is produced.
    ///
    /// A copied token makes the difference as large as one likes, so that there is no delta with copies.
    fn deflation(&self) -> Option<u64> {
        self.transitions
            .iter()
            .map(deflation_of)
            .try_fold(0, |most, of_one| of_one.map(|delta| most.max(delta)))
    }

    fn respects_weight(&self) -> bool {
        self.transitions.iter().all(|t| t.moves.iter().all(|moved| moved.to.len() == 1))
    }
}

fn deflation_of(transition: &Transition) -> Option<u64> {
    if transition.moves.iter().any(|moved| moved.to.len() > 1) {
        return None;
    }
    let most = transition.consume.weight().max(transition.produce.weight());
    if transition.moves.iter().any(|moved| !moved.to.is_empty()) {
        return Some(most);
    }
    let wanted = |(place, n): (Place, u64)| {
        let taken = transition.consume.get(place);
        (n > taken).then_some(taken + 1)
    };
    // Without a place that gains, the firing never leads into the set.
    Some(transition.produce.iter().filter_map(wanted).min().map_or(0, |least| most - least))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(consume: &[(Place, u64)], produce: &[(Place, u64)]) -> Option<u64> {
        let marking = |pairs: &[(Place, u64)]| Marking::from_pairs(pairs.iter().copied());
        let (consume, produce) = (marking(consume), marking(produce));
        deflation_of(&Transition { consume, produce, ..Transition::default() })
    }

    #[test]
    fn delta_is_as_small_as_can_be_shown() {
        assert_eq!(delta(&[(0, 1)], &[(1, 1)]), Some(0));
        assert_eq!(delta(&[(0, 1), (1, 1)], &[(2, 1), (3, 1)]), Some(1));
        assert_eq!(delta(&[], &[(0, 3)]), Some(2));
        // With a token on place 0 already, two are wanted there.
        assert_eq!(delta(&[(0, 1)], &[(0, 3)]), Some(1));
        assert_eq!(delta(&[(0, 4)], &[]), Some(0));
    }

    /// Definition 8 on small markings, for steps that enter the set above z; and no smaller number will do.
    #[test]
    fn delta_deflates_small_markings() {
        let all: Vec<Marking> =
            (0..64u64).map(|n| Marking::from_pairs([(0, n % 4), (1, n / 4 % 4), (2, n / 16)])).collect();
        let some: Vec<&Marking> = all.iter().filter(|marking| marking.weight() <= 2).collect();
        for consume in &some {
            for produce in &some {
                let t = Transition {
                    consume: (*consume).clone(),
                    produce: (*produce).clone(),
                    ..Transition::default()
                };
                let delta = deflation_of(&t).expect("no copies");
                let mut needed = 0;
                for x in &all {
                    let Some(after) = t.fire(x) else { continue };
                    for z in all.iter().filter(|z| after.covers(z) && !x.covers(z)) {
                        let smallest = all.iter().filter(|y| x.covers(y)).filter_map(|y| {
                            let after = t.fire(y).filter(|after| after.covers(z))?;
                            Some(y.weight().max(after.weight()).saturating_sub(z.weight()))
                        });
                        needed = smallest.min().expect("x itself").max(needed);
                    }
                }
                assert!(needed <= delta, "{t:?}: {needed} > {delta}");
            }
        }
    }
}
