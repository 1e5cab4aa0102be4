//! The simplest violation, or the proof that there is none, by two searches: one of all threads that knows no runs is
//! faster, and finds what the simplest violation costs if there is one: level by level ([`super::by_level`]), or, where that must
//! know of steps or states are not kept, bucket by bucket ([`super::by_bucket`]); the one in order of cost ([`super::by_cost`]) finds the
//! run. What is near is looked for in order of cost at once.

use super::by_bucket::bit_array::BitArray;
use super::by_bucket::met::Met;
use super::by_bucket::tabled::{Exact, Prints};
use super::by_bucket::{self, ByBucket};
use super::by_cost::ahead::with_helpers;
use super::by_cost::{ByCost, ExactStore};
use super::by_level::{self, ByLevel, Ended, Plan, Searched};
use super::report::{Findings, report};
use super::{
    Goal, NoCheckpoints, Order, SearchJob, SearchOptions, SearchReport, Storage, Variety, along_path,
    bit_array, bits_within,
};
use crate::CheckError;
use crate::budget::SearchBudget;
use crate::replay::ReplayError;
use crate::store::packed::{Full, PackedStore};
use crate::successors::{Parallel, Successors};
use preempt_core::{Limits, Progress, StopReason, Verdict};
use preempt_model::search::RunCost;
use std::time::Instant;

/// With so many hash functions a violation that is known to be there is looked for where states may be mistaken for others.
const SEEDS: u64 = 4;

