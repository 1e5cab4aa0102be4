//! The statements of one procedure, executed in one way.

use super::graph::{Graph, Spot};
use super::{Lowering, Variant, Way, beginnings, empty_code, values, variable};
use crate::ast::{self, ExprKind, Name, Procedure, Statement, StatementKind};
use crate::check::{ASYNC, each_statement};
use crate::print;
use preempt_core::Span;
use preempt_model::{Code, CodeId, CodeKind, Command, Expr, Place, Scope, Type, Variable};
use std::collections::HashMap;

pub fn lower(lowering: &mut Lowering<'_>, variant: &Variant) -> Code {
    let procedure = lowering.procedure(variant.procedure);
    let budget = lowering.budget;
    let mut body = Body::new(lowering, procedure, variant);
    let entry = body.whole();
    let Body { graph, labels, mut code, begin_with, temporaries, .. } = body;
    let (locations, number) = graph.finish(entry);
    code.locations = locations;
    for (label, spot) in labels {
        code.labels.extend(number(spot).map(|location| (label.to_string(), location)));
    }
    code.labels.sort();
    for number in 0..temporaries.most {
        let slot = code.slots + number;
        let name = format!("choice{}", number + 1);
        code.variables.push(Variable { name, slot, ty: Type::BOOL, length: None, span: code.span });
    }
    code.slots += temporaries.most;
    beginnings::of_locals(&mut code, &begin_with, variant.way == Way::Called { atomic: true }, budget);
    code
}

struct Body<'b, 'p> {
    lowering: &'b mut Lowering<'p>,
    procedure: &'p Procedure,
    way: Way,
    code: Code,
    names: HashMap<&'p str, Place>,
    graph: Graph,
    labels: HashMap<&'p str, Spot>,
    /// Where the next statement begins.
    here: Spot,
    /// How many atomic blocks are open; one more if the procedure was called within one.
    open: usize,
    /// Slots of locals, and the values that they begin with (`None`: any).
    begin_with: Vec<(u32, Option<bool>)>,
    temporaries: Temporaries,
}

/// Locals that keep a choice from the step that makes it to the step that uses it.
#[derive(Default)]
struct Temporaries {
    used: u32,
    most: u32,
}

impl<'b, 'p> Body<'b, 'p> {
    fn new(lowering: &'b mut Lowering<'p>, procedure: &'p Procedure, variant: &Variant) -> Self {
        let called = matches!(variant.way, Way::Called { .. });
        let kind = if called { CodeKind::Procedure } else { CodeKind::Process };
        let name = match &variant.way {
            Way::ThreadAt(label) => format!("{}@{label}", procedure.name.text),
            Way::Called { .. } | Way::Thread => procedure.name.text.clone(),
        };
        let code = empty_code(name, kind, procedure.name.at.0);
        let atomic = variant.way == Way::Called { atomic: true };
        let mut graph = Graph::default();
        let here = graph.spot(atomic);
        let mut body = Body {
            lowering,
            procedure,
            way: variant.way.clone(),
            code,
            names: HashMap::new(),
            graph,
            labels: HashMap::new(),
            here,
            open: usize::from(atomic),
            begin_with: Vec::new(),
            temporaries: Temporaries::default(),
        };
        body.declare();
        body
    }

    /// Parameters, then what belongs to the thread, then locals. The first of these are given by the caller, or by
    /// the thread that starts this one at a label: all of them.
    fn declare(&mut self) {
        let main = self.lowering.wanted.first().is_some_and(|first| {
            self.way == Way::Thread && self.lowering.procedure(first.procedure).name == self.procedure.name
        });
        let copied = matches!(self.way, Way::ThreadAt(_));
        let called = matches!(self.way, Way::Called { .. });
        for parameter in &self.procedure.parameters {
            // Nobody gives main its arguments. Should somebody start it again, they are still as good as any.
            self.local(parameter, !main, None);
        }
        for name in self.lowering.thread_locals.clone() {
            let declared = self.lowering.program.globals.iter().find(|global| global.name == *name);
            let value = declared.and_then(|global| constant(global.value.as_ref()?));
            self.local(name, called || copied, value);
        }
        for local in &self.procedure.locals {
            self.local(&local.name, copied, local.value.as_ref().and_then(constant));
        }
    }

