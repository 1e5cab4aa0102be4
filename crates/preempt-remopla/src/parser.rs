//! From tokens to the syntax tree: recursive descent.
//!
//! Every function that can fail has reported its error before it returns [`Reported`]; a list of statements or of modules goes on
//! behind the next `;` or with the next module.

use crate::ast::*;
use crate::lexer::{Kind, Token};
use preempt_core::{Diagnostic, SourceId, Span};

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

/// Operators by how strongly they bind, the loosest first.
const LEVELS: [&[(&str, Operator)]; 10] = [
    &[("||", Operator::Or)],
    &[("^^", Operator::Xor)],
    &[("&&", Operator::And)],
    &[("|", Operator::BitOr)],
    &[("^", Operator::BitXor)],
    &[("&", Operator::BitAnd)],
    &[("==", Operator::Equal), ("!=", Operator::Unequal)],
    &[
        ("<=", Operator::LessEqual),
        (">=", Operator::GreaterEqual),
        ("<", Operator::Less),
        (">", Operator::Greater),
    ],
    &[("<<", Operator::ShiftLeft), (">>", Operator::ShiftRight)],
    &[("+", Operator::Add), ("-", Operator::Sub)],
];
/// The level of `|` and everything that binds more strongly.
const COMPARISONS: usize = 3;
const PRODUCTS: [(&str, Operator); 2] = [("*", Operator::Mul), ("/", Operator::Div)];

