//! Recursive descent over the sections `vars`, `rules`, `init`, `target` and `invariants`, in this order.
//!
//! After a mistake the rest of the rule, or of the section, is skipped: one mistake is reported once.

use super::lexer::Token;
use preempt_core::{Diagnostic, Span};

#[derive(Debug, Default)]
pub(super) struct File<'a> {
    pub vars: Vec<Name<'a>>,
    pub rules: Vec<Rule<'a>>,
    pub init: Vec<Constraint<'a>>,
    /// A disjunction of conjunctions.
    pub target: Vec<Vec<Constraint<'a>>>,
    pub invariants: Vec<Vec<(Name<'a>, u64)>>,
}

pub(super) type Name<'a> = (&'a str, Span);

#[derive(Debug)]
pub(super) struct Rule<'a> {
    pub guards: Vec<Constraint<'a>>,
    pub effects: Vec<Effect<'a>>,
    pub span: Span,
}

/// `low <= name <= high`.
#[derive(Debug)]
pub(super) struct Constraint<'a> {
    pub name: Name<'a>,
    pub low: u64,
    pub high: Option<u64>,
    pub span: Span,
}

/// `target' = terms + constant`.
#[derive(Debug)]
pub(super) struct Effect<'a> {
    pub target: Name<'a>,
    pub terms: Vec<Name<'a>>,
    pub constant: i64,
    pub span: Span,
}

/// The mistake has been reported.
struct Reported;
type Result<T> = std::result::Result<T, Reported>;

struct Parser<'a, 't> {
    tokens: &'t [(Token<'a>, Span)],
    at: usize,
    diagnostics: &'t mut Vec<Diagnostic>,
}

pub(super) fn parse<'a>(tokens: &[(Token<'a>, Span)], diagnostics: &mut Vec<Diagnostic>) -> File<'a> {
    let mut parser = Parser { tokens, at: 0, diagnostics };
    let mut file = File::default();
    parser.section(Token::Vars, "vars", &mut file, |p, file| {
        while let (Token::Name(text), span) = p.peek() {
            file.vars.push((text, span));
            p.at += 1;
        }
        Ok(())
    });
    parser.section(Token::Rules, "rules", &mut file, |p, file| {
        while !p.peek().0.is_section() {
            match p.rule() {
                Ok(rule) => file.rules.push(rule),
                Err(Reported) => p.skip(|token| token == Token::Semicolon || token.is_section()),
            }
            if p.peek().0 == Token::Semicolon {
                p.at += 1;
            }
        }
        Ok(())
    });
    parser.section(Token::Init, "init", &mut file, |p, file| {
        file.init = p.conjunction()?;
        Ok(())
    });
    parser.section(Token::Target, "target", &mut file, |p, file| {
        loop {
            file.target.push(p.conjunction()?);
            if p.peek().0.is_section() {
                return Ok(());
            }
        }
    });
    if parser.peek().0 == Token::Invariants {
        parser.section(Token::Invariants, "invariants", &mut file, |p, file| {
            while !p.peek().0.is_section() {
                let mut weights = vec![p.weight()?];
                while p.accept(Token::Comma) {
                    weights.push(p.weight()?);
                }
                file.invariants.push(weights);
            }
            Ok(())
        });
    }
    let (token, span) = parser.peek();
    if token != Token::End {
        parser.diagnostics.push(Diagnostic::error(span, "this section is out of place or there twice").hint(
            "the sections are `vars`, `rules`, `init`, `target` and perhaps `invariants`, in this order",
        ));
    }
    file
}

