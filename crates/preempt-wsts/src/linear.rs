//! Linear programs as data: floating point looks for a solution first, because it is fast; where it gives none that
//! is exactly right, [`simplex`](crate::simplex) finds one over the rationals.
//!
//! What floating point says is never believed: its solution is rounded to fractions with small denominators, and the
//! caller checks with integers whether that is one ([`Linear::solve`]). Otherwise the exact method solves the program over
//! the variables that were not zero, which is much smaller, and then the whole of it, if it is not too large.

use crate::simplex;
use microlp::{
    ComparisonOp, OptimizationDirection, Problem, Solution, SolutionStatus, SolveOutcome, Variable,
};
use num_bigint::BigUint;
use preempt_core::Budget;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// Maximise `objective . x` over `x >= 0` with `row . x <= bound` for each row. No bound is negative, so that
/// nothing at all is a solution.
#[derive(Debug, Default)]
pub(crate) struct Linear {
    pub(crate) objective: Vec<i128>,
    pub(crate) rows: Vec<(Vec<(usize, i128)>, i128)>,
}

/// A program is interrupted so often, to see whether its solution is still wanted.
const SLICE: Duration = Duration::from_millis(200);
/// Whoever waits for a program polls the budget so often.
const PATIENCE: Duration = Duration::from_millis(20);
const ZERO: f64 = 1e-7;
/// Tables with more entries than this are not solved exactly.
const LARGEST_TABLE: usize = 400_000;

