//! The search bucket by bucket: everything of one cost, preemptions and steps, before anything that costs more; by all threads,
//! over packed keys.
//!
//! **What it computes.** The same as the search in order of cost ([`super::by_cost`]), which says why it is right: states and
//! transitions, and the least cost of a violation, steps included. It does not know the way there; the search in order of cost
//! is asked for that, up to this cost. It is for what the search level by level ([`super::by_level`]) cannot do, since that one does
//! not know how many steps a run has: where steps are charged, or limited, or where states are not kept and may be mistaken for
//! others. Where nothing but steps is charged, or nobody asks for levels, everybody is expanded in a state at once.
//!
//! **What is different.** While a bucket is worked on, nothing of what it meets is known yet: arrivals that may be new are
//! *candidates*, which are looked up when it is done ([`met`]). So a process counts as having gone on in a state only if
//! it did so at a cost as low, and nothing depends on the order within a bucket or on how many threads there are.
//! A bucket has two parts: first who was running goes on; then, in states in which he could not, and in
//! those that wait for it, everybody else.
//!
//! * [`plan`]: what was asked for; [`worker`]: one thread; [`landing`]: the end of a bucket; [`met`]: what is known of states: in a table ([`tabled`]) or in bits of an array ([`bit_array`]).

pub mod bit_array;
mod landing;
mod merge;
pub mod met;
mod plan;
pub mod tabled;
mod worker;

pub use plan::Plan;

use super::SearchOptions;
use super::by_level::{Ended, Searched};
use super::cost_model::CostModel;
use super::keys::DONE;
use super::keys::arrival::Deferred;
use super::keys::chosen::Asking;
use super::keys::feed::Feed;
use super::keys::how::How;
use super::keys::quota::{LEAST_NEW, Quota, most_new};
use super::keys::waiting::{Waiting, Who};
use super::statistics::Statistics;
use crate::budget::SearchBudget;
use crate::crew::Crew;
use crate::store::packed::{Full, PackedStore};
use crate::successors::Expander;
use met::Met;
use preempt_core::{Memory, Progress, Snapshot, StopReason};
use preempt_model::search::RunCost;
use std::collections::BTreeMap;
use worker::{Candidate, Worker};

/// A bucket with fewer states than this is not worth a thread.
const WORTH_SHARING: u64 = 1 << 9;
/// And with fewer states than this altogether it is not worth finding out what steps depend on.
const WORTH_REMEMBERING: u64 = 1 << 12;
/// After so many it is known whether the strong reduction helps.
const WORTH_KNOWING: u64 = 1 << 14;

/// How often, in rounds, the clock, the memory and the observer of the search are looked at.
const LOOK_EVERY: u32 = 8;

/// Everything of one cost.
struct Bucket<I> {
    /// Whoever was running goes on, or everybody where it does not matter who was.
    going_on: Waiting,
    others: Waiting,
    /// Met after several steps, and not looked up yet, as it was met.
    far: Vec<Vec<Candidate<I>>>,
}

impl<I> Default for Bucket<I> {
    fn default() -> Bucket<I> {
        Bucket { going_on: Waiting::default(), others: Waiting::default(), far: Vec::new() }
    }
}

/// Searches with as many threads as there are systems.
pub struct ByBucket<'s, S, M: Met> {
    workers: Vec<Worker<'s, S, M::Id>>,
    crew: Crew,
    store: PackedStore,
    met: M,
    feed: Feed,
    plan: Plan,
    options: &'s SearchOptions,
    cost_model: CostModel,
    /// Of the bucket that is being worked on.
    at: RunCost,
    /// At this level, by steps, and others at the next one.
    buckets: BTreeMap<u64, Bucket<M::Id>>,
    later: BTreeMap<u64, Waiting>,
    /// The least cost of a violation.
    found: Option<RunCost>,
    cut_by_depth: bool,
    statistics: Statistics,
    /// When the depth was looked at the last time.
    known_states: u64,
    most_waiting_bytes: u64,
    worth_sharing: u64,
    worth_remembering: u64,
    worth_knowing: u64,
}

/// Why a search ends early.
enum Early {
    Full,
    Stopped(StopReason),
}

