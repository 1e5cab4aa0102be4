//! Small models on which a careless reduction, or a careless optimisation, says that nothing is wrong; and models of
//! which little must be left.

use preempt_core::{Silent, SourceMap, Verdict};
use preempt_explicit::{Order, Reduction, SearchOptions, SuccessorSource, check, count};
use preempt_model::Model;

fn load(text: &str) -> (Model, SourceMap) {
    let mut read = |_: &str| Err(String::new());
    let loaded = preempt_promela::load("test.pml", text, &preempt_promela::Additions::default(), &mut read);
    let model = loaded.model.unwrap_or_else(|| panic!("{:?}\n{text}", loaded.diagnostics));
    (model, loaded.sources)
}

/// The verdict is the same however it is reached.
fn verdict(text: &str) -> Verdict {
    let (model, sources) = load(text);
    let options = SearchOptions::default();
    let expected = check(&model, &sources, &options, &mut Silent).expect("a supported model").verdict;
    for (reduction, order) in [
        (Reduction::None, Order::ByCost),
        (Reduction::Exact, Order::ByCost),
        (Reduction::Strong, Order::DepthFirst),
    ] {
        for simplify in [false, true] {
            for successors in [SuccessorSource::Native, SuccessorSource::Interpreted] {
                let options =
                    SearchOptions { reduction, order, simplify, successors, ..SearchOptions::default() };
                let found = check(&model, &sources, &options, &mut Silent).expect("a supported model");
                assert_eq!(
                    found.verdict, expected,
                    "{reduction:?}, simplify {simplify}, {successors:?}\n{text}"
                );
            }
        }
    }
    expected
}

fn is_violated(text: &str) {
    assert_eq!(verdict(text), Verdict::Violated, "{text}");
}

fn holds(text: &str) {
    assert_eq!(verdict(text), Verdict::Holds, "{text}");
}

fn states(text: &str, reduction: Reduction, simplify: bool) -> u64 {
    let (model, sources) = load(text);
    let options = SearchOptions { reduction, simplify, order: Order::DepthFirst, ..SearchOptions::default() };
    count(&model, &sources, &options, &mut Silent).expect("a supported model").stats.states
}

#[test]
fn numbers_of_processes_depend_on_who_starts_first() {
    is_violated(
        "active proctype A() { run W() } active proctype B() { run V() }
         proctype W() { assert(_pid == 2) } proctype V() { skip }",
    );
    is_violated(
        "active proctype B() { run V() } active proctype A() { run W() }
         proctype W() { assert(_pid == 2) } proctype V() { skip }",
    );
}

#[test]
fn who_moved_last() {
    for asserted in ["_last != 0", "_last != 1"] {
        is_violated(&format!(
            "active proctype A() {{ byte x; x = 1; x = 2 }} active proctype B() {{ byte x; x = 1; x = 2 }}
             active proctype M() {{ skip; assert({asserted}) }}"
        ));
    }
}

#[test]
fn how_many_processes_there_are() {
    is_violated("active proctype M() { assert(_nr_pr == 2) } active proctype A() { skip }");
    is_violated("active proctype M() { skip; assert(_nr_pr == 1) } active proctype A() { skip }");
    holds("active proctype M() { (_nr_pr == 1); skip } active proctype A() { skip }");
}

#[test]
fn timeouts() {
    is_violated(
        "byte x; active proctype A() { x = 1; (x == 2); x = 3 } active proctype B() { timeout -> assert(x != 1) }",
    );
    holds(
        "byte x; active proctype A() { byte i; do :: i < 3 -> i++ :: else -> break od; x = 1 }
         active proctype B() { timeout -> assert(x == 1) }",
    );
    is_violated(
        "byte x; active proctype A() { if :: x = 1 :: timeout -> x = 2 fi } active proctype B() { x == 1 }
         active proctype C() { x == 2; assert(false) } active proctype D() { timeout -> x = 2 }",
    );
}

#[test]
fn what_others_could_do() {
    is_violated(
        "byte x; active proctype A() { x == 1; skip } active proctype B() { x = 1 }
         active proctype M() { assert(!enabled(0)) }",
    );
    is_violated(
        "byte x; active proctype A() { x == 1; skip } active proctype M() { assert(enabled(0)) }
         active proctype B() { x = 1 }",
    );
}

