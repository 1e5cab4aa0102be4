//! Trails as Spin 6.5.2 executes them: each one here was followed to its end by `spin -t -p -k` and by `pan -r`, and
//! ended in the same violation. `benches/run check-trails` does that with every model.

use preempt_core::{Outcome, Silent, Verdict};
use preempt_model::Interpreter;
use preempt_model::check::{Check, CheckOptions};
use preempt_promela::trail::{Trail, write_trail, write_trail_with_formula};
use preempt_promela::{Additions, ModelText, load};

/// The trail of the simplest run that answers the question with "violated".
fn trail(source: &str, question: impl Fn(&Check) -> bool) -> Result<Trail, String> {
    let loaded = load("test.pml", source, &Additions::default(), &mut |name| Err(format!("no {name}")));
    let model = loaded.model.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
    let interpreter = Interpreter::new(&model, &loaded.sources).expect("initial values have a meaning");
    let question = Check::all(&model).into_iter().find(question).expect("the model asks this");
    let outcome =
        question.check(&interpreter, &CheckOptions::default(), &mut Silent).expect("a small formula");
    let Outcome { verdict: Verdict::Violated, violation: Some(property), counterexample: Some(run), .. } =
        outcome
    else {
        panic!("not violated: {outcome:?}");
    };
    let own = question.model_of(&model);
    let interpreter = interpreter.of(&own).expect("initial values have a meaning");
    write_trail(&interpreter, &loaded.numbers, &property, &run).map_err(|why| why.0)
}

/// The trail of the formula's simplest violation, in one line, and its claim.
fn with_formula(source: &str) -> (String, String) {
    let read = &mut |name: &str| Err(format!("no {name}"));
    let loaded = load("test.pml", source, &Additions::default(), read);
    let model = loaded.model.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
    let interpreter = Interpreter::new(&model, &loaded.sources).expect("initial values have a meaning");
    let question = Check::Formula(model.formulas[0].clone());
    let outcome =
        question.check(&interpreter, &CheckOptions::default(), &mut Silent).expect("a small formula");
    let (property, run) = (outcome.violation.expect("violated"), outcome.counterexample.expect("a run"));
    let additions = Additions::default();
    let text = ModelText { name: "test.pml", text: source, additions: &additions };
    let (trail, claim) = write_trail_with_formula(&text, read, &model, &property, &run).expect("a trail");
    (trail.text.split_whitespace().collect::<Vec<_>>().join(" "), claim)
}

/// A formula that fails after finitely many steps: its claim comes to its end. Another one: its claim goes for ever through
/// an accepting place. And one for a run that comes to rest.
#[test]
fn a_formula_brings_its_claim() {
    let model = "byte x; active proctype A() { x = 1; x = 2; do :: x = 3 :: x = 2 od }";
    let (trail, claim) = with_formula(&format!("{model} ltl p {{ [] (x < 3) }}"));
    assert_eq!(trail, "-2:1:-2 1:0:8 2:1:0 3:0:8 4:1:1 5:0:8 6:1:2 7:0:10 8:0:14");
    assert_eq!(
        claim,
        "never preempt_claim {
preempt_0:
\tif
\t:: (1) -> goto preempt_0
\t:: (!(x < 3)) -> goto accept_preempt_1
\tfi;
accept_preempt_1:
\tskip
}
"
    );
    let (trail, claim) = with_formula(&format!("{model} ltl q {{ <> (x == 9) }}"));
    assert_eq!(trail, "-2:1:-2 1:0:8 2:1:0 3:0:8 4:1:1 -1:-1:-1 5:0:8 6:1:3");
    assert!(claim.contains("accept_preempt_0:\n\tif\n\t:: (!(x == 9)) -> goto accept_preempt_0\n\tfi\n}"));
    let (trail, _) = with_formula("byte x; active proctype A() { x = 1 } ltl r { <> (x == 9) }");
    assert_eq!(trail, "-2:1:-2 1:0:2 2:1:0 3:0:2 4:1:1 -1:-1:-1 5:0:2");
}

/// Processes count the claim that goes along, as they do in Spin: otherwise P would never get to x = 1.
#[test]
fn a_formula_changes_what_processes_do() {
    let model = "byte x; active proctype P() { _nr_pr == 2; x = 1 }";
    let (trail, _) = with_formula(&format!("{model} ltl p {{ [] (x == 0) }}"));
    assert_eq!(trail, "-2:1:-2 1:0:3 2:1:0 3:0:3 4:1:1 5:0:5 6:0:9");
}

fn check(source: &str, expected: &str) {
    let found = trail(source, |question| *question == Check::Safety).expect("a trail");
    assert_eq!(found.text.split_whitespace().collect::<Vec<_>>().join(" "), expected);
    assert!(!found.without_claim);
}

