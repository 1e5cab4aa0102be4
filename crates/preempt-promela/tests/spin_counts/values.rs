//! Variables, records, macros and what is hidden.

use super::*;

#[test]
fn wrap_around() {
    let source = r"
        byte b = 255; bit t = 1; short s = 32767; unsigned u : 3 = 7; int i = 2147483647;
        active proctype P() { b++; t++; s++; u++; i = i + 1; b = b - 1; u = 0 - 1 }
    ";
    check(source, 9, 9, 0);
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
fn hidden_is_not_state() {
    let source = r"
        hidden byte h; byte x;
        active proctype P() { h = 1; x = 1; h = 2; x = 2 }
        active proctype Q() { x = 7 }
    ";
    check(source, 23, 32, 0);
}

/// A set that is not declared has no names; who only mistyped it is told.
#[test]
fn an_mtype_that_is_not_declared() {
    let source = r"
        mtype:act = { go, stop };
        byte x;
        active proctype P() { mtype:Act d; x = d; d = 2; x = d; mtype:act e = go; x = e }
    ";
    check(source, 7, 7, 0);
}

#[test]
fn mtypes() {
    let source = r"
        mtype = { a, b, c }; mtype:colour = { red, blue }; mtype m = b; mtype:colour k = blue; byte x;
        active proctype P() { if :: m == b -> m = c :: else fi; x = m; k = red; x = k }
    ";
    check(source, 7, 7, 0);
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

#[test]
fn stray_ends_of_comments() {
    check("byte x; */\nactive proctype P() { x = 1; /* a /* b */ */ x = 2 } */", 4, 4, 0);
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
