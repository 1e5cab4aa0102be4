//! Expressions.

use crate::ast;
use preempt_model::{BinaryOp, Expr, Place, UnaryOp};

const ANY: Expr = Expr::Any { low: 0, high: 1 };

/// `now` and `after` say what a variable and a primed variable are worth.
pub fn lower(expr: &ast::Expr, now: &dyn Fn(&str) -> Expr, after: &dyn Fn(&str) -> Expr) -> Expr {
    let inner = |expr: &ast::Expr| lower(expr, now, after);
    match &expr.kind {
        ast::ExprKind::Constant(value) => Expr::Const(i32::from(*value)),
        ast::ExprKind::Any => ANY,
        ast::ExprKind::Variable(name) => now(name),
        ast::ExprKind::Primed(name) => after(name),
        ast::ExprKind::Not(operand) => Expr::not(inner(operand)),
        ast::ExprKind::Binary(operator, left, right) => {
            let (left, right) = (inner(left), inner(right));
            match operator {
                ast::Operator::Implies => Expr::binary(BinaryOp::Or, Expr::not(left), right),
                ast::Operator::Or => Expr::binary(BinaryOp::Or, left, right),
                ast::Operator::And => Expr::binary(BinaryOp::And, left, right),
                ast::Operator::Equal => Expr::binary(BinaryOp::Eq, left, right),
                ast::Operator::Xor | ast::Operator::Unequal => Expr::binary(BinaryOp::Ne, left, right),
            }
        }
        ast::ExprKind::Conditional(condition, then, otherwise) => {
            Expr::Conditional(Box::new(inner(condition)), Box::new(inner(then)), Box::new(inner(otherwise)))
        }
        // p decides for 1, otherwise n for 0; as SATABS and Moped read it, p wins.
        ast::ExprKind::Choose(positive, negative) => {
            let free = Expr::binary(BinaryOp::And, Expr::not(inner(negative)), ANY);
            Expr::binary(BinaryOp::Or, inner(positive), free)
        }
    }
}

/// The same with every `*` replaced by what `fresh` gives for it.
pub fn with_choices(expr: Expr, fresh: &mut dyn FnMut() -> Place) -> Expr {
    let mut inner = |expr: Box<Expr>| Box::new(with_choices(*expr, fresh));
    match expr {
        Expr::Any { .. } => Expr::load(fresh()),
        Expr::Unary(UnaryOp::Not, operand) => Expr::Unary(UnaryOp::Not, inner(operand)),
        Expr::Binary(operator, left, right) => {
            let left = inner(left);
            Expr::Binary(operator, left, inner(right))
        }
        Expr::Conditional(condition, then, otherwise) => {
            let condition = inner(condition);
            let then = inner(then);
            Expr::Conditional(condition, then, inner(otherwise))
        }
        other => other,
    }
}
