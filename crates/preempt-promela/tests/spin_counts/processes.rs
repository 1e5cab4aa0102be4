//! Processes: their starts and ends, priorities, and what they see of each other.

use super::*;

/// Each process also has the step in which it ends.
#[test]
fn one_assignment_each() {
    let source = r"
        byte x;
        active [2] proctype P() { x = 1 }
    ";
    check(source, 7, 9, 0);
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

#[test]
fn many_process_types() {
    let types: String = (0..300).map(|n| format!("proctype P{n}() {{ skip }}\n")).collect();
    check(&format!("{types} init {{ run P299() }}"), 5, 5, 0);
}