    fn local(&mut self, name: &'p Name, given: bool, value: Option<bool>) {
        let slot = self.code.slots;
        self.code.slots += 1;
        self.code.variables.push(variable(name, slot));
        self.names.insert(&name.text, Place::scalar(Scope::Local, slot, Type::BOOL));
        if given {
            self.code.parameters.push(Type::BOOL);
        } else {
            self.begin_with.push((slot, value));
        }
    }

    /// Lowers everything and gives the entry.
    fn whole(&mut self) -> Spot {
        let entry = self.here;
        each_statement(&self.procedure.body, &mut |statement| {
            for label in &statement.labels {
                self.labels.entry(&label.text).or_insert_with(|| self.graph.spot(false));
            }
        });
        // Which labels stand in atomic blocks must be known before the jumps to them are lowered.
        self.mark_labels(&self.procedure.body, usize::from(self.way == Way::Called { atomic: true }));
        let begin = match &self.way {
            Way::ThreadAt(label) => self.labels.get(label.as_str()).copied().unwrap_or(entry),
            Way::Called { .. } | Way::Thread => entry,
        };
        self.enforced(self.procedure.name.at.0);
        self.locals_with_values();
        self.statements(&self.procedure.body);
        self.leave(&[], self.procedure.end.0, "end");
        begin
    }

    fn mark_labels(&mut self, statements: &'p [Statement], mut open: usize) {
        for statement in statements {
            for label in &statement.labels {
                if let Some(spot) = self.labels.get(label.text.as_str()) {
                    self.graph.set_atomic(*spot, open > 0);
                }
            }
            match &statement.kind {
                StatementKind::AtomicBegin => open += 1,
                StatementKind::AtomicEnd => open = open.saturating_sub(1),
                StatementKind::If { branches, otherwise } => {
                    branches.iter().for_each(|(_, body)| self.mark_labels(body, open));
                    otherwise.iter().for_each(|body| self.mark_labels(body, open));
                }
                StatementKind::While(_, body) => self.mark_labels(body, open),
                _ => {}
            }
        }
    }

    /// Initial values that are no constants.
    fn locals_with_values(&mut self) {
        for local in &self.procedure.locals {
            if let Some(value) = local.value.as_ref().filter(|value| constant(value).is_none()) {
                let assignment = vec![(self.place(&local.name.text), self.value(value))];
                let text = format!("decl {} := {}", local.name.text, print::expr(value));
                self.step(Command::Assign(assignment), local.name.at.0, text);
            }
        }
    }

    fn statements(&mut self, statements: &'p [Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &'p Statement) {
        let span = statement.at.0;
        for label in &statement.labels {
            if let Some(spot) = self.labels.get(label.text.as_str()).copied()
                && self.graph.root(spot) != self.graph.root(self.here)
            {
                self.graph.join(self.here, spot, label.at.0, &format!("{}:", label.text));
                self.here = spot;
            }
            if self.lowering.options.is_error_label(&label.text) {
                self.step(Command::Assert(Expr::Const(0)), label.at.0, format!("{}:", label.text));
            }
        }
        let text = print::line(&statement.kind);
        match &statement.kind {
            StatementKind::Skip | StatementKind::Print(_) => self.step(Command::SKIP, span, text),
            StatementKind::Assign { targets, values, constrain } => {
                let values = values.iter().map(|value| self.value(value)).collect();
                self.assign(targets, values, constrain.as_ref(), span, text);
            }
            StatementKind::Dead(targets) => {
                let values = vec![Expr::Any { low: 0, high: 1 }; targets.len()];
                self.assign(targets, values, None, span, text);
            }
            StatementKind::Call { targets, procedure, arguments } => {
                if statement.labels.iter().any(|label| label.text.starts_with(ASYNC)) {
                    self.start(procedure, arguments, span, format!("start_thread {text}"));
                } else {
                    self.call(targets, procedure, arguments, span, text);
                }
            }
            StatementKind::StartCall { procedure, arguments } => self.start(procedure, arguments, span, text),
            StatementKind::StartGoto(label) => {
                let way = Way::ThreadAt(label.text.clone());
                let procedure = self.lowering.procedures[self.procedure.name.text.as_str()];
                let code = self.lowering.code(Variant { procedure, way });
                let locals = 0..self.code.slots;
                let args =
                    locals.map(|slot| Expr::load(Place::scalar(Scope::Local, slot, Type::BOOL))).collect();
                self.step(Command::Run { code, args, priority: 1, result: None }, span, text);
            }
            StatementKind::Return(values) => self.leave(values, span, &text),
            StatementKind::Goto(targets) => self.goto(targets, span, &text),
            StatementKind::If { branches, otherwise } => self.conditional(branches, otherwise.as_deref()),
            StatementKind::While(condition, body) => self.repetition(condition, body),
            StatementKind::Assume(condition) => {
                let condition = self.value(condition);
                self.wait_for(condition, span, text);
            }
            StatementKind::Assert(condition) => {
                let condition = self.value(condition);
                self.step(Command::Assert(condition), span, text);
            }
            StatementKind::EndThread => {
                let end = self.graph.spot(false);
                self.graph.edge(self.here, Command::SKIP, end, span, text);
                self.unreachable();
            }
            StatementKind::AtomicBegin => self.open += 1,
            StatementKind::AtomicEnd => self.atomic_end(span, &text),
        }
    }

