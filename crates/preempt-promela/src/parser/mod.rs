//! From tokens to the syntax tree: recursive descent with the grammar of Spin 6.5.2.
//!
//! Every function that can fail has reported its error before it returns [`Reported`]; whoever can go on (a list of
//! statements, a list of declarations) skips to the next sensible place and does.

mod classify;
mod cursor;
mod declarations;
mod expressions;
mod inline;
mod loops;
mod ltl;
mod messages;
mod mistakes;
mod operators;
mod options;
mod processes;
mod recovery;
mod references;
mod statements;
#[cfg(test)]
mod testing;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use preempt_core::{Budget, Diagnostic, SourceId, SourceMap, Span};

use crate::ast::{Expr, Item, Name, Program, VarRef};
use crate::token::{Keyword, Punct, Token, TokenKind};
use cursor::Kind;
use inline::Inline;

/// The error is already among the diagnostics.
#[derive(Debug, Clone, Copy)]
struct Reported;

type Parse<T> = Result<T, Reported>;

/// How deep statements and expressions may stand in each other; keeps the stack small.
const MAX_DEPTH: usize = 200;
/// How much of that a level takes.
const EXPRESSION: usize = 1;
const STATEMENT: usize = 4;
/// How high an expression's tree may be: `a + a + ...` is a tall tree too, and trees are walked recursively.
const MAX_HEIGHT: usize = 1000;

/// Everything but the finished tree; borrowed texts are needed to register expansions of inlines.
struct Parser<'a> {
    sources: &'a mut SourceMap,
    budget: &'a Budget,
    diagnostics: Vec<Diagnostic>,
    stream: Vec<Token>,
    pos: usize,
    /// Tells streams apart: inlines are parsed from streams of their own.
    stream_id: usize,
    /// The last token read, for the rule of line ends.
    previous: Kind,
    previous_span: Span,
    /// A line end stands for a `;` here.
    implied: bool,
    parens: usize,
    /// Within a process or a typedef, where line ends count.
    in_sequence: bool,
    /// Within `ltl`, where `->` and some names are operators.
    in_ltl: bool,
    /// Set in the first part of a message, `a` of `c!a(b)`: there a name before `(` is no call. Holds the number
    /// of open parentheses, for within them it would be one.
    message: Option<usize>,
    depth: usize,
    /// Of the last expression.
    height: usize,
    /// Assignments that stand before `->` in an alternative.
    assigning_guards: Vec<Span>,
    open: Vec<Open>,
    typedefs: HashSet<Rc<str>>,
    /// Process types seen so far; only these are remote references before a `:`, as in Spin.
    processes: HashSet<Rc<str>>,
    /// All of them, wherever they are defined: `ltl` is read as if it stood at the end.
    all_processes: HashSet<Rc<str>>,
    inlines: HashMap<Rc<str>, Rc<Inline>>,
    /// Inlines defined anywhere, for a better message about a call before the definition.
    all_inlines: HashSet<Rc<str>>,
    calls: Vec<Call>,
    /// Tokens that came from inlines.
    inlined: usize,
    streams: usize,
    last_error: Option<(usize, usize)>,
    reported: HashSet<(String, SourceId, u32)>,
    /// The text ends inside a comment, so what is missing at its end is not news.
    truncated: bool,
}

/// An `if`, `do` or `{` that is not closed yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    If,
    Do,
    Brace,
}

/// An inline that is being parsed in place of its call.
struct Call {
    name: Rc<str>,
    /// `x` of `x = f()`.
    target: Option<VarRef>,
}

/// Parses a whole model; also gives the names of all its process types.
pub fn program(
    sources: &mut SourceMap,
    tokens: Vec<Token>,
    budget: &Budget,
) -> (Program, Vec<Diagnostic>, HashSet<Rc<str>>) {
    let mut parser = Parser::new(sources, tokens, budget);
    let mut items = Vec::new();
    while parser.peek() != Kind::Eof && budget.exhausted().is_none() {
        if parser.item(&mut items).is_err() {
            parser.skip_to_item();
        }
    }
    (Program { items }, parser.diagnostics, parser.all_processes)
}

/// Parses a formula on its own.
pub fn formula(
    sources: &mut SourceMap,
    tokens: Vec<Token>,
    processes: &HashSet<Rc<str>>,
    budget: &Budget,
) -> (Option<Expr>, Vec<Diagnostic>) {
    let mut parser = Parser::new(sources, tokens, budget);
    parser.all_processes.extend(processes.iter().cloned());
    let formula = parser.whole_formula();
    (formula.ok(), parser.diagnostics)
}

