//! The program put together: processes, claims and formulas, and who runs at the beginning.

use super::Lowering;
use super::flow::{ElementKind, Flow};
use super::graph;
use super::names::ProcessName;
use super::survey::Survey;
use crate::ast::{self, Item, ProcessKind, Stmt, TypeName, VarRef};
use preempt_core::diagnostic::nearest;
use preempt_core::{Diagnostic, Span};
use preempt_model::interpreter::{MAX_CHANNELS, MAX_PROCESSES};
use preempt_model::property::{Claim, Exclusive, Formula, TraceAssertion};
use preempt_model::{
    Code, CodeId, CodeKind, Command, Expr, Init, LocationId, Start, SymbolSet, Type, Variable,
};

/// More values than this in the initial state are a mistake, not a model.
const MAX_STATE: u64 = 1 << 22;

/// A body while it is being lowered.
#[derive(Debug)]
pub(super) struct Body {
    pub code: CodeId,
    pub name: String,
    /// Not a process but something that watches them.
    pub observing: Option<Observing>,
    pub flow: Flow,
    pub init: Vec<Init>,
    pub variables: Vec<Variable>,
    pub slots: u32,
    /// The numbers of the loops around, innermost last.
    pub loops: Vec<usize>,
    /// No statement yet: declarations say what the process begins with.
    pub at_beginning: bool,
}

/// What an observer looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Observing {
    /// States: a never claim.
    Claim,
    /// Sends and receives: a trace assertion.
    Messages,
}

impl Lowering {
    pub(super) fn program(mut self, program: &ast::Program) -> Lowering {
        self.survey = Survey::of(program);
        self.model.symbols.push(SymbolSet::default());
        self.name_processes(program);
        // In the order of the text: a name is known from its declaration on.
        for item in &program.items {
            match item {
                Item::Mtype(mtype) => self.mtype(mtype),
                Item::Typedef(typedef) => self.typedef(typedef),
                Item::Variables(declaration) => self.declaration(declaration),
                Item::Process(process) if self.budget.exhausted().is_none() => self.process(process),
                Item::Process(_) | Item::Never(_) | Item::Trace(_) | Item::Ltl(_) => {}
            }
        }
        self.observers(program);
        self.order_bodies(program);
        self.resolve_labels();
        self.check_size();
        if self.model.start.is_empty() && !self.diagnostics.iter().any(Diagnostic::is_error) {
            self.diagnostics.push(
                Diagnostic::global_error("no process runs at the beginning")
                    .hint("add `init { ... }`, or write `active` before a proctype"),
            );
        }
        self
    }

    /// More than a state can have is an error before anything of that size is made.
    fn check_size(&mut self) {
        let codes = &self.model.codes;
        if codes.len() > usize::from(u16::MAX) {
            let message = format!("there can be at most {} process types and claims", u16::MAX);
            self.diagnostics.push(Diagnostic::global_error(message));
            return;
        }
        let channels = self.model.init.iter().chain(codes.iter().flat_map(|code| &code.init));
        let channels = channels.filter(|init| matches!(init, Init::Channel { .. })).count();
        if channels > MAX_CHANNELS {
            let message = format!("there can be at most {MAX_CHANNELS} channels, here are {channels}");
            self.diagnostics.push(Diagnostic::global_error(message));
        }
        let of_processes = self.model.start.iter().map(|start| u64::from(self.model.code(start.code).slots));
        let values = u64::from(self.model.global_slots) + of_processes.sum::<u64>();
        if values > MAX_STATE {
            let message = format!("a state has {values} values; there is room for {MAX_STATE}");
            self.diagnostics.push(Diagnostic::global_error(message).hint("make the arrays smaller"));
        }
    }

    /// Spin counts the elements of all bodies together, in the order of the text.
    fn order_bodies(&mut self, program: &ast::Program) {
        let is_process = |item: &&Item| matches!(item, Item::Process(_));
        let is_observer = |item: &&Item| matches!(item, Item::Never(_) | Item::Trace(_));
        let mut process = 0..;
        let mut observer = program.items.iter().filter(is_process).count()..;
        let order = program.items.iter().filter_map(|item| match item {
            item if is_process(&item) => process.next(),
            item if is_observer(&item) => observer.next(),
            _ => None,
        });
        self.text_order = order.collect();
    }

