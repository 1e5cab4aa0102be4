//! Transitions that can never fire, as far as that follows from which places can ever get tokens.
//!
//! **What it computes.** For every place either that it may have any number of tokens, or the number with which it begins at
//! most, if no transition that may fire ever adds to it. A transition that needs more than that never fires.
//!
//! **Why it is right.** By induction over a run: as long as no transition of the list has fired, only others have added
//! tokens, and a place that one of those adds to counts as one with any number. Tests for few tokens are passed over, which
//! only adds runs. A transition that is not listed may be dead all the same: to know that is a question of covering.
//!
//! **What it costs.** Each place changes once, and then the transitions that need it are looked at: linear in the arcs.

use crate::marking::Place;
use crate::net::Transition;
use crate::problem::Problem;
use preempt_core::Budget;

/// How often the budget is looked at.
const LOOK_EVERY: usize = 4096;

/// The numbers of transitions that can never fire; `None` if there was no time to tell.
pub fn dead_transitions(problem: &Problem, budget: &Budget) -> Option<Vec<usize>> {
    let net = &problem.net;
    let places = net.places.len();
    let mut most: Vec<Option<u64>> = (0..places as Place).map(|place| problem.range(place).high).collect();
    let mut needed_by: Vec<Vec<usize>> = vec![Vec::new(); places];
    for (number, transition) in net.transitions.iter().enumerate() {
        // What is moved goes on where it arrives, as soon as there is something to move.
        let moved = transition.moves.iter().map(|it| it.from);
        for place in transition.consume.iter().map(|(place, _)| place).chain(moved) {
            needed_by[place as usize].push(number);
        }
    }
    let mut fires = vec![false; net.transitions.len()];
    let mut waiting: Vec<usize> = (0..net.transitions.len()).collect();
    let mut looked = 0usize;
    while let Some(number) = waiting.pop() {
        looked += 1;
        if looked.is_multiple_of(LOOK_EVERY) && budget.exhausted().is_some() {
            return None;
        }
        let transition = &net.transitions[number];
        let has = |place: Place, tokens: u64| most[place as usize].is_none_or(|most| tokens <= most);
        if !transition.consume.iter().all(|(place, tokens)| has(place, tokens)) {
            continue;
        }
        fires[number] = true;
        for place in raised(transition, &most) {
            most[place as usize] = None;
            waiting.extend(&needed_by[place as usize]);
        }
    }
    Some((0..fires.len()).filter(|number| !fires[*number]).collect())
}

/// The places to which it adds tokens, of those that do not have any number already.
fn raised(transition: &Transition, most: &[Option<u64>]) -> Vec<Place> {
    let adds = |(place, tokens): (Place, u64)| (tokens > transition.consume.get(place)).then_some(place);
    let moved = transition.moves.iter().filter(|it| most[it.from as usize] != Some(0)).flat_map(|it| &it.to);
    let mut places: Vec<Place> = transition.produce.iter().filter_map(adds).chain(moved.copied()).collect();
    places.retain(|place| most[*place as usize].is_some());
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marking::Marking;
    use crate::net::{Move, Net};
    use crate::problem::Range;
    use preempt_core::Rng;
    use std::collections::BTreeSet;

    fn some_marking(rng: &mut Rng, places: usize) -> Marking {
        Marking::from_pairs((0..places).filter_map(|place| {
            let tokens = rng.below(6).saturating_sub(3);
            (tokens > 0).then_some((place as Place, tokens as u64))
        }))
    }

    fn random_problem(rng: &mut Rng) -> Problem {
        let places = 2 + rng.below(4);
        let transitions = (0..1 + rng.below(6)).map(|number| {
            let (consume, produce) = (some_marking(rng, places), some_marking(rng, places));
            let moves = match rng.below(4) {
                0 => {
                    let (from, to) = (rng.below(places) as Place, rng.below(places) as Place);
                    vec![Move { from, to: if from == to { Vec::new() } else { vec![to] } }]
                }
                _ => Vec::new(),
            };
            Transition { name: format!("t{number}"), consume, produce, moves, at_most: Vec::new() }
        });
        let net = Net {
            places: (0..places).map(|it| format!("p{it}")).collect(),
            transitions: transitions.collect(),
        };
        let initial = (0..places).map(|_| Range::exactly(rng.below_u64(3))).collect();
        Problem { net, initial, targets: Vec::new(), spans: Vec::new() }
    }

    /// What fires in some run, as far as a search goes, is never listed.
    #[test]
    fn nothing_that_fires_is_dead() {
        let (mut listed, mut exact) = (0, 0);
        for seed in 0..400 {
            let problem = random_problem(&mut Rng::new(seed));
            let dead: BTreeSet<usize> = dead_transitions(&problem, &Budget::unlimited())
                .expect("there is time")
                .into_iter()
                .collect();
            let mut waiting = vec![problem.lowest_initial()];
            let (mut seen, mut fired) = (BTreeSet::new(), BTreeSet::new());
            while let Some(marking) = waiting.pop().filter(|_| seen.len() < 300) {
                for (number, transition) in problem.net.transitions.iter().enumerate() {
                    if let Some(next) = transition.fire(&marking) {
                        fired.insert(number);
                        let key: Vec<_> = next.iter().collect();
                        if seen.insert(key) {
                            waiting.insert(0, next);
                        }
                    }
                }
            }
            assert!(dead.is_disjoint(&fired), "seed {seed}: {dead:?} and {fired:?}\n{problem:?}");
            listed += dead.len();
            exact += usize::from(dead.len() + fired.len() == problem.net.transitions.len());
        }
        assert!(listed > 100 && exact > 100, "{listed} listed, {exact} exact");
    }
}
