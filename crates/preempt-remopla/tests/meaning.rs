//! What programs mean, by the reference search.

use preempt_core::{Budget, Silent, Verdict};
use preempt_model::Interpreter;
use preempt_model::search::{self, ReferenceOptions};
use preempt_remopla::{RemoplaOptions, load};

fn verdict(text: &str, options: &RemoplaOptions) -> Verdict {
    let loaded = load("p.rem", text, options, &Budget::unlimited());
    let model = loaded.model.unwrap_or_else(|| panic!("{:?}\n{text}", loaded.diagnostics));
    let interpreter = Interpreter::new(&model, &loaded.sources).expect("initial values");
    search::check(&interpreter, &ReferenceOptions::default(), &mut Silent).verdict
}

/// Is the condition true after the statements in every run? It is evaluated by the program itself.
fn always(declarations: &str, statements: &str, condition: &str) -> bool {
    let text = format!(
        "{declarations} init main; module void main() {{ {statements} if :: !({condition}) -> error: skip; :: else -> skip; fi }}"
    );
    match verdict(&text, &RemoplaOptions::default()) {
        Verdict::Holds => true,
        Verdict::Violated => false,
        Verdict::Inconclusive(reason) => panic!("{reason:?}\n{text}"),
    }
}

#[test]
fn integers_have_a_width() {
    assert!(always("int x(2);", "x = 3; x = x + 1;", "x == 0"));
    assert!(always("int x(2);", "x = 0; x = x - 1;", "x == 3"));
    assert!(always("define DEFAULT_INT_BITS 3 int x;", "x = 7; x = x + 2;", "x == 1"));
    assert!(always("int x;", "x = 255; x = x + 1;", "x == 0"));
    assert!(always("int x(4);", "x = 13; x = x / 4 + (x << 1) * 1 - (x & 1);", "x == (3 + 26 - 1) - 16"));
}

#[test]
fn assignments_happen_at_once() {
    assert!(always("int x(2), y(2);", "x = 1, y = 2; x = y, y = x;", "x == 2 && y == 1"));
    assert!(always(
        "int a[1,3](3);",
        "A i (1, 3) a[i] = i; A i (1, 2) a[i] = a[i + 1];",
        "a[1] == 2 && a[2] == 3 && a[3] == 3"
    ));
    assert!(always(
        "bool m[2][0,2];",
        "A i (0, 1) A j (0, 2) m[i][j] = true;",
        "A i (0, 1) A j (0, 2) m[i][j]"
    ));
}

#[test]
fn structures_are_their_fields() {
    let pair = "struct pair { int left(2), right(2); bool seen[2]; };";
    let zero = "A i (0, 1) x.seen[i] = false, x.left = 1, x.right = 2; y = x;";
    assert!(always(
        &format!("{pair} struct pair x, y;"),
        &format!("{zero} x.left = 3, x.seen[1] = true;"),
        "y.left == 1 && y.right == 2 && !y.seen[0] && !y.seen[1] && x.left == 3 && x.seen[1]"
    ));
    assert!(always(
        "struct s { int v(3); }; struct s a[3]; struct s b;",
        "A i (0, 2) a[i].v = i; b = a[2]; a[0] = b; a[1] = a[0], b.v = a[1].v;",
        "a[0].v == 2 && a[1].v == 2 && b.v == 1"
    ));
    assert!(!always("struct s { int v(3); }; struct s x;", "x.v = 0; x = undef;", "x.v == 0"));
    let local = "struct s { int v(2); }; int r(2); module int(2) f() { struct s x; x.v = 2; return x.v; }";
    assert!(always(local, "r = 0; r = f();", "r == 2"));
}

#[test]
fn what_was_not_assigned_has_any_value() {
    assert!(!always("int x(2);", "skip;", "x != 3"));
    assert!(!always("int x(2);", "x = 0; x = undef;", "x != 3"));
    assert!(always("int x(2);", "x = 0;", "x == 0"));
    assert!(!always("int x(2), y(2);", "y = x; x = 0;", "y == 0"), "x was read before it was assigned");
    assert!(!always("bool b; module bool f() { bool l; return l; }", "b = false; b = f();", "b"));
}

#[test]
fn guards_choose_and_wait() {
    assert!(!always("int x(2);", "x = 0; if :: true -> x = 1; :: true -> x = 2; fi", "x == 1"));
    assert!(always("int x(2);", "x = 0; if :: x == 1 -> x = 2; :: else -> x = 3; fi", "x == 3"));
    assert!(always("int x(2);", "x = 0; if :: x == 1 -> skip; fi x = 2;", "false"), "nobody comes that far");
    assert!(always("int x(3);", "x = 0; do :: x < 5 -> x = x + 1; :: else -> break; od", "x == 5"));
    assert!(always("int x(2);", "x = undef; skip(x > 1);", "x >= 2"));
    assert!(always("int x(2);", "x = 0; goto l; x = 1; l: skip;", "x == 0"));
    assert!(always("int x(2);", "x = 1; skip(E i (0, 3) x == i && !(A i (0, 3) x == i));", "true"));
}

#[test]
fn modules_return_values_and_recur() {
    // What is not assigned yet has any value in every frame, so there are few bits and few frames.
    let sum = "module int(3) sum(int n(2)) { int s(3); if :: n == 0 -> return 0; :: else -> s = sum(n - 1); return s + n; fi }";
    assert!(always(&format!("int x(3); {sum}"), "x = 0; x = sum(3);", "x == 6"));
    let cut = "module int(2) f() { return 1 + 2 + 2 - 0; }";
    let loaded =
        load("p.rem", &format!("int x(5); {cut} init f;"), &Default::default(), &Budget::unlimited());
    assert!(loaded.model.is_none(), "a constant that does not fit");
    assert!(always("int x(5); module int(2) f(int n(3)) { return n; }", "x = 0; x = f(7);", "x == 3"));
}

#[test]
fn threads_interleave_and_errors_are_labels() {
    let text = "int x(2); init main; module void t() { int r(2); r = x; x = r + 1; if :: x == 1 -> lost: skip; :: else -> skip; fi }
                module void main() { x = 0; fork t(); fork t(); }";
    assert_eq!(verdict(text, &RemoplaOptions::default()), Verdict::Holds);
    let lost = RemoplaOptions { error_label: Some("lost".into()) };
    assert_eq!(verdict(text, &lost), Verdict::Violated);
    assert_eq!(
        verdict("int a[2](2); int i(2); init main; module void main() { i = 2; a[i] = 1; }", &lost),
        Verdict::Violated
    );
}

#[test]
fn every_label_that_speaks_of_an_error_is_one() {
    for label in ["error", "error3", "ERROR", "my_error", "noError"] {
        let text = format!("init main; module void main() {{ {label}: skip; }}");
        assert_eq!(verdict(&text, &RemoplaOptions::default()), Verdict::Violated, "{label}");
        let other = RemoplaOptions { error_label: Some("bad".into()) };
        assert_eq!(verdict(&text, &other), Verdict::Holds, "{label}");
    }
}
