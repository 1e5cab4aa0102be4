//! The cheapest run without end: fewest preemptions, then fewest steps, of its stem and one round of its loop together,
//! the switch that closes the loop included (`search/lasso.rs` of the model defines it).
//!
//! The loop begins at an accepting node, a state with the process that runs in it. For 0, 1, 2, ... preemptions in
//! turn: everything within so many is settled in the order of cost, and from each accepting node a search in the order
//! of cost looks for a path back within what the path to the node has left. Most nodes need no search:
//!
//! * a node that lies on no cycle within the bound, and, where nothing is left, on none without preemptions;
//! * one that costs as much as a whole lasso that is known.
//!
//! And no search passes an accepting node that was settled before the one it began at: a loop through both is found
//! from the other one, at the same price or a lower one.
//!
//! In the worst case that is a search for each accepting node, quadratic in the size of the graph, hence the limit
//! [`LassoLimits::effort`]. Deciding first whether there is a lasso at all, by an algorithm that is linear, keeps the usual
//! case cheap: the levels are climbed only where one is known to exist.

use super::Lasso;
use super::cost_graph::CostGraph;
use super::graph::{Edge, Incomplete};
use super::product_graph::ProductGraph;
use crate::budget::Every;
use crate::store::StateNumber;
use preempt_core::{Budget, Progress, StopReason};
use preempt_model::search::RunCost;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

/// How often, in nodes, a search for a path back looks at the clock.
const LOOK_EVERY: u32 = 1024;

/// How far the search goes.
#[derive(Debug, Clone, Copy, Default)]
pub struct LassoLimits {
    /// In preemptions; without one there must be a lasso, or the search does not end.
    pub bound: Option<u32>,
    /// Only lassos that cost less count.
    pub cheaper_than: Option<RunCost>,
    /// Steps that searches for loops may try: after that it would be a matter of time.
    pub effort: Option<u64>,
}

pub fn search(
    product: &mut ProductGraph<'_, '_>,
    LassoLimits { bound, cheaper_than, effort }: LassoLimits,
    progress: &mut dyn Progress,
) -> Result<Option<(RunCost, Lasso)>, Incomplete> {
    let mut graph = CostGraph::new(product)?;
    graph.cheaper_than = cheaper_than;
    let mut rounds = Rounds::new(effort, product.budget().clone());
    let mut preemptions = 0;
    loop {
        let more = graph.settle(product, preemptions, progress)?;
        if let Some(found) = cheapest(product, &graph, &mut rounds, preemptions, progress)? {
            return Ok(Some(found));
        }
        // Where everything is settled and nothing lies on a cycle, a higher bound changes nothing.
        if bound == Some(preemptions) || !more && !rounds.may_succeed {
            return Ok(None);
        }
        preemptions += 1;
    }
}

/// The same loop, entered by the cheapest path to any of its states; as it was, if that takes too long.
pub fn with_cheapest_stem(
    product: &mut ProductGraph<'_, '_>,
    mut lasso: Lasso,
    progress: &mut dyn Progress,
) -> Lasso {
    let on_loop: HashSet<StateNumber> = lasso.cycle.iter().map(|edge| edge.from).collect();
    let Ok(mut graph) = CostGraph::new(product) else { return lasso };
    for preemptions in 0.. {
        let before = graph.settled.len();
        let Ok(more) = graph.settle(product, preemptions, progress) else { return lasso };
        let state = |node: u32| graph.nodes[node as usize].state;
        if let Some(node) = graph.settled[before..].iter().find(|node| on_loop.contains(&state(**node))) {
            (lasso.initial, lasso.stem) = graph.path_to(*node);
            let begins = lasso.cycle.iter().position(|edge| edge.from == state(*node));
            lasso.cycle.rotate_left(begins.unwrap_or(0));
            break;
        }
        if !more {
            break;
        }
    }
    lasso
}

