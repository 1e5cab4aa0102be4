//! The search in order of cost: the first violation taken is the simplest, and a bound costs nothing.
//!
//! **What it computes.** The cost of a run is its preemptions and then its steps ([`CostModel`] has the other units). What
//! may happen after a state depends on the state alone, but what it costs depends on who ran last: that process goes on for
//! free, everybody else costs a preemption. The plain algorithm (`search/oracle.rs` of the model) therefore visits pairs of
//! a state and its last process, which is a state space as many times as large as there are processes. Here *each process is
//! expanded in each state once*, at its cheapest:
//!
//! * an arrival in a state with `p` running queues `p` alone at the same cost, and *everybody else* at one preemption more;
//! * a process that was expanded is never expanded again, and everybody is queued again only at a lower cost.
//!
//! **Why it is right.** What waits is taken in the order of cost (a bucket for each), and a step never lowers it. So a process
//! is first taken in a state at the least cost at which any run can have it move there: either the cheapest arrival with this
//! process running, or the cheapest arrival at all and a switch. Whatever follows from that expansion follows from every
//! dearer one too, at no lower cost. A forced switch (the process that ran cannot go on) costs nothing more, so everybody is
//! queued in the bucket that is being worked on. Hence the invariants: no process is expanded twice in a state, and within a
//! bound no transition is executed that the search without one would not execute.
//!
//! **What it costs.** Memory for the states, one mask of processes and one cost for each, and what waits. Within a bucket work
//! is done in batches: expand, find keys and hashes, ask for the memory that will be needed, and only then look everything up.
//! Several threads compute what the items behind a batch lead to while the batch is looked up ([`ahead`]).
//!
//! * [`cost_store`]: what is kept, in three ways: [`exact`] with [`frontier`], [`predecessors`] and [`expansion_log`];
//!   [`hashed`] with [`state_frontier`] and [`path_tree`]; [`on_disk`] outside memory;
//! * [`buckets`]: what waits, by cost; [`checkpoint`]: a search that can be continued;
//! * [`expand`]: one item; [`ahead`]: with several threads; [`outcome`]: violations, and the end;
//! * [`part`]: one part of a search that several processes make together; [`wire`]: states on their way between them.

pub mod ahead;
mod buckets;
pub mod checkpoint;
mod cost_store;
mod exact;
mod expand;
mod expansion_log;
mod frontier;
mod hashed;
mod on_disk;
mod outcome;
pub mod part;
pub mod path_tree;
mod predecessors;
mod state_frontier;
pub mod wire;

pub use cost_store::CostStore;
pub use exact::ExactStore;
pub use expansion_log::ProcessSet;
pub use hashed::HashedStore;
pub use on_disk::DiskStore;

use super::cost_model::CostModel;
use super::spinning::Spinning;
use super::statistics::Statistics;
use super::{Goal, SearchOptions, SearchReport};
use crate::CheckError;
use crate::budget::SearchBudget;
use crate::reduction::Reduction;
use crate::successors::Replayable;
use ahead::Lookahead;
use checkpoint::{Checkpoints, describe};
use cost_store::{Arrival, End, Pending, Who};
use part::Neighbours;
use preempt_core::{Progress, Property, PropertyKind, Snapshot, StopReason, Verdict};
use preempt_model::search::RunCost;
use std::collections::{BTreeMap, HashMap};

/// Items of one batch.
const BATCH: usize = 64;

/// Fewer states than this are not worth a thread.
const WORTH_SHARING: u64 = 1 << 14;

/// The same where steps are not machine code, and so many items are announced before they are come to.
const WORTH_SHARING_STEPS: u64 = 64;
const FEW_AHEAD: usize = 2 * BATCH;

/// How often, in batches, the clock, the memory and the observer of the search are looked at.
const LOOK_EVERY: u32 = 16;

const NOTHING: RunCost = RunCost { preemptions: 0, steps: 0 };

pub struct ByCost<'a, S: ?Sized, T: CostStore> {
    system: &'a mut S,
    options: &'a SearchOptions,
    goal: Goal,
    cost_model: CostModel,
    store: T,
    /// Of the bucket that is being worked on.
    at: RunCost,
    statistics: Statistics,
    budget: SearchBudget,
    /// The cheapest violation found so far; its path is held.
    cheapest: Option<(RunCost, End)>,
    /// Violations beyond the greatest depth, as long as the depth has cut off nothing: for the checkpoint.
    beyond: Vec<(RunCost, End)>,
    /// With [`Goal::All`]: each violation, with its cheapest cost.
    all: BTreeMap<Property, (RunCost, End)>,
    /// States that are violations in themselves, and whether that has been reported.
    wrong: HashMap<T::Identity, bool>,
    /// The other parts, if this is one of several: their states are sent to them.
    neighbours: Option<Box<Neighbours>>,
    /// Does it go on from a checkpoint?
    resumed: bool,
    reduces: bool,
    judges: bool,
    full: bool,
    /// The successors that were met in this batch and not looked up yet, and their bytes.
    arrivals: Vec<Arrival<T::Key>>,
    bytes: Vec<u8>,
    expansion: Expansion,
    opened: T::Opened,
    /// Who spins where, for `--fair-switch`.
    spinning: Spinning,
    /// With several threads.
    ahead: Option<Lookahead>,
    /// Of the items behind the batch, so many were announced to a system that has helpers of its own.
    announced: usize,
}

