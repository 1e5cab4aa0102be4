//! The search in order of cost with its states outside memory: what it computes, and in which order, is what [`super::ByCost`]
//! says; only where things are kept is different.
//!
//! * [`states`]: every state with what is known of it, in memory while it is new or changes, and then in sorted runs ([`run`]),
//!   in entries that are looked at as they are ([`entry`]);
//! * [`waiting`]: what waits, with its state, in chunks of a file;
//! * how a state was reached is a node of a tree that is only written, until a run is asked for.
//!
//! **Why it is right.** A state is found by comparing all its bytes, in memory or in a run, and what is known of it is taken
//! from the newest place that has it. So every question of the search has the answer that the store in memory would give, and
//! numbers, verdict and run are the same.
//!
//! **What it costs.** A new state is mostly known as new by the filters of the runs, in memory; a state that was met long ago is
//! read from the disk, one block of a run. Of memory: the share for new states, ten bits a state for filters, two for fences.

mod entry;
mod run;
mod states;
mod waiting;

use super::cost_store::{Arrival, CostStore, End, Met, Pending, Site, Who};
use super::expansion_log::ProcessSet;
use super::path_tree::{NO_PATH, Step, states_along};
use crate::replay::{NOBODY, ReplayError, StatePath};
use crate::scratch::{Appended, Scratch};
use crate::search::Goal;
use crate::store::known::Reach;
use crate::successors::Successors;
use preempt_core::{Budget, Memory};
use preempt_model::search::RunCost;
use states::{Place, States};
use std::collections::HashSet;
use std::io::Result;
use std::sync::Arc;
use waiting::{Item, Waiting};

/// Of a node of the tree of paths: the parent, the process, and which of its arrivals.
const NODE: usize = 4 + 1 + 4;

pub struct DiskStore {
    states: States,
    waiting: Waiting,
    /// So much of the memory is for new states.
    share: u64,
    batch: Vec<Taken>,
    /// Of the states in the batch.
    bytes: Vec<u8>,
    /// One node behind the other.
    paths: Option<Appended>,
    dead: HashSet<u64>,
    /// Something could not be read or written.
    failed: bool,
}

/// An item of the batch, and where its state lies.
struct Taken {
    item: Item,
    start: usize,
    length: usize,
}

impl DiskStore {
    /// `memory`: what it may use altogether.
    pub fn new(scratch: &Arc<dyn Scratch>, memory: u64, goal: Goal) -> Result<DiskStore> {
        let paths = if goal == Goal::Count { None } else { Some(Appended::new(scratch)?) };
        Ok(DiskStore {
            states: States::new(scratch),
            waiting: Waiting::new(scratch)?,
            share: memory / 3,
            batch: Vec::new(),
            bytes: Vec::new(),
            paths,
            dead: HashSet::new(),
            failed: false,
        })
    }

    fn path(&mut self, parent: Site, step: Step) -> Option<Site> {
        let Some(paths) = &mut self.paths else { return Some(NO_PATH) };
        let number = Site::try_from(paths.end() / NODE as u64).ok().filter(|number| *number != NO_PATH)?;
        let mut node = [0; NODE];
        node[..4].copy_from_slice(&parent.to_le_bytes());
        node[4] = step.process;
        node[5..].copy_from_slice(&step.choice.to_le_bytes());
        paths.write(&node).ok()?;
        Some(number)
    }

    /// Which initial state, and the steps from there.
    fn steps(&self, mut number: Site) -> Option<(u32, Vec<Step>)> {
        let paths = self.paths.as_ref()?;
        let mut steps = Vec::new();
        loop {
            let mut node = [0; NODE];
            paths.read_at(u64::from(number) * NODE as u64, &mut node).ok()?;
            let parent = Site::from_le_bytes([node[0], node[1], node[2], node[3]]);
            let choice = u32::from_le_bytes([node[5], node[6], node[7], node[8]]);
            if parent == NO_PATH {
                steps.reverse();
                return Some((choice, steps));
            }
            steps.push(Step { process: node[4], choice });
            number = parent;
        }
    }

    fn state(&self, number: usize) -> &[u8] {
        let Taken { start, length, .. } = self.batch[number];
        &self.bytes[start..start + length]
    }

    fn take_some(&mut self, most: usize) -> Result<()> {
        self.bytes.clear();
        self.batch.clear();
        while self.batch.len() < most {
            let start = self.bytes.len();
            let Some(item) = self.waiting.next(&mut self.bytes)? else { break };
            self.batch.push(Taken { item, start, length: self.bytes.len() - start });
        }
        Ok(())
    }

