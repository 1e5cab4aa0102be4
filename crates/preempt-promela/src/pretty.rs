//! Expressions and statements as Promela text again: one line each, with the fewest parentheses.

use crate::ast::{
    BinaryOp, Expr, ExprKind, Name, Probe, ReceiveArg, Stmt, StmtKind, Temporal, TypeName, UnaryOp, VarRef,
    Visibility,
};
use crate::ast::{Declaration, Initializer};

/// How tightly the operators bind, as in the grammar; a unary operator binds tightest.
const UNARY: u8 = 13;

pub fn expr_text(expr: &Expr) -> String {
    let mut out = String::new();
    write_expr(&mut out, expr, 0);
    out
}

pub fn ref_text(reference: &VarRef) -> String {
    let mut out = String::new();
    write_ref(&mut out, reference);
    out
}

/// The statement as one line; of a compound statement only its first word.
pub fn stmt_text(stmt: &Stmt) -> String {
    match &stmt.kind {
        StmtKind::Declare(declaration) => declaration_text(declaration),
        StmtKind::Exclusive { receive, channels } => {
            let list: Vec<_> = channels.iter().map(ref_text).collect();
            format!("{} {}", if *receive { "xr" } else { "xs" }, list.join(", "))
        }
        StmtKind::Guard(expr) => expr_text(expr),
        StmtKind::Else => "else".into(),
        StmtKind::Assign { target, value } => format!("{} = {}", ref_text(target), expr_text(value)),
        StmtKind::Increment(target) => format!("{}++", ref_text(target)),
        StmtKind::Decrement(target) => format!("{}--", ref_text(target)),
        StmtKind::Assert(expr) => format!("assert({})", expr_text(expr)),
        StmtKind::Printf { format, args } => {
            let args: String = args.iter().map(|arg| format!(", {}", expr_text(arg))).collect();
            format!("printf({}{args})", quoted(format))
        }
        StmtKind::Printm(expr) => format!("printm({})", expr_text(expr)),
        StmtKind::Send { channel, sorted, args } => {
            let args = list_text(args);
            // `c! !x` must not become a sorted send.
            let gap = if args.starts_with('!') { " " } else { "" };
            format!("{}{}{gap}{args}", ref_text(channel), if *sorted { "!!" } else { "!" })
        }
        StmtKind::Receive { channel, random, keep, args } => {
            let (open, close) = if *keep { ("<", ">") } else { ("", "") };
            let mark = if *random { "??" } else { "?" };
            format!("{}{mark}{open}{}{close}", ref_text(channel), receive_text(args))
        }
        StmtKind::If(_) => "if".into(),
        StmtKind::Do(_) => "do".into(),
        StmtKind::Break => "break".into(),
        StmtKind::Goto(label) => format!("goto {}", label.text),
        StmtKind::Atomic(_) => "atomic".into(),
        StmtKind::DStep(_) => "d_step".into(),
        StmtKind::Block { inline: Some(name), .. } => name.text.clone(),
        StmtKind::Block { inline: None, .. } => "{".into(),
        StmtKind::Unless { main, escape } => format!("{} unless {}", stmt_text(main), stmt_text(escape)),
        StmtKind::ForRange { variable, from, to, .. } => {
            format!("for ({} : {} .. {})", ref_text(variable), expr_text(from), expr_text(to))
        }
        StmtKind::ForIn { variable, container, .. } => {
            format!("for ({} in {})", ref_text(variable), ref_text(container))
        }
        StmtKind::Select { variable, from, to } => {
            format!("select ({} : {} .. {})", ref_text(variable), expr_text(from), expr_text(to))
        }
        StmtKind::SetPriority { pid, priority } => {
            format!("set_priority({}, {})", expr_text(pid), expr_text(priority))
        }
    }
}

pub fn probe_word(probe: Probe) -> &'static str {
    match probe {
        Probe::Full => "full",
        Probe::NotFull => "nfull",
        Probe::Empty => "empty",
        Probe::NotEmpty => "nempty",
    }
}

