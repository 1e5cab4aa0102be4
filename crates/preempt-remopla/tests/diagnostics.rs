//! What is said about mistakes, with their places.

use preempt_core::{Budget, Diagnostic};
use preempt_remopla::load;

fn errors(text: &str) -> Vec<(String, usize)> {
    let loaded = load("p.rem", text, &Default::default(), &Budget::unlimited());
    assert_eq!(loaded.model.is_some(), !loaded.diagnostics.iter().any(Diagnostic::is_error), "{text}");
    let errors = loaded.diagnostics.into_iter().filter(Diagnostic::is_error);
    errors.map(|it| (it.message, it.span.map_or(usize::MAX, |span| span.start as usize))).collect()
}

/// The place of the first mistake is that of `at` in the text.
fn says(text: &str, message: &str, at: &str) {
    let found = errors(text);
    let place = if at.is_empty() { text.len() } else { text.find(at).expect("it is in the text") };
    assert!(found.contains(&(message.to_string(), place)), "{text}: {found:?}, not at {place}");
}

fn body(statements: &str) -> String {
    format!(
        "int x(2), a[3](2); bool b; enum e {{ one, two }}; enum e c; init main; module int(2) f(int n(2)) {{ return n; }} module void v() {{ }} module void main() {{ {statements} }}"
    )
}

#[test]
fn undeclared_names_are_named() {
    says(&body("y = 1;"), "there is no variable `y`", "y = 1");
    says(&body("g();"), "there is no module `g`", "g()");
    says(&body("goto nowhere;"), "there is no label `nowhere`", "nowhere");
    says("init man; module void main() { }", "there is no module `man`", "man;");
    says("enum f x; init main; module void main() { }", "there is no enumeration `f`", "f x");
    says(
        "module void g(); init main; module void main() { g(); }",
        "the module `g` is announced and has no body",
        "g(); }",
    );
}

#[test]
fn widths_and_types_are_checked() {
    says("int x(0); init main; module void main() { }", "an integer has 1 to 30 bits, and not 0", "0)");
    says("int x(31); init main; module void main() { }", "an integer has 1 to 30 bits, and not 31", "31)");
    says("bool x(2); init main; module void main() { }", "only integers have a width", "2)");
    says(
        "define DEFAULT_INT_BITS 64 init main; module void main() { }",
        "an integer has 1 to 30 bits, and not 64",
        "DEFAULT",
    );
    says(&body("x = 4;"), "4 does not fit into 2 bits", "4;");
    says(&body("x = b;"), "expected a number, found a truth value", "b; }");
    says(&body("b = x + 1;"), "expected a truth value, found a number", "x + 1;");
    says(&body("c = 1;"), "expected a value of the enumeration", "1; }");
    says(&body("skip(x);"), "expected a truth value, found a number", "x);");
    says(&body("skip(b == x);"), "values of different types are compared", "b == x");
    says(&body("a[3] = 1;"), "`a` has no element 3", "3] = 1");
    says(&body("a = 1;"), "`a` is an array: it takes one index, and not 0", "a = 1");
    says(&body("x[0] = 1;"), "`x` is no array", "x[0]");
    says(&body("x = f();"), "`f` takes 1 arguments, and not 0", "f();");
    says(&body("x = f(9);"), "9 does not fit into 2 bits", "9);");
    says(&body("x = v();"), "`v` returns nothing", "v();");
    says(&body("b = f(1);"), "`f` returns a value of another type", "b = f");
    says(&body("x = 1, x = 2;"), "the same variable twice", "x = 2");
    says(&body("x = 1 / 0;"), "a division by zero", "1 / 0");
    says("int a[4000,1]; init main; module void main() { }", "an array from 4000 to 1", "4000");
    says(
        "init main; module int f() { skip; } module void main() { }",
        "`f` may end without a value",
        "} module void main",
    );
}

#[test]
fn what_is_cut_short_is_told_at_its_end() {
    says("init main; module void main() { skip", "expected `;`, found the end of the file", "");
    says(
        "init main; module void main() { if :: true -> skip; ",
        "expected `fi`, found the end of the file",
        "",
    );
    says("init main; module void main() { ", "expected `}`, found the end of the file", "");
    says("init main", "expected `;`, found the end of the file", "");
    says("int x(", "expected an expression, found the end of the file", "");
    assert_eq!(
        errors("module void main() { }"),
        [("nothing says which module the program begins with".to_string(), usize::MAX)]
    );
}

#[test]
fn what_is_not_supported_is_refused_by_name() {
    says("struct s { int a; } int a(1); struct t x; init main;", "there is no structure `t`", "t x");
    says("struct s { }; init main;", "a structure without fields", "s { }");
    says("struct s { int a, a; }; init main;", "two fields are called `a`", "a; };");
    says(
        "struct s { struct s x; }; init main;",
        "a structure within a structure, or between modules",
        "struct s x",
    );
    says(
        "struct s { bool a[2][2]; }; struct s x[2]; init main;",
        "`x.a` would have more than two dimensions",
        "x[2]",
    );
    says(
        "struct s { bool a; }; struct t { bool a; }; struct s x; struct t y; init m; module void m() { x = y; }",
        "`y` is no structure `s`",
        "y; }",
    );
    says(
        "struct s { bool a; }; struct s x; init m; module void m() { x.b = true; }",
        "there is no variable `x.b`",
        "x.b",
    );
    says(&body("x != 1;"), "assigning any other value is not supported", "!= 1");
    says(
        &body("x = f(1), b = true;"),
        "assignments beside another statement are not supported",
        ", b = true",
    );
    says(&body("x = f(1) + 1;"), "expected `;`, found `+`", "+ 1");
    says(&body("p <g> --> q <h>;"), "rules inside of a module are not supported", "p <g>");
    says(&body("x = a[0]';"), "values after a step are not supported", "';");
    says("init a b; module void a() { }", "a stack of several modules to begin with", "b;");
}

#[test]
fn other_mistakes() {
    says(&body("break;"), "`break` outside of a `do`", "break");
    says(&body("l: skip; l: skip;"), "there are two labels `l`", "l: skip; }");
    says(&body("if fi"), "no branch", "fi }");
    says(&body("x = 1 % 2;"), "unknown character `%`", "%");
    says("init main; init main; module void main() { }", "a second `init`", "main; module");
    says("int x; int x; init main; module void main() { }", "`x` is declared twice", "x; init");
    let twice = "init main; module void main() { } module bool main() { return true; }";
    assert_eq!(
        errors(twice)[0],
        ("there are two modules `main`".to_string(), twice.rfind("main").unwrap_or(0))
    );
    says("x = 1;", "expected a declaration or a module, found `x`", "x = 1");
}

/// Every text that is cut anywhere is read, with mistakes or without.
#[test]
fn nothing_panics() {
    for text in
        [include_str!("../../../models/remopla/sort.rem"), include_str!("../../../models/remopla/phases.rem")]
    {
        for end in 0..text.len() {
            errors(&text[..end]);
        }
        for start in (0..text.len()).step_by(3) {
            errors(&text[start..]);
        }
    }
    let deep =
        format!("init main; module void main() {{ skip({}true{}); }}", "(".repeat(5000), ")".repeat(5000));
    assert!(!errors(&deep).is_empty());
    let nested = format!("init main; module void main() {{ {} }}", "if :: true -> ".repeat(3000));
    assert!(!errors(&nested).is_empty());
}
