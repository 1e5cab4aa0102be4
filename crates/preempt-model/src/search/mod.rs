//! Searches by brute force, for any [`System`](crate::system::System).
//!
//! * [`stable`]: from one state at which everybody may run to the next;
//! * `reference`: the search in order of cost, each process expanded in each state once;
//! * [`oracle`]: shortest paths over (state, last process), with no cleverness at all;
//! * [`liveness`]: runs without end that a monitor accepts: `graph` is the product, `lasso` the run;
//! * `spinning`: the condition under which `--fair-switch` lets a process be left for free;
//! * `deadlock`: who is stuck in a state in which nobody can move;
//! * `cheapest_linearisation`: the order of given steps that has the fewest preemptions;
//! * `replay`: executes a list of steps again and counts its switches; `run_cost`: what that comes to.

mod cheapest_linearisation;
mod deadlock;
mod graph;
mod lasso;
pub mod liveness;
pub mod oracle;
pub mod reference;
pub mod replay;
mod run_cost;
mod spinning;
pub mod stable;
mod trail;

pub use cheapest_linearisation::{Arrival, NextStep, PartialOrder, cheapest_linearisation};
pub use deadlock::{deadlock, is_deadlock, wrong_with};
pub use liveness::check_cycles;
pub use reference::{ReferenceOptions, check, count, guarantee};
pub use replay::{Misfit, Recognised, Replayed, recognise, replay, settled};
pub use run_cost::{RunCost, cost_of_run};

use preempt_core::{Budget, Limits, Progress};
use std::time::Duration;

/// For executing again what was found: what is left of the time, and at least a second.
pub fn replay_budget(progress: &dyn Progress, limits: &Limits, elapsed: Duration) -> Budget {
    let left = |most: Duration| most.saturating_sub(elapsed).max(Duration::from_secs(1));
    progress.budget().part(&Limits { time: limits.time.map(left), ..Limits::default() })
}
