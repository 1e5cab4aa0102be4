//! The search in order of cost without a store of states: as `explore.rs`, each process is expanded in each state once,
//! at its cheapest, but what waits is kept whole, and what was met is only known again.

use super::frontier::{Frontier, Item, Reader};
use super::paths::{NO_PATH, NodeNumber, Paths, Step, states_along};
use super::{Ending, Variety, hashed_report, note, replayed};
use crate::CheckError;
use crate::reduction::Reduction;
use crate::search::charges::Charges;
use crate::search::frontier::{NOBODY, Who};
use crate::search::spinning::spins;
use crate::search::tally::Tally;
use crate::search::verdict::lost;
use crate::search::{Counterexample, Goal, SearchOptions, SearchReport};
use crate::store::hash::StateHash;
use crate::store::known::Known;
use crate::store::sketch::Sketch;
use crate::successors::{Event, Successors};
use preempt_core::{Budget, Memory, Progress, PropertyKind, StopReason, Verdict};
use preempt_model::search::RunCost;
use std::collections::{HashMap, HashSet};

/// Items of one batch: memory is asked for before it is looked at.
const BATCH: usize = 64;

pub struct ByCost<'a, S, K: Known> {
    system: S,
    known: K,
    seed: u64,
    options: &'a SearchOptions,
    goal: Goal,
    charges: Charges,
    frontier: Frontier,
    paths: Paths,
    tally: Tally,
    /// The cheapest violation found so far; its path is held.
    cheapest: Option<(RunCost, NodeNumber, Ending)>,
    /// States that are violations in themselves, and whether that has been reported.
    wrong: HashMap<StateHash, bool>,
    dead: HashSet<StateHash>,
    reduces: bool,
    full: bool,
    arrivals: Arrivals,
    sketch: Option<&'a mut Sketch>,
}

/// Arrivals that are not looked up yet.
#[derive(Default)]
struct Arrivals {
    bytes: Vec<u8>,
    list: Vec<Arrival>,
}

struct Arrival {
    hash: StateHash,
    start: usize,
    length: usize,
    steps: u32,
    path: NodeNumber,
    step: Step,
    runs: u8,
}

/// An item that was taken, and where its state lies.
struct Taken {
    item: Item,
    start: usize,
    length: usize,
    hash: StateHash,
}

impl<'a, S: Successors, K: Known> ByCost<'a, S, K> {
    pub fn new(system: S, known: K, variety: Variety<'a>, options: &'a SearchOptions, goal: Goal) -> Self {
        ByCost {
            system,
            known,
            seed: variety.seed,
            options,
            goal,
            charges: Charges::new(options.cost),
            frontier: Frontier::default(),
            paths: Paths::default(),
            tally: Tally::new(options.limits),
            cheapest: None,
            wrong: HashMap::new(),
            dead: HashSet::new(),
            reduces: options.reduction == Reduction::Exact && goal == Goal::First,
            full: false,
            arrivals: Arrivals::default(),
            sketch: variety.sketch,
        }
    }

    pub fn run(mut self, progress: &mut dyn Progress) -> Result<SearchReport, CheckError> {
        self.tally.begin(&mut self.system, progress);
        let mut verdict = self.search(progress);
        if let Some(trouble) = self.system.trouble() {
            return Err(trouble.into());
        }
        let mut errors = Vec::new();
        if let (Verdict::Violated, Some((cost, path, ending))) = (verdict, self.cheapest.take()) {
            let budget = self.tally.begin_telling(&mut self.system, progress);
            match self.told(cost, path, ending, &budget) {
                Ok(error) => errors.push(error),
                Err(reason) => verdict = Verdict::Inconclusive(reason),
            }
        }
        let memory = Memory {
            store: self.known.bytes() + self.system.bytes(),
            frontier: self.frontier.most_bytes(),
            parents: self.paths.bytes(),
        };
        Ok(hashed_report(self.options, self.known.reach(), verdict, errors, self.tally, memory))
    }

