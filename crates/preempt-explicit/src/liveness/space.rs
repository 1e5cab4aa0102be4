//! The product of a model and an observer, state by state.

use crate::Unsupported;
use crate::store::{Opened, StateNumber, Store};
use crate::successors::{Event, Successors};
use crate::watched::{PlaceOf, Watched};
use preempt_core::{Budget, Limits, Progress, Snapshot, Stats, StopReason};
use preempt_model::monitor::Monitor;
use preempt_model::search::budget_for_telling;
use preempt_model::{Interpreter, System};
use std::time::Instant;

/// A step of the product: `by` made it, and afterwards `runs` is running. Where nobody can move, a state repeats itself
/// by [`NOBODY`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    pub from: StateNumber,
    pub to: StateNumber,
    pub by: u8,
    pub runs: u8,
    /// How many steps of the model: an atomic sequence has several.
    pub steps: u32,
}

pub const NOBODY: u8 = u8::MAX;

pub struct Space<'a, 'm, M> {
    watched: Watched<'a, 'm, M>,
    budget: Budget,
    store: Store,
    stats: Stats,
    limits: Limits,
    started: Instant,
    opened: Opened,
    /// Most that the searches needed beside the store, as they say.
    most_search_bytes: u64,
    fair_switch: bool,
    /// Are states left out that the reduction need not try?
    reduces: bool,
    judges: bool,
    /// Some step has no end: it fails, or goes round in an atomic sequence for ever.
    has_dead_ends: bool,
    cut_by_depth: bool,
    asked: u64,
}

/// What was met from one state.
#[derive(Debug, Default, Clone)]
pub struct Expansion {
    pub edges: Vec<Edge>,
    /// The processes that cannot move.
    pub resting: Vec<u8>,
    pub processes: u8,
}

/// The steps from one state, and who may be left there for free.
#[derive(Debug, Default, Clone)]
pub struct Leaving {
    pub edges: Vec<Edge>,
    pub free: Vec<u8>,
}

/// Why a search ends before it has seen everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    Limit(StopReason),
    /// A finite run is a violation already; see [`Space::judging`].
    Finite,
}

/// How often, in calls, the clock, the memory and the observer are looked at.
const LOOK_UP_EVERY: u64 = 256;

