//! The state inequation m0 + C x >= target over the rationals, and its refutation by a Farkas vector.
//!
//! A transition contributes the column of what it produces minus what it consumes. A move contributes one more
//! column for a free flow: each moved token leaves its place and arrives elsewhere (a reset is the flow to
//! nowhere, which never helps). So x exists for every run, and a vector y >= 0 with y C <= 0 on all columns and
//! y m0 < y target shows that no run covers the target.
//!
//! Floating point finds y; exact integers decide whether it is one.

use crate::certificate::Combination;
use crate::exact::{Weights, integers};
use crate::stop::Stop;
use microlp::{
    ComparisonOp, OptimizationDirection, Problem as Program, Solution, SolutionStatus, SolveOutcome, Variable,
};
use preempt_net::{Marking, Place, Problem};
use std::time::{Duration, Instant};

pub(crate) struct Inequation<'p> {
    problem: &'p Problem,
    columns: Vec<Column>,
    /// The columns that add to a place.
    adding: Vec<Vec<usize>>,
    /// For one program.
    limit: Duration,
    stop: &'p Stop<'p>,
}

struct Column {
    transition: usize,
    /// The firing itself, and not the flow of a move.
    firing: bool,
    entries: Vec<(Place, i128)>,
}

const ZERO: f64 = 1e-7;
/// A program is interrupted so often, to ask whether its answer is still wanted.
const SLICE: Duration = Duration::from_millis(200);

impl<'p> Inequation<'p> {
    pub(crate) fn new(
        problem: &'p Problem,
        live: &[bool],
        limit: Duration,
        stop: &'p Stop<'p>,
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
        Inequation { problem, columns, adding, limit, stop }
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
        let mut program = Program::new(OptimizationDirection::Maximize);
        program.set_time_limit(SLICE);
        let vars = self.weights(&mut program, target, traps, Some(&inside), 1.0);
        for column in &columns {
            let terms = vars.terms(&self.columns[*column].entries);
            if terms.iter().any(|(_, factor)| *factor > 0.0) {
                program.add_constraint(terms.as_slice(), ComparisonOp::Le, 0.0);
            }
        }
        let solution = self.solved(&program)?;
        if solution.objective() < ZERO {
            return None;
        }
        let combination = vars.combination(&solution)?;
        let weights = Weights::new(self.problem, target, traps, &combination)?;
        let holds = weights.first < weights.needed
            && self.columns.iter().all(|column| weights.change(&column.entries).is_some_and(|by| by <= 0));
        holds.then_some(combination)
    }

    /// The most tokens the place can have, by the cheapest weighted sum that never grows and counts the place.
    pub(crate) fn place_bound(&self, place: Place) -> Option<u64> {
        self.problem.range(place).high?;
        let (inside, columns) = self.cone(&Marking::from_pairs([(place, 1)]), &[]);
        let mut program = Program::new(OptimizationDirection::Maximize);
        program.set_time_limit(SLICE);
        // Without a target the gain of a weight is minus what the place has at first.
        let vars = self.weights(&mut program, &Marking::new(), &[], Some(&inside), f64::INFINITY);
        let itself = vars.of_place[place as usize]?;
        program.add_constraint([(itself, 1.0)].as_slice(), ComparisonOp::Ge, 1.0);
        for column in &columns {
            let terms = vars.terms(&self.columns[*column].entries);
            program.add_constraint(terms.as_slice(), ComparisonOp::Le, 0.0);
        }
        let combination = vars.combination(&self.solved(&program)?)?;
        let weights = Weights::new(self.problem, &Marking::new(), &[], &combination)?;
        let kept =
            self.columns.iter().all(|column| weights.change(&column.entries).is_some_and(|by| by <= 0));
        let own = combination.places.iter().find(|(p, _)| *p == place)?;
        let own = i128::try_from(&own.1).ok().filter(|own| *own > 0)?;
        kept.then(|| u64::try_from(weights.first / own).ok()).flatten()
    }

    /// Transitions that no run uses that covers the target, with the weights that show it. One program finds all
    /// of them, because weights can be added: what is left is the maximal support of a solution (Fraca, Haddad).
    pub(crate) fn unused(&self, target: &Marking, traps: &[Vec<Place>]) -> Option<(Combination, Vec<usize>)> {
        let mut program = Program::new(OptimizationDirection::Maximize);
        program.set_time_limit(SLICE);
        let vars = self.weights(&mut program, &Marking::new(), traps, None, f64::INFINITY);
        let mut balance: Vec<(Variable, f64)> = Vec::new();
        for (place, variable) in &vars.places {
            let high = self.problem.range(*place).high.unwrap_or(0);
            balance.push((*variable, target.get(*place) as f64 - high as f64));
        }
        for (trap, variable) in &vars.traps {
            let first: u64 = vars.trap_places[*trap].iter().filter_map(|p| self.problem.range(*p).high).sum();
            balance.push((*variable, 1.0 - first as f64));
        }
        program.add_constraint(balance.as_slice(), ComparisonOp::Ge, 0.0);
        for column in &self.columns {
            let mut terms = vars.terms(&column.entries);
            if terms.is_empty() {
                continue;
            }
            if column.firing {
                terms.push((program.add_var(1.0, (0.0, 1.0)), 1.0));
            }
            program.add_constraint(terms.as_slice(), ComparisonOp::Le, 0.0);
        }
        let solution = self.solved(&program)?;
        if solution.objective() < ZERO {
            return None;
        }
        let combination = vars.combination(&solution)?;
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
    }

