//! Names: constants, variables and their types, and expressions over them.

use crate::ast::{Declaration, Expr, ExprKind, Name, Operator, Place, Program, Quantifier, TypeName};
use preempt_core::diagnostic::nearest;
use preempt_core::{Diagnostic, Span};
use preempt_model::{BinaryOp, Expr as Value, Index, Place as Slot, Scope as Where, Type, UnaryOp, Variable};
use std::collections::{BTreeMap, HashMap};

/// The mistake has been reported.
#[derive(Debug)]
pub(crate) struct Reported;
pub(crate) type Checked<T> = Result<T, Reported>;

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    Number,
    /// Of the enumeration with this number.
    Enum(usize),
}

/// A variable.
#[derive(Debug, Clone)]
pub(crate) struct Declared {
    pub place: Where,
    pub slot: u32,
    pub ty: Type,
    pub kind: Kind,
    /// For each dimension the first index and the number of elements.
    pub dimensions: Vec<(i64, u32)>,
}

impl Declared {
    pub fn slots(&self) -> u32 {
        self.dimensions.iter().map(|(_, length)| length).product()
    }
}

/// Bits of an `int` of which nobody says how wide it is.
const USUAL_BITS: i64 = 8;
/// The widest that can be.
const MOST_BITS: i64 = 30;
/// Elements of an array, and numbers that a quantifier ranges over.
const MOST_ELEMENTS: i64 = 1 << 16;
const MOST_QUANTIFIED: i64 = 1 << 10;

/// Everything that a name can mean, outside and inside of a module.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub constants: HashMap<String, (i64, Kind)>,
    pub globals: HashMap<String, Declared>,
    pub locals: HashMap<String, Declared>,
    pub diagnostics: Vec<Diagnostic>,
    enums: Vec<(String, u8)>,
    usual_bits: i64,
}

impl Names {
    pub fn of(program: &Program) -> Names {
        let mut names = Names { usual_bits: USUAL_BITS, ..Names::default() };
        for (number, (name, values)) in program.enums.iter().enumerate() {
            let bits = (usize::BITS - values.len().saturating_sub(1).leading_zeros()).max(1) as u8;
            names.enums.push((name.text.clone(), bits));
            for (value, it) in values.iter().enumerate() {
                names.constant(it, value as i64, Kind::Enum(number));
            }
        }
        for (name, value) in &program.defines {
            if let Ok(value) = names.constant_value(value) {
                match name.text.as_str() {
                    "DEFAULT_INT_BITS" if (1..=MOST_BITS).contains(&value) => names.usual_bits = value,
                    "DEFAULT_INT_BITS" => {
                        let message = format!("an integer has 1 to {MOST_BITS} bits, and not {value}");
                        names.report(name.span, message, "choose a number in between");
                    }
                    _ => names.constant(name, value, Kind::Number),
                }
            }
        }
        names
    }

    fn constant(&mut self, name: &Name, value: i64, kind: Kind) {
        if self.constants.insert(name.text.clone(), (value, kind)).is_some() {
            self.report(name.span, format!("`{}` is defined twice", name.text), "rename one of them");
        }
    }

    pub fn report(&mut self, span: Span, message: impl Into<String>, hint: &str) -> Reported {
        self.diagnostics.push(Diagnostic::error(span, message).hint(hint));
        Reported
    }

