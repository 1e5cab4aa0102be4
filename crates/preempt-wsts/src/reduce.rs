//! Structural reduction: a smaller net in which the same targets can be covered, for the searches.
//!
//! Places keep their numbers, so that whatever is said about the small net is said about the large one. A place that
//! does not matter gets no arcs and any number of tokens. What goes away:
//!
//! * transitions that need a place that is always empty;
//! * places with enough tokens for everybody: parametric ones, and those that never lose a token and begin with as
//!   many as are ever needed; unless some transition moves all their tokens away;
//! * what is outside the cone of influence of the targets;
//! * transitions that do no more than another one that needs no more.
//!
//! Only for monotone nets: with tests for few tokens, less is not always worse. Linear in the size of the net but for the last
//! rule, which compares transitions of equal effect or equal need with 64 others at most. It is what makes the engine by
//! weight fit for nets: central_server takes 0.03 s instead of 0.57, with 9016 nodes instead of 440106
//! (`results/paper-004-nets.md`). The state inequation and the pre-checks see the net as it is, since their certificates are
//! about it.

use crate::relevant::relevant;
use crate::run::{Coverability, Run};
use crate::sign::{always_empty, exclude};
use foldhash::{HashMap, HashMapExt};
use preempt_net::{Marking, Move, Place, Problem, Range, Transition};

pub(crate) struct Reduced {
    pub(crate) problem: Problem,
    /// For each transition that is left, its number before.
    transitions: Vec<usize>,
    /// The places that lost their arcs.
    dropped: Vec<bool>,
    empty: Vec<Place>,
    open: Vec<usize>,
}

pub(crate) fn reduce(problem: &Problem, open: &[usize]) -> Reduced {
    let mut live = vec![true; problem.net.transitions.len()];
    let empty = always_empty(problem, &live);
    let mut dropped = vec![false; problem.net.places.len()];
    if problem.net.is_monotone() {
        exclude(problem, &empty, &mut live);
        dropped = enough(problem, &live, open);
        let smaller = without(problem, &live, &dropped);
        let cone = relevant(&smaller, &live, open);
        dropped.iter_mut().zip(cone.places).for_each(|(dropped, useful)| *dropped |= !useful);
        live = cone.transitions;
    }
    let mut smaller = without(problem, &live, &dropped);
    if problem.net.is_monotone() {
        keep_the_best(&smaller.net.transitions, &mut live);
        for (range, _) in smaller.initial.iter_mut().zip(&dropped).filter(|(_, dropped)| **dropped) {
            *range = Range::ANY;
        }
    }
    let transitions: Vec<usize> = (0..live.len()).filter(|number| live[*number]).collect();
    smaller.net.transitions =
        transitions.iter().map(|number| smaller.net.transitions[*number].clone()).collect();
    Reduced { problem: smaller, transitions, dropped, empty, open: open.to_vec() }
}

/// The places that have enough tokens for everybody, whatever happens.
fn enough(problem: &Problem, live: &[bool], open: &[usize]) -> Vec<bool> {
    let count = problem.net.places.len();
    let (mut loses, mut moved, mut wanted) = (vec![false; count], vec![false; count], vec![0; count]);
    let mut want = |marking: &Marking| {
        for (place, n) in marking.iter() {
            wanted[place as usize] = n.max(wanted[place as usize]);
        }
    };
    for (transition, _) in problem.net.transitions.iter().zip(live).filter(|(_, live)| **live) {
        want(&transition.consume);
        for (place, _) in transition.displacement().iter().filter(|(_, by)| *by < 0) {
            loses[*place as usize] = true;
        }
        transition.moves.iter().for_each(|each| moved[each.from as usize] = true);
    }
    open.iter().for_each(|target| want(&problem.targets[*target]));
    let has = |place: usize| match problem.range(place as Place).high {
        None => true,
        Some(high) => !loses[place] && high > 0 && high >= wanted[place],
    };
    (0..count).map(|place| !moved[place] && has(place)).collect()
}

/// Without the arcs of these places, and without their share of the targets.
fn without(problem: &Problem, live: &[bool], dropped: &[bool]) -> Problem {
    let keep = |marking: &Marking| -> Marking {
        marking.iter().filter(|(place, _)| !dropped[*place as usize]).collect()
    };
    let mut smaller = problem.clone();
    smaller.targets.iter_mut().for_each(|target| *target = keep(target));
    for (transition, _) in smaller.net.transitions.iter_mut().zip(live).filter(|(_, live)| **live) {
        transition.consume = keep(&transition.consume);
        transition.produce = keep(&transition.produce);
        transition.moves.retain(|moved| !dropped[moved.from as usize]);
        transition.moves.iter_mut().for_each(|moved| moved.to.retain(|to| !dropped[*to as usize]));
    }
    smaller
}

