//! Broken texts of every format: truncated anywhere, with a letter less, with foreign ones, in Latin-1, with numbers without an
//! end, with names that are not there and with too little or too much of something. Always an answer, with places that exist.

use super::robustness::mutation::mutate;
use preempt_core::{Budget, Diagnostic, Rng, SourceId, SourceMap};
use preempt_net::protocol::{self, cubicle};
use preempt_net::{Net, channels, decode, grammar, lola, pnml, property, spec, tina, tpn, tts};

type Read = fn(SourceId, &str) -> Vec<Diagnostic>;

/// A format, a text of it with nothing wrong, and broken ones with what is said of each.
struct Format {
    name: &'static str,
    read: Read,
    text: &'static str,
    wrong: &'static [(&'static str, &'static str)],
}

fn unlimited() -> Budget {
    Budget::unlimited()
}

/// A net for properties to speak of.
fn asked(source: SourceId, text: &str) -> Vec<Diagnostic> {
    let net = Net { places: vec!["s0".into(), "s1".into(), "l0".into()], ..Net::default() };
    property::read_within(&net, source, text, None, &unlimited()).1
}

const FORMATS: [Format; 13] = [
    Format {
        name: "spec",
        read: |source, text| spec::read(source, text).1,
        text: "vars a b.c\nrules a >= 1, b.c in [0, 2] -> a' = a - 1, b.c' = b.c + 1;\ninit a >= 1, b.c = 0\ntarget b.c >= 2\n",
        wrong: &[
            ("vars a rules init a = 0", "expected the section `target`, but the file ends"),
            ("vars a rules a >= 1 -> b' = b + 1; init a = 1 target a >= 1", "there is no variable `b`"),
            ("vars a rules init a = 99999999999999999999 target a >= 1", "this number is too large"),
            ("vars a rules a >= 1 -> a' = ; init a = 1 target a >= 1", "expected a name"),
        ],
    },
    Format {
        name: "pnml",
        read: |source, text| pnml::read(source, text).1,
        text: "<pnml><module><net id=\"n\" type=\"PTNet\"><place id=\"p\"><initialMarking><text>2</text></initialMarking></place><transition id=\"t\"/><arc id=\"a\" source=\"p\" target=\"t\"/></net></module></pnml>",
        wrong: &[
            ("<pnml><net><place id=\"p\"/>", "the file ends too early"),
            (
                "<pnml><net><place id=\"p\"><initialMarking><text>99999999999</text></initialMarking></place></net></pnml>",
                "`99999999999` is not a number of tokens",
            ),
            (
                "<pnml><net><transition id=\"t\"/><arc id=\"a\" source=\"q\" target=\"t\"/></net></pnml>",
                "there is no node `q`",
            ),
            (
                "<pnml><net><transition id=\"t\"/><arc id=\"a\" source=\"t\"/></net></pnml>",
                "an arc needs a `target`",
            ),
        ],
    },
    Format {
        name: "tts",
        read: |source, text| tts::read_within(source, text, &unlimited()).1,
        text: "2 3 # a lock\n0 0 -> 1 1\n1 1 -> 0 2 0 ~> 2\n0 2 +> 0 0\n1 2 ~> 0 0\n1|1,1\n",
        wrong: &[
            ("2", "expected two numbers"),
            ("2 2\n0 0 -> 1", "this is not a whole rule"),
            ("2 2\n0 7 -> 1 1", "there is no local state 7"),
            ("2 99999999999999999999", "this number is too large"),
        ],
    },
    Format {
        name: "prop",
        read: asked,
        text: "1|0,0\n0|\n",
        wrong: &[
            ("7|0", "there is no shared state 7"),
            ("0|99999999999999999999", "this number is too large"),
            ("0|x", "`x` is not a number"),
        ],
    },
    Format {
        name: "lola",
        read: |source, text| lola::read_within(source, text, &unlimited()).1,
        text: "PLACE SAFE 1: a.b, c:d; e;\nMARKING a.b: 2, e;\nTRANSITION t WEAK FAIR CONSUME a.b: 1, e; PRODUCE c:d: 3;\n",
        wrong: &[
            ("PLACE a, b", "expected `,` or `;`, but the file ends"),
            ("PLACE a; MARKING a: 1; TRANSITION t CONSUME b: 1; PRODUCE ;", "there is no place `b`"),
            ("PLACE a; MARKING a: 99999999999;", "this number is too large"),
            ("PLACE a; MARKING ; TRANSITION t CONSUME a: 1;", "expected `PRODUCE`, but the file ends"),
        ],
    },
    Format {
        name: "tina",
        read: |source, text| tina::read_within(source, text, &unlimited()).1,
        text: "net n\npl p : label (2)\ntr t [0,w[ p*2 q?1 -> {the end} r\ntr u p?-2 -> q\npl r (1K) t -> u*2\n",
        wrong: &[
            ("pl p (", "expected a number, but the file ends"),
            ("pl p (99999999999)", "this number is too large"),
            ("tr t p* -> q", "expected a number"),
            ("tr {t", "`}` is missing behind this name"),
        ],
    },
    Format {
        name: "tpn",
        read: |source, text| tpn::read_within(source, text, &unlimited()).1,
        text: "-- w\nplace \"i\" init 1;\nplace o;\ntrans \"t\"~\"T\" in \"i\" \"i\" out o;\ntrans u in o;\n",
        wrong: &[
            ("place a", "expected `;`, but the file ends"),
            ("place a; trans t in b out a;", "there is no place `b`"),
            ("place a init 99999999999;", "this number is too large"),
            ("place a init;", "expected a number"),
        ],
    },
    Format {
        name: "query",
        read: asked,
        text: "PROPERTY one: EF (s0 + 2 * s1 >= 3 AND NOT l0 > 1);\nAG (s0 <= 1 -> DEADLOCK); EF ONESAFE",
        wrong: &[
            ("EF (s0 >= 1", "expected `)`, but the file ends"),
            ("EF s9 >= 1", "there is no place `s9`"),
            ("EF s0 >= 99999999999", "this number is too large"),
            ("EF FIREABLE(t)", "there is no transition `t`"),
            ("EF s0 @ 1", "expected `<=`, `<`, `>=`, `>`, `=` or `!=`"),
        ],
    },
    Format {
        name: "mcc",
        read: asked,
        text: "<property-set><property><id>x</id><formula><exists-path><finally><integer-le><integer-constant>2</integer-constant><tokens-count><place>s0</place></tokens-count></integer-le></finally></exists-path></formula></property></property-set>",
        wrong: &[
            ("<property-set><property>", "the file ends too early"),
            ("<property-set><property><id>x</id></property></property-set>", "a property needs a formula"),
            (
                "<property-set><property><id>x</id><formula><exists-path><finally><integer-le><integer-constant>99999999999</integer-constant><tokens-count><place>s0</place></tokens-count></integer-le></finally></exists-path></formula></property></property-set>",
                "this number is too large",
            ),
            (
                "<property-set><property><id>x</id><formula><exists-path><finally><integer-le><integer-constant>1</integer-constant></integer-le></finally></exists-path></formula></property></property-set>",
                "a comparison has two sides",
            ),
        ],
    },
    Format {
        name: "protocol",
        read: |source, text| protocol::read_within(source, text, &[], &unlimited()).1,
        text: "const m = 2 type Block = 1 .. m global g : bool = false\nlocal s[Block] : { a, b } = a // states\nrule r(k : Block) when s[k] = a all others s[k] != b do s[k] := b others where s[k] = b do s[k] := a\nrule p when g with not g do g := true\nbad x(k : Block): two with s[k] = b | global g, one with s[k] = a\n",
        wrong: &[
            ("local x : bool rule r when", "expected a value, but the file ends"),
            ("local x : bool bad b: one with y", "there is no `y`"),
            ("local x : 0 .. 99999999999", "this number is too large"),
            ("local x : 0 ..", "expected a value, but the file ends"),
            ("local x : bool rule r do x := true; rule s do x := false", "`;` has no meaning here"),
        ],
    },
    Format {
        name: "cub",
        read: |source, text| cubicle::read_within(source, text, &[], &unlimited()).1,
        text: "(* a (* comment *) *)\ntype state = Idle | Busy\nvar Lock : bool\narray S[proc] : state\ninit (z) { S[z] = Idle && Lock = False }\nunsafe (z1 z2) { S[z1] = Busy && S[z2] = Busy }\ntransition enter (n) requires { S[n] = Idle && forall_other j. S[j] = Idle } { S[j] := case | j = n : Busy | _ : S[j]; Lock := True }\n",
        wrong: &[
            ("array S[proc] :", "expected a type, but the file ends"),
            ("array S[proc] : bool transition t (i) { S[i] := Maybe }", "there is no `Maybe`"),
            (
                "array S[proc] : bool transition t (i) { S[i] := 99999999999999999999 }",
                "numbers: that is outside of the class of protocols that is read",
            ),
            (
                "array S[proc] : bool transition t (i) { S[i] := }",
                "expected a variable, a process or a value",
            ),
        ],
    },
    Format {
        name: "channels",
        read: |source, text| channels::read_within(source, text, &unlimited()).1,
        text: "const last = 3 # a number\nvar x, y : 0..1\nvar d : 0..last\nchannel c : 0..1, 0..last\ninit x = y, d = 0\nrule s(e : 0..last) when x != y, d = e do x := !x, send c(!x, e)\nrule t when recv c(b, e), b = x do d := e\nbad x = y, d != 0, c has (0, 1) (1, 1)\n",
        wrong: &[
            ("var x : 0.", "`.` has no meaning here"),
            ("var x : 0..1 bad z = 0", "there is no variable `z`"),
            ("var x : 0..99999999999999999999", "this number is too large"),
            ("channel c : 0..1, 0..1 rule r do send c(0)", "expected `,`"),
            ("var x, x : 0..1", "`x` is declared twice"),
            ("var when : 0..1", "expected a name, and `when` is a reserved word"),
            ("var x : 0..1 bad x < 1", "`<` has no meaning here"),
        ],
    },
    Format {
        name: "grammar",
        read: |source, text| grammar::read_within(source, text, &unlimited()).1,
        text: "start S # here\nS -> a S b | \"S'\" S | eps\nbad b a\n",
        wrong: &[
            ("start S\nS ->\n", "nothing is bad in this file"),
            ("start\nbad a", "expected a letter, but the line ends"),
            ("start S T\nbad a", "expected the end of the line"),
            ("S -> a\nbad a", "it is not said what a derivation begins with"),
        ],
    },
];

