//! The state inequation m0 + C x >= target over the rationals, and its refutation by a Farkas vector.
//!
//! A transition contributes the column of what it produces minus what it consumes. A move contributes one more
//! column for a free flow: each moved token leaves its place and arrives elsewhere (a reset is the flow to
//! nowhere, which never helps). So x exists for every run, and a vector y >= 0 with y C <= 0 on all columns and
//! y m0 < y target shows that no run covers the target.
//!
//! Such a y exists if x does not (Farkas 1902), so that nothing is lost by looking for y, which is a certificate that can be
//! checked by adding integers. Floating point finds y, or exact rationals where it fails; exact integers decide whether it is
//! one. Only places and columns in the cone of influence of the target enter a program. A program is polynomial; each has a
//! limit of time, and one that takes longer proves nothing.

use crate::certificate::Combination;
use crate::exact::Weights;
use crate::linear::{Linear, solved};
use microlp::{ComparisonOp, OptimizationDirection, Problem as Program, Variable};
use num_bigint::BigUint;
use preempt_core::Budget;
use preempt_net::{Marking, Place, Problem};
use std::time::Duration;

pub(crate) struct Inequation<'p> {
    problem: &'p Problem,
    columns: Vec<Column>,
    /// The columns that add to a place.
    adding: Vec<Vec<usize>>,
    /// For one program.
    limit: Duration,
    budget: &'p Budget,
}

struct Column {
    transition: usize,
    /// The firing itself, and not the flow of a move.
    firing: bool,
    entries: Vec<(Place, i128)>,
}

const ZERO: f64 = 1e-7;

