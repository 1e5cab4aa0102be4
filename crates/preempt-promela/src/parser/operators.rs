//! Infix operators and their precedences, which are those of Spin's grammar.

use super::Parser;
use super::cursor::Kind;
use crate::ast::{BinaryOp, Expr, ExprKind, Temporal};
use crate::token::Punct;

/// An infix operator; the temporal ones only within `ltl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Infix {
    Plain(BinaryOp),
    Implies,
    Equivalent,
    Until,
    Release,
    WeakUntil,
}

impl Infix {
    /// Higher binds tighter; all are left-associative.
    pub(super) fn level(self) -> u8 {
        use BinaryOp::*;
        match self {
            Infix::Implies | Infix::Equivalent => 1,
            Infix::Plain(Or) => 2,
            Infix::Plain(And) => 3,
            Infix::Until | Infix::Release | Infix::WeakUntil => 4,
            Infix::Plain(BitOr) => 5,
            Infix::Plain(BitXor) => 6,
            Infix::Plain(BitAnd) => 7,
            Infix::Plain(Eq | Ne) => 8,
            Infix::Plain(Lt | Le | Gt | Ge) => 9,
            Infix::Plain(ShiftLeft | ShiftRight) => 10,
            Infix::Plain(Add | Sub) => 11,
            Infix::Plain(Mul | Div | Rem) => 12,
        }
    }

    pub(super) fn build(self, left: Box<Expr>, right: Box<Expr>) -> ExprKind {
        match self {
            Infix::Plain(op) => ExprKind::Binary(op, left, right),
            Infix::Implies => ExprKind::Temporal(Temporal::Implies(left, right)),
            Infix::Equivalent => ExprKind::Temporal(Temporal::Equivalent(left, right)),
            Infix::Until => ExprKind::Temporal(Temporal::Until(left, right)),
            Infix::Release => ExprKind::Temporal(Temporal::Release(left, right)),
            Infix::WeakUntil => ExprKind::Temporal(Temporal::WeakUntil(left, right)),
        }
    }
}

impl Parser<'_> {
    /// The operator here and how many tokens it has.
    pub(super) fn infix(&self) -> Option<(Infix, usize)> {
        use BinaryOp::*;
        if self.in_ltl
            && let Some(found) = self.ltl_infix()
        {
            return Some(found);
        }
        let Kind::P(punct) = self.peek() else { return None };
        let op = match punct {
            Punct::OrOr => Or,
            Punct::AndAnd => And,
            Punct::Pipe => BitOr,
            Punct::Caret => BitXor,
            Punct::Amp => BitAnd,
            Punct::Eq => Eq,
            Punct::Ne => Ne,
            Punct::Lt => Lt,
            Punct::Le => Le,
            Punct::Gt => Gt,
            Punct::Ge => Ge,
            Punct::Shl => ShiftLeft,
            Punct::Shr => ShiftRight,
            Punct::Plus => Add,
            Punct::Minus => Sub,
            Punct::Star => Mul,
            Punct::Slash => Div,
            Punct::Percent => Rem,
            _ => return None,
        };
        Some((Infix::Plain(op), 1))
    }
}
