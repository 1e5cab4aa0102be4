//! What was met, as bits of one array (Holzmann, 1987): a state is known by its bits, and so is everything else about it.
//!
//! **Why several threads find what one finds.** Whether bits are set is asked of the array as it was before the bucket; who comes
//! twice within a bucket is found by sorting; and only then the bits of the bucket are set, the order of which does not matter.

use super::Plan;
use super::met::Met;
use super::worker::{Candidate, Worker, what_is_met};
use crate::crew::Crew;
use crate::search::keys::arrival::Arrival;
use crate::search::keys::stepper::Stepper;
use crate::search::keys::waiting::{Waiting, Who};
use crate::search::keys::{DONE, QUEUED};
use crate::store::bits::Bits;
use crate::store::hash::StateHash;
use crate::store::known::{Known as _, Reach};
use crate::store::packed::encoding::Key;
use crate::store::packed::table::{Known, Meeting, SHARDS};
use crate::store::packed::{Full, PackedStore};
use crate::successors::Expander;

/// What is known of a state beside itself; up to 255 the process that goes on there, or went on.
const EVERYBODY: u64 = 256;
const OTHERS_WAIT: u64 = 257;

/// Candidates whose memory is asked for at a time.
const AHEAD: usize = 16;

pub struct BitArray {
    bits: Bits,
    seed: u64,
    levels: bool,
    /// Are there states that were met and in which others do not wait? If not, nothing need be kept to tell.
    keeps_who_waits: bool,
}

/// What a thread's part of a bucket adds.
#[derive(Default)]
struct Added {
    things: Vec<StateHash>,
    states: u64,
}

impl BitArray {
    pub fn new(bits: Bits, plan: Plan, seed: u64) -> BitArray {
        let keeps_who_waits = plan.reduces || plan.fair_switch || plan.charges_forced;
        BitArray { bits, seed, levels: plan.levels, keeps_who_waits }
    }

    fn hash<S: Expander>(&self, steps: &mut Stepper<'_, S>, store: &PackedStore, key: &Key) -> StateHash {
        steps.content_hash(store, key, self.seed)
    }

    fn flags_of(&self, state: StateHash) -> u8 {
        if self.bits.contains(state.with(EVERYBODY)) {
            return DONE | QUEUED;
        }
        let queued = !self.keeps_who_waits || self.bits.contains(state.with(OTHERS_WAIT));
        if queued { QUEUED } else { 0 }
    }

    fn ask(&self, candidate: &Candidate<StateHash>) {
        self.bits.prefetch_thing(candidate.id);
        if self.levels {
            self.bits.prefetch_thing(candidate.id.with(EVERYBODY));
            if let (Some(process), _) = what_is_met(candidate.how) {
                self.bits.prefetch_thing(candidate.id.with(process.into()));
            }
        }
    }

    /// The candidates of one state, those with the same process one after the other.
    fn land_group<S: Expander>(
        &self,
        store: &PackedStore,
        group: &[Candidate<StateHash>],
        worker: &mut Worker<'_, S, StateHash>,
        added: &mut Added,
    ) {
        let Some(&Candidate { id: state, .. }) = group.first() else { return };
        let mut is_new = !self.bits.contains(state);
        if is_new {
            added.things.push(state);
            added.states += 1;
        }
        // Nothing about a new state is known, and nothing is asked where there are no levels.
        let mut flags = if self.levels && !is_new { self.flags_of(state) } else { 0 };
        let mut before = None;
        for candidate in group {
            let (process, sets) = what_is_met(candidate.how);
            let mut had_process = true;
            if let Some(process) = process.filter(|_| self.levels) {
                let thing = state.with(process.into());
                had_process = before == Some(process) || flags & DONE != 0 || self.bits.contains(thing);
                if !had_process {
                    added.things.push(thing);
                }
            }
            if flags & (DONE | QUEUED) == 0 && sets & QUEUED != 0 && self.keeps_who_waits {
                added.things.push(state.with(OTHERS_WAIT));
            }
            worker.land(store, candidate, Meeting { is_new, had_process, flags });
            (is_new, before) = (false, process.or(before));
            flags |= sets;
        }
    }

    /// Sets what was added, by all threads.
    fn set(&mut self, added: Vec<Added>, crew: &mut Crew) {
        let bits = &self.bits;
        let ones = crew.map(&added, &|added: &Added| bits.set_all(&added.things));
        let things = added.iter().map(|added| added.things.len() as u64).sum();
        let states = added.iter().map(|added| added.states).sum();
        self.bits.have_grown(ones.iter().sum(), things, states);
    }
}

/// Which of so many threads a state belongs to at the end of a bucket.
fn owner_of(state: StateHash, threads: usize) -> usize {
    (state.second >> 32) as usize % threads
}

