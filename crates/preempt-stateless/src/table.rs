//! The hash table `H` of Musuvathi and Qadeer 2007 (paper 001): which graphs are closed, for one search or for several that
//! share it.
//!
//! **What it holds.** For every closed graph the smallest bound within which it is open again (see [`crate::marking`]).
//!
//! **Why it can be shared.** Such a number only grows, whoever raises it, as long as the same steps are hidden (see
//! `racing.rs`), so a raise that comes late does no harm. When something is found to race, an *epoch* begins: what was
//! closed before counts as open, and only complete graphs stay closed. Who has not heard of it yet may rely on what was
//! closed in the new epoch, in which fewer steps are hidden and more had to be tried, but does not change it.
//!
//! **What it costs.** A key of 128 bits and eight bytes for each graph: graphs themselves are not stored. Two different
//! graphs with the same stamp would be taken for one; with 2^32 graphs the probability of that is about 2^-65. The stamps are
//! uniformly distributed already, so the hash function is the identity.

use crate::stamp::Stamp;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The identity as a hash function: stamps are uniformly distributed already.
#[derive(Debug, Clone, Copy, Default)]
pub struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
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
pub type StampMap<T> = HashMap<Stamp, T, BuildHasherDefault<IdentityHasher>>;

/// What a search needs of the table.
pub(crate) trait Table {
    /// The smallest bound within which the graph is open; 0 if it was not closed in this epoch.
    fn opens_at(&self, stamp: Stamp, epoch: u32) -> u32;

    /// Closes the graph up to this bound, in this epoch or for all. False if it was closed as far already.
    fn raise(&mut self, stamp: Stamp, opens_at: u32, epoch: u32) -> bool;

    /// How many graphs it has.
    fn graphs(&self) -> u64;
}

/// The epoch of a complete graph: it stays closed whatever is found to race.
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

fn opens_at(map: &StampMap<Closed>, stamp: Stamp, epoch: u32) -> u32 {
    map.get(&stamp).map_or(0, |closed| closed.opens_at(epoch))
}

fn raise(map: &mut StampMap<Closed>, stamp: Stamp, opens_at: u32, epoch: u32) -> bool {
    let known = map.entry(stamp).or_default();
    if known.epoch > epoch {
        // Somebody knows more already, and what counts for that epoch is not ours to say.
        return false;
    }
    let before = known.opens_at(epoch);
    if opens_at > before {
        *known = Closed { opens_at, epoch };
    }
    opens_at > before
}

impl Table for StampMap<Closed> {
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

/// A table for several searches: in shards, each behind a lock of its own, so that they seldom wait for each other.
#[derive(Debug)]
pub(crate) struct SharedTable {
    shards: Vec<Mutex<StampMap<Closed>>>,
}

impl SharedTable {
    pub fn new() -> SharedTable {
        SharedTable { shards: (0..256).map(|_| Mutex::default()).collect() }
    }

    fn shard(&self, stamp: Stamp) -> MutexGuard<'_, StampMap<Closed>> {
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
        let len =
            |shard: &Mutex<StampMap<Closed>>| shard.lock().unwrap_or_else(PoisonError::into_inner).len();
        self.shards.iter().map(len).sum::<usize>() as u64
    }
}
