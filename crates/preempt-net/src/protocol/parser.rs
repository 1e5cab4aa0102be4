//! Recursive descent over the items of a `.protocol`; the grammar is in the guide's chapter on protocols.
//!
//! After a mistake the rest of the item is skipped: one mistake is reported once.

use super::lexer::Token;
use preempt_core::{Diagnostic, Span};

pub(super) type Name<'a> = (&'a str, Span);

#[derive(Debug)]
pub(super) enum Item<'a> {
    Constant {
        name: Name<'a>,
        value: Ast<'a>,
    },
    Type {
        name: Name<'a>,
        of: TypeAst<'a>,
    },
    Variable {
        name: Name<'a>,
        global: bool,
        index: Option<TypeAst<'a>>,
        of: TypeAst<'a>,
        initial: Option<Ast<'a>>,
    },
    Initially(Ast<'a>),
    Rule(RuleAst<'a>),
    Bad {
        name: Name<'a>,
        parameters: Vec<(Name<'a>, TypeAst<'a>)>,
        patterns: Vec<Vec<Part<'a>>>,
    },
}

#[derive(Debug)]
pub(super) enum TypeAst<'a> {
    Bool,
    Range(Ast<'a>, Ast<'a>),
    Names(Vec<Name<'a>>, Span),
    Named(Name<'a>),
}

#[derive(Debug)]
pub(super) struct RuleAst<'a> {
    pub name: Name<'a>,
    pub parameters: Vec<(Name<'a>, TypeAst<'a>)>,
    pub when: Vec<Ast<'a>>,
    pub with: Option<Ast<'a>>,
    pub all_others: Vec<Ast<'a>>,
    pub mover: Vec<EffectAst<'a>>,
    pub partner: Vec<EffectAst<'a>>,
    pub others: Vec<(Option<Ast<'a>>, Vec<EffectAst<'a>>)>,
    pub span: Span,
}

#[derive(Debug)]
pub(super) struct EffectAst<'a> {
    pub name: Name<'a>,
    pub index: Option<Ast<'a>>,
    pub value: Ast<'a>,
}

/// A part of a pattern: about the global part, or so many processes.
#[derive(Debug)]
pub(super) enum Part<'a> {
    Global(Ast<'a>),
    Processes(i64, Span, Ast<'a>),
}

#[derive(Debug)]
pub(super) struct Ast<'a> {
    pub node: Node<'a>,
    pub span: Span,
}

#[derive(Debug)]
pub(super) enum Node<'a> {
    Number(i64),
    Truth(bool),
    /// Any value: for initial values.
    Any,
    Name {
        owner: Option<&'a str>,
        name: &'a str,
        index: Option<Box<Ast<'a>>>,
    },
    Not(Box<Ast<'a>>),
    And(Vec<Ast<'a>>),
    Or(Vec<Ast<'a>>),
    Compare(&'static str, Box<Ast<'a>>, Box<Ast<'a>>),
    In(Box<Ast<'a>>, Vec<Ast<'a>>),
    Between(Box<Ast<'a>>, Box<Ast<'a>>, Box<Ast<'a>>),
    Add(Box<Ast<'a>>, Box<Ast<'a>>),
    Subtract(Box<Ast<'a>>, Box<Ast<'a>>),
    If(Box<Ast<'a>>, Box<Ast<'a>>, Box<Ast<'a>>),
}

/// The mistake has been reported.
struct Reported;
type Result<T> = std::result::Result<T, Reported>;

/// Expressions that are nested deeper are refused, so that no stack overflows; so is a longer text of one expression.
const DEEPEST: usize = 120;

struct Parser<'a, 't> {
    tokens: &'t [(Token<'a>, Span)],
    at: usize,
    depth: usize,
    diagnostics: &'t mut Vec<Diagnostic>,
}

pub(super) fn parse<'a>(tokens: &[(Token<'a>, Span)], diagnostics: &mut Vec<Diagnostic>) -> Vec<Item<'a>> {
    let mut parser = Parser { tokens, at: 0, depth: 0, diagnostics };
    let (mut items, mut counted) = (Vec::new(), 0);
    while parser.peek().0 != Token::End {
        if crate::too_many_mistakes(parser.diagnostics, &mut counted) {
            break;
        }
        match parser.item() {
            Ok(item) => items.push(item),
            Err(Reported) => parser.skip(),
        }
    }
    items
}

