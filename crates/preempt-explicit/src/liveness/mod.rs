//! Runs without end that an observer accepts: is there one, and which?
//!
//! * [`product_graph`]: the product of model and observer, state by state; [`steps_ahead`]: with several threads;
//!   [`known_graph`]: all of it, computed by several threads;
//! * [`nested_depth_first`]: two depth-first searches, the inner one for a path back; [`parallel_nested_depth_first`]: by
//!   several threads;
//! * [`components`]: strongly connected components, which also decide weak fairness;
//! * [`cheapest_lasso`]: the simplest one, also within a bound, on the graph of [`cost_graph`].
//!
//! The two algorithms that decide share only the graph: each is the check of the other. Neither promises the simplest run,
//! and only components can be fair.

mod cheapest_lasso;
mod components;
mod cost_graph;
mod graph;
mod known_graph;
mod nested_depth_first;
mod parallel_nested_depth_first;
mod product_graph;
mod steps_ahead;

use crate::CheckError;
use crate::product::Product;
use crate::replay::LassoPath;
use crate::search::{Counterexample, SearchOptions, SearchReport};
use crate::store::StateNumber;
use cheapest_lasso::LassoLimits;
use graph::{Edge, Incomplete};
use known_graph::KnownGraph;
use preempt_core::{
    Bound, Cost, Guarantee, Limits, Memory, Outcome, Progress, Property, Stats, StopReason, Verdict,
};
use preempt_model::search::RunCost;
use product_graph::ProductGraph;
use std::time::Instant;

/// Which algorithm decides whether there is an accepted run without end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CycleMethod {
    /// Two depth-first searches, the inner one for a path back to an accepting state.
    NestedDepthFirst,
    /// Strongly connected components, which can also be fair.
    Components,
}

/// A path from an initial state, and a cycle at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Lasso {
    initial: StateNumber,
    stem: Vec<Edge>,
    cycle: Vec<Edge>,
}

/// Is there an accepted run without end? Under weak fairness only components can tell.
pub fn decide(
    product: Product<'_, '_>,
    method: CycleMethod,
    weakly_fair: bool,
    options: &SearchOptions,
    progress: &mut dyn Progress,
) -> Result<SearchReport, CheckError> {
    let graph = ProductGraph::new(product, options, progress);
    let (mut graph, found) = decided(graph, (method, weakly_fair), options, progress);
    report(&mut graph, options, found.map(|lasso| lasso.map(FoundLasso::any)), progress)
}

/// Shows that no run is a violation, finite or not; `None` if that is not so, or cannot be shown like this. Also, how many
/// states it has met.
pub fn proof(
    product: Product<'_, '_>,
    options: &SearchOptions,
    progress: &mut dyn Progress,
) -> Result<(Option<SearchReport>, u64), CheckError> {
    let graph = ProductGraph::new(product, options, progress).judging();
    let (mut graph, found) = decided(graph, (CycleMethod::NestedDepthFirst, false), options, progress);
    let proof = match found {
        Ok(Some(_)) | Err(Incomplete::FiniteViolation) => None,
        // That a reduction keeps what is wrong with the last state of a run, is sure only of runs that can go on.
        Ok(None) if graph.has_dead_ends() => None,
        none => Some(report(&mut graph, options, none.map(|_| None), progress)?),
    };
    Ok((proof, graph.stats().states))
}

/// Some accepted run without end that is fair, with a stem that costs little.
pub fn fair(
    product: Product<'_, '_>,
    options: &SearchOptions,
    progress: &mut dyn Progress,
) -> Result<SearchReport, CheckError> {
    let graph = ProductGraph::new(product, options, progress);
    let (mut graph, found) = decided(graph, (CycleMethod::Components, true), options, progress);
    let found = found.map(|lasso| {
        let lasso = lasso?;
        let stem =
            |graph: &mut ProductGraph<'_, '_>| cheapest_lasso::with_cheapest_stem(graph, lasso, progress);
        Some(FoundLasso::any(steps_ahead::with_threads(&mut graph, options.threads, true, stem)))
    });
    report(&mut graph, options, found, progress)
}

