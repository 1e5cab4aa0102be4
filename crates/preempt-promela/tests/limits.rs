//! Large inputs: what can be read is read in time that grows with its size, what cannot is said before anything of that
//! size is made, and a budget that runs out ends everything.

use preempt_core::{Budget, Limits, StopReason};
use preempt_promela::{Additions, Loaded, load};
use std::time::Duration;

fn loaded(text: &str, budget: Budget) -> Loaded {
    let additions = Additions { budget, ..Additions::default() };
    load("test.pml", text, &additions, &mut |name| Err(format!("no {name}")))
}

/// The first error, or nothing.
fn error(text: &str) -> String {
    let loaded = loaded(text, Budget::unlimited());
    let error = loaded.diagnostics.iter().find(|diagnostic| diagnostic.is_error());
    error.map_or(String::new(), |error| error.message.clone())
}

/// Each of these was quadratic once; they are sized so that it would show.
#[test]
fn large_texts_are_read() {
    let name = "a".repeat(200_000);
    assert_eq!(error(&format!("byte {name}; active proctype P() {{ {name} = 1 }}")), "");
    let misspelt = error(&format!("byte {name}; active proctype P() {{ b{name} = 1 }}"));
    assert!(misspelt.starts_with("there is no variable"), "{misspelt}");
    assert_eq!(error(&format!("active proctype P() {{ printf(\"{name}\") }}")), "");
    let jumps: String = (0..5_000).map(|n| format!("L{n}: goto L{};\n", n + 1)).collect();
    assert_eq!(error(&format!("active proctype P() {{ {jumps} L5000: skip }}")), "");
    let calls = "f(x);\n".repeat(3_000);
    assert_eq!(
        error(&format!("byte x; inline f(a) {{ a = 1; L: a = 2 }} active proctype P() {{ {calls} }}")),
        ""
    );
}

#[test]
fn only_a_circle_is_a_circle() {
    let circle = "active proctype P() { goto A; A: goto B; B: goto C; C: goto A }";
    assert_eq!(error(circle), "these jumps lead in a circle without any step");
}

#[test]
fn what_is_too_large_is_not_made() {
    let nested: String = (1..=24).map(|n| format!("typedef T{n} {{ T{0} a; T{0} b }};\n", n - 1)).collect();
    let record = format!("typedef T0 {{ byte a; byte b }};\n{nested} T24 x; active proctype P() {{ skip }}");
    assert_eq!(error(&record), "the type `T18` is too large");
    let channels: String = (0..1_000).map(|n| format!("chan c{n} = [1] of {{ byte }};\n")).collect();
    assert_eq!(
        error(&format!("{channels} active proctype P() {{ c0!1 }}")),
        "there can be at most 255 channels"
    );
    assert_eq!(
        error("chan c[100000] = [1] of { byte }; active proctype P() { c[0]!1 }"),
        "there can be at most 255 channels, here are 100000"
    );
    assert_eq!(
        error("active [255] proctype P() { int a[1000000]; a[0] = 1 }"),
        "a state has 255000000 values; there is room for 4194304"
    );
}

#[test]
fn a_budget_ends_reading() {
    let text = "byte x; active proctype P() { x = 1; x = }";
    let over = Budget::within(&Limits { time: Some(Duration::ZERO), ..Limits::default() });
    let interrupted = Budget::unlimited();
    interrupted.stop(StopReason::Interrupted);
    for (budget, reason) in [(over, StopReason::Time), (interrupted, StopReason::Interrupted)] {
        let loaded = loaded(text, budget);
        assert_eq!(loaded.stopped, Some(reason));
        assert!(loaded.model.is_none() && loaded.diagnostics.is_empty());
    }
}

/// Stopped from outside while it works, wherever that is.
#[test]
fn a_budget_ends_every_phase() {
    let text = format!("byte x; active proctype P() {{ {} }}", "x = 1; ".repeat(300_000));
    let budget = Budget::within(&Limits { time: Some(Duration::from_millis(20)), ..Limits::default() });
    assert_eq!(loaded(&text, budget).stopped, Some(StopReason::Time));
}
