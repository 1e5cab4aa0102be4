//! What a search does, operation by operation: by which thread, where, how often, and how often another thread came in between.
//!
//! Every run is added at its end, from the steps that it has recorded anyway. Runs are short and there are many, so an operation
//! is looked up by a few bits of its addresses first.

use super::failure::StepRecord;
use super::thread::{CodeLocation, Thread};
use std::collections::HashMap;

/// Operations of one search.
#[derive(Debug)]
pub(crate) struct Tally {
    entries: Vec<Entry>,
    /// Where an entry may stand, by some bits of its key.
    recent: Box<[u32; RECENT]>,
    index: HashMap<Key, u32, foldhash::fast::FixedState>,
    /// Of the run that is added, for each thread: the number of the step after its last one.
    after_last: Vec<usize>,
}

/// The name of the thread, and the addresses of place and verb. A place may have several addresses, where code is compiled several times.
type Key = (u64, usize, usize);

/// An operation.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    key: Key,
    /// The number of the thread in the run that did it first.
    pub thread: usize,
    /// Of the thread, if it has a name.
    pub label: Option<String>,
    pub verb: &'static str,
    pub location: CodeLocation,
    /// How often it was done.
    pub times: u64,
    /// In how many of these another thread has moved since the thread could have done it first.
    pub delayed: u64,
}

const RECENT: usize = 256;

impl Default for Tally {
    fn default() -> Tally {
        let recent = Box::new([u32::MAX; RECENT]);
        Tally { entries: Vec::new(), recent, index: HashMap::default(), after_last: Vec::new() }
    }
}

impl Tally {
    /// A run has come to its end.
    pub fn add_run(&mut self, steps: &[StepRecord], threads: &[Thread]) {
        let mut after_last = std::mem::take(&mut self.after_last);
        after_last.clear();
        after_last.extend(threads.iter().map(|thread| thread.born));
        let mut number = 0;
        for block in steps.chunk_by(|one, other| one.thread == other.thread) {
            let thread = block[0].thread;
            // Within a block nobody has come in between.
            let mut delayed = u64::from(after_last[thread] < number);
            let name = threads[thread].name;
            for step in block {
                let entry = self.entry(name, step, threads);
                entry.times += 1;
                entry.delayed += std::mem::take(&mut delayed);
            }
            number += block.len();
            after_last[thread] = number;
        }
        self.after_last = after_last;
    }

    #[inline]
    fn entry(&mut self, name: u64, step: &StepRecord, threads: &[Thread]) -> &mut Entry {
        let key = (name, std::ptr::from_ref(step.location).addr(), step.verb.as_ptr().addr());
        let slot = (key.0 as usize ^ key.1 >> 3 ^ key.2) % RECENT;
        let mut at = self.recent[slot];
        if self.entries.get(at as usize).is_none_or(|entry| entry.key != key) {
            at = self.look_up(key, step, threads);
            self.recent[slot] = at;
        }
        &mut self.entries[at as usize]
    }

    #[cold]
    fn look_up(&mut self, key: Key, step: &StepRecord, threads: &[Thread]) -> u32 {
        *self.index.entry(key).or_insert_with(|| {
            let (thread, label) = (step.thread, threads[step.thread].label.clone());
            let (verb, location) = (step.verb, step.location);
            self.entries.push(Entry { key, thread, label, verb, location, times: 0, delayed: 0 });
            self.entries.len() as u32 - 1
        })
    }

    /// Everything, with the name of each thread.
    pub fn entries(&self) -> impl Iterator<Item = (u64, &Entry)> {
        self.entries.iter().map(|entry| (entry.key.0, entry))
    }
}
