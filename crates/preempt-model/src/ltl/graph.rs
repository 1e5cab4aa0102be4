//! Automata while they are built: edges carry a guard and marks, and a run is accepting if it sees every mark
//! infinitely often. With one mark, on all edges that leave a state or on none, this is a Büchi automaton with
//! accepting states.

use super::syntax::{Atoms, Cube};
use crate::property::{Automaton, AutomatonState};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Edge {
    pub(super) target: usize,
    pub(super) marks: u64,
    pub(super) guard: Cube,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Graph {
    pub(super) states: Vec<Vec<Edge>>,
    pub(super) initial: usize,
    /// All marks there are.
    pub(super) marks: u64,
    /// Do all edges that leave a state carry the same marks?
    pub(super) state_based: bool,
}

/// The strongly connected components of a graph, a component before those it can be reached from.
#[derive(Debug)]
pub(super) struct Components {
    pub(super) of: Vec<usize>,
    pub(super) count: usize,
}

impl Components {
    pub(super) fn inside(&self, from: usize, edge: &Edge) -> bool {
        self.of[from] == self.of[edge.target]
    }
}

impl Graph {
    pub(super) fn edge_count(&self) -> usize {
        self.states.iter().map(Vec::len).sum()
    }

    /// Literals in all guards.
    pub(super) fn literal_count(&self) -> u32 {
        self.states.iter().flatten().map(|edge| edge.guard.literals()).sum()
    }

    /// A state of a Büchi automaton with accepting states.
    pub(super) fn is_accepting(&self, state: usize) -> bool {
        self.states[state].iter().any(|edge| edge.marks == self.marks)
    }

    pub(super) fn components(&self) -> Components {
        self.components_where(|_, _| true)
    }

    /// Tarjan's algorithm with a stack of its own, on the edges that `keep` says.
    pub(super) fn components_where(&self, keep: impl Fn(usize, &Edge) -> bool) -> Components {
        const NEW: usize = usize::MAX;
        let count = self.states.len();
        let mut of = vec![NEW; count];
        let mut number = vec![NEW; count];
        let mut low = vec![0; count];
        let (mut components, mut next) = (0, 0);
        let mut open = Vec::new();
        for root in 0..count {
            if number[root] != NEW {
                continue;
            }
            let mut path = vec![(root, 0)];
            while let Some(&mut (state, ref mut at)) = path.last_mut() {
                if *at == 0 {
                    number[state] = next;
                    low[state] = next;
                    next += 1;
                    open.push(state);
                }
                let Some(edge) = self.states[state].get(*at) else {
                    path.pop();
                    if low[state] == number[state] {
                        while let Some(member) = open.pop() {
                            of[member] = components;
                            if member == state {
                                break;
                            }
                        }
                        components += 1;
                    }
                    if let Some(&(parent, _)) = path.last() {
                        low[parent] = low[parent].min(low[state]);
                    }
                    continue;
                };
                *at += 1;
                if !keep(state, edge) {
                    continue;
                }
                let target = edge.target;
                if number[target] == NEW {
                    path.push((target, 0));
                } else if of[target] == NEW {
                    low[state] = low[state].min(number[target]);
                }
            }
        }
        Components { of, count: components }
    }

    /// The components that contain a cycle with all marks.
    pub(super) fn accepting_components(&self, components: &Components) -> Vec<bool> {
        let mut seen = vec![(false, 0); components.count];
        for (state, edges) in self.states.iter().enumerate() {
            for edge in edges.iter().filter(|edge| components.inside(state, edge)) {
                let (cyclic, marks) = &mut seen[components.of[state]];
                *cyclic = true;
                *marks |= edge.marks;
            }
        }
        seen.into_iter().map(|(cyclic, marks)| cyclic && marks == self.marks).collect()
    }

    /// Removes the states that no run reaches or from which none is accepting, and the marks that no accepting
    /// run sees infinitely often.
    pub(super) fn trim(&mut self) {
        let components = self.components();
        let accepting = self.accepting_components(&components);
        let mut alive = accepting.clone();
        // A component comes after those it leads to.
        let mut order: Vec<usize> = (0..self.states.len()).collect();
        order.sort_by_key(|&state| components.of[state]);
        for &state in &order {
            if self.states[state].iter().any(|edge| alive[components.of[edge.target]]) {
                alive[components.of[state]] = true;
            }
        }
        for (state, edges) in self.states.iter_mut().enumerate() {
            edges.retain(|edge| alive[components.of[edge.target]]);
            for edge in edges {
                if !components.inside(state, edge) || !accepting[components.of[state]] {
                    edge.marks = 0;
                }
            }
        }
        if self.state_based {
            self.level_marks();
        }
        self.drop_unreachable();
    }

    /// Gives all edges that leave a state the marks of those of them that stay in its component.
    fn level_marks(&mut self) {
        for edges in &mut self.states {
            let marks = edges.iter().fold(0, |marks, edge| marks | edge.marks);
            edges.iter_mut().for_each(|edge| edge.marks = marks);
        }
    }

    /// Numbers the states anew in the order in which they are reached.
    fn drop_unreachable(&mut self) {
        let mut number = vec![None; self.states.len()];
        number[self.initial] = Some(0);
        let mut order = vec![self.initial];
        let mut at = 0;
        while at < order.len() {
            for edge in &self.states[order[at]] {
                if number[edge.target].is_none() {
                    number[edge.target] = Some(order.len());
                    order.push(edge.target);
                }
            }
            at += 1;
        }
        self.states = order.iter().map(|&state| std::mem::take(&mut self.states[state])).collect();
        for edge in self.states.iter_mut().flatten() {
            edge.target = number[edge.target].unwrap_or(0);
        }
        self.initial = 0;
    }

    /// Sends every edge to the state that `class` gives for its target; what is not reached then goes.
    pub(super) fn redirect(&mut self, class: &[usize]) {
        for edges in &mut self.states {
            edges.iter_mut().for_each(|edge| edge.target = class[edge.target]);
            edges.sort_unstable();
            edges.dedup();
        }
        self.initial = class[self.initial];
        self.trim();
    }

    /// For every state, the states that it reaches by one edge or more.
    pub(super) fn reachability(&self) -> Vec<Vec<bool>> {
        (0..self.states.len())
            .map(|start| {
                let mut seen = vec![false; self.states.len()];
                let mut open = vec![start];
                while let Some(state) = open.pop() {
                    for edge in &self.states[state] {
                        if !std::mem::replace(&mut seen[edge.target], true) {
                            open.push(edge.target);
                        }
                    }
                }
                seen
            })
            .collect()
    }

    pub(super) fn to_automaton(&self, atoms: &Atoms) -> Automaton {
        let states = self
            .states
            .iter()
            .enumerate()
            .map(|(state, edges)| AutomatonState {
                accepting: self.is_accepting(state),
                edges: edges.iter().map(|edge| (atoms.guard(edge.guard), edge.target)).collect(),
            })
            .collect();
        Automaton { states, initial: self.initial }
    }
}
