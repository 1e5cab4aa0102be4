//! Where the runs of a model end within a bound, by exhaustive search over states: Dijkstra's algorithm over (state, last
//! process), with what the bound counts as the distance. It knows nothing of graphs, threads or dependence.

use preempt_model::interpreter::State;
use preempt_model::system::{Successor, System};
use preempt_stateless::BoundFunction;
use preempt_stateless::system::FinalState;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Brute force gives up beyond so many pairs of a state and a last process.
const LARGEST: usize = 1500;

/// A state and who moved last, `None` at the beginning.
type Node = (State, Option<usize>);

/// What counts as a failure where nobody can move.
pub trait RunEnds: System<State = State> {
    fn fails(&self, end: &FinalState<State>) -> bool;
}

/// Where runs end, and at which cost.
#[derive(Debug, Default)]
pub struct Ends {
    /// Each with the least cost.
    pub costs: HashMap<FinalState<State>, u32>,
    /// Of those that fail.
    pub cheapest_failure: Option<u32>,
    /// There are runs without end within the bound.
    pub endless: bool,
}

/// `None` if there are too many states, or costs depend on more than states.
pub fn run_ends<S: RunEnds>(system: &S, function: BoundFunction, bound: Option<u32>) -> Option<Ends> {
    let mut ends = Ends::default();
    let mut followers: HashMap<Node, HashSet<Node>> = HashMap::new();
    let mut settled: HashSet<Node> = HashSet::new();
    let mut waiting: BTreeMap<u32, Vec<Node>> = BTreeMap::new();
    let initial = system.initial_states();
    let processes = initial.iter().map(|state| system.process_count(state)).max().unwrap_or(0);
    waiting.insert(0, initial.into_iter().map(|state| (state, None)).collect());
    while let Some(mut first) = waiting.first_entry() {
        let cost = *first.key();
        let Some(node) = first.get_mut().pop() else {
            first.remove();
            continue;
        };
        if !settled.insert(node.clone()) {
            continue;
        }
        if settled.len() > LARGEST {
            return None;
        }
        let (state, last) = &node;
        let mut here = state.clone();
        let mut alone = system.exclusive(&here);
        if alone.is_some_and(|alone| system.successors(&here, alone).is_empty()) {
            (here, alone) = (system.release(&here), None);
        }
        // Whose turn it is depends on who was started when, which a state does not tell.
        if function == BoundFunction::Delays && system.process_count(&here) > processes {
            return None;
        }
        let moves: BTreeMap<usize, Vec<_>> = (0..system.process_count(&here))
            .filter(|process| alone.is_none_or(|alone| alone == *process))
            .map(|process| (process, system.successors(&here, process)))
            .filter(|(_, successors)| !successors.is_empty())
            .collect();
        if moves.is_empty() {
            ends.add(system, FinalState { state: here, violation: None }, cost);
            continue;
        }
        let enabled: Vec<usize> = moves.keys().copied().collect();
        for (process, successors) in moves {
            for Successor { state, violation, runs, .. } in successors {
                // A rendezvous is two steps, of which the second is its receiver's, who alone can move.
                let hands_over = runs != process && state.is_some() && runs < system.process_count(&here);
                let price = price(function, *last, &enabled, process, processes)
                    + match function {
                        BoundFunction::ContextSwitches | BoundFunction::Depth => u32::from(hands_over),
                        BoundFunction::Preemptions | BoundFunction::Delays => 0,
                    };
                let cost = cost + price;
                if bound.is_some_and(|bound| cost > bound) {
                    continue;
                }
                match (state, violation) {
                    (Some(after), None) => {
                        let next = (after, Some(runs));
                        followers.entry(node.clone()).or_default().insert(next.clone());
                        waiting.entry(cost).or_default().push(next);
                    }
                    (after, violation) => {
                        let state = after.unwrap_or_else(|| here.clone());
                        ends.add(system, FinalState { state, violation }, cost);
                    }
                }
            }
        }
    }
    ends.endless = has_cycle(followers);
    Some(ends)
}

/// What a step of the process costs, by the words of what is counted.
fn price(
    function: BoundFunction,
    last: Option<usize>,
    enabled: &[usize],
    process: usize,
    processes: usize,
) -> u32 {
    match (function, last) {
        (BoundFunction::Depth, _) => 1,
        (BoundFunction::Preemptions, Some(last)) => u32::from(last != process && enabled.contains(&last)),
        (BoundFunction::ContextSwitches, Some(last)) => u32::from(last != process),
        (BoundFunction::Preemptions | BoundFunction::ContextSwitches, None) => 0,
        (BoundFunction::Delays, last) => {
            let turn = |process: usize| (process + processes - last.unwrap_or(0)) % processes.max(1);
            enabled.iter().filter(|other| turn(**other) < turn(process)).count() as u32
        }
    }
}

/// What is left when nodes without followers are taken away again and again lies on a cycle, or before one.
fn has_cycle<N: Eq + std::hash::Hash + Clone>(mut followers: HashMap<N, HashSet<N>>) -> bool {
    loop {
        let before: usize = followers.values().map(HashSet::len).sum::<usize>() + followers.len();
        let with: HashSet<N> = followers.keys().cloned().collect();
        followers.values_mut().for_each(|after| after.retain(|node| with.contains(node)));
        followers.retain(|_, after| !after.is_empty());
        let after: usize = followers.values().map(HashSet::len).sum::<usize>() + followers.len();
        if followers.is_empty() || after == before {
            return !followers.is_empty();
        }
    }
}

impl Ends {
    fn add<S: RunEnds>(&mut self, system: &S, end: FinalState<State>, cost: u32) {
        if system.fails(&end) {
            self.cheapest_failure = Some(self.cheapest_failure.map_or(cost, |known| known.min(cost)));
        }
        let least = self.costs.entry(end).or_insert(cost);
        *least = cost.min(*least);
    }
}
