//! Breadth first over single markings by the exact firing rule: the first run that is met is a shortest one.

use super::{Reachability, Reason};
use crate::run::Run;
use foldhash::{HashMap, HashMapExt};
use preempt_core::{Budget, StopReason};
use preempt_net::formula::Formula;
use preempt_net::{Marking, Place, Problem};

/// Where there are more initial markings than this, only some of them.
const MOST_STARTS: usize = 2_000;
/// A parametric place begins with so many more tokens than it must, at most.
const MOST_EXTRA: u64 = 4;

/// Visits `most` markings at most.
pub(super) fn search(problem: &Problem, formula: &Formula, most: usize, budget: &Budget) -> Reachability {
    let (starts, all) = starts(problem);
    let mut seen: HashMap<Marking, u32> = HashMap::new();
    // From where, and by which transition.
    let mut reached: Vec<(Marking, u32, u32)> = Vec::new();
    for start in starts {
        if !seen.contains_key(&start) {
            seen.insert(start.clone(), reached.len() as u32);
            reached.push((start, u32::MAX, 0));
        }
    }
    let mut at = 0;
    while at < reached.len() {
        if at.is_multiple_of(64)
            && let Some(reason) = budget.exhausted()
        {
            return Reachability::Unknown(reason);
        }
        let marking = reached[at].0.clone();
        if formula.holds(&problem.net, &marking) {
            return Reachability::Reached(run_to(&reached, at));
        }
        for (number, transition) in problem.net.transitions.iter().enumerate() {
            let Some(after) = transition.fire(&marking) else { continue };
            budget.counters().firings.add(1);
            budget.counters().transitions.add(1);
            if after.weight() > u64::from(u32::MAX) || seen.len() >= most {
                return Reachability::Unknown(StopReason::Partial);
            }
            if !seen.contains_key(&after) {
                budget.counters().states.add(1);
                budget.counters().markings.add(1);
                budget.counters().bytes.add(120 + 40 * after.support_len() as u64);
                seen.insert(after.clone(), reached.len() as u32);
                reached.push((after, at as u32, number as u32));
            }
        }
        at += 1;
    }
    match all {
        true => Reachability::Unreachable(Reason::Visited),
        false => Reachability::Unknown(StopReason::Partial),
    }
}

fn run_to(reached: &[(Marking, u32, u32)], at: usize) -> Run {
    let (mut transitions, mut at) = (Vec::new(), at as u32);
    loop {
        let (marking, from, transition) = &reached[at as usize];
        if *from == u32::MAX {
            transitions.reverse();
            return Run { initial: marking.clone(), transitions };
        }
        transitions.push(*transition as usize);
        at = *from;
    }
}

/// The initial markings, or some; and whether these are all.
fn starts(problem: &Problem) -> (Vec<Marking>, bool) {
    let mut starts = vec![problem.lowest_initial()];
    let mut all = true;
    for place in 0..problem.net.places.len() as Place {
        let range = problem.range(place);
        let high = range.high.unwrap_or_else(|| {
            all = false;
            range.low.saturating_add(MOST_EXTRA)
        });
        let values = (range.low..=high).skip(1).take(MOST_STARTS);
        let mut more = Vec::new();
        for value in values {
            for start in &starts {
                if starts.len() + more.len() >= MOST_STARTS {
                    all = false;
                    break;
                }
                let mut next = start.clone();
                next.set(place, value);
                more.push(next);
            }
        }
        starts.extend(more);
    }
    (starts, all)
}
