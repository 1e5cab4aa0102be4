//! The product of a system and a monitor as an explicit graph, and its strongly connected components.

use super::spinning::spins;
use super::stable::{Event, expand};
use crate::monitor::Monitor;
use crate::system::System;
use preempt_core::{Limits, Observer, Progress, StopReason};
use std::collections::HashMap;
use std::time::Instant;

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
    /// By process: may it be left for free, because it cannot move or (if asked) only spins?
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

impl<S: System> Graph<S> {
    pub fn build<M: Monitor<S>>(
        system: &S,
        monitor: &M,
        fair_switch: bool,
        limits: &Limits,
        observer: &mut dyn Observer,
    ) -> Result<Graph<S>, StopReason> {
        let started = Instant::now();
        let mut graph = Graph { states: Vec::new(), nodes: Vec::new(), initial: Vec::new() };
        let mut state_numbers: HashMap<S::State, u32, foldhash::fast::RandomState> = HashMap::default();
        let mut node_numbers: HashMap<(u32, M::Place), u32, foldhash::fast::RandomState> = HashMap::default();
        let mut places: Vec<M::Place> = Vec::new();
        for state in system.initial_states() {
            let state = graph.state(&mut state_numbers, state);
            let node = graph.node(monitor, &mut node_numbers, &mut places, state, monitor.start());
            graph.initial.push(node);
        }
        let mut bytes = 0u64;
        let mut next = 0;
        while next < graph.nodes.len() {
            if next % 256 == 0 {
                observer.progress(&Progress {
                    states: graph.nodes.len() as u64,
                    frontier: (graph.nodes.len() - next) as u64,
                    ..Progress::default()
                });
                if let Some(reason) = observer.stop() {
                    return Err(reason);
                }
                if limits.time.is_some_and(|most| started.elapsed() >= most) {
                    return Err(StopReason::Time);
                }
            }
            if limits.states.is_some_and(|most| graph.nodes.len() as u64 > most) {
                return Err(StopReason::States);
            }
            if limits.memory_bytes.is_some_and(|most| bytes > most) {
                return Err(StopReason::Memory);
            }
            let (state, place) = (graph.nodes[next].state, places[next]);
            graph.expand_state(system, fair_switch, &mut state_numbers, state);
            let readings = monitor.read(&graph.states[state as usize].state, place);
            let mut edges = Vec::new();
            for place in readings.into_iter().filter_map(|reading| reading.place) {
                let steps = graph.states[state as usize].steps.clone();
                for (number, step) in (0..).zip(&steps) {
                    let target = graph.node(monitor, &mut node_numbers, &mut places, step.target, place);
                    edges.push((target, Some(number)));
                }
                if graph.states[state as usize].rests && monitor.stutters() {
                    let target = graph.node(monitor, &mut node_numbers, &mut places, state, place);
                    edges.push((target, None));
                }
            }
            bytes +=
                64 + 8 * edges.len() as u64 + system.state_bytes(&graph.states[state as usize].state) as u64;
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
        numbers: &mut HashMap<(u32, M::Place), u32, foldhash::fast::RandomState>,
        places: &mut Vec<M::Place>,
        state: u32,
        place: M::Place,
    ) -> u32 {
        *numbers.entry((state, place)).or_insert_with(|| {
            let accepting = monitor.accepts(&self.states[state as usize].state, place);
            self.nodes.push(Node { state, accepting, edges: Vec::new() });
            places.push(place);
            self.nodes.len() as u32 - 1
        })
    }

    fn expand_state(
        &mut self,
        system: &S,
        fair_switch: bool,
        numbers: &mut HashMap<S::State, u32, foldhash::fast::RandomState>,
        number: u32,
    ) {
        let info = &self.states[number as usize];
        let state = info.state.clone();
        let count = system.process_count(&state);
        if info.free_to_leave.len() == count && count > 0 {
            return;
        }
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
        let info = &mut self.states[number as usize];
        info.steps = steps;
        info.free_to_leave = free_to_leave;
        info.rests = rests;
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
