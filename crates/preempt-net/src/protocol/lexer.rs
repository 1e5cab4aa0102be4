//! The tokens of a `.protocol`: `#` and `//` begin a comment, and white space means nothing.

use preempt_core::{Diagnostic, SourceId, Span};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A name that is no keyword.
    Name(&'a str),
    /// A reserved word.
    Word(&'a str),
    Number(i64),
    /// A sign, longest first: `:=`, `..`, `=`.
    Sign(&'static str),
    End,
}

/// Words that are no names.
const WORDS: [&str; 29] = [
    "const",
    "type",
    "global",
    "local",
    "initially",
    "rule",
    "bad",
    "bool",
    "when",
    "with",
    "all",
    "others",
    "do",
    "partner",
    "mover",
    "where",
    "one",
    "two",
    "three",
    "any",
    "if",
    "then",
    "else",
    "and",
    "or",
    "not",
    "in",
    "true",
    "false",
];

const SIGNS: [&str; 23] = [
    ":=", "..", "!=", "<=", ">=", "==", "=", "<", ">", "(", ")", "[", "]", "{", "}", ",", ":", "|", "+", "-",
    ".", ";", "!",
];

/// A number beyond this is refused, so that sums stay far from overflow.
pub(super) const LARGEST: i64 = 1 << 31;

pub(super) fn tokens<'a>(
    source: SourceId,
    text: &'a str,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<(Token<'a>, Span)> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::with_capacity(text.len() / 4);
    let mut counted = 0;
    let mut at = 0;
    let span = |start: usize, end: usize| Span::new(source, start as u32, end as u32);
    let run = |start: usize, part: fn(u8) -> bool| {
        bytes[start..].iter().position(|byte| !part(*byte)).map_or(bytes.len(), |n| start + n)
    };
    while at < bytes.len() {
        let start = at;
        let token = match bytes[at] {
            b' ' | b'\t' | b'\r' | b'\n' | b'\x0b' | b'\x0c' => {
                at += 1;
                continue;
            }
            b'#' => {
                at = run(at, |byte| byte != b'\n');
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at = run(at, |byte| byte != b'\n');
                continue;
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                at = run(at, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
                let word = &text[start..at];
                if WORDS.contains(&word) { Token::Word(word) } else { Token::Name(word) }
            }
            b'0'..=b'9' => {
                at = run(at, |byte| byte.is_ascii_digit());
                match text[start..at].parse() {
                    Ok(number) if number <= LARGEST => Token::Number(number),
                    _ => {
                        diagnostics.push(
                            Diagnostic::error(span(start, at), "this number is too large")
                                .hint(format!("the largest number is {LARGEST}")),
                        );
                        Token::Number(LARGEST)
                    }
                }
            }
            _ => {
                let rest = &text[at..];
                if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
                    at += sign.len();
                    Token::Sign(sign)
                } else {
                    let unknown = rest.chars().next().unwrap_or('?');
                    at += unknown.len_utf8();
                    diagnostics.push(stray(unknown, span(start, at)));
                    if crate::too_many_mistakes(diagnostics, &mut counted) {
                        break;
                    }
                    continue;
                }
            }
        };
        tokens.push((token, span(start, at)));
    }
    tokens.push((Token::End, span(bytes.len(), bytes.len())));
    tokens
}

fn stray(unknown: char, span: Span) -> Diagnostic {
    let error = Diagnostic::error(span, format!("`{unknown}` has no meaning here"));
    match unknown {
        '&' => error.hint("write `and`"),
        '*' | '%' => error.hint("there are sums and differences only"),
        '/' => error.hint("a comment begins with `#` or `//`"),
        '?' => error.hint("write `if c then a else b`"),
        _ => error,
    }
}
