//! Mistakes that models written by others have shown, each with the smallest input that shows it, asked of the command as its
//! user would: verdict, first line and run by every way to compute successors.

use crate::common::{file, folder, preempt};
use std::path::Path;

/// The ways to answer that share the least code.
const WAYS: [&[&str]; 3] = [&[], &["--successors", "interpreted"], &["--engine", "reference"]];

/// The exit status and what is printed on both streams.
fn answer(arguments: &[&str]) -> (Option<i32>, String) {
    let output = preempt(arguments);
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (output.status.code(), text.concat())
}

/// The same status from everybody, and every phrase in what each prints.
fn everybody_says(folder: &Path, text: &str, options: &[&str], status: i32, phrases: &[&str]) {
    let model = file(folder, "model.pml", text);
    for way in WAYS {
        let arguments = [&["check", &model], options, way].concat();
        let (ended, printed) = answer(&arguments);
        assert_eq!(ended, Some(status), "{arguments:?} on {text}\n{printed}");
        for phrase in phrases {
            assert!(printed.contains(phrase), "{arguments:?} on {text}\nwithout {phrase:?}:\n{printed}");
        }
    }
}

#[test]
fn a_poll_may_have_fewer_fields_than_its_channel() {
    let text = "chan c = [2] of { byte, byte };
active proctype P() { do :: c!3,0 :: c?_,_ od }
active proctype Q() { do :: c?[3] -> skip od }
ltl p { [] (c?[3] -> len(c) > 0) }";
    let folder = folder("poll");
    everybody_says(&folder, text, &["--property", "p"], 0, &["holds"]);
    everybody_says(&folder, text.split("ltl").next().unwrap(), &[], 0, &["states       6"]);
}

#[test]
fn the_simplest_run_is_that_of_all_properties() {
    let text = "byte x;
active proctype A() { x = 1; x = 2; x = 3; assert(x != 3) }
ltl p { [] (x < 1) }";
    let phrases = ["violated: LTL property: p", "also violated: assert(x != 3)", "the simplest run: 1 step,"];
    everybody_says(&folder("simplest"), text, &[], 1, &phrases);
}

#[test]
fn a_deadlock_names_who_is_stuck_and_where() {
    let text = "byte m;\nactive proctype Done() { skip }\nactive proctype Stuck() { m == 1 }";
    let phrases = ["deadlock: Stuck(1) waits at", "Stuck(1)  waits     line 3: m == 1", "Done(0)   ended"];
    everybody_says(&folder("deadlock"), text, &[], 1, &phrases);
}

#[test]
fn a_loop_without_progress_has_no_step_too_many() {
    let text = "active proctype P() { do :: printf(\"a\") od }";
    everybody_says(&folder("progress"), text, &["--non-progress"], 1, &["the simplest run: 1 step,"]);
}

#[test]
fn a_claim_is_a_process_in_its_own_formula() {
    let text = "byte x;\nactive proctype P() { x = 1 }\nltl p { <> (_nr_pr == 1) }";
    everybody_says(&folder("nr_pr"), text, &[], 0, &["counts the claim", "holds"]);
}

#[test]
fn bits_in_a_message_are_bits() {
    let text = "typedef T { bit b[2] }; T t, u; chan c = [1] of { T };
active proctype P() { t.b[0] = 2; c!t; c?u; assert(u.b[0] == 2) }";
    everybody_says(&folder("bits"), text, &[], 1, &["violated: assert(u.b[0] == 2)"]);
}

/// It had the name of whatever global variable has the same number.
#[test]
fn a_hidden_channel_is_called_by_its_name() {
    let text = "byte g; hidden chan c = [1] of { byte };
proctype Q(chan p) { p!1; assert(false) } init { run Q(c) }";
    everybody_says(&folder("hidden_channel"), text, &[], 1, &["Q(1).p = c"]);
}

#[test]
fn a_hidden_variable_keeps_its_value() {
    let text = "hidden byte g; active proctype P() { g = 1; assert(g == 1) }";
    everybody_says(&folder("hidden"), text, &[], 0, &["although it is hidden", "holds"]);
}

#[test]
fn a_state_may_be_larger_than_256_kilobytes() {
    let text = "int a[65534]; init { a[5] = 1; assert(a[5] == 2) }";
    everybody_says(
        &folder("large"),
        text,
        &[],
        1,
        &["violated: assert(a[5] == 2)", "the simplest run: 2 steps,"],
    );
}

#[test]
fn a_long_atomic_sequence_is_one_step_after_another() {
    let text = "int x;
active proctype P() { atomic { do :: x < 10000 -> x++ :: else -> break od }; assert(0) }";
    everybody_says(&folder("atomic"), text, &[], 1, &["violated: assert(0)", "20,002 steps"]);
}

#[test]
fn a_chain_of_gotos_is_no_circle() {
    let chain: String = (0..800).map(|at| format!("L{at}: goto L{};\n", at + 1)).collect();
    let text = format!("active proctype P() {{\n{chain}L800: assert(0)\n}}");
    everybody_says(&folder("gotos"), &text, &[], 1, &["violated: assert(0)"]);
}

#[test]
fn what_spin_reads_otherwise_has_a_hint() {
    let text = "byte x; active proctype P() { x = 4 }\nltl p { [] x >= 4 }";
    everybody_says(&folder("hint"), text, &[], 2, &["write `[] (x >= 4)`"]);
}

/// What Spin takes and real models have; all of these hold.
#[test]
fn models_that_spin_takes_are_taken() {
    let folder = folder("taken");
    let cases = [
        // A label on `break`, and one that nobody reaches.
        "active proctype P() { do :: break od; L: skip }\nactive proctype Q() { do :: L: break od; goto E; M: skip; E: skip }\nltl p { [] !(Q@L && Q@M) }",
        "#define sum(x, ...) (x + __VA_ARGS__)\nactive proctype P() { assert(sum(1, 2) == 3) }",
        "typedef R { byte a, b };\ninline get(r) { assert(r.a == 1) }\nproctype P(R r) { assert(r.b == 2) }\ninit { R r; r.a = 1; r.b = 2; get(r); run P(r) }",
        "typedef O { byte x };\nO q[2] = 255;\nactive proctype P() { byte l[2] = {0}; assert(l[1] == 0 && q[1].x == 0) }",
        "typedef M { byte a; byte b };\nchan c[2] = [2] of { M };\nactive proctype P() { M m; m.a = 1; c[1]!m; for (m in c[1]) { assert(m.a == 1) } }",
        "byte e[3] = 1, f[3];\nactive proctype P() { f = e; assert(e == 1 && f[0] == 1) }",
        "chan c = [1] of { byte, byte };\nactive proctype P() { if :: true :: false -> c!1 fi }",
        "proctype P() { skip } */\ninit { run P() }",
    ];
    for text in cases {
        let model = file(&folder, "model.pml", text);
        let (ended, printed) = answer(&["check", &model]);
        assert_eq!(ended, Some(0), "{text}\n{printed}");
    }
    for extension in ["pr", "prom", "promela", "spin", "pm"] {
        let model = file(&folder, &format!("model.{extension}"), "init { skip }");
        assert_eq!(answer(&["check", &model]).0, Some(0), "{extension}");
    }
}
