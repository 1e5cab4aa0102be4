//! From text to tokens. Lexing never fails: what is no token becomes [`Bad`] and is reported later, if at all.

use std::rc::Rc;

use preempt_core::{Budget, SourceId, Span};

use crate::token::{Bad, Punct, Token, TokenKind};

/// All tokens of one text. Line continuations and comments are gone, `#` directives are still tokens.
/// If the budget runs out, as many as there was time for.
pub fn lex(text: &str, source: SourceId, budget: &Budget) -> Vec<Token> {
    let mut lexer = Lexer { text, pos: 0, source, newline: true, space: false, directive: false };
    let mut tokens = Vec::new();
    while let Some(token) = lexer.next() {
        tokens.push(token);
        if tokens.len() % 256 == 0 && budget.exhausted().is_some() {
            break;
        }
    }
    tokens
}

struct Lexer<'a> {
    text: &'a str,
    pos: usize,
    source: SourceId,
    newline: bool,
    space: bool,
    /// Within a `#` line a comment may span lines without ending the directive.
    directive: bool,
}

/// Longest first, so that the first match is the longest.
const PUNCTUATION: &[(&str, Punct)] = &[
    // Spin reads `-->` as an arrow too.
    ("-->", Punct::Arrow),
    ("::", Punct::Sep),
    ("->", Punct::Arrow),
    ("..", Punct::DotDot),
    ("==", Punct::Eq),
    ("!=", Punct::Ne),
    ("<=", Punct::Le),
    (">=", Punct::Ge),
    ("<<", Punct::Shl),
    (">>", Punct::Shr),
    ("&&", Punct::AndAnd),
    ("||", Punct::OrOr),
    ("!!", Punct::NotNot),
    ("??", Punct::QueryQuery),
    ("++", Punct::Inc),
    ("--", Punct::Dec),
    ("##", Punct::HashHash),
    ("(", Punct::LParen),
    (")", Punct::RParen),
    ("[", Punct::LBracket),
    ("]", Punct::RBracket),
    ("{", Punct::LBrace),
    ("}", Punct::RBrace),
    (",", Punct::Comma),
    (";", Punct::Semi),
    (":", Punct::Colon),
    (".", Punct::Dot),
    ("@", Punct::At),
    ("=", Punct::Assign),
    ("<", Punct::Lt),
    (">", Punct::Gt),
    ("+", Punct::Plus),
    ("-", Punct::Minus),
    ("*", Punct::Star),
    ("/", Punct::Slash),
    ("%", Punct::Percent),
    ("&", Punct::Amp),
    ("|", Punct::Pipe),
    ("^", Punct::Caret),
    ("~", Punct::Tilde),
    ("!", Punct::Not),
    ("?", Punct::Query),
    ("#", Punct::Hash),
];

