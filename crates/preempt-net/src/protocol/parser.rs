//! Recursive descent over the items of a `.protocol`; the grammar is in the guide's chapter on protocols.
//!
//! After a mistake the rest of the item is skipped: one mistake is reported once.

use crate::scan::{Cursor, Items, Lexis, Name, Read, Token};
use preempt_core::{Budget, Diagnostic, SourceId, Span};

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

const LEXIS: Lexis = Lexis {
    comments: &[("#", "\n"), ("//", "\n")],
    reserved: &[
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
    ],
    numbers: true,
    signs: &[
        ":=", "..", "!=", "<=", ">=", "==", "=", "<", ">", "(", ")", "[", "]", "{", "}", ",", ":", "|", "+",
        "-", ".", "!",
    ],
    meant: |letter| match letter {
        '&' => Some("write `and`"),
        '*' | '%' => Some("there are sums and differences only"),
        '/' => Some("a comment begins with `#` or `//`"),
        '?' => Some("write `if c then a else b`"),
        ';' => Some("effects are separated by commas, and a rule ends where the next item begins"),
        _ => None,
    },
    ..Lexis::PLAIN
};

/// Expressions that are nested deeper are refused, so that no stack overflows; so is a longer text of one expression.
const DEEPEST: usize = 120;

struct Parser<'a> {
    cursor: Cursor<'a>,
    depth: usize,
    items: Vec<Item<'a>>,
    /// Every declaration was understood.
    declared: bool,
}

/// The items, and what was wrong. No items if a declaration was not understood: whoever uses it is not to blame.
pub(super) fn parse<'a>(
    source: SourceId,
    text: &'a str,
    budget: &Budget,
) -> (Option<Vec<Item<'a>>>, Vec<Diagnostic>) {
    let cursor = Cursor::new(source, text, &LEXIS);
    let mut parser = Parser { cursor, depth: 0, items: Vec::new(), declared: true };
    parser.read_items(budget);
    (parser.declared.then_some(parser.items), parser.cursor.diagnostics)
}

impl<'a> Items<'a> for Parser<'a> {
    fn cursor(&mut self) -> &mut Cursor<'a> {
        &mut self.cursor
    }

    fn resumes(token: Token<'a>) -> bool {
        matches!(token, Token::Reserved("const" | "type" | "global" | "local" | "initially" | "rule" | "bad"))
    }

    fn item(&mut self) -> Read<()> {
        self.depth = 0;
        let declares = matches!(self.cursor.peek().0, Token::Reserved("const" | "type" | "global" | "local"));
        let item = self.any_item();
        self.declared &= item.is_ok() || !declares;
        self.items.push(item?);
        Ok(())
    }
}

