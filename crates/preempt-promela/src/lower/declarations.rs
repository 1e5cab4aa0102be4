//! Variables: where they are kept, and what they hold at the beginning.

use super::layout::{FieldInit, MAX_RECORD, Shape, Stored};
use super::names::Declared;
use super::{Lowering, flow::ElementKind};
use crate::ast::{self, ExprKind, Initializer, TypeName, Visibility};
use preempt_core::{Diagnostic, Span};
use preempt_model::interpreter::MAX_CHANNELS;
use preempt_model::{ChannelTemplate, Command, Expr, Init, Place, Scope, SymbolSet, TemplateId, Type};

/// More slots than this in one array, record or process is a mistake, not a model.
pub(super) const MAX_SLOTS: u32 = 1 << 20;

/// Spin numbers symbolic constants with a byte.
const MAX_SYMBOLS: usize = 255;

impl Lowering {
    /// The last name of the first declaration is 1, as in Spin; later declarations go on counting.
    pub(super) fn mtype(&mut self, mtype: &ast::Mtype) {
        let set = match &mtype.set {
            None => 0,
            Some(name) => match self.names.symbol_sets.get(&name.text) {
                Some(set) => *set,
                None => {
                    self.model.symbols.push(SymbolSet::default());
                    let set = self.model.symbols.len() as u16 - 1;
                    self.names.symbol_sets.insert(name.text.clone(), set);
                    set
                }
            },
        };
        for name in mtype.names.iter().rev() {
            if self.names.symbols.contains_key(&name.text) {
                self.error(
                    name.span,
                    format!("the name `{}` appears twice in mtype declarations", name.text),
                );
                continue;
            }
            let names = &mut self.model.symbols[usize::from(set)].names;
            names.push(name.text.clone());
            let value = names.len();
            if value > MAX_SYMBOLS {
                self.error(name.span, format!("an mtype has at most {MAX_SYMBOLS} names"));
                return;
            }
            self.names.symbols.insert(name.text.clone(), (set, value as i32));
        }
    }

    /// At the beginning of a body, initial values belong to the new process; further on they are steps.
    pub(super) fn declaration(&mut self, declaration: &ast::Declaration) {
        for variable in &declaration.variables {
            self.variable(declaration, variable);
        }
    }

    fn variable(&mut self, declaration: &ast::Declaration, variable: &ast::Variable) {
        let name = &variable.name;
        let is_global = self.body.is_none();
        let mut hidden = is_global && declaration.visibility == Some(Visibility::Hidden);
        if hidden && self.known.kept.contains(&name.text) {
            hidden = false;
            self.report(
                Diagnostic::warning(name.span, format!("`{}` is part of the state, although it is hidden", name.text))
                    .hint("its value is read after other processes could run; Spin does not distinguish states by it"),
            );
        }
        if self.names.symbols.contains_key(&name.text) {
            self.error(name.span, format!("`{}` is already a symbolic constant (mtype)", name.text));
        }
        let length = self.array_length(variable);
        let shape = self.shape(&declaration.ty, length.is_some(), variable.width, name.span);
        let slot = self.allocate(&shape, length, hidden, name);
        if hidden {
            let slots = slot..slot.saturating_add(shape.slots().saturating_mul(length.unwrap_or(1)));
            self.hidden_variables.push((name.text.clone(), slots));
        }
        let scope = match (is_global, hidden) {
            (true, true) => Scope::Hidden,
            (true, false) => Scope::Global,
            (false, _) => Scope::Local,
        };
        let mut declared =
            Declared { scope, slot, shape, length, channel: None, constant: None, span: name.span };
        if let Some(Initializer::Value(value)) = &variable.init {
            declared.constant = self.quiet_constant(value);
        }
        // The initial value is evaluated before the name is known.
        let steps = self.body.as_ref().is_some_and(|body| !body.at_beginning);
        let assignment = if steps && self.is_assigned_late(variable) {
            Some(self.late_value(&declared, variable, &declaration.ty))
        } else {
            declared.channel = self.initial_value(&declared, &declaration.ty, variable, hidden);
            None
        };
        self.declare(name, declared.clone());
        if let Some(assignment) = assignment {
            self.late_assignment(&declared, variable, assignment);
        }
    }

    fn allocate(&mut self, shape: &Shape, length: Option<u32>, hidden: bool, name: &ast::Name) -> u32 {
        let wanted = shape.slots().saturating_mul(length.unwrap_or(1));
        let (shown, slots) = match &mut self.body {
            Some(body) => (&mut body.variables, &mut body.slots),
            None if hidden => (&mut self.model.hidden, &mut self.model.hidden_slots),
            None => (&mut self.model.globals, &mut self.model.global_slots),
        };
        let slot = *slots;
        let room = if matches!(shape, Shape::Record(_)) { MAX_RECORD } else { MAX_SLOTS };
        if wanted > room || slot + wanted > MAX_SLOTS {
            let message = format!("`{}` is too large: there is room for {room} values", name.text);
            self.error(name.span, message);
            return 0;
        }
        *slots += wanted;
        shape.shown(&Stored { name: &name.text, slot, length, span: name.span }, shown);
        slot
    }

