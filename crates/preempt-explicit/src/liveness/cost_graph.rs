//! The product once more, with the process that is running: what a step costs depends on it.
//!
//! A node is a state with the process that runs in it; an edge costs a preemption if it takes the processor from somebody
//! who could go on, and its steps. Nodes are settled in the order of their cost (Dijkstra's algorithm, with pairs as
//! weights), so that everything within so many preemptions is there before anything that needs more. There are at most as
//! many nodes as states times processes, but edges are kept once for each state.

use super::graph::{Edge, Graph, Incomplete};
use super::product_graph::ProductGraph;
use crate::replay::NOBODY;
use crate::store::StateNumber;
use preempt_core::Progress;
use preempt_model::search::RunCost;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// A state with the process that is running in it.
#[derive(Debug, Clone, Copy)]
pub struct Node {
    pub state: StateNumber,
    running: u8,
    pub accepts: bool,
    /// May the running process be left for free?
    free: bool,
    /// Of the cheapest path from an initial node, once this one is settled; before that, the cheapest known.
    pub cost: RunCost,
    /// The node before it on that path, and the number of its step; the node itself if it is initial.
    pub from: (u32, u32),
    /// When it was settled, counted from 0.
    pub rank: u32,
    /// The first of its targets.
    targets: u32,
}

const NEVER: u32 = u32::MAX;

#[derive(Default)]
pub struct CostGraph {
    pub nodes: Vec<Node>,
    numbers: HashMap<(StateNumber, u8), u32, foldhash::fast::RandomState>,
    /// Nodes that cost as much are not settled.
    pub cheaper_than: Option<RunCost>,
    /// The nodes that are settled, in the order of their cost.
    pub settled: Vec<u32>,
    waiting: BinaryHeap<Reverse<(RunCost, u32)>>,
    /// The steps from each state: where they begin in `edges`, and how many they are.
    steps: HashMap<StateNumber, Steps, foldhash::fast::RandomState>,
    edges: Vec<Edge>,
    /// For each settled node the nodes to which the steps from its state lead.
    targets: Vec<u32>,
}

#[derive(Clone)]
struct Steps {
    first: u32,
    count: u32,
    free: Vec<u8>,
}

impl CostGraph {
    /// Before the first step nobody runs. A loop back to the initial state closes with somebody running, though, so
    /// each process is also taken as if it had been running already.
    pub fn new(product: &mut ProductGraph<'_, '_>) -> Result<CostGraph, Incomplete> {
        let mut graph = CostGraph::default();
        let nothing = RunCost { preemptions: 0, steps: 0 };
        for state in product.initial()? {
            for running in (0..product.process_count(state)).chain([NOBODY]) {
                let node = graph.number(product, state, running);
                graph.reach(node, nothing, (node, 0));
            }
        }
        Ok(graph)
    }

    fn number(&mut self, product: &mut ProductGraph<'_, '_>, state: StateNumber, running: u8) -> u32 {
        *self.numbers.entry((state, running)).or_insert_with(|| {
            let never = RunCost { preemptions: u32::MAX, steps: u64::MAX };
            self.nodes.push(Node {
                state,
                running,
                accepts: product.accepts(state),
                free: false,
                cost: never,
                from: (0, 0),
                rank: NEVER,
                targets: 0,
            });
            self.nodes.len() as u32 - 1
        })
    }

    fn reach(&mut self, node: u32, cost: RunCost, from: (u32, u32)) {
        let known = &mut self.nodes[node as usize];
        if cost < known.cost {
            (known.cost, known.from) = (cost, from);
            self.waiting.push(Reverse((cost, node)));
        }
    }

    /// Settles every node within so many preemptions. Says whether there are further ones.
    pub fn settle(
        &mut self,
        product: &mut ProductGraph<'_, '_>,
        preemptions: u32,
        progress: &mut dyn Progress,
    ) -> Result<bool, Incomplete> {
        while let Some(Reverse((cost, node))) = self.waiting.peek().copied() {
            if cost.preemptions > preemptions {
                return Ok(true);
            }
            if self.cheaper_than.is_some_and(|known| cost >= known) {
                return Ok(false);
            }
            self.waiting.pop();
            let at = node as usize;
            if self.nodes[at].rank != NEVER || !product.is_within_depth(cost.steps as usize) {
                continue;
            }
            self.nodes[at].rank = self.settled.len() as u32;
            self.settled.push(node);
            let Node { state, running, .. } = self.nodes[at];
            let steps = self.steps_from(product, state)?;
            self.nodes[at].targets = self.targets.len() as u32;
            // A process that has ended cannot go on.
            let ended = running >= product.process_count(state);
            self.nodes[at].free = ended || steps.free.contains(&running);
            for number in 0..steps.count {
                let edge = self.edges[(steps.first + number) as usize];
                // A state of rest repeats itself, and whoever was running still is.
                let runs = if edge.by == NOBODY { running } else { edge.runs };
                let target = self.number(product, edge.to, runs);
                self.targets.push(target);
                let cost = self.nodes[at].after(&edge, cost);
                if self.nodes[target as usize].rank == NEVER {
                    self.reach(target, cost, (node, number));
                }
            }
            product.poll(self.waiting.len() as u64, self.bytes(), preemptions, progress)?;
        }
        Ok(false)
    }