    fn atomic_end(&mut self, span: Span, text: &str) {
        self.open = self.open.saturating_sub(1);
        if self.open > 0 {
            return;
        }
        // Who came back from a call has kept the processor: to give it up is a step.
        if self.graph.is_returned(self.here) {
            let next = self.graph.spot(false);
            self.graph.edge(self.here, Command::SKIP, next, span, text);
            self.here = next;
        } else {
            self.graph.set_atomic(self.here, false);
        }
    }

    /// A step from here to a new spot.
    fn step(&mut self, command: Command, span: Span, text: String) {
        let next = self.graph.spot(self.open > 0);
        self.graph.edge(self.here, command, next, span, text);
        self.here = next;
    }

    /// Goes on if the condition holds. Whoever cannot go on in the middle of an atomic block never will: nobody else
    /// may run, so the run ends there. The model says it by an endless loop that keeps the processor.
    fn wait_for(&mut self, condition: Expr, span: Span, text: String) {
        let from = self.here;
        let certain = condition == Expr::TRUE;
        self.step(Command::Guard(condition), span, text);
        if self.graph.is_atomic(from) && !certain {
            let stuck = self.graph.spot(true);
            self.graph.edge(from, Command::Else, stuck, span, "blocked in an atomic block");
            self.graph.edge(stuck, Command::SKIP, stuck, span, "blocked in an atomic block");
        }
    }