/// What one expansion has met.
#[derive(Default)]
struct Expansion {
    /// Where each state lies, its length, who runs in it, and after how many steps.
    arrivals: Vec<(usize, usize, u8, u32)>,
    violations: Vec<(PropertyKind, u32)>,
}

impl<'a, S: Replayable + ?Sized, T: CostStore> ByCost<'a, S, T> {
    pub fn new(system: &'a mut S, store: T, options: &'a SearchOptions, goal: Goal) -> Self {
        ByCost {
            options,
            goal,
            cost_model: CostModel::new(options.cost),
            store,
            at: NOTHING,
            statistics: Statistics::default(),
            budget: SearchBudget::new(options.limits, LOOK_EVERY),
            cheapest: None,
            beyond: Vec::new(),
            all: BTreeMap::new(),
            wrong: HashMap::new(),
            neighbours: None,
            resumed: false,
            // Every violation at its own cheapest: one that ends a run would hide those of the others.
            reduces: options.reduction == Reduction::Exact && goal == Goal::First,
            judges: system.judges_states(),
            system,
            full: false,
            arrivals: Vec::new(),
            bytes: Vec::new(),
            expansion: Expansion::default(),
            opened: T::Opened::default(),
            spinning: Spinning::default(),
            ahead: None,
            announced: 0,
        }
    }

    /// Steps are computed before they are asked for.
    pub fn ahead(self, ahead: Option<Lookahead>) -> Self {
        ByCost { ahead, ..self }
    }

    pub fn run(
        mut self,
        checkpoints: &mut dyn Checkpoints,
        progress: &mut dyn Progress,
    ) -> Result<SearchReport, CheckError> {
        let resumed = checkpoints.resume();
        self.work_within_budget(progress);
        match resumed {
            Some(mut input) => {
                T::restore(&mut self, &mut input)
                    .map_err(|error| CheckError::Checkpoint(describe(&error)))?;
                self.work_within_budget(progress);
            }
            None => self.begin(),
        }
        let stopped = self.search(checkpoints, progress);
        // A result that rests on every state is given only if every state could be computed.
        if let Some(error) = self.system.error() {
            return Err(error.into());
        }
        match (stopped, self.cheapest) {
            (Some(reason), _) => Ok(self.report(Verdict::Inconclusive(reason), Vec::new())),
            (None, Some((cost, end))) => self.violated(cost, end, progress),
            (None, None) => self.finished(progress),
        }
    }

    fn work_within_budget(&mut self, progress: &dyn Progress) {
        let budget = self.budget.begin(progress);
        self.system.work_within(budget);
        self.ahead.iter_mut().for_each(|ahead| ahead.work_within(budget));
    }

    /// Bucket after bucket, until everything was done or the cheapest violation is known; or why not.
    fn search(
        &mut self,
        checkpoints: &mut dyn Checkpoints,
        progress: &mut dyn Progress,
    ) -> Option<StopReason> {
        while self.store.is_half_done() || self.store.has_level(self.at.preemptions) {
            while let Some(steps) = self.next_steps() {
                self.at.steps = steps;
                let is_known = self.cheapest.is_some_and(|(known, _)| known <= self.at);
                if is_known && !self.store.is_half_done() {
                    return None;
                }
                if self.options.limits.depth.is_some_and(|most| steps > most) {
                    self.cut_by_depth(checkpoints);
                    break;
                }
                if let Some(reason) = self.bucket(checkpoints, progress) {
                    self.save_to(checkpoints);
                    return Some(reason);
                }
                self.at.steps += 1;
            }
            self.store.forget_level(self.at.preemptions);
            self.at = RunCost { preemptions: self.at.preemptions + 1, steps: 0 };
        }
        // Why part of the work could not be done, if so.
        self.full |= self.store.has_failed();
        let undone = self.full.then_some(StopReason::Memory).or_else(|| self.budget.stopped());
        if undone.is_none() && !self.beyond.is_empty() {
            self.cut_by_depth(checkpoints);
        }
        undone
    }

    /// Of the next bucket at this level.
    fn next_steps(&self) -> Option<u64> {
        match self.store.is_half_done() {
            true => Some(self.at.steps),
            false => self.store.next_steps(self.at.preemptions, self.at.steps),
        }
    }

    /// What waits from here on lies beyond the greatest depth. Up to here the search is one without that limit: now, and
    /// never again, it can be saved so that it goes on with another one.
    fn cut_by_depth(&mut self, checkpoints: &mut dyn Checkpoints) {
        self.save_to(checkpoints);
        self.budget.cut_by_depth = true;
        self.beyond.clear();
    }

    fn save_to(&self, checkpoints: &mut dyn Checkpoints) {
        if !self.budget.cut_by_depth {
            checkpoints.save(&mut |out| T::save(self, out));
        }
    }

