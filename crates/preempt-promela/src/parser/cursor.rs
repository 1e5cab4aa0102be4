//! Reading tokens one by one, with the line ends that Spin takes for semicolons.

use std::rc::Rc;

use preempt_core::{Diagnostic, Span};

use super::{Parse, Parser, Reported};
use crate::token::{Keyword, Punct, Token, TokenKind};

/// A token's kind without its text, easy to match and to copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Ident,
    Int(i32),
    Str,
    P(Punct),
    K(Keyword),
    C,
    Eof,
}

impl Kind {
    pub fn of(token: &Token) -> Kind {
        match &token.kind {
            TokenKind::Ident(_) => Kind::Ident,
            TokenKind::Int(value) => Kind::Int(*value),
            TokenKind::Str(_) => Kind::Str,
            TokenKind::Punct(punct) => Kind::P(*punct),
            TokenKind::Keyword(keyword) => Kind::K(*keyword),
            TokenKind::EmbeddedC => Kind::C,
            // Spellings and bad tokens do not survive classification.
            TokenKind::Number(_) | TokenKind::Char(_) | TokenKind::Bad(_) => Kind::Int(0),
        }
    }

    /// Whether a statement may end with it, so that a line end behind it counts as `;`.
    ///
    /// Spin has no `timeout` here but reads it as `(timeout)`, which ends with a parenthesis.
    fn may_end_statement(self) -> bool {
        match self {
            Kind::Ident | Kind::Int(_) | Kind::C => true,
            Kind::P(p) => {
                matches!(p, Punct::RBrace | Punct::RParen | Punct::RBracket | Punct::Inc | Punct::Dec)
            }
            Kind::K(k) => matches!(
                k,
                Keyword::Od
                    | Keyword::Fi
                    | Keyword::Else
                    | Keyword::Break
                    | Keyword::Timeout
                    | Keyword::True
                    | Keyword::False
                    | Keyword::Skip
            ),
            Kind::Str | Kind::Eof => false,
        }
    }
}

