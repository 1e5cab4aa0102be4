//! Expressions and references to variables.

use super::layout::Shape;
use super::names::Declared;
use super::processes::Observing;
use super::{Lowering, RunInValue};
use crate::ast::{self, ExprKind, VarRef};
use preempt_core::diagnostic::nearest;
use preempt_core::{Diagnostic, Span};
use preempt_model::{CodeId, Command, Expr, Index, Place, Scope, Type};

/// Whoever has more mistakes than this is not helped by looking for a similar name each time.
const MAX_SUGGESTIONS: usize = 50;

/// What a reference turned out to mean.
pub(super) enum Meant {
    Value(Expr),
    Place(Place),
    /// A whole record: the places of its scalars.
    Record(Vec<Place>),
}

impl Lowering {
    pub(super) fn expression(&mut self, expr: &ast::Expr) -> Expr {
        match &expr.kind {
            ExprKind::Number(value) => Expr::Const(*value),
            ExprKind::Ref(reference) => match self.meant(reference) {
                Meant::Value(value) => value,
                Meant::Place(place) => Expr::load(place),
                Meant::Record(_) => {
                    self.report(
                        Diagnostic::error(reference.span, "a record has no value of its own")
                            .hint("name one of its fields"),
                    );
                    Expr::Const(0)
                }
            },
            ExprKind::Unary(op, inner) => Expr::Unary(*op, Box::new(self.expression(inner))),
            ExprKind::Binary(op, left, right) => {
                Expr::binary(*op, self.expression(left), self.expression(right))
            }
            ExprKind::Conditional(condition, then, otherwise) => Expr::Conditional(
                Box::new(self.expression(condition)),
                Box::new(self.expression(then)),
                Box::new(self.expression(otherwise)),
            ),
            ExprKind::Run { process, args, priority } if self.run_in_value == RunInValue::Allowed => {
                self.run_in_value = RunInValue::Refused;
                if let Command::Run { code, args, priority, .. } =
                    self.run(process, args, priority.as_deref())
                {
                    self.run_in_value = RunInValue::Started { code, args, priority };
                }
                Expr::NewPid
            }
            ExprKind::Run { process, .. } => {
                self.report(
                    Diagnostic::error(process.span, "`run` cannot be part of this expression")
                        .hint("make it a statement of its own: `run P()` or `pid = run P()`"),
                );
                Expr::Const(0)
            }
            ExprKind::Len(channel) => Expr::Len(Box::new(self.channel(channel))),
            ExprKind::Probe(probe, channel) => Expr::Probe(*probe, Box::new(self.channel(channel))),
            ExprKind::Poll { channel, random, args } => {
                let pattern = self.receive_pattern(args);
                Expr::Poll { channel: Box::new(self.channel(channel)), random: *random, pattern }
            }
            ExprKind::Timeout => Expr::Timeout,
            ExprKind::NonProgress => Expr::NonProgress,
            ExprKind::Enabled(pid) => Expr::Enabled(Box::new(self.expression(pid))),
            ExprKind::PcValue(pid) => Expr::PcValue(Box::new(self.expression(pid))),
            ExprKind::GetPriority(pid) => {
                self.model.has_priorities = true;
                Expr::Priority(Box::new(self.expression(pid)))
            }
            ExprKind::RemoteLabel { process, pid, label } => {
                self.remote_label(process, pid.as_deref(), label)
            }
            ExprKind::RemoteVariable { process, pid, variable } => {
                self.remote_variable(process, pid.as_deref(), variable)
            }
            ExprKind::Temporal(_) => {
                self.report(
                    Diagnostic::error(expr.span, "temporal operators belong in an `ltl` formula")
                        .hint("write `ltl name { ... }` outside of any process"),
                );
                Expr::Const(0)
            }
        }
    }

