//! What goes wrong, in words: every syntax error with its place and how to mend it.
//!
//! The parsing functions only notice that something does not fit; what a newcomer probably meant is worked out here.

mod declarations;
mod expressions;
mod options;
mod statements;

use preempt_core::Diagnostic;
use preempt_core::diagnostic::nearest;

use super::cursor::Kind;
use super::{Parser, Reported};
use crate::token::{Keyword, Punct, TokenKind};

impl Parser<'_> {
    /// The current token, for a message.
    pub(super) fn found(&self) -> String {
        if self.implied {
            return "the end of the line".into();
        }
        match self.stream.get(self.pos) {
            None => "the end of the text".into(),
            Some(token) => match &token.kind {
                TokenKind::Str(_) => "a string".into(),
                TokenKind::EmbeddedC => "embedded C".into(),
                kind => format!("`{}`", kind.spelling(self.sources.text(token.span))),
            },
        }
    }

    pub(super) fn unexpected(&mut self, expected: &str) -> Reported {
        self.unexpected_with(expected, |error| error)
    }

    /// Something else than `expected` stands here. What it is often tells more than what it is not.
    pub(super) fn unexpected_with(
        &mut self,
        expected: &str,
        more: impl FnOnce(Diagnostic) -> Diagnostic,
    ) -> Reported {
        let error = match self.telling_token() {
            Some(error) => error,
            None => {
                let message = format!("expected {expected}, found {}", self.found());
                let error = more(Diagnostic::error(self.span(), message));
                match self.line_end_hint() {
                    Some(hint) if error.hint.is_none() => error.hint(hint),
                    _ => error,
                }
            }
        };
        self.report(error)
    }

    /// An error about the token here if it is a typical mistake wherever it stands.
    fn telling_token(&self) -> Option<Diagnostic> {
        let span = self.span();
        let previous = self.stream.get(self.pos.checked_sub(1)?)?;
        let glued = previous.span.end == span.start && previous.span.source == span.source;
        let both = previous.span.to(span);
        Some(match (self.previous, self.peek()) {
            (Kind::P(op), Kind::P(Punct::Assign)) if glued && is_arithmetic(op) => {
                let op = op.text();
                Diagnostic::error(both, format!("Promela has no `{op}=`"))
                    .hint(format!("write it out: x = x {op} ..."))
            }
            (Kind::P(Punct::Eq | Punct::Ne), Kind::P(Punct::Assign)) if glued => {
                Diagnostic::error(both, "Promela compares with `==` and `!=`").hint("leave the third `=` out")
            }
            (Kind::P(Punct::Lt), Kind::P(Punct::Gt)) if glued => {
                Diagnostic::error(both, "`<>` is not an operator here").hint("\"not equal\" is `!=`")
            }
            (_, Kind::P(Punct::Assign)) => match self.stream.get(self.pos + 1) {
                Some(next) if next.is(Punct::Gt) && next.span.start == span.end => {
                    Diagnostic::error(span.to(next.span), "`=>` is not an operator")
                        .hint("write `>=` to compare, `->` for an arrow")
                }
                Some(next) if next.is(Punct::Lt) && next.span.start == span.end => {
                    Diagnostic::error(span.to(next.span), "`=<` is not an operator").hint("write `<=`")
                }
                _ => {
                    Diagnostic::error(span, "`=` assigns, it does not compare").hint("to compare write `==`")
                }
            },
            (Kind::Ident, Kind::P(Punct::LParen))
                if !self.in_sequence && self.parens == 0 && !self.in_ltl =>
            {
                Diagnostic::error(span, "Promela has no functions")
                    .hint("use `inline name(parameters) { ... }` or a `proctype`")
            }
            (_, Kind::P(punct @ (Punct::Inc | Punct::Dec))) => {
                let op = punct.text();
                Diagnostic::error(
                    span,
                    format!("`{op}` is a statement of its own, not part of an expression"),
                )
                .hint(format!("write `x{op}` as a separate statement"))
            }
            (_, Kind::P(Punct::Hash | Punct::HashHash)) => {
                Diagnostic::error(span, "a `#` directive must stand first on its line")
            }
            (Kind::Ident | Kind::P(Punct::RBracket), Kind::P(punct @ (Punct::Not | Punct::NotNot))) => {
                let message =
                    format!("a send (`{}`) is a statement of its own, not an expression", punct.text());
                Diagnostic::error(span, message)
            }
            (_, Kind::P(Punct::Query)) if self.colon_on_this_line() => {
                Diagnostic::error(span, "`? :` is no operator of Promela")
                    .hint("a conditional value is written (condition -> a : b)")
            }
            (_, Kind::Ident) if !self.implied => {
                let word = self.ident()?;
                let instead = match &*word {
                    "and" => "&&",
                    "or" => "||",
                    "not" => "!",
                    "mod" => "%",
                    "xor" => "^",
                    "equals" | "is" => "==",
                    _ => return None,
                };
                Diagnostic::error(span, format!("`{word}` is not an operator"))
                    .hint(format!("write `{instead}`"))
            }
            _ => return None,
        })
    }

    /// Explains that a line end closed the statement, if that is why an operator stands alone.
    fn line_end_hint(&self) -> Option<String> {
        let token = self.stream.get(self.pos)?;
        let before = self.previous == Kind::P(Punct::Semi) && token.newline && self.in_sequence;
        let operator = match Kind::of(token) {
            Kind::P(punct) if is_arithmetic(punct) || is_comparison(punct) => punct,
            _ => return None,
        };
        before.then(|| {
            format!(
                "the line above is a complete statement: put the `{}` at its end, or parentheses around both lines",
                operator.text()
            )
        })
    }

    pub(super) fn not_a_name(&mut self, what: &str) -> Reported {
        if let Kind::K(keyword) = self.peek() {
            let error = Diagnostic::error(
                self.span(),
                format!("expected {what}, but `{}` is a keyword", keyword.text()),
            )
            .hint("choose another name");
            return self.report(error);
        }
        self.unexpected(what)
    }

    /// The keyword that a name was probably meant to be.
    fn misspelt(&self, name: &str, among: &[Keyword]) -> Option<&'static str> {
        nearest(name, among.iter().map(|keyword| keyword.text()))
    }
}

fn is_arithmetic(punct: Punct) -> bool {
    matches!(
        punct,
        Punct::Plus
            | Punct::Minus
            | Punct::Star
            | Punct::Slash
            | Punct::Percent
            | Punct::Amp
            | Punct::Pipe
            | Punct::Caret
            | Punct::Shl
            | Punct::Shr
    )
}

fn is_comparison(punct: Punct) -> bool {
    matches!(
        punct,
        Punct::Eq
            | Punct::Ne
            | Punct::Lt
            | Punct::Le
            | Punct::Gt
            | Punct::Ge
            | Punct::AndAnd
            | Punct::OrOr
            | Punct::Dot
            | Punct::LBracket
            | Punct::Query
            | Punct::Assign
    )
}
