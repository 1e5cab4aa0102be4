//! Mistakes in expressions and formulas.

use preempt_core::{Diagnostic, Span};

use super::super::cursor::Kind;
use super::super::{Parser, Reported};
use crate::ast::{Name, Probe, VarRef};
use crate::pretty;
use crate::token::{Keyword, Punct};

impl Parser<'_> {
    pub(in crate::parser) fn not_an_expression(&mut self) -> Reported {
        let span = self.span();
        let error = match self.peek() {
            Kind::Str => Diagnostic::error(span, "a string can stand only in `printf`")
                .hint("for named values declare an mtype: mtype = { red, green }"),
            Kind::P(Punct::NotNot) => {
                Diagnostic::error(span, "`!!` is one token in Promela: a sorted send").hint("write `! !x`")
            }
            Kind::P(punct @ (Punct::Inc | Punct::Dec)) => {
                let op = punct.text();
                Diagnostic::error(span, format!("`{op}` stands behind its variable"))
                    .hint(format!("write `x{op}` as a statement of its own"))
            }
            Kind::K(Keyword::Eval) => {
                Diagnostic::error(span, "`eval` can stand only among the arguments of a receive")
            }
            Kind::K(Keyword::If) => Diagnostic::error(span, "`if` is a statement, not an expression")
                .hint("a conditional value is written (condition -> a : b)"),
            Kind::P(Punct::RParen) if self.previous == Kind::P(Punct::LParen) => {
                Diagnostic::error(span, "nothing between the parentheses")
            }
            Kind::P(Punct::LBrace) if self.in_ltl => {
                Diagnostic::error(span, "a formula is grouped by ( and )")
            }
            _ => return self.unexpected("an expression"),
        };
        self.report(error)
    }

    /// `(a -> b)` without `: c`
    pub(in crate::parser) fn arrow_in_parentheses(&mut self, open: Span) -> Reported {
        let message = format!("expected `:` of a conditional expression, found {}", self.found());
        let error = Diagnostic::error(self.span(), message)
            .label(open, "`->` within parentheses chooses between two values")
            .hint("write (condition -> value : other value); \"implies\" is !a || b");
        self.report(error)
    }

    pub(in crate::parser) fn call_in_expression(&mut self) -> Reported {
        let span = self.span();
        let name = self.ident().unwrap_or_else(|| "".into());
        let error = if self.in_ltl && self.all_inlines.contains(&name) {
            Diagnostic::error(span, format!("the inline `{name}` cannot be called in a formula"))
        } else if self.all_inlines.contains(&name) {
            if self.inlines.contains_key(&name) {
                Diagnostic::error(span, format!("the inline `{name}` cannot be called within an expression"))
                    .hint(format!("assign its result first: x = {name}(...)"))
            } else {
                self.inline_defined_later(span, &name)
            }
        } else if self.all_processes.contains(&name) {
            Diagnostic::error(span, format!("`{name}` is a process type and is started with `run`"))
                .hint(format!("write run {name}(...)"))
        } else if let (true, Some((sign, means))) = (self.in_ltl, temporal_letter(&name)) {
            letter_for_operator(span, &name, sign, means)
        } else {
            let error =
                Diagnostic::error(span, format!("Promela has no functions: `{name}` cannot be called"));
            match self.misspelt(&name, FUNCTIONS) {
                Some(near) => error.hint(format!("did you mean `{near}`?")),
                None => error.hint("use a macro (#define) or an inline"),
            }
        };
        self.report(error)
    }

    pub(in crate::parser) fn inline_defined_later(&self, span: Span, name: &str) -> Diagnostic {
        Diagnostic::error(span, format!("the inline `{name}` is called before it is defined"))
            .hint("move its definition above this process")
    }

    /// `a ? b : c`, or a receive where a value is wanted.
    pub(in crate::parser) fn receive_in_expression(&mut self, start: Span) -> Reported {
        let error = Diagnostic::error(start.to(self.previous_span), "a receive (`?`) is not an expression");
        let error = if self.colon_on_this_line() {
            error.hint("a conditional value is written (condition -> a : b)")
        } else {
            error.hint("receive in a statement of its own, or ask with c?[x] whether it is possible")
        };
        self.report(error)
    }

    pub(super) fn colon_on_this_line(&self) -> bool {
        self.stream[self.pos..]
            .iter()
            .take_while(|token| !token.newline && !token.is(Punct::Semi))
            .any(|token| token.is(Punct::Colon))
    }

    pub(in crate::parser) fn second_index(&mut self) -> Reported {
        let error = Diagnostic::error(self.span(), "arrays have one dimension in Promela")
            .hint("put the inner array into a typedef: typedef row { byte cell[3] }; row rows[3]");
        self.report(error)
    }

    pub(in crate::parser) fn run_without_parentheses(&mut self, process: &Name) -> Reported {
        let message = format!("`run {}` needs its arguments in parentheses", process.text);
        let error = Diagnostic::error(process.span, message).hint(format!("write run {}()", process.text));
        self.report(error)
    }

    pub(in crate::parser) fn not_receivable(&mut self) -> Reported {
        self.unexpected_with("a variable, a constant or eval(...) to receive", |error| {
            error.hint("to match the value of an expression write eval(expression)")
        })
    }

    pub(in crate::parser) fn misplaced_probe(&mut self, probe: Probe, span: Span) -> Reported {
        let message = format!("`{}` can be joined only by `&&` and `||`", pretty::probe_word(probe));
        let error = Diagnostic::error(span, message)
            .hint("compare len(channel) instead; the opposite of full is nfull, of empty nempty");
        self.report(error)
    }

    pub(in crate::parser) fn negated_probe(
        &mut self,
        span: Span,
        probe: Probe,
        channel: &VarRef,
    ) -> Reported {
        let opposite = match probe {
            Probe::Full => Probe::NotFull,
            Probe::NotFull => Probe::Full,
            Probe::Empty => Probe::NotEmpty,
            Probe::NotEmpty => Probe::Empty,
        };
        let message = format!("`{}` cannot be negated", pretty::probe_word(probe));
        let hint = format!("write {}({})", pretty::probe_word(opposite), pretty::ref_text(channel));
        let error = Diagnostic::error(span, message).hint(hint);
        self.report(error)
    }

    pub(in crate::parser) fn formula_goes_on(&mut self, open: Span) -> Reported {
        let before = self.pos.checked_sub(1).and_then(|before| self.stream.get(before));
        let letter = before.and_then(|token| Some((token.span, token.ident()?.clone())));
        if let Some((span, name)) = letter
            && let Some((sign, means)) = temporal_letter(&name)
        {
            return self.report(letter_for_operator(span, &name, sign, means));
        }
        let conditional = self.at(Punct::Colon);
        self.unexpected_with("an operator or `}`", |error| {
            let error = error.label(open, "in the formula that starts here");
            if conditional {
                return error.hint("within `ltl` `->` means \"implies\"; there is no conditional value");
            }
            error
        })
    }
}

/// The letters that most books write for temporal operators, with the sign that Promela has, and what it means.
fn temporal_letter(name: &str) -> Option<(&'static str, &'static str)> {
    match name {
        "G" => Some(("[]", "always")),
        "F" => Some(("<>", "eventually")),
        "R" => Some(("V", "releases")),
        "N" => Some(("X", "next")),
        _ => None,
    }
}

fn letter_for_operator(span: Span, name: &str, sign: &str, means: &str) -> Diagnostic {
    let message = format!("`{name}` is no operator of a formula: \"{means}\" is written `{sign}`");
    Diagnostic::error(span, message).hint(match name {
        "R" => "write (p) V (q)".to_string(),
        _ => format!("write {sign} (...), with parentheses around what it is about"),
    })
}

/// Words that look like functions where a value is wanted.
const FUNCTIONS: &[Keyword] = &[
    Keyword::Len,
    Keyword::Full,
    Keyword::Empty,
    Keyword::Nfull,
    Keyword::Nempty,
    Keyword::Enabled,
    Keyword::PcValue,
    Keyword::GetPriority,
    Keyword::Eval,
];