#[test]
fn priorities() {
    is_violated(
        "byte x, y; active proctype L() { assert(x == 0) } active proctype H() priority 5 { y == 1; x = 1 }
         active proctype M() { y = 1 }",
    );
    is_violated(
        "byte x; active proctype L() { x = 1; set_priority(1, 5); skip; x = 2 }
         active proctype M() { x > 0; assert(x == 2) }",
    );
}

#[test]
fn what_holds_a_process_back() {
    is_violated(
        "bool ok = true; byte x; active proctype A() provided (ok) { assert(x == 0) }
         active proctype B() { x = 1; ok = false; ok = true; x = 0 }",
    );
    is_violated(
        "bool ok; byte x; active proctype A() provided (ok) { x = 1 }
         active proctype B() { ok = true; ok = false; assert(x == 0) }",
    );
    is_violated(
        "bool ok; chan c = [0] of { byte }; active proctype R() provided (ok) { byte z; c ? z; assert(false) }
         active proctype S() { if :: c ! 1 :: skip fi } active proctype B() { ok = true }",
    );
}

#[test]
fn broken_promises() {
    is_violated("chan c = [1] of { byte }; active proctype Q() { c ! 2 } active proctype P() { xs c; skip }");
    is_violated(
        "chan c = [1] of { byte }; active proctype Q() { byte z; skip; c ? z } active proctype S() { c ! 1 }
         active proctype P() { xr c; skip }",
    );
    holds(
        "chan c = [1] of { byte }; active proctype Q() { byte z; xr c; c ? z } active proctype P() { xs c; c ! 1 }",
    );
}

#[test]
fn a_rendezvous_does_what_its_receiver_does() {
    is_violated(
        "chan c = [0] of { byte }; byte y; active proctype S() { c ! 1 }
         active proctype R() { byte z; atomic { c ? z; y = 1; y = 2 } } active proctype M() { assert(y == 0) }",
    );
    is_violated(
        "chan c = [0] of { byte }; byte y; active proctype M() { assert(y == 0) }
         active proctype R() { byte z; d_step { c ? z; y = 1 } } active proctype S() { c ! 1 }",
    );
    is_violated(
        "chan c = [0] of { byte }; byte y; active proctype S() { if :: c ! 1 -> assert(false) :: skip fi }
         active proctype R() { c ? eval(y) } active proctype W() { y = 1 }",
    );
}

#[test]
fn channels_decide_more_than_who_waits() {
    is_violated(
        "chan c = [1] of { byte }; byte x; active proctype S() { c ! 1 }
         active proctype R() { byte z; if :: c ? z -> x = 1 :: else -> x = 2 fi; assert(x == 1) }",
    );
    is_violated(
        "chan c = [1] of { byte }; active proctype S() { c ! 1 }
         active proctype R() { byte z; if :: c ? z -> assert(false) :: skip fi }",
    );
    is_violated(
        "chan c = [2] of { byte }; active proctype S() { c ! 1; c ! 2 } active proctype R() { byte z; c ? z }
         active proctype M() { assert(nfull(c)) }",
    );
    is_violated(
        "chan c = [2] of { byte }; active proctype S() { c !! 2 } active proctype T() { c !! 1 }
         active proctype R() { byte z; c ? z; assert(z == 1) }",
    );
    is_violated(
        "chan c = [2] of { byte }; active proctype S() { c ! 2 } active proctype T() { c ! 1 }
         active proctype R() { byte z; c ? z; assert(z == 2) }",
    );
    is_violated(
        "chan c = [1] of { byte }; byte x; active proctype S() { { c ! 1; skip } unless { x == 1; assert(false) } }
         active proctype R() { byte z; c ? z } active proctype W() { x = 1 }",
    );
}

#[test]
fn channels_by_parameters() {
    is_violated(
        "chan a = [1] of { byte }; chan b = [1] of { byte }; byte n;
         proctype S(chan out; byte value) { out ! value }
         init { byte z; atomic { run S(a, 1); run S(b, 2); run S(a, 3) }; a ? z; assert(z == 3) }",
    );
    holds(
        "chan a = [1] of { byte }; chan b = [1] of { byte };
         proctype S(chan out; byte value) { out ! value }
         init { byte z; atomic { run S(a, 1); run S(b, 2) }; a ? z; assert(z == 1); b ? z; assert(z == 2) }",
    );
}

