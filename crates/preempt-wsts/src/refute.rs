//! The pre-checks, repeated until the target is refuted or nothing more can be said about a run that covers it:
//! sign analysis, the state inequation, unused transitions (together: continuous coverability, Fraca and Haddad 2013), and
//! traps (Esparza, Ledesma-Garza, Majumdar, Meyer and Niksic 2014).
//!
//! Each step excludes transitions from a run that is supposed to cover the target, or adds a fact about its end, and is a
//! step of the certificate: sound by itself, whatever comes before. They are not complete: a target that is left open may
//! be safe all the same. A round costs some linear programs in the size of the net, and there are at most as many rounds as
//! transitions and traps. On the safe nets of Table 1 of Bingham and Hu 2005 (paper 004) they are the proof
//! (`results/paper-004.md`).

use crate::certificate::{Certificate, Combination, InductiveBasis, Refutation, RefutationStep};
use crate::inequation::Inequation;
use crate::sign::{always_empty, exclude};
use crate::subsumption::Trie;
use crate::trap::marked_trap;
use preempt_core::Budget;
use preempt_net::{Marking, Place, Problem};
use std::time::Duration;

const MOST_TRAPS: usize = 60;
const LP_LIMIT: Duration = Duration::from_secs(20);
/// With more targets than this the weights stand in the certificate once, and not once for each target.
const FEW_TARGETS: usize = 64;

/// The pre-checks for all targets of a net: what does not depend on the target is done once, and weights that refuted one
/// target are tried on the others first, which costs almost nothing.
pub(crate) struct Refuter<'p> {
    problem: &'p Problem,
    budget: &'p Budget,
    /// What stays empty whatever fires, and what is left to fire.
    empty: Vec<Place>,
    live: Vec<bool>,
    excludes: bool,
    inequation: Inequation<'p>,
    /// Weights that refute every target that needs more than there is at first.
    known: Vec<Known>,
    refuted: Vec<(usize, Argument)>,
    /// The refuted targets, by their place in `refuted`, and those for which nothing was found.
    below: Trie,
    open: Trie,
}

struct Known {
    combination: Combination,
    weights: Vec<i128>,
    first: i128,
}

/// Why a target cannot be covered.
#[derive(Clone)]
enum Argument {
    /// By the known weights with this number.
    Known(usize),
    Steps(Vec<RefutationStep>),
}

