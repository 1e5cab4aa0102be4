//! Spin's claim is a process: when `_nr_pr` counts it. The answers are those of Spin 6.5.2.

use preempt_core::{Silent, Verdict};
use preempt_model::Interpreter;
use preempt_model::check::{Check, CheckOptions};
use preempt_promela::{Additions, Loaded, load};

fn loaded(source: &str) -> Loaded {
    load("test.pml", source, &Additions::default(), &mut |name| Err(format!("no {name}")))
}

fn verdicts(source: &str) -> Vec<Verdict> {
    let loaded = loaded(source);
    let model = loaded.model.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
    let interpreter = Interpreter::new(&model, &loaded.sources).expect("initial values have a meaning");
    let answer = |question: Check| {
        question
            .check(&interpreter, &CheckOptions::default(), &mut Silent)
            .expect("the formula is small")
            .verdict
    };
    Check::all(&model).into_iter().map(answer).collect()
}

fn said(source: &str) -> Vec<String> {
    loaded(source).diagnostics.into_iter().map(|diagnostic| diagnostic.message).collect()
}

#[test]
fn formulas_and_claims_count_the_claim() {
    let formulas = r"
        byte x;
        active proctype P() { x = 1 }
        active proctype Q() { x = 2 }
        ltl claim_is_left { <> (_nr_pr == 1) }
        ltl nobody_is_left { <> (_nr_pr == 0) }
    ";
    assert_eq!(verdicts(formulas), [Verdict::Holds, Verdict::Holds, Verdict::Violated]);
    let never = |count: usize| {
        format!("active proctype P() {{ skip }} never {{ do :: _nr_pr == {count} -> break :: else od }}")
    };
    assert_eq!(verdicts(&never(2)), [Verdict::Holds, Verdict::Violated]);
    assert_eq!(verdicts(&never(0)), [Verdict::Holds, Verdict::Holds]);
}

/// As with `-DNOCLAIM`: safety is asked without a claim. How claims change what processes do, is for every engine to say:
/// `preempt-explicit/tests/counted_claim.rs`.
#[test]
fn processes_do_not_count_a_claim_that_is_not_asked() {
    for claim in ["", "never { do :: true od }", "ltl p { [] (_nr_pr > 0) }", "trace { do :: c!1 od }"] {
        let source =
            format!("chan c = [1] of {{ byte }}; active proctype P() {{ assert(_nr_pr == 1) }} {claim}");
        assert_eq!(verdicts(&source)[0], Verdict::Holds, "{claim}");
    }
}

#[test]
fn it_is_said_once() {
    let formulas = "active proctype P() { skip } ltl p { <> (_nr_pr == 1) } ltl q { [] (_nr_pr > 0) }";
    assert_eq!(
        said(formulas),
        ["`_nr_pr` counts the claim, too, as in Spin: it is 1 when all processes have ended"]
    );
    let process = "active proctype P() { _nr_pr == 1; _nr_pr == 1 } ltl p { [] true }";
    assert_eq!(
        said(process),
        ["`_nr_pr` counts the claim, too, where a claim or formula is asked for, as in Spin"]
    );
    assert_eq!(said("active proctype P() { _nr_pr == 1 }"), [""; 0]);
}