/// What is said, each at a place that exists.
fn told(format: &Format, text: &str) -> Vec<String> {
    let diagnostics = (format.read)(SourceMap::new().add("x", text), text);
    for diagnostic in &diagnostics {
        for span in diagnostic.span.iter().chain(diagnostic.labels.iter().map(|label| &label.span)) {
            let (start, end) = (span.start as usize, span.end as usize);
            assert!(
                start <= end && text.get(start..end).is_some(),
                "{}: {diagnostic:?}\n{text}",
                format.name
            );
        }
    }
    diagnostics.into_iter().map(|diagnostic| diagnostic.message).collect()
}

#[test]
fn every_mistake_is_named() {
    let mut wrong = Vec::new();
    for format in &FORMATS {
        assert_eq!(told(format, format.text), [""; 0], "{}", format.name);
        for (text, expected) in format.wrong {
            let found = told(format, text);
            if !found.iter().any(|message| message == expected) {
                wrong.push(format!("{}: {text}\n{found:#?}", format.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn broken_texts_are_read() {
    let signs: Vec<char> = "(){}[]<>;:,.-=!&|*/#'\"\\ \n0189aé_".chars().collect();
    for format in &FORMATS {
        let text = format.text;
        for at in 0..text.len() {
            told(format, &text[..at]);
            told(format, &format!("{}{}", &text[..at], &text[at + 1..]));
            for letter in ["é", "\"", "{", "99999999999999999999", "\n", "-", "\0"] {
                told(format, &format!("{}{letter}{}", &text[..at], &text[at..]));
            }
            let mut bytes = text.as_bytes().to_vec();
            bytes[at] = 0xe9;
            told(format, &decode(&bytes));
        }
        let mut rng = Rng::new(11);
        for _ in 0..300 {
            let mut changed = text.to_string();
            for _ in 0..=rng.below(4) {
                mutate(&mut changed, &mut rng, &signs);
            }
            told(format, &changed);
        }
    }
}

/// A text that is wrong everywhere gets a hundred errors, or twice as many, and not a hundred thousand. Of properties each has
/// its own.
#[test]
fn mistakes_have_an_end() {
    for format in FORMATS.iter().filter(|format| !["prop", "query", "mcc", "pnml"].contains(&format.name)) {
        let (line, _) = format.wrong[0];
        let many = format!("{}\n{}", format.text, format!("{line};\n").repeat(3000));
        let count = told(format, &many).len();
        assert!((1..=210).contains(&count), "{}: {count}", format.name);
    }
}
