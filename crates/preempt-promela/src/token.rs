//! Tokens: what the lexer makes of a text, and what the parser reads after preprocessing.
//!
//! Up to the end of preprocessing numbers, characters and strings keep their spelling, because `#` and `##` work
//! on spellings; [`crate::parser`] then turns them into values and names into keywords.

use std::rc::Rc;

use preempt_core::{Diagnostic, Span};

#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    pub kind: TokenKind,
    pub span: Span,
    /// First on its line: decides where `#` starts a directive and where a line break ends a statement.
    pub newline: bool,
    /// Something blank stands before it: tells `#define f(x)` from `#define f (x)`.
    pub space: bool,
    /// A macro name that was met inside its own expansion; it stays a plain name for good.
    pub painted: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum TokenKind {
    Ident(Rc<str>),
    Keyword(Keyword),
    /// A decimal number as spelled.
    Number(Rc<str>),
    /// A character constant as spelled, with its quotes.
    Char(Rc<str>),
    /// The value of a number or a character, from the end of preprocessing on.
    Int(i32),
    /// A string as spelled, with its quotes.
    Str(Rc<str>),
    Punct(Punct),
    /// A whole `c_code { ... }` (already reported), so that parsing goes on behind it.
    EmbeddedC,
    Bad(Bad),
}

/// What cannot be a token. It becomes a message only if it survives preprocessing: text under `#if 0` may be
/// anything.
#[derive(Debug, Clone, PartialEq)]
pub enum Bad {
    Character(char),
    String,
    /// A quote without a partner, or with more than one character inside.
    Char,
    Comment,
    CommentEnd,
    /// `0x1F`, with its value if it has one.
    Hexadecimal(Option<i64>),
    /// `12ab`
    Suffix,
    /// `1.5`
    Fraction,
}

impl Bad {
    pub fn diagnostic(&self, span: Span) -> Diagnostic {
        match self {
            Bad::Character(c @ ('\u{2018}'..='\u{201F}' | '\u{00AB}' | '\u{00BB}')) => {
                Diagnostic::error(span, format!("`{c}` is a typographic quote"))
                    .hint("use the plain quotes \" and '")
            }
            Bad::Character('$') => Diagnostic::error(span, "`$` is not part of Promela"),
            Bad::Character(c) if c.is_alphabetic() => {
                Diagnostic::error(span, format!("the letter `{c}` cannot stand in a Promela text"))
                    .hint("names consist of the letters a-z and A-Z, digits and _")
            }
            Bad::Character(c) => Diagnostic::error(
                span,
                format!("the character `{}` is not part of Promela", c.escape_debug()),
            ),
            Bad::String => Diagnostic::error(span, "this string has no closing quote on its line")
                .hint("end the string with \" on the same line"),
            Bad::Char => Diagnostic::error(span, "a character constant is one character between two '")
                .hint("for a text use double quotes: \"...\""),
            Bad::Comment => {
                Diagnostic::error(span, "this comment is never closed").hint("close the comment with */")
            }
            // Spin passes it over, too.
            Bad::CommentEnd => Diagnostic::warning(span, "`*/` without a comment before it")
                .hint("comments do not nest: an inner */ already ended the comment"),
            Bad::Hexadecimal(value) => {
                let error = Diagnostic::error(span, "hexadecimal numbers are not part of Promela");
                match value {
                    Some(value) => error.hint(format!("write {value}")),
                    None => error,
                }
            }
            Bad::Suffix => Diagnostic::error(span, "a name cannot start with a digit"),
            Bad::Fraction => Diagnostic::error(span, "Promela has only whole numbers"),
        }
    }
}

impl Token {
    pub fn is(&self, punct: Punct) -> bool {
        self.kind == TokenKind::Punct(punct)
    }

    pub fn ident(&self) -> Option<&Rc<str>> {
        match &self.kind {
            TokenKind::Ident(name) => Some(name),
            _ => None,
        }
    }
}

impl TokenKind {
    /// As a person would write it; `source` is the text at the token's span, for what does not keep its spelling.
    pub fn spelling<'a>(&'a self, source: &'a str) -> &'a str {
        match self {
            TokenKind::Ident(text)
            | TokenKind::Number(text)
            | TokenKind::Char(text)
            | TokenKind::Str(text) => text,
            TokenKind::Keyword(keyword) => keyword.text(),
            TokenKind::Punct(punct) => punct.text(),
            TokenKind::Int(_) | TokenKind::EmbeddedC | TokenKind::Bad(_) => source,
        }
    }
}

/// Defines an enum of fixed spellings together with its two conversions.
macro_rules! spellings {
    ($(#[$meta:meta])* $type:ident { $($variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $type { $($variant,)* }

        impl $type {
            #[cfg(any(test, feature = "generator"))]
            #[allow(dead_code)]
            pub const ALL: &'static [$type] = &[$($type::$variant,)*];

            pub fn text(self) -> &'static str {
                match self { $($type::$variant => $text,)* }
            }

            #[allow(dead_code)] // Punctuation is found by the lexer's own table.
            pub fn from_text(text: &str) -> Option<$type> {
                match text { $($text => Some($type::$variant),)* _ => None }
            }
        }
    };
}

