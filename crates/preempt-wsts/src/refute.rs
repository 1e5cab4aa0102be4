//! The pre-checks, repeated until the target is refuted or nothing more can be said about a run that covers it:
//! sign analysis, the state inequation, unused transitions (together: continuous coverability), and traps.

use crate::certificate::{Refutation, Step};
use crate::inequation::Inequation;
use crate::sign::{always_empty, exclude};
use crate::stop::Stop;
use crate::trap::marked_trap;
use preempt_net::{Place, Problem};
use std::time::Duration;

const MOST_TRAPS: usize = 60;
const LP_LIMIT: Duration = Duration::from_secs(20);

/// What is known about runs that cover one target.
pub(crate) struct Attempt {
    pub(crate) refutation: Refutation,
    pub(crate) refuted: bool,
}

pub(crate) fn refute(problem: &Problem, number: usize, stop: &Stop<'_>) -> Attempt {
    let target = &problem.targets[number];
    let mut live = vec![true; problem.net.transitions.len()];
    let mut steps = Vec::new();
    let mut traps: Vec<Vec<Place>> = Vec::new();
    let refuted = loop {
        let empty = always_empty(problem, &live);
        let needs_empty = target.iter().any(|(place, _)| empty.binary_search(&place).is_ok());
        let mut fewer = live.clone();
        if exclude(problem, &empty, &mut fewer) || needs_empty {
            steps.push(Step::Empty(empty));
            live = fewer;
            if needs_empty {
                break true;
            }
        }
        let inequation = Inequation::new(problem, &live, LP_LIMIT);
        if let Some(combination) = inequation.contradiction(target, &traps) {
            steps.push(Step::Contradiction(combination));
            break true;
        }
        if stop.reason().is_some() {
            break false;
        }
        if let Some((combination, unused)) = inequation.unused(target, &traps) {
            for transition in unused {
                live[transition] = false;
            }
            steps.push(Step::Unused(combination));
            continue;
        }
        if stop.reason().is_some() || traps.len() == MOST_TRAPS {
            break false;
        }
        let candidates = inequation.empty_in_solution(target, &traps).unwrap_or_default();
        match marked_trap(problem, &live, &candidates) {
            Some(trap) if !traps.contains(&trap) => {
                steps.push(Step::Trap(trap.clone()));
                traps.push(trap);
            }
            _ => break false,
        }
    };
    Attempt { refutation: Refutation { target: number, steps }, refuted }
}
