//! Expressions as functions of the state.

use crate::error::{Result, unsupported};
use crate::vars::{Copy, Vars};
use crate::word::Word;
use preempt_bdd::{Bdd, Space};
use preempt_model::{BinaryOp, CodeId, Expr, Place, Scope, UnaryOp};
use std::cell::{Cell, RefCell};

/// The state in the middle of a step: for each slot its bits, as functions of the state before the step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Valuation {
    pub shared: Vec<Vec<Bdd>>,
    pub locals: Vec<Vec<Bdd>>,
}

impl Valuation {
    /// Before the step in the first context: every variable is itself.
    pub fn now(vars: &Vars, code: CodeId) -> Valuation {
        let shared = match &vars.numbered {
            Some(numbered) => numbered.now().to_vec(),
            None => vars.all_shared(Copy::Now(0)).map(|variable| vars.space.bits(variable)).collect(),
        };
        let types = &vars.shape.locals[usize::from(code.0)];
        let local = |(slot, ty): (usize, &preempt_model::Type)| {
            let mut bits = vars.space.bits(vars.local(slot));
            bits.truncate(usize::from(ty.bits));
            bits
        };
        Valuation { shared, locals: types.iter().enumerate().map(local).collect() }
    }

    pub fn choose(condition: &Bdd, then: &Valuation, otherwise: &Valuation) -> Result<Valuation> {
        let merge = |a: &Vec<Vec<Bdd>>, b: &Vec<Vec<Bdd>>| -> Result<Vec<Vec<Bdd>>> {
            a.iter().zip(b).map(|(a, b)| merged(condition, a, b)).collect()
        };
        Ok(Valuation {
            shared: merge(&then.shared, &otherwise.shared)?,
            locals: merge(&then.locals, &otherwise.locals)?,
        })
    }
}

fn merged(condition: &Bdd, then: &[Bdd], otherwise: &[Bdd]) -> Result<Vec<Bdd>> {
    let bits = then.iter().zip(otherwise);
    bits.map(|(a, b)| Ok(if a == b { a.clone() } else { condition.ite(a, b)? })).collect()
}

/// A value, and where computing it has no meaning.
pub(crate) struct Value {
    pub word: Word,
    pub fault: Bdd,
}

/// Evaluates for one thread in one code. Every `Any` takes new bits; `assume` says which of them are values.
pub(crate) struct Evaluator<'a> {
    pub vars: &'a Vars,
    pub code: CodeId,
    /// The number of the process, where it is known.
    pub pid: Option<i32>,
    next_choice: Cell<usize>,
    assume: RefCell<Bdd>,
}

impl<'a> Evaluator<'a> {
    pub fn new(vars: &'a Vars, code: CodeId, pid: Option<i32>) -> Evaluator<'a> {
        let assume = RefCell::new(vars.space.yes());
        Evaluator { vars, code, pid, next_choice: Cell::new(0), assume }
    }

    fn space(&self) -> &'a Space {
        &self.vars.space
    }

    /// Readiness and effect of a command choose the same values.
    pub fn rewind(&self) {
        self.next_choice.set(0);
    }

    pub fn assumption(&self) -> Bdd {
        self.assume.borrow().clone()
    }

    fn sure(&self, word: Word) -> Value {
        Value { word, fault: self.space().no() }
    }

    pub fn holds(&self, state: &Valuation, expr: &Expr) -> Result<(Bdd, Bdd)> {
        let value = self.value(state, expr)?;
        Ok((value.word.truthy(self.space())?, value.fault))
    }

