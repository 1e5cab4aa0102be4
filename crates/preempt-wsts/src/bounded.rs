//! How many tokens can a place ever have? By weighted sums that never grow, and where there is none, by visiting
//! every marking, if they are few. For translations to languages whose numbers are bounded.

use crate::inequation::Inequation;
use foldhash::HashSet;
use preempt_core::Budget;
use preempt_net::{Marking, Place, Problem};
use std::time::Duration;

const LP_LIMIT: Duration = Duration::from_secs(5);
/// So many markings are visited at most.
const FEW: usize = 300_000;

/// For each place the most tokens it can have, or nothing where no bound is found within the budget.
///
/// ```
/// use preempt_core::{Budget, SourceMap};
///
/// let text = "vars a b c rules a >= 1 -> a' = a - 1, b' = b + 2, c' = c + 1; true -> c' = c + 1;
///             init a = 3, b = 0, c = 0 target b >= 9";
/// let (problem, _) = preempt_net::spec::read(SourceMap::new().add("net.spec", text), text);
/// let bounds = preempt_wsts::place_bounds(&problem, &Budget::unlimited());
/// assert_eq!(bounds, [Some(3), Some(6), None]);
/// ```
pub fn place_bounds(problem: &Problem, budget: &Budget) -> Vec<Option<u64>> {
    let live = vec![true; problem.net.transitions.len()];
    let inequation = Inequation::new(problem, &live, LP_LIMIT, budget);
    let places = 0..problem.net.places.len() as Place;
    let bounds: Vec<Option<u64>> = places.map(|place| inequation.place_bound(place)).collect();
    if bounds.iter().all(Option::is_some) {
        return bounds;
    }
    match visited(problem, budget) {
        Some(most) => most.into_iter().map(Some).collect(),
        None => bounds,
    }
}

/// The largest number of tokens on each place over all reachable markings, if there are few of them.
fn visited(problem: &Problem, budget: &Budget) -> Option<Vec<u64>> {
    let mut starts = vec![Marking::new()];
    for (place, range) in (0..).zip(&problem.initial) {
        let choices = range.low..=range.high?;
        let count = choices.end().saturating_sub(range.low).saturating_add(1);
        if (starts.len() as u64).saturating_mul(count) > FEW as u64 {
            return None;
        }
        let with = |start: &Marking, n: u64| {
            let mut start = start.clone();
            start.set(place, n);
            start
        };
        starts = starts
            .iter()
            .flat_map(|start| choices.clone().map(|n| with(start, n)).collect::<Vec<_>>())
            .collect();
    }
    let mut most = vec![0u64; problem.net.places.len()];
    // What waits has been seen, so that it is not more than that either.
    let mut seen: HashSet<Marking> = starts.iter().cloned().collect();
    let mut open = starts;
    let mut steps = 0u32;
    while let Some(marking) = open.pop() {
        marking.iter().for_each(|(place, n)| most[place as usize] = most[place as usize].max(n));
        // More and more tokens: there is no end to this.
        if marking.weight() > u64::from(u32::MAX) {
            return None;
        }
        for transition in &problem.net.transitions {
            steps = steps.wrapping_add(1);
            if seen.len() > FEW || (steps.is_multiple_of(1024) && budget.exhausted().is_some()) {
                return None;
            }
            let Some(after) = transition.fire(&marking) else { continue };
            if seen.insert(after.clone()) {
                open.push(after);
            }
        }
    }
    Some(most)
}
