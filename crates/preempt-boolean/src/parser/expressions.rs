//! Expressions, and how strongly the dialects bind their operators.

use super::{Parse, Parser};
use crate::Dialect;
use crate::ast::{At, Expr, ExprKind, Operator};
use crate::lexer::Sign;
use crate::print;
use preempt_core::{Diagnostic, Span};

/// A longer chain of operators than this would be too deep a tree,
const MAX_CHAIN: usize = 1_000;

/// and so are chains within chains.
const MAX_HEIGHT: usize = 1_500;

impl Dialect {
    /// The higher, the tighter. All operators of one strength group to the right; where that differs from a
    /// dialect's grammar (`=`, `!=`, `^`), the value is the same.
    fn strength(self, operator: Operator) -> u8 {
        match (self, operator) {
            (Dialect::Getafix, Operator::Implies) => 0,
            (Dialect::Getafix, Operator::Or) => 1,
            (Dialect::Getafix, Operator::Xor) => 2,
            (Dialect::Getafix, Operator::And) => 3,
            (Dialect::Getafix, Operator::Equal | Operator::Unequal) => 4,
            (Dialect::Satabs, Operator::Implies | Operator::Equal | Operator::Unequal) => 0,
            (Dialect::Satabs, Operator::Xor) => 1,
            (Dialect::Satabs, Operator::Or) => 2,
            (Dialect::Satabs, Operator::And) => 3,
        }
    }

    /// The order in which the operators of a chain are applied (Dijkstra's shunting yard): two orders that differ
    /// are two trees that differ.
    fn order(self, operators: &[Operator]) -> Vec<Item> {
        let (mut output, mut waiting) = (vec![Item::Operand], Vec::new());
        for (number, operator) in operators.iter().enumerate() {
            while let Some(top) = waiting.pop_if(|top: &mut usize| {
                let (top, new) = (operators[*top], *operator);
                // `&` and `|` group to the left, which people expect to see when the tree is printed.
                self.strength(top) > self.strength(new)
                    || (top == new && matches!(new, Operator::And | Operator::Or))
            }) {
                output.push(Item::Operator(top));
            }
            waiting.push(number);
            output.push(Item::Operand);
        }
        output.extend(waiting.into_iter().rev().map(Item::Operator));
        output
    }
}

/// In postfix order.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Item {
    Operand,
    Operator(usize),
}

impl Parser {
    pub(super) fn expr(&mut self) -> Parse<Expr> {
        self.nested(|parser| {
            let condition = parser.chain()?;
            if !parser.eat(Sign::Query) {
                return Ok(condition);
            }
            let then = parser.expr()?;
            parser.expect(Sign::Colon, "and the other value behind `?`")?;
            let otherwise = parser.expr()?;
            let at = At(condition.at.0.to(otherwise.at.0));
            let kind = ExprKind::Conditional(Box::new(condition), Box::new(then), Box::new(otherwise));
            Ok(Expr { kind, at })
        })
    }

    /// Operands with operators between them.
    fn chain(&mut self) -> Parse<Expr> {
        let mut operands = vec![self.operand()?];
        let mut operators = Vec::new();
        while let Some(operator) = self.operator() {
            if operators.len() >= MAX_CHAIN {
                return Err(self.error(&format!("more than {MAX_CHAIN} operators in a row")));
            }
            self.bump();
            operators.push(operator);
            operands.push(self.operand()?);
        }
        if operators.is_empty() {
            return operands.pop().ok_or(super::Reported);
        }
        let chosen = self.dialect.unwrap_or_default();
        let order = chosen.order(&operators);
        let differs = Dialect::ALL.iter().any(|other| other.order(&operators) != order);
        let expr = build(&order, &operators, operands);
        if height(&expr) > MAX_HEIGHT {
            return Err(self.error(&format!("more than {MAX_HEIGHT} operators within each other")));
        }
        if differs && self.dialect.is_none() {
            let message = "the dialects of Boolean programs group this differently";
            let warning = Diagnostic::warning(expr.at.0, message)
                .note(format!("read as {}", print::expr(&expr)))
                .hint("add parentheses, or choose with --dialect satabs or --dialect getafix");
            self.diagnostics.push(warning);
        }
        Ok(expr)
    }

    fn operator(&self) -> Option<Operator> {
        Some(match self.sign()? {
            Sign::Implies => Operator::Implies,
            Sign::Or => Operator::Or,
            Sign::Xor => Operator::Xor,
            Sign::And => Operator::And,
            Sign::Equal => Operator::Equal,
            Sign::Unequal => Operator::Unequal,
            _ => return None,
        })
    }

