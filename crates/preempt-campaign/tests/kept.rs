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

/// The steps alone, where every order of so many processes would take too long.
#[track_caller]
fn agree_on_steps(text: &str) {
    let program = promela(text).unwrap_or_else(|| panic!("no program: {text}"));
    let compared =
        successors::compare(&program, 1000).unwrap_or_else(|difference| panic!("{difference}\n{text}"));
    assert!(compared > 10, "{compared}: {text}");
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

/// Two moves look the same, and only one leads to where the process blocks: found again by its words alone, the run had a
/// preemption more.
#[test]
fn moves_that_look_the_same_are_told_apart_by_the_switch_behind_them() {
    agree(
        "short g8; byte g9, g10 = 1; chan c11 = [2] of { short, short, bool };
         active [2] proctype P0() { accept1: c11??0; }
         proctype P1(chan p0) { do :: skip -> p0!g8,0,(0) & 3;; :: true -> od; }
         init { g10 = (run P1(1) + 1) & 3; }",
    );
}

/// An element of an array that never changes was laid out apart from the others.
#[test]
fn an_array_as_a_parameter_that_says_which_element_is_meant() {
    agree(
        "typedef T { pid f[2] }; byte g; chan c = [0] of { byte, mtype };
         proctype P(T p) { do :: true; c?g,eval(p.f[p.f[0]]);; od } init { byte t = 1; }",
    );
    agree(
        "typedef T { byte f[3] }; byte a[3]; T t; chan c = [1] of { byte };
         proctype P(T p; byte n) { a[p.f[p.f[0]]] = n; c!p.f[n]; a[p.f[2]]++ }
         init { t.f[0] = 1; t.f[1] = 2; run P(t, 1); c?a[0]; assert(a[0] != 2) }",
    );
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

/// The interpreter numbered channels beyond what a byte holds, where machine code makes a run-time error, as Spin does.
/// The last process that fits, and the first that does not; processes that end, so that others get their numbers.
#[test]
fn as_many_channels_as_there_can_be() {
    agree_on_steps("proctype P() { chan c[2] = [1] of { byte }; run P(); 0 } init { run P() }");
    for (own, globals) in [(3, 1), (50, 5), (127, 2)] {
        agree_on_steps(&format!(
            "chan g[{globals}] = [1] of {{ byte }};
             proctype P() {{ chan c[{own}] = [1] of {{ byte }}; if :: c[{own} - 1]!1; run P() :: c[0]!1 fi }}
             init {{ run P(); _nr_pr == 1 -> run P() }}"
        ));
    }
    agree("proctype P() { chan c[128] = [0] of { byte }; run P() } init { run P() }");
    agree("active proctype P() { chan c[255] = [1] of { byte }; c[254]!1; c[254]?_; run P() }");
}

/// As many processes as there can be, also with much in the state of each.
#[test]
fn as_many_processes_as_there_can_be() {
    for (body, others) in [
        ("byte x = _pid; run P(); x == _pid + 1", ""),
        ("chan c = [2] of { chan, byte }; c!c,_pid; run P(); 0", ""),
        ("run Q(_pid); 0", "proctype Q(byte x) { int a[3] = 7; a[x % 3] = x; run P(); 0 }"),
    ] {
        agree_on_steps(&format!("active proctype P() {{ {body} }} {others}"));
    }
    agree_on_steps("active [254] proctype P() { 0 } init { run P(); 0 }");
    // Much in the state of each.
    agree_on_steps(
        "proctype P(byte n) { int a[9000] = n; a[8999] = n; n < 8; run P(n + 1); 0 } init { run P(1) }",
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
