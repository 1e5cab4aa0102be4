//! Depth-first search: one path at a time. It needs little memory beside what it knows of the states it visited, and finds
//! *a* violation, not the simplest.
//!
//! There is one search for every store and every revisit rule:
//!
//! | | when is a state visited again? | what is kept |
//! |---|---|---|
//! | Fig. 1, plain | never | exact, fingerprints, bits |
//! | Fig. 2, naive bound | never, and only within the bound | exact, fingerprints, bits |
//! | Fig. 3 | with fewer preemptions, or by another process | exact; bits with replicated storage |
//! | Fig. 5 | the same, with ample sets | exact |
//!
//! The figures are those of Holzmann and Florian (2011, paper 000; [`super::holzmann_florian`]). The rule belongs to the
//! store ([`PathStore`]); how much is tried from a visit, and in which order, is the [`Policy`].
//!
//! Processes are expanded one after the other ([`lazy`]); the published searches with the exact store expand everybody at once
//! ([`eager`]). [`outcome`] has violations, and the end.
//!
//! **With the strong reduction** some processes are left out ([`crate::reduction::strong`]). They are tried after all if every
//! step of the others closes a cycle on the path: else they could be put off for ever. It is enough that one step does not:
//! the state that it leads to is finished before this one is. Where that never helps, it is soon asked no more ([`asking`]).

mod asking;
mod eager;
mod exact;
mod hashed;
mod lazy;
mod outcome;
mod path_store;

use asking::Asking;
pub use exact::ExactPathStore;
pub use hashed::{HashedPathStore, HashedRule};
pub use path_store::{Admission, PathStore};

use super::holzmann_florian::{Figure, Published, Visit};
use super::statistics::Statistics;
use super::{Counterexample, Goal, SearchOptions, TryOrder};
use crate::budget::SearchBudget;
use crate::reduction::Reduction;
use crate::replay::{Ending, NOBODY, StatePath};
use crate::successors::Replayable;
use preempt_core::{Progress, PropertyKind, Rng, Snapshot, StopReason};
use preempt_model::search::RunCost;

/// What is tried from a state, and in which order.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Most preemptions of a run. They are counted only where there is one.
    pub bound: Option<u32>,
    pub reduction: Reduction,
    pub processes: TryOrder,
    pub transitions: TryOrder,
    /// Of the order, where that is left to chance.
    pub seed: u64,
    /// Which of the published searches it is, if it is one.
    pub published: Option<Published>,
    /// Is every process of a state expanded at once?
    pub eager: bool,
}

impl Policy {
    /// Does it go on after an error, with runs that are shorter?
    fn shortens(&self) -> bool {
        self.published.is_some_and(|published| published.shortening)
    }

    /// What is missed within a bound, where each state is visited only once: Fig. 6 shows how.
    fn misses(&self) -> Option<StopReason> {
        let visits_once = self.published.is_none_or(|published| published.figure == Figure::NaiveBounded);
        (visits_once && self.bound.is_some()).then_some(StopReason::Partial)
    }
}

/// How often, in steps, the clock, the memory and the observer of the search are looked at.
const LOOK_EVERY: u32 = 256;

pub struct DepthFirst<'a, S: ?Sized, P: PathStore> {
    system: &'a mut S,
    store: P,
    policy: Policy,
    options: &'a SearchOptions,
    goal: Goal,
    rng: Rng,
    asking: Asking,
    statistics: Statistics,
    budget: SearchBudget,
    judges: bool,
    /// Three stacks: the states on the path, and the successors and the processes of each that were not tried yet.
    path: Vec<Frame<P::State>>,
    arrivals: Vec<Arrival<P::State>>,
    todo: Vec<u8>,
    most_bytes: u64,
    /// No run may be longer.
    longest: u64,
    /// With iterative shortening: the shortest run found so far.
    shortest: Option<(StatePath, Counterexample)>,
    /// Every visit, where that is asked for. Errors are passed over then.
    visits: Option<Vec<(P::State, Visit)>>,
    /// What one expansion has met: where each state lies, its length, who runs in it, and after how many steps.
    successors: Vec<(usize, usize, u8, u32)>,
    bytes: Vec<u8>,
    kinds: Vec<PropertyKind>,
}

/// A state on the path.
struct Frame<H> {
    state: H,
    visit: Visit,
    steps: u64,
    /// The process that made the step after it, or was expanded last.
    process: u8,
    moved: bool,
    /// Could the process that was running go on?
    last_moved: bool,
    /// The exact reduction lets the running process go on alone, if it can move.
    runs_alone: bool,
    was_on_path: bool,
    /// Those whom the strong reduction leaves out; and does a step lead away from the path? If none does, they are tried.
    left_out: Box<[u8]>,
    leaves_path: bool,
    /// The first of its arrivals, and of its processes.
    first_arrival: usize,
    first_todo: usize,
}

/// A successor of a state on the path.
struct Arrival<H> {
    state: H,
    process: u8,
    visit: Visit,
    steps: u32,
}

enum Ended {
    Stopped(StopReason),
    Violated(Ending),
}

