//! Linear temporal logic to Büchi automata.
//!
//! A formula is brought into negation normal form and simplified on the way (`normal`), becomes an automaton with
//! marks on its edges (`tableau`), then one with accepting states (`degeneralize`), and is made smaller after either
//! step (`reduce`). [`word`] has the plain meaning of formulas and automata, for tests.

mod degeneralize;
mod display;
mod formula;
mod graph;
mod implication;
mod join;
mod normal;
mod reduce;
mod simulation;
mod syntax;
mod tableau;
pub mod word;

pub use display::Shown;
pub use syntax::{MAX_ATOMS, MAX_DEPTH};

use crate::property::{Automaton, Ltl};
use formula::{Id, Store};
use graph::Graph;
use normal::Builder;
use reduce::{Flags, reduce};
use std::fmt;
use syntax::Atoms;
use tableau::Tableau;

/// Why a formula was not translated: its automaton can be exponentially larger than itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TooLarge {
    /// More than [`MAX_ATOMS`] different expressions.
    Atoms,
    /// More than [`MAX_DEPTH`] operators within each other.
    Depth,
    /// More than 64 different eventualities.
    Untils,
    /// The automaton does not fit.
    States,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TooLarge::Atoms => write!(f, "the formula has more than {MAX_ATOMS} different atoms"),
            TooLarge::Depth => write!(f, "the formula is nested more than {MAX_DEPTH} deep"),
            TooLarge::Untils => f.write_str("the formula has more than 64 different eventualities"),
            TooLarge::States => f.write_str("the formula's automaton is too large"),
        }
    }
}

impl std::error::Error for TooLarge {}

/// The automaton that accepts the infinite words of which the formula holds.
///
/// It has one initial state; before every step of the system it reads the system's state and takes an edge whose
/// guard, a conjunction of literals, holds there. It accepts a run that it can follow for ever, passing accepting
/// states infinitely often. Every state but the initial one of an automaton that accepts nothing can still accept.
/// To look for a violation of a formula, translate it [`negated`](Ltl::negated).
pub fn to_automaton(formula: &Ltl) -> Result<Automaton, TooLarge> {
    let mut atoms = Atoms::default();
    let mut builder = Builder::new();
    let formula = syntax::lower(formula, &mut atoms, &mut builder)?;
    Ok(smallest(&mut builder.store, formula)?.to_automaton(&atoms))
}

/// No choice that the construction leaves open is always the best: the smallest result is taken.
fn smallest(store: &mut Store, formula: Id) -> Result<Graph, TooLarge> {
    let mut best: Option<Graph> = None;
    let mut refused = TooLarge::States;
    let mut seen: Vec<Graph> = Vec::new();
    let joined = join::join(store, formula);
    let shapes = if joined == formula { vec![formula] } else { vec![joined, formula] };
    for (formula, split) in shapes.into_iter().flat_map(|shape| [(shape, false), (shape, true)]) {
        let mut graph = match Tableau::new(store, split).explore(formula) {
            Ok(graph) => graph,
            Err(error) => {
                refused = error;
                continue;
            }
        };
        if seen.contains(&graph) {
            continue;
        }
        seen.push(graph.clone());
        reduce(&mut graph, Flags::AsTheyAre);
        for order in orders(&graph) {
            let plain = degeneralize::degeneralize(&graph, &order);
            if seen.contains(&plain) {
                continue;
            }
            seen.push(plain.clone());
            for flags in [Flags::AsTheyAre, Flags::AsManyAsPossible] {
                let mut plain = plain.clone();
                reduce(&mut plain, flags);
                let size = |graph: &Graph| (graph.states.len(), graph.edge_count(), graph.literal_count());
                if best.as_ref().is_none_or(|best| size(&plain) < size(best)) {
                    best = Some(plain);
                }
            }
        }
    }
    best.ok_or(refused)
}

/// Orders in which the marks may be waited for: for few marks all of them, for more each of them first once.
fn orders(graph: &Graph) -> Vec<Vec<u32>> {
    let marks: Vec<u32> = (0..64).filter(|mark| graph.marks >> mark & 1 == 1).collect();
    if marks.len() > 3 || graph.states.len() > 20 {
        let tries = if graph.states.len() > 20 { 1 } else { marks.len() };
        return (0..tries).map(|first| [&marks[first..], &marks[..first]].concat()).collect();
    }
    let mut orders = vec![Vec::new()];
    for mark in marks {
        orders = orders
            .iter()
            .flat_map(|order: &Vec<u32>| {
                (0..=order.len()).map(move |at| {
                    let mut longer = order.clone();
                    longer.insert(at, mark);
                    longer
                })
            })
            .collect();
    }
    orders
}

/// Is the formula without `X`? Then it does not see how long a system stays in one state, which is what partial-order
/// reduction needs.
pub fn is_stutter_invariant_syntactically(formula: &Ltl) -> bool {
    match formula {
        Ltl::Atom(_) => true,
        Ltl::Next(_) => false,
        Ltl::Not(part) | Ltl::Always(part) | Ltl::Eventually(part) => {
            is_stutter_invariant_syntactically(part)
        }
        Ltl::And(left, right)
        | Ltl::Or(left, right)
        | Ltl::Implies(left, right)
        | Ltl::Equivalent(left, right)
        | Ltl::Until(left, right)
        | Ltl::Release(left, right)
        | Ltl::WeakUntil(left, right) => {
            is_stutter_invariant_syntactically(left) && is_stutter_invariant_syntactically(right)
        }
    }
}

impl Ltl {
    /// The formula that holds where this one does not.
    pub fn negated(&self) -> Ltl {
        match self {
            Ltl::Not(inner) => (**inner).clone(),
            _ => Ltl::Not(Box::new(self.clone())),
        }
    }

    /// Does it speak of the next state? If not, it does not matter how often a state is repeated.
    pub fn has_next(&self) -> bool {
        match self {
            Ltl::Atom(_) => false,
            Ltl::Next(_) => true,
            Ltl::Not(inner) | Ltl::Always(inner) | Ltl::Eventually(inner) => inner.has_next(),
            Ltl::And(left, right)
            | Ltl::Or(left, right)
            | Ltl::Implies(left, right)
            | Ltl::Equivalent(left, right)
            | Ltl::Until(left, right)
            | Ltl::Release(left, right)
            | Ltl::WeakUntil(left, right) => left.has_next() || right.has_next(),
        }
    }
}
