//! One thread's part of the search: a stack of states that wait, newest on top, and the successors that were met and not
//! looked up yet.

use super::waiting::{Block, Feed, Waiting, Who};
use super::{Plan, QUEUED};
use crate::search::spinning::spins;
use crate::store::packed::encoding::{Key, Source};
use crate::store::packed::table::{FLAGS, SHARDS, Table, has};
use crate::store::packed::{PackedStore, hash_of, repacked};
use crate::successors::{Expander, Sink};
use preempt_core::{Budget, PropertyKind};
use std::collections::BTreeMap;

/// States that are expanded before their successors are looked up.
const BATCH: usize = 48;

/// States that wait as they are; more than that wait as keys.
const MOST_ON_STACK: usize = 1 << 14;

/// Others have been expanded, or are being expanded.
const DONE: u8 = 2;

/// A state on the stack.
#[derive(Debug, Clone, Copy)]
struct Item {
    class: u32,
    key: Key,
    raw: u64,
    start: usize,
    who: Who,
}

/// A successor that was not looked up yet.
#[derive(Debug, Clone, Copy)]
struct Arrival {
    class: u32,
    key: Key,
    raw: u64,
    start: usize,
    length: usize,
    how: How,
}

/// How a state was reached.
#[derive(Debug, Clone, Copy)]
pub struct How {
    /// The process running then; without one it is an initial state.
    pub runs: Option<u8>,
    /// Is it one of the state's processes?
    lives: bool,
    /// The exact reduction lets it go on alone.
    alone: bool,
    /// It may be left for free.
    free: bool,
}

impl How {
    pub const INITIAL: How = How { runs: None, lives: false, alone: false, free: true };
}

/// A successor that could not be looked up: the store must change first.
#[derive(Debug)]
pub struct Deferred {
    pub state: Vec<u8>,
    pub how: How,
}

/// What was counted at one level.
#[derive(Debug, Default)]
pub struct Counted {
    pub states: u64,
    pub transitions: u64,
    pub violations: BTreeMap<PropertyKind, u64>,
}

pub struct Worker<'s, S> {
    system: &'s mut S,
    plan: Plan,
    budget: Budget,
    stack: Vec<Item>,
    stack_bytes: Vec<u8>,
    source: Source,
    /// Of the state that is being expanded.
    processes: usize,
    arrivals: Vec<Arrival>,
    bytes: Vec<u8>,
    pub deferred: Vec<Deferred>,
    pub counted: Counted,
    /// For the next level.
    pub later: Waiting,
    /// For this level, beyond what fits on the stack.
    pub spilled: Waiting,
    /// Since the round began, by shard.
    pub new: [u64; SHARDS],
    new_states: u64,
    work: u64,
}

