//! The syntax tree of a Remopla program.

use preempt_core::Span;

/// A name with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// A whole program.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// `define NAME expression`.
    pub defines: Vec<(Name, Expr)>,
    /// `enum name { a, b };`
    pub enums: Vec<(Name, Vec<Name>)>,
    /// Shared by all threads.
    pub globals: Vec<Declaration>,
    /// `init main;`
    pub init: Option<Name>,
    /// In the order of the text.
    pub modules: Vec<Module>,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeName {
    /// `bool`.
    Bool,
    /// `int`.
    Int,
    /// `enum name`.
    Enum(Name),
}

/// `[n]`, or `[low, high]`.
pub type Dimension = (Expr, Option<Expr>);

/// A variable, perhaps an array. A field of a structure is a variable of its own, `x.f`.
#[derive(Debug, Clone)]
pub struct Declaration {
    /// Its type.
    pub ty: TypeName,
    /// What it is called.
    pub name: Name,
    /// `[n]` or `[low, high]`, at most two.
    pub dimensions: Vec<Dimension>,
    /// `(bits)`.
    pub bits: Option<Expr>,
}

/// A module: it can be called, and be executed as a thread.
#[derive(Debug, Clone)]
pub struct Module {
    /// What it is called.
    pub name: Name,
    /// `None` for `void`.
    pub returns: Option<(TypeName, Option<Expr>)>,
    /// They are given when it is called.
    pub parameters: Vec<Declaration>,
    /// Every call has its own.
    pub locals: Vec<Declaration>,
    /// What it does; `None` if it was only announced.
    pub body: Option<Vec<Statement>>,
    /// The closing brace.
    pub end: Span,
}

/// A statement with the label in front of it.
#[derive(Debug, Clone)]
pub struct Statement {
    /// Jumps lead here.
    pub label: Option<Name>,
    /// What it does.
    pub kind: StatementKind,
    /// Where it stands.
    pub span: Span,
}

/// What a statement does.
#[derive(Debug, Clone)]
pub enum StatementKind {
    /// All values are computed, then all are assigned.
    Assign(Vec<Assignment>),
    /// `x = f(a);` or `f(a);`
    Call {
        /// Takes what it returns.
        target: Option<Place>,
        /// What is called.
        module: Name,
        /// The values of its parameters.
        arguments: Vec<Expr>,
    },
    /// `fork f(a);`
    Fork(Name, Vec<Expr>),
    /// Back to the caller.
    Return(Option<Expr>),
    /// To a label.
    Goto(Name),
    /// Out of the innermost `do`.
    Break,
    /// Goes on if the condition holds; without one it always does.
    Skip(Option<Expr>),
    /// One of the branches whose condition holds; `None` is `else`.
    If(Vec<(Option<Expr>, Vec<Statement>)>),
    /// The same again and again.
    Do(Vec<(Option<Expr>, Vec<Statement>)>),
}

/// One of several assignments at once.
#[derive(Debug, Clone)]
pub struct Assignment {
    /// `A i (low, high)` in front of it: for all of these.
    pub quantifiers: Vec<Quantifier>,
    /// Where the value goes.
    pub place: Place,
    /// `None` is `undef`: any value.
    pub value: Option<Expr>,
}

/// `i (low, high)`.
#[derive(Debug, Clone)]
pub struct Quantifier {
    /// `A` or `E`.
    pub all: bool,
    /// The name that stands for each of the numbers.
    pub name: Name,
    /// The first of them.
    pub low: Expr,
    /// The last.
    pub high: Expr,
}

/// A variable or an element of an array.
#[derive(Debug, Clone)]
pub struct Place {
    /// The variable.
    pub name: Name,
    /// One for each dimension.
    pub indices: Vec<Expr>,
}

/// An expression.
#[derive(Debug, Clone)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
}

/// What an expression is.
#[derive(Debug, Clone)]
pub enum ExprKind {
    /// A number.
    Number(i64),
    /// `true` or `false`.
    Bool(bool),
    /// A variable, a constant or an element.
    Load(Place),
    /// `!e`.
    Not(Box<Expr>),
    /// `~e`.
    Complement(Box<Expr>),
    /// Two values and what joins them.
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// For all, or for one, of some numbers.
    Quantified(Box<Quantifier>, Box<Expr>),
}

/// What joins two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "they are as they are written")]
pub enum Operator {
    Or,
    Xor,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    ShiftLeft,
    ShiftRight,
    Add,
    Sub,
    Mul,
    Div,
}
