//! The reference search: in order of cost, so that a bound costs nothing and the first violation taken is the
//! simplest.
//!
//! It bounds what Holzmann and Florian 2011 (paper 000) bound, the preemptions of a run, but by a search in the order of cost
//! instead of depth first: nothing is ever revisited because it was reached more cheaply.
//!
//! A work item is a process in a state; items wait in buckets keyed by (preemptions, steps). Arriving in a state by
//! process p queues p at the cost of the arrival and, the first time or when it is cheaper, everybody else one
//! preemption later. When p turns out to have no move, everybody else is queued at no extra cost: the switch is
//! forced. A process is expanded in a state once, at its cheapest.
//!
//! Why that is enough: whether leaving a process is charged depends only on the state and on who ran last. Whoever arrived first
//! may go on at that cost, and anybody else one preemption later at the latest; so for each process of a state the first item
//! taken from the buckets is its cheapest, and a later one could only repeat it. Every process of every state is expanded
//! once: what the bounded search costs is what the unbounded one costs up to there.

mod conclusion;

pub use conclusion::guarantee;

use super::RunCost;
use super::deadlock::deadlock;
use super::spinning::spins;
use super::stable::{Event, expand};
use super::trail::{End, Last, StateNumber, Trail, bytes_of_table};
use crate::system::System;
use preempt_core::{
    Budget, Level, Limits, Outcome, Progress, Property, PropertyKind, Snapshot, Stats, StopReason,
};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::rc::Rc;
use std::time::Instant;

/// How the reference searches go.
#[derive(Debug, Clone, Default)]
pub struct ReferenceOptions {
    /// Most preemptions; `None` for the whole state space.
    pub bound: Option<u32>,
    /// May a process that only spins be left for free?
    pub fair_switch: bool,
    /// When to give up.
    pub limits: Limits,
}

/// Finds the simplest violation, or shows that there is none.
pub fn check<S: System>(system: &S, options: &ReferenceOptions, progress: &mut dyn Progress) -> Outcome {
    Search::new(system, options, true).run(progress)
}

/// Counts the whole state space, violations included: a failed assertion is passed over.
pub fn count<S: System>(system: &S, options: &ReferenceOptions, progress: &mut dyn Progress) -> Outcome {
    Search::new(system, options, false).run(progress)
}

/// How often, in work items, the clock, the memory and the listener are looked at.
const LOOK_UP_EVERY: u64 = 64;

struct Search<'a, S: System> {
    system: &'a S,
    options: &'a ReferenceOptions,
    stop_at_violation: bool,
    started: Instant,
    budget: Budget,
    numbers: HashMap<Rc<S::State>, StateNumber, foldhash::fast::RandomState>,
    nodes: Vec<Node<S>>,
    waiting: BTreeMap<RunCost, VecDeque<Item>>,
    /// How many they are.
    items: u64,
    trail: Trail,
    stats: Stats,
    /// Of the states themselves.
    state_bytes: u64,
    cut_by_depth: bool,
}

struct Node<S: System> {
    state: Rc<S::State>,
    expanded: ProcessSet,
    /// The cheapest cost at which everybody has been queued.
    everybody: Option<RunCost>,
    dead: bool,
    /// The state is a violation in itself.
    wrong: bool,
}

/// Up to 255 processes.
#[derive(Debug, Clone, Copy, Default)]
struct ProcessSet([u64; 4]);

impl ProcessSet {
    fn contains(self, process: usize) -> bool {
        self.0[process / 64] & (1 << (process % 64)) != 0
    }

    fn insert(&mut self, process: usize) {
        self.0[process / 64] |= 1 << (process % 64);
    }
}

enum Item {
    Expand {
        state: StateNumber,
        process: usize,
        last: Last,
    },
    /// Everybody but the process that was running.
    Others {
        state: StateNumber,
        last: Last,
    },
    Violation(Box<(Property, End)>),
}

impl<'a, S: System> Search<'a, S> {
    fn new(system: &'a S, options: &'a ReferenceOptions, stop_at_violation: bool) -> Self {
        Search {
            system,
            options,
            stop_at_violation,
            started: Instant::now(),
            budget: Budget::unlimited(),
            numbers: HashMap::default(),
            nodes: Vec::new(),
            waiting: BTreeMap::new(),
            items: 0,
            trail: Trail::default(),
            stats: Stats::default(),
            state_bytes: 0,
            cut_by_depth: false,
        }
    }

