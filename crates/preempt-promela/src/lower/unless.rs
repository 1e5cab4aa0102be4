//! `unless`: a sequence, and the escape that interrupts it at every step.
//!
//! Where labels and blocks stand decides which elements Spin makes and in which order it counts them, which the numbers of
//! trails depend on.

use super::Lowering;
use super::flow::{ElementKind, SequenceId};
use crate::ast::{Name, Stmt, StmtKind};
use preempt_core::{Diagnostic, Span};

impl Lowering {
    pub(super) fn unless(&mut self, labels: &[Name], main: &Stmt, escape: &Stmt, span: Span) {
        let outer_scope = self.names.scope_path();
        let labels: Vec<Name> = labels.iter().chain(&main.labels).cloned().collect();
        let main_is_block =
            matches!(main.kind, StmtKind::Block { .. } | StmtKind::Atomic(_) | StmtKind::DStep(_));
        let plain_block = matches!(main.kind, StmtKind::Block { .. });
        if !labels.is_empty() && main_is_block {
            // The label is lifted to a block of the same kind around the whole.
            self.flow().open_sequence();
            self.flow().miscounted |= matches!(main.kind, StmtKind::DStep(_));
            let main = self.unlabelled_main(main);
            let escape = self.escape_sequence(escape);
            self.flow().push_unless(main, escape, span);
            let wrapped = self.flow().close_sequence();
            let element = self.flow().new_element(ElementKind::Block(wrapped), span, "unless");
            self.label(&labels, element, outer_scope);
            self.flow().push(element);
        } else {
            if let Some(label) = labels.first() {
                self.report(
                    Diagnostic::error(label.span, "a label cannot stand on the first half of `unless`")
                        .hint(format!("write `{}: {{ ... unless ... }}`", label.text)),
                );
            }
            let own = elements_made_last(main);
            self.flow().miscounted |= own.is_none() || elements_made_last(escape).is_none();
            let main = if plain_block { self.unlabelled_main(main) } else { self.wrapped(main) };
            let behind = self.flow().elements.len();
            let escape = self.escape_sequence(escape);
            if !plain_block {
                self.flow().count_later(own.unwrap_or(0), behind);
            }
            self.flow().push_unless(main, escape, span);
        }
        self.begin_steps();
    }

    /// The sequence inside a block; an atomic or deterministic one is marked as such.
    fn unlabelled_main(&mut self, main: &Stmt) -> SequenceId {
        match &main.kind {
            StmtKind::Block { body, .. } => self.block_sequence(body, main.span, "a block"),
            StmtKind::Atomic(body) => {
                let sequence = self.block_sequence(body, main.span, "an atomic sequence");
                self.flow().make_atomic(sequence, false);
                sequence
            }
            _ => self.wrapped(main),
        }
    }

    fn escape_sequence(&mut self, escape: &Stmt) -> SequenceId {
        if let Some(label) = escape.labels.first() {
            self.report(
                Diagnostic::error(label.span, "a label cannot stand at the beginning of an escape")
                    .hint("the guard of an escape is not a place where the process stands"),
            );
        }
        match &escape.kind {
            StmtKind::Block { body, .. } => self.block_sequence(body, escape.span, "an escape"),
            _ => self.wrapped(escape),
        }
    }

    /// A sequence with this one statement, its labels left out.
    fn wrapped(&mut self, stmt: &Stmt) -> SequenceId {
        self.flow().open_sequence();
        let bare = Stmt { labels: Vec::new(), ..stmt.clone() };
        self.stmt(&bare);
        self.close(stmt.span, "`unless`")
    }
}

/// How many elements Spin makes for the statement itself, after those of the statements in it. `None` where it puts
/// some of them elsewhere.
fn elements_made_last(stmt: &Stmt) -> Option<usize> {
    match &stmt.kind {
        StmtKind::ForRange { .. } | StmtKind::ForIn { .. } | StmtKind::Select { .. } => None,
        StmtKind::Do(_) => Some(3),
        StmtKind::If(_) | StmtKind::Unless { .. } => Some(2),
        _ => Some(1),
    }
}
