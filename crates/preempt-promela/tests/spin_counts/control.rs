//! Choices, loops, jumps, `unless` and labels.

use super::*;

#[test]
fn jump_as_an_alternative_is_a_step() {
    let source = r"
        byte x;
        active proctype P() { do :: x < 2 -> x++ :: break od; if :: goto done :: x = 5 fi; done: skip }
        active proctype Q() { x = 0 }
    ";
    check(source, 52, 88, 0);
}

#[test]
fn nested_choices() {
    let source = r"
        byte x;
        active proctype P() { if :: if :: x == 0 -> x = 1 :: x == 1 -> x = 2 fi :: do :: x > 5 -> break :: x <= 5 -> x = 6 od :: x == 9 fi }
        active proctype Q() { x = 1 }
    ";
    check(source, 27, 38, 0);
}

#[test]
fn else_looks_at_all_alternatives_before() {
    let source = r"
        byte x;
        active proctype P() { do :: x == 1 -> x = 2 :: x == 3 -> x = 4 :: else -> x++ ; if :: x > 6 -> break :: else fi od }
        active proctype Q() { x = 3 }
    ";
    check(source, 60, 95, 0);
}

/// Possible when nobody receives.
#[test]
fn else_with_rendezvous() {
    let source = r"
        chan c = [0] of { byte };
        byte x;
        active proctype S() { do :: x < 3 -> if :: c!x :: else -> x++ fi :: x == 3 -> break od }
        active proctype R() { byte v; c?v; c?v }
    ";
    check(source, 27, 37, 0);
}

/// The second of two in an alternative is dropped.
#[test]
fn redundant_skips() {
    let source = r"
        byte x;
        active proctype P() { if :: skip; skip; x = 1 :: x = 2; skip; skip; skip; x = 3 fi }
        active proctype Q() { x = 7 }
    ";
    check(source, 27, 38, 0);
}

#[test]
fn declarations_inside_blocks_are_steps() {
    let source = r"
        byte x;
        typedef T { byte a; bit b[2] };
        active proctype P() { byte i = 3; x = 1; { byte j = 2; T t; byte k[3]; x = j + i } }
        active proctype Q() { x = 7 }
    ";
    check(source, 30, 43, 0);
}

#[test]
fn for_over_a_range() {
    let source = r"
        byte x;
        active proctype P() { byte i; for (i : 1 .. 3) { x = x + i } }
        active proctype Q() { x = 7 }
    ";
    check(source, 76, 110, 0);
}

#[test]
fn for_over_an_array() {
    let source = r"
        byte x; byte a[3] = { 4, 5 };
        active proctype P() { byte i; for (i in a) { x = a[i] } }
    ";
    check(source, 13, 13, 0);
}

#[test]
fn for_over_a_channel() {
    let source = r"
        typedef M { byte a; byte b };
        chan c = [3] of { M };
        byte x;
        active proctype P() { M m; m.a = 1; c!m; m.b = 2; c!m; for (m in c) { x = x + m.a + m.b } }
    ";
    check(source, 18, 18, 0);
}

#[test]
fn select_small_range_is_a_choice() {
    let source = r"
        byte x;
        active proctype P() { byte i; select (i : 1 .. 4); x = i }
    ";
    check(source, 13, 13, 0);
}

/// Spin reads characters here.
#[test]
fn select_with_an_underscore_counts() {
    let source = r"
        byte x;
        active proctype P() { byte my_i; select (my_i : 1 .. 4); x = my_i }
    ";
    check(source, 20, 20, 0);
}

#[test]
fn unless_interrupts() {
    let source = r"
        byte x;
        active proctype P() { { x = 1; x = 2; x = 3 } unless { x == 9 -> x = 10 } }
        active proctype Q() { x = 9; x = 0 }
    ";
    check(source, 31, 42, 0);
}

#[test]
fn nested_unless() {
    let source = r"
        byte x;
        active proctype P() { { { x = 1; x = 2 } unless { x == 8 -> x = 11 }; x = 3 } unless { x > 7 -> x = 10 } }
        active proctype Q() { x = 8; x = 0; x = 9 }
    ";
    check(source, 33, 49, 0);
}

#[test]
fn unless_with_a_receive() {
    let source = r"
        chan c = [0] of { byte };
        byte x;
        active proctype P() { byte v; do :: { x < 2 -> x++ } unless { c?v -> x = 7; break } od }
        active proctype Q() { c!1 }
    ";
    check(source, 14, 21, 0);
}

#[test]
fn timeout_when_nobody_can_move() {
    let source = r"
        chan c = [1] of { byte };
        byte x;
        active proctype P() { do :: c!x -> x++ :: timeout -> break od }
        active proctype Q() { byte v; c?v; c?v }
    ";
    check(source, 17, 22, 0);
}

#[test]
fn inline_and_labels() {
    let source = r"
        byte x;
        inline bump(v, n) { byte old; old = v; if :: old > 3 -> goto done :: else fi; v = old + n; done: skip }
        active proctype P() { bump(x, 2); bump(x, 3); bump(x, 4) }
    ";
    check(source, 16, 16, 0);
}

#[test]
fn end_labels() {
    let source = r"
        byte x;
        active proctype P() { end: do :: x == 1 -> x = 0 od }
        active proctype Q() { x = 1; endless: (x == 7) }
    ";
    check(source, 4, 4, 0);
}

#[test]
fn assertions_are_passed_over() {
    let source = r"
        byte x;
        active [2] proctype P() { assert(x == 0); x++; assert(x == 2) }
    ";
    check(source, 21, 33, 9);
}

/// The jump itself is passed through, so the label gets a step of its own.
#[test]
fn remote_label_on_break() {
    let source = r"
        byte x;
        active proctype P() { do :: x < 2 -> x++ :: else -> out: break od; x = 9 }
        active proctype Q() { (P@out); x = 5 }
    ";
    check(source, 21, 24, 1);
}

/// Nobody ever stands there: unreachable, inside a d_step, on the first statement of an alternative.
#[test]
fn remote_label_that_is_no_place() {
    let unreachable = r"
        byte x;
        active proctype P() { x = 1; goto fin; out: x = 9; fin: skip }
        active proctype Q() { do :: P@out -> x = 5 :: x == 1 -> break od }
    ";
    check(unreachable, 8, 10, 0);
    let inside = r"
        byte x;
        active proctype P() { d_step { x = 1; L: x = 2; M: x = 3 }; N: d_step { x = 6; x = 7 } }
        active proctype Q() { do :: P@L -> x = 5 :: P@N -> x = 1 :: x == 7 -> break od }
    ";
    check(inside, 11, 14, 1);
    let alternative = r"
        byte x;
        active proctype P() { do :: L: x < 2 -> x++ :: else -> M: x = 3; break od }
        active proctype Q() { do :: P@L -> x = 5 :: P@M -> x = 7 :: x == 1 -> break od }
    ";
    check(alternative, 23, 31, 2);
}

#[test]
fn a_chain_of_jumps_is_no_circle() {
    let jumps: String = (0..800).map(|n| format!("L{n}: goto L{}; ", n + 1)).collect();
    check(&format!("byte x; active proctype P() {{ {jumps} L800: x = 1 }}"), 3, 3, 0);
    let inside = format!("byte x; active proctype P() {{ atomic {{ x = 1; {jumps} L800: x = 2; x = 3 }} }}");
    check(&inside, 3, 3, 0);
}
