//! The predecessor basis of one transition, exact for resets and transfers.
//!
//! A marking m leads above z if m >= consume and, with r = m - consume, what r becomes by the moves covers
//! need = z - produce. Without moves that is one smallest r, namely need. A place that receives the rest of
//! several places can be filled from any of them, so that each way to split its need is a smallest r: as many as there are
//! ways to share the tokens out, which is the only case in which one transition has more than one smallest predecessor.

use crate::marking::{Marking, Place};
use crate::net::Transition;

/// The minimal markings from which the transition leads above `wanted` by the monotone relaxation.
///
/// ```
/// use preempt_net::{Marking, Transition, predecessor::predecessors};
///
/// let (consume, produce) = (Marking::from_pairs([(0, 1)]), Marking::from_pairs([(1, 1)]));
/// let transition = Transition { consume, produce, ..Transition::default() };
/// let before = predecessors(&transition, &Marking::from_pairs([(1, 3)]));
/// assert_eq!(before, [Marking::from_pairs([(0, 1), (1, 2)])]);
/// ```
pub fn predecessors(transition: &Transition, wanted: &Marking) -> Vec<Marking> {
    predecessors_while(transition, wanted, &|_| true).unwrap_or_default()
}

/// The same, unless `go_on` says no: then nothing. A need can be split in as many ways as it has tokens and more, so `go_on` is
/// called now and then, with the number of markings so far.
pub fn predecessors_while(
    transition: &Transition,
    wanted: &Marking,
    go_on: &dyn Fn(usize) -> bool,
) -> Option<Vec<Marking>> {
    let need = wanted.minus(&transition.produce);
    if transition.moves.is_empty() {
        return Some(vec![need.plus(&transition.consume)]);
    }
    let mut rests = vec![Marking::new()];
    for (place, tokens) in need.iter() {
        let sources = sources(transition, place);
        if sources.is_empty() {
            return Some(Vec::new());
        }
        let mut filled = Vec::new();
        for rest in &rests {
            let there = sources
                .iter()
                .fold(0u64, |sum, (from, each)| sum.saturating_add(rest.get(*from).saturating_mul(*each)));
            fill(rest, &sources, tokens.saturating_sub(there), go_on, &mut filled)?;
        }
        rests = filled;
    }
    let smallest = minimal_while(rests, go_on)?;
    Some(smallest.into_iter().map(|rest| rest.plus(&transition.consume)).collect())
}

/// The places whose rest arrives on this place, and how many tokens for each token.
fn sources(transition: &Transition, place: Place) -> Vec<(Place, u64)> {
    let stays = transition.move_of(place).is_none().then_some((place, 1));
    let arrive = transition.moves.iter().filter_map(|moved| {
        let each = moved.to.iter().filter(|to| **to == place).count() as u64;
        (each > 0).then_some((moved.from, each))
    });
    stays.into_iter().chain(arrive).collect()
}

/// Every smallest way to add tokens to the sources of a place so that `missing` more arrive there.
fn fill(
    rest: &Marking,
    sources: &[(Place, u64)],
    missing: u64,
    go_on: &dyn Fn(usize) -> bool,
    out: &mut Vec<Marking>,
) -> Option<()> {
    let Some(((from, each), others)) = sources.split_first() else {
        if missing == 0 {
            out.push(rest.clone());
            if out.len().is_multiple_of(POLL) && !go_on(out.len()) {
                return None;
            }
        }
        return Some(());
    };
    let all = missing.div_ceil(*each);
    // The last source has to give all of it.
    let least = if others.is_empty() { all } else { 0 };
    for added in least..=all {
        let mut more = rest.clone();
        more.set(*from, rest.get(*from).saturating_add(added));
        fill(&more, others, missing.saturating_sub(added.saturating_mul(*each)), go_on, out)?;
    }
    Some(())
}

/// Markings between two calls of `go_on`.
const POLL: usize = 1024;

/// Without those that cover another one.
pub fn minimal(markings: Vec<Marking>) -> Vec<Marking> {
    minimal_while(markings, &|_| true).unwrap_or_default()
}

/// The same, or nothing if `go_on` says no: each is compared with each.
pub fn minimal_while(mut markings: Vec<Marking>, go_on: &dyn Fn(usize) -> bool) -> Option<Vec<Marking>> {
    markings.sort_unstable_by_key(Marking::weight);
    let mut kept: Vec<Marking> = Vec::with_capacity(markings.len());
    let mut compared = 0;
    for marking in markings {
        compared += kept.len();
        if compared > 16 * POLL {
            compared = 0;
            if !go_on(kept.len()) {
                return None;
            }
        }
        if !kept.iter().any(|small| marking.covers(small)) {
            kept.push(marking);
        }
    }
    Some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::Move;

    fn marking<const N: usize>(pairs: [(Place, u64); N]) -> Marking {
        Marking::from_pairs(pairs)
    }

    #[test]
    fn what_a_reset_clears_cannot_be_wanted() {
        let t = Transition {
            produce: marking([(0, 1)]),
            moves: vec![Move { from: 0, to: vec![] }],
            ..Transition::default()
        };
        assert_eq!(predecessors(&t, &marking([(0, 1), (1, 4)])), [marking([(1, 4)])]);
        assert!(predecessors(&t, &marking([(0, 2)])).is_empty());
    }

    #[test]
    fn a_need_is_split_over_all_sources() {
        let t = Transition {
            consume: marking([(3, 1)]),
            moves: vec![Move { from: 1, to: vec![0] }, Move { from: 2, to: vec![0] }],
            ..Transition::default()
        };
        let mut found = predecessors(&t, &marking([(0, 2)]));
        found.sort();
        assert_eq!(found.len(), 6);
        assert!(found.contains(&marking([(0, 1), (2, 1), (3, 1)])));
        assert!(found.contains(&marking([(1, 2), (3, 1)])));
        assert!(predecessors(&t, &marking([(1, 1)])).is_empty());
    }

    /// Against the definition, on all small markings.
    #[test]
    fn predecessors_are_exact_on_small_markings() {
        let all: Vec<Marking> =
            (0..64u64).map(|n| marking([(0, n % 4), (1, n / 4 % 4), (2, n / 16)])).collect();
        let moves = [
            vec![],
            vec![Move { from: 0, to: vec![1] }],
            vec![Move { from: 0, to: vec![1] }, Move { from: 1, to: vec![0] }],
            vec![Move { from: 0, to: vec![1, 2] }, Move { from: 2, to: vec![1] }],
            vec![Move { from: 0, to: vec![1, 1] }, Move { from: 1, to: vec![] }],
            vec![Move { from: 2, to: vec![0, 2] }],
        ];
        for moves in moves {
            let t = Transition {
                consume: marking([(0, 1)]),
                produce: marking([(1, 1)]),
                moves,
                ..Transition::default()
            };
            for wanted in &all {
                let basis = predecessors(&t, wanted);
                for from in &all {
                    let leads = t.fire(from).is_some_and(|after| after.covers(wanted));
                    assert_eq!(
                        leads,
                        basis.iter().any(|small| from.covers(small)),
                        "{t:?} {wanted:?} {from:?}"
                    );
                }
            }
        }
    }
}
