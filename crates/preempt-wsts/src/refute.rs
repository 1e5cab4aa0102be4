//! The pre-checks, repeated until the target is refuted or nothing more can be said about a run that covers it:
//! sign analysis, the state inequation, unused transitions (together: continuous coverability, Fraca and Haddad 2013), and
//! traps (Esparza, Ledesma-Garza, Majumdar, Meyer and Niksic 2014).
//!
//! Each step excludes transitions from a run that is supposed to cover the target, or adds a fact about its end, and is a
//! step of the certificate: sound by itself, whatever comes before. They are not complete: a target that is left open may
//! be safe all the same. A round costs some linear programs in the size of the net, and there are at most as many rounds as
//! transitions and traps. On the safe nets of Table 1 of Bingham and Hu 2005 (paper 004) they are the proof
//! (`results/paper-004-nets.md`).

use crate::certificate::{Refutation, RefutationStep};
use crate::inequation::Inequation;
use crate::sign::{always_empty, exclude};
use crate::trap::marked_trap;
use preempt_core::Budget;
use preempt_net::{Place, Problem};
use std::time::Duration;

const MOST_TRAPS: usize = 60;
const LP_LIMIT: Duration = Duration::from_secs(20);

/// Why no run covers the target, if the pre-checks find it.
pub(crate) fn refute(problem: &Problem, number: usize, budget: &Budget) -> Option<Refutation> {
    let target = &problem.targets[number];
    let mut live = vec![true; problem.net.transitions.len()];
    let mut steps = Vec::new();
    let mut traps: Vec<Vec<Place>> = Vec::new();
    let refuted = loop {
        let empty = always_empty(problem, &live);
        let needs_empty = target.iter().any(|(place, _)| empty.binary_search(&place).is_ok());
        let mut fewer = live.clone();
        if exclude(problem, &empty, &mut fewer) || needs_empty {
            steps.push(RefutationStep::Empty(empty));
            live = fewer;
            if needs_empty {
                break true;
            }
        }
        let inequation = Inequation::new(problem, &live, LP_LIMIT, budget);
        if let Some(combination) = inequation.contradiction(target, &traps) {
            steps.push(RefutationStep::Contradiction(combination));
            break true;
        }
        if budget.exhausted().is_some() {
            break false;
        }
        if let Some((combination, unused)) = inequation.unused(target, &traps) {
            for transition in unused {
                live[transition] = false;
            }
            steps.push(RefutationStep::Unused(combination));
            continue;
        }
        if budget.exhausted().is_some() || traps.len() == MOST_TRAPS {
            break false;
        }
        let candidates = inequation.empty_in_solution(target, &traps).unwrap_or_default();
        match marked_trap(problem, &live, &candidates) {
            Some(trap) if !traps.contains(&trap) => {
                steps.push(RefutationStep::Trap(trap.clone()));
                traps.push(trap);
            }
            _ => break false,
        }
    };
    refuted.then_some(Refutation { target: number, steps })
}
