//! Can a marking be reached of which a formula is true? For formulas that are not upward closed, where no algorithm here is
//! complete: reachability of nets is decidable, but by nothing that is practical. So the answer may be that nobody knows.
//!
//! - [`search`] visits markings by the exact firing rule. It finds runs, and if it comes to an end it has seen everything.
//! - [`equation`] takes the formula apart into cases that are conjunctions of linear constraints, and refutes each by the state
//!   equation and traps (Esparza, Ledesma-Garza, Majumdar, Meyer and Niksic 2014). It proves, or says nothing.
//!
//! A short search first, because most of what can be reached is near; then the equation; then a long search.

mod equation;
mod search;

use crate::run::Run;
use preempt_core::{Budget, StopReason};
use preempt_net::Problem;
use preempt_net::formula::Formula;

/// What is known about a formula.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reachability {
    /// The run ends in a marking of which the formula is true. It was replayed.
    Reached(Run),
    /// There is no such run.
    Unreachable(Reason),
    /// Nobody knows.
    Unknown(StopReason),
}

/// Why there is no run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Every reachable marking was visited.
    Visited,
    /// The state equation, with traps, has no solution in any case of the formula.
    StateEquation,
}

/// Markings of the short search.
const FEW: usize = 5_000;
/// Markings of the long one.
const MANY: usize = 1_000_000;

/// Can a marking be reached of which the formula is true?
///
/// ```
/// use preempt_core::{Budget, SourceMap};
/// use preempt_net::formula::{Formula, Linear};
/// use preempt_wsts::reachable::{Reachability, reachable};
///
/// let text = "vars a b rules a >= 1 -> a' = a - 1, b' = b + 2; init a = 3, b = 0 target b >= 9";
/// let (problem, _) = preempt_net::spec::read(SourceMap::new().add("net.spec", text), text);
/// // At most one token on `a` and on `b`.
/// let both = [(0, 1), (1, 1)].map(|(place, most)| Formula::AtMost(Linear::new([(place, 1)], most)));
/// let found = reachable(&problem, &Formula::All(both.to_vec()), &Budget::unlimited());
/// assert!(matches!(found, Reachability::Unreachable(_)));
/// ```
pub fn reachable(problem: &Problem, formula: &Formula, budget: &Budget) -> Reachability {
    let mut stopped = StopReason::Partial;
    for most in [FEW, MANY] {
        match search::search(problem, formula, most, budget) {
            Reachability::Unknown(reason) => stopped = reason,
            known => return known,
        }
        if budget.exhausted().is_none() && most == FEW && equation::refuted(problem, formula, budget) {
            return Reachability::Unreachable(Reason::StateEquation);
        }
    }
    Reachability::Unknown(budget.exhausted().unwrap_or(stopped))
}
