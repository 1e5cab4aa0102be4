//! The search: a bucket at a time, and within it in batches: expand, find keys and hashes, ask for the memory that
//! will be needed, and only then look everything up.

use super::frontier::{Frontier, Item, NOBODY, Who};
use super::notes::ProcessSet;
use super::spinning::spins;
use super::ways::{End, Ways};
use super::{Error, Goal, Options, Report};
use crate::Unsupported;
use crate::store::{Opened, StateNumber, Store};
use crate::successors::{Event, Successors};
use preempt_core::{Level, Observer, Progress, PropertyKind, Stats, StopReason};
use preempt_model::Interpreter;
use preempt_model::search::RunCost;
use preempt_model::system::Violation;
use std::collections::BTreeMap;
use std::time::Instant;

/// Items of one batch.
const BATCH: usize = 64;

/// How often, in batches, the clock, the memory and the observer are looked at.
const LOOK_UP_EVERY: u64 = 16;

pub(super) struct Search<'a, 'm, S> {
    pub system: S,
    pub interpreter: &'a Interpreter<'m>,
    pub options: &'a Options,
    pub goal: Goal,
    pub started: Instant,
    pub store: Store,
    pub frontier: Frontier,
    pub ways: Ways,
    pub stats: Stats,
    /// The cheapest violation found so far.
    pub cheapest: Option<(RunCost, End)>,
    /// With [`Goal::All`]: each violation, with its cheapest cost.
    pub all: BTreeMap<Violation, (RunCost, End)>,
    pub errors: Vec<Error>,
    pub cut_by_depth: bool,
    full: bool,
    raw: Raw,
    batch: Batch,
    opened: Opened,
}

/// What one expansion met: where each state lies, its length, who runs in it, and after how many steps.
#[derive(Default)]
struct Raw {
    bytes: Vec<u8>,
    arrivals: Vec<(usize, usize, u8, u32)>,
    violations: Vec<(PropertyKind, u32)>,
}

/// Arrivals that are not looked up yet.
#[derive(Default)]
struct Batch {
    keys: Vec<u8>,
    arrivals: Vec<Arrival>,
}

struct Arrival {
    hash: u64,
    key: (u32, u32),
    from: StateNumber,
    steps: u32,
    by: u8,
    runs: u8,
    processes: u8,
    leaving_is_free: bool,
}

impl<'a, 'm, S: Successors> Search<'a, 'm, S> {
    pub fn new(system: S, interpreter: &'a Interpreter<'m>, options: &'a Options, goal: Goal) -> Self {
        Search {
            system,
            interpreter,
            options,
            goal,
            started: Instant::now(),
            store: Store::new(),
            frontier: Frontier::default(),
            ways: Ways::default(),
            stats: Stats::default(),
            cheapest: None,
            all: BTreeMap::new(),
            errors: Vec::new(),
            cut_by_depth: false,
            full: false,
            raw: Raw::default(),
            batch: Batch::default(),
            opened: Opened::default(),
        }
    }

    pub fn run(mut self, observer: &mut dyn Observer) -> Result<Report, Unsupported> {
        self.begin();
        let mut batches = 0u64;
        let mut level = 0;
        while self.frontier.has_level(level) {
            let mut steps = 0;
            while self.frontier.reaches(level, steps) {
                let cost = RunCost { preemptions: level, steps };
                if let Some((known, end)) = self.cheapest
                    && known <= cost
                {
                    return self.checked(|search| search.violated(known, end));
                }
                // A forced switch adds to the bucket that is being worked on.
                loop {
                    let items = self.frontier.take(level, steps);
                    if items.is_empty() {
                        break;
                    }
                    for items in items.chunks(BATCH) {
                        self.work(items, cost);
                        batches += 1;
                        if let Some(reason) = self.reason_to_stop(batches, cost, observer) {
                            return self.checked(|search| search.stopped(reason));
                        }
                    }
                }
                steps += 1;
            }
            self.frontier.forget_level(level);
            level += 1;
        }
        if let Some((cost, end)) = self.cheapest {
            return self.checked(|search| search.violated(cost, end));
        }
        self.checked(Search::finished)
    }

