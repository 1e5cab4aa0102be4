//! From tokens to the syntax tree: recursive descent.
//!
//! Every function that can fail has reported its error before it returns [`Reported`]; a list of statements or of modules goes on
//! behind the next `;` or with the next module.

mod expressions;
mod statements;
mod structures;

use crate::ast::*;
use crate::lexer::{Kind, Token};
use preempt_core::{Diagnostic, SourceId, Span};
use structures::Structures;

/// The mistake has been reported.
struct Reported;
type Parsed<T> = Result<T, Reported>;

/// Expressions and statements nest so deep at most.
const DEEPEST: usize = 200;
/// More mistakes do not help anybody.
const MOST_ERRORS: usize = 100;

const KEYWORDS: [&str; 24] = [
    "define", "shared", "bool", "int", "enum", "struct", "init", "module", "void", "return", "goto", "break",
    "skip", "fork", "if", "fi", "do", "od", "else", "undef", "true", "false", "A", "E",
];

pub(crate) fn program(tokens: Vec<Token>, source: SourceId, length: usize) -> (Program, Vec<Diagnostic>) {
    let end = Span::new(source, length as u32, length as u32);
    let structures = Structures::default();
    let mut parser = Parser { tokens, at: 0, end, depth: 0, structures, diagnostics: Vec::new() };
    let mut program = Program::default();
    while parser.at < parser.tokens.len() && parser.diagnostics.len() < MOST_ERRORS {
        let before = parser.at;
        if parser.item(&mut program).is_err() {
            parser.at = parser.at.max(before + 1);
            parser.skip_to_item();
        }
    }
    (program, parser.diagnostics)
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    end: Span,
    depth: usize,
    structures: Structures,
    diagnostics: Vec<Diagnostic>,
}

impl Parser {
    fn error<T>(&mut self, span: Span, message: impl Into<String>, hint: &str) -> Parsed<T> {
        self.diagnostics.push(Diagnostic::error(span, message).hint(hint));
        Err(Reported)
    }

    fn here(&self) -> Span {
        self.tokens.get(self.at).map_or(self.end, |token| token.span)
    }

    /// From a place to the last token read.
    fn since(&self, first: Span) -> Span {
        let last =
            self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(first, |token| token.span);
        Span::new(first.source, first.start, last.end.max(first.start))
    }

    fn is(&self, sign: &str) -> bool {
        self.is_at(self.at, sign)
    }

    fn is_at(&self, at: usize, sign: &str) -> bool {
        matches!(self.tokens.get(at), Some(Token { kind: Kind::Sign(here), .. }) if *here == sign)
    }

    fn word(&self) -> Option<&str> {
        match self.tokens.get(self.at) {
            Some(Token { kind: Kind::Word(word), .. }) => Some(word),
            _ => None,
        }
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = self.is(sign);
        self.at += usize::from(found);
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.word() == Some(word);
        self.at += usize::from(found);
        found
    }

    fn found(&self) -> String {
        match self.tokens.get(self.at) {
            None => "the end of the file".into(),
            Some(Token { kind: Kind::Word(word), .. }) => format!("`{word}`"),
            Some(Token { kind: Kind::Number(number), .. }) => format!("`{number}`"),
            Some(Token { kind: Kind::Sign(sign), .. }) => format!("`{sign}`"),
        }
    }

    fn expect(&mut self, sign: &'static str, hint: &str) -> Parsed<()> {
        if self.take(sign) {
            return Ok(());
        }
        let message = format!("expected `{sign}`, found {}", self.found());
        self.error(self.here(), message, hint)
    }

    fn name(&mut self, what: &str) -> Parsed<Name> {
        let span = self.here();
        match self.word().map(str::to_string) {
            Some(text) if !KEYWORDS.contains(&text.as_str()) => {
                self.at += 1;
                Ok(Name { text, span })
            }
            Some(word) => {
                let message = format!("expected {what}, found the word `{word}`");
                self.error(span, message, "this word has a meaning of its own")
            }
            None => {
                let message = format!("expected {what}, found {}", self.found());
                self.error(span, message, "a name begins with a letter")
            }
        }
    }

