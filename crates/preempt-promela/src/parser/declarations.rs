//! Processes, claims, types and variables.

use std::rc::Rc;

use preempt_core::{Diagnostic, Span};

use super::cursor::Kind;
use super::{Parse, Parser};
use crate::ast::{Declaration, Initializer, Mtype, TypeName, Typedef, Variable, Visibility};
use crate::token::{Keyword, Punct};

impl Parser<'_> {
    pub(super) fn typedef(&mut self) -> Parse<Typedef> {
        self.bump();
        let name = self.name("the type's name")?;
        self.typedefs.insert(Rc::from(name.text.as_str()));
        let open = self.expect(Punct::LBrace, "before the fields")?;
        self.in_sequence = true;
        let mut fields = Vec::new();
        let result = loop {
            while self.eat(Punct::Semi) {}
            if self.at(Punct::RBrace) {
                self.in_sequence = false;
                self.bump();
                break Ok(());
            }
            if !self.at_declaration() {
                break Err(self.not_a_field(&name, open));
            }
            match self.declaration() {
                Ok(field) => fields.push(field),
                Err(reported) => break Err(reported),
            }
            if !self.at(Punct::Semi) && !self.at(Punct::RBrace) {
                break Err(self.not_a_field(&name, open));
            }
        };
        self.in_sequence = false;
        if result.is_err() {
            self.skip_to_closing_brace();
        } else if fields.is_empty() {
            self.push(
                Diagnostic::error(name.span, format!("`{}` has no fields", name.text))
                    .hint("a typedef needs at least one field"),
            );
        }
        Ok(Typedef { name, fields })
    }

    /// Whether `mtype` starts a list of names here, not a variable.
    pub(super) fn at_mtype_names(&self) -> bool {
        match self.raw(1) {
            Kind::P(Punct::Assign | Punct::LBrace) => true,
            Kind::P(Punct::Colon) => matches!(self.raw(3), Kind::P(Punct::Assign | Punct::LBrace)),
            _ => false,
        }
    }

    pub(super) fn mtype_names(&mut self) -> Parse<Mtype> {
        self.bump();
        let set = if self.eat(Punct::Colon) { Some(self.name("a name after `mtype:`")?) } else { None };
        if set.is_some() {
            self.expect(Punct::Assign, "before the names")?;
        } else {
            self.eat(Punct::Assign);
        }
        self.expect(Punct::LBrace, "before the names")?;
        let mut names = Vec::new();
        loop {
            names.push(self.name("a name")?);
            // Commas are optional, and may be doubled.
            while self.eat(Punct::Comma) {}
            if self.eat(Punct::RBrace) {
                return Ok(Mtype { set, names });
            }
        }
    }

    pub(super) fn at_declaration(&self) -> bool {
        match self.peek() {
            Kind::K(Keyword::Hidden | Keyword::Show | Keyword::Local) => true,
            Kind::K(keyword) => base_type(keyword).is_some() || keyword == Keyword::Mtype,
            Kind::Ident => self.ident().is_some_and(|name| self.typedefs.contains(&name)),
            _ => false,
        }
    }

    /// `hidden byte a = 1, b[3]`
    pub(super) fn declaration(&mut self) -> Parse<Declaration> {
        let start = self.span();
        let visibility = match self.peek() {
            Kind::K(Keyword::Hidden) => Some(Visibility::Hidden),
            Kind::K(Keyword::Show) => Some(Visibility::Show),
            Kind::K(Keyword::Local) => Some(Visibility::Local),
            _ => None,
        };
        if visibility.is_some() {
            self.bump();
        }
        let ty = self.type_name("a type")?;
        let mut variables = Vec::new();
        loop {
            variables.push(self.variable(&ty)?);
            if !self.eat(Punct::Comma) {
                break;
            }
            if self.at_declaration() && (self.peek() != Kind::Ident || self.raw(1) == Kind::Ident) {
                return Err(self.type_after_comma());
            }
        }
        Ok(Declaration { visibility, ty, variables, span: start.to(self.previous_span) })
    }

    pub(super) fn type_name(&mut self, what: &str) -> Parse<TypeName> {
        match self.peek() {
            Kind::K(Keyword::Mtype) => {
                self.bump();
                let set =
                    if self.eat(Punct::Colon) { Some(self.name("a name after `mtype:`")?) } else { None };
                Ok(TypeName::Mtype(set))
            }
            Kind::K(keyword) => match base_type(keyword) {
                Some(ty) => {
                    self.bump();
                    Ok(ty)
                }
                None => Err(self.not_a_type(what)),
            },
            Kind::Ident if self.at_declaration() => Ok(TypeName::Record(self.name("a type")?)),
            _ => Err(self.not_a_type(what)),
        }
    }

    fn variable(&mut self, ty: &TypeName) -> Parse<Variable> {
        if self.at(Punct::LBracket) {
            return Err(self.length_before_name());
        }
        let name = self.name("a variable's name")?;
        let mut width = None;
        let mut length = None;
        if self.at(Punct::Colon) {
            self.bump();
            let span = self.span();
            let Kind::Int(bits) = self.peek() else {
                return Err(self.unexpected("the number of bits after `:`"));
            };
            self.bump();
            width = Some((bits.unsigned_abs(), span));
        } else if self.at(Punct::LBracket) {
            let open = self.bump();
            if self.at(Punct::RBracket) {
                return Err(self.missing_length(&name));
            }
            length = Some(self.expression()?);
            self.expect_close(Punct::RBracket, open)?;
            if self.at(Punct::LBracket) {
                return Err(self.second_index());
            }
        }
        if self.at_keyword(Keyword::Of) {
            return Err(self.of_without_assignment(&name));
        }
        let init = if self.eat(Punct::Assign) { Some(self.initializer(ty)?) } else { None };
        Ok(Variable { name, width, length, init })
    }

    fn initializer(&mut self, ty: &TypeName) -> Parse<Initializer> {
        if self.at(Punct::LBrace) {
            let open = self.bump();
            let list = self.expressions()?;
            self.eat(Punct::Semi);
            if !self.at(Punct::RBrace) {
                return Err(self.unexpected_with("`,` or `}`", |error| {
                    error.label(open, "in the list that starts here")
                }));
            }
            self.bump();
            return Ok(Initializer::List(list));
        }
        if !self.at(Punct::LBracket) {
            if *ty == TypeName::Chan && matches!(self.peek(), Kind::Int(_)) {
                return Err(self.channel_without_brackets());
            }
            return Ok(Initializer::Value(self.expression()?));
        }
        let span = self.bump();
        let capacity = self.expression()?;
        self.expect_close(Punct::RBracket, span)?;
        if !self.at_keyword(Keyword::Of) {
            return Err(self.unexpected("`of` after the channel's capacity"));
        }
        self.bump();
        if !self.at(Punct::LBrace) {
            return Err(self.channel_type_without_braces());
        }
        self.bump();
        let mut fields = Vec::new();
        loop {
            fields.push(self.message_field()?);
            if !self.eat(Punct::Comma) {
                break;
            }
        }
        self.eat(Punct::Semi);
        if !self.at(Punct::RBrace) {
            return Err(self.message_goes_on());
        }
        self.bump();
        Ok(Initializer::Channel { capacity, fields, span: span.to(self.previous_span) })
    }

    fn message_field(&mut self) -> Parse<TypeName> {
        let span = self.span();
        let ty = self.type_name("a type")?;
        if ty == TypeName::Unsigned {
            let error = Diagnostic::error(span, "`unsigned` cannot be the type of a message's field")
                .hint("use byte, short or int");
            return Err(self.report(error));
        }
        Ok(ty)
    }

    /// `{ ... }` of something at the outermost level.
    pub(super) fn body(&mut self, what: &str, owner: Span) -> Parse<(Vec<crate::ast::Stmt>, Span)> {
        if !self.at(Punct::LBrace) {
            return Err(self.missing_body(what));
        }
        self.in_sequence = true;
        let result = self.block(what, owner);
        self.in_sequence = false;
        self.implied = false;
        result
    }
}

