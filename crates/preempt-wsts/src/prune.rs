//! Which markings no run can reach or exceed, so that the backward search need not follow them: those with a
//! token on a place that is always empty, those that exceed a place invariant, and those that the state inequation
//! refutes. A vector that refuted one marking is tried on the following ones first, which costs almost nothing.
//!
//! All of these are weighted sums that never grow, and go into the certificate (`InductiveBasis::bounds`): the basis is
//! inductive only among the markings that they allow. Linear programs that refute nothing may take a quarter of the time at
//! most.

use crate::certificate::Combination;
use crate::exact::Weights;
use crate::inequation::Inequation;
use crate::invariants::place_invariants;
use num_bigint::BigUint;
use preempt_core::Budget;
use preempt_net::{Marking, Place, Problem};
use std::time::{Duration, Instant};

/// So many programs are solved whatever they cost.
const FREE: u32 = 4;

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

impl Bound {
    fn new(problem: &Problem, pairs: Vec<(Place, u64)>) -> Option<Bound> {
        let combination = Combination {
            places: pairs.into_iter().map(|(place, weight)| (place, BigUint::from(weight))).collect(),
            traps: Vec::new(),
        };
        Bound::of(problem, &Marking::new(), combination)
    }

    /// `None` if a number is too large.
    fn of(problem: &Problem, marking: &Marking, combination: Combination) -> Option<Bound> {
        let exact = Weights::new(problem, marking, &[], &combination)?;
        let mut weights = vec![0i64; problem.net.places.len()];
        for (place, weight) in &combination.places {
            weights[*place as usize] = i64::try_from(weight).ok()?;
        }
        Some(Bound { weights, first: exact.first, combination, used: 0 })
    }
}

impl<'p> Pruner<'p> {
    pub(crate) fn new(
        problem: &'p Problem,
        live: &[bool],
        empty: &[Place],
        budget: &'p Budget,
    ) -> Pruner<'p> {
        let mut always_empty = vec![false; problem.net.places.len()];
        for place in empty {
            always_empty[*place as usize] = true;
        }
        let invariants = place_invariants(problem, &|| budget.exhausted().is_some());
        let bounds = invariants.into_iter().filter_map(|weights| Bound::new(problem, weights));
        Pruner {
            problem,
            inequation: Inequation::new(problem, live, Duration::from_secs(1), budget),
            empty: always_empty,
            bounds: bounds.collect(),
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
        self.tries < FREE || self.spent * share < elapsed
    }

    fn solve(&mut self, marking: &Marking) -> bool {
        let (start, known) = (Instant::now(), self.bounds.len());
        let found = self.inequation.contradiction(marking, &[]);
        self.spent += start.elapsed();
        self.tries += 1;
        let bound = found.and_then(|combination| Bound::of(self.problem, marking, combination));
        self.hits += u32::from(bound.is_some());
        self.bounds.extend(bound.map(|bound| Bound { used: 1, ..bound }));
        self.bounds.len() > known
    }

    /// Those that excluded something.
    pub(crate) fn into_bounds(self) -> Vec<Vec<(Place, BigUint)>> {
        self.bounds.into_iter().filter(|bound| bound.used > 0).map(|bound| bound.combination.places).collect()
    }
}
