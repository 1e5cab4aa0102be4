//! Whatever is fed to the reader of Cubicle's models, it answers, soon; and what is outside of the class is named.

use super::robustness::mutation::mutate;
use preempt_core::{Budget, Rng, SourceMap};
use preempt_net::protocol::{Protocol, cubicle};

const TEXT: &str = "(* a comment (* in a comment *) *)
type state = Idle | Want | Busy
var Lock : bool
var Last : state
array S[proc] : state
array Mark[proc] : bool
init (z) { S[z] = Idle && Mark[z] = False && Lock = False && Last = Idle }
unsafe (z1 z2) { S[z1] = Busy && S[z2] = Busy }
unsafe (z) { Lock = False && S[z] = Busy && Mark[z] <> True }
invariant (z) { Mark[z] = False }
transition want (n) requires { S[n] = Idle } { S[n] := Want; }
transition enter (n)
requires { S[n] = Want && Lock = False && forall_other j. (S[j] = Idle || S[j] = Want && Mark[j] = False) }
{ S[j] := case | j = n : Busy | _ : S[j]; Lock := True; Mark[n] := True; Last := case | Mark[n] = True : Busy | _ : Want }
transition pass (n m) requires { S[n] = Busy && S[m] = Want && n <> m } { S[n] := Idle; S[m] := Busy; Mark[k] := case | k = n : False | k = m : True | _ : Mark[k] }
transition reset () requires { Lock = True && forall_other j. S[j] = Idle } { Lock := False; Mark[j] := case | _ : False }";

fn told(text: &str) -> (Protocol, Vec<String>) {
    let mut sources = SourceMap::new();
    let source = sources.add("p.cub", text);
    let (protocol, diagnostics) = cubicle::read_within(source, text, &[], &Budget::unlimited());
    let one = |diagnostic: &preempt_core::Diagnostic| {
        let place = diagnostic.span.map(|span| {
            assert!(span.end as usize <= text.len(), "{diagnostic:?}");
            let location = sources.location(span);
            format!("{}:{}: ", location.line, location.column)
        });
        format!("{}{}", place.unwrap_or_default(), diagnostic.message)
    };
    (protocol, diagnostics.iter().map(one).collect())
}

#[test]
fn models_of_the_class_are_understood() {
    let (protocol, mistakes) = told(TEXT);
    assert_eq!(mistakes, ["10:1: an invariant is a hint for another program, and is not looked at"]);
    assert_eq!((protocol.globals.len(), protocol.locals.len(), protocol.rules.len()), (2, 2, 4));
    assert_eq!(protocol.properties[0].patterns.len(), 2);
    assert_eq!(protocol.properties[0].patterns[0].processes.len(), 2);
    let [want, enter, pass, reset] = &protocol.rules[..] else { panic!("four rules") };
    assert!(want.all_others.is_none() && want.others.is_empty() && want.with.is_none());
    assert!(enter.all_others.is_some() && enter.others.is_empty(), "nobody else changes");
    assert!(pass.with.is_some() && pass.others.is_empty());
    // Of no process: then it is of any, who is one of all.
    assert_eq!((reset.others.len(), reset.effects.len()), (1, 2));
}

/// A text, and what is said about it.
const REFUSED: &[(&str, &str)] = &[
    ("var P : proc", "1:9: variables of type `proc`: that is outside of the class of protocols that is read"),
    ("var N : int", "1:9: variables of type `int`: that is outside of the class of protocols that is read"),
    (
        "const N : int",
        "1:1: constants of unknown value: that is outside of the class of protocols that is read",
    ),
    ("type t", "1:6: types without values: that is outside of the class of protocols that is read"),
    (
        "array A[proc,proc] : bool",
        "1:9: arrays over pairs of processes: that is outside of the class of protocols that is read",
    ),
    (
        "array A[proc] : bool transition t (i) { A[i] := ? }",
        "1:49: random values: that is outside of the class of protocols that is read",
    ),
    (
        "array A[proc] : bool transition t (i) requires { i < i } { }",
        "1:52: an order of processes or values: that is outside of the class of protocols that is read",
    ),
    (
        "array A[proc] : bool transition t (i j k) { }",
        "1:40: transitions of three processes: that is outside of the class of protocols that is read",
    ),
    (
        "array A[proc] : bool unsafe (i j) { A[i] = A[j] }",
        "1:37: a relation between two processes: that is outside of the class of protocols that is read",
    ),
    (
        "array A[proc] : bool init (i j) { A[i] = A[j] }",
        "1:30: initial states that relate two processes: that is outside of the class of protocols that is read",
    ),
    (
        "array A[proc] : bool transition t (i) requires { A[i] = 3 } { }",
        "1:57: numbers: that is outside of the class of protocols that is read",
    ),
    ("number_procs 3", "1:1: `number_procs`: that is outside of the class of protocols that is read"),
    ("array A[proc] : bool transition t (i) { A := True }", "1:41: `A` is used with and without an index"),
    ("array A[proc] : bool transition t (i) { A[i] := Tru }", "1:49: there is no `Tru`"),
    ("array A[proc] : bool transition t (i) requires { A[q] = True } { }", "1:52: there is no process `q`"),
    ("array A[proc] : what", "1:17: there is no type `what`"),
    (
        "array A[proc] : bool transition t (i) { A[i] := True; A[i] := False }",
        "1:55: `A` gets two values at once",
    ),
    ("type t = A | A", "1:14: `A` is there twice"),
    (
        "array A[proc] : bool transition t (i) requires { i = A[i] } { }",
        "1:50: a process is compared with what is none",
    ),
    ("(* never ends", "1:1: this comment does not end"),
    ("", "a protocol has an array over the processes, and something unsafe"),
    ("array A[proc] : bool transition", "1:32: expected the name of a transition, but the file ends"),
];

#[test]
fn what_is_outside_of_the_class_is_named() {
    for (text, expected) in REFUSED {
        let (_, mistakes) = told(text);
        assert!(mistakes.iter().any(|it| it == expected), "{text}\n{mistakes:?}\n{expected}");
    }
}

#[test]
fn truncated_and_changed_texts_are_answered() {
    for end in (0..TEXT.len()).filter(|end| TEXT.is_char_boundary(*end)) {
        told(&TEXT[..end]);
    }
    told(&"(* ".repeat(100_000));
    told(&"transition ".repeat(100_000));
    told(&"&".repeat(300_000));
    let mut rng = Rng::new(6);
    let signs: Vec<char> = "(){}[]<>;:,.-=!&|*/#'\\ \n0189aé_".chars().collect();
    for _ in 0..2000 {
        let mut text = TEXT.to_string();
        for _ in 0..=rng.below(4) {
            mutate(&mut text, &mut rng, &signs);
        }
        told(&text);
    }
}
