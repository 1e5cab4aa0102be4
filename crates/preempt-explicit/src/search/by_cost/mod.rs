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
//! Several threads could work on one bucket: its items are independent but for the mask, and what they find belongs to later
//! buckets.
//!
//! * [`cost_store`]: what is kept, in two ways: [`exact`] with [`frontier`], [`predecessors`] and [`expansion_log`];
//!   [`hashed`] with [`state_frontier`] and [`path_tree`];
//! * [`buckets`]: what waits, by cost; [`checkpoint`]: a search that can be continued.

mod buckets;
pub mod checkpoint;
mod cost_store;
mod exact;
mod expansion_log;
mod frontier;
mod hashed;
pub mod path_tree;
mod predecessors;
mod state_frontier;

pub use cost_store::CostStore;
pub use exact::ExactStore;
pub use expansion_log::ProcessSet;
pub use hashed::HashedStore;

use super::cost_model::CostModel;
use super::report::{Findings, report};
use super::spinning::spins;
use super::statistics::Statistics;
use super::{Counterexample, Goal, SearchOptions, SearchReport};
use crate::CheckError;
use crate::budget::SearchBudget;
use crate::reduction::Reduction;
use crate::replay::{Ending, ReplayError, ReplayOptions};
use crate::successors::{Event, Successors};
use checkpoint::{Checkpoints, describe};
use cost_store::{Arrival, End, Pending, Who};
use preempt_core::{Budget, Progress, Property, PropertyKind, Snapshot, StopReason, Verdict};
use preempt_model::search::RunCost;
use std::collections::{BTreeMap, HashMap};

/// Items of one batch.
const BATCH: usize = 64;

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
}

/// What one expansion has met.
#[derive(Default)]
struct Expansion {
    /// Where each state lies, its length, who runs in it, and after how many steps.
    arrivals: Vec<(usize, usize, u8, u32)>,
    violations: Vec<(PropertyKind, u32)>,
}

