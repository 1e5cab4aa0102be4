//! The search in order of cost: a bucket at a time, and within it in batches: expand, find keys and hashes, ask for the
//! memory that will be needed, and only then look everything up.

use super::charges::Charges;
use super::checkpoint::{Checkpoints, Position, told};
use super::frontier::{Frontier, Item, NOBODY, Who};
use super::notes::ProcessSet;
use super::spinning::spins;
use super::tally::Tally;
use super::ways::{End, Ways};
use super::{Goal, SearchOptions, SearchReport};
use crate::CheckError;
use crate::reduction::Reduction;
use crate::store::{Key, Opened, StateNumber, Store};
use crate::successors::{Event, Successors};
use preempt_core::{Progress, Property, PropertyKind, StopReason};
use preempt_model::search::RunCost;
use std::collections::{BTreeMap, HashMap};

/// Items of one batch.
const BATCH: usize = 64;

pub(super) struct Search<'a, S> {
    pub system: S,
    pub options: &'a SearchOptions,
    pub goal: Goal,
    pub charges: Charges,
    pub store: Store,
    pub frontier: Frontier,
    pub position: Position,
    pub ways: Ways,
    pub tally: Tally,
    /// The cheapest violation found so far.
    pub cheapest: Option<(RunCost, End)>,
    /// Violations beyond the greatest depth, as long as the depth has cut off nothing: for the checkpoint.
    pub beyond: Vec<(RunCost, End)>,
    /// With [`Goal::All`]: each violation, with its cheapest cost.
    pub all: BTreeMap<Property, (RunCost, End)>,
    /// States that are violations in themselves, and whether that has been reported.
    pub wrong: HashMap<StateNumber, bool>,
    /// Does it go on from a checkpoint?
    pub resumed: bool,
    reduces: bool,
    judges: bool,
    full: bool,
    raw: Raw,
    /// Arrivals that are not looked up yet.
    batch: Vec<Arrival>,
    opened: Opened,
}

/// What one expansion met: where each state lies, its length, who runs in it, and after how many steps.
#[derive(Default)]
struct Raw {
    bytes: Vec<u8>,
    arrivals: Vec<(usize, usize, u8, u32)>,
    violations: Vec<(PropertyKind, u32)>,
}

/// An arrival that is not looked up yet.
struct Arrival {
    hash: u64,
    key: Key,
    from: StateNumber,
    steps: u32,
    by: u8,
    runs: u8,
    processes: u8,
    leaving_is_free: bool,
    /// The exact reduction lets the running process go on alone.
    runs_alone: bool,
}

impl<'a, S: Successors> Search<'a, S> {
    pub fn new(system: S, options: &'a SearchOptions, goal: Goal) -> Self {
        Search {
            system,
            options,
            goal,
            charges: Charges::new(options.cost),
            store: Store::new(),
            frontier: Frontier::default(),
            position: Position::default(),
            ways: Ways::default(),
            tally: Tally::new(options.limits),
            cheapest: None,
            beyond: Vec::new(),
            all: BTreeMap::new(),
            wrong: HashMap::new(),
            // Every violation at its own cheapest: one that ends a run would hide those of the others.
            reduces: options.reduction == Reduction::Exact && goal == Goal::First,
            resumed: false,
            judges: S::JUDGES_STATES,
            full: false,
            raw: Raw::default(),
            batch: Vec::new(),
            opened: Opened::default(),
        }
    }

    pub fn run(
        mut self,
        checkpoints: &mut dyn Checkpoints,
        progress: &mut dyn Progress,
    ) -> Result<SearchReport, CheckError> {
        let resumed = checkpoints.resume();
        self.tally.begin(&mut self.system, progress);
        match resumed {
            Some(mut input) => {
                self.restore(&mut input).map_err(|error| CheckError::Checkpoint(told(&error)))?;
                self.tally.begin(&mut self.system, progress);
            }
            None => self.begin(),
        }
        while self.is_half_done() || self.frontier.has_level(self.position.level) {
            while let Some(steps) = self.next_steps() {
                self.position.steps = steps;
                let cost = RunCost { preemptions: self.position.level, steps: self.position.steps };
                if let Some((known, end)) = self.cheapest
                    && known <= cost
                    && !self.is_half_done()
                {
                    return self.checked(|search| search.violated(known, end, progress));
                }
                if self.options.limits.depth.is_some_and(|most| cost.steps > most) {
                    self.cut_by_depth(checkpoints);
                    break;
                }
                if let Some(reason) = self.bucket(cost, checkpoints, progress) {
                    self.save_to(checkpoints);
                    return self.checked(|search| Ok(search.stopped(reason)));
                }
                self.position.steps += 1;
            }
            self.frontier.forget_level(self.position.level);
            self.position = Position { level: self.position.level + 1, ..Position::default() };
        }
        if let Some(reason) = self.undone() {
            return self.checked(|search| Ok(search.stopped(reason)));
        }
        if !self.beyond.is_empty() {
            self.cut_by_depth(checkpoints);
        }
        if let Some((cost, end)) = self.cheapest {
            return self.checked(|search| search.violated(cost, end, progress));
        }
        self.checked(|search| search.finished(progress))
    }

