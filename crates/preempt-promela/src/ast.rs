//! Promela as written: the tree that the parser makes and that the lowering turns into a model.
//!
//! Macros are expanded by the preprocessor and inlines by the parser (an inline's body is a [`StmtKind::Block`]
//! with its name); names are not resolved yet. Spans carry the expansion they came from.

use preempt_core::Span;
pub use preempt_model::{BinaryOp, Probe, UnaryOp};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Program {
    pub items: Vec<Item>,
}

// There are few items, so the size of the largest does not matter.
#[allow(clippy::large_enum_variant)]
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    Mtype(Mtype),
    Typedef(Typedef),
    Variables(Declaration),
    Process(Process),
    Never(Claim),
    Trace(TraceAssertion),
    Ltl(Ltl),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    pub text: String,
    pub span: Span,
}

/// `mtype [:set] = { a, b }`, names in the order in which they were written.
#[derive(Debug, Clone, PartialEq)]
pub struct Mtype {
    pub set: Option<Name>,
    pub names: Vec<Name>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Typedef {
    pub name: Name,
    pub fields: Vec<Declaration>,
}

/// `hidden byte a = 1, b[3]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Declaration {
    pub visibility: Option<Visibility>,
    pub ty: TypeName,
    pub variables: Vec<Variable>,
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    Hidden,
    Show,
    Local,
}

#[derive(Debug, Clone, PartialEq)]
pub enum TypeName {
    Bit,
    Bool,
    Byte,
    Pid,
    Short,
    Int,
    /// The width stands with each variable (`unsigned x : 5`).
    Unsigned,
    Mtype(Option<Name>),
    Chan,
    /// A typedef.
    Record(Name),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    pub name: Name,
    /// `: 5` of an unsigned.
    pub width: Option<(u32, Span)>,
    /// `[3]`; any constant expression, or a name that Spin evaluates (an initialised scalar).
    pub length: Option<Expr>,
    pub init: Option<Initializer>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Initializer {
    Value(Expr),
    /// `{ 1, 2, 3 }`.
    List(Vec<Expr>),
    /// `[capacity] of { fields }`.
    Channel {
        capacity: Expr,
        fields: Vec<TypeName>,
        span: Span,
    },
}

/// A proctype, or `init` (named `init`, without parameters).
#[derive(Debug, Clone, PartialEq)]
pub struct Process {
    pub name: Name,
    pub kind: ProcessKind,
    /// `active` without a number is `Active(None)`.
    pub active: Option<Option<Expr>>,
    pub parameters: Vec<Declaration>,
    pub priority: Option<Expr>,
    pub provided: Option<Expr>,
    pub body: Vec<Stmt>,
    /// The closing brace: where the process ends.
    pub end: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessKind {
    Proctype,
    /// `D_proctype`: a promise that it is deterministic.
    Deterministic,
    Init,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    pub name: Option<Name>,
    pub body: Vec<Stmt>,
    pub span: Span,
    pub end: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TraceAssertion {
    /// `notrace`: the events must not happen in this order.
    pub negated: bool,
    pub body: Vec<Stmt>,
    pub span: Span,
    pub end: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Ltl {
    pub name: Option<Name>,
    pub formula: Expr,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Stmt {
    /// `L: M: stmt`, outermost first. A label before a closing brace gets a `skip` as Spin gives it.
    pub labels: Vec<Name>,
    pub kind: StmtKind,
    /// For compound statements the keyword (`do`, `atomic`, ...), for others the whole text.
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum StmtKind {
    Declare(Declaration),
    /// `xr a, b` and `xs a, b`.
    Exclusive {
        receive: bool,
        channels: Vec<VarRef>,
    },
    /// An expression as a statement; `skip` is the expression 1.
    Guard(Expr),
    Else,
    Assign {
        target: VarRef,
        value: Expr,
    },
    Increment(VarRef),
    Decrement(VarRef),
    Assert(Expr),
    Printf {
        format: String,
        args: Vec<Expr>,
    },
    Printm(Expr),
    Send {
        channel: VarRef,
        sorted: bool,
        args: Vec<Expr>,
    },
    /// `?`, `??` (`random`), `?<>` and `??<>` (`keep`: the message stays).
    Receive {
        channel: VarRef,
        random: bool,
        keep: bool,
        args: Vec<ReceiveArg>,
    },
    If(Vec<Vec<Stmt>>),
    Do(Vec<Vec<Stmt>>),
    Break,
    Goto(Name),
    Atomic(Vec<Stmt>),
    DStep(Vec<Stmt>),
    /// `{ ... }`, or the body of an inline.
    Block {
        body: Vec<Stmt>,
        inline: Option<Name>,
    },
    Unless {
        main: Box<Stmt>,
        escape: Box<Stmt>,
    },
    ForRange {
        variable: VarRef,
        from: Expr,
        to: Expr,
        body: Vec<Stmt>,
    },
    /// `for (x in a)`: an array's indices, or a channel's messages.
    ForIn {
        variable: VarRef,
        container: VarRef,
        body: Vec<Stmt>,
    },
    Select {
        variable: VarRef,
        from: Expr,
        to: Expr,
    },
    SetPriority {
        pid: Expr,
        priority: Expr,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub enum ReceiveArg {
    /// A variable to receive into, a symbolic constant to match, or `_`.
    Ref(VarRef),
    Eval(Expr),
    /// A literal to match.
    Constant(i32, Span),
}

/// `a[i].b.c[j]`
#[derive(Debug, Clone, PartialEq)]
pub struct VarRef {
    pub parts: Vec<RefPart>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RefPart {
    pub name: Name,
    pub index: Option<Box<Expr>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// Also `true`, `false`, `skip` and character constants.
    Number(i32),
    /// A variable, a symbolic constant, or a predefined name (`_pid`, `_nr_pr`, `_last`, `_`).
    Ref(VarRef),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `(c -> a : b)`
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    Run {
        process: Name,
        args: Vec<Expr>,
        priority: Option<Box<Expr>>,
    },
    Len(VarRef),
    Probe(Probe, VarRef),
    /// `c?[..]` and `c??[..]`
    Poll {
        channel: VarRef,
        random: bool,
        args: Vec<ReceiveArg>,
    },
    Timeout,
    /// `np_`
    NonProgress,
    Enabled(Box<Expr>),
    PcValue(Box<Expr>),
    GetPriority(Box<Expr>),
    /// `P[pid]@label`
    RemoteLabel {
        process: Name,
        pid: Option<Box<Expr>>,
        label: Name,
    },
    /// `P[pid]:variable`
    RemoteVariable {
        process: Name,
        pid: Option<Box<Expr>>,
        variable: VarRef,
    },
    /// Only in `ltl`.
    Temporal(Temporal),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Temporal {
    Always(Box<Expr>),
    Eventually(Box<Expr>),
    Next(Box<Expr>),
    Until(Box<Expr>, Box<Expr>),
    Release(Box<Expr>, Box<Expr>),
    WeakUntil(Box<Expr>, Box<Expr>),
    Implies(Box<Expr>, Box<Expr>),
    Equivalent(Box<Expr>, Box<Expr>),
}