impl Lexer<'_> {
    fn next(&mut self) -> Option<Token> {
        let unclosed = self.skip_blank();
        if let Some(start) = unclosed {
            return Some(self.token(start, start + 2, TokenKind::Bad(Bad::Comment)));
        }
        let start = self.pos;
        let first = self.rest().chars().next()?;
        let kind = match first {
            'a'..='z' | 'A'..='Z' | '_' => {
                self.skip_while(|b| b.is_ascii_alphanumeric() || b == b'_');
                TokenKind::Ident(Rc::from(&self.text[start..self.pos]))
            }
            '0'..='9' => self.number(),
            '"' => self.string(),
            '\'' => self.character(),
            _ => self.punctuation(first),
        };
        if self.newline {
            self.directive = kind == TokenKind::Punct(Punct::Hash);
        }
        Some(self.token(start, self.pos, kind))
    }

    fn token(&mut self, start: usize, end: usize, kind: TokenKind) -> Token {
        let span = Span::new(self.source, start as u32, end as u32);
        let token = Token { kind, span, newline: self.newline, space: self.space, painted: false };
        self.newline = false;
        self.space = false;
        token
    }

    fn rest(&self) -> &str {
        &self.text[self.pos..]
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.pos + ahead).copied().unwrap_or(0)
    }

    fn skip_while(&mut self, keep: impl Fn(u8) -> bool) {
        while self.pos < self.text.len() && keep(self.byte(0)) {
            self.pos += 1;
        }
    }

    /// Skips blanks, comments and line continuations; gives the start of a comment that is never closed.
    fn skip_blank(&mut self) -> Option<usize> {
        loop {
            match self.byte(0) {
                b'\n' => {
                    self.newline = true;
                    self.directive = false;
                    self.pos += 1;
                }
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.pos += 1,
                b'\\' if self.continuation() > 0 => {
                    // Outside directives a continued line still ends the statement, as after the C preprocessor.
                    self.newline |= !self.directive;
                    self.pos += self.continuation();
                }
                b'/' if self.byte(1) == b'/' => loop {
                    self.skip_while(|b| b != b'\n' && b != b'\\');
                    match self.continuation() {
                        0 if self.byte(0) == b'\\' => self.pos += 1,
                        0 => break,
                        length => self.pos += length,
                    }
                },
                b'/' if self.byte(1) == b'*' => {
                    let start = self.pos;
                    let Some(length) = self.text[start + 2..].find("*/") else {
                        self.pos = self.text.len();
                        return Some(start);
                    };
                    self.pos = start + 2 + length + 2;
                    self.newline |= !self.directive && self.text[start..self.pos].contains('\n');
                }
                _ if self.rest().starts_with('\u{feff}') => self.pos += '\u{feff}'.len_utf8(),
                _ => return None,
            }
            self.space = true;
        }
    }

    /// The length of a backslash with the line break behind it, or 0.
    fn continuation(&self) -> usize {
        match (self.byte(0), self.byte(1), self.byte(2)) {
            (b'\\', b'\n', _) => 2,
            (b'\\', b'\r', b'\n') => 3,
            _ => 0,
        }
    }

    fn number(&mut self) -> TokenKind {
        let start = self.pos;
        self.skip_while(|b| b.is_ascii_digit());
        if self.byte(0) == b'.' && self.byte(1).is_ascii_digit() {
            self.pos += 1;
            self.skip_while(|b| b.is_ascii_digit());
            return TokenKind::Bad(Bad::Fraction);
        }
        if self.byte(0).is_ascii_alphabetic() || self.byte(0) == b'_' {
            self.skip_while(|b| b.is_ascii_alphanumeric() || b == b'_');
            let spelling = &self.text[start..self.pos];
            return TokenKind::Bad(match spelling.strip_prefix("0x").or(spelling.strip_prefix("0X")) {
                Some(digits) => Bad::Hexadecimal(i64::from_str_radix(digits, 16).ok()),
                None => Bad::Suffix,
            });
        }
        TokenKind::Number(Rc::from(&self.text[start..self.pos]))
    }

    fn string(&mut self) -> TokenKind {
        let start = self.pos;
        self.pos += 1;
        loop {
            self.skip_while(|b| !matches!(b, b'"' | b'\n' | b'\\'));
            match self.byte(0) {
                b'"' => {
                    self.pos += 1;
                    return TokenKind::Str(Rc::from(&self.text[start..self.pos]));
                }
                b'\\' if self.continuation() > 0 => self.pos += self.continuation(),
                b'\\' if self.pos + 1 < self.text.len() => {
                    self.pos += 1;
                    self.pos += self.rest().chars().next().map_or(0, char::len_utf8);
                }
                b'\\' => self.pos += 1,
                _ => return TokenKind::Bad(Bad::String),
            }
        }
    }

    fn character(&mut self) -> TokenKind {
        let start = self.pos;
        let mut chars = self.text[start + 1..].chars();
        let mut length = 1;
        let mut shape = [chars.next(), chars.next(), chars.next()];
        if shape[0] == Some('\\') {
            length += 1;
            shape = [shape[1], shape[2], None];
        }
        if let [Some(c), Some('\''), _] = shape
            && c != '\n'
        {
            self.pos += length + c.len_utf8() + 1;
            return TokenKind::Char(Rc::from(&self.text[start..self.pos]));
        }
        // Take a text in single quotes as a whole, so that it gives one message.
        let line = self.text[start + 1..].split('\n').next().unwrap_or("");
        self.pos += 1 + line.find('\'').map_or(0, |end| end + 1);
        TokenKind::Bad(Bad::Char)
    }

    fn punctuation(&mut self, first: char) -> TokenKind {
        if self.rest().starts_with("*/") && self.byte(2) != b'*' {
            self.pos += 2;
            return TokenKind::Bad(Bad::CommentEnd);
        }
        for (text, punct) in PUNCTUATION {
            if self.rest().starts_with(text) {
                self.pos += text.len();
                return TokenKind::Punct(*punct);
            }
        }
        self.pos += first.len_utf8();
        TokenKind::Bad(Bad::Character(first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        lex(text, SourceId(0), &Budget::unlimited()).into_iter().map(|token| token.kind).collect()
    }

    fn puncts(text: &str) -> Vec<&'static str> {
        kinds(text).iter().map(|kind| if let TokenKind::Punct(p) = kind { p.text() } else { "?" }).collect()
    }

    #[test]
    fn operators_are_read_as_long_as_possible() {
        assert_eq!(puncts(":: : -> - -- ++ !! != ! ?? ? <= << < == = .. ."), {
            vec![
                "::", ":", "->", "-", "--", "++", "!!", "!=", "!", "??", "?", "<=", "<<", "<", "==", "=",
                "..", ".",
            ]
        });
        assert_eq!(puncts("-->"), ["->"]);
        assert_eq!(puncts("+++"), ["++", "+"]);
    }

    #[test]
    fn a_range_is_not_a_fraction() {
        assert_eq!(kinds("1..3").len(), 3);
        assert_eq!(kinds("1.5"), [TokenKind::Bad(Bad::Fraction)]);
        assert_eq!(kinds("0x1F"), [TokenKind::Bad(Bad::Hexadecimal(Some(31)))]);
        assert_eq!(kinds("3a"), [TokenKind::Bad(Bad::Suffix)]);
    }

    #[test]
    fn comments_are_blanks_and_may_break_lines() {
        let tokens = lex("a/*x*/b /* \n */ c // d\n e", SourceId(0), &Budget::unlimited());
        let shape: Vec<_> = tokens.iter().map(|t| (t.newline, t.space)).collect();
        assert_eq!(shape, [(true, false), (false, true), (true, true), (true, true)]);
        assert_eq!(kinds("a /* b"), [TokenKind::Ident("a".into()), TokenKind::Bad(Bad::Comment)]);
        assert_eq!(kinds("x */"), [TokenKind::Ident("x".into()), TokenKind::Bad(Bad::CommentEnd)]);
        assert_eq!(kinds("2*/*two*/3").len(), 3);
    }

    #[test]
    fn a_directive_goes_on_over_continuations_and_comments() {
        let tokens = lex("#define A 1 \\\n + /* \n */ 2\nb \\\n c", SourceId(0), &Budget::unlimited());
        let lines: Vec<_> = tokens.iter().filter(|t| t.newline).map(|t| t.span.start).collect();
        assert_eq!(lines, [0, 27, 32]);
    }

    #[test]
    fn quotes_close_on_their_line() {
        assert_eq!(kinds(r#""a\"b" 'x' '\n' '\''"#).len(), 4);
        assert_eq!(kinds("\"abc\nd"), [TokenKind::Bad(Bad::String), TokenKind::Ident("d".into())]);
        assert_eq!(kinds("'abc' d"), [TokenKind::Bad(Bad::Char), TokenKind::Ident("d".into())]);
        assert_eq!(kinds("'").len(), 1);
        assert_eq!(kinds("'é'"), [TokenKind::Char("'é'".into())]);
        assert_eq!(kinds("\"\\").len(), 1);
    }

    #[test]
    fn anything_else_is_a_bad_character() {
        assert_eq!(kinds("$é\0").len(), 3);
    }
}
