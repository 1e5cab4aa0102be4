//! What is sent and received. Messages are written in several forms that mean the same.

use super::cursor::Kind;
use super::{EXPRESSION, Parse, Parser};
use crate::ast::{Expr, ReceiveArg, StmtKind, VarRef};
use crate::token::{Keyword, Punct};

impl Parser<'_> {
    /// `a, b` or `a(b, c)`
    pub(super) fn send_arguments(&mut self) -> Parse<Vec<Expr>> {
        if self.at(Punct::LParen) && self.commas_in_parentheses() {
            return Err(self.parenthesised_message());
        }
        let outer = self.message.replace(self.parens);
        let first = self.expression();
        self.message = outer;
        let mut args = vec![first?];
        if self.at(Punct::LParen) {
            let open = self.bump();
            args.extend(self.expressions()?);
            self.expect_close(Punct::RParen, open)?;
        } else {
            while self.eat(Punct::Comma) {
                args.push(self.expression()?);
            }
        }
        Ok(args)
    }

    pub(super) fn receive(&mut self, channel: VarRef, random: bool) -> Parse<StmtKind> {
        let keep = self.eat(Punct::Lt);
        let args = self.receive_arguments()?;
        if keep {
            self.expect(Punct::Gt, "to close `?<`")?;
        }
        Ok(StmtKind::Receive { channel, random, keep, args })
    }

    /// What a receive takes: `a, b`, `a(b, c)` and `(a, b)` all mean the same.
    pub(super) fn receive_arguments(&mut self) -> Parse<Vec<ReceiveArg>> {
        let mut args = Vec::new();
        self.receive_arguments_into(&mut args)?;
        Ok(args)
    }

    fn receive_arguments_into(&mut self, args: &mut Vec<ReceiveArg>) -> Parse<()> {
        loop {
            if !self.at(Punct::LParen) {
                let arg = self.receive_argument()?;
                args.push(arg);
            }
            if self.at(Punct::LParen) {
                let open = self.bump();
                self.nested(EXPRESSION, |p| p.receive_arguments_into(args))?;
                self.expect_close(Punct::RParen, open)?;
                return Ok(());
            }
            if !self.eat(Punct::Comma) {
                return Ok(());
            }
        }
    }

    fn receive_argument(&mut self) -> Parse<ReceiveArg> {
        let start = self.span();
        let constant = match self.peek() {
            Kind::Int(value) => value,
            Kind::K(Keyword::True | Keyword::Skip) => 1,
            Kind::K(Keyword::False) => 0,
            Kind::P(Punct::Minus) => {
                self.bump();
                let Kind::Int(value) = self.peek() else {
                    return Err(self.unexpected("a number after `-`"));
                };
                value.wrapping_neg()
            }
            Kind::K(Keyword::Eval) => {
                self.bump();
                let open = self.expect(Punct::LParen, "after `eval`")?;
                let expr = self.expression()?;
                self.expect_close(Punct::RParen, open)?;
                return Ok(ReceiveArg::Eval(expr));
            }
            Kind::Ident => return Ok(ReceiveArg::Ref(self.reference()?)),
            _ => return Err(self.not_receivable()),
        };
        self.bump();
        Ok(ReceiveArg::Constant(constant, start.to(self.previous_span)))
    }
}
