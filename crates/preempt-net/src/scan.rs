//! The words and signs of a text, and the way through them, for every format that is not XML. What a word is, how it is
//! quoted, which signs and reserved words there are, what a comment is and whether lines matter is up to the format.

use preempt_core::{Budget, Diagnostic, SourceId, Span};

/// How a format is taken apart. [`Lexis::PLAIN`] has what most of them have.
pub(crate) struct Lexis {
    /// How comments begin and end.
    pub comments: &'static [(&'static str, &'static str)],
    /// May a comment be in a comment?
    pub nested: bool,
    /// What may stand around a word that has other letters in it.
    pub quotes: &'static [(char, char)],
    /// Is the letter part of a word?
    pub in_word: fn(char) -> bool,
    /// Words that are no names. Without any, words of the language are told by where they stand, in capitals or not.
    pub reserved: &'static [&'static str],
    /// Is a word that begins with a digit a number, and never a name?
    pub numbers: bool,
    /// A sign stands before those that it begins with.
    pub signs: &'static [&'static str],
    /// What may have been meant by a letter that is no sign.
    pub meant: fn(char) -> Option<&'static str>,
    /// Is the end of a line something of its own?
    pub lines: bool,
}

impl Lexis {
    pub const PLAIN: Lexis = Lexis {
        comments: &[("#", "\n")],
        nested: false,
        quotes: &[],
        in_word: |letter| letter.is_ascii_alphanumeric() || letter == '_',
        reserved: &[],
        numbers: false,
        signs: &[],
        meant: |_| None,
        lines: false,
    };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    Word(&'a str),
    Quoted(&'a str),
    Reserved(&'static str),
    /// What begins with a digit, where that is never a name.
    Number(&'a str),
    Sign(&'static str),
    /// A letter that has no meaning in the format.
    Stray(char),
    Line,
    End,
}

/// A number of tokens beyond this is refused, so that sums stay far from overflow.
pub(crate) const LARGEST: u64 = u32::MAX as u64;

/// The mistake has been reported.
pub(crate) struct Reported;
pub(crate) type Read<T> = Result<T, Reported>;

/// A name, and where it stands.
pub(crate) type Name<'a> = (&'a str, Span);

/// Where a reader is in the text.
pub(crate) struct Cursor<'a> {
    lexis: &'static Lexis,
    tokens: Vec<(Token<'a>, Span)>,
    at: usize,
    pub diagnostics: Vec<Diagnostic>,
}

impl<'a> Cursor<'a> {
    /// At the beginning of the text.
    pub fn new(source: SourceId, text: &'a str, lexis: &'static Lexis) -> Cursor<'a> {
        let mut diagnostics = Vec::new();
        let tokens = tokens(source, text, lexis, &mut diagnostics);
        Cursor { lexis, tokens, at: 0, diagnostics }
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

    pub fn accept_sign(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek().0, Token::Sign(it) if it == sign);
        self.at += usize::from(found);
        found
    }

    /// A word of the language.
    pub fn accept_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    pub fn is_word(&self, word: &str) -> bool {
        match self.peek().0 {
            Token::Word(found) => self.lexis.reserved.is_empty() && found.eq_ignore_ascii_case(word),
            Token::Reserved(found) => found == word,
            _ => false,
        }
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
            Token::Stray(letter) => {
                let meant = (self.lexis.meant)(letter).or(hint);
                return Err(self.error(span, format!("`{letter}` has no meaning here"), meant));
            }
            _ => "",
        };
        Err(self.error(span, format!("expected {what}{found}"), hint))
    }

    pub fn need_sign(&mut self, sign: &str, hint: Option<&str>) -> Read<()> {
        match self.accept_sign(sign) {
            true => Ok(()),
            false => self.expected(&format!("`{sign}`"), hint),
        }
    }

    pub fn need_word(&mut self, word: &str, hint: &str) -> Read<()> {
        match self.accept_word(word) {
            true => Ok(()),
            false => self.expected(&format!("`{word}`"), Some(hint)),
        }
    }

    /// A name where nothing else can stand, so that it may be a word of the language: `rule send`.
    pub fn any_name(&mut self, what: &str) -> Read<Name<'a>> {
        match self.peek() {
            (Token::Reserved(word), span) => {
                self.at += 1;
                Ok((word, span))
            }
            _ => self.name(what),
        }
    }

    pub fn name(&mut self, what: &str) -> Read<Name<'a>> {
        match self.peek() {
            (Token::Word(name) | Token::Quoted(name), span) => {
                self.at += 1;
                Ok((name, span))
            }
            (Token::Reserved(word), _) => {
                self.expected(&format!("{what}, and `{word}` is a reserved word"), None)
            }
            _ => self.expected(what, None),
        }
    }

