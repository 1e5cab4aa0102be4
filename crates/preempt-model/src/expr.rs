//! Expressions: 32-bit integers with C's operators, and questions about channels and processes.

use crate::command::Pattern;
use crate::program::CodeId;
use crate::types::Type;

/// An expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expr {
    /// A number.
    Const(i32),
    /// The value of a variable.
    Load(Box<Place>),
    /// An operator with one operand.
    Unary(UnaryOp, Box<Expr>),
    /// An operator with two.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// The second if the first is not zero, else the third: `(c -> a : b)`.
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// Number of messages in a channel.
    Len(Box<Expr>),
    /// Is a channel full, or empty?
    Probe(Probe, Box<Expr>),
    /// Could this be received now? It never is on a rendezvous channel.
    Poll {
        /// Evaluates to the channel's number.
        channel: Box<Expr>,
        /// Any message may match, not only the oldest.
        random: bool,
        /// What the fields must be.
        pattern: Vec<Pattern>,
    },
    /// No process can move without it.
    Timeout,
    /// No process stands at a progress label (`np_`).
    NonProgress,
    /// Could this process move now, whatever the others do?
    Enabled(Box<Expr>),
    /// The number of the location where a process stands.
    PcValue(Box<Expr>),
    /// The priority of a process.
    Priority(Box<Expr>),
    /// The number of the process that evaluates this.
    SelfPid,
    /// How many processes there are.
    ProcessCount,
    /// The process that made the last step.
    LastPid,
    /// Does the process stand at this label of its code? Without a number: the first process of that code.
    At {
        /// Of the process.
        code: CodeId,
        /// Which process of that code.
        pid: Option<Box<Expr>>,
        /// By its number among the labels of the code.
        label: u32,
    },
    /// A variable of another process.
    Remote {
        /// Of the process.
        code: CodeId,
        /// Which process of that code.
        pid: Option<Box<Expr>>,
        /// Among its locals.
        place: Box<Place>,
    },
    /// Any value from `low` to `high`: the step has one outcome for each.
    Any {
        /// The least.
        low: i32,
        /// The greatest.
        high: i32,
    },
    /// Within the result of a `Run` command: the number of the new process.
    NewPid,
}

/// Where a value is kept: a slot of the globals or of the running code's locals.
/// Records and arrays are laid out flat; an index moves by its stride.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Whose it is.
    pub scope: Scope,
    /// The first of the slots that it can mean.
    pub slot: u32,
    /// For an element of an array: which, from the outermost on.
    pub indices: Vec<Index>,
    /// Of the value.
    pub ty: Type,
}

/// Whose a variable is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// Everybody's.
    Global,
    /// Global, but not part of the state: forgotten whenever another process may run.
    Hidden,
    /// Of the running code.
    Local,
    /// Written and never read (`_`).
    Nowhere,
}

/// An index into an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    /// Which element.
    pub value: Expr,
    /// How many there are.
    pub length: u32,
    /// How many slots one of them takes.
    pub stride: u32,
    /// The array's name, for the message when the index is out of range.
    pub array: Box<str>,
}

/// An operator with one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `!`: 1 for zero, else 0.
    Not,
    /// `-`.
    Negate,
    /// `~`: every bit the other way.
    Complement,
}

/// An operator with two operands. Sums and products wrap, as in C.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `+`.
    Add,
    /// `-`.
    Sub,
    /// `*`.
    Mul,
    /// `/`, towards zero.
    Div,
    /// `%`, with the sign of the left side.
    Rem,
    /// `&`.
    BitAnd,
    /// `^`.
    BitXor,
    /// `|`.
    BitOr,
    /// `<<`.
    ShiftLeft,
    /// `>>`, keeping the sign.
    ShiftRight,
    /// `<`.
    Lt,
    /// `<=`.
    Le,
    /// `>`.
    Gt,
    /// `>=`.
    Ge,
    /// `==`.
    Eq,
    /// `!=`.
    Ne,
    /// Evaluates its right side only if the left one does not decide.
    And,
    /// The same, the other way round.
    Or,
}

/// A question about how full a channel is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Probe {
    /// Is there no room for another message?
    Full,
    /// Is there room?
    NotFull,
    /// Is there no message?
    Empty,
    /// Is there one?
    NotEmpty,
}

