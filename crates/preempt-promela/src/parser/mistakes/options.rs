//! Mistakes in `if`, `do`, `for` and `select`, many of them made by writers of C.

use preempt_core::{Diagnostic, Span};

use super::super::cursor::Kind;
use super::super::statements::is_item;
use super::super::{Open, Parse, Parser, Reported};
use crate::ast::VarRef;
use crate::pretty;
use crate::token::{Keyword, Punct};

impl Parser<'_> {
    /// Something else than `::` after `if` or `do`. `Ok` if it can be read as an option.
    pub(in crate::parser) fn first_option(&mut self, open: Open, owner: Span) -> Parse<()> {
        let word = word_of(open);
        let span = self.span();
        if self.at(Punct::LParen) && open == Open::If && self.in_c_style() {
            let error = Diagnostic::error(owner, "an `if` of Promela is a list of options, not that of C")
                .hint("write if :: (condition) -> ... :: else -> ... fi");
            let reported = self.report(error);
            self.skip_c_if();
            return Err(reported);
        }
        if self.at(Punct::LBrace) && open == Open::Do {
            let error = Diagnostic::error(owner, "a `do` of Promela is a list of options, not that of C")
                .hint("write do :: (condition) -> ... :: else -> break od");
            let reported = self.report(error);
            self.skip_braces();
            return Err(reported);
        }
        let error = Diagnostic::error(span, format!("missing `::` after `{word}`"))
            .hint(format!("every option of `{word}` starts with `::`"));
        let reported = self.report(error);
        match self.peek() {
            Kind::Eof | Kind::P(Punct::RBrace) => Err(reported),
            Kind::K(keyword) if is_item(keyword) => Err(reported),
            _ => Ok(()),
        }
    }

    /// Whether `( ... )` is followed by something other than an arrow, as in C.
    fn in_c_style(&self) -> bool {
        let mut depth = 0i32;
        for (ahead, token) in self.stream[self.pos..].iter().enumerate() {
            depth += i32::from(token.is(Punct::LParen)) - i32::from(token.is(Punct::RParen));
            if depth == 0 {
                return !matches!(self.raw(ahead + 1), Kind::P(Punct::Arrow | Punct::Semi | Punct::Sep));
            }
        }
        false
    }

    /// Skips `(c) { ... } else if (d) { ... } else { ... }`.
    fn skip_c_if(&mut self) {
        self.implied = false;
        loop {
            if self.raw(0) == Kind::P(Punct::LParen) {
                self.bump();
                self.skip_parentheses();
            }
            if self.raw(0) == Kind::P(Punct::LBrace) {
                self.implied = false;
                self.skip_braces();
            } else {
                self.skip_statement(self.parens);
                if self.raw(1) == Kind::K(Keyword::Else) {
                    self.bump();
                }
            }
            if self.raw(0) != Kind::K(Keyword::Else) {
                return;
            }
            self.implied = false;
            self.bump();
            if self.raw(0) == Kind::K(Keyword::If) {
                self.implied = false;
                self.bump();
            }
        }
    }

    pub(in crate::parser) fn no_options(&mut self, open: Open, owner: Span) {
        let word = word_of(open);
        let error = Diagnostic::error(owner, format!("this `{word}` has no options"))
            .hint(format!("write {word} :: condition -> ... {}", close_of(open)));
        self.push(error);
    }

    pub(in crate::parser) fn empty_option(&mut self) {
        let error = Diagnostic::error(self.span(), format!("no statement between `::` and {}", self.found()))
            .hint("a step that does nothing is `skip`");
        self.report(error);
    }

    pub(in crate::parser) fn wrong_close(&mut self, open: Open, owner: Span) {
        let (word, close, found) = (word_of(open), close_of(open), self.found());
        let error =
            Diagnostic::error(self.span(), format!("`{word}` is closed by `{close}`, not by {found}"))
                .label(owner, format!("this `{word}`"));
        self.report(error);
        self.bump();
    }

    pub(in crate::parser) fn missing_close(&mut self, open: Open, owner: Span) {
        let (word, close, found) = (word_of(open), close_of(open), self.found());
        let error = Diagnostic::error(self.span(), format!("missing `{close}` before {found}"))
            .label(owner, format!("this `{word}` is not closed"));
        self.report(error);
    }

    pub(in crate::parser) fn loop_without_parentheses(&mut self, word: &str) -> Reported {
        self.unexpected_with(&format!("`(` after `{word}`"), |error| {
            error.hint(if word == "for" {
                "write for (i : 1 .. 3) { ... }"
            } else {
                "write select (i : 1 .. 3)"
            })
        })
    }

    pub(in crate::parser) fn declaration_in_loop(&mut self) -> Reported {
        let error = Diagnostic::error(self.span(), "the variable of a `for` must be declared before it")
            .hint("write int i; for (i : 1 .. 3) { ... }");
        let reported = self.report(error);
        self.skip_parentheses();
        reported
    }

    pub(in crate::parser) fn loop_of_c(&mut self, variable: &VarRef) -> Reported {
        let name = pretty::ref_text(variable);
        let error = if self.at(Punct::Assign) {
            Diagnostic::error(self.span(), "a `for` of Promela runs over a range, it is not that of C")
                .hint(format!("write for ({name} : 0 .. n - 1) {{ ... }}"))
        } else {
            let message = format!("expected `:` or `in`, found {}", self.found());
            Diagnostic::error(self.span(), message)
                .hint(format!("write for ({name} : 1 .. 3) or for ({name} in array)"))
        };
        let reported = self.report(error);
        self.skip_parentheses();
        reported
    }
}

fn word_of(open: Open) -> &'static str {
    if open == Open::If { "if" } else { "do" }
}

fn close_of(open: Open) -> &'static str {
    if open == Open::If { "fi" } else { "od" }
}
