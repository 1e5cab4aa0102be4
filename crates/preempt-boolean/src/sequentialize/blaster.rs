//! Integers bit by bit ("bit blasting"): expressions of a model as expressions of a Boolean program.
//!
//! A value is a row of [`Bits`]; what would need more than 32 of them wraps as in C. Whatever would be repeated in a formula
//! is kept in a local first, so that formulas stay small. [`arithmetic`](super::arithmetic) has the operations on numbers.

use super::bits::{Bits, and, constant, not, or, xor};
use super::{go_on, refused};
use crate::ast::{Expr as Formula, ExprKind, Name, Statement, StatementKind};
use preempt_core::{Budget, Diagnostic, Span};
use preempt_model::{BinaryOp, Expr, Place, Scope, UnaryOp};

/// Where values are kept: the names of the bits of a slot, and whether the highest counts negative.
pub type Variables<'a> = &'a dyn Fn(Scope, u32) -> (Vec<String>, bool);

/// One step while it is translated.
pub struct Blaster<'a> {
    pub variables: Variables<'a>,
    /// What must be computed first.
    pub before: Vec<Statement>,
    /// Conditions under which an expression has no meaning.
    pub faults: Vec<Formula>,
    /// How many locals keep intermediate bits, and what they are called.
    pub temporaries: usize,
    pub temporary_name: &'a dyn Fn(usize) -> String,
    /// What holds where the expression is evaluated: the right side of `&&` may be without meaning if the left fails.
    path: Vec<Formula>,
    pub span: Span,
    pub budget: &'a Budget,
}

pub type Blasted<T> = Result<T, Diagnostic>;

impl<'a> Blaster<'a> {
    pub fn new(
        variables: Variables<'a>,
        temporary_name: &'a dyn Fn(usize) -> String,
        span: Span,
        budget: &'a Budget,
    ) -> Self {
        Blaster {
            variables,
            before: Vec::new(),
            faults: Vec::new(),
            temporaries: 0,
            temporary_name,
            path: Vec::new(),
            span,
            budget,
        }
    }

    /// Is it different from zero?
    pub fn truth(&mut self, expr: &Expr) -> Blasted<Formula> {
        let value = self.value(expr)?;
        Ok(value.bits.into_iter().fold(constant(false), or))
    }

    /// The low bits, as an assignment keeps them. They depend on low bits only, where that is so.
    pub fn low(&mut self, expr: &Expr, width: usize) -> Blasted<Vec<Formula>> {
        match expr {
            Expr::Binary(operator @ (BinaryOp::Add | BinaryOp::Sub), left, right) => {
                let (left, right) = (self.low(left, width)?, self.low(right, width)?);
                Ok(self.sum(&left, &right, *operator == BinaryOp::Sub))
            }
            _ => Ok(self.value(expr)?.extended(width)),
        }
    }

    /// All bits of it.
    pub fn value(&mut self, expr: &Expr) -> Blasted<Bits> {
        go_on(self.budget)?;
        Ok(match expr {
            Expr::Const(value) => Bits::constant(*value),
            Expr::Load(place) => self.load(place)?,
            Expr::Unary(UnaryOp::Not, inner) => Bits::one(not(self.truth(inner)?)),
            Expr::Unary(UnaryOp::Negate, inner) => self.negated(inner)?,
            Expr::Unary(UnaryOp::Complement, inner) => {
                let inner = self.value(inner)?;
                let width = inner.signed_width().min(32);
                Bits { bits: inner.extended(width).into_iter().map(not).collect(), signed: true }
            }
            Expr::Binary(operator, left, right) => self.binary(*operator, left, right)?,
            Expr::Conditional(condition, then, otherwise) => {
                let condition = self.truth(condition)?;
                let condition = self.shared(condition);
                let then = self.under(condition.clone(), |blaster| blaster.value(then))?;
                let otherwise = self.under(not(condition.clone()), |blaster| blaster.value(otherwise))?;
                then.or_else(&condition, otherwise)
            }
            Expr::Any { low: 0, high: 1 } => Bits::one(Formula::any()),
            Expr::Any { low, high } => self.any(*low, *high)?,
            _ => return Err(refused(self.span, "an expression about processes or channels")),
        })
    }

    /// Evaluates what is evaluated only under a condition.
    fn under<T>(&mut self, condition: Formula, evaluate: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(condition);
        let result = evaluate(self);
        self.path.pop();
        result
    }

    pub fn fault(&mut self, condition: Formula) {
        let reached = self.path.iter().cloned().fold(condition, and);
        self.faults.push(reached);
    }

    /// A name for it, if it has none: it may be used several times.
    pub fn shared(&mut self, formula: Formula) -> Formula {
        match &formula.kind {
            ExprKind::Constant(_) | ExprKind::Variable(_) => formula,
            ExprKind::Not(inner) if matches!(inner.kind, ExprKind::Variable(_)) => formula,
            _ => {
                let name = (self.temporary_name)(self.temporaries);
                self.temporaries += 1;
                self.before.push(Statement::new(StatementKind::Assign {
                    targets: vec![Name::new(name.clone())],
                    values: vec![formula],
                    constrain: None,
                }));
                Formula::variable(name)
            }
        }
    }

