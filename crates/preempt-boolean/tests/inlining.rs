//! With every call expanded, a program does the same, step for step.

use preempt_boolean::generator::{self, Shape};
use preempt_boolean::inline::{CannotInline, has_procedures, inline};
use preempt_boolean::{load, print};
use preempt_model::search::oracle;
use preempt_model::{CodeKind, Interpreter};

#[test]
fn the_answers_stay_the_same() {
    let (mut compared, mut with_procedures) = (0, 0);
    for seed in 0..50 {
        let text = print::program(&generator::program(seed, &Shape { statements: 3, ..Shape::small(2) }));
        let loaded = load("random.bp", &text, &Default::default());
        let model = loaded.model.expect("random programs are well-formed");
        let expanded = inline(&model).expect("no recursion");
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
        compared += 1;
        with_procedures += usize::from(has_procedures(&model));
    }
    assert!(with_procedures * 2 > compared, "{with_procedures} of {compared} have procedures");
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
    use preempt_core::{Budget, StopReason};
    let mut text = String::from("decl g; void main() begin p0(); end\n");
    for n in 0..20 {
        text.push_str(&format!("void p{n}() begin p{0}(); p{0}(); end\n", n + 1));
    }
    text.push_str("void p20() begin g := !g; end\n");
    let model = preempt_boolean::load("m.bp", &text, &Default::default()).model.expect("it is correct");
    let budget = Budget::unlimited();
    budget.stop(StopReason::Memory);
    let stopped = preempt_boolean::inline::inline_within(&model, &budget).expect_err("stopped");
    assert_eq!(stopped, preempt_boolean::inline::CannotInline::Stopped(StopReason::Memory));
}
