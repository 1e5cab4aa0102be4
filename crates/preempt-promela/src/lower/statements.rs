//! Statements as control flow, in the order in which Spin makes its elements.

use super::expressions::Meant;
use super::flow::{ElementId, ElementKind, Flow, SequenceId, Target};
use super::labels::FlowLabel;
use super::layout::Shape;
use super::processes::Observing;
use super::{Lowering, RunInValue};
use crate::ast::{self, ExprKind, Name, Stmt, StmtKind, VarRef};
use crate::pretty::{expr_text, stmt_text};
use preempt_core::{Diagnostic, Span};
use preempt_model::{BinaryOp, Command, Expr, Pattern, Place, Scope, Type};

/// Spin writes `select` over literals this far apart as a choice, which has fewer states than the loop.
const LARGEST_CHOICE: i32 = 32;

impl Lowering {
    /// A sequence of its own. `what` names it in the message if it has no statement.
    fn sub_sequence(&mut self, stmts: &[Stmt], span: Span, what: &str) -> SequenceId {
        self.flow().open_sequence();
        self.begin_steps();
        self.stmts(stmts);
        self.close(span, what)
    }

    fn close(&mut self, span: Span, what: &str) -> SequenceId {
        let sequence = self.flow().close_sequence();
        if self.flow().is_empty(sequence) {
            self.error(span, format!("{what} must have at least one statement"));
            let skip = self.flow().new_element(ElementKind::Basic(Command::SKIP), span, "skip");
            self.flow().append(skip, sequence);
        }
        sequence
    }

