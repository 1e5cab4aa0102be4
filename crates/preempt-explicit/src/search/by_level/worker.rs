//! One thread's part of the search: a stack of states that wait, newest on top, and the successors that were met and not
//! looked up yet. [`steps`] has what one process does in one state.

mod steps;

use super::feed::Feed;
use super::how::How;
use super::quota::Quota;
use super::remembered::{Question, Remembered};
use super::waiting::{Waiting, Who};
use super::{Plan, QUEUED};
use crate::store::packed::PackedStore;
use crate::store::packed::encoding::{Encoding, Key, Source, hash_of};
use crate::store::packed::table::{Known, SHARDS, Table};
use crate::successors::Expander;
use preempt_core::{Budget, PropertyKind};
use std::collections::BTreeMap;
use std::ops::Range;

/// States that are expanded before their successors are looked up.
const BATCH: usize = 48;

/// States that wait as they are; more than that wait as keys.
const MOST_ON_STACK: usize = 1 << 14;

/// With fewer on the stack nothing is given to others.
const WORTH_GIVING: usize = 16;

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
    hash: u64,
    how: How,
}

impl Arrival {
    #[inline]
    fn new(key: Key, how: How) -> Arrival {
        Arrival { key, hash: hash_of(&key), how }
    }
}

/// Which questions are about an item of the stack.
#[derive(Debug, Clone, Copy, Default)]
struct Asked {
    first: u32,
    end: u32,
    /// Has everybody been taken?
    is_taken: bool,
    /// Are there such for everybody who is to run?
    is_asked: bool,
}

/// A successor that could not be looked up: the store must change first.
#[derive(Debug)]
pub struct Deferred {
    pub state: Vec<u8>,
    pub how: How,
}

/// How often the strong reduction was asked, and how often it has left somebody out.
#[derive(Debug, Default)]
pub struct Sample {
    asked: u64,
    helped: u64,
}

impl Sample {
    /// Asking takes longer than the steps that are left out, if it is nearly always in vain.
    pub fn helps(&self) -> bool {
        self.asked <= 32 * self.helped || self.asked == 0
    }
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
    /// The states that are expanded now.
    batch: Vec<Item>,
    /// What is asked about the states of the batch.
    questions: Vec<Question>,
    asked: [Asked; BATCH],
    /// What was known of those of the batch of which everybody has been taken.
    taken: [Known; BATCH],
    /// The questions about processes of the state that is being expanded, in the order in which they are expanded.
    open_questions: Range<usize>,
    is_asked: bool,
    remembered: Remembered,
    /// Are steps remembered?
    pub remembers: bool,
    /// As long as it is open whether the strong reduction helps.
    pub sample: Option<Sample>,
    /// The state that is being expanded: its class and its key, its processes, and once something must be computed its bytes.
    source: Source,
    processes: usize,
    is_open: bool,
    state: Vec<u8>,
    /// The key of the last state whose bytes were asked for: that is where they still are.
    opened: Option<Key>,
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
    /// Since the last batch.
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
            batch: Vec::new(),
            questions: Vec::new(),
            asked: [Asked::default(); BATCH],
            taken: [Known::NOTHING; BATCH],
            open_questions: 0..0,
            is_asked: false,
            remembered: Remembered::default(),
            remembers: false,
            sample: None,
            source: Source::default(),
            processes: 0,
            is_open: false,
            state: Vec::new(),
            opened: None,
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
    pub fn round(&mut self, store: &PackedStore, feed: &Feed, quota: &Quota) {
        let _entered = feed.enter();
        loop {
            let is_over = quota.is_used_up(&mut self.new_states, &mut self.work)
                || self.deferred.len() > BATCH
                || self.budget.stopped().is_some()
                || self.plan.stops_at_violation && !self.counted.violations.is_empty();
            if is_over {
                break;
            }
            if self.stack.is_empty() {
                let Some(block) = feed.take() else { break };
                block.each(store, |key, who| self.stack.push(Item { key, who }));
                continue;
            }
            let mut batch = std::mem::take(&mut self.batch);
            self.take_newest(store, &mut batch);
            self.ask_about(store, &batch);
            for (number, item) in batch.iter().enumerate().take(BATCH) {
                self.expand(store, *item, number);
            }
            self.batch = batch;
            self.look_up(store);
            if self.stack.len() > MOST_ON_STACK {
                let half = self.older_half(store);
                self.spilled.append(half);
            } else if self.stack.len() > WORTH_GIVING && feed.is_asked() {
                feed.give(self.older_half(store));
            }
        }
    }

