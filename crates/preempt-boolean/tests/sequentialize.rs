//! The sequential program fails if and only if the concurrent one does within K contexts per thread.

use crate::common;

use common::fails_within;
use preempt_boolean::generator::{self, Shape};
use preempt_boolean::{BooleanOptions, load, print, sequentialize};
use preempt_core::{Budget, SourceMap};
use preempt_model::Model;

fn model(text: &str) -> (Model, SourceMap) {
    let loaded = load("test.bp", text, &BooleanOptions::default());
    let errors: Vec<_> = loaded.diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    (loaded.model.expect("no errors"), loaded.sources)
}

/// What the sequential program says, read from its text.
fn sequential(model_: &Model, sources: &SourceMap, contexts: usize, limit: usize) -> Option<bool> {
    let program = sequentialize::to_boolean(model_, sources, contexts, &Budget::unlimited())
        .expect("it can be made sequential");
    let text = print::program(&program);
    let (sequential, sources) = model(&text);
    // One process, so one round is all of it.
    fails_within(&sequential, &sources, 1, limit)
}

#[test]
fn random_programs() {
    let cases = std::env::var("PREEMPT_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(20);
    let (mut compared, mut failing) = (0, 0);
    for seed in 0..cases {
        for (threads, contexts) in [(1, 2), (2, 1), (2, 2), (3, 1)] {
            let program = generator::program(seed, &Shape { statements: 3, ..Shape::small(threads) });
            let text = print::program(&program);
            let (concurrent, sources) = model(&text);
            let Some(expected) = fails_within(&concurrent, &sources, contexts, 20_000) else { continue };
            let Some(found) = sequential(&concurrent, &sources, contexts, 60_000) else { continue };
            assert_eq!(found, expected, "seed {seed}, {threads} threads, {contexts} contexts\n{text}");
            compared += 1;
            failing += usize::from(found);
        }
    }
    println!("{compared} compared, {failing} failing");
    assert!(compared > cases as usize && failing > compared / 10 && failing < compared * 9 / 10);
}

/// The contexts that it takes to fail, up to three.
fn needed(text: &str) -> Option<usize> {
    let (concurrent, sources) = model(text);
    (1..=3).find(|contexts| {
        let found = sequential(&concurrent, &sources, *contexts, 3_000_000).expect("small enough");
        assert_eq!(
            Some(found),
            fails_within(&concurrent, &sources, *contexts, 1_000_000),
            "{contexts}: {text}"
        );
        found
    })
}

#[test]
fn contexts_are_counted() {
    // The second thread needs the first to come back.
    let ping = "decl a, b; void t() begin assume(a); b := T; end
        void main() begin a, b := F, F; start_thread t(); a := T; assume(b); assert(F); end";
    assert_eq!(needed(ping), Some(2));
    // Several rounds may pass at once, also before the first statement.
    let late = "decl a, b; void t() begin assume(b); assert(F); end
        void main() begin a, b := F, F; start_thread u(); start_thread t(); assume(a); b := T; end
        void u() begin a := T; end";
    assert_eq!(needed(late), Some(2));
    assert_eq!(needed("decl a; void main() begin a := T; assert(a); end"), None);
}

#[test]
fn a_thread_that_gives_up_leaves_its_calls() {
    let text = "decl a, b; void f() begin a := T; assume(b); assert(F); end
        void t() begin f(); assert(F); end void u() begin assume(a); b := T; end
        void main() begin a, b := F, F; start_thread t(); start_thread u(); end";
    assert_eq!(needed(text), Some(2));
    let text = text.replace("assert(F); end\n", "assume(F); end\n");
    assert_eq!(needed(&text), None);
}

#[test]
fn the_bluetooth_driver() {
    for (text, needed) in [
        (include_str!("../../../models/boolean/bluetooth_v1_1a1s.bp"), Some(2)),
        (include_str!("../../../models/boolean/bluetooth_v2_1a1s.bp"), None),
        (include_str!("../../../models/boolean/bluetooth_v3_1a1s.bp"), None),
    ] {
        let (concurrent, sources) = model(text);
        let fails = |contexts| sequential(&concurrent, &sources, contexts, 3_000_000).expect("small enough");
        assert_eq!((1..=2).find(|contexts| fails(*contexts)), needed, "{text}");
    }
}

#[test]
fn a_failure_counts_only_if_the_guesses_were_right() {
    // Nobody sets b: only a wrong guess could.
    let text = "decl a, b; void t() begin assume(b); assert(F); end void u() begin a := T; end
        void main() begin a, b := F, F; start_thread t(); start_thread u(); end";
    assert_eq!(needed(text), None);
}

#[test]
fn what_cannot_be_made_sequential_is_said() {
    let refusal = |text: &str, contexts: usize| {
        let (model, sources) = model(text);
        sequentialize::to_boolean(&model, &sources, contexts, &Budget::unlimited())
            .expect_err("refused")
            .message
    };
    let looping = "void t() begin skip; end void main() begin while * do start_thread t(); od end";
    assert!(refusal(looping, 2).contains("a thread is started in a loop"));
    let called = "void t() begin skip; end void f() begin start_thread t(); end void main() begin f(); end";
    assert!(refusal(called, 2).contains("within a procedure"));
    let again = "void main() begin start_thread main(); end";
    assert!(refusal(again, 2).contains("starts itself again"));
    assert!(refusal("void main() begin skip; end", 0).contains("between 1 and"));
}

/// `gcc -Wall` has nothing to say about the C form.
#[test]
fn every_label_of_the_c_form_is_jumped_to() {
    for seed in 0..50 {
        let (model, sources) = model(&print::program(&generator::program(seed, &Shape::small(2))));
        let text = sequentialize::to_c(&model, &sources, 2, &Budget::unlimited())
            .expect("it can be made sequential");
        for label in text.lines().filter_map(|line| line.strip_suffix(":;")) {
            assert!(text.contains(&format!("goto {label};")), "seed {seed}: {label}\n{text}");
        }
    }
}

/// The program grows with contexts and with arrays; it ends when nobody wants it any more.
#[test]
fn the_making_of_a_sequential_program_can_be_stopped() {
    use preempt_core::{Limits, StopReason};
    use std::time::{Duration, Instant};
    let text = "int a[3000]; int i; active proctype P() { a[i] = a[i + 1] * a[i + 2] }
                active proctype Q() { a[a[i]] = a[a[a[i]]] / i }";
    let loaded = preempt_promela::load("m.pml", text, &Default::default(), &mut |name| Err(name.to_string()));
    let model = loaded.model.expect("it is correct");
    let budget = Budget::within(&Limits { time: Some(Duration::from_millis(50)), ..Limits::default() });
    let begin = Instant::now();
    let refused = sequentialize::to_boolean(&model, &loaded.sources, 64, &budget).expect_err("too long");
    assert_eq!(budget.stopped(), Some(StopReason::Time), "{refused:?}");
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    assert!(sequentialize::to_c(&model, &loaded.sources, 64, &budget).is_err(), "it stays stopped");
}
