//! Expressions: what `interpreter/eval.rs` defines, instruction by instruction, in the same order of evaluation.

use super::channels::Width;
use super::context::Context;
use super::emitter::Emitter;
use super::helpers;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use preempt_model::{BinaryOp, CodeId, Expr, Probe, UnaryOp};
use std::mem::offset_of;

impl Emitter<'_, '_> {
    /// The expression's value, 32 bits.
    pub fn value(&mut self, expr: &Expr) -> Value {
        match expr {
            Expr::Const(value) => self.constant(*value),
            Expr::Load(place) => {
                let spot = self.locate(place);
                self.load_spot(spot)
            }
            Expr::Unary(UnaryOp::Not, _) | Expr::Probe(..) => self.number_of_truth(expr),
            Expr::Unary(UnaryOp::Negate, inner) => {
                let value = self.value(inner);
                self.builder.ins().ineg(value)
            }
            Expr::Unary(UnaryOp::Complement, inner) => {
                let value = self.value(inner);
                self.builder.ins().bnot(value)
            }
            Expr::Binary(op, left, right) => match comparison(*op) {
                None if !matches!(op, BinaryOp::And | BinaryOp::Or) => {
                    let left = self.value(left);
                    let right = self.value(right);
                    self.arithmetic(*op, left, right)
                }
                _ => self.number_of_truth(expr),
            },
            Expr::Conditional(condition, then, otherwise) => {
                let condition = self.truth(condition);
                let (yes, no) = (self.new_block(), self.new_block());
                let (join, result) = self.new_join();
                self.branch(condition, yes, no);
                for (block, branch) in [(yes, then), (no, otherwise)] {
                    self.switch_to(block);
                    let value = self.value(branch);
                    self.jump_with(join, value);
                }
                self.switch_to(join);
                result
            }
            Expr::Len(channel) => {
                let channel = self.channel(channel);
                self.length(&channel)
            }
            Expr::Poll { channel, random, pattern } => {
                let channel = self.channel(channel);
                self.fault_if_rendezvous(&channel);
                let position = self.find_message(&channel, *random, pattern, Width::Beginning);
                let found = self.builder.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, position, 0);
                self.builder.ins().uextend(types::I32, found)
            }
            Expr::Timeout => self.call(helpers::timeout as *const () as usize, &[]),
            Expr::NonProgress => self.call(helpers::non_progress as *const () as usize, &[]),
            Expr::Enabled(pid) => {
                let pid = self.value(pid);
                self.call_or_fault(helpers::enabled as *const () as usize, &[pid])
            }
            Expr::PcValue(pid) => {
                let pid = self.value(pid);
                self.call_or_fault(helpers::pc_value as *const () as usize, &[pid])
            }
            Expr::Priority(pid) => {
                let pid = self.value(pid);
                self.call_or_fault(helpers::priority as *const () as usize, &[pid])
            }
            Expr::SelfPid => self.context_field(offset_of!(Context, process)),
            Expr::ProcessCount => {
                let processes = self.context_field(offset_of!(Context, process_count));
                let claim = i64::from(self.model.counts_claim);
                self.builder.ins().iadd_imm_s(processes, claim)
            }
            Expr::LastPid => match self.shape.last {
                Some(at) => {
                    let state = self.state;
                    self.load(super::slots::NumberFormat::BYTE, state, at as i32)
                }
                None => self.constant(0),
            },
            Expr::At { code, pid, label } => {
                let (_, labelled) = &self.model.code(*code).labels[*label as usize];
                let labelled = i64::from(labelled.0);
                let format = self.shape.code(*code).location;
                self.remote(*code, pid.as_deref(), |this, segment| {
                    let location = this.load(format, segment, 0);
                    let there = this.builder.ins().icmp_imm_s(IntCC::Equal, location, labelled);
                    this.builder.ins().uextend(types::I32, there)
                })
            }
            Expr::Remote { code, pid, place } => self.remote(*code, pid.as_deref(), |this, segment| {
                let spot = this.locate_from(place, segment, *code);
                this.load_spot(spot)
            }),
            Expr::Any { low, high } => {
                let (low, high) = (self.constant(*low), self.constant(*high));
                self.call(helpers::pick as *const () as usize, &[low, high])
            }
            Expr::NewPid => self.context_field(offset_of!(Context, new_pid)),
        }
    }

    /// Something that is zero exactly if the expression is, of whatever width.
    pub fn truth(&mut self, expr: &Expr) -> Value {
        match expr {
            Expr::Unary(UnaryOp::Not, inner) => {
                let inner = self.truth(inner);
                self.builder.ins().icmp_imm_s(IntCC::Equal, inner, 0)
            }
            Expr::Binary(op, left, right) => {
                if let Some(condition) = comparison(*op) {
                    let left = self.value(left);
                    let right = self.value(right);
                    return self.builder.ins().icmp(condition, left, right);
                }
                match op {
                    BinaryOp::And | BinaryOp::Or => self.short_circuit(*op == BinaryOp::And, left, right),
                    _ => self.value(expr),
                }
            }
            Expr::Probe(probe, channel) => {
                let channel = self.channel(channel);
                match probe {
                    Probe::Full => self.is_full(&channel),
                    Probe::NotFull => {
                        let full = self.is_full(&channel);
                        self.builder.ins().icmp_imm_s(IntCC::Equal, full, 0)
                    }
                    Probe::Empty => {
                        let length = self.length(&channel);
                        self.builder.ins().icmp_imm_s(IntCC::Equal, length, 0)
                    }
                    Probe::NotEmpty => self.length(&channel),
                }
            }
            _ => self.value(expr),
        }
    }

    fn number_of_truth(&mut self, expr: &Expr) -> Value {
        let truth = self.truth(expr);
        self.as_number(truth)
    }

    /// 1 or 0.
    fn as_number(&mut self, truth: Value) -> Value {
        let holds = self.builder.ins().icmp_imm_s(IntCC::NotEqual, truth, 0);
        self.builder.ins().uextend(types::I32, holds)
    }

    /// The right side is evaluated only if the left one does not decide; where that cannot be told, both are.
    fn short_circuit(&mut self, is_and: bool, left: &Expr, right: &Expr) -> Value {
        let left = self.truth(left);
        if is_harmless(right) {
            let right = self.truth(right);
            let left = self.builder.ins().icmp_imm_s(IntCC::NotEqual, left, 0);
            let right = self.builder.ins().icmp_imm_s(IntCC::NotEqual, right, 0);
            return match is_and {
                true => self.builder.ins().band(left, right),
                false => self.builder.ins().bor(left, right),
            };
        }
        let (decided, open) = (self.new_block(), self.new_block());
        let (join, result) = self.new_join();
        match is_and {
            true => self.branch(left, open, decided),
            false => self.branch(left, decided, open),
        }
        self.switch_to(decided);
        let value = self.constant(i32::from(!is_and));
        self.jump_with(join, value);
        self.switch_to(open);
        let right = self.truth(right);
        let right = self.as_number(right);
        self.jump_with(join, right);
        self.switch_to(join);
        result
    }

    fn arithmetic(&mut self, op: BinaryOp, left: Value, right: Value) -> Value {
        match op {
            BinaryOp::Add => self.builder.ins().iadd(left, right),
            BinaryOp::Sub => self.builder.ins().isub(left, right),
            BinaryOp::Mul => self.builder.ins().imul(left, right),
            BinaryOp::Div | BinaryOp::Rem => {
                let zero = self.builder.ins().icmp_imm_s(IntCC::Equal, right, 0);
                self.fault_if(zero);
                // The one quotient that does not fit wraps around; the processor would trap.
                let minus_one = self.builder.ins().icmp_imm_s(IntCC::Equal, right, -1);
                let one = self.constant(1);
                let divisor = self.builder.ins().select(minus_one, one, right);
                if op == BinaryOp::Div {
                    let quotient = self.builder.ins().sdiv(left, divisor);
                    let negated = self.builder.ins().ineg(left);
                    self.builder.ins().select(minus_one, negated, quotient)
                } else {
                    self.builder.ins().srem(left, divisor)
                }
            }
            BinaryOp::BitAnd => self.builder.ins().band(left, right),
            BinaryOp::BitXor => self.builder.ins().bxor(left, right),
            BinaryOp::BitOr => self.builder.ins().bor(left, right),
            BinaryOp::ShiftLeft => self.builder.ins().ishl(left, right),
            _ => self.builder.ins().sshr(left, right),
        }
    }

    /// Something about another process; 0 if it is not there.
    fn remote(
        &mut self,
        code: CodeId,
        pid: Option<&Expr>,
        read: impl FnOnce(&mut Self, Value) -> Value,
    ) -> Value {
        let any = self.constant(i32::from(pid.is_none()));
        let pid = match pid {
            Some(pid) => self.value(pid),
            None => self.constant(0),
        };
        let code = self.constant(i32::from(code.0));
        let offset = self.call(helpers::find_process as *const () as usize, &[code, pid, any]);
        let there = self.builder.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, offset, 0);
        let (yes, no) = (self.new_block(), self.new_block());
        let (join, result) = self.new_join();
        self.branch(there, yes, no);
        self.switch_to(yes);
        let segment = self.segment(offset);
        let value = read(self, segment);
        self.jump_with(join, value);
        self.switch_to(no);
        let zero = self.constant(0);
        self.jump_with(join, zero);
        self.switch_to(join);
        result
    }
}

fn comparison(op: BinaryOp) -> Option<IntCC> {
    Some(match op {
        BinaryOp::Lt => IntCC::SignedLessThan,
        BinaryOp::Le => IntCC::SignedLessThanOrEqual,
        BinaryOp::Gt => IntCC::SignedGreaterThan,
        BinaryOp::Ge => IntCC::SignedGreaterThanOrEqual,
        BinaryOp::Eq => IntCC::Equal,
        BinaryOp::Ne => IntCC::NotEqual,
        _ => return None,
    })
}

/// Evaluating it can neither fail nor be noticed, and costs little.
fn is_harmless(expr: &Expr) -> bool {
    match expr {
        Expr::Const(_) | Expr::SelfPid | Expr::ProcessCount | Expr::LastPid => true,
        Expr::Load(place) => place.indices.is_empty(),
        Expr::Unary(_, inner) => is_harmless(inner),
        Expr::Binary(BinaryOp::Div | BinaryOp::Rem, ..) => false,
        Expr::Binary(_, left, right) => is_harmless(left) && is_harmless(right),
        _ => false,
    }
}
