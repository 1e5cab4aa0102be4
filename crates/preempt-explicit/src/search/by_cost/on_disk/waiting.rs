//! What waits to be expanded, as whole states in buckets by cost: the newest of each bucket in memory, the rest in a file, in
//! chunks of one size that are used again when they were read.

use super::super::buckets::Buckets;
use super::super::cost_store::{Site, Who};
use crate::scratch::{Scratch, ScratchFile};
use std::collections::VecDeque;
use std::io::{ErrorKind, Result};
use std::sync::Arc;

/// Somebody is to run in a state that was reached along a path, after which `last` was running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item {
    pub path: Site,
    pub last: u8,
    pub who: Who,
}

/// Of a chunk in the file.
const CHUNK: usize = 1 << 15;

/// Of an item beside its state.
const HEAD: usize = 10;

#[derive(Debug, Default)]
struct Bucket {
    data: Vec<u8>,
    /// Where older ones are in the file.
    chunks: VecDeque<u64>,
    count: u64,
}

pub struct Waiting {
    buckets: Buckets<Bucket>,
    file: Box<dyn ScratchFile>,
    end: u64,
    free: Vec<u64>,
    waiting: u64,
    /// In memory.
    bytes: u64,
    pub most_bytes: u64,
    /// The bucket that is being read.
    reading: Bucket,
    loaded: Vec<u8>,
    at: usize,
}

impl Waiting {
    pub fn new(scratch: &Arc<dyn Scratch>) -> Result<Waiting> {
        Ok(Waiting {
            buckets: Buckets::default(),
            file: scratch.file()?,
            end: 0,
            free: Vec::new(),
            waiting: 0,
            bytes: 0,
            most_bytes: 0,
            reading: Bucket::default(),
            loaded: Vec::new(),
            at: 0,
        })
    }

    pub fn push(&mut self, (level, steps): (u32, u64), item: Item, state: &[u8]) -> Result<()> {
        let bucket = self.buckets.at(level, steps);
        let before = bucket.data.capacity() as u64;
        bucket.data.push(item.who as u8);
        bucket.data.push(item.last);
        bucket.data.extend_from_slice(&item.path.to_le_bytes());
        bucket.data.extend_from_slice(&(state.len() as u32).to_le_bytes());
        bucket.data.extend_from_slice(state);
        bucket.count += 1;
        self.waiting += 1;
        while bucket.data.len() >= CHUNK {
            let at = self.free.pop().unwrap_or_else(|| {
                self.end += CHUNK as u64;
                self.end - CHUNK as u64
            });
            self.file.write_at(at, &bucket.data[..CHUNK])?;
            bucket.chunks.push_back(at);
            bucket.data.drain(..CHUNK);
        }
        self.bytes = self.bytes + bucket.data.capacity() as u64 - before;
        self.most_bytes = self.most_bytes.max(self.bytes);
        Ok(())
    }

    /// Begins to read what waits at this cost.
    pub fn take(&mut self, level: u32, steps: u64) {
        self.reading = self.buckets.take(level, steps);
        self.bytes -= self.reading.data.capacity() as u64;
        self.waiting -= self.reading.count;
        self.loaded.clear();
        self.at = 0;
    }

    /// The next item of the bucket; its state is put behind the others.
    pub fn next(&mut self, states: &mut Vec<u8>) -> Result<Option<Item>> {
        if self.reading.count == 0 {
            return Ok(None);
        }
        self.fill(HEAD)?;
        let head = &self.loaded[self.at..self.at + HEAD];
        let item = Item {
            who: Who::from_bits(head[0]),
            last: head[1],
            path: Site::from_le_bytes([head[2], head[3], head[4], head[5]]),
        };
        let length = u32::from_le_bytes([head[6], head[7], head[8], head[9]]) as usize;
        self.fill(HEAD + length)?;
        states.extend_from_slice(&self.loaded[self.at + HEAD..self.at + HEAD + length]);
        self.at += HEAD + length;
        self.reading.count -= 1;
        Ok(Some(item))
    }

    /// So many bytes from here on are loaded: chunks first, and then what never left memory.
    fn fill(&mut self, wanted: usize) -> Result<()> {
        while self.loaded.len() < self.at + wanted {
            self.loaded.drain(..self.at);
            self.at = 0;
            let start = self.loaded.len();
            match self.reading.chunks.pop_front() {
                Some(chunk) => {
                    self.loaded.resize(start + CHUNK, 0);
                    self.file.read_at(chunk, &mut self.loaded[start..])?;
                    self.free.push(chunk);
                }
                None if self.reading.data.is_empty() => return Err(ErrorKind::UnexpectedEof.into()),
                None => self.loaded.append(&mut self.reading.data),
            }
        }
        Ok(())
    }

    /// The first bucket of a level, at this number of steps or more.
    pub fn next_steps(&self, level: u32, steps: u64) -> Option<u64> {
        self.buckets.next(level, steps)
    }

    pub fn has_level(&self, level: u32) -> bool {
        self.buckets.has_level(level)
    }

    pub fn forget_level(&mut self, level: u32) {
        self.buckets.forget_level(level);
    }

    pub fn count(&self) -> u64 {
        self.waiting
    }

    pub fn bytes(&self) -> u64 {
        self.bytes + self.buckets.bytes() + (self.loaded.capacity() + 8 * self.free.capacity()) as u64
    }
}
