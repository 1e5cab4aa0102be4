//! Spin's claim is a process: when `_nr_pr` counts it. The answers are those of Spin 6.5.2.

use preempt_core::{Silent, Verdict};
use preempt_model::Interpreter;
use preempt_model::question::{Asking, Question};
use preempt_promela::{Additions, Claim, Loaded, load};

fn loaded(source: &str, claim: Claim) -> Loaded {
    let additions = Additions { claim, ..Additions::default() };
    load("test.pml", source, &additions, &mut |name| Err(format!("no {name}")))
}

fn verdicts(source: &str, claim: Claim) -> Vec<Verdict> {
    let loaded = loaded(source, claim);
    let model = loaded.model.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
    let interpreter = Interpreter::new(&model, &loaded.sources).expect("initial values have a meaning");
    let answer = |question: Question| {
        question.answer(&interpreter, &Asking::default(), &mut Silent).expect("the formula is small").verdict
    };
    Question::all(&model).into_iter().map(answer).collect()
}

#[test]
fn a_formula_counts_its_claim() {
    let source = r"
        byte x;
        active proctype P() { x = 1 }
        active proctype Q() { x = 2 }
        ltl claim_is_left { <> (_nr_pr == 1) }
        ltl nobody_is_left { <> (_nr_pr == 0) }
    ";
    assert_eq!(verdicts(source, Claim::OfModel), [Verdict::Holds, Verdict::Holds, Verdict::Violated]);
    assert_eq!(verdicts(source, Claim::Ignored), [Verdict::Holds, Verdict::Holds, Verdict::Violated]);
}

/// With `-DNOCLAIM` Spin does not count it either.
#[test]
fn processes_count_a_claim_that_is_watched() {
    let asks = |count: usize, claim: &str| {
        format!("byte x; active proctype P() {{ assert(_nr_pr == {count}) }} {claim}")
    };
    let claims = ["never { do :: x < 9 od }", "ltl p { [] (x < 9) }"];
    for claim in claims {
        assert_eq!(verdicts(&asks(2, claim), Claim::OfModel)[0], Verdict::Holds);
        assert_eq!(verdicts(&asks(1, claim), Claim::Ignored)[0], Verdict::Holds);
    }
    let trace = "chan c = [1] of { byte }; trace { do :: c!1 od }";
    for without in ["", trace] {
        assert_eq!(verdicts(&asks(1, without), Claim::OfModel)[0], Verdict::Holds);
    }
    // Spin looks for cycles without progress by a claim of its own.
    assert_eq!(verdicts(&asks(2, ""), Claim::Another)[0], Verdict::Holds);
}

#[test]
fn it_is_said_once() {
    let source = "active proctype P() { _nr_pr == 1 } ltl p { <> (_nr_pr == 1) } ltl q { [] (_nr_pr > 0) }";
    let said: Vec<_> = loaded(source, Claim::OfModel).diagnostics.into_iter().map(|d| d.message).collect();
    assert_eq!(said, ["`_nr_pr` counts the claim, too, as in Spin: it is 1 when all processes have ended"]);
}
