//! From tokens to the syntax tree: recursive descent over the union of the dialects.
//!
//! Every function that can fail has reported its error before it returns [`Reported`]; whoever can go on (a list of
//! statements, a list of procedures) skips to the next sensible place and does.

mod cursor;
mod expressions;
mod statements;

use crate::Dialect;
use crate::ast::{At, Declaration, Expr, Name, Procedure, Program, Statement};
use crate::lexer::{Sign, Token};
use preempt_core::{Diagnostic, SourceId, Span};

/// The error has been reported.
#[derive(Debug, Clone, Copy)]
struct Reported;

type Parse<T> = Result<T, Reported>;

/// Deeper nesting than this is refused, for the sake of the stack.
const MAX_DEPTH: usize = 200;

/// Words that cannot be names.
pub(crate) const KEYWORDS: &[&str] = &[
    "decl",
    "thread_local",
    "dfs",
    "void",
    "bool",
    "begin",
    "end",
    "enforce",
    "abortif",
    "skip",
    "constrain",
    "return",
    "goto",
    "if",
    "then",
    "elsif",
    "else",
    "fi",
    "while",
    "do",
    "od",
    "assume",
    "assert",
    "dead",
    "print",
    "start_thread",
    "end_thread",
    "atomic_begin",
    "atomic_end",
    "schoose",
    "T",
    "F",
];

struct Parser {
    tokens: Vec<Token>,
    position: usize,
    /// `None`: nobody has said which, so warn where it matters.
    dialect: Option<Dialect>,
    diagnostics: Vec<Diagnostic>,
    depth: usize,
    /// Where the last error was reported: one token gives one error.
    last_error: Option<usize>,
    /// The place behind the last token.
    end: Span,
}

/// The program, as far as it was understood.
pub fn program(tokens: Vec<Token>, source: SourceId, dialect: Option<Dialect>) -> (Program, Vec<Diagnostic>) {
    let end = tokens.last().map_or(0, |token| token.span.end);
    let end = Span::new(source, end, end);
    let mut parser =
        Parser { tokens, position: 0, dialect, diagnostics: Vec::new(), depth: 0, last_error: None, end };
    let mut program = Program::default();
    while !parser.at_end() {
        let start = parser.position;
        if parser.item(&mut program).is_err() {
            parser.skip_to_item();
            if parser.position == start {
                parser.bump();
            }
        }
    }
    (program, parser.diagnostics)
}

impl Parser {
    /// One thing at the outermost level.
    fn item(&mut self, program: &mut Program) -> Parse<()> {
        self.depth = 0;
        if self.eat(Sign::Semicolon) {
            return Ok(());
        }
        match self.word().unwrap_or("") {
            "decl" => self.declarations(&mut program.globals, true),
            "dfs" | "void" | "bool" => {
                program.procedures.push(self.procedure()?);
                Ok(())
            }
            "end" => Err(self.error("this `end` closes no procedure")),
            "thread_local" => {
                Err(self.error_with("`thread_local` stands behind `decl`", "write decl thread_local x;"))
            }
            "int" | "proc" | "procedure" | "function" => Err(self.error_with(
                "a procedure begins with what it returns",
                "write void f() begin ... end, or bool<2> f(a, b) begin ... end",
            )),
            _ => Err(self.unexpected("`decl`, or a procedure such as `void main() begin ... end`")),
        }
    }

    /// `decl [thread_local] x, y := 0;`
    fn declarations(&mut self, into: &mut Vec<Declaration>, global: bool) -> Parse<()> {
        self.bump();
        let span = self.span();
        let thread_local = self.eat_word("thread_local");
        if thread_local && !global {
            let error = Diagnostic::error(span, "only global variables can be `thread_local`");
            self.report(error.hint("locals belong to their thread anyway"));
        }
        loop {
            let name = self.name("a variable")?;
            let value = if self.eat(Sign::Becomes) { Some(self.expr()?) } else { None };
            into.push(Declaration { name, thread_local: thread_local && global, value });
            if !self.eat(Sign::Comma) {
                break;
            }
        }
        self.expect(Sign::Semicolon, "behind the declaration")
    }

