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

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Program {
    pub globals: Vec<Declaration>,
    pub procedures: Vec<Procedure>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Name {
    pub text: String,
    pub at: At,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Declaration {
    pub name: Name,
    /// Every thread has its own.
    pub thread_local: bool,
    /// Without one it begins with any value.
    pub value: Option<Expr>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Procedure {
    pub name: Name,
    /// How many values it returns.
    pub results: usize,
    pub parameters: Vec<Name>,
    pub locals: Vec<Declaration>,
    /// Holds in every state of the procedure.
    pub enforce: Option<Expr>,
    /// Holds in no state of the procedure.
    pub abort_if: Option<Expr>,
    pub body: Vec<Statement>,
    /// The closing `end`.
    pub end: At,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    pub labels: Vec<Name>,
    pub kind: StatementKind,
    pub at: At,
}

#[derive(Debug, Clone, PartialEq)]
pub enum StatementKind {
    Skip,
    /// All values are computed, then all are assigned. The target `_` takes a value and keeps nothing.
    Assign {
        targets: Vec<Name>,
        values: Vec<Expr>,
        /// Only outcomes in which this holds; `'x` is the value after the assignment.
        constrain: Option<Expr>,
    },
    Call {
        targets: Vec<Name>,
        procedure: Name,
        arguments: Vec<Expr>,
    },
    Return(Vec<Expr>),
    /// To any of these.
    Goto(Vec<Name>),
    If {
        branches: Vec<(Expr, Vec<Statement>)>,
        otherwise: Option<Vec<Statement>>,
    },
    While(Expr, Vec<Statement>),
    Assume(Expr),
    Assert(Expr),
    /// From here on these may have any value.
    Dead(Vec<Name>),
    /// Evaluated for nobody.
    Print(Vec<Expr>),
    /// A new thread that executes a procedure.
    StartCall {
        procedure: Name,
        arguments: Vec<Expr>,
    },
    /// A new thread that goes on at a label, with a copy of the locals.
    StartGoto(Name),
    EndThread,
    AtomicBegin,
    AtomicEnd,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    pub kind: ExprKind,
    pub at: At,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    Constant(bool),
    /// `*`: either value, chosen anew at each occurrence.
    Any,
    Variable(String),
    /// `'x`: its value after the assignment.
    Primed(String),
    Not(Box<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>),
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `schoose[p, n]`: 1 if `p`, else 0 if `n`, else either.
    Choose(Box<Expr>, Box<Expr>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operator {
    Implies,
    Or,
    Xor,
    And,
    Equal,
    Unequal,
}

impl Operator {
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
    pub fn new(text: impl Into<String>) -> Name {
        Name { text: text.into(), at: At::nowhere() }
    }

    /// `_`, as the target of an assignment.
    pub fn is_nowhere(&self) -> bool {
        self.text == "_"
    }
}

impl Statement {
    pub fn new(kind: StatementKind) -> Statement {
        Statement { labels: Vec::new(), kind, at: At::nowhere() }
    }
}

impl Expr {
    pub fn new(kind: ExprKind) -> Expr {
        Expr { kind, at: At::nowhere() }
    }

    pub fn constant(value: bool) -> Expr {
        Expr::new(ExprKind::Constant(value))
    }

    pub fn any() -> Expr {
        Expr::new(ExprKind::Any)
    }

    pub fn variable(name: impl Into<String>) -> Expr {
        Expr::new(ExprKind::Variable(name.into()))
    }

    pub fn negated(self) -> Expr {
        Expr::new(ExprKind::Not(Box::new(self)))
    }

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
