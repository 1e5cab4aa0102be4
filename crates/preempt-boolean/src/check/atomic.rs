//! Atomic blocks: closed in the list of statements that opens them, and left only at their end.

use crate::ast::{Name, Procedure, Statement, StatementKind};
use preempt_core::{Diagnostic, Span};
use std::collections::HashMap;

pub fn check(procedure: &Procedure) -> Vec<Diagnostic> {
    let mut blocks = Blocks::default();
    blocks.list(&procedure.body);
    blocks.jumps();
    blocks.diagnostics
}

#[derive(Default)]
struct Blocks<'p> {
    /// The `atomic_begin` of every block that is open, outermost first.
    open: Vec<Span>,
    labels: HashMap<&'p str, Vec<Span>>,
    jumps: Vec<(&'p Name, Vec<Span>, bool)>,
    diagnostics: Vec<Diagnostic>,
}

impl<'p> Blocks<'p> {
    fn list(&mut self, statements: &'p [Statement]) {
        let outside = self.open.len();
        for statement in statements {
            for label in &statement.labels {
                self.labels.insert(&label.text, self.open.clone());
            }
            let span = statement.at.0;
            match &statement.kind {
                StatementKind::AtomicBegin => self.open.push(span),
                StatementKind::AtomicEnd if self.open.len() > outside => {
                    self.open.pop();
                }
                StatementKind::AtomicEnd => {
                    let error = Diagnostic::error(span, "this `atomic_end` ends nothing that began here");
                    self.diagnostics.push(match self.open.last() {
                        Some(open) => error
                            .label(*open, "this block began outside")
                            .hint("begin and end an atomic block in the same list of statements"),
                        None => error,
                    });
                }
                StatementKind::Return(_) => {
                    if let Some(open) = self.open.last() {
                        let error = Diagnostic::error(span, "this `return` leaves an atomic block");
                        let error = error.label(*open, "which begins here");
                        self.diagnostics
                            .push(error.hint("write atomic_end; before it, or jump to the block's end"));
                    }
                }
                StatementKind::Wait => {
                    if let Some(open) = self.open.last() {
                        let error = Diagnostic::error(
                            span,
                            "this `wait` stands in an atomic block, where nobody can broadcast",
                        );
                        self.diagnostics.push(error.label(*open, "which begins here"));
                    }
                }
                StatementKind::Goto(targets) => {
                    for target in targets {
                        self.jumps.push((target, self.open.clone(), false));
                    }
                }
                StatementKind::StartGoto(target) => self.jumps.push((target, Vec::new(), true)),
                StatementKind::If { branches, otherwise } => {
                    branches.iter().for_each(|(_, body)| self.list(body));
                    otherwise.iter().for_each(|body| self.list(body));
                }
                StatementKind::While(_, body) => self.list(body),
                _ => {}
            }
        }
        while self.open.len() > outside {
            let open = self.open.pop();
            let error = open.map(|open| Diagnostic::error(open, "this atomic block is never ended"));
            let hint = "write atomic_end; in the same list of statements";
            self.diagnostics.extend(error.map(|error| error.hint(hint)));
        }
    }

    fn jumps(&mut self) {
        for (target, from, starts) in std::mem::take(&mut self.jumps) {
            let Some(to) = self.labels.get(target.text.as_str()) else { continue };
            if *to == from {
                continue;
            }
            let left = from.iter().rev().find(|block| !to.contains(block));
            let entered = to.iter().rev().find(|block| !from.contains(block));
            let (what, block) = match (left, entered) {
                (Some(left), _) => ("this jump leaves an atomic block", left),
                (None, Some(entered)) if starts => ("a thread cannot start inside an atomic block", entered),
                (None, Some(entered)) => ("this jump enters an atomic block", entered),
                (None, None) => continue,
            };
            let error = Diagnostic::error(target.at.0, what).label(*block, "the block begins here");
            self.diagnostics.push(error.hint("jump to its atomic_end, or end the block before the jump"));
        }
    }
}