impl<'a, 'm, M: Monitor<Interpreter<'m>, Place: PlaceOf>> Space<'a, 'm, M> {
    pub fn new(
        mut watched: Watched<'a, 'm, M>,
        limits: Limits,
        fair_switch: bool,
        progress: &dyn Progress,
    ) -> Self {
        let budget = progress.budget().part(&limits);
        watched.work_within(&budget);
        Space {
            watched,
            budget,
            store: Store::new(),
            stats: Stats::default(),
            limits,
            started: Instant::now(),
            opened: Opened::default(),
            most_search_bytes: 0,
            fair_switch,
            reduces: true,
            judges: false,
            has_dead_ends: false,
            cut_by_depth: false,
            asked: 0,
        }
    }

    /// Ends the search at a state that is a violation in itself.
    pub fn judging(self) -> Self {
        Space { judges: true, ..self }
    }

    /// From now on every step counts. So many states more are allowed than were met.
    pub fn unreduced(&mut self, more: u64) {
        self.reduces = false;
        let most = self.stats.states + more;
        self.limits.states = Some(self.limits.states.map_or(most, |limit| limit.min(most)));
    }

    pub fn initial(&mut self) -> Result<Vec<StateNumber>, Cut> {
        let states = self.watched.initial();
        states.iter().map(|state| self.number(state, &Opened::default())).collect()
    }

    fn number(&mut self, state: &[u8], like: &Opened) -> Result<StateNumber, Cut> {
        let key = self.store.encode(&self.watched, state, like).ok_or(Cut::Limit(StopReason::Memory))?;
        let processes = self.watched.process_count(state);
        let (number, is_new) =
            self.store.insert(key, key.hash(), processes).ok_or(Cut::Limit(StopReason::Memory))?;
        self.stats.states += u64::from(is_new);
        Ok(number)
    }

    /// Every step from a state that the reduction does not leave out, the first process's first.
    pub fn expand(&mut self, number: StateNumber) -> Result<Expansion, Cut> {
        let mut opened = std::mem::take(&mut self.opened);
        self.store.open(&self.watched, number, &mut opened);
        if self.judges && self.watched.state_violation(&opened.bytes).is_some() {
            return Err(Cut::Finite);
        }
        let count = self.watched.process_count(&opened.bytes) as u8;
        let tried = if self.reduces { self.watched.tried(&opened.bytes) } else { None };
        let expansion = match tried {
            Some(tried) => match self.steps_by(number, &opened, tried.into_iter())? {
                // A step that leads nowhere does not stand for those of the others.
                expansion if expansion.edges.is_empty() => self.steps_by(number, &opened, 0..count)?,
                expansion => expansion,
            },
            None => self.steps_by(number, &opened, 0..count)?,
        };
        let mut expansion = Expansion { processes: count, ..expansion };
        if expansion.edges.is_empty() {
            for state in self.watched.repetitions(&opened.bytes) {
                let to = self.number(&state, &opened)?;
                expansion.edges.push(Edge { from: number, to, by: NOBODY, runs: NOBODY, steps: 0 });
            }
        }
        self.stats.transitions += expansion.edges.len() as u64;
        self.opened = opened;
        self.is_whole()?;
        Ok(expansion)
    }

    fn steps_by(
        &mut self,
        number: StateNumber,
        opened: &Opened,
        processes: impl Iterator<Item = u8>,
    ) -> Result<Expansion, Cut> {
        let mut expansion = Expansion::default();
        let mut bytes = Vec::new();
        let mut arrivals = Vec::new();
        for process in processes {
            let before = arrivals.len();
            let moved = self.watched.expand(&opened.bytes, usize::from(process), &mut |event| {
                if let Event::Arrival { state, runs, steps } = event {
                    arrivals.push((bytes.len(), state.len(), process, runs, steps));
                    bytes.extend_from_slice(state);
                }
            });
            if arrivals.len() == before {
                expansion.resting.push(process);
                self.has_dead_ends |= moved;
            }
        }
        for (start, length, by, runs, steps) in arrivals {
            let to = self.number(&bytes[start..start + length], opened)?;
            expansion.edges.push(Edge { from: number, to, by, runs, steps });
        }
        Ok(expansion)
    }

    /// The same for a search in the order of cost.
    pub fn leaving(&mut self, number: StateNumber) -> Result<Leaving, Cut> {
        let Expansion { edges, resting, processes } = self.expand(number)?;
        let mut opened = std::mem::take(&mut self.opened);
        self.store.open(&self.watched, number, &mut opened);
        // Who only fails, or goes round in an atomic sequence for ever, rests without being unable to move.
        let stuck = |watched: &mut Watched<'a, 'm, M>, process: u8| {
            resting.contains(&process) && !watched.could_move(&opened.bytes, usize::from(process))
        };
        let free = (0..processes)
            .filter(|process| {
                stuck(&mut self.watched, *process)
                    || self.fair_switch
                        && self.watched.spins(&self.budget, &opened.bytes, usize::from(*process))
            })
            .collect();
        self.opened = opened;
        self.is_whole()?;
        Ok(Leaving { edges, free })
    }

    pub fn accepts(&mut self, number: StateNumber) -> bool {
        let mut opened = std::mem::take(&mut self.opened);
        self.store.open(&self.watched, number, &mut opened);
        let accepts = self.watched.accepts(&opened.bytes);
        self.opened = opened;
        accepts
    }

    pub fn process_count(&mut self, number: StateNumber) -> u8 {
        let mut opened = std::mem::take(&mut self.opened);
        self.store.open(&self.watched, number, &mut opened);
        let count = self.watched.process_count(&opened.bytes);
        self.opened = opened;
        count as u8
    }

    /// The state in the observer's and the interpreter's own terms.
    pub fn state_of(
        &mut self,
        number: StateNumber,
    ) -> <<Watched<'a, 'm, M> as Successors>::Reference as System>::State {
        let mut opened = Opened::default();
        self.store.open(&self.watched, number, &mut opened);
        self.watched.state_of(&opened.bytes)
    }

    pub fn reference(&self) -> &<Watched<'a, 'm, M> as Successors>::Reference {
        self.watched.reference()
    }

    pub fn monitor(&self) -> &'a M {
        self.watched.monitor()
    }

    /// Was everything done that was asked for? If not, what came back is not all.
    pub fn is_whole(&self) -> Result<(), Cut> {
        self.budget.stopped().map_or(Ok(()), |reason| Err(Cut::Limit(reason)))
    }

    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// What was found is executed again within this budget.
    pub fn begin_telling(&mut self, progress: &dyn Progress) -> Budget {
        let budget = budget_for_telling(progress, &self.limits, self.started.elapsed());
        self.watched.work_within(&budget);
        budget
    }

    /// To be asked now and then: is it time to stop? The path has so many entries, and so many bytes are used beside the
    /// store.
    pub fn look_up(&mut self, path: usize, bytes: usize, progress: &mut dyn Progress) -> Result<(), Cut> {
        self.stats.depth = self.stats.depth.max(path as u64);
        self.look_around(path as u64, bytes as u64, 0, progress)
    }

    /// The same for a search without a path: so much is waiting, and so many bytes are used beside the store.
    pub fn look_around(
        &mut self,
        waiting: u64,
        bytes: u64,
        level: u32,
        progress: &mut dyn Progress,
    ) -> Result<(), Cut> {
        self.most_search_bytes = self.most_search_bytes.max(bytes);
        if self.limits.states.is_some_and(|most| self.stats.states > most) {
            return Err(Cut::Limit(StopReason::States));
        }
        self.asked += 1;
        if !self.asked.is_multiple_of(LOOK_UP_EVERY) {
            return self.is_whole();
        }
        let bytes = self.store_bytes() + bytes;
        self.budget.uses(bytes);
        progress.update(&Snapshot {
            states: self.stats.states,
            transitions: self.stats.transitions,
            frontier: waiting,
            depth: self.stats.depth,
            level,
            bytes,
        });
        if let Some(reason) = progress.stop() {
            return Err(Cut::Limit(reason));
        }
        self.budget.exhausted_with(0);
        self.is_whole()
    }

    /// May the path become so long? If not, that is remembered.
    pub fn is_within_depth(&mut self, path: usize) -> bool {
        let deep = self.limits.depth.is_some_and(|most| path as u64 > most);
        self.cut_by_depth |= deep;
        !deep
    }

    pub fn has_dead_ends(&self) -> bool {
        self.has_dead_ends
    }

    pub fn cut_by_depth(&self) -> bool {
        self.cut_by_depth
    }

    pub fn store_bytes(&self) -> u64 {
        self.store.bytes() + self.watched.bytes()
    }

    pub fn most_search_bytes(&self) -> u64 {
        self.most_search_bytes
    }

    pub fn stats(&self) -> Stats {
        Stats { time: self.started.elapsed(), ..self.stats.clone() }
    }

    pub fn trouble(&self) -> Option<Unsupported> {
        self.watched.trouble()
    }
}
