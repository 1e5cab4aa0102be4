//! The search in order of cost (the architecture's section 3): each process is expanded in each state once, at its
//! cheapest, so that a bound costs nothing and the first violation taken is the simplest.
//!
//! * [`frontier`]: what waits, by cost;
//! * [`explore`]: the search itself, in batches;
//! * [`notes`], [`ways`]: how a state was reached; [`verdict`]: from the end of a run to a counterexample that was replayed;
//! * [`spinning`]: when a process may be left for free.
//!
//! Several threads can work on one bucket at a time: its items are independent but for the mask of expanded
//! processes, which would be set atomically, and everything they find belongs to later buckets.

mod explore;
mod frontier;
mod notes;
mod spinning;
mod verdict;
mod ways;

use crate::{Interpreted, Native, Successors, Unsupported};
use preempt_core::{Limits, Observer, Outcome, Property, SourceMap, Trace};
use preempt_model::{Interpreter, Model};

/// How successors are computed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Source {
    #[default]
    Native,
    Interpreted,
}

#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Most preemptions; `None` for the whole state space.
    pub bound: Option<u32>,
    pub fair_switch: bool,
    pub limits: Limits,
    pub successors: Source,
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

/// A violation with the simplest run to it, replayed.
#[derive(Debug, Clone, PartialEq)]
pub struct Error {
    pub property: Property,
    pub trace: Trace,
}

/// What the memory was used for, in bytes, at the end (the frontier: at its largest).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Memory {
    pub store: u64,
    pub frontier: u64,
    pub parents: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    pub outcome: Outcome,
    /// With [`Goal::All`]: every violation, the cheapest first.
    pub errors: Vec<Error>,
    pub memory: Memory,
}

/// Finds the simplest violation of safety, or shows that there is none.
pub fn check(
    model: &Model,
    sources: &SourceMap,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Outcome, Unsupported> {
    explore(model, sources, options, Goal::First, observer).map(|report| report.outcome)
}

/// Counts the whole state space, violations included: a failed assertion is passed over.
pub fn count(
    model: &Model,
    sources: &SourceMap,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Outcome, Unsupported> {
    explore(model, sources, options, Goal::Count, observer).map(|report| report.outcome)
}

/// Any of the goals, with everything there is to report.
pub fn explore(
    model: &Model,
    sources: &SourceMap,
    options: &Options,
    goal: Goal,
    observer: &mut dyn Observer,
) -> Result<Report, Unsupported> {
    let interpreter = Interpreter::new(model, sources)
        .map_err(|fault| Unsupported(format!("initial values without meaning ({})", fault.0)))?;
    match options.successors {
        Source::Native => run(Native::new(model, sources)?, &interpreter, options, goal, observer),
        Source::Interpreted => run(Interpreted::new(model, sources)?, &interpreter, options, goal, observer),
    }
}

fn run<S: Successors>(
    system: S,
    interpreter: &Interpreter<'_>,
    options: &Options,
    goal: Goal,
    observer: &mut dyn Observer,
) -> Result<Report, Unsupported> {
    explore::Search::new(system, interpreter, options, goal).run(observer)
}
