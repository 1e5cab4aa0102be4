//! Statements.

use super::{Parse, Parser, Reported};
use crate::ast::{At, Expr, Name, Statement, StatementKind};
use crate::lexer::Sign;
use preempt_core::Diagnostic;

impl Parser {
    /// One statement with its labels; `None` for a lone `;`.
    pub(super) fn statement(&mut self) -> Parse<Option<Statement>> {
        let mut labels = Vec::new();
        loop {
            let numbered = self.number().is_some() && self.sign_ahead(1) == Some(Sign::Colon);
            if numbered {
                let text = self.number().unwrap_or("").to_string();
                labels.push(Name { text, at: At(self.bump()) });
            } else if self.name_before(Sign::Colon) {
                labels.push(self.name("a label")?);
            } else {
                break;
            }
            self.bump();
        }
        if labels.is_empty() && self.eat(Sign::Semicolon) {
            return Ok(None);
        }
        let at = self.span();
        let kind = self.nested(|parser| parser.statement_kind(!labels.is_empty()))?;
        Ok(Some(Statement { labels, kind, at: At(at.to(self.previous())) }))
    }

    fn statement_kind(&mut self, labelled: bool) -> Parse<StatementKind> {
        let word = self.word().unwrap_or("").to_string();
        let kind = match word.as_str() {
            "if" => return self.conditional(),
            "while" => return self.repetition(),
            // A label may stand at the very end, before nothing.
            "end" | "fi" | "od" | "else" | "elsif" if labelled => return Ok(StatementKind::Skip),
            "end" | "fi" | "od" | "else" | "elsif" | "then" | "do" => {
                return Err(self.error(&format!("this `{word}` belongs to nothing")));
            }
            "skip" => self.alone(StatementKind::Skip),
            "end_thread" => self.alone(StatementKind::EndThread),
            "atomic_begin" => self.alone(StatementKind::AtomicBegin),
            "atomic_end" => self.alone(StatementKind::AtomicEnd),
            "goto" => self.goto()?,
            "return" => {
                self.bump();
                let values = if self.at(Sign::Semicolon) { Vec::new() } else { self.exprs()? };
                StatementKind::Return(values)
            }
            "assume" | "constrain" => {
                self.bump();
                StatementKind::Assume(self.expr()?)
            }
            "assert" => {
                self.bump();
                StatementKind::Assert(self.expr()?)
            }
            "dead" => {
                self.bump();
                StatementKind::Dead(self.names("a variable")?)
            }
            "print" => {
                self.bump();
                self.expect(Sign::LeftParen, "behind `print`")?;
                let values = if self.at(Sign::RightParen) { Vec::new() } else { self.exprs()? };
                self.expect(Sign::RightParen, "behind the values")?;
                StatementKind::Print(values)
            }
            "start_thread" => self.start_thread()?,
            "decl" => {
                let hint = "move it behind `begin`, before the first statement";
                return Err(self.error_with("a declaration stands before all statements", hint));
            }
            "enforce" | "abortif" => {
                let message = format!("`{word}` stands once, before all statements");
                return Err(self.error(&message));
            }
            "sync" if self.word_ahead(1).is_some() => {
                // `docs/src/boolean.md` says why.
                let hint = "wait for a shared variable instead: assume(x);";
                let message =
                    "`sync`, a statement of SATABS that its own checker never executes, is not supported";
                return Err(self.error_with(message, hint));
            }
            "broadcast" if self.sign_ahead(1) == Some(Sign::Semicolon) => {
                self.alone(StatementKind::Broadcast)
            }
            "wait" if self.sign_ahead(1) == Some(Sign::Semicolon) => self.alone(StatementKind::Wait),
            _ => self.assignment_or_call()?,
        };
        // The last `;` of a list may be left out.
        if !self.word().is_some_and(|word| matches!(word, "end" | "fi" | "od" | "else" | "elsif")) {
            self.expect(Sign::Semicolon, "behind the statement")?;
        }
        Ok(kind)
    }

    fn alone(&mut self, kind: StatementKind) -> StatementKind {
        self.bump();
        kind
    }

    fn goto(&mut self) -> Parse<StatementKind> {
        self.bump();
        let mut targets = vec![self.label()?];
        while self.eat(Sign::Comma) {
            targets.push(self.label()?);
        }
        Ok(StatementKind::Goto(targets))
    }

    fn label(&mut self) -> Parse<Name> {
        if let Some(number) = self.number() {
            let text = number.to_string();
            return Ok(Name { text, at: At(self.bump()) });
        }
        self.name("a label")
    }

