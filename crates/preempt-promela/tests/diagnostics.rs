//! Typical mistakes: each gives one message, at its place, with what to do about it.

use preempt_core::SourceMap;

/// What is said about a text, as `line:column message` with the hint behind ` -- `.
fn said(text: &str) -> Vec<String> {
    let mut sources = SourceMap::new();
    let mut read = |_: &str| Err("no such file".to_string());
    let (_, diagnostics) = preempt_promela::parse(&mut sources, "model.pml", text, &[], &mut read);
    let line = |d: &preempt_core::Diagnostic| {
        let place = d.span.map(|span| sources.location(span));
        let place = place.map_or(String::new(), |l| format!("{}:{} ", l.line, l.column));
        let hint = d.hint.as_ref().map_or(String::new(), |hint| format!(" -- {hint}"));
        format!("{place}{}{hint}", d.message)
    };
    diagnostics.iter().map(line).collect()
}

/// Each text has one mistake.
#[track_caller]
fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(said(text), [*expected], "{text}");
    }
}

#[test]
fn habits_from_c() {
    check(&[
        (
            "init { if (x > 0) { x = 1 } else if (x == 0) { x = 2 } else { x = 3 } x = 4 }",
            "1:8 an `if` of Promela is a list of options, not that of C -- write if :: (condition) -> ... :: else -> ... fi",
        ),
        (
            "init { while (x < 3) { x++ } x = 1 }",
            "1:8 Promela has no `while` -- write do :: (condition) -> ... :: else -> break od",
        ),
        (
            "init { do { x++ } while (x < 3) }",
            "1:8 a `do` of Promela is a list of options, not that of C -- write do :: (condition) -> ... :: else -> break od",
        ),
        (
            "init { int i; for (i = 0; i < 3; i++) { skip } skip }",
            "1:22 a `for` of Promela runs over a range, it is not that of C -- write for (i : 0 .. n - 1) { ... }",
        ),
        (
            "init { for (int i : 0 .. 3) { skip } }",
            "1:13 the variable of a `for` must be declared before it -- write int i; for (i : 1 .. 3) { ... }",
        ),
        (
            "init { switch (x) { case 1: skip } }",
            "1:8 Promela has no `switch` -- write if :: x == 1 -> ... fi",
        ),
        ("init { x += 1 }", "1:10 Promela has no `+=` -- write it out: x = x + ..."),
        (
            "init { x = y++ }",
            "1:13 `++` is a statement of its own, not part of an expression -- write `x++` as a separate statement",
        ),
        ("init { ++x }", "1:8 `++` stands behind its variable -- write `x++` as a statement of its own"),
        (
            "init { x = y ? 1 : 2 }",
            "1:12 a receive (`?`) is not an expression -- a conditional value is written (condition -> a : b)",
        ),
        (
            "init { do :: x -> continue; od }",
            "1:19 Promela has no `continue` -- end the option there: the loop starts again by itself",
        ),
        (
            "int main() { return 0 }",
            "1:9 Promela has no functions -- use `inline name(parameters) { ... }` or a `proctype`",
        ),
        ("struct P { byte a }", "1:1 Promela has no `struct` -- use `typedef name { fields }`"),
        ("char c;", "1:1 unknown type `char` -- use `byte` (0 to 255)"),
        ("const N = 3;", "1:1 Promela has no `const` -- name a constant by a macro: #define N 3"),
        ("init { x = 0x1F }", "1:12 hexadecimal numbers are not part of Promela -- write 31"),
        ("init { x = !!y }", "1:12 `!!` is one token in Promela: a sorted send -- write `! !x`"),
    ]);
}