impl<'a> Parser<'a, '_> {
    fn peek(&self) -> (Token<'a>, Span) {
        self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn last_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].1
    }

    fn sign(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek().0, Token::Sign(it) if it == sign);
        self.at += usize::from(found);
        found
    }

    fn word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek().0, Token::Word(it) if it == word);
        self.at += usize::from(found);
        found
    }

    /// To the next word that begins an item.
    fn skip(&mut self) {
        self.depth = 0;
        loop {
            self.at += 1;
            match self.peek().0 {
                Token::End => return,
                Token::Word("const" | "type" | "global" | "local" | "initially" | "rule" | "bad") => return,
                _ => {}
            }
        }
    }

    fn expected<T>(&mut self, what: &str, hint: Option<&str>) -> Result<T> {
        let (token, span) = self.peek();
        let found = match token {
            Token::End => ", but the file ends".to_string(),
            Token::Word(word) => format!(", and `{word}` is a reserved word"),
            _ => String::new(),
        };
        let error = Diagnostic::error(span, format!("expected {what}{found}"));
        self.diagnostics.push(match hint {
            Some(hint) => error.hint(hint),
            None => error,
        });
        Err(Reported)
    }

    fn need(&mut self, sign: &'static str, hint: Option<&str>) -> Result<()> {
        if self.sign(sign) { Ok(()) } else { self.expected(&format!("`{sign}`"), hint) }
    }

    fn name(&mut self, what: &str) -> Result<Name<'a>> {
        match self.peek() {
            (Token::Name(text), span) => {
                self.at += 1;
                Ok((text, span))
            }
            _ => self.expected(what, None),
        }
    }

    fn item(&mut self) -> Result<Item<'a>> {
        let start = self.peek().1;
        match self.peek().0 {
            Token::Word("const") => {
                self.at += 1;
                let name = self.name("the name of a constant")?;
                self.need("=", Some("write `const m = 2`"))?;
                Ok(Item::Constant { name, value: self.expr()? })
            }
            Token::Word("type") => {
                self.at += 1;
                let name = self.name("the name of a type")?;
                self.need("=", Some("write `type Block = 1 .. 4`"))?;
                Ok(Item::Type { name, of: self.type_of()? })
            }
            Token::Word(word @ ("global" | "local")) => {
                self.at += 1;
                self.variable(word == "global")
            }
            Token::Word("initially") => {
                self.at += 1;
                Ok(Item::Initially(self.expr()?))
            }
            Token::Word("rule") => {
                self.at += 1;
                self.rule(start).map(Item::Rule)
            }
            Token::Word("bad") => {
                self.at += 1;
                let name = self.name("a name for what is bad")?;
                let parameters = self.parameters()?;
                self.need(":", Some("write `bad two_owners: two with state = M`"))?;
                let mut patterns = vec![self.pattern()?];
                while self.sign("|") {
                    patterns.push(self.pattern()?);
                }
                Ok(Item::Bad { name, parameters, patterns })
            }
            _ => self.expected(
                "`const`, `type`, `global`, `local`, `initially`, `rule` or `bad`",
                Some("effects are separated by commas, alternatives of `bad` by `|`"),
            ),
        }
    }

    fn variable(&mut self, global: bool) -> Result<Item<'a>> {
        let name = self.name("the name of a variable")?;
        let index = if self.sign("[") {
            let index = self.type_of()?;
            self.need("]", None)?;
            Some(index)
        } else {
            None
        };
        self.need(":", Some("write `local state : { M, E, S, I } = I`"))?;
        let of = self.type_of()?;
        let initial = match self.sign("=") {
            true if self.word("any") => Some(Ast { node: Node::Any, span: self.last_span() }),
            true => Some(self.expr()?),
            false => None,
        };
        Ok(Item::Variable { name, global, index, of, initial })
    }

    fn type_of(&mut self) -> Result<TypeAst<'a>> {
        match self.peek() {
            (Token::Word("bool"), _) => {
                self.at += 1;
                Ok(TypeAst::Bool)
            }
            (Token::Sign("{"), start) => {
                self.at += 1;
                let mut names = vec![self.name("the name of a value")?];
                while self.sign(",") {
                    names.push(self.name("the name of a value")?);
                }
                self.need("}", Some("values are names, separated by commas"))?;
                Ok(TypeAst::Names(names, start.to(self.last_span())))
            }
            (Token::Name(text), span)
                if !matches!(self.tokens.get(self.at + 1), Some((Token::Sign(".." | "+" | "-"), _))) =>
            {
                self.at += 1;
                Ok(TypeAst::Named((text, span)))
            }
            _ => {
                let low = self.sum()?;
                self.need(
                    "..",
                    Some("a type is `bool`, a range `0 .. 3`, names `{ a, b }` or the name of a type"),
                )?;
                Ok(TypeAst::Range(low, self.sum()?))
            }
        }
    }

    fn parameters(&mut self) -> Result<Vec<(Name<'a>, TypeAst<'a>)>> {
        let mut parameters = Vec::new();
        if self.sign("(") {
            loop {
                let name = self.name("the name of a parameter")?;
                self.need(":", Some("write `rule store(d : 0 .. 1)`"))?;
                parameters.push((name, self.type_of()?));
                if !self.sign(",") {
                    break;
                }
            }
            self.need(")", None)?;
        }
        Ok(parameters)
    }

    fn rule(&mut self, start: Span) -> Result<RuleAst<'a>> {
        let name = self.name("the name of a rule")?;
        let mut rule = RuleAst {
            name,
            parameters: self.parameters()?,
            when: Vec::new(),
            with: None,
            all_others: Vec::new(),
            mover: Vec::new(),
            partner: Vec::new(),
            others: Vec::new(),
            span: start.to(name.1),
        };
        loop {
            match self.peek() {
                (Token::Word("when"), _) => {
                    self.at += 1;
                    rule.when.push(self.expr()?);
                }
                (Token::Word("with"), span) => {
                    self.at += 1;
                    if rule.with.replace(self.expr()?).is_some() {
                        self.diagnostics.push(
                            Diagnostic::error(span, "a rule has one partner")
                                .hint("join the conditions on it with `and`"),
                        );
                    }
                }
                (Token::Word("all"), _) => {
                    self.at += 1;
                    if !self.word("others") {
                        return self.expected("`others`", Some("write `all others state = I`"));
                    }
                    rule.all_others.push(self.expr()?);
                }
                (Token::Word("do"), _) => {
                    self.at += 1;
                    rule.mover.extend(self.effects()?);
                }
                (Token::Word("partner"), _) => {
                    self.at += 1;
                    if !self.word("do") {
                        return self.expected("`do`", Some("write `partner do state := S`"));
                    }
                    rule.partner.extend(self.effects()?);
                }
                (Token::Word("others"), _) => {
                    self.at += 1;
                    let condition = if self.word("where") { Some(self.expr()?) } else { None };
                    if !self.word("do") {
                        return self.expected("`do`", Some("write `others where state = M do state := S`"));
                    }
                    rule.others.push((condition, self.effects()?));
                }
                _ => break,
            }
        }
        rule.span = start.to(self.last_span());
        Ok(rule)
    }

    fn effects(&mut self) -> Result<Vec<EffectAst<'a>>> {
        let mut effects = Vec::new();
        loop {
            let name = self.name("a variable that gets a value")?;
            let index = self.index()?.map(|index| *index);
            self.need(":=", Some("an effect is written `x := y`"))?;
            effects.push(EffectAst { name, index, value: self.expr()? });
            if !self.sign(",") {
                return Ok(effects);
            }
        }
    }

    fn pattern(&mut self) -> Result<Vec<Part<'a>>> {
        let mut parts = Vec::new();
        loop {
            let (token, span) = self.peek();
            let count = match token {
                Token::Word("global") => {
                    self.at += 1;
                    parts.push(Part::Global(self.expr()?));
                    None
                }
                Token::Word("one") => Some(1),
                Token::Word("two") => Some(2),
                Token::Word("three") => Some(3),
                Token::Number(number) => Some(number),
                _ => {
                    return self.expected(
                        "`global`, `one`, `two`, `three` or a number",
                        Some(
                            "a pattern is written `two with state = M` or `global x = 1, one with state = M`",
                        ),
                    );
                }
            };
            if let Some(count) = count {
                self.at += 1;
                if !self.word("with") {
                    return self.expected("`with`", Some("write `two with state = M`"));
                }
                parts.push(Part::Processes(count, span, self.expr()?));
            }
            if !self.sign(",") {
                return Ok(parts);
            }
        }
    }

    /// Runs a part of the descent one level deeper.
    fn deeper<T>(&mut self, part: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= DEEPEST {
            let span = self.peek().1;
            self.diagnostics.push(Diagnostic::error(span, "this expression is nested too deeply"));
            return Err(Reported);
        }
        self.depth += 1;
        let result = part(self);
        self.depth = self.depth.saturating_sub(1);
        result
    }

    fn expr(&mut self) -> Result<Ast<'a>> {
        self.deeper(|p| {
            let start = p.peek().1;
            if p.word("if") {
                let condition = p.expr()?;
                if !p.word("then") {
                    return p.expected("`then`", Some("write `if c then a else b`"));
                }
                let then = p.expr()?;
                if !p.word("else") {
                    return p.expected("`else`", Some("write `if c then a else b`"));
                }
                let otherwise = p.expr()?;
                let node = Node::If(Box::new(condition), Box::new(then), Box::new(otherwise));
                return Ok(Ast { node, span: start.to(p.last_span()) });
            }
            let first = p.conjunction()?;
            if !matches!(p.peek().0, Token::Word("or")) {
                return Ok(first);
            }
            let mut parts = vec![first];
            while p.word("or") {
                parts.push(p.conjunction()?);
            }
            Ok(Ast { node: Node::Or(parts), span: start.to(p.last_span()) })
        })
    }

    fn conjunction(&mut self) -> Result<Ast<'a>> {
        let start = self.peek().1;
        let first = self.negation()?;
        if !matches!(self.peek().0, Token::Word("and")) {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.word("and") {
            parts.push(self.negation()?);
        }
        Ok(Ast { node: Node::And(parts), span: start.to(self.last_span()) })
    }

    fn negation(&mut self) -> Result<Ast<'a>> {
        let start = self.peek().1;
        if self.word("not") || self.sign("!") {
            let inner = self.deeper(Self::negation)?;
            return Ok(Ast { node: Node::Not(Box::new(inner)), span: start.to(self.last_span()) });
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Result<Ast<'a>> {
        let start = self.peek().1;
        let left = self.sum()?;
        let node = if self.word("in") {
            if self.sign("{") {
                let mut values = vec![self.sum()?];
                while self.sign(",") {
                    values.push(self.sum()?);
                }
                self.need("}", None)?;
                Node::In(Box::new(left), values)
            } else {
                let low = self.sum()?;
                self.need("..", Some("write `x in { a, b }` or `x in 1 .. 3`"))?;
                Node::Between(Box::new(left), Box::new(low), Box::new(self.sum()?))
            }
        } else {
            let Token::Sign(sign @ ("=" | "==" | "!=" | "<" | "<=" | ">" | ">=")) = self.peek().0 else {
                return Ok(left);
            };
            self.at += 1;
            let sign = if sign == "==" { "=" } else { sign };
            Node::Compare(sign, Box::new(left), Box::new(self.sum()?))
        };
        Ok(Ast { node, span: start.to(self.last_span()) })
    }

    fn sum(&mut self) -> Result<Ast<'a>> {
        let start = self.peek().1;
        let mut left = self.atom()?;
        let mut terms = 0;
        loop {
            let add = self.sign("+");
            if !add && !self.sign("-") {
                return Ok(left);
            }
            terms += 1;
            if terms > DEEPEST {
                let span = start.to(self.last_span());
                self.diagnostics.push(Diagnostic::error(span, "this sum has too many terms"));
                return Err(Reported);
            }
            let (a, b) = (Box::new(left), Box::new(self.atom()?));
            let node = if add { Node::Add(a, b) } else { Node::Subtract(a, b) };
            left = Ast { node, span: start.to(self.last_span()) };
        }
    }

    fn index(&mut self) -> Result<Option<Box<Ast<'a>>>> {
        if !self.sign("[") {
            return Ok(None);
        }
        let index = self.expr()?;
        self.need("]", None)?;
        Ok(Some(Box::new(index)))
    }

    fn atom(&mut self) -> Result<Ast<'a>> {
        let (token, start) = self.peek();
        let node = match token {
            Token::Number(number) => {
                self.at += 1;
                Node::Number(number)
            }
            Token::Sign("-") => {
                self.at += 1;
                match self.peek().0 {
                    Token::Number(number) => {
                        self.at += 1;
                        Node::Number(-number)
                    }
                    _ => return self.expected("a number after `-`", None),
                }
            }
            Token::Word(word @ ("true" | "false")) => {
                self.at += 1;
                Node::Truth(word == "true")
            }
            Token::Word(owner @ ("mover" | "partner")) => {
                self.at += 1;
                self.need(".", Some("write `mover.state`"))?;
                let (name, _) = self.name("a local variable")?;
                Node::Name { owner: Some(owner), name, index: self.index()? }
            }
            Token::Name(name) => {
                self.at += 1;
                Node::Name { owner: None, name, index: self.index()? }
            }
            Token::Sign("(") => {
                self.at += 1;
                let inner = self.expr()?;
                self.need(")", None)?;
                return Ok(inner);
            }
            _ => return self.expected("a value", None),
        };
        Ok(Ast { node, span: start.to(self.last_span()) })
    }
}
