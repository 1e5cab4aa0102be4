//! A variable order from what depends on what: variables that occur together should stand together.
//!
//! The heuristic is FORCE (Aloul, Markov, Sakallah 2003): every group of variables that occur together pulls its
//! members to its centre of gravity; variables are sorted by where they are pulled; this is repeated while the groups
//! become narrower. [`span`] is what becomes smaller, and compares orders without building a diagram.

/// How far the groups reach, summed: the number of variables between the first and the last of each.
pub fn span(order: &[u32], groups: &[Vec<u32>]) -> usize {
    let place = places(order);
    let width = |group: &Vec<u32>| {
        let places = || group.iter().filter_map(|&variable| place.get(variable as usize).copied());
        places().max().unwrap_or(0) - places().min().unwrap_or(0)
    };
    groups.iter().map(width).sum()
}

/// An order of the variables `0 .. count` in which the groups are narrow. It begins with the order of their numbers, which
/// is rarely bad, and ends when pulling has not been worth it for a while.
pub fn force(count: u32, groups: &[Vec<u32>]) -> Vec<u32> {
    let mut best: Vec<u32> = (0..count).collect();
    let mut best_span = span(&best, groups);
    let mut order = best.clone();
    let mut patience = 0;
    while patience < 5 {
        order = pulled(&order, groups);
        let span = span(&order, groups);
        patience += 1;
        if span < best_span {
            best_span = span;
            best.clone_from(&order);
            patience = 0;
        }
    }
    best
}

/// The orders by the size of what they lead to, best first. `build` makes the same diagrams under an order and says how
/// many nodes they took; an order under which it fails is left out.
pub fn compare(orders: &[Vec<u32>], mut build: impl FnMut(&[u32]) -> Option<usize>) -> Vec<(usize, usize)> {
    let measured = orders.iter().enumerate().filter_map(|(index, order)| Some((build(order)?, index)));
    let mut sizes: Vec<(usize, usize)> = measured.collect();
    sizes.sort_unstable();
    sizes.into_iter().map(|(size, index)| (index, size)).collect()
}

/// One round: every variable moves to the mean of the centres of its groups. Variables in no group stay.
fn pulled(order: &[u32], groups: &[Vec<u32>]) -> Vec<u32> {
    let place = places(order);
    let mut pull = vec![(0.0, 0u32); place.len()];
    for group in groups.iter().filter(|group| !group.is_empty()) {
        let places = || group.iter().filter_map(|&variable| place.get(variable as usize).copied());
        let centre = places().sum::<usize>() as f64 / group.len() as f64;
        for &variable in group {
            if let Some((sum, count)) = pull.get_mut(variable as usize) {
                *sum += centre;
                *count += 1;
            }
        }
    }
    let mut result = order.to_vec();
    let goal = |variable: u32| match pull[variable as usize] {
        (_, 0) => place[variable as usize] as f64,
        (sum, count) => sum / f64::from(count),
    };
    result.sort_by(|&a, &b| goal(a).total_cmp(&goal(b)));
    result
}

/// For each variable its place in the order.
fn places(order: &[u32]) -> Vec<usize> {
    let mut place = vec![0; order.iter().max().map_or(0, |&last| last as usize + 1)];
    for (index, &variable) in order.iter().enumerate() {
        place[variable as usize] = index;
    }
    place
}
