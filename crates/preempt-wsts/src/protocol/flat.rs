//! Small protocols by basis: the classical algorithm (`crate::basis`) on numbered local states, and from its path a run with
//! named processes. It gives the exact smallest number of processes: no step changes that number, and light states are taken
//! first.

use super::{Found, Numbers};
use crate::basis::{BasisOutcome, by_basis};
use preempt_core::{Budget, StopReason};
use preempt_net::WellStructured;
use preempt_net::protocol::{Bad, Flat, FlatState, Protocol, ProtocolRun};

/// Why the engine does not apply, if it does not.
pub(crate) fn refuses(protocol: &Protocol) -> Option<String> {
    Flat::refuses(protocol)
}

/// From the bad states to an initial one, or to an inductive basis.
pub(crate) fn search(protocol: &Protocol, bad: &Bad, budget: &Budget) -> (Found, Numbers) {
    let stopped = |budget: &Budget| Found::Stopped(budget.exhausted().unwrap_or(StopReason::Partial));
    let mut numbers = Numbers { delta: protocol.deflation(), ..Numbers::default() };
    let Some(flat) = Flat::new(protocol, budget) else { return (stopped(budget), numbers) };
    let Some(targets) = flat.targets(bad) else {
        return (Found::Nothing("the bad states have too many smallest ones".into()), numbers);
    };
    let part = budget.part(&preempt_core::Limits::default());
    let outcome = by_basis(&flat, &targets, &|state| flat.below_initial(state), &part);
    numbers.elements = part.counters().states.get();
    numbers.predecessors = part.counters().transitions.get();
    let found = match outcome {
        BasisOutcome::Reached { first, steps } => {
            numbers.n = flat.weight(&first);
            match run(&flat, &first, &steps) {
                Some(run) => Found::Reached(run),
                None => Found::Wrong("the path of the basis is no run".into()),
            }
        }
        BasisOutcome::Inductive(elements) => {
            let base = targets.iter().map(|target| flat.weight(target)).max().unwrap_or(0);
            numbers.n = elements.iter().map(|it| flat.weight(it)).max().unwrap_or(0).max(base);
            numbers.basis = elements.len() as u64;
            Found::Elements(elements.iter().map(|it| flat.named(it)).collect(), numbers.n)
        }
        BasisOutcome::Stopped(reason) => Found::Stopped(reason),
    };
    (found, numbers)
}

/// Steps with names: at each one those are chosen who lead above the next element.
fn run(flat: &Flat<'_>, first: &FlatState, steps: &[(usize, FlatState)]) -> Option<ProtocolRun> {
    let initial = flat.named(first);
    let mut run = ProtocolRun { initial: initial.clone(), steps: Vec::new() };
    let mut state = initial;
    for (rule, next) in steps {
        let possible = flat.protocol().steps_of(&state, *rule);
        let (step, after) =
            possible.into_iter().find(|(_, after)| flat.below(next, &Flat::unnamed(after)))?;
        run.steps.push(step);
        state = after;
    }
    Some(run)
}