impl Parser<'_> {
    pub(super) fn peek(&self) -> Kind {
        if self.implied { Kind::P(Punct::Semi) } else { self.raw(0) }
    }

    /// The token itself, whatever a line end before it may mean.
    pub(super) fn raw(&self, ahead: usize) -> Kind {
        self.stream.get(self.pos + ahead).map_or(Kind::Eof, Kind::of)
    }

    /// Whether a parenthesis follows the current name, and not as a statement of its own on the next line.
    pub(super) fn call_follows(&self) -> bool {
        let breaks = self.in_sequence && self.parens == 0;
        self.stream.get(self.pos + 1).is_some_and(|next| next.is(Punct::LParen) && !(breaks && next.newline))
    }

    pub(super) fn at(&self, punct: Punct) -> bool {
        self.peek() == Kind::P(punct)
    }

    pub(super) fn at_keyword(&self, keyword: Keyword) -> bool {
        self.peek() == Kind::K(keyword)
    }

    /// The name here, if a name stands here.
    pub(super) fn ident(&self) -> Option<Rc<str>> {
        if self.implied {
            return None;
        }
        self.stream.get(self.pos)?.ident().cloned()
    }

    pub(super) fn at_word(&self, word: &str) -> bool {
        self.ident().is_some_and(|name| &*name == word)
    }

    /// Where the current token stands; at the end, the place behind the last one.
    pub(super) fn span(&self) -> Span {
        match self.stream.get(self.pos) {
            Some(token) if !self.implied => token.span,
            _ => Span { start: self.previous_span.end, ..self.previous_span },
        }
    }

    /// Steps over the current token and gives its place.
    pub(super) fn bump(&mut self) -> Span {
        let span = self.span();
        if self.implied {
            self.implied = false;
            self.previous = Kind::P(Punct::Semi);
            return span;
        }
        let kind = self.raw(0);
        match kind {
            Kind::P(Punct::LParen) => self.parens += 1,
            Kind::P(Punct::RParen) => self.parens = self.parens.saturating_sub(1),
            Kind::Eof => return span,
            _ => {}
        }
        self.pos += 1;
        self.previous = kind;
        self.previous_span = span;
        self.settle();
        span
    }

    /// Decides whether a line end stands for `;` before the current token.
    pub(super) fn settle(&mut self) {
        let next = self.stream.get(self.pos);
        self.implied = self.in_sequence
            && self.parens == 0
            && next.is_some_and(|token| token.newline)
            && self.previous.may_end_statement()
            && !self.previous_wants_more()
            && !(self.previous == Kind::P(Punct::RBrace) && self.raw(0) == Kind::K(Keyword::Unless));
    }

    /// The names of inlines, processes and types do not end statements.
    fn previous_wants_more(&self) -> bool {
        let name = self.pos.checked_sub(1).and_then(|at| self.stream.get(at)?.ident());
        self.previous == Kind::Ident
            && name.is_some_and(|name| {
                self.inlines.contains_key(name)
                    || self.processes.contains(name)
                    || self.typedefs.contains(name)
            })
    }

    pub(super) fn eat(&mut self, punct: Punct) -> bool {
        let here = self.at(punct);
        if here {
            self.bump();
        }
        here
    }

    pub(super) fn expect(&mut self, punct: Punct, context: &str) -> Parse<Span> {
        if self.at(punct) {
            return Ok(self.bump());
        }
        Err(self.unexpected(&format!("`{}` {context}", punct.text())))
    }

    /// Expects the partner of a bracket that was opened at `open`.
    pub(super) fn expect_close(&mut self, punct: Punct, open: Span) -> Parse<Span> {
        if self.at(punct) {
            return Ok(self.bump());
        }
        let opening = if punct == Punct::RParen { "(" } else { "[" };
        let Reported = self.unexpected_with(&format!("`{}`", punct.text()), |error| {
            error.label(open, format!("to close this `{opening}`"))
        });
        Err(Reported)
    }

    /// Reports an error, unless one was already reported at this very token.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        let place = (self.stream_id, self.pos);
        let at_end = self.pos >= self.stream.len();
        if self.last_error != Some(place) && !(at_end && self.truncated) {
            self.last_error = Some(place);
            self.push(diagnostic);
        }
        Reported
    }

    /// Adds a diagnostic. The body of an inline is parsed once for every call, but its mistakes count once.
    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        let new = diagnostic
            .span
            .is_none_or(|span| self.reported.insert((diagnostic.message.clone(), span.source, span.start)));
        if new {
            self.diagnostics.push(diagnostic);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::parser::testing::{body, messages, outline_of_init, program};

    #[test]
    fn a_line_end_separates_what_may_end_a_statement() {
        assert_eq!(body("x = 1\n y = 2\n skip\n z++\n break\n (timeout)\n L:\n x"), {
            "x = 1; y = 2; 1; z++; break; timeout; L: x"
        });
        assert_eq!(body("c\n!m"), "c; !m");
        assert_eq!(body("x = a\n- 1"), "x = a; -1");
        assert_eq!(body("a[1]\n(b)"), "a[1]; b");
        assert_eq!(body("x = y\n(z)"), "x = y; z");
        assert_eq!(body("timeout\n x = 1"), "timeout; x = 1");
    }

    #[test]
    fn a_line_end_within_parentheses_or_after_an_operator_does_not() {
        assert_eq!(body("(a\n && b)"), "a && b");
        assert_eq!(body("x = a +\n b"), "x = a + b");
        assert_eq!(body("c!\n a,\n b"), "c!a,b");
        assert_eq!(body("a\n -> b"), "a; b");
        let text = "proctype P() { skip } inline f(a) { a } init { f\n(1)\n P\n[1]@L }";
        assert_eq!(outline_of_init(&program(text)), "f {1}; P[1]@L");
        assert_eq!(body("a\n\n\n; b"), "a; b");
    }

    #[test]
    fn separators_may_be_left_out_after_braces_and_else() {
        assert_eq!(body("{ a } { b } x = 1"), " {a};  {b}; x = 1");
        assert_eq!(body("if :: a :: else b fi"), "if :: a :: else; b");
        assert_eq!(body("atomic { a } unless { b } c"), "<atomic {a} unless  {b}>; c");
        assert_eq!(body("{ a }\n unless { b }"), "< {a} unless  {b}>");
        assert_eq!(messages("init { if :: a fi x = 1 }"), ["1:19 missing `;` before `x`"]);
    }

    #[test]
    fn the_end_of_the_text_is_reported_once() {
        assert_eq!(
            messages("init { if :: do :: atomic { x = ("),
            ["1:34 expected an expression, found the end of the text"]
        );
        assert_eq!(messages("init { do :: x = 1; y = 2"), ["1:26 missing `od` before the end of the text"]);
    }
}