    /// The newest states that wait, and what is known of those of which everybody else is taken.
    #[inline]
    fn take_newest(&mut self, store: &PackedStore, batch: &mut Vec<Item>) {
        let from = self.stack.len().saturating_sub(BATCH);
        batch.clear();
        batch.extend_from_slice(&self.stack[from..]);
        self.stack.truncate(from);
        let are_others = |item: &Item| matches!(item.who, Who::Others { .. });
        for item in batch.iter().filter(|item| are_others(item)) {
            store.table.prefetch(hash_of(&item.key));
        }
        for (item, taken) in batch.iter().zip(&mut self.taken).filter(|(item, _)| are_others(item)) {
            *taken = store.table.take_all(&item.key, hash_of(&item.key), DONE).unwrap_or(Known::EVERYTHING);
        }
    }

    /// Asks about all processes that are to run in the states of a batch, so that the answers are near when they are needed.
    fn ask_about(&mut self, store: &PackedStore, batch: &[Item]) {
        self.questions.clear();
        let places = self.asked.iter_mut().zip(&self.taken);
        for (Item { key, who }, (asked, taken)) in batch.iter().zip(places) {
            let first = self.questions.len() as u32;
            let class = store.encoding.class_of(key);
            let count = if self.remembers { self.remembered.processes(class) } else { 0 };
            let (remembered, questions) = (&mut self.remembered, &mut self.questions);
            match who {
                _ if count == 0 || self.plan.persistent => {}
                Who::Last { process, .. } => {
                    remembered.ask(class, key, std::iter::once(usize::from(*process)), questions);
                }
                Who::Everybody => remembered.ask(class, key, 0..count, questions),
                Who::Others { .. } => remembered.ask(class, key, taken.others(count), questions),
            }
            let (end, is_taken) = (self.questions.len() as u32, matches!(who, Who::Others { .. }));
            let is_asked = count > 0 && !self.plan.persistent;
            *asked = Asked { first, end, is_taken, is_asked };
        }
    }

    /// The older half of the stack, as keys.
    fn older_half(&mut self, store: &PackedStore) -> Waiting {
        let mut half = Waiting::default();
        for item in self.stack.drain(..self.stack.len() / 2) {
            half.push(&store.encoding, &item.key, item.who);
        }
        half
    }

    /// The store was packed anew.
    pub fn repack(&mut self, store: &PackedStore, old: &Encoding) {
        let repacking = store.repacking(old);
        for item in &mut self.stack {
            item.key = repacking.key(&item.key, &mut self.numbers);
        }
        self.opened = None;
        self.remembered.forget();
    }

    pub fn is_idle(&self) -> bool {
        self.stack.is_empty()
    }

    /// Expands an item of the batch, which has this number there. Nearly always everything is remembered.
    #[inline]
    fn expand(&mut self, store: &PackedStore, Item { key, who }: Item, number: usize) {
        let Asked { first, end, is_taken, is_asked } = self.asked[number];
        if is_taken && self.taken[number].flags() & DONE != 0 {
            return;
        }
        (self.open_questions, self.is_asked) = (first as usize..end as usize, is_asked);
        (self.source.class, self.source.key) = (store.encoding.class_of(&key), key);
        self.is_open = false;
        let mut moved = self.take_remembered(store);
        let is_done = self.is_asked && self.open_questions.is_empty();
        if !is_done || !moved && who != (Who::Others { blocked: false }) {
            let known = if is_taken { Some(self.taken[number]) } else { None };
            moved = self.expand_rest(store, who, known, moved);
        }
        if moved && let Who::Last { first: true, .. } = who {
            self.later.push(&store.encoding, &key, Who::Others { blocked: false });
        }
    }

