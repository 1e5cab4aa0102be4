//! What a program must be besides well written: names are declared, calls fit, jumps have a target, and atomic blocks
//! ([`atomic`]) are left where they end.

mod atomic;

use crate::BooleanOptions;
use crate::ast::{Expr, ExprKind, Name, Procedure, Program, Statement, StatementKind};
use preempt_core::diagnostic::nearest;
use preempt_core::{Diagnostic, Span};
use std::collections::{HashMap, HashSet};

/// A label with this prefix turns the call behind it into the start of a thread.
pub const ASYNC: &str = "ASYNC_";

/// Everything that is wrong, in the order of the text.
pub fn check(program: &Program, options: &BooleanOptions) -> Vec<Diagnostic> {
    let mut globals = HashMap::new();
    let mut procedures = HashMap::new();
    let mut diagnostics = Vec::new();
    for global in &program.globals {
        declare(&mut globals, &global.name, "variable", &mut diagnostics);
    }
    for procedure in &program.procedures {
        if procedures.contains_key(procedure.name.text.as_str()) {
            let message = format!("there are two procedures `{}`", procedure.name.text);
            diagnostics.push(Diagnostic::error(procedure.name.at.0, message));
        }
        procedures.insert(procedure.name.text.as_str(), procedure);
    }
    for global in &program.globals {
        let constant = global
            .value
            .as_ref()
            .is_none_or(|value| matches!(value.kind, ExprKind::Constant(_) | ExprKind::Any));
        if !constant {
            let message = format!("`{}` can begin with 0, 1 or `*` only", global.name.text);
            diagnostics.push(
                Diagnostic::error(global.name.at.0, message).hint("assign it at the beginning of `main`"),
            );
        }
    }
    if !procedures.contains_key("main") {
        diagnostics.push(no_main(program));
    }
    let mut labelled = false;
    for procedure in &program.procedures {
        let mut check = Check::new(procedure, &globals, &procedures);
        check.procedure();
        diagnostics.extend(atomic::check(procedure));
        labelled |= check.labels.keys().any(|label| options.is_error_label(label));
        diagnostics.extend(check.diagnostics);
    }
    if let (false, Some(label)) = (labelled, &options.error_label) {
        let message = format!("no statement has the label `{label}`");
        diagnostics.push(Diagnostic {
            severity: preempt_core::Severity::Warning,
            ..Diagnostic::global_error(message)
        });
    }
    diagnostics
}

/// A concurrent program for GETAFIX has no `main` either: its driver is given which procedures are threads, and keeps them
/// apart by two variables whose meaning lies in that driver.
fn no_main(program: &Program) -> Diagnostic {
    let named = |number: usize, name: &str| {
        program.globals.get(number).is_some_and(|global| global.name.text == name)
    };
    let first = program.procedures.first().filter(|first| first.name.text == "init");
    match first.filter(|_| named(0, "super_atomic") && named(1, "atomic")) {
        Some(init) => {
            let message =
                "GETAFIX's threads, which a file does not name, are not supported: there is no `main`";
            let hint =
                "write void main() begin init(); start_thread f(); g(); end, and atomic blocks for `atomic`";
            Diagnostic::error(init.name.at.0, message).hint(hint)
        }
        None => {
            let error = Diagnostic::global_error("there is no procedure `main`, where the program begins");
            error.hint("write void main() begin ... end; threads are started by start_thread f();")
        }
    }
}

fn declare<'p>(
    names: &mut HashMap<&'p str, Span>,
    name: &'p Name,
    what: &str,
    diagnostics: &mut Vec<Diagnostic>,
) {
    if name.is_nowhere() {
        diagnostics.push(Diagnostic::error(name.at.0, "`_` is no name: it is the target that keeps nothing"));
    }
    if let Some(before) = names.insert(&name.text, name.at.0) {
        let message = format!("the {what} `{}` is declared twice", name.text);
        diagnostics.push(Diagnostic::error(name.at.0, message).label(before, "declared here"));
    }
}

struct Check<'p> {
    procedure: &'p Procedure,
    globals: &'p HashMap<&'p str, Span>,
    procedures: &'p HashMap<&'p str, &'p Procedure>,
    locals: HashMap<&'p str, Span>,
    /// Each label with the places of the statements that have it.
    labels: HashMap<&'p str, Vec<Span>>,
    /// Only here `b$` has a meaning.
    assigning: bool,
    diagnostics: Vec<Diagnostic>,
}

