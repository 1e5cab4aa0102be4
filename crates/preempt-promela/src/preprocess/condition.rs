//! The expression of `#if` and `#elif`.

use preempt_core::{Diagnostic, Span};

use super::Preprocessor;
use crate::token::{Punct, Token, TokenKind, char_value};

const MAX_DEPTH: usize = 100;

impl Preprocessor<'_> {
    /// Whether the condition holds; a faulty one is reported and does not hold.
    pub(super) fn condition(&mut self, span: Span, word: &str, line: &[Token]) -> bool {
        let tokens = self.answer_defined(line);
        let tokens = self.expand_list(tokens);
        let mut evaluator = Evaluator { tokens: &tokens, at: 0, depth: 0 };
        let fault = match evaluator.ternary() {
            Ok(value) if evaluator.at == tokens.len() => return value != 0,
            Ok(_) => Fault::Unexpected,
            Err(fault) => fault,
        };
        let place = tokens.get(evaluator.at).map_or(span, |token| token.span);
        let message = match fault {
            Fault::Unexpected if evaluator.at < tokens.len() => {
                let text = self.spelled(&tokens[evaluator.at..=evaluator.at]);
                format!("unexpected `{text}` in the condition of `#{word}`")
            }
            Fault::Unexpected => format!("the condition of `#{word}` is incomplete"),
            Fault::Division => format!("division by zero in the condition of `#{word}`"),
            Fault::Depth => format!("the condition of `#{word}` is nested too deeply"),
        };
        self.error(Diagnostic::error(place, message));
        false
    }

    /// `defined` is evaluated before macros are expanded, for it is about their names.
    fn answer_defined(&self, line: &[Token]) -> Vec<Token> {
        let mut tokens = Vec::with_capacity(line.len());
        let mut at = 0;
        while let Some(token) = line.get(at) {
            at += 1;
            let mut answer = token.clone();
            if token.ident().is_some_and(|name| &**name == "defined") {
                let name = match &line[at..] {
                    [open, name, close, ..] if open.is(Punct::LParen) && close.is(Punct::RParen) => {
                        at += 3;
                        name.ident()
                    }
                    [name, ..] if name.ident().is_some() => {
                        at += 1;
                        name.ident()
                    }
                    _ => None,
                };
                if let Some(name) = name {
                    let digit = if self.macros.contains_key(name) { "1" } else { "0" };
                    answer.kind = TokenKind::Number(digit.into());
                }
            }
            tokens.push(answer);
        }
        tokens
    }
}

enum Fault {
    Unexpected,
    Division,
    Depth,
}

struct Evaluator<'t> {
    tokens: &'t [Token],
    at: usize,
    depth: usize,
}

impl Evaluator<'_> {
    fn punct(&self) -> Option<Punct> {
        match self.tokens.get(self.at)?.kind {
            TokenKind::Punct(punct) => Some(punct),
            _ => None,
        }
    }

    fn expect(&mut self, punct: Punct) -> Result<(), Fault> {
        if self.punct() == Some(punct) {
            self.at += 1;
            return Ok(());
        }
        Err(Fault::Unexpected)
    }

    fn ternary(&mut self) -> Result<i64, Fault> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Fault::Depth);
        }
        let value = self.binary(0)?;
        let value = if self.punct() == Some(Punct::Query) {
            self.at += 1;
            let yes = self.ternary();
            let yes = if value == 0 { yes.or_else(ignore_division)? } else { yes? };
            self.expect(Punct::Colon)?;
            let no = self.ternary();
            let no = if value != 0 { no.or_else(ignore_division)? } else { no? };
            if value != 0 { yes } else { no }
        } else {
            value
        };
        self.depth -= 1;
        Ok(value)
    }

    fn binary(&mut self, least: u8) -> Result<i64, Fault> {
        let mut left = self.unary()?;
        while let Some((punct, level)) = self.punct().and_then(|p| Some((p, level(p)?)))
            && level >= least
        {
            self.at += 1;
            let right = self.binary(level + 1);
            left = match (punct, left) {
                (Punct::AndAnd, 0) => {
                    right.or_else(ignore_division)?;
                    0
                }
                (Punct::OrOr, value) if value != 0 => {
                    right.or_else(ignore_division)?;
                    1
                }
                _ => apply(punct, left, right?)?,
            };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<i64, Fault> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Fault::Depth);
        }
        let token = self.tokens.get(self.at).ok_or(Fault::Unexpected)?;
        self.at += 1;
        let value = match &token.kind {
            TokenKind::Number(spelling) => spelling.parse().unwrap_or(i64::MAX),
            TokenKind::Char(spelling) => i64::from(char_value(spelling)),
            TokenKind::Ident(_) => 0,
            TokenKind::Punct(Punct::Not) => i64::from(self.unary()? == 0),
            TokenKind::Punct(Punct::NotNot) => i64::from(self.unary()? != 0),
            TokenKind::Punct(Punct::Minus) => self.unary()?.wrapping_neg(),
            TokenKind::Punct(Punct::Plus) => self.unary()?,
            TokenKind::Punct(Punct::Tilde) => !self.unary()?,
            TokenKind::Punct(Punct::LParen) => {
                let value = self.ternary()?;
                self.expect(Punct::RParen)?;
                value
            }
            _ => {
                self.at -= 1;
                return Err(Fault::Unexpected);
            }
        };
        self.depth -= 1;
        Ok(value)
    }
}

