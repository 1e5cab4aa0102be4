//! Typical mistakes: each gives one message, at its place, with what to do about it.

use preempt_boolean::{BooleanOptions, Dialect, load};

/// What is said about a text, as `line:column message` with the hint behind ` -- `.
fn said(text: &str, options: &BooleanOptions) -> Vec<String> {
    let loaded = load("model.bp", text, options);
    let line = |d: &preempt_core::Diagnostic| {
        let place = d.span.map(|span| loaded.sources.location(span));
        let place = place.map_or(String::new(), |l| format!("{}:{} ", l.line, l.column));
        let hint = d.hint.as_ref().map_or(String::new(), |hint| format!(" -- {hint}"));
        format!("{place}{}{hint}", d.message)
    };
    loaded.diagnostics.iter().map(line).collect()
}

/// Each text has one mistake. What has no `main` is its body.
#[track_caller]
fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let whole = if text.contains("main") {
            text.to_string()
        } else {
            format!("decl flag, turn; void main() begin\n{text}\nend")
        };
        assert_eq!(said(&whole, &BooleanOptions::default()), [*expected], "{text}");
    }
}

#[test]
fn names() {
    check(&[
        ("trun := T;", "2:1 `trun` is not declared -- did you mean `turn`?"),
        ("turn := true;", "2:9 `true` is not declared -- write T or 1"),
        ("assume(_);", "2:8 `_` has no value: it is the target that keeps nothing"),
        ("goto lop; loop: skip;", "2:6 there is no label `lop` in `main` -- did you mean `loop`?"),
        ("here: skip; goto here; here: skip;", "2:18 two statements have the label `here`"),
        (
            "turn := 'flag;",
            "2:9 a value after the step, where there is no step -- `'x` has a meaning only behind `constrain`",
        ),
        ("turn, turn := T, F;", "2:7 `turn` is assigned twice at once"),
        ("turn, flag := T;", "2:1 2 variables for 1 value"),
        ("turn := T, F;", "2:1 1 variable for 2 values"),
    ]);
}

#[test]
fn declarations() {
    check(&[
        ("decl x; decl x; void main() begin skip; end", "1:14 the variable `x` is declared twice"),
        (
            "void f(p) begin decl p; skip; end void main() begin f(T); end",
            "1:22 the variable `p` is declared twice",
        ),
        ("void main() begin skip; end void main() begin skip; end", "1:34 there are two procedures `main`"),
        ("decl x, if; void main() begin skip; end", "1:9 `if` is a keyword and cannot name a variable"),
        (
            "decl x := !x; void main() begin skip; end",
            "1:6 `x` can begin with 0, 1 or `*` only -- assign it at the beginning of `main`",
        ),
        (
            "void main() begin skip; decl x; end",
            "1:25 a declaration stands before all statements -- move it behind `begin`, before the first statement",
        ),
        (
            "void main() begin decl thread_local x; x := T; end",
            "1:24 only global variables can be `thread_local` -- locals belong to their thread anyway",
        ),
    ]);
    assert_eq!(
        said("void f() begin skip; end", &BooleanOptions::default()),
        [
            "there is no procedure `main`, where the program begins -- write void main() begin ... end; threads are started by start_thread f();"
        ]
    );
    let getafix = "decl super_atomic, atomic; void init() begin super_atomic, atomic := F, F; end
        void t() begin atomic := F; assume(T); end";
    assert_eq!(
        said(getafix, &BooleanOptions::default()),
        [
            "1:33 GETAFIX's threads, which a file does not name, are not supported: there is no `main` -- write void main() begin init(); start_thread f(); g(); end, and atomic blocks for `atomic`"
        ]
    );
}

#[test]
fn calls() {
    let program = |main: &str| {
        format!("decl x; bool<2> pair(a) begin return a, !a; end void main() begin\n{main}\nend")
    };
    for (main, expected) in [
        (
            "x := pair(T);",
            "2:1 `pair` returns 2 values, here is 1 variable -- the target `_` takes a value that nobody needs",
        ),
        ("x, _ := pair();", "2:9 `pair` has 1 parameter, here are no arguments"),
        ("piar(T);", "2:1 there is no procedure `piar` -- did you mean `pair`?"),
        ("start_thread pair(x, x);", "2:14 `pair` has 1 parameter, here are 2 arguments"),
        ("return x;", "2:1 `main` returns no values, here is 1 value"),
        ("ASYNC_1: x, _ := pair(T);", "2:10 a thread returns nothing to the one that starts it"),
        (
            "x := x & pair(T);",
            "2:14 a call is not part of an expression -- assign its result to a variable first: x := f(y);",
        ),
        (
            "x, _ := pair(T), x;",
            "2:16 a call is the whole right side of an assignment -- assign its result to a variable first",
        ),
        ("x := pair;", "2:6 `pair` is not declared -- to call the procedure, write pair()"),
    ] {
        assert_eq!(said(&program(main), &BooleanOptions::default()), [expected], "{main}");
    }
}

