//! Finds a record by its hash: lines of eight entries, one cache line each, in shards that grow one at a time, so
//! that growing never moves everything at once.

use super::StateNumber;
use crate::saved::{damaged, read_u64, write_u64};
use std::io::{Read, Result, Write};

const SHARD_BITS: u32 = 6;
const LINE: usize = 8;

#[derive(Debug)]
pub struct Index {
    shards: Vec<Shard>,
}

/// An entry is 32 bits of the hash and the record's number plus one; 0 is free.
#[derive(Debug, Clone, Default)]
struct Shard {
    lines: Vec<Line>,
    count: usize,
}

#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
struct Line([u64; LINE]);

impl Index {
    pub fn new() -> Index {
        let shard = Shard { lines: vec![Line::default(); 2], count: 0 };
        Index { shards: vec![shard; 1 << SHARD_BITS] }
    }

    #[inline]
    fn parts(hash: u64) -> (usize, u32) {
        ((hash >> (64 - SHARD_BITS)) as usize, hash as u32)
    }

    /// The number under this hash that is meant.
    #[inline]
    pub fn find(&self, hash: u64, mut is_meant: impl FnMut(StateNumber) -> bool) -> Option<StateNumber> {
        let (shard, tag) = Index::parts(hash);
        let lines = &self.shards[shard].lines;
        let mut at = line_of(tag, lines.len());
        loop {
            for entry in lines[at].0 {
                if entry == 0 {
                    return None;
                }
                let number = entry as u32 - 1;
                if (entry >> 32) as u32 == tag && is_meant(number) {
                    return Some(number);
                }
            }
            at = if at + 1 == lines.len() { 0 } else { at + 1 };
        }
    }

    /// Of a record that is not there yet.
    pub fn insert(&mut self, hash: u64, number: StateNumber) {
        let (shard, tag) = Index::parts(hash);
        let shard = &mut self.shards[shard];
        if (shard.count + 1) * 5 > shard.lines.len() * LINE * 4 {
            shard.grow();
        }
        shard.put(u64::from(tag) << 32 | u64::from(number + 1));
    }

    #[inline]
    pub fn prefetch(&self, hash: u64) {
        let (shard, tag) = Index::parts(hash);
        let lines = &self.shards[shard].lines;
        prefetch(&lines[line_of(tag, lines.len())]);
    }

    pub fn save(&self, out: &mut dyn Write) -> Result<()> {
        for shard in &self.shards {
            write_u64(out, shard.lines.len() as u64)?;
            let entries = shard.lines.iter().flat_map(|line| line.0);
            entries.into_iter().try_for_each(|entry| write_u64(out, entry))?;
        }
        Ok(())
    }

    pub fn restore(input: &mut dyn Read) -> Result<Index> {
        let mut index = Index { shards: Vec::new() };
        for _ in 0..1 << SHARD_BITS {
            let mut shard = Shard::default();
            for _ in 0..read_u64(input)? {
                let mut line = Line::default();
                for entry in &mut line.0 {
                    *entry = read_u64(input)?;
                    shard.count += usize::from(*entry != 0);
                }
                shard.lines.push(line);
            }
            if shard.count >= shard.lines.len() * LINE {
                return Err(damaged("its index is full"));
            }
            index.shards.push(shard);
        }
        Ok(index)
    }

    pub fn bytes(&self) -> u64 {
        self.shards.iter().map(|shard| (shard.lines.capacity() * size_of::<Line>()) as u64).sum()
    }
}

fn line_of(tag: u32, lines: usize) -> usize {
    ((u64::from(tag) * lines as u64) >> 32) as usize
}

impl Shard {
    fn put(&mut self, entry: u64) {
        let mut at = line_of((entry >> 32) as u32, self.lines.len());
        loop {
            if let Some(free) = self.lines[at].0.iter_mut().find(|entry| **entry == 0) {
                *free = entry;
                self.count += 1;
                return;
            }
            at = if at + 1 == self.lines.len() { 0 } else { at + 1 };
        }
    }

    fn grow(&mut self) {
        let more = self.lines.len() + self.lines.len() / 3 + 2;
        let old = std::mem::replace(&mut self.lines, vec![Line::default(); more]);
        self.count = 0;
        old.iter().flat_map(|line| line.0).filter(|entry| *entry != 0).for_each(|entry| self.put(entry));
    }
}

/// Asks for memory that will be needed soon.
#[inline]
pub fn prefetch<T>(target: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint; it never faults.
    #[allow(unsafe_code)]
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(target).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = target;
}
