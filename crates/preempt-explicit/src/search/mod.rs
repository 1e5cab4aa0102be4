//! Searches over byte vectors.
//!
//! * [`by_level`]: everything within so many preemptions, level by level, or all at once; [`by_bucket`]: the same where it must know of steps,
//!   or states are not kept; [`keys`]: what both share; [`simplest`] joins them with
//! * [`by_cost`]: in order of cost, so that the first violation taken is the simplest; [`cost_model`] says what costs, and
//!   [`spinning`] when a process may be left for free;
//! * [`in_parts`]: the same in several processes;
//! * [`depth_first`]: one path at a time, with the rules of [`holzmann_florian`]'s published searches; [`along_path`] lets all threads
//!   decide what comes of it;
//! * [`random`]: random walks;
//! * [`statistics`]: what is counted; [`report`]: what comes of it; [`variety`]: what may differ between searches that are
//!   otherwise the same.
//!
//! Those bucket by bucket, in order of cost and along a path are written once for every store: exact, fingerprints ("compact") and bits
//! ("bitstate"). What is not found
//! with the latter two is not proved to be absent, but what is found is real: it is replayed like everything else.

mod along_path;
mod by_bucket;
mod by_cost;
mod by_level;
mod cost_model;
mod depth_first;
mod holzmann_florian;
mod in_parts;
mod keys;
mod random;
mod report;
mod simplest;
mod spinning;
mod statistics;
mod variety;

pub(crate) use by_cost::ProcessSet;
pub(crate) use by_cost::ahead::members;
pub use by_cost::checkpoint::{Checkpoints, NoCheckpoints, Save};
pub(crate) use cost_model::CostModel;
pub use holzmann_florian::{Figure, Published, Visit, Visits};
pub use in_parts::{InParts, PartsReport};
pub use random::Walks;
#[cfg(feature = "native")]
pub(crate) use spinning::Spinning;
pub(crate) use variety::{TryOrder, Variety};

use crate::reduction::Reduction;
use crate::scratch::Scratch;
use crate::store::bits::Bits;
use crate::store::fingerprints::Fingerprints;
use crate::store::known::Known;
use crate::store::sketch::Sketch;
use crate::successors::Replayable;
use crate::{CheckError, Unsupported};
use by_cost::ahead::Lookahead;
use by_cost::{ByCost, DiskStore, ExactStore, HashedStore};
use depth_first::{DepthFirst, ExactPathStore, HashedPathStore, HashedRule, Policy};
use holzmann_florian::ByteVisit;
use preempt_core::{Cost, Limits, Outcome, Progress, Property, StopReason, Trace, Verdict};
use preempt_model::search::RunCost;
use std::sync::Arc;
use std::time::Instant;

/// What is near is found in order of cost before anything else is tried.
const IN_ORDER_FIRST: u64 = 1 << 13;

/// How a state space is searched, and how much of it. The default finds the simplest violation, or proves that there is none.
#[derive(Debug, Clone)]
pub struct SearchOptions {
    /// In which order states are visited.
    pub order: Order,
    /// What is kept of them.
    pub store: Storage,
    /// What is to be least, before the steps.
    pub cost: Cost,
    /// Most of what is charged; `None` for the whole state space.
    pub bound: Option<u32>,
    /// Only runs that cost less than this count: for searches in the order of cost that keep the states they meet.
    pub cheaper_than: Option<RunCost>,
    /// Leaving a process that can only go round in a circle costs nothing.
    pub fair_switch: bool,
    /// Applies where one violation is looked for.
    pub reduction: Reduction,
    /// Forget variables that are dead, and merge private steps ([`crate::reduction::simplify`]). Verdict and fewest
    /// preemptions stay what they are; there are fewer states, and runs may have more steps. For safety only.
    pub simplify: bool,
    /// States that differ in nothing but the order of processes that can be interchanged are one state
    /// ([`preempt_model::symmetry`]). Verdict, fewest preemptions and fewest steps stay what they are. For safety, where
    /// states are kept and in machine code; elsewhere every order is looked at.
    pub symmetry: bool,
    /// When to give up.
    pub limits: Limits,
    /// Where the search in order of cost goes on when half of the memory is used, if it keeps states and is not saved.
    pub scratch: Option<Arc<dyn Scratch>>,
    /// With a scratch: nothing is tried in memory, and so many bytes are what the search on disk uses of it. For tests.
    pub memory_on_disk: Option<u64>,
    /// Who says what follows a state.
    pub successors: SuccessorSource,
    /// Is it of interest how many states there are at each level of the cost? If not, and no violation is looked for, they are
    /// searched in any order.
    pub levels: bool,
    /// So many states are searched in order of cost before the search level by level begins, which is faster but must be
    /// followed by another one if there is a violation.
    pub in_order_first: u64,
    /// At the limit of states nothing more is tried: what lies within it and is cheap is not looked for again.
    pub gives_up: bool,
    /// How many threads work where several can.
    pub threads: usize,
    /// The user says that no never claim and no formula counts how often a state is repeated.
    pub stutter_invariant: bool,
}

