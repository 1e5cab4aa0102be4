//! Variables, and what can only begin with a name: labels and variables of other processes, and polls.

use preempt_core::Diagnostic;

use super::cursor::Kind;
use super::{Parse, Parser};
use crate::ast::{Expr, ExprKind, Name, RefPart, VarRef};
use crate::token::Punct;

impl Parser<'_> {
    /// An expression that starts with the given reference: a remote reference, a poll, or a variable.
    pub(super) fn after_reference(&mut self, reference: VarRef) -> Parse<Expr> {
        let start = reference.span;
        let kind = match self.peek() {
            Kind::P(Punct::At) => {
                self.bump();
                let label = self.name("a label after `@`")?;
                let (process, pid) = self.remote(reference)?;
                ExprKind::RemoteLabel { process, pid, label }
            }
            Kind::P(Punct::Colon) if self.names_process(&reference) => {
                self.bump();
                let variable = self.reference()?;
                let (process, pid) = self.remote(reference)?;
                ExprKind::RemoteVariable { process, pid, variable }
            }
            Kind::P(punct @ (Punct::Query | Punct::QueryQuery)) => {
                self.bump();
                if !self.at(Punct::LBracket) {
                    return Err(self.receive_in_expression(start));
                }
                let open = self.bump();
                let args = self.receive_arguments()?;
                self.expect_close(Punct::RBracket, open)?;
                ExprKind::Poll { channel: reference, random: punct == Punct::QueryQuery, args }
            }
            _ => ExprKind::Ref(reference),
        };
        Ok(Expr { kind, span: start.to(self.previous_span) })
    }

    fn names_process(&self, reference: &VarRef) -> bool {
        let known = if self.in_ltl { &self.all_processes } else { &self.processes };
        matches!(&reference.parts[..], [part] if known.contains(part.name.text.as_str()))
    }

    fn remote(&mut self, reference: VarRef) -> Parse<(Name, Option<Box<Expr>>)> {
        let span = reference.span;
        let mut parts = reference.parts.into_iter();
        match (parts.next(), parts.next()) {
            (Some(part), None) => Ok((part.name, part.index)),
            _ => Err(self.report(
                Diagnostic::error(span, "a remote reference starts with a process type")
                    .hint("write P[pid]@label or P[pid]:variable"),
            )),
        }
    }

    /// `a[i].b`
    pub(super) fn reference(&mut self) -> Parse<VarRef> {
        let start = self.span();
        let mut parts = Vec::new();
        let mut height = 1;
        loop {
            let name = self.name("a variable")?;
            let mut index = None;
            if self.at(Punct::LBracket) {
                let open = self.bump();
                // The index is an ordinary expression even within `ltl`, except for the temporal words.
                index = Some(Box::new(self.expression()?));
                height = height.max(self.height + 1);
                self.expect_close(Punct::RBracket, open)?;
                if self.at(Punct::LBracket) && !self.in_ltl {
                    return Err(self.second_index());
                }
            }
            parts.push(RefPart { name, index });
            if !self.eat(Punct::Dot) {
                break;
            }
        }
        self.height = height;
        self.grow(height, start)?;
        Ok(VarRef { parts, span: start.to(self.previous_span) })
    }
}