#[test]
fn nobody_is_put_off_for_ever() {
    is_violated(
        "byte x; active proctype M() { x == 1; assert(false) } active proctype W() { x = 1 }
         active proctype L() { bit i; do :: i = 1 - i od }",
    );
    is_violated(
        "byte x; active proctype L() { bit i; do :: i = 1 - i od } active proctype K() { bit i; do :: i = 1 - i od }
         active proctype M() { x == 1; assert(false) } active proctype W() { x = 1 }",
    );
}

#[test]
fn what_is_seen_from_outside() {
    is_violated(
        "active proctype A() { byte v; v = 1; here: v = 2; v = 3 } active proctype M() { assert(!(A[0]@here)) }",
    );
    is_violated(
        "active proctype A() { byte v; v = 5; v = 6; skip } active proctype M() { assert(A[0]:v != 5) }",
    );
    is_violated(
        "active proctype A() { byte v; v = 5; v = 6; skip } active proctype M() { assert(A[0]:v != 6) }",
    );
}

#[test]
fn variables_that_seem_dead() {
    is_violated("active proctype A() { byte v; v = 5; if :: v = 1 :: skip fi; assert(v == 1) }");
    is_violated("active proctype A() { byte v, a[3]; a[1] = 1; v = 2; a[v] = 3; assert(a[1] == 0) }");
    is_violated(
        "byte x; active proctype A() provided (x != 2) { byte v; do :: v < 3 -> v++; x = v :: else -> break od;
         assert(x == 0) } active proctype B() { do :: x = 0 :: break od }",
    );
    holds("active proctype A() { byte i; do :: i < 5 -> i++ :: else -> break od; i = 7; assert(i == 7) }");
}

#[test]
fn little_is_left() {
    // Producer and consumer of a channel that nobody else uses: one order is enough.
    let pipe = "chan c = [3] of { byte }; chan d = [3] of { byte };
        active proctype P() { byte i; do :: i < 6 -> c ! i; i++ :: else -> break od }
        active proctype Q() { byte z; do :: c ? z -> d ! z od }
        active proctype R() { byte z; end: do :: d ? z od }";
    let (whole, left) = (states(pipe, Reduction::None, false), states(pipe, Reduction::Strong, false));
    assert!(left * 8 < whole, "{left} of {whole}");
    // Elements of an array that are told apart by the process's number.
    let own = "byte a[4]; active [4] proctype P() { a[_pid] = 1; a[_pid] = 2; a[_pid] = 3 }";
    assert_eq!(states(own, Reduction::Strong, false), 4 * 4 + 1);
    // Private steps are merged, and what they used is forgotten.
    let private =
        "byte x; active [2] proctype P() { byte i, j; i = 1; j = i; i = j + 1; x = i; j = 3; x = j }";
    let (whole, left) = (states(private, Reduction::None, false), states(private, Reduction::None, true));
    assert!(left * 2 < whole, "{left} of {whole}");
}

/// Who asks with `np_` whether somebody stands at a progress label sees him go there and on, also over steps that are his own.
#[test]
fn who_asks_for_progress_sees_it() {
    let text = "
        active proctype P() { byte l; l = 1; progress: l = 2; l = 3 }
        active proctype Q() { byte v; v = np_; assert(v == 1) }
    ";
    let loaded = preempt_promela::load("m.pml", text, &preempt_promela::Additions::default(), &mut |_| {
        Err(String::new())
    });
    let (model, sources) = (loaded.model.expect("a model"), loaded.sources);
    for order in [Order::ByCost, Order::DepthFirst] {
        for reduction in [Reduction::None, Reduction::Exact, Reduction::Strong] {
            for (simplify, fair_switch) in [(false, false), (true, false), (false, true)] {
                if (order, reduction) == (Order::ByCost, Reduction::Strong) {
                    continue;
                }
                let options =
                    SearchOptions { order, reduction, simplify, fair_switch, ..SearchOptions::default() };
                let found = check(&model, &sources, &options, &mut Silent).expect("a supported model");
                assert_eq!(
                    found.verdict,
                    Verdict::Violated,
                    "{order:?} {reduction:?} {simplify} {fair_switch}"
                );
            }
        }
    }
}
