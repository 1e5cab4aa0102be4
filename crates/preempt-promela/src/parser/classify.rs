//! The last look at single tokens: keywords, values, what is no token at all, and embedded C.

use preempt_core::{Diagnostic, Span};

use super::Parser;
use crate::token::{Bad, Keyword, Punct, Token, TokenKind, char_value, number_value};

impl Parser<'_> {
    pub(super) fn classify(&mut self, tokens: Vec<Token>) -> Vec<Token> {
        let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
        let mut tokens = tokens.into_iter().peekable();
        // A token that is left out leaves its line break to the next one.
        let mut newline = false;
        while let Some(mut token) = tokens.next() {
            token.newline |= std::mem::take(&mut newline);
            let kind = match &token.kind {
                TokenKind::Ident(name) => match Keyword::from_text(name) {
                    Some(keyword @ (Keyword::CCode | Keyword::CDecl | Keyword::CExpr)) => {
                        self.embedded_c(keyword, token.span);
                        skip_c(&mut tokens);
                        Some(TokenKind::EmbeddedC)
                    }
                    Some(keyword @ (Keyword::CState | Keyword::CTrack)) => {
                        self.embedded_c(keyword, token.span);
                        while tokens.next_if(|t| matches!(t.kind, TokenKind::Str(_))).is_some() {}
                        Some(TokenKind::EmbeddedC)
                    }
                    Some(keyword) => Some(TokenKind::Keyword(keyword)),
                    None => Some(token.kind.clone()),
                },
                TokenKind::Number(spelling) => {
                    let (value, lost) = number_value(spelling);
                    if lost {
                        self.push(
                            Diagnostic::warning(
                                token.span,
                                format!("{spelling} does not fit into 32 bits and is read as {value}"),
                            )
                            .hint("the largest number is 2147483647"),
                        );
                    }
                    Some(TokenKind::Int(value))
                }
                TokenKind::Char(spelling) => Some(TokenKind::Int(char_value(spelling))),
                TokenKind::Bad(bad) => {
                    self.push(bad.diagnostic(token.span));
                    self.truncated |= *bad == Bad::Comment;
                    let bad = bad.clone();
                    replacement(&bad, out.last(), &mut tokens)
                }
                other => Some(other.clone()),
            };
            let open_string = token.kind == TokenKind::Bad(Bad::String);
            let span = token.span;
            match kind {
                Some(kind) => out.push(Token { kind, ..token }),
                None => newline = token.newline,
            }
            if open_string {
                self.closing_brackets(span, &mut out);
            }
        }
        out
    }

    /// An open string has swallowed the rest of its line; gives back the brackets that close something before it.
    fn closing_brackets(&self, span: Span, out: &mut Vec<Token>) {
        let text = self.sources.text(span);
        for (open, close, punct) in [('(', ')', Punct::RParen), ('{', '}', Punct::RBrace)] {
            let closing = text.matches(close).count().saturating_sub(text.matches(open).count());
            for _ in 0..closing {
                let kind = TokenKind::Punct(punct);
                out.push(Token { kind, span, newline: false, space: false, painted: false });
            }
        }
    }

    fn embedded_c(&mut self, keyword: Keyword, span: Span) {
        let error = Diagnostic::error(span, format!("embedded C (`{}`) is not supported", keyword.text()));
        let hint = match keyword {
            Keyword::CExpr => "write the condition in Promela",
            Keyword::CState | Keyword::CTrack | Keyword::CDecl => "declare the data as Promela variables",
            _ => "write the step in Promela: assignments, `if`, `atomic` or `d_step`",
        };
        self.push(error.hint(hint));
    }
}

type Tokens = std::iter::Peekable<std::vec::IntoIter<Token>>;

/// Skips an optional `[...]` and a `{...}`.
fn skip_c(tokens: &mut Tokens) {
    for (open, close) in [(Punct::LBracket, Punct::RBracket), (Punct::LBrace, Punct::RBrace)] {
        if tokens.peek().is_none_or(|token| !token.is(open)) {
            continue;
        }
        let mut depth = 0usize;
        for token in tokens.by_ref() {
            depth += usize::from(token.is(open));
            depth -= usize::from(token.is(close));
            if depth == 0 {
                break;
            }
        }
    }
}

/// What a bad token was probably meant to be, so that it gives no second error.
fn replacement(bad: &Bad, before: Option<&Token>, tokens: &mut Tokens) -> Option<TokenKind> {
    match bad {
        Bad::Hexadecimal(value) => Some(TokenKind::Int(value.unwrap_or(0) as i32)),
        Bad::Suffix | Bad::Fraction => Some(TokenKind::Int(0)),
        Bad::String => Some(TokenKind::Str("\"\"".into())),
        Bad::Char if before.is_some_and(|token| token.is(Punct::LParen)) => {
            Some(TokenKind::Str("\"\"".into()))
        }
        Bad::Char => Some(TokenKind::Int(0)),
        Bad::Character('\u{2018}'..='\u{201F}') => {
            // Everything up to the closing quote belongs to the text.
            let is_quote =
                |token: &Token| matches!(token.kind, TokenKind::Bad(Bad::Character('\u{2018}'..='\u{201F}')));
            while tokens.next_if(|token| !token.newline && !is_quote(token)).is_some() {}
            tokens.next_if(|token| !token.newline);
            Some(TokenKind::Str("\"\"".into()))
        }
        Bad::Character(_) | Bad::Comment | Bad::CommentEnd => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::parser::testing::messages;

    #[test]
    fn embedded_c_is_one_error_each() {
        let text = "c_decl { int *p; '}' }\nc_state \"int x\" \"Global\"\ninit { c_code [x > 0] { y = {0x10}; }; \
                    c_expr { p->q } -> skip }";
        assert_eq!(
            messages(text),
            [
                "1:1 embedded C (`c_decl`) is not supported",
                "2:1 embedded C (`c_state`) is not supported",
                "3:8 embedded C (`c_code`) is not supported",
                "3:40 embedded C (`c_expr`) is not supported",
            ]
        );
    }

    #[test]
    fn bad_tokens_are_one_error_each() {
        assert_eq!(messages("init { x = 0x10; y = 3a; z = 1.5; $ w = 'ab' }").len(), 5);
        assert_eq!(messages("init { printf('hello') }").len(), 1);
        assert_eq!(messages("init { printf(“hello %d”, x) }").len(), 1);
        assert_eq!(messages("init { x = 1 /* }").len(), 1);
        assert_eq!(messages("init { printf(\"abc(%d)) }\n").len(), 1);
        assert_eq!(messages("#if 0\n0x $ 'abc\n#endif\n").len(), 0);
    }

    #[test]
    fn numbers_that_do_not_fit_are_warned_about() {
        assert_eq!(
            messages("int x = 2147483648;"),
            ["1:9 2147483648 does not fit into 32 bits and is read as -2147483648"]
        );
    }
}
