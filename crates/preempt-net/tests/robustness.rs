//! Whatever is fed to the readers of nets and properties, they answer, and soon.

#[path = "../../preempt-promela/tests/mutation/mod.rs"]
pub mod mutation;

use mutation::mutate;
use preempt_core::{Budget, Diagnostic, Limits, Rng, SourceMap};
use preempt_net::{Problem, Question, mcc, pnml, spec};
use std::time::{Duration, Instant};

const SPEC: &str = "vars a b c # three
rules a = 0, b in [1,2] -> a' = a + b + 1, b' = 0;
  true -> ;
  a >= 1, c >= 2 -> a' = a - 1, c' = c - 2 ;
init a >= 1, b in [0, 3]
target a = 0, b >= 2
  c >= 1
invariants a = 1, b = 2";

const NET: &str = r#"<?xml version="1.0"?>
<!-- a net -->
<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
 <net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><name><text>x</text></name>
  <page id="one">
   <place id="p"><name><text>P &amp; &#81;</text></name><initialMarking><text> 2 </text></initialMarking></place>
   <page id="inner"><place id="q"/><referencePlace id="pp" ref="p"/></page>
   <transition id="t"/><transition id="u"/>
   <arc id="a1" source="pp" target="t"><inscription><text>3</text></inscription></arc>
   <arc id="a2" source="t" target="q"/><arc id="a3" source="q" target="u"><type value="inhibitor"/></arc>
   <arc id="a4" source="p" target="u"><type value="reset"/></arc>
  </page>
 </net>
</pnml>"#;

const QUESTION: &str = "<property-set xmlns=\"http://mcc.lip6.fr/\"><property><id>x</id><formula>
<exists-path><finally><disjunction><conjunction>
<integer-le><integer-constant>2</integer-constant><tokens-count><place>p</place><place>q</place></tokens-count></integer-le>
<is-fireable><transition>t</transition></is-fireable></conjunction>
<negation><integer-le><tokens-count><place>q</place></tokens-count><integer-constant>7</integer-constant></integer-le></negation>
</disjunction></finally></exists-path></formula></property></property-set>";

/// Every place that is named must exist.
fn looked_at(text: &str, diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        for span in diagnostic.span.iter().chain(diagnostic.labels.iter().map(|label| &label.span)) {
            assert!(span.end as usize <= text.len(), "{diagnostic:?}");
        }
    }
}

fn read_net(text: &str) -> Option<Problem> {
    let mut map = SourceMap::new();
    let (problem, diagnostics) = pnml::read(map.add("net.pnml", text), text);
    looked_at(text, &diagnostics);
    diagnostics.iter().all(|diagnostic| !diagnostic.is_error()).then_some(problem)
}

fn messages(text: &str) -> Vec<String> {
    let mut map = SourceMap::new();
    let (_, diagnostics) = pnml::read(map.add("net.pnml", text), text);
    assert!(diagnostics.iter().all(|diagnostic| diagnostic.span.is_some()));
    diagnostics.into_iter().map(|diagnostic| diagnostic.message).collect()
}

#[test]
fn random_mutations_are_answered() {
    let mut rng = Rng::new(0x2545_F491_4F6C_DD1D);
    let signs: Vec<char> = "<>/\"'=&;#!-[]?%().,> \n09aé_".chars().collect();
    let net = read_net(NET).expect("it is correct").net;
    for _ in 0..6000 {
        for (at, original) in [SPEC, NET, QUESTION].into_iter().enumerate() {
            let mut text = original.to_string();
            for _ in 0..=rng.below(4) {
                mutate(&mut text, &mut rng, &signs);
            }
            let mut map = SourceMap::new();
            let id = map.add("x", text.as_str());
            let diagnostics = match at {
                0 => spec::read(id, &text).1,
                1 => pnml::read(id, &text).1,
                _ => mcc::read(&net, id, &text, None).1,
            };
            looked_at(&text, &diagnostics);
        }
    }
}

#[test]
fn entities_that_nobody_knows_are_errors() {
    assert!(read_net(NET).is_some());
    for entity in ["&nbsp;", "&a;", "&;", "&#xFFFFFFFF;", "&#0;"] {
        let text = NET.replace("&amp;", entity);
        assert!(read_net(&text).is_none(), "{entity}");
        let found = messages(&text);
        assert!(found.iter().all(|message| message.contains("entity")), "{entity}: {found:?}");
        // In an attribute too.
        assert!(read_net(&NET.replace("id=\"one\"", &format!("id=\"one{entity}\""))).is_none(), "{entity}");
    }
}

/// A line of definitions that stands for a thousand million letters: nothing of it is expanded.
#[test]
fn bombs_of_entities_stay_harmless() {
    let mut definitions = String::from("<!DOCTYPE pnml [<!ENTITY a0 \"lol\">");
    for n in 1..10 {
        let ten = format!("&a{};", n - 1).repeat(10);
        definitions.push_str(&format!("<!ENTITY a{n} \"{ten}\">"));
    }
    definitions.push_str("]>");
    let text = NET.replace("<!-- a net -->", &definitions).replace("&amp;", "&a9;");
    assert!(read_net(&text).is_none());
    assert_eq!(messages(&text), ["`&a9;` is not an entity that is known"]);
}

