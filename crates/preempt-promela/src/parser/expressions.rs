//! Expressions, with the precedences of Spin's grammar.

use preempt_core::{Diagnostic, Span};

use super::cursor::Kind;
use super::operators::Infix;
use super::{EXPRESSION, MAX_HEIGHT, Parse, Parser};
use crate::ast::{BinaryOp, Expr, ExprKind, Probe, UnaryOp, VarRef};
use crate::token::{Keyword, Punct};

impl Parser<'_> {
    /// An expression in which `full(q)` and its like may stand, joined by `&&` and `||`.
    pub(super) fn full_expression(&mut self) -> Parse<Expr> {
        let left = self.unary()?;
        self.infix_rest(left, 0)
    }

    pub(super) fn expression(&mut self) -> Parse<Expr> {
        let expr = self.full_expression()?;
        self.no_probe(&expr)?;
        Ok(expr)
    }

    /// Goes on after a first operand.
    pub(super) fn infix_rest(&mut self, mut left: Expr, least: u8) -> Parse<Expr> {
        while let Some((infix, tokens)) = self.infix() {
            let level = infix.level();
            if level < least {
                break;
            }
            let left_height = self.height;
            for _ in 0..tokens {
                self.bump();
            }
            let right = self.unary()?;
            let right = self.infix_rest(right, level + 1)?;
            if !matches!(infix, Infix::Plain(BinaryOp::And | BinaryOp::Or)) {
                self.no_probe(&left)?;
                self.no_probe(&right)?;
            }
            let span = left.span.to(right.span);
            self.grow(left_height.max(self.height), span)?;
            left = Expr { kind: infix.build(Box::new(left), Box::new(right)), span };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parse<Expr> {
        self.nested(EXPRESSION, |p| p.unary_inner())
    }

    fn unary_inner(&mut self) -> Parse<Expr> {
        let op = match self.peek() {
            Kind::P(Punct::Minus) => UnaryOp::Negate,
            Kind::P(Punct::Tilde) => UnaryOp::Complement,
            Kind::P(Punct::Not) => UnaryOp::Not,
            _ if self.in_ltl => {
                return match self.ltl_prefix() {
                    Some((prefix, tokens)) => {
                        let start = self.span();
                        for _ in 0..tokens {
                            self.bump();
                        }
                        let operand = self.unary()?;
                        let span = start.to(operand.span);
                        self.grow(self.height, span)?;
                        Ok(Expr { kind: ExprKind::Temporal(prefix.build(Box::new(operand))), span })
                    }
                    None => self.primary(),
                };
            }
            _ => return self.primary(),
        };
        let start = self.bump();
        let operand = self.unary()?;
        if op == UnaryOp::Not
            && !self.in_ltl
            && let ExprKind::Probe(probe, channel) = &operand.kind
        {
            return Err(self.negated_probe(start.to(operand.span), *probe, channel));
        }
        self.no_probe(&operand)?;
        let span = start.to(operand.span);
        self.grow(self.height, span)?;
        Ok(Expr { kind: ExprKind::Unary(op, Box::new(operand)), span })
    }

    fn primary(&mut self) -> Parse<Expr> {
        let start = self.span();
        self.height = 1;
        let kind = match self.peek() {
            Kind::P(Punct::LParen) => return self.parenthesised(),
            Kind::Int(value) => {
                self.bump();
                ExprKind::Number(value)
            }
            Kind::K(Keyword::True | Keyword::Skip) | Kind::C => {
                self.bump();
                ExprKind::Number(1)
            }
            Kind::K(Keyword::False) => {
                self.bump();
                ExprKind::Number(0)
            }
            Kind::K(Keyword::Timeout) => {
                self.bump();
                ExprKind::Timeout
            }
            Kind::K(Keyword::Np) => {
                self.bump();
                ExprKind::NonProgress
            }
            Kind::Ident => return self.name_expression(),
            Kind::K(Keyword::Run) => self.run()?,
            Kind::K(Keyword::Len) => ExprKind::Len(self.channel_argument("len")?),
            Kind::K(keyword @ (Keyword::Full | Keyword::Empty | Keyword::Nfull | Keyword::Nempty)) => {
                let probe = match keyword {
                    Keyword::Full => Probe::Full,
                    Keyword::Empty => Probe::Empty,
                    Keyword::Nfull => Probe::NotFull,
                    _ => Probe::NotEmpty,
                };
                ExprKind::Probe(probe, self.channel_argument(keyword.text())?)
            }
            Kind::K(keyword @ (Keyword::Enabled | Keyword::PcValue | Keyword::GetPriority)) => {
                self.bump();
                let open = self.expect(Punct::LParen, &format!("after `{}`", keyword.text()))?;
                let argument = Box::new(self.expression()?);
                self.expect_close(Punct::RParen, open)?;
                self.grow(self.height, start)?;
                match keyword {
                    Keyword::Enabled => ExprKind::Enabled(argument),
                    Keyword::PcValue => ExprKind::PcValue(argument),
                    _ => ExprKind::GetPriority(argument),
                }
            }
            _ => return Err(self.not_an_expression()),
        };
        Ok(Expr { kind, span: start.to(self.previous_span) })
    }

    /// `(e)` or `(c -> a : b)`
    fn parenthesised(&mut self) -> Parse<Expr> {
        let open = self.bump();
        let mut inner = self.full_expression()?;
        if self.at(Punct::Arrow) && !self.in_ltl {
            self.no_probe(&inner)?;
            let mut height = self.height;
            // Spin reads several arrows as one.
            while self.eat(Punct::Arrow) {}
            let yes = self.expression()?;
            height = height.max(self.height);
            if !self.at(Punct::Colon) {
                return Err(self.arrow_in_parentheses(open));
            }
            self.bump();
            let no = self.expression()?;
            let close = self.expect_close(Punct::RParen, open)?;
            let span = open.to(close);
            self.grow(height.max(self.height), span)?;
            let kind = ExprKind::Conditional(Box::new(inner), Box::new(yes), Box::new(no));
            return Ok(Expr { kind, span });
        }
        let close = self.expect_close(Punct::RParen, open)?;
        inner.span = open.to(close);
        Ok(inner)
    }

    /// A variable, or what can only start with a name.
    fn name_expression(&mut self) -> Parse<Expr> {
        if self.call_follows() && self.message != Some(self.parens) {
            return Err(self.call_in_expression());
        }
        let reference = self.reference()?;
        self.after_reference(reference)
    }

    fn run(&mut self) -> Parse<ExprKind> {
        self.bump();
        let process = self.name("a process type after `run`")?;
        if !self.at(Punct::LParen) {
            return Err(self.run_without_parentheses(&process));
        }
        let open = self.bump();
        let args = if self.at(Punct::RParen) { Vec::new() } else { self.expressions()? };
        let height = if args.is_empty() { 1 } else { self.height };
        self.expect_close(Punct::RParen, open)?;
        let priority = self.priority()?.map(Box::new);
        self.grow(height, process.span)?;
        Ok(ExprKind::Run { process, args, priority })
    }

    /// `priority 3`
    pub(super) fn priority(&mut self) -> Parse<Option<Expr>> {
        if !self.at_keyword(Keyword::Priority) {
            return Ok(None);
        }
        self.bump();
        match self.peek() {
            Kind::Int(_) | Kind::Ident => self.primary().map(Some),
            _ => Err(self.unexpected("a number after `priority`")),
        }
    }

    /// One or more, between commas.
    pub(super) fn expressions(&mut self) -> Parse<Vec<Expr>> {
        let mut list = vec![self.expression()?];
        let mut height = self.height;
        while self.eat(Punct::Comma) {
            list.push(self.expression()?);
            height = height.max(self.height);
        }
        self.height = height;
        Ok(list)
    }

    fn channel_argument(&mut self, word: &str) -> Parse<VarRef> {
        self.bump();
        let open = self.expect(Punct::LParen, &format!("after `{word}`"))?;
        let channel = self.reference()?;
        self.expect_close(Punct::RParen, open)?;
        Ok(channel)
    }

    /// Spin lets `full(q)` and its like stand only in `&&` and `||`: elsewhere its reductions would be wrong.
    fn no_probe(&mut self, expr: &Expr) -> Parse<()> {
        if self.in_ltl {
            return Ok(());
        }
        match first_probe(expr) {
            Some((probe, span)) => Err(self.misplaced_probe(probe, span)),
            None => Ok(()),
        }
    }

    /// Sets the height of the expression just made, whose parts are `height` high.
    pub(super) fn grow(&mut self, height: usize, span: Span) -> Parse<()> {
        self.height = height + 1;
        if self.height > MAX_HEIGHT {
            let message = format!("this expression has more than {MAX_HEIGHT} operators in one another");
            let error = Diagnostic::error(span, message).hint("split it into several variables or macros");
            return Err(self.report(error));
        }
        Ok(())
    }
}

/// A probe that stands in the expression directly or within `&&` and `||`.
fn first_probe(expr: &Expr) -> Option<(Probe, Span)> {
    match &expr.kind {
        ExprKind::Probe(probe, _) => Some((*probe, expr.span)),
        ExprKind::Binary(BinaryOp::And | BinaryOp::Or, a, b) => first_probe(a).or_else(|| first_probe(b)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::ast::{Expr, ExprKind, Item, Stmt, StmtKind};
    use crate::parser::testing::{body, messages, program};
    use crate::pretty::expr_text;

    /// The expression with parentheses around every operator.
    fn full(expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Binary(_, a, b) => {
                let text = expr_text(&Expr {
                    kind: match &expr.kind {
                        ExprKind::Binary(op, ..) => ExprKind::Binary(*op, number(), number()),
                        _ => return String::new(),
                    },
                    span: expr.span,
                });
                format!("({}{}{})", full(a), text.trim_matches('0').trim(), full(b))
            }
            ExprKind::Unary(_, a) => format!("{}{}", &expr_text(expr)[..1], full(a)),
            _ => expr_text(expr),
        }
    }

    fn number() -> Box<Expr> {
        let span = preempt_core::Span::new(preempt_core::SourceId(0), 0, 0);
        Box::new(Expr { kind: ExprKind::Number(0), span })
    }

    #[track_caller]
    fn grouped(text: &str) -> String {
        let program = program(&format!("init {{ x = {text} }}"));
        let Item::Process(process) = &program.items[0] else { return String::new() };
        let [Stmt { kind: StmtKind::Assign { value, .. }, .. }] = &process.body[..] else {
            return String::new();
        };
        full(value)
    }

    #[test]
    fn operators_bind_as_in_c() {
        assert_eq!(grouped("a || b && c | d ^ e & f == g < h << i + j * k"), {
            "(a||(b&&(c|(d^(e&(f==(g<(h<<(i+(j*k))))))))))"
        });
        assert_eq!(grouped("a - b - c"), "((a-b)-c)");
        assert_eq!(grouped("a * b / c % d"), "(((a*b)/c)%d)");
        assert_eq!(grouped("a < b == c > d != e"), "(((a<b)==(c>d))!=e)");
        assert_eq!(grouped("!a == -b && ~c"), "((!a==-b)&&~c)");
        assert_eq!(grouped("- -a - -1"), "(--a--1)");
        assert_eq!(grouped("(a - (b - c))"), "(a-(b-c))");
    }

    #[test]
    fn everything_else_that_has_a_value() {
        for text in [
            "x = (a -> b : c)",
            "x = (a > 0 -> (b -> 1 : 2) : 3)",
            "run P(1,x) priority 3",
            "len(c) == 2 && full(c) || nempty(d[1])",
            "c?[a,b] && d??[eval(x),-1]",
            "timeout",
            "np_",
            "enabled(1) || pc_value(_pid) > get_priority(2)",
            "P[1]@L && P@L",
            "a[1].b.c[d[2]] > 0",
        ] {
            assert_eq!(body(text), text);
        }
        assert_eq!(body("c?[a(b, c)]"), "c?[a,b,c]");
        assert_eq!(body("true && false || skip"), "1 && 0 || 1");
        assert_eq!(body("'a' == x"), "97 == x");
    }

    #[test]
    fn a_process_before_a_colon_is_a_remote_reference() {
        let text = "proctype P() { byte v; skip } init { P:v == 1; P[2]:v[1] > 0; L: x }";
        assert_eq!(crate::parser::testing::outline_of_init(&program(text)), "P:v == 1; P[2]:v[1] > 0; L: x");
        assert_eq!(body("P: x"), "P: x");
        assert_eq!(body("x = (a -> P : q)"), "x = (a -> P : q)");
    }

    #[test]
    fn probes_join_only_by_and_and_or() {
        assert_eq!(messages("init { full(c) && (a || empty(c)) }"), [""; 0]);
        assert_eq!(messages("init { x = full(c) }"), [""; 0]);
        assert_eq!(messages("init { !full(c) }"), ["1:8 `full` cannot be negated"]);
        assert_eq!(messages("init { x + full(c) > 1 }"), ["1:12 `full` can be joined only by `&&` and `||`"]);
        assert_eq!(
            messages("init { run P(empty(c)) }"),
            ["1:14 `empty` can be joined only by `&&` and `||`"]
        );
    }
}
