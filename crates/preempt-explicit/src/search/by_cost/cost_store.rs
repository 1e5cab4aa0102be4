//! What the search in order of cost keeps: the states it met, what waits to be expanded, and how each was reached. There
//! are two ways to keep it, which differ in what a state is once it was met: a number in the exact store ([`super::exact`]),
//! or a hash ([`super::hashed`]).

use super::ahead::only;
use super::{ByCost, ProcessSet};
use crate::replay::{Ending, ReplayError, StatePath};
use crate::store::known::Reach;
use crate::successors::{Replayable, Successors};
use preempt_core::{Budget, Memory};
use preempt_model::search::RunCost;
use std::hash::Hash;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::ops::Range;

/// From where a path is found again: a state's number in the exact store, a node of the path tree beside the others.
pub type Site = u32;

/// Who is to run in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Who {
    /// The process that was running goes on.
    Last,
    /// Everybody but that process.
    Others,
    /// Nobody: the state itself is a violation.
    Nobody,
}

impl Who {
    /// As it is written with two bits; what is none of them is [`Who::Nobody`].
    pub fn from_bits(bits: u8) -> Who {
        match bits & 3 {
            0 => Who::Last,
            1 => Who::Others,
            _ => Who::Nobody,
        }
    }
}

/// Somebody is to run in a state, which was reached in a certain way.
pub trait Pending: Copy {
    fn site(self) -> Site;
    /// The process that was running when the state was reached.
    fn last(self) -> u8;
    fn who(self) -> Who;
    /// In the same state, reached in the same way.
    fn with(self, who: Who) -> Self;
}

/// Where a run ends in a violation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    pub site: Site,
    /// The process that was running when the last state was reached.
    pub last: u8,
    pub ending: Ending,
}

/// A successor that was not looked up yet.
pub struct Arrival<K> {
    pub key: K,
    /// Where its bytes lie, as long as they are needed.
    pub start: usize,
    pub length: usize,
    /// The state that it was reached from, by this process, as the so-many-th of its arrivals.
    pub from: Site,
    pub choice: u32,
    pub by: u8,
    /// The process running now.
    pub runs: u8,
    pub steps: u32,
    pub processes: u8,
    pub leaving_is_free: bool,
    /// The exact reduction lets the running process go on alone.
    pub runs_alone: bool,
}

/// A state that was looked up.
pub struct Met<T: CostStore> {
    pub place: T::Place,
    pub identity: T::Identity,
    /// The process that was running goes on.
    pub item: T::Item,
    pub is_new: bool,
}

/// Who is to be expanded in the state of an item that has so many processes.
pub fn wanted<I: Pending>(item: I, count: usize, has_run: impl Fn(u8) -> bool) -> ProcessSet {
    match item.who() {
        Who::Last if usize::from(item.last()) < count => only(item.last()),
        Who::Last | Who::Nobody => ProcessSet::default(),
        Who::Others => {
            let others = (0..count as u8).filter(|process| *process != item.last() && !has_run(*process));
            others.fold(ProcessSet::default(), |mut set, process| {
                set[usize::from(process) / 64] |= 1 << (process % 64);
                set
            })
        }
    }
}

/// See the head of this file. `None` always means that there is no more room.
pub trait CostStore: Sized {
    /// What waits.
    type Item: Pending;
    /// A successor, as far as it is computed when it is met.
    type Key: Copy;
    /// Where a state is remembered, until the next one is looked up or queued.
    type Place: Copy;
    /// What two states do not have in common.
    type Identity: Copy + Eq + Hash;
    /// A state taken out to be expanded.
    type Opened: Default;

    /// Must the bytes of a successor be there when it is looked up?
    const NEEDS_BYTES: bool;
    /// Can the search be saved and continued? If so, what lies beyond the greatest depth waits until something else has:
    /// another depth may be asked for when it goes on.
    const CAN_BE_SAVED: bool;
    /// Is the cost that was found the cost of the run? If states may be mistaken for others, the run may cost less.
    const IS_EXACT: bool;

    fn bytes_of(opened: &Self::Opened) -> &[u8];

    /// An initial state, the so-many-th.
    fn meet_initial<S: Successors + ?Sized>(
        &mut self,
        system: &S,
        number: u32,
        state: &[u8],
    ) -> Option<Met<Self>>;

    /// What is needed to look a successor up; asks for the memory that this will need.
    fn key<S: Successors + ?Sized>(
        &mut self,
        system: &S,
        state: &[u8],
        from: &Self::Opened,
    ) -> Option<Self::Key>;

