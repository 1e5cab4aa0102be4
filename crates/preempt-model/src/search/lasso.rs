//! Runs without end: a stem and a loop.
//!
//! The cost of a lasso is that of its stem plus one round of its loop, the switch that closes it included: the loop
//! comes back to the same state with the same process running.
//!
//! The cheapest one is found by shortest paths (Dijkstra 1959) over nodes of the product with the process that is running: once
//! for all stems, then from each accepting node on a cycle, in the order of its stem's cost, back to itself within what the
//! best lasso so far costs. That is a search for each such node, quadratic in the worst case; the bound by the best lasso
//! ends most of them at once.

use super::RunCost;
use super::graph::{Graph, StableStep};
use crate::system::System;
use preempt_core::Budget;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};

/// A node of the product with the process that is running; `u16::MAX` before the first step.
type Running = (u32, u16);

const NOBODY: u16 = u16::MAX;

/// How often, in nodes, the budget is looked at.
const LOOK_UP_EVERY: usize = 1024;

/// The edges of stem and loop: node and which of its edges.
#[derive(Debug, Clone)]
pub(super) struct Lasso {
    pub stem: Vec<(u32, usize)>,
    pub cycle: Vec<(u32, usize)>,
    /// `None` if it was not made to be cheap.
    pub cost: Option<RunCost>,
}

/// How far paths are followed: up to a cost, and up to a goal.
struct Reach {
    limit: Option<RunCost>,
    goal: Option<Running>,
}

/// Distances from one beginning: for each what it costs, and the edge it was reached by.
struct Distances {
    best: HashMap<Running, Reached, foldhash::fast::RandomState>,
}

type Reached = (RunCost, Option<(Running, usize)>);

impl<S: System> Graph<S> {
    /// The cheapest lasso through an accepting node that lies on a cycle, within `bound` preemptions.
    /// `None` also if the budget ends first.
    pub(super) fn cheapest_lasso(
        &self,
        on_accepting_cycle: &[bool],
        bound: Option<u32>,
        budget: &Budget,
    ) -> Option<Lasso> {
        let begin = self.beginnings();
        let nothing = RunCost { preemptions: 0, steps: 0 };
        let limit = bound.map(|most| RunCost { preemptions: most, steps: u64::MAX });
        let stems = self.distances(&begin, nothing, Reach { limit, goal: None }, budget);
        let mut candidates: Vec<(RunCost, Running)> = stems
            .best
            .iter()
            .filter(|((node, _), _)| {
                self.nodes[*node as usize].accepting && on_accepting_cycle[*node as usize]
            })
            .map(|(running, (cost, _))| (*cost, *running))
            .collect();
        candidates.sort_unstable();
        let mut found: Option<Lasso> = None;
        for (stem_cost, running) in candidates {
            let limit = match found.as_ref().and_then(|lasso| lasso.cost) {
                // A loop has at least one step, or none at a place of rest: as cheap is not cheaper.
                Some(known) if stem_cost >= known => break,
                Some(known) => Some(known),
                None => limit,
            };
            if budget.exhausted().is_some() {
                return None;
            }
            let Some((cost, cycle)) = self.cheapest_cycle(running, stem_cost, limit, budget) else {
                continue;
            };
            if found.as_ref().and_then(|lasso| lasso.cost).is_none_or(|known| cost < known) {
                found = Some(Lasso { stem: stems.path_to(running), cycle, cost: Some(cost) });
            }
        }
        found
    }

    /// Before the first step nobody runs. A loop back to the initial state closes with somebody running, though, so
    /// each process is also taken as if it had been running already.
    fn beginnings(&self) -> Vec<Running> {
        let processes =
            |node: u32| self.states[self.nodes[node as usize].state as usize].free_to_leave.len() as u16;
        let running = |node: u32| (0..processes(node)).chain([NOBODY]).map(move |last| (node, last));
        self.initial.iter().copied().flat_map(running).collect()
    }

    /// Back to the same node with the same process running; its cost continues that of the stem.
    fn cheapest_cycle(
        &self,
        start: Running,
        stem: RunCost,
        limit: Option<RunCost>,
        budget: &Budget,
    ) -> Option<(RunCost, Vec<(u32, usize)>)> {
        let mut best: Option<(RunCost, Vec<(u32, usize)>)> = None;
        // The first edge is taken by hand, so that the start can be arrived at.
        for (number, (target, step)) in self.nodes[start.0 as usize].edges.iter().enumerate() {
            let (cost, runs) = self.step_cost(start, stem, *step);
            let after = (*target, runs);
            let limit = best.as_ref().map(|(cost, _)| *cost).or(limit);
            let closed = if after == start {
                (limit.is_none_or(|limit| cost <= limit)).then(|| (cost, Vec::new()))
            } else {
                let distances = self.distances(&[after], cost, Reach { limit, goal: Some(start) }, budget);
                distances.best.get(&start).map(|(cost, _)| (*cost, distances.path_to(start)))
            };
            if let Some((cost, rest)) = closed
                && best.as_ref().is_none_or(|(known, _)| cost < *known)
            {
                let mut cycle = vec![(start.0, number)];
                cycle.extend(rest);
                best = Some((cost, cycle));
            }
        }
        best
    }