    /// Also a sequence of its own, and its declarations are its own too.
    fn block_sequence(&mut self, stmts: &[Stmt], span: Span, what: &str) -> SequenceId {
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

    fn stmt(&mut self, stmt: &Stmt) {
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
    fn begin_steps(&mut self) {
        if let Some(body) = &mut self.body {
            body.at_beginning = false;
        }
    }

    fn label(&mut self, labels: &[Name], element: ElementId, scope: Vec<u32>) {
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
            StmtKind::ForRange { variable, from, to, body } => self.for_range(variable, from, to, body, span),
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

    fn single(&mut self, kind: ElementKind, span: Span, text: impl Into<String>) -> Made {
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

    fn unless(&mut self, labels: &[Name], main: &Stmt, escape: &Stmt, span: Span) {
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

    /// `i = from; do :: i <= to -> body; i++ :: else -> break od`
    fn for_range(
        &mut self,
        variable: &VarRef,
        from: &ast::Expr,
        to: &ast::Expr,
        body: &[Stmt],
        span: Span,
    ) -> Made {
        let place = self.loop_variable(variable);
        let name = crate::pretty::ref_text(variable);
        let (start, end) = (self.expression(from), self.expression(to));
        if let (Some(low), Some(high)) = (self.quiet_constant(from), self.quiet_constant(to))
            && low > high
        {
            self.report(Diagnostic::warning(
                from.span,
                format!("from {low} to {high}: the body is never executed"),
            ));
        }
        let head = Counting { place, start, end, name, from: expr_text(from), to: expr_text(to) };
        self.counted_loop(head, BinaryOp::Le, body, span, true, None)
    }

    /// `i = from; do :: break :: i < to -> i++ od`; a small range of literals is a choice of assignments.
    fn select(&mut self, variable: &VarRef, from: &ast::Expr, to: &ast::Expr, span: Span) -> Made {
        let place = self.loop_variable(variable);
        let name = crate::pretty::ref_text(variable);
        if let (ExprKind::Number(low @ 0..), ExprKind::Number(high @ 0..)) = (&from.kind, &to.kind) {
            if low > high {
                self.error(from.span, format!("from {low} to {high} there is nothing to select"));
            }
            // Spin does this by scanning characters, and only outside of inlines.
            let simple_name = name.chars().all(|char| char.is_ascii_alphanumeric());
            if simple_name && self.inline_depth == 0 && high - low <= LARGEST_CHOICE {
                return self.select_by_choice(&place, &name, *low..=*high, span);
            }
        }
        let (start, end) = (self.expression(from), self.expression(to));
        let head = Counting { place, start, end, name, from: expr_text(from), to: expr_text(to) };
        self.counted_loop(head, BinaryOp::Lt, &[], span, false, None)
    }

    fn select_by_choice(
        &mut self,
        place: &Place,
        name: &str,
        values: std::ops::RangeInclusive<i32>,
        span: Span,
    ) -> Made {
        let mut options = Vec::new();
        for value in values {
            self.flow().open_sequence();
            let command = Command::Assign(vec![(place.clone(), Expr::Const(value))]);
            self.push_basic(command, span, format!("{name} = {value}"));
            options.push(self.flow().close_sequence());
        }
        Made::pushed(self.flow().push_if(options, span))
    }

    fn for_in(&mut self, variable: &VarRef, container: &VarRef, body: &[Stmt], span: Span) -> Made {
        let declared = container.parts.first().and_then(|part| self.names.variable(&part.name.text)).cloned();
        let name = crate::pretty::ref_text(variable);
        let alone = container.parts.len() == 1;
        let simple = alone && container.parts[0].index.is_none();
        match declared {
            Some(declared) if simple && declared.length.is_some() => {
                let last = declared.length.unwrap_or(1) as i32 - 1;
                let place = self.loop_variable(variable);
                let (start, end) = (Expr::Const(0), Expr::Const(last));
                let head = Counting { place, start, end, name, from: "0".into(), to: last.to_string() };
                self.counted_loop(head, BinaryOp::Le, body, span, true, None)
            }
            Some(declared) if alone && declared.channel.is_some() => {
                // Messages are taken out at the front and put back at the end, one for each in the channel.
                let counter = self.hidden_counter(span);
                let Meant::Record(places) = self.meant(variable) else {
                    self.report(
                        Diagnostic::error(
                            variable.span,
                            "the messages of a channel need a record to go into",
                        )
                        .hint("declare a typedef with the channel's fields and a variable of that type"),
                    );
                    return self.single(ElementKind::Basic(Command::SKIP), span, "for");
                };
                let channel = self.channel(container);
                let channel_name = crate::pretty::ref_text(container);
                let rotate =
                    Rotate { channel: channel.clone(), places, channel_name: channel_name.clone(), name };
                let head = Counting {
                    place: counter,
                    start: Expr::Const(0),
                    end: Expr::Len(Box::new(channel)),
                    name: "_message".into(),
                    from: "0".into(),
                    to: format!("len({channel_name})"),
                };
                self.counted_loop(head, BinaryOp::Lt, body, span, true, Some(rotate))
            }
            _ => {
                self.report(
                    Diagnostic::error(container.span, "`for ... in` goes over an array or a channel")
                        .hint("for a range of numbers write `for (i : 0 .. 3)`"),
                );
                self.single(ElementKind::Basic(Command::SKIP), span, "for")
            }
        }
    }

    fn counted_loop(
        &mut self,
        head: Counting,
        comparison: BinaryOp,
        body: &[Stmt],
        span: Span,
        with_else: bool,
        rotate: Option<Rotate>,
    ) -> Made {
        let number = self.enter_loop();
        let Counting { place, start, end, name, from, to } = head;
        let variable = Expr::load(place.clone());
        self.push_basic(Command::Assign(vec![(place.clone(), start)]), span, format!("{name} = {from}"));
        self.flow().open_sequence();
        self.names.enter_block();
        self.begin_steps();
        let sign = if comparison == BinaryOp::Le { "<=" } else { "<" };
        let guard = Expr::binary(comparison, variable.clone(), end);
        self.push_basic(Command::Guard(guard), span, format!("{name} {sign} {to}"));
        if let Some(Rotate { channel, places, channel_name, name }) = rotate {
            let pattern = places.iter().cloned().map(Pattern::Bind).collect();
            let receive = Command::Receive { channel: channel.clone(), random: false, keep: false, pattern };
            self.push_basic(receive, span, format!("{channel_name} ? {name}"));
            let fields = places.into_iter().map(Expr::load).collect();
            self.push_basic(
                Command::Send { channel, sorted: false, fields },
                span,
                format!("{channel_name} ! {name}"),
            );
        }
        self.stmts(body);
        let next = Expr::binary(BinaryOp::Add, variable, Expr::Const(1));
        self.push_basic(Command::Assign(vec![(place, next)]), span, format!("{name}++"));
        self.names.leave_block();
        let main = self.flow().close_sequence();
        self.flow().open_sequence();
        if with_else {
            self.push_basic(Command::Else, span, "else");
        }
        let leave = self.flow().new_element(ElementKind::Goto(Target::LoopExit(number)), span, "break");
        self.flow().push(leave);
        let exit = self.flow().close_sequence();
        self.leave_loop();
        // `else` comes last; the bare `break` of `select` stands first.
        let options = if with_else { vec![main, exit] } else { vec![exit, main] };
        Made::pushed(self.flow().push_do(options, number, span))
    }

    fn push_basic(&mut self, command: Command, span: Span, text: impl Into<String>) {
        let element = self.flow().new_element(ElementKind::Basic(command), span, text);
        self.flow().push(element);
    }

    fn loop_variable(&mut self, variable: &VarRef) -> Place {
        let place = self.target(variable);
        if super::expressions::is_channel(place.ty) {
            self.error(variable.span, "a channel cannot count");
        }
        place
    }

    /// Where `for ... in channel` counts messages.
    fn hidden_counter(&mut self, span: Span) -> Place {
        let Some(body) = &mut self.body else { return Place::nowhere() };
        let slot = body.slots;
        body.slots += 1;
        Shape::Scalar(Type::BYTE).shown("_message", slot, None, span, &mut body.variables);
        Place::scalar(Scope::Local, slot, Type::BYTE)
    }

    fn basic(&mut self, stmt: &Stmt) -> Command {
        match &stmt.kind {
            StmtKind::Guard(expr) => match &expr.kind {
                ExprKind::Run { process, args, priority } => self.run(process, args, priority.as_deref()),
                _ => Command::Guard(self.expression(expr)),
            },
            StmtKind::Else => Command::Else,
            StmtKind::Assign { target, value } => self.assignment(target, value),
            StmtKind::Increment(target) => self.step_by(target, BinaryOp::Add),
            StmtKind::Decrement(target) => self.step_by(target, BinaryOp::Sub),
            StmtKind::Assert(condition) => Command::Assert(self.expression(condition)),
            StmtKind::Printf { format, args } => {
                let args = args.iter().map(|arg| self.expression(arg)).collect();
                Command::Print { format: format.clone(), args }
            }
            StmtKind::Printm(value) => {
                Command::Print { format: "%e".into(), args: vec![self.expression(value)] }
            }
            StmtKind::Send { channel, sorted, args } => self.send(channel, *sorted, args, stmt.span),
            StmtKind::Receive { channel, random, keep, args } => {
                self.receive(channel, *random, *keep, args, stmt.span)
            }
            StmtKind::SetPriority { pid, priority } => {
                self.model.has_priorities = true;
                Command::SetPriority { pid: self.expression(pid), priority: self.expression(priority) }
            }
            _ => Command::SKIP,
        }
    }

    fn assignment(&mut self, target: &VarRef, value: &ast::Expr) -> Command {
        if let [part] = target.parts.as_slice()
            && part.name.text == "_priority"
        {
            self.model.has_priorities = true;
            return Command::SetPriority { pid: Expr::SelfPid, priority: self.expression(value) };
        }
        let place = self.target(target);
        self.run_in_value = RunInValue::Allowed;
        let value = self.expression(value);
        match std::mem::take(&mut self.run_in_value) {
            RunInValue::Found { code, args, priority } => {
                Command::Run { code, args, priority, result: Some((place, value)) }
            }
            RunInValue::Refused | RunInValue::Allowed => Command::Assign(vec![(place, value)]),
        }
    }

    fn step_by(&mut self, target: &VarRef, op: BinaryOp) -> Command {
        let place = self.target(target);
        if super::expressions::is_channel(place.ty) {
            self.error(target.span, "a channel cannot be counted up or down");
        }
        let value = Expr::binary(op, Expr::load(place.clone()), Expr::Const(1));
        Command::Assign(vec![(place, value)])
    }

    pub(super) fn flow(&mut self) -> &mut Flow {
        &mut self.body.as_mut().expect("statements stand in a body").flow
    }

    fn enter_loop(&mut self) -> usize {
        let flow = self.flow();
        flow.loop_exits.push(None);
        let number = flow.loop_exits.len() - 1;
        if let Some(body) = &mut self.body {
            body.loops.push(number);
        }
        number
    }

    fn leave_loop(&mut self) {
        if let Some(body) = &mut self.body {
            body.loops.pop();
        }
    }

    fn current_loop(&self) -> Option<usize> {
        self.body.as_ref()?.loops.last().copied()
    }
}

/// The statement as it is shown in a run: numbers that stand for words are shown as those.
fn shown(stmt: &Stmt, command: &Command) -> String {
    match (&stmt.kind, command) {
        (_, command) if *command == Command::SKIP => "skip".into(),
        (StmtKind::Assign { target, value }, Command::Assign(assignments)) => {
            let boolean = |(place, _): &(Place, Expr)| place.ty.meaning == preempt_model::Meaning::Boolean;
            match value.kind {
                ExprKind::Number(number @ 0..=1) if assignments.iter().all(boolean) => {
                    format!("{} = {}", crate::pretty::ref_text(target), number == 1)
                }
                _ => stmt_text(stmt),
            }
        }
        _ => stmt_text(stmt),
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

/// The element of a statement, and whether it is in its sequence already.
struct Made {
    element: ElementId,
    pushed: bool,
}

impl Made {
    fn pushed(element: ElementId) -> Made {
        Made { element, pushed: true }
    }
}

/// A loop that counts: its variable, from where to where, and how that reads.
struct Counting {
    place: Place,
    start: Expr,
    end: Expr,
    name: String,
    from: String,
    to: String,
}

struct Rotate {
    channel: Expr,
    places: Vec<Place>,
    channel_name: String,
    name: String,
}