    /// A constant, or nothing said about it.
    pub(super) fn quiet_constant(&self, expr: &ast::Expr) -> Option<i32> {
        match &expr.kind {
            ExprKind::Number(value) => Some(*value),
            ExprKind::Ref(reference) => match reference.parts.as_slice() {
                [part] if part.index.is_none() => {
                    self.names.symbols.get(&part.name.text).map(|(_, value)| *value)
                }
                _ => None,
            },
            ExprKind::Unary(op, inner) => {
                let value = self.quiet_constant(inner)?;
                Some(op.apply(value))
            }
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.quiet_constant(left)?, self.quiet_constant(right)?);
                op.apply(left, right)
            }
            ExprKind::Conditional(condition, then, otherwise) => match self.quiet_constant(condition)? {
                0 => self.quiet_constant(otherwise),
                _ => self.quiet_constant(then),
            },
            _ => None,
        }
    }

    pub(super) fn constant(&mut self, expr: &ast::Expr) -> Option<i32> {
        self.quiet_constant(expr)
    }

    pub(super) fn meant(&mut self, reference: &VarRef) -> Meant {
        let Some(first) = reference.parts.first() else { return Meant::Value(Expr::Const(0)) };
        let name = first.name.text.as_str();
        if reference.parts.len() == 1 && first.index.is_none() {
            if let Some((_, value)) = self.names.symbols.get(name) {
                return Meant::Value(Expr::Const(*value));
            }
            if let Some(predefined) = self.predefined(name, first.name.span) {
                return Meant::Value(predefined);
            }
        }
        let Some(declared) = self.names.variable(name).cloned() else {
            self.unknown_variable(&first.name);
            return Meant::Value(Expr::Const(0));
        };
        self.place_in(&declared, reference)
    }

    fn predefined(&mut self, name: &str, span: Span) -> Option<Expr> {
        let value = match name {
            "_pid" => Expr::SelfPid,
            "_nr_pr" => self.process_count(span),
            "_last" => {
                self.model.remembers_last = true;
                return Some(Expr::LastPid);
            }
            "_priority" => {
                self.model.has_priorities = true;
                Expr::Priority(Box::new(Expr::SelfPid))
            }
            "_" => {
                self.report(
                    Diagnostic::error(span, "`_` can only be written: it keeps no value")
                        .hint("declare a variable for it"),
                );
                Expr::Const(0)
            }
            _ => return None,
        };
        if self.in_formula && matches!(value, Expr::SelfPid) {
            self.error(span, "a formula belongs to no process: `_pid` has no meaning here");
        }
        Some(value)
    }

    /// To Spin a claim is a process, and counts in `_nr_pr` as long as it watches: whoever reads it, and only where a claim
    /// is asked for ([`Check::model_of`](preempt_model::check::Check::model_of)).
    fn process_count(&mut self, span: Span) -> Expr {
        let in_claim = self.in_formula || self.observing() == Some(Observing::Claim);
        let message = match in_claim {
            true => "`_nr_pr` counts the claim, too, as in Spin: it is 1 when all processes have ended",
            false => "`_nr_pr` counts the claim, too, where a claim or formula is asked for, as in Spin",
        };
        if (in_claim || self.survey.claims) && !std::mem::replace(&mut self.said_who_counts, true) {
            self.report(Diagnostic::warning(span, message));
        }
        Expr::ProcessCount
    }

    fn unknown_variable(&mut self, name: &ast::Name) {
        let text = &name.text;
        let mut diagnostic = Diagnostic::error(name.span, format!("there is no variable `{text}` here"));
        let truth = ["true", "false"].into_iter().find(|word| text.eq_ignore_ascii_case(word));
        if let Some(word) = truth {
            diagnostic = diagnostic.hint(format!("write `{word}`, in small letters"));
        } else if let Some(owner) = self.owner_of_local(text) {
            diagnostic = diagnostic.hint(format!(
                "`{text}` is a variable of `{owner}`: a formula names it `{owner}:{text}`, or make it global"
            ));
        } else if self.names.processes.contains_key(text) {
            diagnostic = diagnostic.hint(format!("`{text}` is a process: start it with `run {text}()`"));
        } else if self.diagnostics.len() < MAX_SUGGESTIONS
            && let Some(near) = nearest(text, self.names.visible())
        {
            diagnostic = diagnostic.hint(format!("did you mean `{near}`?"));
        }
        self.report(diagnostic);
    }

    /// In a formula or a claim: the process that has a local variable of this name.
    fn owner_of_local(&self, name: &str) -> Option<&str> {
        let asks = self.in_formula || self.observing() == Some(Observing::Claim);
        let mut codes = self.model.codes.iter().filter(|_| asks);
        let owner = codes.find(|code| code.variables.iter().any(|variable| variable.name == name));
        owner.map(|code| code.name.as_str())
    }

    /// Walks down indices and fields to a place.
    pub(super) fn place_in(&mut self, declared: &Declared, reference: &VarRef) -> Meant {
        let mut shape = declared.shape.clone();
        let mut length = declared.length;
        let mut slot = declared.slot;
        let mut indices = Vec::new();
        let mut walked = String::new();
        for (depth, part) in reference.parts.iter().enumerate() {
            let span = part.name.span;
            if depth > 0 {
                let Shape::Record(record) = &shape else {
                    let diagnostic = Diagnostic::error(span, format!("`{walked}` is not a record"));
                    self.report(diagnostic.hint("only a variable of a typedef has fields"));
                    return Meant::Value(Expr::Const(0));
                };
                let Some(field) = record.field(&part.name.text) else {
                    let names = record.fields.iter().map(|field| field.name.as_str());
                    let mut diagnostic = Diagnostic::error(
                        span,
                        format!("`{}` has no field `{}`", record.name, part.name.text),
                    );
                    if let Some(near) = nearest(&part.name.text, names) {
                        diagnostic = diagnostic.hint(format!("did you mean `{near}`?"));
                    }
                    self.report(diagnostic);
                    return Meant::Value(Expr::Const(0));
                };
                slot += field.offset;
                length = field.length;
                shape = field.shape.clone();
                walked.push('.');
            }
            walked.push_str(&part.name.text);
            match (&part.index, length) {
                (Some(index), Some(count)) => {
                    let stride = shape.slots();
                    match self.quiet_constant(index) {
                        Some(value) if value >= 0 && (value as u32) < count => slot += value as u32 * stride,
                        known => {
                            if let Some(value) = known {
                                let message =
                                    format!("index {value} is out of range: `{walked}` has {count} elements");
                                self.report(Diagnostic::warning(index.span, message));
                            }
                            let value = self.expression(index);
                            indices.push(Index {
                                value,
                                length: count,
                                stride,
                                array: walked.as_str().into(),
                            });
                        }
                    }
                }
                (Some(index), None) => {
                    // Spin takes x[0] for x.
                    if self.quiet_constant(index) != Some(0) {
                        self.error(index.span, format!("`{walked}` is not an array"));
                    }
                }
                (None, Some(count)) => {
                    // Spin complains and takes the first element.
                    self.report(
                        Diagnostic::warning(
                            span,
                            format!("`{walked}` is an array: without an index `{walked}[0]` is meant"),
                        )
                        .hint(format!("write `{walked}[i]` with i from 0 to {}", count - 1)),
                    );
                }
                (None, None) => {}
            }
        }
        match shape {
            Shape::Scalar(ty) => Meant::Place(Place { scope: declared.scope, slot, indices, ty }),
            Shape::Record(record) => {
                let mut places = Vec::new();
                flat_places(&Shape::Record(record), declared.scope, slot, &indices, &mut places);
                Meant::Record(places)
            }
        }
    }

    /// A place to write to.
    pub(super) fn target(&mut self, reference: &VarRef) -> Place {
        if let [part] = reference.parts.as_slice()
            && part.index.is_none()
        {
            let name = part.name.text.as_str();
            if name == "_" {
                return Place::nowhere();
            }
            if self.names.symbols.contains_key(name) || matches!(name, "_pid" | "_nr_pr" | "_last") {
                self.error(reference.span, format!("`{name}` cannot be changed"));
                return Place::nowhere();
            }
        }
        match self.meant(reference) {
            Meant::Place(place) => place,
            Meant::Record(_) => {
                self.report(
                    Diagnostic::error(reference.span, "a record cannot be assigned as a whole")
                        .hint("assign its fields one by one"),
                );
                Place::nowhere()
            }
            Meant::Value(_) => Place::nowhere(),
        }
    }

    pub(super) fn process_named(&mut self, name: &ast::Name) -> Option<CodeId> {
        if let Some(process) = self.names.processes.get(&name.text) {
            return Some(process.code);
        }
        let near = nearest(&name.text, self.names.processes.keys().map(String::as_str));
        let mut diagnostic = Diagnostic::error(name.span, format!("there is no process `{}`", name.text));
        if let Some(near) = near {
            diagnostic = diagnostic.hint(format!("did you mean `{near}`?"));
        }
        self.report(diagnostic);
        None
    }

    fn remote_label(&mut self, process: &ast::Name, pid: Option<&ast::Expr>, label: &ast::Name) -> Expr {
        let pid = pid.map(|pid| Box::new(self.expression(pid)));
        let Some(code) = self.process_named(process) else { return Expr::Const(0) };
        let referred = self.referred_labels.entry(code).or_default();
        let number = match referred.iter().position(|known| known.text == label.text) {
            Some(number) => number,
            None => {
                referred.push(label.clone());
                referred.len() - 1
            }
        };
        Expr::At { code, pid, label: number as u32 }
    }

    fn remote_variable(&mut self, process: &ast::Name, pid: Option<&ast::Expr>, variable: &VarRef) -> Expr {
        let pid = pid.map(|pid| Box::new(self.expression(pid)));
        let Some(code) = self.process_named(process) else { return Expr::Const(0) };
        let Some(first) = variable.parts.first() else { return Expr::Const(0) };
        let key = (code, first.name.text.clone());
        let found =
            self.known.remote_variables.get(&key).or_else(|| self.remote_variables.get(&key)).cloned();
        let Some(declared) = found else {
            self.needs_remote_variables = true;
            self.error(first.name.span, format!("`{}` has no variable `{}`", process.text, first.name.text));
            return Expr::Const(0);
        };
        match self.place_in(&declared, variable) {
            Meant::Place(place) => Expr::Remote { code, pid, place: Box::new(place) },
            Meant::Record(_) => {
                self.error(variable.span, "a record has no value of its own");
                Expr::Const(0)
            }
            Meant::Value(value) => value,
        }
    }
}

fn flat_places(shape: &Shape, scope: Scope, slot: u32, indices: &[Index], places: &mut Vec<Place>) {
    match shape {
        Shape::Scalar(ty) => places.push(Place { scope, slot, indices: indices.to_vec(), ty: *ty }),
        Shape::Record(record) => {
            for field in &record.fields {
                for index in 0..field.length.unwrap_or(1) {
                    let slot = slot + field.offset + index * field.shape.slots();
                    flat_places(&field.shape, scope, slot, indices, places);
                }
            }
        }
    }
}

/// Is this what a `chan` holds?
pub(super) fn is_channel(ty: Type) -> bool {
    ty.kind == preempt_model::ValueKind::Channel
}