impl<'p> Inequation<'p> {
    pub(crate) fn new(
        problem: &'p Problem,
        live: &[bool],
        limit: Duration,
        budget: &'p Budget,
    ) -> Inequation<'p> {
        let mut columns = Vec::new();
        for (number, transition) in problem.net.transitions.iter().enumerate().filter(|(t, _)| live[*t]) {
            columns.push(Column { transition: number, firing: true, entries: transition.displacement() });
            for moved in &transition.moves {
                columns.push(Column { transition: number, firing: false, entries: moved.displacement() });
            }
        }
        let mut adding = vec![Vec::new(); problem.net.places.len()];
        for (at, column) in columns.iter().enumerate() {
            for (place, _) in column.entries.iter().filter(|(_, n)| *n > 0) {
                adding[*place as usize].push(at);
            }
        }
        Inequation { problem, columns, adding, limit, budget }
    }

    /// The places and columns that can matter for the target and the traps: the cone of influence.
    fn cone(&self, target: &Marking, traps: &[Vec<Place>]) -> (Vec<bool>, Vec<usize>) {
        let mut inside = vec![false; self.adding.len()];
        let mut used = vec![false; self.columns.len()];
        let mut columns = Vec::new();
        let mut open: Vec<Place> = target.iter().map(|(place, _)| place).collect();
        open.extend(traps.iter().flatten());
        while let Some(place) = open.pop() {
            if std::mem::replace(&mut inside[place as usize], true) {
                continue;
            }
            for column in &self.adding[place as usize] {
                if !std::mem::replace(&mut used[*column], true) {
                    columns.push(*column);
                    let negative = self.columns[*column].entries.iter().filter(|(_, n)| *n < 0);
                    open.extend(negative.map(|(place, _)| *place));
                }
            }
        }
        (inside, columns)
    }

    /// Weights that show that the target cannot be covered, if the inequation has no solution.
    pub(crate) fn contradiction(&self, target: &Marking, traps: &[Vec<Place>]) -> Option<Combination> {
        let (inside, columns) = self.cone(target, traps);
        let mut program = Linear::default();
        let vars =
            self.weights(traps, Some(&inside), &mut |high, needed| program.variable(needed - high), target);
        for column in &columns {
            program.at_most(vars.terms(&self.columns[*column].entries), 0);
        }
        program.solve(self.limit, self.budget, |values| {
            let combination = vars.combination(values);
            let weights = Weights::new(self.problem, target, traps, &combination)?;
            let holds = weights.first < weights.needed
                && self
                    .columns
                    .iter()
                    .all(|column| weights.change(&column.entries).is_some_and(|by| by <= 0));
            holds.then_some(combination)
        })
    }

    /// The most tokens the place can have, by the cheapest weighted sum that never grows and counts the place.
    pub(crate) fn place_bound(&self, place: Place) -> Option<u64> {
        let high = i128::from(self.problem.range(place).high?);
        let (inside, columns) = self.cone(&Marking::from_pairs([(place, 1)]), &[]);
        // The sum begins with at most as much as the place may be worth, and counts the place as much as it can.
        let mut program = Linear::default();
        let mut first = Vec::new();
        let vars = self.weights(
            &[],
            Some(&inside),
            &mut |high, _| {
                let variable = program.variable(0);
                first.push((variable, high));
                variable
            },
            &Marking::new(),
        );
        let itself = vars.of_place[place as usize]?;
        program.objective[itself] = 1;
        program.at_most(first, high.max(1));
        program.at_most(vec![(itself, 1)], 1);
        for column in &columns {
            program.at_most(vars.terms(&self.columns[*column].entries), 0);
        }
        program.solve(self.limit, self.budget, |values| {
            let combination = vars.combination(values);
            let weights = Weights::new(self.problem, &Marking::new(), &[], &combination)?;
            let kept =
                self.columns.iter().all(|column| weights.change(&column.entries).is_some_and(|by| by <= 0));
            let own = combination.places.iter().find(|(p, _)| *p == place)?;
            let own = i128::try_from(&own.1).ok().filter(|own| *own > 0)?;
            kept.then(|| u64::try_from(weights.first / own).ok()).flatten()
        })
    }

    /// Transitions that no run uses that covers the target, with the weights that show it. One program finds all
    /// of them, because weights can be added: what is left is the maximal support of a solution (Fraca and Haddad 2013).
    pub(crate) fn unused(&self, target: &Marking, traps: &[Vec<Place>]) -> Option<(Combination, Vec<usize>)> {
        let mut program = Linear::default();
        // What the sum begins with must not exceed what the target needs.
        let mut balance = Vec::new();
        let vars = self.weights(
            traps,
            None,
            &mut |high, needed| {
                let variable = program.variable(0);
                balance.push((variable, high - needed));
                variable
            },
            target,
        );
        program.at_most(balance, 0);
        for column in &self.columns {
            let mut terms = vars.terms(&column.entries);
            if terms.is_empty() {
                continue;
            }
            if column.firing {
                let shrinks = program.variable(1);
                terms.push((shrinks, 1));
                program.at_most(vec![(shrinks, 1)], 1);
            }
            program.at_most(terms, 0);
        }
        program.solve(self.limit, self.budget, |values| {
            let combination = vars.combination(values);
            let weights = Weights::new(self.problem, target, traps, &combination)?;
            if weights.first > weights.needed {
                return None;
            }
            let mut unused = Vec::new();
            for column in &self.columns {
                match weights.change(&column.entries)? {
                    1.. => return None,
                    0 => {}
                    _ if column.firing => unused.push(column.transition),
                    _ => {}
                }
            }
            (!unused.is_empty()).then_some((combination, unused))
        })
    }

    /// The places that are empty in some solution that marks every trap.
    pub(crate) fn empty_in_solution(&self, target: &Marking, traps: &[Vec<Place>]) -> Option<Vec<Place>> {
        let mut program = Program::new(OptimizationDirection::Minimize);
        let mut rows: Vec<Vec<(Variable, f64)>> = vec![Vec::new(); self.adding.len()];
        for (place, row) in (0..).zip(&mut rows) {
            let range = self.problem.range(place);
            let high = range.high.map_or(f64::INFINITY, |high| high as f64);
            row.push((program.add_var(0.0, (range.low as f64, high)), 1.0));
        }
        for column in &self.columns {
            let times = program.add_var(1.0, (0.0, f64::INFINITY));
            for (place, n) in &column.entries {
                rows[*place as usize].push((times, *n as f64));
            }
        }
        for (place, row) in (0..).zip(&rows) {
            program.add_constraint(row.as_slice(), ComparisonOp::Ge, target.get(place) as f64);
        }
        for trap in traps {
            let sum: Vec<(Variable, f64)> =
                trap.iter().flat_map(|p| rows[*p as usize].iter().copied()).collect();
            let sum = merged(sum);
            program.add_constraint(sum.as_slice(), ComparisonOp::Ge, 1.0);
        }
        let solution = solved(program, self.limit, self.budget)?;
        let value =
            |row: &[(Variable, f64)]| row.iter().map(|(v, n)| solution.var_value(*v) * n).sum::<f64>();
        Some((0..).zip(&rows).filter(|(_, row)| value(row) < ZERO).map(|(place, _)| place).collect())
    }

    /// Variables for weights: places that are not parametric, and traps without a parametric place. `variable`
    /// makes one, from what it is worth at first and what the target needs of it.
    fn weights(
        &self,
        traps: &[Vec<Place>],
        inside: Option<&[bool]>,
        variable: &mut dyn FnMut(i128, i128) -> usize,
        target: &Marking,
    ) -> WeightVariables {
        let mut vars = WeightVariables {
            of_place: vec![None; self.adding.len()],
            in_traps: vec![Vec::new(); self.adding.len()],
            places: Vec::new(),
            traps: Vec::new(),
        };
        for place in 0..self.adding.len() as Place {
            let Some(high) = self.problem.range(place).high else { continue };
            if inside.is_none_or(|inside| inside[place as usize]) {
                let variable = variable(i128::from(high), i128::from(target.get(place)));
                vars.of_place[place as usize] = Some(variable);
                vars.places.push((place, variable));
            }
        }
        for (number, trap) in traps.iter().enumerate() {
            let first: Option<i128> =
                trap.iter().map(|place| self.problem.range(*place).high.map(i128::from)).sum();
            let Some(first) = first else { continue };
            let variable = variable(first, 1);
            vars.traps.push((number, variable));
            for place in trap {
                vars.in_traps[*place as usize].push(variable);
            }
        }
        vars
    }
}

