//! Tests for few tokens without leaving the class: a bounded place that is tested is given a complement.
//!
//! If a place never has more than B tokens, a second place that always has the other B minus those says "at most k" as "at least
//! B - k there", which is a read arc: the net is then monotone, and what can be covered in it is what could be covered before
//! (every firing of the one is a firing of the other). A transition that takes all tokens of the place, however many there are,
//! becomes one transition for each number. The reset of one place and the test of another by the same rule are kept as they are.

use crate::marking::{Marking, Place};
use crate::net::Transition;
use crate::problem::{Problem, Range};
use preempt_core::Diagnostic;

/// A bound beyond this gets no complement: a transition could become as many.
const LARGEST_BOUND: u64 = 16;

/// Complements every place that is tested for few tokens and has one number of tokens at first and a small bound: one that the
/// transitions themselves show, or one that `bound` knows.
///
/// ```
/// use preempt_core::SourceMap;
/// use preempt_net::{complement::complement, spec};
///
/// let text = "vars flag out rules flag = 0 -> flag' = 1; flag = 1 -> flag' = 0, out' = out + 1;
///             init flag = 0, out = 0 target out >= 2";
/// let (mut problem, _) = spec::read(SourceMap::new().add("flag.spec", text), text);
/// assert!(!problem.net.is_monotone());
/// complement(&mut problem, &mut |_| None);
/// assert!(problem.net.is_plain());
/// ```
pub fn complement(problem: &mut Problem, bound: &mut dyn FnMut(Place) -> Option<u64>) {
    let mut tested: Vec<Place> =
        problem.net.transitions.iter().flat_map(|t| t.at_most.iter().map(|(place, _)| *place)).collect();
    tested.sort_unstable();
    tested.dedup();
    for place in tested {
        let range = problem.range(place);
        if range.high != Some(range.low) || arrives(problem, place) {
            continue;
        }
        let known = own_bound(problem, place).or_else(|| bound(place).filter(|most| *most <= LARGEST_BOUND));
        if let Some(most) = known.filter(|most| *most >= range.low) {
            add(problem, place, most);
        }
    }
}

/// What is to be said if tests for few tokens are left: the first transition that has one.
pub fn relaxed(problem: &Problem) -> Option<Diagnostic> {
    let tested = problem.net.transitions.iter().position(|transition| !transition.at_most.is_empty())?;
    let span = problem.spans.get(tested)?;
    let warning = Diagnostic::warning(*span, "a guard with an upper bound is relaxed");
    Some(warning.note("\"safe\" is still a proof; \"unsafe\" is said only if its run keeps the bound"))
}

/// Do the tokens of another place arrive here, however many they are?
fn arrives(problem: &Problem, place: Place) -> bool {
    let moves = problem.net.transitions.iter().flat_map(|transition| &transition.moves);
    moves.into_iter().any(|moved| moved.from != place && moved.to.contains(&place))
}

/// The most tokens that fire at all, where the transition tests for few.
fn most_before(transition: &Transition, place: Place, bound: u64) -> u64 {
    let limits = transition.at_most.iter().filter(|(tested, _)| *tested == place);
    limits.fold(bound, |least, (_, most)| least.min(*most))
}

/// How often each token that is not consumed is there afterwards.
fn copies(transition: &Transition, place: Place) -> u64 {
    let moved = transition.move_of(place);
    moved.map_or(1, |moved| moved.to.iter().filter(|to| **to == place).count() as u64)
}

/// The least number of tokens that no transition leads beyond, as far as its own tests show.
fn own_bound(problem: &Problem, place: Place) -> Option<u64> {
    let mut bound = problem.range(place).high?;
    loop {
        let before = bound;
        for transition in &problem.net.transitions {
            let (least, most) = (transition.consume.get(place), most_before(transition, place, bound));
            if let Some(rest) = most.checked_sub(least) {
                let stays = copies(transition, place).saturating_mul(rest);
                bound = bound.max(transition.produce.get(place).saturating_add(stays));
            }
        }
        if bound > LARGEST_BOUND {
            return None;
        }
        if bound == before {
            return Some(bound);
        }
    }
}

fn add(problem: &mut Problem, place: Place, bound: u64) {
    let other = problem.net.places.len() as Place;
    let mut name = format!("{}~", problem.net.places[place as usize]);
    while problem.net.places.contains(&name) {
        name.push('~');
    }
    problem.net.places.push(name);
    problem.initial.push(Range::exactly(bound - problem.range(place).low));
    let (transitions, spans) =
        (std::mem::take(&mut problem.net.transitions), std::mem::take(&mut problem.spans));
    for (number, transition) in transitions.into_iter().enumerate() {
        let split = with_complement(transition, place, other, bound);
        problem.spans.extend(spans.get(number).into_iter().flat_map(|span| split.iter().map(|_| *span)));
        problem.net.transitions.extend(split);
    }
}

/// The transition with the complement: one, or one for each number of tokens that it takes away.
fn with_complement(mut transition: Transition, place: Place, other: Place, bound: u64) -> Vec<Transition> {
    let (least, most) = (transition.consume.get(place), most_before(&transition, place, bound));
    let tests = transition.at_most.iter().any(|(tested, _)| *tested == place);
    transition.at_most.retain(|(tested, _)| *tested != place);
    let produced = transition.produce.get(place);
    if least > most {
        // It never fires, and it is kept for who names it.
        transition.consume.set(place, bound + 1);
        return vec![transition];
    }
    let Some(moved) = transition.moves.iter().position(|moved| moved.from == place) else {
        let grows = produced.saturating_sub(least);
        let needs = grows.max(if tests { bound - most } else { 0 });
        let after = needs.saturating_add(least).saturating_sub(produced);
        transition.consume.set(other, needs);
        transition.produce.set(other, after);
        return vec![transition];
    };
    let moved = transition.moves.remove(moved);
    let mut cases = Vec::new();
    for tokens in least..=most {
        let rest = tokens - least;
        let arrive = moved.to.iter().map(|to| (*to, rest));
        let produce = transition.produce.plus(&Marking::from_pairs(arrive));
        // Beyond the bound it is never.
        let Some(left) = bound.checked_sub(produce.get(place)) else { continue };
        let mut case = Transition { produce, ..transition.clone() };
        case.consume.set(place, tokens);
        case.consume.set(other, bound - tokens);
        case.produce.set(other, left);
        cases.push(case);
    }
    if cases.is_empty() {
        transition.consume.set(place, bound + 1);
        cases.push(transition);
    }
    cases
}
