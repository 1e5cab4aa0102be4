//! Which places can have tokens at the same time: a forward analysis over pairs of places, the oracle of the backward search.
//!
//! In the net of a thread-transition system it tells for each shared state the local states that a thread may be in
//! there, and which of these two threads may be in: shared states apart from counters, as thread-modular analyses have them (Flanagan and
//! Qadeer 2003), and pairs of local states besides. Kaiser, Kroening and Wahl ("Efficient coverability analysis by proof
//! minimization", CONCUR 2012) let a forward search tell the backward one what need not be followed; here it is this
//! analysis, which ends always.
//!
//! A pair is in the relation if it is initially, or if a transition whose places are pairwise in it makes it: of what it
//! produces, or of that and a place that is in the relation with everything that it consumes. So whatever can be marked together is in the
//! relation, and *the markings with a pair that is not are upward closed and have only such predecessors*. That is why the backward search
//! may put such a pair in the place of a marking above it: the pair is no less unreachable, it stands for more, and
//! it becomes an element of the basis like any other, so that certificates need not know about this.
//!
//! A row of bits for each place, and each transition is looked at again when a row of what it consumes has grown: at most the
//! square of the places times what a transition costs, which is a few rows.

use preempt_core::Budget;
use preempt_net::{Marking, Place, Problem, Transition};

/// With more places than this the relation is not computed: it has a bit for each pair.
const MOST_PLACES: usize = 8192;

/// Pairs of places that may be marked together; a place with itself, if it may have two tokens.
#[derive(Debug)]
pub(crate) struct Together {
    words: usize,
    rows: Vec<u64>,
    /// Places that may be marked at all.
    marked: Vec<u64>,
}

impl Together {
    /// Nothing if there are too many places, or if the budget ends first.
    pub(crate) fn of(problem: &Problem, budget: &Budget) -> Option<Together> {
        let places = problem.net.places.len();
        if places > MOST_PLACES {
            return None;
        }
        let words = places.div_ceil(64);
        let mut together = Together { words, rows: vec![0; words * places], marked: vec![0; words] };
        let initially: Vec<Place> =
            (0..places as Place).filter(|place| problem.range(*place).reaches(1)).collect();
        for one in &initially {
            together.mark(*one);
            for other in &initially {
                if one != other || problem.range(*one).reaches(2) {
                    together.add(*one, *other);
                }
            }
        }
        let transitions = &problem.net.transitions;
        let mut consumers: Vec<Vec<u32>> = vec![Vec::new(); places];
        for (number, transition) in (0..).zip(transitions) {
            let needs = transition.consume.iter().map(|(place, _)| place);
            let moved = transition.moves.iter().map(|moved| moved.from);
            needs.chain(moved).for_each(|place| consumers[place as usize].push(number));
        }
        let mut waiting: Vec<u32> = (0..transitions.len() as u32).collect();
        let mut waits = vec![true; transitions.len()];
        // A transition that needs nothing goes together with whatever is marked.
        let free: Vec<u32> =
            waiting.iter().copied().filter(|t| transitions[*t as usize].consume.is_empty()).collect();
        let mut grown = Vec::new();
        while let Some(number) = waiting.pop() {
            if budget.exhausted().is_some() {
                return None;
            }
            waits[number as usize] = false;
            together.fire(&transitions[number as usize], &mut grown);
            let again = grown.iter().flat_map(|place: &Place| &consumers[*place as usize]);
            let again: Vec<u32> = again.chain(free.iter().filter(|_| !grown.is_empty())).copied().collect();
            for other in again {
                if !std::mem::replace(&mut waits[other as usize], true) {
                    waiting.push(other);
                }
            }
            grown.clear();
        }
        Some(together)
    }

    /// Two tokens of the marking that cannot be there at the same time.
    pub(crate) fn excluded(&self, marking: &Marking) -> Option<Marking> {
        for (at, (one, tokens)) in marking.iter().enumerate() {
            if tokens >= 2 && !self.has(one, one) {
                return Some(Marking::from_pairs([(one, 2)]));
            }
            if let Some((other, _)) = marking.iter().skip(at + 1).find(|(other, _)| !self.has(one, *other)) {
                return Some(Marking::from_pairs([(one, 1), (other, 1)]));
            }
        }
        None
    }

    fn row(&self, place: Place) -> &[u64] {
        &self.rows[place as usize * self.words..(place as usize + 1) * self.words]
    }

    fn has(&self, one: Place, other: Place) -> bool {
        self.row(one)[other as usize / 64] >> (other % 64) & 1 == 1
    }

    fn mark(&mut self, place: Place) -> bool {
        let word = &mut self.marked[place as usize / 64];
        let before = *word;
        *word |= 1 << (place % 64);
        before != *word
    }

    fn add(&mut self, one: Place, other: Place) -> bool {
        let known = self.has(one, other);
        self.rows[one as usize * self.words + other as usize / 64] |= 1 << (other % 64);
        self.rows[other as usize * self.words + one as usize / 64] |= 1 << (one % 64);
        !known
    }

