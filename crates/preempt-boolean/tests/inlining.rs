//! With every call expanded, a program does the same, step for step.

use preempt_boolean::generator::{self, Shape};
use preempt_boolean::{load, print};
use preempt_core::{Budget, StopReason};
use preempt_model::inline::{CannotInline, has_procedures, inline, inline_leaves};
use preempt_model::search::oracle;
use preempt_model::{CodeKind, Command, Interpreter, Model};

#[test]
fn the_answers_stay_the_same() {
    let (mut compared, mut with_procedures) = (0, 0);
    for seed in 0..50 {
        let text = print::program(&generator::program(seed, &Shape { statements: 3, ..Shape::small(2) }));
        let loaded = load("random.bp", &text, &Default::default());
        let model = loaded.model.expect("random programs are well-formed");
        let expanded = inline(&model).expect("no recursion");
        let leaves = inline_leaves(&model, &Budget::unlimited()).expect("small");
        assert!(
            !has_procedures(&expanded) && expanded.codes.iter().all(|code| code.kind == CodeKind::Process)
        );
        let answers = |model| {
            let interpreter =
                Interpreter::new(model, &loaded.sources).expect("initial values have a meaning");
            let answers = oracle::cheapest_costs(&interpreter, false);
            // Fewest preemptions and steps to each violation, and how many states need how many preemptions.
            let mut levels: Vec<u32> = answers.states.into_values().collect();
            levels.sort_unstable();
            (answers.violations, answers.deadlock, levels)
        };
        let (before, after) = (answers(&model), answers(&expanded));
        assert_eq!(before, after, "seed {seed}\n{text}");
        assert_eq!(before, answers(&leaves), "leaves, seed {seed}\n{text}");
        compared += 1;
        with_procedures += usize::from(has_procedures(&model));
    }
    assert!(with_procedures * 2 > compared, "{with_procedures} of {compared} have procedures");
}

fn called(model: &Model) -> Vec<&str> {
    let calls = model.edges().filter_map(|edge| match &edge.command {
        Command::Call { code, .. } => Some(model.code(*code).name.as_str()),
        _ => None,
    });
    calls.collect()
}

#[test]
fn leaves_are_what_calls_nothing_but_leaves() {
    let text = "decl x; void main() begin outer(); start(); x := both(x); end
        void outer() begin leaf(); leaf(); end void leaf() begin x := !x; end
        void start() begin start_thread leaf(); end
        bool both(a) begin decl l; leaf(); if a then l := again(a); return l; fi return a; end
        bool again(a) begin decl r; if a then r := again(F); fi leaf(); return a; end";
    let model = load("test.bp", text, &Default::default()).model.expect("well-formed");
    let mut left = inline_leaves(&model, &Budget::unlimited()).map(|model| {
        let mut called: Vec<String> = called(&model).into_iter().map(str::to_string).collect();
        called.sort();
        called
    });
    // What calls itself stays, and so does who calls it, and who starts a thread.
    assert_eq!(left.as_deref(), Ok(["again", "again", "both", "start"].map(String::from).as_slice()));
    left = Err(CannotInline::TooLarge);
    let many = format!(
        "decl x; void main() begin {} end void leaf() begin {} end",
        "leaf(); ".repeat(60),
        "x := !x; ".repeat(60)
    );
    let model = load("test.bp", &many, &Default::default()).model.expect("well-formed");
    let found = inline_leaves(&model, &Budget::unlimited()).map(|_| Vec::new());
    assert_eq!(found, left, "the copies would be much larger");
}

#[test]
fn recursion_is_named() {
    let refused = |text: &str| {
        let model = load("test.bp", text, &Default::default()).model.expect("well-formed");
        inline(&model).expect_err("recursive")
    };
    assert_eq!(
        refused("void f() begin if * then f(); fi end void main() begin f(); end"),
        CannotInline::Recursive("f".into())
    );
    assert_eq!(
        refused("void f() begin if * then g(); fi end void g() begin f(); end void main() begin f(); end"),
        CannotInline::Recursive("f".into())
    );
}

/// Twenty procedures, each of which calls the next one twice: a million copies, or as many as there is time for.
#[test]
fn expanding_can_be_stopped() {
    let mut text = String::from("decl g; void main() begin p0(); end\n");
    for n in 0..20 {
        text.push_str(&format!("void p{n}() begin p{0}(); p{0}(); end\n", n + 1));
    }
    text.push_str("void p20() begin g := !g; end\n");
    let model = preempt_boolean::load("m.bp", &text, &Default::default()).model.expect("it is correct");
    let budget = Budget::unlimited();
    budget.stop(StopReason::Memory);
    let stopped = preempt_model::inline::inline_within(&model, &budget).expect_err("stopped");
    assert_eq!(stopped, preempt_model::inline::CannotInline::Stopped(StopReason::Memory));
}
