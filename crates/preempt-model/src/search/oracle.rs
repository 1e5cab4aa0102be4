//! Shortest paths over (state, last process), step by step, with no reduction and no cleverness: slow, small, and
//! the judge of every engine.
//!
//! Dijkstra's algorithm (1959) with the cost of a run as the distance: preemptions first, then steps. Whether leaving a
//! process is charged depends only on the state and on who ran last, so that costs add up along a path and no step makes a
//! run cheaper; hence the first time a pair is taken from the queue its cost is the least. It visits every state once for
//! each process that may have run last, where the engines expand each process of a state once.

use super::RunCost;
use super::spinning::spins;
use crate::system::{System, Violation};
use preempt_core::Cost;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

/// What every state and every violation of a finite system costs at least.
#[derive(Debug, Clone)]
pub struct CheapestCosts<S: System> {
    /// Fewest preemptions that reach each stable state.
    pub states: HashMap<S::State, u32>,
    /// Cheapest cost of each distinct violation of a step.
    pub violations: BTreeMap<Violation, RunCost>,
    /// Cheapest cost of a state where nobody can move and somebody should.
    pub deadlock: Option<RunCost>,
}

impl<S: System> CheapestCosts<S> {
    /// How many stable states are reached with at most so many preemptions.
    pub fn states_within(&self, bound: u32) -> usize {
        self.states.values().filter(|preemptions| **preemptions <= bound).count()
    }

    /// The cheapest violation of any kind.
    pub fn cheapest(&self) -> Option<RunCost> {
        self.violations.values().copied().chain(self.deadlock).min()
    }
}

/// Everything about a finite system. Unbounded in time and memory: for small systems.
///
/// ```
/// use preempt_core::SourceMap;
/// use preempt_model::search::oracle::cheapest_costs;
/// use preempt_model::{Interpreter, Model};
///
/// let (model, sources) = (Model::default(), SourceMap::new());
/// let interpreter = Interpreter::new(&model, &sources).expect("nothing can be wrong in an empty model");
/// let costs = cheapest_costs(&interpreter, false);
/// assert_eq!((costs.states_within(0), costs.cheapest()), (1, None));
/// ```
pub fn cheapest_costs<S: System>(system: &S, fair_switch: bool) -> CheapestCosts<S> {
    cheapest_costs_by(system, Cost::Preemptions, fair_switch)
}

/// With something else than preemptions as the first part of the cost; what is charged by steps has none.
pub fn cheapest_costs_by<S: System>(system: &S, unit: Cost, fair_switch: bool) -> CheapestCosts<S> {
    let mut costs = CheapestCosts { states: HashMap::new(), violations: BTreeMap::new(), deadlock: None };
    // Nodes are numbered; `None` as last process means that nobody has run yet.
    let mut numbers: HashMap<(S::State, Option<usize>), usize> = HashMap::new();
    let mut nodes: Vec<(S::State, Option<usize>)> = Vec::new();
    let mut best: Vec<RunCost> = Vec::new();
    let mut queue = BinaryHeap::new();
    let mut reach =
        |node: (S::State, Option<usize>), cost: RunCost, queue: &mut BinaryHeap<_>, nodes: &mut Vec<_>| {
            let number = *numbers.entry(node.clone()).or_insert_with(|| {
                nodes.push(node);
                best.push(RunCost { preemptions: u32::MAX, steps: u64::MAX });
                best.len() - 1
            });
            if cost < best[number] {
                best[number] = cost;
                queue.push(Reverse((cost, number)));
            }
        };
    for state in system.initial_states() {
        reach((state, None), RunCost { preemptions: 0, steps: 0 }, &mut queue, &mut nodes);
    }
    let mut settled: Vec<bool> = Vec::new();
    while let Some(Reverse((cost, number))) = queue.pop() {
        settled.resize(nodes.len(), false);
        if std::mem::replace(&mut settled[number], true) {
            continue;
        }
        let (state, last) = nodes[number].clone();
        let moves_of = |process: usize| system.successors(&state, process);
        if let Some(holder) = system.exclusive(&state) {
            let moves = moves_of(holder);
            if moves.is_empty() {
                reach((system.release(&state), last), cost, &mut queue, &mut nodes);
            }
            for successor in moves {
                let cost = RunCost { steps: cost.steps + 1, ..cost };
                note(&mut costs.violations, successor.violation, cost);
                if let Some(next) = successor.state {
                    reach((next, Some(successor.runs)), cost, &mut queue, &mut nodes);
                }
            }
            continue;
        }
        let level = costs.states.entry(state.clone()).or_insert(cost.preemptions);
        *level = (*level).min(cost.preemptions);
        note(&mut costs.violations, system.state_violation(&state), cost);
        let moves: Vec<_> = (0..system.process_count(&state)).map(moves_of).collect();
        if moves.iter().all(Vec::is_empty) && !system.may_end(&state) {
            costs.deadlock = Some(costs.deadlock.map_or(cost, |known| known.min(cost)));
        }
        let leaving_is_free = match last {
            None => true,
            Some(last) => {
                moves.get(last).is_none_or(Vec::is_empty) || (fair_switch && spins(system, &state, last))
            }
        };
        for (process, successors) in moves.into_iter().enumerate() {
            let switches = last.is_some_and(|last| last != process);
            let charged = match unit {
                Cost::Preemptions => switches && !leaving_is_free,
                Cost::Switches => switches,
                Cost::Steps => false,
            };
            let cost = RunCost { preemptions: cost.preemptions + u32::from(charged), steps: cost.steps + 1 };
            for successor in successors {
                note(&mut costs.violations, successor.violation, cost);
                if let Some(next) = successor.state {
                    reach((next, Some(successor.runs)), cost, &mut queue, &mut nodes);
                }
            }
        }
    }
    costs
}

fn note(violations: &mut BTreeMap<Violation, RunCost>, violation: Option<Violation>, cost: RunCost) {
    if let Some(violation) = violation {
        let known = violations.entry(violation).or_insert(cost);
        *known = (*known).min(cost);
    }
}
