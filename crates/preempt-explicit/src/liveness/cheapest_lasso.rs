//! The cheapest run without end: fewest preemptions, then fewest steps, of its stem and one round of its loop together,
//! the switch that closes the loop included (the architecture's section 3; `search/lasso.rs` of the model defines it).
//!
//! The loop begins at an accepting node, a state with the process that runs in it. For 0, 1, 2, ... preemptions in
//! turn: everything within so many is settled in the order of cost, and from each accepting node a search in the order
//! of cost looks for a way back within what the way to the node has left. Most nodes need no search:
//!
//! * a node that lies on no cycle within the bound, and, where nothing is left, on none without preemptions;
//! * one that costs as much as a whole lasso that is known.
//!
//! And no search passes an accepting node that was settled before the one it began at: a loop through both is found
//! from the other one, at the same price or a lower one.

use super::lasso::Lasso;
use super::running::Running;
use super::space::{Cut, Edge, Space};
use crate::store::StateNumber;
use crate::watched::PlaceOf;
use preempt_core::{Budget, Progress, StopReason};
use preempt_model::Interpreter;
use preempt_model::monitor::Monitor;
use preempt_model::search::RunCost;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

/// How often, in nodes, the clock is looked at.
const LOOK_UP_EVERY: u32 = 1024;

/// How far the search goes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Most {
    /// In preemptions; without one there must be a lasso, or the search does not end.
    pub bound: Option<u32>,
    /// Only lassos that cost less count.
    pub cheaper_than: Option<RunCost>,
    /// Steps that searches for loops may try: after that it would be a matter of time.
    pub effort: Option<u64>,
}

pub fn search<'m, M: Monitor<Interpreter<'m>, Place: PlaceOf>>(
    space: &mut Space<'_, 'm, M>,
    Most { bound, cheaper_than, effort }: Most,
    progress: &mut dyn Progress,
) -> Result<Option<(RunCost, Lasso)>, Cut> {
    let mut graph = Running::new(space)?;
    graph.cheaper_than = cheaper_than;
    let mut rounds = Rounds { effort, budget: space.budget().clone(), ..Rounds::default() };
    let mut preemptions = 0;
    loop {
        let more = graph.settle(space, preemptions, progress)?;
        if let Some(found) = cheapest(space, &graph, &mut rounds, preemptions, progress)? {
            return Ok(Some(found));
        }
        // Where everything is settled and nothing lies on a cycle, a higher bound changes nothing.
        if bound == Some(preemptions) || !more && !rounds.may_succeed {
            return Ok(None);
        }
        preemptions += 1;
    }
}