impl Default for SearchOptions {
    fn default() -> SearchOptions {
        SearchOptions {
            order: Order::ByCost,
            store: Storage::Exact,
            cost: Cost::Preemptions,
            bound: None,
            cheaper_than: None,
            fair_switch: false,
            reduction: Reduction::None,
            simplify: false,
            symmetry: false,
            limits: Limits::default(),
            scratch: None,
            memory_on_disk: None,
            successors: SuccessorSource::Native,
            levels: true,
            in_order_first: IN_ORDER_FIRST,
            gives_up: false,
            threads: 1,
            stutter_invariant: false,
        }
    }
}

/// In which order states are visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The cheapest first, so that the first violation is the simplest.
    ByCost,
    /// Along one path as far as it leads.
    DepthFirst,
    /// One of Holzmann and Florian's (paper 000), as published.
    Published(Published),
    /// Random walks.
    Random(Walks),
}

/// What is kept of the states that were met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// The states.
    Exact,
    /// Fingerprints of 64, 96 or 128 bits.
    Compact {
        /// Of one fingerprint.
        bits: u32,
    },
    /// For each state some bits of an array; its size follows from the limit of memory if it is not given.
    Bitstate {
        /// How many bits are set for a state.
        hashes: u32,
        /// Of the whole array.
        bits: Option<u64>,
    },
}

/// How successors are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuccessorSource {
    /// In machine code. Without the feature `native` the same as [`SuccessorSource::Interpreted`].
    Native,
    /// By whatever defines the system.
    Interpreted,
}

impl SuccessorSource {
    /// Is machine code to be used, and can it be?
    pub(crate) fn is_native(self) -> bool {
        cfg!(feature = "native") && self == SuccessorSource::Native
    }
}

/// What a search is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// The simplest violation.
    First,
    /// Each different violation once, at its cheapest.
    All,
    /// The number of states, violations passed over.
    Count,
}

/// A violation with a run to it, replayed.
#[derive(Debug, Clone, PartialEq)]
pub struct Counterexample {
    /// What is violated.
    pub property: Property,
    /// By which run.
    pub trace: Trace,
}

/// What a search, or several together, have found.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchReport {
    /// With the first of the errors.
    pub outcome: Outcome,
    /// The cheapest first; more than one only with [`Goal::All`].
    pub errors: Vec<Counterexample>,
    /// Is it certain that no run costs less?
    pub simplest: bool,
    /// States that were met on the way to it, by all searches together.
    pub visited: u64,
}

/// One search.
pub(crate) struct SearchJob<'a> {
    pub options: &'a SearchOptions,
    pub goal: Goal,
    /// Only for searches that do not keep states.
    pub variety: Variety<'a>,
    /// Only the search in order of cost with the exact store makes any.
    pub checkpoints: &'a mut dyn Checkpoints,
    pub progress: &'a mut dyn Progress,
    /// Of a search in order of cost, with several threads.
    pub ahead: Option<Lookahead>,
}

