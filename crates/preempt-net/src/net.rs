//! Petri nets with weights, read arcs, resets and transfers, and their firing rule.
//!
//! A transition takes `consume` away, moves what is *left* on some places as a whole (`moves`), and adds
//! `produce`: all at once, so that tokens that arrive are not moved on by the same firing. A read arc consumes
//! and produces the same; a reset moves the rest of a place to nowhere; a transfer moves it to another place.

use crate::marking::{Marking, Place};
use foldhash::{HashMap, HashMapExt};

/// Places and transitions, by their numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Net {
    /// Their names.
    pub places: Vec<String>,
    /// In the order in which they were read.
    pub transitions: Vec<Transition>,
}

/// What a firing takes, moves and gives.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transition {
    /// For people; not necessarily unique.
    pub name: String,
    /// Taken away; the transition needs that much to fire.
    pub consume: Marking,
    /// Added at the end.
    pub produce: Marking,
    /// Sorted by place, at most one for each.
    pub moves: Vec<Move>,
    /// Fires only while these places have no more than so many tokens: zero tests and intervals.
    ///
    /// They make a net leave the class: engines for upward-closed sets ignore them (which only adds runs), and
    /// whoever finds a run must replay it with [`Transition::fire`], which does not.
    pub at_most: Vec<(Place, u64)>,
}

/// Where the tokens of a place go that were not consumed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    /// The place that is emptied.
    pub from: Place,
    /// Nowhere (a reset), to one place (a transfer), or a copy to each of several places. Sorted.
    pub to: Vec<Place>,
}

impl Transition {
    /// Can it fire, by the exact rule?
    pub fn is_enabled(&self, marking: &Marking) -> bool {
        marking.covers(&self.consume) && self.at_most.iter().all(|(place, most)| marking.get(*place) <= *most)
    }

    /// The marking after the transition, or `None` if it cannot fire.
    pub fn fire(&self, marking: &Marking) -> Option<Marking> {
        self.is_enabled(marking).then(|| self.effect(marking))
    }

    /// As [`fire`](Transition::fire) without the tests for few tokens: the monotone relaxation.
    pub fn fire_relaxed(&self, marking: &Marking) -> Option<Marking> {
        marking.covers(&self.consume).then(|| self.effect(marking))
    }

    fn effect(&self, marking: &Marking) -> Marking {
        let rest = marking.minus(&self.consume);
        if self.moves.is_empty() {
            return rest.plus(&self.produce);
        }
        let mut after = Vec::with_capacity(rest.support_len() + self.produce.support_len());
        for (place, tokens) in rest.iter() {
            match self.move_of(place) {
                None => after.push((place, tokens)),
                Some(moved) => after.extend(moved.to.iter().map(|to| (*to, tokens))),
            }
        }
        after.extend(self.produce.iter());
        Marking::from_pairs(after)
    }

    /// Where the rest of a place goes, if it is moved.
    pub fn move_of(&self, place: Place) -> Option<&Move> {
        self.moves.binary_search_by_key(&place, |moved| moved.from).ok().map(|at| &self.moves[at])
    }

    /// What a firing changes when nothing is moved: produced minus consumed.
    pub fn displacement(&self) -> Vec<(Place, i128)> {
        let mut change: Vec<(Place, i128)> = Vec::new();
        for (place, tokens) in self.consume.iter() {
            change.push((place, i128::from(self.produce.get(place)) - i128::from(tokens)));
        }
        for (place, tokens) in self.produce.iter() {
            if self.consume.get(place) == 0 {
                change.push((place, i128::from(tokens)));
            }
        }
        change.retain(|(_, n)| *n != 0);
        change.sort_unstable();
        change
    }
}

impl Move {
    /// What moving one token changes.
    pub fn displacement(&self) -> Vec<(Place, i128)> {
        let mut change: Vec<(Place, i128)> = self.to.iter().map(|to| (*to, 1)).collect();
        change.push((self.from, -1));
        change.sort_unstable_by_key(|(place, _)| *place);
        change.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        change.retain(|(_, n)| *n != 0);
        change
    }
}

