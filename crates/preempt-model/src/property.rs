//! Properties that a model carries besides its assertions.

use crate::expr::Expr;
use crate::program::CodeId;
use preempt_core::Span;

/// A never claim: an observer that moves before every step of the system. Reaching its end, or an infinite
/// run through one of its accept labels, is a violation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// As it was declared, or a number.
    pub name: String,
    /// Of the observer.
    pub code: CodeId,
    /// Where it is declared.
    pub span: Span,
}

/// `trace` or `notrace`: an observer of sends and receives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceAssertion {
    /// Of the observer.
    pub code: CodeId,
    /// `notrace`: the runs that it follows to its end are those that must not be.
    pub negated: bool,
    /// Where it stands.
    pub span: Span,
}

/// A promise that only one process receives from (or sends to) a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exclusive {
    /// Of the processes that promise it.
    pub code: CodeId,
    /// Of receiving (`xr`); else of sending (`xs`).
    pub receive: bool,
    /// Which channel.
    pub channel: Expr,
    /// Where the promise stands.
    pub span: Span,
}

/// A named formula of linear temporal logic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Formula {
    /// As it was declared, or a number.
    pub name: String,
    /// What every run must satisfy.
    pub formula: Ltl,
    /// Where it is declared.
    pub span: Span,
}

/// A formula of linear temporal logic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ltl {
    /// Holds now.
    Atom(Expr),
    /// `!`.
    Not(Box<Ltl>),
    /// `&&`.
    And(Box<Ltl>, Box<Ltl>),
    /// `||`.
    Or(Box<Ltl>, Box<Ltl>),
    /// `->`.
    Implies(Box<Ltl>, Box<Ltl>),
    /// `<->`.
    Equivalent(Box<Ltl>, Box<Ltl>),
    /// `X`: holds from the next state on.
    Next(Box<Ltl>),
    /// `[]`: holds from now on in every state.
    Always(Box<Ltl>),
    /// `<>`: holds from some state on.
    Eventually(Box<Ltl>),
    /// `U`: the right side holds at some time, and until then the left one.
    Until(Box<Ltl>, Box<Ltl>),
    /// `V`: the right side holds up to where the left one does, for ever if that is never.
    Release(Box<Ltl>, Box<Ltl>),
    /// `W`: the left side holds up to where the right one does, for ever if that is never.
    WeakUntil(Box<Ltl>, Box<Ltl>),
}

/// A Büchi automaton over the model's expressions: it accepts a run that it can follow for ever, passing
/// accepting states infinitely often.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Automaton {
    /// By their numbers.
    pub states: Vec<AutomatonState>,
    /// Where it begins.
    pub initial: usize,
}

/// A state of an automaton.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AutomatonState {
    /// Is a run accepted that passes it again and again?
    pub accepting: bool,
    /// Taken when the expression holds in the state that is read.
    pub edges: Vec<(Expr, usize)>,
}
