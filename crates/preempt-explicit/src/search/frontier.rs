//! What waits to be expanded, in buckets by cost: preemptions first, then steps.

use super::checkpoint::{restore_items, save_items};
use crate::saved::{read_u64, write_u64};
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

#[derive(Debug, Default)]
pub struct Frontier {
    /// By preemptions, then by steps.
    levels: Vec<Vec<Vec<Item>>>,
    waiting: u64,
    most: u64,
}

impl Frontier {
    pub fn push(&mut self, preemptions: u32, steps: u64, item: Item) {
        let (level, steps) = (preemptions as usize, steps as usize);
        if self.levels.len() <= level {
            self.levels.resize_with(level + 1, Vec::new);
        }
        let buckets = &mut self.levels[level];
        if buckets.len() <= steps {
            buckets.resize_with(steps + 1, Vec::new);
        }
        buckets[steps].push(item);
        self.waiting += 1;
        self.most = self.most.max(self.waiting);
    }

    /// The items waiting at this cost.
    pub fn take(&mut self, preemptions: u32, steps: u64) -> Vec<Item> {
        let bucket =
            self.levels.get_mut(preemptions as usize).and_then(|level| level.get_mut(steps as usize));
        let items = bucket.map(std::mem::take).unwrap_or_default();
        self.waiting -= items.len() as u64;
        items
    }

    /// Is there a bucket at this number of steps or more?
    pub fn reaches(&self, preemptions: u32, steps: u64) -> bool {
        self.levels.get(preemptions as usize).is_some_and(|level| level.len() as u64 > steps)
    }

    pub fn has_level(&self, preemptions: u32) -> bool {
        self.levels.len() > preemptions as usize
    }

    /// Everything at this level has been taken.
    pub fn forget_level(&mut self, preemptions: u32) {
        if let Some(level) = self.levels.get_mut(preemptions as usize) {
            *level = Vec::new();
        }
    }

    pub fn save(&self, out: &mut dyn Write) -> Result<()> {
        write_u64(out, self.most)?;
        write_u64(out, self.levels.len() as u64)?;
        for level in &self.levels {
            write_u64(out, level.len() as u64)?;
            level.iter().try_for_each(|bucket| save_items(out, bucket))?;
        }
        Ok(())
    }

    pub fn restore(input: &mut dyn Read) -> Result<Frontier> {
        let mut frontier = Frontier { most: read_u64(input)?, ..Frontier::default() };
        for _ in 0..read_u64(input)? {
            let mut level = Vec::new();
            for _ in 0..read_u64(input)? {
                let bucket = restore_items(input)?;
                frontier.waiting += bucket.len() as u64;
                level.push(bucket);
            }
            frontier.levels.push(level);
        }
        Ok(frontier)
    }

    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// At its largest.
    pub fn most_bytes(&self) -> u64 {
        self.most * size_of::<Item>() as u64
    }
}
