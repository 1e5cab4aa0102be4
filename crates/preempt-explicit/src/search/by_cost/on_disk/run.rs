//! A sorted run: states with what is known of them, in the order of their hashes, in a file. In memory there are a filter that
//! says of most other states that they are not here, and a fence for every so many entries: so looking a state up reads one
//! block, and mostly none.

use super::entry::{Entry, HEADER};
use crate::scratch::{Appended, Scratch};
use std::io::Result;
use std::sync::Arc;

/// Entries between two fences.
const BLOCK: u64 = 64;

/// Of the filter, for each entry: one state in a hundred is looked up in vain.
const BITS: u64 = 10;
const PROBES: u64 = 5;

pub struct Run {
    file: Appended,
    count: u64,
    filter: Vec<u64>,
    /// Hash and place of every so-many-th entry.
    fences: Vec<(u64, u64)>,
}

impl Run {
    /// Of at most so many entries, to be written in order.
    pub fn new(scratch: &Arc<dyn Scratch>, most: u64) -> Result<Run> {
        let words = (most * BITS).div_ceil(64).max(1);
        let filter = vec![0; words as usize];
        Ok(Run { file: Appended::new(scratch)?, count: 0, filter, fences: Vec::new() })
    }

    pub fn push(&mut self, entry: Entry<'_>) -> Result<()> {
        let hash = entry.hash();
        if self.count.is_multiple_of(BLOCK) {
            self.fences.push((hash, self.file.end()));
        }
        for probe in 0..PROBES {
            let bit = self.bit(hash, probe);
            self.filter[(bit / 64) as usize] |= 1 << (bit % 64);
        }
        self.count += 1;
        self.file.write(entry.bytes())
    }

    pub fn finish(&mut self) -> Result<()> {
        self.file.flush()
    }

    fn bit(&self, hash: u64, probe: u64) -> u64 {
        let mixed = hash.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(13 * probe as u32) ^ hash;
        ((u128::from(mixed) * (self.filter.len() as u128 * 64)) >> 64) as u64
    }

    fn may_have(&self, hash: u64) -> bool {
        (0..PROBES).all(|probe| {
            let bit = self.bit(hash, probe);
            self.filter[(bit / 64) as usize] & (1 << (bit % 64)) != 0
        })
    }

    /// Puts the state's entry into the buffer, if it is here.
    pub fn find(&self, hash: u64, state: &[u8], block: &mut Vec<u8>, found: &mut Vec<u8>) -> Result<bool> {
        if self.count == 0 || !self.may_have(hash) {
            return Ok(false);
        }
        // Entries of the same hash may begin in the block before.
        let mut fence = self.fences.partition_point(|(first, _)| *first < hash).saturating_sub(1);
        while let Some((first, start)) = self.fences.get(fence)
            && *first <= hash
        {
            let end = self.fences.get(fence + 1).map_or(self.file.end(), |(_, next)| *next);
            block.resize((end - start) as usize, 0);
            self.file.read_at(*start, block)?;
            let mut rest = block.as_slice();
            while let Some((entry, after)) = Entry::first_of(rest) {
                if entry.hash() == hash && entry.state() == state {
                    found.clear();
                    found.extend_from_slice(entry.bytes());
                    return Ok(true);
                }
                rest = after;
            }
            fence += 1;
        }
        Ok(false)
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// In memory.
    pub fn bytes(&self) -> u64 {
        (8 * self.filter.capacity() + 16 * self.fences.capacity()) as u64 + self.file.bytes()
    }
}

/// Reads a run from its beginning.
pub struct Reader<'r> {
    run: &'r Run,
    next: u64,
    buffer: Vec<u8>,
    at: usize,
}

const READ: usize = 1 << 18;

impl<'r> Reader<'r> {
    pub fn new(run: &'r Run) -> Reader<'r> {
        Reader { run, next: 0, buffer: Vec::new(), at: 0 }
    }

    /// The entry that comes next, if there is one.
    pub fn peek(&mut self) -> Result<Option<Entry<'_>>> {
        let needs = |rest: &[u8]| Entry::first_of(rest).is_none();
        while needs(&self.buffer[self.at..]) && self.next < self.run.file.end() {
            self.buffer.drain(..self.at);
            self.at = 0;
            let more = (self.run.file.end() - self.next).min(READ as u64) as usize;
            let start = self.buffer.len();
            self.buffer.resize(start + more, 0);
            self.run.file.read_at(self.next, &mut self.buffer[start..])?;
            self.next += more as u64;
        }
        Ok(Entry::first_of(&self.buffer[self.at..]).map(|(entry, _)| entry))
    }

    pub fn skip(&mut self) {
        if let Some((entry, _)) = Entry::first_of(&self.buffer[self.at..]) {
            self.at += entry.bytes().len();
        }
    }
}

/// Two or more runs as one. Of a state that is in several, the entry of the last of them counts.
pub fn merge(runs: &[Run], scratch: &Arc<dyn Scratch>) -> Result<Run> {
    let mut merged = Run::new(scratch, runs.iter().map(Run::count).sum())?;
    let mut readers: Vec<Reader<'_>> = runs.iter().map(Reader::new).collect();
    let mut least = Vec::with_capacity(HEADER);
    loop {
        least.clear();
        for reader in &mut readers {
            if let Some(entry) = reader.peek()?
                && (least.is_empty() || entry.order() <= Entry::new(&least).order())
            {
                least.clear();
                least.extend_from_slice(entry.bytes());
            }
        }
        if least.is_empty() {
            merged.finish()?;
            return Ok(merged);
        }
        let taken = Entry::new(&least);
        merged.push(taken)?;
        for reader in &mut readers {
            if reader.peek()?.is_some_and(|entry| entry.order() == taken.order()) {
                reader.skip();
            }
        }
    }
}