spellings!(
    /// Reserved words. `in` and the words of `ltl` are ordinary names elsewhere, so they are not here.
    Keyword {
        Active = "active",
        Assert = "assert",
        Atomic = "atomic",
        Bit = "bit",
        Bool = "bool",
        Break = "break",
        Byte = "byte",
        Chan = "chan",
        CCode = "c_code",
        CDecl = "c_decl",
        CExpr = "c_expr",
        CState = "c_state",
        CTrack = "c_track",
        DProctype = "D_proctype",
        DStep = "d_step",
        Do = "do",
        Else = "else",
        Empty = "empty",
        Enabled = "enabled",
        Eval = "eval",
        False = "false",
        Fi = "fi",
        For = "for",
        Full = "full",
        GetPriority = "get_priority",
        Goto = "goto",
        Hidden = "hidden",
        If = "if",
        Init = "init",
        Inline = "inline",
        Int = "int",
        Len = "len",
        Local = "local",
        Ltl = "ltl",
        Mtype = "mtype",
        Nempty = "nempty",
        Never = "never",
        Nfull = "nfull",
        Notrace = "notrace",
        Np = "np_",
        Od = "od",
        Of = "of",
        PcValue = "pc_value",
        Pid = "pid",
        Printf = "printf",
        Printm = "printm",
        Priority = "priority",
        Proctype = "proctype",
        Provided = "provided",
        Return = "return",
        Run = "run",
        Select = "select",
        SetPriority = "set_priority",
        Short = "short",
        Show = "show",
        Skip = "skip",
        Timeout = "timeout",
        Trace = "trace",
        True = "true",
        Typedef = "typedef",
        Unless = "unless",
        Unsigned = "unsigned",
        Xr = "xr",
        Xs = "xs",
    }
);

spellings!(
    Punct {
        LParen = "(",
        RParen = ")",
        LBracket = "[",
        RBracket = "]",
        LBrace = "{",
        RBrace = "}",
        Comma = ",",
        Semi = ";",
        Colon = ":",
        Sep = "::",
        Arrow = "->",
        Dot = ".",
        DotDot = "..",
        At = "@",
        Assign = "=",
        Eq = "==",
        Ne = "!=",
        Lt = "<",
        Le = "<=",
        Gt = ">",
        Ge = ">=",
        Shl = "<<",
        Shr = ">>",
        Plus = "+",
        Minus = "-",
        Star = "*",
        Slash = "/",
        Percent = "%",
        Amp = "&",
        Pipe = "|",
        Caret = "^",
        Tilde = "~",
        AndAnd = "&&",
        OrOr = "||",
        Not = "!",
        NotNot = "!!",
        Query = "?",
        QueryQuery = "??",
        Inc = "++",
        Dec = "--",
        Hash = "#",
        HashHash = "##",
    }
);

/// The value of a decimal number as Spin reads it: into 64 bits (the largest if it does not fit), then cut to 32.
/// The flag says whether anything was lost.
pub fn number_value(spelling: &str) -> (i32, bool) {
    let wide = spelling.parse::<i64>().unwrap_or(i64::MAX);
    let value = wide as i32;
    (value, i64::from(value) != wide)
}

/// The value of a character constant given with its quotes.
pub fn char_value(spelling: &str) -> i32 {
    let inner = spelling.strip_prefix('\'').unwrap_or(spelling);
    let mut chars = inner.chars();
    let first = match chars.next() {
        Some('\\') => match chars.next() {
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('f') => '\u{c}',
            Some(other) => other,
            None => '\\',
        },
        Some(other) => other,
        None => '\0',
    };
    first as i32
}

/// The text of a string given with its quotes. Escapes other than the usual ones stay as written.
pub fn string_value(spelling: &str) -> String {
    let inner = spelling.strip_prefix('"').unwrap_or(spelling);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    let mut text = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r') => text.push('\r'),
            Some('f') => text.push('\u{c}'),
            Some(quote @ ('\\' | '"' | '\'')) => text.push(quote),
            Some('\n') => {}
            Some(other) => text.extend(['\\', other]),
            None => text.push('\\'),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_keyword_is_found_by_its_text() {
        for keyword in Keyword::ALL {
            assert_eq!(Keyword::from_text(keyword.text()), Some(*keyword));
        }
        assert_eq!(Keyword::from_text("in"), None);
    }

    #[test]
    fn numbers_are_cut_to_32_bits() {
        assert_eq!(number_value("2147483647"), (i32::MAX, false));
        assert_eq!(number_value("2147483648"), (i32::MIN, true));
        assert_eq!(number_value("99999999999999999999999"), (-1, true));
        assert_eq!(number_value("007"), (7, false));
    }

    #[test]
    fn escapes_have_their_values() {
        assert_eq!(char_value("'a'"), 97);
        assert_eq!(char_value("'\\n'"), 10);
        assert_eq!(char_value("'\\''"), 39);
        assert_eq!(string_value("\"a\\t\\\"b\\n\\q\""), "a\t\"b\n\\q");
    }
}
