//! The state equation against a formula.
//!
//! Every reachable marking is m = m0 + C x for some x >= 0, with one more column for each token that a reset or transfer may
//! move. A case of the formula is a conjunction of constraints `w . m <= c`. It is refuted by weights z >= 0 of the
//! constraints and a weight y of places, of any sign, with y <= sum of z w, such that y . m never shrinks by a column, and y . m
//! begins with more than the sum of z c: for then y . m <= sum of z (w . m) <= sum of z c is wrong for every reachable marking.
//! Such weights exist if no x does (Farkas 1902). Floating point or rationals find them, and exact integers check them.
//!
//! A trap that is marked at first stays marked: one more constraint. If a solution leaves such a trap empty, it is added and the
//! case is tried again. Cases are made one disjunction at a time, and a conjunction that is refuted needs no more cases.

use crate::linear::{Linear as Program, solved};
use crate::trap::marked_trap;
use microlp::{ComparisonOp, OptimizationDirection, Problem as Float, Variable};
use num_bigint::BigInt;
use preempt_core::Budget;
use preempt_net::formula::{Formula, Linear};
use preempt_net::{Net, Place, Problem};
use std::time::Duration;

/// Of one program.
const LP_LIMIT: Duration = Duration::from_secs(2);
/// Of one formula.
const MOST_PROGRAMS: usize = 400;
const MOST_TRAPS: usize = 40;
const ZERO: f64 = 1e-7;

/// Is the formula true of no reachable marking? If not, nothing is known.
pub(super) fn refuted(problem: &Problem, formula: &Formula, budget: &Budget) -> bool {
    let mut columns: Vec<Vec<(Place, i128)>> = Vec::new();
    for transition in &problem.net.transitions {
        columns.push(transition.displacement());
        columns.extend(transition.moves.iter().map(|moved| moved.displacement()));
    }
    columns.retain(|column| !column.is_empty());
    columns.sort_unstable();
    columns.dedup();
    let mut equation = Equation { problem, columns, traps: Vec::new(), programs: 0, budget };
    equation.refutes(Vec::new(), vec![literals(&problem.net, formula, true)])
}

/// A formula without negations.
#[derive(Clone)]
enum Positive {
    Constant(bool),
    All(Vec<Positive>),
    Any(Vec<Positive>),
    AtMost(Linear),
}

fn literals(net: &Net, formula: &Formula, positive: bool) -> Positive {
    let each = |parts: &[Formula]| parts.iter().map(|part| literals(net, part, positive)).collect();
    match (formula, positive) {
        (Formula::Constant(value), _) => Positive::Constant(*value == positive),
        (Formula::Not(inner), _) => literals(net, inner, !positive),
        (Formula::All(parts), true) | (Formula::Any(parts), false) => Positive::All(each(parts)),
        (Formula::All(parts), false) | (Formula::Any(parts), true) => Positive::Any(each(parts)),
        (Formula::AtMost(sum), true) => Positive::AtMost(sum.clone()),
        (Formula::AtMost(sum), false) => Positive::AtMost(sum.negated()),
        (Formula::Fireable(number), _) => enabled(net, *number, positive),
        (Formula::Deadlock, true) => {
            Positive::All((0..net.transitions.len()).map(|number| enabled(net, number, false)).collect())
        }
        (Formula::Deadlock, false) => {
            Positive::Any((0..net.transitions.len()).map(|number| enabled(net, number, true)).collect())
        }
    }
}

/// Every place has what is needed, or one has not.
fn enabled(net: &Net, number: usize, positive: bool) -> Positive {
    let Some(transition) = net.transitions.get(number) else { return Positive::Constant(!positive) };
    let number = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
    let needs = transition.consume.iter().map(|(place, n)| match positive {
        true => Linear::new([(place, -1)], -number(n)),
        false => Linear::new([(place, 1)], number(n) - 1),
    });
    let limits = transition.at_most.iter().map(|(place, most)| match positive {
        true => Linear::new([(*place, 1)], number(*most)),
        false => Linear::new([(*place, -1)], -number(*most) - 1),
    });
    let parts = needs.chain(limits).map(Positive::AtMost).collect();
    if positive { Positive::All(parts) } else { Positive::Any(parts) }
}