/// A rendezvous is two lines, the end of a process is one, and bodies are counted one after the other.
#[test]
fn plain_steps() {
    let source = "
        chan c = [0] of { byte };
        byte x;
        active proctype A() { do :: x < 2 -> x++ :: x == 2 -> break od; c!x; assert(x != 2) }
        active proctype B() { byte v; c?v; x = v }
    ";
    check(source, "1:0:0 2:0:1 3:0:0 4:0:1 5:0:2 6:0:7 7:1:10 8:1:11 9:1:12 10:0:8");
}

/// Jumps that an atomic sequence takes on its way are lines too; a d_step is one; `for` and `select` are what Spin makes
/// of them.
#[test]
fn jumps_and_loops() {
    let source = r#"
        byte x;
        proctype Worker(byte n) {
        again:
            atomic {
                if
                :: x < 3 -> x = x + n; goto again
                :: x >= 3 -> goto out
                fi
            };
            x = 9;
        out:
            skip;
            d_step { x = x + 1; x = x + 1 };
            assert(x < 5)
        }
        init {
            byte i;
            for (i : 1 .. 2) { run Worker(1) }
            select (i : 0 .. 2);
            printf("%d\n", i)
        }
    "#;
    let setup = "1:0:15 2:0:16 3:0:17 4:0:18 5:0:16 6:0:17 7:0:18 8:0:19 9:0:24 10:0:29";
    let worker =
        "11:1:0 12:1:1 13:1:2 14:1:0 15:1:1 16:1:2 17:1:0 18:1:1 19:1:2 20:1:3 21:1:4 22:1:9 23:1:12 24:1:13";
    check(source, &format!("{setup} {worker}"));
}

/// Where neither side of `unless` is a block, Spin counts the escape before the statement itself.
#[test]
fn escapes() {
    let source = "
        byte x, y;
        active proctype A() {
            do :: x < 9 -> x++ od unless y == 1;
            x = 5 unless { y == 2 -> skip; x = 6 };
            if :: x > 200 -> skip fi unless atomic { y == 1; x = 7 };
        L:  { y == 200; y = 3 } unless { x == 7 };
            assert(x != 7)
        }
        active proctype B() { y = 1 }
    ";
    check(source, "1:1:31 2:1:32 3:0:2 4:0:11 5:0:16 6:0:17 7:0:25 8:0:29");
}

/// A claim is process 0, reads before every step, and has the number of its body in the text.
#[test]
fn a_claim_goes_along() {
    let source = "
        byte x;
        never early { do :: x == 200 -> break :: else od }
        active proctype P() {
            do
            :: atomic { x < 3 -> x++ }
            :: x == 3 -> x = 1
            od
        }
        never late {
            do
            :: x == 2 -> break
            :: true
            od;
        accept:
            do
            :: x != 0
            od
        }
    ";
    let found = trail(source, |question| *question == Check::Claim(1)).expect("a trail");
    let stem = "-2:2:-2 1:0:18 2:1:7 3:1:8 4:0:18 5:1:7 6:1:8 7:0:16 8:1:7 9:1:8 -1:-1:-1";
    let cycle = "10:0:22 11:1:10 12:0:22 13:1:11 14:0:22 15:1:7 16:1:8 17:0:22 18:1:7 19:1:8";
    assert_eq!(found.text.split_whitespace().collect::<Vec<_>>().join(" "), format!("{stem} {cycle}"));
}

/// The claim's own assertion is its last line.
#[test]
fn a_claim_that_asserts() {
    let source = "
        byte x;
        active [2] proctype P() { x++; x-- }
        never { do :: assert(x != 2) od }
    ";
    let found = trail(source, |question| *question == Check::Claim(0)).expect("a trail");
    assert_eq!(found.text, "-2:1:-2\n1:0:3\n2:1:0\n3:0:3\n4:2:0\n5:0:3\n");
}

/// Spin makes the claim of a formula itself: only the steps of processes are written, and where they begin again.
#[test]
fn a_formula_has_no_claim_here() {
    let source = "
        bool x;
        active proctype P() { do :: x = !x od }
        ltl ends { <> [] x }
    ";
    let found = trail(source, |question| matches!(question, Check::Formula(_))).expect("a trail");
    assert_eq!(found, Trail { text: "1:0:0\n-1:-1:-1\n2:0:0\n3:0:0\n".into(), without_claim: true });
}

#[test]
fn what_is_not_sure_is_not_told() {
    let counted_elsewhere = "
        byte x;
        active proctype P() { L: goto M; M: x = 1 }
        active proctype Q() { P@L -> assert(x == 1) }
    ";
    let whole = trail(counted_elsewhere, |question| *question == Check::Safety);
    assert_eq!(whole, Err("it is not sure which number Spin gives to `P@L` in `Q`".into()));
    let outside = "
        byte x, i;
        active proctype P() { for (i : 0 .. 2) { x++ } unless x == 2; assert(x != 2) }
    ";
    let whole = trail(outside, |question| *question == Check::Safety);
    assert_eq!(whole, Err("it is not sure which number Spin gives to `i = 0` in `P`".into()));
}
