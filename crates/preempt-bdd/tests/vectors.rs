//! Sets of vectors of small integers against sets of vectors.

use preempt_bdd::{Bdd, Full, Layout, Space, TableOptions, Variable, order};
use std::collections::BTreeSet;

const SMALL: TableOptions = TableOptions { nodes: 1 << 16, cache: 1 << 14 };

/// Two counters with 5 and 12 values in two copies each.
fn counters() -> (Space, Variable, Variable) {
    let mut layout = Layout::new();
    let (a, b) = (layout.add(5, 2), layout.add(12, 2));
    (layout.build(SMALL).unwrap(), a, b)
}

fn members(space: &Space, set: &Bdd, variables: &[Variable; 2]) -> BTreeSet<(u64, u64)> {
    let mut rest = set.clone();
    let mut members = BTreeSet::new();
    while let Some(values) = space.pick(&rest, variables) {
        members.insert((values[0], values[1]));
        let point = space.point(&[(variables[0], values[0]), (variables[1], values[1])]).unwrap();
        rest = rest.minus(&point).unwrap();
    }
    members
}

#[test]
fn sums_and_bounds_are_those_of_integers() {
    let (space, a, b) = counters();
    let domain = space.domain(a).unwrap().and(&space.domain(b).unwrap()).unwrap();
    assert_eq!(members(&space, &domain, &[a, b]).len(), 60);
    for offset in -13..=13i64 {
        let relation = space.sum(b, a, offset).unwrap().and(&domain).unwrap();
        let expected = (0..5u64)
            .flat_map(|x| (0..12u64).map(move |y| (x, y)))
            .filter(|&(x, y)| y as i64 == x as i64 + offset)
            .collect();
        assert_eq!(members(&space, &relation, &[a, b]), expected, "offset {offset}");
    }
    for bound in 0..20 {
        let below = space.below(b, bound).unwrap().and(&domain).unwrap();
        assert_eq!(members(&space, &below, &[a, b]).len() as u64, 5 * bound.min(12));
    }
    assert!(space.equals(a, 5).unwrap().is_false());
    assert_eq!(space.one_of(a, [1, 3, 9]).unwrap().and(&domain).unwrap(), {
        let one = space.equals(a, 1).unwrap().or(&space.equals(a, 3).unwrap()).unwrap();
        one.and(&domain).unwrap()
    });
    let same = space.same(a, b).unwrap().and(&domain).unwrap();
    assert_eq!(members(&space, &same, &[a, b]), (0..5).map(|x| (x, x)).collect());
}

#[test]
fn images_step_and_positions_move() {
    let (space, a, b) = counters();
    let (a2, b2) = (a.copy(1), b.copy(1));
    // a goes down by one, b up by two
    let step = space.sum(a2, a, -1).unwrap().and(&space.sum(b2, b, 2).unwrap()).unwrap();
    let step = step.and(&space.domain(b2).unwrap()).unwrap();
    let (now, back) = (space.cube([a, b]).unwrap(), space.renaming([(a2, a), (b2, b)]));
    let mut set = space.point(&[(a, 4), (b, 5)]).unwrap();
    let mut reached = set.clone();
    while !set.is_false() {
        set = set.and_exists(&step, &now).unwrap().rename(&back).unwrap().minus(&reached).unwrap();
        reached = reached.or(&set).unwrap();
    }
    assert_eq!(members(&space, &reached, &[a, b]), [(4, 5), (3, 7), (2, 9), (1, 11)].into());
    let without_b = reached.exists(&space.cube([b]).unwrap()).unwrap();
    assert_eq!(space.count(&without_b, &[a]).unwrap(), 4u32.into());
    assert_eq!(space.count(&reached, &[a]), None, "it depends on b");
    // positions exchanged between copies: simultaneous, not one after the other
    let both = space.point(&[(a, 1), (a2, 3)]).unwrap();
    let exchanged = both.rename(&space.renaming([(a, a2), (a2, a)])).unwrap();
    assert_eq!(exchanged, space.point(&[(a, 3), (a2, 1)]).unwrap());
}

/// "Some pair is all ones": with the partners of a pair far apart it takes exponentially many nodes.
fn hard(space: &Space, bits: &[Variable]) -> Result<Bdd, Full> {
    let (left, right) = bits.split_at(bits.len() / 2);
    let mut result = space.no();
    for (&x, &y) in left.iter().zip(right) {
        result = result.or(&space.equals(x, 1)?.and(&space.equals(y, 1)?)?)?;
    }
    Ok(result)
}

#[test]
fn a_full_table_is_a_result_and_garbage_makes_room() {
    let mut layout = Layout::new();
    let bits: Vec<Variable> = (0..32).map(|_| layout.add(2, 1)).collect();
    let space = layout.build(TableOptions { nodes: 2000, cache: 1 << 10 }).unwrap();
    assert_eq!(hard(&space, &bits).unwrap_err(), Full);
    // the same table goes on working, far longer than its size would allow without collection
    for round in 0..2000u64 {
        let point: Vec<(Variable, u64)> =
            bits.iter().enumerate().map(|(i, &bit)| (bit, round >> (i % 11) & 1)).collect();
        assert_eq!(space.count(&space.point(&point).unwrap(), &bits).unwrap(), 1u32.into());
    }
}

#[test]
fn the_order_from_dependencies_keeps_partners_together() {
    let mut layout = Layout::new();
    let bits: Vec<Variable> = (0..20).map(|_| layout.add(2, 1)).collect();
    let groups: Vec<Vec<u32>> = (0..10).map(|i| vec![i, i + 10]).collect();
    let (plain, forced) = ((0..20).collect::<Vec<u32>>(), order::force(20, &groups));
    assert_eq!(order::span(&plain, &groups), 100);
    assert_eq!(order::span(&forced, &groups), 10, "{forced:?}");
    let compared = order::compare(&[plain, forced], |order| {
        let space = layout.build_ordered(order, SMALL).ok()?;
        hard(&space, &bits).ok().map(|set| set.nodes())
    });
    // 2 nodes a pair and the two ends, against 2 to the number of pairs
    assert_eq!(compared[0], (1, 22));
    assert_eq!(compared[1].0, 0);
    assert!(compared[1].1 > 1000);
}

/// Part by part, in clusters of any size, the image is that of the whole relation.
#[test]
fn a_partition_is_the_conjunction_of_its_parts() {
    let (space, a, b) = counters();
    let (a2, b2) = (a.copy(1), b.copy(1));
    let bounded = space.domain(b2).unwrap().and(&space.domain(b).unwrap()).unwrap();
    let parts =
        [space.sum(a2, a, -1).unwrap(), space.sum(b2, b, 2).unwrap(), bounded, space.below(a, 4).unwrap()];
    let whole = parts.iter().fold(space.yes(), |whole, part| whole.and(part).unwrap());
    let cube = space.cube([a, b]).unwrap();
    for set in [space.yes(), space.below(b, 7).unwrap(), space.same(a, b).unwrap(), space.no()] {
        let expected = set.and_exists(&whole, &cube).unwrap();
        for most in [0, 10, 1000] {
            let clusters = space.clusters(&parts, most).unwrap();
            let partition = space.partition(&clusters, [a, b]).unwrap();
            assert_eq!(set.through(&partition).unwrap(), expected, "clusters of {most}");
        }
        let nothing = space.partition(&[], [a, b]).unwrap();
        assert_eq!(set.through(&nothing).unwrap(), set.exists(&cube).unwrap());
    }
    assert_eq!(space.support(&space.same(a, a2).unwrap()).len(), 6);
}