    /// All of these will be looked up next.
    fn prefetch(&self, arrivals: &[Arrival<Self::Key>]);

    /// The bytes are empty unless [`CostStore::NEEDS_BYTES`]. Give the item back with [`CostStore::release`].
    fn meet<S: Successors + ?Sized>(
        &mut self,
        system: &S,
        arrival: &Arrival<Self::Key>,
        state: &[u8],
    ) -> Option<Met<Self>>;

    fn release(&mut self, site: Site);

    /// A path that must be found again later.
    fn hold(&mut self, site: Site);

    // What waits.

    fn push(&mut self, cost: RunCost, item: Self::Item, state: &[u8]);

    /// Takes out some of what waits at this cost, or what is left of it, and says how many.
    fn next_batch(&mut self, cost: RunCost, most: usize) -> usize;

    /// Was part of what waited at a cost taken out, and not everything?
    fn is_half_done(&self) -> bool;

    /// The first steps, at least so many, at which something may wait at a level.
    fn next_steps(&self, level: u32, steps: u64) -> Option<u64>;

    fn has_level(&self, level: u32) -> bool;

    /// Everything at this level has been taken.
    fn forget_level(&mut self, level: u32);

    fn waiting(&self) -> u64;

    // The items of the batch, by their numbers.

    fn item(&self, number: usize) -> Self::Item;

    fn identity(&self, number: usize) -> Self::Identity;

    fn place<S: Successors + ?Sized>(&mut self, system: &S, number: usize) -> Self::Place;

    fn open<S: Successors + ?Sized>(&mut self, system: &S, number: usize, opened: &mut Self::Opened);

    /// A state that was just looked up.
    fn open_met<S: Successors + ?Sized>(
        &self,
        system: &S,
        met: &Met<Self>,
        state: &[u8],
        opened: &mut Self::Opened,
    );

    /// All items of the batch were worked on.
    fn end_batch(&mut self);

    // What is remembered of a state.

    /// Was the process expanded, alone or among the others?
    fn has_run(&self, place: Self::Place, process: usize) -> bool;

    /// Was it expanded alone?
    fn has_run_alone(&self, place: Self::Place, process: usize) -> bool;

    fn ran_alone(&mut self, place: Self::Place, process: usize);

    /// Everybody is about to be expanded who has not been; false if that was done before.
    fn begin_others(&mut self, place: Self::Place) -> bool;

    /// One of them was.
    fn ran_among_others(&mut self, place: Self::Place, process: usize);

    /// Everybody is to be queued at this cost, while the search is at level `now`. False if that is not needed, since
    /// everybody was queued at a cost as low.
    fn lower_everybody(&mut self, place: Self::Place, now: u32, cost: RunCost) -> bool;

    /// Nobody can move in the state. True the first time.
    fn set_dead(&mut self, identity: Self::Identity) -> bool;

    /// Of the items behind the batch, as far as they are known already, these: their states, and who is to be expanded in them
    /// as it looks now. Nothing but time depends on it.
    fn upcoming<S: Successors + ?Sized>(
        &mut self,
        _system: &S,
        _which: Range<usize>,
        _visit: &mut dyn FnMut(&[u8], ProcessSet),
    ) {
    }

    // How it was reached.

    /// Because of this item these processes ran, or it is the end of a run; with [`Who::Last`] it is that process.
    fn log(&mut self, item: Self::Item, ran: ProcessSet);

    fn path_to<S: Successors + ?Sized>(
        &self,
        system: &mut S,
        end: &End,
        budget: &Budget,
    ) -> std::result::Result<StatePath, ReplayError>;

    /// Without what the system uses.
    fn bytes(&self) -> u64;

    /// Could something not be kept, so that what comes after counts for nothing?
    fn has_failed(&self) -> bool {
        false
    }

    fn memory(&self) -> Memory;

    fn reach(&self) -> Reach;

    /// Writes everything that the search knows.
    fn save<S: Replayable + ?Sized>(_: &ByCost<'_, S, Self>, _: &mut dyn Write) -> Result<()> {
        Err(Error::new(ErrorKind::Unsupported, "only a search that keeps its states can be continued"))
    }

    /// Takes up a search where [`CostStore::save`] left it.
    fn restore<S: Replayable + ?Sized>(_: &mut ByCost<'_, S, Self>, _: &mut dyn Read) -> Result<()> {
        Err(Error::new(ErrorKind::Unsupported, "only a search that keeps its states can be continued"))
    }
}