/// The same loop, entered by the cheapest way to any of its states; as it was, if that takes too long.
pub fn with_cheapest_stem<'m, M: Monitor<Interpreter<'m>, Place: PlaceOf>>(
    space: &mut Space<'_, 'm, M>,
    mut lasso: Lasso,
    progress: &mut dyn Progress,
) -> Lasso {
    let on_loop: HashSet<StateNumber> = lasso.cycle.iter().map(|edge| edge.from).collect();
    let Ok(mut graph) = Running::new(space) else { return lasso };
    for preemptions in 0.. {
        let before = graph.settled.len();
        let Ok(more) = graph.settle(space, preemptions, progress) else { return lasso };
        let state = |node: u32| graph.nodes[node as usize].state;
        if let Some(node) = graph.settled[before..].iter().find(|node| on_loop.contains(&state(**node))) {
            (lasso.initial, lasso.stem) = graph.way_to(*node);
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
fn cheapest<'m, M: Monitor<Interpreter<'m>, Place: PlaceOf>>(
    space: &mut Space<'_, 'm, M>,
    graph: &Running,
    rounds: &mut Rounds,
    preemptions: u32,
    progress: &mut dyn Progress,
) -> Result<Option<(RunCost, Lasso)>, Cut> {
    let component = graph.components(false);
    let without_preemption = graph.components(true);
    rounds.begin(graph.nodes.len());
    rounds.may_succeed = false;
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
        if let Some((cost, round)) = rounds.cheapest(graph, within, seed, limit)
            && found
                .as_ref()
                .map(|(known, ..)| *known)
                .or(graph.cheaper_than)
                .is_none_or(|known| cost < known)
        {
            found = Some((cost, seed, round));
        }
        space.is_whole()?;
        if rounds.is_exhausted() {
            return Err(Cut::Limit(StopReason::States));
        }
        space.look_around(
            graph.settled.len() as u64,
            graph.bytes() + rounds.bytes(),
            preemptions,
            progress,
        )?;
    }
    Ok(found.map(|(cost, seed, cycle)| {
        let (initial, stem) = graph.way_to(seed);
        (cost, Lasso { initial, stem, cycle })
    }))
}

/// Searches for ways back, one after the other.
#[derive(Default)]
struct Rounds {
    /// Each search has a number; what belongs to another is forgotten.
    number: u32,
    reached: Vec<Reached>,
    effort: Option<u64>,
    budget: Budget,
    steps_to_look: u32,
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
    fn begin(&mut self, nodes: usize) {
        let nothing = RunCost { preemptions: 0, steps: 0 };
        let never = Reached { search: 0, cost: nothing, from: (0, 0), is_settled: false };
        self.reached.resize(nodes, never);
    }

    /// From the seed back to it within its component, continuing the cost of the way to it.
    fn cheapest(
        &mut self,
        graph: &Running,
        component: &[Option<u32>],
        seed: u32,
        limit: RunCost,
    ) -> Option<(RunCost, Vec<Edge>)> {
        self.number += 1;
        let (start, own) = (&graph.nodes[seed as usize], component[seed as usize]);
        let mut waiting = BinaryHeap::new();
        self.leave(graph, component, (seed, own, start.rank), (seed, start.cost), limit, &mut waiting);
        while let Some(Reverse((cost, node))) = waiting.pop() {
            if std::mem::replace(&mut self.reached[node as usize].is_settled, true) {
                continue;
            }
            if node == seed {
                return Some((cost, self.round(graph, seed)));
            }
            self.leave(graph, component, (seed, own, start.rank), (node, cost), limit, &mut waiting);
            self.steps_to_look = self.steps_to_look.wrapping_sub(1);
            if self.steps_to_look >= LOOK_UP_EVERY {
                self.steps_to_look = LOOK_UP_EVERY - 1;
                self.budget.exhausted();
            }
            if self.is_exhausted() {
                return None;
            }
        }
        None
    }

    fn leave(
        &mut self,
        graph: &Running,
        component: &[Option<u32>],
        (seed, own, rank): (u32, Option<u32>, u32),
        (node, cost): (u32, RunCost),
        limit: RunCost,
        waiting: &mut BinaryHeap<Reverse<(RunCost, u32)>>,
    ) {
        let from = &graph.nodes[node as usize];
        for (number, (target, edge)) in (0..).zip(graph.steps_of(node)) {
            self.effort = self.effort.map(|left| left.saturating_sub(1));
            let it = &graph.nodes[target as usize];
            let is_earlier_seed = it.accepts && it.rank < rank && target != seed;
            let cost = from.after(edge, cost);
            if component[target as usize] != own || is_earlier_seed || cost > limit {
                continue;
            }
            let known = &mut self.reached[target as usize];
            if known.search != self.number || (cost < known.cost && !known.is_settled) {
                *known = Reached { search: self.number, cost, from: (node, number), is_settled: false };
                waiting.push(Reverse((cost, target)));
            }
        }
    }

    fn round(&self, graph: &Running, seed: u32) -> Vec<Edge> {
        let mut steps = Vec::new();
        let mut at = seed;
        loop {
            let from = self.reached[at as usize].from;
            steps.extend(graph.edge(from).map(|(_, edge)| edge));
            at = from.0;
            if at == seed {
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
