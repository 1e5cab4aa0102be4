//! What was met, as bits of one array (Holzmann, 1987): a state is known by its bits, and so is everything else about it.
//!
//! **Why several threads find what one finds.** Whether bits are set is asked of the array as it was before the bucket; who comes
//! twice within a bucket is found by sorting; and only then the bits of the bucket are set, the order of which does not matter.

use super::Plan;
use super::merge::{each_group, own_range};
use super::met::Met;
use super::worker::{Candidate, Worker, what_is_met};
use crate::crew::Crew;
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
        let keeps_who_waits = plan.reduces || plan.fair_switch || plan.charges_forced || plan.limits_depth;
        BitArray { bits, seed, levels: plan.levels, keeps_who_waits }
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

    /// The candidates of one state.
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
        let mut arrived = Known::NOTHING;
        for candidate in group {
            let (process, sets) = what_is_met(candidate.how);
            let mut had_process = true;
            if let Some(process) = process.filter(|_| self.levels) {
                let thing = state.with(process.into());
                had_process = flags & DONE != 0 || arrived.has(process.into()) || self.bits.contains(thing);
                if !had_process {
                    arrived.set(process.into());
                    added.things.push(thing);
                }
            }
            if flags & (DONE | QUEUED) == 0 && sets & QUEUED != 0 && self.keeps_who_waits {
                added.things.push(state.with(OTHERS_WAIT));
            }
            worker.land(store, candidate, Meeting { is_new, had_process, flags });
            is_new = false;
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

impl Met for BitArray {
    type Id = StateHash;

    fn id<S: Expander>(&self, steps: &mut Stepper<'_, S>, store: &PackedStore, key: &Key) -> StateHash {
        steps.content_hash(store, key, self.seed)
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
        // Whoever has let him go on there has seen to the others.
        let (process, _) = what_is_met(candidate.how);
        process.is_some_and(|process| self.bits.contains(state.with(process.into())))
            || self.bits.contains(state.with(EVERYBODY))
    }

    /// Whether it is new depends on who else is.
    fn insert_at_once(&self, _: &PackedStore, _: &Candidate<StateHash>) -> Option<bool> {
        None
    }

    fn put_in_order(candidates: &mut [Candidate<StateHash>]) {
        candidates.sort_unstable_by_key(|it| (it.id, it.how));
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
        let id = |candidate: &Candidate<StateHash>| candidate.id;
        let mut all: Vec<_> =
            workers.iter_mut().map(|worker| std::mem::take(&mut worker.candidates)).collect();
        crew.each_of(threads, all.iter_mut(), |candidates: &mut Vec<_>| candidates.sort_unstable_by_key(id));
        let mut added: Vec<Added> = (0..threads).map(|_| Added::default()).collect();
        let this = &*self;
        let part = |(owner, (worker, added)): (usize, (&mut Worker<'_, S, StateHash>, &mut Added))| {
            let own = all.iter().map(|sorted| &sorted[own_range(sorted, id, owner, threads)]);
            let own: Vec<_> = own.filter(|own| !own.is_empty()).collect();
            let announce = |candidate: &Candidate<_>| this.ask(candidate);
            each_group(&own, id, announce, |group| this.land_group(store, group, worker, added));
        };
        crew.each_of(threads, workers.iter_mut().zip(&mut added).enumerate(), part);
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
        (threads, crew): (usize, &mut Crew),
    ) -> Waiting {
        let id = |one: &(StateHash, Key, Who)| one.0;
        let mut parts: Vec<_> =
            others.shared_out(threads).into_iter().map(|part| (part, Vec::new())).collect();
        let this = &*self;
        crew.each_of(threads, workers.iter_mut().zip(&mut parts), |(worker, (part, all))| {
            part.each(store, |key, who| all.push((this.id(&mut worker.steps, store, &key), key, who)));
            all.sort_unstable_by_key(id);
        });
        let mut left: Vec<_> = (0..threads).map(|_| (Waiting::default(), Added::default())).collect();
        crew.each_of(threads, left.iter_mut().enumerate(), |(owner, (left, added))| {
            let own = parts.iter().map(|(_, sorted)| &sorted[own_range(sorted, id, owner, threads)]);
            let own: Vec<_> = own.filter(|own| !own.is_empty()).collect();
            let announce =
                |(state, ..): &(StateHash, Key, Who)| this.bits.prefetch_thing(state.with(EVERYBODY));
            each_group(&own, id, announce, |group| {
                let (state, key, who) = group[0];
                let thing = state.with(EVERYBODY);
                if !this.bits.contains(thing) {
                    added.things.push(thing);
                    left.push(&store.encoding, &key, who);
                }
            });
        });
        let (left, added): (Vec<_>, Vec<_>) = left.into_iter().unzip();
        self.set(added, crew);
        let mut all = Waiting::default();
        left.into_iter().for_each(|left| all.append(left));
        all
    }

    fn prefetch_all(&self, _: &PackedStore, state: &StateHash, _: &Key, processes: usize) {
        (0..processes).for_each(|process| self.bits.prefetch_thing(state.with(process as u64)));
    }

    fn take_all(&self, _: &PackedStore, state: &StateHash, _: &Key, processes: usize) -> Known {
        let mut known = Known::NOTHING;
        for process in 0..processes {
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
