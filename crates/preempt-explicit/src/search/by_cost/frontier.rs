//! What waits to be expanded, as numbers of states in buckets by cost; and the bucket that is being worked on.

use super::buckets::Buckets;
use super::checkpoint::{restore_items, save_items};
use super::cost_store::Who;
use crate::saved::{read_below, read_u64, write_u64};
use crate::store::StateNumber;
use std::io::{Read, Result, Write};

/// Somebody is to run in a state. It also says how the state was reached: by `by`'s step from the state `from`, after
/// which `last` was running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item {
    pub state: StateNumber,
    pub from: StateNumber,
    pub by: u8,
    pub last: u8,
    pub who: Who,
}

/// A checkpoint with more levels or longer runs than this is none.
pub const MOST_LEVELS: u64 = 1 << 20;
pub const MOST_STEPS: u64 = 1 << 48;

#[derive(Debug, Default)]
pub struct Frontier {
    buckets: Buckets<Vec<Item>>,
    /// Taken from the buckets; those before `begun` were given out, the last of them from `batch` on.
    taken: Vec<Item>,
    batch: usize,
    begun: usize,
    waiting: u64,
    /// Of what is in the buckets; and at their largest.
    bytes: u64,
    most: u64,
}

impl Frontier {
    #[inline]
    pub fn push(&mut self, preemptions: u32, steps: u64, item: Item) {
        let bucket = self.buckets.at(preemptions, steps);
        self.bytes -= bytes_of(bucket);
        bucket.push(item);
        self.bytes += bytes_of(bucket);
        self.waiting += 1;
        self.most = self.most.max(self.bytes);
    }

    /// At most so many of the items at this cost; none if there are no more. They take room until all are given out.
    pub fn next_batch(&mut self, preemptions: u32, steps: u64, most: usize) -> &[Item] {
        if self.begun == self.taken.len() {
            let next = self.buckets.take(preemptions, steps);
            self.waiting -= next.len() as u64;
            self.bytes -= bytes_of(&self.taken);
            (self.taken, self.begun) = (next, 0);
        }
        self.batch = self.begun;
        self.begun = self.taken.len().min(self.begun + most);
        &self.taken[self.batch..self.begun]
    }

    /// One of the last batch, by its number.
    #[inline]
    pub fn item(&self, number: usize) -> Item {
        self.taken[self.batch + number]
    }

    /// What is left of the bucket that is being worked on.
    pub fn rest(&self) -> &[Item] {
        &self.taken[self.begun..]
    }

    /// The first bucket of a level, at this number of steps or more.
    pub fn next(&self, preemptions: u32, steps: u64) -> Option<u64> {
        self.buckets.next(preemptions, steps)
    }

    /// The first bucket of a level, at this number of steps or more, in which something waits.
    pub fn next_waiting(&self, preemptions: u32, steps: u64) -> Option<u64> {
        let mut at = self.buckets.next(preemptions, steps)?;
        while self.buckets.is_empty(preemptions, at) {
            at = self.buckets.next(preemptions, at + 1)?;
        }
        Some(at)
    }

    pub fn has_level(&self, preemptions: u32) -> bool {
        self.buckets.has_level(preemptions)
    }

    /// Everything at this level has been taken.
    pub fn forget_level(&mut self, preemptions: u32) {
        self.buckets.forget_level(preemptions);
    }

    pub fn save(&self, out: &mut dyn Write) -> Result<()> {
        write_u64(out, self.most)?;
        let waiting = || self.buckets.all().filter(|(.., bucket)| !bucket.is_empty());
        write_u64(out, waiting().count() as u64)?;
        for (preemptions, steps, bucket) in waiting() {
            write_u64(out, preemptions.into())?;
            write_u64(out, steps)?;
            save_items(out, bucket)?;
        }
        Ok(())
    }

    /// `is_possible` says of each item whether it can be.
    pub fn restore(input: &mut dyn Read, is_possible: &dyn Fn(&Item) -> bool) -> Result<Frontier> {
        let mut frontier = Frontier { most: read_u64(input)?, ..Frontier::default() };
        for _ in 0..read_u64(input)? {
            let preemptions = read_below(input, MOST_LEVELS)? as u32;
            let steps = read_below(input, MOST_STEPS)?;
            for item in restore_items(input, is_possible)? {
                frontier.push(preemptions, steps, item);
            }
        }
        Ok(frontier)
    }

    /// The lowest cost at which something waits.
    pub fn lowest(&self) -> Option<(u32, u64)> {
        let mut waiting = self.buckets.all().filter(|(.., bucket)| !bucket.is_empty());
        waiting.next().map(|(preemptions, steps, _)| (preemptions, steps))
    }

    /// These were taken before, and are not done yet.
    pub fn begin_with(&mut self, items: Vec<Item>) {
        self.bytes += bytes_of(&items);
        (self.taken, self.batch, self.begun) = (items, 0, 0);
    }

    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    pub fn bytes(&self) -> u64 {
        self.bytes + self.buckets.bytes()
    }

    /// At its largest.
    pub fn most_bytes(&self) -> u64 {
        self.most
    }
}

fn bytes_of(items: &Vec<Item>) -> u64 {
    (items.capacity() * size_of::<Item>()) as u64
}