#[test]
fn nesting_has_an_end() {
    for depth in [300, 100_000] {
        let pages = NET
            .replace("<place id=\"q\"/>", &format!("{}{}", "<page>".repeat(depth), "</page>".repeat(depth)));
        assert_eq!(messages(&pages).iter().any(|message| message.contains("too deeply")), depth > 400);
        let formula = format!("{}<true/>{}", "<negation>".repeat(depth), "</negation>".repeat(depth));
        let text = QUESTION.replace("<disjunction>", &format!("<disjunction>{formula}"));
        let (net, mut map) = (read_net(NET).expect("it is correct").net, SourceMap::new());
        let (found, _) = mcc::read(&net, map.add("q.xml", text.as_str()), &text, None);
        assert_eq!(found.len(), usize::from(depth < 400));
    }
}

/// A text that is wrong everywhere gets a hundred errors, and not a hundred thousand.
#[test]
fn mistakes_have_an_end() {
    let arcs: String =
        (0..20_000).map(|n| format!("<arc id=\"x{n}\" source=\"z{n}\" target=\"t\"/>")).collect();
    let (mut map, text) = (SourceMap::new(), NET.replace("<arc id=\"a1\"", &format!("{arcs}<arc id=\"a1\"")));
    let (_, diagnostics) = pnml::read(map.add("net.pnml", text.as_str()), &text);
    assert_eq!(diagnostics.len(), 101, "{:?}", diagnostics.last());
    let rules: String = (0..20_000).map(|n| format!("z{n} >= 1 -> a' = a + 1;")).collect();
    let text = format!("vars a rules {rules} init a = 0 target a >= 1");
    assert_eq!(spec::read(map.add("net.spec", text.as_str()), &text).1.len(), 101);
}

/// Sums of weights are what they are, however large the parts.
#[test]
fn large_weights_are_added_exactly() {
    let most = u64::from(u32::MAX);
    let arc =
        "<arc id=\"a1\" source=\"pp\" target=\"t\"><inscription><text>4294967295</text></inscription></arc>";
    let text = NET
        .replace("<transition id=\"t\"/>", &format!("<transition id=\"t\"/>{arc}{}", arc.replace("a1", "b")));
    let problem = read_net(&text).expect("large, and correct");
    assert_eq!(problem.net.transitions[0].consume.get(0), 2 * most + 3);
    let text = "vars a rules a >= 4294967295 -> a' = a + 4294967295; init a = 1 target a >= 1";
    let (problem, _) = spec::read(SourceMap::new().add("x", text), text);
    assert_eq!(problem.net.transitions[0].produce.get(0), 2 * most);
}

/// Whether a transition with an inhibitor can fire is not a question of more tokens.
#[test]
fn a_transition_that_tokens_disable_is_not_asked_for() {
    let (net, mut map) = (read_net(NET).expect("it is correct").net, SourceMap::new());
    let text = QUESTION.replace("<transition>t<", "<transition>u<");
    let (found, diagnostics) = mcc::read(&net, map.add("q.xml", text.as_str()), &text, None);
    assert!(matches!(found[0].question, Question::Reach(_)), "{found:?}");
    assert!(diagnostics.is_empty());
}

fn a_moment() -> Budget {
    Budget::within(&Limits { time: Some(Duration::from_millis(50)), ..Limits::default() })
}

/// What takes long is given up, and says so.
#[test]
fn long_texts_are_given_up_when_the_time_is_over() {
    let soon = |what: &str, read: &dyn Fn(&Budget) -> Vec<Diagnostic>| {
        let begin = Instant::now();
        let diagnostics = read(&a_moment());
        assert!(begin.elapsed() < Duration::from_secs(3), "{what}: {:?}", begin.elapsed());
        diagnostics.iter().any(|d| d.is_error() && d.message.contains("limit"))
    };
    // A conjunction of disjunctions has as many cases as it may have, and each is compared with each. If there are too many, it
    // stays a formula, which may be known before the time is over.
    let net = format!(
        "<pnml><net id=\"n\">{}</net></pnml>",
        (0..300).map(|n| format!("<place id=\"p{n}\"/>")).collect::<String>()
    );
    let problem = read_net(&net).expect("it is correct");
    let one = |n: usize| {
        format!(
            "<integer-le><integer-constant>1</integer-constant><tokens-count><place>p{n}</place></tokens-count></integer-le>"
        )
    };
    let some = |from: usize| {
        format!("<disjunction>{}</disjunction>", (from..from + 140).map(one).collect::<String>())
    };
    let both = format!("<conjunction>{}{}</conjunction>", some(0), some(140));
    let question = QUESTION.replace("<disjunction>", &format!("<disjunction>{}", both.repeat(30)));
    let mut map = SourceMap::new();
    let id = map.add("q.xml", "");
    soon("a long formula", &|budget| mcc::read_within(&problem.net, id, &question, None, budget).1);
    let over = Budget::within(&Limits { time: Some(Duration::ZERO), ..Limits::default() });
    let (_, given_up) = mcc::read_within(&problem.net, id, &question, None, &over);
    assert!(given_up.iter().any(|d| d.is_error() && d.message.contains("limit")), "{given_up:?}");

    // Invariants are compared with every rule.
    let many: String = (0..20_000).map(|_| "x >= 1 -> x' = x - 1, y' = y + 1;\n").collect();
    let sums: String = (0..20_000).map(|_| "x = 1, y = 1\n").collect();
    let text = format!("vars x y rules {many} init x = 1, y = 0 target y >= 2 invariants {sums}");
    assert!(soon("many invariants", &|budget| spec::read_within(id, &text, budget).1));
}
