//! Tokens and items of a `.cub`. After a mistake the rest of the item is skipped.

use preempt_core::{Diagnostic, SourceId, Span};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Name(&'a str),
    Number,
    Sign(&'static str),
    End,
}

pub(super) type Name<'a> = (&'a str, Span);

const SIGNS: [&str; 19] =
    [":=", "<>", "&&", "||", "<=", ">=", "=", "<", ">", "(", ")", "{", "}", "[", "]", ",", ";", ":", "|"];
const MORE_SIGNS: [&str; 4] = [".", "?", "+", "-"];

/// Words that begin an item.
const ITEMS: [&str; 8] = ["type", "var", "array", "const", "init", "unsafe", "transition", "invariant"];

pub(super) fn tokens<'a>(
    source: SourceId,
    text: &'a str,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<(Token<'a>, Span)> {
    let bytes = text.as_bytes();
    let span = |start: usize, end: usize| Span::new(source, start as u32, end as u32);
    let (mut tokens, mut at, mut counted) = (Vec::new(), 0, 0);
    while at < bytes.len() {
        let start = at;
        let rest = &text[at..];
        let first = bytes[at];
        if first.is_ascii_whitespace() {
            at += 1;
        } else if rest.starts_with("(*") {
            at = comment_end(text, at).unwrap_or_else(|| {
                diagnostics.push(Diagnostic::error(span(start, start + 2), "this comment does not end"));
                bytes.len()
            });
        } else if first.is_ascii_alphabetic() || first == b'_' || first == b'#' {
            at += 1;
            while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_') {
                at += 1;
            }
            tokens.push((Token::Name(&text[start..at]), span(start, at)));
        } else if first.is_ascii_digit() {
            while at < bytes.len() && (bytes[at].is_ascii_digit() || bytes[at] == b'.') {
                at += 1;
            }
            tokens.push((Token::Number, span(start, at)));
        } else if let Some(sign) = SIGNS.into_iter().chain(MORE_SIGNS).find(|sign| rest.starts_with(sign)) {
            at += sign.len();
            tokens.push((Token::Sign(sign), span(start, at)));
        } else {
            let unknown = rest.chars().next().unwrap_or('?');
            at += unknown.len_utf8();
            diagnostics.push(Diagnostic::error(span(start, at), format!("`{unknown}` has no meaning here")));
            if crate::too_many_mistakes(diagnostics, &mut counted) {
                break;
            }
        }
    }
    tokens.push((Token::End, span(bytes.len(), bytes.len())));
    tokens
}

/// Comments nest.
fn comment_end(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (start, 0);
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"(*" => {
                depth += 1;
                at += 2;
            }
            b"*)" => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => at += 1,
        }
    }
    None
}

#[derive(Debug)]
pub(super) enum Item<'a> {
    Type { name: Name<'a>, values: Vec<Name<'a>> },
    Variable { name: Name<'a>, of: Name<'a> },
    Array { name: Name<'a>, of: Name<'a> },
    Init { parameters: Vec<Name<'a>>, formula: Formula<'a> },
    Unsafe { parameters: Vec<Name<'a>>, formula: Formula<'a>, span: Span },
    Transition(Transition<'a>),
}

#[derive(Debug)]
pub(super) struct Transition<'a> {
    pub name: Name<'a>,
    pub parameters: Vec<Name<'a>>,
    pub requires: Vec<Literal<'a>>,
    /// Of all others, who are called so.
    pub all_others: Vec<(Name<'a>, Formula<'a>)>,
    pub updates: Vec<Update<'a>>,
    pub span: Span,
}

/// A disjunction of conjunctions.
pub(super) type Formula<'a> = Vec<Vec<Literal<'a>>>;

#[derive(Debug)]
pub(super) struct Literal<'a> {
    pub left: Term<'a>,
    pub equal: bool,
    pub right: Term<'a>,
    pub span: Span,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Term<'a> {
    pub name: Name<'a>,
    pub index: Option<Name<'a>>,
}

#[derive(Debug)]
pub(super) struct Update<'a> {
    pub target: Term<'a>,
    /// The first case that applies.
    pub cases: Vec<(Vec<Literal<'a>>, Term<'a>)>,
}

struct Reported;
type Result<T> = std::result::Result<T, Reported>;

struct Parser<'a, 't> {
    tokens: &'t [(Token<'a>, Span)],
    at: usize,
    diagnostics: &'t mut Vec<Diagnostic>,
}