    pub fn shared_bits(&mut self, bits: Vec<Formula>) -> Vec<Formula> {
        bits.into_iter().map(|bit| self.shared(bit)).collect()
    }

    fn binary(&mut self, operator: BinaryOp, left: &Expr, right: &Expr) -> Blasted<Bits> {
        match operator {
            BinaryOp::And | BinaryOp::Or => {
                let mut left = self.truth(left)?;
                // The left side is repeated only where the right one may be without meaning.
                let partial = has_partial(right);
                if partial {
                    left = self.shared(left);
                }
                let condition = if operator == BinaryOp::And { left.clone() } else { not(left.clone()) };
                let right = if partial {
                    self.under(condition, |blaster| blaster.truth(right))?
                } else {
                    self.truth(right)?
                };
                Ok(Bits::one(if operator == BinaryOp::And { and(left, right) } else { or(left, right) }))
            }
            BinaryOp::Add | BinaryOp::Sub => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                let positive = operator == BinaryOp::Add && !left.signed && !right.signed;
                let width = if positive {
                    left.bits.len().max(right.bits.len()) + 1
                } else {
                    left.signed_width().max(right.signed_width()) + 1
                };
                let signed = !positive || width > 31;
                let width = width.min(32);
                let bits = self.sum(&left.extended(width), &right.extended(width), operator == BinaryOp::Sub);
                Ok(Bits { bits, signed })
            }
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                Ok(Bits::one(self.compared(operator, left, right)))
            }
            BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                let signed = left.signed || right.signed;
                let width = if signed {
                    left.signed_width().max(right.signed_width()).min(32)
                } else {
                    left.bits.len().max(right.bits.len())
                };
                let pairs = left.extended(width).into_iter().zip(right.extended(width));
                let bits = pairs.map(|(left, right)| match operator {
                    BinaryOp::BitAnd => and(left, right),
                    BinaryOp::BitOr => or(left, right),
                    _ => xor(left, right),
                });
                Ok(Bits { bits: bits.collect(), signed })
            }
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight => self.shifted(operator, left, right),
            BinaryOp::Mul => self.product(left, right),
            BinaryOp::Div | BinaryOp::Rem => self.division(operator, left, right),
        }
    }

    fn any(&mut self, low: i32, high: i32) -> Blasted<Bits> {
        let (low_bits, high_bits) = (Bits::constant(low), Bits::constant(high));
        let signed = low < 0;
        let width = if signed {
            low_bits.signed_width().max(high_bits.signed_width())
        } else {
            low_bits.bits.len().max(high_bits.bits.len())
        };
        let bits = self.shared_bits(vec![Formula::any(); width]);
        let value = Bits { bits, signed };
        let above = self.compared(BinaryOp::Ge, value.clone(), low_bits);
        let below = self.compared(BinaryOp::Le, value.clone(), high_bits);
        self.before.push(Statement::new(StatementKind::Assume(and(above, below))));
        Ok(value)
    }

    /// Every slot that a place may mean, with the condition that it does.
    pub fn spots(&mut self, place: &Place) -> Blasted<Vec<(Formula, u32)>> {
        let mut spots = vec![(constant(true), place.slot)];
        for index in &place.indices {
            let value = self.value(&index.value)?;
            let value = Bits { bits: self.shared_bits(value.bits), signed: value.signed };
            let length = Bits::constant(index.length as i32);
            let mut outside = self.compared(BinaryOp::Ge, value.clone(), length);
            if value.signed {
                outside = or(outside, self.compared(BinaryOp::Lt, value.clone(), Bits::constant(0)));
            }
            if outside.kind != ExprKind::Constant(false) {
                self.fault(outside);
            }
            let mut next = Vec::new();
            for element in 0..index.length {
                go_on(self.budget)?;
                let here = self.compared(BinaryOp::Eq, value.clone(), Bits::constant(element as i32));
                if here.kind == ExprKind::Constant(false) {
                    continue;
                }
                let moved = spots.iter().map(|(condition, slot)| {
                    (and(condition.clone(), here.clone()), slot + element * index.stride)
                });
                next.extend(moved);
            }
            spots = next;
        }
        Ok(spots)
    }

    fn load(&mut self, place: &Place) -> Blasted<Bits> {
        if place.scope == Scope::Nowhere {
            return Ok(Bits::constant(0));
        }
        let spots = self.spots(place)?;
        let mut spots = spots.into_iter().rev().map(|(condition, slot)| {
            let (names, signed) = (self.variables)(place.scope, slot);
            (condition, Bits { bits: names.into_iter().map(Formula::variable).collect(), signed })
        });
        let Some((_, mut value)) = spots.next() else { return Ok(Bits::constant(0)) };
        for (condition, other) in spots {
            go_on(self.budget)?;
            value = other.or_else(&condition, value);
        }
        Ok(value)
    }
}

/// Can evaluating it be without meaning?
fn has_partial(expr: &Expr) -> bool {
    let mut found = false;
    expr.visit(&mut |inner| {
        found |= match inner {
            Expr::Load(place) => !place.indices.is_empty(),
            Expr::Binary(BinaryOp::Div | BinaryOp::Rem, ..) => true,
            _ => false,
        };
    });
    found
}
