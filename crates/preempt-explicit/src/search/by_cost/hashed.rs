//! What the search in order of cost keeps where it does not keep the states: whole states wait, and what was met is only
//! known again, by fingerprints or by bits ([`Known`]). The path to a state lives as long as something that was reached
//! along it waits ([`PathTree`]).

use super::cost_store::{Arrival, CostStore, End, Met, Pending, Site, Who, wanted};
use super::expansion_log::ProcessSet;
use super::path_tree::{NO_PATH, PathTree, Step, states_along};
use super::state_frontier::{Item, Reader, StateFrontier};
use crate::replay::{NOBODY, ReplayError, StatePath};
use crate::search::{Goal, Variety};
use crate::store::hash::StateHash;
use crate::store::known::{Known, Reach};
use crate::store::sketch::Sketch;
use crate::successors::Successors;
use preempt_core::{Budget, Memory};
use preempt_model::search::RunCost;
use std::collections::{HashSet, VecDeque};
use std::ops::Range;

pub struct HashedStore<'a, K> {
    known: K,
    seed: u64,
    frontier: StateFrontier,
    reader: Reader,
    /// Read before it is come to.
    read: VecDeque<(Item, Vec<u8>)>,
    batch: Vec<Taken>,
    /// Of the states in the batch.
    bytes: Vec<u8>,
    /// The cost of what is in the batch.
    at: RunCost,
    paths: PathTree,
    keeps_paths: bool,
    dead: HashSet<StateHash>,
    sketch: Option<&'a mut Sketch>,
}

/// An item of the batch, and where its state lies.
struct Taken {
    item: Item,
    start: usize,
    length: usize,
    hash: StateHash,
}

impl<'a, K: Known> HashedStore<'a, K> {
    pub fn new(known: K, variety: Variety<'a>, goal: Goal) -> HashedStore<'a, K> {
        HashedStore {
            known,
            seed: variety.seed,
            frontier: StateFrontier::default(),
            reader: Reader::default(),
            read: VecDeque::new(),
            batch: Vec::new(),
            bytes: Vec::new(),
            at: RunCost { preemptions: 0, steps: 0 },
            paths: PathTree::default(),
            keeps_paths: goal != Goal::Count,
            dead: HashSet::new(),
            sketch: variety.sketch,
        }
    }

    /// A new path, which is held.
    fn path(&mut self, parent: Site, step: Step) -> Option<Site> {
        if self.keeps_paths { self.paths.add(parent, step) } else { Some(NO_PATH) }
    }

    fn state(&self, number: usize) -> &[u8] {
        let Taken { start, length, .. } = self.batch[number];
        &self.bytes[start..start + length]
    }

    fn take_some(&mut self, most: usize) {
        self.bytes.clear();
        self.batch.clear();
        while self.batch.len() < most {
            let read = self.read.pop_front();
            let next = match &read {
                Some((item, state)) => Some((*item, &**state)),
                None => self.reader.next(),
            };
            let Some((item, state)) = next else { return };
            let hash = StateHash::of(state, self.seed);
            self.known.prefetch(hash);
            if item.who == Who::Last {
                self.known.prefetch_process(hash, usize::from(item.last));
            }
            self.batch.push(Taken { item, start: self.bytes.len(), length: state.len(), hash });
            self.bytes.extend_from_slice(state);
        }
    }
}

impl Pending for Item {
    fn site(self) -> Site {
        self.path
    }

    fn last(self) -> u8 {
        self.last
    }

    fn who(self) -> Who {
        self.who
    }

    fn with(self, who: Who) -> Item {
        Item { who, ..self }
    }
}

impl<K: Known> CostStore for HashedStore<'_, K> {
    type Item = Item;
    type Key = StateHash;
    type Place = K::Place;
    type Identity = StateHash;
    type Opened = Vec<u8>;

    const NEEDS_BYTES: bool = true;
    const CAN_BE_SAVED: bool = false;
    const IS_EXACT: bool = false;

    fn bytes_of(opened: &Vec<u8>) -> &[u8] {
        opened
    }

    fn meet_initial<S: Successors + ?Sized>(
        &mut self,
        system: &S,
        number: u32,
        state: &[u8],
    ) -> Option<Met<Self>> {
        let hash = StateHash::of(state, self.seed);
        let (place, is_new) = self.known.meet(hash, system.process_count(state));
        if let (true, Some(sketch)) = (is_new, &mut self.sketch) {
            sketch.add(system.fingerprint(state));
        }
        let path = self.path(NO_PATH, Step { process: 0, choice: number })?;
        let item = Item { path, last: NOBODY, who: Who::Last };
        Some(Met { place, identity: hash, item, is_new })
    }

    #[inline]
    fn key<S: Successors + ?Sized>(&mut self, _: &S, state: &[u8], _: &Vec<u8>) -> Option<StateHash> {
        let hash = StateHash::of(state, self.seed);
        self.known.prefetch(hash);
        Some(hash)
    }

    fn prefetch(&self, arrivals: &[Arrival<StateHash>]) {
        let RunCost { preemptions, steps } = self.at;
        for Arrival { key, runs, steps: more, .. } in arrivals {
            self.known.prefetch_process(*key, usize::from(*runs));
            self.known.prefetch_queued(*key, preemptions, steps + u64::from(*more));
        }
    }

