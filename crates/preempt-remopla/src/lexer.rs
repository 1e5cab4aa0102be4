//! From text to tokens. Lexing never fails: what is no token is named and passed over.

use preempt_core::{Diagnostic, SourceId, Span};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub kind: Kind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Word(String),
    Number(i64),
    Sign(&'static str),
}

/// Longest first, so that the first match is the longest.
const SIGNS: &[&str] = &[
    "-->", "->", "::", "&&", "||", "^^", "==", "!=", "<=", ">=", "<<", ">>", "(", ")", "[", "]", "{", "}",
    "<", ">", ",", ";", ":", "=", "!", "~", "+", "-", "*", "/", "&", "|", "^", ".", "'",
];

/// All tokens of one text, without its comments, and what is wrong with the rest.
pub(crate) fn lex(text: &str, source: SourceId) -> (Vec<Token>, Vec<Diagnostic>) {
    let (mut tokens, mut diagnostics) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let (rest, start) = (&text[at..], at);
        let span = |end: usize| Span::new(source, start as u32, end as u32);
        if first.is_whitespace() || first == '\u{feff}' {
            at += first.len_utf8();
        } else if rest.starts_with("//") || first == '#' {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if let Some(comment) = rest.strip_prefix("/*") {
            match comment.find("*/") {
                Some(length) => at += length + 4,
                None => {
                    let error = Diagnostic::error(span(at + 2), "this comment is never closed");
                    diagnostics.push(error.hint("close it with `*/`"));
                    at = text.len();
                }
            }
        } else if first.is_ascii_alphabetic() || first == '_' {
            at += rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            tokens.push(Token { kind: Kind::Word(text[start..at].to_string()), span: span(at) });
        } else if first.is_ascii_digit() {
            at += rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            let number = text[start..at].parse::<i64>().ok().filter(|number| *number <= i64::from(u32::MAX));
            if number.is_none() {
                let message = format!("`{}` is no number that fits into 32 bits", &text[start..at]);
                diagnostics.push(Diagnostic::error(span(at), message).hint("a name begins with a letter"));
            }
            tokens.push(Token { kind: Kind::Number(number.unwrap_or(0)), span: span(at) });
        } else if let Some(sign) = SIGNS.iter().copied().find(|sign| rest.starts_with(*sign)) {
            at += sign.len();
            tokens.push(Token { kind: Kind::Sign(sign), span: span(at) });
        } else {
            at += first.len_utf8();
            let error = Diagnostic::error(span(at), format!("unknown character `{first}`"));
            diagnostics.push(match first {
                '%' => error.hint("there is no remainder in Remopla: integers have a width of their own"),
                _ => error,
            });
        }
    }
    (tokens, diagnostics)
}