impl<'a, S: Replayable + ?Sized, P: PathStore> DepthFirst<'a, S, P> {
    pub fn new(system: &'a mut S, store: P, policy: Policy, options: &'a SearchOptions, goal: Goal) -> Self {
        DepthFirst {
            judges: system.judges_states(),
            system,
            store,
            options,
            goal,
            rng: Rng::new(policy.seed),
            asking: Asking::default(),
            policy,
            statistics: Statistics::default(),
            budget: SearchBudget::new(options.limits, LOOK_EVERY),
            path: Vec::new(),
            arrivals: Vec::new(),
            todo: Vec::new(),
            most_bytes: 0,
            longest: options.limits.depth.unwrap_or(u64::MAX),
            shortest: None,
            visits: None,
            successors: Vec::new(),
            bytes: Vec::new(),
            kinds: Vec::new(),
        }
    }

    /// From each initial state; says why it ended early, if so.
    fn search_everything(&mut self, progress: &mut dyn Progress) -> Option<Ended> {
        self.system.work_within(self.budget.begin(progress));
        for state in self.system.initial() {
            let Some(state) = self.store.keep(&*self.system, &state) else {
                return Some(Ended::Stopped(StopReason::Memory));
            };
            let visit = Visit { preemptions: 0, last: NOBODY, safe: false };
            let ended = self.visit(state, visit, 0).or_else(|| self.search(progress));
            if ended.is_some() {
                return ended;
            }
        }
        None
    }

    fn search(&mut self, progress: &mut dyn Progress) -> Option<Ended> {
        while let Some(frame) = self.path.last_mut() {
            let (steps, preemptions) = (frame.steps, frame.visit.preemptions);
            let ended = if self.arrivals.len() > frame.first_arrival {
                let Some(arrival) = self.arrivals.pop() else { continue };
                frame.process = arrival.process;
                let steps = steps + u64::from(arrival.steps);
                self.statistics.transition(RunCost { preemptions: arrival.visit.preemptions, steps });
                self.visit(arrival.state, arrival.visit, steps)
            } else if self.todo.len() > frame.first_todo {
                let Some(process) = self.todo.pop() else { continue };
                self.expand(process)
            } else if !frame.left_out.is_empty() && !frame.leaves_path {
                self.todo.extend(std::mem::take(&mut frame.left_out));
                continue;
            } else {
                self.leave()
            };
            if ended.is_some() {
                return ended;
            }
            if let Some(reason) = self.poll(RunCost { preemptions, steps }, progress) {
                return Some(Ended::Stopped(reason));
            }
        }
        None
    }

    /// Arrives in a state; if it is to be visited, it becomes the end of the path.
    fn visit(&mut self, state: P::State, visit: Visit, steps: u64) -> Option<Ended> {
        let is_beyond_bound = self.policy.bound.is_some_and(|bound| visit.preemptions > bound);
        if is_beyond_bound || !self.is_within_length(steps) {
            self.store.discard(state);
            return None;
        }
        let Admission { visits, is_new } = self.store.admit(&*self.system, state, visit, steps);
        if let Some(frame) = self.path.last_mut() {
            frame.leaves_path = frame.leaves_path || visits || !self.store.is_on_path(state);
        }
        if !visits {
            self.store.discard(state);
            return None;
        }
        match is_new {
            true => self.statistics.new_state(RunCost { preemptions: visit.preemptions, steps }),
            false => self.statistics.stats.revisits += 1,
        }
        if let Some(made) = &mut self.visits {
            made.push((state, visit));
        }
        let was_on_path = self.store.enter(state);
        self.path.push(Frame {
            state,
            visit,
            steps,
            process: NOBODY,
            moved: false,
            last_moved: false,
            runs_alone: false,
            was_on_path,
            left_out: Box::default(),
            leaves_path: false,
            first_arrival: self.arrivals.len(),
            first_todo: self.todo.len(),
        });
        if self.judges {
            let bytes = self.store.open(&*self.system, state);
            if let Some(kind) = self.system.state_violation(bytes)
                && let Some(ended) = self.violation(kind, Ending::InState)
            {
                return Some(ended);
            }
        }
        if self.policy.eager {
            return self.expand_everybody();
        }
        self.plan();
        None
    }

    /// May a run have so many steps? Where runs are shortened, most are left out for being too long, and nothing is missed.
    fn is_within_length(&mut self, steps: u64) -> bool {
        let within = steps <= self.longest;
        self.budget.cut_by_depth |= !within && self.shortest.is_none();
        within
    }

    fn poll(&mut self, cost: RunCost, progress: &mut dyn Progress) -> Option<StopReason> {
        let path_bytes = (self.path.capacity() * size_of::<Frame<P::State>>()
            + self.arrivals.capacity() * size_of::<Arrival<P::State>>()
            + self.todo.capacity()) as u64
            + self.store.path_bytes();
        self.most_bytes = self.most_bytes.max(path_bytes);
        let (store, system, stats) = (&self.store, &*self.system, &self.statistics.stats);
        let frontier = self.path.len() as u64;
        self.budget.poll(stats.states, progress, || Snapshot {
            states: stats.states,
            transitions: stats.transitions,
            frontier,
            depth: cost.steps,
            level: cost.preemptions,
            bytes: store.bytes() + system.bytes() + path_bytes,
        })
    }
}
