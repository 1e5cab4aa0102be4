//! The hash table `H` of paper 001's algorithms, for one search or for several that share it.
//!
//! For every closed graph it has the smallest bound within which the graph is open again (see [`crate::marking`]). Such
//! a number only grows, whoever raises it, as long as the same steps are hidden (see [`crate::racing`]): when something is
//! found to race, an *epoch* begins, and only complete graphs stay closed.

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
    /// The smallest bound within which the graph is open; 0 if it was not closed in this epoch.
    fn opens_at(&self, stamp: Stamp, epoch: u32) -> u32;

    /// Closes the graph up to this bound, in this epoch or for all. False if it was closed as far already.
    fn raise(&mut self, stamp: Stamp, opens_at: u32, epoch: u32) -> bool;

    fn graphs(&self) -> u64;
}

/// Of a complete graph.
pub(crate) const ALL_EPOCHS: u32 = u32::MAX;

/// When the graph opens, and in which epoch that was found.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Closed {
    opens_at: u32,
    epoch: u32,
}

impl Closed {
    fn opens_at(self, epoch: u32) -> u32 {
        if self.epoch >= epoch { self.opens_at } else { 0 }
    }
}

fn opens_at(map: &ByStamp<Closed>, stamp: Stamp, epoch: u32) -> u32 {
    map.get(&stamp).map_or(0, |closed| closed.opens_at(epoch))
}

fn raise(map: &mut ByStamp<Closed>, stamp: Stamp, opens_at: u32, epoch: u32) -> bool {
    let known = map.entry(stamp).or_default();
    let before = known.opens_at(epoch);
    if opens_at > before {
        *known = Closed { opens_at, epoch };
    }
    opens_at > before
}

impl Table for ByStamp<Closed> {
    fn opens_at(&self, stamp: Stamp, epoch: u32) -> u32 {
        opens_at(self, stamp, epoch)
    }

    fn raise(&mut self, stamp: Stamp, opens_at: u32, epoch: u32) -> bool {
        raise(self, stamp, opens_at, epoch)
    }

    fn graphs(&self) -> u64 {
        self.len() as u64
    }
}

/// In parts, each behind a lock of its own, so that searches seldom wait for each other.
#[derive(Debug)]
pub(crate) struct SharedTable {
    shards: Vec<Mutex<ByStamp<Closed>>>,
}

impl SharedTable {
    pub fn new() -> SharedTable {
        SharedTable { shards: (0..256).map(|_| Mutex::default()).collect() }
    }

    fn shard(&self, stamp: Stamp) -> MutexGuard<'_, ByStamp<Closed>> {
        // Other bits than those that place it inside.
        let shard = (stamp.0 >> 56) as usize % self.shards.len();
        self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table for &SharedTable {
    fn opens_at(&self, stamp: Stamp, epoch: u32) -> u32 {
        opens_at(&self.shard(stamp), stamp, epoch)
    }

    fn raise(&mut self, stamp: Stamp, opens_at: u32, epoch: u32) -> bool {
        raise(&mut self.shard(stamp), stamp, opens_at, epoch)
    }

    fn graphs(&self) -> u64 {
        let len = |shard: &Mutex<ByStamp<Closed>>| shard.lock().unwrap_or_else(PoisonError::into_inner).len();
        self.shards.iter().map(len).sum::<usize>() as u64
    }
}
