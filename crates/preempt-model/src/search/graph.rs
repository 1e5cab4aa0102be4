//! The product of a system and a monitor as an explicit graph, and its strongly connected components.
//!
//! A run that the monitor accepts is an infinite path through accepting nodes, and in a finite graph such a path ends in a
//! component that has a cycle and an accepting node (Vardi and Wolper 1986). Components are Tarjan's (1972), without
//! recursion: linear in the graph, all of which is kept in memory.

use super::spinning::spins;
use super::stable::{Event, expand};
use super::trail::bytes_of_table;
use crate::monitor::Monitor;
use crate::system::System;
use preempt_core::{Budget, Progress, Snapshot, StopReason};
use std::collections::HashMap;

/// Nodes are pairs of a stable state and the place where the monitor stands before it reads that state.
#[derive(Debug)]
pub(super) struct Graph<S: System> {
    pub states: Vec<StateInfo<S>>,
    pub nodes: Vec<Node>,
    pub initial: Vec<u32>,
}

#[derive(Debug)]
pub(super) struct StateInfo<S: System> {
    pub state: S::State,
    /// Steps to other stable states, by whichever process.
    pub steps: Vec<StableStep>,
    /// By process: may it be left for free, because it cannot move or (if that counts) only spins?
    pub free_to_leave: Vec<bool>,
    /// Nobody can move. A step that ends the run is a move too, although it leads nowhere.
    pub rests: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct StableStep {
    pub target: u32,
    pub process: u16,
    pub runs: u16,
    /// How many steps of the trace.
    pub length: u32,
    /// Which arrival of the process's expansion.
    pub which: u32,
}

#[derive(Debug)]
pub(super) struct Node {
    pub state: u32,
    pub accepting: bool,
    /// Target node, and the step of the state's list; `None` for a state that is repeated for ever.
    pub edges: Vec<(u32, Option<u32>)>,
}

/// The nodes by what they consist of, and where the monitor stands in each.
struct Numbered<P> {
    numbers: HashMap<(u32, P), u32, foldhash::fast::RandomState>,
    places: Vec<P>,
}

/// What the allocator needs for itself.
const BYTES_OF_AN_ALLOCATION: u64 = 24;

impl<S: System> Graph<S> {
    pub fn build<M: Monitor<S>>(
        system: &S,
        monitor: &M,
        fair_switch: bool,
        budget: &Budget,
        progress: &mut dyn Progress,
    ) -> Result<Graph<S>, StopReason> {
        let mut graph = Graph { states: Vec::new(), nodes: Vec::new(), initial: Vec::new() };
        let mut state_numbers: HashMap<S::State, u32, foldhash::fast::RandomState> = HashMap::default();
        let mut numbered = Numbered { numbers: HashMap::default(), places: Vec::new() };
        for state in system.initial_states() {
            let state = graph.state(&mut state_numbers, state);
            for place in monitor.starts() {
                let node = graph.node(monitor, &mut numbered, state, place);
                graph.initial.push(node);
            }
        }
        let mut bytes = 0u64;
        let mut next = 0;
        while next < graph.nodes.len() {
            if next % 64 == 0 {
                let bytes = bytes
                    + bytes_of_table::<(S::State, u32)>(state_numbers.capacity())
                    + bytes_of_table::<((u32, M::Place), u32)>(numbered.numbers.capacity())
                    + (graph.states.capacity() * size_of::<StateInfo<S>>()) as u64
                    + (graph.nodes.capacity() * size_of::<Node>()) as u64;
                let snapshot = Snapshot {
                    states: graph.nodes.len() as u64,
                    frontier: (graph.nodes.len() - next) as u64,
                    bytes,
                    ..Snapshot::default()
                };
                if let Some(reason) = budget.poll(&snapshot, progress) {
                    return Err(reason);
                }
            }
            if budget.limits().states.is_some_and(|most| graph.nodes.len() as u64 > most) {
                return Err(StopReason::States);
            }
            let (state, place) = (graph.nodes[next].state, numbered.places[next]);
            bytes += graph.expand_state(system, fair_switch, &mut state_numbers, state);
            if let Some(reason) = budget.stopped() {
                return Err(reason);
            }
            let readings = monitor.read(&graph.states[state as usize].state, place);
            let mut edges = Vec::new();
            for place in readings.into_iter().filter_map(|reading| reading.place) {
                let steps = graph.states[state as usize].steps.clone();
                for (number, step) in (0..).zip(&steps) {
                    let target = graph.node(monitor, &mut numbered, step.target, place);
                    edges.push((target, Some(number)));
                }
                if graph.states[state as usize].rests && monitor.stutters() {
                    let target = graph.node(monitor, &mut numbered, state, place);
                    edges.push((target, None));
                }
            }
            bytes += BYTES_OF_AN_ALLOCATION + (edges.capacity() * size_of::<(u32, Option<u32>)>()) as u64;
            graph.nodes[next].edges = edges;
            next += 1;
        }
        Ok(graph)
    }