impl From<Full> for Early {
    fn from(_: Full) -> Early {
        Early::Full
    }
}

impl<'s, S: Expander + Send, M: Met> ByBucket<'s, S, M> {
    pub fn new(
        systems: impl Iterator<Item = &'s mut S>,
        options: &'s SearchOptions,
        plan: Plan,
        met: M,
        store: PackedStore,
        budget: &SearchBudget,
    ) -> ByBucket<'s, S, M> {
        let mut workers: Vec<_> = systems.map(|system| Worker::new(system, plan, &budget.shared)).collect();
        let judges = workers.iter().any(|worker| worker.steps.system.judges_states());
        workers.iter_mut().for_each(|worker| worker.plan.judges = judges);
        if plan.persistent {
            Asking::begin(workers.iter_mut().map(|worker| &mut worker.steps.asking));
        }
        ByBucket {
            crew: Crew::new(workers.len()),
            workers,
            store,
            met,
            feed: Feed::default(),
            plan,
            options,
            cost_model: CostModel::new(options.cost),
            at: RunCost { preemptions: 0, steps: 0 },
            buckets: BTreeMap::new(),
            later: BTreeMap::new(),
            found: None,
            cut_by_depth: false,
            statistics: Statistics::default(),
            known_states: 0,
            most_waiting_bytes: 0,
            worth_sharing: WORTH_SHARING.min(options.in_order_first),
            worth_remembering: WORTH_REMEMBERING.min(options.in_order_first),
            worth_knowing: WORTH_KNOWING.min(options.in_order_first),
        }
    }

    /// Everything within the bound, or less if there is a violation and the search is for one.
    pub fn run(mut self, budget: &mut SearchBudget, progress: &mut dyn Progress) -> Searched {
        budget.look_every(LOOK_EVERY);
        let ended = match self.search(budget, progress) {
            Ok(ended) => ended,
            Err(Early::Full) => Ended::Stopped(StopReason::Memory),
            Err(Early::Stopped(reason)) => Ended::Stopped(reason),
        };
        // What was found without a budget counts for nothing.
        let ended = budget.stopped().map_or(ended, Ended::Stopped);
        let systems = self.workers.iter().map(|it| it.steps.system.bytes()).sum::<u64>();
        let store = self.store.bytes() + self.met.bytes() + systems;
        let memory = Memory { store, frontier: self.most_waiting_bytes, parents: 0 };
        let (cut_by_depth, reach) = (self.cut_by_depth, self.met.reach());
        Searched { ended, statistics: self.statistics, memory, reach, cut_by_depth }
    }

    /// Bucket after bucket, until everything was done or the cheapest violation is known.
    fn search(&mut self, budget: &mut SearchBudget, progress: &mut dyn Progress) -> Result<Ended, Early> {
        let initial = self.workers[0].steps.system.initial();
        let initial = initial.into_iter().map(|state| Deferred { state, how: How::INITIAL });
        self.workers[0].steps.deferred = initial.collect();
        self.met.make_room(&mut self.store, LEAST_NEW, 0, &mut self.crew)?;
        self.land_at(self.at)?;
        loop {
            while let Some(steps) = self.buckets.keys().next().copied() {
                self.at.steps = steps;
                if self.is_decided() {
                    break;
                }
                self.bucket(budget, progress)?;
            }
            if let Some(found) = self.found.filter(|_| self.plan.stops_at_violation) {
                return Ok(Ended::Violated(RunCost { steps: found.steps + 1, ..found }));
            }
            if self.later.is_empty() {
                return Ok(Ended::Whole);
            }
            self.at = RunCost { preemptions: self.at.preemptions + 1, steps: 0 };
            let of_level = std::mem::take(&mut self.later);
            let with_others = |(steps, others)| (steps, Bucket { others, ..Bucket::default() });
            self.buckets = of_level.into_iter().map(with_others).collect();
        }
    }

    /// Is there a violation that costs no more than what is left?
    fn is_decided(&self) -> bool {
        self.plan.stops_at_violation && self.found.is_some_and(|found| found <= self.at)
    }

    /// Is the cost within the bound, and less than what is known?
    fn is_within(&self, cost: RunCost) -> bool {
        self.options.cheaper_than.is_none_or(|known| cost < known)
            && self.cost_model.is_within(cost, self.options.bound)
    }

    fn is_deep(&self, cost: RunCost) -> bool {
        self.options.limits.depth.is_some_and(|most| cost.steps > most)
    }

    /// Everything at one cost.
    fn bucket(&mut self, budget: &mut SearchBudget, progress: &mut dyn Progress) -> Result<(), Early> {
        let far = self.buckets.get_mut(&self.at.steps).map(|bucket| std::mem::take(&mut bucket.far));
        if let Some(far) = far.filter(|far| !far.is_empty()) {
            self.make_candidates(far);
            self.land_at(self.at)?;
        }
        let Bucket { going_on, mut others, .. } = self.buckets.remove(&self.at.steps).unwrap_or_default();
        let next = RunCost { steps: self.at.steps + 1, ..self.at };
        self.aim_at(next);
        self.expand(going_on, budget, progress)?;
        if self.plan.charges_forced {
            self.switch_for_a_price()?;
        }
        for worker in &mut self.workers {
            others.append(std::mem::take(&mut worker.forced));
        }
        if others.states() > 0 {
            let others = self.each_once(others);
            self.expand(others, budget, progress)?;
        }
        let nearest = self.workers.iter_mut().filter_map(|worker| worker.steps.nearest.take()).min();
        if let Some(steps) = nearest {
            self.found_at(RunCost { steps: self.at.steps + u64::from(steps), ..self.at });
        }
        self.land_at(next)?;
        self.poll(budget, progress)
    }

    fn found_at(&mut self, cost: RunCost) {
        if self.is_within(cost) {
            match self.is_deep(cost) {
                true => self.cut_by_depth = true,
                false => self.found = Some(self.found.map_or(cost, |known| known.min(cost))),
            }
        }
    }

    /// Shared out among the workers.
    fn make_candidates(&mut self, some: Vec<Vec<Candidate<M::Id>>>) {
        for some in some {
            let least = self.workers.iter_mut().min_by_key(|worker| worker.candidates.len());
            if let Some(worker) = least {
                worker.take_up(some);
            }
        }
    }

    /// Expands what waits.
    fn expand(
        &mut self,
        waiting: Waiting,
        budget: &mut SearchBudget,
        progress: &mut dyn Progress,
    ) -> Result<(), Early> {
        let states = self.statistics.stats.states;
        if states >= self.worth_knowing {
            Asking::decide(self.workers.iter_mut().map(|worker| &mut worker.steps.asking));
        }
        let threads = self.threads_for(waiting.states());
        for worker in &mut self.workers {
            worker.steps.remembers = states >= self.worth_remembering;
        }
        self.feed.get_mut().append(waiting);
        while self.feed.get_mut().states() > 0 {
            self.met.set_shared(&mut self.store, threads > 1);
            let most_new = self.most_new();
            let quota = &Quota::new(most_new, threads);
            self.feed.begin(threads);
            let (store, met, feed) = (&self.store, &self.met, &self.feed);
            match threads {
                1 => self.workers[0].round(store, met, feed, quota),
                _ => self.crew.each(self.workers.iter_mut().take(threads), |worker| {
                    worker.round(store, met, feed, quota);
                }),
            }
            self.take_in_deferred()?;
            let processes = self.most_processes();
            self.met.make_room(&mut self.store, most_new, processes, &mut self.crew)?;
            if self.feed.get_mut().states() > 0 {
                self.poll(budget, progress)?;
            }
        }
        if let Some(reason) = budget.stopped() {
            return Err(Early::Stopped(reason));
        }
        Ok(())
    }

    /// So many threads are worth it for so much.
    fn threads_for(&mut self, count: u64) -> usize {
        let is_open = self.workers[0].steps.asking.is_open();
        let is_shared = self.workers.len() > 1 && count >= self.worth_sharing && !is_open;
        if is_shared { self.crew.begin() } else { 1 }
    }

    fn each_once(&mut self, others: Waiting) -> Waiting {
        let threads = self.threads_for(others.states());
        self.met.each_once(&self.store, &mut self.workers, others, (threads, &mut self.crew))
    }

    /// How many states may be new in the next round.
    fn most_new(&self) -> u64 {
        most_new(self.statistics.stats.states, &self.options.limits)
    }

    fn most_processes(&self) -> usize {
        self.workers.iter().map(|worker| worker.most_processes).max().unwrap_or(0)
    }

    /// Who ran cannot go on, and that costs something: nobody can move, or the others wait for the next level.
    fn switch_for_a_price(&mut self) -> Result<(), Early> {
        let (mut stuck, mut waiting) = (Waiting::default(), Vec::new());
        for worker in &mut self.workers {
            for key in worker.stuck.drain(..) {
                stuck.push(&self.store.encoding, &key, Who::Others { blocked: true });
            }
            waiting.append(&mut worker.gave_way);
        }
        let stuck = self.each_once(stuck);
        let (store, met, worker) = (&self.store, &self.met, &mut self.workers[0]);
        stuck.each(store, |key, _| {
            let (id, processes) =
                (met.id(&mut worker.steps, store, &key), worker.steps.processes_of(store, &key));
            if met.take_all(store, &id, &key, processes).flags() & DONE == 0 {
                worker.steps.dead_end_at(store, &key);
            }
        });
        if waiting.is_empty() {
            return Ok(());
        }
        // As if somebody had arrived there now who is not there any more.
        let met_in_bucket: Vec<_> =
            self.workers.iter_mut().map(|worker| std::mem::take(&mut worker.candidates)).collect();
        let far: Vec<Vec<_>> = self.workers.iter_mut().map(|worker| worker.take_far().collect()).collect();
        let (store, met, worker) = (&self.store, &self.met, &mut self.workers[0]);
        let waiting = waiting.into_iter().map(|key| {
            let id = met.id(&mut worker.steps, store, &key);
            Candidate { key, how: How::GAVE_WAY, id }
        });
        let waiting: Vec<_> = waiting.collect();
        let share = waiting.len().div_ceil(self.workers.len());
        self.make_candidates(waiting.chunks(share).map(<[_]>::to_vec).collect());
        self.land_at(self.at)?;
        for ((worker, candidates), far) in self.workers.iter_mut().zip(met_in_bucket).zip(far) {
            worker.candidates = candidates;
            far.into_iter().flatten().for_each(|candidate| worker.keep_far(candidate));
        }
        Ok(())
    }

    fn poll(&mut self, budget: &mut SearchBudget, progress: &mut dyn Progress) -> Result<(), Early> {
        let (stats, at) = (&self.statistics.stats, self.at);
        let (feed, workers) = (&mut self.feed, &self.workers);
        let (buckets, later, store, met) = (&self.buckets, &self.later, &self.store, &self.met);
        let most = &mut self.most_waiting_bytes;
        let stopped = budget.poll(stats.states, progress, || {
            let in_buckets = buckets.values().map(|bucket| {
                let states = bucket.going_on.states() + bucket.others.states();
                let far = bucket.far.iter().map(Vec::capacity).sum::<usize>() * size_of::<Candidate<M::Id>>();
                (states, bucket.going_on.bytes() + bucket.others.bytes() + far as u64)
            });
            let at_next_level = later.values().map(|waiting| (waiting.states(), waiting.bytes()));
            let waiting =
                in_buckets.chain(at_next_level).fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
            let feed = feed.get_mut();
            let of_workers = workers.iter().map(Worker::memory).sum::<u64>();
            let beside = waiting.1 + feed.bytes() + of_workers;
            *most = (*most).max(beside);
            let systems = workers.iter().map(|worker| worker.steps.system.bytes()).sum::<u64>();
            Snapshot {
                states: stats.states,
                transitions: stats.transitions,
                frontier: waiting.0 + feed.states(),
                depth: at.steps,
                level: at.preemptions,
                bytes: store.bytes() + met.bytes() + beside + systems,
            }
        });
        stopped.map_or(Ok(()), |reason| Err(Early::Stopped(reason)))
    }
}