impl<'a> SearchJob<'a> {
    /// Of the usual variety.
    pub fn new(
        options: &'a SearchOptions,
        goal: Goal,
        checkpoints: &'a mut dyn Checkpoints,
        progress: &'a mut dyn Progress,
    ) -> SearchJob<'a> {
        SearchJob { options, goal, variety: Variety::default(), checkpoints, progress, ahead: None }
    }

    /// What costs steps or switches costs them whoever spins.
    fn must_be_possible(&self) -> Result<(), CheckError> {
        let SearchOptions { order, cost, fair_switch, .. } = *self.options;
        if order == Order::ByCost && fair_switch && cost != Cost::Preemptions {
            return Err(Unsupported(
                "free switches from who only spins, where not preemptions are charged".into(),
            )
            .into());
        }
        Ok(())
    }

    /// Searches any source of successors.
    pub fn search<S: Replayable + ?Sized>(self, system: &mut S) -> Result<SearchReport, CheckError> {
        self.must_be_possible()?;
        let SearchJob { options, goal, .. } = self;
        match (options.store, options.order) {
            (Storage::Exact, Order::ByCost) if self.may_leave_memory() => {
                self.then_on_disk(system, |job, system| job.search(system))
            }
            (Storage::Exact, Order::ByCost) => {
                let search = ByCost::new(system, ExactStore::new(), options, goal).ahead(self.ahead);
                search.run(self.checkpoints, self.progress)
            }
            (Storage::Exact, Order::DepthFirst) => {
                let (store, policy) = (ExactPathStore::new(None, false), self.policy());
                DepthFirst::new(system, store, policy, options, goal).run(self.progress)
            }
            (Storage::Exact, Order::Published(published)) => {
                self.published(system, published).run(self.progress)
            }
            (Storage::Exact, Order::Random(walks)) => {
                let mut own = Sketch::default();
                let sketch = self.variety.sketch.unwrap_or(&mut own);
                random::Random::new(system, walks, options, sketch).run(self.progress)
            }
            (Storage::Compact { .. } | Storage::Bitstate { .. }, _) if goal == Goal::All => {
                Err(Unsupported("every violation, with a store that does not keep states".into()).into())
            }
            (Storage::Compact { bits }, order) => {
                self.search_hashed(system, Fingerprints::new(bits, order == Order::ByCost))
            }
            (Storage::Bitstate { hashes, bits }, order) => {
                let bits = bits.unwrap_or_else(|| bits_within(&options.limits, order == Order::ByCost));
                self.search_hashed(system, bit_array(bits, hashes, options.cost)?)
            }
        }
    }

    /// Is there room outside memory, and can the search use it?
    fn may_leave_memory(&self) -> bool {
        let SearchOptions { order, store, scratch, limits, .. } = self.options;
        let in_order = (*store, *order) == (Storage::Exact, Order::ByCost);
        in_order && scratch.is_some() && limits.memory_bytes.is_some() && !self.checkpoints.are_wanted()
    }

    /// Searches in half of the memory first, and if that is not enough again, with the states on disk.
    fn then_on_disk<S: Replayable + ?Sized>(
        self,
        system: &mut S,
        search: impl FnOnce(SearchJob<'_>, &mut S) -> Result<SearchReport, CheckError>,
    ) -> Result<SearchReport, CheckError> {
        let (options, started) = (self.options, Instant::now());
        let Some(scratch) = &options.scratch else { return search(self, system) };
        let half = options.limits.memory_bytes.unwrap_or(u64::MAX) / 2;
        let mut visited = 0;
        if options.memory_on_disk.is_none() {
            let limits = Limits { memory_bytes: Some(half), ..options.limits };
            let inside = SearchOptions { scratch: None, limits, ..options.clone() };
            let mut none = NoCheckpoints;
            let found = search(SearchJob::new(&inside, self.goal, &mut none, &mut *self.progress), system)?;
            if found.outcome.verdict != Verdict::Inconclusive(StopReason::Memory) {
                return Ok(found);
            }
            visited = found.visited;
        }
        let store = DiskStore::new(scratch, options.memory_on_disk.unwrap_or(half), self.goal)
            .map_err(|error| Unsupported(format!("a search on disk: {error}")))?;
        let time = options.limits.time.map(|most| most.saturating_sub(started.elapsed()));
        let outside = SearchOptions { limits: Limits { time, ..options.limits }, ..options.clone() };
        let mut found =
            ByCost::new(system, store, &outside, self.goal).run(&mut NoCheckpoints, self.progress)?;
        found.visited += visited;
        found.outcome.stats.time = started.elapsed();
        if self.goal == Goal::Count && !options.levels && options.bound.is_none() {
            found.outcome.stats.levels.clear();
        }
        Ok(found)
    }

    /// Every visit that a published search makes, as bytes, in order and errors passed over; and was everything visited?
    pub fn published_visits<S: Replayable + ?Sized>(
        self,
        system: &mut S,
        published: Published,
    ) -> Result<(Vec<ByteVisit>, bool), CheckError> {
        self.published(system, published).visits(self.progress)
    }

    /// One of the published searches, with the exact store.
    fn published<'s, S: Replayable + ?Sized>(
        &self,
        system: &'s mut S,
        published: Published,
    ) -> DepthFirst<'s, S, ExactPathStore>
    where
        'a: 's,
    {
        let store = ExactPathStore::new(published.figure.revisit_rule(), published.shortening);
        let policy = Policy { published: Some(published), eager: true, ..self.policy() };
        DepthFirst::new(system, store, policy, self.options, self.goal)
    }

    fn search_hashed<S: Replayable + ?Sized, K: Known>(
        self,
        system: &mut S,
        known: K,
    ) -> Result<SearchReport, CheckError> {
        let SearchJob { options, goal, .. } = self;
        let rule = match options.order {
            Order::ByCost => {
                let store = HashedStore::new(known, self.variety, goal);
                let search = ByCost::new(system, store, options, goal).ahead(self.ahead);
                return search.run(&mut NoCheckpoints, self.progress);
            }
            Order::DepthFirst => HashedRule::Once,
            Order::Published(published) => hashed_rule(published, options)?,
            Order::Random(_) => return Err(Unsupported("a store for random walks".into()).into()),
        };
        let policy = self.policy();
        let store = HashedPathStore::new(known, rule, self.variety, policy.reduction == Reduction::Strong);
        DepthFirst::new(system, store, policy, options, goal).run(self.progress)
    }

    /// Of a depth-first search.
    fn policy(&self) -> Policy {
        let SearchOptions { order, store, bound, reduction, .. } = *self.options;
        // The reductions are for where one violation is looked for; how many states the strong one leaves can be counted.
        let reduction = match (order, self.goal) {
            (Order::DepthFirst, Goal::First) => reduction,
            (Order::DepthFirst, Goal::Count) if reduction == Reduction::Strong && store == Storage::Exact => {
                reduction
            }
            _ => Reduction::None,
        };
        let published = match order {
            Order::Published(published) => Some(published),
            _ => None,
        };
        let (seed, processes, transitions) =
            (self.variety.seed, self.variety.processes, self.variety.transitions);
        Policy { bound, reduction, processes, transitions, seed, published, eager: false }
    }
}

