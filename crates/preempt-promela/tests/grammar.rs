//! The generator by the grammar reaches the whole language: every word, sign and directive, every kind of node that
//! the parser makes, and everything that a model made from Promela can have.

use preempt_core::SourceMap;
use preempt_model::generator::census as model_census;
use preempt_promela::ast::{Item, Program, Stmt, StmtKind};
use preempt_promela::generator::{Line, census, program, shrink, text_of};
use preempt_promela::pretty::stmt_text;
use preempt_promela::{Additions, load, parse};

/// `PREEMPT_CASES=20000` for a long run.
fn cases() -> u64 {
    std::env::var("PREEMPT_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(1500)
}

/// Boolean programs have these; Promela has not.
const NOT_IN_PROMELA: &[&str] = &[
    "code of a procedure",
    "command assign several",
    "command call",
    "command return",
    "expression any value",
];

#[test]
fn every_production_is_made() {
    let mut census = census::Census::new();
    let mut models = model_census::Census::new();
    let (mut valid, mut reasons) = (0, std::collections::BTreeMap::<String, (u64, u64)>::new());
    for seed in 0..cases() {
        let text = text_of(&program(seed));
        let mut read = |name: &str| Err(format!("no {name}"));
        let loaded = load("generated.pml", &text, &Additions::default(), &mut read);
        match loaded.model {
            Some(model) => {
                valid += 1;
                let mut sources = SourceMap::new();
                let (tree, _) = parse(&mut sources, "generated.pml", &text, &[], &mut read);
                census::count(&text, &tree, &mut census);
                model_census::count(&model, &mut models);
            }
            None => {
                let errors = loaded.diagnostics.into_iter().filter(|diagnostic| diagnostic.is_error());
                for error in errors {
                    reasons.entry(error.message).or_insert((0, seed)).0 += 1;
                }
            }
        }
    }
    assert!(valid * 10 >= cases() * 9, "only {valid} of {} are programs: {reasons:#?}", cases());
    let missing = |all: Vec<&'static str>, met: &census::Census| -> Vec<&str> {
        all.into_iter().filter(|feature| !met.contains_key(feature)).collect()
    };
    assert_eq!(missing(census::features(), &census), [""; 0], "never made");
    let mut gaps = missing(model_census::features(), &models);
    gaps.retain(|feature| !NOT_IN_PROMELA.contains(feature));
    assert_eq!(gaps, [""; 0], "never in a model");
    for feature in NOT_IN_PROMELA {
        assert!(!models.contains_key(feature), "Promela has {feature} after all");
    }
}

#[test]
fn a_seed_names_one_program() {
    assert_eq!(program(7), program(7));
    assert_ne!(program(7), program(8));
}

#[test]
fn what_does_not_matter_is_left_out() {
    let inside = vec![Line::new("x = 1;"), Line::new("assert((x + (3 * y)) == 2);"), Line::new("skip;")];
    let lines = vec![Line::new("byte x;"), Line::block("active proctype P() {", inside, "}")];
    let small = shrink(&lines, &mut |text| text.contains("assert") && text.contains("P()"));
    assert_eq!(text_of(&small), "active proctype P() {\n    assert0;\n}\n");
}

/// Statements with nothing inside them, printed and read again, are the same statements.
#[test]
fn printed_statements_are_read_back() {
    let mut compared = 0;
    for seed in 0..cases() / 10 {
        let tree = read(&text_of(&program(seed)));
        let names: String = tree.items.iter().filter_map(declared_again).collect();
        let mut statements = Vec::new();
        for item in &tree.items {
            if let Item::Process(process) = item {
                simple(&process.body, &mut statements);
            }
        }
        for statement in statements {
            let text = stmt_text(statement);
            let again = read(&format!("{names} init {{ {text} }}"));
            let Some(Item::Process(init)) = again.items.last() else { panic!("seed {seed}: {text}") };
            assert_eq!(init.body.len(), 1, "seed {seed}: {text}");
            assert_eq!(shape(&init.body[0].kind), shape(&statement.kind), "seed {seed}: {text}");
            compared += 1;
        }
    }
    assert!(compared > 500, "{compared} statements");
}

fn read(text: &str) -> Program {
    let mut read = |name: &str| Err(format!("no {name}"));
    parse(&mut SourceMap::new(), "generated.pml", text, &[], &mut read).0
}

/// What has to be known for a statement to be read as what it is: the names of types and processes.
fn declared_again(item: &Item) -> Option<String> {
    match item {
        Item::Typedef(typedef) => Some(format!("typedef {} {{ byte f }} ", typedef.name.text)),
        Item::Process(process) if process.name.text != "init" => {
            Some(format!("proctype {}() {{ skip }} ", process.name.text))
        }
        _ => None,
    }
}

fn simple<'s>(list: &'s [Stmt], all: &mut Vec<&'s Stmt>) {
    for statement in list {
        match &statement.kind {
            StmtKind::If(options) | StmtKind::Do(options) => {
                options.iter().for_each(|option| simple(option, all));
            }
            StmtKind::Atomic(body)
            | StmtKind::DStep(body)
            | StmtKind::Block { body, .. }
            | StmtKind::ForRange { body, .. }
            | StmtKind::ForIn { body, .. } => simple(body, all),
            StmtKind::Unless { main, escape } => {
                simple(std::slice::from_ref(main), all);
                simple(std::slice::from_ref(escape), all);
            }
            _ => all.push(statement),
        }
    }
}

/// The tree without its places.
fn shape(kind: &StmtKind) -> String {
    let mut text = format!("{kind:?}");
    while let Some(start) = text.find("Span {") {
        let length = text[start..].find('}').map_or(text.len() - start, |end| end + 1);
        text.replace_range(start..start + length, "-");
    }
    text
}
