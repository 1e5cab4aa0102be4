//! Every state that was met, exactly: what is new or was changed lately in memory, the rest in sorted runs.
//!
//! Why runs and not files that are mapped into memory: what is mapped counts as memory of the process, and a hash table on disk
//! is written in random order. Runs are written and merged from the beginning to the end, and a state that is not
//! in them is known by their filters, which are in memory.

use super::entry::{self, Entry};
use super::run::{Run, merge};
use crate::scratch::Scratch;
use crate::store::hash::StateHash;
use crate::store::index::Index;
use preempt_model::search::RunCost;
use std::io::Result;
use std::sync::Arc;

/// More runs than this are merged.
const MOST_RUNS: usize = 6;

pub struct States {
    scratch: Arc<dyn Scratch>,
    /// In memory, one entry after the other, and where each begins.
    entries: Vec<u8>,
    starts: Vec<usize>,
    index: Index,
    /// The newest last.
    runs: Vec<Run>,
    count: u64,
    block: Vec<u8>,
    /// The entry of a state that was found in a run, as long as nothing in it changes.
    seen: Vec<u8>,
}

/// Where a state is remembered: in memory, or as the one that was seen last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Here(u32),
    Seen,
}

impl States {
    pub fn new(scratch: &Arc<dyn Scratch>) -> States {
        States {
            scratch: Arc::clone(scratch),
            entries: Vec::new(),
            starts: Vec::new(),
            index: Index::default(),
            runs: Vec::new(),
            count: 0,
            block: Vec::new(),
            seen: Vec::new(),
        }
    }

    /// Meets a state. Is it new?
    pub fn meet(&mut self, state: &[u8], processes: usize) -> Result<(Place, bool)> {
        let hash = StateHash::of(state, 0).first;
        if let Some(number) = self.index.find(hash, |number| self.entry(number).state() == state) {
            return Ok((Place::Here(number), false));
        }
        for run in self.runs.iter().rev() {
            if run.find(hash, state, &mut self.block, &mut self.seen)? {
                return Ok((Place::Seen, false));
            }
        }
        let start = self.entries.len();
        entry::append(&mut self.entries, hash, self.count, processes, state);
        self.count += 1;
        Ok((Place::Here(self.index_entry(hash, start)), true))
    }

    fn index_entry(&mut self, hash: u64, start: usize) -> u32 {
        let number = self.starts.len() as u32;
        self.starts.push(start);
        let (entries, starts) = (&self.entries, &self.starts);
        let hash_of = |number: u32| Entry::new(&entries[starts[number as usize]..]).hash();
        self.index.insert(hash, number, |_| {}, hash_of);
        number
    }

    fn entry(&self, number: u32) -> Entry<'_> {
        let start = self.starts[number as usize];
        let end = self.starts.get(number as usize + 1).copied().unwrap_or(self.entries.len());
        Entry::new(&self.entries[start..end])
    }

    pub fn at(&self, place: Place) -> Entry<'_> {
        match place {
            Place::Here(number) => self.entry(number),
            Place::Seen => Entry::new(&self.seen),
        }
    }

    /// The entry to change it: from now on it is in memory.
    fn changeable(&mut self, place: Place) -> &mut [u8] {
        let number = match place {
            Place::Here(number) => number,
            Place::Seen => {
                let (hash, start) = (Entry::new(&self.seen).hash(), self.entries.len());
                let known = Entry::new(&self.seen).state();
                // It may have been brought here since it was seen.
                match self.index.find(hash, |number| self.entry(number).state() == known) {
                    Some(number) => number,
                    None => {
                        self.entries.extend_from_slice(&self.seen);
                        self.index_entry(hash, start)
                    }
                }
            }
        };
        let start = self.starts[number as usize];
        &mut self.entries[start..]
    }

    /// The one that was seen is brought here, so that the next can be seen.
    pub fn keep(&mut self, place: Place) -> Place {
        match place {
            Place::Here(_) => place,
            Place::Seen => {
                self.changeable(place);
                let hash = Entry::new(&self.seen).hash();
                let known = Entry::new(&self.seen).state();
                let found = self.index.find(hash, |number| self.entry(number).state() == known);
                found.map_or(place, Place::Here)
            }
        }
    }

    pub fn set_run(&mut self, place: Place, process: usize) {
        entry::set_run(self.changeable(place), process);
        if place == Place::Seen {
            entry::set_run(&mut self.seen, process);
        }
    }

    /// Everybody is to be queued at this cost, unless that was done at a cost as low.
    pub fn lower_everybody(&mut self, place: Place, cost: RunCost) -> bool {
        if self.at(place).everybody() <= cost {
            return false;
        }
        entry::set_everybody(self.changeable(place), cost);
        if place == Place::Seen {
            entry::set_everybody(&mut self.seen, cost);
        }
        true
    }

    /// The number of a state that was met.
    pub fn number_of(&self, state: &[u8]) -> Result<u64> {
        let hash = StateHash::of(state, 0).first;
        if let Some(number) = self.index.find(hash, |number| self.entry(number).state() == state) {
            return Ok(self.entry(number).number());
        }
        let (mut block, mut seen) = (Vec::new(), Vec::new());
        for run in self.runs.iter().rev() {
            if run.find(hash, state, &mut block, &mut seen)? {
                return Ok(Entry::new(&seen).number());
            }
        }
        Ok(u64::MAX)
    }

    /// What is in memory beside the runs.
    pub fn fresh_bytes(&self) -> u64 {
        (self.entries.len() + 8 * self.starts.len()) as u64 + self.index.bytes()
    }

    pub fn bytes(&self) -> u64 {
        let fresh = self.entries.capacity() + 8 * self.starts.capacity();
        let buffers = self.block.capacity() + self.seen.capacity();
        (fresh + buffers) as u64 + self.index.bytes() + self.runs.iter().map(Run::bytes).sum::<u64>()
    }

    /// Everything in memory becomes a run. Places are not valid any more.
    pub fn write_out(&mut self) -> Result<()> {
        let mut order: Vec<u32> = (0..self.starts.len() as u32).collect();
        order.sort_unstable_by(|left, right| self.entry(*left).order().cmp(&self.entry(*right).order()));
        let mut run = Run::new(&self.scratch, order.len() as u64)?;
        for number in order {
            run.push(self.entry(number))?;
        }
        run.finish()?;
        self.runs.push(run);
        self.entries = Vec::new();
        self.starts = Vec::new();
        self.index = Index::default();
        if self.runs.len() > MOST_RUNS {
            let merged = merge(&self.runs, &self.scratch)?;
            self.runs = vec![merged];
        }
        Ok(())
    }
}
