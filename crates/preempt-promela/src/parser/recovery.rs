//! Where to go on after an error: as near as possible, so that the next mistake is found too, but not so near that
//! the same mistake is reported again.

use super::Parser;
use super::cursor::Kind;
use super::statements::is_item;
use crate::token::{Keyword, Punct};

impl Parser<'_> {
    /// Skips the rest of a statement that began with so many open parentheses.
    pub(super) fn skip_statement(&mut self, parens: usize) {
        self.parens = parens;
        self.settle();
        loop {
            match self.peek() {
                Kind::Eof | Kind::P(Punct::Semi | Punct::Sep | Punct::RBrace) => return,
                Kind::K(Keyword::Fi | Keyword::Od) => return,
                Kind::K(keyword) if is_item(keyword) => return,
                Kind::P(Punct::Arrow) if !self.parenthesis_closes_on_this_line() => return,
                Kind::P(Punct::LBrace) => {
                    self.skip_braces();
                }
                Kind::K(Keyword::If | Keyword::Do) => self.skip_options(),
                _ => {
                    self.bump();
                    self.parens = parens;
                    self.settle();
                }
            }
        }
    }

    /// Whether a parenthesis that was opened before this place is closed before the line ends.
    fn parenthesis_closes_on_this_line(&self) -> bool {
        let mut depth = 0;
        for token in &self.stream[self.pos..] {
            if token.newline || token.is(Punct::Semi) {
                return false;
            }
            depth += i32::from(token.is(Punct::LParen)) - i32::from(token.is(Punct::RParen));
            if depth < 0 {
                return true;
            }
        }
        false
    }

    /// Skips behind the parenthesis that closes the innermost open one, or to where a body begins.
    pub(super) fn skip_parentheses(&mut self) {
        let outer = self.parens.saturating_sub(1);
        while self.parens > outer
            && !matches!(self.raw(0), Kind::Eof | Kind::P(Punct::LBrace | Punct::RBrace | Punct::Sep))
        {
            self.implied = false;
            self.bump();
        }
    }

    /// Skips `{ ... }`; false if it is never closed.
    pub(super) fn skip_braces(&mut self) -> bool {
        let mut depth = 0usize;
        loop {
            match self.raw(0) {
                Kind::Eof => return false,
                Kind::P(Punct::LBrace) => depth += 1,
                Kind::P(Punct::RBrace) => depth = depth.saturating_sub(1),
                Kind::K(keyword) if is_item(keyword) => return false,
                _ => {}
            }
            self.implied = false;
            self.bump();
            if depth == 0 {
                return true;
            }
        }
    }

    /// Skips `if ... fi` or `do ... od`.
    fn skip_options(&mut self) {
        let mut depth = 0usize;
        loop {
            match self.raw(0) {
                Kind::Eof | Kind::P(Punct::RBrace) => return,
                Kind::K(keyword) if is_item(keyword) => return,
                Kind::K(Keyword::If | Keyword::Do) => depth += 1,
                Kind::K(Keyword::Fi | Keyword::Od) => depth -= 1,
                Kind::P(Punct::LBrace) => {
                    if !self.skip_braces() {
                        return;
                    }
                    continue;
                }
                _ => {}
            }
            self.implied = false;
            self.bump();
            if depth == 0 {
                return;
            }
        }
    }

    /// Skips to the next thing at the outermost level.
    pub(super) fn skip_to_item(&mut self) {
        self.in_sequence = false;
        self.implied = false;
        self.in_ltl = false;
        self.parens = 0;
        loop {
            let newline = self.stream.get(self.pos).is_some_and(|token| token.newline);
            match self.peek() {
                Kind::Eof => return,
                Kind::K(keyword) if is_item(keyword) => return,
                Kind::P(Punct::LBrace) => {
                    // What follows a block is a new thing.
                    self.skip_braces();
                    return;
                }
                Kind::P(Punct::Semi) => {
                    self.bump();
                    return;
                }
                _ if newline && self.at_declaration() => return,
                _ => {
                    self.bump();
                }
            }
        }
    }

    /// Skips behind the brace that closes the block we are in.
    pub(super) fn skip_to_closing_brace(&mut self) {
        self.implied = false;
        self.parens = 0;
        loop {
            match self.peek() {
                Kind::Eof => return,
                Kind::K(keyword) if is_item(keyword) => return,
                Kind::P(Punct::LBrace) => {
                    self.skip_braces();
                }
                Kind::P(Punct::RBrace) => {
                    self.bump();
                    return;
                }
                _ => {
                    self.bump();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::parser::testing::messages;

    #[test]
    fn every_mistake_is_reported_once() {
        let text = "init {
    x = = 1;
    if
    :: (a = 1) -> y = 2
    :: b > -> z = 3
    fi;
    w = (1 + ;
    v = (a = b -> 1 : 2);
    good = 1
    u = [1]
}
byte ok = ;
proctype P(byte a) { skip ] }";
        let lines: Vec<_> =
            messages(text).iter().map(|m| m.split(':').next().unwrap_or("").to_string()).collect();
        assert_eq!(lines, ["2", "4", "5", "7", "8", "10", "12", "13"]);
    }

    #[test]
    fn unclosed_things_end_at_the_next_item() {
        let text = "proctype P() { do :: x = 1\n}\nproctype Q() { atomic { y = 1\n}\ninit { skip }";
        assert_eq!(
            messages(text),
            [
                "2:1 missing `od` before `}`",
                "5:1 `init` cannot stand within the process `Q`: is a `}` missing above?"
            ]
        );
    }

    #[test]
    fn wrong_closing_words_do_not_confuse_the_rest() {
        assert_eq!(messages("init { do :: a -> if :: b :: c od }"), ["1:32 missing `fi` before `od`"]);
        assert_eq!(messages("init { if :: a -> b od; c = 1 }"), ["1:21 `if` is closed by `fi`, not by `od`"]);
        assert_eq!(messages("init { if :: a -> b } :: c -> d fi }"), ["1:21 this `}` closes nothing"]);
        assert_eq!(messages("init { a fi; b }"), ["1:10 this `fi` closes nothing"]);
        assert_eq!(messages("init { a :: b }"), ["1:10 `::` can stand only within `if` or `do`"]);
    }
}
