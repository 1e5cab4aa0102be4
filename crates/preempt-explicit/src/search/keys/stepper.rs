//! What processes do in a state that is a key: asked for a batch of states at a time, so that what is remembered is near when
//! it is needed, then state by state. What comes of it are arrivals, which the search looks up.

use super::arrival::{Arrival, Counted, Deferred};
use super::chosen::Asking;
use super::remembered::{Question, Remembered};
use super::waiting::Who;
use crate::search::spinning::Spinning;
use crate::store::hash::StateHash;
use crate::store::packed::PackedStore;
use crate::store::packed::encoding::{Encoding, Key, Source};
use crate::store::packed::table::Known;
use crate::successors::Expander;
use preempt_core::{Budget, PropertyKind};
use std::ops::Range;

/// States that are expanded before their successors are looked up.
pub const BATCH: usize = 48;

/// Somebody is to run in a state.
#[derive(Debug, Clone, Copy)]
pub struct Item {
    pub key: Key,
    pub who: Who,
}

/// What of a step is asked for beside where it leads.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asks {
    /// Does the exact reduction let the process go on alone?
    pub alone: bool,
    /// How many steps it was. If not, it counts as one.
    pub steps: bool,
}

/// Which questions are about an item of the batch.
#[derive(Debug, Clone, Copy, Default)]
struct Asked {
    first: u32,
    end: u32,
    /// Are there such for everybody who is to run?
    is_asked: bool,
}

pub struct Stepper<'s, S> {
    pub system: &'s mut S,
    pub budget: Budget,
    pub asks: Asks,
    pub asking: Asking,
    pub remembered: Remembered,
    /// Are steps remembered?
    pub remembers: bool,
    /// Where the steps of this batch lead to.
    pub arrivals: Vec<Arrival>,
    pub deferred: Vec<Deferred>,
    pub counted: Counted,
    /// The fewest steps to a violation, from the state that it was found in.
    pub nearest: Option<u32>,
    /// What is asked about the states of the batch.
    pub(super) questions: Vec<Question>,
    asked: [Asked; BATCH],
    /// The questions about processes of the state that is being expanded, in the order in which they are expanded.
    pub(super) open_questions: Range<usize>,
    pub(super) is_asked: bool,
    /// The state that is being expanded: its class and its key, its processes, and once something must be computed its bytes.
    pub source: Source,
    pub processes: usize,
    is_open: bool,
    pub state: Vec<u8>,
    /// The key of the last state whose bytes were asked for: that is where they still are.
    opened: Option<Key>,
    /// For opening states, and what a process's steps lead to.
    pub numbers: Vec<u32>,
    pub(super) bytes: Vec<u8>,
    pub(super) starts: Vec<(usize, usize)>,
    /// The last state of which the hash was asked for, and what stands for its class.
    hashed: Source,
    hashed_before: Option<Key>,
    hashed_state: Vec<u8>,
    class_seeds: Vec<Option<u64>>,
    /// A state that somebody has arrived in, and who spins where.
    pub(super) arrived: Vec<u8>,
    pub(super) spinning: Spinning,
    /// Met by this thread.
    pub states: u64,
    /// Done since somebody looked.
    pub work: u64,
    #[cfg(debug_assertions)]
    pub(super) audited: u64,
}