    fn declare(&mut self, name: &ast::Name, declared: Declared) {
        if let Some(body) = &self.body {
            self.remote_variables.entry((body.code, name.text.clone())).or_insert_with(|| declared.clone());
        }
        if let Some(before) = self.names.declare(&name.text, declared) {
            let diagnostic = Diagnostic::error(name.span, format!("`{}` is declared twice", name.text))
                .label(before.span, "first declared here");
            self.report(diagnostic);
        }
    }

    /// Records what the variable holds at the beginning. Returns the template of a channel made here.
    fn initial_value(
        &mut self,
        declared: &Declared,
        ty: &TypeName,
        variable: &ast::Variable,
        hidden: bool,
    ) -> Option<TemplateId> {
        let slot = declared.slot;
        let count = declared.length.unwrap_or(1);
        match (&variable.init, &declared.shape) {
            (None, Shape::Scalar(_)) => {}
            (None, Shape::Record(_)) => self.initial_record(&declared.shape, count, slot, hidden),
            (Some(Initializer::Value(value)), Shape::Scalar(ty)) => {
                let (span, value) = (value.span, self.expression(value));
                self.warn_if_cut(*ty, &value, span);
                for slot in slot..slot + count {
                    self.init().push(Init::Set { hidden, slot, ty: *ty, value: value.clone() });
                }
            }
            (Some(Initializer::List(values)), Shape::Scalar(ty)) => {
                let spans: Vec<Span> = values.iter().map(|value| value.span).collect();
                let values: Vec<Expr> = values.iter().map(|value| self.expression(value)).collect();
                spans.into_iter().zip(&values).for_each(|(span, value)| self.warn_if_cut(*ty, value, span));
                if declared.length.is_none() {
                    self.error(variable.name.span, "only an array can be initialised with a list");
                }
                // Spin repeats the last value where the list is shorter than the array.
                for (slot, index) in (slot..slot + count).zip(0..) {
                    if let Some(value) = values.get(index).or(values.last()) {
                        self.init().push(Init::Set { hidden, slot, ty: *ty, value: value.clone() });
                    }
                }
            }
            (Some(Initializer::Channel { capacity, fields, span }), Shape::Scalar(_)) => {
                if *ty != TypeName::Chan {
                    self.report(
                        Diagnostic::error(*span, "only a `chan` can be initialised with a channel")
                            .hint(format!("declare it as `chan {}`", variable.name.text)),
                    );
                    return None;
                }
                let template = self.template(&variable.name.text, capacity, fields, *span);
                for slot in slot..slot + count {
                    self.init().push(Init::Channel { hidden, slot, template });
                }
                return Some(template);
            }
            (Some(Initializer::Channel { span, .. }), Shape::Record(_)) => {
                self.error(*span, "only a `chan` can be initialised with a channel");
            }
            (Some(Initializer::Value(_) | Initializer::List(_)), Shape::Record(_)) => {
                self.value_for_a_record(variable);
                self.initial_record(&declared.shape, count, slot, hidden);
            }
        }
        None
    }

    /// Spin reads such a value and does nothing with it.
    fn value_for_a_record(&mut self, variable: &ast::Variable) {
        self.report(
            Diagnostic::warning(variable.name.span, "this initial value is not used: a record has none")
                .hint("give its fields their initial values in the typedef, or assign them"),
        );
    }

    /// A channel is made when its process starts, wherever it is declared.
    fn is_assigned_late(&mut self, variable: &ast::Variable) -> bool {
        let Some(Initializer::Channel { span, .. }) = &variable.init else { return true };
        self.report(
            Diagnostic::warning(*span, "this channel is made when the process starts, not here")
                .hint("move the declaration to the beginning of the process"),
        );
        false
    }

    fn initial_record(&mut self, shape: &Shape, count: u32, slot: u32, hidden: bool) {
        let Shape::Record(record) = shape else { return };
        for index in 0..count {
            for field in &record.fields {
                let slot = slot + index * record.slots + field.offset;
                let length = field.length.unwrap_or(1);
                let Shape::Scalar(ty) = field.shape else {
                    self.initial_record(&field.shape, length, slot, hidden);
                    continue;
                };
                for (slot, position) in (slot..slot + length).zip(0..) {
                    let value = match &field.init {
                        FieldInit::Zero => continue,
                        FieldInit::Constant(value) => *value,
                        FieldInit::List(values) => match values.get(position).or(values.last()) {
                            Some(value) => *value,
                            None => continue,
                        },
                        FieldInit::Channel(template) => {
                            let template = *template;
                            self.init().push(Init::Channel { hidden, slot, template });
                            continue;
                        }
                    };
                    self.init().push(Init::Set { hidden, slot, ty, value: Expr::Const(value) });
                }
            }
        }
    }