    /// A result that rests on every state is given only if every state could be computed.
    fn checked(self, result: impl FnOnce(Self) -> Report) -> Result<Report, Unsupported> {
        match self.system.trouble() {
            Some(trouble) => Err(trouble),
            None => Ok(result(self)),
        }
    }

    fn begin(&mut self) {
        let state = self.system.initial();
        let mut key = Vec::new();
        self.store.encode(&mut self.system, &state, &Opened::default(), &mut key);
        let hash = self.store.hash(&key);
        let processes = self.system.process_count(&state);
        if let Some((number, _)) = self.store.insert(&key, hash, processes) {
            let cost = RunCost { preemptions: 0, steps: 0 };
            self.count_state(cost);
            let item = Item { state: number, from: number, by: NOBODY, last: NOBODY, who: Who::Others };
            self.queue(cost, item);
        }
    }

    /// Expands some items of one bucket.
    fn work(&mut self, items: &[Item], cost: RunCost) {
        items.iter().for_each(|item| self.store.records.prefetch(item.state));
        for item in items {
            match item.who {
                Who::Last => {
                    if self.store.records.is_expanded(item.state, usize::from(item.last)) {
                        continue;
                    }
                    let mut opened = std::mem::take(&mut self.opened);
                    self.store.open(&mut self.system, item.state, &mut opened);
                    let there = usize::from(item.last) < self.system.process_count(&opened.bytes);
                    if there && self.expand(item, item.last, &opened, cost) {
                        self.note(item, ProcessSet::default());
                    } else {
                        self.queue_others(item, cost);
                    }
                    self.opened = opened;
                }
                Who::Others => self.expand_others(item, cost),
            }
        }
        self.look_up(cost);
    }

    fn note(&mut self, item: &Item, ran: ProcessSet) {
        if self.goal != Goal::Count {
            self.ways.note(item, ran);
        }
    }

