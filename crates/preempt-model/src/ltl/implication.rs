//! Which formulas imply which, as far as their syntax tells.
//!
//! The rules are those of Somenzi and Bloem, "Efficient Büchi Automata from LTL Formulae" (CAV 2000), with those
//! for eventualities and universal formulas. A `false` means "not seen", never "does not imply".

use super::formula::{FALSE, Id, Node, Store, TRUE, negation};
use foldhash::HashMap;

/// Answers given so far; formulas are never forgotten, so neither are these.
#[derive(Debug, Default)]
pub(super) struct Implications {
    known: HashMap<(Id, Id), bool>,
}

impl Implications {
    pub(super) fn implies(&mut self, store: &Store, left: Id, right: Id) -> bool {
        if left == right || left == FALSE || right == TRUE {
            return true;
        }
        if left == TRUE || right == FALSE {
            return false;
        }
        // An implication and its contraposition are one question.
        let key = (left, right).min((negation(right), negation(left)));
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let answer = self.look(store, left, right) || self.look(store, negation(right), negation(left));
        self.known.insert(key, answer);
        answer
    }

    /// Every rule asks about smaller pairs, so that this ends. The rules for what the right side may be a
    /// disjunction or a release of are found by contraposition.
    fn look(&mut self, store: &Store, left: Id, right: Id) -> bool {
        match store.node(left) {
            Node::And(parts) => {
                if parts.iter().any(|&part| self.implies(store, part, right)) {
                    return true;
                }
            }
            Node::Or(parts) => {
                if parts.iter().all(|&part| self.implies(store, part, right)) {
                    return true;
                }
            }
            Node::Next(inner) => {
                if let Node::Next(other) = store.node(right)
                    && self.implies(store, *inner, *other)
                {
                    return true;
                }
                if store.is_eventual(right) && self.implies(store, *inner, right) {
                    return true;
                }
            }
            Node::Until(hold, goal) => {
                if self.implies(store, *goal, right) {
                    if store.is_eventual(right) || self.implies(store, *hold, right) {
                        return true;
                    }
                    if let Node::Until(other, _) = store.node(right)
                        && self.implies(store, *hold, *other)
                    {
                        return true;
                    }
                }
            }
            Node::Release(_, keep) => {
                if self.implies(store, *keep, right) {
                    return true;
                }
            }
            Node::True | Node::False | Node::Literal { .. } => {}
        }
        // The left side of an implication between two formulas that both begin with a literal, say, is looked
        // at from the right by the call with the contraposition.
        false
    }
}
