//! The words and signs of a text, for the formats of nets that have no more structure than that. What a word is, how it is
//! quoted, what a comment is and whether lines matter is up to the format.

use preempt_core::{Diagnostic, SourceId, Span};

/// How a format is taken apart.
pub(crate) struct Lexis {
    /// How comments begin and end.
    pub comments: &'static [(&'static str, &'static str)],
    /// What may stand around a word that has other letters in it.
    pub quotes: &'static [(char, char)],
    /// Is the letter part of a word?
    pub in_word: fn(char) -> bool,
    /// Is the end of a line something of its own?
    pub lines: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    Word(&'a str),
    Quoted(&'a str),
    Sign(char),
    Line,
    End,
}

/// A number of tokens beyond this is refused, so that sums stay far from overflow.
pub(crate) const LARGEST: u64 = u32::MAX as u64;

pub(crate) fn tokens<'a>(
    source: SourceId,
    text: &'a str,
    lexis: &Lexis,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<(Token<'a>, Span)> {
    let mut tokens = Vec::with_capacity(text.len() / 4);
    let mut at = 0;
    let span = |start: usize, end: usize| Span::new(source, start as u32, end as u32);
    while let Some(first) = text[at..].chars().next() {
        let (start, rest) = (at, &text[at..]);
        if let Some((open, close)) = lexis.comments.iter().find(|(open, _)| rest.starts_with(open)) {
            match rest[open.len()..].find(close) {
                // The end of the line is there still.
                Some(length) if *close == "\n" => at += open.len() + length,
                Some(length) => at += open.len() + length + close.len(),
                None => {
                    if *close != "\n" {
                        let error =
                            Diagnostic::error(span(start, start + open.len()), "this comment does not end");
                        diagnostics.push(error);
                    }
                    at = text.len();
                }
            }
            continue;
        }
        at += first.len_utf8();
        if first == '\n' && lexis.lines {
            tokens.push((Token::Line, span(start, at)));
        } else if first.is_whitespace() {
            continue;
        } else if let Some((_, close)) = lexis.quotes.iter().find(|(open, _)| *open == first) {
            let length = text[at..].find([*close, '\n']).unwrap_or(text.len() - at);
            let end = at + length;
            if !text[end..].starts_with(*close) {
                diagnostics.push(Diagnostic::error(
                    span(start, end),
                    format!("`{close}` is missing behind this name"),
                ));
            }
            tokens.push((Token::Quoted(&text[at..end]), span(start, end)));
            at = end + if text[end..].starts_with(*close) { close.len_utf8() } else { 0 };
        } else if (lexis.in_word)(first) {
            let length = text[at..].find(|letter| !(lexis.in_word)(letter)).unwrap_or(text.len() - at);
            at += length;
            tokens.push((Token::Word(&text[start..at]), span(start, at)));
        } else {
            tokens.push((Token::Sign(first), span(start, at)));
        }
    }
    tokens.push((Token::End, span(text.len(), text.len())));
    tokens
}

/// The mistake has been reported.
pub(crate) struct Reported;
pub(crate) type Read<T> = Result<T, Reported>;

/// Where a reader is in the text.
pub(crate) struct Cursor<'a, 't> {
    tokens: &'t [(Token<'a>, Span)],
    at: usize,
    pub diagnostics: &'t mut Vec<Diagnostic>,
}

impl<'a, 't> Cursor<'a, 't> {
    pub fn new(tokens: &'t [(Token<'a>, Span)], diagnostics: &'t mut Vec<Diagnostic>) -> Cursor<'a, 't> {
        Cursor { tokens, at: 0, diagnostics }
    }

    pub fn peek(&self) -> (Token<'a>, Span) {
        self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    /// The token behind the next one.
    pub fn second(&self) -> Token<'a> {
        self.tokens[(self.at + 1).min(self.tokens.len() - 1)].0
    }

    /// The last token that was taken.
    pub fn last(&self) -> Span {
        self.tokens[self.at.saturating_sub(1).min(self.tokens.len() - 1)].1
    }

    pub fn next(&mut self) -> (Token<'a>, Span) {
        let token = self.peek();
        self.at += usize::from(token.0 != Token::End);
        token
    }

    pub fn accept(&mut self, token: Token<'_>) -> bool {
        let found = self.peek().0 == token;
        self.at += usize::from(found && token != Token::End);
        found
    }

    pub fn accept_sign(&mut self, sign: char) -> bool {
        self.accept(Token::Sign(sign))
    }

    /// A word of the language, in capitals or not.
    pub fn accept_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    pub fn is_word(&self, word: &str) -> bool {
        matches!(self.peek().0, Token::Word(found) if found.eq_ignore_ascii_case(word))
    }

    pub fn skip_until(&mut self, until: impl Fn(Token<'a>) -> bool) {
        while self.peek().0 != Token::End && !until(self.peek().0) {
            self.at += 1;
        }
    }

    pub fn error(&mut self, span: Span, message: impl Into<String>, hint: Option<&str>) -> Reported {
        let error = Diagnostic::error(span, message);
        self.diagnostics.push(match hint {
            Some(hint) => error.hint(hint),
            None => error,
        });
        Reported
    }

    pub fn expected<T>(&mut self, what: &str, hint: Option<&str>) -> Read<T> {
        let (token, span) = self.peek();
        let found = match token {
            Token::End => ", but the file ends",
            Token::Line => ", but the line ends",
            _ => "",
        };
        Err(self.error(span, format!("expected {what}{found}"), hint))
    }

    pub fn sign(&mut self, sign: char, hint: Option<&str>) -> Read<()> {
        match self.accept_sign(sign) {
            true => Ok(()),
            false => self.expected(&format!("`{sign}`"), hint),
        }
    }

    pub fn name(&mut self, what: &str) -> Read<(&'a str, Span)> {
        match self.peek() {
            (Token::Word(name) | Token::Quoted(name), span) => {
                self.at += 1;
                Ok((name, span))
            }
            _ => self.expected(what, None),
        }
    }

    /// A number of tokens.
    pub fn number(&mut self) -> Read<u64> {
        match self.peek() {
            (Token::Word(digits), span) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.at += 1;
                self.count(digits, span)
            }
            (Token::Sign('-'), _) => self.expected("a number", Some("a number of tokens is never negative")),
            _ => self.expected("a number", None),
        }
    }

    /// The digits as a number of tokens.
    pub fn count(&mut self, digits: &str, span: Span) -> Read<u64> {
        match digits.parse() {
            Ok(number) if number <= LARGEST => Ok(number),
            Err(_) if !digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                Err(self.error(span, format!("`{digits}` is not a number of tokens"), None))
            }
            _ => {
                let hint = format!("the largest number of tokens is {LARGEST}");
                Err(self.error(span, "this number is too large", Some(&hint)))
            }
        }
    }
}
