//! Steps that are remembered instead of computed: models in which a step depends on more than it seems, each counted level by
//! level with every step remembered from the first state on, against the search in order of cost, which remembers nothing.
//! (Where assertions are checked, as here, one of eight remembered steps is computed again and compared, in every test.)

use preempt_core::{Silent, Verdict};
use preempt_explicit::{Goal, Reduction, SearchOptions, explore};
use preempt_promela::{Additions, load};

#[track_caller]
fn compare(text: &str) -> u64 {
    let loaded = load("m.pml", text, &Additions::default(), &mut |_| Err(String::new()));
    let model = loaded.model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let search = |options: SearchOptions, goal| {
        explore(&model, &loaded.sources, &options, goal, &mut Silent).expect("a supported model").outcome
    };
    let in_order = || SearchOptions { in_order_first: u64::MAX, ..SearchOptions::default() };
    let whole = search(in_order(), Goal::Count).stats;
    let first = search(in_order(), Goal::First);
    for threads in [1, 2] {
        let by_level = || SearchOptions { in_order_first: 0, threads, ..SearchOptions::default() };
        let counted = search(by_level(), Goal::Count).stats;
        assert_eq!(
            (counted.states, counted.transitions, &counted.violations, &counted.levels),
            (whole.states, whole.transitions, &whole.violations, &whole.levels)
        );
        let plain = search(SearchOptions { levels: false, ..by_level() }, Goal::Count).stats;
        assert_eq!(
            (plain.states, plain.transitions, &plain.violations),
            (whole.states, whole.transitions, &whole.violations)
        );
        let found = search(by_level(), Goal::First);
        assert_eq!((found.verdict, found.counterexample), (first.verdict, first.counterexample.clone()));
        let reduced = search(SearchOptions { reduction: Reduction::Exact, ..by_level() }, Goal::First);
        assert_eq!(reduced.verdict, first.verdict);
    }
    assert!(!matches!(first.verdict, Verdict::Inconclusive(_)));
    whole.states
}

/// A channel with two names: whoever receives by the one waits for whoever sends by the other.
#[test]
fn a_channel_with_two_names() {
    compare(
        "chan k = [1] of { byte }; chan f = k; chan g = k; byte x, y;
         active proctype S() { do :: x < 9 -> f!x; x++ :: else -> break od }
         active proctype R() { byte v; do :: g?v -> y = v :: y == 8 -> break od; assert(y == 8) }",
    );
}

#[test]
fn timeouts() {
    compare(
        "chan c = [2] of { byte }; byte sent, lost, got; bool waits;
         active proctype S() { do :: sent < 5 -> c!sent; sent++ :: timeout -> waits = 1 :: waits -> break od }
         active proctype L() { do :: lost < 2 -> atomic { c?_; lost++ } :: waits -> break od }
         active proctype R() { do :: got < 2 -> c?_ -> got++ :: timeout -> got++ :: waits -> break od }",
    );
}

/// Whoever receives goes on at once, and sends to a third.
#[test]
fn rendezvous_in_a_row() {
    let states = compare(
        "chan c[3] = [0] of { byte }; byte x, turns;
         proctype P(byte i) {
             byte v;
             end: do
             :: atomic { c[i]?v -> x = (x + v) % 5; c[(i + 1) % 3]!((v + 1) % 4) }
             :: atomic { x == i && turns < 6 -> turns++; c[(i + 1) % 3]!i }
             :: v < 2 -> v++
             :: c[(i + 2) % 3]!v -> x = v
             od
         }
         init { atomic { run P(0); run P(1); run P(2) } }",
    );
    assert!(states > 20);
}

/// Who has promised to use a channel alone is told by its parameters.
#[test]
fn promises() {
    compare(
        "chan a = [2] of { byte }; chan b = [2] of { byte }; byte n;
         proctype P(chan in, out) { xr in; xs out; byte v; do :: n < 4 -> out!n; n++ :: in?v :: n == 4 -> break od }
         proctype Q(chan c) { if :: n == 3 -> c!7 :: n == 4 -> skip fi }
         init { atomic { if :: run P(a, b) :: run P(b, a) fi; run P(b, a); if :: run Q(a) :: run Q(b) fi } }",
    );
}

/// Places of others, the number of processes, who moved last, clauses that hold processes back, and processes that come and go.
#[test]
fn what_is_asked_about_others() {
    compare(
        "byte x, y; bool stop;
         active proctype A() provided (!stop) { do :: x < 6 -> here: x++ :: x == 6 -> break od }
         active proctype B() { do :: A@here -> y = x :: _nr_pr == 2 && !stop -> stop = 1 :: stop -> stop = 0; break od }
         active proctype C() { do :: y > 2 && _last != _pid -> y-- :: x == 6 -> run D(x); break od }
         proctype D(byte n) { byte k; do :: k < n -> k++ :: k == n -> y = k; break od }",
    );
}

/// Numbers of two and four bytes are pieces of their own, and so is what never changes.
#[test]
fn wide_numbers() {
    compare(
        "short a, b; int c; byte d[3]; bit e;
         proctype P(byte i, most) { byte k; do :: k < most -> k++; d[i] = k; a = a + 100; c = c - 7 * k :: else -> break od }
         active proctype Q() { do :: a > 300 && b < 5 -> b++ :: c < -50 -> e = 1 - e :: b == 5 -> break od }
         init { atomic { run P(0, 2); run P(2, 3) } }",
    );
}

/// More steps of one process than have room beside each other.
#[test]
fn many_choices() {
    compare(
        "byte x[3]; chan c = [1] of { byte };
         active proctype P() { byte v; do
             :: x[0] < 2 -> x[0]++ :: x[1] < 1 -> x[1]++ :: x[2] < 1 -> x[2]++ :: select (v : 0 .. 3); c!v :: c??v
             :: x[0] > 0 -> x[0]-- :: x[1] > 0 -> x[1]--
             od }
         active proctype Q() { do :: c?_ :: x[2] == 1 -> x[2] = 0 od }",
    );
}
