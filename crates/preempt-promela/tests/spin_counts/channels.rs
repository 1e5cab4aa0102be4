//! Messages and channels.

use super::*;

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
