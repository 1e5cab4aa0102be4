//! Steps of the product that other threads compute before the search on it comes there.
//!
//! The algorithms on the graph go on in one thread, so that which run they find, and what they count, does not depend on the
//! threads. What takes half of their time is [`Observed::add_steps_from`], which depends on the state alone: where it is known
//! which states are come to next, somebody else can compute it ([`Pool`]); to number what was found is left to the search. That is
//! known in the order of cost ([`super::cheapest_lasso`]), and where [`super::components`] looks at a component once more, but
//! not along the path of a depth-first search.

use super::product_graph::ProductGraph;
use crate::observed::{Observed, StepTo, Steps};
use crate::pool::{Pool, Ticket};
use crate::store::StateNumber;
use crate::successors::Successors;
use preempt_core::Budget;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// States of a job: the steps from one take a microsecond or two.
const STATES: usize = 32;

/// So many jobs are kept, with their answers; the oldest are forgotten.
const MOST_JOBS: u64 = 1 << 12;

/// What is to be computed of a state.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// Without the steps that the reduction leaves out.
    pub reduces: bool,
    /// Is the state a violation in itself?
    pub judges: bool,
    /// Who may be left for free?
    pub costs: bool,
    pub fair_switch: bool,
}

/// What follows some states, one after the other.
#[derive(Debug, Default)]
pub struct Computed {
    steps: Steps,
    free: Vec<u8>,
    /// Where the steps of each state end.
    states: Vec<Ends>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Ends {
    arrivals: usize,
    resting: usize,
    free: usize,
    is_violation: bool,
    has_dead_ends: bool,
}

/// What follows one of them.
#[derive(Debug, Clone, Copy)]
pub struct Following<'a> {
    steps: &'a Steps,
    pub arrivals: &'a [StepTo],
    /// The processes that cannot move.
    pub resting: &'a [u8],
    /// Those who may be left for free, if that was wanted.
    pub free: &'a [u8],
    pub is_violation: bool,
    /// Some step has no end: it fails, or goes round in an atomic sequence for ever.
    pub has_dead_ends: bool,
}

impl<'a> Following<'a> {
    /// Where a step leads to.
    pub fn state(&self, step: &StepTo) -> &'a [u8] {
        self.steps.state(step)
    }
}

impl Computed {
    pub fn clear(&mut self) {
        self.steps.clear();
        self.free.clear();
        self.states.clear();
    }

    /// Adds a state.
    pub fn add(&mut self, system: &mut Observed<'_>, budget: &Budget, state: &[u8], wanted: Wanted) {
        let is_violation = wanted.judges && system.state_violation(state).is_some();
        if !is_violation {
            let resting = self.steps.resting.len();
            system.add_steps_from(state, wanted.reduces, &mut self.steps);
            if wanted.costs {
                let (resting, count) = (&self.steps.resting[resting..], system.process_count(state) as u8);
                // Who only fails, or goes round in an atomic sequence for ever, rests without being unable to move.
                let mut is_free = |process: &u8| {
                    let at = usize::from(*process);
                    resting.contains(process) && !system.could_move(state, at)
                        || wanted.fair_switch && system.spins(budget, state, at)
                };
                self.free.extend((0..count).filter(|process| is_free(process)));
            }
        }
        self.states.push(Ends {
            arrivals: self.steps.arrivals.len(),
            resting: self.steps.resting.len(),
            free: self.free.len(),
            is_violation,
            has_dead_ends: std::mem::take(&mut self.steps.has_dead_ends),
        });
    }

    /// What follows the state with this number.
    pub fn of(&self, number: usize) -> Following<'_> {
        let before = number.checked_sub(1).map_or(Ends::default(), |before| self.states[before]);
        let ends = self.states[number];
        Following {
            steps: &self.steps,
            arrivals: &self.steps.arrivals[before.arrivals..ends.arrivals],
            resting: &self.steps.resting[before.resting..ends.resting],
            free: &self.free[before.free..ends.free],
            is_violation: ends.is_violation,
            has_dead_ends: ends.has_dead_ends,
        }
    }
}

