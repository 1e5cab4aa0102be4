//! Runs without end that an observer accepts: is there one, and which?
//!
//! * [`space`]: the product of model and observer, state by state;
//! * [`nested_depth_first`]: two depth-first searches, the inner one for a way back (Holzmann, Peled and Yannakakis);
//! * [`components`]: strongly connected components (Tarjan), which also decide weak fairness;
//! * [`cheapest_lasso`]: the simplest one, also within a bound, on the graph of [`running`];
//! * [`lasso`]: from a path and a cycle to a run that was replayed.
//!
//! The two algorithms share only the space: each is the check of the other. Neither promises the simplest run,
//! and only components can be fair.

mod cheapest_lasso;
pub mod components;
mod lasso;
pub mod nested_depth_first;
mod running;
mod space;

use crate::CheckError;
use crate::search::{Counterexample, SearchOptions, SearchReport};
use crate::watched::{PlaceOf, Watched};
use cheapest_lasso::Most;
use lasso::Lasso;
use preempt_core::{Bound, Cost, Guarantee, Memory, Outcome, Progress, Property, Stats, StopReason, Verdict};
use preempt_model::Interpreter;
use preempt_model::monitor::Monitor;
use preempt_model::search::RunCost;
use space::{Cut, Space};

/// Which algorithm decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    NestedDepthFirst,
    Components,
}

/// Is there an accepted run without end? Under weak fairness only components can tell.
pub fn decide<'m, M: Monitor<Interpreter<'m>, Place: PlaceOf>>(
    watched: Watched<'_, 'm, M>,
    method: Method,
    weakly_fair: bool,
    options: &SearchOptions,
    progress: &mut dyn Progress,
) -> Result<SearchReport, CheckError> {
    let mut space = Space::new(watched, options.limits, options.fair_switch, progress);
    let found = decided(&mut space, method, weakly_fair, progress);
    report(&mut space, options, found.map(|lasso| lasso.map(Found::some)), progress)
}

/// Shows that no run is a violation, finite or not; `None` if that is not so, or cannot be shown like this. Also, how many
/// states it has met.
pub fn proof<'m, M: Monitor<Interpreter<'m>, Place: PlaceOf>>(
    watched: Watched<'_, 'm, M>,
    options: &SearchOptions,
    progress: &mut dyn Progress,
) -> Result<(Option<SearchReport>, u64), CheckError> {
    let mut space = Space::new(watched, options.limits, options.fair_switch, progress).judging();
    let proof = match decided(&mut space, Method::NestedDepthFirst, false, progress) {
        Ok(Some(_)) | Err(Cut::Finite) => None,
        // That a reduction keeps what is wrong with the last state of a run, is sure only of runs that can go on.
        Ok(None) if space.has_dead_ends() => None,
        none => Some(report(&mut space, options, none.map(|_| None), progress)?),
    };
    Ok((proof, space.stats().states))
}

/// Some accepted run without end that is fair, with a stem that costs little.
pub fn fair<'m, M: Monitor<Interpreter<'m>, Place: PlaceOf>>(
    watched: Watched<'_, 'm, M>,
    options: &SearchOptions,
    progress: &mut dyn Progress,
) -> Result<SearchReport, CheckError> {
    let mut space = Space::new(watched, options.limits, options.fair_switch, progress);
    let found = decided(&mut space, Method::Components, true, progress).map(|lasso| {
        let lasso = cheapest_lasso::with_cheapest_stem(&mut space, lasso?, progress);
        Some(Found::some(lasso))
    });
    report(&mut space, options, found, progress)
}

/// Steps that may be tried to find the simplest run, where one is known already.
const SIMPLEST_EFFORT: u64 = 100_000_000;

/// States that may be met for that.
const SIMPLEST_STATES: u64 = 1_000_000;