/// What is not evaluated may divide by zero, as in C.
fn ignore_division(fault: Fault) -> Result<i64, Fault> {
    match fault {
        Fault::Division => Ok(0),
        other => Err(other),
    }
}

fn level(punct: Punct) -> Option<u8> {
    Some(match punct {
        Punct::OrOr => 0,
        Punct::AndAnd => 1,
        Punct::Pipe => 2,
        Punct::Caret => 3,
        Punct::Amp => 4,
        Punct::Eq | Punct::Ne => 5,
        Punct::Lt | Punct::Le | Punct::Gt | Punct::Ge => 6,
        Punct::Shl | Punct::Shr => 7,
        Punct::Plus | Punct::Minus => 8,
        Punct::Star | Punct::Slash | Punct::Percent => 9,
        _ => return None,
    })
}

fn apply(punct: Punct, a: i64, b: i64) -> Result<i64, Fault> {
    Ok(match punct {
        Punct::OrOr => i64::from(a != 0 || b != 0),
        Punct::AndAnd => i64::from(a != 0 && b != 0),
        Punct::Pipe => a | b,
        Punct::Caret => a ^ b,
        Punct::Amp => a & b,
        Punct::Eq => i64::from(a == b),
        Punct::Ne => i64::from(a != b),
        Punct::Lt => i64::from(a < b),
        Punct::Le => i64::from(a <= b),
        Punct::Gt => i64::from(a > b),
        Punct::Ge => i64::from(a >= b),
        Punct::Shl => a.wrapping_shl(b as u32),
        Punct::Shr => a.wrapping_shr(b as u32),
        Punct::Plus => a.wrapping_add(b),
        Punct::Minus => a.wrapping_sub(b),
        Punct::Star => a.wrapping_mul(b),
        Punct::Slash | Punct::Percent if b == 0 => return Err(Fault::Division),
        Punct::Slash => a.wrapping_div(b),
        Punct::Percent => a.wrapping_rem(b),
        _ => return Err(Fault::Unexpected),
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::run;

    #[track_caller]
    fn holds(condition: &str) -> bool {
        let (out, messages) = run(&format!("#define N 3\n#if {condition}\nyes\n#endif"), &[], &[]);
        assert_eq!(messages, [""; 0], "{condition}");
        out == "yes"
    }

    #[test]
    fn arithmetic_is_that_of_c() {
        for condition in [
            "1 + 2 * 3 == 7",
            "(1 + 2) * 3 == 9",
            "N - 1 - 1 == 1",
            "!0 && ~0 == -1",
            "7 / 2 == 3 && 7 % 2",
            "1 << 4 == 16",
            "'a' == 97",
            "UNKNOWN == 0",
            "0 && 1 / 0 || 1",
            "1 || 1 / 0",
            "N > 2 ? 1 : 1 / 0",
            "defined N && defined(N)",
            "(5 & 3) == 1",
            "(5 ^ 3) == 6 && (5 | 3) == 7",
            "9 >= 9 && 8 <= 9 != 0",
        ] {
            assert!(holds(condition), "{condition}");
        }
        assert!(!holds("N == 4"));
        assert!(!holds("defined(M)"));
    }

    #[test]
    fn deep_conditions_are_refused() {
        for open in ["(", "!", "- "] {
            let (_, messages) = run(&format!("#if {}\n#endif", open.repeat(100_000)), &[], &[]);
            assert_eq!(messages, ["the condition of `#if` is nested too deeply"]);
        }
    }
}
