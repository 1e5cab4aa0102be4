//! Buckets by cost: preemptions, then steps. Most are near the one that is worked on; one after a long atomic sequence
//! may be far away, and nothing is kept for the costs between.

use std::collections::BTreeMap;

#[derive(Debug)]
pub struct Buckets<B> {
    levels: Vec<Level<B>>,
}

#[derive(Debug)]
struct Level<B> {
    /// By steps.
    near: Vec<B>,
    /// By steps, all of them more than the near ones have.
    far: BTreeMap<u64, B>,
}

impl<T> Buckets<Vec<T>> {
    /// Does nothing wait at this cost?
    pub fn is_empty(&self, preemptions: u32, steps: u64) -> bool {
        let level = self.levels.get(preemptions as usize);
        let bucket =
            level.and_then(|level| match usize::try_from(steps).ok().and_then(|it| level.near.get(it)) {
                Some(bucket) => Some(bucket),
                None => level.far.get(&steps),
            });
        bucket.is_none_or(Vec::is_empty)
    }
}

/// So far ahead is still near.
const AHEAD: u64 = 1024;

impl<B> Default for Buckets<B> {
    fn default() -> Buckets<B> {
        Buckets { levels: Vec::new() }
    }
}

impl<B: Default> Buckets<B> {
    #[inline]
    pub fn at(&mut self, preemptions: u32, steps: u64) -> &mut B {
        let level = preemptions as usize;
        if self.levels.len() <= level {
            self.levels.resize_with(level + 1, || Level { near: Vec::new(), far: BTreeMap::new() });
        }
        let level = &mut self.levels[level];
        if steps >= level.near.len() as u64 {
            if steps >= level.near.len() as u64 + AHEAD {
                return level.far.entry(steps).or_default();
            }
            level.near.resize_with(steps as usize + 1, B::default);
            while let Some(entry) = level.far.first_entry()
                && *entry.key() <= steps
            {
                let (steps, bucket) = entry.remove_entry();
                level.near[steps as usize] = bucket;
            }
        }
        &mut level.near[steps as usize]
    }

    /// What waits at this cost; it is empty from now on.
    pub fn take(&mut self, preemptions: u32, steps: u64) -> B {
        let Some(level) = self.levels.get_mut(preemptions as usize) else { return B::default() };
        match usize::try_from(steps).ok().and_then(|steps| level.near.get_mut(steps)) {
            Some(bucket) => std::mem::take(bucket),
            None => level.far.remove(&steps).unwrap_or_default(),
        }
    }

    /// The first bucket of a level, at this number of steps or more.
    pub fn next(&self, preemptions: u32, steps: u64) -> Option<u64> {
        let level = self.levels.get(preemptions as usize)?;
        let far = || level.far.range(steps..).next().map(|(steps, _)| *steps);
        if steps < level.near.len() as u64 { Some(steps) } else { far() }
    }

    pub fn has_level(&self, preemptions: u32) -> bool {
        self.levels.len() > preemptions as usize
    }

    /// Everything at this level has been taken.
    pub fn forget_level(&mut self, preemptions: u32) {
        if let Some(level) = self.levels.get_mut(preemptions as usize) {
            *level = Level { near: Vec::new(), far: BTreeMap::new() };
        }
    }

    /// All of them, each with its cost.
    pub fn all(&self) -> impl Iterator<Item = (u32, u64, &B)> {
        self.levels.iter().zip(0..).flat_map(|(level, preemptions)| {
            let near = (0..).zip(&level.near);
            let far = level.far.iter().map(|(steps, bucket)| (*steps, bucket));
            near.chain(far).map(move |(steps, bucket)| (preemptions, steps, bucket))
        })
    }

    /// Of the buckets, but not of what is in them.
    pub fn bytes(&self) -> u64 {
        let of_level = |level: &Level<B>| {
            (level.near.capacity() + 2 * level.far.len()) * size_of::<B>() + size_of::<Level<B>>()
        };
        self.levels.iter().map(of_level).sum::<usize>() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_far_away_needs_no_room_and_comes_near() {
        let mut buckets: Buckets<Vec<u64>> = Buckets::default();
        let costs = [5, 3_000_000_000, 1_500, 5, 1_100, 3_000_000_000, 2_000];
        costs.iter().for_each(|steps| buckets.at(1, *steps).push(*steps));
        // The far ones are near now, and still where they were.
        buckets.at(1, 900).push(900);
        buckets.at(1, 1_700).push(1_700);
        assert!(buckets.bytes() < 100_000, "{}", buckets.bytes());
        assert!(buckets.has_level(1) && !buckets.has_level(2));
        assert_eq!(
            [1, 2_000, 5_000].map(|steps| buckets.next(1, steps)),
            [1, 2_000, 3_000_000_000].map(Some)
        );
        assert_eq!(
            [(1, 3_000_000_001), (0, 0), (7, 0)].map(|(level, it)| buckets.next(level, it)),
            [None; 3]
        );
        let there: Vec<_> = buckets.all().filter(|(.., bucket)| !bucket.is_empty()).collect();
        assert!(
            there.iter().all(|(level, steps, bucket)| *level == 1 && bucket.iter().all(|it| it == steps))
        );
        let taken: Vec<_> =
            [5, 900, 1_100, 1_500, 1_700, 2_000, 3_000_000_000].map(|it| buckets.take(1, it).len()).into();
        assert_eq!(taken, [2, 1, 1, 1, 1, 1, 2]);
        assert!(buckets.all().all(|(.., bucket)| bucket.is_empty()));
    }
}
