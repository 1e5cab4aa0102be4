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
    let components = graph.components();
    let count = graph.states.len();
    let mut relation = vec![vec![true; count]; count];
    loop {
        let mut changed = false;
        for low in 0..count {
            for high in 0..count {
                if low != high
                    && relation[low][high]
                    && !matches(graph, &components, &relation, kind, low, high)
                {
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

fn matches(
    graph: &Graph,
    components: &Components,
    relation: &Relation,
    kind: Match,
    low: usize,
    high: usize,
) -> bool {
    graph.states[low].iter().all(|edge| {
        let equals = |other: &&Edge| {
            relation[edge.target][other.target]
                && (edge.marks & !other.marks == 0
                    || kind == Match::Loose
                        && (!components.inside(low, edge) || !components.inside(high, other)))
        };
        let candidates = || graph.states[high].iter().filter(equals).map(|other| other.guard);
        // One edge nearly always does.
        candidates().any(|guard| guard.contains(edge.guard))
            || edge.guard.covered(&candidates().collect::<Vec<Cube>>())
    })
}

/// Does `by` make `edge` superfluous among the edges of one state, wherever its guard holds? The relation is strict.
pub(super) fn outdoes(relation: &Relation, by: &Edge, edge: &Edge) -> bool {
    edge.marks & !by.marks == 0 && relation[edge.target][by.target]
}