    /// Is part of a bucket done?
    fn is_half_done(&self) -> bool {
        self.position.done < self.position.items.len()
    }

    /// Of the next bucket at this level.
    fn next_steps(&self) -> Option<u64> {
        let Position { level, steps, .. } = self.position;
        if self.is_half_done() { Some(steps) } else { self.frontier.next(level, steps) }
    }

    /// What waits from here on lies beyond the greatest depth. Up to here the search is one without that limit: now, and
    /// never again, it can be saved so that it goes on with another one.
    fn cut_by_depth(&mut self, checkpoints: &mut dyn Checkpoints) {
        self.save_to(checkpoints);
        self.tally.cut_by_depth = true;
        self.beyond.clear();
    }

    fn save_to(&self, checkpoints: &mut dyn Checkpoints) {
        if !self.tally.cut_by_depth {
            checkpoints.save(&mut |out| self.save(out));
        }
    }

    /// Why part of the work could not be done, if so.
    fn undone(&self) -> Option<StopReason> {
        self.full.then_some(StopReason::Memory).or_else(|| self.tally.budget.stopped())
    }

    /// Everything at one cost. A forced switch adds to the bucket that is being worked on.
    fn bucket(
        &mut self,
        cost: RunCost,
        checkpoints: &mut dyn Checkpoints,
        progress: &mut dyn Progress,
    ) -> Option<StopReason> {
        loop {
            if self.position.done == self.position.items.len() {
                self.frontier.done(std::mem::take(&mut self.position.items));
                self.position.items = self.frontier.take(cost.preemptions, cost.steps);
                self.position.done = 0;
                if self.position.items.is_empty() {
                    return None;
                }
            }
            let items = std::mem::take(&mut self.position.items);
            let end = items.len().min(self.position.done + BATCH);
            self.work(&items[self.position.done..end], cost);
            (self.position.items, self.position.done) = (items, end);
            if let Some(reason) = self.reason_to_stop(cost, progress) {
                return Some(reason);
            }
            if checkpoints.is_due() {
                self.save_to(checkpoints);
            }
        }
    }

    /// A result that rests on every state is given only if every state could be computed.
    fn checked(
        self,
        result: impl FnOnce(Self) -> Result<SearchReport, CheckError>,
    ) -> Result<SearchReport, CheckError> {
        match self.system.trouble() {
            Some(trouble) => Err(trouble.into()),
            None => result(self),
        }
    }

    fn begin(&mut self) {
        let cost = RunCost { preemptions: 0, steps: 0 };
        for state in self.system.initial() {
            let processes = self.system.process_count(&state);
            let key = self.store.encode(&self.system, &state, &Opened::default());
            let found = key.and_then(|key| self.store.insert(key, key.hash(), processes));
            self.full |= found.is_none();
            let Some((number, true)) = found else { continue };
            self.tally.new_state(cost);
            let item = Item { state: number, from: number, by: NOBODY, last: NOBODY, who: Who::Others };
            self.judge(&state, &item, cost);
            self.queue(cost, item);
        }
    }

    /// A state that is wrong in itself is counted once, and reported at its cheapest arrival.
    fn judge(&mut self, state: &[u8], item: &Item, cost: RunCost) {
        if let Some(kind) = self.system.state_violation(state) {
            *self.tally.stats.violations.entry(kind).or_default() += 1;
            self.wrong.insert(item.state, false);
            self.queue(cost, Item { who: Who::Nobody, ..*item });
        }
    }