    fn met(&mut self, state: &[u8], processes: usize, item: Item) -> Option<Met<DiskStore>> {
        let met = self.states.meet(state, processes);
        self.failed |= met.is_err();
        let (place, is_new) = met.ok()?;
        let identity = self.states.at(place).number();
        Some(Met { place, identity, item, is_new })
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

impl CostStore for DiskStore {
    type Item = Item;
    type Key = ();
    type Place = Place;
    type Identity = u64;
    type Opened = Vec<u8>;

    const NEEDS_BYTES: bool = true;
    const CAN_BE_SAVED: bool = false;
    const IS_EXACT: bool = true;

    fn bytes_of(opened: &Vec<u8>) -> &[u8] {
        opened
    }

    fn meet_initial<S: Successors + ?Sized>(
        &mut self,
        system: &S,
        number: u32,
        state: &[u8],
    ) -> Option<Met<Self>> {
        let path = self.path(NO_PATH, Step { process: 0, choice: number })?;
        self.met(state, system.process_count(state), Item { path, last: NOBODY, who: Who::Last })
    }

    fn key<S: Successors + ?Sized>(&mut self, _: &S, _: &[u8], _: &Vec<u8>) -> Option<()> {
        Some(())
    }

    fn prefetch(&self, _: &[Arrival<()>]) {}

    fn meet<S: Successors + ?Sized>(
        &mut self,
        _: &S,
        arrival: &Arrival<()>,
        state: &[u8],
    ) -> Option<Met<Self>> {
        let path = self.path(arrival.from, Step { process: arrival.by, choice: arrival.choice })?;
        let item = Item { path, last: arrival.runs, who: Who::Last };
        self.met(state, usize::from(arrival.processes), item)
    }

    /// Paths are kept for ever.
    fn release(&mut self, _: Site) {}

    fn hold(&mut self, _: Site) {}

    fn push(&mut self, cost: RunCost, item: Item, state: &[u8]) {
        self.failed |= self.waiting.push((cost.preemptions, cost.steps), item, state).is_err();
    }

    fn next_batch(&mut self, cost: RunCost, most: usize) -> usize {
        self.failed |= self.take_some(most).is_err();
        if self.batch.is_empty() {
            self.waiting.take(cost.preemptions, cost.steps);
            self.failed |= self.take_some(most).is_err();
        }
        self.batch.len()
    }

    fn is_half_done(&self) -> bool {
        false
    }

    fn next_steps(&self, level: u32, steps: u64) -> Option<u64> {
        self.waiting.next_steps(level, steps)
    }

    fn has_level(&self, level: u32) -> bool {
        self.waiting.has_level(level)
    }

    fn forget_level(&mut self, level: u32) {
        self.waiting.forget_level(level);
    }

    fn waiting(&self) -> u64 {
        self.waiting.count()
    }

    fn item(&self, number: usize) -> Item {
        self.batch[number].item
    }

    fn identity(&self, number: usize) -> u64 {
        self.states.number_of(self.state(number)).unwrap_or(u64::MAX)
    }

    fn place<S: Successors + ?Sized>(&mut self, system: &S, number: usize) -> Place {
        let Taken { start, length, .. } = self.batch[number];
        let state = &self.bytes[start..start + length];
        match self.states.meet(state, system.process_count(state)) {
            Ok((place, _)) => self.states.keep(place),
            Err(_) => {
                self.failed = true;
                Place::Seen
            }
        }
    }

    fn open<S: Successors + ?Sized>(&mut self, _: &S, number: usize, opened: &mut Vec<u8>) {
        opened.clear();
        opened.extend_from_slice(self.state(number));
    }

    fn open_met<S: Successors + ?Sized>(&self, _: &S, _: &Met<Self>, state: &[u8], opened: &mut Vec<u8>) {
        opened.clear();
        opened.extend_from_slice(state);
    }

    /// Nothing refers to a place now.
    fn end_batch(&mut self) {
        if self.states.fresh_bytes() > self.share {
            self.failed |= self.states.write_out().is_err();
        }
    }

    fn has_run(&self, place: Place, process: usize) -> bool {
        self.states.at(place).has_run(process)
    }

    fn has_run_alone(&self, place: Place, process: usize) -> bool {
        self.states.at(place).has_run(process)
    }

    fn ran_alone(&mut self, place: Place, process: usize) {
        self.states.set_run(place, process);
    }

    fn begin_others(&mut self, _: Place) -> bool {
        true
    }

    fn ran_among_others(&mut self, place: Place, process: usize) {
        self.states.set_run(place, process);
    }

    fn lower_everybody(&mut self, place: Place, _: u32, cost: RunCost) -> bool {
        self.states.lower_everybody(place, cost)
    }

    fn set_dead(&mut self, identity: u64) -> bool {
        self.dead.insert(identity)
    }

    /// What waits has its path with it.
    fn log(&mut self, _: Item, _: ProcessSet) {}

    fn path_to<S: Successors + ?Sized>(
        &self,
        system: &mut S,
        end: &End,
        budget: &Budget,
    ) -> std::result::Result<StatePath, ReplayError> {
        let states = self
            .steps(end.site)
            .and_then(|(initial, steps)| states_along(system, initial, &steps, budget))
            .ok_or_else(|| ReplayError::lost(budget))?;
        Ok(StatePath { states, ending: end.ending })
    }

    fn bytes(&self) -> u64 {
        let dead = self.dead.capacity() * size_of::<(u64, u64)>();
        let paths = self.paths.as_ref().map_or(0, Appended::bytes);
        self.states.bytes() + self.waiting.bytes() + paths + dead as u64
    }

    fn has_failed(&self) -> bool {
        self.failed
    }

    fn memory(&self) -> Memory {
        let paths = self.paths.as_ref().map_or(0, Appended::bytes);
        Memory { store: self.states.bytes(), frontier: self.waiting.most_bytes, parents: paths }
    }

    fn reach(&self) -> Reach {
        Reach::Whole
    }
}
