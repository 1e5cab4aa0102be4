//! Recursive descent over the sections `vars`, `rules`, `init`, `target` and `invariants`, in this order.
//!
//! After a mistake the rest of the rule, or of the section, is skipped: one mistake is reported once.

use crate::scan::{Cursor, Lexis, Name, Read, Reported, Token};
use preempt_core::{Diagnostic, SourceId, Span};

#[derive(Debug, Default)]
pub(super) struct File<'a> {
    pub vars: Vec<Name<'a>>,
    pub rules: Vec<Rule<'a>>,
    pub init: Vec<Constraint<'a>>,
    /// A disjunction of conjunctions.
    pub target: Vec<Vec<Constraint<'a>>>,
    pub invariants: Vec<Vec<(Name<'a>, u64)>>,
}

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

const LEXIS: Lexis = Lexis {
    in_word: |letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '.',
    reserved: &["vars", "rules", "init", "target", "invariants", "true", "in"],
    numbers: true,
    signs: &[">=", "->", "=", "'", ";", ",", "+", "-", "[", "]"],
    meant: |letter| match letter {
        '<' => Some("a guard that needs few tokens is written `x = 0` or `x in [0, 3]`"),
        '>' => Some("write `x >= n`"),
        '*' => Some("weights are written as `x' = x + n`"),
        '/' | '%' => Some("a comment begins with `#`"),
        _ => None,
    },
    ..Lexis::PLAIN
};

/// Does it begin a section, or end the last one?
fn is_section(token: Token<'_>) -> bool {
    matches!(token, Token::Reserved("vars" | "rules" | "init" | "target" | "invariants") | Token::End)
}

struct Parser<'a> {
    cursor: Cursor<'a>,
}

pub(super) fn parse(source: SourceId, text: &str) -> (File<'_>, Vec<Diagnostic>) {
    let mut parser = Parser { cursor: Cursor::new(source, text, &LEXIS) };
    let mut file = File::default();
    parser.section("vars", &mut file, |p, file| {
        while let (Token::Word(text), span) = p.cursor.peek() {
            file.vars.push((text, span));
            p.cursor.next();
        }
        Ok(())
    });
    parser.section("rules", &mut file, |p, file| {
        let mut counted = 0;
        while !is_section(p.cursor.peek().0)
            && !crate::too_many_mistakes(&mut p.cursor.diagnostics, &mut counted)
        {
            match p.rule() {
                Ok(rule) => file.rules.push(rule),
                Err(Reported) => {
                    p.cursor.skip_until(|token| token == Token::Sign(";") || is_section(token));
                }
            }
            p.cursor.accept_sign(";");
        }
        Ok(())
    });
    parser.section("init", &mut file, |p, file| {
        file.init = p.conjunction()?;
        Ok(())
    });
    parser.section("target", &mut file, |p, file| {
        loop {
            file.target.push(p.conjunction()?);
            if is_section(p.cursor.peek().0) {
                return Ok(());
            }
        }
    });
    if parser.cursor.is_word("invariants") {
        parser.section("invariants", &mut file, |p, file| {
            while !is_section(p.cursor.peek().0) {
                let mut weights = vec![p.weight()?];
                while p.cursor.accept_sign(",") {
                    weights.push(p.weight()?);
                }
                file.invariants.push(weights);
            }
            Ok(())
        });
    }
    let (token, span) = parser.cursor.peek();
    if token != Token::End {
        let hint =
            "the sections are `vars`, `rules`, `init`, `target` and perhaps `invariants`, in this order";
        parser.cursor.error(span, "this section is out of place or there twice", Some(hint));
    }
    (file, parser.cursor.diagnostics)
}