    fn expand_others(&mut self, item: &Item, cost: RunCost) {
        let mut opened = std::mem::take(&mut self.opened);
        self.store.open(&mut self.system, item.state, &mut opened);
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
            *self.stats.violations.entry(kind).or_default() += 1;
            self.violation(cost, End::During { state: item.state, process, violation: number as u32 });
        }
        raw.bytes.clear();
        self.raw = raw;
        true
    }

    /// Puts an arrival into the batch.
    fn key_of(&mut self, state: &[u8], like: &Opened, (from, by): (StateNumber, u8), runs: u8, steps: u32) {
        let start = self.batch.keys.len();
        self.store.encode(&mut self.system, state, like, &mut self.batch.keys);
        let key = &self.batch.keys[start..];
        let hash = self.store.hash(key);
        self.store.prefetch(hash);
        let leaving_is_free = self.options.fair_switch && spins(&mut self.system, state, usize::from(runs));
        self.batch.arrivals.push(Arrival {
            hash,
            key: (start as u32, key.len() as u32),
            from,
            steps,
            by,
            runs,
            processes: self.system.process_count(state) as u8,
            leaving_is_free,
        });
    }

    /// Everything in the batch: which states are new, and who is to run in them.
    fn look_up(&mut self, cost: RunCost) {
        let mut batch = std::mem::take(&mut self.batch);
        for arrival in batch.arrivals.drain(..) {
            let cost = RunCost { steps: cost.steps + u64::from(arrival.steps), ..cost };
            self.stats.transitions += 1;
            self.level(cost.preemptions).transitions += 1;
            let (start, length) = (arrival.key.0 as usize, arrival.key.1 as usize);
            let key = &batch.keys[start..start + length];
            let Some((state, is_new)) = self.store.insert(key, arrival.hash, usize::from(arrival.processes))
            else {
                self.full = true;
                continue;
            };
            if is_new {
                self.count_state(cost);
            }
            let (from, by, last) = (arrival.from, arrival.by, arrival.runs);
            let item = Item { state, from, by, last, who: Who::Last };
            if !self.store.records.is_expanded(state, usize::from(last)) {
                self.queue(cost, item);
            }
            let preemptions = cost.preemptions + u32::from(!arrival.leaving_is_free);
            self.queue_others(&item, RunCost { preemptions, ..cost });
        }
        batch.keys.clear();
        self.batch = batch;
    }

    /// Queues everybody else, unless everybody has been queued at this cost or a lower one.
    fn queue_others(&mut self, item: &Item, cost: RunCost) {
        let known = self.store.records.everybody(item.state);
        let packed = pack(cost);
        // Where the number of steps did not fit, nothing is known.
        if packed < known || known & STEPS == STEPS {
            self.store.records.set_everybody(item.state, packed);
            self.queue(cost, Item { who: Who::Others, ..*item });
        }
    }

    fn queue(&mut self, cost: RunCost, item: Item) {
        if self.is_within(cost) {
            self.frontier.push(cost.preemptions, cost.steps, item);
        }
    }

    /// Is the cost within the bound and the greatest depth?
    fn is_within(&mut self, cost: RunCost) -> bool {
        if self.options.bound.is_some_and(|most| cost.preemptions > most) {
            return false;
        }
        let deep = self.options.limits.depth.is_some_and(|most| cost.steps > most);
        self.cut_by_depth |= deep;
        !deep
    }

    /// Nobody but perhaps the last process can move.
    fn dead_end(&mut self, item: &Item, state: &[u8], count: usize, cost: RunCost) {
        let last = usize::from(item.last);
        let last_can_move = last < count && self.system.can_move(state, last);
        if last_can_move || self.system.may_end(state) || !self.store.records.set_dead(item.state) {
            return;
        }
        *self.stats.violations.entry(PropertyKind::Deadlock).or_default() += 1;
        self.note(item, ProcessSet::default());
        self.violation(cost, End::In { state: item.state, last: item.last });
    }

    fn violation(&mut self, cost: RunCost, end: End) {
        if self.goal == Goal::Count || !self.is_within(cost) {
            return;
        }
        if self.goal == Goal::All {
            self.remember(cost, end);
        } else if self.cheapest.is_none_or(|(known, _)| cost < known) {
            self.cheapest = Some((cost, end));
        }
    }

    fn count_state(&mut self, cost: RunCost) {
        self.stats.states += 1;
        self.stats.depth = self.stats.depth.max(cost.steps);
        self.level(cost.preemptions).states += 1;
    }

    fn level(&mut self, level: u32) -> &mut Level {
        let levels = &mut self.stats.levels;
        while levels.len() <= level as usize {
            levels.push(Level { level: levels.len() as u32, ..Level::default() });
        }
        &mut levels[level as usize]
    }

    fn reason_to_stop(&self, batches: u64, cost: RunCost, observer: &mut dyn Observer) -> Option<StopReason> {
        let limits = &self.options.limits;
        if limits.states.is_some_and(|most| self.stats.states > most) {
            return Some(StopReason::States);
        }
        if self.full {
            return Some(StopReason::Memory);
        }
        if !batches.is_multiple_of(LOOK_UP_EVERY) {
            return None;
        }
        observer.progress(&Progress {
            states: self.stats.states,
            transitions: self.stats.transitions,
            frontier: self.frontier.waiting(),
            depth: cost.steps,
            level: cost.preemptions,
        });
        if observer.cancelled() {
            return Some(StopReason::Interrupted);
        }
        if limits.memory_bytes.is_some_and(|most| self.bytes() > most) {
            return Some(StopReason::Memory);
        }
        limits.time.is_some_and(|most| self.started.elapsed() >= most).then_some(StopReason::Time)
    }
}

const STEPS_BITS: u32 = 22;
const STEPS: u32 = (1 << STEPS_BITS) - 1;

/// A cost in four bytes, in the same order as far as it fits.
fn pack(cost: RunCost) -> u32 {
    let preemptions = cost.preemptions.min((1 << (32 - STEPS_BITS)) - 1);
    preemptions << STEPS_BITS | cost.steps.min(u64::from(STEPS)) as u32
}
