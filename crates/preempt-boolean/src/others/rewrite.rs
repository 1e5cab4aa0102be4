//! The procedures of each thread, in which names of others are names of shared variables.

use super::starts::{is_start, procedure_of};
use super::{Names, STARTED, Thread, WAITING, of_others, of_thread};
use crate::ast::{Declaration, Expr, ExprKind, Name, Operator, Procedure, Program, Statement, StatementKind};
use std::collections::BTreeSet;

/// Adds every thread's procedures to the program. Threads are started in the order of their numbers.
pub fn procedures<'p>(names: &Names<'p>, threads: &[Thread<'p>], result: &mut Program) {
    let mut next = 1;
    for (number, thread) in threads.iter().enumerate() {
        let wanted = vec![thread.procedure];
        let mut rewriting =
            Rewriting { names, threads, number, next, first: thread.first(), position: 0, wanted };
        let mut done = 0;
        while let Some(procedure) = rewriting.wanted.get(done).copied() {
            let at = if done == 0 { thread.at } else { None };
            result.procedures.push(rewriting.procedure(procedure, at));
            done += 1;
        }
        next = rewriting.next;
    }
}

struct Rewriting<'r, 'p> {
    names: &'r Names<'p>,
    threads: &'r [Thread<'p>],
    /// Of this thread.
    number: usize,
    /// Of the thread that is started next.
    next: usize,
    /// The statement of its own procedure with which it begins, and the one that is looked at, counted in the order of the text.
    first: usize,
    position: usize,
    /// The thread's own procedure, then those that it calls.
    wanted: Vec<&'p Procedure>,
}

/// Whose variables are meant by `b` and `b$`.
#[derive(Clone, Copy)]
struct Meant {
    own: usize,
    other: Option<usize>,
}

