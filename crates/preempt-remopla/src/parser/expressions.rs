//! Expressions by how strongly their operators bind, quantifiers, and places of variables.

use super::{Parsed, Parser};
use crate::ast::*;
use crate::lexer::{Kind, Token};

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

impl Parser {
    pub(super) fn place(&mut self) -> Parsed<Place> {
        let mut name = self.name("a variable")?;
        let mut indices = self.indices()?;
        if self.take(".") {
            let field = self.name("a field of the structure")?;
            name.text = format!("{}.{}", name.text, field.text);
            name.span = self.since(name.span);
            indices.extend(self.indices()?);
        }
        if self.is("'") {
            let hint = "assign the value to a variable first";
            return self.error(self.here(), "values after a step are not supported", hint);
        }
        Ok(Place { name, indices })
    }

    fn indices(&mut self) -> Parsed<Vec<Expr>> {
        let mut indices = Vec::new();
        while self.take("[") {
            indices.push(self.expression()?);
            if self.take(",") {
                indices.push(self.expression()?);
            }
            self.expect("]", "the index ends here")?;
        }
        Ok(indices)
    }

    pub(super) fn quantifier(&mut self) -> Parsed<Quantifier> {
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

    pub(super) fn expression(&mut self) -> Parsed<Expr> {
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
