//! Statements as control flow, in the order in which Spin makes its elements.

use super::Lowering;
use super::commands::shown;
use super::flow::{ElementId, ElementKind, Flow, SequenceId, Target};
use super::labels::FlowLabel;
use super::processes::Observing;
use crate::ast::{self, ExprKind, Name, Stmt, StmtKind};
use crate::pretty::stmt_text;
use preempt_core::{Diagnostic, Span};
use preempt_model::Command;

impl Lowering {
    /// A sequence of its own. `what` names it in the message if it has no statement.
    pub(super) fn sub_sequence(&mut self, stmts: &[Stmt], span: Span, what: &str) -> SequenceId {
        self.flow().open_sequence();
        self.begin_steps();
        self.stmts(stmts);
        self.close(span, what)
    }

    pub(super) fn close(&mut self, span: Span, what: &str) -> SequenceId {
        let sequence = self.flow().close_sequence();
        if self.flow().is_empty(sequence) {
            self.error(span, format!("{what} must have at least one statement"));
            let skip = self.flow().new_element(ElementKind::Basic(Command::SKIP), span, "skip");
            self.flow().append(skip, sequence);
        }
        sequence
    }

    /// Also a sequence of its own, and its declarations are its own too.
    pub(super) fn block_sequence(&mut self, stmts: &[Stmt], span: Span, what: &str) -> SequenceId {
        self.names.enter_block();
        let sequence = self.sub_sequence(stmts, span, what);
        self.names.leave_block();
        sequence
    }

