//! What is printed is read back as the same tree.

use super::*;
use crate::ast::{Item, RefPart};
use crate::{Macros, parse_ltl};
use preempt_core::{Rng, SourceId, SourceMap, Span};

const SPAN: Span = Span { source: SourceId(0), start: 0, end: 0, expansion: preempt_core::ExpansionId(0) };

fn name(text: &str) -> Name {
    Name { text: text.into(), span: SPAN }
}

fn reference(rng: &mut Rng, depth: u32, ltl: bool) -> VarRef {
    let mut parts = Vec::new();
    for _ in 0..=rng.below(2) {
        let index = (depth > 0 && rng.below(3) == 0).then(|| Box::new(plain(rng, depth - 1, ltl)));
        parts.push(RefPart { name: name(["a", "b", "c"][rng.below(3)]), index });
    }
    VarRef { parts, span: SPAN }
}

fn args(rng: &mut Rng, depth: u32, ltl: bool) -> Vec<ReceiveArg> {
    (0..=rng.below(2))
        .map(|_| match rng.below(3) {
            0 => ReceiveArg::Ref(reference(rng, depth, ltl)),
            1 => ReceiveArg::Eval(plain(rng, depth, ltl)),
            _ => ReceiveArg::Constant(rng.below(9) as i32 - 4, SPAN),
        })
        .collect()
}

const OPS: [BinaryOp; 18] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::Div,
    BinaryOp::Rem,
    BinaryOp::BitAnd,
    BinaryOp::BitXor,
    BinaryOp::BitOr,
    BinaryOp::ShiftLeft,
    BinaryOp::ShiftRight,
    BinaryOp::Lt,
    BinaryOp::Le,
    BinaryOp::Gt,
    BinaryOp::Ge,
    BinaryOp::Eq,
    BinaryOp::Ne,
    BinaryOp::And,
    BinaryOp::Or,
];

/// An expression without probes at its top, temporal if `ltl`.
fn plain(rng: &mut Rng, depth: u32, ltl: bool) -> Expr {
    let below = depth.saturating_sub(1);
    let sub = |rng: &mut Rng| Box::new(plain(rng, below, ltl));
    let kind = if depth == 0 {
        match rng.below(4) {
            0 => ExprKind::Number(rng.below(1000) as i32),
            1 => ExprKind::Timeout,
            2 => ExprKind::NonProgress,
            _ => ExprKind::Ref(reference(rng, 0, ltl)),
        }
    } else {
        match rng.below(if ltl { 20 } else { 15 }) {
            0..=4 => ExprKind::Binary(OPS[rng.below(18)], sub(rng), sub(rng)),
            5 | 6 => {
                let ops = [UnaryOp::Not, UnaryOp::Negate, UnaryOp::Complement];
                ExprKind::Unary(ops[rng.below(3)], sub(rng))
            }
            7 if !ltl => ExprKind::Conditional(sub(rng), sub(rng), sub(rng)),
            7 | 8 => ExprKind::Run {
                process: name("P"),
                args: (0..rng.below(3)).map(|_| *sub(rng)).collect(),
                priority: (rng.below(2) == 0)
                    .then(|| Box::new(Expr { kind: ExprKind::Number(3), span: SPAN })),
            },
            9 => ExprKind::Len(reference(rng, below, ltl)),
            10 => {
                let random_receive = rng.below(2) == 0;
                ExprKind::Poll {
                    channel: reference(rng, below, ltl),
                    random: random_receive,
                    args: args(rng, below, ltl),
                }
            }
            11 => ExprKind::Enabled(sub(rng)),
            12 => ExprKind::PcValue(sub(rng)),
            13 => {
                let pid = (rng.below(2) == 0).then(|| Box::new(plain(rng, below, ltl)));
                ExprKind::RemoteLabel { process: name("P"), pid, label: name("L") }
            }
            14 => ExprKind::RemoteVariable {
                process: name("P"),
                pid: None,
                variable: reference(rng, below, ltl),
            },
            15 => ExprKind::Temporal(Temporal::Always(sub(rng))),
            16 => ExprKind::Temporal(Temporal::Eventually(sub(rng))),
            17 => ExprKind::Temporal(Temporal::Next(sub(rng))),
            18 => ExprKind::Temporal(match rng.below(3) {
                0 => Temporal::Until(sub(rng), sub(rng)),
                1 => Temporal::Release(sub(rng), sub(rng)),
                _ => Temporal::WeakUntil(sub(rng), sub(rng)),
            }),
            _ => ExprKind::Temporal(match rng.below(2) {
                0 => Temporal::Implies(sub(rng), sub(rng)),
                _ => Temporal::Equivalent(sub(rng), sub(rng)),
            }),
        }
    };
    Expr { kind, span: SPAN }
}