#[test]
fn signs_taken_for_others() {
    check(&[
        (
            "init { if :: (x = 1) -> skip fi }",
            "1:17 `=` assigns, it does not compare -- to compare write `==`",
        ),
        (
            "init { if :: x = 1 -> skip :: x == 2 fi }",
            "1:14 this guard is an assignment: it is always executable -- to compare write `==`; if the assignment \
             is meant, put `;` behind it",
        ),
        ("init { x := 1 }", "1:11 `:=` is not an operator -- assign with `=`"),
        ("init { x <> 1 }", "1:10 `<>` is not an operator here -- \"not equal\" is `!=`"),
        ("init { (x => 1) }", "1:11 `=>` is not an operator -- write `>=` to compare, `->` for an arrow"),
        ("init { (x === 1) }", "1:11 Promela compares with `==` and `!=` -- leave the third `=` out"),
        ("init { (x and y) }", "1:11 `and` is not an operator -- write `&&`"),
        ("init { x mod 2 == 1 }", "1:10 `mod` is not an operator -- write `%`"),
        (
            "init { printf('hi') }",
            "1:15 a character constant is one character between two ' -- for a text use double quotes: \"...\"",
        ),
        (
            "init { x = \"abc\" }",
            "1:12 a string can stand only in `printf` -- for named values declare an mtype: mtype = { red, green }",
        ),
        ("init { !full(c) }", "1:8 `full` cannot be negated -- write nfull(c)"),
        (
            "init { c!(1, 2) }",
            "1:10 a message is sent without parentheses around it -- write c!a,b or c!a(b)",
        ),
        (
            "#define N = 3\n",
            "1:11 the `=` becomes a part of `N` -- a macro is defined without `=`: #define N 3",
        ),
    ]);
}

#[test]
fn missing_things() {
    check(&[
        ("init { x = 1 y = 2 }", "1:14 missing `;` before `y` -- separate statements by `;` or `->`"),
        (
            "init { if x == 1 -> skip fi }",
            "1:11 missing `::` after `if` -- every option of `if` starts with `::`",
        ),
        ("init { do :: x -> y }", "1:21 missing `od` before `}`"),
        ("init { do :: if :: x -> y od }", "1:27 missing `fi` before `od`"),
        ("init {\n  x = 1\n", "2:8 missing `}` of `init` before the end of the text"),
        (
            "init { skip\nproctype P() { skip }",
            "2:1 `proctype` cannot stand within `init`: is a `}` missing above?",
        ),
        ("init { x = (1 + 2; y = 1 }", "1:18 expected `)`, found `;`"),
        (
            "init { if :: -> skip fi }",
            "1:14 no statement before `->` -- write the guard before `->`, `true` if there is none",
        ),
        (
            "init { if :: x -> y :: fi }",
            "1:24 no statement between `::` and `fi` -- a step that does nothing is `skip`",
        ),
        ("init { atomic { } }", "1:15 `atomic` is empty -- a step that does nothing is `skip`"),
        ("init { if fi }", "1:8 this `if` has no options -- write if :: condition -> ... fi"),
        (
            "proctype P { skip }\ninit { skip }",
            "1:10 the process `P` needs a list of parameters -- without parameters it is written `proctype P()`",
        ),
        ("proctype P(a) { skip }", "1:12 the parameter `a` has no type -- write its type: byte a"),
        ("init { run P }", "1:12 `run P` needs its arguments in parentheses -- write run P()"),
        (
            "inline f() { skip }\ninit { f; skip }",
            "2:8 the inline `f` needs its arguments in parentheses -- write f()",
        ),
        ("init { x = }", "1:12 expected an expression, found `}`"),
        ("init { goto }", "1:13 expected a label after `goto`, found `}`"),
        (
            "init { d_step skip }",
            "1:15 expected `{` after `d_step`, found `skip` -- the statements must stand in { and }",
        ),
        ("ltl p [] x", "1:7 expected `{` before the formula, found `[` -- write ltl name { formula }"),
        (
            "init {\n  x == 1\n  && y == 2\n}",
            "3:3 expected an expression, found `&&` -- the line above is a complete statement: put the `&&` at its \
             end, or parentheses around both lines",
        ),
    ]);
}