pub(super) fn parse<'a>(tokens: &[(Token<'a>, Span)], diagnostics: &mut Vec<Diagnostic>) -> Vec<Item<'a>> {
    let mut parser = Parser { tokens, at: 0, diagnostics };
    let (mut items, mut counted) = (Vec::new(), 0);
    while parser.peek().0 != Token::End {
        if crate::too_many_mistakes(parser.diagnostics, &mut counted) {
            break;
        }
        match parser.item() {
            Ok(item) => items.extend(item),
            Err(Reported) => parser.skip(),
        }
    }
    items
}

impl<'a> Parser<'a, '_> {
    fn peek(&self) -> (Token<'a>, Span) {
        self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn sign(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek().0, Token::Sign(it) if it == sign);
        self.at += usize::from(found);
        found
    }

    fn word(&mut self, word: &str) -> bool {
        let found = self.peek().0 == Token::Name(word);
        self.at += usize::from(found);
        found
    }

    fn skip(&mut self) {
        loop {
            self.at += 1;
            match self.peek().0 {
                Token::End => return,
                Token::Name(word) if ITEMS.contains(&word) => return,
                _ => {}
            }
        }
    }

    fn expected<T>(&mut self, what: &str) -> Result<T> {
        let (token, span) = self.peek();
        let found = if token == Token::End { ", but the file ends" } else { "" };
        self.diagnostics.push(Diagnostic::error(span, format!("expected {what}{found}")));
        Err(Reported)
    }

    fn refused<T>(&mut self, span: Span, what: &str, hint: &str) -> Result<T> {
        let message = format!("{what}: that is outside of the class of protocols that is read");
        self.diagnostics.push(Diagnostic::error(span, message).hint(hint));
        Err(Reported)
    }

    fn need(&mut self, sign: &'static str) -> Result<()> {
        if self.sign(sign) { Ok(()) } else { self.expected(&format!("`{sign}`")) }
    }

    fn name(&mut self, what: &str) -> Result<Name<'a>> {
        match self.peek() {
            (Token::Name(text), span) => {
                self.at += 1;
                Ok((text, span))
            }
            (Token::Number, span) => self.refused(span, "numbers", "only enumerations and Booleans are read"),
            (Token::Sign("?"), span) => {
                self.refused(span, "random values", "write a transition for each value")
            }
            _ => self.expected(what),
        }
    }

    fn item(&mut self) -> Result<Option<Item<'a>>> {
        let (token, start) = self.peek();
        let Token::Name(word) = token else {
            return self.expected("`type`, `var`, `array`, `init`, `unsafe` or `transition`");
        };
        self.at += 1;
        match word {
            "type" => {
                let name = self.name("the name of a type")?;
                if !self.sign("=") {
                    return self.refused(name.1, "types without values", "say which values there are");
                }
                self.sign("|");
                let mut values = vec![self.name("a value")?];
                while self.sign("|") {
                    values.push(self.name("a value")?);
                }
                Ok(Some(Item::Type { name, values }))
            }
            "var" => {
                let name = self.name("the name of a variable")?;
                self.need(":")?;
                Ok(Some(Item::Variable { name, of: self.name("a type")? }))
            }
            "array" => {
                let name = self.name("the name of an array")?;
                self.need("[")?;
                let index = self.name("`proc`")?;
                if self.sign(",") {
                    return self.refused(index.1, "arrays over pairs of processes", "only `[proc]` is read");
                }
                if index.0 != "proc" {
                    return self.refused(index.1, "arrays over other types", "only `[proc]` is read");
                }
                self.need("]")?;
                self.need(":")?;
                Ok(Some(Item::Array { name, of: self.name("a type")? }))
            }
            "const" => {
                self.refused(start, "constants of unknown value", "only enumerations and Booleans are read")
            }
            "init" => {
                let parameters = self.parameters()?;
                Ok(Some(Item::Init { parameters, formula: self.braced()? }))
            }
            "unsafe" => {
                let parameters = self.parameters()?;
                Ok(Some(Item::Unsafe { parameters, formula: self.braced()?, span: start }))
            }
            "invariant" => {
                self.parameters()?;
                self.braced()?;
                let message = "an invariant is a hint for another program, and is not looked at";
                self.diagnostics.push(Diagnostic::warning(start, message));
                Ok(None)
            }
            "transition" => self.transition(start).map(|it| Some(Item::Transition(it))),
            _ => {
                let what = format!("`{word}`");
                self.refused(
                    start,
                    &what,
                    "an item begins with `type`, `var`, `array`, `init`, `unsafe` or `transition`",
                )
            }
        }
    }

    /// `(i j)`, with or without commas.
    fn parameters(&mut self) -> Result<Vec<Name<'a>>> {
        let mut names = Vec::new();
        if self.sign("(") {
            while !self.sign(")") {
                names.push(self.name("the name of a process")?);
                self.sign(",");
            }
        }
        Ok(names)
    }

    fn braced(&mut self) -> Result<Formula<'a>> {
        self.need("{")?;
        if self.sign("}") {
            return Ok(vec![Vec::new()]);
        }
        let formula = self.formula()?;
        self.need("}")?;
        Ok(formula)
    }

    fn formula(&mut self) -> Result<Formula<'a>> {
        let mut any = vec![self.conjunction()?];
        while self.sign("||") {
            any.push(self.conjunction()?);
        }
        Ok(any)
    }

    fn conjunction(&mut self) -> Result<Vec<Literal<'a>>> {
        let mut all = vec![self.literal()?];
        while self.sign("&&") {
            all.push(self.literal()?);
        }
        Ok(all)
    }

    fn literal(&mut self) -> Result<Literal<'a>> {
        let start = self.peek().1;
        let left = self.term()?;
        let (token, span) = self.peek();
        let equal = match token {
            Token::Sign("=") => true,
            Token::Sign("<>") => false,
            Token::Sign("<" | "<=" | ">" | ">=" | "+" | "-") => {
                return self.refused(span, "an order of processes or values", "only `=` and `<>` are read");
            }
            _ => return self.expected("`=` or `<>`"),
        };
        self.at += 1;
        let right = self.term()?;
        let span = start.to(self.tokens[self.at.saturating_sub(1)].1);
        Ok(Literal { left, equal, right, span })
    }

    fn term(&mut self) -> Result<Term<'a>> {
        let name = self.name("a variable, a process or a value")?;
        let index = if self.sign("[") {
            let index = self.name("a process")?;
            if self.sign(",") {
                return self.refused(index.1, "arrays over pairs of processes", "only `[proc]` is read");
            }
            self.need("]")?;
            Some(index)
        } else {
            None
        };
        if let (Token::Sign("+" | "-"), span) = self.peek() {
            return self.refused(span, "arithmetic", "only enumerations and Booleans are read");
        }
        Ok(Term { name, index })
    }

    fn transition(&mut self, start: Span) -> Result<Transition<'a>> {
        let name = self.name("the name of a transition")?;
        let parameters = self.parameters()?;
        let (mut requires, mut all_others) = (Vec::new(), Vec::new());
        if self.word("requires") {
            self.need("{")?;
            while !self.sign("}") {
                if self.word("forall_other") {
                    let process = self.name("the name of a process")?;
                    self.need(".")?;
                    let formula = match self.sign("(") {
                        true => {
                            let formula = self.formula()?;
                            self.need(")")?;
                            formula
                        }
                        false => vec![vec![self.literal()?]],
                    };
                    all_others.push((process, formula));
                } else {
                    requires.push(self.literal()?);
                }
                if !self.sign("&&") && !matches!(self.peek().0, Token::Sign("}")) {
                    return self.expected("`&&` or `}`");
                }
            }
        }
        self.need("{")?;
        let mut updates = Vec::new();
        while !self.sign("}") {
            updates.push(self.update()?);
            if !self.sign(";") && !matches!(self.peek().0, Token::Sign("}")) {
                return self.expected("`;` or `}`");
            }
        }
        Ok(Transition { name, parameters, requires, all_others, updates, span: start.to(name.1) })
    }

    fn update(&mut self) -> Result<Update<'a>> {
        let target = self.term()?;
        self.need(":=")?;
        if !self.word("case") {
            return Ok(Update { target, cases: vec![(Vec::new(), self.term()?)] });
        }
        let mut cases = Vec::new();
        while self.sign("|") {
            let condition = if self.word("_") { Vec::new() } else { self.conjunction()? };
            self.need(":")?;
            cases.push((condition, self.term()?));
        }
        if cases.is_empty() {
            return self.expected("`|`");
        }
        Ok(Update { target, cases })
    }
}
