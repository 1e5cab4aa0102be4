//! Which threads there are, if their number is fixed: the one of `main`, and one for each start of each thread.

use super::{MOST_THREADS, Thread};
use crate::ast::{Name, Procedure, Program, Statement, StatementKind};
use crate::check::{ASYNC, each_statement};
use preempt_core::{Diagnostic, Span};
use std::collections::BTreeSet;

const FIXED: &str = "what a step does to all other threads needs their number: write every start for itself, outside of loops, \
                     in `main` or in the procedure that a thread executes";

/// The threads, in the order in which `rewrite` meets their starts: thread by thread, in the order of the text.
pub fn threads<'p>(program: &'p Program, main: &'p Procedure) -> Result<Vec<Thread<'p>>, Vec<Diagnostic>> {
    let called = called(program);
    let mut mistakes = Vec::new();
    let refuse = |span: Span, message: &str| Diagnostic::error(span, message).hint(FIXED);
    for procedure in &program.procedures {
        let repeated = repeated(procedure);
        each_statement(&procedure.body, &mut |statement| {
            if !is_start(statement) {
                return;
            }
            if called.contains(procedure.name.text.as_str()) {
                mistakes.push(refuse(statement.at.0, "this start stands in a procedure that is called"));
            } else if repeated.contains(&statement.at.0) {
                mistakes.push(refuse(statement.at.0, "this start can be repeated"));
            }
        });
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let mut threads = vec![Thread { procedure: main, at: None }];
    let mut next = 0;
    while let Some(thread) = threads.get(next).cloned() {
        next += 1;
        let (first, mut position) = (thread.first(), 0);
        each_statement(&thread.procedure.body, &mut |statement| {
            position += 1;
            if position < first {
                return;
            }
            match &statement.kind {
                StatementKind::StartGoto(label) => {
                    threads.push(Thread { procedure: thread.procedure, at: Some(label) });
                }
                StatementKind::StartCall { procedure, .. } | StatementKind::Call { procedure, .. }
                    if is_start(statement) =>
                {
                    threads.extend(
                        procedure_of(program, procedure).map(|procedure| Thread { procedure, at: None }),
                    );
                }
                _ => {}
            }
        });
        if threads.len() > MOST_THREADS {
            let message = format!("there are more than {MOST_THREADS} threads");
            return Err(vec![refuse(thread.procedure.name.at.0, &message)]);
        }
    }
    Ok(threads)
}

impl Thread<'_> {
    /// The statement with which the thread begins, counted from 1 in the order of the text. Starts before it are not the
    /// thread's: a jump back to them would make them repeated.
    pub fn first(&self) -> usize {
        let (mut position, mut first) = (0, 1);
        each_statement(&self.procedure.body, &mut |statement| {
            position += 1;
            if self.at.is_some_and(|at| statement.labels.iter().any(|label| label.text == at.text)) {
                first = position;
            }
        });
        first
    }
}

pub fn procedure_of<'p>(program: &'p Program, name: &Name) -> Option<&'p Procedure> {
    program.procedures.iter().find(|procedure| procedure.name.text == name.text)
}

/// Does the statement start a thread?
pub fn is_start(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::StartGoto(_) | StatementKind::StartCall { .. } => true,
        StatementKind::Call { .. } => statement.labels.iter().any(|label| label.text.starts_with(ASYNC)),
        _ => false,
    }
}

/// Procedures that somebody calls.
pub fn called(program: &Program) -> BTreeSet<&str> {
    let mut called = BTreeSet::new();
    for procedure in &program.procedures {
        each_statement(&procedure.body, &mut |statement| {
            if let StatementKind::Call { procedure, .. } = &statement.kind
                && !is_start(statement)
            {
                called.insert(procedure.text.as_str());
            }
        });
    }
    called
}

/// Starts that a run of the procedure may come to again: those in a loop, and those that a jump leads back over. Every circle
/// through a statement has a jump from behind it, or from itself, to before it.
fn repeated(procedure: &Procedure) -> Vec<Span> {
    let (mut starts, mut labels, mut jumps, mut repeated) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut position = 0usize;
    each_statement(&procedure.body, &mut |statement| {
        position += 1;
        labels.extend(statement.labels.iter().map(|label| (label.text.as_str(), position)));
        match &statement.kind {
            StatementKind::Goto(targets) => {
                jumps.extend(targets.iter().map(|target| (position, target.text.as_str())));
            }
            StatementKind::While(_, body) => {
                each_statement(body, &mut |inner| {
                    if is_start(inner) {
                        repeated.push(inner.at.0);
                    }
                });
            }
            _ if is_start(statement) => starts.push((position, statement.at.0)),
            _ => {}
        }
    });
    for (position, span) in starts {
        let over = |&(from, target): &(usize, &str)| {
            from >= position && labels.iter().any(|(label, to)| *label == target && *to <= position)
        };
        if jumps.iter().any(over) {
            repeated.push(span);
        }
    }
    repeated
}
