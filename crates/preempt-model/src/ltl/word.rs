//! Infinite words that repeat, and the plain meaning of formulas and automata on them.
//!
//! Two formulas, or a formula and an automaton, that differ at all differ on such a word, so that these few lines
//! are what the translation is tested against. A letter is whatever the caller says; `read` tells whether an
//! expression holds of it.

use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::property::{Automaton, Ltl};

/// The word `stem cycle cycle cycle ...`. An empty cycle is read as if there was no such word: nothing holds of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Word<L> {
    /// Read once.
    pub stem: Vec<L>,
    /// Read again and again after it.
    pub cycle: Vec<L>,
}

impl<L> Word<L> {
    fn len(&self) -> usize {
        self.stem.len() + self.cycle.len()
    }

    fn letters(&self) -> impl Iterator<Item = &L> {
        self.stem.iter().chain(&self.cycle)
    }

    /// The position after this one.
    fn next(&self, at: usize) -> usize {
        if at + 1 == self.len() { self.stem.len() } else { at + 1 }
    }

    /// Does the word satisfy the formula?
    pub fn satisfies(&self, formula: &Ltl, read: &dyn Fn(&L, &Expr) -> bool) -> bool {
        !self.cycle.is_empty() && self.positions(formula, read)[0]
    }

    /// Where on the word does the formula hold?
    fn positions(&self, formula: &Ltl, read: &dyn Fn(&L, &Expr) -> bool) -> Vec<bool> {
        let sub = |part: &Ltl| self.positions(part, read);
        let zip = |left: &Ltl, right: &Ltl, op: fn(bool, bool) -> bool| -> Vec<bool> {
            sub(left).into_iter().zip(sub(right)).map(|(l, r)| op(l, r)).collect()
        };
        match formula {
            Ltl::Atom(expr) => self.letters().map(|letter| read(letter, expr)).collect(),
            Ltl::Not(part) => sub(part).into_iter().map(|holds| !holds).collect(),
            Ltl::And(left, right) => zip(left, right, |l, r| l && r),
            Ltl::Or(left, right) => zip(left, right, |l, r| l || r),
            Ltl::Implies(left, right) => zip(left, right, |l, r| !l || r),
            Ltl::Equivalent(left, right) => zip(left, right, |l, r| l == r),
            Ltl::Next(part) => {
                let part = sub(part);
                (0..self.len()).map(|at| part[self.next(at)]).collect()
            }
            Ltl::Always(part) => {
                let part = sub(part);
                self.fixpoint(true, |at, next| part[at] && next)
            }
            Ltl::Eventually(part) => {
                let part = sub(part);
                self.fixpoint(false, |at, next| part[at] || next)
            }
            Ltl::Until(left, right) => {
                let (left, right) = (sub(left), sub(right));
                self.fixpoint(false, |at, next| right[at] || left[at] && next)
            }
            Ltl::WeakUntil(left, right) => {
                let (left, right) = (sub(left), sub(right));
                self.fixpoint(true, |at, next| right[at] || left[at] && next)
            }
            Ltl::Release(left, right) => {
                let (left, right) = (sub(left), sub(right));
                self.fixpoint(true, |at, next| right[at] && (left[at] || next))
            }
        }
    }

    /// Starts everywhere from `start` and applies the rule, given what holds at the next position, until nothing
    /// changes: the least fixpoint from `false`, the greatest from `true`.
    fn fixpoint(&self, start: bool, rule: impl Fn(usize, bool) -> bool) -> Vec<bool> {
        let mut holds = vec![start; self.len()];
        loop {
            let mut changed = false;
            for at in (0..self.len()).rev() {
                let now = rule(at, holds[self.next(at)]);
                changed |= now != holds[at];
                holds[at] = now;
            }
            if !changed {
                return holds;
            }
        }
    }

    /// Does the automaton accept the word? It does if a cycle through an accepting state can be reached in the
    /// graph of its states and the word's positions.
    pub fn is_accepted(&self, automaton: &Automaton, read: &dyn Fn(&L, &Expr) -> bool) -> bool {
        if self.cycle.is_empty() || automaton.states.is_empty() {
            return false;
        }
        let len = self.len();
        let letters: Vec<&L> = self.letters().collect();
        // Node: state * len + position.
        let targets: Vec<Vec<usize>> = (0..automaton.states.len() * len)
            .map(|node| {
                let (state, at) = (node / len, node % len);
                let edges = automaton.states[state].edges.iter();
                edges
                    .filter(|(guard, _)| read(letters[at], guard))
                    .map(|(_, target)| target * len + self.next(at))
                    .collect()
            })
            .collect();
        let reach = |start: usize| {
            let mut seen = vec![false; targets.len()];
            let mut open = vec![start];
            while let Some(node) = open.pop() {
                for &target in &targets[node] {
                    if !std::mem::replace(&mut seen[target], true) {
                        open.push(target);
                    }
                }
            }
            seen
        };
        let mut reached = reach(automaton.initial * len);
        reached[automaton.initial * len] = true;
        (0..targets.len())
            .any(|node| automaton.states[node / len].accepting && reached[node] && reach(node)[node])
    }
}

/// Whether an expression holds of a letter that has a bit for each atom: the connectives are taken apart, and what
/// is not an atom otherwise does not hold.
pub fn read_bits(atoms: &[Expr], letter: u64, expr: &Expr) -> bool {
    if let Some(at) = atoms.iter().position(|atom| atom == expr) {
        return letter >> at & 1 == 1;
    }
    match expr {
        Expr::Const(value) => *value != 0,
        Expr::Unary(UnaryOp::Not, inner) => !read_bits(atoms, letter, inner),
        Expr::Binary(BinaryOp::And, left, right) => {
            read_bits(atoms, letter, left) && read_bits(atoms, letter, right)
        }
        Expr::Binary(BinaryOp::Or, left, right) => {
            read_bits(atoms, letter, left) || read_bits(atoms, letter, right)
        }
        _ => false,
    }
}