    fn procedure(&mut self) -> Parse<Procedure> {
        self.eat_word("dfs");
        let results = self.result_count()?;
        let name = self.name("a procedure")?;
        self.expect(Sign::LeftParen, "and parameters behind the procedure's name")?;
        let mut parameters = Vec::new();
        if !self.at(Sign::RightParen) {
            parameters.push(self.name("a parameter")?);
            while self.eat(Sign::Comma) {
                parameters.push(self.name("a parameter")?);
            }
        }
        self.expect(Sign::RightParen, "behind the parameters")?;
        self.expect_word("begin", "before the procedure's body")?;
        let mut procedure = Procedure {
            name,
            results,
            parameters,
            locals: Vec::new(),
            enforce: None,
            abort_if: None,
            body: Vec::new(),
            end: At(self.span()),
        };
        self.head(&mut procedure);
        procedure.body = self.statements(&["end"]);
        procedure.end = At(self.span());
        if !self.eat_word("end") {
            let (message, label) = ("this procedure has no `end`", "begins here");
            let error = Diagnostic::error(self.span(), message).label(procedure.name.at.0, label);
            self.report(error);
            return Ok(procedure);
        }
        self.eat(Sign::Semicolon);
        Ok(procedure)
    }

    fn result_count(&mut self) -> Parse<usize> {
        if self.eat_word("void") {
            return Ok(0);
        }
        self.expect_word("bool", "or `void` before the procedure's name")?;
        if !self.eat(Sign::Less) {
            return Ok(1);
        }
        let count = match self.number().map(|number| number.parse::<usize>()) {
            Some(Ok(count)) if count <= 10_000 => count,
            _ => return Err(self.unexpected("the number of returned values")),
        };
        self.bump();
        self.expect(Sign::Greater, "behind the number of returned values")?;
        Ok(count)
    }

    /// Declarations and what holds throughout, before the first statement.
    fn head(&mut self, procedure: &mut Procedure) {
        loop {
            let done = match self.word().unwrap_or("") {
                "decl" => self.declarations(&mut procedure.locals, false),
                "enforce" if procedure.enforce.is_none() => {
                    self.clause().map(|expr| procedure.enforce = Some(expr))
                }
                "abortif" if procedure.abort_if.is_none() => {
                    self.clause().map(|expr| procedure.abort_if = Some(expr))
                }
                _ => return,
            };
            if done.is_err() {
                self.skip_statement();
            }
        }
    }

    /// `enforce e;`
    fn clause(&mut self) -> Parse<Expr> {
        self.bump();
        let expr = self.expr()?;
        self.expect(Sign::Semicolon, "behind the expression")?;
        Ok(expr)
    }

    fn name(&mut self, what: &str) -> Parse<Name> {
        match self.word() {
            Some(word) if !KEYWORDS.contains(&word) => {
                let text = word.to_string();
                Ok(Name { text, at: At(self.bump()) })
            }
            Some(word) => {
                let message = format!("`{word}` is a keyword and cannot name {what}");
                Err(self.error(&message))
            }
            None => Err(self.unexpected(&format!("the name of {what}"))),
        }
    }

    fn statements(&mut self, ends: &[&str]) -> Vec<Statement> {
        let mut statements = Vec::new();
        while !self.at_end() && !self.word().is_some_and(|word| ends.contains(&word)) && !self.at_procedure()
        {
            let start = self.position;
            match self.statement() {
                Ok(Some(statement)) => statements.push(statement),
                Ok(None) => {}
                Err(Reported) => {
                    self.skip_statement();
                    if self.position == start {
                        self.bump();
                    }
                }
            }
        }
        statements
    }

    /// Runs `parse` one level deeper, unless that is too deep.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= MAX_DEPTH {
            let reported = self.error(&format!("this is nested more than {MAX_DEPTH} deep"));
            // Whatever follows is as deep; the message would only be repeated.
            self.position = self.tokens.len();
            self.last_error = Some(self.position);
            return Err(reported);
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }
}
