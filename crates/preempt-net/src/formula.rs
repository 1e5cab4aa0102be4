//! What can be said of one marking: the state formulas of property files, as data.
//!
//! A formula is *upward closed* if more tokens never make it false; then a finite basis of smallest markings says all of it
//! (Dickson 1913), and asking whether it can be reached is the coverability problem. Whether it is one is decided from its form:
//! comparisons whose weights have one sign, that a transition can fire, and what conjunction and disjunction make of these.

use crate::marking::{Marking, Place};
use crate::net::Net;
use crate::predecessor::minimal_while;
use preempt_core::Budget;

/// A formula over the tokens of a marking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Formula {
    /// Always or never.
    Constant(bool),
    /// The contrary.
    Not(Box<Formula>),
    /// Each of them.
    All(Vec<Formula>),
    /// One of them at least.
    Any(Vec<Formula>),
    /// A weighted sum of tokens has a limit.
    AtMost(Linear),
    /// The transition with this number can fire.
    Fireable(usize),
    /// No transition can fire.
    Deadlock,
}

/// `sum of weight * tokens <= most`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Linear {
    /// Sorted by place, and no weight is zero.
    pub weights: Vec<(Place, i64)>,
    /// The limit.
    pub most: i64,
}

/// A formula whose upward-closed set needs more elements than this has no basis here.
pub const LARGEST_BASIS: usize = 20_000;

/// Why a formula has no basis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoBasis {
    /// More tokens may make it false.
    NotClosed,
    /// It has too many smallest markings.
    TooMany,
    /// The budget is exhausted.
    Stopped,
}

impl Linear {
    /// Of weights in any order; several for one place add up.
    pub fn new(weights: impl IntoIterator<Item = (Place, i64)>, most: i64) -> Linear {
        let mut weights: Vec<(Place, i64)> = weights.into_iter().collect();
        weights.sort_unstable_by_key(|(place, _)| *place);
        weights.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = kept.1.saturating_add(next.1);
            }
            same
        });
        weights.retain(|(_, weight)| *weight != 0);
        Linear { weights, most }
    }

    /// Is the sum within its limit?
    pub fn holds(&self, marking: &Marking) -> bool {
        let sum: i128 = self.weights.iter().map(|(p, w)| i128::from(*w) * i128::from(marking.get(*p))).sum();
        sum <= i128::from(self.most)
    }

    /// The contrary, as a limit again: tokens are whole.
    #[must_use]
    pub fn negated(&self) -> Linear {
        let weights = self.weights.iter().map(|(place, weight)| (*place, weight.saturating_neg())).collect();
        Linear { weights, most: self.most.saturating_neg().saturating_sub(1) }
    }
}

impl Formula {
    /// The contrary.
    #[must_use]
    pub fn negated(self) -> Formula {
        match self {
            Formula::Not(inner) => *inner,
            other => Formula::Not(Box::new(other)),
        }
    }

    /// Is it true of the marking, by the exact firing rule?
    pub fn holds(&self, net: &Net, marking: &Marking) -> bool {
        match self {
            Formula::Constant(value) => *value,
            Formula::Not(inner) => !inner.holds(net, marking),
            Formula::All(parts) => parts.iter().all(|part| part.holds(net, marking)),
            Formula::Any(parts) => parts.iter().any(|part| part.holds(net, marking)),
            Formula::AtMost(sum) => sum.holds(marking),
            Formula::Fireable(number) => net.transitions.get(*number).is_some_and(|t| t.is_enabled(marking)),
            Formula::Deadlock => !net.transitions.iter().any(|t| t.is_enabled(marking)),
        }
    }

    /// The smallest markings of which it is true, if it is upward closed; all others of which it is true are above them.
    ///
    /// ```
    /// use preempt_core::Budget;
    /// use preempt_net::formula::{Formula, Linear, NoBasis};
    /// use preempt_net::{Marking, Net};
    ///
    /// let budget = Budget::unlimited();
    /// // 2 <= a + b, written as -a - b <= -2.
    /// let two = Formula::AtMost(Linear::new([(0, -1), (1, -1)], -2));
    /// assert_eq!(two.basis(&Net::default(), &budget).expect("it is upward closed").len(), 3);
    /// assert_eq!(two.negated().basis(&Net::default(), &budget), Err(NoBasis::NotClosed));
    /// ```
    pub fn basis(&self, net: &Net, budget: &Budget) -> Result<Vec<Marking>, NoBasis> {
        Builder { net, budget }.basis(self, true)
    }
}

struct Builder<'a> {
    net: &'a Net,
    budget: &'a Budget,
}

type Basis = Result<Vec<Marking>, NoBasis>;