/// The simplest accepted run without end. A bound decides by itself, and so does the cost of a run that is known; without one it is decided first whether there is
/// such a run at all, with the reduction that is asked for. The simplest is then looked for without it: it keeps neither the
/// fewest steps nor what a formula's automaton makes of them. If that takes too long, the one known is shown.
pub fn simplest<'m, M: Monitor<Interpreter<'m>, Place: PlaceOf>>(
    watched: Watched<'_, 'm, M>,
    method: Method,
    options: &SearchOptions,
    progress: &mut dyn Progress,
) -> Result<SearchReport, CheckError> {
    let mut space = Space::new(watched, options.limits, options.fair_switch, progress);
    let found = match (options.bound, options.cheaper_than) {
        (bound, Some(known)) => {
            let bound = bound.map_or(known.preemptions, |most| most.min(known.preemptions));
            let most = Most { bound: Some(bound), cheaper_than: Some(known), effort: Some(SIMPLEST_EFFORT) };
            cheapest_lasso::search(&mut space, most, progress).map(|found| found.map(Found::cheapest))
        }
        (bound @ Some(_), None) => {
            let most = Most { bound, ..Most::default() };
            cheapest_lasso::search(&mut space, most, progress).map(|found| found.map(Found::cheapest))
        }
        (None, None) => decided(&mut space, method, false, progress).map(|known| {
            let known = known?;
            space.unreduced(SIMPLEST_STATES.max(4 * space.stats().states));
            let most = Most { effort: Some(SIMPLEST_EFFORT), ..Most::default() };
            let cheapest = cheapest_lasso::search(&mut space, most, progress);
            Some(cheapest.ok().flatten().map_or(Found::some(known), Found::cheapest))
        }),
    };
    report(&mut space, options, found, progress)
}

fn decided<'m, M: Monitor<Interpreter<'m>, Place: PlaceOf>>(
    space: &mut Space<'_, 'm, M>,
    method: Method,
    weakly_fair: bool,
    progress: &mut dyn Progress,
) -> Result<Option<Lasso>, Cut> {
    let found = match method {
        Method::NestedDepthFirst if !weakly_fair => nested_depth_first::search(space, progress),
        _ => components::search(space, weakly_fair, progress),
    };
    space.is_whole()?;
    found
}

/// A run without end, and what it costs if that is the least.
struct Found {
    lasso: Lasso,
    least: Option<RunCost>,
}

impl Found {
    fn some(lasso: Lasso) -> Found {
        Found { lasso, least: None }
    }

    fn cheapest((cost, lasso): (RunCost, Lasso)) -> Found {
        Found { lasso, least: Some(cost) }
    }
}

fn report<'m, M: Monitor<Interpreter<'m>, Place: PlaceOf>>(
    space: &mut Space<'_, 'm, M>,
    options: &SearchOptions,
    found: Result<Option<Found>, Cut>,
    progress: &dyn Progress,
) -> Result<SearchReport, CheckError> {
    if let Some(trouble) = space.trouble() {
        return Err(trouble.into());
    }
    let (mut undone, found) = match found {
        Ok(found) => (space.cut_by_depth().then_some(StopReason::Depth), found),
        Err(Cut::Limit(reason)) => (Some(reason), None),
        Err(Cut::Finite) => panic!("internal error: nobody asked for finite runs"),
    };
    let simplest = found.as_ref().is_some_and(|found| found.least.is_some() && !space.cut_by_depth());
    let counterexample = found.and_then(|found| {
        let budget = space.begin_telling(progress);
        let told = lasso::told(space, &found.lasso, found.least, options.fair_switch, &budget);
        undone = undone.or(budget.stopped());
        told
    });
    let verdict = Verdict::conclude(counterexample.is_some(), undone);
    let memory = Memory { store: space.store_bytes(), frontier: space.most_search_bytes(), parents: 0 };
    let mut stats: Stats = space.stats();
    stats.peak_bytes = memory.store + memory.frontier;
    stats.memory = Some(memory);
    let violation = counterexample.as_ref().map(|_| space.monitor().violation());
    if let Some(violation) = &violation {
        stats.violations.insert(violation.kind, 1);
    }
    let violation = violation.map(Property::from);
    let bound = |most| Bound { unit: Cost::Preemptions, most };
    let guarantee = options.bound.map_or(Guarantee::Exhaustive, |most| Guarantee::Bounded(bound(most)));
    let errors = violation.clone().zip(counterexample.clone());
    let errors = errors.map(|(property, trace)| Counterexample { property, trace }).into_iter().collect();
    let visited = stats.states;
    let outcome = Outcome { verdict, guarantee, violation, counterexample, stats };
    Ok(SearchReport { outcome, errors, simplest, visited })
}
