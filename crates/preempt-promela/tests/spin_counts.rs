//! What small models mean: states, transitions and errors as Spin 6.5.2 counts them with every optimisation off
//! (`spin -a -o1 -o2 -o3`, `-DNOREDUCE -DSAFETY -DNOCLAIM`, `pan -c0`). Spin counts one transition more: the initial
//! state.

use preempt_core::Silent;
use preempt_model::{Interpreter, search};
use preempt_promela::{Additions, load};

fn check(source: &str, states: u64, transitions: u64, errors: u64) {
    let loaded = load("test.pml", source, &Additions::default(), &mut |name| Err(format!("no {name}")));
    let model = loaded.model.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
    let interpreter = Interpreter::new(&model, &loaded.sources).expect("initial values have a meaning");
    let stats = search::count(&interpreter, &search::Options::default(), &mut Silent).stats;
    let violations: u64 = stats.violations.values().sum();
    assert_eq!((stats.states, stats.transitions + 1, violations), (states, transitions, errors));
}

/// Each process also has the step in which it ends.
#[test]
fn one_assignment_each() {
    let source = r"
        byte x;
        active [2] proctype P() { x = 1 }
    ";
    check(source, 7, 9, 0);
}

#[test]
fn d_step_is_one_step() {
    let source = r"
        byte x;
        active [2] proctype P() { d_step { x = 1; x = 2; x = 3 } }
    ";
    check(source, 7, 9, 0);
}

#[test]
fn atomic_is_not_looked_into() {
    let source = r"
        byte x;
        active [2] proctype P() { atomic { x = 1; x = 2; x = 3 } }
    ";
    check(source, 7, 9, 0);
}

#[test]
fn rendezvous_is_one_step() {
    let source = r"
        chan c = [0] of { byte };
        byte x, y;
        active proctype S() { c!1; x = 1 }
        active proctype R() { byte v; c?v; y = v }
    ";
    check(source, 8, 10, 0);
}

/// The sender's atomic sequence is interrupted, the receiver's goes on.
#[test]
fn atomic_passes_to_the_receiver() {
    let source = r"
        chan c = [0] of { byte };
        byte x;
        active proctype S() { atomic { x = 1; c!1; x = 2; x = 3 } }
        active proctype R() { byte v; atomic { c?v; x = 4; x = 5 } }
        active proctype T() { x = 9 }
    ";
    check(source, 19, 25, 0);
}

/// It gives up the processor.
#[test]
fn atomic_that_blocks() {
    let source = r"
        byte x;
        active proctype P() { atomic { x = 1; x == 3; x = 4 } }
        active proctype Q() { x == 1 -> x = 2; x = 3 }
    ";
    check(source, 9, 10, 0);
}

/// Whoever is held back at a jump inside its atomic sequence is seen there.
#[test]
fn atomic_and_priorities() {
    let starts = r"
        byte x;
        active proctype P() { atomic { x = 1; if :: x = 2; run Q() priority 2 fi } }
        proctype Q() { x = 3 }
    ";
    check(starts, 6, 6, 0);
    let wakes = r"
        byte x;
        active proctype P() { atomic { x = 1; if :: x = 2 fi }; x = 4 }
        active proctype Q() priority 3 { x == 2 -> x = 3 }
    ";
    check(wakes, 8, 8, 0);
}

#[test]
fn atomic_and_provided() {
    let source = r"
        byte x;
        active proctype P() provided (x != 2) { atomic { x = 1; if :: x = 2 fi }; x = 4 }
        active proctype Q() { x == 2 -> x = 3 }
    ";
    check(source, 10, 12, 0);
}

#[test]
fn break_out_of_atomic() {
    let source = r"
        byte x;
        active proctype P() { do :: atomic { x < 3 -> x++; if :: x == 2 -> break :: else fi } od; x = 9 }
        active proctype Q() { x = 5 }
    ";
    check(source, 14, 16, 1);
}

#[test]
fn goto_out_of_atomic() {
    let source = r"
        byte x;
        active proctype P() { atomic { x = 1; goto out; x = 2 }; out: x = 3 }
        active proctype Q() { x = 5 }
    ";
    check(source, 15, 19, 0);
}

/// The atomic sequence goes on.
#[test]
fn goto_between_atomics() {
    let source = r"
        byte x;
        active proctype P() { atomic { x = 1; goto inside; x = 2 }; atomic { x = 7; inside: x = 3; x = 4 } }
        active proctype Q() { x = 5 }
    ";
    check(source, 10, 11, 0);
}

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
fn sorted_send_and_random_receive() {
    let source = r"
        chan c = [4] of { byte, byte };
        byte x;
        active proctype P() { byte v; c!!3,1; c!!1,2; c!!2,0; c??2,v; x = v; c?<x,v>; c?x,v; c??[3,1] -> x = 9; c??eval(3),v }
    ";
    check(source, 12, 12, 0);
}