impl<'p> Refuter<'p> {
    pub(crate) fn new(problem: &'p Problem, budget: &'p Budget) -> Refuter<'p> {
        let mut live = vec![true; problem.net.transitions.len()];
        let empty = always_empty(problem, &live);
        let excludes = exclude(problem, &empty, &mut live);
        let inequation = Inequation::new(problem, &live, LP_LIMIT, budget);
        Refuter {
            problem,
            budget,
            empty,
            live,
            excludes,
            inequation,
            known: Vec::new(),
            refuted: Vec::new(),
            below: Trie::new(),
            open: Trie::new(),
        }
    }

    /// Is there a reason why no run covers the target? It is kept. What refutes a target refutes whatever is above it; and
    /// where nothing was found for a target, a larger one need not be tried: whoever looks for the smaller one finds both.
    pub(crate) fn refutes(&mut self, number: usize) -> bool {
        let target = &self.problem.targets[number];
        if self.open.has_below(target, None) {
            return false;
        }
        let argument = match self.known.iter().position(|known| known.refutes(target)) {
            Some(at) => Some(Argument::Known(at)),
            None => match self.below.find_below(target) {
                Some(at) => Some(self.refuted[at as usize].1.clone()),
                None => self.argument(target),
            },
        };
        let Some(argument) = argument else {
            self.open.insert(target, number as u32);
            return false;
        };
        self.below.insert(target, self.refuted.len() as u32);
        self.refuted.push((number, argument));
        true
    }

    /// What was found, as part of a certificate. With very many targets that are all refuted, the weights are bounds of an
    /// inductive set without elements: each target exceeds one of them.
    pub(crate) fn certificate(self, all_refuted: bool) -> Certificate {
        let compact = all_refuted && self.refuted.len() > FEW_TARGETS;
        let mut certificate = Certificate::default();
        for (target, argument) in self.refuted {
            let steps = match argument {
                Argument::Known(_) if compact => continue,
                Argument::Known(at) => {
                    let empty = self.excludes.then(|| RefutationStep::Empty(self.empty.clone()));
                    let contradiction = RefutationStep::Contradiction(self.known[at].combination.clone());
                    empty.into_iter().chain([contradiction]).collect()
                }
                Argument::Steps(steps) => steps,
            };
            certificate.refutations.push(Refutation { target, steps });
        }
        if compact {
            let bounds = self.known.into_iter().map(|known| known.combination.places).collect();
            certificate.basis = Some(InductiveBasis { empty: self.empty, bounds, elements: Vec::new() });
        }
        certificate
    }

    fn argument(&mut self, target: &Marking) -> Option<Argument> {
        let mut steps = Vec::new();
        let needs_empty =
            |empty: &[Place]| target.iter().any(|(place, _)| empty.binary_search(&place).is_ok());
        if needs_empty(&self.empty) {
            return Some(Argument::Steps(vec![RefutationStep::Empty(self.empty.clone())]));
        }
        if self.excludes {
            steps.push(RefutationStep::Empty(self.empty.clone()));
        }
        if let Some(combination) = self.inequation.contradiction(target, &[]) {
            return Some(match Known::new(self.problem, &combination) {
                Some(known) => {
                    self.known.push(known);
                    Argument::Known(self.known.len() - 1)
                }
                None => {
                    steps.push(RefutationStep::Contradiction(combination));
                    Argument::Steps(steps)
                }
            });
        }
        let mut live = self.live.clone();
        let mut traps: Vec<Vec<Place>> = Vec::new();
        // The first round has the inequation of all targets, the next ones their own.
        let mut own: Option<Inequation<'_>> = None;
        loop {
            if self.budget.exhausted().is_some() {
                return None;
            }
            let inequation = own.as_ref().unwrap_or(&self.inequation);
            if let Some((combination, unused)) = inequation.unused(target, &traps) {
                unused.into_iter().for_each(|transition| live[transition] = false);
                steps.push(RefutationStep::Unused(combination));
                let empty = always_empty(self.problem, &live);
                let mut fewer = live.clone();
                if exclude(self.problem, &empty, &mut fewer) || needs_empty(&empty) {
                    let ends = needs_empty(&empty);
                    steps.push(RefutationStep::Empty(empty));
                    live = fewer;
                    if ends {
                        return Some(Argument::Steps(steps));
                    }
                }
                own = Some(Inequation::new(self.problem, &live, LP_LIMIT, self.budget));
            } else {
                if self.budget.exhausted().is_some() || traps.len() == MOST_TRAPS {
                    return None;
                }
                let candidates = inequation.empty_in_solution(target, &traps).unwrap_or_default();
                match marked_trap(self.problem, &live, &candidates) {
                    Some(trap) if !traps.contains(&trap) => {
                        steps.push(RefutationStep::Trap(trap.clone()));
                        traps.push(trap);
                    }
                    _ => return None,
                }
            }
            let inequation = own.as_ref().unwrap_or(&self.inequation);
            if let Some(combination) = inequation.contradiction(target, &traps) {
                steps.push(RefutationStep::Contradiction(combination));
                return Some(Argument::Steps(steps));
            }
        }
    }
}

impl Known {
    /// `None` if a number is too large for this.
    fn new(problem: &Problem, combination: &Combination) -> Option<Known> {
        let mut weights = vec![0i128; problem.net.places.len()];
        let mut first = 0i128;
        for (place, weight) in &combination.places {
            let weight = i128::from(u64::try_from(weight).ok()?);
            weights[*place as usize] = weight;
            first = first.checked_add(weight.checked_mul(i128::from(problem.range(*place).high?))?)?;
        }
        combination.traps.is_empty().then(|| Known { combination: combination.clone(), weights, first })
    }

    fn refutes(&self, target: &Marking) -> bool {
        // Weights and tokens have 64 bits, and a sum of a net's places is far from the end.
        let needed =
            target.iter().map(|(place, n)| self.weights[place as usize].saturating_mul(i128::from(n)));
        needed.fold(0i128, i128::saturating_add) > self.first
    }
}