/// Writes an expression into a place that needs operators of at least the given level.
fn write_expr(out: &mut String, expr: &Expr, least: u8) {
    let open = level(&expr.kind) < least;
    if open {
        out.push('(');
    }
    match &expr.kind {
        ExprKind::Number(value) => out.push_str(&value.to_string()),
        ExprKind::Ref(reference) => write_ref(out, reference),
        ExprKind::Unary(op, operand) => {
            let sign = match op {
                UnaryOp::Not => '!',
                UnaryOp::Negate => '-',
                UnaryOp::Complement => '~',
            };
            out.push(sign);
            // `--` and `!!` would be read as one operator.
            let at = out.len();
            write_expr(out, operand, UNARY);
            if out[at..].starts_with(sign) {
                out.insert(at, ' ');
            }
        }
        ExprKind::Binary(op, left, right) => write_infix(out, &expr.kind, binary_word(*op), left, right),
        ExprKind::Conditional(condition, yes, no) => {
            out.push('(');
            write_expr(out, condition, 0);
            out.push_str(" -> ");
            write_expr(out, yes, 0);
            out.push_str(" : ");
            write_expr(out, no, 0);
            out.push(')');
        }
        ExprKind::Run { process, args, priority } => {
            out.push_str(&format!("run {}({})", process.text, list_text(args)));
            if let Some(priority) = priority {
                out.push_str(" priority ");
                write_expr(out, priority, UNARY);
            }
        }
        ExprKind::Len(channel) => write_call(out, "len", &ref_text(channel)),
        ExprKind::Probe(probe, channel) => write_call(out, probe_word(*probe), &ref_text(channel)),
        ExprKind::Poll { channel, random, args } => {
            write_ref(out, channel);
            out.push_str(if *random { "??[" } else { "?[" });
            out.push_str(&receive_text(args));
            out.push(']');
        }
        ExprKind::Timeout => out.push_str("timeout"),
        ExprKind::NonProgress => out.push_str("np_"),
        ExprKind::Enabled(pid) => write_call(out, "enabled", &expr_text(pid)),
        ExprKind::PcValue(pid) => write_call(out, "pc_value", &expr_text(pid)),
        ExprKind::GetPriority(pid) => write_call(out, "get_priority", &expr_text(pid)),
        ExprKind::RemoteLabel { process, pid, label } => {
            write_remote(out, process, pid.as_deref());
            out.push('@');
            out.push_str(&label.text);
        }
        ExprKind::RemoteVariable { process, pid, variable } => {
            write_remote(out, process, pid.as_deref());
            out.push(':');
            write_ref(out, variable);
        }
        ExprKind::Temporal(temporal) => match temporal {
            Temporal::Always(operand) => write_prefix(out, "[] ", operand),
            Temporal::Eventually(operand) => write_prefix(out, "<> ", operand),
            Temporal::Next(operand) => write_prefix(out, "X ", operand),
            Temporal::Until(left, right) => write_infix(out, &expr.kind, "U", left, right),
            Temporal::Release(left, right) => write_infix(out, &expr.kind, "V", left, right),
            Temporal::WeakUntil(left, right) => write_infix(out, &expr.kind, "W", left, right),
            Temporal::Implies(left, right) => write_infix(out, &expr.kind, "->", left, right),
            Temporal::Equivalent(left, right) => write_infix(out, &expr.kind, "<->", left, right),
        },
    }
    if open {
        out.push(')');
    }
}

fn write_infix(out: &mut String, kind: &ExprKind, word: &str, left: &Expr, right: &Expr) {
    let level = level(kind);
    write_expr(out, left, level);
    out.push(' ');
    out.push_str(word);
    out.push(' ');
    write_expr(out, right, level + 1);
}

fn write_prefix(out: &mut String, word: &str, operand: &Expr) {
    out.push_str(word);
    write_expr(out, operand, UNARY);
}

fn write_call(out: &mut String, word: &str, argument: &str) {
    out.push_str(word);
    out.push('(');
    out.push_str(argument);
    out.push(')');
}

fn write_remote(out: &mut String, process: &Name, pid: Option<&Expr>) {
    out.push_str(&process.text);
    if let Some(pid) = pid {
        out.push('[');
        write_expr(out, pid, 0);
        out.push(']');
    }
}

fn write_ref(out: &mut String, reference: &VarRef) {
    for (position, part) in reference.parts.iter().enumerate() {
        if position > 0 {
            out.push('.');
        }
        out.push_str(&part.name.text);
        if let Some(index) = &part.index {
            out.push('[');
            write_expr(out, index, 0);
            out.push(']');
        }
    }
}

