//! One thread's part of the search: a stack of states that wait, newest on top. What it is to do with them is a matter of the
//! [`Stepper`].

use super::Plan;
use crate::search::keys::arrival::Arrival;
use crate::search::keys::feed::Feed;
use crate::search::keys::how::How;
use crate::search::keys::quota::Quota;
use crate::search::keys::stepper::{Asks, BATCH, Item, Stepper, repack};
use crate::search::keys::waiting::{Waiting, Who};
use crate::search::keys::{DONE, QUEUED};
use crate::store::packed::PackedStore;
use crate::store::packed::encoding::{Encoding, Key, hash_of};
use crate::store::packed::table::{Known, SHARDS, Table};
use crate::successors::Expander;
use preempt_core::Budget;

/// States that wait as they are; more than that wait as keys.
const MOST_ON_STACK: usize = 1 << 14;

/// With fewer on the stack nothing is given to others.
const WORTH_GIVING: usize = 16;

pub struct Worker<'s, S> {
    pub steps: Stepper<'s, S>,
    plan: Plan,
    stack: Vec<Item>,
    /// The states that are expanded now.
    batch: Vec<Item>,
    /// What was known of those of the batch of which everybody has been taken.
    taken: [Known; BATCH],
    /// For the next level.
    pub later: Waiting,
    /// For this level, beyond what fits on the stack.
    pub spilled: Waiting,
    /// Since the round began, by shard.
    pub new: [u64; SHARDS],
    /// Since the last batch.
    new_states: u64,
}

