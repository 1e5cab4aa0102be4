//! Programs on which engines differed once, as small as they became: everything is compared on each of them.

use preempt_campaign::{liveness, promela, safety, successors};

#[track_caller]
fn agree(text: &str) {
    let program = promela(text).unwrap_or_else(|| panic!("no program: {text}"));
    for compared in
        [successors::compare(&program, 1000), safety::compare_all(&program), liveness::compare_all(&program)]
    {
        let compared = compared.unwrap_or_else(|difference| panic!("{difference}\n{text}"));
        assert!(compared > 0, "{text}");
    }
}

/// Machine code compared fields that the poll does not name.
#[test]
fn a_poll_with_fewer_fields_than_the_channel_has() {
    agree(
        "chan c = [2] of { byte, byte };
         active proctype P() { do :: c!3,0 :: c?_,_ od }
         active proctype Q() { do :: c?[3] -> skip od }",
    );
    agree("chan c = [1] of { bit, mtype, int }; active proctype P() { c!1,0,7; assert(c??[1] && !c?[0,_]) }");
}

/// The reference repeated a state for ever whose only step is a run-time error.
#[test]
fn a_step_that_ends_the_run_is_no_rest() {
    agree("active proctype P(chan c) { accept: c!1 }");
    agree("chan d; active proctype P() { d!0 } never { do :: skip; accept: skip od }");
}

/// Processes that ask for themselves or for each other overflowed the stack.
#[test]
fn enabled_in_a_circle() {
    agree("active proctype P() { (enabled(0)) }");
    agree("active proctype P() { (enabled(1)) } active proctype Q() { (enabled(0)) }");
    agree(
        "byte x; active proctype P() provided (enabled(1)) { x = 1 } active proctype Q() provided (enabled(0)) { x = 2 }",
    );
}

/// A claim that asks what has no answer ends in a finite run; nobody looks for a loop behind that.
#[test]
fn a_claim_with_a_run_time_error() {
    agree(
        "chan c = [0] of { byte }; active proctype P() { 0 }
         never { accept: do :: atomic { (c?[2]); (1) } od }",
    );
}

/// Machine code was refused to a Boolean program with a procedure that nobody calls.
#[test]
fn a_procedure_that_is_never_called() {
    let text = "decl g; void main() begin g := T; assert(g); end bool f(p) begin return p; end";
    let compared = preempt_campaign::sequential::boolean(text, 0).expect("a program");
    assert!(compared.expect("no difference") > 0);
}