/// The cheapest lasso among the settled nodes, within so many preemptions.
fn cheapest(
    product: &mut ProductGraph<'_, '_>,
    graph: &CostGraph,
    rounds: &mut Rounds,
    preemptions: u32,
    progress: &mut dyn Progress,
) -> Result<Option<(RunCost, Lasso)>, Incomplete> {
    let component = graph.components(false);
    let without_preemption = graph.components(true);
    rounds.begin(graph.nodes.len());
    let mut found: Option<(RunCost, u32, Vec<Edge>)> = None;
    for seed in graph.settled.iter().copied().filter(|node| graph.nodes[*node as usize].accepts) {
        let node = &graph.nodes[seed as usize];
        let most = RunCost { preemptions, steps: u64::MAX };
        let most = graph.cheaper_than.map_or(most, |known| most.min(known));
        let limit = found.as_ref().map_or(most, |(cost, ..)| *cost);
        if node.cost >= limit {
            break;
        }
        rounds.may_succeed |= component[seed as usize].is_some();
        let within = if node.cost.preemptions < preemptions { &component } else { &without_preemption };
        if within[seed as usize].is_none() {
            continue;
        }
        let round = Round { graph, component: within, seed, limit };
        if let Some((cost, cycle)) = rounds.cheapest(&round)
            && found
                .as_ref()
                .map(|(known, ..)| *known)
                .or(graph.cheaper_than)
                .is_none_or(|known| cost < known)
        {
            found = Some((cost, seed, cycle));
        }
        product.is_whole()?;
        if rounds.is_exhausted() {
            return Err(Incomplete::Limit(StopReason::States));
        }
        let bytes = graph.bytes() + rounds.bytes();
        product.poll(graph.settled.len() as u64, bytes, preemptions, progress)?;
    }
    Ok(found.map(|(cost, seed, cycle)| {
        let (initial, stem) = graph.path_to(seed);
        (cost, Lasso { initial, stem, cycle })
    }))
}

/// What one search for a path back is about.
struct Round<'a> {
    graph: &'a CostGraph,
    /// It stays in the component of its seed.
    component: &'a [Option<u32>],
    /// The accepting node at which it begins and ends.
    seed: u32,
    /// It costs no more than this, the path to the seed included.
    limit: RunCost,
}

/// Searches for paths back, one after the other.
struct Rounds {
    /// Each search has a number; what belongs to another is forgotten.
    number: u32,
    reached: Vec<Reached>,
    waiting: BinaryHeap<Reverse<(RunCost, u32)>>,
    effort: Option<u64>,
    budget: Budget,
    look: Every,
    /// Is there an accepting node on a cycle?
    may_succeed: bool,
}

#[derive(Clone)]
struct Reached {
    search: u32,
    cost: RunCost,
    from: (u32, u32),
    is_settled: bool,
}

impl Rounds {
    fn new(effort: Option<u64>, budget: Budget) -> Rounds {
        Rounds {
            number: 0,
            reached: Vec::new(),
            waiting: BinaryHeap::new(),
            effort,
            budget,
            look: Every::new(LOOK_EVERY),
            may_succeed: false,
        }
    }

    fn begin(&mut self, nodes: usize) {
        let nothing = RunCost { preemptions: 0, steps: 0 };
        let never = Reached { search: 0, cost: nothing, from: (0, 0), is_settled: false };
        self.reached.resize(nodes, never);
        self.may_succeed = false;
    }

    /// From the seed back to it, continuing the cost of the path to it.
    fn cheapest(&mut self, round: &Round<'_>) -> Option<(RunCost, Vec<Edge>)> {
        self.number += 1;
        self.waiting.clear();
        self.leave(round, round.seed, round.graph.nodes[round.seed as usize].cost);
        while let Some(Reverse((cost, node))) = self.waiting.pop() {
            if std::mem::replace(&mut self.reached[node as usize].is_settled, true) {
                continue;
            }
            if node == round.seed {
                return Some((cost, self.cycle(round)));
            }
            self.leave(round, node, cost);
            if self.look.is_due() {
                self.budget.exhausted();
            }
            if self.is_exhausted() {
                return None;
            }
        }
        None
    }

    fn leave(&mut self, round: &Round<'_>, node: u32, cost: RunCost) {
        let Round { graph, component, seed, limit } = *round;
        let (from, rank) = (&graph.nodes[node as usize], graph.nodes[seed as usize].rank);
        for (number, (target, edge)) in (0..).zip(graph.steps_of(node)) {
            self.effort = self.effort.map(|left| left.saturating_sub(1));
            let it = &graph.nodes[target as usize];
            let is_earlier_seed = it.accepts && it.rank < rank && target != seed;
            let is_inside = component[target as usize] == component[seed as usize];
            let cost = from.after(edge, cost);
            if !is_inside || is_earlier_seed || cost > limit {
                continue;
            }
            let known = &mut self.reached[target as usize];
            if known.search != self.number || (cost < known.cost && !known.is_settled) {
                *known = Reached { search: self.number, cost, from: (node, number), is_settled: false };
                self.waiting.push(Reverse((cost, target)));
            }
        }
    }

    /// The steps of the round that was found.
    fn cycle(&self, round: &Round<'_>) -> Vec<Edge> {
        let mut steps = Vec::new();
        let mut at = round.seed;
        loop {
            let from = self.reached[at as usize].from;
            steps.extend(round.graph.edge(from).map(|(_, edge)| edge));
            at = from.0;
            if at == round.seed {
                break;
            }
        }
        steps.reverse();
        steps
    }

    fn is_exhausted(&self) -> bool {
        self.effort == Some(0) || self.budget.stopped().is_some()
    }

    fn bytes(&self) -> u64 {
        (self.reached.len() * size_of::<Reached>()) as u64
    }
}
