//! The search level by level: which states can be reached with so many preemptions, and is one of them a violation?
//!
//! **What it computes.** The same numbers as the search in order of cost ([`super::by_cost`]): the states and transitions
//! within each number of preemptions, and the least number with which a violation can be reached. It does not know the
//! fewest steps, nor the way: if there is a violation, the search in order of cost is asked for it, bounded to its level.
//! Where nobody asks for levels, it is a plain search of the state space.
//!
//! **Why it is right.** As there, each process is expanded in each state once, at its lowest level: an arrival with `p`
//! running has `p` expanded at the same level and everybody else at the next one, and if `p` cannot move, everybody at
//! once (at the next level where forced switches are charged, too). A level is finished before the next begins, so the
//! first expansion of a process in a state is at its lowest level
//! whatever the order within; and that order is free, since steps are not counted. So it is *newest first*: a state is
//! expanded while it is still in the cache, as it was computed, and nothing is taken out of the store for it. Whoever
//! waits for the next level waits as a packed key.
//!
//! **What it costs.** A key and a bit for each process for each state ([`PackedStore`]); what waits. Every transition is
//! executed once.
//!
//! **Several threads** share the store. They work in rounds, in which who has nothing left is given half of what another one has
//! ([`super::keys::feed`]); between two rounds one of them makes room in the store. All numbers are sums over expansions, each of which happens once at its level, so they do not
//! depend on who makes it.
//!
//! One thread's part is a [`worker`]; [`super::keys`] has what it shares with other searches.

mod worker;

use super::keys::arrival::Deferred;
use super::keys::chosen::Asking;
use super::keys::feed::Feed;
use super::keys::how::How;
use super::keys::quota::{Quota, most_new};
use super::keys::waiting::Waiting;
use super::statistics::Statistics;
use super::{Goal, SearchOptions};
use crate::budget::SearchBudget;
use crate::crew::Crew;
use crate::pool::was_helped;
use crate::reduction::Reduction;
use crate::store::known::Reach;
use crate::store::packed::{Full, Keeps, PackedStore};
use crate::successors::Expander;
use preempt_core::{Cost, Memory, Progress, Snapshot, StopReason};
use preempt_model::search::RunCost;
use std::sync::Arc;
use worker::Worker;

/// Fewer states than this are not worth a thread.
const WORTH_SHARING: u64 = 1 << 14;

/// And these not worth finding out what their steps depend on.
const WORTH_REMEMBERING: u64 = 1 << 12;

/// A batch may bring more than the round should.
const SLACK: u64 = 1 << 9;

/// So often room is made for what did not fit.
const MOST_ATTEMPTS: u32 = 10;

/// What is searched, as far as the workers must know it.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Are states found at their levels, or in any order?
    levels: bool,
    /// In any order: are the processes left out that the strong reduction need not try?
    persistent: bool,
    reduces: bool,
    fair_switch: bool,
    judges: bool,
    stops_at_violation: bool,
    /// A switch from somebody who cannot go on costs as much as any other.
    charges_forced: bool,
}

impl Plan {
    /// What the options ask for, in order of cost.
    pub fn of(options: &SearchOptions, goal: Goal) -> Plan {
        Plan {
            levels: options.levels || options.bound.is_some() || goal != Goal::Count,
            persistent: false,
            reduces: options.reduction == Reduction::Exact && goal == Goal::First,
            fair_switch: options.fair_switch,
            judges: false,
            stops_at_violation: goal != Goal::Count,
            charges_forced: options.cost == Cost::Switches,
        }
    }

    /// Is anything violated at all?
    pub fn unordered(reduction: Reduction, goal: Goal) -> Plan {
        Plan {
            // What the exact reduction leaves out depends on who runs.
            levels: reduction == Reduction::Exact,
            persistent: reduction == Reduction::Strong,
            reduces: reduction == Reduction::Exact,
            fair_switch: false,
            judges: false,
            stops_at_violation: goal != Goal::Count,
            charges_forced: false,
        }
    }
}

/// What came of it.
pub struct Searched {
    pub ended: Ended,
    pub statistics: Statistics,
    pub memory: Memory,
    /// Was anything mistaken for what it is not?
    pub reach: Reach,
    /// Does anything lie beyond the greatest depth?
    pub cut_by_depth: bool,
}