/// Of transitions that differ only in what they need, the one that needs least; of those that differ only in what
/// they give, the one that gives most.
fn keep_the_best(transitions: &[Transition], live: &mut [bool]) {
    type Effect<'t> = (Vec<(Place, i128)>, &'t Vec<Move>);
    let key = |moves: &[Move]| moves.iter().map(|m| (m.from, m.to.clone())).collect::<Vec<_>>();
    let mut by_effect: HashMap<_, Vec<usize>> = HashMap::new();
    let mut by_need: HashMap<_, Vec<usize>> = HashMap::new();
    for (number, transition) in transitions.iter().enumerate().filter(|(number, _)| live[*number]) {
        let (change, moves): Effect<'_> = (transition.displacement(), &transition.moves);
        // What is consumed is not moved, so that with moves another need is another effect.
        if moves.is_empty() {
            by_effect.entry(change).or_default().push(number);
        }
        by_need.entry((transition.consume.clone(), key(moves))).or_default().push(number);
    }
    let worse = |a: usize, b: usize| {
        let (a, b) = (&transitions[a], &transitions[b]);
        a.consume.covers(&b.consume) && (a.consume != b.consume || b.produce.covers(&a.produce))
    };
    for group in by_effect.values().chain(by_need.values()) {
        // A long list is not worth comparing everyone with everyone.
        let mut kept: Vec<usize> = Vec::new();
        for number in group.iter().copied().filter(|number| live[*number]).collect::<Vec<_>>() {
            if kept.iter().take(64).any(|other| worse(number, *other)) {
                live[number] = false;
                continue;
            }
            let few = kept.len().min(64);
            for other in kept.extract_if(..few, |other| worse(*other, number)) {
                live[other] = false;
            }
            kept.push(number);
        }
    }
}

impl Reduced {
    /// What the result says about the net before.
    pub(crate) fn lift(&self, problem: &Problem, result: Coverability) -> Coverability {
        match result {
            Coverability::Safe(mut certificate) => {
                if let Some(basis) = &mut certificate.basis {
                    basis.empty.clone_from(&self.empty);
                }
                Coverability::Safe(certificate)
            }
            Coverability::Covered(run) => Coverability::Covered(self.run(problem, run)),
            unknown => unknown,
        }
    }

    /// The same steps; a place that had enough gets what they need.
    fn run(&self, problem: &Problem, run: Run) -> Run {
        let transitions: Vec<usize> =
            run.transitions.iter().map(|number| self.transitions[*number]).collect();
        let mut initial = run.initial;
        for (place, _) in (0..).zip(&self.dropped).filter(|(_, dropped)| **dropped) {
            initial.set(place, problem.range(place).low);
        }
        // The places that matter decide which target is covered; of the others there is enough for each.
        let end = self.problem.end_of(&self.small(&initial), &run.transitions);
        let covered =
            |target: &&usize| end.as_ref().is_some_and(|end| end.covers(&self.problem.targets[**target]));
        let target = self.open.iter().find(covered).map(|target| &problem.targets[*target]);
        // For each place what is there and what was lacking at most; only the arcs of a step are looked at.
        let mut balance: HashMap<Place, (i128, i128)> = HashMap::new();
        for number in &transitions {
            let transition = &problem.net.transitions[*number];
            for (place, takes) in transition.consume.iter().filter(|(p, _)| self.dropped[*p as usize]) {
                let (there, lacking) = balance.entry(place).or_default();
                *lacking = (*lacking).max(i128::from(takes) - *there);
                *there -= i128::from(takes);
            }
            for (place, gives) in transition.produce.iter().filter(|(p, _)| self.dropped[*p as usize]) {
                balance.entry(place).or_default().0 += i128::from(gives);
            }
        }
        for (place, wanted) in target.iter().flat_map(|target| target.iter()) {
            if self.dropped[place as usize] {
                let (there, lacking) = balance.entry(place).or_default();
                *lacking = (*lacking).max(i128::from(wanted) - *there);
            }
        }
        for (place, (_, lacking)) in balance {
            initial.set(place, initial.get(place).max(u64::try_from(lacking).unwrap_or(0)));
        }
        Run { initial, transitions }
    }

    fn small(&self, marking: &Marking) -> Marking {
        marking.iter().filter(|(place, _)| !self.dropped[*place as usize]).collect()
    }
}
