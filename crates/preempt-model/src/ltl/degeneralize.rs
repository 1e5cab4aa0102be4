//! From an automaton that must see several marks on edges to one with accepting states.
//!
//! A state is doubled into levels, one for every mark still waited for; the marks are waited for in an order, as
//! many as an edge carries are passed at once, and a run that has passed them all stands in an accepting state.
//! Levels mean nothing across strongly connected components, so that a component is entered where it is cheapest
//! (Babiak, Badie, Duret-Lutz, Křetínský and Strejček, "Compositional Approach to Suspension and Other
//! Improvements to LTL Translation", SPIN 2013).

use super::graph::{Components, Edge, Graph};
use foldhash::HashMap;

/// The automaton with accepting states, if the marks are waited for in this order.
pub(super) fn degeneralize(graph: &Graph, order: &[u32]) -> Graph {
    let mut graph = graph.clone();
    let components = graph.components();
    drop_implied_marks(&mut graph, &components);
    let accepting = graph.accepting_components(&components);
    let full = order.len();
    let entry = |state: usize| (state, if accepting[components.of[state]] { full } else { 0 });

    let mut numbers: HashMap<(usize, usize), usize> = HashMap::default();
    let mut pairs = vec![entry(graph.initial)];
    numbers.insert(pairs[0], 0);
    let mut states: Vec<Vec<Edge>> = Vec::new();
    while states.len() < pairs.len() {
        let (state, level) = pairs[states.len()];
        let component = components.of[state];
        let accepts = accepting[component] && level == full;
        let mut edges = Vec::new();
        for edge in &graph.states[state] {
            let pair = if !components.inside(state, edge) || !accepting[component] {
                entry(edge.target)
            } else {
                let mut next = if level == full { 0 } else { level };
                while next < full && edge.marks >> order[next] & 1 == 1 {
                    next += 1;
                }
                (edge.target, next)
            };
            let target = *numbers.entry(pair).or_insert_with(|| {
                pairs.push(pair);
                pairs.len() - 1
            });
            edges.push(Edge { target, marks: u64::from(accepts), guard: edge.guard });
        }
        states.push(edges);
    }
    let mut result = Graph { states, initial: 0, marks: 1, state_based: true };
    enter_low(&mut result, &pairs, &components);
    result.trim();
    result
}

/// Within a component, a mark that is seen whenever another one is need not be waited for: it is put on all edges.
fn drop_implied_marks(graph: &mut Graph, components: &Components) {
    for component in 0..components.count {
        let members: Vec<usize> =
            (0..graph.states.len()).filter(|&s| components.of[s] == component).collect();
        for mark in 0..64 {
            let bit = 1u64 << mark;
            if graph.marks & bit == 0 {
                continue;
            }
            // The marks that only edges with this one carry; those that all edges carry are not waited for.
            let (mut only, mut always) = (graph.marks & !bit, graph.marks);
            for &state in &members {
                for edge in graph.states[state].iter().filter(|edge| components.inside(state, edge)) {
                    always &= edge.marks;
                    if edge.marks & bit == 0 {
                        only &= !edge.marks;
                    }
                }
            }
            if only & !always != 0 {
                for &state in &members {
                    graph.states[state].iter_mut().for_each(|edge| edge.marks |= bit);
                }
            }
        }
    }
}

/// All levels of a state accept the same words; edges from other components lead to the level from which the
/// fewest states are reached, so that a level which is there only for entering goes.
fn enter_low(graph: &mut Graph, pairs: &[(usize, usize)], components: &Components) {
    let levels = graph.components();
    let mut best: HashMap<usize, usize> = HashMap::default();
    for (number, &(state, _)) in pairs.iter().enumerate() {
        let known = best.entry(state).or_insert(number);
        // Components are numbered from the last to the first.
        if levels.of[number] < levels.of[*known] {
            *known = number;
        }
    }
    for from in 0..graph.states.len() {
        for edge in &mut graph.states[from] {
            let target = pairs[edge.target].0;
            if components.of[pairs[from].0] != components.of[target] {
                edge.target = best[&target];
            }
        }
    }
    graph.initial = best[&pairs[graph.initial].0];
}