fn base_type(keyword: Keyword) -> Option<TypeName> {
    Some(match keyword {
        Keyword::Bit => TypeName::Bit,
        Keyword::Bool => TypeName::Bool,
        Keyword::Byte => TypeName::Byte,
        Keyword::Pid => TypeName::Pid,
        Keyword::Short => TypeName::Short,
        Keyword::Int => TypeName::Int,
        Keyword::Unsigned => TypeName::Unsigned,
        Keyword::Chan => TypeName::Chan,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use crate::ast::{Item, ProcessKind};
    use crate::parser::testing::{body, messages, program};

    #[test]
    fn variables_have_all_their_parts() {
        for text in [
            "byte a",
            "hidden int a = 1, b[3], c = a + 2",
            "show unsigned x : 5 = 3",
            "local mtype:fruit f = apple",
            "chan c = [2] of { byte, mtype, chan, mtype:fruit }",
            "int a[3] = { 1,2,3 }",
            "chan d[4] = [0] of { bool, pid, short }",
        ] {
            assert_eq!(body(text), text);
        }
        assert_eq!(body("chan a = [1] of {byte}, b = [2] of {bit};"), {
            "chan a = [1] of { byte }, b = [2] of { bit }"
        });
    }

    #[test]
    fn types_are_known_from_their_definition_on() {
        let text = "typedef T { byte a\n int b[2]; T2 c }";
        assert_eq!(messages(text), ["1:30 unknown type `T2`"].map(|m| m.replace("1:30", "2:12")));
        assert_eq!(program("typedef T { byte a\n int b[2]; };\nT x, y[3]").items.len(), 2);
    }

    #[test]
    fn processes_have_all_their_parts() {
        let text = "active [2] D_proctype P(byte a, b; chan c) priority 3 provided (a > 0) { skip }";
        let program = program(text);
        let Item::Process(process) = &program.items[0] else { panic!() };
        assert_eq!(process.kind, ProcessKind::Deterministic);
        assert_eq!(process.parameters.len(), 2);
        assert!(process.active.as_ref().is_some_and(Option::is_some));
        assert!(process.priority.is_some() && process.provided.is_some());
        assert_eq!(text.as_bytes()[process.end.start as usize], b'}');
    }

    #[test]
    fn mtype_names_need_no_commas() {
        let program = program("mtype = { a, b c, }; mtype:s = { d } mtype { e }; mtype:s x = d; mtype y");
        let shapes: Vec<_> = program
            .items
            .iter()
            .map(|item| match item {
                Item::Mtype(mtype) => (mtype.set.is_some(), mtype.names.len()),
                _ => (false, 0),
            })
            .collect();
        assert_eq!(shapes, [(false, 3), (true, 1), (false, 1), (false, 0), (false, 0)]);
    }

    #[test]
    fn claims_and_traces_are_items() {
        let program = program("never { skip } never n { skip } trace { c!1 } notrace { c?x }");
        assert!(matches!(&program.items[1], Item::Never(claim) if claim.name.is_some()));
        assert!(matches!(&program.items[3], Item::Trace(trace) if trace.negated));
    }
}