impl<'a> Parser<'a> {
    fn new(sources: &'a mut SourceMap, tokens: Vec<Token>, budget: &'a Budget) -> Parser<'a> {
        let start =
            tokens.first().map_or(Span::new(SourceId(0), 0, 0), |t| Span { end: t.span.start, ..t.span });
        let mut parser = Parser {
            sources,
            budget,
            diagnostics: Vec::new(),
            stream: Vec::new(),
            pos: 0,
            stream_id: 0,
            previous: Kind::P(Punct::Semi),
            previous_span: start,
            implied: false,
            parens: 0,
            in_sequence: false,
            in_ltl: false,
            message: None,
            depth: 0,
            height: 0,
            assigning_guards: Vec::new(),
            open: Vec::new(),
            typedefs: HashSet::new(),
            processes: HashSet::new(),
            all_processes: HashSet::new(),
            inlines: HashMap::new(),
            all_inlines: HashSet::new(),
            calls: Vec::new(),
            inlined: 0,
            streams: 0,
            last_error: None,
            reported: HashSet::new(),
            truncated: false,
        };
        parser.stream = parser.classify(tokens);
        for pair in parser.stream.windows(2) {
            let TokenKind::Ident(name) = &pair[1].kind else { continue };
            match pair[0].kind {
                TokenKind::Keyword(Keyword::Proctype | Keyword::DProctype) => {
                    parser.all_processes.insert(Rc::clone(name));
                }
                TokenKind::Keyword(Keyword::Inline) => {
                    parser.all_inlines.insert(Rc::clone(name));
                }
                _ => {}
            }
        }
        parser
    }

    /// One thing at the outermost level.
    fn item(&mut self, items: &mut Vec<Item>) -> Parse<()> {
        self.parens = 0;
        self.in_sequence = false;
        self.in_ltl = false;
        self.depth = 0;
        self.open.clear();
        match self.peek() {
            // A separator between items means nothing.
            Kind::P(Punct::Semi | Punct::Arrow) | Kind::C => {
                self.bump();
            }
            Kind::K(Keyword::Active | Keyword::Proctype | Keyword::DProctype) => {
                items.push(Item::Process(self.process()?));
            }
            Kind::K(Keyword::Init) => items.push(Item::Process(self.init()?)),
            Kind::K(Keyword::Never) => items.push(Item::Never(self.never()?)),
            Kind::K(Keyword::Trace | Keyword::Notrace) => items.push(Item::Trace(self.trace()?)),
            Kind::K(Keyword::Ltl) => items.push(Item::Ltl(self.ltl()?)),
            Kind::K(Keyword::Typedef) => items.push(Item::Typedef(self.typedef()?)),
            Kind::K(Keyword::Inline) => self.inline_definition()?,
            Kind::K(Keyword::Mtype) if self.at_mtype_names() => items.push(Item::Mtype(self.mtype_names()?)),
            _ if self.at_declaration() => items.push(Item::Variables(self.declaration()?)),
            _ => return Err(self.not_an_item()),
        }
        Ok(())
    }

    fn name(&mut self, what: &str) -> Parse<Name> {
        match self.ident() {
            Some(text) => {
                let span = self.bump();
                Ok(Name { text: text.to_string(), span })
            }
            None => Err(self.not_a_name(what)),
        }
    }

    /// Runs `parse` one level deeper, unless that is too deep. Statements weigh more than expressions: their
    /// functions need more of the stack.
    fn nested<T>(&mut self, weight: usize, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.budget.exhausted().is_some() {
            self.pos = self.stream.len();
            self.implied = false;
            self.truncated = true;
            return Err(Reported);
        }
        if self.depth + weight > MAX_DEPTH {
            let message = format!("this is nested more than {} deep", MAX_DEPTH / weight);
            let error = Diagnostic::error(self.span(), message);
            if !self.truncated {
                self.report(error);
            }
            // Whatever follows is as deep; the message would only be repeated.
            self.pos = self.stream.len();
            self.implied = false;
            self.truncated = true;
            return Err(Reported);
        }
        self.depth += weight;
        let result = parse(self);
        self.depth -= weight;
        result
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{messages, parse, program};

    #[test]
    fn items_follow_each_other_with_or_without_semicolons() {
        let text = "byte a; byte b byte c;; mtype = {x} active proctype P() { skip } ; init { skip } byte d";
        assert_eq!(program(text).items.len(), 7);
        assert_eq!(program("").items.len(), 0);
        assert_eq!(program(";").items.len(), 0);
    }

    #[test]
    fn an_error_in_one_item_leaves_the_others() {
        let (program, diagnostics, _) = parse("proctype P { skip }\nbyte x y;\ninit { skip }\nbyte z");
        assert_eq!(diagnostics.len(), 2);
        assert_eq!(program.items.len(), 3);
    }

    #[test]
    fn deep_nesting_is_one_error() {
        for (open, close) in [("(", ")"), ("!", ""), ("- ", ""), ("a[", "]")] {
            let text = format!("init {{ x = {}1{} }}", open.repeat(10_000), close.repeat(10_000));
            assert_eq!(messages(&text).len(), 1, "{open}");
        }
        for (open, close) in [("{ ", "}"), ("atomic {", "}"), ("if :: ", " fi"), ("do :: true -> ", " od")] {
            let text = format!("init {{ {}skip{} }}", open.repeat(10_000), close.repeat(10_000));
            assert_eq!(messages(&text).len(), 1, "{open}");
            let text = format!("init {{ {}", open.repeat(10_000));
            assert_eq!(messages(&text).len(), 1, "{open}");
        }
        let text = format!("ltl {{ {} p }}", "[] <> ".repeat(10_000));
        assert_eq!(messages(&text).len(), 1);
        let text = format!("init {{ c?{}x }}", "(".repeat(10_000));
        assert_eq!(messages(&text).len(), 1);
    }

    #[test]
    fn long_chains_are_as_bad_as_deep_nests() {
        let text = format!("init {{ x = 1{} }}", " + 1".repeat(100_000));
        assert_eq!(messages(&text).len(), 1);
        let text = format!("init {{ x = 1{} }}", " + 1".repeat(900));
        assert_eq!(messages(&text).len(), 0);
    }
}