    /// Deeper is no program of anybody's.
    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Parser) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= DEEPEST {
            return self.error(self.here(), "this is nested too deeply", "take it apart");
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn skip_to_item(&mut self) {
        while let Some(token) = self.tokens.get(self.at) {
            if matches!(&token.kind, Kind::Word(word) if ["module", "init", "define"].contains(&word.as_str()))
            {
                return;
            }
            self.at += 1;
        }
    }

    fn item(&mut self, program: &mut Program) -> Parsed<()> {
        let first = self.here();
        match self.word() {
            Some("define") => {
                self.at += 1;
                let name = self.name("the name of a constant")?;
                let value = self.expression()?;
                self.take(";");
                program.defines.push((name, value));
                Ok(())
            }
            Some("init") => {
                self.at += 1;
                let name = self.name("the module to begin with")?;
                if self.word().is_some() {
                    return self.error(
                        self.here(),
                        "a stack of several modules to begin with",
                        "begin with one module that calls the others",
                    );
                }
                self.expect(";", "as in `init main;`")?;
                if program.init.is_some() {
                    return self.error(name.span, "a second `init`", "a program begins once");
                }
                program.init = Some(name);
                Ok(())
            }
            Some("module") => {
                self.structures.enter_module();
                let module = self.module();
                self.structures.leave_module();
                program.modules.push(module?);
                Ok(())
            }
            Some("enum") if self.is_at(self.at + 2, "{") => {
                self.at += 1;
                let name = self.name("the name of the type")?;
                self.expect("{", "as in `enum colour { red, green };`")?;
                let mut values = vec![self.name("a value")?];
                while self.take(",") {
                    values.push(self.name("a value")?);
                }
                self.expect("}", "as in `enum colour { red, green };`")?;
                self.take(";");
                program.enums.push((name, values));
                Ok(())
            }
            Some("struct") if self.is_at(self.at + 2, "{") => self.structure(),
            _ => {
                let shared = self.take_word("shared");
                if !shared && !matches!(self.word(), Some("bool" | "int" | "enum" | "struct" | "signed")) {
                    let message = format!("expected a declaration or a module, found {}", self.found());
                    return self.error(first, message, "statements stand inside of modules");
                }
                let declared = self.declarations()?;
                program.globals.extend(declared);
                Ok(())
            }
        }
    }

    fn type_name(&mut self) -> Parsed<TypeName> {
        let span = self.here();
        match self.word() {
            Some("bool") => self.at += 1,
            Some("int") => {
                self.at += 1;
                return Ok(TypeName::Int);
            }
            Some("enum") => {
                self.at += 1;
                return Ok(TypeName::Enum(self.name("the name of the type")?));
            }
            Some("struct") => {
                return self.error(
                    span,
                    "a structure within a structure, or between modules",
                    "use its fields one by one",
                );
            }
            Some("signed") => {
                return self.error(span, "signed integers are not supported", "integers are unsigned");
            }
            _ => {
                let message = format!("expected a type, found {}", self.found());
                return self.error(span, message, "there are bool, int and enum");
            }
        }
        Ok(TypeName::Bool)
    }

    fn declarations(&mut self) -> Parsed<Vec<Declaration>> {
        if self.word() == Some("struct") {
            return self.structured();
        }
        let ty = self.type_name()?;
        let mut all = vec![self.declaration(&ty)?];
        while self.take(",") {
            all.push(self.declaration(&ty)?);
        }
        self.expect(";", "declarations end with `;`")?;
        Ok(all)
    }

    fn declaration(&mut self, ty: &TypeName) -> Parsed<Declaration> {
        let name = self.name("the name of a variable")?;
        self.structures.forget(&name.text);
        let dimensions = self.dimensions()?;
        if dimensions.len() > 2 {
            return self.error(name.span, "an array has at most two dimensions", "make it flat");
        }
        let bits = self.bits()?;
        Ok(Declaration { ty: ty.clone(), name, dimensions, bits })
    }

    fn dimensions(&mut self) -> Parsed<Vec<Dimension>> {
        let mut dimensions = Vec::new();
        while self.take("[") {
            let low = self.expression()?;
            let high = if self.take(",") { Some(self.expression()?) } else { None };
            self.expect("]", "as in `a[4]` or `a[1,4]`")?;
            dimensions.push((low, high));
        }
        Ok(dimensions)
    }

    fn bits(&mut self) -> Parsed<Option<Expr>> {
        if !self.take("(") {
            return Ok(None);
        }
        let bits = self.expression()?;
        self.expect(")", "the number of bits, as in `x(4)`")?;
        Ok(Some(bits))
    }

    fn module(&mut self) -> Parsed<Module> {
        self.at += 1;
        let returns = match self.take_word("void") {
            true => None,
            false => {
                let ty = self.type_name()?;
                if self.is("[") {
                    return self.error(self.here(), "a module cannot return an array", "use a global array");
                }
                Some((ty, self.bits()?))
            }
        };
        let name = self.name("the name of the module")?;
        self.expect("(", "parameters stand in parentheses")?;
        let mut parameters = Vec::new();
        while !self.is(")") {
            let ty = self.type_name()?;
            let parameter = self.declaration(&ty)?;
            if !parameter.dimensions.is_empty() {
                return self.error(
                    parameter.name.span,
                    "a parameter cannot be an array",
                    "use a global array",
                );
            }
            parameters.push(parameter);
            if !self.take(",") {
                break;
            }
        }
        self.expect(")", "the list of parameters ends here")?;
        if self.take(";") {
            let end = self.since(name.span);
            return Ok(Module { name, returns, parameters, locals: Vec::new(), body: None, end });
        }
        self.expect("{", "a module has a body, or ends with `;`")?;
        let mut locals = Vec::new();
        while matches!(self.word(), Some("bool" | "int" | "enum" | "struct" | "signed")) {
            locals.extend(self.declarations()?);
        }
        let body = self.statements(&["}"])?;
        let end = self.here();
        self.expect("}", "the module is not closed")?;
        Ok(Module { name, returns, parameters, locals, body: Some(body), end })
    }
}