impl Builder<'_> {
    /// Of the formula (`positive`) or of its negation.
    fn basis(&self, formula: &Formula, positive: bool) -> Basis {
        let basis = match (formula, positive) {
            (Formula::Constant(value), _) if *value == positive => vec![Marking::new()],
            (Formula::Constant(_), _) => Vec::new(),
            (Formula::Not(inner), _) => self.basis(inner, !positive)?,
            (Formula::All(parts), true) | (Formula::Any(parts), false) => {
                let mut all = vec![Marking::new()];
                for part in parts {
                    let part = self.basis(part, positive)?;
                    all = self.both(&all, &part)?;
                }
                all
            }
            (Formula::All(parts), false) | (Formula::Any(parts), true) => {
                let mut union = Vec::new();
                for part in parts {
                    union.extend(self.basis(part, positive)?);
                }
                union
            }
            (Formula::AtMost(sum), true) => self.at_least(&sum.negated())?,
            (Formula::AtMost(sum), false) => self.at_least(sum)?,
            (Formula::Fireable(number), true) => vec![self.fireable(*number)?],
            (Formula::Deadlock, false) => {
                (0..self.net.transitions.len()).map(|t| self.fireable(t)).collect::<Basis>()?
            }
            (Formula::Fireable(_), false) | (Formula::Deadlock, true) => return Err(NoBasis::NotClosed),
        };
        if basis.len() > LARGEST_BASIS {
            return Err(NoBasis::TooMany);
        }
        self.smallest(basis)
    }

    /// Each is compared with each, which is done for long formulas again and again.
    fn smallest(&self, basis: Vec<Marking>) -> Basis {
        minimal_while(basis, &|_| self.budget.exhausted().is_none()).ok_or(NoBasis::Stopped)
    }

    fn both(&self, left: &[Marking], right: &[Marking]) -> Basis {
        if left.len().saturating_mul(right.len()) > LARGEST_BASIS {
            return Err(NoBasis::TooMany);
        }
        self.smallest(left.iter().flat_map(|a| right.iter().map(|b| a.join(b))).collect())
    }

    fn fireable(&self, number: usize) -> Result<Marking, NoBasis> {
        match self.net.transitions.get(number) {
            // More tokens may disable it.
            Some(transition) if !transition.at_most.is_empty() => Err(NoBasis::NotClosed),
            Some(transition) => Ok(transition.consume.clone()),
            None => Err(NoBasis::NotClosed),
        }
    }

    /// Every smallest marking whose sum exceeds the limit.
    fn at_least(&self, sum: &Linear) -> Basis {
        let least = i128::from(sum.most) + 1;
        if least <= 0 && sum.weights.iter().all(|(_, weight)| *weight >= 0) {
            return Ok(vec![Marking::new()]);
        }
        if sum.weights.iter().any(|(_, weight)| *weight < 0) {
            return Err(NoBasis::NotClosed);
        }
        let mut cases: Vec<(Marking, u64)> =
            vec![(Marking::new(), u64::try_from(least).map_err(|_| NoBasis::TooMany)?)];
        for (at, (place, weight)) in sum.weights.iter().enumerate() {
            let last = at + 1 == sum.weights.len();
            let each = weight.unsigned_abs();
            let mut more = Vec::new();
            for (case, missing) in cases {
                let all = missing.div_ceil(each);
                for added in (if last { all } else { 0 })..=all {
                    let mut next = case.clone();
                    next.set(*place, added);
                    more.push((next, missing.saturating_sub(added.saturating_mul(each))));
                    if more.len() > LARGEST_BASIS {
                        return Err(NoBasis::TooMany);
                    }
                }
            }
            cases = more;
        }
        Ok(cases.into_iter().filter(|(_, missing)| *missing == 0).map(|(case, _)| case).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::Transition;
    use preempt_core::Rng;

    fn random(rng: &mut Rng, depth: u32) -> Formula {
        let parts =
            |rng: &mut Rng| (0..1 + rng.below(3)).map(|_| random(rng, depth - 1)).collect::<Vec<Formula>>();
        match rng.below(if depth == 0 { 4 } else { 7 }) {
            0 => Formula::Constant(rng.below(2) == 0),
            1 => Formula::Fireable(rng.below(2)),
            2 if rng.below(3) == 0 => Formula::Deadlock,
            4 => Formula::Not(Box::new(random(rng, depth - 1))),
            5 => Formula::All(parts(rng)),
            6 => Formula::Any(parts(rng)),
            _ => {
                let weights: Vec<(Place, i64)> = (0..2).map(|p| (p, rng.below(5) as i64 - 2)).collect();
                Formula::AtMost(Linear::new(weights, rng.below(9) as i64 - 4))
            }
        }
    }

    /// Of a basis the definition is true on all small markings; and what has none is mostly not upward closed.
    #[test]
    fn a_basis_says_all_of_a_formula() {
        let transition = |consume: [(Place, u64); 2]| Transition {
            consume: Marking::from_pairs(consume),
            ..Transition::default()
        };
        let transitions = vec![transition([(0, 1), (1, 2)]), transition([(0, 3), (1, 0)])];
        let net = Net { places: vec!["a".into(), "b".into()], transitions };
        let all: Vec<Marking> = (0..64).map(|n| Marking::from_pairs([(0, n % 8), (1, n / 8)])).collect();
        let (mut rng, mut found) = (Rng::new(7), 0);
        for _ in 0..4000 {
            let formula = random(&mut rng, 3);
            let Ok(basis) = formula.basis(&net, &Budget::unlimited()) else { continue };
            found += 1;
            for marking in &all {
                let above = basis.iter().any(|small| marking.covers(small));
                assert_eq!(formula.holds(&net, marking), above, "{formula:?} {marking:?}");
            }
        }
        assert!(found > 500, "{found}");
    }
}