/// Steps that may be tried to find the simplest run, where one is known already.
const SIMPLEST_EFFORT: u64 = 100_000_000;

/// States that may be met for that.
const SIMPLEST_STATES: u64 = 1_000_000;

/// The simplest accepted run without end. A bound decides by itself, and so does the cost of a run that is known; without
/// one it is decided first whether there is such a run at all, with the reduction of the options. The simplest is then
/// looked for without it: a reduction keeps neither the fewest steps nor what a formula's automaton makes of them. If that
/// takes too long, the one known is shown.
pub fn simplest(
    product: Product<'_, '_>,
    method: CycleMethod,
    options: &SearchOptions,
    progress: &mut dyn Progress,
) -> Result<SearchReport, CheckError> {
    let mut graph = ProductGraph::new(product, options, progress);
    let found = match (options.bound, options.cheaper_than) {
        (bound, Some(known)) => {
            let bound = bound.map_or(known.preemptions, |most| most.min(known.preemptions));
            let limits =
                LassoLimits { bound: Some(bound), cheaper_than: Some(known), effort: Some(SIMPLEST_EFFORT) };
            cheapest(&mut graph, limits, options, progress)
        }
        (bound @ Some(_), None) => {
            let limits = LassoLimits { bound, ..LassoLimits::default() };
            cheapest(&mut graph, limits, options, progress)
        }
        (None, None) => {
            let known;
            (graph, known) = decided(graph, (method, false), options, progress);
            known.map(|known| {
                let known = known?;
                graph.unreduced(SIMPLEST_STATES.max(4 * graph.stats().states));
                let limits = LassoLimits { effort: Some(SIMPLEST_EFFORT), ..LassoLimits::default() };
                let cheapest = cheapest(&mut graph, limits, options, progress);
                Some(cheapest.ok().flatten().unwrap_or(FoundLasso::any(known)))
            })
        }
    };
    report(&mut graph, options, found, progress)
}

fn cheapest(
    graph: &mut ProductGraph<'_, '_>,
    limits: LassoLimits,
    options: &SearchOptions,
    progress: &mut dyn Progress,
) -> Result<Option<FoundLasso>, Incomplete> {
    let search = |graph: &mut ProductGraph<'_, '_>| cheapest_lasso::search(graph, limits, progress);
    let found = steps_ahead::with_threads(graph, options.threads, true, search)?;
    Ok(found.map(FoundLasso::cheapest))
}

/// Fewer states than this are not worth a thread.
const WORTH_SHARING: u64 = 1 << 14;

/// Decides with one thread what is small, and with all of them what is not: by CNDFS whether there is such a run, or by components of
/// a graph that all of them have computed. With a limit of depth everything goes in the order of one thread, and others compute steps
/// ahead where they can.
fn decided<'a, 'm>(
    mut graph: ProductGraph<'a, 'm>,
    (method, weakly_fair): (CycleMethod, bool),
    options: &SearchOptions,
    progress: &mut dyn Progress,
) -> (ProductGraph<'a, 'm>, Result<Option<Lasso>, Incomplete>) {
    let is_nested = method == CycleMethod::NestedDepthFirst && !weakly_fair;
    let first = WORTH_SHARING.min(options.in_order_first);
    let is_shared = options.threads > 1
        && options.limits.depth.is_none()
        && options.limits.states.is_none_or(|most| most > first);
    let started = Instant::now();
    // What is left of the time.
    let left = || {
        let time = options.limits.time.map(|most| most.saturating_sub(started.elapsed()));
        SearchOptions { limits: Limits { time, ..options.limits }, ..options.clone() }
    };
    if is_shared {
        graph.at_most(first);
        let found = decided_in_order(&mut graph, (is_nested, weakly_fair), 1, progress);
        if found != Err(Incomplete::Limit(StopReason::States)) {
            return (graph, found);
        }
        if !is_nested {
            return decided_by_components(graph, weakly_fair, left, progress);
        }
        let searched =
            parallel_nested_depth_first::search(graph.observed(), graph.judges(), &left(), progress);
        graph = graph.begun_again(&left(), progress);
        match searched {
            Ok(Some(whole)) => {
                graph.searched(&whole);
                return (graph, Ok(None));
            }
            Err(why) => return (graph, Err(why)),
            // Which run it is does not depend on the threads.
            Ok(None) => {}
        }
    }
    let found = decided_in_order(&mut graph, (is_nested, weakly_fair), options.threads, progress);
    (graph, found)
}

