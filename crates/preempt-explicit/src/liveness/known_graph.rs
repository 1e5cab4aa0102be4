//! The whole product graph with its edges, computed by all threads: what a search that goes on in one thread, such as Tarjan's,
//! needs of every state takes nearly all of its time, and depends on the state alone.
//!
//! **First the states**: threads expand what waits, in any order, and meet what follows in one store, in rounds as the search level
//! by level. **Then the edges**: the store does not change any more, so that a state's place is its number; each thread expands the
//! states of some buckets once more and writes down where their steps lead to, eight bytes for an edge.
//!
//! **What is searched on it** goes the same way as on [`super::product_graph`], since each state has the same edges in the same order:
//! the same run is found, and states and transitions are counted as they are met there ([`KnownGraph::met`]).

use super::graph::{Edge, Expansion, Graph, Incomplete};
use super::parallel_nested_depth_first::Whole;
use crate::budget::{Every, SearchBudget};
use crate::crew::Crew;
use crate::observed::{Observed, Steps};
use crate::pool::was_helped;
use crate::search::SearchOptions;
use crate::store::StateNumber;
use crate::store::packed::encoding::{Encoding, Key, Source, hash_of};
use crate::store::packed::table::{Buckets, Places, SHARDS, Table};
use crate::store::packed::{Full, Keeps, PackedStore};
use crate::successors::Successors;
use preempt_core::{Budget, Progress, Snapshot, StopReason};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// New states of a round for each thread, and states that are expanded.
const MOST_NEW: u64 = 1 << 14;
const MOST_WORK: u64 = 1 << 14;

/// A state may bring more than the round should.
const SLACK: u64 = 1 << 9;

/// Buckets whose states are expanded at a time, and such parts between two looks at the limits.
const BUCKETS: usize = 1 << 8;
const PARTS: usize = 1 << 6;

/// States whose successors are looked up together.
const BATCH: usize = 32;

/// How often, in steps of the search on it, the clock and the memory are looked at.
const LOOK_EVERY: u32 = 1 << 12;

const FULL: Incomplete = Incomplete::Limit(StopReason::Memory);

/// An edge without the state that it leaves.
#[derive(Debug, Clone, Copy)]
struct KnownEdge {
    to: StateNumber,
    steps: u16,
    by: u8,
    runs: u8,
}

/// Some states, one after the other.
#[derive(Debug, Default)]
struct Part {
    states: Vec<KnownState>,
    edges: Vec<KnownEdge>,
    resting: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
struct KnownState {
    /// Where its edges end, and those who cannot move there.
    edges: u32,
    resting: u32,
    processes: u8,
    accepts: bool,
}

pub struct KnownGraph {
    store: PackedStore,
    places: Places,
    initial: Vec<StateNumber>,
    edges: Part,
    budget: SearchBudget,
    /// As far as it was searched: which states were met, and in which order.
    is_met: Vec<bool>,
    met: Vec<StateNumber>,
    transitions: u64,
    depth: u64,
    most_search_bytes: u64,
    look: Every,
}

impl KnownGraph {
    pub fn new(
        observed: &Observed<'_>,
        options: &SearchOptions,
        progress: &mut dyn Progress,
    ) -> Result<KnownGraph, Incomplete> {
        let mut budget = SearchBudget::new(options.limits, 1);
        budget.begin(progress);
        let mut workers = Vec::new();
        for _ in 0..options.threads.max(1) {
            let mut system = observed.another().ok_or(FULL)?;
            system.work_within(&budget.shared);
            workers.push(Worker::new(system, &budget.shared));
        }
        let mut crew = Crew::new(workers.len());
        let mut store = PackedStore::new(Keeps::Nothing).map_err(|Full| FULL)?;
        let first = workers[0].system.initial();
        explore((&mut workers, &mut crew), &mut store, &first, &mut budget, progress)?;
        let places = store.table.places().ok_or(FULL)?;
        let number = |state: &Vec<u8>| {
            let key = store.encode(&workers[0].system, state)?;
            store.table.number_of(&places, &key, hash_of(&key))
        };
        let initial = first.iter().map(number).collect::<Option<_>>().ok_or(FULL)?;
        let edges = all_edges((&mut workers, &mut crew), (&store, &places), &mut budget, progress)?;
        let is_met = vec![false; places.states as usize];
        Ok(KnownGraph {
            store,
            places,
            initial,
            edges,
            budget,
            is_met,
            met: Vec::new(),
            transitions: 0,
            depth: 0,
            most_search_bytes: 0,
            look: Every::new(LOOK_EVERY),
        })
    }