    /// Expands some items of one bucket.
    fn work(&mut self, items: &[Item], cost: RunCost) {
        items.iter().for_each(|item| self.store.records.prefetch(item.state));
        items.iter().for_each(|item| self.store.prefetch_nodes(item.state));
        for item in items {
            match item.who {
                Who::Last => {
                    if self.store.records.is_expanded(item.state, usize::from(item.last)) {
                        continue;
                    }
                    let mut opened = std::mem::take(&mut self.opened);
                    self.store.open(&self.system, item.state, &mut opened);
                    let there = usize::from(item.last) < self.system.process_count(&opened.bytes);
                    if there && self.expand(item, item.last, &opened, cost) {
                        self.note(item, ProcessSet::default());
                    } else {
                        self.give_way(item, &opened.bytes, cost);
                    }
                    self.opened = opened;
                }
                Who::Others => self.expand_others(item, cost),
                Who::Nobody => {
                    // The first to be taken is the cheapest.
                    if !self.wrong.insert(item.state, true).unwrap_or(true) {
                        self.end_here(item, cost);
                    }
                }
            }
        }
        self.look_up(cost);
    }

    /// The process that was running cannot go on.
    fn give_way(&mut self, item: &Item, state: &[u8], cost: RunCost) {
        let preemptions = cost.preemptions + self.charges.forced;
        self.queue_others(item, cost.preemptions, RunCost { preemptions, ..cost });
        if self.charges.forced > 0 {
            // The others come later, if at all: that nobody can move is seen now.
            let count = self.system.process_count(state);
            if !(0..count).any(|process| self.system.can_move(state, process)) {
                self.dead_end(item, state, count, cost);
            }
        }
    }

    fn note(&mut self, item: &Item, ran: ProcessSet) {
        if self.goal != Goal::Count {
            self.ways.note(item, ran);
        }
    }

    fn expand_others(&mut self, item: &Item, cost: RunCost) {
        let mut opened = std::mem::take(&mut self.opened);
        self.store.open(&self.system, item.state, &mut opened);
        let count = self.system.process_count(&opened.bytes);
        let (mut moved, mut ran) = (false, ProcessSet::default());
        for process in (0..count).filter(|process| *process != usize::from(item.last)) {
            if self.store.records.is_expanded(item.state, process) {
                moved = true;
            } else if self.expand(item, process as u8, &opened, cost) {
                moved = true;
                ran[process / 64] |= 1 << (process % 64);
            }
        }
        if ran != ProcessSet::default() {
            self.note(item, ran);
        }
        if !moved {
            self.dead_end(item, &opened.bytes, count, cost);
        }
        self.opened = opened;
    }

    /// Expands one process; false if it has no move.
    fn expand(&mut self, item: &Item, process: u8, opened: &Opened, cost: RunCost) -> bool {
        let Raw { bytes, arrivals, violations } = &mut self.raw;
        let moved = self.system.expand(&opened.bytes, usize::from(process), &mut |event| match event {
            Event::Arrival { state, runs, steps } => {
                arrivals.push((bytes.len(), state.len(), runs, steps));
                bytes.extend_from_slice(state);
            }
            Event::Violation { kind, steps } => violations.push((kind, steps)),
        });
        if !moved {
            return false;
        }
        self.store.records.set_expanded(item.state, usize::from(process));
        let mut raw = std::mem::take(&mut self.raw);
        for (start, length, runs, steps) in raw.arrivals.drain(..) {
            self.key_of(&raw.bytes[start..start + length], opened, (item.state, process), runs, steps);
        }
        for (number, (kind, steps)) in raw.violations.drain(..).enumerate() {
            let cost = RunCost { steps: cost.steps + u64::from(steps), ..cost };
            *self.tally.stats.violations.entry(kind).or_default() += 1;
            self.violation(cost, End::During { state: item.state, process, violation: number as u32 });
        }
        raw.bytes.clear();
        self.raw = raw;
        true
    }

    /// Puts an arrival into the batch.
    fn key_of(&mut self, state: &[u8], like: &Opened, (from, by): (StateNumber, u8), runs: u8, steps: u32) {
        let Some(key) = self.store.encode(&self.system, state, like) else {
            self.full = true;
            return;
        };
        let hash = key.hash();
        self.store.prefetch(hash);
        let runs_alone = self.reduces && self.system.runs_alone(state, usize::from(runs));
        let leaving_is_free = self.options.fair_switch && !runs_alone && self.spins(state, usize::from(runs));
        self.batch.push(Arrival {
            hash,
            key,
            from,
            steps,
            by,
            runs,
            processes: self.system.process_count(state) as u8,
            leaving_is_free,
            runs_alone,
        });
    }

