//! Answers by brute force, for any [`System`](crate::system::System).
//!
//! * [`stable`]: from one state at which everybody may run to the next;
//! * [`reference`]: the search in order of cost, each process expanded in each state once;
//! * [`oracle`]: shortest paths over (state, last process), with no cleverness at all;
//! * [`liveness`]: runs without end that a monitor accepts: [`graph`] is the product, [`lasso`] the run;
//! * [`spinning`]: the condition under which `--fair-switch` lets a process be left for free;
//! * [`replay`]: executes a list of steps again and counts its switches.

mod graph;
mod lasso;
pub mod liveness;
pub mod oracle;
pub mod reference;
pub mod replay;
mod spinning;
pub mod stable;
mod trail;

pub use liveness::check_cycles;
pub use reference::{Options, check, count, deadlock, guarantee, is_deadlock};
pub use replay::{Misfit, Recognised, Replayed, recognise, replay, settled};

use preempt_core::{Budget, Limits, Observer};
use std::time::Duration;

/// For executing again what was found: what is left of the time, and at least a second.
pub fn budget_for_telling(observer: &dyn Observer, limits: &Limits, elapsed: Duration) -> Budget {
    let left = |most: Duration| most.saturating_sub(elapsed).max(Duration::from_secs(1));
    observer.budget().part(&Limits { time: limits.time.map(left), ..Limits::default() })
}

/// Preemptions first, then steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunCost {
    pub preemptions: u32,
    pub steps: u64,
}