impl<'a> Parser<'a> {
    fn section(
        &mut self,
        name: &str,
        file: &mut File<'a>,
        body: impl FnOnce(&mut Self, &mut File<'a>) -> Read<()>,
    ) {
        if !self.cursor.accept_word(name) {
            let missing = self.cursor.expected::<()>(&format!("the section `{name}`"), None);
            if missing.is_err() {
                self.cursor.skip_until(is_section);
            }
            if !self.cursor.accept_word(name) {
                return;
            }
        }
        if body(self, file).is_ok() && !is_section(self.cursor.peek().0) {
            let hint = match name {
                "vars" => Some("names have letters, digits and `_`; they are separated by white space"),
                "init" => Some("`init` is one conjunction: separate its conditions by commas"),
                _ => None,
            };
            let _: Read<()> = self.cursor.expected("the next section", hint);
        }
        self.cursor.skip_until(is_section);
    }

    fn rule(&mut self) -> Read<Rule<'a>> {
        let start = self.cursor.peek().1;
        let mut guards = Vec::new();
        loop {
            if !self.cursor.accept_word("true") {
                guards.push(self.constraint()?);
            }
            if !self.cursor.accept_sign(",") {
                break;
            }
        }
        let hint = Some("a rule is written `x >= 1, y >= 2 -> x' = x - 1, z' = z + 1;`");
        self.cursor.need_sign("->", hint)?;
        let mut effects = Vec::new();
        if !matches!(self.cursor.peek().0, Token::Sign(";")) {
            effects.push(self.effect()?);
            while self.cursor.accept_sign(",") {
                effects.push(self.effect()?);
            }
        }
        let (token, end) = self.cursor.peek();
        if token != Token::Sign(";") {
            return self.cursor.expected("`,` or `;` after an effect", None);
        }
        Ok(Rule { guards, effects, span: start.to(end) })
    }

    fn conjunction(&mut self) -> Read<Vec<Constraint<'a>>> {
        let mut conjuncts = vec![self.constraint()?];
        while self.cursor.accept_sign(",") {
            conjuncts.push(self.constraint()?);
        }
        Ok(conjuncts)
    }

    fn constraint(&mut self) -> Read<Constraint<'a>> {
        let name = self.cursor.name("a name")?;
        let (low, high) = if self.cursor.accept_sign(">=") {
            (self.cursor.number()?, None)
        } else if self.cursor.accept_sign("=") {
            let number = self.cursor.number()?;
            (number, Some(number))
        } else if self.cursor.accept_word("in") {
            self.cursor.need_sign("[", None)?;
            let low = self.cursor.number()?;
            self.cursor.need_sign(",", None)?;
            let high = self.cursor.number()?;
            self.cursor.need_sign("]", None)?;
            (low, Some(high))
        } else {
            return self.cursor.expected("`>=`, `=` or `in`", None);
        };
        let span = name.1.to(self.cursor.last());
        if high.is_some_and(|high| high < low) {
            self.cursor.error(span, "this interval is empty", None);
        }
        Ok(Constraint { name, low, high, span })
    }

    fn effect(&mut self) -> Read<Effect<'a>> {
        let target = self.cursor.name("a name")?;
        self.cursor.need_sign("'", Some("an effect names the value after the step: `x' = x + 1`"))?;
        self.cursor.need_sign("=", None)?;
        let mut terms = Vec::new();
        let mut constant = 0;
        // A number ends the expression: `x + y + 1`, `x - 1`, `0`.
        loop {
            match self.cursor.peek() {
                (Token::Number(_), _) => {
                    constant = self.cursor.number()? as i64;
                    break;
                }
                _ => terms.push(self.cursor.name("a name")?),
            }
            if self.cursor.accept_sign("-") {
                constant = -(self.cursor.number()? as i64);
                break;
            }
            if !self.cursor.accept_sign("+") {
                break;
            }
        }
        let span = target.1.to(self.cursor.last());
        Ok(Effect { target, terms, constant, span })
    }

    fn weight(&mut self) -> Read<(Name<'a>, u64)> {
        let name = self.cursor.name("a name")?;
        self.cursor.need_sign("=", Some("an invariant is written as weights: `x = 1, y = 2`"))?;
        Ok((name, self.cursor.number()?))
    }
}
