//! The numbers of work that is under way: written by whoever works, read by whoever supervises.

use crate::progress::Snapshot;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number that several threads write and read. No order between different counters is promised.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// So many more.
    pub fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    /// So many, whatever was counted before.
    pub fn set(&self, now: u64) {
        self.0.store(now, Ordering::Relaxed);
    }

    /// So many, as far as this thread has seen.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What a [`Budget`](crate::Budget) counts; each engine counts what it has.
#[derive(Debug, Default)]
pub struct Counters {
    /// States, markings or whatever the engine stores one by one.
    pub states: Counter,
    /// Steps executed, or rules applied.
    pub transitions: Counter,
    /// Stored and not yet expanded.
    pub frontier: Counter,
    /// Steps of the longest path.
    pub depth: Counter,
    /// Of the bound's unit.
    pub level: Counter,
    /// Memory in use.
    pub bytes: Counter,
    /// Put aside without being expanded. The snapshot leaves it out.
    pub pruned: Counter,
    /// Of the states and transitions, those of a search forward where others go backward: markings and firings. The
    /// snapshot leaves them out.
    pub markings: Counter,
    /// See `markings`.
    pub firings: Counter,
}

impl Counters {
    /// All numbers now, one after the other.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            states: self.states.get(),
            transitions: self.transitions.get(),
            frontier: self.frontier.get(),
            depth: self.depth.get(),
            level: u32::try_from(self.level.get()).unwrap_or(u32::MAX),
            bytes: self.bytes.get(),
        }
    }

    /// For a search that counts by itself and tells its numbers now and then.
    pub fn publish(&self, snapshot: &Snapshot) {
        self.states.set(snapshot.states);
        self.transitions.set(snapshot.transitions);
        self.frontier.set(snapshot.frontier);
        self.depth.set(snapshot.depth);
        self.level.set(u64::from(snapshot.level));
        self.bytes.set(snapshot.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_published_is_read_back() {
        let (counters, snapshot) = (
            Counters::default(),
            Snapshot { states: 1, transitions: 2, frontier: 3, depth: 4, level: 5, bytes: 6 },
        );
        counters.publish(&snapshot);
        assert_eq!(counters.snapshot(), snapshot);
        counters.states.add(9);
        assert_eq!(counters.snapshot(), Snapshot { states: 10, ..snapshot });
    }
}
