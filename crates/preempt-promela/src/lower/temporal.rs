//! `ltl` formulas: temporal operators over expressions.

use super::Lowering;
use crate::ast::{self, ExprKind, Temporal};
use preempt_model::property::Ltl;

impl Lowering {
    /// As much as possible goes into the atoms: a part without temporal operators is one of them.
    pub(super) fn formula(&mut self, expr: &ast::Expr) -> Ltl {
        if !is_temporal(expr) {
            return Ltl::Atom(self.expression(expr));
        }
        match &expr.kind {
            ExprKind::Unary(ast::UnaryOp::Not, inner) => Ltl::Not(Box::new(self.formula(inner))),
            ExprKind::Binary(ast::BinaryOp::And, left, right) => {
                Ltl::And(Box::new(self.formula(left)), Box::new(self.formula(right)))
            }
            ExprKind::Binary(ast::BinaryOp::Or, left, right) => {
                Ltl::Or(Box::new(self.formula(left)), Box::new(self.formula(right)))
            }
            ExprKind::Temporal(temporal) => {
                let mut part = |expr: &ast::Expr| Box::new(self.formula(expr));
                match temporal {
                    Temporal::Always(inner) => Ltl::Always(part(inner)),
                    Temporal::Eventually(inner) => Ltl::Eventually(part(inner)),
                    Temporal::Next(inner) => Ltl::Next(part(inner)),
                    Temporal::Until(left, right) => Ltl::Until(part(left), part(right)),
                    Temporal::Release(left, right) => Ltl::Release(part(left), part(right)),
                    Temporal::WeakUntil(left, right) => Ltl::WeakUntil(part(left), part(right)),
                    Temporal::Implies(left, right) => Ltl::Implies(part(left), part(right)),
                    Temporal::Equivalent(left, right) => Ltl::Equivalent(part(left), part(right)),
                }
            }
            _ => {
                self.error(expr.span, "a temporal operator cannot stand inside this operator");
                Ltl::Atom(preempt_model::Expr::TRUE)
            }
        }
    }
}

fn is_temporal(expr: &ast::Expr) -> bool {
    match &expr.kind {
        ExprKind::Temporal(_) => true,
        ExprKind::Unary(_, inner) => is_temporal(inner),
        ExprKind::Binary(_, left, right) => is_temporal(left) || is_temporal(right),
        ExprKind::Conditional(condition, then, otherwise) => {
            is_temporal(condition) || is_temporal(then) || is_temporal(otherwise)
        }
        _ => false,
    }
}