    fn run(mut self, progress: &mut dyn Progress) -> Outcome {
        self.budget = progress.budget().part(&self.options.limits);
        self.system.work_within(&self.budget);
        let system = self.system;
        let outcome = self.search(progress);
        system.work_within(&progress.budget());
        outcome
    }

    fn search(mut self, progress: &mut dyn Progress) -> Outcome {
        for state in self.system.initial_states() {
            let cost = RunCost { preemptions: 0, steps: 0 };
            let number = self.number(state, cost);
            self.judge(number, true, None, cost);
            self.queue(cost, Item::Others { state: number, last: None });
        }
        let mut taken = 0u64;
        while let Some((cost, item)) = self.next_item() {
            taken += 1;
            if taken.is_multiple_of(LOOK_UP_EVERY)
                && let Some(reason) = self.budget.poll(&self.snapshot(cost), progress)
            {
                return self.stopped(reason);
            }
            if let Some(reason) = self.limit_reached() {
                return self.stopped(reason);
            }
            match item {
                Item::Violation(found) => {
                    let (violation, end) = *found;
                    return self.violated(violation, end, cost, progress);
                }
                Item::Expand { state, process, last } => {
                    if !self.expand(state, process, last, cost) {
                        self.queue_others(state, last, cost);
                    }
                }
                Item::Others { state, last } => self.expand_others(state, last, cost),
            }
        }
        self.finished()
    }

    fn next_item(&mut self) -> Option<(RunCost, Item)> {
        let mut entry = self.waiting.first_entry()?;
        let cost = *entry.key();
        let item = entry.get_mut().pop_front();
        if entry.get().is_empty() {
            entry.remove();
        }
        self.items -= 1;
        item.map(|item| (cost, item))
    }

    fn queue(&mut self, cost: RunCost, item: Item) {
        if self.options.bound.is_some_and(|most| cost.preemptions > most) {
            return;
        }
        if self.options.limits.depth.is_some_and(|most| cost.steps > most) {
            self.cut_by_depth = true;
            return;
        }
        self.items += 1;
        self.waiting.entry(cost).or_default().push_back(item);
    }

    /// Expands one process; false if it has no move.
    fn expand(&mut self, state: StateNumber, process: usize, last: Last, cost: RunCost) -> bool {
        let node = &mut self.nodes[state as usize];
        if node.expanded.contains(process) {
            return true;
        }
        let from = Rc::clone(&node.state);
        if process >= self.system.process_count(&from) {
            return false;
        }
        let system = self.system;
        let (mut which, mut violations) = (0, 0);
        let moved = expand(system, &from, process, |event| match event {
            Event::Arrival { path, state: next, runs } => {
                let cost = RunCost { steps: cost.steps + path.len() as u64, ..cost };
                self.arrive((state, process), which, (next, runs), cost);
                which += 1;
            }
            Event::Violation { path, violation } => {
                let cost = RunCost { steps: cost.steps + path.len() as u64, ..cost };
                *self.stats.violations.entry(violation.kind).or_default() += 1;
                if self.stop_at_violation {
                    let end = End::During { state, process, violation: violations };
                    self.queue(cost, Item::Violation(Box::new((violation.into(), end))));
                }
                violations += 1;
            }
        });
        if moved {
            self.nodes[state as usize].expanded.insert(process);
            self.trail.expanded(state, process, last);
        }
        moved
    }

    fn expand_others(&mut self, state: StateNumber, last: Last, cost: RunCost) {
        let count = self.system.process_count(&self.nodes[state as usize].state);
        let mut moved = false;
        for process in (0..count).filter(|process| last != Some(*process as u16)) {
            moved |= self.expand(state, process, last, cost);
        }
        if !moved {
            self.dead_end(state, last, cost);
        }
    }

    /// Nobody but perhaps the last process can move.
    fn dead_end(&mut self, state: StateNumber, last: Last, cost: RunCost) {
        let node = &mut self.nodes[state as usize];
        let count = self.system.process_count(&node.state);
        let last_can_move = last.is_some_and(|last| {
            usize::from(last) < count && !self.system.successors(&node.state, usize::from(last)).is_empty()
        });
        // Without its budget the system has no moves either.
        let undone = self.budget.stopped().is_some();
        if undone || last_can_move || node.dead || self.system.may_end(&node.state) {
            return;
        }
        node.dead = true;
        *self.stats.violations.entry(PropertyKind::Deadlock).or_default() += 1;
        if self.stop_at_violation {
            let violation = deadlock(self.system, &self.nodes[state as usize].state);
            self.queue(cost, Item::Violation(Box::new((violation, End::In { state, last }))));
        }
    }

