//! What waits to be expanded, in buckets by cost: preemptions first, then steps.

use super::buckets::Buckets;
use super::checkpoint::{restore_items, save_items};
use crate::saved::{read_below, read_u64, write_u64};
use crate::store::StateNumber;
use std::io::{Read, Result, Write};

/// Stands for "no process": before the first step nobody has run.
pub const NOBODY: u8 = u8::MAX;

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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Who {
    /// The process that was running goes on.
    Last,
    /// Everybody but that process.
    Others,
    /// Nobody: the state itself is a violation.
    Nobody,
}

/// A checkpoint with more levels or longer runs than this is none.
pub const MOST_LEVELS: u64 = 1 << 20;
pub const MOST_STEPS: u64 = 1 << 48;

#[derive(Debug, Default)]
pub struct Frontier {
    buckets: Buckets<Vec<Item>>,
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

    /// The items waiting at this cost. They still count as long as they are not [`Frontier::done`].
    pub fn take(&mut self, preemptions: u32, steps: u64) -> Vec<Item> {
        let items = self.buckets.take(preemptions, steps);
        self.waiting -= items.len() as u64;
        items
    }

    pub fn done(&mut self, items: Vec<Item>) {
        self.bytes -= bytes_of(&items);
    }

    /// The first bucket of a level, at this number of steps or more.
    pub fn next(&self, preemptions: u32, steps: u64) -> Option<u64> {
        self.buckets.next(preemptions, steps)
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
    pub fn begin(&mut self, items: &Vec<Item>) {
        self.bytes += bytes_of(items);
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