#[test]
fn things_too_many_or_in_the_wrong_place() {
    check(&[
        ("init { skip } }", "1:15 this `}` closes nothing"),
        ("init { x = (1 + 2)) }", "1:19 `)` closes nothing"),
        (
            "init { :: x -> skip }",
            "1:8 `::` can stand only within `if` or `do` -- write if :: ... fi, or do :: ... od",
        ),
        ("init { if :: x -> y od }", "1:21 `if` is closed by `fi`, not by `od`"),
        ("init() { skip }", "1:5 `init` has no parameters -- write `init { ... }`"),
        (
            "proctype P(int a, int b) { skip }",
            "1:19 after `,` another variable of the same type is expected -- separate declarations, and parameters \
             of different declarations, by `;`",
        ),
        (
            "inline f(int a) { skip }",
            "1:10 the parameters of an inline have no types -- write only their names: they stand for the arguments' text",
        ),
        (
            "x = 1;",
            "1:1 a statement can stand only within a process -- put it into `init { ... }` or a proctype",
        ),
        (
            "init { L: byte x }",
            "1:11 the label `L` stands before a declaration -- a label marks a statement: move the declaration above `L:`",
        ),
        (
            "init { x unless y unless z }",
            "1:19 only one `unless` can follow a statement -- group by braces: { a unless b } unless c",
        ),
        (
            "init { mtype = { a } }",
            "1:8 mtype names are declared outside of processes -- move the declaration above the process",
        ),
        ("init { x = 1, y = 2 }", "1:13 statements are separated by `;` or `->`, not by `,`"),
        (
            "init { return }",
            "1:8 `return` can stand only in an inline -- a process ends at its closing brace; jump there with `goto`",
        ),
        (
            "init { c_code { now.x = 0x1; } }",
            "1:8 embedded C (`c_code`) is not supported -- write the step in Promela: assignments, `if`, `atomic` or `d_step`",
        ),
        (
            "byte grid[2][3];",
            "1:13 arrays have one dimension in Promela -- put the inner array into a typedef: typedef row { byte \
             cell[3] }; row rows[3]",
        ),
    ]);
}

#[test]
fn channels() {
    check(&[
        (
            "chan c[2] of { byte };",
            "1:11 the channel `c` needs `=` before its capacity -- write chan c = [2] of { byte }",
        ),
        (
            "chan c = 2 of { byte };",
            "1:10 a channel's capacity stands in brackets -- write chan c = [2] of { byte }",
        ),
        (
            "chan c = [2] of byte;",
            "1:17 the types of a channel's messages stand in braces -- write chan c = [2] of { byte, mtype }",
        ),
        (
            "chan c = [2] of { byte x };",
            "1:24 a message's fields have types but no names -- write { byte, int }",
        ),
    ]);
}

#[test]
fn misspelt_words() {
    check(&[
        ("proctpye P() { skip }", "1:1 unknown word `proctpye` -- did you mean `proctype`?"),
        ("init { atmoic { skip } }", "1:8 unknown word `atmoic` -- did you mean `atomic`?"),
        ("init { prinft(\"x\") }", "1:8 `prinft` is not an inline -- did you mean `printf`?"),
        ("init { byet x; skip }", "1:8 unknown type `byet` -- did you mean `byte`?"),
        ("inline push(x) { skip }\ninit { psuh(1) }", "2:8 `psuh` is not an inline -- did you mean `push`?"),
        (
            "init { P(1) }\nproctype P(byte a) { skip }",
            "1:8 `P` is a process type and is started with `run` -- write run P(...)",
        ),
        ("#defin N 3\n", "1:1 unknown directive `#defin` -- did you mean `#define`?"),
        (
            "init { byte if; skip }",
            "1:13 expected a variable's name, but `if` is a keyword -- choose another name",
        ),
    ]);
}

#[test]
fn openings_are_pointed_at() {
    let mut sources = SourceMap::new();
    let mut read = |_: &str| Err(String::new());
    let text = "init {\n  do\n  :: x -> y\n}\n";
    let (_, diagnostics) = preempt_promela::parse(&mut sources, "model.pml", text, &[], &mut read);
    let label = &diagnostics[0].labels[0];
    assert_eq!(label.text, "this `do` is not closed");
    assert_eq!(sources.location(label.span).to_string(), "model.pml:2:3");
}