    /// What a search has seen of it.
    pub fn seen(&self) -> Whole {
        Whole {
            states: self.met.len() as u64,
            transitions: self.transitions,
            depth: self.depth,
            search_bytes: self.most_search_bytes,
            store_bytes: self.bytes(),
            has_dead_ends: false,
        }
    }

    /// The states that a search has met, in this order.
    pub fn met(&self) -> impl Iterator<Item = (StateNumber, Vec<u8>)> {
        let mut keys = Vec::with_capacity(self.places.states as usize);
        for buckets in self.store.table.all_buckets(BUCKETS) {
            self.store.table.keys_in(&buckets, |key| keys.push(key));
        }
        let mut numbers = Vec::new();
        self.met.iter().map(move |number| {
            let mut state = Vec::new();
            self.store.open(&keys[*number as usize], &mut numbers, &mut state);
            (*number, state)
        })
    }

    fn meet(&mut self, state: StateNumber) {
        if !std::mem::replace(&mut self.is_met[state as usize], true) {
            self.met.push(state);
        }
    }

    fn bytes(&self) -> u64 {
        let known = self.is_met.capacity() + 4 * self.met.capacity();
        self.store.bytes() + self.places.bytes() + self.edges.bytes() + known as u64
    }
}

impl Graph for KnownGraph {
    fn initial(&mut self) -> Result<Vec<StateNumber>, Incomplete> {
        let initial = self.initial.clone();
        initial.iter().for_each(|state| self.meet(*state));
        Ok(initial)
    }

    fn expand(&mut self, from: StateNumber) -> Result<Expansion, Incomplete> {
        let Part { states, edges, resting } = &self.edges;
        let at = from as usize;
        let KnownState { processes, edges: end, resting: last, .. } = states[at];
        let before =
            at.checked_sub(1).map_or((0, 0), |before| (states[before].edges, states[before].resting));
        let edges = edges[before.0 as usize..end as usize].iter();
        let edges: Vec<Edge> = edges.map(|edge| edge.from(from)).collect();
        let resting = resting[before.1 as usize..last as usize].to_vec();
        edges.iter().for_each(|edge| self.meet(edge.to));
        self.transitions += edges.len() as u64;
        Ok(Expansion { edges, resting, processes })
    }

    fn accepts(&self, state: StateNumber) -> bool {
        self.edges.states[state as usize].accepts
    }

    fn is_within_depth(&mut self, path: usize) -> bool {
        self.budget.is_within_depth(path as u64)
    }

    fn poll_path(
        &mut self,
        path: usize,
        bytes: usize,
        progress: &mut dyn Progress,
    ) -> Result<(), Incomplete> {
        self.depth = self.depth.max(path as u64);
        self.most_search_bytes = self.most_search_bytes.max(bytes as u64);
        // A step takes next to no time here.
        if self.look.is_due() {
            let (states, transitions, depth) = (self.met.len() as u64, self.transitions, self.depth);
            let (frontier, bytes) = (path as u64, self.bytes() + bytes as u64);
            let snapshot = Snapshot { states, transitions, frontier, depth, level: 0, bytes };
            poll(&mut self.budget, progress, snapshot)?;
        }
        Ok(())
    }
}

fn poll(
    budget: &mut SearchBudget,
    progress: &mut dyn Progress,
    snapshot: Snapshot,
) -> Result<(), Incomplete> {
    let stopped = budget.poll(snapshot.states, progress, || snapshot).or_else(|| budget.stopped());
    stopped.map_or(Ok(()), |reason| Err(Incomplete::Limit(reason)))
}

impl KnownEdge {
    #[inline]
    fn from(self, from: StateNumber) -> Edge {
        let KnownEdge { to, steps, by, runs } = self;
        Edge { from, to, by, runs, steps: steps.into() }
    }
}

impl Part {
    /// Adds the states that come after these. `None` if there are more edges than can be numbered.
    fn append(&mut self, next: Part) -> Option<()> {
        let (edges, resting) =
            (u32::try_from(self.edges.len()).ok()?, u32::try_from(self.resting.len()).ok()?);
        u32::try_from(self.edges.len() + next.edges.len()).ok()?;
        u32::try_from(self.resting.len() + next.resting.len()).ok()?;
        let behind =
            |it: KnownState| KnownState { edges: it.edges + edges, resting: it.resting + resting, ..it };
        self.states.extend(next.states.into_iter().map(behind));
        self.edges.extend(next.edges);
        self.resting.extend(next.resting);
        Some(())
    }