/// By a graph that all threads compute. If there is not so much memory, or a limit lies within it, in the order of one thread.
fn decided_by_components<'a, 'm>(
    graph: ProductGraph<'a, 'm>,
    weakly_fair: bool,
    left: impl Fn() -> SearchOptions,
    progress: &mut dyn Progress,
) -> (ProductGraph<'a, 'm>, Result<Option<Lasso>, Incomplete>) {
    let known = KnownGraph::new(graph.observed(), &left(), progress);
    let searched = known.and_then(|mut known| {
        let found = components::search(&mut known, weakly_fair, progress)?;
        Ok((known, found))
    });
    let mut graph = graph.begun_again(&left(), progress);
    let found = match searched {
        Ok((known, None)) => {
            graph.searched(&known.seen());
            Ok(None)
        }
        Ok((known, Some(lasso))) => graph.continued(&known.seen(), known.met(), lasso).map(Some),
        Err(Incomplete::Limit(StopReason::Memory | StopReason::States)) => {
            decided_in_order(&mut graph, (false, weakly_fair), left().threads, progress)
        }
        Err(why) => Err(why),
    };
    (graph, found)
}

/// In the order of one thread, which others may help.
fn decided_in_order(
    graph: &mut ProductGraph<'_, '_>,
    (is_nested, weakly_fair): (bool, bool),
    threads: usize,
    progress: &mut dyn Progress,
) -> Result<Option<Lasso>, Incomplete> {
    let found = match is_nested {
        true => nested_depth_first::search(graph, progress),
        false => steps_ahead::with_threads(graph, threads, false, |graph| {
            components::search(graph, weakly_fair, progress)
        }),
    };
    graph.is_whole()?;
    found
}

/// A run without end, and what it costs if that is the least.
struct FoundLasso {
    lasso: Lasso,
    least: Option<RunCost>,
}

impl FoundLasso {
    fn any(lasso: Lasso) -> FoundLasso {
        FoundLasso { lasso, least: None }
    }

    fn cheapest((cost, lasso): (RunCost, Lasso)) -> FoundLasso {
        FoundLasso { lasso, least: Some(cost) }
    }
}

fn report(
    graph: &mut ProductGraph<'_, '_>,
    options: &SearchOptions,
    found: Result<Option<FoundLasso>, Incomplete>,
    progress: &dyn Progress,
) -> Result<SearchReport, CheckError> {
    if let Some(error) = graph.error() {
        return Err(error.into());
    }
    let (mut undone, found) = match found {
        Ok(found) => (graph.cut_by_depth().then_some(StopReason::Depth), found),
        Err(Incomplete::Limit(reason)) => (Some(reason), None),
        Err(Incomplete::FiniteViolation) => panic!("internal error: nobody asked for finite runs"),
    };
    let simplest = found.as_ref().is_some_and(|found| found.least.is_some() && !graph.cut_by_depth());
    let counterexample = found.and_then(|FoundLasso { lasso, least }| {
        let cycle = lasso.stem.len();
        let states = graph.path(lasso.initial, lasso.stem.into_iter().chain(lasso.cycle));
        let path = LassoPath { states, cycle, cost: least, fair_switch: options.fair_switch };
        let replayed = graph.replay(&path, progress);
        undone = undone.or(replayed.as_ref().err().copied());
        replayed.ok()
    });
    let verdict = Verdict::conclude(counterexample.is_some(), undone);
    let memory = Memory { store: graph.store_bytes(), frontier: graph.most_search_bytes(), parents: 0 };
    let mut stats: Stats = graph.stats();
    stats.peak_bytes = memory.store + memory.frontier;
    stats.memory = Some(memory);
    let violation = counterexample.as_ref().map(|_| graph.violation());
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
