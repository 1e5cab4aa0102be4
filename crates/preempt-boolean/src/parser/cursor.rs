//! Reading tokens one by one, and where to go on after an error.

use super::{KEYWORDS, Parse, Parser, Reported};
use crate::lexer::{Sign, TokenKind};
use preempt_core::{Diagnostic, Span};

impl Parser {
    fn kind(&self, ahead: usize) -> Option<&TokenKind> {
        self.tokens.get(self.position + ahead).map(|token| &token.kind)
    }

    pub(super) fn at_end(&self) -> bool {
        self.position >= self.tokens.len()
    }

    pub(super) fn word(&self) -> Option<&str> {
        self.word_ahead(0)
    }

    pub(super) fn word_ahead(&self, ahead: usize) -> Option<&str> {
        match self.kind(ahead)? {
            TokenKind::Word(word) => Some(word),
            _ => None,
        }
    }

    pub(super) fn number(&self) -> Option<&str> {
        match self.kind(0)? {
            TokenKind::Number(number) => Some(number),
            _ => None,
        }
    }

    pub(super) fn sign(&self) -> Option<Sign> {
        self.sign_ahead(0)
    }

    pub(super) fn sign_ahead(&self, ahead: usize) -> Option<Sign> {
        match self.kind(ahead)? {
            TokenKind::Sign(sign) => Some(*sign),
            _ => None,
        }
    }

    pub(super) fn at(&self, sign: Sign) -> bool {
        self.sign() == Some(sign)
    }

    pub(super) fn at_word(&self, word: &str) -> bool {
        self.word() == Some(word)
    }

    /// Does a procedure begin here? It never does within another one.
    pub(super) fn at_procedure(&self) -> bool {
        self.word().is_some_and(|word| matches!(word, "void" | "bool" | "dfs"))
    }

    pub(super) fn span(&self) -> Span {
        self.tokens.get(self.position).map_or(self.end, |token| token.span)
    }

    /// The place of the token before the current one.
    pub(super) fn previous(&self) -> Span {
        let before = self.position.checked_sub(1).and_then(|before| self.tokens.get(before));
        before.map_or(self.end, |token| token.span)
    }

    /// Steps over the current token and gives its place.
    pub(super) fn bump(&mut self) -> Span {
        let span = self.span();
        self.position = (self.position + 1).min(self.tokens.len());
        span
    }

    pub(super) fn eat(&mut self, sign: Sign) -> bool {
        let here = self.at(sign);
        if here {
            self.bump();
        }
        here
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let here = self.at_word(word);
        if here {
            self.bump();
        }
        here
    }

    pub(super) fn expect(&mut self, sign: Sign, context: &str) -> Parse<()> {
        if self.eat(sign) {
            return Ok(());
        }
        // What is missing is missing behind the last token, which may stand on an earlier line.
        if sign == Sign::Semicolon {
            let end = self.previous();
            let found = self.found();
            let error =
                Diagnostic::error(Span { start: end.end, ..end }, format!("missing `;` before {found}"));
            return Err(self.report(error));
        }
        Err(self.unexpected(&format!("`{}` {context}", sign.text())))
    }

    pub(super) fn expect_word(&mut self, word: &str, context: &str) -> Parse<()> {
        if self.eat_word(word) {
            return Ok(());
        }
        Err(self.unexpected(&format!("`{word}` {context}")))
    }

    fn found(&self) -> String {
        match self.kind(0) {
            None => "the end of the text".into(),
            Some(TokenKind::Word(text) | TokenKind::Number(text)) => format!("`{text}`"),
            Some(TokenKind::Sign(sign)) => format!("`{}`", sign.text()),
        }
    }

    pub(super) fn unexpected(&mut self, expected: &str) -> Reported {
        let found = self.found();
        self.error(&format!("expected {expected}, found {found}"))
    }

    pub(super) fn error(&mut self, message: &str) -> Reported {
        let error = Diagnostic::error(self.span(), message);
        self.report(error)
    }

    pub(super) fn error_with(&mut self, message: &str, hint: &str) -> Reported {
        let error = Diagnostic::error(self.span(), message).hint(hint);
        self.report(error)
    }

    /// Reports an error, unless one was already reported at this very token.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        if self.last_error != Some(self.position) {
            self.last_error = Some(self.position);
            self.diagnostics.push(diagnostic);
        }
        Reported
    }

    /// Behind the next `;`, or before a word that ends a list of statements or begins the next one.
    pub(super) fn skip_statement(&mut self) {
        while !self.at_end() && !self.at_procedure() {
            if self.eat(Sign::Semicolon) {
                return;
            }
            match self.word() {
                Some("end" | "fi" | "od" | "else" | "elsif") => return,
                // A word that only begins statements: the one before it has lost its `;`.
                Some(
                    "if" | "while" | "goto" | "return" | "assume" | "assert" | "skip" | "atomic_begin"
                    | "atomic_end" | "end_thread",
                ) if self.last_error != Some(self.position) => return,
                _ => {}
            }
            self.bump();
        }
    }

    /// To the next thing at the outermost level.
    pub(super) fn skip_to_item(&mut self) {
        while !self.at_end() && !self.at_procedure() {
            if self.at_word("decl") && self.last_error != Some(self.position) {
                return;
            }
            self.bump();
        }
        // `bool` in the middle of a broken head is not the next procedure.
        if self.last_error == Some(self.position) {
            self.bump();
            while !self.at_end() && !self.at_procedure() {
                self.bump();
            }
        }
    }

    /// Is this name, followed by that sign, no keyword?
    pub(super) fn name_before(&self, sign: Sign) -> bool {
        self.word().is_some_and(|word| !KEYWORDS.contains(&word)) && self.sign_ahead(1) == Some(sign)
    }
}
