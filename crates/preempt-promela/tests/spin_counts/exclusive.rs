//! Atomic and `d_step` sequences.

use super::*;

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
