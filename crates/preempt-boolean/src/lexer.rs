//! From text to tokens. Lexing never fails: what is no token becomes [`TokenKind::Bad`].

use preempt_core::{Diagnostic, SourceId, Span};

#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenKind {
    /// Keywords too: which names are keywords is the parser's to know.
    Word(String),
    Number(String),
    Sign(Sign),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    LeftParen,
    RightParen,
    LeftBracket,
    RightBracket,
    Less,
    Greater,
    Comma,
    Semicolon,
    Colon,
    Becomes,
    Implies,
    Or,
    Xor,
    And,
    Equal,
    Unequal,
    Not,
    Prime,
    Star,
    Query,
}

/// Longest first, so that the first match is the longest.
pub(crate) const SIGNS: &[(&str, Sign)] = &[
    (":=", Sign::Becomes),
    ("=>", Sign::Implies),
    ("||", Sign::Or),
    ("&&", Sign::And),
    ("!=", Sign::Unequal),
    ("==", Sign::Equal),
    ("(", Sign::LeftParen),
    (")", Sign::RightParen),
    ("[", Sign::LeftBracket),
    ("]", Sign::RightBracket),
    ("<", Sign::Less),
    (">", Sign::Greater),
    (",", Sign::Comma),
    (";", Sign::Semicolon),
    (":", Sign::Colon),
    ("|", Sign::Or),
    ("^", Sign::Xor),
    ("&", Sign::And),
    ("=", Sign::Equal),
    ("~", Sign::Not),
    ("!", Sign::Not),
    ("'", Sign::Prime),
    ("*", Sign::Star),
    ("?", Sign::Query),
];

impl Sign {
    pub fn text(self) -> &'static str {
        SIGNS.iter().rev().find(|(_, sign)| *sign == self).map_or("", |(text, _)| text)
    }
}

/// All tokens of one text, without its comments, and what is wrong with the rest.
pub fn lex(text: &str, source: SourceId) -> (Vec<Token>, Vec<Diagnostic>) {
    let mut lexer = Lexer { text, at: 0, source, tokens: Vec::new(), diagnostics: Vec::new() };
    while lexer.at < text.len() {
        lexer.next();
    }
    (lexer.tokens, lexer.diagnostics)
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    source: SourceId,
    tokens: Vec<Token>,
    diagnostics: Vec<Diagnostic>,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn span(&self, start: usize) -> Span {
        Span::new(self.source, start as u32, self.at as u32)
    }

    fn push(&mut self, start: usize, kind: TokenKind) {
        let span = self.span(start);
        self.tokens.push(Token { kind, span });
    }

    /// Steps over everything that satisfies `keep`.
    fn skip(&mut self, keep: impl Fn(char) -> bool) {
        self.at += self.rest().find(|c| !keep(c)).unwrap_or(self.rest().len());
    }

    fn next(&mut self) {
        let start = self.at;
        let Some(first) = self.rest().chars().next() else { return };
        match first {
            c if c.is_whitespace() || c == '\u{feff}' => self.at += c.len_utf8(),
            '/' if self.rest().starts_with("//") => self.skip(|c| c != '\n'),
            '/' if self.rest().starts_with("/*") => self.comment(),
            '{' => self.braced(),
            c if c.is_ascii_alphabetic() || c == '_' || c == '$' => {
                self.skip(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '#' | '-'));
                let word = self.text[start..self.at].to_string();
                self.push(start, TokenKind::Word(word));
            }
            c if c.is_ascii_digit() => {
                self.skip(|c| c.is_ascii_alphanumeric() || c == '_');
                let number = self.text[start..self.at].to_string();
                if number.bytes().all(|b| b.is_ascii_digit()) {
                    return self.push(start, TokenKind::Number(number));
                }
                let error =
                    Diagnostic::error(self.span(start), format!("`{number}` is no number and no name"));
                self.diagnostics.push(error.hint("a name begins with a letter"));
                self.push(start, TokenKind::Number("0".into()));
            }
            _ => self.sign(first),
        }
    }

    fn comment(&mut self) {
        let start = self.at;
        match self.rest()[2..].find("*/") {
            Some(length) => self.at += 2 + length + 2,
            None => {
                self.at += 2;
                let error = Diagnostic::error(self.span(start), "this comment is never closed");
                self.diagnostics.push(error.hint("close it with `*/`"));
                self.at = self.text.len();
            }
        }
    }

    /// GETAFIX and WALi write names of any characters in braces: `{x==0}`.
    fn braced(&mut self) {
        let start = self.at;
        let end = self.rest()[1..].find(|c: char| c.is_whitespace() || c == '{' || c == '}');
        match end.map(|end| (end, self.rest().as_bytes()[1 + end])) {
            Some((length, b'}')) if length > 0 => {
                self.at += length + 2;
                let word = self.text[start..self.at].to_string();
                self.push(start, TokenKind::Word(word));
            }
            _ => {
                self.at += 1;
                let error = Diagnostic::error(self.span(start), "a `{` begins a name, as in `{x==0}`");
                self.diagnostics.push(error.hint("a body stands between `begin` and `end`"));
            }
        }
    }

    fn sign(&mut self, first: char) {
        let start = self.at;
        if let Some((text, sign)) = SIGNS.iter().find(|(text, _)| self.rest().starts_with(text)) {
            self.at += text.len();
            return self.push(start, TokenKind::Sign(*sign));
        }
        self.at += first.len_utf8();
        let error = Diagnostic::error(self.span(start), format!("unknown character `{first}`"));
        self.diagnostics.push(match first {
            '}' => error.hint("a body stands between `begin` and `end`"),
            '+' | '-' | '/' | '%' => error.hint("all values are Boolean: there is no arithmetic"),
            _ => error,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let (tokens, _) = lex(text, SourceId(0));
        let spelled = |token: Token| match token.kind {
            TokenKind::Word(word) | TokenKind::Number(word) => word,
            TokenKind::Sign(sign) => sign.text().to_string(),
        };
        tokens.into_iter().map(spelled).collect()
    }

    #[test]
    fn signs_are_read_as_long_as_possible() {
        assert_eq!(
            words(":= : = => != ! & && | || '"),
            [":=", ":", "=", "=>", "!=", "!", "&", "&", "|", "|", "'"]
        );
        assert_eq!(words("a:=!b"), ["a", ":=", "!", "b"]);
        assert_eq!(words("a!=b"), ["a", "!=", "b"]);
    }

    #[test]
    fn names_of_every_dialect() {
        assert_eq!(
            words("a#1 $x _ f-2 {x==0} {p->next} b"),
            ["a#1", "$x", "_", "f-2", "{x==0}", "{p->next}", "b"]
        );
        assert_eq!(words("l: a, b"), ["l", ":", "a", ",", "b"]);
    }

    #[test]
    fn comments_vanish() {
        assert_eq!(words("a // b\nc /* d\n e */ f //"), ["a", "c", "f"]);
        let (tokens, diagnostics) = lex("a /* b", SourceId(0));
        assert_eq!((tokens.len(), diagnostics.len()), (1, 1));
    }

    #[test]
    fn strange_characters_are_named_once_each() {
        for (text, errors) in [("a + b", 1), ("{ a }", 2), ("é", 1), ("1x", 1), ("", 0)] {
            assert_eq!(lex(text, SourceId(0)).1.len(), errors, "{text}");
        }
    }
}