    fn search(&mut self, progress: &mut dyn Progress) -> Verdict {
        self.begin();
        let mut cost = RunCost { preemptions: 0, steps: 0 };
        while self.frontier.has_level(cost.preemptions) {
            while let Some(steps) = self.frontier.next(cost.preemptions, cost.steps) {
                cost.steps = steps;
                if self.cheapest.as_ref().is_some_and(|(known, ..)| *known <= cost) {
                    return Verdict::Violated;
                }
                if let Some(reason) = self.bucket(cost, progress) {
                    return Verdict::Inconclusive(reason);
                }
                cost.steps += 1;
            }
            self.frontier.forget_level(cost.preemptions);
            cost = RunCost { preemptions: cost.preemptions + 1, steps: 0 };
        }
        let violated = self.tally.stats.violations.values().any(|count| *count > 0);
        let undone = self.full.then_some(StopReason::Memory).or_else(|| self.tally.budget.stopped());
        if let Some(reason) = undone {
            return Verdict::Inconclusive(reason);
        }
        let violated = self.cheapest.is_some() || self.goal == Goal::Count && violated;
        Verdict::conclude(violated, self.tally.cut_by_depth.then_some(StopReason::Depth))
    }

    fn begin(&mut self) {
        let cost = RunCost { preemptions: 0, steps: 0 };
        for (number, state) in self.system.initial().into_iter().enumerate() {
            let hash = StateHash::of(&state, self.seed);
            let processes = self.system.process_count(&state);
            if !self.known.meet(hash, processes).1 {
                continue;
            }
            self.tally.new_state(cost);
            note(&mut self.sketch, &state);
            let path = self.path(NO_PATH, Step { process: 0, choice: number as u32 });
            let item = Item { path, last: NOBODY, who: Who::Others };
            self.judge(&state, hash, item, cost);
            self.queue(cost, item, &state);
            self.paths.release(path);
        }
    }

    /// A new path that we hold, if paths are kept.
    fn path(&mut self, parent: NodeNumber, step: Step) -> NodeNumber {
        if self.goal == Goal::Count {
            return NO_PATH;
        }
        self.paths.add(parent, step).unwrap_or_else(|| {
            self.full = true;
            NO_PATH
        })
    }

    /// Everything at one cost. A forced switch adds to the bucket that is being worked on.
    fn bucket(&mut self, cost: RunCost, progress: &mut dyn Progress) -> Option<StopReason> {
        let mut reader = self.frontier.take(cost.preemptions, cost.steps);
        let (mut bytes, mut batch) = (Vec::new(), Vec::new());
        loop {
            self.take_some(&mut reader, &mut bytes, &mut batch);
            if batch.is_empty() {
                self.frontier.done(reader);
                reader = self.frontier.take(cost.preemptions, cost.steps);
                self.take_some(&mut reader, &mut bytes, &mut batch);
                if batch.is_empty() {
                    self.frontier.done(reader);
                    return None;
                }
            }
            for taken in &batch {
                self.work(taken, &bytes[taken.start..taken.start + taken.length], cost);
            }
            self.look_up(cost);
            batch.iter().for_each(|taken| self.paths.release(taken.item.path));
            if let Some(reason) = self.reason_to_stop(cost, progress) {
                return Some(reason);
            }
        }
    }

    fn take_some(&mut self, reader: &mut Reader, bytes: &mut Vec<u8>, batch: &mut Vec<Taken>) {
        bytes.clear();
        batch.clear();
        while batch.len() < BATCH
            && let Some((item, state)) = reader.next()
        {
            let hash = StateHash::of(state, self.seed);
            self.known.prefetch(hash);
            batch.push(Taken { item, start: bytes.len(), length: state.len(), hash });
            bytes.extend_from_slice(state);
        }
    }

    /// Expands one item.
    fn work(&mut self, taken: &Taken, state: &[u8], cost: RunCost) {
        let (item, hash) = (taken.item, taken.hash);
        let count = self.system.process_count(state);
        match item.who {
            Who::Last => {
                let last = usize::from(item.last);
                let place = self.known.meet(hash, count).0;
                if self.known.has_run(place, last) {
                    return;
                }
                if last < count && self.expand(item, item.last, state, cost) {
                    self.known.ran_alone(place, last);
                } else {
                    self.give_way(taken, state, count, cost);
                }
            }
            Who::Others => self.expand_others(taken, state, count, cost),
            Who::Nobody => {
                // The first to be taken is the cheapest.
                if !self.wrong.insert(hash, true).unwrap_or(true) {
                    self.violation(cost, item.path, Ending::InState);
                }
            }
        }
    }