impl Searched {
    /// It could not even begin.
    pub fn nothing(why: StopReason) -> Searched {
        let (statistics, memory) = (Statistics::default(), Memory::default());
        Searched { ended: Ended::Stopped(why), statistics, memory, reach: Reach::Whole, cut_by_depth: false }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Everything within the bound was done, violations counted.
    Whole,
    /// There is a violation that costs less than this, and none at a lower level.
    Violated(RunCost),
    Stopped(StopReason),
}

/// Searches with as many threads as there are systems.
pub struct ByLevel<'s, S> {
    workers: Vec<Worker<'s, S>>,
    crew: Crew,
    store: PackedStore,
    feed: Feed,
    plan: Plan,
    level: u32,
    statistics: Statistics,
    most_waiting_bytes: u64,
    /// From so many states on, several threads work, and steps are remembered.
    worth_sharing: u64,
    worth_remembering: u64,
}

/// Can this be searched level by level? If not, only the search in order of cost does it.
pub fn is_for(options: &SearchOptions) -> bool {
    options.cost != Cost::Steps && options.limits.depth.is_none()
}

impl<'s, S: Expander + Send> ByLevel<'s, S> {
    pub fn new(
        systems: impl Iterator<Item = &'s mut S>,
        options: &SearchOptions,
        plan: Plan,
        budget: &SearchBudget,
    ) -> Result<ByLevel<'s, S>, Full> {
        let mut workers: Vec<_> = systems.map(|system| Worker::new(system, plan, &budget.shared)).collect();
        let judges = workers.iter_mut().any(|worker| worker.system().judges_states());
        let plan = Plan { judges, ..plan };
        workers.iter_mut().for_each(|worker| worker.set_plan(plan));
        if plan.persistent {
            Asking::begin(workers.iter_mut().map(|worker| &mut worker.steps.asking));
        }
        Ok(ByLevel {
            crew: Crew::new(workers.len()),
            workers,
            store: PackedStore::new(if plan.levels { Keeps::Processes } else { Keeps::Nothing })?,
            feed: Feed::default(),
            plan,
            level: 0,
            statistics: Statistics::default(),
            most_waiting_bytes: 0,
            worth_sharing: WORTH_SHARING.min(options.in_order_first),
            worth_remembering: WORTH_REMEMBERING.min(options.in_order_first),
        })
    }

    /// Everything within the bound, or less if there is a violation and the search is for one.
    pub fn run(
        mut self,
        options: &SearchOptions,
        budget: &mut SearchBudget,
        progress: &mut dyn Progress,
    ) -> Searched {
        let ended = self.search(options, budget, progress).unwrap_or(Ended::Stopped(StopReason::Memory));
        // What was found without a budget counts for nothing.
        let ended = budget.stopped().map_or(ended, Ended::Stopped);
        let store = self.store.bytes() + self.workers.iter_mut().map(|it| it.system().bytes()).sum::<u64>();
        let memory = Memory { store, frontier: self.most_waiting_bytes, parents: 0 };
        Searched { ended, statistics: self.statistics, memory, reach: Reach::Whole, cut_by_depth: false }
    }

    fn search(
        &mut self,
        options: &SearchOptions,
        budget: &mut SearchBudget,
        progress: &mut dyn Progress,
    ) -> Result<Ended, Full> {
        let initial = self.workers[0].system().initial();
        let initial = initial.into_iter().map(|state| Deferred { state, how: How::INITIAL });
        self.workers[0].steps.deferred = initial.collect();
        loop {
            self.settle(options)?;
            if let Some(reason) = self.poll(budget, progress) {
                return Ok(Ended::Stopped(reason));
            }
            if self.plan.stops_at_violation && self.statistics.has_violations() {
                return Ok(Ended::Violated(RunCost { preemptions: self.level + 1, steps: 0 }));
            }
            if self.is_level_done() {
                let is_last = options.bound.is_some_and(|bound| self.level >= bound);
                let is_dearer = options.cheaper_than.is_some_and(|known| self.level >= known.preemptions);
                let mut later = Waiting::default();
                self.workers.iter_mut().for_each(|worker| later.append(std::mem::take(&mut worker.later)));
                if later.states() == 0 || is_last || is_dearer {
                    return Ok(Ended::Whole);
                }
                self.level += 1;
                self.feed.get_mut().append(later);
            }
            self.round(options);
        }
    }

    fn is_level_done(&mut self) -> bool {
        self.workers.iter().all(Worker::is_idle) && self.feed.get_mut().states() == 0
    }

    /// How many states may be new in the next round.
    fn most_new(&self, options: &SearchOptions) -> u64 {
        most_new(self.statistics.stats.states, &options.limits)
    }

    fn round(&mut self, options: &SearchOptions) {
        if self.statistics.stats.states >= self.worth_sharing {
            Asking::decide(self.workers.iter_mut().map(|worker| &mut worker.steps.asking));
        }
        let threads = if self.is_shared() { self.crew.begin() } else { 1 };
        let remembers = self.statistics.stats.states >= self.worth_remembering;
        self.workers.iter_mut().for_each(|worker| worker.steps.remembers = remembers);
        let quota = &Quota::new(self.most_new(options), threads);
        self.feed.begin(threads);
        let (store, feed) = (&self.store, &self.feed);
        if threads == 1 {
            self.workers[0].round(store, feed, quota);
            return;
        }
        self.crew.each(self.workers.iter_mut().take(threads), |worker| worker.round(store, feed, quota));
    }

    fn is_shared(&self) -> bool {
        self.workers.len() > 1 && self.statistics.stats.states >= self.worth_sharing
    }

    /// After a round: counts, makes room, and lets in whatever did not fit.
    fn settle(&mut self, options: &SearchOptions) -> Result<(), Full> {
        let threads = self.workers.len();
        for attempt in 0..MOST_ATTEMPTS {
            let mut deferred = Vec::new();
            for (number, worker) in self.workers.iter_mut().enumerate() {
                let counted = std::mem::take(&mut worker.steps.counted);
                if number > 0 {
                    was_helped(counted.states);
                }
                if counted.states + counted.transitions > 0 {
                    self.statistics.add(self.level, counted.states, counted.transitions);
                }
                for (kind, count) in counted.violations {
                    *self.statistics.stats.violations.entry(kind).or_default() += count;
                }
                self.store.table.count(&std::mem::take(&mut worker.new));
                deferred.append(&mut worker.steps.deferred);
            }
            // What did not fit finds more room each time.
            let more = (self.most_new(options) + SLACK * threads as u64) << attempt;
            self.store.make_room(more, &mut self.crew)?;
            if deferred.is_empty() {
                self.share_out();
                return Ok(());
            }
            let fits = deferred
                .iter()
                .all(|it| self.store.encode(&*self.workers[0].steps.system, &it.state).is_some());
            if !fits {
                let old = Arc::clone(&self.store.encoding);
                let mut states = deferred.iter().map(|it| &*it.state);
                // Whatever waits was met.
                self.store.widen(&*self.workers[0].steps.system, &mut states, &|_| (), &mut self.crew)?;
                self.workers.iter_mut().for_each(|worker| worker.repack(&self.store, &old));
            }
            for Deferred { state, how } in deferred {
                if !self.workers[0].arrive(&self.store, &state, how) {
                    return Err(Full);
                }
            }
        }
        Err(Full)
    }

    /// Whatever did not fit on a stack is for everybody.
    fn share_out(&mut self) {
        self.store.table.set_shared(self.is_shared());
        for worker in &mut self.workers {
            let spilled = std::mem::take(&mut worker.spilled);
            self.feed.get_mut().append(spilled);
        }
    }

    fn poll(&mut self, budget: &mut SearchBudget, progress: &mut dyn Progress) -> Option<StopReason> {
        let waiting = self.workers.iter().map(Worker::waiting).sum::<u64>() + self.feed.get_mut().states();
        let beside: u64 = self.workers.iter().map(Worker::memory).sum::<u64>() + self.feed.get_mut().bytes();
        self.most_waiting_bytes = self.most_waiting_bytes.max(beside);
        let systems: u64 = self.workers.iter_mut().map(|worker| worker.system().bytes()).sum();
        let (stats, level) = (&self.statistics.stats, self.level);
        let bytes = self.store.bytes() + beside + systems;
        budget.poll(stats.states, progress, || Snapshot {
            states: stats.states,
            transitions: stats.transitions,
            frontier: waiting,
            depth: 0,
            level,
            bytes,
        })
    }
}
