//! Which states can do, edge for edge, all that others can.
//!
//! Direct simulation is that of Etessami and Holzmann, "Optimizing Büchi Automata" (CONCUR 2000), and Somenzi and
//! Bloem, "Efficient Büchi Automata from LTL Formulae" (CAV 2000): marks are matched at once. An edge may be matched
//! by several that together cover its guard.

use super::graph::{Components, Edge, Graph};
use super::syntax::Cube;

/// What a mark is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Match {
    /// Every mark counts. States that simulate each other can be made one.
    Strict,
    /// Marks that no run sees twice count for whichever side they help. This still says that one state accepts
    /// all words that the other does, but the relation is not transitive.
    Loose,
}

/// `relation[low][high]`: does `high` simulate `low`?
pub(super) type Relation = Vec<Vec<bool>>;

pub(super) fn simulation(graph: &Graph, kind: Match) -> Relation {
    let matching = Matching { graph, components: &graph.components(), kind };
    let count = graph.states.len();
    let mut relation = vec![vec![true; count]; count];
    loop {
        let mut changed = false;
        for low in 0..count {
            for high in 0..count {
                if low != high && relation[low][high] && !matching.holds(&relation, low, high) {
                    relation[low][high] = false;
                    changed = true;
                }
            }
        }
        if !changed {
            return relation;
        }
    }
}

/// What one step of the fixpoint looks at.
struct Matching<'g> {
    graph: &'g Graph,
    components: &'g Components,
    kind: Match,
}

impl Matching<'_> {
    /// Is every edge of `low` matched by edges of `high` that lead to where, as far as is known, as much can be done?
    fn holds(&self, relation: &Relation, low: usize, high: usize) -> bool {
        self.graph.states[low].iter().all(|edge| {
            let equals = |other: &&Edge| {
                relation[edge.target][other.target]
                    && (edge.marks & !other.marks == 0
                        || self.kind == Match::Loose
                            && (!self.components.inside(low, edge) || !self.components.inside(high, other)))
            };
            let candidates = || self.graph.states[high].iter().filter(equals).map(|other| other.guard);
            // One edge nearly always does.
            candidates().any(|guard| guard.contains(edge.guard))
                || edge.guard.covered(&candidates().collect::<Vec<Cube>>())
        })
    }
}

/// Does `by` make `edge` superfluous among the edges of one state, wherever its guard holds? The relation is strict.
pub(super) fn outdoes(relation: &Relation, by: &Edge, edge: &Edge) -> bool {
    edge.marks & !by.marks == 0 && relation[edge.target][by.target]
}