impl<'p> Check<'p> {
    fn new(
        procedure: &'p Procedure,
        globals: &'p HashMap<&'p str, Span>,
        procedures: &'p HashMap<&'p str, &'p Procedure>,
    ) -> Check<'p> {
        let (locals, labels, diagnostics) = (HashMap::new(), HashMap::new(), Vec::new());
        Check { procedure, globals, procedures, locals, labels, assigning: false, diagnostics }
    }

    fn procedure(&mut self) {
        let procedure = self.procedure;
        for parameter in &procedure.parameters {
            declare(&mut self.locals, parameter, "parameter", &mut self.diagnostics);
        }
        for local in &procedure.locals {
            declare(&mut self.locals, &local.name, "variable", &mut self.diagnostics);
        }
        for value in procedure.locals.iter().filter_map(|local| local.value.as_ref()) {
            self.expr(value, false);
        }
        for clause in procedure.enforce.iter().chain(&procedure.abort_if) {
            self.expr(clause, false);
        }
        each_statement(&procedure.body, &mut |statement| {
            // Emitters repeat a label on one statement; that is no harm.
            let here: HashSet<&str> = statement.labels.iter().map(|label| label.text.as_str()).collect();
            for label in here {
                self.labels.entry(label).or_default().push(statement.at.0);
            }
        });
        each_statement(&procedure.body, &mut |statement| self.statement(statement));
    }

    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(span, message));
    }

    fn statement(&mut self, statement: &'p Statement) {
        let span = statement.at.0;
        match &statement.kind {
            StatementKind::Skip
            | StatementKind::EndThread
            | StatementKind::AtomicBegin
            | StatementKind::AtomicEnd
            | StatementKind::Wait
            | StatementKind::Broadcast => {}
            StatementKind::Assign { targets, values, constrain } => {
                self.assigning = true;
                self.targets(targets);
                self.exprs(values);
                if let Some(constrain) = constrain {
                    self.expr(constrain, true);
                }
                self.assigning = false;
                for (target, value) in targets.iter().zip(values) {
                    if !self.is_of_others(&target.text) {
                        self.of_one(target, value);
                    }
                }
                if targets.len() != values.len() {
                    let (variables, values) =
                        (count(targets.len(), "variable"), count(values.len(), "value"));
                    self.error(span, format!("{variables} for {values}"));
                }
            }
            StatementKind::Call { targets, procedure, arguments } => {
                self.targets(targets);
                let called = self.call(procedure, arguments);
                let starts = statement.labels.iter().find(|label| label.text.starts_with(ASYNC));
                match (called, starts) {
                    (_, Some(label)) if !targets.is_empty() => {
                        let error =
                            Diagnostic::error(span, "a thread returns nothing to the one that starts it");
                        let text = format!("`{ASYNC}` labels turn a call into the start of a thread");
                        self.diagnostics.push(error.label(label.at.0, text));
                    }
                    // Results that nobody wants may be left out altogether.
                    (Some(called), None) if !targets.is_empty() && targets.len() != called.results => {
                        let returned = count(called.results, "value");
                        let targets = here(targets.len(), "variable");
                        let message = format!("`{}` returns {returned}, {targets}", procedure.text);
                        let error = Diagnostic::error(span, message).label(called.name.at.0, "defined here");
                        self.diagnostics.push(error.hint("the target `_` takes a value that nobody needs"));
                    }
                    _ => {}
                }
            }
            StatementKind::Return(values) => {
                self.exprs(values);
                let expected = self.procedure.results;
                if values.len() != expected {
                    let message = format!(
                        "`{}` returns {}, {}",
                        self.procedure.name.text,
                        count(expected, "value"),
                        here(values.len(), "value")
                    );
                    let error = Diagnostic::error(span, message);
                    self.diagnostics.push(error.label(self.procedure.name.at.0, "defined here"));
                }
            }
            StatementKind::Goto(targets) => targets.iter().for_each(|target| self.jump(target)),
            StatementKind::If { branches, .. } => {
                branches.iter().for_each(|(condition, _)| self.expr(condition, false));
            }
            StatementKind::While(condition, _)
            | StatementKind::Assume(condition)
            | StatementKind::Assert(condition) => self.expr(condition, false),
            StatementKind::Dead(targets) => self.targets(targets),
            StatementKind::Print(values) => self.exprs(values),
            StatementKind::StartCall { procedure, arguments } => {
                self.call(procedure, arguments);
            }
            StatementKind::StartGoto(target) => self.jump(target),
        }
    }

    fn targets(&mut self, targets: &'p [Name]) {
        let mut met = HashSet::new();
        for target in targets.iter().filter(|target| !target.is_nowhere()) {
            self.variable(&target.text, target.at.0);
            if !met.insert(&target.text) {
                self.error(target.at.0, format!("`{}` is assigned twice at once", target.text));
            }
        }
    }

    fn call(&mut self, name: &'p Name, arguments: &'p [Expr]) -> Option<&'p Procedure> {
        self.exprs(arguments);
        let Some(called) = self.procedures.get(name.text.as_str()).copied() else {
            let error = Diagnostic::error(name.at.0, format!("there is no procedure `{}`", name.text));
            let near = nearest(&name.text, self.procedures.keys().copied());
            self.diagnostics.push(match near {
                Some(near) => error.hint(format!("did you mean `{near}`?")),
                None => error,
            });
            return None;
        };
        if called.parameters.len() != arguments.len() {
            let expected = count(called.parameters.len(), "parameter");
            let given = here(arguments.len(), "argument");
            let error = Diagnostic::error(name.at.0, format!("`{}` has {expected}, {given}", name.text));
            self.diagnostics.push(error.label(called.name.at.0, "defined here"));
        }
        Some(called)
    }

    fn jump(&mut self, target: &'p Name) {
        match self.labels.get(target.text.as_str()).map(Vec::as_slice) {
            Some([_]) => {}
            Some(places) => {
                let message = format!("two statements have the label `{}`", target.text);
                let mut error = Diagnostic::error(target.at.0, message);
                for place in places {
                    error = error.label(*place, "this one");
                }
                self.diagnostics.push(error);
            }
            None => {
                let name = &self.procedure.name.text;
                let error = Diagnostic::error(
                    target.at.0,
                    format!("there is no label `{}` in `{name}`", target.text),
                );
                let near = nearest(&target.text, self.labels.keys().copied());
                self.diagnostics.push(match near {
                    Some(near) => error.hint(format!("did you mean `{near}`?")),
                    None => error,
                });
            }
        }
    }

    fn exprs(&mut self, exprs: &'p [Expr]) {
        exprs.iter().for_each(|expr| self.expr(expr, false));
    }

    fn expr(&mut self, expr: &'p Expr, constrains: bool) {
        expr.visit(&mut |inner| match &inner.kind {
            ExprKind::Variable(name) => self.variable(name, inner.at.0),
            ExprKind::Primed(name) => {
                self.variable(name, inner.at.0);
                if !constrains {
                    let error =
                        Diagnostic::error(inner.at.0, "a value after the step, where there is no step");
                    self.diagnostics.push(error.hint("`'x` has a meaning only behind `constrain`"));
                }
            }
            _ => {}
        });
    }

    /// `b$`, where `b` is declared and `b$` is not: what the other threads have under this name.
    fn is_of_others(&self, name: &str) -> bool {
        let declared = |name: &str| self.locals.contains_key(name) || self.globals.contains_key(name);
        !declared(name) && name.strip_suffix('$').is_some_and(declared)
    }

    /// Which of the others would a value for this thread come from?
    fn of_one(&mut self, target: &Name, value: &Expr) {
        value.visit(&mut |inner| {
            if let ExprKind::Variable(name) = &inner.kind
                && self.is_of_others(name)
            {
                let message = format!(
                    "`{name}` is a value of every other thread, and `{}` is one variable",
                    target.text
                );
                let error = Diagnostic::error(inner.at.0, message);
                self.diagnostics.push(error.hint(format!("only `{}$` can take it", target.text)));
            }
        });
    }

    fn variable(&mut self, name: &str, span: Span) {
        if self.locals.contains_key(name) || self.globals.contains_key(name) {
            return;
        }
        if self.is_of_others(name) {
            if !self.assigning {
                let message = format!(
                    "`{name}`, which is `{}` of every other thread, stands here",
                    name.trim_end_matches('$')
                );
                let error = Diagnostic::error(span, message);
                self.diagnostics
                    .push(error.hint("it has a meaning in assignments and behind `constrain` only"));
            }
            return;
        }
        if name == "_" {
            return self.error(span, "`_` has no value: it is the target that keeps nothing");
        }
        let error = Diagnostic::error(span, format!("`{name}` is not declared"));
        let near = nearest(name, self.locals.keys().chain(self.globals.keys()).copied());
        self.diagnostics.push(match (name, near) {
            ("true" | "TRUE" | "True", _) => error.hint("write T or 1"),
            ("false" | "FALSE" | "False", _) => error.hint("write F or 0"),
            (_, Some(near)) => error.hint(format!("did you mean `{near}`?")),
            _ if self.procedures.contains_key(name) => {
                error.hint(format!("to call the procedure, write {name}()"))
            }
            _ => error,
        });
    }
}

fn count(number: usize, what: &str) -> String {
    match number {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}

/// `here is 1 value`
fn here(number: usize, what: &str) -> String {
    format!("here {} {}", if number == 1 { "is" } else { "are" }, count(number, what))
}

/// Calls `visit` for every statement, also for those inside others.
pub fn each_statement<'p>(statements: &'p [Statement], visit: &mut dyn FnMut(&'p Statement)) {
    for statement in statements {
        visit(statement);
        match &statement.kind {
            StatementKind::If { branches, otherwise } => {
                branches.iter().for_each(|(_, body)| each_statement(body, visit));
                otherwise.iter().for_each(|body| each_statement(body, visit));
            }
            StatementKind::While(_, body) => each_statement(body, visit),
            _ => {}
        }
    }
}