impl<'a, S: Successors + ?Sized, T: CostStore> ByCost<'a, S, T> {
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
        }
    }

    pub fn run(
        mut self,
        checkpoints: &mut dyn Checkpoints,
        progress: &mut dyn Progress,
    ) -> Result<SearchReport, CheckError> {
        let resumed = checkpoints.resume();
        self.system.work_within(self.budget.begin(progress));
        match resumed {
            Some(mut input) => {
                T::restore(&mut self, &mut input)
                    .map_err(|error| CheckError::Checkpoint(describe(&error)))?;
                self.system.work_within(self.budget.begin(progress));
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
            (0..count).for_each(|number| self.work(number));
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

    fn begin(&mut self) {
        for (number, state) in self.system.initial().into_iter().enumerate() {
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

    /// A state that is a violation in itself is counted once, and reported at its cheapest arrival.
    fn judge(&mut self, state: &[u8], identity: T::Identity, item: T::Item, cost: RunCost) {
        if let Some(kind) = self.system.state_violation(state) {
            self.statistics.violation(kind);
            self.wrong.insert(identity, false);
            self.queue(cost, item.with(Who::Nobody), state);
        }
    }

    /// Expands one item of the batch.
    fn work(&mut self, number: usize) {
        let item = self.store.item(number);
        match item.who() {
            Who::Last => {
                let last = usize::from(item.last());
                let place = self.store.place(&*self.system, number);
                if self.store.has_run(place, last) {
                    return;
                }
                let mut opened = std::mem::take(&mut self.opened);
                self.store.open(&*self.system, number, &mut opened);
                let state = T::bytes_of(&opened);
                if last < self.system.process_count(state) && self.expand(item, item.last(), &opened) {
                    self.store.ran_alone(place, last);
                    self.log(item, ProcessSet::default());
                } else {
                    self.give_way(number, place, state);
                }
                self.opened = opened;
            }
            Who::Others => self.expand_others(number),
            Who::Nobody => {
                // The first to be taken is the cheapest.
                if !self.wrong.insert(self.store.identity(number), true).unwrap_or(true) {
                    let mut opened = std::mem::take(&mut self.opened);
                    self.store.open(&*self.system, number, &mut opened);
                    self.end_here(item, T::bytes_of(&opened));
                    self.opened = opened;
                }
            }
        }
    }

    /// The process that was running cannot go on.
    fn give_way(&mut self, number: usize, place: T::Place, state: &[u8]) {
        let item = self.store.item(number);
        let preemptions = self.at.preemptions + self.cost_model.forced;
        self.queue_others(place, item, state, RunCost { preemptions, ..self.at });
        if self.cost_model.forced > 0 {
            // The others come later, if at all: that nobody can move is seen now.
            let count = self.system.process_count(state);
            if !(0..count).any(|process| self.system.can_move(state, process)) {
                self.dead_end(number, state, count);
            }
        }
    }

    fn log(&mut self, item: T::Item, ran: ProcessSet) {
        if self.goal != Goal::Count {
            self.store.log(item, ran);
        }
    }

    fn expand_others(&mut self, number: usize) {
        let place = self.store.place(&*self.system, number);
        if !self.store.begin_others(place) {
            return;
        }
        let item = self.store.item(number);
        let mut opened = std::mem::take(&mut self.opened);
        self.store.open(&*self.system, number, &mut opened);
        let count = self.system.process_count(T::bytes_of(&opened));
        let (mut moved, mut ran) = (false, ProcessSet::default());
        for process in (0..count).filter(|process| *process != usize::from(item.last())) {
            if self.store.has_run_alone(place, process) {
                moved = true;
            } else if self.expand(item, process as u8, &opened) {
                self.store.ran_among_others(place, process);
                moved = true;
                ran[process / 64] |= 1 << (process % 64);
            }
        }
        if ran != ProcessSet::default() {
            self.log(item, ran);
        }
        if !moved {
            self.dead_end(number, T::bytes_of(&opened), count);
        }
        self.opened = opened;
    }

    /// Expands one process; false if it has no move.
    fn expand(&mut self, item: T::Item, process: u8, opened: &T::Opened) -> bool {
        let state = T::bytes_of(opened);
        let (bytes, Expansion { arrivals, violations }) = (&mut self.bytes, &mut self.expansion);
        let moved = self.system.expand(state, usize::from(process), &mut |event| match event {
            Event::Arrival { state, runs, steps } => {
                arrivals.push((bytes.len(), state.len(), runs, steps));
                bytes.extend_from_slice(state);
            }
            Event::Violation { kind, steps } => violations.push((kind, steps)),
        });
        if !moved {
            return false;
        }
        let mut expansion = std::mem::take(&mut self.expansion);
        for (choice, (start, length, runs, steps)) in expansion.arrivals.drain(..).enumerate() {
            let state = &self.bytes[start..start + length];
            let Some(key) = self.store.key(&*self.system, state, opened) else {
                self.full = true;
                continue;
            };
            let processes = self.system.process_count(state) as u8;
            let runs_alone = self.reduces && self.system.runs_alone(state, usize::from(runs));
            let leaving_is_free = self.options.fair_switch
                && !runs_alone
                && spins(self.system, &self.budget.shared, state, usize::from(runs));
            let (from, choice, by) = (item.site(), choice as u32, process);
            self.arrivals.push(Arrival {
                key,
                start,
                length,
                from,
                choice,
                by,
                runs,
                steps,
                processes,
                leaving_is_free,
                runs_alone,
            });
        }
        for (number, (kind, steps)) in expansion.violations.drain(..).enumerate() {
            let cost = RunCost { steps: self.at.steps + u64::from(steps), ..self.at };
            self.statistics.violation(kind);
            let ending = Ending::During { process, violation: number as u32 };
            self.violation(cost, End { site: item.site(), last: item.last(), ending }, state);
        }
        self.expansion = expansion;
        if !T::NEEDS_BYTES {
            self.bytes.clear();
        }
        true
    }

    /// Everything that the batch has met: which states are new, and who is to run in them.
    fn look_up(&mut self) {
        let (mut arrivals, mut bytes) = (std::mem::take(&mut self.arrivals), std::mem::take(&mut self.bytes));
        self.store.prefetch(&arrivals);
        for arrival in arrivals.drain(..) {
            let state = match T::NEEDS_BYTES {
                true => &bytes[arrival.start..arrival.start + arrival.length],
                false => &[],
            };
            self.arrive(&arrival, state);
        }
        bytes.clear();
        (self.arrivals, self.bytes) = (arrivals, bytes);
    }

    fn arrive(&mut self, arrival: &Arrival<T::Key>, state: &[u8]) {
        let cost = RunCost { steps: self.at.steps + u64::from(arrival.steps), ..self.at };
        self.statistics.transition(cost);
        let Some(met) = self.store.meet(arrival, state) else {
            self.full = true;
            return;
        };
        let item = met.item;
        if met.is_new {
            self.statistics.new_state(cost);
            if self.judges {
                let mut opened = std::mem::take(&mut self.opened);
                self.store.open_met(&*self.system, &met, state, &mut opened);
                self.judge(T::bytes_of(&opened), met.identity, item, cost);
                self.opened = opened;
            }
        } else if self.wrong.contains_key(&met.identity) {
            self.queue(cost, item.with(Who::Nobody), state);
        }
        if !self.store.has_run(met.place, usize::from(arrival.runs)) {
            self.queue(cost, item, state);
        }
        if !arrival.runs_alone {
            let charge = if arrival.leaving_is_free { 0 } else { self.cost_model.preemption };
            let later = RunCost { preemptions: cost.preemptions + charge, ..cost };
            self.queue_others(met.place, item, state, later);
        }
        self.store.release(item.site());
    }

    /// Queues everybody else, unless everybody has been queued at this cost or a lower one.
    fn queue_others(&mut self, place: T::Place, item: T::Item, state: &[u8], cost: RunCost) {
        if self.is_within(cost) && self.store.lower_everybody(place, self.at.preemptions, cost) {
            self.queue(cost, item.with(Who::Others), state);
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

    /// Nobody but perhaps the last process can move.
    fn dead_end(&mut self, number: usize, state: &[u8], count: usize) {
        let item = self.store.item(number);
        let last = usize::from(item.last());
        let last_can_move = last < count && self.system.can_move(state, last);
        // Without its budget the system has no moves either.
        let undone = self.budget.stopped().is_some();
        let identity = self.store.identity(number);
        if undone || last_can_move || self.system.may_end(state) || !self.store.set_dead(identity) {
            return;
        }
        self.statistics.violation(PropertyKind::Deadlock);
        self.end_here(item, state);
    }

    /// A violation that is not in a step.
    fn end_here(&mut self, item: T::Item, state: &[u8]) {
        self.log(item.with(Who::Nobody), ProcessSet::default());
        let end = End { site: item.site(), last: item.last(), ending: Ending::InState };
        self.violation(self.at, end, state);
    }

    fn violation(&mut self, cost: RunCost, end: End, state: &[u8]) {
        if self.goal == Goal::Count || !self.is_within(cost) {
            return;
        }
        if self.options.limits.depth.is_some_and(|most| cost.steps > most) {
            if self.goal == Goal::First {
                self.beyond.retain(|(known, _)| *known <= cost);
            }
            if self.goal == Goal::All || self.beyond.is_empty() {
                self.beyond.push((cost, end));
            }
            return;
        }
        if self.goal == Goal::All {
            self.remember(cost, end, state);
        } else if self.cheapest.is_none_or(|(known, _)| cost < known) {
            self.store.hold(end.site);
            if let Some((_, other)) = self.cheapest.replace((cost, end)) {
                self.store.release(other.site);
            }
        }
    }

    /// Keeps the violation if it is a new one, or cheaper than when it was met before.
    fn remember(&mut self, cost: RunCost, end: End, state: &[u8]) {
        let Some(violation) = self.system.violation(state, end.ending) else {
            // If the budget has ended, the search will see that, too.
            ReplayError::lost(&self.budget.shared).stop_reason();
            return;
        };
        let known = self.all.entry(violation).or_insert((cost, end));
        if cost < known.0 {
            *known = (cost, end);
        }
    }

    fn poll(&mut self, progress: &mut dyn Progress) -> Option<StopReason> {
        if self.full {
            return Some(StopReason::Memory);
        }
        let (store, system, stats, at) = (&self.store, &*self.system, &self.statistics.stats, self.at);
        let arrivals = self.arrivals.capacity() * size_of::<Arrival<T::Key>>() + self.bytes.capacity();
        let states_in_hash_maps = self.wrong.capacity() * size_of::<(T::Identity, u64)>();
        self.budget.poll(stats.states, progress, || Snapshot {
            states: stats.states,
            transitions: stats.transitions,
            frontier: store.waiting(),
            depth: at.steps,
            level: at.preemptions,
            bytes: store.bytes() + system.bytes() + (arrivals + states_in_hash_maps) as u64,
        })
    }
}

impl<S: Successors + ?Sized, T: CostStore> ByCost<'_, S, T> {
    /// Everything was done, and there is no cheapest violation to be shown.
    fn finished(mut self, progress: &dyn Progress) -> Result<SearchReport, CheckError> {
        let verdict = match self.goal {
            Goal::Count => self.budget.conclude(self.statistics.has_violations(), None),
            // What was met beyond the bound, the depth or the cost that is allowed does not count.
            Goal::First | Goal::All => self.budget.conclude(!self.all.is_empty(), None),
        };
        let mut all: Vec<_> = std::mem::take(&mut self.all).into_iter().collect();
        all.sort_by_key(|(_, (cost, _))| *cost);
        let mut errors = Vec::new();
        let budget = self.begin_replay(progress);
        for (violation, (cost, end)) in all {
            match self.replay(cost, end, &budget) {
                Ok(error) if error.property == violation => errors.push(error),
                Ok(_) => return self.not_replayed(ReplayError::Wrong("another violation".into())),
                Err(error) => return self.not_replayed(error),
            }
        }
        Ok(self.report(verdict, errors))
    }

    fn violated(
        mut self,
        cost: RunCost,
        end: End,
        progress: &dyn Progress,
    ) -> Result<SearchReport, CheckError> {
        let budget = self.begin_replay(progress);
        match self.replay(cost, end, &budget) {
            Ok(error) => Ok(self.report(Verdict::Violated, vec![error])),
            Err(error) => self.not_replayed(error),
        }
    }

    fn begin_replay(&mut self, progress: &dyn Progress) -> Budget {
        let budget = self.budget.for_replay(progress);
        self.system.work_within(&budget);
        budget
    }

    /// The run to a violation, replayed: it must cost what was found.
    fn replay(&mut self, cost: RunCost, end: End, budget: &Budget) -> Result<Counterexample, ReplayError> {
        let path = self.store.path_to(self.system, &end, budget)?;
        let options = ReplayOptions { fair_switch: self.options.fair_switch, reorder: false };
        let error = self.system.replay(&path, options, budget)?;
        let shown = self.cost_model.of_run(&error.trace);
        match shown == cost || !T::IS_EXACT && shown < cost {
            true => Ok(error),
            false => Err(ReplayError::Wrong(format!("the run found costs {shown:?} and not {cost:?}"))),
        }
    }

    /// What was found cannot be shown. That is our own mistake, unless it came from a checkpoint.
    fn not_replayed(self, error: ReplayError) -> Result<SearchReport, CheckError> {
        match error {
            ReplayError::Wrong(why) if self.resumed => {
                Err(CheckError::Checkpoint(format!("what it found does not happen: {why}")))
            }
            error => Ok(self.report(Verdict::Inconclusive(error.stop_reason()), Vec::new())),
        }
    }

    fn report(mut self, verdict: Verdict, errors: Vec<Counterexample>) -> SearchReport {
        let mut memory = self.store.memory();
        memory.store += self.system.bytes();
        self.statistics.stats.time = self.budget.elapsed();
        let (stats, reach) = (self.statistics.stats, self.store.reach());
        report(self.options, Findings { verdict, errors, stats, memory, reach })
    }
}
