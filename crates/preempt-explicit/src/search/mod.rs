//! Searches over byte vectors.
//!
//! * [`explore`]: in order of cost (the architecture's section 3): each process is expanded in each state once, at its
//!   cheapest, so that a bound costs nothing and the first violation taken is the simplest. [`frontier`] is what
//!   waits, in [`buckets`] by cost; [`charges`] says what costs;
//! * [`depth_first`]: one path at a time; [`paper`]: the published searches;
//! * [`hashed`]: the same without keeping the states; [`random`]: walks by [`chance`];
//! * [`notes`], [`ways`]: how a state was reached; [`verdict`]: from the end of a run to a counterexample that was
//!   replayed;
//! * [`checkpoint`]: a search that can be continued; [`tally`]: numbers and limits; [`spinning`]: when a process may be
//!   left for free.
//!
//! Several threads can work on one bucket at a time: its items are independent but for the mask of expanded
//! processes, which would be set atomically, and everything they find belongs to later buckets.

mod buckets;
mod charges;
mod checkpoint;
mod depth_first;
mod explore;
mod frontier;
mod hashed;
mod notes;
mod paper;
mod random;
mod spinning;
mod tally;
mod verdict;
mod ways;

use crate::reduction::Reduction;
use crate::store::sketch::Sketch;
use crate::{CheckError, Successors};
pub(crate) use charges::Charges;
pub use checkpoint::{Checkpoints, NoCheckpoints, Save};
pub(crate) use hashed::{Turn, Variety};
pub(crate) use paper::visits;
pub use paper::{Figure, Published, Visit, Visits};
use preempt_core::{Cost, Limits, Outcome, Progress, Property, Trace};
use preempt_model::search::RunCost;
pub use random::Walks;
pub(crate) use spinning::spins;
pub(crate) use verdict::told_of;
pub(crate) use ways::path_between;

#[derive(Debug, Clone)]
pub struct SearchOptions {
    pub order: Order,
    pub store: Storage,
    /// What is to be least, before the steps.
    pub cost: Cost,
    /// Most of what is charged; `None` for the whole state space.
    pub bound: Option<u32>,
    /// Only runs that cost less than this count: for searches in the order of cost that keep the states they meet.
    pub cheaper_than: Option<RunCost>,
    pub fair_switch: bool,
    /// Applies where one violation is looked for.
    pub reduction: Reduction,
    /// Forget variables that are dead, and merge private steps ([`crate::reduction::statics`]). Verdict and fewest
    /// preemptions stay what they are; there are fewer states, and runs may have more steps. For safety only.
    pub statics: bool,
    pub limits: Limits,
    pub successors: SuccessorSource,
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
            statics: false,
            limits: Limits::default(),
            successors: SuccessorSource::Native,
            stutter_invariant: false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    ByCost,
    DepthFirst,
    /// One of the paper's.
    Published(Published),
    /// Walks by chance.
    Random(Walks),
}

/// What is kept of the states that were met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// The states.
    Exact,
    /// Fingerprints of 64, 96 or 128 bits.
    Compact { bits: u32 },
    /// For each state some bits of an array; its size follows from the limit of memory if it is not given.
    Bitstate { hashes: u32, bits: Option<u64> },
}

/// How successors are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuccessorSource {
    /// In machine code, where the model can be compiled.
    Native,
    /// By whatever defines the system.
    Interpreted,
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
    pub property: Property,
    pub trace: Trace,
}

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

/// Searches any source of successors.
pub fn search<S: Successors>(
    system: S,
    options: &SearchOptions,
    goal: Goal,
    progress: &mut dyn Progress,
) -> Result<SearchReport, CheckError> {
    search_saved(system, options, goal, &mut NoCheckpoints, progress)
}

/// As [`search`], with checkpoints; only the search in order of cost with the exact store makes some.
pub fn search_saved<S: Successors>(
    system: S,
    options: &SearchOptions,
    goal: Goal,
    checkpoints: &mut dyn Checkpoints,
    progress: &mut dyn Progress,
) -> Result<SearchReport, CheckError> {
    if options.store != Storage::Exact {
        return search_part(system, options, goal, Variety::default(), progress);
    }
    match options.order {
        Order::ByCost => explore::Search::new(system, options, goal).run(checkpoints, progress),
        Order::DepthFirst => depth_first::DepthFirst::new(system, options, goal).run(progress),
        Order::Published(published) => paper::search(system, published, options, progress),
        Order::Random(_) => search_part(system, options, goal, Variety::default(), progress),
    }
}

/// The searches that do not keep the states they met.
pub(crate) fn search_part<S: Successors>(
    system: S,
    options: &SearchOptions,
    goal: Goal,
    variety: Variety<'_>,
    progress: &mut dyn Progress,
) -> Result<SearchReport, CheckError> {
    match options.order {
        Order::Random(walks) if options.store == Storage::Exact => {
            let mut own = Sketch::default();
            let sketch = variety.sketch.unwrap_or(&mut own);
            random::Random::new(system, walks, options, sketch).run(progress)
        }
        _ => hashed::search(system, options, goal, variety, progress),
    }
}
