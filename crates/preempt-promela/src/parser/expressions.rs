//! Expressions, with the precedences of Spin's grammar.

use preempt_core::{Diagnostic, Span};

use super::cursor::Kind;
use super::{EXPRESSION, MAX_HEIGHT, Parse, Parser};
use crate::ast::{BinaryOp, Expr, ExprKind, Name, Probe, ReceiveArg, RefPart, Temporal, UnaryOp, VarRef};
use crate::token::{Keyword, Punct};

/// An infix operator; the temporal ones only within `ltl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Infix {
    Plain(BinaryOp),
    Implies,
    Equivalent,
    Until,
    Release,
    WeakUntil,
}

impl Infix {
    /// Higher binds tighter; all are left-associative.
    pub(super) fn level(self) -> u8 {
        use BinaryOp::*;
        match self {
            Infix::Implies | Infix::Equivalent => 1,
            Infix::Plain(Or) => 2,
            Infix::Plain(And) => 3,
            Infix::Until | Infix::Release | Infix::WeakUntil => 4,
            Infix::Plain(BitOr) => 5,
            Infix::Plain(BitXor) => 6,
            Infix::Plain(BitAnd) => 7,
            Infix::Plain(Eq | Ne) => 8,
            Infix::Plain(Lt | Le | Gt | Ge) => 9,
            Infix::Plain(ShiftLeft | ShiftRight) => 10,
            Infix::Plain(Add | Sub) => 11,
            Infix::Plain(Mul | Div | Rem) => 12,
        }
    }