    /// Everything at one cost. A forced switch adds to the bucket that is being worked on.
    fn bucket(
        &mut self,
        checkpoints: &mut dyn Checkpoints,
        progress: &mut dyn Progress,
    ) -> Option<StopReason> {
        loop {
            let count = self.store.next_batch(self.at, BATCH);
            if count == 0 {
                return None;
            }
            self.announce(count);
            for number in 0..count {
                self.ahead.iter_mut().for_each(|ahead| ahead.come_to(number));
                self.work(number);
            }
            self.look_up();
            self.store.end_batch();
            if let Some(reason) = self.poll(progress) {
                return Some(reason);
            }
            if checkpoints.is_due() {
                self.save_to(checkpoints);
            }
        }
    }

    /// Says what waits behind a batch of so many items, if there are helpers and enough for them to do.
    fn announce(&mut self, count: usize) {
        if self.system.is_helped() {
            self.announce_to_system(count);
        }
        let Some(ahead) = &mut self.ahead else { return };
        ahead.begin_batch(count);
        let worth_sharing = WORTH_SHARING.min(self.options.in_order_first);
        if self.statistics.stats.states < worth_sharing || !ahead.is_worth_it(count) {
            return;
        }
        let known = ahead.announced();
        let more = ahead::WINDOW.saturating_sub(known);
        self.store.upcoming(&*self.system, known..known + more, &mut |state, processes| {
            ahead.announce(state, processes);
        });
    }

    /// The same for a system with helpers of its own. Its steps take long, so the batch itself is worth sharing, too.
    fn announce_to_system(&mut self, count: usize) {
        let are_announced = self.announced.min(count);
        self.announced -= are_announced;
        if self.statistics.stats.states < WORTH_SHARING_STEPS.min(self.options.in_order_first) {
            return;
        }
        let (mut some, mut opened) = (Vec::new(), std::mem::take(&mut self.opened));
        for number in are_announced..count {
            let (item, place) = (self.store.item(number), self.store.place(&*self.system, number));
            if item.who() == Who::Last && self.store.has_run(place, usize::from(item.last())) {
                continue;
            }
            self.store.open(&*self.system, number, &mut opened);
            let state = T::bytes_of(&opened);
            let has_run = |process: u8| self.store.has_run_alone(place, usize::from(process));
            let wanted = cost_store::wanted(item, self.system.process_count(state), has_run);
            some.push((state.to_vec(), wanted));
        }
        self.opened = opened;
        let known = self.announced;
        let mut more = 0;
        self.store.upcoming(&*self.system, known..known.max(FEW_AHEAD), &mut |state, processes| {
            more += 1;
            if processes != ProcessSet::default() {
                some.push((state.to_vec(), processes));
            }
        });
        self.announced += more;
        self.system.announce(&some);
    }

    fn begin(&mut self) {
        for (number, state) in self.system.initial().into_iter().enumerate() {
            if self.neighbours.as_ref().is_some_and(|it| it.owner_of(&*self.system, &state).is_some()) {
                continue;
            }
            let Some(met) = self.store.meet_initial(&*self.system, number as u32, &state) else {
                self.full = true;
                continue;
            };
            if met.is_new {
                self.statistics.new_state(NOTHING);
                self.judge(&state, met.identity, met.item, NOTHING);
                self.queue(NOTHING, met.item.with(Who::Others), &state);
            }
            self.store.release(met.item.site());
        }
    }

    fn queue(&mut self, cost: RunCost, item: T::Item, state: &[u8]) {
        if self.is_within(cost) {
            self.store.push(cost, item, state);
        }
    }

    /// Is the cost within the bound and the greatest depth, and less than what is known? Where the search can be saved, what
    /// lies beyond that depth waits, too, until it has cut off something.
    fn is_within(&mut self, cost: RunCost) -> bool {
        self.options.cheaper_than.is_none_or(|known| cost < known)
            && self.cost_model.is_within(cost, self.options.bound)
            && (T::CAN_BE_SAVED && !self.budget.cut_by_depth || self.budget.is_within_depth(cost.steps))
    }

    fn poll(&mut self, progress: &mut dyn Progress) -> Option<StopReason> {
        if self.full || self.store.has_failed() {
            return Some(StopReason::Memory);
        }
        let (store, system, stats, at) = (&self.store, &*self.system, &self.statistics.stats, self.at);
        let arrivals = self.arrivals.capacity() * size_of::<Arrival<T::Key>>() + self.bytes.capacity();
        let states_in_hash_maps = self.wrong.capacity() * size_of::<(T::Identity, u64)>();
        let ahead = self.ahead.as_ref().map_or(0, Lookahead::bytes) + self.spinning.bytes();
        self.budget.poll(stats.states, progress, || Snapshot {
            states: stats.states,
            transitions: stats.transitions,
            frontier: store.waiting(),
            depth: at.steps,
            level: at.preemptions,
            bytes: store.bytes() + system.bytes() + ahead + (arrivals + states_in_hash_maps) as u64,
        })
    }
}
