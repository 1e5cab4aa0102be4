//! The tokens of a `.spec`: `#` begins a comment, and white space means nothing.

use preempt_core::{Diagnostic, SourceId, Span};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Name(&'a str),
    Number(u64),
    Vars,
    Rules,
    Init,
    Target,
    Invariants,
    True,
    In,
    AtLeast,
    Equal,
    Prime,
    Arrow,
    Semicolon,
    Comma,
    Plus,
    Minus,
    Open,
    Close,
    End,
}

impl Token<'_> {
    /// Does it begin a section?
    pub(super) fn is_section(self) -> bool {
        matches!(
            self,
            Token::Vars | Token::Rules | Token::Init | Token::Target | Token::Invariants | Token::End
        )
    }
}

/// A weight beyond this is refused, so that sums of weights stay far from overflow.
pub(super) const LARGEST: u64 = u32::MAX as u64;

pub(super) fn tokens<'a>(
    source: SourceId,
    text: &'a str,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<(Token<'a>, Span)> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::with_capacity(text.len() / 3);
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
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                at = run(at, |byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.');
                word(&text[start..at])
            }
            b'0'..=b'9' => {
                at = run(at, |byte| byte.is_ascii_digit());
                match text[start..at].parse() {
                    Ok(number) if number <= LARGEST => Token::Number(number),
                    _ => {
                        diagnostics.push(
                            Diagnostic::error(span(start, at), "this number is too large")
                                .hint(format!("the largest number of tokens is {LARGEST}")),
                        );
                        Token::Number(LARGEST)
                    }
                }
            }
            _ => {
                let rest = &text[at..];
                let symbols = [
                    (">=", Token::AtLeast),
                    ("->", Token::Arrow),
                    ("=", Token::Equal),
                    ("'", Token::Prime),
                    (";", Token::Semicolon),
                    (",", Token::Comma),
                    ("+", Token::Plus),
                    ("-", Token::Minus),
                    ("[", Token::Open),
                    ("]", Token::Close),
                ];
                if let Some((text, token)) = symbols.into_iter().find(|(text, _)| rest.starts_with(text)) {
                    at += text.len();
                    token
                } else {
                    let unknown = rest.chars().next().unwrap_or('?');
                    at += unknown.len_utf8();
                    diagnostics.push(stray(unknown, span(start, at)));
                    continue;
                }
            }
        };
        tokens.push((token, span(start, at)));
    }
    tokens.push((Token::End, span(bytes.len(), bytes.len())));
    tokens
}

fn word(text: &str) -> Token<'_> {
    match text {
        "vars" => Token::Vars,
        "rules" => Token::Rules,
        "init" => Token::Init,
        "target" => Token::Target,
        "invariants" => Token::Invariants,
        "true" => Token::True,
        "in" => Token::In,
        _ => Token::Name(text),
    }
}

fn stray(unknown: char, span: Span) -> Diagnostic {
    let error = Diagnostic::error(span, format!("`{unknown}` has no meaning here"));
    match unknown {
        '<' => error.hint("a guard that needs few tokens is written `x = 0` or `x in [0, 3]`"),
        '>' => error.hint("write `x >= n`"),
        '*' => error.hint("weights are written as `x' = x + n`"),
        '/' | '%' => error.hint("a comment begins with `#`"),
        _ => error,
    }
}
