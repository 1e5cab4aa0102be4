//! Formulas made smaller by rewriting, while they are built.
//!
//! Every constructor below returns a formula equivalent to the one that its name and arguments say. The rules are
//! those of Somenzi and Bloem, "Efficient Büchi Automata from LTL Formulae" (CAV 2000), of Etessami and Holzmann,
//! "Optimizing Büchi Automata" (CONCUR 2000), and, for what holds of all suffixes or of none, of Babiak, Křetínský,
//! Řehák and Strejček, "LTL to Büchi Automata Translation: Fast and More Deterministic" (TACAS 2012).
//! Disjunction and release are the negations of conjunction and until, so that each rule stands here once.

use super::formula::{FALSE, Id, Node, Store, TRUE, negation};
use super::implication::Implications;

/// Builds simplified formulas.
#[derive(Debug)]
pub(super) struct Builder {
    pub(super) store: Store,
    implications: Implications,
}

impl Builder {
    pub(super) fn new() -> Builder {
        Builder { store: Store::new(), implications: Implications::default() }
    }

    fn implies(&mut self, left: Id, right: Id) -> bool {
        self.implications.implies(&self.store, left, right)
    }

    pub(super) fn or(&mut self, parts: Vec<Id>) -> Id {
        negation(self.and(parts.into_iter().map(negation).collect()))
    }

    pub(super) fn release(&mut self, left: Id, right: Id) -> Id {
        negation(self.until(negation(left), negation(right)))
    }

    pub(super) fn eventually(&mut self, inner: Id) -> Id {
        self.until(TRUE, inner)
    }

    pub(super) fn always(&mut self, inner: Id) -> Id {
        self.release(FALSE, inner)
    }

    pub(super) fn next(&mut self, inner: Id) -> Id {
        if self.store.is_suspendable(inner) { inner } else { self.store.intern(Node::Next(inner)) }
    }

    pub(super) fn and(&mut self, parts: Vec<Id>) -> Id {
        let mut flat: Vec<Id> = parts.iter().flat_map(|&part| self.store.conjuncts(part)).collect();
        loop {
            flat.sort_unstable();
            flat.dedup();
            if flat.contains(&FALSE) {
                return FALSE;
            }
            if self.drop_implied(&mut flat) {
                return FALSE;
            }
            match self.merge_one(&flat).or_else(|| self.strengthen_one(&flat)) {
                // The operands that a rule replaces, and what replaces them.
                Some((gone, new)) => {
                    flat.retain(|part| !gone.contains(part));
                    flat.extend(self.store.conjuncts(new));
                }
                None => break,
            }
        }
        match flat[..] {
            [] => TRUE,
            [only] => only,
            _ => self.store.intern(Node::And(flat.into())),
        }
    }

    /// Drops operands that another one implies; says whether two contradict each other.
    fn drop_implied(&mut self, flat: &mut Vec<Id>) -> bool {
        let mut at = 0;
        while at < flat.len() {
            let part = flat[at];
            let others = || (0..flat.len()).filter(|&other| other != at);
            if others().any(|other| self.implications.implies(&self.store, flat[other], negation(part))) {
                return true;
            }
            if others().any(|other| self.implications.implies(&self.store, flat[other], part)) {
                flat.remove(at);
            } else {
                at += 1;
            }
        }
        false
    }

    /// Two operands that say as much as one.
    fn merge_one(&mut self, flat: &[Id]) -> Option<(Vec<Id>, Id)> {
        for (at, &left) in flat.iter().enumerate() {
            for &right in &flat[at + 1..] {
                let merged = match (self.store.node(left).clone(), self.store.node(right).clone()) {
                    (Node::Next(a), Node::Next(b)) => {
                        let both = self.and(vec![a, b]);
                        self.next(both)
                    }
                    (Node::Release(a, b), Node::Release(c, d)) if a == c => {
                        // []<>p stays apart: it holds of all suffixes or of none, and is moved outwards as it is.
                        if self.store.is_suspendable(left) || self.store.is_suspendable(right) {
                            continue;
                        }
                        let both = self.and(vec![b, d]);
                        self.release(a, both)
                    }
                    (Node::Until(a, b), Node::Until(c, d)) if b == d => {
                        let both = self.and(vec![a, c]);
                        self.until(both, b)
                    }
                    (Node::Until(TRUE, a), Node::Until(TRUE, b)) => {
                        let (&Node::Release(FALSE, a), &Node::Release(FALSE, b)) =
                            (self.store.node(a), self.store.node(b))
                        else {
                            continue;
                        };
                        let both = self.and(vec![a, b]);
                        let always = self.always(both);
                        self.eventually(always)
                    }
                    _ => continue,
                };
                return Some((vec![left, right], merged));
            }
        }
        None
    }

