//! Promela as written: the tree that the parser makes and that the lowering turns into a model.
//!
//! Macros are expanded by the preprocessor and inlines by the parser (an inline's body is a [`StmtKind::Block`]
//! with its name); names are not resolved yet. Spans carry the expansion they came from.

mod expressions;
mod statements;

pub use expressions::{Expr, ExprKind, RefPart, Temporal, VarRef};
use preempt_core::Span;
pub use preempt_model::{BinaryOp, Probe, UnaryOp};
pub use statements::{ReceiveArg, Stmt, StmtKind};

/// A whole model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Program {
    /// In the order of the text.
    pub items: Vec<Item>,
}

// There are few items, so the size of the largest does not matter.
/// What stands at the outermost level.
#[allow(clippy::large_enum_variant)]
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// Symbolic constants.
    Mtype(Mtype),
    /// A record type.
    Typedef(Typedef),
    /// Global variables and channels.
    Variables(Declaration),
    /// A process type, or `init`.
    Process(Process),
    /// A never claim.
    Never(Claim),
    /// A trace assertion.
    Trace(TraceAssertion),
    /// A formula of linear temporal logic.
    Ltl(Ltl),
}

/// A name where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// As it is written.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// `mtype [:set] = { a, b }`, names in the order in which they were written.
#[derive(Debug, Clone, PartialEq)]
pub struct Mtype {
    /// The named set they belong to.
    pub set: Option<Name>,
    /// The constants; Spin numbers them from the last to the first.
    pub names: Vec<Name>,
}

/// `typedef R { byte a; short b[2] }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Typedef {
    /// What the type is called.
    pub name: Name,
    /// What a value consists of.
    pub fields: Vec<Declaration>,
}

/// `hidden byte a = 1, b[3]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Declaration {
    /// The word before the type.
    pub visibility: Option<Visibility>,
    /// Of all variables in it.
    pub ty: TypeName,
    /// One or more.
    pub variables: Vec<Variable>,
    /// From the type to the last variable.
    pub span: Span,
}

/// How Spin treats a variable beside its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// It is no part of the state.
    Hidden,
    /// Spin shows its values; nothing else changes.
    Show,
    /// A promise that only one process uses it.
    Local,
}

/// A type.
#[derive(Debug, Clone, PartialEq)]
pub enum TypeName {
    /// 0 or 1.
    Bit,
    /// `false` or `true`.
    Bool,
    /// 0 to 255.
    Byte,
    /// The number of a process: a byte.
    Pid,
    /// 16 bits with a sign.
    Short,
    /// 32 bits with a sign.
    Int,
    /// The width stands with each variable (`unsigned x : 5`).
    Unsigned,
    /// A symbolic constant, of a named set if one is given.
    Mtype(Option<Name>),
    /// A channel.
    Chan,
    /// A typedef.
    Record(Name),
}

/// One variable of a declaration.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// What it is called.
    pub name: Name,
    /// `: 5` of an unsigned.
    pub width: Option<(u32, Span)>,
    /// `[3]`; any constant expression, or a name that Spin evaluates (an initialised scalar).
    pub length: Option<Expr>,
    /// What it begins with; 0 without one.
    pub init: Option<Initializer>,
}

/// What a variable begins with.
#[derive(Debug, Clone, PartialEq)]
pub enum Initializer {
    /// `= e`.
    Value(Expr),
    /// `{ 1, 2, 3 }`.
    List(Vec<Expr>),
    /// `[capacity] of { fields }`.
    Channel {
        /// How many messages it holds; 0 for a rendezvous.
        capacity: Expr,
        /// What a message consists of.
        fields: Vec<TypeName>,
        /// The whole of it.
        span: Span,
    },
}

/// A proctype, or `init` (named `init`, without parameters).
#[derive(Debug, Clone, PartialEq)]
pub struct Process {
    /// `init` for the process without a name.
    pub name: Name,
    /// By which word it is introduced.
    pub kind: ProcessKind,
    /// `active` without a number is `Active(None)`.
    pub active: Option<Option<Expr>>,
    /// What it is started with.
    pub parameters: Vec<Declaration>,
    /// Its priority at the beginning.
    pub priority: Option<Expr>,
    /// It moves only while this holds.
    pub provided: Option<Expr>,
    /// What it does.
    pub body: Vec<Stmt>,
    /// The closing brace: where the process ends.
    pub end: Span,
}

/// The word that introduces a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessKind {
    /// `proctype`.
    Proctype,
    /// `D_proctype`: a promise that it is deterministic.
    Deterministic,
    /// `init`.
    Init,
}

/// `never { ... }`: what no run may do.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// Spin allows one.
    pub name: Option<Name>,
    /// It reads the states of a run, one statement for each.
    pub body: Vec<Stmt>,
    /// The word.
    pub span: Span,
    /// The closing brace.
    pub end: Span,
}

/// `trace { ... }`: the order in which messages must be sent and received.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceAssertion {
    /// `notrace`: the events must not happen in this order.
    pub negated: bool,
    /// Sends and receives.
    pub body: Vec<Stmt>,
    /// The word.
    pub span: Span,
    /// The closing brace.
    pub end: Span,
}

/// `ltl name { ... }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Ltl {
    /// Without one it gets a number.
    pub name: Option<Name>,
    /// It must hold for every run.
    pub formula: Expr,
    /// The whole of it.
    pub span: Span,
}
