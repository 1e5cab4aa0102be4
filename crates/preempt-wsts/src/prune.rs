//! Which markings no run can reach or exceed, so that the backward search need not follow them: those with a
//! token on a place that is always empty, and those that the state inequation refutes. A vector that refuted one
//! marking is tried on the following ones first, which costs almost nothing.

use crate::certificate::Combination;
use crate::exact::Weights;
use crate::inequation::Inequation;
use crate::stop::Stop;
use num_bigint::BigUint;
use preempt_net::{Marking, Place, Problem};
use std::time::{Duration, Instant};

pub(crate) struct Pruner<'p> {
    problem: &'p Problem,
    inequation: Inequation<'p>,
    empty: Vec<bool>,
    bounds: Vec<Bound>,
    begin: Instant,
    spent: Duration,
    tries: u32,
    hits: u32,
}

struct Bound {
    weights: Vec<i64>,
    first: i128,
    combination: Combination,
    used: u64,
}

impl<'p> Pruner<'p> {
    pub(crate) fn new(
        problem: &'p Problem,
        live: &[bool],
        empty: &[Place],
        stop: &'p Stop<'p>,
    ) -> Pruner<'p> {
        let mut always_empty = vec![false; problem.net.places.len()];
        for place in empty {
            always_empty[*place as usize] = true;
        }
        Pruner {
            problem,
            inequation: Inequation::new(problem, live, Duration::from_secs(1), stop),
            empty: always_empty,
            bounds: Vec::new(),
            begin: Instant::now(),
            spent: Duration::ZERO,
            tries: 0,
            hits: 0,
        }
    }

    pub(crate) fn excluded(&mut self, marking: &Marking) -> bool {
        if marking.iter().any(|(place, _)| self.empty[place as usize]) {
            return true;
        }
        let exceeds = |bound: &Bound| {
            let sum: i128 = marking
                .iter()
                .map(|(place, n)| i128::from(bound.weights[place as usize]) * i128::from(n))
                .sum();
            sum > bound.first
        };
        if let Some(at) = self.bounds.iter().position(exceeds) {
            self.bounds[at].used += 1;
            // The most useful ones first.
            if at > 0 && self.bounds[at].used > self.bounds[at - 1].used {
                self.bounds.swap(at, at - 1);
            }
            return true;
        }
        self.worth_solving() && self.solve(marking)
    }

    /// Programs that refute nothing must not take most of the time.
    fn worth_solving(&self) -> bool {
        let elapsed = self.begin.elapsed();
        let share = if self.hits * 4 > self.tries { 2 } else { 4 };
        self.tries < 20 || self.spent * share < elapsed
    }

    fn solve(&mut self, marking: &Marking) -> bool {
        let start = Instant::now();
        let found = self.inequation.contradiction(marking, &[]);
        self.spent += start.elapsed();
        self.tries += 1;
        let Some(combination) = found else { return false };
        let Some(exact) = Weights::new(self.problem, marking, &[], &combination) else { return false };
        let mut weights = vec![0i64; self.problem.net.places.len()];
        for (place, weight) in &combination.places {
            let Ok(weight) = i64::try_from(weight) else { return false };
            weights[*place as usize] = weight;
        }
        self.hits += 1;
        self.bounds.push(Bound { weights, first: exact.first, combination, used: 1 });
        true
    }

    pub(crate) fn into_bounds(self) -> Vec<Vec<(Place, BigUint)>> {
        self.bounds.into_iter().map(|bound| bound.combination.places).collect()
    }
}