    fn start_thread(&mut self) -> Parse<StatementKind> {
        self.bump();
        if self.eat_word("goto") {
            let target = self.label()?;
            if self.at(Sign::Comma) {
                return Err(self.error("a thread starts at one label"));
            }
            return Ok(StatementKind::StartGoto(target));
        }
        if !self.name_before(Sign::LeftParen) {
            return Err(self.unexpected("`goto` and a label, or a call, behind `start_thread`"));
        }
        let procedure = self.name("a procedure")?;
        let arguments = self.arguments()?;
        Ok(StatementKind::StartCall { procedure, arguments })
    }

    fn conditional(&mut self) -> Parse<StatementKind> {
        let open = self.bump();
        let mut branches = Vec::new();
        let mut otherwise = None;
        let mut condition = self.condition("then");
        loop {
            let body = self.statements(&["elsif", "else", "fi", "od", "end"]);
            // A condition that was not understood was reported; its body is kept, to find what is wrong in it.
            branches.push((condition.unwrap_or_else(|Reported| Expr::any()), body));
            if self.eat_word("elsif") {
                condition = self.condition("then");
                continue;
            }
            if self.eat_word("else") {
                otherwise = Some(self.statements(&["elsif", "else", "fi", "od", "end"]));
            }
            break;
        }
        if !self.eat_word("fi") {
            let found = self.word().map_or("the end of the text".into(), |word| format!("`{word}`"));
            let error = Diagnostic::error(self.span(), format!("missing `fi` before {found}"));
            return Err(self.report(error.label(open, "to close this `if`")));
        }
        self.eat(Sign::Semicolon);
        Ok(StatementKind::If { branches, otherwise })
    }

    fn repetition(&mut self) -> Parse<StatementKind> {
        let open = self.bump();
        let condition = self.condition("do").unwrap_or_else(|Reported| Expr::any());
        let body = self.statements(&["od", "fi", "end"]);
        if !self.eat_word("od") {
            let found = self.word().map_or("the end of the text".into(), |word| format!("`{word}`"));
            let error = Diagnostic::error(self.span(), format!("missing `od` before {found}"));
            return Err(self.report(error.label(open, "to close this `while`")));
        }
        self.eat(Sign::Semicolon);
        Ok(StatementKind::While(condition, body))
    }

    /// A condition with the word behind it; after an error, that word is looked for.
    fn condition(&mut self, word: &str) -> Parse<Expr> {
        let condition = self.expr();
        if condition.is_ok() && self.eat_word(word) {
            return condition;
        }
        let reported = self.unexpected(&format!("`{word}` behind the condition"));
        for ahead in 0..20 {
            match self.word_ahead(ahead) {
                Some(found) if found == word => {
                    (0..=ahead).for_each(|_| {
                        self.bump();
                    });
                    break;
                }
                Some("fi" | "od" | "end" | "else" | "elsif") => break,
                _ => {}
            }
            if self.sign_ahead(ahead) == Some(Sign::Semicolon) {
                break;
            }
        }
        Err(reported)
    }

    fn assignment_or_call(&mut self) -> Parse<StatementKind> {
        if self.name_before(Sign::LeftParen) {
            let procedure = self.name("a procedure")?;
            let arguments = self.arguments()?;
            return Ok(StatementKind::Call { targets: Vec::new(), procedure, arguments });
        }
        if self.word().is_none() {
            return Err(self.unexpected("a statement"));
        }
        let targets = self.names("a variable")?;
        if self.at(Sign::Equal) {
            return Err(self.error_with("`=` compares", "write `:=` to assign"));
        }
        self.expect(Sign::Becomes, "of an assignment")?;
        if self.name_before(Sign::LeftParen) {
            let procedure = self.name("a procedure")?;
            let arguments = self.arguments()?;
            if self.sign().is_some_and(|sign| sign != Sign::Semicolon) {
                return Err(self.error_with(
                    "a call is the whole right side of an assignment",
                    "assign its result to a variable first",
                ));
            }
            return Ok(StatementKind::Call { targets, procedure, arguments });
        }
        let values = self.exprs()?;
        let constrain = if self.eat_word("constrain") { Some(self.expr()?) } else { None };
        Ok(StatementKind::Assign { targets, values, constrain })
    }

    fn names(&mut self, what: &str) -> Parse<Vec<Name>> {
        let mut names = vec![self.name(what)?];
        while self.eat(Sign::Comma) {
            names.push(self.name(what)?);
        }
        Ok(names)
    }

    fn arguments(&mut self) -> Parse<Vec<Expr>> {
        self.expect(Sign::LeftParen, "and arguments")?;
        let arguments = if self.at(Sign::RightParen) { Vec::new() } else { self.exprs()? };
        self.expect(Sign::RightParen, "behind the arguments")?;
        Ok(arguments)
    }

    fn exprs(&mut self) -> Parse<Vec<Expr>> {
        let mut exprs = vec![self.expr()?];
        while self.eat(Sign::Comma) {
            exprs.push(self.expr()?);
        }
        Ok(exprs)
    }
}