    /// An operand that can be said shorter because of another one.
    fn strengthen_one(&mut self, flat: &[Id]) -> Option<(Vec<Id>, Id)> {
        for &part in flat {
            match self.store.node(part).clone() {
                Node::Or(parts) => {
                    let possible: Vec<Id> = parts
                        .iter()
                        .copied()
                        .filter(|&p| {
                            !flat.iter().any(|&other| other != part && self.implies(other, negation(p)))
                        })
                        .collect();
                    if possible.len() < parts.len() {
                        return Some((vec![part], self.or(possible)));
                    }
                }
                Node::Release(left, right)
                    if flat.iter().any(|&other| other != part && self.implies(other, left)) =>
                {
                    return Some((vec![part], right));
                }
                Node::Until(left, right)
                    if flat.iter().any(|&other| other != part && self.implies(other, negation(left))) =>
                {
                    return Some((vec![part], right));
                }
                _ => {}
            }
        }
        None
    }

    pub(super) fn until(&mut self, left: Id, right: Id) -> Id {
        if left == FALSE || self.store.is_eventual(right) || self.implies(left, right) {
            return right;
        }
        if left != TRUE && self.implies(negation(right), left) {
            return self.eventually(right);
        }
        match (self.store.node(left).clone(), self.store.node(right).clone()) {
            (Node::True, Node::Next(goal)) => {
                let inner = self.eventually(goal);
                return self.next(inner);
            }
            (Node::Next(hold), Node::Next(goal)) => {
                let inner = self.until(hold, goal);
                return self.next(inner);
            }
            (Node::Or(parts), _) => {
                let rest: Vec<Id> =
                    parts.iter().copied().filter(|&part| !self.implies(part, right)).collect();
                if rest.len() < parts.len() {
                    let hold = self.or(rest);
                    return self.until(hold, right);
                }
            }
            (Node::Until(_, goal), _) if goal == right => return left,
            (Node::True, Node::Release(FALSE, kept)) => {
                if let Some(apart) = self.eventually_always(kept) {
                    return apart;
                }
            }
            _ => {}
        }
        match self.store.node(right).clone() {
            Node::Or(parts) => {
                let (outside, inside) = self.partition(&parts, Store::is_eventual);
                if !outside.is_empty() {
                    let goal = self.or(inside);
                    let until = self.until(left, goal);
                    return self.or([outside, vec![until]].concat());
                }
            }
            Node::And(parts) => {
                let (outside, inside) = self.partition(&parts, Store::is_suspendable);
                if !outside.is_empty() {
                    let goal = self.and(inside);
                    let until = self.until(left, goal);
                    return self.and([outside, vec![until]].concat());
                }
            }
            Node::Until(hold, goal) => {
                if self.implies(left, hold) {
                    return right;
                }
                if self.implies(hold, left) {
                    return self.until(left, goal);
                }
            }
            _ => {}
        }
        self.store.intern(Node::Until(left, right))
    }

    /// `<>[]kept`, if it comes apart into formulas that hold of all suffixes or of none.
    fn eventually_always(&mut self, kept: Id) -> Option<Id> {
        match self.store.node(kept).clone() {
            Node::And(parts) => {
                let (eventual, rest) = self.partition(&parts, Store::is_eventual);
                if eventual.is_empty() {
                    return None;
                }
                let mut all: Vec<Id> = eventual.into_iter().map(|part| self.always(part)).collect();
                let rest = self.and(rest);
                let rest = self.always(rest);
                all.push(self.eventually(rest));
                Some(self.and(all))
            }
            Node::Or(parts) => {
                let (universal, rest) = self.partition(&parts, Store::is_universal);
                if universal.is_empty() {
                    return None;
                }
                let mut any: Vec<Id> = universal.into_iter().map(|part| self.eventually(part)).collect();
                let rest = self.or(rest);
                let rest = self.always(rest);
                any.push(self.eventually(rest));
                Some(self.or(any))
            }
            Node::Until(hold, goal) if hold != TRUE => {
                let either = self.or(vec![hold, goal]);
                let stays = self.always(either);
                let stays = self.eventually(stays);
                let again = self.eventually(goal);
                let again = self.always(again);
                Some(self.and(vec![stays, again]))
            }
            _ => None,
        }
    }

    fn partition(&self, parts: &[Id], test: impl Fn(&Store, Id) -> bool) -> (Vec<Id>, Vec<Id>) {
        parts.iter().partition(|&&part| test(&self.store, part))
    }
}
