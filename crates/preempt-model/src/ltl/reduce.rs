//! Makes an automaton smaller without changing the words that it accepts.
//!
//! * states that simulate each other become one, and edges that others outdo go ([`simulation`]);
//! * an edge that leaves its component for good may lead to any state that accepts the same words, and is
//!   superfluous beside an edge to a state that accepts more: nothing that follows sees the difference;
//! * a state that lies only on cycles through accepting states may be accepting itself.

use super::graph::Graph;
use super::simulation::{Match, outdoes, simulation};
use super::syntax::Cube;
use foldhash::HashMap;

/// Above this, simulation takes too long and only states with equal edges are merged.
const SIMULATED_STATES: usize = 250;
const SIMULATED_EDGES: usize = 4_000;

/// How accepting states are chosen where the language leaves a choice: either may make states more alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flags {
    AsTheyAre,
    AsManyAsPossible,
}

pub(super) fn reduce(graph: &mut Graph, flags: Flags) {
    graph.trim();
    merge_equal(graph);
    loop {
        let before = (graph.states.len(), graph.edge_count(), graph.literal_count());
        if graph.states.len() > SIMULATED_STATES || graph.edge_count() > SIMULATED_EDGES {
            merge_equal(graph);
        } else {
            if flags == Flags::AsManyAsPossible && graph.state_based {
                accept_more(graph);
            }
            merge_similar(graph);
            prune(graph);
            graph.trim();
            prune_by_language(graph);
            graph.trim();
            redirect_by_language(graph);
            widen_guards(graph);
        }
        if (graph.states.len(), graph.edge_count(), graph.literal_count()) >= before {
            return;
        }
    }
}

/// Makes states with the same edges one, until there are none.
fn merge_equal(graph: &mut Graph) {
    loop {
        let mut first: HashMap<Vec<_>, usize> = HashMap::default();
        let class: Vec<usize> = (0..graph.states.len())
            .map(|state| {
                let mut edges = graph.states[state].clone();
                // Two states that differ in which of them they return to do the same.
                edges
                    .iter_mut()
                    .filter(|edge| edge.target == state)
                    .for_each(|edge| edge.target = usize::MAX);
                edges.sort_unstable();
                *first.entry(edges).or_insert(state)
            })
            .collect();
        if class.iter().enumerate().all(|(state, &other)| state == other) {
            return;
        }
        graph.redirect(&class);
    }
}

fn merge_similar(graph: &mut Graph) {
    let relation = simulation(graph, Match::Strict);
    let class: Vec<usize> = (0..graph.states.len())
        .map(|state| {
            (0..state).find(|&other| relation[state][other] && relation[other][state]).unwrap_or(state)
        })
        .collect();
    if class.iter().enumerate().any(|(state, &other)| state != other) {
        graph.redirect(&class);
    }
}

/// Removes the edges that others outdo.
fn prune(graph: &mut Graph) {
    let relation = simulation(graph, Match::Strict);
    for edges in &mut graph.states {
        let mut at = 0;
        while at < edges.len() {
            let by: Vec<Cube> = (0..edges.len())
                .filter(|&other| other != at && outdoes(&relation, &edges[other], &edges[at]))
                .map(|other| edges[other].guard)
                .collect();
            if edges[at].guard.covered(&by) {
                edges.remove(at);
            } else {
                at += 1;
            }
        }
    }
}

/// Removes an edge beside one to a state that accepts more and from which there is no way back. Every state goes
/// on to accept the same words, so that what was known about them stays known.
fn prune_by_language(graph: &mut Graph) {
    let less = simulation(graph, Match::Loose);
    let reach = graph.reachability();
    for (state, edges) in graph.states.iter_mut().enumerate() {
        let mut at = 0;
        while at < edges.len() {
            let by: Vec<Cube> = (0..edges.len())
                .filter(|&other| {
                    let target = edges[other].target;
                    other != at && target != state && !reach[target][state] && less[edges[at].target][target]
                })
                .map(|other| edges[other].guard)
                .collect();
            if edges[at].guard.covered(&by) {
                edges.remove(at);
            } else {
                at += 1;
            }
        }
    }
}

/// Sends edges that come from elsewhere to another state that accepts the same words, if that saves a state.
fn redirect_by_language(graph: &mut Graph) {
    while let Some(smaller) = redirected(graph) {
        *graph = smaller;
    }
}

fn redirected(graph: &Graph) -> Option<Graph> {
    let less = simulation(graph, Match::Loose);
    let count = graph.states.len();
    let pairs = (0..count).flat_map(|state| (0..count).map(move |other| (state, other)));
    let mut equal = pairs.filter(|&(a, b)| a != b && less[a][b] && less[b][a]).peekable();
    equal.peek()?;
    let reach = graph.reachability();
    equal.find_map(|(state, other)| {
        let mut trial = graph.clone();
        for (from, edges) in trial.states.iter_mut().enumerate() {
            if from != other && !reach[other][from] {
                edges.iter_mut().filter(|edge| edge.target == state).for_each(|edge| edge.target = other);
                edges.sort_unstable();
                edges.dedup();
            }
        }
        if trial.initial == state {
            trial.initial = other;
        }
        trial.trim();
        (trial.states.len() < count).then_some(trial)
    })
}

/// Turns on the accepting flag of every state that is on no cycle of states without it.
fn accept_more(graph: &mut Graph) {
    let accepting: Vec<bool> = (0..graph.states.len()).map(|state| graph.is_accepting(state)).collect();
    let plain = graph.components_where(|from, edge| !accepting[from] && !accepting[edge.target]);
    let whole = graph.components();
    let mut size = vec![0; plain.count];
    plain.of.iter().for_each(|&component| size[component] += 1);
    for (state, edges) in graph.states.iter_mut().enumerate() {
        let on_plain_cycle = size[plain.of[state]] > 1 || edges.iter().any(|edge| edge.target == state);
        let on_cycle = edges.iter().any(|edge| whole.inside(state, edge));
        if !accepting[state] && on_cycle && !on_plain_cycle {
            edges.iter_mut().for_each(|edge| edge.marks = 1);
        }
    }
}

/// Drops the literals and then the guards that the other edges to the same state make superfluous.
fn widen_guards(graph: &mut Graph) {
    for edges in &mut graph.states {
        edges.sort_unstable();
        edges.dedup();
        for at in 0..edges.len() {
            let beside = |edges: &[super::graph::Edge]| -> Vec<Cube> {
                let alike = |other: &&super::graph::Edge| {
                    (other.target, other.marks) == (edges[at].target, edges[at].marks)
                };
                edges.iter().filter(alike).map(|other| other.guard).collect()
            };
            while let Some(wider) = {
                let by = beside(edges);
                edges[at].guard.weaker().find(|wider| wider.covered(&by))
            } {
                edges[at].guard = wider;
            }
        }
        let mut at = 0;
        while at < edges.len() {
            let by: Vec<Cube> = edges
                .iter()
                .enumerate()
                .filter(|&(other, edge)| {
                    other != at && (edge.target, edge.marks) == (edges[at].target, edges[at].marks)
                })
                .map(|(_, edge)| edge.guard)
                .collect();
            if edges[at].guard.covered(&by) {
                edges.remove(at);
            } else {
                at += 1;
            }
        }
    }
}
