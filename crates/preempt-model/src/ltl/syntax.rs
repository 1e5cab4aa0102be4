//! The model's expressions as numbered letters, and guards as conjunctions of them.

use super::TooLarge;
use super::formula::{FALSE, Id, TRUE, negation};
use super::normal::Builder;
use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::property::Ltl;

/// A guard keeps a bit for each atom.
pub const MAX_ATOMS: usize = 64;

/// Deeper formulas are refused rather than overflowing the stack.
pub const MAX_DEPTH: usize = 500;

/// The distinct expressions of a formula, in the order in which they are first met. Guards keep that order, so
/// that an index is tested before it is used wherever the formula did so.
#[derive(Debug, Default)]
pub(super) struct Atoms {
    exprs: Vec<Expr>,
}

impl Atoms {
    fn number(&mut self, expr: Expr) -> Result<u32, TooLarge> {
        let at = match self.exprs.iter().position(|known| *known == expr) {
            Some(at) => at,
            None if self.exprs.len() == MAX_ATOMS => return Err(TooLarge::Atoms),
            None => {
                self.exprs.push(expr);
                self.exprs.len() - 1
            }
        };
        Ok(at as u32)
    }

    /// The guard as one expression.
    pub(super) fn guard(&self, cube: Cube) -> Expr {
        let literals = self.exprs.iter().enumerate().filter_map(|(at, expr)| {
            if cube.positive >> at & 1 == 1 {
                Some(expr.clone())
            } else if cube.negative >> at & 1 == 1 {
                Some(denied(expr))
            } else {
                None
            }
        });
        literals.reduce(|left, right| Expr::binary(BinaryOp::And, left, right)).unwrap_or(Expr::TRUE)
    }
}

/// A conjunction of literals that do not contradict each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub(super) struct Cube {
    positive: u64,
    negative: u64,
}

impl Cube {
    pub(super) const TRUE: Cube = Cube { positive: 0, negative: 0 };

    pub(super) fn literal(atom: u32, positive: bool) -> Cube {
        let bit = 1 << atom;
        if positive { Cube { positive: bit, negative: 0 } } else { Cube { positive: 0, negative: bit } }
    }

    pub(super) fn and(self, other: Cube) -> Option<Cube> {
        let both =
            Cube { positive: self.positive | other.positive, negative: self.negative | other.negative };
        (both.positive & both.negative == 0).then_some(both)
    }

    /// Does this hold wherever the other does?
    pub(super) fn contains(self, other: Cube) -> bool {
        self.positive & !other.positive == 0 && self.negative & !other.negative == 0
    }

    /// Does one of `by` hold wherever this does?
    pub(super) fn covered(self, by: &[Cube]) -> bool {
        if by.iter().any(|cube| cube.contains(self)) {
            return true;
        }
        let near: Vec<Cube> = by.iter().copied().filter(|cube| cube.and(self).is_some()).collect();
        let Some(first) = near.first() else { return false };
        // Some literal of the first is not decided here, or it would contain this.
        let open = (first.positive | first.negative) & !(self.positive | self.negative);
        let bit = open & open.wrapping_neg();
        [Cube { positive: bit, negative: 0 }, Cube { positive: 0, negative: bit }]
            .into_iter()
            .all(|literal| self.and(literal).is_none_or(|half| half.covered(&near)))
    }

    /// The cubes that have one literal less.
    pub(super) fn weaker(self) -> impl Iterator<Item = Cube> {
        (0..MAX_ATOMS)
            .map(|at| 1u64 << at)
            .filter(move |bit| (self.positive | self.negative) & bit != 0)
            .map(move |bit| Cube { positive: self.positive & !bit, negative: self.negative & !bit })
    }

    pub(super) fn literals(self) -> u32 {
        self.positive.count_ones() + self.negative.count_ones()
    }
}

/// The formula in the builder's terms: simplified, negations at the atoms.
pub(super) fn lower(formula: &Ltl, atoms: &mut Atoms, builder: &mut Builder) -> Result<Id, TooLarge> {
    lower_at(formula, atoms, builder, 0)
}

