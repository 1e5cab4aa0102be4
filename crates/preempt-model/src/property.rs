//! Properties that a model carries besides its assertions.

use crate::expr::Expr;
use crate::program::CodeId;
use preempt_core::Span;

/// A never claim: an observer that moves before every step of the system. Reaching its end, or an infinite
/// run through one of its accept labels, is a violation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    pub name: String,
    pub code: CodeId,
    pub span: Span,
}

/// `trace` or `notrace`: an observer of sends and receives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceAssertion {
    pub code: CodeId,
    pub negated: bool,
    pub span: Span,
}

/// A promise that only one process receives from (or sends to) a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exclusive {
    pub code: CodeId,
    pub receive: bool,
    pub channel: Expr,
    pub span: Span,
}

/// A named formula of linear temporal logic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Formula {
    pub name: String,
    pub formula: Ltl,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ltl {
    Atom(Expr),
    Not(Box<Ltl>),
    And(Box<Ltl>, Box<Ltl>),
    Or(Box<Ltl>, Box<Ltl>),
    Implies(Box<Ltl>, Box<Ltl>),
    Equivalent(Box<Ltl>, Box<Ltl>),
    Next(Box<Ltl>),
    Always(Box<Ltl>),
    Eventually(Box<Ltl>),
    Until(Box<Ltl>, Box<Ltl>),
    Release(Box<Ltl>, Box<Ltl>),
    WeakUntil(Box<Ltl>, Box<Ltl>),
}

/// A Büchi automaton over the model's expressions: it accepts a run that it can follow for ever, passing
/// accepting states infinitely often.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Automaton {
    pub states: Vec<AutomatonState>,
    pub initial: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AutomatonState {
    pub accepting: bool,
    /// Taken when the expression holds in the state that is read.
    pub edges: Vec<(Expr, usize)>,
}
