//! Structures: `struct S { int f(3); bool g[2]; };`. A variable of such a type is a variable for each field, `x.f` and `x.g`, which
//! begins with the dimensions of `x`; to assign a whole structure is to assign all its fields at once.

use super::{Parsed, Parser};
use crate::ast::*;
use std::collections::HashMap;

/// The types that were declared so far, and which variables are of them.
#[derive(Default)]
pub(super) struct Structures {
    types: HashMap<String, Vec<Declaration>>,
    globals: HashMap<String, Structured>,
    /// `None`: a variable of another type hides a structure.
    locals: HashMap<String, Option<Structured>>,
    inside: bool,
}

/// A variable that is a structure.
#[derive(Clone)]
pub(super) struct Structured {
    ty: String,
    dimensions: usize,
}

impl Structures {
    pub fn enter_module(&mut self) {
        self.inside = true;
        self.locals.clear();
    }

    pub fn leave_module(&mut self) {
        self.inside = false;
        self.locals.clear();
    }

    /// A variable that is no structure is declared.
    pub fn forget(&mut self, name: &str) {
        if self.inside {
            self.locals.insert(name.to_string(), None);
        }
    }

    /// The structure that is meant as a whole, if it is one.
    pub fn of(&self, place: &Place) -> Option<Structured> {
        let name = &place.name.text;
        let found = self.locals.get(name).cloned().unwrap_or_else(|| self.globals.get(name).cloned());
        found.filter(|structured| structured.dimensions == place.indices.len())
    }
}

impl Parser {
    /// `struct S { ... };`
    pub(super) fn structure(&mut self) -> Parsed<()> {
        self.at += 1;
        let name = self.name("the name of the structure")?;
        self.expect("{", "as in `struct pair { int left(3), right(3); };`")?;
        let mut fields: Vec<Declaration> = Vec::new();
        while !self.is("}") && self.at < self.tokens.len() {
            if self.word() == Some("struct") {
                self.type_name()?;
            }
            fields.extend(self.declarations()?);
        }
        self.expect("}", "the structure is not closed")?;
        self.take(";");
        if fields.is_empty() {
            return self.error(name.span, "a structure without fields", "it would have no value");
        }
        for (number, field) in fields.iter().enumerate() {
            if fields[..number].iter().any(|before| before.name.text == field.name.text) {
                let message = format!("two fields are called `{}`", field.name.text);
                return self.error(field.name.span, message, "rename one of them");
            }
        }
        if self.structures.types.insert(name.text.clone(), fields).is_some() {
            let message = format!("there are two structures `{}`", name.text);
            return self.error(name.span, message, "rename one of them");
        }
        Ok(())
    }

    /// `struct S x, y[3];`
    pub(super) fn structured(&mut self) -> Parsed<Vec<Declaration>> {
        self.at += 1;
        let ty = self.name("the name of the structure")?;
        let Some(fields) = self.structures.types.get(&ty.text).cloned() else {
            let message = format!("there is no structure `{}`", ty.text);
            return self.error(
                ty.span,
                message,
                "declare it first, as in `struct pair { int left(3), right(3); };`",
            );
        };
        let mut all = Vec::new();
        loop {
            let name = self.name("the name of a variable")?;
            let dimensions = self.dimensions()?;
            for field in &fields {
                let dimensions: Vec<Dimension> =
                    dimensions.iter().chain(&field.dimensions).cloned().collect();
                if dimensions.len() > 2 {
                    let message =
                        format!("`{}.{}` would have more than two dimensions", name.text, field.name.text);
                    return self.error(name.span, message, "make it flat");
                }
                let text = format!("{}.{}", name.text, field.name.text);
                all.push(Declaration { name: Name { text, span: name.span }, dimensions, ..field.clone() });
            }
            let structured = Structured { ty: ty.text.clone(), dimensions: dimensions.len() };
            if self.structures.inside {
                self.structures.locals.insert(name.text, Some(structured));
            } else {
                self.structures.globals.insert(name.text, structured);
            }
            if !self.take(",") {
                break;
            }
        }
        self.expect(";", "declarations end with `;`")?;
        Ok(all)
    }

    /// `x = y` and `x = undef` for whole structures: all fields at once, and all elements of those that are arrays.
    pub(super) fn whole(
        &mut self,
        quantifiers: &[Quantifier],
        place: &Place,
        structured: Structured,
    ) -> Parsed<Vec<Assignment>> {
        let value = if self.take_word("undef") { None } else { Some(self.place()?) };
        if let Some(value) = &value
            && self.structures.of(value).is_none_or(|other| other.ty != structured.ty)
        {
            let message = format!("`{}` is no structure `{}`", value.name.text, structured.ty);
            return self.error(
                value.name.span,
                message,
                "assign a whole structure of this type, or field by field",
            );
        }
        let fields = self.structures.types.get(&structured.ty).cloned().unwrap_or_default();
        let mut all = Vec::new();
        for field in fields {
            let mut quantifiers = quantifiers.to_vec();
            let mut elements = Vec::new();
            for (number, (first, last)) in field.dimensions.iter().enumerate() {
                // No text has such a name.
                let name = Name { text: format!("element {number}"), span: place.name.span };
                let number_of = |kind| Expr { kind, span: first.span };
                let one = || Box::new(number_of(ExprKind::Number(1)));
                let (low, high) = match last {
                    Some(last) => (first.clone(), last.clone()),
                    None => {
                        let last = ExprKind::Binary(Operator::Sub, Box::new(first.clone()), one());
                        (number_of(ExprKind::Number(0)), number_of(last))
                    }
                };
                let index = Place { name: name.clone(), indices: Vec::new() };
                elements.push(number_of(ExprKind::Load(index)));
                quantifiers.push(Quantifier { all: true, name, low, high });
            }
            let of = |whole: &Place| Place {
                name: Name {
                    text: format!("{}.{}", whole.name.text, field.name.text),
                    span: whole.name.span,
                },
                indices: whole.indices.iter().chain(&elements).cloned().collect(),
            };
            let value = value.as_ref().map(|value| {
                let span = value.name.span;
                Expr { kind: ExprKind::Load(of(value)), span }
            });
            all.push(Assignment { quantifiers, place: of(place), value });
        }
        Ok(all)
    }
}
