//! Process types, `init`, never claims and trace assertions: what has a body.

use std::rc::Rc;

use super::cursor::Kind;
use super::{Parse, Parser};
use crate::ast::{Claim, Declaration, Expr, Name, Process, ProcessKind, TraceAssertion};
use crate::token::{Keyword, Punct};

impl Parser<'_> {
    /// `active [3] proctype P(byte a; chan c) priority 2 provided (e) { ... }`
    pub(super) fn process(&mut self) -> Parse<Process> {
        let active = self.active()?;
        let kind = match self.peek() {
            Kind::K(Keyword::Proctype) => ProcessKind::Proctype,
            Kind::K(Keyword::DProctype) => ProcessKind::Deterministic,
            _ => {
                return Err(self.unexpected_with("`proctype` after `active`", |error| {
                    error.hint("write active proctype P() { ... }")
                }));
            }
        };
        self.bump();
        let name = self.name("the process type's name")?;
        self.processes.insert(Rc::from(name.text.as_str()));
        let parameters = self.parameters(&name)?;
        let priority = self.priority()?;
        let provided = self.provided()?;
        if provided.is_some() && self.at_keyword(Keyword::Priority) {
            return Err(self.priority_after_provided());
        }
        let (body, end) = self.body(&format!("the process `{}`", name.text), name.span)?;
        Ok(Process { name, kind, active, parameters, priority, provided, body, end })
    }

    fn active(&mut self) -> Parse<Option<Option<Expr>>> {
        if !self.at_keyword(Keyword::Active) {
            return Ok(None);
        }
        self.bump();
        if !self.at(Punct::LBracket) {
            return Ok(Some(None));
        }
        let open = self.bump();
        let count = self.expression()?;
        self.expect_close(Punct::RBracket, open)?;
        Ok(Some(Some(count)))
    }

    fn parameters(&mut self, process: &Name) -> Parse<Vec<Declaration>> {
        if !self.at(Punct::LParen) {
            return Err(self.missing_parameters(process));
        }
        let open = self.bump();
        let mut parameters = Vec::new();
        while !self.at(Punct::RParen) {
            if !self.at_declaration() {
                return Err(self.not_a_parameter(open));
            }
            parameters.push(self.declaration()?);
            if !self.eat(Punct::Semi) {
                break;
            }
        }
        self.expect_close(Punct::RParen, open)?;
        Ok(parameters)
    }

    fn provided(&mut self) -> Parse<Option<Expr>> {
        if !self.at_keyword(Keyword::Provided) {
            return Ok(None);
        }
        self.bump();
        let open = self.expect(Punct::LParen, "after `provided`")?;
        let condition = self.full_expression()?;
        self.expect_close(Punct::RParen, open)?;
        Ok(Some(condition))
    }

    pub(super) fn init(&mut self) -> Parse<Process> {
        let span = self.bump();
        if self.at(Punct::LParen) {
            return Err(self.init_with_parentheses());
        }
        let priority = self.priority()?;
        let (body, end) = self.body("`init`", span)?;
        Ok(Process {
            name: Name { text: "init".into(), span },
            kind: ProcessKind::Init,
            active: None,
            parameters: Vec::new(),
            priority,
            provided: None,
            body,
            end,
        })
    }

    pub(super) fn never(&mut self) -> Parse<Claim> {
        let span = self.bump();
        let name = self.ident().map(|text| Name { text: text.to_string(), span: self.bump() });
        let (body, end) = self.body("the `never` claim", span)?;
        Ok(Claim { name, body, span, end })
    }

    pub(super) fn trace(&mut self) -> Parse<TraceAssertion> {
        let negated = self.at_keyword(Keyword::Notrace);
        let span = self.bump();
        let (body, end) = self.body("the trace assertion", span)?;
        Ok(TraceAssertion { negated, body, span, end })
    }
}
