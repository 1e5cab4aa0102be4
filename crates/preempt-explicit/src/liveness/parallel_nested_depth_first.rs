//! Is there an accepted run without end? By several threads: CNDFS (Evangelista, Laarman, Petrucci and van de Pol, "Improved
//! multi-core nested depth-first search", ATVA 2012).
//!
//! **What it computes.** Every thread makes the nested depth-first search of [`super::nested_depth_first`] for itself, in an
//! order of its own, with a path (*cyan*) of its own. Shared are two marks for each state: *blue*, left by some outer
//! search, and *red*, no accepted cycle goes through it. What is blue or red is not entered again by anybody.
//!
//! **Why it is right.** A thread sets a state red only after its inner search is over, and for this it waits until every other
//! accepting state that it has met is red, whoever makes it so: that is the paper's `await`, with its proof that some
//! thread can always go on. A step onto the thread's own path that closes an accepted cycle is one (Schwoon and Esparza's
//! early stop, as for one thread).
//!
//! **What comes of it.** Yes or no, and how large the graph is. Which run is found depends on who was first: so if there is
//! one, the search of one thread is asked for it. If there is none, each state was left once and, where it can be reached
//! from an accepting state, entered once more by an inner search, whoever did it: states and transitions are what one thread
//! counts.
//!
//! Threads work in rounds, as in the search level by level: between two of them one makes room in the store, and if states are
//! packed anew, everything that holds a key is changed with it.

use super::graph::Incomplete;
use crate::budget::SearchBudget;
use crate::crew::Crew;
use crate::observed::Observed;
use crate::pool::was_helped;
use crate::search::SearchOptions;
use crate::store::packed::encoding::{Encoding, Key, hash_of};
use crate::store::packed::table::{SHARDS, Table};
use crate::store::packed::{Full, Keeps, PackedStore};
use crate::successors::Successors;
use preempt_core::{Budget, Progress, Rng, Snapshot, StopReason};
use std::collections::HashMap;
use std::sync::Arc;

/// Left by somebody's outer search.
const BLUE: u8 = 1;
/// No accepted cycle goes through it.
const RED: u8 = 2;

/// New states of a round for each thread, and steps along edges.
const MOST_NEW: u64 = 1 << 14;
const MOST_WORK: u64 = 1 << 16;

/// A state may bring more than the round should.
const SLACK: u64 = 1 << 9;

/// What a search saw that saw everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct Whole {
    pub states: u64,
    pub transitions: u64,
    /// Of the longest path.
    pub depth: u64,
    pub search_bytes: u64,
    pub store_bytes: u64,
    /// Some step has no end.
    pub has_dead_ends: bool,
}

/// `None` if there is an accepted run without end. If `judges`, a state that is a violation in itself ends the search.
pub fn search(
    observed: &Observed<'_>,
    judges: bool,
    options: &SearchOptions,
    progress: &mut dyn Progress,
) -> Result<Option<Whole>, Incomplete> {
    let mut budget = SearchBudget::new(options.limits, 1);
    budget.begin(progress);
    let mut workers: Vec<Worker<'_>> = Vec::new();
    for number in 0..options.threads.max(1) {
        let system = observed.another().ok_or(Incomplete::Limit(StopReason::Memory))?;
        workers.push(Worker::new(system, judges, &budget.shared, number as u64));
    }
    let store = PackedStore::new(Keeps::Flags).map_err(|Full| FULL)?;
    Search { crew: Crew::new(workers.len()), workers, store, whole: Whole::default() }.run(
        options,
        &mut budget,
        progress,
    )
}

const FULL: Incomplete = Incomplete::Limit(StopReason::Memory);

struct Search<'m> {
    crew: Crew,
    workers: Vec<Worker<'m>>,
    store: PackedStore,
    whole: Whole,
}