#[test]
fn atomic_blocks() {
    check(&[
        (
            "atomic_begin; goto out; atomic_end; out: skip;",
            "2:20 this jump leaves an atomic block -- jump to its atomic_end, or end the block before the jump",
        ),
        (
            "goto in; atomic_begin; in: skip; atomic_end;",
            "2:6 this jump enters an atomic block -- jump to its atomic_end, or end the block before the jump",
        ),
        (
            "atomic_begin; return; atomic_end;",
            "2:15 this `return` leaves an atomic block -- write atomic_end; before it, or jump to the block's end",
        ),
        (
            "atomic_begin; skip;",
            "2:1 this atomic block is never ended -- write atomic_end; in the same list of statements",
        ),
        ("skip; atomic_end;", "2:7 this `atomic_end` ends nothing that began here"),
        (
            "start_thread goto in; atomic_begin; in: skip; atomic_end;",
            "2:19 a thread cannot start inside an atomic block -- jump to its atomic_end, or end the block before the jump",
        ),
    ]);
    let halves = "void main() begin atomic_begin; if * then atomic_end; fi; atomic_end; end";
    assert_eq!(
        said(halves, &BooleanOptions::default()),
        [
            "1:43 this `atomic_end` ends nothing that began here -- begin and end an atomic block in the same list of statements"
        ]
    );
}

#[test]
fn syntax() {
    check(&[
        ("turn = T;", "2:6 `=` compares -- write `:=` to assign"),
        ("turn := T flag := F;", "2:10 missing `;` before `flag`"),
        ("if turn then skip;", "3:1 missing `fi` before `end`"),
        ("while turn skip; od;", "2:12 expected `do` behind the condition, found `skip`"),
        ("assume(turn;", "2:12 expected `)`"),
        (
            "turn := turn + flag;",
            "2:14 unknown character `+` -- all values are Boolean: there is no arithmetic",
        ),
        ("turn := 2;", "2:9 the only numbers are 0 and 1"),
        ("turn := schoose[T];", "2:18 expected `,` and a second condition: `schoose` has two, found `]`"),
        (
            "sync e;",
            "2:1 `sync`, a statement of SATABS that its own checker never executes, is not supported -- wait for a shared \
             variable instead: assume(x);",
        ),
        (
            "atomic_begin; wait; atomic_end;",
            "2:15 this `wait` stands in an atomic block, where nobody can broadcast",
        ),
        (
            "assume(turn$);",
            "2:8 `turn$`, which is `turn` of every other thread, stands here -- it has a meaning in assignments and behind \
             `constrain` only",
        ),
        (
            "turn := turn$;",
            "2:9 `turn$` is a value of every other thread, and `turn` is one variable -- only `turn$` can take it",
        ),
        ("start_thread;", "2:13 expected `goto` and a label, or a call, behind `start_thread`, found `;`"),
        ("fi", "2:1 this `fi` belongs to nothing"),
        (
            "main() begin skip; end",
            "1:1 expected `decl`, or a procedure such as `void main() begin ... end`, found `main`",
        ),
        (
            "int main() begin skip; end",
            "1:1 a procedure begins with what it returns -- write void f() begin ... end, or bool<2> f(a, b) begin ... end",
        ),
        ("void main() begin skip;", "1:24 this procedure has no `end`"),
        ("void main() begin skip; end end", "1:29 this `end` closes no procedure"),
        ("/* main", "1:1 this comment is never closed -- close it with `*/`"),
    ]);
}

#[test]
fn several_mistakes_are_found_at_once() {
    let text = "decl x;
void f(a) begin
  y := T;
  x := a b;
  x := F;
  f();
end
void main() begin
  z = 1;
  assume(x;
  f(x)
end";
    let lines = |text: &str| -> Vec<String> {
        let said = said(text, &BooleanOptions::default());
        said.iter().map(|line| line.split(':').next().unwrap_or("").to_string()).collect()
    };
    // First what cannot be read; names are looked up once all of it can.
    assert_eq!(lines(text), ["4", "9", "10"]);
    let readable = text.replace("a b", "a").replace("z = 1", "z := 1").replace("(x;", "(x);");
    assert_eq!(lines(&readable), ["3", "6", "9"]);
}

#[test]
fn dialects_and_labels() {
    let text = "decl a, b, c; void main() begin a := b = c & a; end";
    let warning = "1:38 the dialects of Boolean programs group this differently -- add parentheses, or choose with --dialect satabs or --dialect getafix";
    assert_eq!(said(text, &BooleanOptions::default()), [warning]);
    for dialect in Dialect::ALL {
        assert!(
            said(text, &BooleanOptions { dialect: Some(dialect), ..BooleanOptions::default() }).is_empty()
        );
    }
    let missing = BooleanOptions { error_label: Some("BAD".into()), ..BooleanOptions::default() };
    assert_eq!(said("void main() begin skip; end", &missing), ["no statement has the label `BAD`"]);
    assert!(said("void main() begin BAD: skip; end", &missing).is_empty());
}