    fn state(
        &mut self,
        numbers: &mut HashMap<S::State, u32, foldhash::fast::RandomState>,
        state: S::State,
    ) -> u32 {
        if let Some(number) = numbers.get(&state) {
            return *number;
        }
        let number = self.states.len() as u32;
        numbers.insert(state.clone(), number);
        self.states.push(StateInfo { state, steps: Vec::new(), free_to_leave: Vec::new(), rests: true });
        number
    }

    fn node<M: Monitor<S>>(
        &mut self,
        monitor: &M,
        numbered: &mut Numbered<M::Place>,
        state: u32,
        place: M::Place,
    ) -> u32 {
        *numbered.numbers.entry((state, place)).or_insert_with(|| {
            let accepting = monitor.accepts(&self.states[state as usize].state, place);
            self.nodes.push(Node { state, accepting, edges: Vec::new() });
            numbered.places.push(place);
            self.nodes.len() as u32 - 1
        })
    }

    /// The steps from a state, the first time; how many bytes that takes, with the states met.
    fn expand_state(
        &mut self,
        system: &S,
        fair_switch: bool,
        numbers: &mut HashMap<S::State, u32, foldhash::fast::RandomState>,
        number: u32,
    ) -> u64 {
        let info = &self.states[number as usize];
        let state = info.state.clone();
        let count = system.process_count(&state);
        if info.free_to_leave.len() == count && count > 0 {
            return 0;
        }
        let known = self.states.len();
        let mut steps = Vec::new();
        let mut free_to_leave = Vec::new();
        let mut rests = true;
        for process in 0..count {
            let mut which = 0;
            let moved = expand(system, &state, process, |event| {
                if let Event::Arrival { path, state, runs } = event {
                    steps.push(StableStep {
                        target: self.state(numbers, state),
                        process: process as u16,
                        runs: runs as u16,
                        length: path.len() as u32,
                        which,
                    });
                    which += 1;
                }
            });
            rests &= !moved;
            free_to_leave.push(!moved || (fair_switch && spins(system, &state, process)));
        }
        let met = self.states[known..].iter();
        let bytes_of = |info: &StateInfo<S>| 2 * system.state_bytes(&info.state) as u64;
        let bytes = met.map(|info| bytes_of(info) + 4 * BYTES_OF_AN_ALLOCATION).sum::<u64>();
        let own = (steps.capacity() * size_of::<StableStep>() + free_to_leave.capacity()) as u64;
        let info = &mut self.states[number as usize];
        info.steps = steps;
        info.free_to_leave = free_to_leave;
        info.rests = rests;
        bytes + own
    }

    /// For each node the number of its component, by Tarjan's algorithm without recursion. Components are numbered
    /// in reverse topological order.
    pub fn components(&self) -> Vec<u32> {
        const NEW: u32 = u32::MAX;
        let count = self.nodes.len();
        let (mut index, mut low) = (vec![NEW; count], vec![0u32; count]);
        let mut component = vec![NEW; count];
        let (mut stack, mut next_index, mut next_component) = (Vec::new(), 0, 0);
        for root in 0..count as u32 {
            if index[root as usize] != NEW {
                continue;
            }
            let mut calls = vec![(root, 0usize)];
            while let Some((node, edge)) = calls.last_mut() {
                let at = *node as usize;
                if *edge == 0 && index[at] == NEW {
                    index[at] = next_index;
                    low[at] = next_index;
                    next_index += 1;
                    stack.push(*node);
                }
                if let Some((target, _)) = self.nodes[at].edges.get(*edge) {
                    *edge += 1;
                    let target_at = *target as usize;
                    if index[target_at] == NEW {
                        calls.push((*target, 0));
                    } else if component[target_at] == NEW {
                        low[at] = low[at].min(index[target_at]);
                    }
                    continue;
                }
                calls.pop();
                if let Some((caller, _)) = calls.last() {
                    let caller = *caller as usize;
                    low[caller] = low[caller].min(low[at]);
                }
                if low[at] == index[at] {
                    while let Some(member) = stack.pop() {
                        component[member as usize] = next_component;
                        if member as usize == at {
                            break;
                        }
                    }
                    next_component += 1;
                }
            }
        }
        component
    }
}
