//! Assignments, with what constrains their outcome, calls, and starts of threads.

use super::super::graph::Origin;
use super::super::{Mode, Variant, values};
use super::Body;
use crate::ast::{self, ExprKind, Name};
use crate::print;
use preempt_core::Span;
use preempt_model::{BinaryOp, CodeId, Command, Expr, Place, Scope, Type};

impl<'p> Body<'_, 'p> {
    pub fn assign(
        &mut self,
        targets: &'p [Name],
        values: Vec<Expr>,
        constrain: Option<&'p ast::Expr>,
        origin: Origin,
    ) {
        let places: Vec<Place> = targets.iter().map(|target| self.place(&target.text)).collect();
        let clauses = self.clauses();
        if constrain.is_none() && clauses.is_empty() {
            let assignments = places.into_iter().zip(values).collect();
            return self.step(Command::Assign(assignments), origin);
        }
        // The constraint is about the outcome, so the choices come first: each into a local of its own. Then the
        // constraint and the assignment in one go.
        let base = self.code.slots;
        self.temporaries.used = 0;
        let mut temporary = || {
            self.temporaries.used += 1;
            Place::scalar(Scope::Local, base + self.temporaries.used - 1, Type::BOOL)
        };
        let values: Vec<Expr> =
            values.into_iter().map(|value| values::with_choices(value, &mut temporary)).collect();
        let used = self.temporaries.used;
        self.temporaries.most = self.temporaries.most.max(used);
        let temporaries = (base..base + used).map(|slot| Place::scalar(Scope::Local, slot, Type::BOOL));
        if used > 0 {
            let choices = temporaries.clone().map(|place| (place, Expr::Any { low: 0, high: 1 }));
            self.step(Command::Assign(choices.collect()), Origin::new(origin.span, "choose"));
        }
        let after = |name: &str| {
            let assigned = targets.iter().position(|target| target.text == name);
            assigned.map_or_else(|| Expr::load(self.place(name)), |number| values[number].clone())
        };
        let now = |name: &str| Expr::load(self.place(name));
        let constraint = constrain.map(|constrain| values::lower(constrain, &now, &after));
        // What is enforced speaks of the state after the step.
        let enforced = clauses.iter().map(|clause| values::lower(clause, &after, &after));
        let condition = conjunction(constraint.into_iter().chain(enforced));
        let assignments = places.into_iter().zip(values.iter().cloned());
        let assignments = assignments.chain(temporaries.map(|place| (place, Expr::Const(0)))).collect();
        self.open += 1;
        self.wait_for(condition, origin.clone());
        self.open -= 1;
        self.step(Command::Assign(assignments), origin);
    }

    /// What `enforce` and `abortif` demand of every state.
    fn clauses(&self) -> Vec<ast::Expr> {
        let enforce = self.procedure.enforce.iter().cloned();
        let abort_if = self.procedure.abort_if.iter().cloned().map(ast::Expr::negated);
        enforce.chain(abort_if).filter(|clause| clause.kind != ExprKind::Constant(true)).collect()
    }

    /// At the beginning and after calls: the state is as `enforce` demands.
    pub fn enforced(&mut self, span: Span) {
        let clauses = self.clauses();
        if !clauses.is_empty() {
            let text = clauses.iter().map(print::expr).collect::<Vec<_>>().join(" & ");
            let condition = conjunction(clauses.iter().map(|clause| self.value(clause)));
            self.wait_for(condition, Origin::new(span, format!("enforce {text}")));
        }
    }

    pub fn call(&mut self, targets: &'p [Name], name: &Name, arguments: &[ast::Expr], origin: Origin) {
        let span = origin.span;
        let atomic = self.open > 0;
        let code = self.variant_of(name, Mode::Called { atomic });
        let mut args: Vec<Expr> = arguments.iter().map(|argument| self.value(argument)).collect();
        let mut results: Vec<Place> = targets.iter().map(|target| self.place(&target.text)).collect();
        let returned = self.lowering.procedures.get(name.text.as_str()).copied();
        let returned = returned.map_or(0, |called| self.lowering.procedure(called).results);
        results.resize(returned, Place::nowhere());
        for own in self.lowering.thread_locals.clone() {
            let place = self.place(&own.text);
            args.push(Expr::load(place.clone()));
            results.push(place);
        }
        self.step(Command::Call { code, args, results }, origin);
        if atomic {
            self.graph.set_returned(self.here);
        }
        self.enforced(span);
    }

    pub fn start(&mut self, name: &Name, arguments: &[ast::Expr], origin: Origin) {
        let code = self.variant_of(name, Mode::Thread);
        let args = arguments.iter().map(|argument| self.value(argument)).collect();
        self.step(Command::Run { code, args, priority: 1, result: None }, origin);
    }

    fn variant_of(&mut self, name: &Name, mode: Mode) -> CodeId {
        let procedure = self.lowering.procedures.get(name.text.as_str()).copied().unwrap_or_default();
        self.lowering.code(Variant { procedure, mode })
    }
}

fn conjunction(exprs: impl IntoIterator<Item = Expr>) -> Expr {
    let and = |left, right| Expr::binary(BinaryOp::And, left, right);
    exprs.into_iter().reduce(and).unwrap_or(Expr::TRUE)
}