    /// Processes may be started before they are defined in the text.
    fn name_processes(&mut self, program: &ast::Program) {
        let processes = program.items.iter().filter_map(|item| match item {
            Item::Process(process) => Some(process),
            _ => None,
        });
        for (number, process) in processes.enumerate() {
            let parameters = process
                .parameters
                .iter()
                .flat_map(|declaration| declaration.variables.iter().map(|_| declaration.ty.clone()))
                .collect();
            let code = CodeId(number as u16);
            let known = ProcessName { code, parameters, span: process.name.span };
            // Spin takes several `init` bodies, each a process of its own.
            let before = self.names.processes.insert(process.name.text.clone(), known);
            if let Some(before) = before.filter(|_| process.kind != ProcessKind::Init) {
                let message = format!("the process `{}` is defined twice", process.name.text);
                self.report(
                    Diagnostic::error(process.name.span, message).label(before.span, "first defined here"),
                );
            }
        }
    }

    fn process(&mut self, process: &ast::Process) {
        let code = CodeId(self.model.codes.len() as u16);
        self.begin_body(code, &process.name.text, None);
        let parameters = self.parameters(process);
        let provided = process.provided.as_ref().map(|clause| self.expression(clause));
        self.lower_body(&process.body, process.end);
        let deterministic = process.kind == ProcessKind::Deterministic;
        let finished = self.finish_body(parameters, provided, deterministic, process.name.span);
        self.model.codes.push(finished);
        let priority = self.priority(process.priority.as_ref());
        let instances = match &process.active {
            _ if process.kind == ProcessKind::Init => 1,
            None => 0,
            Some(None) => 1,
            Some(Some(count)) => match self.constant(count).or_else(|| self.initial_constant(count)) {
                Some(value @ 0..=255) => value,
                Some(value) => {
                    self.error(count.span, format!("there can be 0 to 255 processes, not {value}"));
                    1
                }
                None => {
                    self.error(count.span, "the number of active processes must be a constant");
                    1
                }
            },
        };
        self.model.start.extend((0..instances).map(|_| Start { code, priority }));
        if self.model.start.len() > MAX_PROCESSES {
            self.error(process.name.span, "there can be at most 255 processes");
            self.model.start.truncate(1);
        }
    }

    fn parameters(&mut self, process: &ast::Process) -> Vec<Type> {
        let mut types = Vec::new();
        for declaration in &process.parameters {
            for variable in &declaration.variables {
                let span = variable.name.span;
                if variable.length.is_some() {
                    self.error(span, "a parameter cannot be an array");
                }
                if variable.init.is_some() {
                    self.error(span, "a parameter cannot have an initial value");
                }
                self.shape(&declaration.ty, false, variable.width, span).flat_types(&mut types);
                let initial = self.init().len();
                let bare = ast::Variable { length: None, init: None, width: None, ..variable.clone() };
                self.declaration(&ast::Declaration { variables: vec![bare], ..declaration.clone() });
                // A record begins with what it is given, not with the initial values of its type.
                self.init().truncate(initial);
            }
        }
        types
    }

    pub(super) fn priority(&mut self, priority: Option<&ast::Expr>) -> u8 {
        let Some(expr) = priority else { return 1 };
        self.model.has_priorities = true;
        match self.constant(expr) {
            Some(value @ 1..=255) => value as u8,
            _ => {
                self.error(expr.span, "a priority is a constant from 1 to 255");
                1
            }
        }
    }

    fn begin_body(&mut self, code: CodeId, name: &str, observing: Option<Observing>) {
        self.names.enter_body();
        self.body = Some(Body {
            code,
            name: name.to_string(),
            observing,
            flow: Flow::default(),
            init: Vec::new(),
            variables: Vec::new(),
            slots: 0,
            loops: Vec::new(),
            at_beginning: true,
        });
    }

    fn lower_body(&mut self, stmts: &[Stmt], end: Span) {
        self.flow().open_sequence();
        self.stmts(stmts);
        let stop = self.flow().new_element(ElementKind::Stop, end, "-end-");
        self.flow().push(stop);
    }

    fn finish_body(
        &mut self,
        parameters: Vec<Type>,
        provided: Option<Expr>,
        deterministic: bool,
        span: Span,
    ) -> Code {
        let sequence = self.flow().close_sequence();
        let body = self.body.take().expect("a body is finished after it was begun");
        self.names.leave_body();
        // Whoever may be held back in the middle of an atomic sequence is seen at its jumps, too.
        let held_back = self.survey.priorities || provided.is_some();
        let graph = graph::build(body.flow, sequence, held_back, &mut self.diagnostics, &self.budget);
        self.numbers.push(graph.numbers);
        Code {
            name: body.name,
            kind: if body.observing.is_some() { CodeKind::Observer } else { CodeKind::Process },
            parameters,
            variables: body.variables,
            slots: body.slots,
            init: body.init,
            locations: graph.locations,
            entry: graph.entry,
            provided,
            deterministic,
            labels: graph.labels,
            span,
        }
    }

    pub(super) fn observing(&self) -> Option<Observing> {
        self.body.as_ref()?.observing
    }