impl<'a> Parser<'a, '_> {
    fn peek(&self) -> (Token<'a>, Span) {
        self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn accept(&mut self, token: Token<'_>) -> bool {
        let found = self.peek().0 == token;
        self.at += usize::from(found);
        found
    }

    fn skip(&mut self, until: impl Fn(Token<'a>) -> bool) {
        while !until(self.peek().0) && self.peek().0 != Token::End {
            self.at += 1;
        }
    }

    fn expected<T>(&mut self, what: &str, hint: Option<&str>) -> Result<T> {
        let (token, span) = self.peek();
        let found = if token == Token::End { ", but the file ends" } else { "" };
        let error = Diagnostic::error(span, format!("expected {what}{found}"));
        self.diagnostics.push(match hint {
            Some(hint) => error.hint(hint),
            None => error,
        });
        Err(Reported)
    }

    fn section(
        &mut self,
        token: Token<'_>,
        name: &str,
        file: &mut File<'a>,
        body: impl FnOnce(&mut Self, &mut File<'a>) -> Result<()>,
    ) {
        if !self.accept(token) {
            if self.expected::<()>(&format!("the section `{name}`"), None).is_err() {
                self.skip(Token::is_section);
            }
            if !self.accept(token) {
                return;
            }
        }
        if body(self, file).is_ok() && !self.peek().0.is_section() {
            let hint = match name {
                "vars" => Some("names have letters, digits and `_`; they are separated by white space"),
                "init" => Some("`init` is one conjunction: separate its conditions by commas"),
                _ => None,
            };
            let _: Result<()> = self.expected("the next section", hint);
        }
        self.skip(Token::is_section);
    }

    fn name(&mut self) -> Result<Name<'a>> {
        match self.peek() {
            (Token::Name(text), span) => {
                self.at += 1;
                Ok((text, span))
            }
            (Token::Vars | Token::Rules | Token::Init | Token::Target | Token::Invariants | Token::In, _) => {
                self.expected("a name", Some("this is a reserved word"))
            }
            _ => self.expected("a name", None),
        }
    }

    fn number(&mut self) -> Result<u64> {
        match self.peek() {
            (Token::Number(number), _) => {
                self.at += 1;
                Ok(number)
            }
            (Token::Minus, _) => self.expected("a number", Some("a number of tokens is never negative")),
            _ => self.expected("a number", None),
        }
    }

    fn rule(&mut self) -> Result<Rule<'a>> {
        let start = self.peek().1;
        let mut guards = Vec::new();
        loop {
            if !self.accept(Token::True) {
                guards.push(self.constraint()?);
            }
            if !self.accept(Token::Comma) {
                break;
            }
        }
        if !self.accept(Token::Arrow) {
            return self
                .expected("`->`", Some("a rule is written `x >= 1, y >= 2 -> x' = x - 1, z' = z + 1;`"));
        }
        let mut effects = Vec::new();
        if !matches!(self.peek().0, Token::Semicolon) {
            effects.push(self.effect()?);
            while self.accept(Token::Comma) {
                effects.push(self.effect()?);
            }
        }
        let (token, end) = self.peek();
        if token != Token::Semicolon {
            return self.expected("`,` or `;` after an effect", None);
        }
        Ok(Rule { guards, effects, span: start.to(end) })
    }

    fn conjunction(&mut self) -> Result<Vec<Constraint<'a>>> {
        let mut conjuncts = vec![self.constraint()?];
        while self.accept(Token::Comma) {
            conjuncts.push(self.constraint()?);
        }
        Ok(conjuncts)
    }

    fn constraint(&mut self) -> Result<Constraint<'a>> {
        let name = self.name()?;
        let (low, high) = if self.accept(Token::AtLeast) {
            (self.number()?, None)
        } else if self.accept(Token::Equal) {
            let number = self.number()?;
            (number, Some(number))
        } else if self.accept(Token::In) {
            if !self.accept(Token::Open) {
                return self.expected("`[`", None);
            }
            let low = self.number()?;
            if !self.accept(Token::Comma) {
                return self.expected("`,`", None);
            }
            let high = self.number()?;
            if !self.accept(Token::Close) {
                return self.expected("`]`", None);
            }
            (low, Some(high))
        } else {
            return self.expected("`>=`, `=` or `in`", None);
        };
        let span = name.1.to(self.tokens[self.at.saturating_sub(1)].1);
        if high.is_some_and(|high| high < low) {
            self.diagnostics.push(Diagnostic::error(span, "this interval is empty"));
        }
        Ok(Constraint { name, low, high, span })
    }

    fn effect(&mut self) -> Result<Effect<'a>> {
        let target = self.name()?;
        if !self.accept(Token::Prime) {
            return self.expected("`'`", Some("an effect names the value after the step: `x' = x + 1`"));
        }
        if !self.accept(Token::Equal) {
            return self.expected("`=`", None);
        }
        let mut terms = Vec::new();
        let mut constant = 0;
        // A number ends the expression: `x + y + 1`, `x - 1`, `0`.
        loop {
            match self.peek() {
                (Token::Number(number), _) => {
                    self.at += 1;
                    constant = number as i64;
                    break;
                }
                _ => terms.push(self.name()?),
            }
            if self.accept(Token::Minus) {
                constant = -(self.number()? as i64);
                break;
            }
            if !self.accept(Token::Plus) {
                break;
            }
        }
        let span = target.1.to(self.tokens[self.at.saturating_sub(1)].1);
        Ok(Effect { target, terms, constant, span })
    }

    fn weight(&mut self) -> Result<(Name<'a>, u64)> {
        let name = self.name()?;
        if !self.accept(Token::Equal) {
            return self.expected("`=`", Some("an invariant is written as weights: `x = 1, y = 2`"));
        }
        Ok((name, self.number()?))
    }
}