    /// A declaration after the first statement: its value is assigned when execution comes by.
    fn late_value(&mut self, declared: &Declared, variable: &ast::Variable, ty: &TypeName) -> Expr {
        match &variable.init {
            None => Expr::Const(0),
            Some(_) if declared.scalar_type().is_none() => {
                self.value_for_a_record(variable);
                Expr::Const(0)
            }
            Some(Initializer::Value(value)) => {
                if declared.length.is_some() {
                    self.report(
                        Diagnostic::warning(value.span, "here only the first element is initialised")
                            .hint("move the declaration to the beginning of the process"),
                    );
                }
                let (span, value) = (value.span, self.expression(value));
                if let Some(ty) = declared.scalar_type() {
                    self.warn_if_cut(ty, &value, span);
                }
                value
            }
            // As in Spin: the process starts with the list, and the step assigns the first element again.
            Some(Initializer::List(values)) => {
                self.initial_value(declared, ty, variable, false);
                self.report(
                    Diagnostic::warning(
                        variable.name.span,
                        "here only the first element is initialised again",
                    )
                    .hint("move the declaration to the beginning of the process"),
                );
                values.first().map_or(Expr::Const(0), |first| self.expression(first))
            }
            Some(Initializer::Channel { .. }) => Expr::Const(0),
        }
    }

    fn late_assignment(&mut self, declared: &Declared, variable: &ast::Variable, value: Expr) {
        let name = &variable.name;
        let (command, text) = match declared.scalar_type() {
            // A record gets a step that does nothing, but is no `skip`: it stays behind another one.
            None => (Command::Assign(Vec::new()), format!("{} declared", name.text)),
            Some(ty) => {
                let text = match (&variable.init, declared.length) {
                    (Some(Initializer::Value(value)), None) => {
                        format!("{} = {}", name.text, crate::pretty::expr_text(value))
                    }
                    (_, None) => format!("{} = 0", name.text),
                    (Some(Initializer::Value(value)), Some(_)) => {
                        format!("{}[0] = {}", name.text, crate::pretty::expr_text(value))
                    }
                    (Some(Initializer::List(values)), Some(_)) => {
                        let first = values.first().map_or("0".into(), crate::pretty::expr_text);
                        format!("{}[0] = {first}", name.text)
                    }
                    (_, Some(_)) => format!("{}[0] = 0", name.text),
                };
                let place = Place::scalar(declared.scope, declared.slot, ty);
                (Command::Assign(vec![(place, value)]), text)
            }
        };
        if let Some(body) = &mut self.body {
            let element = body.flow.new_element(ElementKind::Basic(command), name.span, text);
            body.flow.push(element);
        }
    }

    pub(super) fn template(
        &mut self,
        name: &str,
        capacity: &ast::Expr,
        fields: &[TypeName],
        span: Span,
    ) -> TemplateId {
        let capacity = match self.constant(capacity) {
            Some(value @ 0..=255) => value as u32,
            Some(value) => {
                self.error(capacity.span, format!("a channel has room for 0 to 255 messages, not {value}"));
                0
            }
            None => {
                self.error(capacity.span, "the size of a channel must be a constant");
                0
            }
        };
        let mut types = Vec::new();
        for field in fields {
            let shape = self.shape(field, false, None, span);
            if types.len() + shape.slots() as usize > MAX_RECORD as usize {
                self.error(span, format!("a message has room for {MAX_RECORD} values"));
                break;
            }
            shape.message_types(&mut types);
        }
        // Of several fields a bit is kept as one bit, alone it is kept as a byte.
        if let [Type { bits: bits @ 1, .. }] = types.as_mut_slice() {
            *bits = 8;
        }
        if self.model.templates.len() == MAX_CHANNELS {
            self.report(Diagnostic::error(span, format!("there can be at most {MAX_CHANNELS} channels")));
            return TemplateId(0);
        }
        self.model.templates.push(ChannelTemplate { name: name.to_string(), capacity, fields: types });
        TemplateId(self.model.templates.len() as u16 - 1)
    }

    pub(super) fn array_length(&mut self, variable: &ast::Variable) -> Option<u32> {
        let length = variable.length.as_ref()?;
        // Spin takes an initialised variable for its initial value here.
        let value = match (&length.kind, self.quiet_constant(length)) {
            (_, Some(value)) => Some(value),
            (ExprKind::Ref(_), None) => self.initial_constant(length),
            _ => None,
        };
        match value {
            Some(value) if value > 0 && value as u32 <= MAX_SLOTS => Some(value as u32),
            Some(value) => {
                self.error(length.span, format!("an array cannot have {value} elements"));
                Some(1)
            }
            None => {
                self.report(
                    Diagnostic::error(length.span, "the length of an array must be a constant")
                        .hint("use a number or a #define"),
                );
                Some(1)
            }
        }
    }

    pub(super) fn initial_constant(&mut self, expr: &ast::Expr) -> Option<i32> {
        let ExprKind::Ref(reference) = &expr.kind else { return None };
        let [part] = reference.parts.as_slice() else { return None };
        let value = self.names.variable(&part.name.text)?.constant?;
        self.report(
            Diagnostic::warning(
                expr.span,
                format!("the initial value of `{}` is used: {value}", part.name.text),
            )
            .hint("a #define says it more clearly"),
        );
        Some(value)
    }
}
