//! Promela models made sequential: integers, arrays and `d_step` as bits.

use crate::common;

use common::fails_within;
use preempt_boolean::{load, print, sequentialize};
use preempt_core::{Budget, SourceMap};
use preempt_model::Model;
use preempt_model::generator::{faulty_program_from_seed, program_from_seed};

/// `None` if it has too many states.
fn sequential(
    model: &Model,
    sources: &SourceMap,
    contexts: usize,
    limit: usize,
) -> Option<Result<bool, String>> {
    let program = match sequentialize::to_boolean(model, sources, contexts, &Budget::unlimited()) {
        Ok(program) => program,
        Err(refusal) => return Some(Err(refusal.message)),
    };
    let text = print::program(&program);
    let loaded = load("sequential.bp", &text, &Default::default());
    let model = loaded.model.unwrap_or_else(|| panic!("{:?}\n{text}", loaded.diagnostics));
    // One process, so one round is all of it.
    fails_within(&model, &loaded.sources, 1, limit).map(Ok)
}

#[test]
fn random_programs() {
    let cases = std::env::var("PREEMPT_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(600u64);
    let (mut compared, mut failing) = (0, 0);
    for seed in 0..cases {
        for (kind, program) in
            [("plain", program_from_seed(seed)), ("faulty", faulty_program_from_seed(seed))]
        {
            let (model, sources) = program.to_model();
            for contexts in 1..=2 {
                let Some(Ok(found)) = sequential(&model, &sources, contexts, 8_000) else { break };
                let Some(expected) = fails_within(&model, &sources, contexts, 20_000) else { break };
                assert_eq!(found, expected, "{kind} {seed}, {contexts} contexts\n{}", program.to_promela());
                compared += 1;
                failing += usize::from(found);
            }
        }
    }
    println!("{compared} compared, {failing} failing");
    assert!(compared > 20 && failing > 2);
}

fn promela(text: &str) -> (Model, SourceMap) {
    let mut read = |_: &str| Err("no such file".to_string());
    let loaded = preempt_promela::load("model.pml", text, &Default::default(), &mut read);
    (loaded.model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)), loaded.sources)
}

/// Does an assertion, or a run-time error, fail in one context per process? Both engines must agree.
fn fails(text: &str) -> bool {
    let (model, sources) = promela(text);
    let expected = fails_within(&model, &sources, 1, 100_000).expect("small enough");
    let found =
        sequential(&model, &sources, 1, 1_000_000).expect("small enough").expect("can be made sequential");
    assert_eq!(found, expected, "{text}");
    found
}

#[test]
fn arithmetic() {
    // Everything for which C and Promela have a value: each assertion is the truth.
    for claim in [
        "x + 250 == 4 + 256 || x != 10",
        "y == -3",
        "x - 20 == -10",
        "x * y == -30",
        "-y == 3 && ~y == 2",
        "(x & 6) == 2 && (x | 5) == 15 && (x ^ 3) == 9",
        "x << 3 == 80 && x >> 1 == 5 && y >> 1 == -2",
        "x / 3 == 3 && x % 3 == 1 && (x + 1) % 4 == 3",
        "y < x && x > y && y <= -3 && x >= 10 && !(x < y)",
        "(x > 9 -> x + 1 : y) == 11",
        "a[x - 9] == 7 && a[0] == 0",
        "z == 1 && b == 255",
    ] {
        let text = format!(
            "byte x = 10; short y = -3; byte a[3]; bit z; byte b; active proctype P() {{
                a[1] = 7; z = 3; b = 0; b--; assert({claim}) }}"
        );
        assert!(!fails(&text), "{claim}");
        assert!(fails(&text.replace(&format!("assert({claim})"), &format!("assert(!({claim}))"))), "{claim}");
    }
}