impl<'s, S: Expander> Worker<'s, S> {
    pub fn new(system: &'s mut S, plan: Plan, budget: &Budget) -> Worker<'s, S> {
        let asks = Asks { alone: plan.reduces, steps: false };
        Worker {
            steps: Stepper::new(system, asks, budget),
            plan,
            stack: Vec::new(),
            batch: Vec::new(),
            taken: [Known::NOTHING; BATCH],
            later: Waiting::default(),
            spilled: Waiting::default(),
            new: [0; SHARDS],
            new_states: 0,
        }
    }

    pub fn set_plan(&mut self, plan: Plan) {
        self.plan = plan;
    }

    pub fn system(&mut self) -> &mut S {
        self.steps.system
    }

    /// Works until so many states are new, so much work is done, or nothing waits any more.
    pub fn round(&mut self, store: &PackedStore, feed: &Feed, quota: &Quota) {
        let _entered = feed.enter();
        loop {
            let is_over = quota.is_used_up(&mut self.new_states, &mut self.steps.work)
                || self.steps.deferred.len() > BATCH
                || self.steps.budget.stopped().is_some()
                || self.plan.stops_at_violation && !self.steps.counted.violations.is_empty();
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
            self.steps.ask_about(store, &batch, &self.taken);
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
        let keys = self.stack.iter_mut().map(|item| &mut item.key);
        repack(store, old, &mut self.steps.numbers, keys);
        self.steps.forget();
    }

    pub fn is_idle(&self) -> bool {
        self.stack.is_empty()
    }

    /// Expands an item of the batch, which has this number there. Nearly always everything is remembered.
    #[inline]
    fn expand(&mut self, store: &PackedStore, Item { key, who }: Item, number: usize) {
        let known = matches!(who, Who::Others { .. }).then(|| self.taken[number]);
        if known.is_some_and(|known| known.flags() & DONE != 0) {
            return;
        }
        let mut moved = self.steps.begin(store, &key, number);
        if !self.steps.is_done() || !moved && who != (Who::Others { blocked: false }) {
            moved = self.expand_rest(store, who, known, moved);
        }
        if moved && let Who::Last { first: true, .. } = who {
            self.later.push(&store.encoding, &key, Who::Others { blocked: false });
        }
    }

    /// What was not remembered, or not asked about; `moved`: somebody who was could move. Says whether somebody could.
    fn expand_rest(&mut self, store: &PackedStore, who: Who, known: Option<Known>, moved: bool) -> bool {
        self.steps.meet_class(store);
        match who {
            Who::Everybody => self.steps.expand_everybody(store, moved),
            Who::Last { process, first } => {
                let is_last = |other: usize| other == usize::from(process);
                let moved = self.steps.expand_processes(store, moved, is_last);
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

    /// Everybody who has not been expanded here. If the last process cannot move, or there is none, it may be that nobody can
    /// (`blocked`); `moved`: somebody of these could.
    fn expand_others(
        &mut self,
        store: &PackedStore,
        known: Option<Known>,
        last: Option<u8>,
        (blocked, moved): (bool, bool),
    ) {
        let key = &self.steps.source.key;
        let known = known.or_else(|| store.table.take_all(key, hash_of(key), DONE));
        let Some(known) = known else { return };
        if known.flags() & DONE != 0 {
            return;
        }
        let count = self.steps.processes;
        let is_expanded = |process: usize| known.has(process);
        let moved = self.steps.expand_processes(store, moved, |process| !is_expanded(process));
        if blocked && !moved {
            let is_last = |process: usize| last.is_some_and(|last| usize::from(last) == process);
            let may_move = |process: &usize| is_expanded(*process) && !is_last(*process);
            let moves = (0..count).filter(may_move).any(|process| self.steps.can_move(store, process));
            if !moves {
                self.steps.dead_end(store);
            }
        }
    }

    /// The process that was running cannot go on, and that costs something: the others wait for the next level, unless nobody
    /// can move. `first`: it was said that they wait, but they are nowhere yet.
    fn give_way(&mut self, store: &PackedStore, first: bool) {
        let key = self.steps.source.key;
        let hash = hash_of(&key);
        if (0..self.steps.processes).any(|process| self.steps.can_move(store, process)) {
            let before = store.table.meet(&key, hash, None, QUEUED);
            let is_listed = |flags: u8| flags & DONE != 0 || flags & QUEUED != 0 && !first;
            if before.is_some_and(|before| !is_listed(before.flags)) {
                self.later.push(&store.encoding, &key, Who::Others { blocked: false });
            }
        } else if store.table.take_all(&key, hash, DONE).is_some_and(|known| known.flags() & DONE == 0) {
            self.steps.dead_end(store);
        }
    }

    /// A state that was deferred, or an initial one. False if it does not fit.
    pub fn arrive(&mut self, store: &PackedStore, state: &[u8], how: How) -> bool {
        let Some(key) = store.encode(&*self.steps.system, state) else { return false };
        self.steps.arrivals.push(Arrival::new(key, how));
        self.look_up(store);
        true
    }

    /// Everything that the batch has met: which states are new, and who is to run in them.
    fn look_up(&mut self, store: &PackedStore) {
        let mut arrivals = std::mem::take(&mut self.steps.arrivals);
        for arrival in arrivals.drain(..) {
            if self.meet(store, &arrival).is_none() {
                self.steps.defer(store, &arrival);
            }
        }
        self.steps.arrivals = arrivals;
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
        let lives = how.has(How::LIVES);
        let queues = lives && !how.has(How::ALONE) && !how.has(How::FREE);
        let flags = if queues && !self.plan.fair_switch { QUEUED } else { 0 };
        // Of somebody who has ended, nothing is known.
        let process = how.process().filter(|_| lives);
        let mut met = store.table.meet(&key, hash, process, flags)?;
        let (mut free, mut queues) = (how.has(How::FREE), queues);
        if self.plan.fair_switch && queues {
            // Whoever was here before has seen to the others.
            queues = !met.had_process && met.flags & DONE == 0;
            free = queues && self.steps.freely(store, &key, how).has(How::FREE);
            queues &= !free;
            if queues {
                met.flags = store.table.meet(&key, hash, None, QUEUED)?.flags;
            }
        }
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
        self.steps.counted.states += 1;
        self.steps.states += 1;
        self.new_states += 1;
        self.new[Table::shard(hash)] += 1;
        if self.plan.judges
            && let Some(kind) = self.steps.judge(store, key)
        {
            self.steps.violated(kind, 0);
        }
    }

    /// Beside the store.
    pub fn memory(&self) -> u64 {
        let stack = self.stack.capacity() * size_of::<Item>();
        stack as u64 + self.steps.memory() + self.later.bytes() + self.spilled.bytes()
    }

    pub fn waiting(&self) -> u64 {
        self.stack.len() as u64 + self.later.states() + self.spilled.states()
    }
}
