//! What one thread does to all others at once: `b$` in an assignment is `b` of every other thread (SATABS), `broadcast` lets
//! every thread go on that stands at a `wait` (UCOB, IJIT). `docs/src/boolean.md` says what they mean and where that is written.
//!
//! A step of a model writes shared variables and those of its own thread. So the tree is changed: threads are numbered, every
//! thread gets procedures of its own, and what others may write of it, `b@2` of thread 2, is shared. The changed program is
//! a plain Boolean program, and every engine takes it. It needs to know all threads, so a start that can be repeated is refused.

mod rewrite;
mod starts;

use crate::ast::{Declaration, Expr, ExprKind, Name, Procedure, Program, StatementKind};
use crate::check::each_statement;
use preempt_core::Diagnostic;
use std::collections::BTreeSet;

/// More threads than this are refused.
const MOST_THREADS: usize = 64;

/// What a name means within one thread.
struct Names<'p> {
    program: &'p Program,
    /// What is shared, and a copy for each thread: thread-local variables, and every `b` of which there is a `b$`.
    lifted: BTreeSet<String>,
    /// Does a constraint speak of other threads? Then it must be known which there are.
    constrained: bool,
    /// Does anybody wait?
    waits: bool,
}

/// A thread of the program: the procedure that it executes, and the label at which it begins if that is not the beginning.
#[derive(Clone)]
struct Thread<'p> {
    procedure: &'p Procedure,
    at: Option<&'p Name>,
}

/// Does the program do anything to other threads?
pub(crate) fn are_meant(program: &Program) -> bool {
    let mut meant = false;
    each_name(program, &mut |name, declared| meant |= name.ends_with('$') && !declared);
    let bodies = program.procedures.iter().map(|procedure| &procedure.body);
    bodies.for_each(|body| {
        each_statement(body, &mut |statement| {
            meant |= matches!(statement.kind, StatementKind::Wait | StatementKind::Broadcast);
        });
    });
    meant
}

/// The same program with a copy of everything for each thread, so that no step does anything to other threads.
pub(crate) fn separate(program: &Program) -> Result<Program, Vec<Diagnostic>> {
    let names = Names::of(program)?;
    let Some(main) = program.procedures.iter().find(|procedure| procedure.name.text == "main") else {
        return Err(Vec::new());
    };
    let threads = starts::threads(program, main)?;
    let mut result = Program::default();
    for global in program.globals.iter().filter(|global| !global.thread_local) {
        result.globals.push(global.clone());
    }
    for number in 0..threads.len() {
        for name in &names.lifted {
            // Whoever starts a thread gives it its values.
            let first = |value: Option<Expr>| if number == 0 { value } else { Some(Expr::constant(false)) };
            let value = first(names.first_value(name, main));
            result.globals.push(shared(name, number, value));
        }
        if names.constrained {
            result.globals.push(shared(STARTED, number, Some(Expr::constant(number == 0))));
        }
        if names.waits {
            result.globals.push(shared(WAITING, number, Some(Expr::constant(false))));
        }
    }
    rewrite::procedures(&names, &threads, &mut result);
    Ok(result)
}

/// Says of a thread that it exists, and that it waits. No text has such a name.
const STARTED: &str = "started";
const WAITING: &str = "waiting";

/// `b` of a thread.
fn of_thread(name: &str, thread: usize) -> String {
    format!("{name}@{thread}")
}

fn shared(name: &str, thread: usize, value: Option<Expr>) -> Declaration {
    Declaration { name: Name::new(of_thread(name, thread)), thread_local: false, value }
}