    /// The process that was running cannot go on.
    fn give_way(&mut self, taken: &Taken, state: &[u8], count: usize, cost: RunCost) {
        let place = self.known.meet(taken.hash, count).0;
        let later = RunCost { preemptions: cost.preemptions + self.charges.forced, ..cost };
        self.queue_others(place, taken.item, state, cost.preemptions, later);
        if self.charges.forced > 0 && !(0..count).any(|process| self.system.can_move(state, process)) {
            // The others come later, if at all: that nobody can move is seen now.
            self.dead_end(taken, state, count, cost);
        }
    }

    fn expand_others(&mut self, taken: &Taken, state: &[u8], count: usize, cost: RunCost) {
        let place = self.known.meet(taken.hash, count).0;
        if !self.known.begin_others(place) {
            return;
        }
        let mut moved = false;
        for process in (0..count).filter(|process| *process != usize::from(taken.item.last)) {
            if self.known.has_run_alone(place, process) {
                moved = true;
            } else if self.expand(taken.item, process as u8, state, cost) {
                self.known.ran_among_others(place, process);
                moved = true;
            }
        }
        if !moved {
            self.dead_end(taken, state, count, cost);
        }
    }

    /// Expands one process; false if it has no move.
    fn expand(&mut self, item: Item, process: u8, state: &[u8], cost: RunCost) -> bool {
        let Arrivals { bytes, list } = &mut self.arrivals;
        let (known, seed) = (&self.known, self.seed);
        let mut violations = Vec::new();
        let mut choice = 0;
        let moved = self.system.expand(state, usize::from(process), &mut |event| match event {
            Event::Arrival { state, runs, steps } => {
                let hash = StateHash::of(state, seed);
                known.prefetch(hash);
                let (start, length, step) = (bytes.len(), state.len(), Step { process, choice });
                list.push(Arrival { hash, start, length, steps, path: item.path, step, runs });
                bytes.extend_from_slice(state);
                choice += 1;
            }
            Event::Violation { kind, steps } => violations.push((kind, steps)),
        });
        for (number, (kind, steps)) in violations.into_iter().enumerate() {
            let cost = RunCost { steps: cost.steps + u64::from(steps), ..cost };
            *self.tally.stats.violations.entry(kind).or_default() += 1;
            self.violation(cost, item.path, Ending::During { process, violation: number as u32 });
        }
        moved
    }

    /// Everything in the batch: which states are new, and who is to run in them.
    fn look_up(&mut self, cost: RunCost) {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        for arrival in arrivals.list.drain(..) {
            let state = &arrivals.bytes[arrival.start..arrival.start + arrival.length];
            self.arrive(&arrival, state, cost);
        }
        arrivals.bytes.clear();
        self.arrivals = arrivals;
    }

    fn arrive(&mut self, arrival: &Arrival, state: &[u8], cost: RunCost) {
        let Arrival { hash, runs, .. } = *arrival;
        let now = cost.preemptions;
        let cost = RunCost { steps: cost.steps + u64::from(arrival.steps), ..cost };
        self.tally.transition(cost);
        let (place, is_new) = self.known.meet(hash, self.system.process_count(state));
        let path = self.path(arrival.path, arrival.step);
        let item = Item { path, last: runs, who: Who::Last };
        if !self.known.has_run(place, usize::from(runs)) {
            self.queue(cost, item, state);
        }
        let runs_alone = self.reduces && self.system.runs_alone(state, usize::from(runs));
        if !runs_alone {
            let free = self.options.fair_switch && self.spins(state, usize::from(runs));
            let charge = if free { 0 } else { self.charges.preemption };
            let later = RunCost { preemptions: cost.preemptions + charge, ..cost };
            self.queue_others(place, item, state, now, later);
        }
        if is_new {
            self.tally.new_state(cost);
            note(&mut self.sketch, state);
            self.judge(state, hash, item, cost);
        } else if S::JUDGES_STATES && self.wrong.contains_key(&hash) {
            self.queue(cost, Item { who: Who::Nobody, ..item }, state);
        }
        self.paths.release(path);
    }

