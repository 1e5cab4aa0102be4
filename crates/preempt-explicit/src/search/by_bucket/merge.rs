//! What several threads have met, one state at a time: each thread sorts its own by hashes, and then each goes through one range of
//! hashes in all that was sorted.

use crate::store::hash::StateHash;
use std::ops::Range;

/// The part of a sorted list that one of so many threads has.
pub fn own_range<T>(
    sorted: &[T],
    id: impl Fn(&T) -> StateHash,
    owner: usize,
    threads: usize,
) -> Range<usize> {
    let end_of = |owner: usize| match owner >= threads {
        true => sorted.len(),
        false => {
            let end = u64::MAX / threads as u64 * owner as u64;
            sorted.partition_point(|one| id(one).first < end)
        }
    };
    end_of(owner)..end_of(owner + 1)
}

/// So far ahead it is said what will be shown.
const AHEAD: usize = 8;

/// Everything in lists sorted by what it is known by, in order: what is known by the same is shown together. What comes soon is
/// announced.
pub fn each_group<T: Copy>(
    lists: &[&[T]],
    id: impl Fn(&T) -> StateHash,
    announce: impl Fn(&T),
    mut visit: impl FnMut(&[T]),
) {
    if let [only] = lists {
        let mut shown = 0;
        for group in only.chunk_by(|one, other| id(one) == id(other)) {
            only.iter().skip(shown + AHEAD).take(group.len()).for_each(&announce);
            shown += group.len();
            visit(group);
        }
        return;
    }
    let mut lists = lists.to_vec();
    let mut group = Vec::new();
    while let Some(next) = lists.iter().filter_map(|list| list.first()).map(&id).min() {
        group.clear();
        for list in &mut lists {
            while let Some((first, rest)) = list.split_first().filter(|(first, _)| id(first) == next) {
                list.get(AHEAD).into_iter().for_each(&announce);
                group.push(*first);
                *list = rest;
            }
        }
        visit(&group);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever has which range, every group is seen once and whole, in order.
    #[test]
    fn every_group_is_seen_once() {
        let id = |thing: &(u64, usize)| StateHash {
            first: thing.0.wrapping_mul(0x9E37_79B9_7F4A_7C15),
            second: 0,
        };
        for (threads, count) in [(1, 0u64), (1, 100), (2, 100), (3, 1000)] {
            let mut lists: Vec<Vec<(u64, usize)>> = (0..threads)
                .map(|list| (0..count).filter(|one| one % 5 != list as u64).map(|one| (one, list)).collect())
                .collect();
            lists.iter_mut().for_each(|list| list.sort_unstable_by_key(id));
            let mut seen = Vec::new();
            for owner in 0..threads {
                let own: Vec<_> =
                    lists.iter().map(|list| &list[own_range(list, id, owner, threads)]).collect();
                each_group(
                    &own,
                    id,
                    |_| (),
                    |group| {
                        assert!(group.iter().all(|one| one.0 == group[0].0));
                        seen.push((id(&group[0]), group[0].0, group.len()));
                    },
                );
            }
            assert!(seen.is_sorted_by(|one, other| one.0 < other.0));
            for (_, one, length) in &seen {
                assert_eq!(*length, (0..threads).filter(|list| one % 5 != *list as u64).count());
            }
            let all = (0..count).filter(|one| (0..threads).any(|list| one % 5 != list as u64)).count();
            assert_eq!(seen.len(), all);
        }
    }
}