#[test]
fn a_mistake_within_a_macro_is_shown_at_its_use() {
    assert_eq!(
        said("#define P x = = 1\ninit {\n  P\n}"),
        ["3:3 `=` assigns, it does not compare -- to compare write `==`"]
    );
}

/// What is said about a whole model, warnings too: message and hint.
fn said_of_model(text: &str) -> Vec<String> {
    let mut read = |_: &str| Err("no such file".to_string());
    let loaded = preempt_promela::load("model.pml", text, &preempt_promela::Additions::default(), &mut read);
    let line = |d: &preempt_core::Diagnostic| match &d.hint {
        Some(hint) => format!("{} -- {hint}", d.message),
        None => d.message.clone(),
    };
    loaded.diagnostics.iter().map(line).collect()
}

/// Each was tried by somebody who did not know Promela, and the message of then led nowhere.
#[test]
fn what_newcomers_write() {
    let process = "byte x; active proctype P() { byte mine; mine = x }";
    let cases = [
        (
            format!("{process} ltl p {{ G (x < 2) }}"),
            "`G` is no operator of a formula: \"always\" is written `[]` -- write [] (...), with parentheses around what it is about",
        ),
        (
            format!("{process} ltl p {{ F x == 1 }}"),
            "`F` is no operator of a formula: \"eventually\" is written `<>` -- write <> (...), with parentheses around what it is about",
        ),
        (
            format!("{process} ltl p {{ <> x == 1 }}"),
            "a temporal operator cannot stand inside this operator -- write `<> (x == 1)`; Spin reads it as something else",
        ),
        (
            format!("{process} ltl p {{ <> (mine == 1) }}"),
            "there is no variable `mine` here -- `mine` is a variable of `P`: a formula names it `P:mine`, or make it global",
        ),
        (
            "bool b; active proctype P() { b = TRUE }".into(),
            "there is no variable `TRUE` here -- write `true`, in small letters",
        ),
        (
            "byte x, y; active proctype P() { x = y > 0 ? 1 : 2 }".into(),
            "`? :` is no operator of Promela -- a conditional value is written (condition -> a : b)",
        ),
        (
            "byte x, y; active proctype P() { x = (y > 0 ? 1 : 2) }".into(),
            "`? :` is no operator of Promela -- a conditional value is written (condition -> a : b)",
        ),
        ("byte a, b; active proctype P() { d = a }".into(), "there is no variable `d` here"),
        ("#include \"gone.h\"\nactive proctype P() { skip }".into(), "cannot read `gone.h`: no such file"),
    ];
    for (text, expected) in cases {
        assert_eq!(said_of_model(&text), [expected], "{text}");
    }
}

/// Spin says it only when it simulates the assignment.
#[test]
fn a_constant_that_does_not_fit_is_told() {
    let cases = [
        (
            "byte x = 300; active proctype P() { x = 0 }",
            "300 does not fit: the variable has 8 bits, 0 to 255, and will be 44",
        ),
        (
            "byte x; active proctype P() { x = 256 }",
            "256 does not fit: the variable has 8 bits, 0 to 255, and will be 0",
        ),
        (
            "byte x; active proctype P() { x = -1 }",
            "-1 does not fit: the variable has 8 bits, 0 to 255, and will be 255",
        ),
        ("bit x; active proctype P() { x = 2 }", "2 does not fit: the variable has one bit, and will be 0"),
        (
            "short x[2] = { 1, 40000 }; active proctype P() { x[0] = 0 }",
            "40000 does not fit: the variable has 16 bits, -32768 to 32767, and will be -25536",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(said_of_model(text), [expected], "{text}");
    }
    let fits = "byte x = 255; short y = -32768; int z = -1; bool b = true; mtype = { one }; mtype m = one;
                active proctype P() { x = 0; b = 1; z = 2147483647; m = one; y = x }";
    assert_eq!(said_of_model(fits), [""; 0]);
}
