//! One thread's part of a bucket: expands what waits there, and keeps what may be new for the end of the bucket.

use super::Plan;
use super::met::Met;
use crate::search::keys::feed::Feed;
use crate::search::keys::how::How;
use crate::search::keys::quota::Quota;
use crate::search::keys::stepper::{Asks, BATCH, Item, Stepper, repack};
use crate::search::keys::waiting::{Waiting, Who};
use crate::search::keys::{DONE, QUEUED};
use crate::store::packed::PackedStore;
use crate::store::packed::encoding::{Encoding, Key};
use crate::store::packed::table::{Known, Meeting, SHARDS};
use crate::successors::Expander;
use preempt_core::Budget;

/// Most sequences have fewer steps.
const FEW: usize = 30;

/// Empty lists that are kept.
const MOST_SPARE: usize = 2;

/// An arrival that may be the first of its kind.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<I> {
    pub key: Key,
    pub how: How,
    pub id: I,
}

/// What a bucket brings that waits.
#[derive(Debug, Default)]
pub struct Brought {
    /// Processes that go on, and others, in the next bucket.
    pub next: Waiting,
    pub next_others: Waiting,
    /// Others at the next level, after as many steps.
    pub later: Waiting,
}

pub struct Worker<'s, S, I> {
    pub steps: Stepper<'s, S>,
    pub plan: Plan,
    batch: Vec<Item>,
    taken: [Known; BATCH],
    /// Which of the batch are others, what they are known by, and how many processes there are.
    others: Vec<(usize, I, usize)>,
    /// After one step more.
    pub candidates: Vec<Candidate<I>>,
    /// After more steps than one: by how many more than two, and those after many.
    far: [Vec<Candidate<I>>; FEW],
    farther: Vec<Candidate<I>>,
    /// Empty, to be used again: to have the memory anew takes longer than what is written there.
    spare: Vec<Vec<Candidate<I>>>,
    /// The process that ran cannot go on, so that others run in the same bucket.
    pub forced: Waiting,
    /// As far as this costs a switch: others wait; nobody can move.
    pub gave_way: Vec<Key>,
    pub stuck: Vec<Key>,
    pub brought: Brought,
    /// Is what lies one step further within what is searched, and others there at the next level?
    pub wants_next: bool,
    pub wants_later: bool,
    /// Was there anything that is not?
    pub left_out_next: bool,
    pub left_out_later: bool,
    /// New since somebody looked, by the shard of a table.
    pub new: [u64; SHARDS],
    /// A state that is new is a violation by itself.
    pub judged: bool,
    /// In one state, at most.
    pub most_processes: usize,
}

