//! Statements that are one step, and expressions.

use super::build::variable_type;
use super::syntax::{self, Check, Expression, Operator, Process, Program, Statement};
use crate::command::{Command, Pattern};
use crate::expr::{BinaryOp, Expr, Index, Place, Probe, Scope, UnaryOp};
use crate::program::CodeId;
use crate::types::Type;

#[derive(Clone, Copy)]
pub(super) struct Terms<'p> {
    pub program: &'p Program,
    pub process: &'p Process,
}

impl Terms<'_> {
    pub fn command(&self, statement: &Statement) -> Command {
        match statement {
            Statement::Guard(condition) => Command::Guard(self.expression(condition)),
            Statement::Assign(place, value) => {
                Command::Assign(vec![(self.place(place), self.expression(value))])
            }
            Statement::Assert(condition) => Command::Assert(self.expression(condition)),
            Statement::Send { channel, sorted, fields } => Command::Send {
                channel: self.channel(*channel),
                sorted: *sorted,
                fields: fields.iter().map(|field| self.expression(field)).collect(),
            },
            Statement::Receive { channel, random, keep, pattern } => Command::Receive {
                channel: self.channel(*channel),
                random: *random,
                keep: *keep,
                pattern: self.patterns(pattern),
            },
            Statement::Run { process, priority, argument } => {
                let takes = self.program.processes[*process].parameter;
                Command::Run {
                    code: CodeId(*process as u16),
                    args: takes.then(|| self.expression(argument)).into_iter().collect(),
                    priority: *priority,
                    result: None,
                }
            }
            Statement::Else => Command::Else,
            _ => Command::SKIP,
        }
    }

    fn patterns(&self, patterns: &[syntax::Pattern]) -> Vec<Pattern> {
        let one = |pattern: &syntax::Pattern| match pattern {
            syntax::Pattern::Constant(value) => Pattern::Match(Expr::Const(i32::from(*value))),
            syntax::Pattern::Eval(expression) => Pattern::Match(self.expression(expression)),
            syntax::Pattern::Bind(place) => Pattern::Bind(self.place(place)),
            syntax::Pattern::Ignore => Pattern::Bind(Place::nowhere()),
        };
        patterns.iter().map(one).collect()
    }

    /// The variable that names a channel: the global ones come after all other globals, a process's own is its
    /// last local.
    fn channel(&self, number: usize) -> Expr {
        let slots = |variables: &[syntax::Variable]| -> u32 {
            variables.iter().map(|variable| u32::from(variable.length.unwrap_or(1))).sum()
        };
        let (scope, slot) = match number < self.program.channels.len() {
            true => (Scope::Global, slots(&self.program.globals) + number as u32),
            false => (Scope::Local, slots(&self.process.locals) + u32::from(self.process.parameter)),
        };
        Expr::load(Place::scalar(scope, slot, Type::CHANNEL))
    }

    fn place(&self, place: &syntax::Place) -> Place {
        let variable = |number: usize| match place.local {
            true => self.process.local(number),
            false => self.program.globals[number].clone(),
        };
        let slot = (0..place.variable).map(|number| u32::from(variable(number).length.unwrap_or(1))).sum();
        let meant = variable(place.variable);
        let indices = place.index.iter().map(|index| Index {
            value: self.expression(index),
            length: u32::from(meant.length.unwrap_or(1)),
            stride: 1,
            array: format!("{}{}", if place.local { 'l' } else { 'g' }, place.variable).into(),
        });
        Place {
            scope: if place.local { Scope::Local } else { Scope::Global },
            slot,
            indices: indices.collect(),
            ty: variable_type(&meant),
        }
    }

    pub fn expression(&self, expression: &Expression) -> Expr {
        let boxed = |inner: &Expression| Box::new(self.expression(inner));
        match expression {
            Expression::Constant(value) => Expr::Const(i32::from(*value)),
            Expression::Load(place) => Expr::load(self.place(place)),
            Expression::Not(inner) => Expr::Unary(UnaryOp::Not, boxed(inner)),
            Expression::Negate(inner) => Expr::Unary(UnaryOp::Negate, boxed(inner)),
            Expression::Complement(inner) => Expr::Unary(UnaryOp::Complement, boxed(inner)),
            Expression::Binary(op, left, right) => Expr::Binary(operator(*op), boxed(left), boxed(right)),
            Expression::Conditional(parts) => {
                let [condition, then, otherwise] = parts.each_ref().map(boxed);
                Expr::Conditional(condition, then, otherwise)
            }
            Expression::Len(channel) => Expr::Len(Box::new(self.channel(*channel))),
            Expression::Ask(question, channel) => {
                let probe = match question {
                    Check::Full => Probe::Full,
                    Check::NotFull => Probe::NotFull,
                    Check::Empty => Probe::Empty,
                    Check::NotEmpty => Probe::NotEmpty,
                };
                Expr::Probe(probe, Box::new(self.channel(*channel)))
            }
            Expression::Poll { channel, random, pattern } => Expr::Poll {
                channel: Box::new(self.channel(*channel)),
                random: *random,
                pattern: self.patterns(pattern),
            },
            Expression::Timeout => Expr::Timeout,
            Expression::Pid => Expr::SelfPid,
            Expression::ProcessCount => Expr::ProcessCount,
        }
    }
}

fn operator(operator: Operator) -> BinaryOp {
    match operator {
        Operator::Add => BinaryOp::Add,
        Operator::Sub => BinaryOp::Sub,
        Operator::Mul => BinaryOp::Mul,
        Operator::Div => BinaryOp::Div,
        Operator::Rem => BinaryOp::Rem,
        Operator::BitAnd => BinaryOp::BitAnd,
        Operator::BitXor => BinaryOp::BitXor,
        Operator::BitOr => BinaryOp::BitOr,
        Operator::ShiftLeft => BinaryOp::ShiftLeft,
        Operator::ShiftRight => BinaryOp::ShiftRight,
        Operator::Lt => BinaryOp::Lt,
        Operator::Le => BinaryOp::Le,
        Operator::Gt => BinaryOp::Gt,
        Operator::Ge => BinaryOp::Ge,
        Operator::Eq => BinaryOp::Eq,
        Operator::Ne => BinaryOp::Ne,
        Operator::And => BinaryOp::And,
        Operator::Or => BinaryOp::Or,
    }
}
