//! From text to tokens. Lexing never fails: what is no token is named and passed over.

use preempt_core::{Diagnostic, SourceId, Span};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub kind: Kind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Name(String),
    Text,
    Sign(&'static str),
}

/// Longest first.
const SIGNS: &[&str] = &["-->", "(", ")", "<", ">", "{", "}", ";", ","];

pub(super) fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '\'' | '@')
}

pub(super) fn lex(text: &str, source: SourceId) -> (Vec<Token>, Vec<Diagnostic>) {
    let (mut tokens, mut diagnostics) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let start = at;
        let span = |end: usize| Span::new(source, start as u32, end as u32);
        if first.is_whitespace() || first == '\u{feff}' {
            at += first.len_utf8();
        } else if first == '#' || rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if is_name(first) {
            at += rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            tokens.push(Token { kind: Kind::Name(text[start..at].to_string()), span: span(at) });
        } else if first == '"' {
            let line = rest.find('\n').unwrap_or(rest.len());
            match rest[1..line].find('"') {
                Some(length) => {
                    at += length + 2;
                    tokens.push(Token { kind: Kind::Text, span: span(at) });
                }
                None => {
                    at += line;
                    let error = Diagnostic::error(span(at), "this label is never closed");
                    diagnostics.push(error.hint("close it with `\"` on the same line"));
                }
            }
        } else if let Some(sign) = SIGNS.iter().copied().find(|sign| rest.starts_with(*sign)) {
            at += sign.len();
            tokens.push(Token { kind: Kind::Sign(sign), span: span(at) });
        } else {
            at += first.len_utf8();
            let error = Diagnostic::error(span(at), format!("unknown character `{first}`"));
            diagnostics.push(match first {
                '-' | '=' => error.hint("a rule is written `p <g> --> q <a b>`"),
                _ => error,
            });
        }
    }
    (tokens, diagnostics)
}
