//! Place invariants: weighted sums that no transition changes, by Farkas' elimination (Colom and Silva 1991). Each bounds
//! the markings that can be reached, so that the backward search can leave out what exceeds it.
//!
//! One transition after the other, every row that it makes grow is added to every row that it makes shrink, so that it does
//! neither; what is left at the end changes nothing and is not negative. Rows that use more places than another one are left
//! out, which keeps the minimal ones. There can be exponentially many: more than some hundred and it is given up, since
//! the state inequation finds single ones as they are needed.

use preempt_net::{Place, Problem};

/// The elimination can double the number of rows with each transition: more rows than this and it is given up.
const MOST_ROWS: usize = 300;
/// Rows times columns.
const LARGEST: usize = 200_000;

struct Row {
    /// What is left of the incidence matrix.
    change: Vec<i64>,
    weights: Vec<i64>,
}

/// Minimal invariants without parametric places; none if there are too many, or it takes too long.
pub(crate) fn place_invariants(problem: &Problem, stopped: &dyn Fn() -> bool) -> Vec<Vec<(Place, u64)>> {
    let places: Vec<Place> =
        (0..problem.net.places.len() as Place).filter(|place| problem.range(*place).high.is_some()).collect();
    let mut columns: Vec<Vec<(Place, i128)>> = Vec::new();
    for transition in &problem.net.transitions {
        columns.push(transition.displacement());
        // What a move does to a token must not change the sum either.
        columns.extend(transition.moves.iter().map(|moved| moved.displacement()));
    }
    columns.sort_unstable();
    columns.dedup();
    columns.retain(|column| !column.is_empty());
    if places.len().saturating_mul(places.len() + columns.len()) > LARGEST {
        return Vec::new();
    }
    let entry = |column: &Vec<(Place, i128)>, place: Place| {
        let found = column.iter().find(|(p, _)| *p == place).map_or(0, |(_, by)| *by);
        i64::try_from(found).ok()
    };
    let mut rows: Vec<Row> = Vec::new();
    for (at, place) in places.iter().enumerate() {
        let change: Option<Vec<i64>> = columns.iter().map(|column| entry(column, *place)).collect();
        let mut weights = vec![0; places.len()];
        weights[at] = 1;
        match change {
            Some(change) => rows.push(Row { change, weights }),
            None => return Vec::new(),
        }
    }
    for column in 0..columns.len() {
        match eliminated(rows, column, stopped) {
            Some(fewer) => rows = fewer,
            None => return Vec::new(),
        }
    }
    let named = |row: Row| -> Vec<(Place, u64)> {
        let weights = places.iter().zip(row.weights).filter(|(_, weight)| *weight > 0);
        weights.map(|(place, weight)| (*place, weight.unsigned_abs())).collect()
    };
    rows.into_iter().map(named).collect()
}

/// Every pair of a row that grows and one that shrinks, added so that they neither grow nor shrink.
fn eliminated(rows: Vec<Row>, column: usize, stopped: &dyn Fn() -> bool) -> Option<Vec<Row>> {
    let (mut kept, others): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(|row| row.change[column] == 0);
    let (grow, shrink): (Vec<&Row>, Vec<&Row>) = others.iter().partition(|row| row.change[column] > 0);
    if kept.len() + grow.len().saturating_mul(shrink.len()) > MOST_ROWS {
        return None;
    }
    for up in &grow {
        if stopped() {
            return None;
        }
        for down in &shrink {
            let (a, b) = (down.change[column].checked_neg()?, up.change[column]);
            let add = |x: &[i64], y: &[i64]| -> Option<Vec<i64>> {
                x.iter().zip(y).map(|(x, y)| a.checked_mul(*x)?.checked_add(b.checked_mul(*y)?)).collect()
            };
            let mut row =
                Row { change: add(&up.change, &down.change)?, weights: add(&up.weights, &down.weights)? };
            let all = row.change.iter().chain(&row.weights);
            let common = all.fold(0i64, |common, entry| gcd(common, *entry)).max(1);
            row.change.iter_mut().chain(&mut row.weights).for_each(|entry| *entry /= common);
            kept.push(row);
        }
    }
    Some(minimal(kept))
}

/// Without rows whose places are more than those of another row.
fn minimal(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort_by_key(|row| row.weights.iter().filter(|weight| **weight > 0).count());
    let mut kept: Vec<Row> = Vec::with_capacity(rows.len());
    for row in rows {
        let within = |small: &Row| small.weights.iter().zip(&row.weights).all(|(s, r)| *s == 0 || *r > 0);
        if !kept.iter().any(within) {
            kept.push(row);
        }
    }
    kept
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use preempt_core::SourceMap;
    use preempt_net::spec;

    fn invariants(text: &str) -> Vec<Vec<(Place, u64)>> {
        let mut sources = SourceMap::new();
        let (problem, diagnostics) = spec::read(sources.add("net.spec", text), text);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        place_invariants(&problem, &|| false)
    }

    #[test]
    fn sums_that_stay_the_same() {
        let net = "vars a b c rules a >= 2 -> a' = a - 2, b' = b + 1; b >= 1 -> b' = b - 1, c' = c + 3;
                   init a = 1, b = 0, c = 0 target c >= 1";
        assert_eq!(invariants(net), [vec![(0, 3), (1, 6), (2, 2)]]);
        assert!(invariants(&net.replace("a = 1", "a >= 1")).is_empty());
        let transfer = "vars a b c rules true -> b' = a + b, a' = 0; b >= 1 -> b' = b - 1, c' = c + 1;
                        init a = 2, b = 0, c = 0 target c >= 3";
        assert_eq!(invariants(transfer), [vec![(0, 1), (1, 1), (2, 1)]]);
    }
}