    #[inline]
    fn meet<S: Successors + ?Sized>(
        &mut self,
        system: &S,
        arrival: &Arrival<StateHash>,
        state: &[u8],
    ) -> Option<Met<Self>> {
        let (place, is_new) = self.known.meet(arrival.key, usize::from(arrival.processes));
        if let (true, Some(sketch)) = (is_new, &mut self.sketch) {
            sketch.add(system.fingerprint(state));
        }
        let path = self.path(arrival.from, Step { process: arrival.by, choice: arrival.choice })?;
        let item = Item { path, last: arrival.runs, who: Who::Last };
        Some(Met { place, identity: arrival.key, item, is_new })
    }

    fn release(&mut self, site: Site) {
        self.paths.release(site);
    }

    fn hold(&mut self, site: Site) {
        self.paths.hold(site);
    }

    fn push(&mut self, cost: RunCost, item: Item, state: &[u8]) {
        self.paths.hold(item.path);
        self.frontier.push(cost.preemptions, cost.steps, item, state);
    }

    fn next_batch(&mut self, cost: RunCost, most: usize) -> usize {
        self.at = cost;
        self.take_some(most);
        if self.batch.is_empty() {
            let next = self.frontier.take(cost.preemptions, cost.steps);
            self.frontier.done(std::mem::replace(&mut self.reader, next));
            self.take_some(most);
        }
        self.batch.len()
    }

    fn is_half_done(&self) -> bool {
        false
    }

    fn next_steps(&self, level: u32, steps: u64) -> Option<u64> {
        self.frontier.next(level, steps)
    }

    fn has_level(&self, level: u32) -> bool {
        self.frontier.has_level(level)
    }

    fn forget_level(&mut self, level: u32) {
        self.frontier.forget_level(level);
    }

    fn waiting(&self) -> u64 {
        self.frontier.waiting()
    }

    fn item(&self, number: usize) -> Item {
        self.batch[number].item
    }

    fn identity(&self, number: usize) -> StateHash {
        self.batch[number].hash
    }

    #[inline]
    fn place<S: Successors + ?Sized>(&mut self, system: &S, number: usize) -> K::Place {
        let processes = system.process_count(self.state(number));
        self.known.meet(self.batch[number].hash, processes).0
    }

    fn open<S: Successors + ?Sized>(&mut self, _: &S, number: usize, opened: &mut Vec<u8>) {
        opened.clear();
        opened.extend_from_slice(self.state(number));
    }

    fn open_met<S: Successors + ?Sized>(&self, _: &S, _: &Met<Self>, state: &[u8], opened: &mut Vec<u8>) {
        opened.clear();
        opened.extend_from_slice(state);
    }

    fn end_batch(&mut self) {
        self.batch.iter().for_each(|taken| self.paths.release(taken.item.path));
    }

    fn has_run(&self, place: K::Place, process: usize) -> bool {
        self.known.has_run(place, process)
    }

    fn has_run_alone(&self, place: K::Place, process: usize) -> bool {
        self.known.has_run_alone(place, process)
    }

    fn ran_alone(&mut self, place: K::Place, process: usize) {
        self.known.ran_alone(place, process);
    }

    fn begin_others(&mut self, place: K::Place) -> bool {
        self.known.begin_others(place)
    }

    fn ran_among_others(&mut self, place: K::Place, process: usize) {
        self.known.ran_among_others(place, process);
    }

    fn lower_everybody(&mut self, place: K::Place, now: u32, cost: RunCost) -> bool {
        self.known.lower_everybody(place, now, cost.preemptions, cost.steps)
    }

    fn upcoming<S: Successors + ?Sized>(
        &mut self,
        system: &S,
        which: Range<usize>,
        visit: &mut dyn FnMut(&[u8], ProcessSet),
    ) {
        while self.read.len() < which.end
            && let Some((item, state)) = self.reader.next()
        {
            self.read.push_back((item, state.to_vec()));
        }
        for (item, state) in self.read.range(which.start.min(self.read.len())..) {
            visit(state, wanted(*item, system.process_count(state), |_| false));
        }
    }

    fn set_dead(&mut self, identity: StateHash) -> bool {
        self.dead.insert(identity)
    }

    /// What waits has its path with it.
    fn log(&mut self, _: Item, _: ProcessSet) {}

    fn path_to<S: Successors + ?Sized>(
        &self,
        system: &mut S,
        end: &End,
        budget: &Budget,
    ) -> Result<StatePath, ReplayError> {
        let states = self
            .paths
            .steps(end.site)
            .and_then(|(initial, steps)| states_along(system, initial, &steps, budget))
            .ok_or_else(|| ReplayError::lost(budget))?;
        Ok(StatePath { states, ending: end.ending })
    }

    fn bytes(&self) -> u64 {
        let dead = self.dead.capacity() * size_of::<(StateHash, u64)>();
        self.known.bytes() + self.frontier.bytes() + self.paths.bytes() + dead as u64
    }

    fn memory(&self) -> Memory {
        Memory {
            store: self.known.bytes(),
            frontier: self.frontier.most_bytes(),
            parents: self.paths.bytes(),
        }
    }

    fn reach(&self) -> Reach {
        self.known.reach()
    }
}
