//! Whatever is fed to the reader of protocols, it answers, soon, and at the place that is wrong.

use super::robustness::mutation::mutate;
use preempt_core::{Budget, Limits, Rng, SourceMap};
use preempt_net::protocol::{Protocol, read, read_within};
use std::time::{Duration, Instant};

const TEXT: &str = "# a comment
const m = 2   // another
type Block = 1 .. m
type Value = { none, some }
global g : bool = false
global h : Value
local s[Block] : { a, b, c } = a
local x : -1 .. 3 = any
local v : Value = none
initially not g or h = none
rule go(k : Block) when s[k] = a and x < 3 do s[k] := b, x := x + 1, h := v
rule meet when v = some with v = none and mover.x = x
  do v := none, h := if g then partner.v else none
  partner do v := mover.v
rule tell all others s[1] != c do g := not g
  others where s[1] in { a, b } do s[1] := if mover.x in 0 .. 2 then c else s[2]
  others do x := 0
bad it(k : Block): two with s[k] = b | global g and h = some, one with s[k] = c, 2 with x >= 1
bad never: one with s[1] = a and s[1] = b";

fn told(text: &str, definitions: &[(&str, &str)]) -> (Protocol, Vec<String>) {
    let mut sources = SourceMap::new();
    let definitions: Vec<(String, String)> =
        definitions.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let (protocol, diagnostics) = read(sources.add("p.protocol", text), text, &definitions);
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
fn everything_in_the_grammar_is_understood() {
    let (protocol, mistakes) = told(TEXT, &[]);
    assert_eq!(mistakes, [""; 0]);
    assert_eq!((protocol.globals.len(), protocol.locals.len(), protocol.rules.len()), (2, 4, 4));
    assert_eq!(protocol.locals[0].name, "s[1]");
    assert_eq!(protocol.rules[1].name, "go(2)");
    assert_eq!(protocol.properties[0].patterns.len(), 4);
    assert_eq!(protocol.properties[0].patterns[1].processes.len(), 3);
    let (protocol, mistakes) = told(TEXT, &[("m", "5")]);
    assert_eq!(mistakes, [""; 0]);
    assert_eq!((protocol.locals.len(), protocol.rules.len()), (7, 7));
}

/// A text, and what is said about it.
const MISTAKES: &[(&str, &str)] = &[
    ("", "a protocol has at least one local variable"),
    ("local s : { a } = a", "nothing says what is bad"),
    ("local s : { a, a }", "1:16: `a` is there twice"),
    ("local s : { a, b } = c", "1:22: there is no `c`"),
    ("local s : 0 .. 2 = 3", "1:20: `s` cannot have this value"),
    ("local s : 3 .. 2", "1:11: the range from 3 to 2 is empty"),
    ("local s : 0 .. 99999999999999999999", "1:16: this number is too large"),
    ("local s : Value", "1:11: there is no type `Value`"),
    ("local s : bool local s : bool", "1:22: `s` is already something else"),
    ("local x : bool rule r when y", "1:28: there is no `y`"),
    ("local x : 0 .. 3 rule r when x", "1:30: this is neither true nor false"),
    ("local x : 0 .. 3 rule r do x := x + 1", "1:33: `x` may become 4, which is not one of its values"),
    ("local x : bool rule r do x := 1", "1:31: `x` has another kind of values"),
    ("local x : bool rule r do x := true, x := false", "1:37: `x` gets two values at once"),
    ("local x : bool rule r do y := true", "1:26: there is no variable `y`"),
    ("local x : bool global g : bool rule r others do g := true", "1:49: `g` is global"),
    ("local x : bool rule r partner do x := true", "1:34: this rule has no partner"),
    ("local x : bool rule r when partner.x", "1:28: there is no partner to speak of here"),
    ("local a[1 .. 2] : bool rule r when a", "1:36: `a` is an array: say which element, as in `a[k]`"),
    ("local a[1 .. 2] : bool rule r when a[3]", "1:38: there is no such element"),
    (
        "local a[1 .. 2] : bool local i : 1 .. 2 rule r when a[i]",
        "1:55: an index is a constant or a parameter",
    ),
    ("local x : bool rule r with x with x", "1:30: a rule has one partner"),
    ("local x : bool rule r all x", "1:27: expected `others`"),
    ("local x : bool rule", "1:20: expected the name of a rule, but the file ends"),
    ("local x : bool bad b: 0 with x", "1:23: a pattern has between 1 and 64 processes"),
    ("local x : bool bad b: 99999 with x", "1:23: a pattern has between 1 and 64 processes"),
    ("local x : bool bad b: global x", "1:30: this is not about the global part alone"),
    ("local x : bool bad b: one with x bad b: one with x", "1:38: `b` is there twice"),
    ("local when : bool", "1:7: expected the name of a variable, and `when` is a reserved word"),
    ("local x : bool rule r(x : 1 .. 2)", "1:23: `x` is a variable"),
    ("local x[1 .. 6] : 0 .. 4095", "1:7: with this variable there are more than 2^62 states"),
    ("local x : 0 .. 4096", "1:7: a variable has at most 4096 values"),
    ("local x : 0 .. 2147483648", "1:11: a range has at most 100000 values"),
    ("local x[1 .. 100000] : bool", "1:7: there are more than 4096 variables"),
    (
        "local x : bool rule r(j : 1 .. 1000, k : 1 .. 1000) when x",
        "1:23: there are more than 100000 instances of rules",
    ),
    ("local x : { a, b } local y : { b, c } rule r when b = b", "1:51: several types have a value `b`"),
    ("local x : { a, b } rule r when x = 1", "1:32: the two sides have different kinds of values"),
    ("local x : bool & bad b: one with x", "1:16: `&` has no meaning here"),
];

#[test]
fn mistakes_have_their_place() {
    for (text, expected) in MISTAKES {
        let (_, mistakes) = told(text, &[]);
        assert!(mistakes.iter().any(|it| it == expected), "{text}\n{mistakes:?}\n{expected}");
    }
    let (_, mistakes) = told(TEXT, &[("n", "1")]);
    assert_eq!(mistakes, ["there is no constant `n` to define"]);
    let (_, mistakes) = told(TEXT, &[("m", "many")]);
    assert_eq!(mistakes, ["the constant `m` is defined as `many`, which is not a number"]);
}

/// Whoever uses what was declared wrongly is not told so again.
#[test]
fn a_mistake_in_a_declaration_is_one_mistake() {
    let (_, mistakes) = told(
        "type B = 1 .. 0 local s[B] : bool rule r(k : B) when s[k] do s[k] := false bad b(k : B): one with s[k]",
        &[],
    );
    assert_eq!(mistakes, ["1:10: the range from 1 to 0 is empty"]);
    let (_, mistakes) = told("local s : { a b } = a rule r when s = a do s := b bad b: one with s = b", &[]);
    assert_eq!(mistakes, ["1:15: expected `}`"]);
}

#[test]
fn truncated_and_changed_texts_are_answered() {
    for end in (0..TEXT.len()).filter(|end| TEXT.is_char_boundary(*end)) {
        told(&TEXT[..end], &[]);
    }
    let mut rng = Rng::new(5);
    let signs: Vec<char> = "(){}[]<>;:,.-=!&|*/#'\\ \n0189aé_".chars().collect();
    for _ in 0..3000 {
        let mut text = TEXT.to_string();
        for _ in 0..=rng.below(4) {
            mutate(&mut text, &mut rng, &signs);
        }
        told(&text, &[]);
    }
}

#[test]
fn deep_and_long_texts_end_soon() {
    let begin = Instant::now();
    let deep = format!("local x : bool bad b: one with {}x{}", "(".repeat(100_000), ")".repeat(100_000));
    told(&deep, &[]);
    told(&format!("local x : bool bad b: one with {}x", "not ".repeat(100_000)), &[]);
    told(&format!("local x : 0 .. 1 bad b: one with x = 1{}", " + 1".repeat(100_000)), &[]);
    told(&"rule ".repeat(200_000), &[]);
    told(&"&".repeat(500_000), &[]);
    told(&format!("const m = 1 {}", "local x : bool ".repeat(20_000)), &[]);
    let many = "local a[1 .. 40] : bool rule r(i : 1 .. 40, j : 1 .. 40, k : 1 .. 40) when a[i] and a[j] and a[k] bad b: one with a[1]";
    let budget = Budget::within(&Limits { time: Some(Duration::from_millis(1)), ..Limits::default() });
    std::thread::sleep(Duration::from_millis(2));
    let (_, diagnostics) = read_within(SourceMap::new().add("p", many), many, &[], &budget);
    assert!(diagnostics.iter().any(|it| it.is_error()), "it was stopped");
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
}
