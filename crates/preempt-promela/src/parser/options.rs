//! The options of `if` and `do`.

use preempt_core::Diagnostic;

use super::cursor::Kind;
use super::{Open, Parse, Parser};
use crate::ast::{BinaryOp, Expr, ExprKind, Stmt, StmtKind, VarRef};
use crate::token::{Keyword, Punct};

impl Parser<'_> {
    /// The options of `if` or `do`, up to and with its closing word.
    pub(super) fn options(&mut self, open: Open) -> Parse<Vec<Vec<Stmt>>> {
        let owner = self.bump();
        let close = if open == Open::If { Keyword::Fi } else { Keyword::Od };
        let mut options = Vec::new();
        let missing_separator = !self.at(Punct::Sep) && !self.at_keyword(close);
        if missing_separator {
            self.first_option(open, owner)?;
        }
        self.open.push(open);
        if missing_separator {
            // The statements are read as if `::` stood before them.
            options.push(self.sequence());
        }
        loop {
            let errors = self.diagnostics.len();
            match self.peek() {
                Kind::K(keyword) if keyword == close => {
                    self.bump();
                    if options.is_empty() {
                        self.no_options(open, owner);
                    }
                    break;
                }
                Kind::P(Punct::Sep) => {
                    self.bump();
                    let option = self.sequence();
                    if option.is_empty() && errors == self.diagnostics.len() {
                        self.empty_option();
                    }
                    options.push(option);
                }
                // What is closed here was never open, for the options go on behind it.
                Kind::P(Punct::RBrace)
                    if self.raw(1) == Kind::P(Punct::Sep) || self.raw(1) == Kind::K(close) =>
                {
                    self.stray();
                }
                Kind::K(keyword @ (Keyword::Fi | Keyword::Od)) => {
                    let other = if keyword == Keyword::Fi { Open::If } else { Open::Do };
                    if self.open[..self.open.len() - 1].contains(&other) {
                        self.missing_close(open, owner);
                        break;
                    }
                    if self.raw(1) == Kind::P(Punct::Sep) {
                        self.stray();
                    } else {
                        self.wrong_close(open, owner);
                        break;
                    }
                }
                _ => {
                    self.missing_close(open, owner);
                    break;
                }
            }
        }
        self.open.pop();
        self.check_options(&options);
        Ok(options)
    }

    /// The first thing in an option, when `->` follows it.
    pub(super) fn check_guard(&mut self, list: &[Stmt]) {
        if let ([Stmt { kind: StmtKind::Assign { .. }, span, labels }], Some(Open::If | Open::Do)) =
            (list, self.open.last())
            && labels.is_empty()
        {
            self.assigning_guards.push(*span);
        }
    }

    /// An assignment before `->` is fine, but where another option compares the same variable it was probably meant
    /// as a comparison too.
    fn check_options(&mut self, options: &[Vec<Stmt>]) {
        for option in options {
            let Some(Stmt { kind: StmtKind::Assign { target, .. }, span, .. }) = option.first() else {
                continue;
            };
            let compared = |other: &Vec<Stmt>| matches!(other.first(), Some(Stmt { kind: StmtKind::Guard(guard), .. }) if compares(guard, target));
            if self.assigning_guards.contains(span) && options.iter().any(compared) {
                let warning =
                    Diagnostic::warning(*span, "this guard is an assignment: it is always executable")
                        .hint("to compare write `==`; if the assignment is meant, put `;` behind it");
                self.push(warning);
            }
        }
    }
}

fn compares(guard: &Expr, target: &VarRef) -> bool {
    let same = |side: &Expr| {
        let name = |reference: &VarRef| reference.parts.first().map(|part| part.name.text.clone());
        matches!(&side.kind, ExprKind::Ref(reference) if name(reference) == name(target))
    };
    match &guard.kind {
        ExprKind::Binary(
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge,
            left,
            right,
        ) => same(left) || same(right),
        _ => false,
    }
}