#[test]
fn run_time_errors_are_failures() {
    assert!(fails("byte a[2]; byte i = 2; active proctype P() { a[i] = 1 }"));
    assert!(!fails("byte a[2]; byte i = 1; active proctype P() { a[i] = 1; assert(a[1] == 1) }"));
    assert!(fails("byte x; active proctype P() { x = 1 / x }"));
    // Not evaluated, no error.
    assert!(!fails("byte a[2]; byte i = 2; active proctype P() { i < 2 && a[i] == 1 }"));
    assert!(fails("byte a[2]; byte i = 2; active proctype P() { if :: a[i] == 1 -> skip :: else fi }"));
}

#[test]
fn statements() {
    assert!(!fails("byte x; active proctype P() { do :: x < 3 -> x++ :: else -> break od; assert(x == 3) }"));
    assert!(!fails(
        "byte x = 5; active proctype P() { d_step { if :: x > 3 -> x = 1 :: x > 4 -> x = 2 fi; x++ } assert(x == 2) }"
    ));
    assert!(fails("byte x; active proctype P() { atomic { x = 1; assert(_pid == 1) } }"));
    assert!(!fails("byte x; active [2] proctype P() { assert(_pid < 2) }"));
    assert!(!fails("byte x; proctype Q(byte n) { assert(n == 7) } init { run Q(7) }"));
    assert!(fails("byte x; proctype Q(byte n) { assert(n == x) } init { run Q(7); x = 8 }"));
    assert!(!fails("byte x; active proctype P() { select (x : 2 .. 4); assert(x >= 2 && x <= 4) }"));
    assert!(fails("byte x; active proctype P() { select (x : 2 .. 4); assert(x != 3) }"));
}

#[test]
fn rounds_may_pass_before_the_first_statement_and_several_at_once() {
    let text = "bit x, y; active proctype P() { x && y; assert(0) } active proctype Q() { x = 1 } active proctype R() { y = x }";
    let (model, sources) = promela(text);
    for (contexts, expected) in [(1, false), (2, true), (3, true)] {
        assert_eq!(fails_within(&model, &sources, contexts, 1_000), Some(expected));
        assert_eq!(
            sequential(&model, &sources, contexts, 100_000),
            Some(Ok(expected)),
            "{contexts} contexts"
        );
    }
    // Q moves in the second round only, and P in the third.
    let text = "bit x, y; active proctype P() { x; assert(0) } active proctype Q() { y; x = 1 } active proctype R() { y = 1 }";
    let (model, sources) = promela(text);
    for (contexts, expected) in [(1, false), (2, false), (3, true)] {
        assert_eq!(fails_within(&model, &sources, contexts, 1_000), Some(expected));
        assert_eq!(
            sequential(&model, &sources, contexts, 100_000),
            Some(Ok(expected)),
            "{contexts} contexts"
        );
    }
}

#[test]
fn refusals_name_their_reason() {
    for (text, reason) in [
        ("chan c = [1] of { byte }; active proctype P() { c!1 }", "it has channels"),
        ("active proctype P() { timeout }", "`timeout`"),
        ("byte x; active proctype P() { { x = 1; x = 2 } unless { x == 1 } }", "an `unless`"),
        ("byte x; active proctype P() provided (x == 0) { skip }", "a `provided` clause"),
        ("byte x; active proctype P() { x == _nr_pr }", "the number of processes"),
        ("proctype Q() { assert(_pid) } init { run Q() }", "`_pid` of a process that is started by another"),
        ("short x; active proctype P() { x = x / 2 }", "a division whose numbers may be negative"),
        ("byte x, y; active proctype P() { x = x << y }", "a shift by a distance that is not constant"),
        ("active proctype P() { here: skip } active proctype Q() { P@here }", "a look into another process"),
    ] {
        let (model, sources) = promela(text);
        let refusal =
            sequentialize::to_boolean(&model, &sources, 2, &Budget::unlimited()).expect_err(text).message;
        assert!(refusal.contains(reason), "{text}: {refusal}");
    }
}
