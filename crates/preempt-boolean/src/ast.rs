//! The syntax tree of a Boolean program.
//!
//! Two trees are equal if they say the same, wherever they stand in a text.

use preempt_core::{SourceId, Span};

/// A place in the text; it has no part in comparing trees.
#[derive(Debug, Clone, Copy)]
pub struct At(pub Span);

impl PartialEq for At {
    fn eq(&self, _: &At) -> bool {
        true
    }
}

impl At {
    /// For trees that were not read from a text.
    pub fn nowhere() -> At {
        At(Span::new(SourceId(0), 0, 0))
    }
}

/// A whole program. It begins with the procedure `main`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Program {
    /// Shared by all threads, but for those that are thread-local.
    pub globals: Vec<Declaration>,
    /// In the order of the text.
    pub procedures: Vec<Procedure>,
}

/// A name, or `{x == 0}` as predicate abstraction names its variables.
#[derive(Debug, Clone, PartialEq)]
pub struct Name {
    /// Without what stands around it.
    pub text: String,
    /// Where it stands.
    pub at: At,
}

/// A variable.
#[derive(Debug, Clone, PartialEq)]
pub struct Declaration {
    /// What it is called.
    pub name: Name,
    /// Every thread has its own.
    pub thread_local: bool,
    /// Without one it begins with any value.
    pub value: Option<Expr>,
}

/// A procedure: it can be called, and be executed as a thread.
#[derive(Debug, Clone, PartialEq)]
pub struct Procedure {
    /// What it is called.
    pub name: Name,
    /// How many values it returns.
    pub results: usize,
    /// They are given when it is called.
    pub parameters: Vec<Name>,
    /// Every call has its own.
    pub locals: Vec<Declaration>,
    /// Holds in every state of the procedure.
    pub enforce: Option<Expr>,
    /// Holds in no state of the procedure.
    pub abort_if: Option<Expr>,
    /// What it does.
    pub body: Vec<Statement>,
    /// The closing `end`.
    pub end: At,
}

/// A statement with the labels in front of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// Jumps lead here.
    pub labels: Vec<Name>,
    /// What it does.
    pub kind: StatementKind,
    /// Where it stands.
    pub at: At,
}

/// What a statement does.
#[derive(Debug, Clone, PartialEq)]
pub enum StatementKind {
    /// A step without effect.
    Skip,
    /// All values are computed, then all are assigned. The target `_` takes a value and keeps nothing.
    Assign {
        /// Each takes the value at its position.
        targets: Vec<Name>,
        /// As many as targets.
        values: Vec<Expr>,
        /// Only outcomes in which this holds; `'x` is the value after the assignment.
        constrain: Option<Expr>,
    },
    /// Executes a procedure and goes on when it returns.
    Call {
        /// They take what it returns.
        targets: Vec<Name>,
        /// What is called.
        procedure: Name,
        /// The values of its parameters.
        arguments: Vec<Expr>,
    },
    /// Back to the caller with these values; a thread ends.
    Return(Vec<Expr>),
    /// To any of these.
    Goto(Vec<Name>),
    /// The first branch whose condition holds.
    If {
        /// `if` and `elsif`.
        branches: Vec<(Expr, Vec<Statement>)>,
        /// `else`.
        otherwise: Option<Vec<Statement>>,
    },
    /// As long as the condition holds.
    While(Expr, Vec<Statement>),
    /// Goes on only if it holds.
    Assume(Expr),
    /// An error if it does not hold.
    Assert(Expr),
    /// From here on these may have any value.
    Dead(Vec<Name>),
    /// Evaluated for nobody.
    Print(Vec<Expr>),
    /// A new thread that executes a procedure.
    StartCall {
        /// What it executes.
        procedure: Name,
        /// The values of its parameters.
        arguments: Vec<Expr>,
    },
    /// A new thread that goes on at a label, with a copy of the locals.
    StartGoto(Name),
    /// The thread ends, however many calls it is in.
    EndThread,
    /// From here on nobody else runs.
    AtomicBegin,
    /// Others may run again.
    AtomicEnd,
    /// Goes on when another thread broadcasts.
    Wait,
    /// Every thread that waits goes on.
    Broadcast,
}

/// A Boolean expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub at: At,
}

/// What an expression is.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// `T`, `F`, `1` or `0`.
    Constant(bool),
    /// `*`: either value, chosen anew at each occurrence.
    Any,
    /// The value of a variable.
    Variable(String),
    /// `'x`: its value after the assignment.
    Primed(String),
    /// `!e`.
    Not(Box<Expr>),
    /// Two values and what joins them.
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// `c ? a : b`.
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `schoose[p, n]`: 1 if `p`, else 0 if `n`, else either.
    Choose(Box<Expr>, Box<Expr>),
}

/// What joins two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operator {
    /// `=>`
    Implies,
    /// `|`
    Or,
    /// `^`
    Xor,
    /// `&`
    And,
    /// `=`
    Equal,
    /// `!=`
    Unequal,
}

impl Operator {
    /// As it is written.
    pub fn text(self) -> &'static str {
        match self {
            Operator::Implies => "=>",
            Operator::Or => "|",
            Operator::Xor => "^",
            Operator::And => "&",
            Operator::Equal => "=",
            Operator::Unequal => "!=",
        }
    }
}

impl Name {
    /// A name that stands nowhere in a text.
    pub fn new(text: impl Into<String>) -> Name {
        Name { text: text.into(), at: At::nowhere() }
    }

    /// `_`, as the target of an assignment.
    pub fn is_nowhere(&self) -> bool {
        self.text == "_"
    }
}

impl Statement {
    /// A statement without labels that stands nowhere in a text.
    pub fn new(kind: StatementKind) -> Statement {
        Statement { labels: Vec::new(), kind, at: At::nowhere() }
    }
}

impl Expr {
    /// An expression that stands nowhere in a text.
    pub fn new(kind: ExprKind) -> Expr {
        Expr { kind, at: At::nowhere() }
    }

    /// `T` or `F`.
    pub fn constant(value: bool) -> Expr {
        Expr::new(ExprKind::Constant(value))
    }

    /// Either value.
    pub fn any() -> Expr {
        Expr::new(ExprKind::Any)
    }

    /// The value of a variable.
    pub fn variable(name: impl Into<String>) -> Expr {
        Expr::new(ExprKind::Variable(name.into()))
    }

    /// Its negation.
    pub fn negated(self) -> Expr {
        Expr::new(ExprKind::Not(Box::new(self)))
    }

    /// Two values joined.
    pub fn binary(operator: Operator, left: Expr, right: Expr) -> Expr {
        Expr::new(ExprKind::Binary(operator, Box::new(left), Box::new(right)))
    }

    /// Calls `visit` for this expression and every expression inside it.
    pub fn visit<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        visit(self);
        match &self.kind {
            ExprKind::Constant(_) | ExprKind::Any | ExprKind::Variable(_) | ExprKind::Primed(_) => {}
            ExprKind::Not(inner) => inner.visit(visit),
            ExprKind::Binary(_, left, right) | ExprKind::Choose(left, right) => {
                left.visit(visit);
                right.visit(visit);
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                condition.visit(visit);
                then.visit(visit);
                otherwise.visit(visit);
            }
        }
    }
}
