//! `ltl` formulas: temporal operators over expressions.

use super::Lowering;
use crate::ast::{self, ExprKind, Temporal};
use crate::pretty::expr_text;
use preempt_core::Diagnostic;
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
                let mut error =
                    Diagnostic::error(expr.span, "a temporal operator cannot stand inside this operator");
                if let Some(meant) = probably_meant(expr) {
                    error = error.hint(format!("write `{meant}`; Spin reads it as something else"));
                }
                self.report(error);
                Ltl::Atom(preempt_model::Expr::TRUE)
            }
        }
    }
}

/// `[] x >= 4` is `([] x) >= 4`, for a temporal operator binds tighter than all others.
fn probably_meant(expr: &ast::Expr) -> Option<String> {
    let ExprKind::Binary(op, left, right) = &expr.kind else { return None };
    let ExprKind::Temporal(temporal) = &left.kind else { return None };
    let (sign, inner) = match temporal {
        Temporal::Always(inner) => ("[]", inner),
        Temporal::Eventually(inner) => ("<>", inner),
        Temporal::Next(inner) => ("X", inner),
        _ => return None,
    };
    let inner = ExprKind::Binary(*op, inner.clone(), right.clone());
    Some(format!("{sign} ({})", expr_text(&ast::Expr { kind: inner, span: expr.span })))
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
