//! Several searches side by side: Algorithm 2 of Musuvathi and Qadeer 2007 (paper 001) on several threads of the operating
//! system that share the table of graphs.
//!
//! **What it does.** Each is a whole search that begins elsewhere, and none enters what another has closed. Graphs that are
//! complete are claimed in the table, so that they count once; who comes second has made a run in vain, which happens where
//! the searches meet. They go on to the next bound together, when the empty graph is closed within this one: then all runs
//! within it have been made, by whomever. So a failure has as few preemptions as one search would find, but which of several
//! equally cheap ones is reported may differ.
//!
//! **Why it is right.** Who closes a graph looks at its predecessors afterwards. Of two that close the last two successors
//! of a graph at the same time, the second to do so sees both closed, and closes it. Who finds out that something races has
//! an epoch of its own until the others take it over, and goes on until the empty graph is closed in that epoch. What others
//! close meanwhile counts for the epoch before (`table.rs`). So whoever is the last to find something closes all for all.
//!
//! **What it costs.** Each search has a program of its own to run, so memory grows with the searches; the table does not.
//! What is found to race (`racing.rs`) is found for all: each looks before its next step, at one number if there is nothing
//! new.

use crate::executable::Executable;
use crate::explore::{Exploration, ExplorationLimits, ExplorationStop, FailingRun};
use crate::marking;
use crate::racing::SharedRacing;
use crate::table::SharedTable;
use crate::team::{Team, TeamProgress};
use std::sync::{Arc, PoisonError};

/// Explores with so many threads. Every thread makes its own program to run.
///
/// ```
/// use preempt_stateless::program::{Op, Program};
/// use preempt_stateless::{ExplorationLimits, parallel};
///
/// // Three threads with one critical section each: 3! orders, whoever explores them.
/// let program = Program::new(vec![vec![Op::Lock(0), Op::Unlock(0)]; 3]);
/// let found = parallel::explore(|| program.clone(), &ExplorationLimits::default(), 2);
/// assert_eq!((found.executions, found.exhaustive), (6, true));
/// ```
pub fn explore<E: Executable>(
    make: impl Fn() -> E + Sync,
    limits: &ExplorationLimits,
    threads: usize,
) -> Exploration {
    let table = SharedTable::new();
    let (progress, size) = (Arc::new(TeamProgress::new(limits)), threads.max(1));
    let racing = Arc::new(SharedRacing::new());
    let found: Vec<Exploration> = std::thread::scope(|scope| {
        let search = |member: usize| {
            let (table, progress, make) = (&table, Arc::clone(&progress), &make);
            let team = Team { progress, racing: Some(Arc::clone(&racing)), size, member };
            move || {
                let ending = AbandonOnPanic(&team.progress);
                let found = marking::explore_from(&mut make(), limits, table, team.clone());
                std::mem::forget(ending);
                found
            }
        };
        let workers: Vec<_> = (0..size).map(|member| scope.spawn(search(member))).collect();
        workers.into_iter().filter_map(|worker| worker.join().ok()).collect()
    });
    together(found, &progress)
}

/// What all of them have explored and found.
fn together(found: Vec<Exploration>, progress: &TeamProgress) -> Exploration {
    // Some have seen a step that the fair bound cut, and others not.
    let exhaustive = found.iter().all(|part| part.exhaustive);
    let unfair = found.iter().any(|part| part.unfair);
    let mut whole = Exploration { exhaustive, unfair, ..Exploration::default() };
    let runs: u64 = found.iter().map(|part| part.executions + part.pruned).sum();
    for part in found {
        whole.steps += part.steps;
        whole.prefixes += part.prefixes;
        whole.visits += part.visits;
        whole.failures += part.failures;
        whole.graphs = part.graphs.max(whole.graphs);
        let simplest = |failing: &FailingRun| (failing.preemptions, failing.schedule.len());
        whole.failure = whole.failure.into_iter().chain(part.failure).min_by_key(simplest);
    }
    whole.executions = progress.executions();
    whole.pruned = runs - whole.executions;
    whole.per_bound = progress.per_bound.lock().unwrap_or_else(PoisonError::into_inner).clone();
    whole.stop = progress.stop.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if let (Some(ExplorationStop::Failure), Some(failing)) = (&whole.stop, &whole.failure) {
        // Others may have closed the bound of the failure before they heard of it; one search alone would not.
        whole.per_bound.truncate(failing.preemptions as usize);
    }
    whole.complete_to = (whole.per_bound.len() as u32).checked_sub(1);
    whole
}

/// A search that panics must not leave the others waiting for it.
struct AbandonOnPanic<'a>(&'a TeamProgress);

impl Drop for AbandonOnPanic<'_> {
    fn drop(&mut self) {
        self.0.abandon();
    }
}
