//! The generator reaches the whole language of Boolean programs: every word and sign, every kind of node with each of its
//! options, and what a model has that Promela has not.

use preempt_boolean::ast::{
    Declaration, Expr, ExprKind, Operator, Procedure, Program, Statement, StatementKind,
};
use preempt_boolean::generator::{self, Shape};
use preempt_boolean::{load, parse, print};
use preempt_core::SourceMap;
use preempt_model::generator::census;
use preempt_model::kinds;
use std::collections::BTreeSet;

kinds!(STATEMENTS, statement_kind, StatementKind, {
    StatementKind::Skip => "skip",
    StatementKind::Assign { constrain: None, .. } => "assign",
    StatementKind::Assign { constrain: Some(_), .. } => "assign constrain",
    StatementKind::Call { .. } => "call",
    StatementKind::Return(_) => "return",
    StatementKind::Goto(_) => "goto",
    StatementKind::If { otherwise: None, .. } => "if",
    StatementKind::If { otherwise: Some(_), .. } => "if else",
    StatementKind::While(..) => "while",
    StatementKind::Assume(_) => "assume",
    StatementKind::Assert(_) => "assert",
    StatementKind::Dead(_) => "dead",
    StatementKind::Print(_) => "print",
    StatementKind::StartCall { .. } => "start_thread",
    StatementKind::StartGoto(_) => "start_thread goto",
    StatementKind::EndThread => "end_thread",
    StatementKind::AtomicBegin => "atomic_begin",
    StatementKind::AtomicEnd => "atomic_end",
    StatementKind::Wait => "wait",
    StatementKind::Broadcast => "broadcast",
});
kinds!(EXPRESSIONS, expression_kind, ExprKind, {
    ExprKind::Constant(_) => "constant",
    ExprKind::Any => "*",
    ExprKind::Variable(_) => "variable",
    ExprKind::Primed(_) => "primed",
    ExprKind::Not(_) => "not",
    ExprKind::Binary(Operator::Implies, ..) => "implies",
    ExprKind::Binary(Operator::Or, ..) => "or",
    ExprKind::Binary(Operator::Xor, ..) => "xor",
    ExprKind::Binary(Operator::And, ..) => "and",
    ExprKind::Binary(Operator::Equal, ..) => "equal",
    ExprKind::Binary(Operator::Unequal, ..) => "unequal",
    ExprKind::Conditional(..) => "conditional",
    ExprKind::Choose(..) => "schoose",
});
const WAYS: &[&str] = &[
    "thread_local",
    "declared with a value",
    "declared without a value",
    "parameters",
    "results",
    "locals",
    "enforce",
    "abortif",
    "label",
    "several targets",
    "target _",
    "goto several",
    "elsif",
];

/// Only Boolean programs have these.
const ONLY_HERE: &[&str] = &[
    "code of a procedure",
    "command assign several",
    "command call",
    "command return",
    "expression any value",
];

#[derive(Default)]
struct Met(BTreeSet<&'static str>);

impl Met {
    fn note(&mut self, is: bool, feature: &'static str) {
        if is {
            self.0.insert(feature);
        }
    }

    fn declaration(&mut self, declaration: &Declaration) {
        let Declaration { name: _, thread_local, value } = declaration;
        self.note(*thread_local, "thread_local");
        self.note(value.is_some(), "declared with a value");
        self.note(value.is_none(), "declared without a value");
    }

    fn program(&mut self, program: &Program) {
        let Program { globals, procedures } = program;
        globals.iter().for_each(|global| self.declaration(global));
        for procedure in procedures {
            let Procedure { name: _, results, parameters, locals, enforce, abort_if, body, end: _ } =
                procedure;
            self.note(*results > 0, "results");
            self.note(!parameters.is_empty(), "parameters");
            self.note(!locals.is_empty(), "locals");
            self.note(enforce.is_some(), "enforce");
            self.note(abort_if.is_some(), "abortif");
            locals.iter().for_each(|local| self.declaration(local));
            self.statements(body);
        }
    }

    fn statements(&mut self, list: &[Statement]) {
        for Statement { labels, kind, at: _ } in list {
            self.0.insert(statement_kind(kind));
            self.note(!labels.is_empty(), "label");
            match kind {
                StatementKind::Assign { targets, values, constrain } => {
                    self.note(targets.len() > 1, "several targets");
                    self.expressions(values.iter().chain(constrain));
                }
                StatementKind::Call { targets, arguments, .. } => {
                    self.note(targets.iter().any(|target| target.is_nowhere()), "target _");
                    self.expressions(arguments);
                }
                StatementKind::Goto(labels) => self.note(labels.len() > 1, "goto several"),
                StatementKind::If { branches, otherwise } => {
                    self.note(branches.len() > 1, "elsif");
                    for (condition, body) in branches {
                        self.expressions([condition]);
                        self.statements(body);
                    }
                    otherwise.iter().for_each(|body| self.statements(body));
                }
                StatementKind::While(condition, body) => {
                    self.expressions([condition]);
                    self.statements(body);
                }
                StatementKind::Return(values) | StatementKind::Print(values) => self.expressions(values),
                StatementKind::StartCall { arguments, .. } => self.expressions(arguments),
                StatementKind::Assume(expr) | StatementKind::Assert(expr) => self.expressions([expr]),
                StatementKind::Skip
                | StatementKind::Dead(_)
                | StatementKind::StartGoto(_)
                | StatementKind::EndThread
                | StatementKind::AtomicBegin
                | StatementKind::AtomicEnd
                | StatementKind::Wait
                | StatementKind::Broadcast => {}
            }
        }
    }

    fn expressions<'e>(&mut self, list: impl IntoIterator<Item = &'e Expr>) {
        for expr in list {
            expr.visit(&mut |inner| {
                self.0.insert(expression_kind(&inner.kind));
            });
        }
    }
}

#[test]
fn every_production_is_made_in_every_spelling() {
    let mut met = Met::default();
    let mut models = census::Census::new();
    let mut unspelled: BTreeSet<&str> = generator::spellings().into_iter().collect();
    for seed in 0..400 {
        let program = generator::program(seed, &Shape::everything());
        met.program(&program);
        let text = generator::respelled(&print::program(&program), seed);
        let (read, diagnostics) = parse(&mut SourceMap::new(), "respelled.bp", &text, None);
        assert!(diagnostics.is_empty(), "{diagnostics:?}\n{text}");
        assert!(read == program, "{text}");
        unspelled.retain(|spelling| !text.contains(spelling));
        let loaded = load("respelled.bp", &text, &Default::default());
        let model = loaded.model.unwrap_or_else(|| panic!("{:?}\n{text}", loaded.diagnostics));
        census::count(&model, &mut models);
    }
    assert_eq!(unspelled.into_iter().collect::<Vec<_>>(), [""; 0], "never spelled");
    let all = [STATEMENTS, EXPRESSIONS, WAYS].concat();
    // These need a fixed number of threads, and have random programs of their own: `others`.
    let elsewhere = ["wait", "broadcast"];
    let wanted = all.into_iter().filter(|feature| !elsewhere.contains(feature));
    let missing: Vec<&str> = wanted.filter(|feature| !met.0.contains(feature)).collect();
    assert_eq!(missing, [""; 0], "never made");
    let missing: Vec<&&str> = ONLY_HERE.iter().filter(|feature| !models.contains_key(*feature)).collect();
    assert!(missing.is_empty(), "never in a model: {missing:?}");
}