fn level(kind: &ExprKind) -> u8 {
    use BinaryOp::*;
    match kind {
        ExprKind::Temporal(Temporal::Implies(..) | Temporal::Equivalent(..)) => 1,
        ExprKind::Binary(Or, ..) => 2,
        ExprKind::Binary(And, ..) => 3,
        ExprKind::Temporal(Temporal::Until(..) | Temporal::Release(..) | Temporal::WeakUntil(..)) => 4,
        ExprKind::Binary(BitOr, ..) => 5,
        ExprKind::Binary(BitXor, ..) => 6,
        ExprKind::Binary(BitAnd, ..) => 7,
        ExprKind::Binary(Eq | Ne, ..) => 8,
        ExprKind::Binary(Lt | Le | Gt | Ge, ..) => 9,
        ExprKind::Binary(ShiftLeft | ShiftRight, ..) => 10,
        ExprKind::Binary(Add | Sub, ..) => 11,
        ExprKind::Binary(Mul | Div | Rem, ..) => 12,
        _ => UNARY,
    }
}

fn binary_word(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Rem => "%",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitXor => "^",
        BinaryOp::BitOr => "|",
        BinaryOp::ShiftLeft => "<<",
        BinaryOp::ShiftRight => ">>",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
        BinaryOp::And => "&&",
        BinaryOp::Or => "||",
    }
}

fn list_text(list: &[Expr]) -> String {
    list.iter().map(expr_text).collect::<Vec<_>>().join(",")
}

fn receive_text(args: &[ReceiveArg]) -> String {
    let text = |arg: &ReceiveArg| match arg {
        ReceiveArg::Ref(reference) => ref_text(reference),
        ReceiveArg::Eval(expr) => format!("eval({})", expr_text(expr)),
        ReceiveArg::Constant(value, _) => value.to_string(),
    };
    args.iter().map(text).collect::<Vec<_>>().join(",")
}

fn declaration_text(declaration: &Declaration) -> String {
    let mut out = String::new();
    match declaration.visibility {
        Some(Visibility::Hidden) => out.push_str("hidden "),
        Some(Visibility::Show) => out.push_str("show "),
        Some(Visibility::Local) => out.push_str("local "),
        None => {}
    }
    out.push_str(&type_text(&declaration.ty));
    for (position, variable) in declaration.variables.iter().enumerate() {
        out.push_str(if position > 0 { ", " } else { " " });
        out.push_str(&variable.name.text);
        if let Some((bits, _)) = variable.width {
            out.push_str(&format!(" : {bits}"));
        }
        if let Some(length) = &variable.length {
            out.push_str(&format!("[{}]", expr_text(length)));
        }
        match &variable.init {
            None => {}
            Some(Initializer::Value(value)) => out.push_str(&format!(" = {}", expr_text(value))),
            Some(Initializer::List(list)) => out.push_str(&format!(" = {{ {} }}", list_text(list))),
            Some(Initializer::Channel { capacity, fields, .. }) => {
                let fields: Vec<_> = fields.iter().map(type_text).collect();
                out.push_str(&format!(" = [{}] of {{ {} }}", expr_text(capacity), fields.join(", ")));
            }
        }
    }
    out
}

