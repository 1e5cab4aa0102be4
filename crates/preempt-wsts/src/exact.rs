//! From floating-point weights to exact ones, and exact sums with them.

use crate::certificate::Combination;
use num_bigint::BigUint;
use num_rational::Ratio;
use preempt_net::{Marking, Place, Problem};

/// Denominators up to this are recognised.
const LARGEST_DENOMINATOR: i64 = 1_000;
const CLOSE: f64 = 1e-7;

/// The values times their common denominator, if they are all close to fractions with small denominators.
pub(crate) fn integers(values: &[f64]) -> Option<Vec<BigUint>> {
    let fractions: Vec<Ratio<i64>> = values.iter().map(|value| fraction(*value)).collect::<Option<_>>()?;
    let common = fractions.iter().try_fold(1i64, |common, fraction| {
        let gcd = gcd(common, *fraction.denom());
        (common / gcd).checked_mul(*fraction.denom()).filter(|lcm| *lcm < 1 << 40)
    })?;
    fractions
        .iter()
        .map(|fraction| {
            let scaled = i128::from(*fraction.numer()) * i128::from(common / fraction.denom());
            u128::try_from(scaled).ok().map(BigUint::from)
        })
        .collect()
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The simplest fraction near a value that is not negative, by its continued fraction.
fn fraction(value: f64) -> Option<Ratio<i64>> {
    if !value.is_finite() || value > 1e9 {
        return None;
    }
    if value < CLOSE {
        return Some(Ratio::from_integer(0));
    }
    let (mut before, mut now) = ((1i64, 0i64), (value.floor() as i64, 1i64));
    let mut rest = value - value.floor();
    while (now.0 as f64 / now.1 as f64 - value).abs() > CLOSE * value.max(1.0) {
        let inverse = 1.0 / rest;
        if !inverse.is_finite() || inverse > 1e9 {
            break;
        }
        let whole = inverse.floor() as i64;
        let next = (
            whole.checked_mul(now.0)?.checked_add(before.0)?,
            whole.checked_mul(now.1)?.checked_add(before.1)?,
        );
        if next.1 > LARGEST_DENOMINATOR {
            return None;
        }
        (before, now) = (now, next);
        rest = inverse - inverse.floor();
    }
    Some(Ratio::new(now.0, now.1))
}

/// A combination for one target: its total weights, what it is worth at first, and what the target needs.
pub(crate) struct Weights {
    total: Vec<i128>,
    pub(crate) first: i128,
    pub(crate) needed: i128,
}

impl Weights {
    /// `None` if a number gets too large, or a parametric place has a weight.
    pub(crate) fn new(
        problem: &Problem,
        target: &Marking,
        traps: &[Vec<Place>],
        combination: &Combination,
    ) -> Option<Weights> {
        let mut total = vec![0i128; problem.net.places.len()];
        let mut needed = 0i128;
        for (place, weight) in &combination.places {
            let weight = i128::try_from(weight).ok().filter(|weight| *weight < 1 << 80)?;
            total[*place as usize] += weight;
            needed = needed.checked_add(weight.checked_mul(i128::from(target.get(*place)))?)?;
        }
        for (trap, weight) in &combination.traps {
            let weight = i128::try_from(weight).ok().filter(|weight| *weight < 1 << 80)?;
            for place in traps.get(*trap)? {
                total[*place as usize] += weight;
            }
            needed = needed.checked_add(weight)?;
        }
        let mut first = 0i128;
        for (place, weight) in (0..).zip(&total).filter(|(_, weight)| **weight != 0) {
            first = first.checked_add(weight.checked_mul(i128::from(problem.range(place).high?))?)?;
        }
        Some(Weights { total, first, needed })
    }

    pub(crate) fn change(&self, entries: &[(Place, i128)]) -> Option<i128> {
        entries
            .iter()
            .try_fold(0i128, |sum, (place, n)| sum.checked_add(self.total[*place as usize].checked_mul(*n)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_recognised() {
        let big = |numbers: &[u32]| numbers.iter().map(|n| BigUint::from(*n)).collect::<Vec<_>>();
        assert_eq!(integers(&[0.5, 1.0 / 3.0, 0.0, 1.0]), Some(big(&[3, 2, 0, 6])));
        assert_eq!(integers(&[0.1428571428, 1e-12]), Some(big(&[1, 0])));
        assert_eq!(integers(&[0.618_033_988_749]), None);
        assert_eq!(integers(&[f64::NAN]), None);
    }
}
