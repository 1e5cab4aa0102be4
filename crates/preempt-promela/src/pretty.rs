//! Expressions and statements as Promela text again: one line each, with the fewest parentheses.

use crate::ast::{
    BinaryOp, Expr, ExprKind, Name, Probe, ReceiveArg, Stmt, StmtKind, Temporal, TypeName, UnaryOp, VarRef,
    Visibility,
};
use crate::ast::{Declaration, Initializer};

/// How tightly the operators bind, as in the grammar; a unary operator binds tightest.
const UNARY: u8 = 13;

/// An expression.
pub fn expr_text(expr: &Expr) -> String {
    let mut out = String::new();
    write_expr(&mut out, expr, 0);
    out
}

/// A variable with its fields and indices.
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

/// `full` and its like.
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
mod tests;
