//! Threads that are started by others, and what a procedure's or a thread's locals begin with.
//!
//! Lal and Reps 2009 (paper 002) take the threads as given. A thread that the program starts is there from the beginning
//! and waits: a shared counter says how many were started at a place in the program, and the first values of the new
//! thread's locals lie in shared variables until it takes them (see `threads`).

use crate::effect::Effect;
use crate::error::{Result, unsupported};
use crate::graph::{Node, Procedure, Step};
use crate::relation::Condition;
use crate::threads::Thread;
use crate::translate::{Builder, Translated};
use crate::value::{Evaluator, Valuation};
use crate::word::Word;
use preempt_bdd::Bdd;
use preempt_model::{CodeId, Expr, Init, Place};

impl Builder<'_> {
    /// The locals of a procedure at its entry, as functions of parameters and shared state.
    pub fn entry_locals(&self, code: CodeId) -> Result<Bdd> {
        let space = &self.vars.space;
        let types = &self.vars.shape.locals[usize::from(code.0)];
        let handed = |slot: usize| space.bits(self.vars.param(slot));
        let locals = self.first_valuation(code, &handed)?;
        let mut result = space.yes();
        let live = self.liveness.at(code, self.model.code(code).entry);
        for (slot, bits) in locals.iter().enumerate().take(types.len()) {
            space.go_on()?;
            let bits = if live[slot] { bits.as_slice() } else { &[] };
            for condition in self.bits_equal(self.vars.local(slot), bits)? {
                result = result.and(&condition)?;
            }
        }
        Ok(result)
    }

    /// Parameters as handed over, everything else 0, then the initial values one after the other.
    fn first_valuation(&self, code: CodeId, handed: &dyn Fn(usize) -> Vec<Bdd>) -> Result<Vec<Vec<Bdd>>> {
        let space = &self.vars.space;
        let definition = self.model.code(code);
        let types = &self.vars.shape.locals[usize::from(code.0)];
        let mut state = Valuation::now(self.vars, code);
        for (slot, ty) in types.iter().enumerate() {
            let width = usize::from(ty.bits);
            state.locals[slot] = match slot < definition.parameters.len() {
                true => handed(slot).into_iter().chain(std::iter::repeat(space.no())).take(width).collect(),
                false => vec![space.no(); width],
            };
        }
        for init in &definition.init {
            let Init::Set { slot, value, .. } = init else { return unsupported("channels") };
            let mut chosen = false;
            value.visit(&mut |expr| chosen |= matches!(expr, Expr::Any { .. }));
            if chosen {
                return unsupported("a nondeterministic initial value");
            }
            let value = Evaluator::new(self.vars, code, self.pid).value(&state, value)?;
            if !value.fault.is_false() {
                return unsupported("an initial value of a local that may have no meaning");
            }
            let width = state.locals[*slot as usize].len();
            state.locals[*slot as usize] = value.word.low(width);
        }
        Ok(state.locals)
    }

    /// Starting a thread: one more is counted, and its first locals are put where it finds them. The second result
    /// says where there is room for another one.
    pub fn start(
        &self,
        translated: &Translated<'_, '_>,
        started: CodeId,
        args: &[Expr],
        result: Option<&(Place, Expr)>,
    ) -> Result<(Effect, Bdd)> {
        let space = &self.vars.space;
        let (now, evaluator) = (translated.now, &translated.evaluator);
        let Some((_, site)) = self.threads.site(translated.at) else {
            return unsupported("a start of a process that was not expected");
        };
        let mut effect = Effect { after: now.clone(), fault: space.no(), failed: space.no() };
        let mut handed = Vec::new();
        for arg in args {
            let value = evaluator.value(now, arg)?;
            effect.fault = effect.fault.or(&value.fault)?;
            handed.push(value.word.low(32));
        }
        let locals = self.first_valuation(started, &|slot| handed.get(slot).cloned().unwrap_or_default())?;
        let counter = Word::from_bits(space, now.shared[site.counter].clone(), false);
        for (instance, mail) in site.mail.iter().enumerate() {
            let turn = counter.equal(space, &Word::constant(space, instance as i32))?;
            for &(local, slot) in mail {
                let bits = now.shared[slot].iter().zip(&locals[local]);
                effect.after.shared[slot] =
                    bits.map(|(old, new)| turn.ite(new, old)).collect::<std::result::Result<_, _>>()?;
            }
        }
        let width = now.shared[site.counter].len();
        effect.after.shared[site.counter] = counter.plus(space, &Word::constant(space, 1))?.low(width);
        if let Some((place, value)) = result {
            let (slots, fault) = evaluator.slots(now, place)?;
            let value = evaluator.value(&effect.after.clone(), value)?;
            effect.fault = effect.fault.or(&fault)?.or(&value.fault)?;
            evaluator.store(&mut effect.after, place, &slots, &value.word)?;
        }
        let room = counter.below(space, &Word::constant(space, site.instances as i32))?;
        Ok((effect, room))
    }

    /// Puts a node in front of a thread that is started later: it goes on when it has been started.
    pub fn waiting(
        &mut self,
        root: &mut Procedure,
        thread: &Thread,
        site: usize,
        instance: u32,
    ) -> Result<()> {
        let space = &self.vars.space;
        let site = &self.threads.sites[site];
        let now = Valuation::now(self.vars, thread.code);
        let counter = Word::from_bits(space, now.shared[site.counter].clone(), false);
        let started = counter.below(space, &Word::constant(space, instance as i32))?.not()?;
        let mut after = now.clone();
        for &(local, slot) in &site.mail[instance as usize - 1] {
            after.locals[local] = now.shared[slot].clone();
        }
        let relation = self.relation(&now, &started, &after)?;
        let node = root.nodes.len();
        root.nodes.push(Node {
            location: None,
            exclusive: false,
            resume: node,
            blocked: Condition::new(started.not()?),
            steps: vec![Step { edge: u32::MAX, target: root.entry, relation }],
            calls: Vec::new(),
            returns: Vec::new(),
            bad: Vec::new(),
        });
        root.entry = node;
        Ok(())
    }
}
