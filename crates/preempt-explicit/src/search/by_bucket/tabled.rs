//! What was met, in a table: the states as keys, exactly, or fingerprints of them.

use super::met::Met;
use super::worker::{Candidate, Worker, what_is_met};
use crate::crew::Crew;
use crate::search::keys::DONE;
use crate::search::keys::stepper::Stepper;
use crate::search::keys::waiting::Waiting;
use crate::store::fingerprints::probability_of_a_miss;
use crate::store::hash::StateHash;
use crate::store::known::Reach;
use crate::store::packed::encoding::{Key, hash_of};
use crate::store::packed::table::{FLAGS, Format, Known, Meeting, SHARDS, Table};
use crate::store::packed::{Full, PackedStore};
use crate::successors::Expander;

/// Candidates whose memory is asked for at a time.
const AHEAD: usize = 32;

/// The states themselves, in the store.
pub struct Exact;

/// What stands for a state, in a table beside the store.
pub struct Prints {
    table: Table,
    format: Format,
    seed: u64,
}

impl Prints {
    /// So many bits for each state; with a bit for each process, if levels are counted.
    pub fn new(bits: u32, keeps_processes: bool, seed: u64) -> Result<Prints, Full> {
        let format = Format { key: bits as usize / 8, known: usize::from(keeps_processes) };
        Ok(Prints { table: Table::new(format, false).ok_or(Full)?, format, seed })
    }

    fn print(&self, hash: StateHash) -> Key {
        let kept = self.format.key - 8;
        [hash.first, if kept == 0 { 0 } else { hash.second >> (64 - 8 * kept) }]
    }
}

/// What both have in common: a table, and what a state is called there.
pub trait Tabled: Sized + Sync {
    type Id: Copy + Send + Sync;

    fn table<'t>(&'t self, store: &'t PackedStore) -> &'t Table;

    fn table_mut<'t>(&'t mut self, store: &'t mut PackedStore) -> &'t mut Table;

    /// Of the state with this key.
    fn entry(key: &Key, id: &Self::Id) -> (Key, u64);

    fn id<S: Expander>(&self, steps: &mut Stepper<'_, S>, store: &PackedStore, key: &Key) -> Self::Id;

    fn id_again(&self, id: Self::Id, key: &Key) -> Self::Id;

    fn make_wide(&mut self, processes: usize, crew: &mut Crew) -> Result<(), Full>;

    fn bytes(&self) -> u64;

    fn reach(&self) -> Reach;
}

impl Tabled for Exact {
    /// The hash of the key.
    type Id = u64;

    fn table<'t>(&'t self, store: &'t PackedStore) -> &'t Table {
        &store.table
    }

    fn table_mut<'t>(&'t mut self, store: &'t mut PackedStore) -> &'t mut Table {
        &mut store.table
    }

    #[inline]
    fn entry(key: &Key, id: &u64) -> (Key, u64) {
        (*key, *id)
    }

    #[inline]
    fn id<S: Expander>(&self, _: &mut Stepper<'_, S>, _: &PackedStore, key: &Key) -> u64 {
        hash_of(key)
    }

    fn id_again(&self, _: u64, key: &Key) -> u64 {
        hash_of(key)
    }

    /// The store sees to that.
    fn make_wide(&mut self, _: usize, _: &mut Crew) -> Result<(), Full> {
        Ok(())
    }

    fn bytes(&self) -> u64 {
        0
    }

    fn reach(&self) -> Reach {
        Reach::Whole
    }
}

impl Tabled for Prints {
    /// The fingerprint, and where it belongs.
    type Id = (Key, u64);

    fn table<'t>(&'t self, _: &'t PackedStore) -> &'t Table {
        &self.table
    }

    fn table_mut<'t>(&'t mut self, _: &'t mut PackedStore) -> &'t mut Table {
        &mut self.table
    }

    #[inline]
    fn entry(_: &Key, id: &(Key, u64)) -> (Key, u64) {
        *id
    }

    #[inline]
    fn id<S: Expander>(&self, steps: &mut Stepper<'_, S>, store: &PackedStore, key: &Key) -> (Key, u64) {
        let print = self.print(steps.content_hash(store, key, self.seed));
        (print, hash_of(&print))
    }

    fn id_again(&self, id: (Key, u64), _: &Key) -> (Key, u64) {
        id
    }

    fn make_wide(&mut self, processes: usize, crew: &mut Crew) -> Result<(), Full> {
        let known = (FLAGS + processes).div_ceil(8);
        if self.format.known > 0 && known > self.format.known {
            self.format.known = known;
            let empty = Table::new(self.format, self.table.is_shared()).ok_or(Full)?;
            let table = std::mem::replace(&mut self.table, empty);
            self.table = table.repacked(self.format, crew, &|key, _| *key).ok_or(Full)?;
        }
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.table.bytes()
    }