impl Search<'_> {
    fn run(
        mut self,
        options: &SearchOptions,
        budget: &mut SearchBudget,
        progress: &mut dyn Progress,
    ) -> Result<Option<Whole>, Incomplete> {
        self.store.table.set_shared(self.workers.len() > 1);
        loop {
            let limit =
                options.limits.states.map_or(u64::MAX, |most| most.saturating_sub(self.whole.states) + 1);
            let most_new = MOST_NEW.min(limit);
            self.settle(most_new).map_err(|Full| FULL)?;
            self.poll(budget, progress)?;
            for worker in &self.workers {
                match worker.found {
                    Some(Found::Cycle) => return Ok(None),
                    Some(Found::FiniteViolation) => return Err(Incomplete::FiniteViolation),
                    None => {}
                }
            }
            if self.workers.iter().all(|worker| worker.is_done) {
                self.whole.store_bytes = self.store.bytes();
                return Ok(Some(self.whole));
            }
            let store = &self.store;
            let busy = self.workers.iter_mut().filter(|worker| !worker.is_done);
            self.crew.each(busy, |worker| worker.round(store, most_new));
        }
    }

    /// Between two rounds: counts, and makes room for what did not fit.
    fn settle(&mut self, most_new: u64) -> Result<(), Full> {
        let threads = self.workers.len();
        let mut wanted = Vec::new();
        for (number, worker) in self.workers.iter_mut().enumerate() {
            if number > 0 {
                was_helped(worker.new_states);
            }
            self.whole.states += std::mem::take(&mut worker.new_states);
            self.whole.transitions += std::mem::take(&mut worker.transitions);
            self.whole.has_dead_ends |= worker.has_dead_ends;
            self.whole.depth = self.whole.depth.max(worker.deepest as u64);
            self.store.table.count(&std::mem::take(&mut worker.new));
            wanted.append(&mut worker.wanted);
        }
        self.store.make_room((most_new + SLACK) * threads as u64, &mut self.crew)?;
        let system = &self.workers[0].system;
        if wanted.iter().any(|state| self.store.encode(system, state).is_none()) {
            let old = Arc::clone(&self.store.encoding);
            self.store.widen(system, &mut wanted.iter().map(|state| &**state), &|_| (), &mut self.crew)?;
            self.workers.iter_mut().for_each(|worker| worker.repack(&self.store, &old));
        }
        Ok(())
    }

    fn poll(&mut self, budget: &mut SearchBudget, progress: &mut dyn Progress) -> Result<(), Incomplete> {
        let beside: u64 = self.workers.iter().map(Worker::bytes).sum();
        self.whole.search_bytes = self.whole.search_bytes.max(beside);
        let Whole { states, transitions, .. } = self.whole;
        let frontier = self.workers.iter().map(|worker| worker.path.len() as u64).sum();
        let bytes = self.store.bytes() + beside;
        let snapshot =
            || Snapshot { states, transitions, frontier, depth: self.whole.depth, level: 0, bytes };
        let stopped = budget.poll(states, progress, snapshot).or_else(|| budget.stopped());
        stopped.map_or(Ok(()), |reason| Err(Incomplete::Limit(reason)))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Cycle,
    FiniteViolation,
}

/// A state on a path, and where its steps lead to.
struct Frame {
    key: Key,
    accepts: bool,
    edges: Vec<Key>,
    next: usize,
    /// It is blue, by whoever was first.
    is_left: bool,
}

/// An inner search.
#[derive(Default)]
struct Inner {
    path: Vec<Frame>,
    /// Everything that it has entered: does it accept, and how many steps lead from it?
    entered: HashMap<Key, (bool, u64), foldhash::fast::FixedState>,
}

struct Worker<'m> {
    system: Observed<'m>,
    judges: bool,
    budget: Budget,
    /// The first thread takes steps in their order, each other one in an order of its own.
    shuffle: Option<Rng>,
    /// Still to be begun with.
    initial: Vec<Vec<u8>>,
    path: Vec<Frame>,
    /// The states on the path, and whether they accept.
    cyan: HashMap<Key, bool, foldhash::fast::FixedState>,
    inner: Option<Inner>,
    found: Option<Found>,
    is_done: bool,
    /// States that do not fit into the store as it is.
    wanted: Vec<Vec<u8>>,
    has_dead_ends: bool,
    deepest: usize,
    /// Since the last round.
    new_states: u64,
    new: [u64; SHARDS],
    transitions: u64,
    numbers: Vec<u32>,
    state: Vec<u8>,
}