pub(crate) fn program(tokens: Vec<Token>, source: SourceId, length: usize) -> (Program, Vec<Diagnostic>) {
    let end = Span::new(source, length as u32, length as u32);
    let mut parser = Parser { tokens, at: 0, end, depth: 0, diagnostics: Vec::new() };
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
                let module = self.module()?;
                program.modules.push(module);
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
            Some("struct") => {
                self.error(first, "structures are not supported", "declare a variable for each of its fields")
            }
            _ => {
                let shared = self.take_word("shared");
                if !shared && !matches!(self.word(), Some("bool" | "int" | "enum")) {
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
                return self.error(span, "structures are not supported", "use a variable for each field");
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
        let mut dimensions = Vec::new();
        while self.take("[") {
            let low = self.expression()?;
            let high = if self.take(",") { Some(self.expression()?) } else { None };
            self.expect("]", "as in `a[4]` or `a[1,4]`")?;
            dimensions.push((low, high));
        }
        if dimensions.len() > 2 {
            return self.error(name.span, "an array has at most two dimensions", "make it flat");
        }
        let bits = self.bits()?;
        Ok(Declaration { ty: ty.clone(), name, dimensions, bits })
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

    /// Up to one of these signs or words, which is not read.
    fn statements(&mut self, until: &[&str]) -> Parsed<Vec<Statement>> {
        let mut statements = Vec::new();
        loop {
            let ends = until.iter().any(|end| self.is(end) || self.word() == Some(end));
            if ends || self.at >= self.tokens.len() || self.word() == Some("module") {
                return Ok(statements);
            }
            let before = self.at;
            match self.deeper(Parser::statement) {
                Ok(statement) => statements.push(statement),
                Err(Reported) if self.diagnostics.len() >= MOST_ERRORS => return Err(Reported),
                Err(Reported) => {
                    // Behind the next semicolon, if the statement has one.
                    self.at = self.at.max(before + 1);
                    while self.at < self.tokens.len() && !self.is(";") && !self.is("}") {
                        if self.word() == Some("module") {
                            return Err(Reported);
                        }
                        self.at += 1;
                    }
                    self.take(";");
                }
            }
        }
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let first = self.here();
        let mut label = None;
        if self.word().is_some_and(|word| !KEYWORDS.contains(&word)) && self.is_at(self.at + 1, ":") {
            label = Some(self.name("a label")?);
            self.at += 1;
            // A label may stand before nothing.
            if self.is("}") || self.is("::") || matches!(self.word(), Some("fi" | "od")) {
                return Ok(Statement { label, kind: StatementKind::Skip(None), span: first });
            }
        }
        let begin = self.here();
        let kind = match self.word().unwrap_or_default() {
            "if" => StatementKind::If(self.branches("fi")?),
            "do" => StatementKind::Do(self.branches("od")?),
            "skip" => {
                self.at += 1;
                let condition = if self.is("(") { Some(self.expression()?) } else { None };
                self.semicolon()?;
                StatementKind::Skip(condition)
            }
            "break" => {
                self.at += 1;
                self.semicolon()?;
                StatementKind::Break
            }
            "goto" => {
                self.at += 1;
                let target = self.name("a label")?;
                self.semicolon()?;
                StatementKind::Goto(target)
            }
            "return" => {
                self.at += 1;
                let value = if self.is(";") { None } else { Some(self.expression()?) };
                self.semicolon()?;
                StatementKind::Return(value)
            }
            "fork" => {
                self.at += 1;
                let module = self.name("the module that the thread executes")?;
                let arguments = self.arguments()?;
                self.semicolon()?;
                StatementKind::Fork(module, arguments)
            }
            _ => self.assignment_or_call(begin)?,
        };
        Ok(Statement { label, kind, span: self.since(begin) })
    }

    fn semicolon(&mut self) -> Parsed<()> {
        if self.is(",") {
            let hint = "write the assignments as a statement of their own";
            return self.error(self.here(), "assignments beside another statement are not supported", hint);
        }
        self.expect(";", "statements end with `;`")
    }

    fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        self.expect("(", "arguments stand in parentheses")?;
        let mut arguments = Vec::new();
        while !self.is(")") {
            arguments.push(self.expression()?);
            if !self.take(",") {
                break;
            }
        }
        self.expect(")", "the list of arguments ends here")?;
        Ok(arguments)
    }

    fn assignment_or_call(&mut self, first: Span) -> Parsed<StatementKind> {
        if self.word().is_none() {
            let message = format!("expected a statement, found {}", self.found());
            return self.error(first, message, "a guard is written `:: condition -> statements`");
        }
        // A call: a name and a parenthesis, perhaps behind `place =`.
        if self.is_at(self.at + 1, "(") && !matches!(self.word(), Some("A" | "E")) {
            let module = self.name("the name of a module")?;
            let arguments = self.arguments()?;
            self.semicolon()?;
            return Ok(StatementKind::Call { target: None, module, arguments });
        }
        if self.is_at(self.at + 1, "<") && self.is_at(self.at + 3, ">") && self.is_at(self.at + 4, "-->") {
            let hint = "pushdown rules have files of their own (.pds)";
            return self.error(first, "rules inside of a module are not supported", hint);
        }
        let mut all = Vec::new();
        loop {
            let mut quantifiers = Vec::new();
            while matches!(self.word(), Some("A" | "E")) {
                let span = self.here();
                let quantifier = self.quantifier()?;
                if !quantifier.all {
                    return self.error(span, "an assignment for some number", "`A` assigns for all of them");
                }
                quantifiers.push(quantifier);
            }
            let place = self.place()?;
            if self.is("!=") {
                let hint = "choose with `undef`, and exclude the value with `skip(x != v)`";
                return self.error(self.here(), "assigning any other value is not supported", hint);
            }
            self.expect("=", "a value is assigned with `=`")?;
            if self.take_word("undef") {
                all.push(Assignment { quantifiers, place, value: None });
            } else if quantifiers.is_empty()
                && all.is_empty()
                && self.word().is_some_and(|word| !KEYWORDS.contains(&word))
                && self.is_at(self.at + 1, "(")
            {
                let module = self.name("the name of a module")?;
                let arguments = self.arguments()?;
                self.semicolon()?;
                return Ok(StatementKind::Call { target: Some(place), module, arguments });
            } else {
                let value = self.expression()?;
                all.push(Assignment { quantifiers, place, value: Some(value) });
            }
            if !self.take(",") {
                break;
            }
        }
        self.expect(";", "statements end with `;`")?;
        Ok(StatementKind::Assign(all))
    }

    fn branches(&mut self, end: &str) -> Parsed<Vec<(Option<Expr>, Vec<Statement>)>> {
        let first = self.here();
        self.at += 1;
        let mut branches: Vec<(Option<Expr>, Vec<Statement>)> = Vec::new();
        while self.take("::") {
            let guard = match self.take_word("else") {
                true => None,
                false => Some(self.expression()?),
            };
            if guard.is_none() && branches.iter().any(|(guard, _)| guard.is_none()) {
                return self.error(self.here(), "a second `else`", "one is enough");
            }
            self.expect("->", "a guard is written `:: condition -> statements`")?;
            let body = self.statements(&["::", end])?;
            branches.push((guard, body));
        }
        if branches.is_empty() {
            return self.error(self.here(), "no branch", "a branch is written `:: condition -> statements`");
        }
        if !self.take_word(end) {
            let message = format!("expected `{end}`, found {}", self.found());
            self.diagnostics.push(
                Diagnostic::error(self.here(), message)
                    .label(first, "to close this")
                    .hint(format!("close it with `{end}`")),
            );
            return Err(Reported);
        }
        self.take(";");
        Ok(branches)
    }

    fn place(&mut self) -> Parsed<Place> {
        let name = self.name("a variable")?;
        let mut indices = Vec::new();
        while self.take("[") {
            indices.push(self.expression()?);
            if self.take(",") {
                indices.push(self.expression()?);
            }
            self.expect("]", "the index ends here")?;
        }
        if self.is("'") || self.is(".") {
            let (what, hint) = match self.is("'") {
                true => ("values after a step", "assign the value to a variable first"),
                false => ("structures", "use a variable for each field"),
            };
            return self.error(self.here(), format!("{what} are not supported"), hint);
        }
        Ok(Place { name, indices })
    }

    fn quantifier(&mut self) -> Parsed<Quantifier> {
        let all = self.word() == Some("A");
        self.at += 1;
        let name = self.name("the name for the numbers")?;
        let hint = "as in `A i (0, 3) a[i] == 0`";
        self.expect("(", hint)?;
        let low = self.expression()?;
        self.expect(",", hint)?;
        let high = self.expression()?;
        self.expect(")", hint)?;
        Ok(Quantifier { all, name, low, high })
    }

    fn expression(&mut self) -> Parsed<Expr> {
        self.deeper(|parser| parser.level(0))
    }

    fn level(&mut self, level: usize) -> Parsed<Expr> {
        let Some(operators) = LEVELS.get(level) else { return self.product() };
        let first = self.here();
        let mut left = self.level(level + 1)?;
        while let Some((_, operator)) = operators.iter().find(|(sign, _)| self.is(sign)) {
            self.at += 1;
            let right = self.level(level + 1)?;
            let kind = ExprKind::Binary(*operator, Box::new(left), Box::new(right));
            left = Expr { kind, span: self.since(first) };
        }
        Ok(left)
    }

    fn product(&mut self) -> Parsed<Expr> {
        let first = self.here();
        let mut left = self.unary()?;
        while let Some((_, operator)) = PRODUCTS.iter().find(|(sign, _)| self.is(sign)) {
            self.at += 1;
            let right = self.unary()?;
            let kind = ExprKind::Binary(*operator, Box::new(left), Box::new(right));
            left = Expr { kind, span: self.since(first) };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let first = self.here();
        let kind = if self.take("!") {
            ExprKind::Not(Box::new(self.deeper(Parser::unary)?))
        } else if self.take("~") {
            ExprKind::Complement(Box::new(self.deeper(Parser::unary)?))
        } else if self.take("(") {
            let inner = self.expression()?;
            self.expect(")", "the parenthesis is not closed")?;
            return Ok(inner);
        } else if let Some(Token { kind: Kind::Number(number), .. }) = self.tokens.get(self.at) {
            let number = *number;
            self.at += 1;
            ExprKind::Number(number)
        } else {
            match self.word() {
                Some("true") => {
                    self.at += 1;
                    ExprKind::Bool(true)
                }
                Some("false") => {
                    self.at += 1;
                    ExprKind::Bool(false)
                }
                Some("A" | "E") => {
                    // It reaches as far as a comparison does.
                    let quantifier = self.quantifier()?;
                    let inner = self.deeper(|parser| parser.level(COMPARISONS))?;
                    ExprKind::Quantified(Box::new(quantifier), Box::new(inner))
                }
                Some("undef") => {
                    return self.error(first, "`undef` inside of an expression", "assign it to a variable");
                }
                Some(_) => ExprKind::Load(self.place()?),
                None => {
                    let message = format!("expected an expression, found {}", self.found());
                    return self.error(first, message, "a value, a variable, or a parenthesis");
                }
            }
        };
        if self.is("(") && matches!(kind, ExprKind::Load(_)) {
            let hint = "call it in a statement of its own, as in `x = f(y);`";
            return self.error(first, "a call inside of an expression", hint);
        }
        Ok(Expr { kind, span: self.since(first) })
    }
}