    /// The places that are empty in some solution that marks every trap.
    pub(crate) fn empty_in_solution(&self, target: &Marking, traps: &[Vec<Place>]) -> Option<Vec<Place>> {
        let mut program = Program::new(OptimizationDirection::Minimize);
        program.set_time_limit(SLICE);
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
        let solution = self.solved(&program)?;
        let value =
            |row: &[(Variable, f64)]| row.iter().map(|(v, n)| solution.var_value(*v) * n).sum::<f64>();
        Some((0..).zip(&rows).filter(|(_, row)| value(row) < ZERO).map(|(place, _)| place).collect())
    }

    /// A failure of the solver is no answer, and nothing is concluded from it.
    fn solved(&self, program: &Program) -> Option<Solution> {
        let begin = Instant::now();
        let mut outcome = program.solve().ok()?;
        loop {
            match outcome {
                SolveOutcome::Solution(solution) if solution.status() == SolutionStatus::Optimal => {
                    return Some(solution);
                }
                _ if begin.elapsed() > self.limit || self.stop.reason().is_some() => return None,
                unfinished => outcome = unfinished.resume().ok()?,
            }
        }
    }

    /// Variables for weights: places that are not parametric, and traps without a parametric place.
    fn weights<'t>(
        &self,
        program: &mut Program,
        target: &Marking,
        traps: &'t [Vec<Place>],
        inside: Option<&[bool]>,
        most: f64,
    ) -> WeightVariables<'t> {
        let mut vars = WeightVariables {
            of_place: vec![None; self.adding.len()],
            in_traps: vec![Vec::new(); self.adding.len()],
            places: Vec::new(),
            traps: Vec::new(),
            trap_places: traps,
        };
        for place in 0..self.adding.len() as Place {
            let Some(high) = self.problem.range(place).high else { continue };
            if inside.is_none_or(|inside| inside[place as usize]) {
                let gain = target.get(place) as f64 - high as f64;
                let variable = program.add_var(if inside.is_some() { gain } else { 0.0 }, (0.0, most));
                vars.of_place[place as usize] = Some(variable);
                vars.places.push((place, variable));
            }
        }
        for (number, trap) in traps.iter().enumerate() {
            let first: Option<u64> = trap.iter().map(|place| self.problem.range(*place).high).sum();
            let Some(first) = first else { continue };
            let gain = if inside.is_some() { 1.0 - first as f64 } else { 0.0 };
            let variable = program.add_var(gain, (0.0, most));
            vars.traps.push((number, variable));
            for place in trap {
                vars.in_traps[*place as usize].push(variable);
            }
        }
        vars
    }
}

struct WeightVariables<'t> {
    of_place: Vec<Option<Variable>>,
    in_traps: Vec<Vec<Variable>>,
    places: Vec<(Place, Variable)>,
    traps: Vec<(usize, Variable)>,
    trap_places: &'t [Vec<Place>],
}

impl WeightVariables<'_> {
    /// The weighted sum's change by a column. Parametric places are left out: they have no variable, so that a
    /// column that takes from one counts as if it took nothing.
    fn terms(&self, entries: &[(Place, i128)]) -> Vec<(Variable, f64)> {
        let mut terms = Vec::with_capacity(entries.len());
        for (place, n) in entries {
            let variables = self.of_place[*place as usize].iter().chain(&self.in_traps[*place as usize]);
            terms.extend(variables.map(|variable| (*variable, *n as f64)));
        }
        merged(terms)
    }

    /// The solution as exact integers, if it looks like rational numbers with small denominators.
    fn combination(&self, solution: &Solution) -> Option<Combination> {
        let values: Vec<f64> = self
            .places
            .iter()
            .map(|(_, v)| v)
            .chain(self.traps.iter().map(|(_, v)| v))
            .map(|v| solution.var_value(*v))
            .collect();
        let mut weights = integers(&values)?;
        let traps = weights.split_off(self.places.len());
        let positive = |weight: &num_bigint::BigUint| *weight != num_bigint::BigUint::ZERO;
        Some(Combination {
            places: self.places.iter().map(|(p, _)| *p).zip(weights).filter(|(_, w)| positive(w)).collect(),
            traps: self.traps.iter().map(|(t, _)| *t).zip(traps).filter(|(_, w)| positive(w)).collect(),
        })
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
