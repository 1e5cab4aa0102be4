//! Statements that are one command: guards, assignments, assertions, prints, messages.

use super::{Lowering, RunInValue};
use crate::ast::{self, ExprKind, Stmt, StmtKind, VarRef};
use crate::pretty::stmt_text;
use preempt_core::{Diagnostic, Span};
use preempt_model::{BinaryOp, Command, Expr, Place, Type};

impl Lowering {
    pub(super) fn basic(&mut self, stmt: &Stmt) -> Command {
        match &stmt.kind {
            StmtKind::Guard(expr) => match &expr.kind {
                ExprKind::Run { process, args, priority } => self.run(process, args, priority.as_deref()),
                _ => Command::Guard(self.expression(expr)),
            },
            StmtKind::Else => Command::Else,
            StmtKind::Assign { target, value } => self.assignment(target, value),
            StmtKind::Increment(target) => self.step_by(target, BinaryOp::Add),
            StmtKind::Decrement(target) => self.step_by(target, BinaryOp::Sub),
            StmtKind::Assert(condition) => Command::Assert(self.expression(condition)),
            StmtKind::Printf { format, args } => {
                let args = args.iter().map(|arg| self.expression(arg)).collect();
                Command::Print { format: format.clone(), args }
            }
            StmtKind::Printm(value) => {
                Command::Print { format: "%e".into(), args: vec![self.expression(value)] }
            }
            StmtKind::Send { channel, sorted, args } => self.send(channel, *sorted, args, stmt.span),
            StmtKind::Receive { channel, random, keep, args } => {
                self.receive(channel, (*random, *keep), args, stmt.span)
            }
            StmtKind::SetPriority { pid, priority } => {
                self.model.has_priorities = true;
                Command::SetPriority { pid: self.expression(pid), priority: self.expression(priority) }
            }
            _ => Command::SKIP,
        }
    }

    fn assignment(&mut self, target: &VarRef, value: &ast::Expr) -> Command {
        if let [part] = target.parts.as_slice()
            && part.name.text == "_priority"
        {
            self.model.has_priorities = true;
            return Command::SetPriority { pid: Expr::SelfPid, priority: self.expression(value) };
        }
        let place = self.target(target);
        self.run_in_value = RunInValue::Allowed;
        let (span, value) = (value.span, self.expression(value));
        self.warn_if_cut(place.ty, &value, span);
        match std::mem::take(&mut self.run_in_value) {
            RunInValue::Started { code, args, priority } => {
                Command::Run { code, args, priority, result: Some((place, value)) }
            }
            RunInValue::Refused | RunInValue::Allowed => Command::Assign(vec![(place, value)]),
        }
    }

    /// Spin says this only while it simulates, when the value is assigned.
    pub(super) fn warn_if_cut(&mut self, ty: Type, value: &Expr, span: Span) {
        let Some(number) = constant(value) else { return };
        let kept = ty.wrap(number);
        if kept != number {
            let room = match (ty.bits, ty.signed) {
                (1, _) => "one bit".to_string(),
                (bits, false) => format!("{bits} bits, 0 to {}", (1u64 << bits) - 1),
                (bits, true) => {
                    format!("{bits} bits, {} to {}", -(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1)
                }
            };
            let message = format!("{number} does not fit: the variable has {room}, and will be {kept}");
            self.report(Diagnostic::warning(span, message));
        }
    }

    fn step_by(&mut self, target: &VarRef, op: BinaryOp) -> Command {
        let place = self.target(target);
        if super::expressions::is_channel(place.ty) {
            self.error(target.span, "a channel cannot be counted up or down");
        }
        let value = Expr::binary(op, Expr::load(place.clone()), Expr::Const(1));
        Command::Assign(vec![(place, value)])
    }
}

/// A value that is known as it stands there.
fn constant(value: &Expr) -> Option<i32> {
    match value {
        Expr::Const(number) => Some(*number),
        Expr::Unary(op, inner) => constant(inner).map(|inner| op.apply(inner)),
        _ => None,
    }
}

/// The statement as it is shown in a run: numbers that stand for words are shown as those.
pub(super) fn shown(stmt: &Stmt, command: &Command) -> String {
    match (&stmt.kind, command) {
        (_, command) if *command == Command::SKIP => "skip".into(),
        (StmtKind::Assign { target, value }, Command::Assign(assignments)) => {
            let boolean = |(place, _): &(Place, Expr)| place.ty.kind == preempt_model::ValueKind::Boolean;
            match value.kind {
                ExprKind::Number(number @ 0..=1) if assignments.iter().all(boolean) => {
                    format!("{} = {}", crate::pretty::ref_text(target), number == 1)
                }
                _ => stmt_text(stmt),
            }
        }
        _ => stmt_text(stmt),
    }
}
