//! Types, and how records are laid out flat.

use super::Lowering;
use crate::ast::{self, TypeName};
use preempt_core::diagnostic::nearest;
use preempt_core::{Diagnostic, Span};
use preempt_model::{TemplateId, Type, Variable};
use std::collections::HashMap;
use std::rc::Rc;

/// More values than this in one record are a mistake, not a model. (Every one of them has a name to be shown with.)
pub(super) const MAX_RECORD: u32 = 1 << 18;

#[derive(Debug, Clone)]
pub(super) enum Shape {
    Scalar(Type),
    Record(RecordLayout),
}

/// A typedef. Cheap to clone: every variable of the type has it.
pub(super) type RecordLayout = Rc<Record>;

#[derive(Debug, Default)]
pub(super) struct Record {
    pub name: String,
    pub fields: Vec<Field>,
    by_name: HashMap<String, usize>,
    pub slots: u32,
}

impl Record {
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.get(*self.by_name.get(name)?)
    }
}

#[derive(Debug)]
pub(super) struct Field {
    pub name: String,
    /// Slots from the record's beginning.
    pub offset: u32,
    pub shape: Shape,
    pub length: Option<u32>,
    pub init: FieldInit,
    /// Declared as `bit` or `bool`: one bit in a message, although an array of them keeps bytes.
    pub is_bit: bool,
}

#[derive(Debug, Clone)]
pub(super) enum FieldInit {
    Zero,
    Constant(i32),
    /// Of an array; the last value goes on to its end.
    List(Vec<i32>),
    Channel(TemplateId),
}

/// A variable, and where its values lie.
#[derive(Clone, Copy)]
pub struct Stored<'n> {
    pub name: &'n str,
    pub slot: u32,
    pub length: Option<u32>,
    pub span: Span,
}

impl Shape {
    pub fn slots(&self) -> u32 {
        match self {
            Shape::Scalar(_) => 1,
            Shape::Record(record) => record.slots,
        }
    }

    /// The type of every slot, in order: how a record is given to a process.
    pub fn flat_types(&self, types: &mut Vec<Type>) {
        self.flat(false, types);
    }

    /// The type of every slot as a message has it: a bit is one bit, also one of an array.
    pub fn message_types(&self, types: &mut Vec<Type>) {
        self.flat(true, types);
    }

    fn flat(&self, in_message: bool, types: &mut Vec<Type>) {
        match self {
            Shape::Scalar(ty) => types.push(*ty),
            Shape::Record(record) => {
                for field in &record.fields {
                    for _ in 0..field.length.unwrap_or(1) {
                        match field.shape {
                            Shape::Scalar(ty) if in_message && field.is_bit => {
                                types.push(Type { bits: 1, ..ty })
                            }
                            _ => field.shape.flat(in_message, types),
                        }
                    }
                }
            }
        }
    }

    /// One variable for each scalar and each array of scalars inside, named for people.
    pub fn shown(&self, stored: &Stored<'_>, shown: &mut Vec<Variable>) {
        let Stored { name, slot, length, span } = *stored;
        match self {
            Shape::Scalar(ty) => {
                shown.push(Variable { name: name.to_string(), slot, ty: *ty, length, span });
            }
            Shape::Record(record) => {
                for index in 0..length.unwrap_or(1) {
                    let name = match length {
                        Some(_) => format!("{name}[{index}]"),
                        None => name.to_string(),
                    };
                    for field in &record.fields {
                        let slot = slot + index * record.slots + field.offset;
                        let name = &format!("{name}.{}", field.name);
                        field.shape.shown(&Stored { name, slot, length: field.length, span }, shown);
                    }
                }
            }
        }
    }
}