    fn arrive(
        &mut self,
        from: (StateNumber, usize),
        which: u32,
        (next, runs): (S::State, usize),
        cost: RunCost,
    ) {
        self.stats.transitions += 1;
        self.level(cost.preemptions).transitions += 1;
        let free = self.options.fair_switch && spins(self.system, &next, runs);
        let known = self.nodes.len();
        let state = self.number(next, cost);
        self.trail.arrived((state, runs), cost, from, which);
        let last = Some(runs as u16);
        self.judge(state, state as usize >= known, last, cost);
        if !self.nodes[state as usize].expanded.contains(runs) {
            self.queue(cost, Item::Expand { state, process: runs, last });
        }
        if free {
            self.queue_others(state, last, cost);
        } else {
            self.queue_others(state, last, RunCost { preemptions: cost.preemptions + 1, ..cost });
        }
    }

    /// A state that is wrong in itself is counted once, and reported at its cheapest arrival.
    fn judge(&mut self, state: StateNumber, is_new: bool, last: Last, cost: RunCost) {
        let node = &mut self.nodes[state as usize];
        if !is_new && !node.wrong {
            return;
        }
        let Some(violation) = self.system.state_violation(&node.state) else { return };
        node.wrong = true;
        *self.stats.violations.entry(violation.kind).or_default() += u64::from(is_new);
        if self.stop_at_violation {
            self.queue(cost, Item::Violation(Box::new((violation.into(), End::In { state, last }))));
        }
    }

    /// Queues everybody else, unless everybody has been queued at this cost or a lower one.
    fn queue_others(&mut self, state: StateNumber, last: Last, cost: RunCost) {
        let node = &mut self.nodes[state as usize];
        if node.everybody.is_none_or(|known| cost < known) {
            node.everybody = Some(cost);
            self.queue(cost, Item::Others { state, last });
        }
    }

    fn number(&mut self, state: S::State, cost: RunCost) -> StateNumber {
        if let Some(number) = self.numbers.get(&state) {
            return *number;
        }
        let number = self.nodes.len() as StateNumber;
        self.state_bytes += self.system.state_bytes(&state) as u64 + BYTES_OF_A_REFERENCE;
        let state = Rc::new(state);
        self.numbers.insert(Rc::clone(&state), number);
        self.nodes.push(Node {
            state,
            expanded: ProcessSet::default(),
            everybody: None,
            dead: false,
            wrong: false,
        });
        self.stats.states += 1;
        self.stats.depth = self.stats.depth.max(cost.steps);
        self.level(cost.preemptions).states += 1;
        number
    }

    fn level(&mut self, level: u32) -> &mut Level {
        let levels = &mut self.stats.levels;
        while levels.len() <= level as usize {
            levels.push(Level { level: levels.len() as u32, ..Level::default() });
        }
        &mut levels[level as usize]
    }

    fn snapshot(&self, cost: RunCost) -> Snapshot {
        Snapshot {
            states: self.stats.states,
            transitions: self.stats.transitions,
            frontier: self.items,
            depth: cost.steps,
            level: cost.preemptions,
            bytes: self.bytes(),
        }
    }

    /// Memory used: what has been allocated, so that tables count as large as they are.
    fn bytes(&self) -> u64 {
        self.state_bytes
            + (self.nodes.capacity() * size_of::<Node<S>>()) as u64
            + bytes_of_table::<(Rc<S::State>, StateNumber)>(self.numbers.capacity())
            + self.items * 2 * size_of::<Item>() as u64
            + self.trail.bytes()
    }

    fn limit_reached(&self) -> Option<StopReason> {
        let most = self.options.limits.states;
        let states = most.is_some_and(|most| self.stats.states > most).then_some(StopReason::States);
        states.or_else(|| self.budget.stopped())
    }
}

/// A state is counted by two references to it; it and its bytes are allocated by themselves.
const BYTES_OF_A_REFERENCE: u64 = 48;