/// Some states, one after the other.
#[derive(Debug, Default)]
struct Job {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// What follows each of them; nothing if that could not be computed.
type Answer = Option<Computed>;

/// The search's side.
pub struct Ahead {
    pool: Arc<Pool<Job, Answer>>,
    wanted: Wanted,
    collected: Job,
    next_ticket: Ticket,
    /// By the states' numbers: 0, or one more than the job that it is in and its place there.
    asked: Vec<u32>,
    /// Answers that were taken, and how many of their states were not come to yet.
    known: HashMap<Ticket, (Rc<Computed>, usize), foldhash::fast::FixedState>,
}

/// Runs a search on the graph by so many threads together; with `costs` one in the order of cost.
pub fn with_threads<'a, 'm, R>(
    graph: &mut ProductGraph<'a, 'm>,
    threads: usize,
    costs: bool,
    run: impl FnOnce(&mut ProductGraph<'a, 'm>) -> R,
) -> R {
    let systems: Vec<Observed<'m>> = (1..threads).filter_map(|_| graph.observed().another()).collect();
    if systems.is_empty() {
        return run(graph);
    }
    let wanted = Wanted { costs, ..graph.wanted() };
    let help = |mut system: Observed<'m>| {
        move |job: Job, budget: &Budget| {
            system.work_within(budget);
            job.compute(&mut system, budget, wanted)
        }
    };
    let helpers = systems.into_iter().map(help).collect();
    let pool = Arc::new(Pool::new());
    pool.work_within(graph.budget());
    graph.ahead = Some(Ahead {
        pool: Arc::clone(&pool),
        wanted,
        collected: Job::default(),
        next_ticket: 0,
        asked: Vec::new(),
        known: HashMap::default(),
    });
    let result = pool.with_helpers(helpers, |_| run(graph));
    graph.ahead = None;
    result
}

impl Job {
    fn compute(&self, system: &mut Observed<'_>, budget: &Budget, wanted: Wanted) -> Answer {
        let (mut computed, mut start) = (Computed::default(), 0);
        for end in &self.ends {
            computed.add(system, budget, &self.bytes[start..*end], wanted);
            start = *end;
        }
        system.error().is_none().then_some(computed)
    }
}

impl Ahead {
    /// Is the search in the order of cost? Then it asks who may be left for free, and comes to whatever it meets.
    pub fn is_in_order(&self) -> bool {
        self.wanted.costs
    }

    /// The search will come to this state.
    pub fn announce(&mut self, number: StateNumber, state: &[u8]) {
        let place = self.next_ticket * STATES as u64 + self.collected.ends.len() as u64;
        let Ok(place) = u32::try_from(place + 1) else { return };
        if self.asked.len() <= number as usize {
            self.asked.resize(number as usize + 1, 0);
        }
        self.asked[number as usize] = place;
        self.collected.bytes.extend_from_slice(state);
        self.collected.ends.push(self.collected.bytes.len());
        if self.collected.ends.len() == STATES {
            let next = Job { bytes: Vec::with_capacity(self.collected.bytes.len()), ends: Vec::new() };
            self.pool.give(self.next_ticket, std::mem::replace(&mut self.collected, next));
            self.next_ticket += 1;
            if let Some(oldest) = self.next_ticket.checked_sub(MOST_JOBS) {
                self.pool.forget(oldest);
                self.known.remove(&oldest);
            }
        }
    }

    /// What follows the state, if somebody has computed it, or nobody has begun to and it is needed soon with its neighbours: and
    /// its place in that.
    pub fn answer(
        &mut self,
        number: StateNumber,
        system: &mut Observed<'_>,
        budget: &Budget,
    ) -> Option<(Rc<Computed>, usize)> {
        let place = std::mem::take(self.asked.get_mut(number as usize)?).checked_sub(1)?;
        let (ticket, place) = (Ticket::from(place) / STATES as u64, place as usize % STATES);
        if !self.known.contains_key(&ticket) {
            let wanted = self.wanted;
            let answer = self.pool.take_or_help(ticket, &mut |job| job.compute(system, budget, wanted));
            self.known.insert(ticket, (Rc::new(answer??), STATES));
        }
        let (computed, left) = self.known.get_mut(&ticket)?;
        let computed = Rc::clone(computed);
        *left -= 1;
        if *left == 0 {
            self.known.remove(&ticket);
        }
        Some((computed, place))
    }

    pub fn bytes(&self) -> u64 {
        (self.asked.capacity() * size_of::<u32>()) as u64
    }
}