    fn spins(&mut self, state: &[u8], process: usize) -> bool {
        spins(&mut self.system, &self.tally.budget, state, process)
    }

    /// Everything in the batch: which states are new, and who is to run in them.
    fn look_up(&mut self, cost: RunCost) {
        let mut batch = std::mem::take(&mut self.batch);
        batch.iter().for_each(|arrival| self.store.prefetch_record(arrival.hash));
        for arrival in batch.drain(..) {
            let cost = RunCost { steps: cost.steps + u64::from(arrival.steps), ..cost };
            self.tally.transition(cost);
            let processes = usize::from(arrival.processes);
            let Some((state, is_new)) = self.store.insert(arrival.key, arrival.hash, processes) else {
                self.full = true;
                continue;
            };
            let (from, by, last) = (arrival.from, arrival.by, arrival.runs);
            let item = Item { state, from, by, last, who: Who::Last };
            if is_new {
                self.tally.new_state(cost);
                if self.judges {
                    let mut opened = std::mem::take(&mut self.opened);
                    self.store.open(&self.system, state, &mut opened);
                    self.judge(&opened.bytes, &item, cost);
                    self.opened = opened;
                }
            } else if self.wrong.contains_key(&state) {
                self.queue(cost, Item { who: Who::Nobody, ..item });
            }
            if !self.store.records.is_expanded(state, usize::from(last)) {
                self.queue(cost, item);
            }
            if arrival.runs_alone {
                continue;
            }
            let charge = if arrival.leaving_is_free { 0 } else { self.charges.preemption };
            let preemptions = cost.preemptions + charge;
            self.queue_others(&item, cost.preemptions, RunCost { preemptions, ..cost });
        }
        self.batch = batch;
    }

    /// Queues everybody else, unless everybody has been queued at this cost or a lower one.
    fn queue_others(&mut self, item: &Item, now: u32, cost: RunCost) {
        if self.store.records.lower_everybody(item.state, now, cost.preemptions, cost.steps) {
            self.queue(cost, Item { who: Who::Others, ..*item });
        }
    }

    fn queue(&mut self, cost: RunCost, item: Item) {
        if self.is_within(cost) {
            self.frontier.push(cost.preemptions, cost.steps, item);
        }
    }

    /// Is the cost within the bound, and less than what is known? What lies beyond the greatest depth waits, too, until that
    /// cuts off something.
    fn is_within(&mut self, cost: RunCost) -> bool {
        self.options.cheaper_than.is_none_or(|known| cost < known)
            && self.charges.is_within(cost, self.options.bound)
            && (!self.tally.cut_by_depth || self.tally.is_within_depth(cost.steps))
    }

    /// Nobody but perhaps the last process can move.
    fn dead_end(&mut self, item: &Item, state: &[u8], count: usize, cost: RunCost) {
        let last = usize::from(item.last);
        let last_can_move = last < count && self.system.can_move(state, last);
        // Without its budget the system has no moves either.
        let undone = self.tally.budget.stopped().is_some();
        if undone || last_can_move || self.system.may_end(state) || !self.store.records.set_dead(item.state) {
            return;
        }
        *self.tally.stats.violations.entry(PropertyKind::Deadlock).or_default() += 1;
        self.end_here(item, cost);
    }

    /// A violation that is not in a step.
    fn end_here(&mut self, item: &Item, cost: RunCost) {
        self.note(&Item { who: Who::Nobody, ..*item }, ProcessSet::default());
        self.violation(cost, End::In { state: item.state, last: item.last });
    }

    pub fn violation(&mut self, cost: RunCost, end: End) {
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
            self.remember(cost, end);
        } else if self.cheapest.is_none_or(|(known, _)| cost < known) {
            self.cheapest = Some((cost, end));
        }
    }

    fn reason_to_stop(&mut self, cost: RunCost, progress: &mut dyn Progress) -> Option<StopReason> {
        if self.full {
            return Some(StopReason::Memory);
        }
        let (store, frontier, ways, system) = (&self.store, &self.frontier, &self.ways, &self.system);
        let batch = self.batch.capacity() * size_of::<Arrival>() + self.raw.bytes.capacity();
        let bytes = || store.bytes() + ways.bytes() + frontier.bytes() + system.bytes() + batch as u64;
        self.tally.reason_to_stop(cost, bytes, frontier.waiting(), progress)
    }
}