impl<'s, S: Expander> Worker<'s, S> {
    pub fn new(system: &'s mut S, plan: Plan, budget: &Budget) -> Worker<'s, S> {
        Worker {
            system,
            plan,
            budget: budget.clone(),
            stack: Vec::new(),
            stack_bytes: Vec::new(),
            source: Source::default(),
            processes: 0,
            arrivals: Vec::new(),
            bytes: Vec::new(),
            deferred: Vec::new(),
            counted: Counted::default(),
            later: Waiting::default(),
            spilled: Waiting::default(),
            new: [0; SHARDS],
            new_states: 0,
            work: 0,
        }
    }

    pub fn set_plan(&mut self, plan: Plan) {
        self.plan = plan;
    }

    pub fn system(&mut self) -> &mut S {
        self.system
    }

    /// Works until so many states are new, so much work is done, or nothing waits any more.
    pub fn round(&mut self, store: &PackedStore, feed: &Feed, most_new: u64, most_work: u64) {
        (self.new_states, self.work) = (0, 0);
        loop {
            let is_over = self.new_states >= most_new
                || self.work >= most_work
                || self.deferred.len() > BATCH
                || self.budget.stopped().is_some()
                || self.plan.stops_at_violation && !self.counted.violations.is_empty();
            if is_over {
                break;
            }
            if self.stack.is_empty() {
                let Some(block) = feed.take() else { break };
                self.load(store, &block);
                continue;
            }
            let from = self.stack.len().saturating_sub(BATCH);
            for number in from..self.stack.len() {
                self.expand(store, number);
            }
            self.stack_bytes.truncate(self.stack[from].start);
            self.stack.truncate(from);
            self.look_up(store);
            if self.stack.len() > MOST_ON_STACK {
                self.spill(store);
            }
        }
    }

    fn load(&mut self, store: &PackedStore, block: &Block) {
        block.each(store, |bytes, source, who| {
            let start = self.stack_bytes.len();
            self.stack_bytes.extend_from_slice(bytes);
            self.stack.push(Item { class: source.class, key: source.key, raw: source.raw, start, who });
        });
        if matches!(self.stack.first(), Some(Item { who: Who::Others { .. }, .. })) {
            self.stack.iter().for_each(|item| store.table.prefetch(hash_of(item.raw)));
        }
    }

    /// The older half of the stack waits as keys.
    fn spill(&mut self, store: &PackedStore) {
        let half = self.stack.len() / 2;
        let bytes = self.stack[half].start;
        for item in self.stack.drain(..half) {
            self.spilled.push(&store.encoding, &item.key, item.who);
        }
        self.stack_bytes.drain(..bytes);
        self.stack.iter_mut().for_each(|item| item.start -= bytes);
    }

    /// Gives everything that is on the stack away, as keys.
    pub fn spill_all(&mut self, store: &PackedStore) {
        for item in self.stack.drain(..) {
            self.spilled.push(&store.encoding, &item.key, item.who);
        }
        self.stack_bytes.clear();
    }

    /// The store was packed anew.
    pub fn repack(&mut self, store: &PackedStore, old: &crate::store::packed::encoding::Encoding) {
        for item in &mut self.stack {
            item.key = repacked(&store.pieces, old, &store.encoding, &item.key).0;
        }
    }

    pub fn is_idle(&self) -> bool {
        self.stack.is_empty()
    }

    /// Expands an item of the stack.
    fn expand(&mut self, store: &PackedStore, number: usize) {
        let Item { class, key, raw, start, who } = self.stack[number];
        let end = self.stack.get(number + 1).map_or(self.stack_bytes.len(), |next| next.start);
        let bytes = std::mem::take(&mut self.stack_bytes);
        let state = &bytes[start..end];
        store.encoding.begin(&store.pieces, &mut self.source, (class, key, raw));
        let count = self.system.process_count(state);
        self.processes = count;
        match who {
            Who::Everybody => {
                let mut moved = false;
                for process in 0..count {
                    moved |= self.expand_process(store, state, process);
                }
                if !moved {
                    self.dead_end(state);
                }
            }
            Who::Last(process) => {
                let moved =
                    usize::from(process) < count && self.expand_process(store, state, usize::from(process));
                match self.plan.charges_forced {
                    _ if moved => {}
                    true => self.give_way(store, state),
                    false => self.expand_others(store, state, Some(process), true),
                }
            }
            Who::Others { blocked } => self.expand_others(store, state, None, blocked),
        }
        self.stack_bytes = bytes;
    }

    /// Everybody who has not been expanded here. If the last process cannot move, or there is none, it may be that nobody can.
    fn expand_others(&mut self, store: &PackedStore, state: &[u8], last: Option<u8>, blocked: bool) {
        let hash = hash_of(self.source.raw);
        let Some(known) = store.table.take_all(&self.source.key, hash, DONE) else { return };
        if known[0] & DONE != 0 {
            return;
        }
        let count = self.processes;
        let mut moved = false;
        let is_expanded = |process: usize| has(&known, FLAGS + process);
        for process in 0..count {
            if !is_expanded(process) {
                moved |= self.expand_process(store, state, process);
            }
        }
        if blocked && !moved {
            let is_last = |process: usize| last.is_some_and(|last| usize::from(last) == process);
            let may_move = |process: &usize| is_expanded(*process) && !is_last(*process);
            let moves = (0..count).filter(may_move).any(|process| self.system.can_move(state, process));
            if !moves {
                self.dead_end(state);
            }
        }
    }

    /// The process that was running cannot go on, and that costs something: the others wait for the next level, unless nobody
    /// can move.
    fn give_way(&mut self, store: &PackedStore, state: &[u8]) {
        let (key, hash) = (self.source.key, hash_of(self.source.raw));
        if (0..self.processes).any(|process| self.system.can_move(state, process)) {
            let before = store.table.meet(&key, hash, None, QUEUED);
            if before.is_some_and(|before| before.flags & (QUEUED | DONE) == 0) {
                self.later.push(&store.encoding, &key, Who::Others { blocked: false });
            }
        } else if store.table.take_all(&key, hash, DONE).is_some_and(|known| known[0] & DONE == 0) {
            self.dead_end(state);
        }
    }

    fn dead_end(&mut self, state: &[u8]) {
        // Without its budget the system has no moves either.
        if self.budget.stopped().is_none() && !self.system.may_end(state) {
            *self.counted.violations.entry(PropertyKind::Deadlock).or_default() += 1;
        }
    }

    fn expand_process(&mut self, store: &PackedStore, state: &[u8], process: usize) -> bool {
        let (first, before) = (self.arrivals.len(), self.bytes.len());
        let header = self.system.header();
        let mut met = Met {
            store,
            source: &self.source,
            state,
            header,
            processes: self.processes,
            arrivals: &mut self.arrivals,
            bytes: &mut self.bytes,
            violations: &mut self.counted.violations,
            others: false,
        };
        let moved = self.system.expand_into(state, process, &mut met);
        let others = met.others;
        let transitions = (self.arrivals.len() - first) as u64;
        self.counted.transitions += transitions;
        self.work += 1 + transitions;
        debug_assert!(self.bytes.len() >= before);
        if others || self.plan.reduces || self.plan.fair_switch {
            self.finish_arrivals(store, first);
        }
        moved
    }

    /// What needs the system waits until it is done with the expansion.
    fn finish_arrivals(&mut self, store: &PackedStore, first: usize) {
        for number in first..self.arrivals.len() {
            let Arrival { class, start, length, how, .. } = self.arrivals[number];
            let next = &self.bytes[start..start + length];
            let runs = how.runs.unwrap_or(u8::MAX);
            let lives = usize::from(runs) < self.system.process_count(next);
            let alone = self.plan.reduces && lives && self.system.runs_alone(next, usize::from(runs));
            let free = self.plan.fair_switch
                && !alone
                && lives
                && spins(&mut *self.system, &self.budget, next, usize::from(runs));
            let how = How { lives, alone, free, ..how };
            self.arrivals[number].how = how;
            if class != NO_CLASS {
                continue;
            }
            match store.encode(&*self.system, next) {
                Some((class, key, raw)) => {
                    store.table.prefetch(hash_of(raw));
                    self.arrivals[number] = Arrival { class, key, raw, start, length, how };
                }
                None => self.deferred.push(Deferred { state: next.to_vec(), how }),
            }
        }
    }

    /// A state that was deferred, or an initial one. False if it does not fit.
    pub fn arrive(&mut self, store: &PackedStore, state: &[u8], how: How) -> bool {
        let Some((class, key, raw)) = store.encode(&*self.system, state) else { return false };
        let start = self.bytes.len();
        self.bytes.extend_from_slice(state);
        self.arrivals.push(Arrival { class, key, raw, start, length: state.len(), how });
        self.look_up(store);
        true
    }

    /// Everything that the batch has met: which states are new, and who is to run in them.
    fn look_up(&mut self, store: &PackedStore) {
        let (mut arrivals, mut bytes) = (std::mem::take(&mut self.arrivals), std::mem::take(&mut self.bytes));
        for arrival in arrivals.drain(..).filter(|arrival| arrival.class != NO_CLASS) {
            let state = &bytes[arrival.start..arrival.start + arrival.length];
            if self.meet(store, &arrival, state).is_none() {
                self.deferred.push(Deferred { state: state.to_vec(), how: arrival.how });
            }
        }
        bytes.clear();
        (self.arrivals, self.bytes) = (arrivals, bytes);
    }

    /// `None` if the table must grow first.
    #[inline]
    fn meet(&mut self, store: &PackedStore, arrival: &Arrival, state: &[u8]) -> Option<()> {
        let Arrival { key, raw, how, .. } = arrival;
        let hash = hash_of(*raw);
        if !self.plan.levels {
            if store.table.insert(key, hash)? {
                self.is_new(hash, state);
                self.push(arrival, state, Who::Everybody);
            }
            return Some(());
        }
        let queues = how.lives && !how.alone && !how.free;
        let flags = if queues { QUEUED } else { 0 };
        // Of somebody who has ended, nothing is known.
        let process = how.runs.filter(|_| how.lives);
        let met = store.table.meet(key, hash, process, flags)?;
        if met.is_new {
            self.is_new(hash, state);
        }
        if let Some(process) = process
            && !met.had_process
        {
            self.push(arrival, state, Who::Last(process));
        }
        if met.flags & DONE != 0 {
            return Some(());
        }
        if let Some(process) = how.runs.filter(|_| !how.lives && self.plan.charges_forced) {
            self.push(arrival, state, Who::Last(process));
        } else if !how.lives || how.free {
            self.push(arrival, state, Who::Others { blocked: true });
        } else if queues && met.flags & QUEUED == 0 {
            self.later.push(&store.encoding, key, Who::Others { blocked: false });
        }
        Some(())
    }

    fn push(&mut self, arrival: &Arrival, state: &[u8], who: Who) {
        let Arrival { class, key, raw, .. } = *arrival;
        let start = self.stack_bytes.len();
        self.stack_bytes.extend_from_slice(state);
        self.stack.push(Item { class, key, raw, start, who });
    }

    fn is_new(&mut self, hash: u64, state: &[u8]) {
        self.counted.states += 1;
        self.new_states += 1;
        self.new[Table::shard(hash)] += 1;
        if self.plan.judges
            && let Some(kind) = self.system.state_violation(state)
        {
            *self.counted.violations.entry(kind).or_default() += 1;
        }
    }

    /// Beside the store.
    pub fn memory(&self) -> u64 {
        let stack = self.stack.capacity() * size_of::<Item>() + self.stack_bytes.capacity();
        let batch = self.arrivals.capacity() * size_of::<Arrival>() + self.bytes.capacity();
        (stack + batch) as u64 + self.later.bytes() + self.spilled.bytes()
    }

    pub fn waiting(&self) -> u64 {
        self.stack.len() as u64 + self.later.states() + self.spilled.states()
    }
}

/// Of a successor whose key is not known yet.
const NO_CLASS: u32 = u32::MAX;

/// What an expansion writes to.
struct Met<'w> {
    store: &'w PackedStore,
    source: &'w Source,
    state: &'w [u8],
    header: usize,
    /// Of the state.
    processes: usize,
    arrivals: &'w mut Vec<Arrival>,
    bytes: &'w mut Vec<u8>,
    violations: &'w mut BTreeMap<PropertyKind, u64>,
    /// Is there a successor of another class, or one that did not fit?
    others: bool,
}

impl Sink for Met<'_> {
    #[inline]
    fn buffer(&mut self) -> &mut Vec<u8> {
        self.bytes
    }

    #[inline]
    fn arrived(&mut self, start: usize, runs: u8) {
        let next = &self.bytes[start..];
        let length = next.len();
        let lives = usize::from(runs) < self.processes;
        let how = How { runs: Some(runs), lives, alone: false, free: false };
        // States of one class begin in the same way.
        let is_alike = next[..self.header] == self.state[..self.header];
        let PackedStore { encoding, pieces, table, .. } = self.store;
        if is_alike && let Some((key, raw)) = encoding.encode_successor(pieces, self.source, self.state, next)
        {
            table.prefetch(hash_of(raw));
            self.arrivals.push(Arrival { class: self.source.class, key, raw, start, length, how });
            return;
        }
        self.others = true;
        self.arrivals.push(Arrival { class: NO_CLASS, key: [0, 0], raw: 0, start, length, how });
    }

    #[inline]
    fn violated(&mut self, kind: PropertyKind) {
        *self.violations.entry(kind).or_default() += 1;
    }
}
