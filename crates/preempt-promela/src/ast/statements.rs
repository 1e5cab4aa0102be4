//! Statements as written.

use super::{Declaration, Expr, Name, VarRef};
use preempt_core::Span;

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