    fn operand(&mut self) -> Parse<Expr> {
        let start = self.span();
        let simple = |kind, span: Span| Ok(Expr { kind, at: At(span) });
        match self.sign() {
            Some(Sign::Not) => {
                return self.nested(|parser| {
                    parser.bump();
                    let inner = parser.operand()?;
                    let at = At(start.to(inner.at.0));
                    Ok(Expr { kind: ExprKind::Not(Box::new(inner)), at })
                });
            }
            Some(Sign::Star | Sign::Query) => return simple(ExprKind::Any, self.bump()),
            Some(Sign::Prime) => {
                self.bump();
                let name = self.name("a variable")?;
                return simple(ExprKind::Primed(name.text), start.to(name.at.0));
            }
            Some(Sign::LeftParen) => {
                self.bump();
                let inner = self.expr()?;
                if !self.eat(Sign::RightParen) {
                    let error =
                        Diagnostic::error(self.span(), "expected `)`").label(start, "to close this `(`");
                    return Err(self.report(error));
                }
                return Ok(inner);
            }
            Some(Sign::Unequal) => {
                return Err(self.error_with(
                    "an expression cannot begin with `!=`",
                    "write `! =` apart, or add what is compared",
                ));
            }
            _ => {}
        }
        match (self.number(), self.word()) {
            (Some("0"), _) | (_, Some("F")) => simple(ExprKind::Constant(false), self.bump()),
            (Some("1"), _) | (_, Some("T")) => simple(ExprKind::Constant(true), self.bump()),
            (Some(_), _) => Err(self.error("the only numbers are 0 and 1")),
            (_, Some("schoose")) => self.choose(),
            (_, Some(_)) => {
                let name = self.name("a variable")?;
                if self.at(Sign::LeftParen) {
                    return Err(self.error_with(
                        "a call is not part of an expression",
                        "assign its result to a variable first: x := f(y);",
                    ));
                }
                simple(ExprKind::Variable(name.text), name.at.0)
            }
            (None, None) => Err(self.unexpected("an expression")),
        }
    }

    fn choose(&mut self) -> Parse<Expr> {
        let start = self.bump();
        self.expect(Sign::LeftBracket, "behind `schoose`")?;
        let positive = self.expr()?;
        self.expect(Sign::Comma, "and a second condition: `schoose` has two")?;
        let negative = self.expr()?;
        self.expect(Sign::RightBracket, "behind the second condition of `schoose`")?;
        let kind = ExprKind::Choose(Box::new(positive), Box::new(negative));
        Ok(Expr { kind, at: At(start.to(self.previous())) })
    }
}

fn height(expr: &Expr) -> usize {
    match &expr.kind {
        ExprKind::Constant(_) | ExprKind::Any | ExprKind::Variable(_) | ExprKind::Primed(_) => 1,
        ExprKind::Not(inner) => 1 + height(inner),
        ExprKind::Binary(_, left, right) | ExprKind::Choose(left, right) => {
            1 + height(left).max(height(right))
        }
        ExprKind::Conditional(condition, then, otherwise) => {
            1 + height(condition).max(height(then)).max(height(otherwise))
        }
    }
}

fn build(order: &[Item], operators: &[Operator], operands: Vec<Expr>) -> Expr {
    let mut operands = operands.into_iter();
    let mut stack: Vec<Expr> = Vec::new();
    for item in order {
        let next = match item {
            Item::Operand => operands.next(),
            Item::Operator(number) => match (stack.pop(), stack.pop()) {
                (Some(right), Some(left)) => {
                    let at = At(left.at.0.to(right.at.0));
                    let kind = ExprKind::Binary(operators[*number], Box::new(left), Box::new(right));
                    Some(Expr { kind, at })
                }
                _ => None,
            },
        };
        stack.extend(next);
    }
    stack.pop().unwrap_or_else(|| Expr::constant(false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::lex;
    use preempt_core::SourceId;

    fn read(text: &str, dialect: Option<Dialect>) -> (String, usize) {
        let (tokens, _) = lex(&format!("void main() begin assume {text}; end"), SourceId(0));
        let (program, diagnostics) = crate::parser::program(tokens, SourceId(0), dialect);
        let crate::ast::StatementKind::Assume(expr) = &program.procedures[0].body[0].kind else {
            panic!("{diagnostics:?}")
        };
        (print::expr(expr), diagnostics.len())
    }

    #[test]
    fn the_dialects_differ() {
        for (text, satabs, getafix) in [
            ("a = b & c", "a = (b & c)", "(a = b) & c"),
            ("a | b != c", "(a | b) != c", "a | (b != c)"),
            ("a ^ b | c", "a ^ (b | c)", "(a ^ b) | c"),
            ("a = b => c", "a = (b => c)", "(a = b) => c"),
        ] {
            assert_eq!(read(text, Some(Dialect::Satabs)), (satabs.into(), 0), "{text}");
            assert_eq!(read(text, Some(Dialect::Getafix)), (getafix.into(), 0), "{text}");
            assert_eq!(read(text, None), (satabs.into(), 1), "{text}");
        }
    }

    #[test]
    fn where_they_agree_nothing_is_said() {
        for (text, expected) in [
            ("a | b & c", "a | (b & c)"),
            ("a & b & c", "(a & b) & c"),
            ("a => b => c", "a => (b => c)"),
            ("a => b | !c", "a => (b | !c)"),
            ("(a = b) & c", "(a = b) & c"),
            ("a != b = c", "a != (b = c)"),
            ("* ? a : b", "* ? a : b"),
            ("! ! a", "!!a"),
            ("schoose[a & b, *]", "schoose[a & b, *]"),
        ] {
            assert_eq!(read(text, None), (expected.into(), 0), "{text}");
        }
    }
}