struct Equation<'p> {
    problem: &'p Problem,
    columns: Vec<Vec<(Place, i128)>>,
    /// Each is marked in every reachable marking.
    traps: Vec<Vec<Place>>,
    programs: usize,
    budget: &'p Budget,
}

impl Equation<'_> {
    /// No reachable marking has all of these.
    fn refutes(&mut self, mut sums: Vec<Linear>, mut open: Vec<Positive>) -> bool {
        let mut choices: Vec<Vec<Positive>> = Vec::new();
        while let Some(part) = open.pop() {
            match part {
                Positive::Constant(true) => {}
                Positive::Constant(false) => return true,
                Positive::All(parts) => open.extend(parts),
                Positive::AtMost(sum) => sums.push(sum),
                Positive::Any(mut parts) => match (parts.len(), parts.pop()) {
                    (0, _) => return true,
                    (1, Some(only)) => open.push(only),
                    (_, last) => choices.push(parts.into_iter().chain(last).collect()),
                },
            }
        }
        // What the constraints on single places say already.
        choices.retain(|parts| {
            !parts.iter().any(|part| matches!(part, Positive::AtMost(sum) if sums.contains(sum)))
        });
        if self.contradicts(&sums) {
            return true;
        }
        // The one with the fewest cases; all of them must be refuted.
        let Some(at) = (0..choices.len()).min_by_key(|at| choices[*at].len()) else { return false };
        let cases = choices.swap_remove(at);
        let rest: Vec<Positive> = choices.into_iter().map(Positive::Any).collect();
        for case in cases {
            if self.programs > MOST_PROGRAMS || self.budget.exhausted().is_some() {
                return false;
            }
            let mut open = rest.clone();
            open.push(case);
            if !self.refutes(sums.clone(), open) {
                return false;
            }
        }
        true
    }

    /// The constraints have no solution beside the state equation and the traps.
    fn contradicts(&mut self, sums: &[Linear]) -> bool {
        loop {
            self.programs += 1;
            if self.programs > MOST_PROGRAMS || self.budget.exhausted().is_some() {
                return false;
            }
            let trap = |places: &Vec<Place>| Linear::new(places.iter().map(|place| (*place, -1)), -1);
            let all: Vec<Linear> = sums.iter().cloned().chain(self.traps.iter().map(trap)).collect();
            if self.has_weights(&all) {
                return true;
            }
            if self.traps.len() == MOST_TRAPS {
                return false;
            }
            let Some(empty) = self.empty_in_solution(&all) else { return false };
            let live = vec![true; self.problem.net.transitions.len()];
            match marked_trap(self.problem, &live, &empty) {
                Some(trap) if !self.traps.contains(&trap) => self.traps.push(trap),
                _ => return false,
            }
        }
    }

    /// Weights as above, found by a linear program and checked exactly.
    fn has_weights(&self, sums: &[Linear]) -> bool {
        let mut program = Program::default();
        let of_sum: Vec<usize> = sums.iter().map(|sum| program.variable(-i128::from(sum.most))).collect();
        let mut of_place: Vec<(usize, Option<usize>)> = Vec::new();
        for place in 0..self.problem.net.places.len() as Place {
            // y = a - b; a token counts at least what the fewest count for a, and at most what the most count for b.
            let range = self.problem.range(place);
            let plus = program.variable(i128::from(range.low));
            of_place.push((plus, range.high.map(|high| program.variable(-i128::from(high)))));
        }
        let mut within: Vec<Vec<(usize, i128)>> = Vec::with_capacity(of_place.len());
        for (plus, minus) in &of_place {
            within.push([(*plus, 1)].into_iter().chain(minus.map(|minus| (minus, -1))).collect());
        }
        for (sum, variable) in sums.iter().zip(&of_sum) {
            for (place, weight) in &sum.weights {
                within[*place as usize].push((*variable, -i128::from(*weight)));
            }
        }
        within.into_iter().for_each(|row| program.at_most(row, 0));
        for column in &self.columns {
            let mut row = Vec::with_capacity(2 * column.len());
            for (place, change) in column {
                let (plus, minus) = of_place[*place as usize];
                row.push((plus, -change));
                row.extend(minus.map(|minus| (minus, *change)));
            }
            program.at_most(row, 0);
        }
        let found = program.solve(LP_LIMIT, self.budget, |values| {
            let value = |variable: usize| BigInt::from(values[variable].clone());
            let z: Vec<BigInt> = of_sum.iter().map(|variable| value(*variable)).collect();
            let y: Vec<BigInt> = of_place
                .iter()
                .map(|(plus, minus)| value(*plus) - minus.map_or_else(BigInt::default, value))
                .collect();
            self.proves(sums, &z, &y).then_some(())
        });
        found.is_some()
    }

    /// By exact integers, and by the definition.
    fn proves(&self, sums: &[Linear], z: &[BigInt], y: &[BigInt]) -> bool {
        let zero = BigInt::default();
        let mut limit: Vec<BigInt> = vec![zero.clone(); y.len()];
        let mut most = zero.clone();
        for (sum, weight) in sums.iter().zip(z) {
            if *weight < zero {
                return false;
            }
            most += weight * BigInt::from(sum.most);
            for (place, factor) in &sum.weights {
                limit[*place as usize] += weight * BigInt::from(*factor);
            }
        }
        let mut first = zero.clone();
        for (place, (weight, limit)) in (0..).zip(y.iter().zip(&limit)) {
            let range = self.problem.range(place);
            if weight > limit {
                return false;
            }
            first += match (*weight < zero, range.high) {
                (false, _) => weight * BigInt::from(range.low),
                (true, Some(high)) => weight * BigInt::from(high),
                (true, None) => return false,
            };
        }
        let never_shrinks = |column: &Vec<(Place, i128)>| {
            let change: BigInt = column.iter().map(|(place, n)| &y[*place as usize] * BigInt::from(*n)).sum();
            change >= zero
        };
        first > most && self.columns.iter().all(never_shrinks)
    }

    /// The places that are empty in some solution.
    fn empty_in_solution(&self, sums: &[Linear]) -> Option<Vec<Place>> {
        let mut program = Float::new(OptimizationDirection::Minimize);
        let mut rows: Vec<Vec<(Variable, f64)>> = Vec::new();
        for place in 0..self.problem.net.places.len() as Place {
            let range = self.problem.range(place);
            let high = range.high.map_or(f64::INFINITY, |high| high as f64);
            rows.push(vec![(program.add_var(0.0, (range.low as f64, high)), 1.0)]);
        }
        for column in &self.columns {
            let times = program.add_var(1.0, (0.0, f64::INFINITY));
            column.iter().for_each(|(place, n)| rows[*place as usize].push((times, *n as f64)));
        }
        // A variable of its own for each marking keeps the constraints short.
        let mut tokens = Vec::new();
        for row in &rows {
            let marked = program.add_var(0.0, (0.0, f64::INFINITY));
            let equal: Vec<(Variable, f64)> = row.iter().copied().chain([(marked, -1.0)]).collect();
            program.add_constraint(equal.as_slice(), ComparisonOp::Eq, 0.0);
            tokens.push(marked);
        }
        for sum in sums.iter().filter(|sum| !sum.weights.is_empty()) {
            let terms: Vec<(Variable, f64)> =
                sum.weights.iter().map(|(place, weight)| (tokens[*place as usize], *weight as f64)).collect();
            program.add_constraint(terms.as_slice(), ComparisonOp::Le, sum.most as f64);
        }
        let solution = solved(program, LP_LIMIT, self.budget)?;
        let empty = |(_, variable): &(Place, &Variable)| solution.var_value(**variable) < ZERO;
        Some((0..).zip(&tokens).filter(empty).map(|(place, _)| place).collect())
    }
}
