//! One procedure, executed in one mode: its variables, and its statements one after the other.

mod control;
mod effects;

use super::graph::{Graph, Origin, Spot};
use super::{Lowering, Mode, Variant, beginnings, empty_code, values, variable};
use crate::ast::{self, ExprKind, Name, Procedure, Statement, StatementKind};
use crate::check::{ASYNC, each_statement};
use crate::print;
use preempt_model::{Code, CodeKind, Command, Expr, Place, Scope, Type, Variable};
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
    beginnings::of_locals(&mut code, &begin_with, variant.mode == Mode::Called { atomic: true }, budget);
    code
}

struct Body<'b, 'p> {
    lowering: &'b mut Lowering<'p>,
    procedure: &'p Procedure,
    mode: Mode,
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
        let called = matches!(variant.mode, Mode::Called { .. });
        let kind = if called { CodeKind::Procedure } else { CodeKind::Process };
        let name = match &variant.mode {
            Mode::ThreadAt(label) => format!("{}@{label}", procedure.name.text),
            Mode::Called { .. } | Mode::Thread => procedure.name.text.clone(),
        };
        let code = empty_code(name, kind, procedure.name.at.0);
        let atomic = variant.mode == Mode::Called { atomic: true };
        let mut graph = Graph::default();
        let here = graph.spot(atomic);
        let mut body = Body {
            lowering,
            procedure,
            mode: variant.mode.clone(),
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
            self.mode == Mode::Thread && self.lowering.procedure(first.procedure).name == self.procedure.name
        });
        let copied = matches!(self.mode, Mode::ThreadAt(_));
        let called = matches!(self.mode, Mode::Called { .. });
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
        self.mark_labels(&self.procedure.body, usize::from(self.mode == Mode::Called { atomic: true }));
        let begin = match &self.mode {
            Mode::ThreadAt(label) => self.labels.get(label.as_str()).copied().unwrap_or(entry),
            Mode::Called { .. } | Mode::Thread => entry,
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
                self.step(Command::Assign(assignment), Origin::new(local.name.at.0, text));
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
                let origin = Origin::new(label.at.0, format!("{}:", label.text));
                self.step(Command::Assert(Expr::Const(0)), origin);
            }
        }
        let text = print::line(&statement.kind);
        let origin = Origin::new(span, text.clone());
        match &statement.kind {
            StatementKind::Skip | StatementKind::Print(_) => self.step(Command::SKIP, origin),
            StatementKind::Assign { targets, values, constrain } => {
                let values = values.iter().map(|value| self.value(value)).collect();
                self.assign(targets, values, constrain.as_ref(), origin);
            }
            StatementKind::Dead(targets) => {
                let values = vec![Expr::Any { low: 0, high: 1 }; targets.len()];
                self.assign(targets, values, None, origin);
            }
            StatementKind::Call { targets, procedure, arguments } => {
                if statement.labels.iter().any(|label| label.text.starts_with(ASYNC)) {
                    let origin = Origin::new(span, format!("start_thread {text}"));
                    self.start(procedure, arguments, origin);
                } else {
                    self.call(targets, procedure, arguments, origin);
                }
            }
            StatementKind::StartCall { procedure, arguments } => self.start(procedure, arguments, origin),
            StatementKind::StartGoto(label) => {
                let mode = Mode::ThreadAt(label.text.clone());
                let procedure = self.lowering.procedures[self.procedure.name.text.as_str()];
                let code = self.lowering.code(Variant { procedure, mode });
                let locals = 0..self.code.slots;
                let args =
                    locals.map(|slot| Expr::load(Place::scalar(Scope::Local, slot, Type::BOOL))).collect();
                self.step(Command::Run { code, args, priority: 1, result: None }, origin);
            }
            StatementKind::Return(values) => self.leave(values, span, &text),
            StatementKind::Goto(targets) => self.goto(targets, span, &text),
            StatementKind::If { branches, otherwise } => self.conditional(branches, otherwise.as_deref()),
            StatementKind::While(condition, body) => self.repetition(condition, body),
            StatementKind::Assume(condition) => {
                let condition = self.value(condition);
                self.wait_for(condition, origin);
            }
            StatementKind::Assert(condition) => {
                let condition = self.value(condition);
                self.step(Command::Assert(condition), origin);
            }
            StatementKind::EndThread => {
                let end = self.graph.spot(false);
                self.graph.edge(self.here, Command::SKIP, end, origin);
                self.unreachable();
            }
            // A step of `others`: it has changed the tree before.
            StatementKind::Wait | StatementKind::Broadcast => self.step(Command::SKIP, origin),
            StatementKind::AtomicBegin => self.open += 1,
            StatementKind::AtomicEnd => self.atomic_end(span, &text),
        }
    }

    /// A step from here to a new spot.
    fn step(&mut self, command: Command, origin: Origin) {
        let next = self.graph.spot(self.open > 0);
        self.graph.edge(self.here, command, next, origin);
        self.here = next;
    }

    /// Goes on if the condition holds. Whoever cannot go on in the middle of an atomic block never will: nobody else
    /// may run, so the run ends there. The model says it by an endless loop that keeps the processor.
    fn wait_for(&mut self, condition: Expr, origin: Origin) {
        let span = origin.span;
        let from = self.here;
        let certain = condition == Expr::TRUE;
        self.step(Command::Guard(condition), origin);
        if self.graph.is_atomic(from) && !certain {
            let stuck = self.graph.spot(true);
            self.graph.edge(from, Command::Else, stuck, Origin::new(span, "blocked in an atomic block"));
            self.graph.edge(stuck, Command::SKIP, stuck, Origin::new(span, "blocked in an atomic block"));
        }
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