fn type_text(ty: &TypeName) -> String {
    match ty {
        TypeName::Bit => "bit".into(),
        TypeName::Bool => "bool".into(),
        TypeName::Byte => "byte".into(),
        TypeName::Pid => "pid".into(),
        TypeName::Short => "short".into(),
        TypeName::Int => "int".into(),
        TypeName::Unsigned => "unsigned".into(),
        TypeName::Mtype(None) => "mtype".into(),
        TypeName::Mtype(Some(set)) => format!("mtype:{}", set.text),
        TypeName::Chan => "chan".into(),
        TypeName::Record(name) => name.text.clone(),
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\u{c}' => out.push_str("\\f"),
            '"' => out.push_str("\\\""),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ast::{Item, RefPart};
    use crate::{Macros, parse_ltl};
    use preempt_core::{SourceId, SourceMap, Span};

    struct Random(u64);

    impl Random {
        fn below(&mut self, n: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 33) % n
        }
    }

    const SPAN: Span =
        Span { source: SourceId(0), start: 0, end: 0, expansion: preempt_core::ExpansionId(0) };

    fn name(text: &str) -> Name {
        Name { text: text.into(), span: SPAN }
    }

    fn reference(random: &mut Random, depth: u32, ltl: bool) -> VarRef {
        let mut parts = Vec::new();
        for _ in 0..=random.below(2) {
            let index = (depth > 0 && random.below(3) == 0).then(|| Box::new(plain(random, depth - 1, ltl)));
            parts.push(RefPart { name: name(["a", "b", "c"][random.below(3) as usize]), index });
        }
        VarRef { parts, span: SPAN }
    }

    fn args(random: &mut Random, depth: u32, ltl: bool) -> Vec<ReceiveArg> {
        (0..=random.below(2))
            .map(|_| match random.below(3) {
                0 => ReceiveArg::Ref(reference(random, depth, ltl)),
                1 => ReceiveArg::Eval(plain(random, depth, ltl)),
                _ => ReceiveArg::Constant(random.below(9) as i32 - 4, SPAN),
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

    /// An expression without probes at its top, temporal if asked for.
    fn plain(random: &mut Random, depth: u32, ltl: bool) -> Expr {
        let below = depth.saturating_sub(1);
        let sub = |random: &mut Random| Box::new(plain(random, below, ltl));
        let kind = if depth == 0 {
            match random.below(4) {
                0 => ExprKind::Number(random.below(1000) as i32),
                1 => ExprKind::Timeout,
                2 => ExprKind::NonProgress,
                _ => ExprKind::Ref(reference(random, 0, ltl)),
            }
        } else {
            match random.below(if ltl { 20 } else { 15 }) {
                0..=4 => ExprKind::Binary(OPS[random.below(18) as usize], sub(random), sub(random)),
                5 | 6 => {
                    let ops = [UnaryOp::Not, UnaryOp::Negate, UnaryOp::Complement];
                    ExprKind::Unary(ops[random.below(3) as usize], sub(random))
                }
                7 if !ltl => ExprKind::Conditional(sub(random), sub(random), sub(random)),
                7 | 8 => ExprKind::Run {
                    process: name("P"),
                    args: (0..random.below(3)).map(|_| *sub(random)).collect(),
                    priority: (random.below(2) == 0)
                        .then(|| Box::new(Expr { kind: ExprKind::Number(3), span: SPAN })),
                },
                9 => ExprKind::Len(reference(random, below, ltl)),
                10 => {
                    let random_receive = random.below(2) == 0;
                    ExprKind::Poll {
                        channel: reference(random, below, ltl),
                        random: random_receive,
                        args: args(random, below, ltl),
                    }
                }
                11 => ExprKind::Enabled(sub(random)),
                12 => ExprKind::PcValue(sub(random)),
                13 => {
                    let pid = (random.below(2) == 0).then(|| Box::new(plain(random, below, ltl)));
                    ExprKind::RemoteLabel { process: name("P"), pid, label: name("L") }
                }
                14 => ExprKind::RemoteVariable {
                    process: name("P"),
                    pid: None,
                    variable: reference(random, below, ltl),
                },
                15 => ExprKind::Temporal(Temporal::Always(sub(random))),
                16 => ExprKind::Temporal(Temporal::Eventually(sub(random))),
                17 => ExprKind::Temporal(Temporal::Next(sub(random))),
                18 => ExprKind::Temporal(match random.below(3) {
                    0 => Temporal::Until(sub(random), sub(random)),
                    1 => Temporal::Release(sub(random), sub(random)),
                    _ => Temporal::WeakUntil(sub(random), sub(random)),
                }),
                _ => ExprKind::Temporal(match random.below(2) {
                    0 => Temporal::Implies(sub(random), sub(random)),
                    _ => Temporal::Equivalent(sub(random), sub(random)),
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
        let mut random = Random(1);
        for round in 0..4000 {
            let expr = plain(&mut random, round % 6, true);
            let text = expr_text(&expr);
            let (back, diagnostics) = parse_ltl(&mut sources, "f", &text, &macros);
            assert_eq!(diagnostics, [], "{text}");
            assert_eq!(back.map(|e| shape(&e)), Some(shape(&expr)), "{text}");
        }
    }

    #[test]
    fn printed_expressions_are_read_back() {
        let mut random = Random(2);
        for round in 0..4000 {
            let expr = plain(&mut random, round % 6, false);
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
}