impl<'p> Rewriting<'_, 'p> {
    fn procedure(&mut self, procedure: &'p Procedure, at: Option<&Name>) -> Procedure {
        let lifted = |name: &Name| self.names.lifted.contains(&name.text);
        let locals = procedure.locals.iter().filter(|local| !lifted(&local.name));
        let mut result = Procedure { name: self.called(&procedure.name), ..procedure.clone() };
        // Who begins at a label has a copy of the locals.
        let copied = locals.clone().filter(|_| at.is_some()).map(|local| local.name.clone());
        result.parameters.extend(copied);
        let own = |local: &Declaration| Declaration {
            value: local.value.as_ref().map(|value| self.own(value)),
            ..local.clone()
        };
        result.locals = locals.clone().filter(|_| at.is_none()).map(own).collect();
        result.enforce = procedure.enforce.as_ref().map(|clause| self.own(clause));
        result.abort_if = procedure.abort_if.as_ref().map(|clause| self.own(clause));
        result.body = self.statements(&procedure.body, procedure);
        if let Some(label) = at {
            let jump = Statement {
                labels: Vec::new(),
                kind: StatementKind::Goto(vec![label.clone()]),
                at: label.at,
            };
            result.body.insert(0, jump);
        }
        result
    }

    /// This thread's copy of a procedure.
    fn called(&self, name: &Name) -> Name {
        named(name, self.number)
    }

    fn statements(&mut self, statements: &'p [Statement], within: &'p Procedure) -> Vec<Statement> {
        let mut result = Vec::new();
        for statement in statements {
            self.position += 1;
            if is_start(statement) && self.position < self.first {
                result.push(Statement { kind: StatementKind::Skip, ..statement.clone() });
            } else if is_start(statement) {
                result.extend(self.start(statement, within));
            } else if statement.kind == StatementKind::Wait {
                result.extend(self.wait(statement));
            } else {
                let kind = self.kind(&statement.kind, within);
                result.push(Statement { kind, ..statement.clone() });
            }
        }
        result
    }

    fn kind(&mut self, kind: &'p StatementKind, within: &'p Procedure) -> StatementKind {
        match kind {
            StatementKind::Assign { targets, values, constrain } => {
                self.assign(targets, values, constrain.as_ref())
            }
            StatementKind::Call { targets, procedure, arguments } => {
                if let Some(called) = procedure_of(self.names.program, procedure)
                    && !self.wanted.iter().any(|known| known.name.text == called.name.text)
                {
                    self.wanted.push(called);
                }
                StatementKind::Call {
                    targets: targets.iter().map(|target| self.target(target, None)).collect(),
                    procedure: self.called(procedure),
                    arguments: self.all(arguments),
                }
            }
            StatementKind::Return(values) => StatementKind::Return(self.all(values)),
            StatementKind::If { branches, otherwise } => StatementKind::If {
                branches: branches
                    .iter()
                    .map(|(condition, body)| (self.own(condition), self.statements(body, within)))
                    .collect(),
                otherwise: otherwise.as_ref().map(|body| self.statements(body, within)),
            },
            StatementKind::While(condition, body) => {
                StatementKind::While(self.own(condition), self.statements(body, within))
            }
            StatementKind::Assume(condition) => StatementKind::Assume(self.own(condition)),
            StatementKind::Assert(condition) => StatementKind::Assert(self.own(condition)),
            StatementKind::Dead(targets) => {
                StatementKind::Dead(targets.iter().map(|target| self.target(target, None)).collect())
            }
            StatementKind::Print(values) => StatementKind::Print(self.all(values)),
            StatementKind::Broadcast if self.threads.len() == 1 => StatementKind::Skip,
            StatementKind::Broadcast => StatementKind::Assign {
                targets: self.others().map(|other| Name::new(of_thread(WAITING, other))).collect(),
                values: self.others().map(|_| Expr::constant(false)).collect(),
                constrain: None,
            },
            other => other.clone(),
        }
    }

    /// `b, b$ := e, f`: `b` of this thread, and of each other thread with values of its own.
    fn assign(&self, targets: &[Name], values: &[Expr], constrain: Option<&Expr>) -> StatementKind {
        let (mut all_targets, mut all_values) = (Vec::new(), Vec::new());
        for (target, value) in targets.iter().zip(values) {
            if !self.is_of_others(&target.text) {
                all_targets.push(self.target(target, None));
                all_values.push(self.own(value));
                continue;
            }
            for other in self.others() {
                all_targets.push(self.target(target, Some(other)));
                all_values.push(renamed(value, self.names, self.with(Some(other))));
            }
        }
        let mut clauses = Vec::new();
        for clause in constrain.into_iter().flat_map(conjuncts) {
            if !of_others(clause) {
                clauses.push(self.own(clause));
                continue;
            }
            for other in self.others() {
                let clause = renamed(clause, self.names, self.with(Some(other)));
                let exists = Expr::variable(of_thread(STARTED, other));
                clauses.push(Expr::binary(Operator::Implies, exists, clause));
            }
        }
        let constrain = clauses.into_iter().reduce(|left, right| Expr::binary(Operator::And, left, right));
        if all_targets.is_empty() && constrain.is_none() {
            return StatementKind::Skip;
        }
        StatementKind::Assign { targets: all_targets, values: all_values, constrain }
    }

    /// The new thread gets its variables from the one that starts it, before anybody else can move.
    fn start(&mut self, statement: &'p Statement, within: &'p Procedure) -> Vec<Statement> {
        let number = self.next;
        self.next += 1;
        let Some(thread) = self.threads.get(number) else { return Vec::new() };
        let goes_on = thread.at.is_some();
        let (mut targets, mut values) = (Vec::new(), Vec::new());
        for name in &self.names.lifted {
            targets.push(Name::new(of_thread(name, number)));
            values.push(match goes_on {
                true => Expr::variable(of_thread(name, self.number)),
                false => self.names.first_value(name, thread.procedure).unwrap_or_else(Expr::any),
            });
        }
        if self.names.constrained {
            targets.push(Name::new(of_thread(STARTED, number)));
            values.push(Expr::constant(true));
        }
        let arguments = match &statement.kind {
            StatementKind::StartCall { arguments, .. } | StatementKind::Call { arguments, .. } => {
                self.all(arguments)
            }
            _ => {
                let lifted: BTreeSet<&String> = self.names.lifted.iter().collect();
                let locals = within.locals.iter().map(|local| &local.name);
                let names = within.parameters.iter().chain(locals);
                names
                    .filter(|name| !lifted.contains(&name.text))
                    .map(|name| Expr::variable(&*name.text))
                    .collect()
            }
        };
        let procedure = named(&thread.procedure.name, number);
        let at = statement.at;
        let plain = |kind| Statement { labels: Vec::new(), kind, at };
        let labels = statement.labels.iter().filter(|label| !label.text.starts_with(crate::check::ASYNC));
        let labels = labels.cloned().collect();
        let start = StatementKind::StartCall { procedure, arguments };
        if targets.is_empty() {
            return vec![Statement { labels, kind: start, at }];
        }
        vec![
            Statement { labels, kind: StatementKind::AtomicBegin, at },
            plain(StatementKind::Assign { targets, values, constrain: None }),
            plain(start),
            plain(StatementKind::AtomicEnd),
        ]
    }

    /// One step says that the thread waits, and another goes on. Between them and before them others may run; but a thread that
    /// has not said it yet is no different from one that was woken and has not gone on.
    fn wait(&self, statement: &Statement) -> [Statement; 2] {
        let waiting = of_thread(WAITING, self.number);
        let says = StatementKind::Assign {
            targets: vec![Name::new(waiting.clone())],
            values: vec![Expr::constant(true)],
            constrain: None,
        };
        let goes_on = StatementKind::Assume(Expr::variable(waiting).negated());
        let after = Statement { labels: Vec::new(), kind: goes_on, at: statement.at };
        [Statement { kind: says, ..statement.clone() }, after]
    }

    fn others(&self) -> impl Iterator<Item = usize> + use<'_, 'p> {
        (0..self.threads.len()).filter(|other| *other != self.number)
    }

    fn is_of_others(&self, name: &str) -> bool {
        name.strip_suffix('$').is_some_and(|own| self.names.lifted.contains(own))
    }

    fn with(&self, other: Option<usize>) -> Meant {
        Meant { own: self.number, other }
    }

    fn own(&self, expr: &Expr) -> Expr {
        renamed(expr, self.names, self.with(None))
    }

    fn all(&self, exprs: &[Expr]) -> Vec<Expr> {
        exprs.iter().map(|expr| self.own(expr)).collect()
    }

    fn target(&self, name: &Name, other: Option<usize>) -> Name {
        Name { text: meant(&name.text, self.names, self.with(other)), ..name.clone() }
    }
}