/// Solves a program of `microlp`. A failure of the solver is no answer, and nothing is concluded from it.
///
/// A single step of the solver can take seconds. So it works in a thread of its own, which is left to itself when
/// nobody waits any more, and ends at the next slice.
pub(crate) fn solved(program: Problem, limit: Duration, budget: &Budget) -> Option<Solution> {
    let (send, receive) = mpsc::channel();
    let abandoned = Arc::new(AtomicBool::new(false));
    let begin = Instant::now();
    let is_abandoned = Arc::clone(&abandoned);
    std::thread::spawn(move || {
        let _ = send.send(in_slices(program, &is_abandoned));
    });
    loop {
        match receive.recv_timeout(PATIENCE) {
            Ok(solution) => return solution,
            Err(mpsc::RecvTimeoutError::Disconnected) => return None,
            Err(mpsc::RecvTimeoutError::Timeout)
                if begin.elapsed() > limit || budget.exhausted().is_some() =>
            {
                abandoned.store(true, Ordering::Relaxed);
                return None;
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
    }
}

fn in_slices(mut program: Problem, abandoned: &AtomicBool) -> Option<Solution> {
    program.set_time_limit(SLICE);
    let mut outcome = program.solve().ok()?;
    loop {
        match outcome {
            SolveOutcome::Solution(solution) if solution.status() == SolutionStatus::Optimal => {
                return Some(solution);
            }
            _ if abandoned.load(Ordering::Relaxed) => return None,
            unfinished => outcome = unfinished.resume().ok()?,
        }
    }
}

impl Linear {
    pub(crate) fn variable(&mut self, gain: i128) -> usize {
        self.objective.push(gain);
        self.objective.len() - 1
    }

    /// Entries of one variable add up.
    pub(crate) fn at_most(&mut self, mut row: Vec<(usize, i128)>, bound: i128) {
        row.sort_unstable();
        row.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        row.retain(|(_, factor)| *factor != 0);
        if row.iter().any(|(_, factor)| *factor > 0) {
            self.rows.push((row, bound));
        }
    }

    /// A solution with a positive objective that `accepts` takes, as integers: the solution times some number.
    pub(crate) fn solve<T>(
        &self,
        limit: Duration,
        budget: &Budget,
        accepts: impl Fn(&[BigUint]) -> Option<T>,
    ) -> Option<T> {
        match self.float(limit, budget) {
            Some(values) if self.value(&values) < ZERO => None,
            Some(values) => {
                let close = crate::exact::integers(&values).and_then(|values| accepts(&values));
                // What is zero stays zero: a much smaller program. If that was wrong, the whole one.
                let used: Vec<usize> = (0..values.len()).filter(|at| values[*at] > ZERO).collect();
                close
                    .or_else(|| accepts(&self.exact(&used, limit, budget)?))
                    .or_else(|| accepts(&self.exact(&self.all(), limit, budget)?))
            }
            // It gave up, which it does on small programs too.
            None => accepts(&self.exact(&self.all(), limit, budget)?),
        }
    }

    fn all(&self) -> Vec<usize> {
        (0..self.objective.len()).collect()
    }

    fn value(&self, values: &[f64]) -> f64 {
        self.objective.iter().zip(values).map(|(gain, value)| *gain as f64 * value).sum()
    }

    /// Where all bounds are zero solutions can be scaled, and values are kept below 1.
    fn float(&self, limit: Duration, budget: &Budget) -> Option<Vec<f64>> {
        let scalable = self.rows.iter().all(|(_, bound)| *bound == 0);
        let mut most = vec![if scalable { 1.0 } else { f64::INFINITY }; self.objective.len()];
        let mut program = Problem::new(OptimizationDirection::Maximize);
        for (row, bound) in &self.rows {
            if let [(at, factor)] = row.as_slice() {
                most[*at] = (*bound as f64 / *factor as f64).min(most[*at]);
            }
        }
        let variables: Vec<Variable> = (self.objective.iter().zip(most))
            .map(|(gain, most)| program.add_var(*gain as f64, (0.0, most)))
            .collect();
        for (row, bound) in self.rows.iter().filter(|(row, _)| row.len() > 1) {
            let terms: Vec<(Variable, f64)> =
                row.iter().map(|(at, factor)| (variables[*at], *factor as f64)).collect();
            program.add_constraint(terms.as_slice(), ComparisonOp::Le, *bound as f64);
        }
        let solution = solved(program, limit, budget)?;
        Some(variables.iter().map(|variable| solution.var_value(*variable)).collect())
    }

    /// Exactly, with all variables zero but these.
    pub(crate) fn exact(&self, used: &[usize], limit: Duration, budget: &Budget) -> Option<Vec<BigUint>> {
        let mut place = vec![None; self.objective.len()];
        for (new, old) in used.iter().enumerate() {
            place[*old] = Some(new);
        }
        let mut rows: Vec<(Vec<(usize, i128)>, i128)> = Vec::new();
        for (row, bound) in &self.rows {
            let kept: Vec<(usize, i128)> =
                row.iter().filter_map(|(at, factor)| place[*at].map(|at| (at, *factor))).collect();
            if kept.iter().any(|(_, factor)| *factor > 0) {
                rows.push((kept, *bound));
            }
        }
        // Solutions can be scaled: their sum is at most one.
        rows.push(((0..used.len()).map(|at| (at, 1)).collect(), 1));
        if (used.len() + rows.len()).saturating_mul(rows.len()) > LARGEST_TABLE {
            return None;
        }
        let objective: Vec<i128> = used.iter().map(|at| self.objective[*at]).collect();
        let begin = Instant::now();
        let stopped = || begin.elapsed() > limit || budget.exhausted().is_some();
        let found = simplex::positive(&objective, &rows, &stopped)?;
        let mut values = vec![BigUint::ZERO; self.objective.len()];
        for (at, value) in used.iter().zip(found) {
            values[*at] = value;
        }
        Some(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use preempt_core::StopReason;

    /// A weight of one part in many thousands: no small denominator, so that only the exact solver has it.
    #[test]
    fn what_floats_cannot_say_is_found_exactly() {
        let budget = Budget::unlimited();
        let mut program = Linear::default();
        let (a, b) = (program.variable(1), program.variable(0));
        // 104729 a = 1381233457 b: only fractions with large denominators fit.
        program.at_most(vec![(a, 104_729), (b, -1_381_233_457)], 0);
        program.at_most(vec![(b, 1_381_233_457), (a, -104_729)], 0);
        let exact = program.exact(&[a, b], Duration::from_secs(1), &budget).expect("a solution");
        assert_eq!(exact, [BigUint::from(1_381_233_457u64), BigUint::from(104_729u64)]);
        let found = program.solve(Duration::from_secs(1), &budget, |values| {
            let (x, y) = (&values[0], &values[1]);
            (x * 104_729u64 == y * 1_381_233_457u64).then(|| values.to_vec())
        });
        assert_eq!(found, Some(exact));
        budget.stop(StopReason::Interrupted);
        assert_eq!(program.exact(&[a, b], Duration::from_secs(1), &budget), None);
    }
}
