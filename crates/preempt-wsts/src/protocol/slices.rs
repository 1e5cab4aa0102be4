//! Protocols by weight: Fig. 3 of Bingham and Hu 2005 (paper 004) on decision diagrams over the local variables, from its sets
//! to a run or a certificate.
//!
//! The weight is the number of processes, which no step changes. So the search begins with the lightest pattern, and the
//! first weight at which it meets an initial state is the exact smallest number of processes.

use super::diagrams::{Diagrams, SlotOrder};
use super::{Found, Numbers};
use crate::weight::{Layer, WeightOutcome, by_weight};
use preempt_bdd::{Bdd, Full, TableOptions};
use preempt_core::{Budget, StopReason};
use preempt_net::protocol::{Bad, Place, Protocol, ProtocolRun, ProtocolState};

/// A set of states of one weight, as its diagram.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiagramSet {
    /// The number of processes.
    pub weight: u64,
    /// The bits from the top to the bottom: whose variable (a mover's stands for any process), of which slot, and which bit of
    /// its position among the variable's values, the least significant being 0.
    pub order: Vec<(Place, usize, usize)>,
    /// For each node the position of its bit, and its children for 0 and for 1: 0 is false, 1 is true, and `n + 2` is the
    /// n-th node. Children stand before their parents.
    pub nodes: Vec<(u32, usize, usize)>,
    /// The whole set, named as the children are.
    pub root: usize,
}

/// A small table first: most protocols need little, and a large one is not for nothing.
const TABLES: [(TableOptions, usize); 2] = [
    (TableOptions { nodes: 1 << 20, cache: 1 << 16 }, 1 << 18),
    (TableOptions { nodes: 1 << 24, cache: 1 << 21 }, usize::MAX),
];

/// From the bad states to an initial one, or to a set that is inductive.
pub(crate) fn search(protocol: &Protocol, bad: &Bad, order: SlotOrder, budget: &Budget) -> (Found, Numbers) {
    let room = budget
        .limits()
        .memory_bytes
        .map_or(usize::MAX, |bytes| usize::try_from(bytes / 24).unwrap_or(usize::MAX));
    let mut numbers = Numbers::default();
    for (table, most_nodes) in TABLES {
        numbers = Numbers { delta: protocol.deflation(), ..Numbers::default() };
        let table = TableOptions { nodes: table.nodes.min(room), cache: table.cache.min(room / 4) };
        match in_table(protocol, bad, order, (table, most_nodes), budget, &mut numbers) {
            Ok(found) => return (found, numbers),
            Err(Full) if budget.exhausted().is_some() => break,
            Err(Full) => {}
        }
    }
    (Found::Stopped(budget.exhausted().unwrap_or(StopReason::Memory)), numbers)
}

fn in_table(
    protocol: &Protocol,
    bad: &Bad,
    order: SlotOrder,
    (table, most_nodes): (TableOptions, usize),
    budget: &Budget,
    numbers: &mut Numbers,
) -> Result<Found, Full> {
    let diagrams = Diagrams::new(protocol, bad, order, table, budget)?;
    let outcome = by_weight(&diagrams, true, &mut |weight, rounds| {
        let nodes = diagrams.space.nodes();
        numbers.nodes = numbers.nodes.max(nodes as u64);
        (numbers.weight, numbers.images) = (weight, rounds);
        numbers.height = diagrams.height(weight);
        budget.counters().states.set(nodes as u64);
        budget.counters().bytes.set(24 * nodes as u64);
        if nodes > most_nodes { Err(Full) } else { diagrams.space.go_on() }
    })?;
    numbers.sizes = diagrams.sizes.borrow().iter().map(|(weight, size)| (*weight, *size as u64)).collect();
    match outcome {
        WeightOutcome::Reached { part, weight, layers } => {
            numbers.n = weight;
            let Some(initial) = diagrams.pick(&part, weight) else {
                return Ok(Found::Wrong("a set that is not empty has no element".into()));
            };
            Ok(match walk(protocol, bad, &diagrams, &layers, initial)? {
                Some(run) => Found::Reached(run),
                None => Found::Wrong("the layers of the search are no run".into()),
            })
        }
        WeightOutcome::Converged { set, n } => {
            numbers.n = n;
            Ok(Found::Diagram(listed(&diagrams, &set, n)?))
        }
    }
}

fn listed(diagrams: &Diagrams<'_>, set: &Bdd, weight: u64) -> Result<DiagramSet, Full> {
    let levels = diagrams.order(weight)?;
    let listing = diagrams.space.listing(set)?;
    let position = |level: u32| levels.binary_search_by_key(&level, |(it, ..)| *it).map_err(|_| Full);
    let nodes = listing
        .nodes
        .iter()
        .map(|(level, low, high)| Ok((position(*level)? as u32, *low, *high)))
        .collect::<Result<_, Full>>()?;
    let order = levels.into_iter().map(|(_, place, slot, bit)| (place, slot, bit)).collect();
    Ok(DiagramSet { weight, order, nodes, root: listing.root })
}

/// From a state through earlier and earlier layers to a bad one: a step where the layer was made by a step, and a process less
/// to look at where it was lifted.
fn walk(
    protocol: &Protocol,
    bad: &Bad,
    diagrams: &Diagrams<'_>,
    layers: &[Layer<Bdd>],
    initial: ProtocolState,
) -> Result<Option<ProtocolRun>, Full> {
    let mut run = ProtocolRun { initial: initial.clone(), steps: Vec::new() };
    let mut state = initial;
    // Those who matter: what the others do is only what happens to them.
    let mut active: Vec<usize> = (0..state.processes.len()).collect();
    let mut below = layers.len();
    'next: loop {
        let part = restricted(&state, &active);
        let Some(number) = earliest(diagrams, layers, below, &part)? else { return Ok(None) };
        if layers[number].lifted {
            if protocol.is_bad(&part, bad) {
                return Ok(Some(run));
            }
            for leave in 0..active.len() {
                let mut fewer = active.clone();
                fewer.remove(leave);
                if earliest(diagrams, layers, number, &restricted(&state, &fewer))?.is_some() {
                    (active, below) = (fewer, number);
                    continue 'next;
                }
            }
            return Ok(None);
        }
        for rule in 0..protocol.rules.len() {
            for (step, after) in protocol.steps_of(&part, rule) {
                if earliest(diagrams, layers, number, &after)?.is_some() {
                    let mut step = step;
                    step.mover = active[step.mover];
                    step.partner = step.partner.map(|it| active[it]);
                    let Some(after) = protocol.fire(&state, step) else { return Ok(None) };
                    state = after;
                    run.steps.push(step);
                    below = number;
                    continue 'next;
                }
            }
        }
        return Ok(None);
    }
}

fn restricted(state: &ProtocolState, active: &[usize]) -> ProtocolState {
    ProtocolState { global: state.global, processes: active.iter().map(|it| state.processes[*it]).collect() }
}

/// The first layer that has the state, among those before a number.
fn earliest(
    diagrams: &Diagrams<'_>,
    layers: &[Layer<Bdd>],
    below: usize,
    state: &ProtocolState,
) -> Result<Option<usize>, Full> {
    for (number, layer) in layers[..below].iter().enumerate() {
        if layer.weight == state.processes.len() as u64 && diagrams.contains(&layer.set, state)? {
            return Ok(Some(number));
        }
    }
    Ok(None)
}
