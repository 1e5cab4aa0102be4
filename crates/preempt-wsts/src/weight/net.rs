//! Nets by weight: from the sets of Fig. 3 of Bingham and Hu 2005 (paper 004) to a run or an inductive basis.

use super::slots::{Slots, TABLES};
use super::{Layer, WeightOutcome, by_weight};
use crate::certificate::{Certificate, InductiveBasis};
use crate::run::{Coverability, Run};
use preempt_bdd::{Bdd, Full, TableOptions};
use preempt_core::{Budget, StopReason};
use preempt_net::{Marking, Place, Problem, WellStructured};

/// How large the diagrams became.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Diagrams {
    /// The last weight at which something new was found: n_f of section 5.3.
    pub n: u64,
    /// A step takes away at most so much of the weight.
    pub delta: u64,
    /// The largest weight that was looked at.
    pub weight: u64,
    /// What a slot can hold: a place, or nothing.
    pub local_states: usize,
    /// How many Boolean variables that takes.
    pub bits_per_slot: usize,
    /// The number of Boolean variables of the largest set.
    pub height: u64,
    /// The most nodes in the table, those among them that were not needed any more.
    pub nodes: usize,
    /// Backward images that were computed.
    pub rounds: u64,
}

impl Diagrams {
    /// The bound of section 5.3: (n_f + delta) ceil(log2 |L|).
    pub fn bound(&self) -> u64 {
        self.n.saturating_add(self.delta).saturating_mul(self.bits_per_slot as u64)
    }
}

/// Why the engine does not apply to a net, if it does not.
pub(crate) fn refuses(problem: &Problem, lifting: bool) -> Option<&'static str> {
    if problem.net.deflation().is_none() {
        return Some("a transition copies tokens, which no delta bounds");
    }
    if !lifting && !problem.net.respects_weight() {
        return Some("a reset changes the weight by what is there, and only the lifted sets allow that");
    }
    None
}

pub(crate) fn backward_by_weight(
    problem: &Problem,
    open: &[usize],
    lifting: bool,
    budget: &Budget,
) -> (Coverability, Diagrams) {
    if refuses(problem, lifting).is_some() {
        return (Coverability::Unknown(StopReason::Partial), Diagrams::default());
    }
    // A node takes 24 bytes, and an entry of the cache about as many.
    let room = budget
        .limits()
        .memory_bytes
        .map_or(usize::MAX, |bytes| usize::try_from(bytes / 24).unwrap_or(usize::MAX));
    let mut search = Search { problem, open, lifting, diagrams: Diagrams::default() };
    for (table, most_nodes) in TABLES {
        search.diagrams = Diagrams::default();
        let table = TableOptions { nodes: table.nodes.min(room), cache: table.cache.min(room / 4) };
        match search.run(table, most_nodes, budget) {
            Ok(result) => return (result, search.diagrams),
            Err(Full) if budget.exhausted().is_some() => break,
            Err(Full) => {}
        }
    }
    let reason = budget.exhausted().unwrap_or(StopReason::Memory);
    (Coverability::Unknown(reason), search.diagrams)
}

struct Search<'p> {
    problem: &'p Problem,
    open: &'p [usize],
    lifting: bool,
    diagrams: Diagrams,
}

impl Search<'_> {
    /// In one table, which is left when it has more nodes than `most_nodes`. "Full" also when the budget is exhausted.
    fn run(&mut self, table: TableOptions, most_nodes: usize, budget: &Budget) -> Result<Coverability, Full> {
        let (problem, diagrams) = (self.problem, &mut self.diagrams);
        let slots = Slots::new(problem, self.open, &used(problem, self.open), table, budget)?;
        diagrams.delta = problem.net.deflation().unwrap_or(0);
        diagrams.local_states = slots.local_states();
        diagrams.bits_per_slot = slots.bits();
        let outcome = by_weight(&slots, self.lifting, &mut |weight, rounds| {
            let nodes = slots.space.nodes();
            diagrams.nodes = diagrams.nodes.max(nodes);
            diagrams.weight = weight;
            diagrams.height = weight * diagrams.bits_per_slot as u64;
            diagrams.rounds = rounds;
            budget.counters().states.set(nodes as u64);
            budget.counters().bytes.set(24 * nodes as u64);
            if nodes > most_nodes { Err(Full) } else { slots.space.go_on() }
        })?;
        match outcome {
            WeightOutcome::Reached { part, weight, layers } => {
                diagrams.n = weight;
                let run = slots
                    .pick(&part, weight)
                    .map(|marking| walk(problem, &slots, &layers, marking))
                    .transpose()?;
                let real =
                    run.flatten().filter(|run| problem.is_counterexample(&run.initial, &run.transitions));
                // A net that is not monotone may have the run only in its relaxation.
                Ok(real.map_or(Coverability::Unknown(StopReason::Partial), Coverability::Covered))
            }
            WeightOutcome::Converged { set, n } => {
                diagrams.n = n;
                let elements = slots.minimal(&set, n)?;
                let basis = InductiveBasis { empty: Vec::new(), bounds: Vec::new(), elements };
                Ok(Coverability::Safe(Certificate { refutations: Vec::new(), basis: Some(basis) }))
            }
        }
    }
}

/// The places that some transition or target has to do with.
fn used(problem: &Problem, open: &[usize]) -> Vec<bool> {
    let mut used = vec![false; problem.net.places.len()];
    let mut mark = |place: Place| used[place as usize] = true;
    for transition in &problem.net.transitions {
        transition.consume.iter().chain(transition.produce.iter()).for_each(|(place, _)| mark(place));
        for moved in &transition.moves {
            mark(moved.from);
            moved.to.iter().for_each(|to| mark(*to));
        }
    }
    open.iter().flat_map(|target| problem.targets[*target].iter()).for_each(|(place, _)| mark(place));
    used
}

/// From a marking in the last layer through earlier and earlier ones to a target: a step where the layer was made by a
/// step, and a token that is not needed where it was lifted.
fn walk(
    problem: &Problem,
    slots: &Slots<'_>,
    layers: &[Layer<Bdd>],
    start: Marking,
) -> Result<Option<Run>, Full> {
    let first_with = |marking: &Marking, before: usize| -> Result<Option<usize>, Full> {
        for (number, layer) in layers.iter().enumerate().take(before) {
            if slots.contains(&layer.set, layer.weight, marking)? {
                return Ok(Some(number));
            }
        }
        Ok(None)
    };
    let Some(initial) = problem.initial_covering(&start) else { return Ok(None) };
    let mut transitions = Vec::new();
    let (mut marking, mut before) = (start, layers.len());
    'next: while !problem.covers_target(&marking) {
        let Some(at) = first_with(&marking, before)? else { return Ok(None) };
        before = at;
        if layers[at].lifted {
            for (place, n) in marking.clone().iter() {
                let mut fewer = marking.clone();
                fewer.set(place, n - 1);
                // Also within the layer: it was lifted by several tokens at once.
                if first_with(&fewer, at + 1)?.is_some() {
                    marking = fewer;
                    before = at + 1;
                    continue 'next;
                }
            }
        } else {
            for (number, transition) in problem.net.transitions.iter().enumerate() {
                let Some(after) = transition.fire_relaxed(&marking) else { continue };
                if first_with(&after, at)?.is_some() {
                    transitions.push(number);
                    marking = after;
                    continue 'next;
                }
            }
        }
        return Ok(None);
    }
    Ok(Some(Run { initial, transitions }))
}