    pub fn value(&self, state: &Valuation, expr: &Expr) -> Result<Value> {
        let space = self.space();
        space.go_on()?;
        Ok(match expr {
            Expr::Const(value) => self.sure(Word::constant(space, *value)),
            Expr::Load(place) => self.load(state, place)?,
            Expr::Unary(op, inner) => {
                let Value { word, fault } = self.value(state, inner)?;
                let word = match op {
                    UnaryOp::Not => Word::truth(space, word.truthy(space)?.not()?),
                    UnaryOp::Negate => word.negate(space)?,
                    UnaryOp::Complement => word.complement()?,
                };
                Value { word, fault }
            }
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
                let ((a, left_fault), (b, right_fault)) =
                    (self.holds(state, left)?, self.holds(state, right)?);
                // the right side is evaluated only if the left does not decide
                let (holds, evaluated) = match op {
                    BinaryOp::And => (a.and(&b)?, a),
                    _ => (a.or(&b)?, a.not()?),
                };
                Value {
                    word: Word::truth(space, holds),
                    fault: left_fault.or(&right_fault.and(&evaluated)?)?,
                }
            }
            Expr::Binary(op, left, right) => self.arithmetic(state, *op, left, right)?,
            Expr::Conditional(condition, then, otherwise) => {
                let (holds, fault) = self.holds(state, condition)?;
                let (then, otherwise) = (self.value(state, then)?, self.value(state, otherwise)?);
                let word = Word::choose(&holds, &then.word, &otherwise.word)?;
                Value { word, fault: fault.or(&holds.ite(&then.fault, &otherwise.fault)?)? }
            }
            Expr::Any { low, high } => self.any(*low, *high)?,
            Expr::SelfPid => match self.pid {
                Some(pid) => self.sure(Word::constant(space, pid)),
                None => return unsupported("_pid of a process that is started in a loop or after a choice"),
            },
            Expr::NewPid => {
                return unsupported("the number of a process that is started in a loop or after a choice");
            }
            Expr::Len(_) | Expr::Probe(..) | Expr::Poll { .. } => return unsupported("channels"),
            Expr::Timeout => return unsupported("timeout"),
            Expr::NonProgress => return unsupported("np_"),
            Expr::Enabled(_) => return unsupported("enabled()"),
            Expr::PcValue(_) => return unsupported("pc_value()"),
            Expr::Priority(_) => return unsupported("priorities"),
            Expr::ProcessCount => return unsupported("_nr_pr"),
            Expr::LastPid => return unsupported("_last"),
            Expr::At { .. } | Expr::Remote { .. } => {
                return unsupported("references to labels and variables of other processes");
            }
        })
    }

    fn any(&self, low: i32, high: i32) -> Result<Value> {
        let space = self.space();
        let size = (i64::from(high) - i64::from(low)).max(0) as u64 + 1;
        let mut bits = Vec::new();
        for _ in 0..preempt_bdd::space::bits(size) {
            let index = self.next_choice.replace(self.next_choice.get() + 1);
            let Some(choice) = self.vars.choice(index) else {
                return unsupported("a step with so many nondeterministic values");
            };
            bits.push(space.equals(choice, 1)?);
        }
        let word = Word::from_bits(space, bits, false);
        let inside = word.below(space, &Word::constant(space, size.min(i32::MAX as u64) as i32))?;
        if !size.is_power_of_two() {
            let assume = self.assume.borrow().and(&inside)?;
            self.assume.replace(assume);
        }
        Ok(self.sure(word.plus(space, &Word::constant(space, low))?))
    }

    fn arithmetic(&self, state: &Valuation, op: BinaryOp, left: &Expr, right: &Expr) -> Result<Value> {
        let space = self.space();
        let (left, right) = (self.value(state, left)?, self.value(state, right)?);
        let mut fault = left.fault.or(&right.fault)?;
        let (a, b) = (left.word, right.word);
        let truth = |holds: Bdd| Word::truth(space, holds);
        let word = match op {
            BinaryOp::Add => a.plus(space, &b)?,
            BinaryOp::Sub => a.minus(space, &b)?,
            BinaryOp::Mul => a.times(space, &b)?,
            BinaryOp::Div | BinaryOp::Rem => {
                fault = fault.or(&b.truthy(space)?.not()?)?;
                let (quotient, rest) = a.divide(space, &b)?;
                if op == BinaryOp::Div { quotient } else { rest }
            }
            BinaryOp::BitAnd => a.bitwise(&b, Bdd::and)?,
            BinaryOp::BitXor => a.bitwise(&b, Bdd::xor)?,
            BinaryOp::BitOr => a.bitwise(&b, Bdd::or)?,
            BinaryOp::ShiftLeft => a.shift_left(space, &b)?,
            BinaryOp::ShiftRight => a.shift_right(&b)?,
            BinaryOp::Lt => truth(a.below(space, &b)?),
            BinaryOp::Le => truth(b.below(space, &a)?.not()?),
            BinaryOp::Gt => truth(b.below(space, &a)?),
            BinaryOp::Ge => truth(a.below(space, &b)?.not()?),
            BinaryOp::Eq => truth(a.equal(space, &b)?),
            BinaryOp::Ne => truth(a.equal(space, &b)?.not()?),
            BinaryOp::And | BinaryOp::Or => truth(space.no()),
        };
        Ok(Value { word, fault })
    }

    /// The slots that a place can mean, each with the condition under which it does, and where the index is out of
    /// range.
    pub fn slots(&self, state: &Valuation, place: &Place) -> Result<(Vec<(usize, Bdd)>, Bdd)> {
        let space = self.space();
        let mut slots = vec![(place.slot as usize, space.yes())];
        let mut fault = space.no();
        for index in &place.indices {
            let value = self.value(state, &index.value)?;
            let mut inside = space.no();
            let mut next = Vec::new();
            for i in 0..index.length {
                space.go_on()?;
                let here = value.word.equal(space, &Word::constant(space, i as i32))?;
                if here.is_false() {
                    continue;
                }
                inside = inside.or(&here)?;
                for (slot, condition) in &slots {
                    next.push((slot + (i * index.stride) as usize, condition.and(&here)?));
                }
            }
            // an index is looked at only if those before it are in range
            fault = fault.or(&value.fault)?.or(&inside.not()?)?;
            slots = next;
        }
        Ok((slots, fault))
    }

    fn load(&self, state: &Valuation, place: &Place) -> Result<Value> {
        let space = self.space();
        let (types, values) = match place.scope {
            Scope::Global => (&self.vars.shape.shared, &state.shared),
            Scope::Local => (&self.vars.shape.locals[usize::from(self.code.0)], &state.locals),
            Scope::Hidden => return unsupported("hidden variables"),
            Scope::Nowhere => return Ok(self.sure(Word::constant(space, 0))),
        };
        let (slots, fault) = self.slots(state, place)?;
        let mut word = Word::constant(space, 0);
        for (slot, condition) in slots {
            space.go_on()?;
            let (Some(ty), Some(bits)) = (types.get(slot), values.get(slot)) else { continue };
            let here = Word::from_bits(space, bits.clone(), ty.signed);
            word = if condition.is_true() { here } else { Word::choose(&condition, &here, &word)? };
        }
        Ok(Value { word, fault })
    }

    /// Writes a value where the place is, all other slots stay.
    pub fn store(
        &self,
        state: &mut Valuation,
        place: &Place,
        slots: &[(usize, Bdd)],
        word: &Word,
    ) -> Result<()> {
        let values = match place.scope {
            Scope::Global => &mut state.shared,
            Scope::Local => &mut state.locals,
            Scope::Hidden => return unsupported("hidden variables"),
            Scope::Nowhere => return Ok(()),
        };
        for (slot, condition) in slots {
            self.space().go_on()?;
            if let Some(bits) = values.get_mut(*slot) {
                let new = word.low(bits.len());
                *bits = if condition.is_true() { new } else { merged(condition, &new, bits)? };
            }
        }
        Ok(())
    }
}
