//! Statements and lists of them.

use preempt_core::Span;

use super::cursor::Kind;
use super::{Open, Parse, Parser, STATEMENT};
use crate::ast::{Expr, ExprKind, Stmt, StmtKind};
use crate::token::{Keyword, Punct, TokenKind, string_value};

impl Parser<'_> {
    /// `{ ... }` of `what`, which stands at `owner`. Gives the statements and the closing brace.
    pub(super) fn block(&mut self, what: &str, owner: Span) -> Parse<(Vec<Stmt>, Span)> {
        if !self.at(Punct::LBrace) {
            return Err(self.missing_block(what));
        }
        let brace = self.bump();
        self.open.push(Open::Brace);
        let errors = self.diagnostics.len();
        let body = self.sequence();
        self.open.pop();
        let end = self.span();
        if self.at(Punct::RBrace) {
            if body.is_empty() && errors == self.diagnostics.len() {
                self.empty_block(what, brace);
            }
            self.bump();
        } else {
            self.missing_brace(what, owner, brace);
        }
        Ok((body, end))
    }

    /// Statements up to something that cannot belong to them; what is wrong among them is reported and skipped.
    pub(super) fn sequence(&mut self) -> Vec<Stmt> {
        let mut list = Vec::new();
        if let Kind::P(punct @ (Punct::Semi | Punct::Arrow)) = self.peek() {
            self.leading_separator(punct);
        }
        loop {
            while let Kind::P(Punct::Semi | Punct::Arrow) = self.peek() {
                self.bump();
            }
            if self.at_end_of_sequence() {
                return list;
            }
            let parens = self.parens;
            if self.step(&mut list).is_err() {
                self.skip_statement(parens);
                continue;
            }
            let pos = self.pos;
            match self.peek() {
                Kind::P(Punct::Semi) => {}
                Kind::P(Punct::Arrow) => self.check_guard(&list),
                // Spin puts a `;` behind these itself.
                _ if matches!(self.previous, Kind::P(Punct::RBrace) | Kind::K(Keyword::Else)) => {}
                _ if self.at_end_of_sequence() => return list,
                // A stray word was skipped.
                _ if self.pos != pos => {}
                _ => {
                    if self.missing_separator(list.last()).is_err() {
                        self.skip_statement(parens);
                    }
                }
            }
        }
    }

    /// Whether the list ends here. Closing words that close nothing are reported and skipped.
    fn at_end_of_sequence(&mut self) -> bool {
        loop {
            let closes = match self.peek() {
                Kind::Eof => return true,
                Kind::P(Punct::RBrace) => return true,
                Kind::K(keyword) if is_item(keyword) => return true,
                Kind::K(Keyword::Fi | Keyword::Od) => {
                    self.open.iter().any(|open| matches!(open, Open::If | Open::Do))
                }
                Kind::P(Punct::Sep) => self.open.iter().any(|open| matches!(open, Open::If | Open::Do)),
                _ => return false,
            };
            if closes {
                return true;
            }
            self.stray();
            while let Kind::P(Punct::Semi | Punct::Arrow) = self.peek() {
                self.bump();
            }
        }
    }

    /// A declaration or a statement with its `unless`.
    fn step(&mut self, list: &mut Vec<Stmt>) -> Parse<()> {
        let start = self.span();
        if self.at_keyword(Keyword::Mtype) && self.at_mtype_names() {
            return Err(self.local_mtype());
        }
        if self.at_declaration() {
            let declaration = self.declaration()?;
            let span = declaration.span;
            list.push(Stmt { labels: Vec::new(), kind: StmtKind::Declare(declaration), span });
            return Ok(());
        }
        if let Kind::K(keyword @ (Keyword::Xr | Keyword::Xs)) = self.peek() {
            self.bump();
            let mut channels = vec![self.reference()?];
            while self.eat(Punct::Comma) {
                channels.push(self.reference()?);
            }
            let kind = StmtKind::Exclusive { receive: keyword == Keyword::Xr, channels };
            list.push(Stmt { labels: Vec::new(), kind, span: start.to(self.previous_span) });
            return Ok(());
        }
        let main = self.statement()?;
        // A line end before `unless` cannot be meant as the end of the statement.
        if self.implied && self.raw(0) == Kind::K(Keyword::Unless) {
            self.implied = false;
        }
        if !self.at_keyword(Keyword::Unless) {
            list.push(main);
            return Ok(());
        }
        let span = self.bump();
        let escape = self.statement()?;
        if self.at_keyword(Keyword::Unless) {
            return Err(self.second_unless());
        }
        let kind = StmtKind::Unless { main: Box::new(main), escape: Box::new(escape) };
        list.push(Stmt { labels: Vec::new(), kind, span });
        Ok(())
    }

    /// `L: M: statement`
    fn statement(&mut self) -> Parse<Stmt> {
        let mut labels = Vec::new();
        while self.at_label() {
            let label = self.name("a label")?;
            self.bump();
            labels.push(label);
            if self.at(Punct::Assign) {
                return Err(self.pascal_assignment());
            }
            if self.at_declaration() || matches!(self.peek(), Kind::K(Keyword::Xr | Keyword::Xs)) {
                return Err(self.label_before_declaration(&labels));
            }
            let nothing = match self.peek() {
                Kind::P(Punct::RBrace | Punct::Semi | Punct::Arrow | Punct::Sep) | Kind::Eof => true,
                Kind::K(keyword) => matches!(keyword, Keyword::Fi | Keyword::Od) || is_item(keyword),
                _ => false,
            };
            if nothing {
                let span = labels[labels.len() - 1].span;
                let kind = StmtKind::Guard(Expr { kind: ExprKind::Number(1), span });
                return Ok(Stmt { labels, kind, span });
            }
        }
        let start = self.span();
        let kind = self.nested(STATEMENT, |p| p.statement_kind())?;
        let compound = matches!(
            kind,
            StmtKind::If(_)
                | StmtKind::Do(_)
                | StmtKind::Atomic(_)
                | StmtKind::DStep(_)
                | StmtKind::Block { .. }
                | StmtKind::ForRange { .. }
                | StmtKind::ForIn { .. }
        );
        let span = if compound { start } else { start.to(self.previous_span) };
        Ok(Stmt { labels, kind, span })
    }

    /// A name before `:` is a label, unless it is a process type whose variable is meant.
    fn at_label(&self) -> bool {
        self.raw(1) == Kind::P(Punct::Colon)
            && self.ident().is_some_and(|name| !self.processes.contains(&name))
    }

    fn statement_kind(&mut self) -> Parse<StmtKind> {
        let start = self.span();
        let Kind::K(keyword) = self.peek() else {
            return match self.peek() {
                Kind::Ident => self.name_statement(),
                Kind::P(Punct::LBrace) => {
                    let (body, _) = self.block("the block", start)?;
                    Ok(StmtKind::Block { body, inline: None })
                }
                _ => self.guard(),
            };
        };
        match keyword {
            Keyword::If => Ok(StmtKind::If(self.options(Open::If)?)),
            Keyword::Do => Ok(StmtKind::Do(self.options(Open::Do)?)),
            Keyword::Atomic | Keyword::DStep => {
                self.bump();
                let (body, _) = self.block(&format!("`{}`", keyword.text()), start)?;
                Ok(if keyword == Keyword::Atomic { StmtKind::Atomic(body) } else { StmtKind::DStep(body) })
            }
            Keyword::For => self.for_loop(),
            Keyword::Select => self.select(),
            Keyword::Break => {
                self.bump();
                Ok(StmtKind::Break)
            }
            Keyword::Else => {
                self.bump();
                Ok(StmtKind::Else)
            }
            Keyword::Goto => {
                self.bump();
                Ok(StmtKind::Goto(self.name("a label after `goto`")?))
            }
            Keyword::Assert => {
                self.bump();
                Ok(StmtKind::Assert(self.full_expression()?))
            }
            Keyword::Printf => self.printf(),
            Keyword::Printm => {
                self.bump();
                let open = self.expect(Punct::LParen, "after `printm`")?;
                let value = self.expression()?;
                self.expect_close(Punct::RParen, open)?;
                Ok(StmtKind::Printm(value))
            }
            Keyword::SetPriority => {
                self.bump();
                let open = self.expect(Punct::LParen, "after `set_priority`")?;
                let pid = self.expression()?;
                self.expect(Punct::Comma, "before the priority")?;
                let priority = self.expression()?;
                self.expect_close(Punct::RParen, open)?;
                Ok(StmtKind::SetPriority { pid, priority })
            }
            Keyword::Return => {
                self.bump();
                self.return_value(start)
            }
            _ => self.guard(),
        }
    }

    fn guard(&mut self) -> Parse<StmtKind> {
        Ok(StmtKind::Guard(self.full_expression()?))
    }

    /// A statement that starts with a name.
    fn name_statement(&mut self) -> Parse<StmtKind> {
        if self.at_inline_call() {
            return self.inline_call(None);
        }
        self.check_leading_name()?;
        let reference = self.reference()?;
        match self.peek() {
            Kind::P(Punct::Assign) => {
                self.bump();
                if self.at_inline_call() {
                    return self.inline_call(Some(reference));
                }
                if self.at(Punct::LBrace) {
                    return Err(self.list_assignment());
                }
                Ok(StmtKind::Assign { target: reference, value: self.full_expression()? })
            }
            Kind::P(Punct::Inc) => {
                self.bump();
                Ok(StmtKind::Increment(reference))
            }
            Kind::P(Punct::Dec) => {
                self.bump();
                Ok(StmtKind::Decrement(reference))
            }
            Kind::P(punct @ (Punct::Not | Punct::NotNot)) => {
                self.bump();
                let args = self.send_arguments()?;
                Ok(StmtKind::Send { channel: reference, sorted: punct == Punct::NotNot, args })
            }
            Kind::P(punct @ (Punct::Query | Punct::QueryQuery))
                if self.raw(1) != Kind::P(Punct::LBracket) =>
            {
                self.bump();
                self.receive(reference, punct == Punct::QueryQuery)
            }
            _ => {
                self.height = 1;
                let left = self.after_reference(reference)?;
                Ok(StmtKind::Guard(self.infix_rest(left, 0)?))
            }
        }
    }

    fn printf(&mut self) -> Parse<StmtKind> {
        self.bump();
        let open = self.expect(Punct::LParen, "after `printf`")?;
        let span = self.span();
        let Kind::Str = self.peek() else { return Err(self.printf_without_text()) };
        let format = match self.stream.get(self.pos).map(|token| &token.kind) {
            Some(TokenKind::Str(spelling)) => string_value(spelling),
            _ => String::new(),
        };
        self.bump();
        let args = if self.eat(Punct::Comma) { self.expressions()? } else { Vec::new() };
        self.expect_close(Punct::RParen, open)?;
        // Not for a text that stands for a malformed one.
        if self.sources.text(span).starts_with('"') {
            self.check_format(&format, args.len(), span);
        }
        Ok(StmtKind::Printf { format, args })
    }
}