    fn assign(
        &mut self,
        targets: &'p [Name],
        values: Vec<Expr>,
        constrain: Option<&'p ast::Expr>,
        span: Span,
        text: String,
    ) {
        let places: Vec<Place> = targets.iter().map(|target| self.place(&target.text)).collect();
        let clauses = self.clauses();
        if constrain.is_none() && clauses.is_empty() {
            let assignments = places.into_iter().zip(values).collect();
            return self.step(Command::Assign(assignments), span, text);
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
            self.step(Command::Assign(choices.collect()), span, "choose".into());
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
        self.wait_for(condition, span, text.clone());
        self.open -= 1;
        self.step(Command::Assign(assignments), span, text);
    }

    /// What `enforce` and `abortif` demand of every state.
    fn clauses(&self) -> Vec<ast::Expr> {
        let enforce = self.procedure.enforce.iter().cloned();
        let abort_if = self.procedure.abort_if.iter().cloned().map(ast::Expr::negated);
        enforce.chain(abort_if).filter(|clause| clause.kind != ExprKind::Constant(true)).collect()
    }

    /// At the beginning and after calls: the state is as `enforce` demands.
    fn enforced(&mut self, span: Span) {
        let clauses = self.clauses();
        if !clauses.is_empty() {
            let text = clauses.iter().map(print::expr).collect::<Vec<_>>().join(" & ");
            let condition = conjunction(clauses.iter().map(|clause| self.value(clause)));
            self.wait_for(condition, span, format!("enforce {text}"));
        }
    }

    fn call(&mut self, targets: &'p [Name], name: &Name, arguments: &[ast::Expr], span: Span, text: String) {
        let atomic = self.open > 0;
        let code = self.variant_of(name, Way::Called { atomic });
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
        self.step(Command::Call { code, args, results }, span, text);
        if atomic {
            self.graph.set_returned(self.here);
        }
        self.enforced(span);
    }

    fn start(&mut self, name: &Name, arguments: &[ast::Expr], span: Span, text: String) {
        let code = self.variant_of(name, Way::Thread);
        let args = arguments.iter().map(|argument| self.value(argument)).collect();
        self.step(Command::Run { code, args, priority: 1, result: None }, span, text);
    }

    fn variant_of(&mut self, name: &Name, way: Way) -> CodeId {
        let procedure = self.lowering.procedures.get(name.text.as_str()).copied().unwrap_or_default();
        self.lowering.code(Variant { procedure, way })
    }

    /// Returns, or ends the thread if this is its own procedure.
    fn leave(&mut self, results: &[ast::Expr], span: Span, text: &str) {
        if matches!(self.way, Way::Called { .. }) {
            let mut values: Vec<Expr> = results.iter().map(|value| self.value(value)).collect();
            // Who falls off the end has said nothing about the results.
            values.resize(self.procedure.results, Expr::Any { low: 0, high: 1 });
            let own = self.lowering.thread_locals.iter().map(|own| Expr::load(self.place(&own.text)));
            values.extend(own);
            let here = self.here;
            // The edge's target is where it is: the caller knows where to go on.
            self.graph.edge(here, Command::Return(values), here, span, text);
        } else {
            let end = self.graph.spot(false);
            self.graph.join(self.here, end, span, text);
        }
        self.unreachable();
    }

    fn goto(&mut self, targets: &'p [Name], span: Span, text: &str) {
        let spots: Vec<(Spot, &Name)> = targets
            .iter()
            .filter_map(|target| Some((*self.labels.get(target.text.as_str())?, target)))
            .collect();
        match spots.as_slice() {
            [(spot, _)] => self.graph.join(self.here, *spot, span, text),
            several => {
                for (spot, target) in several {
                    self.graph.edge(self.here, Command::SKIP, *spot, span, format!("goto {}", target.text));
                }
            }
        }
        self.unreachable();
    }

    /// What follows is reached by a label only.
    fn unreachable(&mut self) {
        self.here = self.graph.spot(self.open > 0);
    }

    /// Two ways on: one if the condition holds, one if not. Gives the second.
    fn test(&mut self, condition: &'p ast::Expr, word: &str) -> Spot {
        let span = condition.at.0;
        let value = self.value(condition);
        let (holds, fails) = match &condition.kind {
            ExprKind::Any => (Expr::TRUE, Expr::TRUE),
            _ => (value.clone(), Expr::not(value)),
        };
        let (then, otherwise) = (self.graph.spot(self.open > 0), self.graph.spot(self.open > 0));
        let text = print::expr(condition);
        self.graph.edge(self.here, Command::Guard(holds), then, span, format!("{word} {text}: yes"));
        self.graph.edge(self.here, Command::Guard(fails), otherwise, span, format!("{word} {text}: no"));
        self.here = then;
        otherwise
    }

    fn conditional(
        &mut self,
        branches: &'p [(ast::Expr, Vec<Statement>)],
        otherwise: Option<&'p [Statement]>,
    ) {
        let after = self.graph.spot(self.open > 0);
        let end = |body: &mut Self| body.graph.join(body.here, after, body.procedure.end.0, "fi");
        for (condition, body) in branches {
            let next = self.test(condition, "if");
            self.statements(body);
            end(self);
            self.here = next;
        }
        self.statements(otherwise.unwrap_or(&[]));
        end(self);
        self.here = after;
    }

    fn repetition(&mut self, condition: &'p ast::Expr, body: &'p [Statement]) {
        let head = self.graph.spot(self.open > 0);
        self.graph.join(self.here, head, condition.at.0, "while");
        self.here = head;
        let after = self.test(condition, "while");
        self.statements(body);
        self.graph.join(self.here, head, condition.at.0, "od");
        self.here = after;
    }

    fn place(&self, name: &str) -> Place {
        let known = self.names.get(name).or_else(|| self.lowering.globals.get(name));
        known.cloned().unwrap_or_else(Place::nowhere)
    }

    fn value(&self, expr: &ast::Expr) -> Expr {
        let load = |name: &str| Expr::load(self.place(name));
        values::lower(expr, &load, &load)
    }
}

fn constant(expr: &ast::Expr) -> Option<bool> {
    match expr.kind {
        ExprKind::Constant(value) => Some(value),
        _ => None,
    }
}

fn conjunction(exprs: impl IntoIterator<Item = Expr>) -> Expr {
    let and = |left, right| Expr::binary(preempt_model::BinaryOp::And, left, right);
    exprs.into_iter().reduce(and).unwrap_or(Expr::TRUE)
}