    fn bytes(&self) -> u64 {
        let states = self.states.capacity() * size_of::<KnownState>();
        let edges = self.edges.capacity() * size_of::<KnownEdge>();
        (states + edges + self.resting.capacity()) as u64
    }
}

struct Worker<'m> {
    system: Observed<'m>,
    budget: Budget,
    waiting: Vec<Key>,
    /// States that do not fit into the store as it is.
    wanted: Vec<Vec<u8>>,
    new: [u64; SHARDS],
    new_states: u64,
    transitions: u64,
    keys: Vec<Key>,
    numbers: Vec<u32>,
    /// The state that is expanded, and its key as long as it stays there.
    source: Source,
    opened: Option<Key>,
    state: Vec<u8>,
    steps: Steps,
}

/// All states that can be reached from these.
fn explore(
    (workers, crew): (&mut [Worker<'_>], &mut Crew),
    store: &mut PackedStore,
    first: &[Vec<u8>],
    budget: &mut SearchBudget,
    progress: &mut dyn Progress,
) -> Result<(), Incomplete> {
    let threads = workers.len();
    store.table.set_shared(threads > 1);
    store
        .widen(&workers[0].system, &mut first.iter().map(|state| &**state), &|_| (), crew)
        .map_err(|Full| FULL)?;
    store.make_room(first.len() as u64 + SLACK, crew).map_err(|Full| FULL)?;
    for state in first {
        let key = store.encode(&workers[0].system, state).ok_or(FULL)?;
        workers[0].meet(store, key).ok_or(FULL)?;
    }
    let (mut states, mut transitions) = (0, 0);
    while workers.iter().any(|worker| !worker.waiting.is_empty()) {
        share_out(workers);
        let mut wanted = Vec::new();
        for (number, worker) in workers.iter_mut().enumerate() {
            if number > 0 {
                was_helped(worker.new_states);
            }
            states += std::mem::take(&mut worker.new_states);
            transitions += std::mem::take(&mut worker.transitions);
            store.table.count(&std::mem::take(&mut worker.new));
            wanted.append(&mut worker.wanted);
        }
        store.make_room((MOST_NEW + SLACK) * threads as u64, crew).map_err(|Full| FULL)?;
        if wanted.iter().any(|state| store.encode(&workers[0].system, state).is_none()) {
            let old = Arc::clone(&store.encoding);
            let mut wanted = wanted.iter().map(|state| &**state);
            store.widen(&workers[0].system, &mut wanted, &|_| (), crew).map_err(|Full| FULL)?;
            workers.iter_mut().for_each(|worker| worker.repack(store, &old));
        }
        let frontier = workers.iter().map(|worker| worker.waiting.len() as u64).sum();
        let bytes = store.bytes() + frontier * size_of::<Key>() as u64;
        poll(budget, progress, Snapshot { states, transitions, frontier, depth: 0, level: 0, bytes })?;
        let store = &*store;
        crew.each(workers.iter_mut(), |worker| worker.round(store));
    }
    for worker in workers.iter_mut() {
        store.table.count(&std::mem::take(&mut worker.new));
    }
    Ok(())
}

/// What waits is for everybody.
fn share_out(workers: &mut [Worker<'_>]) {
    let all: usize = workers.iter().map(|worker| worker.waiting.len()).sum();
    let each = all.div_ceil(workers.len());
    if workers.iter().all(|worker| worker.waiting.len() >= each / 2) {
        return;
    }
    let mut more = Vec::new();
    for worker in workers.iter_mut().filter(|worker| worker.waiting.len() > each) {
        more.append(&mut worker.waiting.split_off(each));
    }
    for worker in workers {
        let rest = more.len().saturating_sub(each.saturating_sub(worker.waiting.len()));
        worker.waiting.append(&mut more.split_off(rest));
    }
}

/// The edges of all states, with what else is asked of them.
fn all_edges(
    (workers, crew): (&mut [Worker<'_>], &mut Crew),
    (store, places): (&PackedStore, &Places),
    budget: &mut SearchBudget,
    progress: &mut dyn Progress,
) -> Result<Part, Incomplete> {
    let mut all = Part::default();
    for some in store.table.all_buckets(BUCKETS).chunks(PARTS) {
        let (next, made) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let work = |worker: &mut Worker<'_>| {
            while let Some((number, buckets)) = {
                let number = next.fetch_add(1, Ordering::Relaxed);
                some.get(number).map(|buckets| (number, buckets))
            } {
                let part = worker.part(store, places, buckets);
                made.lock().unwrap_or_else(PoisonError::into_inner).push((number, part));
            }
        };
        crew.each(workers.iter_mut(), work);
        let mut made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
        made.sort_unstable_by_key(|(number, _)| *number);
        for (_, part) in made {
            let appended = part.and_then(|part| all.append(part));
            appended.ok_or(budget.stopped().map_or(FULL, Incomplete::Limit))?;
        }
        let (states, transitions) = (places.states.into(), all.edges.len() as u64);
        let bytes = store.bytes() + places.bytes() + all.bytes();
        poll(budget, progress, Snapshot { states, transitions, frontier: 0, depth: 0, level: 0, bytes })?;
    }
    Ok(all)
}

impl<'m> Worker<'m> {
    fn new(system: Observed<'m>, budget: &Budget) -> Worker<'m> {
        Worker {
            system,
            budget: budget.clone(),
            waiting: Vec::new(),
            wanted: Vec::new(),
            new: [0; SHARDS],
            new_states: 0,
            transitions: 0,
            keys: Vec::new(),
            numbers: Vec::new(),
            source: Source::default(),
            opened: None,
            state: Vec::new(),
            steps: Steps::default(),
        }
    }

    /// Expands what waits, until there is enough that is new.
    fn round(&mut self, store: &PackedStore) {
        for _ in 0..MOST_WORK {
            if self.new_states >= MOST_NEW || self.budget.stopped().is_some() {
                return;
            }
            let Some(key) = self.waiting.pop() else { return };
            if self.expand(store, &key).is_none() {
                // Once more when there is room. What was new is not new then.
                self.waiting.push(key);
                return;
            }
        }
    }

    /// `None` if something did not fit, or the budget has run out.
    fn expand(&mut self, store: &PackedStore, key: &Key) -> Option<()> {
        self.open(store, key);
        let mut keys = std::mem::take(&mut self.keys);
        keys.clear();
        for step in &self.steps.arrivals {
            let next = self.steps.state(step);
            match self.key_of(store, next) {
                Some(key) => {
                    store.table.prefetch(hash_of(&key));
                    keys.push(key);
                }
                None => self.wanted.push(next.to_vec()),
            }
        }
        let fits = self.wanted.is_empty() && self.budget.stopped().is_none();
        let met = fits.then(|| keys.iter().try_for_each(|key| self.meet(store, *key))).flatten();
        self.transitions += keys.len() as u64;
        self.keys = keys;
        met
    }

    fn meet(&mut self, store: &PackedStore, key: Key) -> Option<()> {
        let hash = hash_of(&key);
        if store.table.insert(&key, hash)? {
            self.new_states += 1;
            self.new[Table::shard(hash)] += 1;
            self.waiting.push(key);
        }
        Some(())
    }

    /// The state and its steps.
    fn open(&mut self, store: &PackedStore, key: &Key) {
        let before = self.opened.replace(*key);
        (self.source.class, self.source.key) = (store.encoding.class_of(key), *key);
        store.encoding.open_source(&store.pieces, &mut self.source, before, &mut self.state);
        self.steps.clear();
        self.system.add_steps_from(&self.state, true, &mut self.steps);
    }

    /// The key of a state that follows.
    fn key_of(&self, store: &PackedStore, next: &[u8]) -> Option<Key> {
        let header = self.system.header();
        let is_alike = next.len() == self.state.len() && next[..header] == self.state[..header];
        let known = is_alike
            .then(|| store.encoding.encode_successor(&store.pieces, &self.source, &self.state, next))
            .flatten();
        known.or_else(|| store.encode(&self.system, next))
    }

    /// The edges of the states in some buckets; `None` if the budget has run out.
    fn part(&mut self, store: &PackedStore, places: &Places, buckets: &Buckets) -> Option<Part> {
        let (mut part, mut keys, mut nexts) = (Part::default(), Vec::new(), Vec::new());
        store.table.keys_in(buckets, |key| keys.push(key));
        for some in keys.chunks(BATCH) {
            let first = part.edges.len();
            nexts.clear();
            for key in some {
                self.open(store, key);
                for step in &self.steps.arrivals {
                    let next = self.key_of(store, self.steps.state(step))?;
                    let hash = hash_of(&next);
                    store.table.prefetch(hash);
                    nexts.push((next, hash));
                    let steps = u16::try_from(step.steps).ok()?;
                    part.edges.push(KnownEdge { to: 0, steps, by: step.by, runs: step.runs });
                }
                part.resting.extend_from_slice(&self.steps.resting);
                part.states.push(KnownState {
                    edges: part.edges.len() as u32,
                    resting: part.resting.len() as u32,
                    processes: self.system.process_count(&self.state) as u8,
                    accepts: self.system.accepts(&self.state),
                });
            }
            for (edge, (next, hash)) in part.edges[first..].iter_mut().zip(&nexts) {
                edge.to = store.table.number_of(places, next, *hash)?;
            }
        }
        self.budget.stopped().is_none().then_some(part)
    }

    /// The store was packed anew.
    fn repack(&mut self, store: &PackedStore, old: &Encoding) {
        self.opened = None;
        let repacking = store.repacking(old);
        self.waiting.iter_mut().for_each(|key| *key = repacking.key(key, &mut self.numbers));
    }
}