/// Words that start something at the outermost level and nothing else.
pub(super) fn is_item(keyword: Keyword) -> bool {
    matches!(
        keyword,
        Keyword::Active
            | Keyword::Proctype
            | Keyword::DProctype
            | Keyword::Init
            | Keyword::Never
            | Keyword::Ltl
            | Keyword::Trace
            | Keyword::Notrace
            | Keyword::Typedef
            | Keyword::Inline
    )
}

#[cfg(test)]
mod tests {
    use crate::parser::testing::{body, messages};

    #[test]
    fn simple_statements_are_read_as_they_are_printed() {
        for text in [
            "x = 1",
            "a[i].b = run P()",
            "x++; a.b--",
            "c!1,x; c!!y; d[2]!z",
            "c?x,_,3; c??eval(y),-1; c?<x>; c??<x,y>",
            "assert(x > 1)",
            "goto L; break; else",
            "printf(\"a %d\\n\", x); printm(m)",
            "set_priority(1, 2)",
            "select (i : 1 .. n + 1)",
            "xr a, b[2]; xs c",
        ] {
            assert_eq!(body(text), text);
        }
    }

    #[test]
    fn messages_are_written_in_several_ways() {
        assert_eq!(body("c!a(b, 1); c! !a(b); c?a(b, c); c?(a, b); c?a,b(c); c!(x); c?a((b))"), {
            "c!a,b,1; c! !a,b; c?a,b,c; c?a,b; c?a,b,c; c!x; c?a,b"
        });
        assert_eq!(body("assert x == 1 && y; assert(x)"), "assert(x == 1 && y); assert(x)");
    }