/// The tree without its places.
fn shape(expr: &Expr) -> String {
    let mut text = format!("{expr:?}");
    while let Some(start) = text.find("Span {") {
        let length = text[start..].find('}').map_or(text.len() - start, |end| end + 1);
        text.replace_range(start..start + length, "-");
    }
    text
}

fn macros() -> (SourceMap, Macros) {
    let mut sources = SourceMap::new();
    let mut read = |_: &str| Err(String::new());
    let parsed = crate::parse_model(&mut sources, "m", "proctype P() { skip }", &[], &mut read);
    (sources, parsed.macros)
}

#[test]
fn printed_formulas_are_read_back() {
    let (mut sources, macros) = macros();
    let mut rng = Rng::new(1);
    for round in 0..4000 {
        let expr = plain(&mut rng, round % 6, true);
        let text = expr_text(&expr);
        let (back, diagnostics) = parse_ltl(&mut sources, "f", &text, &macros);
        assert_eq!(diagnostics, [], "{text}");
        assert_eq!(back.map(|e| shape(&e)), Some(shape(&expr)), "{text}");
    }
}

#[test]
fn printed_expressions_are_read_back() {
    let mut rng = Rng::new(2);
    for round in 0..4000 {
        let expr = plain(&mut rng, round % 6, false);
        let text = expr_text(&expr);
        let mut sources = SourceMap::new();
        let mut read = |_: &str| Err(String::new());
        let model = format!("proctype P() {{ skip }} init {{ {text} }}");
        let (program, diagnostics) = crate::parse(&mut sources, "m", &model, &[], &mut read);
        assert_eq!(diagnostics, [], "{text}");
        let Item::Process(init) = &program.items[1] else { panic!("{text}") };
        let StmtKind::Guard(back) = &init.body[0].kind else { panic!("{text}") };
        assert_eq!(shape(back), shape(&expr), "{text}");
    }
}

#[test]
fn parentheses_are_few_but_enough() {
    let (mut sources, macros) = macros();
    for (text, printed) in [
        ("(a + b) * c", "(a + b) * c"),
        ("(a * b) + c", "a * b + c"),
        ("a - (b - c)", "a - (b - c)"),
        ("!(a && b)", "!(a && b)"),
        ("- (-a)", "- -a"),
        ("!(!a)", "! !a"),
        ("-(5)", "-5"),
    ] {
        let (expr, _) = parse_ltl(&mut sources, "f", text, &macros);
        assert_eq!(expr.map(|e| expr_text(&e)).as_deref(), Some(printed));
    }
}

#[test]
fn a_formula_uses_the_models_macros() {
    let mut sources = SourceMap::new();
    let mut read = |_: &str| Err(String::new());
    let model = "#define p (x > 0)\n#define at(i) P[i]@L\nproctype P() { L: skip }";
    let parsed = crate::parse_model(&mut sources, "m", model, &[], &mut read);
    let (formula, diagnostics) = parse_ltl(&mut sources, "formula", "[] p -> at(1)", &parsed.macros);
    assert_eq!(diagnostics, []);
    assert_eq!(formula.map(|f| expr_text(&f)).as_deref(), Some("[] (x > 0) -> P[1]@L"));
    let (formula, diagnostics) = parse_ltl(&mut sources, "formula", "[] p q", &parsed.macros);
    assert!(formula.is_none());
    assert_eq!(diagnostics[0].message, "expected the end of the formula, found `q`");
}
