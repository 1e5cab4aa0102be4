//! From an automaton back to a run: the rules that lead from a given configuration to one that was reached, or from one that
//! can reach a given configuration to it.
//!
//! A transition names the rule and the transitions that it was first made from, all of them older. So a path through the
//! automaton is unwound rule by rule, always at the top of the stack, and comes to an end (Schwoon 2002, section 3.1.6; for
//! weights Reps, Schwoon, Jha and Melski 2005, section 4). The run is not the shortest. What comes out can be applied rule by
//! rule, and `tests/witnesses.rs` does.

use crate::automaton::{Automaton, Edge, Origin};
use crate::system::Configuration;

/// A run: where it begins, and the numbers of its rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    /// A configuration of the automaton that saturation began with; for pre* the one that was asked about.
    pub first: Configuration,
    /// In the order in which they are applied.
    pub rules: Vec<usize>,
}

/// A run to a configuration that an automaton of post* accepts.
pub fn to_reached<W: Clone>(reached: &Automaton<W>, configuration: &Configuration) -> Option<Witness> {
    let mut path = reached.accepting(configuration)?;
    // The top of the stack is at the end.
    path.reverse();
    let mut rules = Vec::new();
    loop {
        let top = path.pop()?;
        match reached.transitions[top].origin {
            Origin::After(rule, before) => {
                rules.push(rule);
                path.push(before);
            }
            Origin::Returned(back, below) => {
                // The transition that reads nothing was made by a rule that returns.
                let Origin::After(rule, before) = reached.transitions[back].origin else { return None };
                rules.push(rule);
                path.push(below);
                path.push(before);
            }
            Origin::Entry => {
                // Whoever has called is known by what lies below.
                let below = path.pop()?;
                let Origin::Below(rule, before) = reached.transitions[below].origin else { return None };
                rules.push(rule);
                path.push(before);
            }
            Origin::Given => {
                path.push(top);
                let first = read(reached, &path);
                rules.reverse();
                return Some(Witness { first, rules });
            }
            _ => return None,
        }
    }
}

/// A run from a configuration that an automaton of pre* accepts to one of those that it began with.
pub fn from_reaching<W: Clone>(reaching: &Automaton<W>, configuration: &Configuration) -> Option<Witness> {
    let mut path = reaching.accepting(configuration)?;
    path.reverse();
    let mut rules = Vec::new();
    while let Some(top) = path.pop() {
        match reaching.transitions[top].origin {
            Origin::Popping(rule) => rules.push(rule),
            Origin::Stepping(rule, next) => {
                rules.push(rule);
                path.push(next);
            }
            Origin::Calling(rule, called, below) => {
                rules.push(rule);
                path.push(below);
                path.push(called);
            }
            Origin::Given => break,
            _ => return None,
        }
    }
    Some(Witness { first: configuration.clone(), rules })
}

/// The configuration that a path reads; its top is at the end of the path.
fn read<W: Clone>(automaton: &Automaton<W>, path: &[Edge]) -> Configuration {
    let state = path.last().map_or(0, |top| automaton.transitions[*top].from);
    let stack = path.iter().rev().map(|edge| automaton.transitions[*edge].symbol).collect();
    Configuration { state, stack }
}
