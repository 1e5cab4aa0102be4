//! What the search in order of cost keeps where it keeps the states themselves: the compressed store, numbers of states that
//! wait, and a log of who ran and why, from which a path is found again.

use super::ByCost;
use super::checkpoint;
use super::cost_store::{Arrival, CostStore, End, Met, Pending, Site, Who, wanted};
use super::expansion_log::ProcessSet;
use super::frontier::{Frontier, Item};
use super::predecessors::Predecessors;
use crate::replay::{NOBODY, ReplayError, StatePath};
use crate::store::known::Reach;
use crate::store::{Key, Opened, StateNumber, Store};
use crate::successors::{Replayable, Successors};
use preempt_core::{Budget, Memory};
use preempt_model::search::RunCost;
use std::io::{Read, Result, Write};
use std::ops::Range;

pub struct ExactStore {
    pub states: Store,
    pub frontier: Frontier,
    pub predecessors: Predecessors,
}

impl ExactStore {
    pub fn new() -> ExactStore {
        ExactStore {
            states: Store::new(),
            frontier: Frontier::default(),
            predecessors: Predecessors::default(),
        }
    }
}

/// A key with its hash.
#[derive(Debug, Clone, Copy)]
pub struct HashedKey {
    key: Key,
    hash: u64,
}

