//! Messages: what is sent, what is received, and whether the fields fit the channel.

use super::Lowering;
use super::expressions::{Meant, is_channel};
use crate::ast::{self, ExprKind, ReceiveArg, VarRef};
use preempt_core::{Diagnostic, Span};
use preempt_model::{Command, Expr, Pattern, Place, Scope, TemplateId};
use std::collections::HashSet;

impl Lowering {
    /// An expression whose value is a channel's number.
    pub(super) fn channel(&mut self, reference: &VarRef) -> Expr {
        match self.meant(reference) {
            Meant::Place(place) => {
                if !is_channel(place.ty) {
                    self.report(
                        Diagnostic::error(reference.span, "this is not a channel")
                            .hint("a channel is declared as `chan c = [1] of { byte }`"),
                    );
                }
                Expr::load(place)
            }
            Meant::Record(_) => {
                self.error(reference.span, "this is a record, not a channel");
                Expr::Const(0)
            }
            Meant::Value(value) => value,
        }
    }

    pub(super) fn send(&mut self, channel: &VarRef, sorted: bool, args: &[ast::Expr], span: Span) -> Command {
        let mut fields = Vec::new();
        for arg in args {
            match &arg.kind {
                // In a trace assertion it stands for any value.
                ExprKind::Ref(reference) if is_scratch(reference) && self.observing().is_some() => {
                    fields.push(Expr::load(Place::nowhere()));
                }
                _ => self.flat_values(arg, &mut fields),
            }
        }
        self.check_width(channel, fields.len(), "sends", span);
        Command::Send { channel: self.channel(channel), sorted, fields }
    }

    /// What is sent or given to a process: of a record, the values of all its fields.
    pub(super) fn flat_values(&mut self, arg: &ast::Expr, values: &mut Vec<Expr>) {
        match &arg.kind {
            ExprKind::Ref(reference) => match self.meant(reference) {
                Meant::Value(value) => values.push(value),
                Meant::Place(place) => values.push(Expr::load(place)),
                Meant::Record(places) => values.extend(places.into_iter().map(Expr::load)),
            },
            _ => values.push(self.expression(arg)),
        }
    }

    pub(super) fn receive(
        &mut self,
        channel: &VarRef,
        (random, keep): (bool, bool),
        args: &[ReceiveArg],
        span: Span,
    ) -> Command {
        let pattern = self.receive_pattern(args);
        self.check_width(channel, pattern.len(), "receives", span);
        let mut bound = HashSet::new();
        for part in &pattern {
            let twice = matches!(part, Pattern::Bind(place) if place.indices.is_empty()
                && place.scope != Scope::Nowhere
                && !bound.insert((place.scope, place.slot)));
            if twice {
                self.error(span, "the same variable stands for two fields of the message");
            }
        }
        Command::Receive { channel: self.channel(channel), random, keep, pattern }
    }

    pub(super) fn receive_pattern(&mut self, args: &[ReceiveArg]) -> Vec<Pattern> {
        let mut pattern = Vec::new();
        for arg in args {
            match arg {
                ReceiveArg::Constant(value, _) => pattern.push(Pattern::Match(Expr::Const(*value))),
                ReceiveArg::Eval(expr) => pattern.push(Pattern::Match(self.expression(expr))),
                ReceiveArg::Ref(reference) if is_scratch(reference) => {
                    pattern.push(Pattern::Bind(Place::nowhere()));
                }
                ReceiveArg::Ref(reference) => match self.meant(reference) {
                    Meant::Value(constant @ Expr::Const(_)) => pattern.push(Pattern::Match(constant)),
                    Meant::Value(_) => {
                        self.report(
                            Diagnostic::error(reference.span, "nothing can be received into this")
                                .hint("to compare with its value, write `eval(...)`"),
                        );
                        pattern.push(Pattern::Bind(Place::nowhere()));
                    }
                    Meant::Place(place) => pattern.push(Pattern::Bind(place)),
                    Meant::Record(places) => pattern.extend(places.into_iter().map(Pattern::Bind)),
                },
            }
        }
        pattern
    }

    /// Wrong numbers of fields are found here where the channel's declaration is in sight. They are a run-time error
    /// for whoever comes by, as in Spin.
    fn check_width(&mut self, channel: &VarRef, given: usize, verb: &str, span: Span) {
        let Some((template, declared_at)) = self.declared_template(channel) else { return };
        let fields = self.model.template(template).fields.len();
        if fields != given {
            let plural = if fields == 1 { "field" } else { "fields" };
            self.report(
                Diagnostic::warning(span, "wrong number of message fields")
                    .note(format!("{verb} {given}: a run-time error if a run comes here"))
                    .label(declared_at, format!("the channel is declared here with {fields} {plural}")),
            );
        }
    }

    /// The template of a channel that is always the one it was declared with.
    pub(super) fn declared_template(&self, channel: &VarRef) -> Option<(TemplateId, Span)> {
        let [part] = channel.parts.as_slice() else { return None };
        let declared = self.names.variable(&part.name.text)?;
        if self.survey.assigned.contains(&part.name.text) {
            return None;
        }
        Some((declared.channel?, declared.span))
    }
}

fn is_scratch(reference: &VarRef) -> bool {
    matches!(reference.parts.as_slice(), [part] if part.name.text == "_" && part.index.is_none())
}
