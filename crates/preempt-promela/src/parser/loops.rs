//! `for` and `select`.

use preempt_core::Span;

use super::{Parse, Parser};
use crate::ast::{Expr, Stmt, StmtKind};
use crate::token::Punct;

impl Parser<'_> {
    /// `for (i : a .. b) { ... }` and `for (x in c) { ... }`
    pub(super) fn for_loop(&mut self) -> Parse<StmtKind> {
        let owner = self.bump();
        if !self.at(Punct::LParen) {
            return Err(self.loop_without_parentheses("for"));
        }
        let open = self.bump();
        if self.at_declaration() {
            return Err(self.declaration_in_loop());
        }
        let variable = self.reference()?;
        if self.at_word("in") {
            self.bump();
            let container = self.reference()?;
            self.expect_close(Punct::RParen, open)?;
            let body = self.loop_body(owner)?;
            return Ok(StmtKind::ForIn { variable, container, body });
        }
        if !self.at(Punct::Colon) {
            return Err(self.loop_of_c(&variable));
        }
        let (from, to) = self.range()?;
        self.expect_close(Punct::RParen, open)?;
        let body = self.loop_body(owner)?;
        Ok(StmtKind::ForRange { variable, from, to, body })
    }

    fn loop_body(&mut self, owner: Span) -> Parse<Vec<Stmt>> {
        self.eat(Punct::Semi);
        Ok(self.block("`for`", owner)?.0)
    }

    pub(super) fn select(&mut self) -> Parse<StmtKind> {
        self.bump();
        if !self.at(Punct::LParen) {
            return Err(self.loop_without_parentheses("select"));
        }
        let open = self.bump();
        let variable = self.reference()?;
        if !self.at(Punct::Colon) {
            return Err(self.unexpected_with("`:` and a range", |e| e.hint("write select (i : 1 .. 3)")));
        }
        let (from, to) = self.range()?;
        self.expect_close(Punct::RParen, open)?;
        Ok(StmtKind::Select { variable, from, to })
    }

    /// `: a .. b`
    fn range(&mut self) -> Parse<(Expr, Expr)> {
        self.bump();
        let from = self.expression()?;
        self.expect(Punct::DotDot, "between the bounds")?;
        let to = self.expression()?;
        Ok((from, to))
    }
}