    fn steps_from(
        &mut self,
        product: &mut ProductGraph<'_, '_>,
        state: StateNumber,
    ) -> Result<Steps, Incomplete> {
        if let Some(steps) = self.steps.get(&state) {
            return Ok(steps.clone());
        }
        let expansion = product.expand_with_costs(state)?;
        let (first, count) = (self.edges.len() as u32, expansion.edges.len() as u32);
        self.edges.extend(expansion.edges);
        let steps = Steps { first, count, free: expansion.free };
        self.steps.insert(state, steps.clone());
        Ok(steps)
    }

    /// Of a settled node: where each of its steps leads, and what it is.
    pub fn steps_of(&self, node: u32) -> impl Iterator<Item = (u32, &Edge)> {
        let it = &self.nodes[node as usize];
        let steps = self.steps.get(&it.state).filter(|_| it.rank != NEVER);
        let (first, count) = steps.map_or((0, 0), |steps| (steps.first as usize, steps.count as usize));
        let targets = &self.targets[it.targets as usize..][..count];
        targets.iter().copied().zip(&self.edges[first..first + count])
    }

    pub fn edge(&self, (node, number): (u32, u32)) -> Option<(u32, Edge)> {
        self.steps_of(node).nth(number as usize).map(|(target, edge)| (target, *edge))
    }

    /// The cheapest path to the node: the state where it begins, and its steps.
    pub fn path_to(&self, node: u32) -> (StateNumber, Vec<Edge>) {
        let mut steps = Vec::new();
        let mut at = node;
        while let Some((_, edge)) =
            Some(self.nodes[at as usize].from).filter(|from| from.0 != at).and_then(|from| self.edge(from))
        {
            steps.push(edge);
            at = self.nodes[at as usize].from.0;
        }
        steps.reverse();
        (self.nodes[at as usize].state, steps)
    }

    pub fn bytes(&self) -> u64 {
        let each = |length: usize, size: usize| (length * size) as u64;
        each(self.nodes.len(), size_of::<Node>() + 24)
            + each(self.steps.len(), size_of::<Steps>() + 24)
            + each(self.edges.len(), size_of::<Edge>())
            + each(self.targets.len() + self.settled.len(), 4)
            + each(self.waiting.len(), 24)
    }

    /// For each node the number of its component among the settled nodes, or that it is in none with a cycle; by
    /// Tarjan's algorithm without recursion. With `free`, only steps that are no preemption count.
    pub fn components(&self, free: bool) -> Vec<Option<u32>> {
        let mut index = vec![NEVER; self.nodes.len()];
        let mut low = vec![0; self.nodes.len()];
        let mut component = vec![None; self.nodes.len()];
        let mut is_done = vec![false; self.nodes.len()];
        let (mut open, mut next, mut components) = (Vec::new(), 0, 0);
        let counts = |node: &Node, edge: &Edge| !free || !node.preempts(edge);
        for root in &self.settled {
            if index[*root as usize] != NEVER {
                continue;
            }
            let mut path = vec![(*root, self.steps_of(*root))];
            let mut is_new = true;
            while let Some((node, steps)) = path.last_mut() {
                let (node, at) = (*node, *node as usize);
                if std::mem::take(&mut is_new) {
                    (index[at], low[at]) = (next, next);
                    next += 1;
                    open.push(node);
                }
                if let Some((target, edge)) = steps.next() {
                    let to = target as usize;
                    if !counts(&self.nodes[at], edge) || self.nodes[to].rank == NEVER {
                    } else if index[to] == NEVER {
                        path.push((target, self.steps_of(target)));
                        is_new = true;
                    } else if !is_done[to] {
                        low[at] = low[at].min(index[to]);
                    }
                    continue;
                }
                path.pop();
                if let Some((before, _)) = path.last() {
                    let before = *before as usize;
                    low[before] = low[before].min(low[at]);
                }
                if low[at] == index[at] {
                    let from = open.iter().rposition(|member| *member == node).unwrap_or(0);
                    let members = open.split_off(from);
                    let to_itself =
                        || self.steps_of(node).any(|(to, edge)| to == node && counts(&self.nodes[at], edge));
                    let cyclic = members.len() > 1 || to_itself();
                    for member in &members {
                        is_done[*member as usize] = true;
                        component[*member as usize] = cyclic.then_some(components);
                    }
                    components += 1;
                }
            }
        }
        component
    }
}

impl Node {
    /// Does the step take the processor from somebody who could go on?
    fn preempts(&self, edge: &Edge) -> bool {
        edge.by != NOBODY && self.running != NOBODY && edge.by != self.running && !self.free
    }

    /// What a run costs after the step.
    pub fn after(&self, edge: &Edge, cost: RunCost) -> RunCost {
        RunCost {
            preemptions: cost.preemptions + u32::from(self.preempts(edge)),
            steps: cost.steps + u64::from(edge.steps),
        }
    }
}