    pub(super) fn stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            if self.budget.exhausted().is_some() {
                return;
            }
            self.stmt(stmt);
        }
    }

    pub(super) fn stmt(&mut self, stmt: &Stmt) {
        self.observers_only_look(stmt);
        match &stmt.kind {
            StmtKind::Declare(declaration) => {
                if let Some(label) = stmt.labels.first() {
                    self.report(
                        Diagnostic::error(label.span, "a declaration cannot have a label")
                            .hint("put the label before the next statement"),
                    );
                }
                self.declaration(declaration);
            }
            StmtKind::Exclusive { receive, channels } => self.exclusive(*receive, channels),
            StmtKind::Unless { main, escape } => self.unless(&stmt.labels, main, escape, stmt.span),
            _ => {
                let scope = self.names.scope_path();
                let made = self.made(stmt);
                self.label(&stmt.labels, made.element, scope);
                if !made.pushed {
                    self.flow().push(made.element);
                }
                self.begin_steps();
            }
        }
    }

    /// A claim judges the system and must not change it; a trace assertion names messages and nothing else.
    fn observers_only_look(&mut self, stmt: &Stmt) {
        let what = match (&stmt.kind, self.observing()) {
            (_, None) => return,
            (StmtKind::Declare(_), _) => "declare variables",
            (StmtKind::Send { .. } | StmtKind::Receive { .. }, Some(Observing::Claim)) => "send or receive",
            (StmtKind::Assign { .. } | StmtKind::Increment(_) | StmtKind::Decrement(_), _) => "assign",
            (StmtKind::ForRange { .. } | StmtKind::ForIn { .. } | StmtKind::Select { .. }, _) => "count",
            (StmtKind::SetPriority { .. }, _) => "change priorities",
            (StmtKind::Guard(ast::Expr { kind: ExprKind::Run { .. }, .. }), _) => "start processes",
            (
                StmtKind::Guard(_) | StmtKind::Assert(_) | StmtKind::Printf { .. } | StmtKind::Printm(_),
                Some(Observing::Messages),
            ) => {
                self.report(
                    Diagnostic::error(stmt.span, "a trace assertion consists of sends and receives")
                        .hint("for conditions on variables use an `ltl` formula or a never claim"),
                );
                return;
            }
            _ => return,
        };
        self.report(
            Diagnostic::error(stmt.span, format!("an observer cannot {what}"))
                .hint("a never claim or trace assertion only looks at what the processes do"),
        );
    }

    /// From here on, declarations are steps.
    pub(super) fn begin_steps(&mut self) {
        if let Some(body) = &mut self.body {
            body.at_beginning = false;
        }
    }

    pub(super) fn label(&mut self, labels: &[Name], element: ElementId, scope: Vec<u32>) {
        for name in labels {
            let before = self.flow().labels.in_scope(&name.text, &scope).map(|known| known.name.span);
            if let Some(before) = before {
                let diagnostic =
                    Diagnostic::error(name.span, format!("the label `{}` stands twice", name.text));
                self.report(diagnostic.label(before, "first here"));
                continue;
            }
            self.flow().labels.add(FlowLabel { name: name.clone(), scope: scope.clone(), element });
        }
    }

    /// Makes the element of a statement; choices are put into the sequence at once, with their joins.
    fn made(&mut self, stmt: &Stmt) -> Made {
        let span = stmt.span;
        match &stmt.kind {
            StmtKind::If(options) => {
                let options = self.options(options, span);
                Made::pushed(self.flow().push_if(options, span))
            }
            StmtKind::Do(options) => {
                let number = self.enter_loop();
                let options = self.options(options, span);
                self.leave_loop();
                Made::pushed(self.flow().push_do(options, number, span))
            }
            StmtKind::ForRange { variable, from, to, body } => {
                self.for_range(variable, (from, to), body, span)
            }
            StmtKind::ForIn { variable, container, body } => self.for_in(variable, container, body, span),
            StmtKind::Select { variable, from, to } => self.select(variable, from, to, span),
            StmtKind::Atomic(body) => {
                let sequence = self.block_sequence(body, span, "an atomic sequence");
                self.no_label_at_beginning(sequence, "atomic");
                self.flow().make_atomic(sequence, false);
                self.single(ElementKind::Atomic(sequence), span, "atomic")
            }
            StmtKind::DStep(body) => {
                let sequence = self.block_sequence(body, span, "a d_step sequence");
                self.no_label_at_beginning(sequence, "d_step");
                self.flow().make_atomic(sequence, true);
                let text = self.d_step_text(body);
                self.single(ElementKind::Deterministic(sequence), span, text)
            }
            StmtKind::Block { body, inline } => {
                self.inline_depth += usize::from(inline.is_some());
                let sequence = self.block_sequence(body, span, "a block");
                self.inline_depth -= usize::from(inline.is_some());
                self.no_label_at_beginning(sequence, "");
                self.single(ElementKind::Block(sequence), span, "{ }")
            }
            StmtKind::Break => match self.current_loop() {
                Some(number) => self.jump(stmt, Target::LoopExit(number)),
                None => {
                    self.report(
                        Diagnostic::error(span, "`break` stands outside of any loop")
                            .hint("it leaves the innermost `do ... od` or `for`"),
                    );
                    self.single(ElementKind::Basic(Command::SKIP), span, "break")
                }
            },
            StmtKind::Goto(name) => {
                let target = Target::Label { name: name.clone(), scope: self.names.scope_path() };
                self.jump(stmt, target)
            }
            StmtKind::Declare(_) | StmtKind::Exclusive { .. } | StmtKind::Unless { .. } => {
                self.single(ElementKind::Basic(Command::SKIP), span, "skip")
            }
            _ => {
                let command = self.basic(stmt);
                let text = shown(stmt, &command);
                self.single(ElementKind::Basic(command), span, text)
            }
        }
    }

    fn jump(&mut self, stmt: &Stmt, target: Target) -> Made {
        let (span, text) = (stmt.span, stmt_text(stmt));
        if !self.is_remote_label(&stmt.labels) {
            return self.single(ElementKind::Goto(target), span, text);
        }
        // The jump would be passed through, and nobody could be seen standing at the label.
        let stop = self.flow().new_element(ElementKind::Basic(Command::SKIP), span, "skip");
        self.flow().push(stop);
        let jump = self.flow().new_uncounted_element(ElementKind::Goto(target), span, text);
        self.flow().push(jump);
        Made::pushed(stop)
    }

    pub(super) fn single(&mut self, kind: ElementKind, span: Span, text: impl Into<String>) -> Made {
        Made { element: self.flow().new_element(kind, span, text), pushed: false }
    }

    fn is_remote_label(&self, labels: &[Name]) -> bool {
        let Some(body) = &self.body else { return false };
        labels
            .iter()
            .any(|label| self.survey.remote_labels.contains(&(body.name.clone(), label.text.clone())))
    }

    fn options(&mut self, options: &[Vec<Stmt>], span: Span) -> Vec<SequenceId> {
        let mut sequences = Vec::new();
        let mut otherwise = None;
        for option in options {
            let is_else = matches!(option.first(), Some(first) if matches!(first.kind, StmtKind::Else));
            let sequence = self.sub_sequence(option, span, "an alternative");
            if self.observing().is_none() {
                self.flow().drop_redundant_skips(sequence);
            }
            if is_else {
                if otherwise.is_some() {
                    let span = option.first().map_or(span, |first| first.span);
                    self.error(span, "there is more than one `else`");
                }
                otherwise = Some(sequence);
            } else {
                sequences.push(sequence);
            }
        }
        // `else` is tried last, wherever it stands.
        sequences.extend(otherwise);
        sequences
    }

    /// A label on the first statement of a block would name a place that is not one.
    fn no_label_at_beginning(&mut self, sequence: SequenceId, keyword: &str) {
        let flow = self.flow();
        let Some(first) = flow.sequence(sequence).first else { return };
        let Some(label) = flow.labels.of(first).next() else { return };
        let (name, span) = (label.name.text.clone(), label.name.span);
        let block = format!("{keyword} {{").trim_start().to_string();
        self.report(
            Diagnostic::error(span, format!("the label `{name}` cannot stand at the beginning of a block"))
                .hint(format!("put it before the block: `{name}: {block} ... }}`")),
        );
    }

    fn d_step_text(&self, body: &[Stmt]) -> String {
        let inner: Vec<String> =
            body.iter().filter(|stmt| !matches!(stmt.kind, StmtKind::Declare(_))).map(stmt_text).collect();
        format!("d_step {{ {} }}", inner.join("; "))
    }

    pub(super) fn push_basic(&mut self, command: Command, span: Span, text: impl Into<String>) {
        let element = self.flow().new_element(ElementKind::Basic(command), span, text);
        self.flow().push(element);
    }

    pub(super) fn flow(&mut self) -> &mut Flow {
        &mut self.body.as_mut().expect("statements stand in a body").flow
    }
}

/// The element of a statement, and whether it is in its sequence already.
pub(super) struct Made {
    element: ElementId,
    pushed: bool,
}

impl Made {
    pub(super) fn pushed(element: ElementId) -> Made {
        Made { element, pushed: true }
    }
}