    /// What a step costs when `running` says who ran before, and who runs after it.
    fn step_cost(&self, (node, last): Running, cost: RunCost, step: Option<u32>) -> (RunCost, u16) {
        // A state that is repeated for ever takes no step.
        let Some(step) = step else { return (cost, last) };
        let info = &self.states[self.nodes[node as usize].state as usize];
        let StableStep { process, runs, length, .. } = info.steps[step as usize];
        let free = last == NOBODY
            || last == process
            || info.free_to_leave.get(usize::from(last)).copied().unwrap_or(true);
        let cost = RunCost {
            preemptions: cost.preemptions + u32::from(!free),
            steps: cost.steps + u64::from(length),
        };
        (cost, runs)
    }

    fn distances(
        &self,
        begin: &[Running],
        cost: RunCost,
        Reach { limit, goal }: Reach,
        budget: &Budget,
    ) -> Distances {
        let mut distances = Distances { best: HashMap::default() };
        let mut settled: HashSet<Running, foldhash::fast::RandomState> = HashSet::default();
        let mut queue = BinaryHeap::new();
        for running in begin {
            distances.best.insert(*running, (cost, None));
            queue.push(Reverse((cost, *running)));
        }
        while let Some(Reverse((cost, running))) = queue.pop() {
            if !settled.insert(running) {
                continue;
            }
            if settled.len().is_multiple_of(LOOK_UP_EVERY) && budget.exhausted().is_some() {
                break;
            }
            if goal == Some(running) {
                break;
            }
            for (number, (target, step)) in self.nodes[running.0 as usize].edges.iter().enumerate() {
                let (cost, runs) = self.step_cost(running, cost, *step);
                if limit.is_some_and(|limit| cost > limit) {
                    continue;
                }
                let after = (*target, runs);
                let known = distances.best.get(&after);
                if known.is_none_or(|(known, _)| cost < *known) && !settled.contains(&after) {
                    distances.best.insert(after, (cost, Some((running, number))));
                    queue.push(Reverse((cost, after)));
                }
            }
        }
        distances
    }

    /// Some lasso into a component whose loop passes `waypoints` in turn: nodes to be visited or edges to be taken.
    pub(super) fn lasso_through(
        &self,
        component: &[u32],
        waypoints: &[Waypoint],
        budget: &Budget,
    ) -> Option<Lasso> {
        let first = waypoints.first()?.node();
        let begin = self.beginnings();
        let nothing = RunCost { preemptions: 0, steps: 0 };
        let stems = self.distances(&begin, nothing, Reach { limit: None, goal: None }, budget);
        let start = *stems
            .best
            .iter()
            .filter(|((node, _), _)| *node == first)
            .min_by_key(|(running, (cost, _))| (*cost, **running))?
            .0;
        let mut cycle = Vec::new();
        let mut at = first;
        for waypoint in waypoints {
            cycle.extend(self.path_inside(component, at, waypoint.node())?);
            at = waypoint.node();
            if let Waypoint::Edge(node, number) = waypoint {
                cycle.push((*node, *number));
                at = self.nodes[*node as usize].edges[*number].0;
            }
        }
        if at != first || cycle.is_empty() {
            cycle.extend(self.path_back(component, at, first)?);
        }
        Some(Lasso { stem: stems.path_to(start), cycle, cost: None })
    }

    /// The fewest edges from one node to another inside their component; none if they are the same.
    fn path_inside(&self, component: &[u32], from: u32, to: u32) -> Option<Vec<(u32, usize)>> {
        let mut before: HashMap<u32, (u32, usize)> = HashMap::new();
        let mut waiting = VecDeque::from([from]);
        let mut seen = HashSet::from([from]);
        while let Some(node) = waiting.pop_front() {
            if node == to {
                let mut path = Vec::new();
                let mut at = to;
                while let Some(edge) = before.get(&at) {
                    path.push(*edge);
                    at = edge.0;
                    if at == from {
                        break;
                    }
                }
                path.reverse();
                return Some(path);
            }
            for (number, (target, _)) in self.nodes[node as usize].edges.iter().enumerate() {
                if component[*target as usize] == component[from as usize] && seen.insert(*target) {
                    before.insert(*target, (node, number));
                    waiting.push_back(*target);
                }
            }
        }
        None
    }

    /// At least one edge, so that a node comes back to itself.
    fn path_back(&self, component: &[u32], from: u32, to: u32) -> Option<Vec<(u32, usize)>> {
        self.nodes[from as usize].edges.iter().enumerate().find_map(|(number, (target, _))| {
            let inside = component[*target as usize] == component[from as usize];
            let rest = inside.then(|| self.path_inside(component, *target, to)).flatten()?;
            Some(std::iter::once((from, number)).chain(rest).collect())
        })
    }
}

/// What a fair loop must pass.
#[derive(Debug, Clone, Copy)]
pub(super) enum Waypoint {
    Node(u32),
    Edge(u32, usize),
}

impl Waypoint {
    fn node(self) -> u32 {
        match self {
            Waypoint::Node(node) | Waypoint::Edge(node, _) => node,
        }
    }
}

impl Distances {
    fn path_to(&self, goal: Running) -> Vec<(u32, usize)> {
        let mut path = Vec::new();
        let mut at = goal;
        while let Some((_, Some((before, number)))) = self.best.get(&at) {
            path.push((before.0, *number));
            at = *before;
        }
        path.reverse();
        path
    }
}
