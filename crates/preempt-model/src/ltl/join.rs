//! Disjunctions of eventualities as one eventuality.
//!
//! `<>[]p || <>[]q` becomes `<>([]p || []q)`. The rules of [`normal`](super::normal) go the other way, because what
//! stands outside simplifies more; but one state can wait for either, where two disjuncts wait in a state each.

use super::formula::{Id, Node, Store, TRUE};
use foldhash::HashMap;

/// An equivalent formula in which no disjunction has two eventualities.
pub(super) fn join(store: &mut Store, formula: Id) -> Id {
    Joiner { store, known: HashMap::default() }.join(formula)
}

struct Joiner<'s> {
    store: &'s mut Store,
    known: HashMap<Id, Id>,
}

impl Joiner<'_> {
    fn join(&mut self, id: Id) -> Id {
        if let Some(&known) = self.known.get(&id) {
            return known;
        }
        let joined = match self.store.node(id).clone() {
            Node::True | Node::False | Node::Literal { .. } => id,
            Node::And(parts) => {
                let parts = self.all(&parts);
                self.connect(parts, Node::And)
            }
            Node::Or(parts) => self.disjunction(&parts),
            Node::Next(inner) => {
                let inner = self.join(inner);
                self.store.intern(Node::Next(inner))
            }
            Node::Until(left, right) => {
                let (left, right) = (self.join(left), self.join(right));
                self.store.intern(Node::Until(left, right))
            }
            Node::Release(left, right) => {
                let (left, right) = (self.join(left), self.join(right));
                self.store.intern(Node::Release(left, right))
            }
        };
        self.known.insert(id, joined);
        joined
    }

    fn disjunction(&mut self, parts: &[Id]) -> Id {
        let (eventual, rest): (Vec<Id>, Vec<Id>) =
            parts.iter().partition(|&&part| self.store.is_eventual(part));
        if eventual.len() < 2 {
            let parts = self.all(parts);
            return self.connect(parts, Node::Or);
        }
        let goals: Vec<Id> = eventual
            .iter()
            .map(|&part| match self.store.node(part) {
                Node::Until(TRUE, goal) => *goal,
                _ => part,
            })
            .collect();
        let goals = self.all(&goals);
        let goal = self.connect(goals, Node::Or);
        let mut parts = self.all(&rest);
        parts.push(self.store.intern(Node::Until(TRUE, goal)));
        self.connect(parts, Node::Or)
    }

    fn all(&mut self, parts: &[Id]) -> Vec<Id> {
        parts.iter().map(|&part| self.join(part)).collect()
    }

    /// Operands that are of the same kind inside do no harm to the tableau.
    fn connect(&mut self, mut parts: Vec<Id>, kind: fn(Box<[Id]>) -> Node) -> Id {
        parts.sort_unstable();
        parts.dedup();
        if let [only] = parts[..] { only } else { self.store.intern(kind(parts.into())) }
    }
}
