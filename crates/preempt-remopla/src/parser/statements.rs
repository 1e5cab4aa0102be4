//! Statements: assignments, calls, jumps, and guarded `if` and `do`.

use super::{KEYWORDS, MOST_ERRORS, Parsed, Parser, Reported};
use crate::ast::*;
use preempt_core::{Diagnostic, Span};

impl Parser {
    /// Up to one of these signs or words, which is not read.
    pub(super) fn statements(&mut self, until: &[&str]) -> Parsed<Vec<Statement>> {
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
            if let Some(structure) = self.structures.of(&place) {
                all.extend(self.whole(&quantifiers, &place, structure)?);
            } else if self.take_word("undef") {
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
}