fn bit_array(bits: u64, hashes: u32, cost: Cost) -> Result<Bits, Unsupported> {
    let why = || Unsupported(format!("a store of {} bytes: there is not so much memory", bits / 8));
    Bits::new(bits, hashes, cost).ok_or_else(why)
}

/// Bits of the store "bitstate" where nothing else is said: 64 MB.
const USUAL_BITS: u64 = 1 << 29;

/// Of the memory, a half is for what waits where that is much, and a quarter where it is one path.
fn bits_within(limits: &Limits, in_order: bool) -> u64 {
    let bits_of_each = if in_order { 4 } else { 6 };
    limits.memory_bytes.map_or(USUAL_BITS, |bytes| bytes.saturating_mul(bits_of_each))
}

/// A copy of each state for each number of preemptions up to the bound: not for any bound.
const LARGEST_REPLICATED: u32 = 255;

/// When a published search visits a state again that it does not keep.
fn hashed_rule(published: Published, options: &SearchOptions) -> Result<HashedRule, CheckError> {
    let Published { figure, cycles: false, shortening: false } = published else { return Err(knows_more()) };
    match (figure, options.store) {
        (Figure::NaiveBounded, _) => Ok(HashedRule::Once),
        (Figure::ContextBounded, Storage::Bitstate { .. }) => match options.bound {
            Some(bound) if bound <= LARGEST_REPLICATED => Ok(HashedRule::Replicated { bound }),
            _ => {
                let why = format!(
                    "replicated storage needs a bound of at most {LARGEST_REPLICATED}: it has a copy of each state for \
                     each number up to it"
                );
                Err(Unsupported(why).into())
            }
        },
        _ => Err(knows_more()),
    }
}

fn knows_more() -> CheckError {
    Unsupported("a published search that must know more of a state than this store keeps".into()).into()
}
