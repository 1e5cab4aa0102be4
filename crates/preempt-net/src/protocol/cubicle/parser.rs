//! Tokens and items of a `.cub`. After a mistake the rest of the item is skipped.

use crate::scan::{Cursor, Items, Lexis, Name, Read, Token};
use preempt_core::{Budget, Diagnostic, SourceId, Span};

const LEXIS: Lexis = Lexis {
    comments: &[("(*", "*)")],
    nested: true,
    in_word: |letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '#',
    numbers: true,
    signs: &[
        ":=", "<>", "&&", "||", "<=", ">=", "=", "<", ">", "(", ")", "{", "}", "[", "]", ",", ";", ":", "|",
        ".", "?", "+", "-",
    ],
    ..Lexis::PLAIN
};

/// Words that begin an item.
const ITEMS: [&str; 8] = ["type", "var", "array", "const", "init", "unsafe", "transition", "invariant"];

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

struct Parser<'a> {
    cursor: Cursor<'a>,
    items: Vec<Item<'a>>,
}

pub(super) fn parse<'a>(
    source: SourceId,
    text: &'a str,
    budget: &Budget,
) -> (Vec<Item<'a>>, Vec<Diagnostic>) {
    let mut parser = Parser { cursor: Cursor::new(source, text, &LEXIS), items: Vec::new() };
    parser.read_items(budget);
    (parser.items, parser.cursor.diagnostics)
}

impl<'a> Items<'a> for Parser<'a> {
    fn cursor(&mut self) -> &mut Cursor<'a> {
        &mut self.cursor
    }

    fn resumes(token: Token<'a>) -> bool {
        matches!(token, Token::Word(word) if ITEMS.contains(&word))
    }

    fn item(&mut self) -> Read<()> {
        let item = self.any_item()?;
        self.items.extend(item);
        Ok(())
    }
}

impl<'a> Parser<'a> {
    fn refused<T>(&mut self, span: Span, what: &str, hint: &str) -> Read<T> {
        let message = format!("{what}: that is outside of the class of protocols that is read");
        Err(self.cursor.error(span, message, Some(hint)))
    }