impl<'s, S: Expander> Stepper<'s, S> {
    pub fn new(system: &'s mut S, asks: Asks, budget: &Budget) -> Stepper<'s, S> {
        Stepper {
            system,
            budget: budget.clone(),
            asks,
            asking: Asking::default(),
            remembered: Remembered::default(),
            remembers: false,
            arrivals: Vec::new(),
            deferred: Vec::new(),
            counted: Counted::default(),
            nearest: None,
            questions: Vec::new(),
            asked: [Asked::default(); BATCH],
            open_questions: 0..0,
            is_asked: false,
            source: Source::default(),
            processes: 0,
            is_open: false,
            state: Vec::new(),
            opened: None,
            numbers: Vec::new(),
            bytes: Vec::new(),
            starts: Vec::new(),
            hashed: Source::default(),
            hashed_before: None,
            hashed_state: Vec::new(),
            class_seeds: Vec::new(),
            arrived: Vec::new(),
            spinning: Spinning::default(),
            states: 0,
            work: 0,
            #[cfg(debug_assertions)]
            audited: 0,
        }
    }

    /// Asks about all processes that are to run in the states of a batch, so that the answers are near when they are needed.
    /// `taken` is what was known of those of which everybody has been taken.
    #[inline]
    pub fn ask_about(&mut self, store: &PackedStore, batch: &[Item], taken: &[Known]) {
        if self.asking.asks() {
            return self.ask_nothing();
        }
        self.questions.clear();
        for ((Item { key, who }, taken), asked) in batch.iter().zip(taken).zip(&mut self.asked) {
            let first = self.questions.len() as u32;
            let class = store.encoding.class_of(key);
            let count = if self.remembers { self.remembered.processes(class) } else { 0 };
            let (remembered, questions) = (&mut self.remembered, &mut self.questions);
            match who {
                _ if count == 0 => {}
                Who::Last { process, .. } => {
                    remembered.ask(class, key, std::iter::once(usize::from(*process)), questions);
                }
                Who::Everybody => remembered.ask(class, key, 0..count, questions),
                Who::Others { .. } => remembered.ask(class, key, taken.others(count), questions),
            }
            *asked = Asked { first, end: self.questions.len() as u32, is_asked: count > 0 };
        }
    }

    /// Nothing is asked about the states of a batch, if some are left out there: everything else will be, process by process.
    fn ask_nothing(&mut self) {
        self.questions.clear();
        self.asked.fill(Asked::default());
    }

    /// Begins with an item of the batch, which has this number there, and takes those of its processes whose steps are
    /// remembered, in order. Says whether one could move.
    #[inline]
    pub fn begin(&mut self, store: &PackedStore, key: &Key, number: usize) -> bool {
        let Asked { first, end, is_asked } = self.asked[number];
        (self.open_questions, self.is_asked) = (first as usize..end as usize, is_asked);
        (self.source.class, self.source.key) = (store.encoding.class_of(key), *key);
        self.is_open = false;
        self.take_remembered(store)
    }

    /// Was everybody who is to run remembered?
    #[inline]
    pub fn is_done(&self) -> bool {
        self.is_asked && self.open_questions.is_empty()
    }

    /// From here on it is known how many processes the state has.
    pub fn meet_class(&mut self, store: &PackedStore) {
        let class = self.source.class;
        self.processes = match self.remembered.class(class) {
            Some(known) => known.processes,
            None => {
                self.open(store);
                self.remembered.meet(store, &*self.system, class, &self.state);
                self.system.process_count(&self.state)
            }
        };
    }

    /// From here on the bytes of the state that is expanded are known.
    pub fn open(&mut self, store: &PackedStore) {
        if !self.is_open {
            let before = self.opened.replace(self.source.key);
            store.encoding.open_source(&store.pieces, &mut self.source, before, &mut self.state);
            self.is_open = true;
        }
    }

    /// Nobody can move here.
    pub fn dead_end(&mut self, store: &PackedStore) {
        self.open(store);
        // Without its budget the system has no moves either.
        if self.budget.stopped().is_none() && !self.system.may_end(&self.state) {
            self.violated(PropertyKind::Deadlock, 0);
        }
    }

    /// Nobody can move in this state.
    pub fn dead_end_at(&mut self, store: &PackedStore, key: &Key) {
        (self.source.class, self.source.key) = (store.encoding.class_of(key), *key);
        self.is_open = false;
        self.dead_end(store);
    }

    /// In the state that is expanded, or after so many steps from there.
    pub fn violated(&mut self, kind: PropertyKind, steps: u32) {
        *self.counted.violations.entry(kind).or_default() += 1;
        self.nearest = Some(self.nearest.map_or(steps, |known| known.min(steps)));
    }

    /// A state that is new is looked at by itself.
    pub fn judge(&mut self, store: &PackedStore, key: &Key) -> Option<PropertyKind> {
        let mut state = Vec::new();
        store.open(key, &mut self.numbers, &mut state);
        self.system.state_violation(&state)
    }

    /// The arrival cannot be looked up now.
    pub fn defer(&mut self, store: &PackedStore, arrival: &Arrival) {
        let mut state = Vec::new();
        store.open(&arrival.key, &mut self.numbers, &mut state);
        self.deferred.push(Deferred { state, how: arrival.how });
    }

    /// The store was packed anew: whatever is not a key of today's is forgotten.
    pub fn forget(&mut self) {
        (self.opened, self.hashed_before) = (None, None);
        self.remembered.forget();
    }

    /// Of what the state means: the same whatever numbers its pieces have, and whichever thread asks.
    pub fn content_hash(&mut self, store: &PackedStore, key: &Key, seed: u64) -> StateHash {
        let class = store.encoding.class_of(key);
        (self.hashed.class, self.hashed.key) = (class, *key);
        // Mostly it is much like the one before.
        let before = self.hashed_before.replace(*key);
        store.encoding.open_source(&store.pieces, &mut self.hashed, before, &mut self.hashed_state);
        let number = class as usize;
        if self.class_seeds.len() <= number {
            self.class_seeds.resize(number + 1, None);
        }
        let class_seed = *self.class_seeds[number].get_or_insert_with(|| {
            let class = self.system.class_of(&self.hashed_state);
            let description = self.system.describe_class(class).unwrap_or_else(|| vec![class as u16]);
            let bytes: Vec<u8> = description.iter().flat_map(|number| number.to_le_bytes()).collect();
            StateHash::of(&bytes, 0).first
        });
        StateHash::of(&self.hashed_state[self.system.header()..], seed ^ class_seed)
    }

    /// How many processes a state has.
    pub fn processes_of(&mut self, store: &PackedStore, key: &Key) -> usize {
        let class = store.encoding.class_of(key);
        if let Some(known) = self.remembered.class(class) {
            return known.processes;
        }
        let mut state = Vec::new();
        store.open(key, &mut self.numbers, &mut state);
        self.system.process_count(&state)
    }

    /// Beside the store.
    pub fn memory(&self) -> u64 {
        let batch = self.arrivals.capacity() * size_of::<Arrival>() + self.bytes.capacity();
        batch as u64 + self.remembered.bytes() + self.spinning.bytes()
    }
}

/// Keys of the packing before in that of today.
pub fn repack<'k>(
    store: &PackedStore,
    old: &Encoding,
    numbers: &mut Vec<u32>,
    keys: impl Iterator<Item = &'k mut Key>,
) {
    let repacking = store.repacking(old);
    keys.for_each(|key| *key = repacking.key(key, numbers));
}