    /// A number of tokens, or of anything else there may be many of.
    pub fn number(&mut self) -> Read<u64> {
        match self.peek() {
            (Token::Word(digits) | Token::Number(digits), span)
                if digits.starts_with(|letter: char| letter.is_ascii_digit()) =>
            {
                self.at += 1;
                self.count(digits, span)
            }
            (Token::Sign("-") | Token::Stray('-'), span) => {
                Err(self.error(span, "expected a number", Some("a number of tokens is never negative")))
            }
            _ => self.expected("a number", None),
        }
    }

    /// The digits as such a number.
    pub fn count(&mut self, digits: &str, span: Span) -> Read<u64> {
        match digits.parse() {
            Ok(number) if number <= LARGEST => Ok(number),
            Err(_) if !digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                Err(self.error(span, format!("`{digits}` is not a number"), None))
            }
            _ => {
                let hint = format!("the largest number is {LARGEST}");
                Err(self.error(span, "this number is too large", Some(&hint)))
            }
        }
    }

    /// Nothing more in this line.
    pub fn end_of_line(&mut self) -> Read<()> {
        match self.peek().0 {
            Token::Line | Token::End => {
                self.next();
                Ok(())
            }
            _ => self.expected("the end of the line", None),
        }
    }
}

/// A text that is a list of items. After a mistake the rest of its item is skipped, so that it is reported once.
pub(crate) trait Items<'a> {
    fn cursor(&mut self) -> &mut Cursor<'a>;

    fn item(&mut self) -> Read<()>;

    /// Is it where an item begins, or ends?
    fn resumes(token: Token<'a>) -> bool;

    /// All items, until the text ends, or the budget, or there are too many mistakes.
    fn read_items(&mut self, budget: &Budget) {
        let mut counted = 0;
        while self.cursor().peek().0 != Token::End {
            if budget.exhausted().is_some() {
                self.cursor().diagnostics.push(crate::stopped());
                return;
            }
            if crate::too_many_mistakes(&mut self.cursor().diagnostics, &mut counted) {
                return;
            }
            let before = self.cursor().at;
            if self.item().is_err() {
                let cursor = self.cursor();
                // Or the same place is looked at again and again.
                if cursor.at == before {
                    cursor.next();
                }
                cursor.skip_until(Self::resumes);
            }
        }
    }
}

fn tokens<'a>(
    source: SourceId,
    text: &'a str,
    lexis: &'static Lexis,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<(Token<'a>, Span)> {
    let mut tokens = Vec::with_capacity(text.len() / 4);
    let mut at = 0;
    let span = |start: usize, end: usize| Span::new(source, start as u32, end as u32);
    while let Some(first) = text[at..].chars().next() {
        let (start, rest) = (at, &text[at..]);
        if let Some((open, close)) = lexis.comments.iter().find(|(open, _)| rest.starts_with(open)) {
            at += comment(rest, open, close, lexis.nested).unwrap_or_else(|| {
                let error = Diagnostic::error(span(start, start + open.len()), "this comment does not end");
                diagnostics.push(error);
                rest.len()
            });
            continue;
        }
        at += first.len_utf8();
        let token = if first == '\n' && lexis.lines {
            Token::Line
        } else if first.is_whitespace() {
            continue;
        } else if let Some((_, close)) = lexis.quotes.iter().find(|(open, _)| *open == first) {
            let end = text[at..].find([*close, '\n']).map_or(text.len(), |length| at + length);
            let closed = text[end..].starts_with(*close);
            if !closed {
                let message = format!("`{close}` is missing behind this name");
                diagnostics.push(Diagnostic::error(span(start, end), message));
            }
            tokens.push((Token::Quoted(&text[at..end]), span(start, end)));
            at = end + if closed { close.len_utf8() } else { 0 };
            continue;
        } else if (lexis.in_word)(first) {
            at = text[at..].find(|letter| !(lexis.in_word)(letter)).map_or(text.len(), |length| at + length);
            let word = &text[start..at];
            match lexis.reserved.iter().find(|reserved| **reserved == word) {
                Some(reserved) => Token::Reserved(reserved),
                None if lexis.numbers && first.is_ascii_digit() => Token::Number(word),
                None => Token::Word(word),
            }
        } else if let Some(sign) = lexis.signs.iter().find(|sign| rest.starts_with(**sign)) {
            at = start + sign.len();
            Token::Sign(sign)
        } else {
            Token::Stray(first)
        };
        tokens.push((token, span(start, at)));
    }
    tokens.push((Token::End, span(text.len(), text.len())));
    tokens
}

/// How long the comment is with which the text begins, if it ends. The end of a line is not part of it.
fn comment(text: &str, open: &str, close: &str, nested: bool) -> Option<usize> {
    if close == "\n" {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    let (bytes, mut at, mut depth) = (text.as_bytes(), open.len(), 1);
    while at < bytes.len() {
        if bytes[at..].starts_with(close.as_bytes()) {
            at += close.len();
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        } else if nested && bytes[at..].starts_with(open.as_bytes()) {
            at += open.len();
            depth += 1;
        } else {
            at += 1;
        }
    }
    None
}