impl Pending for Item {
    fn site(self) -> Site {
        self.state
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

impl CostStore for ExactStore {
    type Item = Item;
    type Key = HashedKey;
    type Place = StateNumber;
    type Identity = StateNumber;
    type Opened = Opened;

    const NEEDS_BYTES: bool = false;
    const CAN_BE_SAVED: bool = true;
    const IS_EXACT: bool = true;

    #[inline]
    fn bytes_of(opened: &Opened) -> &[u8] {
        &opened.bytes
    }

    fn meet_initial<S: Successors + ?Sized>(
        &mut self,
        system: &S,
        _: u32,
        state: &[u8],
    ) -> Option<Met<Self>> {
        let key = self.states.encode(system, state, &Opened::default())?;
        let (number, is_new) = self.states.insert(key, key.hash(), system.process_count(state))?;
        let item = Item { state: number, from: number, by: NOBODY, last: NOBODY, who: Who::Last };
        Some(Met { place: number, identity: number, item, is_new })
    }

    #[inline]
    fn key<S: Successors + ?Sized>(&mut self, system: &S, state: &[u8], from: &Opened) -> Option<HashedKey> {
        let key = self.states.encode(system, state, from)?;
        let hash = key.hash();
        self.states.prefetch(hash);
        Some(HashedKey { key, hash })
    }

    fn prefetch(&self, arrivals: &[Arrival<HashedKey>]) {
        arrivals.iter().for_each(|arrival| self.states.prefetch_record(arrival.key.hash));
    }

    #[inline]
    fn meet<S: Successors + ?Sized>(
        &mut self,
        _: &S,
        arrival: &Arrival<HashedKey>,
        _: &[u8],
    ) -> Option<Met<Self>> {
        let HashedKey { key, hash } = arrival.key;
        let (state, is_new) = self.states.insert(key, hash, usize::from(arrival.processes))?;
        let item = Item { state, from: arrival.from, by: arrival.by, last: arrival.runs, who: Who::Last };
        Some(Met { place: state, identity: state, item, is_new })
    }

    /// States are kept for ever, and so is how they were reached.
    fn release(&mut self, _: Site) {}

    fn hold(&mut self, _: Site) {}

    #[inline]
    fn push(&mut self, cost: RunCost, item: Item, _: &[u8]) {
        self.frontier.push(cost.preemptions, cost.steps, item);
    }

    fn next_batch(&mut self, cost: RunCost, most: usize) -> usize {
        let batch = self.frontier.next_batch(cost.preemptions, cost.steps, most);
        batch.iter().for_each(|item| self.states.records.prefetch(item.state));
        batch.iter().for_each(|item| self.states.prefetch_nodes(item.state));
        batch.len()
    }

    fn is_half_done(&self) -> bool {
        !self.frontier.rest().is_empty()
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

    #[inline]
    fn item(&self, number: usize) -> Item {
        self.frontier.item(number)
    }

    fn identity(&self, number: usize) -> StateNumber {
        self.item(number).state
    }

    #[inline]
    fn place<S: Successors + ?Sized>(&mut self, _: &S, number: usize) -> StateNumber {
        self.item(number).state
    }

    #[inline]
    fn open<S: Successors + ?Sized>(&mut self, system: &S, number: usize, opened: &mut Opened) {
        self.states.open(system, self.item(number).state, opened);
    }

    fn open_met<S: Successors + ?Sized>(&self, system: &S, met: &Met<Self>, _: &[u8], opened: &mut Opened) {
        self.states.open(system, met.place, opened);
    }

    fn end_batch(&mut self) {}

    #[inline]
    fn has_run(&self, place: StateNumber, process: usize) -> bool {
        self.states.records.is_expanded(place, process)
    }

    #[inline]
    fn has_run_alone(&self, place: StateNumber, process: usize) -> bool {
        self.states.records.is_expanded(place, process)
    }

    #[inline]
    fn ran_alone(&mut self, place: StateNumber, process: usize) {
        self.states.records.set_expanded(place, process);
    }

    fn begin_others(&mut self, _: StateNumber) -> bool {
        true
    }

    #[inline]
    fn ran_among_others(&mut self, place: StateNumber, process: usize) {
        self.states.records.set_expanded(place, process);
    }

    #[inline]
    fn lower_everybody(&mut self, place: StateNumber, now: u32, cost: RunCost) -> bool {
        self.states.records.lower_everybody(place, now, cost.preemptions, cost.steps)
    }

    fn upcoming<S: Successors + ?Sized>(
        &mut self,
        system: &S,
        which: Range<usize>,
        visit: &mut dyn FnMut(&[u8], ProcessSet),
    ) {
        let (rest, states) = (self.frontier.rest(), &self.states);
        let mut opened = Opened::default();
        for item in rest.get(which.start..rest.len().min(which.end)).unwrap_or(&[]) {
            let has_run = |process: u8| states.records.is_expanded(item.state, usize::from(process));
            if item.who == Who::Nobody || item.who == Who::Last && has_run(item.last) {
                visit(&[], ProcessSet::default());
                continue;
            }
            states.open(system, item.state, &mut opened);
            visit(&opened.bytes, wanted(*item, system.process_count(&opened.bytes), has_run));
        }
    }

    fn set_dead(&mut self, identity: StateNumber) -> bool {
        self.states.records.set_dead(identity)
    }

    #[inline]
    fn log(&mut self, item: Item, ran: ProcessSet) {
        self.predecessors.log(&item, ran);
    }

    fn path_to<S: Successors + ?Sized>(
        &self,
        system: &mut S,
        end: &End,
        budget: &Budget,
    ) -> std::result::Result<StatePath, ReplayError> {
        let path = self.predecessors.path_to(&self.states, system, end, budget);
        path.ok_or_else(|| ReplayError::lost(budget))
    }

    fn bytes(&self) -> u64 {
        self.states.bytes() + self.predecessors.bytes() + self.frontier.bytes()
    }

    fn memory(&self) -> Memory {
        Memory {
            store: self.states.bytes(),
            frontier: self.frontier.most_bytes(),
            parents: self.predecessors.bytes(),
        }
    }

    fn reach(&self) -> Reach {
        Reach::Whole
    }

    fn save<S: Replayable + ?Sized>(search: &ByCost<'_, S, Self>, out: &mut dyn Write) -> Result<()> {
        checkpoint::save(search, out)
    }

    fn restore<S: Replayable + ?Sized>(search: &mut ByCost<'_, S, Self>, input: &mut dyn Read) -> Result<()> {
        checkpoint::restore(search, input)
    }
}