    fn name(&mut self, what: &str) -> Read<Name<'a>> {
        match self.cursor.peek() {
            (Token::Number(_), span) => {
                self.refused(span, "numbers", "only enumerations and Booleans are read")
            }
            (Token::Sign("?"), span) => {
                self.refused(span, "random values", "write a transition for each value")
            }
            _ => self.cursor.name(what),
        }
    }

    fn any_item(&mut self) -> Read<Option<Item<'a>>> {
        let (token, start) = self.cursor.peek();
        let Token::Word(word) = token else {
            return self.cursor.expected("`type`, `var`, `array`, `init`, `unsafe` or `transition`", None);
        };
        self.cursor.next();
        match word {
            "type" => {
                let name = self.name("the name of a type")?;
                if !self.cursor.accept_sign("=") {
                    return self.refused(name.1, "types without values", "say which values there are");
                }
                self.cursor.accept_sign("|");
                let mut values = vec![self.name("a value")?];
                while self.cursor.accept_sign("|") {
                    values.push(self.name("a value")?);
                }
                Ok(Some(Item::Type { name, values }))
            }
            "var" => {
                let name = self.name("the name of a variable")?;
                self.cursor.need_sign(":", None)?;
                Ok(Some(Item::Variable { name, of: self.name("a type")? }))
            }
            "array" => {
                let name = self.name("the name of an array")?;
                self.cursor.need_sign("[", None)?;
                let index = self.name("`proc`")?;
                if self.cursor.accept_sign(",") {
                    return self.refused(index.1, "arrays over pairs of processes", "only `[proc]` is read");
                }
                if index.0 != "proc" {
                    return self.refused(index.1, "arrays over other types", "only `[proc]` is read");
                }
                self.cursor.need_sign("]", None)?;
                self.cursor.need_sign(":", None)?;
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
                self.cursor.diagnostics.push(Diagnostic::warning(start, message));
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
    fn parameters(&mut self) -> Read<Vec<Name<'a>>> {
        let mut names = Vec::new();
        if self.cursor.accept_sign("(") {
            while !self.cursor.accept_sign(")") {
                names.push(self.name("the name of a process")?);
                self.cursor.accept_sign(",");
            }
        }
        Ok(names)
    }

    fn braced(&mut self) -> Read<Formula<'a>> {
        self.cursor.need_sign("{", None)?;
        if self.cursor.accept_sign("}") {
            return Ok(vec![Vec::new()]);
        }
        let formula = self.formula()?;
        self.cursor.need_sign("}", None)?;
        Ok(formula)
    }

    fn formula(&mut self) -> Read<Formula<'a>> {
        let mut any = vec![self.conjunction()?];
        while self.cursor.accept_sign("||") {
            any.push(self.conjunction()?);
        }
        Ok(any)
    }

    fn conjunction(&mut self) -> Read<Vec<Literal<'a>>> {
        let mut all = vec![self.literal()?];
        while self.cursor.accept_sign("&&") {
            all.push(self.literal()?);
        }
        Ok(all)
    }

    fn literal(&mut self) -> Read<Literal<'a>> {
        let start = self.cursor.peek().1;
        let left = self.term()?;
        let (token, span) = self.cursor.peek();
        let equal = match token {
            Token::Sign("=") => true,
            Token::Sign("<>") => false,
            Token::Sign("<" | "<=" | ">" | ">=" | "+" | "-") => {
                return self.refused(span, "an order of processes or values", "only `=` and `<>` are read");
            }
            _ => return self.cursor.expected("`=` or `<>`", None),
        };
        self.cursor.next();
        let right = self.term()?;
        let span = start.to(self.cursor.last());
        Ok(Literal { left, equal, right, span })
    }

    fn term(&mut self) -> Read<Term<'a>> {
        let name = self.name("a variable, a process or a value")?;
        let index = if self.cursor.accept_sign("[") {
            let index = self.name("a process")?;
            if self.cursor.accept_sign(",") {
                return self.refused(index.1, "arrays over pairs of processes", "only `[proc]` is read");
            }
            self.cursor.need_sign("]", None)?;
            Some(index)
        } else {
            None
        };
        if let (Token::Sign("+" | "-"), span) = self.cursor.peek() {
            return self.refused(span, "arithmetic", "only enumerations and Booleans are read");
        }
        Ok(Term { name, index })
    }

    fn transition(&mut self, start: Span) -> Read<Transition<'a>> {
        let name = self.name("the name of a transition")?;
        let parameters = self.parameters()?;
        let (mut requires, mut all_others) = (Vec::new(), Vec::new());
        if self.cursor.accept_word("requires") {
            self.cursor.need_sign("{", None)?;
            while !self.cursor.accept_sign("}") {
                if self.cursor.accept_word("forall_other") {
                    let process = self.name("the name of a process")?;
                    self.cursor.need_sign(".", None)?;
                    let formula = match self.cursor.accept_sign("(") {
                        true => {
                            let formula = self.formula()?;
                            self.cursor.need_sign(")", None)?;
                            formula
                        }
                        false => vec![vec![self.literal()?]],
                    };
                    all_others.push((process, formula));
                } else {
                    requires.push(self.literal()?);
                }
                if !self.cursor.accept_sign("&&") && !matches!(self.cursor.peek().0, Token::Sign("}")) {
                    return self.cursor.expected("`&&` or `}`", None);
                }
            }
        }
        self.cursor.need_sign("{", None)?;
        let mut updates = Vec::new();
        while !self.cursor.accept_sign("}") {
            updates.push(self.update()?);
            if !self.cursor.accept_sign(";") && !matches!(self.cursor.peek().0, Token::Sign("}")) {
                return self.cursor.expected("`;` or `}`", None);
            }
        }
        Ok(Transition { name, parameters, requires, all_others, updates, span: start.to(name.1) })
    }

    fn update(&mut self) -> Read<Update<'a>> {
        let target = self.term()?;
        self.cursor.need_sign(":=", None)?;
        if !self.cursor.accept_word("case") {
            return Ok(Update { target, cases: vec![(Vec::new(), self.term()?)] });
        }
        let mut cases = Vec::new();
        while self.cursor.accept_sign("|") {
            let condition = if self.cursor.accept_word("_") { Vec::new() } else { self.conjunction()? };
            self.cursor.need_sign(":", None)?;
            cases.push((condition, self.term()?));
        }
        if cases.is_empty() {
            return self.cursor.expected("`|`", None);
        }
        Ok(Update { target, cases })
    }
}