impl<'p> Names<'p> {
    fn of(program: &'p Program) -> Result<Names<'p>, Vec<Diagnostic>> {
        let mut lifted: BTreeSet<String> = BTreeSet::new();
        let own = program.globals.iter().filter(|global| global.thread_local);
        lifted.extend(own.map(|global| global.name.text.clone()));
        each_name(program, &mut |name, declared| {
            if let Some(own) = name.strip_suffix('$').filter(|_| !declared) {
                lifted.insert(own.to_string());
            }
        });
        let (mut constrained, mut waits) = (false, false);
        for procedure in &program.procedures {
            each_statement(&procedure.body, &mut |statement| match &statement.kind {
                StatementKind::Assign { constrain: Some(constraint), .. } => {
                    constrained |= of_others(constraint);
                }
                StatementKind::Wait | StatementKind::Broadcast => waits = true,
                _ => {}
            });
        }
        let names = Names { program, lifted, constrained, waits };
        let mistakes = names.mistakes();
        if mistakes.is_empty() { Ok(names) } else { Err(mistakes) }
    }

    /// A thread has one `b` that others can mean: not one for each call, and not one that a caller gives.
    fn mistakes(&self) -> Vec<Diagnostic> {
        let mut mistakes = Vec::new();
        let called = starts::called(self.program);
        for global in self.program.globals.iter().filter(|global| !global.thread_local) {
            if self.lifted.contains(&global.name.text) {
                let name = &global.name.text;
                let message =
                    format!("`{name}$` would mean `{name}` of other threads, but `{name}` is shared by all");
                let hint = "declare it thread_local, or as a local";
                mistakes.push(Diagnostic::error(global.name.at.0, message).hint(hint));
            }
        }
        for procedure in &self.program.procedures {
            for name in procedure.parameters.iter().filter(|name| self.lifted.contains(&name.text)) {
                let message = format!("`{}$` would mean a parameter of other threads", name.text);
                mistakes.push(Diagnostic::error(name.at.0, message).hint("copy it to a local first"));
            }
            for local in procedure.locals.iter().filter(|local| self.lifted.contains(&local.name.text)) {
                let name = &local.name;
                if called.contains(procedure.name.text.as_str()) {
                    let message = format!(
                        "`{}$` would mean a local of a procedure that is called, of which a thread may have several",
                        name.text
                    );
                    mistakes.push(Diagnostic::error(name.at.0, message).hint("declare it thread_local"));
                }
                if local
                    .value
                    .as_ref()
                    .is_some_and(|value| !matches!(value.kind, ExprKind::Constant(_) | ExprKind::Any))
                {
                    let message = format!(
                        "`{}`, which other threads write, can begin with 0, 1 or `*` only",
                        name.text
                    );
                    mistakes.push(Diagnostic::error(name.at.0, message));
                }
            }
        }
        mistakes
    }

    /// What a variable begins with in a thread that executes this procedure; `None` for any value.
    fn first_value(&self, name: &str, procedure: &Procedure) -> Option<Expr> {
        let local = procedure.locals.iter().find(|local| local.name.text == name);
        let declared = local.or_else(|| self.program.globals.iter().find(|global| global.name.text == name));
        declared.and_then(|declared| declared.value.clone())
    }
}

/// Does an expression speak of other threads? Names are checked: what ends with `$` and is declared so has been excluded.
fn of_others(expr: &Expr) -> bool {
    let mut others = false;
    expr.visit(&mut |inner| {
        if let ExprKind::Variable(name) | ExprKind::Primed(name) = &inner.kind {
            others |= name.ends_with('$');
        }
    });
    others
}

/// Every name of a variable in assignments, and whether it is declared as it stands.
fn each_name(program: &Program, visit: &mut dyn FnMut(&str, bool)) {
    let globals: BTreeSet<&str> = program.globals.iter().map(|global| global.name.text.as_str()).collect();
    for procedure in &program.procedures {
        let locals = procedure.locals.iter().map(|local| &local.name).chain(&procedure.parameters);
        let locals: BTreeSet<&str> = locals.map(|name| name.text.as_str()).collect();
        let mut name = |name: &str| visit(name, globals.contains(name) || locals.contains(name));
        each_statement(&procedure.body, &mut |statement| {
            if let StatementKind::Assign { targets, values, constrain } = &statement.kind {
                targets.iter().for_each(|target| name(&target.text));
                values.iter().chain(constrain).for_each(|value| {
                    value.visit(&mut |inner| {
                        if let ExprKind::Variable(variable) | ExprKind::Primed(variable) = &inner.kind {
                            name(variable);
                        }
                    });
                });
            }
        });
    }
}