    /// What was not remembered, or not asked about; `moved`: somebody who was could move. Says whether somebody could.
    fn expand_rest(&mut self, store: &PackedStore, who: Who, known: Option<Known>, moved: bool) -> bool {
        let class = self.source.class;
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
                let chosen = self.chosen(store);
                let is_chosen =
                    |process: usize| chosen.as_ref().is_none_or(|it| it.contains(&(process as u8)));
                let moved = self.expand_processes(store, moved, is_chosen);
                if !moved {
                    self.dead_end(store);
                }
                moved
            }
            Who::Last { process, first } => {
                let is_last = |other: usize| other == usize::from(process);
                let moved = self.expand_processes(store, moved, is_last);
                match self.plan.charges_forced {
                    _ if moved => {}
                    true => self.give_way(store, first),
                    false => self.expand_others(store, None, Some(process), (true, false)),
                }
                moved
            }
            Who::Others { blocked } => {
                self.expand_others(store, known, None, (blocked, moved));
                moved
            }
        }
    }

    /// To whom the strong reduction restricts itself here; `None` for everybody.
    fn chosen(&mut self, store: &PackedStore) -> Option<Vec<u8>> {
        if !self.plan.persistent {
            return None;
        }
        self.open(store);
        let chosen = self.system.persistent(&self.state);
        if let Some(sample) = &mut self.sample {
            let is_left_out =
                |process: &usize| chosen.as_ref().is_some_and(|chosen| !chosen.contains(&(*process as u8)));
            // Who cannot move is not left out.
            let mut left_out = (0..self.processes).filter(is_left_out);
            sample.asked += 1;
            sample.helped += u64::from(left_out.any(|process| self.system.can_move(&self.state, process)));
        }
        chosen
    }

    /// From here on the bytes of the state that is expanded are known.
    fn open(&mut self, store: &PackedStore) {
        if !self.is_open {
            let before = self.opened.replace(self.source.key);
            store.encoding.open_source(&store.pieces, &mut self.source, before, &mut self.state);
            self.is_open = true;
        }
    }

    /// Everybody who has not been expanded here. If the last process cannot move, or there is none, it may be that nobody can
    /// (`blocked`); `moved`: somebody of these could.
    fn expand_others(
        &mut self,
        store: &PackedStore,
        known: Option<Known>,
        last: Option<u8>,
        (blocked, moved): (bool, bool),
    ) {
        let key = &self.source.key;
        let known = known.or_else(|| store.table.take_all(key, hash_of(key), DONE));
        let Some(known) = known else { return };
        if known.flags() & DONE != 0 {
            return;
        }
        let count = self.processes;
        let is_expanded = |process: usize| known.has(process);
        let moved = self.expand_processes(store, moved, |process| !is_expanded(process));
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
    /// can move. `first`: it was said that they wait, but they are nowhere yet.
    fn give_way(&mut self, store: &PackedStore, first: bool) {
        let (key, hash) = (self.source.key, hash_of(&self.source.key));
        if (0..self.processes).any(|process| self.can_move(store, process)) {
            let before = store.table.meet(&key, hash, None, QUEUED);
            let is_listed = |flags: u8| flags & DONE != 0 || flags & QUEUED != 0 && !first;
            if before.is_some_and(|before| !is_listed(before.flags)) {
                self.later.push(&store.encoding, &key, Who::Others { blocked: false });
            }
        } else if store.table.take_all(&key, hash, DONE).is_some_and(|known| known.flags() & DONE == 0) {
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
        self.arrivals.push(Arrival::new(key, how));
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
        let Arrival { key, hash, how } = *arrival;
        if !self.plan.levels {
            if store.table.insert(&key, hash)? {
                self.is_new(store, &key, hash);
                self.stack.push(Item { key, who: Who::Everybody });
            }
            return Some(());
        }
        let (lives, free) = (how.has(How::LIVES), how.has(How::FREE));
        let queues = lives && !how.has(How::ALONE) && !free;
        let flags = if queues { QUEUED } else { 0 };
        // Of somebody who has ended, nothing is known.
        let process = how.process().filter(|_| lives);
        let met = store.table.meet(&key, hash, process, flags)?;
        if met.is_new {
            self.is_new(store, &key, hash);
        }
        let first = queues && met.flags & (QUEUED | DONE) == 0;
        if let Some(process) = process
            && !met.had_process
        {
            self.stack.push(Item { key, who: Who::Last { process, first } });
        } else if first {
            self.later.push(&store.encoding, &key, Who::Others { blocked: false });
        }
        if met.flags & DONE != 0 {
            return Some(());
        }
        if let Some(process) = how.process().filter(|_| !lives && self.plan.charges_forced) {
            self.stack.push(Item { key, who: Who::Last { process, first: false } });
        } else if !lives || free {
            self.stack.push(Item { key, who: Who::Others { blocked: true } });
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
