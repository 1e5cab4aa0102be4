//! Büchi automata made from formulas.

use super::{Monitor, Reading};
use crate::expr::Expr;
use crate::interpreter::{Interpreter, State};
use crate::ltl::{self, TooLarge};
use crate::property::{Automaton, Formula};
use crate::system::Violation;
use preempt_core::PropertyKind;

/// Looks for runs that the automaton accepts; the automaton is that of a formula's negation.
#[derive(Debug, Clone)]
pub struct BuchiMonitor<'a, 'm> {
    interpreter: &'a Interpreter<'m>,
    automaton: Automaton,
    violation: Violation,
}

impl<'a, 'm> BuchiMonitor<'a, 'm> {
    /// Follows an automaton that accepts the runs that are wrong.
    pub fn new(interpreter: &'a Interpreter<'m>, automaton: Automaton, violation: Violation) -> Self {
        BuchiMonitor { interpreter, automaton, violation }
    }

    /// Looks for runs that violate the formula.
    pub fn of_formula(interpreter: &'a Interpreter<'m>, formula: &Formula) -> Result<Self, TooLarge> {
        let violation = Violation {
            kind: PropertyKind::Ltl,
            name: formula.name.clone(),
            location: Some(interpreter.sources().location(formula.span)),
        };
        let automaton = ltl::to_automaton(&formula.formula.negated())?;
        Ok(BuchiMonitor::new(interpreter, automaton, violation))
    }

    /// What it follows.
    pub fn automaton(&self) -> &Automaton {
        &self.automaton
    }

    fn accepts_everything(&self, place: usize) -> bool {
        let state = &self.automaton.states[place];
        state.accepting && state.edges.contains(&(Expr::TRUE, place))
    }
}

impl<'m> Monitor<Interpreter<'m>> for BuchiMonitor<'_, 'm> {
    type Place = usize;

    fn start(&self) -> usize {
        self.automaton.initial
    }

    fn read(&self, state: &State, place: usize) -> Vec<Reading<usize>> {
        let mut found = Vec::new();
        for (guard, target) in &self.automaton.states[place].edges {
            match self.interpreter.holds(state, guard) {
                // Once everything that may follow is accepted, there is nothing to wait for.
                Ok(true) if self.accepts_everything(*target) => {
                    found.push(Reading { place: None, violation: None });
                }
                Ok(true) => found.push(Reading::on(*target)),
                Ok(false) => {}
                Err(fault) => {
                    let kind = PropertyKind::RuntimeError;
                    let violation =
                        Violation { kind, name: fault.0, location: self.violation.location.clone() };
                    found.push(Reading { place: None, violation: Some(violation) });
                }
            }
        }
        found
    }

    fn accepts(&self, _: &State, place: usize) -> bool {
        self.automaton.states[place].accepting
    }

    fn judges_system(&self) -> bool {
        self.interpreter.feels_claim()
    }

    fn violation(&self) -> Violation {
        self.violation.clone()
    }
}