impl<'s, S: Expander, I: Copy + Send + Sync> Worker<'s, S, I> {
    pub fn new(system: &'s mut S, plan: Plan, budget: &Budget) -> Worker<'s, S, I> {
        let asks = Asks { alone: plan.reduces, steps: plan.counts_steps };
        Worker {
            steps: Stepper::new(system, asks, budget),
            plan,
            batch: Vec::new(),
            taken: [Known::NOTHING; BATCH],
            others: Vec::new(),
            candidates: Vec::new(),
            far: std::array::from_fn(|_| Vec::new()),
            farther: Vec::new(),
            spare: Vec::new(),
            forced: Waiting::default(),
            gave_way: Vec::new(),
            stuck: Vec::new(),
            brought: Brought::default(),
            wants_next: false,
            wants_later: false,
            left_out_next: false,
            left_out_later: false,
            new: [0; SHARDS],
            judged: false,
            most_processes: 0,
        }
    }

    /// Expands what waits until nothing does, or so much was done.
    pub fn round<M: Met<Id = I>>(&mut self, store: &PackedStore, met: &M, feed: &Feed, quota: &Quota) {
        let _entered = feed.enter();
        let mut new = 0;
        while !quota.is_used_up(&mut new, &mut self.steps.work)
            && self.steps.deferred.len() <= BATCH
            && self.steps.budget.stopped().is_none()
            && let Some(block) = feed.take()
        {
            let before = self.steps.counted.states;
            let mut batch = std::mem::take(&mut self.batch);
            batch.clear();
            block.each(store, |key, who| batch.push(Item { key, who }));
            for batch in batch.chunks(BATCH) {
                self.take_others(store, met, batch);
                self.steps.ask_about(store, batch, &self.taken);
                for (number, item) in batch.iter().enumerate() {
                    self.expand(store, *item, number);
                }
                self.sort_out(store, met);
            }
            self.batch = batch;
            new += self.steps.counted.states - before;
        }
    }

    /// What was known of those of which everybody else is taken.
    fn take_others<M: Met<Id = I>>(&mut self, store: &PackedStore, met: &M, batch: &[Item]) {
        self.others.clear();
        for (number, Item { key, who }) in batch.iter().enumerate() {
            if matches!(who, Who::Others { .. }) {
                let id = met.id(&mut self.steps, store, key);
                let processes = self.steps.processes_of(store, key);
                met.prefetch_all(store, &id, key, processes);
                self.others.push((number, id, processes));
            }
        }
        for (number, id, processes) in &self.others {
            self.taken[*number] = met.take_all(store, id, &batch[*number].key, *processes);
        }
    }

    /// Nearly always everything is remembered.
    #[inline]
    fn expand(&mut self, store: &PackedStore, Item { key, who }: Item, number: usize) {
        if matches!(who, Who::Others { .. }) && self.taken[number].flags() & DONE != 0 {
            return;
        }
        let moved = self.steps.begin(store, &key, number);
        if !self.steps.is_done() || !moved {
            self.expand_rest(store, who, number, moved);
        }
    }

    /// What was not remembered, or not asked about; `moved`: somebody who was could move.
    fn expand_rest(&mut self, store: &PackedStore, who: Who, number: usize, moved: bool) {
        self.steps.meet_class(store);
        match who {
            Who::Everybody => {
                self.steps.expand_everybody(store, moved);
            }
            Who::Last { process, .. } => {
                let is_last = |other: usize| other == usize::from(process);
                if !self.steps.expand_processes(store, moved, is_last) {
                    self.give_way(store);
                }
            }
            Who::Others { .. } => {
                let known = self.taken[number];
                let is_expanded = |process: usize| known.has(process);
                if !self.steps.expand_processes(store, moved, |process| !is_expanded(process)) {
                    let mut expanded = (0..self.steps.processes).filter(|process| is_expanded(*process));
                    if !expanded.any(|process| self.steps.can_move(store, process)) {
                        self.steps.dead_end(store);
                    }
                }
            }
        }
    }

    /// The process that was running cannot go on.
    fn give_way(&mut self, store: &PackedStore) {
        let key = self.steps.source.key;
        if !self.plan.charges_forced {
            self.forced.push(&store.encoding, &key, Who::Others { blocked: true });
        } else if (0..self.steps.processes).any(|process| self.steps.can_move(store, process)) {
            self.gave_way.push(key);
        } else {
            self.stuck.push(key);
        }
    }

    /// Everything that the batch has met: what is known is forgotten.
    fn sort_out<M: Met<Id = I>>(&mut self, store: &PackedStore, met: &M) {
        let mut arrivals = std::mem::take(&mut self.steps.arrivals);
        let first = self.candidates.len();
        for arrival in arrivals.drain(..) {
            let id = met.id(&mut self.steps, store, &arrival.key);
            let candidate = Candidate { key: arrival.key, how: arrival.how, id };
            met.prefetch(store, &candidate);
            self.candidates.push(candidate);
        }
        self.steps.arrivals = arrivals;
        let mut kept = first;
        for number in first..self.candidates.len() {
            let mut candidate = self.candidates[number];
            let is_far = candidate.how.steps() > 1;
            let at_once = match self.plan.levels || is_far {
                true => None,
                false => met.insert_at_once(store, &candidate),
            };
            if at_once == Some(true) {
                self.new[met.shard_of(&candidate)] += 1;
                self.land(store, &candidate, Meeting { is_new: true, had_process: true, flags: 0 });
                continue;
            }
            if at_once == Some(false) || met.is_known(store, &candidate) {
                // It is known at a cost as low.
                continue;
            }
            if self.plan.fair_switch {
                candidate.how = self.steps.freely(store, &candidate.key, candidate.how);
            }
            if is_far {
                self.keep_far(candidate);
            } else {
                self.candidates[kept] = candidate;
                kept += 1;
            }
        }
        self.candidates.truncate(kept);
    }

    pub fn keep_far(&mut self, candidate: Candidate<I>) {
        let more = candidate.how.steps() as usize - 2;
        let far = self.far.get_mut(more).unwrap_or(&mut self.farther);
        if far.capacity() == 0
            && let Some(spare) = self.spare.pop()
        {
            *far = spare;
        }
        far.push(candidate);
    }

    /// What was met after more steps than one, some of it after as many.
    pub fn take_far(&mut self) -> impl Iterator<Item = Vec<Candidate<I>>> {
        let farther = std::mem::take(&mut self.farther);
        let one_by_one = farther.into_iter().map(|candidate| vec![candidate]);
        self.far.iter_mut().filter(|some| !some.is_empty()).map(std::mem::take).chain(one_by_one)
    }

    /// More candidates.
    pub fn take_up(&mut self, mut some: Vec<Candidate<I>>) {
        if self.candidates.is_empty() {
            std::mem::swap(&mut self.candidates, &mut some);
        }
        self.candidates.append(&mut some);
        if some.capacity() > 0 && self.spare.len() < MOST_SPARE {
            self.spare.push(some);
        }
    }

    /// A state that was deferred, or an initial one. False if it does not fit.
    pub fn arrive<M: Met<Id = I>>(&mut self, store: &PackedStore, met: &M, state: &[u8], how: How) -> bool {
        let Some(key) = store.encode(&*self.steps.system, state) else { return false };
        self.most_processes = self.most_processes.max(self.steps.system.process_count(state));
        let how = if self.plan.fair_switch { self.steps.freely(store, &key, how) } else { how };
        let candidate = Candidate { key, how, id: met.id(&mut self.steps, store, &key) };
        match how.steps() > 1 {
            true => self.keep_far(candidate),
            false => self.candidates.push(candidate),
        }
        true
    }

    /// A candidate is looked up: this is what was known. Says who is to run there, and when.
    #[inline]
    pub fn land(&mut self, store: &PackedStore, candidate: &Candidate<I>, met: Meeting) {
        let Candidate { key, how, .. } = candidate;
        if met.is_new {
            self.steps.counted.states += 1;
            self.steps.states += 1;
            if self.plan.judges
                && let Some(kind) = self.steps.judge(store, key)
            {
                *self.steps.counted.violations.entry(kind).or_default() += 1;
                self.judged = true;
            }
        }
        let others = Who::Others { blocked: true };
        if !self.plan.levels {
            if met.is_new {
                self.bring_next(store, key, Who::Everybody);
            }
            return;
        }
        if met.flags & DONE != 0 {
            return;
        }
        let (lives, process) = (how.has(How::LIVES), how.process());
        let goes_on = process.filter(|_| lives && !met.had_process || !lives && self.plan.charges_forced);
        if let Some(process) = goes_on {
            self.bring_next(store, key, Who::Last { process, first: false });
        }
        let waits_to_switch = process.is_some() && self.plan.charges_forced;
        let is_queued = !lives || met.flags & QUEUED != 0 || how.has(How::ALONE);
        if how.has(How::FREE) || !lives && !waits_to_switch || !is_queued && !self.plan.charges_preemptions {
            self.bring_next(store, key, others);
        } else if !is_queued && self.wants_later {
            self.brought.later.push(&store.encoding, key, others);
        } else {
            self.left_out_later |= !is_queued;
        }
    }

    #[inline]
    fn bring_next(&mut self, store: &PackedStore, key: &Key, who: Who) {
        let Brought { next, next_others, .. } = &mut self.brought;
        let waiting = if matches!(who, Who::Others { .. }) { next_others } else { next };
        match self.wants_next {
            true => waiting.push(&store.encoding, key, who),
            false => self.left_out_next = true,
        }
    }

    /// The store was packed anew.
    pub fn repack<M: Met<Id = I>>(&mut self, store: &PackedStore, met: &M, old: &Encoding) {
        let keys = self.gave_way.iter_mut().chain(&mut self.stuck);
        repack(store, old, &mut self.steps.numbers, keys);
        let far = self.far.iter_mut().flatten().chain(&mut self.farther);
        repack_candidates(store, met, old, self.candidates.iter_mut().chain(far));
        self.steps.forget();
    }

    /// Everything that waits here, packed as it is in the store.
    pub fn each_key(&self, encoding: &Encoding, visit: &mut dyn FnMut(&Encoding, &Key)) {
        let far = self.far.iter().flatten().chain(&self.farther);
        let candidates = self.candidates.iter().chain(far).map(|candidate| &candidate.key);
        candidates.chain(&self.gave_way).chain(&self.stuck).for_each(|key| visit(encoding, key));
        let Brought { next, next_others, later } = &self.brought;
        [next, next_others, later, &self.forced].iter().for_each(|waiting| waiting.each_key(visit));
    }

    /// Beside the store.
    pub fn memory(&self) -> u64 {
        let candidates = self.candidates.capacity() * size_of::<Candidate<I>>();
        let far = self.far.iter().chain([&self.farther]).chain(&self.spare).map(Vec::capacity).sum::<usize>()
            * size_of::<Candidate<I>>();
        let Brought { next, next_others, later } = &self.brought;
        let waiting = [next, next_others, later, &self.forced].map(Waiting::bytes).iter().sum::<u64>();
        (candidates + far) as u64 + waiting + self.steps.memory()
    }
}

/// The store was packed anew.
pub fn repack_candidates<'c, M: Met<Id: 'c>>(
    store: &PackedStore,
    met: &M,
    old: &Encoding,
    candidates: impl Iterator<Item = &'c mut Candidate<M::Id>>,
) {
    let (repacking, mut numbers) = (store.repacking(old), Vec::new());
    for candidate in candidates {
        candidate.key = repacking.key(&candidate.key, &mut numbers);
        candidate.id = met.id_again(candidate.id, &candidate.key);
    }
}

/// The flags and the bit of a process that an arrival sets.
#[inline]
pub fn what_is_met(how: How) -> (Option<u8>, u8) {
    let lives = how.has(How::LIVES);
    let queues = lives && !how.has(How::ALONE) && !how.has(How::FREE);
    (how.process().filter(|_| lives), if queues { QUEUED } else { 0 })
}
