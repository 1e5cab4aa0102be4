//! Promela as written: the tree that the parser makes and that the lowering turns into a model.
//!
//! Macros are expanded by the preprocessor and inlines by the parser (an inline's body is a [`StmtKind::Block`]
//! with its name); names are not resolved yet. Spans carry the expansion they came from.

use preempt_core::Span;
pub use preempt_model::{BinaryOp, Probe, UnaryOp};

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

/// A statement with its labels.
#[derive(Debug, Clone, PartialEq)]
pub struct Stmt {
    /// `L: M: stmt`, outermost first. A label before a closing brace gets a `skip` as Spin gives it.
    pub labels: Vec<Name>,
    /// What it does.
    pub kind: StmtKind,
    /// For compound statements the keyword (`do`, `atomic`, ...), for others the whole text.
    pub span: Span,
}

/// What a statement does.
#[derive(Debug, Clone, PartialEq)]
pub enum StmtKind {
    /// A local variable.
    Declare(Declaration),
    /// `xr a, b` and `xs a, b`.
    Exclusive {
        /// `xr`, and not `xs`.
        receive: bool,
        /// Only this process uses that end of these.
        channels: Vec<VarRef>,
    },
    /// An expression as a statement; `skip` is the expression 1.
    Guard(Expr),
    /// Executable if no other option is.
    Else,
    /// `target = value`.
    Assign {
        /// The variable.
        target: VarRef,
        /// What it becomes.
        value: Expr,
    },
    /// `x++`.
    Increment(VarRef),
    /// `x--`.
    Decrement(VarRef),
    /// An error if it does not hold.
    Assert(Expr),
    /// `printf("...", a, b)`.
    Printf {
        /// The text with its places for values, escapes resolved.
        format: String,
        /// The values.
        args: Vec<Expr>,
    },
    /// `printm(m)`: the name of a symbolic constant.
    Printm(Expr),
    /// `c!a,b`, or `c!!a,b` (`sorted`).
    Send {
        /// Where to.
        channel: VarRef,
        /// The message is put before the first that is larger.
        sorted: bool,
        /// The fields of the message.
        args: Vec<Expr>,
    },
    /// `?`, `??` (`random`), `?<>` and `??<>` (`keep`: the message stays).
    Receive {
        /// Where from.
        channel: VarRef,
        /// The first message that fits, wherever it is.
        random: bool,
        /// The message stays in the channel.
        keep: bool,
        /// What is taken, and what must match.
        args: Vec<ReceiveArg>,
    },
    /// One of the options whose first statement is executable.
    If(Vec<Vec<Stmt>>),
    /// The same again and again, until `break`.
    Do(Vec<Vec<Stmt>>),
    /// Leaves the innermost loop.
    Break,
    /// Goes on at a label.
    Goto(Name),
    /// Others run only while it is blocked.
    Atomic(Vec<Stmt>),
    /// One step, deterministic.
    DStep(Vec<Stmt>),
    /// `{ ... }`, or the body of an inline.
    Block {
        /// The statements.
        body: Vec<Stmt>,
        /// The name of the inline.
        inline: Option<Name>,
    },
    /// The escape interrupts the main part as soon as it is executable.
    Unless {
        /// What is interrupted.
        main: Box<Stmt>,
        /// What interrupts it.
        escape: Box<Stmt>,
    },
    /// `for (i : 1 .. n) { ... }`.
    ForRange {
        /// It counts.
        variable: VarRef,
        /// The first value.
        from: Expr,
        /// The last value.
        to: Expr,
        /// Done for each value.
        body: Vec<Stmt>,
    },
    /// `for (x in a)`: an array's indices, or a channel's messages.
    ForIn {
        /// An index, or a record for a message.
        variable: VarRef,
        /// The array or the channel.
        container: VarRef,
        /// Done for each of them.
        body: Vec<Stmt>,
    },
    /// `select (i : 1 .. n)`: any value of the range.
    Select {
        /// It takes the value.
        variable: VarRef,
        /// The smallest value.
        from: Expr,
        /// The largest value.
        to: Expr,
    },
    /// `set_priority(pid, priority)`.
    SetPriority {
        /// The process.
        pid: Expr,
        /// What it becomes.
        priority: Expr,
    },
}

/// What stands for a field of a received message.
#[derive(Debug, Clone, PartialEq)]
pub enum ReceiveArg {
    /// A variable to receive into, a symbolic constant to match, or `_`.
    Ref(VarRef),
    /// `eval(e)`: the field must have this value.
    Eval(Expr),
    /// A literal to match.
    Constant(i32, Span),
}

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