#[test]
fn poll_with_fewer_fields() {
    let source = r"
        chan c = [2] of { byte, byte };
        byte x;
        active proctype P() { c!1,2; c?[1] -> x = 1; !c?[2] -> x = 2; len(c) == 1; nempty(c); nfull(c); c!1,1; full(c) }
    ";
    check(source, 12, 12, 0);
}

#[test]
fn channels_over_channels() {
    let source = r"
        chan c = [1] of { chan };
        byte x;
        active proctype P() { chan own = [1] of { byte }; c!own; own?x }
        active proctype Q() { chan d; c?d; d!5 }
    ";
    check(source, 8, 9, 0);
}

#[test]
fn array_of_channels_and_records() {
    let source = r"
        mtype = { red, green };
        typedef M { byte a; mtype m };
        chan c[2] = [1] of { M };
        byte x;
        active proctype P() { M m; m.a = 3; m.m = green; c[1]!m; m.a = 0; c[1]?m; x = m.a + m.m }
    ";
    check(source, 8, 8, 0);
}

/// Only the newest living process can die.
#[test]
fn run_and_death_in_order() {
    let source = r"
        byte x;
        proctype C(byte n) { x = x + n }
        init { run C(1); run C(2); x = 100 }
    ";
    check(source, 39, 51, 0);
}

#[test]
fn run_in_atomic_with_pid() {
    let source = r"
        byte x; pid p;
        proctype C(byte n) { x = n; x = _pid }
        init { atomic { p = run C(1); run C(p) }; (_nr_pr == 1) -> x = 50 }
    ";
    check(source, 23, 30, 0);
}

#[test]
fn wrap_around() {
    let source = r"
        byte b = 255; bit t = 1; short s = 32767; unsigned u : 3 = 7; int i = 2147483647;
        active proctype P() { b++; t++; s++; u++; i = i + 1; b = b - 1; u = 0 - 1 }
    ";
    check(source, 9, 9, 0);
}

/// An array of bits keeps bytes; a bit among several fields is one.
#[test]
fn bits_in_arrays_and_messages() {
    let source = r"
        bit a[2]; chan c = [1] of { bit }; chan d = [1] of { bit, bit }; byte x, y;
        active proctype P() { a[1] = 2; x = a[1]; c!3; c?x; d!3,2; d?x,y }
    ";
    check(source, 8, 8, 0);
}

#[test]
fn provided() {
    let source = r"
        byte x;
        active proctype P() provided (x != 1) { x = 1; x = 2 }
        active proctype Q() { x == 1 -> x = 5; x = 6 }
    ";
    check(source, 13, 14, 0);
}

/// Only the highest that can move does.
#[test]
fn priorities() {
    let source = r"
        byte x;
        active proctype P() priority 3 { x == 2 -> x = 3; x = 4 }
        active proctype Q() priority 2 { x = 1; x = 2; x = 7 }
        active proctype R() { x = 9 }
    ";
    check(source, 11, 11, 0);
}

