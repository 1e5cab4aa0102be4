//! Sums, comparisons, shifts, products and quotients, bit by bit.
//!
//! Addition is a ripple of carries, a comparison one pass from the lowest bit, multiplication and division are done by hand as
//! at school: a product of n bits takes n sums. What is used more than once gets a name, so that formulas grow with the
//! square of the width and not exponentially.

use super::bits::{Bits, and, constant, equal, mux, not, or, xor};
use super::blaster::{Blasted, Blaster};
use super::refused;
use crate::ast::{Expr as Formula, ExprKind};
use preempt_model::{BinaryOp, Expr};

impl Blaster<'_> {
    /// `left + right`, or `left - right`, in their width.
    pub fn sum(&mut self, left: &[Formula], right: &[Formula], subtract: bool) -> Vec<Formula> {
        let width = left.len();
        let mut carry = constant(subtract);
        let mut bits = Vec::new();
        for (number, (left, right)) in left.iter().zip(right).enumerate() {
            let left = self.shared(left.clone());
            let right = self.shared(if subtract { not(right.clone()) } else { right.clone() });
            bits.push(xor(xor(left.clone(), right.clone()), carry.clone()));
            if number + 1 < width {
                let next = or(and(left.clone(), right.clone()), and(carry.clone(), or(left, right)));
                // A short chain is better read as it is.
                carry = if number % 3 == 2 { self.shared(next) } else { next };
            }
        }
        bits
    }

    pub fn compared(&mut self, operator: BinaryOp, left: Bits, right: Bits) -> Formula {
        let width = left.signed_width().max(right.signed_width());
        if matches!(operator, BinaryOp::Eq | BinaryOp::Ne) {
            let width =
                if left.signed == right.signed { left.bits.len().max(right.bits.len()) } else { width };
            let pairs = left.extended(width).into_iter().zip(right.extended(width));
            let equal = pairs.map(|(left, right)| equal(left, right)).fold(constant(true), and);
            return if operator == BinaryOp::Eq { equal } else { not(equal) };
        }
        let (swap, negate) = match operator {
            BinaryOp::Lt => (false, false),
            BinaryOp::Ge => (false, true),
            BinaryOp::Gt => (true, false),
            _ => (true, true),
        };
        let (small, large) = if swap { (right, left) } else { (left, right) };
        let (small, large) = (small.extended(width), large.extended(width));
        let mut less = constant(false);
        for (number, (small, large)) in small.into_iter().zip(large).enumerate() {
            let (small, large) = (self.shared(small), self.shared(large));
            // At the sign the roles are exchanged: a negative number is the smaller one.
            let (zero, one) = if number + 1 == width { (large, small) } else { (small, large) };
            less = or(and(not(zero.clone()), one.clone()), and(equal(zero, one), less));
        }
        if negate { not(less) } else { less }
    }

    pub fn negated(&mut self, inner: &Expr) -> Blasted<Bits> {
        let inner = self.value(inner)?;
        let width = (inner.signed_width() + 1).min(32);
        let zero = vec![constant(false); width];
        Ok(Bits { bits: self.sum(&zero, &inner.extended(width), true), signed: true })
    }

    pub fn shifted(&mut self, operator: BinaryOp, left: &Expr, right: &Expr) -> Blasted<Bits> {
        let Expr::Const(distance) = right else {
            return Err(refused(self.span, "a shift by a distance that is not constant"));
        };
        let distance = (*distance as u32 % 32) as usize;
        let left = self.value(left)?;
        if operator == BinaryOp::ShiftLeft {
            let width = left.signed_width() + distance;
            let mut bits = vec![constant(false); distance];
            bits.extend(left.extended(width - distance));
            bits.truncate(32);
            return Ok(Bits { bits, signed: true });
        }
        let (width, signed) = (left.bits.len(), left.signed);
        let bits = left.extended(width + distance).split_off(distance.min(width + distance - 1));
        Ok(Bits { bits, signed })
    }

    pub fn product(&mut self, left: &Expr, right: &Expr) -> Blasted<Bits> {
        let (left, right) = (self.value(left)?, self.value(right)?);
        let signed = left.signed || right.signed;
        let width = left.signed_width() + right.signed_width();
        let (signed, width) = if width > 32 { (true, 32) } else { (signed, width) };
        let factor = self.shared_bits(left.extended(width));
        let mut total = vec![constant(false); width];
        for (shift, bit) in right.extended(width).into_iter().enumerate() {
            if bit.kind == ExprKind::Constant(false) {
                continue;
            }
            let bit = self.shared(bit);
            let mut summand = vec![constant(false); shift];
            summand.extend(factor[..width - shift].iter().map(|other| and(other.clone(), bit.clone())));
            total = self.sum(&total, &summand, false);
            total = self.shared_bits(total);
        }
        Ok(Bits { bits: total, signed })
    }

    /// By hand, as at school; for numbers that are not negative.
    pub fn division(&mut self, operator: BinaryOp, left: &Expr, right: &Expr) -> Blasted<Bits> {
        let (left, right) = (self.value(left)?, self.value(right)?);
        if left.signed || right.signed {
            return Err(refused(self.span, "a division whose numbers may be negative"));
        }
        let divisor = self.shared_bits(right.bits);
        let zero = not(divisor.iter().cloned().fold(constant(false), or));
        if zero.kind != ExprKind::Constant(false) {
            self.fault(zero);
        }
        let width = divisor.len() + 1;
        let wide = Bits { bits: divisor, signed: false }.extended(width);
        let mut rest = vec![constant(false); width];
        let mut quotient = Vec::new();
        for bit in left.bits.into_iter().rev() {
            rest.insert(0, bit);
            rest.truncate(width);
            rest = self.shared_bits(rest);
            let current = Bits { bits: rest.clone(), signed: false };
            let fits = self.compared(BinaryOp::Ge, current, Bits { bits: wide.clone(), signed: false });
            let fits = self.shared(fits);
            let smaller = self.sum(&rest, &wide, true);
            rest = rest.into_iter().zip(smaller).map(|(rest, smaller)| mux(&fits, smaller, rest)).collect();
            rest = self.shared_bits(rest);
            quotient.insert(0, fits);
        }
        rest.pop();
        Ok(Bits { bits: if operator == BinaryOp::Div { quotient } else { rest }, signed: false })
    }
}
