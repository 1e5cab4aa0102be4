//! The simplest violation, or the proof that there is none, by two searches: the one level by level ([`super::by_level`]) is
//! faster, and finds how many preemptions are needed if there is a violation; the one in order of cost
//! ([`super::by_cost`]) finds the run. What is near is looked for in order of cost at once.

use super::by_cost::ahead::with_helpers;
use super::by_cost::{ByCost, ExactStore};
use super::by_level::{self, ByLevel, Ended, Plan, Searched};
use super::report::{Findings, report};
use super::{Goal, NoCheckpoints, Order, SearchJob, SearchOptions, SearchReport, Storage, along_path};
use crate::CheckError;
use crate::budget::SearchBudget;
use crate::replay::ReplayError;
use crate::store::known::Reach;
use crate::successors::{Parallel, Successors};
use preempt_core::{Limits, Progress, StopReason, Verdict};
use preempt_model::search::RunCost;
use std::time::Instant;

impl SearchJob<'_> {
    /// As [`SearchJob::search`], for whoever can be searched level by level.
    pub fn search_by_level<S: Parallel>(self, system: &mut S) -> Result<SearchReport, CheckError> {
        let SearchJob { options, goal, .. } = self;
        if along_path::is_for(options, goal) {
            return self.search_along_path(system);
        }
        let is_in_order = (options.store, options.order) == (Storage::Exact, Order::ByCost);
        if !is_in_order || !by_level::is_for(options) || self.checkpoints.are_wanted() {
            return self.search_ahead(system);
        }
        if self.may_leave_memory() {
            return self.then_on_disk(system, |job, system| job.search_by_level(system));
        }
        let mut both = Both { system, options, goal, started: Instant::now() };
        let mut found = both.search(self.progress)?;
        found.outcome.stats.time = both.started.elapsed();
        Ok(found)
    }
}

impl SearchJob<'_> {
    /// As [`SearchJob::search`], with threads that compute successors before they are asked for where states are kept in any
    /// way in order of cost.
    fn search_ahead<S: Parallel>(self, system: &mut S) -> Result<SearchReport, CheckError> {
        let threads = if self.options.order == Order::ByCost { self.options.threads } else { 1 };
        let workers: Vec<S::Worker> = (1..threads).filter_map(|_| system.worker()).collect();
        if workers.is_empty() {
            return self.search(system);
        }
        with_helpers(workers, |ahead| SearchJob { ahead: Some(ahead), ..self }.search(system))
    }
}

struct Both<'a, S> {
    system: &'a mut S,
    options: &'a SearchOptions,
    goal: Goal,
    started: Instant,
}

impl<S: Parallel> Both<'_, S> {
    fn search(&mut self, progress: &mut dyn Progress) -> Result<SearchReport, CheckError> {
        let options = self.options;
        let first = options.in_order_first;
        let is_ordered = self.goal != Goal::Count || options.levels || options.bound.is_some();
        if is_ordered && first > 0 {
            let states = options.limits.states.map_or(first, |most| most.min(first));
            let found = self.in_order(options.cheaper_than, Some(states), progress)?;
            let is_cut = found.outcome.verdict == Verdict::Inconclusive(StopReason::States);
            if !is_cut || options.limits.states == Some(states) {
                return Ok(found);
            }
        }
        let plan = Plan::of(options, self.goal);
        let left = self.left();
        let searched = by_all(&mut *self.system, &left, plan, progress)?;
        match searched.ended {
            Ended::Violated(level) => {
                let within = by_level::up_to(level);
                let cheaper = options.cheaper_than.map_or(within, |known| known.min(within));
                // Each violation has its own cheapest run.
                let cheaper = if self.goal == Goal::All { options.cheaper_than } else { Some(cheaper) };
                let mut found = self.in_order(cheaper, options.limits.states, progress)?;
                if found.outcome.verdict == Verdict::Holds && options.cheaper_than.is_none() {
                    let lost = ReplayError::Wrong(format!("a violation with {level} preemptions"));
                    found.outcome.verdict = Verdict::Inconclusive(lost.stop_reason());
                }
                Ok(found)
            }
            // What is cheap may lie within the limit all the same.
            Ended::Stopped(StopReason::States) if self.goal != Goal::Count && !options.gives_up => {
                self.in_order(options.cheaper_than, options.limits.states, progress)
            }
            _ => Ok(reported(self.options, searched)),
        }
    }

    /// The options, with what is left of the time.
    fn left(&self) -> SearchOptions {
        left(self.options, self.started)
    }

    fn in_order(
        &mut self,
        cheaper_than: Option<RunCost>,
        states: Option<u64>,
        progress: &mut dyn Progress,
    ) -> Result<SearchReport, CheckError> {
        let left = self.left();
        let options = SearchOptions { cheaper_than, limits: Limits { states, ..left.limits }, ..left };
        // What is near is not worth a thread.
        let threads = if states == Some(options.in_order_first) { 1 } else { options.threads };
        let workers: Vec<S::Worker> = (1..threads).filter_map(|_| self.system.worker()).collect();
        let search = ByCost::new(&mut *self.system, ExactStore::new(), &options, self.goal);
        if workers.is_empty() {
            return search.run(&mut NoCheckpoints, progress);
        }
        with_helpers(workers, |ahead| search.ahead(Some(ahead)).run(&mut NoCheckpoints, progress))
    }
}

/// The options, with what is left of the time since then.
pub fn left(options: &SearchOptions, started: Instant) -> SearchOptions {
    let limits = options.limits;
    let time = limits.time.map(|most| most.saturating_sub(started.elapsed()));
    SearchOptions { limits: Limits { time, ..limits }, ..options.clone() }
}

/// A search by all threads.
pub fn by_all<S: Parallel>(
    system: &mut S,
    options: &SearchOptions,
    plan: Plan,
    progress: &mut dyn Progress,
) -> Result<Searched, CheckError> {
    let mut budget = SearchBudget::new(options.limits, 1);
    system.work_within(budget.begin(progress));
    let mut workers: Vec<S::Worker> = (0..options.threads.max(1)).filter_map(|_| system.worker()).collect();
    workers.iter_mut().for_each(|system| system.work_within(&budget.shared));
    let searched = match ByLevel::new(workers.iter_mut(), options, plan, &budget) {
        Ok(search) => search.run(options, &mut budget, progress),
        Err(_) => Searched::nothing(StopReason::Memory),
    };
    match workers.iter().find_map(|system| system.error()) {
        Some(error) => Err(error.into()),
        None => Ok(searched),
    }
}

/// Of a search that has found nothing that must be shown.
pub fn reported(options: &SearchOptions, searched: Searched) -> SearchReport {
    let Searched { ended, statistics, memory } = searched;
    let verdict = match ended {
        Ended::Stopped(reason) => Verdict::Inconclusive(reason),
        Ended::Whole | Ended::Violated(_) => Verdict::conclude(statistics.has_violations(), None),
    };
    let (stats, reach, errors) = (statistics.stats, Reach::Whole, Vec::new());
    report(options, Findings { verdict, errors, stats, memory, reach })
}