struct WeightVariables {
    of_place: Vec<Option<usize>>,
    in_traps: Vec<Vec<usize>>,
    places: Vec<(Place, usize)>,
    traps: Vec<(usize, usize)>,
}

impl WeightVariables {
    /// The weighted sum's change by a column. Parametric places are left out: they have no variable, so that a
    /// column that takes from one counts as if it took nothing.
    fn terms(&self, entries: &[(Place, i128)]) -> Vec<(usize, i128)> {
        let mut terms = Vec::with_capacity(entries.len());
        for (place, n) in entries {
            let variables = self.of_place[*place as usize].iter().chain(&self.in_traps[*place as usize]);
            terms.extend(variables.map(|variable| (*variable, *n)));
        }
        terms
    }

    fn combination(&self, values: &[BigUint]) -> Combination {
        let weight = |variable: &usize| values[*variable].clone();
        let places = self.places.iter().map(|(place, variable)| (*place, weight(variable)));
        let traps = self.traps.iter().map(|(trap, variable)| (*trap, weight(variable)));
        Combination {
            places: places.filter(|(_, weight)| *weight != BigUint::ZERO).collect(),
            traps: traps.filter(|(_, weight)| *weight != BigUint::ZERO).collect(),
        }
    }
}

/// A variable at most once.
fn merged(mut terms: Vec<(Variable, f64)>) -> Vec<(Variable, f64)> {
    terms.sort_unstable_by_key(|(variable, _)| variable.idx());
    terms.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    terms.retain(|(_, factor)| *factor != 0.0);
    terms
}