    fn build(self, left: Box<Expr>, right: Box<Expr>) -> ExprKind {
        match self {
            Infix::Plain(op) => ExprKind::Binary(op, left, right),
            Infix::Implies => ExprKind::Temporal(Temporal::Implies(left, right)),
            Infix::Equivalent => ExprKind::Temporal(Temporal::Equivalent(left, right)),
            Infix::Until => ExprKind::Temporal(Temporal::Until(left, right)),
            Infix::Release => ExprKind::Temporal(Temporal::Release(left, right)),
            Infix::WeakUntil => ExprKind::Temporal(Temporal::WeakUntil(left, right)),
        }
    }
}

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

    /// The operator here and how many tokens it has.
    fn infix(&self) -> Option<(Infix, usize)> {
        use BinaryOp::*;
        if self.in_ltl
            && let Some(found) = self.ltl_infix()
        {
            return Some(found);
        }
        let Kind::P(punct) = self.peek() else { return None };
        let op = match punct {
            Punct::OrOr => Or,
            Punct::AndAnd => And,
            Punct::Pipe => BitOr,
            Punct::Caret => BitXor,
            Punct::Amp => BitAnd,
            Punct::Eq => Eq,
            Punct::Ne => Ne,
            Punct::Lt => Lt,
            Punct::Le => Le,
            Punct::Gt => Gt,
            Punct::Ge => Ge,
            Punct::Shl => ShiftLeft,
            Punct::Shr => ShiftRight,
            Punct::Plus => Add,
            Punct::Minus => Sub,
            Punct::Star => Mul,
            Punct::Slash => Div,
            Punct::Percent => Rem,
            _ => return None,
        };
        Some((Infix::Plain(op), 1))
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

    /// An expression that starts with the given reference: a remote reference, a poll, or a variable.
    pub(super) fn after_reference(&mut self, reference: VarRef) -> Parse<Expr> {
        let start = reference.span;
        let kind = match self.peek() {
            Kind::P(Punct::At) => {
                self.bump();
                let label = self.name("a label after `@`")?;
                let (process, pid) = self.remote(reference)?;
                ExprKind::RemoteLabel { process, pid, label }
            }
            Kind::P(Punct::Colon) if self.names_process(&reference) => {
                self.bump();
                let variable = self.reference()?;
                let (process, pid) = self.remote(reference)?;
                ExprKind::RemoteVariable { process, pid, variable }
            }
            Kind::P(punct @ (Punct::Query | Punct::QueryQuery)) => {
                self.bump();
                if !self.at(Punct::LBracket) {
                    return Err(self.receive_in_expression(start));
                }
                let open = self.bump();
                let args = self.receive_arguments()?;
                self.expect_close(Punct::RBracket, open)?;
                ExprKind::Poll { channel: reference, random: punct == Punct::QueryQuery, args }
            }
            _ => ExprKind::Ref(reference),
        };
        Ok(Expr { kind, span: start.to(self.previous_span) })
    }

    fn names_process(&self, reference: &VarRef) -> bool {
        let known = if self.in_ltl { &self.all_processes } else { &self.processes };
        matches!(&reference.parts[..], [part] if known.contains(part.name.text.as_str()))
    }

    fn remote(&mut self, reference: VarRef) -> Parse<(Name, Option<Box<Expr>>)> {
        let span = reference.span;
        let mut parts = reference.parts.into_iter();
        match (parts.next(), parts.next()) {
            (Some(part), None) => Ok((part.name, part.index)),
            _ => Err(self.report(
                Diagnostic::error(span, "a remote reference starts with a process type")
                    .hint("write P[pid]@label or P[pid]:variable"),
            )),
        }
    }

    /// `a[i].b`
    pub(super) fn reference(&mut self) -> Parse<VarRef> {
        let start = self.span();
        let mut parts = Vec::new();
        let mut height = 1;
        loop {
            let name = self.name("a variable")?;
            let mut index = None;
            if self.at(Punct::LBracket) {
                let open = self.bump();
                // The index is an ordinary expression even within `ltl`, except for the temporal words.
                index = Some(Box::new(self.expression()?));
                height = height.max(self.height + 1);
                self.expect_close(Punct::RBracket, open)?;
                if self.at(Punct::LBracket) && !self.in_ltl {
                    return Err(self.second_index());
                }
            }
            parts.push(RefPart { name, index });
            if !self.eat(Punct::Dot) {
                break;
            }
        }
        self.height = height;
        self.grow(height, start)?;
        Ok(VarRef { parts, span: start.to(self.previous_span) })
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

    /// What a receive takes: `a, b`, `a(b, c)` and `(a, b)` all mean the same.
    pub(super) fn receive_arguments(&mut self) -> Parse<Vec<ReceiveArg>> {
        let mut args = Vec::new();
        self.receive_arguments_into(&mut args)?;
        Ok(args)
    }

    fn receive_arguments_into(&mut self, args: &mut Vec<ReceiveArg>) -> Parse<()> {
        loop {
            if !self.at(Punct::LParen) {
                let arg = self.receive_argument()?;
                args.push(arg);
            }
            if self.at(Punct::LParen) {
                let open = self.bump();
                self.nested(EXPRESSION, |p| p.receive_arguments_into(args))?;
                self.expect_close(Punct::RParen, open)?;
                return Ok(());
            }
            if !self.eat(Punct::Comma) {
                return Ok(());
            }
        }
    }

    fn receive_argument(&mut self) -> Parse<ReceiveArg> {
        let start = self.span();
        let constant = match self.peek() {
            Kind::Int(value) => value,
            Kind::K(Keyword::True | Keyword::Skip) => 1,
            Kind::K(Keyword::False) => 0,
            Kind::P(Punct::Minus) => {
                self.bump();
                let Kind::Int(value) = self.peek() else {
                    return Err(self.unexpected("a number after `-`"));
                };
                value.wrapping_neg()
            }
            Kind::K(Keyword::Eval) => {
                self.bump();
                let open = self.expect(Punct::LParen, "after `eval`")?;
                let expr = self.expression()?;
                self.expect_close(Punct::RParen, open)?;
                return Ok(ReceiveArg::Eval(expr));
            }
            Kind::Ident => return Ok(ReceiveArg::Ref(self.reference()?)),
            _ => return Err(self.not_receivable()),
        };
        self.bump();
        Ok(ReceiveArg::Constant(constant, start.to(self.previous_span)))
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
    fn grow(&mut self, height: usize, span: Span) -> Parse<()> {
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
