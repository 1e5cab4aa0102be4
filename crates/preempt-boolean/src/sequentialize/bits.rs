//! Values as rows of bits, and formulas over them that are simplified where a side is constant.

use crate::ast::{Expr as Formula, ExprKind, Operator};

/// A value in two's complement, the lowest bit first, as wide as it needs to be.
#[derive(Debug, Clone)]
pub struct Bits {
    pub bits: Vec<Formula>,
    /// The highest bit counts negative.
    pub signed: bool,
}

impl Bits {
    pub fn one(bit: Formula) -> Bits {
        Bits { bits: vec![bit], signed: false }
    }

    pub fn constant(value: i32) -> Bits {
        let signed = value < 0;
        let needed = if signed { 33 - (!value).leading_zeros() } else { 32 - value.leading_zeros() };
        let bits = (0..needed.max(1)).map(|bit| constant((value >> bit.min(31)) & 1 == 1)).collect();
        Bits { bits, signed }
    }

    /// How many bits it has if the highest counts negative.
    pub fn signed_width(&self) -> usize {
        self.bits.len() + usize::from(!self.signed)
    }

    /// So many bits of it.
    pub fn extended(mut self, width: usize) -> Vec<Formula> {
        let fill = match self.bits.last() {
            Some(sign) if self.signed => sign.clone(),
            _ => constant(false),
        };
        self.bits.resize(width, fill);
        self.bits
    }

    /// This one if the condition holds, otherwise the other.
    pub fn or_else(self, condition: &Formula, other: Bits) -> Bits {
        let signed = self.signed || other.signed;
        let width = if signed {
            self.signed_width().max(other.signed_width())
        } else {
            self.bits.len().max(other.bits.len())
        };
        let pairs = self.extended(width).into_iter().zip(other.extended(width));
        Bits { bits: pairs.map(|(then, otherwise)| mux(condition, then, otherwise)).collect(), signed }
    }
}

pub fn constant(value: bool) -> Formula {
    Formula::constant(value)
}

pub fn not(formula: Formula) -> Formula {
    match formula.kind {
        ExprKind::Constant(value) => constant(!value),
        ExprKind::Not(inner) => *inner,
        _ => formula.negated(),
    }
}

pub fn and(left: Formula, right: Formula) -> Formula {
    match (&left.kind, &right.kind) {
        (ExprKind::Constant(true), _) | (_, ExprKind::Constant(false)) => right,
        (ExprKind::Constant(false), _) | (_, ExprKind::Constant(true)) => left,
        _ => Formula::binary(Operator::And, left, right),
    }
}

pub fn or(left: Formula, right: Formula) -> Formula {
    match (&left.kind, &right.kind) {
        (ExprKind::Constant(false), _) | (_, ExprKind::Constant(true)) => right,
        (ExprKind::Constant(true), _) | (_, ExprKind::Constant(false)) => left,
        _ => Formula::binary(Operator::Or, left, right),
    }
}

pub fn xor(left: Formula, right: Formula) -> Formula {
    match (&left.kind, &right.kind) {
        (ExprKind::Constant(false), _) => right,
        (_, ExprKind::Constant(false)) => left,
        (ExprKind::Constant(true), _) => not(right),
        (_, ExprKind::Constant(true)) => not(left),
        _ => Formula::binary(Operator::Unequal, left, right),
    }
}

pub fn equal(left: Formula, right: Formula) -> Formula {
    match (&left.kind, &right.kind) {
        (ExprKind::Constant(_), _) | (_, ExprKind::Constant(_)) => not(xor(left, right)),
        _ => Formula::binary(Operator::Equal, left, right),
    }
}

pub fn mux(condition: &Formula, then: Formula, otherwise: Formula) -> Formula {
    if then == otherwise && !matches!(then.kind, ExprKind::Any) {
        return then;
    }
    or(and(condition.clone(), then), and(not(condition.clone()), otherwise))
}
