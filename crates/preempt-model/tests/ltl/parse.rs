//! Formulas as text, so that lists of them can be read.

use preempt_model::property::Ltl;
use preempt_model::{Expr, Place, Scope, Type};

/// The atom with this number.
pub fn atom(number: u32) -> Expr {
    Expr::load(Place::scalar(Scope::Global, number, Type::INT))
}

/// The atoms that formulas are made of, named by the letters from `a`.
pub fn atoms(count: u32) -> Vec<Expr> {
    (0..count).map(atom).collect()
}

/// The name of an atom.
pub fn name(expr: &Expr) -> String {
    match expr {
        Expr::Load(place) => char::from_u32('a' as u32 + place.slot).unwrap_or('?').to_string(),
        other => format!("{other:?}"),
    }
}

/// Parses a formula: letters are atoms, `V` is release; from tight to loose: the prefix operators, `U V W`, `&&`,
/// `||`, `->` and `<->`.
pub fn formula(text: &str) -> Ltl {
    let mut parser = Parser { text, at: 0 };
    let formula = parser.binary(0);
    assert_eq!(parser.at, text.len(), "{text}");
    formula
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

const LEVELS: [&[&str]; 4] = [&["<->", "->"], &["||"], &["&&"], &["U", "V", "W"]];

impl Parser<'_> {
    fn eat(&mut self, token: &str) -> bool {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        let found = self.text[self.at..].starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn binary(&mut self, level: usize) -> Ltl {
        let Some(ops) = LEVELS.get(level) else { return self.unary() };
        let left = self.binary(level + 1);
        let Some(op) = ops.iter().find(|op| self.eat(op)) else { return left };
        // All associate to the right; for those where that matters, the lists have parentheses.
        let (left, right) = (Box::new(left), Box::new(self.binary(level)));
        match *op {
            "<->" => Ltl::Equivalent(left, right),
            "->" => Ltl::Implies(left, right),
            "||" => Ltl::Or(left, right),
            "&&" => Ltl::And(left, right),
            "U" => Ltl::Until(left, right),
            "V" => Ltl::Release(left, right),
            _ => Ltl::WeakUntil(left, right),
        }
    }

    fn unary(&mut self) -> Ltl {
        for (token, make) in [
            ("!", Ltl::Not as fn(Box<Ltl>) -> Ltl),
            ("[]", Ltl::Always),
            ("<>", Ltl::Eventually),
            ("X", Ltl::Next),
        ] {
            if self.eat(token) {
                return make(Box::new(self.unary()));
            }
        }
        if self.eat("(") {
            let inner = self.binary(0);
            assert!(self.eat(")"), "{}", self.text);
            return inner;
        }
        for (token, value) in [("true", 1), ("false", 0)] {
            if self.eat(token) {
                return Ltl::Atom(Expr::Const(value));
            }
        }
        let letter = self.text[self.at..].chars().next().filter(char::is_ascii_lowercase);
        let letter = letter.unwrap_or_else(|| panic!("{} at {}", self.text, self.at));
        self.at += 1;
        Ltl::Atom(atom(letter as u32 - 'a' as u32))
    }
}

#[test]
fn a_formula_is_shown_as_it_is_parsed() {
    for text in ["[](p -> <>q)", "!p && X (q U (r V s))", "(p W q) <-> []<>!r", "(p -> q) || ((p && q) && r)"]
    {
        assert_eq!(formula(text).display(name).to_string(), text);
    }
    let shown = formula("p U q").display(|_| "x == 1".to_string()).to_string();
    assert_eq!(shown, "(x == 1) U (x == 1)");
}