impl UnaryOp {
    /// The value of the operator for this operand.
    pub fn apply(self, value: i32) -> i32 {
        match self {
            UnaryOp::Not => i32::from(value == 0),
            UnaryOp::Negate => value.wrapping_neg(),
            UnaryOp::Complement => !value,
        }
    }
}

impl BinaryOp {
    /// `None` for a division by zero.
    pub fn apply(self, left: i32, right: i32) -> Option<i32> {
        Some(match self {
            BinaryOp::Add => left.wrapping_add(right),
            BinaryOp::Sub => left.wrapping_sub(right),
            BinaryOp::Mul => left.wrapping_mul(right),
            BinaryOp::Div | BinaryOp::Rem if right == 0 => return None,
            BinaryOp::Div => left.wrapping_div(right),
            BinaryOp::Rem => left.wrapping_rem(right),
            BinaryOp::BitAnd => left & right,
            BinaryOp::BitXor => left ^ right,
            BinaryOp::BitOr => left | right,
            // As the processors that C code runs on do it: the distance counts modulo 32.
            BinaryOp::ShiftLeft => left.wrapping_shl(right as u32),
            BinaryOp::ShiftRight => left.wrapping_shr(right as u32),
            BinaryOp::Lt => i32::from(left < right),
            BinaryOp::Le => i32::from(left <= right),
            BinaryOp::Gt => i32::from(left > right),
            BinaryOp::Ge => i32::from(left >= right),
            BinaryOp::Eq => i32::from(left == right),
            BinaryOp::Ne => i32::from(left != right),
            BinaryOp::And => i32::from(left != 0 && right != 0),
            BinaryOp::Or => i32::from(left != 0 || right != 0),
        })
    }
}

impl Place {
    /// A variable that is no array.
    pub fn scalar(scope: Scope, slot: u32, ty: Type) -> Place {
        Place { scope, slot, indices: Vec::new(), ty }
    }

    /// Where what is stored is lost.
    pub fn nowhere() -> Place {
        Place::scalar(Scope::Nowhere, 0, Type::INT)
    }

    /// The slots that this place can mean: from the first, to one past the last.
    pub fn range(&self) -> std::ops::Range<u32> {
        let reach: u32 = self.indices.iter().map(|index| (index.length.max(1) - 1) * index.stride).sum();
        self.slot..self.slot + reach + 1
    }
}

impl Expr {
    /// Always holds.
    pub const TRUE: Expr = Expr::Const(1);

    /// The value of a variable.
    pub fn load(place: Place) -> Expr {
        Expr::Load(Box::new(place))
    }

    /// Two operands joined.
    pub fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
        Expr::Binary(op, Box::new(left), Box::new(right))
    }

    /// Holds where the expression does not.
    #[expect(clippy::should_implement_trait, reason = "negation of a formula, not of a value")]
    pub fn not(expr: Expr) -> Expr {
        Expr::Unary(UnaryOp::Not, Box::new(expr))
    }

    /// Calls `visit` for this expression and every expression inside it.
    pub fn visit<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        visit(self);
        match self {
            Expr::Const(_)
            | Expr::Timeout
            | Expr::NonProgress
            | Expr::SelfPid
            | Expr::ProcessCount
            | Expr::LastPid
            | Expr::Any { .. }
            | Expr::NewPid => {}
            Expr::Load(place) => place.visit(visit),
            Expr::Unary(_, inner)
            | Expr::Len(inner)
            | Expr::Probe(_, inner)
            | Expr::Enabled(inner)
            | Expr::PcValue(inner)
            | Expr::Priority(inner) => inner.visit(visit),
            Expr::Binary(_, left, right) => {
                left.visit(visit);
                right.visit(visit);
            }
            Expr::Conditional(condition, then, otherwise) => {
                condition.visit(visit);
                then.visit(visit);
                otherwise.visit(visit);
            }
            Expr::Poll { channel, pattern, .. } => {
                channel.visit(visit);
                pattern.iter().for_each(|part| part.visit(visit));
            }
            Expr::At { pid, .. } => {
                if let Some(pid) = pid {
                    pid.visit(visit);
                }
            }
            Expr::Remote { pid, place, .. } => {
                if let Some(pid) = pid {
                    pid.visit(visit);
                }
                place.visit(visit);
            }
        }
    }
}

impl Place {
    /// Calls `visit` for every expression in its indices.
    pub fn visit<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        for index in &self.indices {
            index.value.visit(visit);
        }
    }
}