    #[test]
    fn compound_statements_nest() {
        assert_eq!(body("if :: a -> b; c :: else -> do :: d :: break od fi; e"), {
            "if :: a; b; c :: else; do :: d :: break; e"
        });
        assert_eq!(body("for (i : 0 .. 3) { x = i } for (m in c)\n { skip }"), {
            "for (i : 0 .. 3) {x = i}; for (m in c) {1}"
        });
        assert_eq!(body("atomic { a; d_step { b } }; { c }"), "atomic {a; d_step {b}};  {c}");
        assert_eq!(body("do :: x = 1 od\n unless a"), "<do :: x = 1 unless a>");
    }

    #[test]
    fn labels_stand_before_statements_or_before_nothing() {
        assert_eq!(body("L: M: x = 1; N: ; if :: a; O: fi; P:"), "L: M: x = 1; N: 1; if :: a; O: 1; P: 1");
        assert_eq!(body("L: x unless y"), "<L: x unless y>");
        assert_eq!(messages("init { L: byte x }"), ["1:11 the label `L` stands before a declaration"]);
    }

    #[test]
    fn suspicious_guards_and_formats_are_warned_about() {
        assert_eq!(messages("init { if :: x = 1 -> y = 2 fi }"), [""; 0]);
        assert_eq!(messages("init { if :: x = 1 -> y = 2 :: x == 2 -> y = 3 fi }"), {
            ["1:14 this guard is an assignment: it is always executable"]
        });
        assert_eq!(
            messages("init { if :: x = 1; y = 2 :: x == 1 -> y = 2 -> z = 3 fi; x = 1 -> y = 1 }"),
            [""; 0]
        );
        assert_eq!(messages("init { printf(\"%d %% %c\", 1) }"), {
            ["1:15 the text has 2 places for values, but 1 is given"]
        });
    }
}