impl<'a> Parser<'a> {
    fn any_item(&mut self) -> Read<Item<'a>> {
        let start = self.cursor.peek().1;
        match self.cursor.peek().0 {
            Token::Reserved("const") => {
                self.cursor.next();
                let name = self.cursor.name("the name of a constant")?;
                self.cursor.need_sign("=", Some("write `const m = 2`"))?;
                Ok(Item::Constant { name, value: self.expr()? })
            }
            Token::Reserved("type") => {
                self.cursor.next();
                let name = self.cursor.name("the name of a type")?;
                self.cursor.need_sign("=", Some("write `type Block = 1 .. 4`"))?;
                Ok(Item::Type { name, of: self.type_of()? })
            }
            Token::Reserved(word @ ("global" | "local")) => {
                self.cursor.next();
                self.variable(word == "global")
            }
            Token::Reserved("initially") => {
                self.cursor.next();
                Ok(Item::Initially(self.expr()?))
            }
            Token::Reserved("rule") => {
                self.cursor.next();
                self.rule(start).map(Item::Rule)
            }
            Token::Reserved("bad") => {
                self.cursor.next();
                let name = self.cursor.name("a name for what is bad")?;
                let parameters = self.parameters()?;
                self.cursor.need_sign(":", Some("write `bad two_owners: two with state = M`"))?;
                let mut patterns = vec![self.pattern()?];
                while self.cursor.accept_sign("|") {
                    patterns.push(self.pattern()?);
                }
                Ok(Item::Bad { name, parameters, patterns })
            }
            _ => self.cursor.expected(
                "`const`, `type`, `global`, `local`, `initially`, `rule` or `bad`",
                Some("effects are separated by commas, alternatives of `bad` by `|`"),
            ),
        }
    }

    fn variable(&mut self, global: bool) -> Read<Item<'a>> {
        let name = self.cursor.name("the name of a variable")?;
        let index = if self.cursor.accept_sign("[") {
            let index = self.type_of()?;
            self.cursor.need_sign("]", None)?;
            Some(index)
        } else {
            None
        };
        self.cursor.need_sign(":", Some("write `local state : { M, E, S, I } = I`"))?;
        let of = self.type_of()?;
        let initial = match self.cursor.accept_sign("=") {
            true if self.cursor.accept_word("any") => Some(Ast { node: Node::Any, span: self.cursor.last() }),
            true => Some(self.expr()?),
            false => None,
        };
        Ok(Item::Variable { name, global, index, of, initial })
    }

    fn type_of(&mut self) -> Read<TypeAst<'a>> {
        match self.cursor.peek() {
            (Token::Reserved("bool"), _) => {
                self.cursor.next();
                Ok(TypeAst::Bool)
            }
            (Token::Sign("{"), start) => {
                self.cursor.next();
                let mut names = vec![self.cursor.name("the name of a value")?];
                while self.cursor.accept_sign(",") {
                    names.push(self.cursor.name("the name of a value")?);
                }
                self.cursor.need_sign("}", Some("values are names, separated by commas"))?;
                Ok(TypeAst::Names(names, start.to(self.cursor.last())))
            }
            (Token::Word(text), span) if !matches!(self.cursor.second(), Token::Sign(".." | "+" | "-")) => {
                self.cursor.next();
                Ok(TypeAst::Named((text, span)))
            }
            _ => {
                let low = self.sum()?;
                self.cursor.need_sign(
                    "..",
                    Some("a type is `bool`, a range `0 .. 3`, names `{ a, b }` or the name of a type"),
                )?;
                Ok(TypeAst::Range(low, self.sum()?))
            }
        }
    }

    fn parameters(&mut self) -> Read<Vec<(Name<'a>, TypeAst<'a>)>> {
        let mut parameters = Vec::new();
        if self.cursor.accept_sign("(") {
            loop {
                let name = self.cursor.name("the name of a parameter")?;
                self.cursor.need_sign(":", Some("write `rule store(d : 0 .. 1)`"))?;
                parameters.push((name, self.type_of()?));
                if !self.cursor.accept_sign(",") {
                    break;
                }
            }
            self.cursor.need_sign(")", None)?;
        }
        Ok(parameters)
    }

    fn rule(&mut self, start: Span) -> Read<RuleAst<'a>> {
        let name = self.cursor.name("the name of a rule")?;
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
            match self.cursor.peek() {
                (Token::Reserved("when"), _) => {
                    self.cursor.next();
                    rule.when.push(self.expr()?);
                }
                (Token::Reserved("with"), span) => {
                    self.cursor.next();
                    if rule.with.replace(self.expr()?).is_some() {
                        let hint = Some("join the conditions on it with `and`");
                        self.cursor.error(span, "a rule has one partner", hint);
                    }
                }
                (Token::Reserved("all"), _) => {
                    self.cursor.next();
                    self.cursor.need_word("others", "write `all others state = I`")?;
                    rule.all_others.push(self.expr()?);
                }
                (Token::Reserved("do"), _) => {
                    self.cursor.next();
                    rule.mover.extend(self.effects()?);
                }
                (Token::Reserved("partner"), _) => {
                    self.cursor.next();
                    self.cursor.need_word("do", "write `partner do state := S`")?;
                    rule.partner.extend(self.effects()?);
                }
                (Token::Reserved("others"), _) => {
                    self.cursor.next();
                    let condition = if self.cursor.accept_word("where") { Some(self.expr()?) } else { None };
                    self.cursor.need_word("do", "write `others where state = M do state := S`")?;
                    rule.others.push((condition, self.effects()?));
                }
                _ => break,
            }
        }
        rule.span = start.to(self.cursor.last());
        Ok(rule)
    }

    fn effects(&mut self) -> Read<Vec<EffectAst<'a>>> {
        let mut effects = Vec::new();
        loop {
            let name = self.cursor.name("a variable that gets a value")?;
            let index = self.index()?.map(|index| *index);
            self.cursor.need_sign(":=", Some("an effect is written `x := y`"))?;
            effects.push(EffectAst { name, index, value: self.expr()? });
            if !self.cursor.accept_sign(",") {
                return Ok(effects);
            }
        }
    }

    fn pattern(&mut self) -> Read<Vec<Part<'a>>> {
        let mut parts = Vec::new();
        loop {
            let (token, span) = self.cursor.peek();
            let words = ["one", "two", "three"];
            let count = match token {
                Token::Reserved("global") => {
                    self.cursor.next();
                    parts.push(Part::Global(self.expr()?));
                    None
                }
                Token::Reserved(word) if words.contains(&word) => {
                    self.cursor.next();
                    (1..).zip(words).find_map(|(count, it)| (it == word).then_some(count))
                }
                Token::Number(_) => Some(self.cursor.number()? as i64),
                _ => {
                    return self.cursor.expected(
                        "`global`, `one`, `two`, `three` or a number",
                        Some(
                            "a pattern is written `two with state = M` or `global x = 1, one with state = M`",
                        ),
                    );
                }
            };
            if let Some(count) = count {
                self.cursor.need_word("with", "write `two with state = M`")?;
                parts.push(Part::Processes(count, span, self.expr()?));
            }
            if !self.cursor.accept_sign(",") {
                return Ok(parts);
            }
        }
    }

    /// Runs a part of the descent one level deeper.
    fn deeper<T>(&mut self, part: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= DEEPEST {
            let span = self.cursor.peek().1;
            return Err(self.cursor.error(span, "this expression is nested too deeply", None));
        }
        self.depth += 1;
        let result = part(self);
        self.depth = self.depth.saturating_sub(1);
        result
    }

    fn expr(&mut self) -> Read<Ast<'a>> {
        self.deeper(|p| {
            let start = p.cursor.peek().1;
            if p.cursor.accept_word("if") {
                let condition = p.expr()?;
                p.cursor.need_word("then", "write `if c then a else b`")?;
                let then = p.expr()?;
                p.cursor.need_word("else", "write `if c then a else b`")?;
                let otherwise = p.expr()?;
                let node = Node::If(Box::new(condition), Box::new(then), Box::new(otherwise));
                return Ok(Ast { node, span: start.to(p.cursor.last()) });
            }
            let first = p.conjunction()?;
            if !matches!(p.cursor.peek().0, Token::Reserved("or")) {
                return Ok(first);
            }
            let mut parts = vec![first];
            while p.cursor.accept_word("or") {
                parts.push(p.conjunction()?);
            }
            Ok(Ast { node: Node::Or(parts), span: start.to(p.cursor.last()) })
        })
    }

    fn conjunction(&mut self) -> Read<Ast<'a>> {
        let start = self.cursor.peek().1;
        let first = self.negation()?;
        if !matches!(self.cursor.peek().0, Token::Reserved("and")) {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.cursor.accept_word("and") {
            parts.push(self.negation()?);
        }
        Ok(Ast { node: Node::And(parts), span: start.to(self.cursor.last()) })
    }

    fn negation(&mut self) -> Read<Ast<'a>> {
        let start = self.cursor.peek().1;
        if self.cursor.accept_word("not") || self.cursor.accept_sign("!") {
            let inner = self.deeper(Self::negation)?;
            return Ok(Ast { node: Node::Not(Box::new(inner)), span: start.to(self.cursor.last()) });
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Read<Ast<'a>> {
        let start = self.cursor.peek().1;
        let left = self.sum()?;
        let node = if self.cursor.accept_word("in") {
            if self.cursor.accept_sign("{") {
                let mut values = vec![self.sum()?];
                while self.cursor.accept_sign(",") {
                    values.push(self.sum()?);
                }
                self.cursor.need_sign("}", None)?;
                Node::In(Box::new(left), values)
            } else {
                let low = self.sum()?;
                self.cursor.need_sign("..", Some("write `x in { a, b }` or `x in 1 .. 3`"))?;
                Node::Between(Box::new(left), Box::new(low), Box::new(self.sum()?))
            }
        } else {
            let Token::Sign(sign @ ("=" | "==" | "!=" | "<" | "<=" | ">" | ">=")) = self.cursor.peek().0
            else {
                return Ok(left);
            };
            self.cursor.next();
            let sign = if sign == "==" { "=" } else { sign };
            Node::Compare(sign, Box::new(left), Box::new(self.sum()?))
        };
        Ok(Ast { node, span: start.to(self.cursor.last()) })
    }

    fn sum(&mut self) -> Read<Ast<'a>> {
        let start = self.cursor.peek().1;
        let mut left = self.atom()?;
        let mut terms = 0;
        loop {
            let add = self.cursor.accept_sign("+");
            if !add && !self.cursor.accept_sign("-") {
                return Ok(left);
            }
            terms += 1;
            if terms > DEEPEST {
                let span = start.to(self.cursor.last());
                return Err(self.cursor.error(span, "this sum has too many terms", None));
            }
            let (a, b) = (Box::new(left), Box::new(self.atom()?));
            let node = if add { Node::Add(a, b) } else { Node::Subtract(a, b) };
            left = Ast { node, span: start.to(self.cursor.last()) };
        }
    }

    fn index(&mut self) -> Read<Option<Box<Ast<'a>>>> {
        if !self.cursor.accept_sign("[") {
            return Ok(None);
        }
        let index = self.expr()?;
        self.cursor.need_sign("]", None)?;
        Ok(Some(Box::new(index)))
    }

    fn atom(&mut self) -> Read<Ast<'a>> {
        let (token, start) = self.cursor.peek();
        let node = match token {
            Token::Number(_) => Node::Number(self.cursor.number()? as i64),
            Token::Sign("-") => {
                self.cursor.next();
                match self.cursor.peek().0 {
                    Token::Number(_) => Node::Number(-(self.cursor.number()? as i64)),
                    _ => return self.cursor.expected("a number after `-`", None),
                }
            }
            Token::Reserved(word @ ("true" | "false")) => {
                self.cursor.next();
                Node::Truth(word == "true")
            }
            Token::Reserved(owner @ ("mover" | "partner")) => {
                self.cursor.next();
                self.cursor.need_sign(".", Some("write `mover.state`"))?;
                let (name, _) = self.cursor.name("a local variable")?;
                Node::Name { owner: Some(owner), name, index: self.index()? }
            }
            Token::Word(name) => {
                self.cursor.next();
                Node::Name { owner: None, name, index: self.index()? }
            }
            Token::Sign("(") => {
                self.cursor.next();
                let inner = self.expr()?;
                self.cursor.need_sign(")", None)?;
                return Ok(inner);
            }
            _ => return self.cursor.expected("a value", None),
        };
        Ok(Ast { node, span: start.to(self.cursor.last()) })
    }
}