impl SearchJob<'_> {
    /// As [`SearchJob::search`], by all threads.
    pub fn search_by_all<S: Parallel>(self, system: &mut S) -> Result<SearchReport, CheckError> {
        self.must_be_possible()?;
        let SearchJob { options, goal, .. } = self;
        if along_path::is_for(options, goal) {
            return self.search_along_path(system);
        }
        let keeps_states = options.store == Storage::Exact;
        if options.order != Order::ByCost
            || self.checkpoints.are_wanted()
            || self.variety.sketch.is_some()
            || !keeps_states && goal == Goal::All
        {
            return self.search_ahead(system);
        }
        if self.may_leave_memory() {
            return self.then_on_disk(system, |job, system| job.search_by_all(system));
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
        let left = self.left();
        let searched = match options.store {
            Storage::Exact if by_level::is_for(options) => {
                by_all(&mut *self.system, &left, Plan::of(options, self.goal), progress)?
            }
            _ => self.by_bucket(&left, progress)?,
        };
        match searched.ended {
            Ended::Violated(_) if options.store != Storage::Exact => self.among_mistaken(progress),
            Ended::Violated(within) => {
                let cheaper = options.cheaper_than.map_or(within, |known| known.min(within));
                // Each violation has its own cheapest run.
                let cheaper = if self.goal == Goal::All { options.cheaper_than } else { Some(cheaper) };
                let mut found = self.in_order(cheaper, options.limits.states, progress)?;
                if found.outcome.verdict == Verdict::Holds && options.cheaper_than.is_none() {
                    let lost = ReplayError::Wrong(format!("a violation that costs less than {within:?}"));
                    found.outcome.verdict = Verdict::Inconclusive(lost.stop_reason());
                }
                Ok(found)
            }
            // What is cheap may lie within the limit all the same.
            Ended::Stopped(StopReason::States) if self.goal != Goal::Count && !options.gives_up => {
                self.in_order(options.cheaper_than, options.limits.states, progress)
            }
            _ => Ok(reported(self.options, self.goal, searched)),
        }
    }

    /// There is a violation, but states may be mistaken for others, and then the way to it is not found: once more with
    /// others.
    fn among_mistaken(&mut self, progress: &mut dyn Progress) -> Result<SearchReport, CheckError> {
        let SearchOptions { cheaper_than, limits, .. } = *self.options;
        found_among_mistaken(|seed| self.in_order_with(seed, cheaper_than, limits.states, progress))
    }

    fn by_bucket(
        &mut self,
        options: &SearchOptions,
        progress: &mut dyn Progress,
    ) -> Result<Searched, CheckError> {
        let plan = by_bucket::Plan::of(options, self.goal);
        match options.store {
            Storage::Exact => by_bucket_of_all(&mut *self.system, (options, plan), Ok(Exact), progress),
            Storage::Compact { bits } => {
                let prints = Prints::new(bits, plan.levels, 0);
                by_bucket_of_all(&mut *self.system, (options, plan), prints, progress)
            }
            Storage::Bitstate { hashes, bits } => {
                let bits = bits.unwrap_or_else(|| bits_within(&options.limits, true));
                let array = BitArray::new(bit_array(bits, hashes, options.cost)?, plan, 0);
                by_bucket_of_all(&mut *self.system, (options, plan), Ok(array), progress)
            }
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
        self.in_order_with(0, cheaper_than, states, progress)
    }

    /// With these hash functions, if there are any.
    fn in_order_with(
        &mut self,
        seed: u64,
        cheaper_than: Option<RunCost>,
        states: Option<u64>,
        progress: &mut dyn Progress,
    ) -> Result<SearchReport, CheckError> {
        let left = self.left();
        let options = SearchOptions { cheaper_than, limits: Limits { states, ..left.limits }, ..left };
        // What is near is not worth a thread.
        let threads = if states == Some(options.in_order_first) { 1 } else { options.threads };
        let workers: Vec<S::Worker> = (1..threads).filter_map(|_| self.system.worker()).collect();
        if options.store == Storage::Exact {
            let search = ByCost::new(&mut *self.system, ExactStore::new(), &options, self.goal);
            if workers.is_empty() {
                return search.run(&mut NoCheckpoints, progress);
            }
            return with_helpers(workers, |ahead| {
                search.ahead(Some(ahead)).run(&mut NoCheckpoints, progress)
            });
        }
        let (system, mut none) = (&mut *self.system, NoCheckpoints);
        let job = SearchJob::new(&options, self.goal, &mut none, progress);
        let job = SearchJob { variety: Variety { seed, ..Variety::default() }, ..job };
        if workers.is_empty() {
            return job.search(system);
        }
        with_helpers(workers, |ahead| SearchJob { ahead: Some(ahead), ..job }.search(system))
    }
}

/// A violation that is known to be there, by a search with the hash functions of a seed, with one after the other.
pub fn found_among_mistaken(
    mut search: impl FnMut(u64) -> Result<SearchReport, CheckError>,
) -> Result<SearchReport, CheckError> {
    let mut found = search(0)?;
    for seed in 1..SEEDS {
        let is_lost =
            matches!(found.outcome.verdict, Verdict::Holds | Verdict::Inconclusive(StopReason::Partial));
        if !is_lost {
            break;
        }
        found = search(seed)?;
    }
    if found.outcome.verdict == Verdict::Holds {
        found.outcome.verdict = Verdict::Inconclusive(StopReason::Partial);
    }
    Ok(found)
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
    with_workers(system, options, progress, |workers, budget, progress| {
        let search = ByLevel::new(workers.iter_mut(), options, plan, budget)?;
        Ok(search.run(options, budget, progress))
    })
}

/// A search by all threads, bucket by bucket.
pub fn by_bucket_of_all<S: Parallel, M: Met>(
    system: &mut S,
    (options, plan): (&SearchOptions, by_bucket::Plan),
    met: Result<M, Full>,
    progress: &mut dyn Progress,
) -> Result<Searched, CheckError> {
    with_workers(system, options, progress, |workers, budget, progress| {
        let store = PackedStore::new(plan.keeps(options.store))?;
        let search = ByBucket::new(workers.iter_mut(), options, plan, met?, store, budget);
        Ok(search.run(budget, progress))
    })
}

/// A search with as many systems as there are threads.
fn with_workers<S: Parallel>(
    system: &mut S,
    options: &SearchOptions,
    progress: &mut dyn Progress,
    search: impl FnOnce(&mut [S::Worker], &mut SearchBudget, &mut dyn Progress) -> Result<Searched, Full>,
) -> Result<Searched, CheckError> {
    let mut budget = SearchBudget::new(options.limits, 1);
    system.work_within(budget.begin(progress));
    let mut workers: Vec<S::Worker> = (0..options.threads.max(1)).filter_map(|_| system.worker()).collect();
    workers.iter_mut().for_each(|system| system.work_within(&budget.shared));
    let searched = search(&mut workers, &mut budget, progress);
    match workers.iter().find_map(|system| system.error()) {
        Some(error) => Err(error.into()),
        None => Ok(searched.unwrap_or_else(|Full| Searched::nothing(StopReason::Memory))),
    }
}

/// Of a search that has found nothing that must be shown.
pub fn reported(options: &SearchOptions, goal: Goal, searched: Searched) -> SearchReport {
    let Searched { ended, statistics, memory, reach, cut_by_depth } = searched;
    let undone = cut_by_depth.then_some(StopReason::Depth);
    let verdict = match ended {
        Ended::Stopped(reason) => Verdict::Inconclusive(reason),
        // What was met beyond the bound, the depth or the cost that is allowed does not count.
        Ended::Whole => Verdict::conclude(goal == Goal::Count && statistics.has_violations(), undone),
        Ended::Violated(_) => Verdict::conclude(true, None),
    };
    let (stats, errors) = (statistics.stats, Vec::new());
    report(options, Findings { verdict, errors, stats, memory, reach })
}
