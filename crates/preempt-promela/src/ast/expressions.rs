//! Expressions and formulas as written, and what they name.

use super::{BinaryOp, Name, Probe, ReceiveArg, UnaryOp};
use preempt_core::Span;

/// `a[i].b.c[j]`
#[derive(Debug, Clone, PartialEq)]
pub struct VarRef {
    /// The variable, then fields of records.
    pub parts: Vec<RefPart>,
    /// The whole of it.
    pub span: Span,
}

/// A name with its index.
#[derive(Debug, Clone, PartialEq)]
pub struct RefPart {
    /// Of a variable or field.
    pub name: Name,
    /// Of an array.
    pub index: Option<Box<Expr>>,
}

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// The whole of it.
    pub span: Span,
}

/// What an expression is.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// Also `true`, `false`, `skip` and character constants.
    Number(i32),
    /// A variable, a symbolic constant, or a predefined name (`_pid`, `_nr_pr`, `_last`, `_`).
    Ref(VarRef),
    /// `!`, `-`, `~`.
    Unary(UnaryOp, Box<Expr>),
    /// Two values and what joins them.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `(c -> a : b)`
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `run P(a, b)`: starts a process; its value is the number of the process.
    Run {
        /// The process type.
        process: Name,
        /// The values of its parameters.
        args: Vec<Expr>,
        /// Its priority, if one is given.
        priority: Option<Box<Expr>>,
    },
    /// `len(c)`: how many messages there are.
    Len(VarRef),
    /// `full(c)` and its like.
    Probe(Probe, VarRef),
    /// `c?[..]` and `c??[..]`
    Poll {
        /// The channel that is looked at.
        channel: VarRef,
        /// Any message may fit, not only the first.
        random: bool,
        /// What must match.
        args: Vec<ReceiveArg>,
    },
    /// No process can move otherwise.
    Timeout,
    /// `np_`
    NonProgress,
    /// `enabled(pid)`: can that process move?
    Enabled(Box<Expr>),
    /// `pc_value(pid)`: where that process stands.
    PcValue(Box<Expr>),
    /// `get_priority(pid)`.
    GetPriority(Box<Expr>),
    /// `P[pid]@label`
    RemoteLabel {
        /// The process type.
        process: Name,
        /// Which process of the type; without one there is only one.
        pid: Option<Box<Expr>>,
        /// Does it stand there?
        label: Name,
    },
    /// `P[pid]:variable`
    RemoteVariable {
        /// The process type.
        process: Name,
        /// Which process of the type; without one there is only one.
        pid: Option<Box<Expr>>,
        /// One of its local variables.
        variable: VarRef,
    },
    /// Only in `ltl`.
    Temporal(Temporal),
}

/// The operators of linear temporal logic.
#[derive(Debug, Clone, PartialEq)]
pub enum Temporal {
    /// `[] f`: now and in every later state.
    Always(Box<Expr>),
    /// `<> f`: now or in some later state.
    Eventually(Box<Expr>),
    /// `X f`: in the next state.
    Next(Box<Expr>),
    /// `f U g`: f until g, and g some time.
    Until(Box<Expr>, Box<Expr>),
    /// `f V g`: g as long as f has not held before.
    Release(Box<Expr>, Box<Expr>),
    /// `f W g`: f until g, or for ever.
    WeakUntil(Box<Expr>, Box<Expr>),
    /// `f -> g`.
    Implies(Box<Expr>, Box<Expr>),
    /// `f <-> g`.
    Equivalent(Box<Expr>, Box<Expr>),
}
