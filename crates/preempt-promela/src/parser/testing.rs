//! What the tests of the parser share: short ways to parse, and the tree as one line of text.

use preempt_core::{Diagnostic, SourceMap};

use crate::ast::{Item, Program, Stmt, StmtKind};
use crate::pretty::stmt_text;

pub fn parse(text: &str) -> (Program, Vec<Diagnostic>, SourceMap) {
    let mut sources = SourceMap::new();
    let mut read = |_: &str| Err("no such file".to_string());
    let (program, diagnostics) = crate::parse(&mut sources, "t", text, &[], &mut read);
    (program, diagnostics, sources)
}

/// The messages as `line:column message`.
pub fn messages(text: &str) -> Vec<String> {
    let (_, diagnostics, sources) = parse(text);
    diagnostics
        .iter()
        .map(|d| {
            let place = d.span.map(|span| sources.location(span));
            let place = place.map_or(String::new(), |l| format!("{}:{} ", l.line, l.column));
            format!("{place}{}", d.message)
        })
        .collect()
}

#[track_caller]
pub fn program(text: &str) -> Program {
    assert_eq!(messages(text), [""; 0], "{text}");
    parse(text).0
}

/// The outline of the body of `init`, which must be correct.
#[track_caller]
pub fn body(text: &str) -> String {
    outline_of_init(&program(&format!("init {{ {text} }}")))
}

pub fn outline_of_init(program: &Program) -> String {
    let init = program.items.iter().find_map(|item| match item {
        Item::Process(process) if process.name.text == "init" => Some(process),
        _ => None,
    });
    init.map_or(String::new(), |process| outline(&process.body))
}

pub fn outline(list: &[Stmt]) -> String {
    list.iter().map(outline_one).collect::<Vec<_>>().join("; ")
}

fn outline_one(stmt: &Stmt) -> String {
    let labels: String = stmt.labels.iter().map(|label| format!("{}: ", label.text)).collect();
    let head = stmt_text(stmt);
    let rest = match &stmt.kind {
        StmtKind::If(options) | StmtKind::Do(options) => {
            options.iter().map(|option| format!(" :: {}", outline(option))).collect()
        }
        StmtKind::Atomic(body)
        | StmtKind::DStep(body)
        | StmtKind::ForRange { body, .. }
        | StmtKind::ForIn { body, .. }
        | StmtKind::Block { body, .. } => format!(" {{{}}}", outline(body)),
        StmtKind::Unless { main, escape } => {
            return format!("{labels}<{} unless {}>", outline_one(main), outline_one(escape));
        }
        _ => String::new(),
    };
    format!("{labels}{}{rest}", if head == "{" { "" } else { &head })
}
