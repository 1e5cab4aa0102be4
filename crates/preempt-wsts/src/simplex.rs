//! The simplex method over the rationals, for programs that are small and must be solved exactly.
//!
//! A dense table, and Bland's rule (1977), which never cycles: the first column that gains enters, and among the rows that
//! limit it most the one with the first variable leaves. It may visit exponentially many corners, and numbers grow with
//! every pivot: for hundreds of rows, not thousands, which is what is left when floating point has said what is zero.

use num_bigint::{BigInt, BigUint};
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

/// Some `x >= 0` with `row . x <= bound` for all rows and `objective . x > 0`, as integers: x times some number, as
/// long as all bounds but that of a scale are zero. Bounds are not negative, so that nothing is where it begins.
pub(crate) fn positive(
    objective: &[i128],
    rows: &[(Vec<(usize, i128)>, i128)],
    stopped: &dyn Fn() -> bool,
) -> Option<Vec<BigUint>> {
    let number = |n: i128| BigRational::from_integer(BigInt::from(n));
    let (count, slack) = (objective.len(), rows.len());
    let mut table: Vec<Vec<BigRational>> = Vec::with_capacity(slack);
    for (at, (row, bound)) in rows.iter().enumerate() {
        let mut line = vec![BigRational::zero(); count + slack + 1];
        row.iter().for_each(|(column, factor)| line[*column] += number(*factor));
        line[count + at] = BigRational::one();
        line[count + slack] = number(*bound);
        table.push(line);
    }
    let mut gains: Vec<BigRational> = objective.iter().map(|gain| number(*gain)).collect();
    gains.resize(count + slack + 1, BigRational::zero());
    let mut basis: Vec<usize> = (count..count + slack).collect();
    // The last entry of the gains is minus the objective so far.
    while !gains[count + slack].is_negative() {
        if stopped() {
            return None;
        }
        let enters = gains[..count + slack].iter().position(Signed::is_positive)?;
        let limits = (0..slack).filter(|row| table[*row][enters].is_positive());
        let leaves = limits
            .map(|row| (&table[row][count + slack] / &table[row][enters], basis[row], row))
            .min_by(|a, b| a.0.cmp(&b.0).then(a.1.cmp(&b.1)))?
            .2;
        if !pivot(&mut table, &mut gains, leaves, enters, stopped) {
            return None;
        }
        basis[leaves] = enters;
    }
    let mut values = vec![BigRational::zero(); count];
    for (row, variable) in basis.iter().enumerate().filter(|(_, variable)| **variable < count) {
        values[*variable] = table[row][count + slack].clone();
    }
    let common = values.iter().fold(BigInt::one(), |common, value| num_lcm(&common, value.denom()));
    values.iter().map(|value| (value * &common).to_integer().to_biguint()).collect()
}

/// Was it completed? Numbers grow, so that one pivot can take long.
fn pivot(
    table: &mut [Vec<BigRational>],
    gains: &mut [BigRational],
    row: usize,
    column: usize,
    stopped: &dyn Fn() -> bool,
) -> bool {
    let by = table[row][column].clone();
    table[row].iter_mut().filter(|entry| !entry.is_zero()).for_each(|entry| *entry /= &by);
    let line = table[row].clone();
    let used: Vec<usize> = (0..line.len()).filter(|at| !line[*at].is_zero()).collect();
    let clear = |other: &mut [BigRational]| {
        if other[column].is_zero() {
            return;
        }
        let factor = other[column].clone();
        for at in &used {
            let change = &line[*at] * &factor;
            other[*at] -= change;
        }
    };
    for (_, other) in table.iter_mut().enumerate().filter(|(at, _)| *at != row) {
        if stopped() {
            return false;
        }
        clear(other);
    }
    clear(gains);
    true
}

fn num_lcm(a: &BigInt, b: &BigInt) -> BigInt {
    let (mut x, mut y) = (a.clone(), b.clone());
    while !y.is_zero() {
        (x, y) = (y.clone(), x % y);
    }
    a / x * b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ray_is_found_or_there_is_none() {
        // y0 - 2 y1 <= 0, y1 - y0 <= 0, y0 + y1 <= 1.
        let rows = vec![(vec![(0, 1), (1, -2)], 0), (vec![(1, 1), (0, -1)], 0), (vec![(0, 1), (1, 1)], 1)];
        let found = positive(&[3, -5], &rows, &|| false).expect("y = (2, 1) gains 1");
        assert_eq!(found, [BigUint::from(2u32), BigUint::from(1u32)]);
        assert_eq!(positive(&[1, -2], &rows, &|| false), None);
        assert_eq!(positive(&[3, -5], &rows, &|| true), None);
    }
}