impl Net {
    /// Is it a Petri net with weights only: no resets, transfers, or tests for few tokens?
    pub fn is_plain(&self) -> bool {
        self.transitions.iter().all(|t| t.moves.is_empty() && t.at_most.is_empty())
    }

    /// Does every transition keep its enabledness when tokens are added?
    pub fn is_monotone(&self) -> bool {
        self.transitions.iter().all(|t| t.at_most.is_empty())
    }

    /// The place with this name.
    pub fn place(&self, name: &str) -> Option<Place> {
        self.places.iter().position(|place| place == name).map(|at| at as Place)
    }

    /// For many look-ups by name.
    pub fn place_index(&self) -> HashMap<&str, Place> {
        let mut index = HashMap::with_capacity(self.places.len());
        index.extend(self.places.iter().enumerate().map(|(at, name)| (name.as_str(), at as Place)));
        index
    }

    /// The transitions by their names: one that was split has several numbers.
    pub fn transition_index(&self) -> HashMap<&str, Vec<usize>> {
        let mut index: HashMap<&str, Vec<usize>> = HashMap::with_capacity(self.transitions.len());
        for (at, transition) in self.transitions.iter().enumerate() {
            index.entry(transition.name.as_str()).or_default().push(at);
        }
        index
    }

    /// `2 a + b`, for people.
    pub fn show(&self, marking: &Marking) -> String {
        if marking.is_empty() {
            return "0".into();
        }
        let parts: Vec<String> = marking
            .iter()
            .map(|(place, tokens)| {
                let name = self.places.get(place as usize).map_or("?", String::as_str);
                if tokens == 1 { name.to_string() } else { format!("{tokens} {name}") }
            })
            .collect();
        parts.join(" + ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marking<const N: usize>(pairs: [(Place, u64); N]) -> Marking {
        Marking::from_pairs(pairs)
    }

    #[test]
    fn tokens_that_arrive_are_not_moved_on() {
        // Rotating two places: each gets what the other had.
        let rotate = Transition {
            moves: vec![Move { from: 0, to: vec![1] }, Move { from: 1, to: vec![0] }],
            produce: marking([(0, 1)]),
            ..Transition::default()
        };
        assert_eq!(rotate.fire(&marking([(0, 3), (1, 5)])), Some(marking([(0, 6), (1, 3)])));
    }

    #[test]
    fn consumed_tokens_are_not_transferred() {
        let elect = Transition {
            consume: marking([(0, 1)]),
            moves: vec![Move { from: 0, to: vec![1] }],
            produce: marking([(2, 1)]),
            ..Transition::default()
        };
        assert_eq!(elect.fire(&marking([(0, 4)])), Some(marking([(1, 3), (2, 1)])));
        assert_eq!(elect.fire(&marking([(1, 4)])), None);
    }

    #[test]
    fn a_reset_loses_and_a_read_arc_keeps() {
        let t = Transition {
            consume: marking([(0, 2)]),
            produce: marking([(0, 2)]),
            moves: vec![Move { from: 1, to: vec![] }],
            ..Transition::default()
        };
        assert_eq!(t.fire(&marking([(0, 3), (1, 9)])), Some(marking([(0, 3)])));
        assert_eq!(t.fire(&marking([(0, 1), (1, 9)])), None);
    }

    #[test]
    fn a_test_for_few_tokens_counts_only_in_the_exact_rule() {
        let t = Transition { at_most: vec![(0, 0)], produce: marking([(1, 1)]), ..Transition::default() };
        assert_eq!(t.fire(&marking([(0, 1)])), None);
        assert_eq!(t.fire_relaxed(&marking([(0, 1)])), Some(marking([(0, 1), (1, 1)])));
    }
}