fn lower_at(formula: &Ltl, atoms: &mut Atoms, builder: &mut Builder, depth: usize) -> Result<Id, TooLarge> {
    if depth > MAX_DEPTH {
        return Err(TooLarge::Depth);
    }
    let mut sub = |inner: &Ltl, builder: &mut Builder| lower_at(inner, atoms, builder, depth + 1);
    Ok(match formula {
        Ltl::Atom(expr) => {
            let (expr, positive) = affirmed(expr);
            match expr {
                Expr::Const(value) => {
                    if (value != 0) == positive {
                        TRUE
                    } else {
                        FALSE
                    }
                }
                expr => {
                    let atom = atoms.number(expr)?;
                    builder.store.literal(atom, positive)
                }
            }
        }
        Ltl::Not(inner) => negation(sub(inner, builder)?),
        Ltl::And(left, right) => {
            let parts = vec![sub(left, builder)?, sub(right, builder)?];
            builder.and(parts)
        }
        Ltl::Or(left, right) => {
            let parts = vec![sub(left, builder)?, sub(right, builder)?];
            builder.or(parts)
        }
        Ltl::Implies(left, right) => {
            let parts = vec![negation(sub(left, builder)?), sub(right, builder)?];
            builder.or(parts)
        }
        Ltl::Equivalent(left, right) => {
            let (left, right) = (sub(left, builder)?, sub(right, builder)?);
            let both = builder.and(vec![left, right]);
            let none = builder.and(vec![negation(left), negation(right)]);
            builder.or(vec![both, none])
        }
        Ltl::Next(inner) => {
            let inner = sub(inner, builder)?;
            builder.next(inner)
        }
        Ltl::Always(inner) => {
            let inner = sub(inner, builder)?;
            builder.always(inner)
        }
        Ltl::Eventually(inner) => {
            let inner = sub(inner, builder)?;
            builder.eventually(inner)
        }
        Ltl::Until(left, right) => {
            let (left, right) = (sub(left, builder)?, sub(right, builder)?);
            builder.until(left, right)
        }
        Ltl::Release(left, right) => {
            let (left, right) = (sub(left, builder)?, sub(right, builder)?);
            builder.release(left, right)
        }
        Ltl::WeakUntil(left, right) => {
            let (left, right) = (sub(left, builder)?, sub(right, builder)?);
            let either = builder.or(vec![left, right]);
            builder.release(right, either)
        }
    })
}

/// The expression without negation in front, and whether there was none: `x != 1` is the same atom as `x == 1`.
fn affirmed(expr: &Expr) -> (Expr, bool) {
    match expr {
        Expr::Unary(UnaryOp::Not, inner) => {
            let (inner, positive) = affirmed(inner);
            (inner, !positive)
        }
        Expr::Binary(op, left, right) => match opposite(*op) {
            Some(other @ (BinaryOp::Eq | BinaryOp::Lt | BinaryOp::Gt)) => {
                (Expr::Binary(other, left.clone(), right.clone()), false)
            }
            _ => (expr.clone(), true),
        },
        _ => (expr.clone(), true),
    }
}

/// The negation of an atom, as one would write it.
fn denied(expr: &Expr) -> Expr {
    match expr {
        Expr::Binary(op, left, right) => match opposite(*op) {
            Some(other) => Expr::Binary(other, left.clone(), right.clone()),
            None => Expr::not(expr.clone()),
        },
        _ => Expr::not(expr.clone()),
    }
}

fn opposite(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Eq => BinaryOp::Ne,
        BinaryOp::Ne => BinaryOp::Eq,
        BinaryOp::Lt => BinaryOp::Ge,
        BinaryOp::Ge => BinaryOp::Lt,
        BinaryOp::Gt => BinaryOp::Le,
        BinaryOp::Le => BinaryOp::Gt,
        _ => return None,
    })
}
