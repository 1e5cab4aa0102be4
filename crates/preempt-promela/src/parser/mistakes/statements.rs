//! Mistakes in statements and their nesting.

use preempt_core::diagnostic::nearest;
use preempt_core::{Diagnostic, Span};

use super::super::cursor::Kind;
use super::super::statements::is_item;
use super::super::{Parse, Parser, Reported};
use crate::ast::{Name, Stmt, StmtKind};
use crate::pretty;
use crate::token::{Keyword, Punct};

/// Words that start a statement.
const STATEMENTS: &[Keyword] = &[
    Keyword::Assert,
    Keyword::Atomic,
    Keyword::Break,
    Keyword::DStep,
    Keyword::Do,
    Keyword::Else,
    Keyword::For,
    Keyword::Goto,
    Keyword::If,
    Keyword::Printf,
    Keyword::Printm,
    Keyword::Run,
    Keyword::Select,
    Keyword::SetPriority,
    Keyword::Skip,
    Keyword::Timeout,
    Keyword::Unless,
];

impl Parser<'_> {
    pub(in crate::parser) fn missing_block(&mut self, what: &str) -> Reported {
        self.unexpected_with(&format!("`{{` after {what}"), |error| {
            error.hint("the statements must stand in { and }")
        })
    }

    pub(in crate::parser) fn empty_block(&mut self, what: &str, brace: Span) {
        let error =
            Diagnostic::error(brace, format!("{what} is empty")).hint("a step that does nothing is `skip`");
        self.push(error);
    }

    pub(in crate::parser) fn missing_brace(&mut self, what: &str, owner: Span, brace: Span) {
        let (span, found) = (self.span(), self.found());
        let error = match self.peek() {
            Kind::K(keyword) if is_item(keyword) => Diagnostic::error(
                span,
                format!("{found} cannot stand within {what}: is a `}}` missing above?"),
            ),
            _ => Diagnostic::error(span, format!("missing `}}` of {what} before {found}")),
        };
        let error = error.label(brace, "this `{` is not closed");
        let error = if owner == brace { error } else { error.label(owner, "which belongs to this") };
        self.report(error);
    }

    pub(in crate::parser) fn leading_separator(&mut self, punct: Punct) {
        let error = Diagnostic::error(self.span(), format!("no statement before `{}`", punct.text()));
        let error = if punct == Punct::Arrow {
            error.hint("write the guard before `->`, `true` if there is none")
        } else {
            error.hint("leave the `;` out, or write `skip`")
        };
        self.report(error);
    }

    /// Two statements with nothing between them. `Ok` if the second one can be read as it stands.
    pub(in crate::parser) fn missing_separator(&mut self, before: Option<&Stmt>) -> Parse<()> {
        if let Some(error) = self.telling_token() {
            return Err(self.report(error));
        }
        let span = self.span();
        if self.at(Punct::LBrace)
            && let Some(Stmt { kind: StmtKind::Guard(guard), .. }) = before
        {
            let error = Diagnostic::error(span, "a condition does not guard a block by standing before it")
                .hint(format!("write if :: {} -> ... :: else fi", pretty::expr_text(guard)));
            return Err(self.report(error));
        }
        let found = self.found();
        let starts = match self.peek() {
            Kind::Ident => matches!(
                self.raw(1),
                Kind::P(
                    Punct::Assign
                        | Punct::Inc
                        | Punct::Dec
                        | Punct::Not
                        | Punct::NotNot
                        | Punct::Query
                        | Punct::QueryQuery
                        | Punct::LBracket
                        | Punct::Dot
                        | Punct::Colon
                        | Punct::LParen
                )
            ),
            Kind::K(keyword) => STATEMENTS.contains(&keyword) || self.at_declaration(),
            Kind::P(Punct::LBrace) => true,
            _ => false,
        };
        let error = if matches!(self.peek(), Kind::P(Punct::RParen | Punct::RBracket)) {
            Diagnostic::error(span, format!("{found} closes nothing"))
        } else if self.at(Punct::Comma) {
            Diagnostic::error(span, "statements are separated by `;` or `->`, not by `,`")
        } else if starts {
            Diagnostic::error(span, format!("missing `;` before {found}"))
                .label(self.previous_span, "the statement before ends here")
                .hint("separate statements by `;` or `->`")
        } else {
            Diagnostic::error(span, format!("expected `;`, `->` or the end of the line, found {found}"))
                .label(self.previous_span, "the statement before ends here")
        };
        let reported = self.report(error);
        if starts { Ok(()) } else { Err(reported) }
    }

    /// Reports and skips a closing word that closes nothing here.
    pub(in crate::parser) fn stray(&mut self) {
        let span = self.span();
        let error = match self.peek() {
            Kind::P(Punct::Sep) => Diagnostic::error(span, "`::` can stand only within `if` or `do`")
                .hint("write if :: ... fi, or do :: ... od"),
            _ => {
                let found = self.found();
                Diagnostic::error(span, format!("this {found} closes nothing"))
            }
        };
        self.report(error);
        self.bump();
    }

    pub(in crate::parser) fn second_unless(&mut self) -> Reported {
        let error = Diagnostic::error(self.span(), "only one `unless` can follow a statement")
            .hint("group by braces: { a unless b } unless c");
        self.report(error)
    }

    pub(in crate::parser) fn pascal_assignment(&mut self) -> Reported {
        let error = Diagnostic::error(self.span(), "`:=` is not an operator").hint("assign with `=`");
        self.report(error)
    }

    pub(in crate::parser) fn label_before_declaration(&mut self, labels: &[Name]) -> Reported {
        let name = labels.last().map_or("", |label| label.text.as_str());
        let error = Diagnostic::error(self.span(), format!("the label `{name}` stands before a declaration"))
            .hint(format!("a label marks a statement: move the declaration above `{name}:`"));
        self.report(error)
    }

    pub(in crate::parser) fn list_assignment(&mut self) -> Reported {
        let error = Diagnostic::error(self.span(), "a list of values can stand only in a declaration")
            .hint("assign the elements one by one");
        self.report(error)
    }

    /// Whether the parenthesis here holds a list.
    pub(in crate::parser) fn commas_in_parentheses(&self) -> bool {
        let mut depth = 0i32;
        for token in &self.stream[self.pos..] {
            depth += i32::from(token.is(Punct::LParen)) - i32::from(token.is(Punct::RParen));
            if depth == 0 || token.is(Punct::Semi) {
                return false;
            }
            if depth == 1 && token.is(Punct::Comma) {
                return true;
            }
        }
        false
    }

    pub(in crate::parser) fn parenthesised_message(&mut self) -> Reported {
        let error = Diagnostic::error(self.span(), "a message is sent without parentheses around it")
            .hint("write c!a,b or c!a(b)");
        self.report(error)
    }

    pub(in crate::parser) fn printf_without_text(&mut self) -> Reported {
        self.unexpected_with("a string in quotes", |error| error.hint("write printf(\"x is %d\\n\", x)"))
    }

    /// Warns if a format and its arguments do not go together.
    pub(in crate::parser) fn check_format(&mut self, format: &str, given: usize, span: Span) {
        let mut wanted = 0;
        let mut chars = format.chars();
        while let Some(c) = chars.next() {
            if c == '%' && chars.next().is_some_and(|kind| kind != '%') {
                wanted += 1;
            }
        }
        if wanted != given {
            let warning = Diagnostic::warning(
                span,
                format!(
                    "the text has {wanted} place{} for values, but {given} {} given",
                    if wanted == 1 { "" } else { "s" },
                    if given == 1 { "is" } else { "are" }
                ),
            );
            self.push(warning);
        }
    }

    pub(in crate::parser) fn return_outside(&mut self, start: Span) -> Reported {
        let error = Diagnostic::error(start, "`return` can stand only in an inline")
            .hint("a process ends at its closing brace; jump there with `goto`");
        self.report(error)
    }

    /// A name that starts a statement but cannot: a word of another language, a call, an unknown type.
    pub(in crate::parser) fn check_leading_name(&mut self) -> Parse<()> {
        let Some(word) = self.ident() else { return Ok(()) };
        let same_line = self.stream.get(self.pos + 1).is_some_and(|token| !token.newline);
        let span = self.span();
        let error = match (&*word, self.raw(1)) {
            ("while" | "until", Kind::P(Punct::LParen)) => {
                Diagnostic::error(span, format!("Promela has no `{word}`"))
                    .hint("write do :: (condition) -> ... :: else -> break od")
            }
            _ if self.inlines.contains_key(&word) => {
                Diagnostic::error(span, format!("the inline `{word}` needs its arguments in parentheses"))
                    .hint(format!("write {word}()"))
            }
            ("switch" | "case" | "match", Kind::P(Punct::LParen) | Kind::Ident) if same_line => {
                Diagnostic::error(span, format!("Promela has no `{word}`"))
                    .hint("write if :: x == 1 -> ... fi")
            }
            ("elif" | "elseif" | "elsif", _) => Diagnostic::error(span, format!("Promela has no `{word}`"))
                .hint("add another option: :: condition -> ..."),
            (_, Kind::P(Punct::LParen)) if same_line => return Err(self.unknown_call(&word, span)),
            (
                "continue",
                Kind::P(Punct::Semi | Punct::RBrace | Punct::Sep) | Kind::K(Keyword::Od | Keyword::Fi),
            ) => Diagnostic::error(span, "Promela has no `continue`")
                .hint("end the option there: the loop starts again by itself"),
            ("var" | "let" | "const", Kind::Ident) if same_line => {
                Diagnostic::error(span, format!("Promela has no `{word}`"))
                    .hint("declare a variable by its type: byte x = 1")
            }
            ("print" | "echo" | "println", Kind::Str) => {
                Diagnostic::error(span, format!("unknown word `{word}`")).hint("write printf(\"...\")")
            }
            (_, Kind::Ident) if same_line => {
                if let Some(error) = self.operator_word() {
                    return Err(self.report(error));
                }
                return match self.misspelt(&word, STATEMENTS) {
                    Some(near) => Err(self.unknown_word(&word, near, span)),
                    None => Err(self.unknown_type(span, &word)),
                };
            }
            (_, Kind::P(Punct::LBrace)) => match self.misspelt(&word, STATEMENTS) {
                Some(near) => return Err(self.unknown_word(&word, near, span)),
                None => return Ok(()),
            },
            _ => return Ok(()),
        };
        Err(self.report(error))
    }

    /// `x and y`, `x mod 2` at the start of a statement.
    fn operator_word(&mut self) -> Option<Diagnostic> {
        let word = self.stream.get(self.pos + 1)?.ident()?.clone();
        if !matches!(&*word, "and" | "or" | "mod" | "xor" | "is" | "equals" | "not") {
            return None;
        }
        self.bump();
        self.telling_token()
    }

    fn unknown_word(&mut self, word: &str, near: &str, span: Span) -> Reported {
        let error =
            Diagnostic::error(span, format!("unknown word `{word}`")).hint(format!("did you mean `{near}`?"));
        self.report(error)
    }

    fn unknown_call(&mut self, word: &str, span: Span) -> Reported {
        if self.all_processes.contains(word) {
            let error =
                Diagnostic::error(span, format!("`{word}` is a process type and is started with `run`"))
                    .hint(format!("write run {word}(...)"));
            return self.report(error);
        }
        if self.all_inlines.contains(word) {
            let error = self.inline_defined_later(span, word);
            return self.report(error);
        }
        let error = Diagnostic::error(span, format!("`{word}` is not an inline"));
        let inlines = self.inlines.keys().map(|name| &**name);
        let near = nearest(word, inlines.chain(STATEMENTS.iter().map(|keyword| keyword.text())));
        let error = match (word, near) {
            ("print" | "println" | "puts" | "echo", _) => error.hint("write printf(\"...\")"),
            ("await" | "wait", _) => error.hint("a condition waits by itself: write it as a statement"),
            (_, Some(near)) => error.hint(format!("did you mean `{near}`?")),
            _ => error.hint(format!("define it above: inline {word}(...) {{ ... }}")),
        };
        self.report(error)
    }
}