    pub fn unknown<'a>(&mut self, name: &Name, what: &str, known: impl Iterator<Item = &'a str>) -> Reported {
        let error = Diagnostic::error(name.span, format!("there is no {what} `{}`", name.text));
        self.diagnostics.push(match nearest(&name.text, known) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error.hint("declare it first"),
        });
        Reported
    }

    /// The type of something that was declared with this name and this width.
    pub fn ty(&mut self, name: &TypeName, bits: Option<&Expr>, span: Span) -> Checked<(Type, Kind)> {
        let width = match bits {
            Some(bits) => Some((self.constant_value(bits)?, bits.span)),
            None => None,
        };
        if let (TypeName::Bool | TypeName::Enum(_), Some((_, span))) = (name, width) {
            return Err(self.report(span, "only integers have a width", "leave it out"));
        }
        match name {
            TypeName::Bool => Ok((Type::BOOL, Kind::Bool)),
            TypeName::Enum(name) => {
                let found = self.enums.iter().position(|(known, _)| *known == name.text);
                match found {
                    Some(number) => Ok((Type::unsigned(self.enums[number].1), Kind::Enum(number))),
                    None => {
                        let known: Vec<String> = self.enums.iter().map(|(known, _)| known.clone()).collect();
                        Err(self.unknown(name, "enumeration", known.iter().map(String::as_str)))
                    }
                }
            }
            TypeName::Int => {
                let (width, place) = width.unwrap_or((self.usual_bits, span));
                if !(1..=MOST_BITS).contains(&width) {
                    let message = format!("an integer has 1 to {MOST_BITS} bits, and not {width}");
                    return Err(self.report(place, message, "choose a number in between"));
                }
                Ok((Type::unsigned(width as u8), Kind::Number))
            }
        }
    }

    /// Gives a variable its slots, the first of which is `slot`.
    pub fn declare(&mut self, declaration: &Declaration, place: Where, slot: u32) -> Checked<Variable> {
        let Declaration { ty, name, dimensions, bits } = declaration;
        let (ty, kind) = self.ty(ty, bits.as_ref(), name.span)?;
        let mut lengths = Vec::new();
        for (low, high) in dimensions {
            let first = self.constant_value(low)?;
            let (first, last) = match high {
                Some(high) => (first, self.constant_value(high)?),
                None => (0, first - 1),
            };
            if last < first || last - first >= MOST_ELEMENTS {
                let message = format!("an array from {first} to {last}");
                return Err(self.report(low.span, message, "it has at least one element, and 65536 at most"));
            }
            lengths.push((first, (last - first + 1) as u32));
        }
        if lengths.iter().map(|(_, length)| i64::from(*length)).product::<i64>() > MOST_ELEMENTS {
            return Err(self.report(name.span, "an array of more than 65536 elements", "make it smaller"));
        }
        let declared = Declared { place, slot, ty, kind, dimensions: lengths };
        let length = (!dimensions.is_empty()).then(|| declared.slots());
        let known = if place == Where::Local { &mut self.locals } else { &mut self.globals };
        if known.insert(name.text.clone(), declared).is_some() {
            return Err(self.report(name.span, format!("`{}` is declared twice", name.text), "rename one"));
        }
        Ok(Variable { name: name.text.clone(), slot, ty, length, span: name.span })
    }

    fn find(&self, name: &str) -> Option<&Declared> {
        self.locals.get(name).or_else(|| self.globals.get(name))
    }

    pub fn constant_value(&mut self, expr: &Expr) -> Checked<i64> {
        match self.value(expr, &BTreeMap::new()) {
            Ok((Value::Const(value), _)) => Ok(i64::from(value)),
            Ok(_) => Err(self.report(expr.span, "this is no constant", "use numbers and names of `define`")),
            Err(reported) => Err(reported),
        }
    }

    /// A variable or an element; `bound` has the names of quantifiers.
    pub fn place(&mut self, place: &Place, bound: &BTreeMap<String, i64>) -> Checked<(Slot, Kind)> {
        let Some(declared) = self.find(&place.name.text).cloned() else {
            let known: Vec<String> = self.locals.keys().chain(self.globals.keys()).cloned().collect();
            return Err(self.unknown(&place.name, "variable", known.iter().map(String::as_str)));
        };
        let (given, wanted) = (place.indices.len(), declared.dimensions.len());
        if given != wanted {
            let name = &place.name.text;
            let message = match wanted {
                0 => format!("`{name}` is no array"),
                1 => format!("`{name}` is an array: it takes one index, and not {given}"),
                _ => format!("`{name}` is an array: it takes {wanted} indices, and not {given}"),
            };
            return Err(self.report(place.name.span, message, "arrays are used element by element"));
        }
        let mut indices = Vec::new();
        let mut slot = declared.slot;
        let mut stride = declared.slots();
        for (index, &(first, length)) in place.indices.iter().zip(&declared.dimensions) {
            stride /= length;
            let value = self.number(index, bound)?;
            if let Value::Const(value) = value {
                let offset = i64::from(value) - first;
                if !(0..i64::from(length)).contains(&offset) {
                    let last = first + i64::from(length) - 1;
                    let message = format!("`{}` has no element {value}", place.name.text);
                    let hint = format!("its elements are {first} to {last}");
                    return Err(self.report(index.span, message, &hint));
                }
                slot += offset as u32 * stride;
                continue;
            }
            let value = match first {
                0 => value,
                _ => Value::binary(BinaryOp::Sub, value, Value::Const(first as i32)),
            };
            indices.push(Index { value, length, stride, array: place.name.text.as_str().into() });
        }
        Ok((Slot { scope: declared.place, slot, indices, ty: declared.ty }, declared.kind))
    }

    pub fn number(&mut self, expr: &Expr, bound: &BTreeMap<String, i64>) -> Checked<Value> {
        match self.value(expr, bound)? {
            (value, Kind::Number | Kind::Enum(_)) => Ok(value),
            (_, Kind::Bool) => Err(self.report(
                expr.span,
                "expected a number, found a truth value",
                "compare it, or use an int",
            )),
        }
    }

    pub fn condition(&mut self, expr: &Expr, bound: &BTreeMap<String, i64>) -> Checked<Value> {
        match self.value(expr, bound)? {
            (value, Kind::Bool) => Ok(value),
            _ => Err(self.report(
                expr.span,
                "expected a truth value, found a number",
                "compare it, as in `x != 0`",
            )),
        }
    }

    pub fn value(&mut self, expr: &Expr, bound: &BTreeMap<String, i64>) -> Checked<(Value, Kind)> {
        Ok(match &expr.kind {
            ExprKind::Number(number) => match i32::try_from(*number) {
                Ok(number) => (Value::Const(number), Kind::Number),
                Err(_) => {
                    return Err(self.report(expr.span, "a number of more than 31 bits", "make it smaller"));
                }
            },
            ExprKind::Bool(value) => (Value::Const(i32::from(*value)), Kind::Bool),
            ExprKind::Load(place) => {
                if place.indices.is_empty() {
                    if let Some(number) = bound.get(&place.name.text) {
                        return Ok((Value::Const(*number as i32), Kind::Number));
                    }
                    if self.find(&place.name.text).is_none()
                        && let Some((value, kind)) = self.constants.get(&place.name.text)
                    {
                        return Ok((Value::Const(*value as i32), *kind));
                    }
                }
                let (slot, kind) = self.place(place, bound)?;
                (Value::load(slot), kind)
            }
            ExprKind::Not(inner) => (folded_not(self.condition(inner, bound)?), Kind::Bool),
            ExprKind::Complement(inner) => {
                let inner = self.number(inner, bound)?;
                (Value::Unary(UnaryOp::Complement, Box::new(inner)), Kind::Number)
            }
            ExprKind::Binary(operator, left, right) => {
                self.binary(*operator, left, right, bound, expr.span)?
            }
            ExprKind::Quantified(quantifier, inner) => {
                (self.quantified(quantifier, inner, bound)?, Kind::Bool)
            }
        })
    }

    fn binary(
        &mut self,
        operator: Operator,
        left: &Expr,
        right: &Expr,
        bound: &BTreeMap<String, i64>,
        span: Span,
    ) -> Checked<(Value, Kind)> {
        let (model, kind) = match operator {
            Operator::Or => (BinaryOp::Or, Kind::Bool),
            Operator::And => (BinaryOp::And, Kind::Bool),
            Operator::Xor => (BinaryOp::Ne, Kind::Bool),
            Operator::Equal => (BinaryOp::Eq, Kind::Bool),
            Operator::Unequal => (BinaryOp::Ne, Kind::Bool),
            Operator::Less => (BinaryOp::Lt, Kind::Bool),
            Operator::LessEqual => (BinaryOp::Le, Kind::Bool),
            Operator::Greater => (BinaryOp::Gt, Kind::Bool),
            Operator::GreaterEqual => (BinaryOp::Ge, Kind::Bool),
            Operator::BitOr => (BinaryOp::BitOr, Kind::Number),
            Operator::BitXor => (BinaryOp::BitXor, Kind::Number),
            Operator::BitAnd => (BinaryOp::BitAnd, Kind::Number),
            Operator::ShiftLeft => (BinaryOp::ShiftLeft, Kind::Number),
            Operator::ShiftRight => (BinaryOp::ShiftRight, Kind::Number),
            Operator::Add => (BinaryOp::Add, Kind::Number),
            Operator::Sub => (BinaryOp::Sub, Kind::Number),
            Operator::Mul => (BinaryOp::Mul, Kind::Number),
            Operator::Div => (BinaryOp::Div, Kind::Number),
        };
        let (left, right) = match operator {
            Operator::Or | Operator::And | Operator::Xor => {
                (self.condition(left, bound), self.condition(right, bound))
            }
            Operator::Equal | Operator::Unequal => {
                let (one, other) = (self.value(left, bound)?, self.value(right, bound)?);
                let fits = match (one.1, other.1) {
                    (Kind::Enum(one), Kind::Enum(other)) => one == other,
                    (Kind::Bool, kind) | (kind, Kind::Bool) => kind == Kind::Bool,
                    _ => true,
                };
                if !fits {
                    let hint = "both sides are truth values, numbers, or values of one enumeration";
                    return Err(self.report(span, "values of different types are compared", hint));
                }
                (Ok(one.0), Ok(other.0))
            }
            _ => (self.number(left, bound), self.number(right, bound)),
        };
        let (left, right) = (left?, right?);
        if let (Value::Const(one), Value::Const(other)) = (&left, &right) {
            return match model.apply(*one, *other) {
                Some(value) => Ok((Value::Const(value), kind)),
                None => Err(self.report(span, "a division by zero", "it has no value")),
            };
        }
        Ok((Value::binary(model, left, right), kind))
    }

    /// The numbers that a quantifier ranges over.
    pub fn range(&mut self, quantifier: &Quantifier, bound: &BTreeMap<String, i64>) -> Checked<Vec<i64>> {
        let mut ends = [0; 2];
        for (end, expr) in ends.iter_mut().zip([&quantifier.low, &quantifier.high]) {
            *end = match self.number(expr, bound)? {
                Value::Const(value) => i64::from(value),
                _ => {
                    let hint = "a quantifier ranges over constants";
                    return Err(self.report(expr.span, "this is no constant", hint));
                }
            };
        }
        if ends[1] - ends[0] >= MOST_QUANTIFIED {
            let message = format!("a quantifier over more than {MOST_QUANTIFIED} numbers");
            return Err(self.report(quantifier.name.span, message, "make the range smaller"));
        }
        Ok((ends[0]..=ends[1]).collect())
    }

    fn quantified(
        &mut self,
        quantifier: &Quantifier,
        inner: &Expr,
        bound: &BTreeMap<String, i64>,
    ) -> Checked<Value> {
        let operator = if quantifier.all { BinaryOp::And } else { BinaryOp::Or };
        let mut result: Option<Value> = None;
        for number in self.range(quantifier, bound)? {
            let mut bound = bound.clone();
            bound.insert(quantifier.name.text.clone(), number);
            let value = self.condition(inner, &bound)?;
            result = Some(match result {
                None => value,
                Some(before) => Value::binary(operator, before, value),
            });
        }
        Ok(result.unwrap_or(Value::Const(i32::from(quantifier.all))))
    }
}

fn folded_not(value: Value) -> Value {
    match value {
        Value::Const(value) => Value::Const(i32::from(value == 0)),
        value => Value::not(value),
    }
}
