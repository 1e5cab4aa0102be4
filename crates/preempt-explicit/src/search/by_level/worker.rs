//! One thread's part of the search: a stack of states that wait, newest on top, and the successors that were met and not
//! looked up yet. [`steps`] has what one process does in one state.

mod steps;

use super::remembered::Remembered;
use super::waiting::{Block, Feed, Waiting, Who};
use super::{Plan, QUEUED};
use crate::store::packed::encoding::{Encoding, Key, Source, hash_of};
use crate::store::packed::table::{FLAGS, SHARDS, Table, has};
use crate::store::packed::{PackedStore, repacked};
use crate::successors::Expander;
use preempt_core::{Budget, PropertyKind};
use std::collections::BTreeMap;

/// States that are expanded before their successors are looked up.
const BATCH: usize = 48;

/// So many states before it is expanded, the memory for it is asked for.
const AHEAD: usize = 3;

/// States that wait as they are; more than that wait as keys.
const MOST_ON_STACK: usize = 1 << 14;

/// Others have been expanded, or are being expanded.
const DONE: u8 = 2;

/// A state on the stack.
#[derive(Debug, Clone, Copy)]
struct Item {
    key: Key,
    who: Who,
}

/// A successor that was not looked up yet.
#[derive(Debug, Clone, Copy)]
struct Arrival {
    key: Key,
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
    arrivals: Vec<Arrival>,
    remembered: Remembered,
    /// Are steps remembered?
    pub remembers: bool,
    /// The state that is being expanded: its class and its key, its processes, and once something must be computed its bytes.
    source: Source,
    processes: usize,
    is_open: bool,
    state: Vec<u8>,
    /// For opening states, and what a process's steps lead to.
    numbers: Vec<u32>,
    bytes: Vec<u8>,
    starts: Vec<(usize, usize)>,
    /// Met by this thread.
    states: u64,
    #[cfg(debug_assertions)]
    audited: u64,
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
            arrivals: Vec::new(),
            remembered: Remembered::default(),
            remembers: false,
            source: Source::default(),
            processes: 0,
            is_open: false,
            state: Vec::new(),
            numbers: Vec::new(),
            bytes: Vec::new(),
            starts: Vec::new(),
            states: 0,
            #[cfg(debug_assertions)]
            audited: 0,
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
                if let Some(Item { key, who }) = self.stack.get(number + AHEAD) {
                    let processes = match who {
                        Who::Last(process) => usize::from(*process)..usize::from(*process) + 1,
                        Who::Everybody | Who::Others { .. } => 0..usize::MAX,
                    };
                    self.remembered.hint(store.encoding.class_of(key), key, processes);
                }
                self.expand(store, self.stack[number]);
            }
            self.stack.truncate(from);
            self.look_up(store);
            if self.stack.len() > MOST_ON_STACK {
                self.spill(store);
            }
        }
    }

    fn load(&mut self, store: &PackedStore, block: &Block) {
        block.each(store, |key, who| self.stack.push(Item { key, who }));
        if matches!(self.stack.first(), Some(Item { who: Who::Others { .. }, .. })) {
            self.stack.iter().for_each(|item| store.table.prefetch(hash_of(&item.key)));
        }
    }

    /// The older half of the stack waits as keys.
    fn spill(&mut self, store: &PackedStore) {
        for item in self.stack.drain(..self.stack.len() / 2) {
            self.spilled.push(&store.encoding, &item.key, item.who);
        }
    }

    /// Gives everything that is on the stack away, as keys.
    pub fn spill_all(&mut self, store: &PackedStore) {
        for item in self.stack.drain(..) {
            self.spilled.push(&store.encoding, &item.key, item.who);
        }
    }

    /// The store was packed anew.
    pub fn repack(&mut self, store: &PackedStore, old: &Encoding) {
        for item in &mut self.stack {
            item.key = repacked(&store.pieces, old, &store.encoding, &item.key, &mut self.numbers);
        }
        self.remembered.forget();
    }

    pub fn is_idle(&self) -> bool {
        self.stack.is_empty()
    }

    /// Expands an item of the stack.
    fn expand(&mut self, store: &PackedStore, Item { key, who }: Item) {
        self.is_open = false;
        let class = store.encoding.class_of(&key);
        (self.source.class, self.source.key) = (class, key);
        self.processes = match self.remembered.class(class) {
            Some(known) => known.processes,
            None => {
                self.open(store);
                self.remembered.meet(store, &*self.system, class, &self.state);
                self.system.process_count(&self.state)
            }
        };
        match who {
            Who::Everybody => {
                let mut moved = false;
                for process in 0..self.processes {
                    moved |= self.expand_process(store, process);
                }
                if !moved {
                    self.dead_end(store);
                }
            }
            Who::Last(process) => {
                let process_number = usize::from(process);
                let moved = process_number < self.processes && self.expand_process(store, process_number);
                match self.plan.charges_forced {
                    _ if moved => {}
                    true => self.give_way(store),
                    false => self.expand_others(store, Some(process), true),
                }
            }
            Who::Others { blocked } => self.expand_others(store, None, blocked),
        }
    }

    /// From here on the bytes of the state that is expanded are known.
    fn open(&mut self, store: &PackedStore) {
        if !self.is_open {
            let key = self.source.key;
            store.open(&key, &mut self.numbers, &mut self.state);
            store.encoding.begin(&store.pieces, &mut self.source, key);
            self.is_open = true;
        }
    }

    /// Everybody who has not been expanded here. If the last process cannot move, or there is none, it may be that nobody can.
    fn expand_others(&mut self, store: &PackedStore, last: Option<u8>, blocked: bool) {
        let hash = hash_of(&self.source.key);
        let Some(known) = store.table.take_all(&self.source.key, hash, DONE) else { return };
        if known[0] & DONE != 0 {
            return;
        }
        let count = self.processes;
        let mut moved = false;
        let is_expanded = |process: usize| has(&known, FLAGS + process);
        for process in 0..count {
            if !is_expanded(process) {
                moved |= self.expand_process(store, process);
            }
        }
        if blocked && !moved {
            let is_last = |process: usize| last.is_some_and(|last| usize::from(last) == process);
            let may_move = |process: &usize| is_expanded(*process) && !is_last(*process);
            let moves = (0..count).filter(may_move).any(|process| self.can_move(store, process));
            if !moves {
                self.dead_end(store);
            }
        }
    }

    /// The process that was running cannot go on, and that costs something: the others wait for the next level, unless nobody
    /// can move.
    fn give_way(&mut self, store: &PackedStore) {
        let (key, hash) = (self.source.key, hash_of(&self.source.key));
        if (0..self.processes).any(|process| self.can_move(store, process)) {
            let before = store.table.meet(&key, hash, None, QUEUED);
            if before.is_some_and(|before| before.flags & (QUEUED | DONE) == 0) {
                self.later.push(&store.encoding, &key, Who::Others { blocked: false });
            }
        } else if store.table.take_all(&key, hash, DONE).is_some_and(|known| known[0] & DONE == 0) {
            self.dead_end(store);
        }
    }

    fn dead_end(&mut self, store: &PackedStore) {
        self.open(store);
        // Without its budget the system has no moves either.
        if self.budget.stopped().is_none() && !self.system.may_end(&self.state) {
            *self.counted.violations.entry(PropertyKind::Deadlock).or_default() += 1;
        }
    }

    /// A state that was deferred, or an initial one. False if it does not fit.
    pub fn arrive(&mut self, store: &PackedStore, state: &[u8], how: How) -> bool {
        let Some(key) = store.encode(&*self.system, state) else { return false };
        self.arrivals.push(Arrival { key, how });
        self.look_up(store);
        true
    }

    /// Everything that the batch has met: which states are new, and who is to run in them.
    fn look_up(&mut self, store: &PackedStore) {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        for arrival in arrivals.drain(..) {
            if self.meet(store, &arrival).is_none() {
                let mut state = Vec::new();
                store.open(&arrival.key, &mut self.numbers, &mut state);
                self.deferred.push(Deferred { state, how: arrival.how });
            }
        }
        self.arrivals = arrivals;
    }

    /// `None` if the table must grow first.
    #[inline]
    fn meet(&mut self, store: &PackedStore, arrival: &Arrival) -> Option<()> {
        let Arrival { key, how } = *arrival;
        let hash = hash_of(&key);
        if !self.plan.levels {
            if store.table.insert(&key, hash)? {
                self.is_new(store, &key, hash);
                self.stack.push(Item { key, who: Who::Everybody });
            }
            return Some(());
        }
        let queues = how.lives && !how.alone && !how.free;
        let flags = if queues { QUEUED } else { 0 };
        // Of somebody who has ended, nothing is known.
        let process = how.runs.filter(|_| how.lives);
        let met = store.table.meet(&key, hash, process, flags)?;
        if met.is_new {
            self.is_new(store, &key, hash);
        }
        if let Some(process) = process
            && !met.had_process
        {
            self.stack.push(Item { key, who: Who::Last(process) });
        }
        if met.flags & DONE != 0 {
            return Some(());
        }
        if let Some(process) = how.runs.filter(|_| !how.lives && self.plan.charges_forced) {
            self.stack.push(Item { key, who: Who::Last(process) });
        } else if !how.lives || how.free {
            self.stack.push(Item { key, who: Who::Others { blocked: true } });
        } else if queues && met.flags & QUEUED == 0 {
            self.later.push(&store.encoding, &key, Who::Others { blocked: false });
        }
        Some(())
    }

    fn is_new(&mut self, store: &PackedStore, key: &Key, hash: u64) {
        self.counted.states += 1;
        self.states += 1;
        self.new_states += 1;
        self.new[Table::shard(hash)] += 1;
        if self.plan.judges {
            let mut state = Vec::new();
            store.open(key, &mut self.numbers, &mut state);
            if let Some(kind) = self.system.state_violation(&state) {
                *self.counted.violations.entry(kind).or_default() += 1;
            }
        }
    }

    /// Beside the store.
    pub fn memory(&self) -> u64 {
        let stack = self.stack.capacity() * size_of::<Item>();
        let batch = self.arrivals.capacity() * size_of::<Arrival>() + self.bytes.capacity();
        (stack + batch) as u64 + self.later.bytes() + self.spilled.bytes() + self.remembered.bytes()
    }

    pub fn waiting(&self) -> u64 {
        self.stack.len() as u64 + self.later.states() + self.spilled.states()
    }
}
