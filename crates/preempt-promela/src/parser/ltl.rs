//! `ltl` formulas: the operators and words that mean something only there.

use super::cursor::Kind;
use super::operators::Infix;
use super::{Parse, Parser};
use crate::ast::{Expr, Ltl, Name, Temporal};
use crate::token::Punct;

#[derive(Debug, Clone, Copy)]
pub(super) enum Prefix {
    Always,
    Eventually,
    Next,
}

impl Prefix {
    pub(super) fn build(self, operand: Box<Expr>) -> Temporal {
        match self {
            Prefix::Always => Temporal::Always(operand),
            Prefix::Eventually => Temporal::Eventually(operand),
            Prefix::Next => Temporal::Next(operand),
        }
    }
}

impl Parser<'_> {
    /// `ltl name { formula }`
    pub(super) fn ltl(&mut self) -> Parse<Ltl> {
        let span = self.bump();
        let name = self.ident().map(|text| Name { text: text.to_string(), span: self.bump() });
        self.in_ltl = true;
        if !self.at(Punct::LBrace) {
            return Err(self.unexpected_with("`{` before the formula", |error| {
                error.hint("write ltl name { formula }")
            }));
        }
        let open = self.bump();
        let formula = self.full_expression()?;
        self.eat(Punct::Semi);
        if !self.at(Punct::RBrace) {
            return Err(self.formula_goes_on(open));
        }
        self.bump();
        Ok(Ltl { name, formula, span })
    }

    /// A formula that is the whole text.
    pub(super) fn whole_formula(&mut self) -> Parse<Expr> {
        self.in_ltl = true;
        let formula = self.full_expression()?;
        self.eat(Punct::Semi);
        if self.peek() != Kind::Eof {
            return Err(self.unexpected("the end of the formula"));
        }
        Ok(formula)
    }

    /// The operator here and how many tokens it has: `[]` and `<>` are read as two.
    pub(super) fn ltl_prefix(&self) -> Option<(Prefix, usize)> {
        match (self.raw(0), self.raw(1)) {
            (Kind::P(Punct::LBracket), Kind::P(Punct::RBracket)) => Some((Prefix::Always, 2)),
            (Kind::P(Punct::Lt), Kind::P(Punct::Gt)) => Some((Prefix::Eventually, 2)),
            (Kind::Ident, _) => match &*self.ident()? {
                "always" => Some((Prefix::Always, 1)),
                "eventually" => Some((Prefix::Eventually, 1)),
                "X" | "next" => Some((Prefix::Next, 1)),
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn ltl_infix(&self) -> Option<(Infix, usize)> {
        match (self.raw(0), self.raw(1)) {
            (Kind::P(Punct::Arrow), _) => Some((Infix::Implies, 1)),
            (Kind::P(Punct::Lt), Kind::P(Punct::Arrow)) => Some((Infix::Equivalent, 2)),
            (Kind::Ident, _) => match &*self.ident()? {
                "U" | "until" | "stronguntil" => Some((Infix::Until, 1)),
                "V" | "release" => Some((Infix::Release, 1)),
                "W" | "weakuntil" => Some((Infix::WeakUntil, 1)),
                "implies" => Some((Infix::Implies, 1)),
                "equivalent" => Some((Infix::Equivalent, 1)),
                _ => None,
            },
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ast::{ExprKind, Item, Temporal};
    use crate::parser::testing::{messages, program};
    use crate::pretty::expr_text;

    #[track_caller]
    fn formula(text: &str) -> String {
        match &program(&format!("ltl name {{ {text} }}")).items[..] {
            [Item::Ltl(ltl)] => expr_text(&ltl.formula),
            _ => String::new(),
        }
    }

    #[test]
    fn words_and_signs_mean_the_same() {
        assert_eq!(formula("always eventually next p"), "[] <> X p");
        assert_eq!(formula("[]<>Xp"), "[] <> Xp");
        assert_eq!(formula("p until q && p release q || p weakuntil q"), "p U q && p V q || p W q");
        assert_eq!(formula("p implies q equivalent r"), "p -> q <-> r");
        assert_eq!(formula("p stronguntil q;"), "p U q");
        assert_eq!(formula("a<b && a<-1 && b <-> c"), "a < b && a < -1 && b <-> c");
    }

    #[test]
    fn operators_bind_as_in_the_grammar() {
        assert_eq!(formula("[] (p -> <> q)"), "[] (p -> <> q)");
        assert_eq!(formula("([] p) U q"), "[] p U q");
        assert_eq!(formula("p -> (q -> r)"), "p -> (q -> r)");
        assert_eq!(formula("(p -> q) -> r"), "p -> q -> r");
        assert_eq!(formula("(p && q) U r"), "(p && q) U r");
        assert_eq!(formula("p U (q U r)"), "p U (q U r)");
        assert_eq!(formula("(a | b) U !c"), "a | b U !c");
        assert_eq!(formula("[] full(c) && P[1]@L"), "[] full(c) && P[1]@L");
        let program = program("ltl { p && q U r }");
        let Item::Ltl(ltl) = &program.items[0] else { panic!() };
        let ExprKind::Binary(_, _, right) = &ltl.formula.kind else { panic!("{ltl:?}") };
        assert!(matches!(right.kind, ExprKind::Temporal(Temporal::Until(..))));
    }

    #[test]
    fn outside_of_formulas_the_words_are_names() {
        assert_eq!(messages("byte X, U, V, W, next, always, until, in; init { X = U; in = next }"), [""; 0]);
    }

    #[test]
    fn processes_are_known_even_before_they_are_defined() {
        assert_eq!(messages("ltl { [] P[0]:x > 1 }\nproctype P() { int x }"), [""; 0]);
    }

    #[test]
    fn there_is_no_conditional_value() {
        assert_eq!(messages("ltl { (a -> b : c) }"), ["1:15 expected `)`, found `:`"]);
    }
}
