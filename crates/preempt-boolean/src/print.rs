//! From the syntax tree back to text, which is read as the same tree in every dialect: operators within operators
//! stand in parentheses.

use crate::ast::{Declaration, Expr, ExprKind, Name, Procedure, Program, Statement, StatementKind};
use std::fmt::Write;

/// A whole program.
///
/// ```
/// use preempt_boolean::{parse, print};
/// use preempt_core::SourceMap;
///
/// let text = "decl x; void main() begin x := !x & T; end";
/// let (program, mistakes) = parse(&mut SourceMap::new(), "p.bp", text, None);
/// assert!(mistakes.is_empty());
/// assert!(print::program(&program).contains("x := !x & T;"));
/// ```
pub fn program(program: &Program) -> String {
    let mut out = String::new();
    for declaration in &program.globals {
        self::declaration(&mut out, "", declaration);
    }
    for procedure in &program.procedures {
        self::procedure(&mut out, procedure);
    }
    out
}

fn declaration(out: &mut String, indent: &str, declaration: &Declaration) {
    let thread_local = if declaration.thread_local { "thread_local " } else { "" };
    let value = declaration.value.as_ref().map_or(String::new(), |value| format!(" := {}", expr(value)));
    let _ = writeln!(out, "{indent}decl {thread_local}{}{value};", declaration.name.text);
}

fn procedure(out: &mut String, procedure: &Procedure) {
    let results = match procedure.results {
        0 => "void".into(),
        1 => "bool".into(),
        count => format!("bool<{count}>"),
    };
    let _ = writeln!(out, "\n{results} {}({})\nbegin", procedure.name.text, names(&procedure.parameters));
    for local in &procedure.locals {
        declaration(out, "  ", local);
    }
    for (word, clause) in [("enforce", &procedure.enforce), ("abortif", &procedure.abort_if)] {
        if let Some(clause) = clause {
            let _ = writeln!(out, "  {word} {};", expr(clause));
        }
    }
    statements(out, 1, &procedure.body);
    out.push_str("end\n");
}

fn statements(out: &mut String, depth: usize, list: &[Statement]) {
    let indent = "  ".repeat(depth);
    for statement in list {
        for label in &statement.labels {
            let _ = writeln!(out, "{}{}:", "  ".repeat(depth - 1), label.text);
        }
        match &statement.kind {
            StatementKind::If { branches, otherwise } => {
                for (number, (condition, body)) in branches.iter().enumerate() {
                    let word = if number == 0 { "if" } else { "elsif" };
                    let _ = writeln!(out, "{indent}{word} {} then", expr(condition));
                    statements(out, depth + 1, body);
                }
                if let Some(body) = otherwise {
                    let _ = writeln!(out, "{indent}else");
                    statements(out, depth + 1, body);
                }
                let _ = writeln!(out, "{indent}fi;");
            }
            StatementKind::While(condition, body) => {
                let _ = writeln!(out, "{indent}while {} do", expr(condition));
                statements(out, depth + 1, body);
                let _ = writeln!(out, "{indent}od;");
            }
            simple => {
                let _ = writeln!(out, "{indent}{};", line(simple));
            }
        }
    }
}

/// A statement in one line, without what stands inside it and without its `;`.
pub fn line(statement: &StatementKind) -> String {
    match statement {
        StatementKind::Skip => "skip".into(),
        StatementKind::Assign { targets, values, constrain } => {
            let constrain =
                constrain.as_ref().map_or(String::new(), |expr| format!(" constrain {}", self::expr(expr)));
            format!("{} := {}{constrain}", names(targets), exprs(values))
        }
        StatementKind::Call { targets, procedure, arguments } => {
            let targets = if targets.is_empty() { String::new() } else { format!("{} := ", names(targets)) };
            format!("{targets}{}({})", procedure.text, exprs(arguments))
        }
        StatementKind::Return(values) if values.is_empty() => "return".into(),
        StatementKind::Return(values) => format!("return {}", exprs(values)),
        StatementKind::Goto(targets) => format!("goto {}", names(targets)),
        StatementKind::If { branches, .. } => {
            format!("if {}", branches.first().map_or(String::new(), |(condition, _)| expr(condition)))
        }
        StatementKind::While(condition, _) => format!("while {}", expr(condition)),
        StatementKind::Assume(condition) => format!("assume({})", expr(condition)),
        StatementKind::Assert(condition) => format!("assert({})", expr(condition)),
        StatementKind::Dead(targets) => format!("dead {}", names(targets)),
        StatementKind::Print(values) => format!("print({})", exprs(values)),
        StatementKind::StartCall { procedure, arguments } => {
            format!("start_thread {}({})", procedure.text, exprs(arguments))
        }
        StatementKind::StartGoto(label) => format!("start_thread goto {}", label.text),
        StatementKind::EndThread => "end_thread".into(),
        StatementKind::AtomicBegin => "atomic_begin".into(),
        StatementKind::AtomicEnd => "atomic_end".into(),
        StatementKind::Wait => "wait".into(),
        StatementKind::Broadcast => "broadcast".into(),
    }
}

fn names(names: &[Name]) -> String {
    names.iter().map(|name| name.text.as_str()).collect::<Vec<_>>().join(", ")
}

fn exprs(exprs: &[Expr]) -> String {
    exprs.iter().map(expr).collect::<Vec<_>>().join(", ")
}

/// An expression, without parentheses around it.
pub fn expr(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Binary(operator, left, right) => {
            format!("{} {} {}", inner(left), operator.text(), inner(right))
        }
        ExprKind::Conditional(condition, then, otherwise) => {
            format!("{} ? {} : {}", inner(condition), inner(then), inner(otherwise))
        }
        _ => inner(expr),
    }
}

/// As part of a larger expression.
fn inner(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Constant(value) => if *value { "T" } else { "F" }.into(),
        ExprKind::Any => "*".into(),
        ExprKind::Variable(name) => name.clone(),
        ExprKind::Primed(name) => format!("'{name}"),
        ExprKind::Not(operand) => format!("!{}", inner(operand)),
        ExprKind::Choose(positive, negative) => {
            format!("schoose[{}, {}]", self::expr(positive), self::expr(negative))
        }
        ExprKind::Binary(..) | ExprKind::Conditional(..) => format!("({})", self::expr(expr)),
    }
}