    fn reach(&self) -> Reach {
        Reach::Approximate(probability_of_a_miss(self.table.states(), self.format.key as u32 * 8))
    }
}

impl<T: Tabled> Met for T {
    type Id = T::Id;

    #[inline]
    fn id<S: Expander>(&self, steps: &mut Stepper<'_, S>, store: &PackedStore, key: &Key) -> T::Id {
        Tabled::id(self, steps, store, key)
    }

    fn id_again(&self, id: T::Id, key: &Key) -> T::Id {
        Tabled::id_again(self, id, key)
    }

    #[inline]
    fn prefetch(&self, store: &PackedStore, candidate: &Candidate<T::Id>) {
        let (_, hash) = T::entry(&candidate.key, &candidate.id);
        self.table(store).prefetch(hash);
    }

    fn prefetch_all(&self, store: &PackedStore, id: &T::Id, key: &Key, _: usize) {
        self.table(store).prefetch(T::entry(key, id).1);
    }

    fn is_known(&self, store: &PackedStore, candidate: &Candidate<T::Id>) -> bool {
        let (key, hash) = T::entry(&candidate.key, &candidate.id);
        let table = self.table(store);
        let (process, _) = what_is_met(candidate.how);
        table.known_of(&key, hash).is_some_and(|known| {
            let is_done = known.flags() & DONE != 0 || !table.keeps_processes();
            // Whoever has let him go on there has seen to the others.
            is_done || process.is_some_and(|process| known.has(process.into()))
        })
    }

    /// Without levels nothing is asked but whether it is there.
    #[inline]
    fn insert_at_once(&self, store: &PackedStore, candidate: &Candidate<T::Id>) -> Option<bool> {
        let (key, hash) = T::entry(&candidate.key, &candidate.id);
        self.table(store).insert(&key, hash)
    }

    fn shard_of(&self, candidate: &Candidate<T::Id>) -> usize {
        Table::shard(T::entry(&candidate.key, &candidate.id).1)
    }

    fn commit<S: Expander + Send>(
        &mut self,
        store: &PackedStore,
        workers: &mut [Worker<'_, S, T::Id>],
        threads: usize,
        crew: &mut Crew,
    ) {
        let table = self.table(store);
        let own = |worker: &mut Worker<'_, S, T::Id>| {
            let mut candidates = std::mem::take(&mut worker.candidates);
            let mut kept = 0;
            for number in 0..candidates.len() {
                if let Some(ahead) = candidates.get(number + AHEAD) {
                    table.prefetch(T::entry(&ahead.key, &ahead.id).1);
                }
                let candidate = candidates[number];
                let (key, hash) = T::entry(&candidate.key, &candidate.id);
                let (process, flags) = what_is_met(candidate.how);
                let met = match worker.plan.levels {
                    true => table.meet(&key, hash, process, flags),
                    false => table.insert(&key, hash).map(|is_new| Meeting { is_new, ..Meeting::default() }),
                };
                match met {
                    Some(met) => {
                        worker.new[Table::shard(hash)] += u64::from(met.is_new);
                        worker.land(store, &candidate, met);
                    }
                    None => {
                        candidates[kept] = candidate;
                        kept += 1;
                    }
                }
            }
            candidates.truncate(kept);
            worker.candidates = candidates;
        };
        crew.each_of(threads, workers.iter_mut(), own);
    }

    /// [`Met::take_all`] tells one of those who ask that it was not done.
    fn each_once<S: Expander + Send>(
        &mut self,
        _: &PackedStore,
        _: &mut [Worker<'_, S, T::Id>],
        others: Waiting,
        _: (usize, &mut Crew),
    ) -> Waiting {
        others
    }

    fn take_all(&self, store: &PackedStore, id: &T::Id, key: &Key, _: usize) -> Known {
        let (key, hash) = T::entry(key, id);
        self.table(store).take_all(&key, hash, DONE).unwrap_or(Known::EVERYTHING)
    }

    fn make_room(
        &mut self,
        store: &mut PackedStore,
        more: u64,
        processes: usize,
        crew: &mut Crew,
    ) -> Result<(), Full> {
        self.make_wide(processes, crew)?;
        if self.table_mut(store).make_room(more, crew) { Ok(()) } else { Err(Full) }
    }

    fn set_shared(&mut self, store: &mut PackedStore, shared: bool) {
        self.table_mut(store).set_shared(shared);
    }

    fn count(&mut self, store: &mut PackedStore, new: &[u64; SHARDS]) {
        self.table_mut(store).count(new);
    }

    fn bytes(&self) -> u64 {
        Tabled::bytes(self)
    }

    fn reach(&self) -> Reach {
        Tabled::reach(self)
    }
}