#[test]
fn last_is_part_of_the_state() {
    let source = r"
        byte x;
        active [2] proctype P() { x++; (_last == _pid) -> x = 7 }
    ";
    check(source, 35, 45, 3);
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
fn conditional_expressions() {
    let source = r"
        byte x = 5; int y;
        active proctype P() { y = (x > 3 -> x * 2 : x / 0); y = -y % 7; y = ~y & 12 | 1 ^ 3; y = y << 2 >> 1; y = (1 && 0 || !0) }
    ";
    check(source, 7, 7, 0);
}

#[test]
fn assertions_are_passed_over() {
    let source = r"
        byte x;
        active [2] proctype P() { assert(x == 0); x++; assert(x == 2) }
    ";
    check(source, 21, 33, 9);
}

/// The first that can be taken.
#[test]
fn d_step_with_choices() {
    let source = r"
        byte x;
        active proctype P() { do :: d_step { x < 3 -> if :: x == 1 -> x = 2 :: x < 2 -> x++ :: else -> x = 3 fi; x = x } :: x == 3 -> break od }
        active proctype Q() { x = 1 }
    ";
    check(source, 17, 23, 0);
}

#[test]
fn d_step_receives_a_rendezvous() {
    let source = r"
        chan c = [0] of { byte }; byte x;
        active proctype S() { c!3; c!4 }
        active proctype R() { byte v; d_step { c?v; x = v; x = x + 1 }; d_step { c?v; x = v } }
    ";
    check(source, 5, 5, 0);
}

#[test]
fn d_step_in_atomic() {
    let source = r"
        byte x;
        active proctype P() { atomic { x = 1; d_step { x = 2; x = 3 }; x = 4 } }
        active proctype Q() { x = 7 }
    ";
    check(source, 10, 11, 0);
}

#[test]
fn remote_references() {
    let source = r"
        byte x;
        active proctype P() { byte mine = 3; x = 1; here: x = 2 }
        active proctype Q() { (P@here) -> x = 5; x = P[0]:mine }
    ";
    check(source, 16, 18, 1);
}

#[test]
fn enabled_and_pc() {
    let source = r"
        byte x;
        active proctype P() { x == 1 -> x = 2 }
        active proctype Q() { (enabled(0) == 0) -> x = 1; pc_value(0) > 0 }
    ";
    check(source, 12, 16, 0);
}

#[test]
fn two_init_bodies() {
    let source = r"
        byte x;
        init { x = 1 }
        init { x = 2 }
    ";
    check(source, 10, 11, 0);
}

#[test]
fn hidden_is_not_state() {
    let source = r"
        hidden byte h; byte x;
        active proctype P() { h = 1; x = 1; h = 2; x = 2 }
        active proctype Q() { x = 7 }
    ";
    check(source, 23, 32, 0);
}

#[test]
fn mtypes() {
    let source = r"
        mtype = { a, b, c }; mtype:colour = { red, blue }; mtype m = b; mtype:colour k = blue; byte x;
        active proctype P() { if :: m == b -> m = c :: else fi; x = m; k = red; x = k }
    ";
    check(source, 7, 7, 0);
}

/// The number of the new process is part of a larger expression.
#[test]
fn run_inside_a_value() {
    let source = r"
        byte x;
        proctype C(byte n) { x = n }
        init { byte p; p = 10 * run C(3); x = p }
    ";
    check(source, 11, 12, 0);
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
fn variadic_macros() {
    let source = r#"
        #define say(format, ...) printf(format, __VA_ARGS__)
        #define each(...) __VA_ARGS__
        #define maybe(a, ...) a, ## __VA_ARGS__
        byte x;
        active proctype P() {
            say("%d %d\n", x, 1); each(x = 1; x = 2); each(x = 3);
            printf(maybe("a")); printf(maybe("%d", x))
        }
    "#;
    check(source, 8, 8, 0);
}

#[test]
fn records_as_parameters() {
    let source = r"
        typedef T { byte a; byte b; bit c };
        T g;
        proctype P(T t) { t.a++; assert(t.b == 7); t.a++ }
        init { T u; u.a = 1; u.b = 7; u.c = 1; run P(u); run P(g) }
    ";
    check(source, 35, 51, 5);
    let nested = r"
        typedef S { byte x; short y };
        typedef T { byte a; S s };
        T g[2];
        proctype P(byte n; T t; byte m) { t.s.y = t.s.y + n; assert(t.s.y != 509 || t.a + t.s.x + m == 15) }
        init { g[1].a = 3; g[1].s.x = 4; g[1].s.y = 500; run P(9, g[1], 8); run P(1, g[0], 2) }
    ";
    check(nested, 25, 34, 0);
    let field_by_field = r"
        typedef T { byte a; byte b };
        proctype P(T q) { assert(q.a == 1 && q.b == 2) }
        init { run P(1, 2) }
    ";
    check(field_by_field, 5, 5, 0);
}

#[test]
fn records_given_to_inlines() {
    let source = r"
        typedef T { byte a; byte b[2] };
        T g, h[2]; chan c = [1] of { T };
        inline f(t, n) { t.a = n; t.b[1] = n + 1; c!t; c?t }
        init { T u; f(u, 1); f(g, 2); f(h[1], 3); assert(u.b[1] + g.a + h[1].b[1] == 8) }
    ";
    check(source, 15, 15, 0);
}

/// A value for a whole record is read and not used; the typedef's own values are.
#[test]
fn initial_values_of_records() {
    let source = r"
        typedef O { byte a[3] = {1, 2}; byte b = 5 };
        O q[2] = 255; O r = 6; O s[2] = {1, 2};
        active proctype P() {
            O l = 7;
            assert(q[0].a[0] == 1 && q[1].a[1] == 2 && q[1].a[2] == 2 && q[1].b == 5 && r.b + s[1].b + l.b == 15)
        }
    ";
    check(source, 3, 3, 0);
}

/// The process starts with the list; coming by, its first element is assigned again.
#[test]
fn lists_inside_blocks() {
    let source = r"
        byte x;
        active proctype P() {
            do
            :: x < 2 -> byte a[3] = {4}; assert(a[0] == 4 && a[1] == 4 + x); a[0] = 1; a[1]++; x++
            :: else -> break
            od
        }
    ";
    check(source, 15, 15, 0);
}

#[test]
fn channel_arrays_of_records() {
    let source = r"
        typedef M { byte a; byte b[2] };
        chan c[2] = [2] of { M };
        active proctype P() {
            M m, n; byte sum;
            m.a = 1; m.b[1] = 3; c[1]!m; m.a = 2; c[1]!m;
            for (n in c[1]) { sum = sum + n.a + n.b[1] }
            assert(sum == 9 && len(c[1]) == 2)
        }
    ";
    check(source, 20, 20, 0);
}

/// Spin complains and takes the first element.
#[test]
fn arrays_without_an_index() {
    let source = r"
        typedef M { byte a; byte b[3] };
        byte e[3] = {4, 5, 6}; byte f[2]; M m[2]; chan c = [1] of { byte };
        active proctype P() {
            f = e; e = 9; m.b = 3; m[1].b = 2; c!e; c?f; f++;
            assert(e[0] == 9 && e[1] == 5 && f == 10 && f[1] == 0 && m[0].b[0] + m[1].b[0] == 5)
        }
    ";
    check(source, 10, 10, 0);
}

/// A run-time error if it is reached and only then: not while the channel is full, or empty.
#[test]
fn wrong_numbers_of_message_fields() {
    check(
        "chan c = [1] of { byte, byte }; byte x; active proctype P() { c!1,2; if :: c!1 :: x = 1 fi }",
        4,
        4,
        0,
    );
    check("chan c = [1] of { byte, byte }; byte x; active proctype P() { if :: c?x :: x = 1 fi }", 3, 3, 0);
    for statement in ["c!1", "c!1,2; c?x", "c!1,2; c?x,_,_", "c!1,2; (c?[1,2,3])", "d = c; d!1"] {
        let source = format!(
            "chan c = [1] of {{ byte, byte }}; chan d; byte x; active proctype P() {{ {statement}; x = 1 }}"
        );
        let before = if statement.contains(';') { 2 } else { 1 };
        check(&source, before, before, 1);
    }
}

#[test]
fn many_process_types() {
    let types: String = (0..300).map(|n| format!("proctype P{n}() {{ skip }}\n")).collect();
    check(&format!("{types} init {{ run P299() }}"), 5, 5, 0);
}

#[test]
fn stray_ends_of_comments() {
    check("byte x; */\nactive proctype P() { x = 1; /* a /* b */ */ x = 2 } */", 4, 4, 0);
}

/// In a message each bit is one, also that of an array; alone it is a byte.
#[test]
fn bits_of_records_in_messages() {
    let two = r"
        typedef T { bit b[2] };
        T t, u; chan c = [1] of { T };
        active proctype P() { t.b[0] = 2; c!t; c?u; assert(u.b[0] == 2) }
    ";
    check(two, 6, 6, 1);
    let one = r"
        typedef T { bit b[1] };
        T t, u; chan c = [1] of { T };
        active proctype P() { t.b[0] = 2; c!t; c?u; assert(u.b[0] == 2) }
    ";
    check(one, 6, 6, 0);
}

/// Spin does not distinguish states by them, but the next step finds what the last one left.
#[test]
fn hidden_values_are_kept_where_they_are_read() {
    check("hidden byte g; active proctype P() { g = 1; assert(g == 1) }", 4, 4, 0);
    check(
        "hidden byte g; byte x; active proctype P() { atomic { g = 3; x = g }; assert(x == 3); printf(\"%d\", g) }",
        5,
        5,
        0,
    );
    check("hidden byte g, h; active [2] proctype P() { g++; h = g; h = 0 }", 21, 33, 0);
}

#[test]
fn a_chain_of_jumps_is_no_circle() {
    let jumps: String = (0..800).map(|n| format!("L{n}: goto L{}; ", n + 1)).collect();
    check(&format!("byte x; active proctype P() {{ {jumps} L800: x = 1 }}"), 3, 3, 0);
    let inside = format!("byte x; active proctype P() {{ atomic {{ x = 1; {jumps} L800: x = 2; x = 3 }} }}");
    check(&inside, 3, 3, 0);
}

/// Each is a step, also behind another one that does nothing.
#[test]
fn records_declared_inside_blocks() {
    let source = r"
        typedef T { int id };
        chan c = [0] of { T };
        active proctype P() { do :: T a; T b; c?a; b.id = a.id od }
    ";
    check(source, 3, 3, 1);
}