    fn spins(&mut self, state: &[u8], process: usize) -> bool {
        spins(&mut self.system, &self.tally.budget, state, process)
    }

    /// A state that is wrong in itself is counted once, and reported at its cheapest arrival.
    fn judge(&mut self, state: &[u8], hash: StateHash, item: Item, cost: RunCost) {
        let kind = if S::JUDGES_STATES { self.system.state_violation(state) } else { None };
        if let Some(kind) = kind {
            *self.tally.stats.violations.entry(kind).or_default() += 1;
            self.wrong.insert(hash, false);
            self.queue(cost, Item { who: Who::Nobody, ..item }, state);
        }
    }

    /// Queues everybody else, unless everybody has been queued at this cost or a lower one.
    fn queue_others(&mut self, place: K::Place, item: Item, state: &[u8], now: u32, cost: RunCost) {
        if self.is_within(cost) && self.known.lower_everybody(place, now, cost.preemptions, cost.steps) {
            self.queue(cost, Item { who: Who::Others, ..item }, state);
        }
    }

    fn queue(&mut self, cost: RunCost, item: Item, state: &[u8]) {
        if self.is_within(cost) {
            self.paths.hold(item.path);
            self.frontier.push(cost.preemptions, cost.steps, item, state);
        }
    }

    /// Is the cost within the bound and the greatest depth?
    fn is_within(&mut self, cost: RunCost) -> bool {
        self.charges.is_within(cost, self.options.bound) && self.tally.is_within_depth(cost.steps)
    }

    /// Nobody but perhaps the last process can move.
    fn dead_end(&mut self, taken: &Taken, state: &[u8], count: usize, cost: RunCost) {
        let last = usize::from(taken.item.last);
        let last_can_move = last < count && self.system.can_move(state, last);
        // Without its budget the system has no moves either.
        let undone = self.tally.budget.stopped().is_some();
        if undone || last_can_move || self.system.may_end(state) || !self.dead.insert(taken.hash) {
            return;
        }
        *self.tally.stats.violations.entry(PropertyKind::Deadlock).or_default() += 1;
        self.violation(cost, taken.item.path, Ending::InState);
    }

    fn violation(&mut self, cost: RunCost, path: NodeNumber, ending: Ending) {
        let is_cheaper = self.cheapest.as_ref().is_none_or(|(known, ..)| cost < *known);
        if self.goal == Goal::Count || !self.is_within(cost) || !is_cheaper {
            return;
        }
        self.paths.hold(path);
        if let Some((_, other, _)) = self.cheapest.replace((cost, path, ending)) {
            self.paths.release(other);
        }
    }

    fn told(
        &mut self,
        cost: RunCost,
        path: NodeNumber,
        ending: Ending,
        budget: &Budget,
    ) -> Result<Counterexample, StopReason> {
        let (initial, steps) = self.paths.steps(path).ok_or_else(|| lost(budget))?;
        let states = states_along(&mut self.system, initial, &steps, budget).ok_or_else(|| lost(budget))?;
        let processes: Vec<u8> = steps.iter().map(|step| step.process).collect();
        let error = replayed(&self.system, &states, &processes, ending, self.options.fair_switch, budget)?;
        let shown = self.charges.of_run(&error.trace);
        assert!(shown <= cost, "internal error: the run found costs more when replayed");
        Ok(error)
    }

    fn reason_to_stop(&mut self, cost: RunCost, progress: &mut dyn Progress) -> Option<StopReason> {
        if self.full {
            return Some(StopReason::Memory);
        }
        let kept = (self.wrong.capacity() + self.dead.capacity()) * size_of::<(StateHash, u64)>();
        let (known, frontier, paths, system) = (&self.known, &self.frontier, &self.paths, &self.system);
        let bytes = || known.bytes() + frontier.bytes() + paths.bytes() + system.bytes() + kept as u64;
        self.tally.reason_to_stop(cost, bytes, frontier.waiting(), progress)
    }
}
