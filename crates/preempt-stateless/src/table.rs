//! The hash table `H` of paper 001's algorithms, for one search or for several that share it.
//!
//! For every closed graph it has the smallest bound within which the graph is open again (see [`crate::marking`]). Such
//! a number only grows, whoever raises it.

use crate::executable::Stamp;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Stamps are random bits already.
#[derive(Debug, Clone, Copy, Default)]
pub struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u128(&mut self, word: u128) {
        self.0 = word as u64 ^ (word >> 64) as u64;
    }
}

/// A map from stamps.
pub type ByStamp<T> = HashMap<Stamp, T, BuildHasherDefault<AsIs>>;

/// What a search asks of the table.
pub(crate) trait Table {
    /// The smallest bound within which the graph is open; 0 if it was never closed.
    fn opens_at(&self, stamp: Stamp) -> u32;

    /// Closes the graph up to this bound. False if it was closed as far already.
    fn raise(&mut self, stamp: Stamp, opens_at: u32) -> bool;

    fn graphs(&self) -> u64;
}

fn raise(map: &mut ByStamp<u32>, stamp: Stamp, opens_at: u32) -> bool {
    let known = map.entry(stamp).or_insert(0);
    let grows = opens_at > *known;
    *known = opens_at.max(*known);
    grows
}

impl Table for ByStamp<u32> {
    fn opens_at(&self, stamp: Stamp) -> u32 {
        self.get(&stamp).copied().unwrap_or(0)
    }

    fn raise(&mut self, stamp: Stamp, opens_at: u32) -> bool {
        raise(self, stamp, opens_at)
    }

    fn graphs(&self) -> u64 {
        self.len() as u64
    }
}

/// In parts, each behind a lock of its own, so that searches seldom wait for each other.
#[derive(Debug)]
pub(crate) struct SharedTable {
    shards: Vec<Mutex<ByStamp<u32>>>,
}

impl SharedTable {
    pub fn new() -> SharedTable {
        SharedTable { shards: (0..256).map(|_| Mutex::default()).collect() }
    }

    fn shard(&self, stamp: Stamp) -> MutexGuard<'_, ByStamp<u32>> {
        // Other bits than those that place it inside.
        let shard = (stamp.0 >> 56) as usize % self.shards.len();
        self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table for &SharedTable {
    fn opens_at(&self, stamp: Stamp) -> u32 {
        self.shard(stamp).get(&stamp).copied().unwrap_or(0)
    }

    fn raise(&mut self, stamp: Stamp, opens_at: u32) -> bool {
        raise(&mut self.shard(stamp), stamp, opens_at)
    }

    fn graphs(&self) -> u64 {
        let len = |shard: &Mutex<ByStamp<u32>>| shard.lock().unwrap_or_else(PoisonError::into_inner).len();
        self.shards.iter().map(len).sum::<usize>() as u64
    }
}