impl Met for BitArray {
    type Id = StateHash;

    fn id<S: Expander>(
        &self,
        steps: &mut Stepper<'_, S>,
        store: &PackedStore,
        arrival: &Arrival,
    ) -> StateHash {
        self.hash(steps, store, &arrival.key)
    }

    fn id_again(&self, id: StateHash, _: &Key) -> StateHash {
        id
    }

    fn prefetch(&self, _: &PackedStore, candidate: &Candidate<StateHash>) {
        self.ask(candidate);
    }

    fn is_known(&self, _: &PackedStore, candidate: &Candidate<StateHash>) -> bool {
        let state = candidate.id;
        if !self.bits.contains(state) || !self.levels {
            return self.bits.contains(state);
        }
        let flags = self.flags_of(state);
        let (process, sets) = what_is_met(candidate.how);
        flags & DONE != 0
            || flags & sets == sets && process.is_some_and(|it| self.bits.contains(state.with(it.into())))
    }

    /// Whether it is new depends on who else is.
    fn insert_at_once(&self, _: &PackedStore, _: &Candidate<StateHash>) -> Option<bool> {
        None
    }

    fn shard_of(&self, _: &Candidate<StateHash>) -> usize {
        0
    }

    fn commit<S: Expander + Send>(
        &mut self,
        store: &PackedStore,
        workers: &mut [Worker<'_, S, StateHash>],
        threads: usize,
        crew: &mut Crew,
    ) {
        let all: Vec<_> = workers.iter_mut().map(|worker| std::mem::take(&mut worker.candidates)).collect();
        let mut added: Vec<Added> = (0..threads).map(|_| Added::default()).collect();
        let this = &*self;
        let part = |(number, (worker, added)): (usize, (&mut Worker<'_, S, StateHash>, &mut Added))| {
            let is_own = |candidate: &&Candidate<StateHash>| owner_of(candidate.id, threads) == number;
            let mut own: Vec<_> = all.iter().flatten().filter(is_own).copied().collect();
            // Who runs first decides nothing, but the same process is to be seen twice.
            own.sort_unstable_by_key(|it| (it.id.first, it.id.second, it.how.process()));
            own.iter().take(AHEAD).for_each(|candidate| this.ask(candidate));
            let mut at = 0;
            for group in own.chunk_by(|one, other| one.id == other.id) {
                at += group.len();
                own[at..].iter().skip(AHEAD).take(1).for_each(|candidate| this.ask(candidate));
                this.land_group(store, group, worker, added);
            }
        };
        let parts = workers.iter_mut().zip(&mut added).enumerate();
        match threads {
            1 => parts.for_each(part),
            _ => crew.each(parts, part),
        }
        // What was made room for once is used again.
        for (worker, mut candidates) in workers.iter_mut().zip(all) {
            candidates.clear();
            worker.candidates = candidates;
        }
        self.set(added, crew);
    }

    fn each_once<S: Expander + Send>(
        &mut self,
        store: &PackedStore,
        workers: &mut [Worker<'_, S, StateHash>],
        others: Waiting,
    ) -> Waiting {
        let (mut added, mut left) = (Added::default(), Waiting::default());
        let (Some(worker), mut all) = (workers.first_mut(), Vec::new()) else { return left };
        others.each(store, |key, who: Who| all.push((self.hash(&mut worker.steps, store, &key), key, who)));
        all.sort_unstable_by_key(|(state, ..)| (state.first, state.second));
        all.dedup_by_key(|(state, ..)| *state);
        for (state, key, who) in all {
            let thing = state.with(EVERYBODY);
            if !self.bits.contains(thing) {
                added.things.push(thing);
                left.push(&store.encoding, &key, who);
            }
        }
        self.set(vec![added], &mut Crew::new(1));
        left
    }

    fn take_all<S: Expander>(&self, steps: &mut Stepper<'_, S>, store: &PackedStore, key: &Key) -> Known {
        let state = self.hash(steps, store, key);
        let mut known = Known::NOTHING;
        for process in 0..steps.processes_of(store, key) {
            if self.bits.contains(state.with(process as u64)) {
                known.set(process);
            }
        }
        known
    }

    fn make_room(&mut self, _: &mut PackedStore, _: u64, _: usize, _: &mut Crew) -> Result<(), Full> {
        Ok(())
    }

    fn set_shared(&mut self, _: &mut PackedStore, _: bool) {}

    fn count(&mut self, _: &mut PackedStore, _: &[u64; SHARDS]) {}

    fn bytes(&self) -> u64 {
        self.bits.bytes()
    }

    fn reach(&self) -> Reach {
        self.bits.reach()
    }
}
