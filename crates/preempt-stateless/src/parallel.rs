//! Several searches side by side: paper 001's Algorithm 2 on several threads that share the table of graphs.
//!
//! Each is a whole search that begins elsewhere, and none enters what another has closed. Graphs that are complete are
//! claimed in the table, so that they count once; who comes second has made a run in vain, which happens where the
//! searches meet. They go on to the next bound together, when the empty graph is closed within this one: then all runs
//! within it have been made, by whomever. So a failure has as few preemptions as one search would find, but which
//! of several equally cheap ones is reported may differ.
//!
//! **Invariant:** who closes a graph looks at its predecessors afterwards. Of two that close the last two successors of a
//! graph at the same time, the second to do so sees both closed, and closes it.

use crate::executable::Executable;
use crate::explore::{Exploration, Limits, Progress, Stop};
use crate::marking::{self, Team};
use crate::table::SharedTable;
use std::sync::{Arc, PoisonError};

/// Explores with so many threads. Every thread makes its own program to run.
pub fn explore<E: Executable>(make: impl Fn() -> E + Sync, limits: &Limits, threads: usize) -> Exploration {
    let table = SharedTable::new();
    let (progress, size) = (Arc::new(Progress::default()), threads.max(1));
    let found: Vec<Exploration> = std::thread::scope(|scope| {
        let search = |member: usize| {
            let (table, progress, make) = (&table, Arc::clone(&progress), &make);
            let team = Team { progress, size, member };
            move || {
                let ending = EndOnPanic(&team.progress);
                let found = marking::explore_from(&mut make(), limits, table, team.clone());
                std::mem::forget(ending);
                found
            }
        };
        let workers: Vec<_> = (0..size).map(|member| scope.spawn(search(member))).collect();
        workers.into_iter().filter_map(|worker| worker.join().ok()).collect()
    });
    // Some have seen a step that the fair bound cut, and others not.
    let exhaustive = found.iter().all(|part| part.exhaustive);
    let mut whole = Exploration { exhaustive, ..Exploration::default() };
    let runs: u64 = found.iter().map(|part| part.executions + part.pruned).sum();
    for part in found {
        whole.steps += part.steps;
        whole.prefixes += part.prefixes;
        whole.visits += part.visits;
        whole.failures += part.failures;
        whole.graphs = part.graphs.max(whole.graphs);
        whole.failure = match (whole.failure, part.failure) {
            (Some(a), Some(b)) => {
                let price = |failing: &crate::explore::Failing| (failing.preemptions, failing.schedule.len());
                Some(if price(&b) < price(&a) { b } else { a })
            }
            (a, b) => a.or(b),
        };
    }
    whole.executions = progress.executions();
    whole.pruned = runs - whole.executions;
    whole.per_bound = progress.per_bound.lock().unwrap_or_else(PoisonError::into_inner).clone();
    whole.stop = progress.stop.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if let (Some(Stop::Failure), Some(failing)) = (&whole.stop, &whole.failure) {
        // Others may have closed the bound of the failure before they heard of it; one search alone would not.
        whole.per_bound.truncate(failing.preemptions as usize);
    }
    whole.complete_to = (whole.per_bound.len() as u32).checked_sub(1);
    whole
}

/// A search that panics must not leave the others waiting for it.
struct EndOnPanic<'a>(&'a Progress);

impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}