/// `main` stays `main`.
fn named(name: &Name, thread: usize) -> Name {
    let text = if thread == 0 { name.text.clone() } else { of_thread(&name.text, thread) };
    Name { text, ..name.clone() }
}

/// The parts of a conjunction.
fn conjuncts(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Binary(Operator::And, left, right) => [conjuncts(left), conjuncts(right)].concat(),
        _ => vec![expr],
    }
}

fn meant(name: &str, names: &Names<'_>, meant: Meant) -> String {
    if names.lifted.contains(name) {
        return of_thread(name, meant.own);
    }
    match (name.strip_suffix('$'), meant.other) {
        (Some(own), Some(other)) if names.lifted.contains(own) => of_thread(own, other),
        _ => name.to_string(),
    }
}

fn renamed(expr: &Expr, names: &Names<'_>, whose: Meant) -> Expr {
    let inner = |expr: &Expr| Box::new(renamed(expr, names, whose));
    let kind = match &expr.kind {
        ExprKind::Variable(name) => ExprKind::Variable(meant(name, names, whose)),
        ExprKind::Primed(name) => ExprKind::Primed(meant(name, names, whose)),
        ExprKind::Not(operand) => ExprKind::Not(inner(operand)),
        ExprKind::Binary(operator, left, right) => ExprKind::Binary(*operator, inner(left), inner(right)),
        ExprKind::Choose(left, right) => ExprKind::Choose(inner(left), inner(right)),
        ExprKind::Conditional(condition, then, otherwise) => {
            ExprKind::Conditional(inner(condition), inner(then), inner(otherwise))
        }
        kind @ (ExprKind::Constant(_) | ExprKind::Any) => kind.clone(),
    };
    Expr { kind, at: expr.at }
}