    /// Adds what the transition brings together; the places whose rows have grown.
    fn fire(&mut self, transition: &Transition, grown: &mut Vec<Place>) {
        let consumed: Vec<(Place, u64)> = transition.consume.iter().collect();
        let bit = |set: &[u64], place: Place| set[place as usize / 64] >> (place % 64) & 1 == 1;
        for (at, (one, tokens)) in consumed.iter().enumerate() {
            let alone = bit(&self.marked, *one) && (*tokens < 2 || self.has(*one, *one));
            if !alone || consumed[at + 1..].iter().any(|(other, _)| !self.has(*one, *other)) {
                return;
            }
        }
        // What may be there besides. A place that is consumed is among it if it may have one token more.
        let mut rest = self.marked.clone();
        for (place, _) in &consumed {
            rest.iter_mut().zip(self.row(*place)).for_each(|(all, row)| *all &= row);
        }
        let mut moved: Vec<(Place, &[Place])> = Vec::new();
        for it in &transition.moves {
            if bit(&rest, it.from) {
                moved.push((it.from, &it.to));
            }
        }
        let mut after = rest.clone();
        transition.moves.iter().for_each(|it| after[it.from as usize / 64] &= !(1 << (it.from % 64)));
        moved.iter().flat_map(|(_, to)| *to).for_each(|to| after[*to as usize / 64] |= 1 << (to % 64));
        let mut pairs: Vec<(Place, Place)> = Vec::new();
        let mut single: Vec<Place> = moved.iter().flat_map(|(_, to)| to.iter().copied()).collect();
        let produced: Vec<(Place, u64)> = transition.produce.iter().collect();
        for (at, (one, tokens)) in produced.iter().enumerate() {
            single.push(*one);
            if *tokens >= 2 {
                pairs.push((*one, *one));
            }
            pairs.extend(produced[at + 1..].iter().map(|(other, _)| (*one, *other)));
            let row = self.row(*one);
            for (word, (after, known)) in after.iter().zip(row).enumerate() {
                let mut new = after & !known;
                while new != 0 {
                    pairs.push((*one, word as Place * 64 + new.trailing_zeros()));
                    new &= new - 1;
                }
            }
        }
        for (from, to) in &moved {
            // A token that is copied is together with its copies, and with what its place was together with.
            for (at, one) in to.iter().enumerate() {
                pairs.extend(to[at + 1..].iter().map(|other| (*one, *other)));
            }
            for other in (0..self.marked.len() as Place * 64).filter(|other| bit(&rest, *other)) {
                if !self.has(*from, other) {
                    continue;
                }
                let others = match transition.move_of(other) {
                    Some(it) => it.to.as_slice(),
                    None => std::slice::from_ref(&other),
                };
                pairs.extend(to.iter().flat_map(|one| others.iter().map(|other| (*one, *other))));
            }
        }
        for place in single {
            if self.mark(place) {
                grown.push(place);
            }
        }
        for (one, other) in pairs {
            if self.add(one, other) {
                grown.extend([one, other]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use preempt_core::SourceMap;
    use preempt_net::{Move, Range, spec};

    fn problem(text: &str) -> Problem {
        let (problem, mistakes) = spec::read(SourceMap::new().add("net.spec", text), text);
        assert!(mistakes.is_empty(), "{mistakes:?}");
        problem
    }

    #[test]
    fn a_token_keeps_two_threads_apart() {
        let net = problem(
            "vars idle critical token
             rules idle >= 1, token >= 1 -> idle' = idle - 1, token' = token - 1, critical' = critical + 1;
                   critical >= 1 -> critical' = critical - 1, idle' = idle + 1, token' = token + 1;
             init idle >= 1, critical = 0, token = 1 target critical >= 2",
        );
        let together = Together::of(&net, &Budget::unlimited()).unwrap();
        let pair = |one, other| Marking::from_pairs([(one, 1), (other, 1)]);
        assert_eq!(together.excluded(&net.targets[0]), Some(Marking::from_pairs([(1, 2)])));
        assert_eq!(together.excluded(&pair(1, 2)), Some(pair(1, 2)));
        assert_eq!(together.excluded(&Marking::from_pairs([(0, 7), (1, 1)])), None);
    }

    /// Whatever brute force meets is in the relation, with transfers, resets and copies too.
    #[test]
    fn what_can_be_reached_is_not_excluded() {
        let mut rng = preempt_core::Rng::new(17);
        let mut excluded = 0;
        for _ in 0..400 {
            let places = 3 + rng.below_u64(3) as Place;
            let mut net = Problem::default();
            net.net.places = (0..places).map(|place| format!("p{place}")).collect();
            net.initial = (0..places).map(|_| Range::exactly(rng.below_u64(3).saturating_sub(1))).collect();
            for _ in 0..1 + rng.below_u64(5) {
                let mut marking = |most: u64| {
                    let pair = |_| (rng.below_u64(places.into()) as Place, 1);
                    Marking::from_pairs((0..most).map(pair).collect::<Vec<_>>())
                };
                let (consume, produce) = (marking(2), marking(2));
                let mut moves = Vec::new();
                if rng.below_u64(3) == 0 {
                    let mut to: Vec<Place> =
                        (0..rng.below_u64(3)).map(|_| rng.below_u64(places.into()) as Place).collect();
                    to.sort_unstable();
                    moves.push(Move { from: rng.below_u64(places.into()) as Place, to });
                }
                net.net.transitions.push(Transition { consume, produce, moves, ..Transition::default() });
            }
            let together = Together::of(&net, &Budget::unlimited()).unwrap();
            let first = net.lowest_initial();
            let mut seen = std::collections::HashSet::from([first.clone()]);
            let mut waiting = vec![first];
            while let Some(marking) = waiting.pop() {
                assert_eq!(together.excluded(&marking), None, "{net:?} {marking:?}");
                for next in net.net.transitions.iter().filter_map(|transition| transition.fire(&marking)) {
                    if next.weight() < 6 && seen.len() < 300 && seen.insert(next.clone()) {
                        waiting.push(next);
                    }
                }
            }
            let all = Marking::from_pairs((0..places).map(|place| (place, 1)));
            excluded += usize::from(together.excluded(&all).is_some());
        }
        assert!(excluded > 50, "{excluded}");
    }
}
