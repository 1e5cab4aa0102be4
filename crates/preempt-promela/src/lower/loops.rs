//! `for` and `select`, as the loops that Spin writes for them.

use super::Lowering;
use super::expressions::Meant;
use super::flow::{ElementKind, Target};
use super::layout::{Shape, Stored};
use super::statements::Made;
use crate::ast::{self, ExprKind, Stmt, VarRef};
use crate::pretty::expr_text;
use preempt_core::{Diagnostic, Span};
use preempt_model::{BinaryOp, Command, Expr, Pattern, Place, Scope, Type};

/// Spin writes `select` over literals this far apart as a choice, which has fewer states than the loop.
const LARGEST_CHOICE: i32 = 32;

/// A loop that counts: its variable, from where to where, and how that reads.
struct Counting {
    place: Place,
    start: Expr,
    end: Expr,
    name: String,
    from: String,
    to: String,
}

/// The messages of a channel, taken out at the front and put back at the end.
struct Rotate {
    channel: Expr,
    places: Vec<Place>,
    channel_name: String,
    name: String,
}

/// What a loop that counts does.
struct Looping<'b> {
    /// As long as this holds between variable and end.
    comparison: BinaryOp,
    body: &'b [Stmt],
    /// It ends when the comparison fails; `select` may end at any time.
    with_else: bool,
    rotate: Option<Rotate>,
}

impl Lowering {
    /// `i = from; do :: i <= to -> body; i++ :: else -> break od`
    pub(super) fn for_range(
        &mut self,
        variable: &VarRef,
        (from, to): (&ast::Expr, &ast::Expr),
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
        self.counted_loop(
            head,
            Looping { comparison: BinaryOp::Le, body, with_else: true, rotate: None },
            span,
        )
    }

    /// `i = from; do :: break :: i < to -> i++ od`; a small range of literals is a choice of assignments.
    pub(super) fn select(&mut self, variable: &VarRef, from: &ast::Expr, to: &ast::Expr, span: Span) -> Made {
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
        let looping = Looping { comparison: BinaryOp::Lt, body: &[], with_else: false, rotate: None };
        self.counted_loop(head, looping, span)
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

    pub(super) fn for_in(
        &mut self,
        variable: &VarRef,
        container: &VarRef,
        body: &[Stmt],
        span: Span,
    ) -> Made {
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
                self.counted_loop(
                    head,
                    Looping { comparison: BinaryOp::Le, body, with_else: true, rotate: None },
                    span,
                )
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
                let rotate = Some(rotate);
                self.counted_loop(
                    head,
                    Looping { comparison: BinaryOp::Lt, body, with_else: true, rotate },
                    span,
                )
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
        Looping { comparison, body, with_else, rotate }: Looping<'_>,
        span: Span,
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
        let stored = Stored { name: "_message", slot, length: None, span };
        Shape::Scalar(Type::BYTE).shown(&stored, &mut body.variables);
        Place::scalar(Scope::Local, slot, Type::BYTE)
    }

    pub(super) fn enter_loop(&mut self) -> usize {
        let flow = self.flow();
        flow.loop_exits.push(None);
        let number = flow.loop_exits.len() - 1;
        if let Some(body) = &mut self.body {
            body.loops.push(number);
        }
        number
    }

    pub(super) fn leave_loop(&mut self) {
        if let Some(body) = &mut self.body {
            body.loops.pop();
        }
    }

    pub(super) fn current_loop(&self) -> Option<usize> {
        self.body.as_ref()?.loops.last().copied()
    }
}
