//! Expressions of the model, rewritten.

use preempt_model::{BinaryOp, Expr};

/// More combinations of choices than this are not listed.
const MAX_COMBINATIONS: usize = 64;

/// The number of the process is this one.
pub fn with_pid(expr: &Expr, pid: i32) -> Expr {
    replaced(expr, &mut |inner| (*inner == Expr::SelfPid).then_some(Expr::Const(pid)))
}

/// Can the choices be made so that it holds? `None` if there are too many.
pub fn possible(expr: &Expr) -> Option<Expr> {
    let mut choices = Vec::new();
    expr.visit(&mut |inner| {
        if let Expr::Any { low, high } = inner {
            choices.push((*low, *high));
        }
    });
    let sizes = choices.iter().map(|(low, high)| (high.saturating_sub(*low) as usize).saturating_add(1));
    let count = sizes.fold(1usize, usize::saturating_mul);
    if count > MAX_COMBINATIONS {
        return None;
    }
    let outcomes = (0..count).map(|mut number| {
        let mut next = 0;
        replaced(expr, &mut |inner| {
            let Expr::Any { low, high } = inner else { return None };
            let size = (high - low) as usize + 1;
            let value = low + (number % size) as i32;
            number /= size;
            next += 1;
            Some(Expr::Const(value))
        })
    });
    outcomes.reduce(|left, right| Expr::binary(BinaryOp::Or, left, right))
}

/// Every expression for which `replace` has another is replaced by it.
fn replaced(expr: &Expr, replace: &mut dyn FnMut(&Expr) -> Option<Expr>) -> Expr {
    if let Some(other) = replace(expr) {
        return other;
    }
    let mut inner = |expr: &Expr| Box::new(replaced(expr, replace));
    match expr {
        Expr::Unary(operator, operand) => Expr::Unary(*operator, inner(operand)),
        Expr::Binary(operator, left, right) => {
            let left = inner(left);
            Expr::Binary(*operator, left, inner(right))
        }
        Expr::Conditional(condition, then, otherwise) => {
            let condition = inner(condition);
            let then = inner(then);
            Expr::Conditional(condition, then, inner(otherwise))
        }
        Expr::Load(place) => {
            let mut place = place.clone();
            for index in &mut place.indices {
                index.value = *inner(&index.value);
            }
            Expr::Load(place)
        }
        other => other.clone(),
    }
}