/// The store must change first, or another thread must go on.
struct Wait;

impl<'m> Worker<'m> {
    fn new(mut system: Observed<'m>, judges: bool, budget: &Budget, number: u64) -> Worker<'m> {
        system.work_within(budget);
        let mut initial = system.initial();
        initial.reverse();
        Worker {
            system,
            judges,
            budget: budget.clone(),
            shuffle: (number > 0).then(|| Rng::new(number)),
            initial,
            path: Vec::new(),
            cyan: HashMap::default(),
            inner: None,
            found: None,
            is_done: false,
            wanted: Vec::new(),
            has_dead_ends: false,
            deepest: 0,
            new_states: 0,
            new: [0; SHARDS],
            transitions: 0,
            numbers: Vec::new(),
            state: Vec::new(),
        }
    }

    fn round(&mut self, store: &PackedStore, most_new: u64) {
        for _ in 0..MOST_WORK {
            let is_over = self.found.is_some() || self.is_done || self.budget.stopped().is_some();
            if is_over || self.new_states >= most_new || self.step(store).is_err() {
                return;
            }
        }
    }

    /// One step of the search: along an edge, or back.
    fn step(&mut self, store: &PackedStore) -> Result<(), Wait> {
        if let Some(mut inner) = self.inner.take() {
            let result = self.inner_step(store, &mut inner);
            if !matches!(result, Ok(true)) {
                self.inner = Some(inner);
            }
            return result.map(|_| ());
        }
        let Some(frame) = self.path.last() else { return self.begin(store) };
        let (key, accepts) = (frame.key, frame.accepts);
        if let Some(to) = frame.edges.get(frame.next).copied() {
            let at = self.path.len() - 1;
            match self.cyan.get(&to).copied() {
                Some(other) if accepts || other => self.found = Some(Found::Cycle),
                Some(_) => {}
                None if self.flags(store, &to)? & BLUE == 0 => self.enter(store, to)?,
                None => {}
            }
            self.path[at].next += 1;
            return Ok(());
        }
        if !frame.is_left {
            let (count, seed) = (frame.edges.len() as u64, frame.edges.clone());
            if self.mark(store, &key, BLUE) {
                self.transitions += count;
            }
            if let Some(frame) = self.path.last_mut() {
                frame.is_left = true;
            }
            if accepts {
                let mut inner = Inner::default();
                inner.entered.insert(key, (true, count));
                inner.path.push(Frame { key, accepts, edges: seed, next: 0, is_left: false });
                self.inner = Some(inner);
                return Ok(());
            }
        }
        self.cyan.remove(&key);
        self.path.pop();
        Ok(())
    }

    /// The next initial state; or there is none left.
    fn begin(&mut self, store: &PackedStore) -> Result<(), Wait> {
        let Some(state) = self.initial.last() else {
            self.is_done = true;
            return Ok(());
        };
        let Some(key) = store.encode(&self.system, state) else {
            self.wanted.push(state.clone());
            return Err(Wait);
        };
        if self.flags(store, &key)? & BLUE == 0 {
            self.enter(store, key)?;
        }
        self.initial.pop();
        Ok(())
    }

    fn enter(&mut self, store: &PackedStore, key: Key) -> Result<(), Wait> {
        let frame = self.open(store, key)?;
        self.cyan.insert(key, frame.accepts);
        self.path.push(frame);
        self.deepest = self.deepest.max(self.path.len());
        Ok(())
    }

    /// One step of the inner search; true when it is over.
    fn inner_step(&mut self, store: &PackedStore, inner: &mut Inner) -> Result<bool, Wait> {
        let Some(frame) = inner.path.last_mut() else { return self.close(store, inner).map(|()| true) };
        let Some(to) = frame.edges.get(frame.next).copied() else {
            inner.path.pop();
            return Ok(false);
        };
        if self.cyan.contains_key(&to) {
            self.found = Some(Found::Cycle);
        } else if !inner.entered.contains_key(&to) && self.flags(store, &to)? & RED == 0 {
            let entered = self.open(store, to)?;
            frame.next += 1;
            inner.entered.insert(to, (entered.accepts, entered.edges.len() as u64));
            inner.path.push(entered);
            return Ok(false);
        }
        frame.next += 1;
        Ok(false)
    }

    /// The inner search is over. Everything that it has entered becomes red once the other accepting states among it are.
    fn close(&mut self, store: &PackedStore, inner: &Inner) -> Result<(), Wait> {
        let seed = self.path.last().map(|frame| frame.key);
        for (key, (accepts, _)) in &inner.entered {
            if *accepts && Some(*key) != seed && self.flags(store, key)? & RED == 0 {
                return Err(Wait);
            }
        }
        for (key, (_, edges)) in &inner.entered {
            if self.mark(store, key, RED) {
                self.transitions += edges;
            }
        }
        Ok(())
    }

    /// What is known of a state, which is met by this.
    fn flags(&mut self, store: &PackedStore, key: &Key) -> Result<u8, Wait> {
        let hash = hash_of(key);
        let met = store.table.meet(key, hash, None, 0).ok_or(Wait)?;
        if met.is_new {
            self.new_states += 1;
            self.new[Table::shard(hash)] += 1;
        }
        Ok(met.flags)
    }

    /// Marks a state that was met. Says whether this thread was the first to do so.
    fn mark(&self, store: &PackedStore, key: &Key, flag: u8) -> bool {
        store.table.meet(key, hash_of(key), None, flag).is_some_and(|met| met.flags & flag == 0)
    }

    /// A state with its steps.
    fn open(&mut self, store: &PackedStore, key: Key) -> Result<Frame, Wait> {
        let mut state = std::mem::take(&mut self.state);
        store.open(&key, &mut self.numbers, &mut state);
        if self.judges && self.system.state_violation(&state).is_some() {
            self.found = Some(Found::FiniteViolation);
        }
        let accepts = self.system.accepts(&state);
        let steps = self.system.steps_from(&state, true);
        self.state = state;
        self.has_dead_ends |= steps.has_dead_ends;
        let mut edges = Vec::with_capacity(steps.arrivals.len());
        for step in &steps.arrivals {
            let next = steps.state(step);
            match store.encode(&self.system, next) {
                Some(key) => edges.push(key),
                None => self.wanted.push(next.to_vec()),
            }
        }
        if !self.wanted.is_empty() || self.budget.stopped().is_some() {
            return Err(Wait);
        }
        if let Some(rng) = &mut self.shuffle {
            for last in (1..edges.len()).rev() {
                edges.swap(last, rng.below(last + 1));
            }
        }
        Ok(Frame { key, accepts, edges, next: 0, is_left: false })
    }

    /// The store was packed anew.
    fn repack(&mut self, store: &PackedStore, old: &Encoding) {
        let numbers = &mut self.numbers;
        let repacking = store.repacking(old);
        let mut change = |key: &mut Key| *key = repacking.key(key, numbers);
        let inner = self.inner.iter_mut().flat_map(|inner| &mut inner.path);
        for frame in self.path.iter_mut().chain(inner) {
            change(&mut frame.key);
            frame.edges.iter_mut().for_each(&mut change);
        }
        let mut moved = |mut key: Key| {
            change(&mut key);
            key
        };
        self.cyan = self.cyan.drain().map(|(key, accepts)| (moved(key), accepts)).collect();
        if let Some(inner) = &mut self.inner {
            inner.entered = inner.entered.drain().map(|(key, known)| (moved(key), known)).collect();
        }
    }

    /// Beside the store.
    fn bytes(&self) -> u64 {
        let of_frame = |frame: &Frame| size_of::<Frame>() + frame.edges.capacity() * size_of::<Key>();
        let inner = self.inner.iter().flat_map(|inner| &inner.path);
        let paths: usize = self.path.iter().chain(inner).map(of_frame).sum();
        let entered = self.inner.as_ref().map_or(0, |inner| inner.entered.capacity());
        let tables =
            self.cyan.capacity() * size_of::<(Key, bool)>() + entered * size_of::<(Key, (bool, u64))>();
        (paths + tables) as u64 + self.system.bytes()
    }
}
