//! Runs without end that an observer accepts: is there one, and which?
//!
//! * [`space`]: the product of model and observer, state by state;
//! * [`nested_depth_first`]: two depth-first searches, the inner one for a way back (Holzmann, Peled and Yannakakis);
//! * [`components`]: strongly connected components (Tarjan), which also decide weak fairness;
//! * [`lasso`]: from a path and a cycle to a run that was replayed.
//!
//! The two algorithms share only the space: each is the check of the other. Neither promises the simplest run.

pub mod components;
mod lasso;
pub mod nested_depth_first;
mod space;

use crate::Refusal;
use crate::search::{Options, Report};
use crate::watched::{PlaceOf, Watched};
use lasso::Lasso;
use preempt_core::{Guarantee, Memory, Observer, Outcome, Property, Stats, StopReason, Verdict};
use preempt_model::Interpreter;
use preempt_model::monitor::Monitor;
use space::Space;

/// Which algorithm decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    NestedDepthFirst,
    Components,
}

/// Without a bound: is there an accepted run? Under weak fairness only components can tell.
pub fn check<'m, M: Monitor<Interpreter<'m>, Place: PlaceOf>>(
    watched: Watched<'_, 'm, M>,
    method: Method,
    weakly_fair: bool,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Report, Refusal> {
    let mut space = Space::new(watched, options.limits);
    let found = match method {
        Method::NestedDepthFirst if !weakly_fair => nested_depth_first::search(&mut space, observer),
        _ => components::search(&mut space, weakly_fair, observer),
    };
    if let Some(trouble) = space.trouble() {
        return Err(trouble.into());
    }
    let (verdict, lasso) = match found {
        Ok(Some(lasso)) => (Verdict::Violated, Some(lasso)),
        Ok(None) if space.cut_by_depth() => (Verdict::Inconclusive(StopReason::Depth), None),
        Ok(None) => (Verdict::Holds, None),
        Err(reason) => (Verdict::Inconclusive(reason), None),
    };
    Ok(report(&mut space, options, verdict, lasso.as_ref()))
}

fn report<'m, M: Monitor<Interpreter<'m>, Place: PlaceOf>>(
    space: &mut Space<'_, 'm, M>,
    options: &Options,
    verdict: Verdict,
    lasso: Option<&Lasso>,
) -> Report {
    let counterexample = lasso.map(|lasso| lasso::told(space, lasso, options.fair_switch));
    let memory = Memory { store: space.store_bytes(), frontier: space.most_path_bytes(), parents: 0 };
    let mut stats: Stats = space.stats();
    stats.peak_bytes = memory.store + memory.frontier;
    stats.memory = Some(memory);
    let violation = counterexample.as_ref().map(|_| space.monitor().violation());
    if let Some(violation) = &violation {
        stats.violations.insert(violation.kind, 1);
    }
    let violation = violation.map(|violation| Property {
        kind: violation.kind,
        name: violation.name,
        location: violation.location,
    });
    let outcome = Outcome { verdict, guarantee: Guarantee::Exhaustive, violation, counterexample, stats };
    Report { outcome, errors: Vec::new(), simplest: false }
}