impl Lowering {
    /// The shape of one value. Spin keeps arrays of bits as arrays of bytes, so their elements take any byte.
    pub(super) fn shape(
        &mut self,
        ty: &TypeName,
        is_array: bool,
        width: Option<(u32, Span)>,
        span: Span,
    ) -> Shape {
        if let (Some((_, width)), false) = (width, *ty == TypeName::Unsigned) {
            self.report(
                Diagnostic::error(width, "only `unsigned` takes a width")
                    .hint("write for example `unsigned x : 5`"),
            );
        }
        let bits = if is_array { 8 } else { 1 };
        Shape::Scalar(match ty {
            TypeName::Bit => Type { bits, ..Type::BIT },
            TypeName::Bool => Type { bits, ..Type::BOOL },
            TypeName::Byte => Type::BYTE,
            TypeName::Pid => Type::PID,
            TypeName::Short => Type::SHORT,
            TypeName::Int => Type::INT,
            TypeName::Unsigned => match width {
                Some((bits @ 1..=32, _)) => Type::unsigned(bits as u8),
                Some((_, span)) => {
                    self.error(span, "an unsigned variable has 1 to 32 bits");
                    Type::unsigned(32)
                }
                None => {
                    self.report(
                        Diagnostic::error(span, "an unsigned variable needs its number of bits")
                            .hint("write for example `unsigned x : 5`"),
                    );
                    Type::unsigned(32)
                }
            },
            TypeName::Mtype(set) => Type::symbol(self.symbol_set(set.as_ref())),
            TypeName::Chan => Type::CHANNEL,
            TypeName::Record(name) => match self.names.records.get(&name.text) {
                Some(record) => return Shape::Record(record.clone()),
                None => {
                    let near = nearest(&name.text, self.names.records.keys().map(String::as_str));
                    let mut diagnostic =
                        Diagnostic::error(name.span, format!("there is no type `{}`", name.text));
                    if let Some(near) = near {
                        diagnostic = diagnostic.hint(format!("did you mean `{near}`?"));
                    }
                    self.report(diagnostic);
                    Type::INT
                }
            },
        })
    }

    fn symbol_set(&mut self, set: Option<&ast::Name>) -> u16 {
        match set {
            None => 0,
            Some(name) => match self.names.symbol_sets.get(&name.text) {
                Some(number) => *number,
                // As in Spin, that is a set without names: nothing but 0 and numbers can be assigned.
                None => {
                    let near = nearest(&name.text, self.names.symbol_sets.keys().map(String::as_str));
                    let message = format!("there is no mtype named `{}`: it has no names", name.text);
                    let mut diagnostic = Diagnostic::warning(name.span, message);
                    if let Some(near) = near {
                        diagnostic = diagnostic.hint(format!("did you mean `{near}`?"));
                    }
                    self.report(diagnostic);
                    0
                }
            },
        }
    }

    pub(super) fn typedef(&mut self, typedef: &ast::Typedef) {
        let mut record = Record { name: typedef.name.text.clone(), ..Record::default() };
        for declaration in &typedef.fields {
            for variable in &declaration.variables {
                let length = self.array_length(variable);
                let shape = self.shape(&declaration.ty, length.is_some(), variable.width, variable.name.span);
                let number = record.fields.len();
                if record.by_name.insert(variable.name.text.clone(), number).is_some() {
                    let message = format!("the field `{}` is declared twice", variable.name.text);
                    self.error(variable.name.span, message);
                }
                let init = self.field_init(variable);
                let is_bit = matches!(declaration.ty, TypeName::Bit | TypeName::Bool);
                let offset = record.slots;
                let field = Field { name: variable.name.text.clone(), offset, length, init, shape, is_bit };
                record.slots =
                    record.slots.saturating_add(field.shape.slots().saturating_mul(length.unwrap_or(1)));
                record.fields.push(field);
            }
        }
        if record.slots > MAX_RECORD {
            self.report(
                Diagnostic::error(typedef.name.span, format!("the type `{}` is too large", record.name))
                    .hint(format!("a record has room for {MAX_RECORD} values")),
            );
            record.slots = 1;
            record.fields.clear();
            record.by_name.clear();
        }
        if self.names.records.contains_key(&record.name) {
            self.error(typedef.name.span, format!("the type `{}` is defined twice", record.name));
        }
        self.names.records.insert(record.name.clone(), Rc::new(record));
    }

    fn field_init(&mut self, variable: &ast::Variable) -> FieldInit {
        match &variable.init {
            None => FieldInit::Zero,
            Some(ast::Initializer::Value(expr)) => match self.constant(expr) {
                Some(value) => FieldInit::Constant(value),
                None => {
                    self.error(expr.span, "the initial value of a field must be a constant");
                    FieldInit::Zero
                }
            },
            Some(ast::Initializer::List(values)) => {
                let constants = values.iter().map(|value| {
                    let constant = self.constant(value);
                    if constant.is_none() {
                        self.error(value.span, "the initial value of a field must be a constant");
                    }
                    constant.unwrap_or(0)
                });
                FieldInit::List(constants.collect())
            }
            Some(ast::Initializer::Channel { capacity, fields, span }) => {
                FieldInit::Channel(self.template(&variable.name.text, capacity, fields, *span))
            }
        }
    }
}