    /// Claims, trace assertions and formulas look at everything, so they come last.
    fn observers(&mut self, program: &ast::Program) {
        for item in &program.items {
            match item {
                Item::Never(claim) => {
                    let number = self.model.claims.len();
                    let name =
                        claim.name.as_ref().map_or(format!("never_{number}"), |name| name.text.clone());
                    let code = self.observer(&name, Observing::Claim, &claim.body, (claim.span, claim.end));
                    self.model.claims.push(Claim { name, code, span: claim.span });
                }
                Item::Trace(trace) => {
                    if self.model.trace_assertion.is_some() {
                        self.error(trace.span, "there is more than one trace assertion");
                    }
                    let code =
                        self.observer("trace", Observing::Messages, &trace.body, (trace.span, trace.end));
                    self.model.trace_assertion =
                        Some(TraceAssertion { code, negated: trace.negated, span: trace.span });
                }
                Item::Ltl(ltl) => {
                    let number = self.model.formulas.len();
                    let name = ltl.name.as_ref().map_or(format!("ltl_{number}"), |name| name.text.clone());
                    self.in_formula = true;
                    let formula = self.formula(&ltl.formula);
                    self.in_formula = false;
                    self.model.formulas.push(Formula { name, formula, span: ltl.span });
                }
                _ => {}
            }
        }
    }

    fn observer(
        &mut self,
        name: &str,
        observing: Observing,
        stmts: &[Stmt],
        (span, end): (Span, Span),
    ) -> CodeId {
        let code = CodeId(self.model.codes.len() as u16);
        self.begin_body(code, name, Some(observing));
        self.lower_body(stmts, end);
        let finished = self.finish_body(Vec::new(), None, false, span);
        self.model.codes.push(finished);
        code
    }

    /// `Expr::At` counts the labels that are referred to: they come first in each code's list.
    fn resolve_labels(&mut self) {
        let mut referred: Vec<_> = std::mem::take(&mut self.referred_labels).into_iter().collect();
        referred.sort_by_key(|(code, _)| *code);
        for (code, names) in referred {
            let code = &mut self.model.codes[usize::from(code.0)];
            let mut labels = Vec::new();
            for name in names {
                match code.labels.iter().find(|(label, _)| *label == name.text) {
                    Some(found) => {
                        if found.1 == LocationId::NOWHERE {
                            let message = format!(
                                "`{}` never stands at `{}`: this is always false",
                                code.name, name.text
                            );
                            self.diagnostics.push(Diagnostic::warning(name.span, message));
                        }
                        labels.push(found.clone());
                    }
                    None => {
                        let known = code.labels.iter().map(|(label, _)| label.as_str());
                        let message = format!("`{}` has no place labelled `{}`", code.name, name.text);
                        let mut diagnostic = Diagnostic::error(name.span, message);
                        if let Some(near) = nearest(&name.text, known) {
                            diagnostic = diagnostic.hint(format!("did you mean `{near}`?"));
                        }
                        self.diagnostics.push(diagnostic);
                        labels.push((name.text, LocationId::NOWHERE));
                    }
                }
            }
            labels.append(&mut code.labels);
            code.labels = labels;
        }
    }

    pub(super) fn run(
        &mut self,
        process: &ast::Name,
        args: &[ast::Expr],
        priority: Option<&ast::Expr>,
    ) -> Command {
        let mut values = Vec::new();
        args.iter().for_each(|arg| self.flat_values(arg, &mut values));
        let priority = self.priority(priority);
        let Some(code) = self.process_named(process) else { return Command::SKIP };
        if let Some(known) = self.names.processes.get(&process.text).cloned()
            && self.values_taken(&known.parameters) != values.len()
        {
            let (given, expected) = (values.len(), self.values_taken(&known.parameters));
            self.report(
                Diagnostic::error(process.span, format!("wrong number of arguments for `{}`", process.text))
                    .note(format!("{given} given, {expected} expected"))
                    .label(known.span, "defined here"),
            );
        }
        Command::Run { code, args: values, priority, result: None }
    }

    /// A record takes a value for each of its fields.
    fn values_taken(&self, parameters: &[TypeName]) -> usize {
        let slots = |ty: &TypeName| match ty {
            TypeName::Record(name) => {
                self.names.records.get(&name.text).map_or(1, |record| record.slots as usize)
            }
            _ => 1,
        };
        parameters.iter().map(slots).sum()
    }

    pub(super) fn exclusive(&mut self, receive: bool, channels: &[VarRef]) {
        for reference in channels {
            let channel = self.channel(reference);
            if let Some(body) = &self.body {
                let code = body.code;
                self.model.exclusives.push(Exclusive { code, receive, channel, span: reference.span });
            }
        }
    }
}
