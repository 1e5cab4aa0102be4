//! Where states lie in a table that does not change any more: they are numbered from 0 on, bucket by bucket.

use super::{LONGEST, SHARDS, Shard, Table};
use crate::store::packed::encoding::Key;
use std::ops::Range;

/// Of some shard.
#[derive(Debug, Clone)]
pub struct Buckets {
    shard: usize,
    range: Range<usize>,
}

/// For each shard the number of the first state of each bucket.
#[derive(Debug, Default)]
pub struct Places {
    firsts: Vec<Vec<u32>>,
    pub states: u32,
}

impl Table {
    /// `None` if there are more states than can be numbered.
    pub fn places(&self) -> Option<Places> {
        let (mut firsts, mut states) = (Vec::with_capacity(SHARDS), 0u32);
        for shard in &self.shards {
            let mut of_shard = Vec::with_capacity(shard.buckets as usize);
            for bucket in 0..shard.buckets as usize {
                of_shard.push(states);
                states = states.checked_add(self.bucket(shard, bucket).count() as u32)?;
            }
            firsts.push(of_shard);
        }
        Some(Places { firsts, states })
    }

    /// All buckets, so many at a time, in the order of the numbers.
    pub fn all_buckets(&self, at_a_time: usize) -> Vec<Buckets> {
        let of_shard = |(number, shard): (usize, &Shard)| {
            let all = shard.buckets as usize;
            let part = move |first| Buckets { shard: number, range: first..(first + at_a_time).min(all) };
            (0..all).step_by(at_a_time).map(part)
        };
        self.shards.iter().enumerate().flat_map(of_shard).collect()
    }

    /// The keys in some buckets, in the order of their numbers.
    pub fn keys_in(&self, buckets: &Buckets, mut visit: impl FnMut(Key)) {
        let shard = &self.shards[buckets.shard];
        for number in buckets.range.clone() {
            let bucket = self.bucket(shard, number);
            (0..bucket.count()).for_each(|entry| visit(bucket.key(entry)));
        }
    }

    /// The number of a state.
    pub fn number_of(&self, places: &Places, key: &Key, hash: u64) -> Option<u32> {
        let number = Table::shard_of(hash);
        let (shard, sought) = (&self.shards[number], self.layout.sought(key, hash));
        let mut at = Table::home(shard, hash);
        for _ in 0..LONGEST {
            let bucket = self.bucket(shard, at);
            let count = bucket.count();
            if let Some(entry) = bucket.find(0, count, sought) {
                return Some(places.firsts[number][at] + entry as u32);
            }
            if count < self.layout.entries {
                return None;
            }
            at = if at + 1 == shard.buckets as usize { 0 } else { at + 1 };
        }
        None
    }
}

impl Places {
    pub fn bytes(&self) -> u64 {
        self.firsts.iter().map(|firsts| 4 * firsts.capacity() as u64).sum()
    }
}
