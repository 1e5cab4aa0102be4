//! Every protocol in `models/protocols` does what its header says, by every engine that applies; and the numbers of paper 004.

use super::random_protocols::by_promela;
use preempt_core::{Budget, Limits, Silent, SourceMap, Verdict};
use preempt_net::protocol::{Protocol, cubicle, promela, read};
use preempt_wsts::Engine;
use preempt_wsts::protocol::{
    ProtocolAnswer, ProtocolOptions, SIDE_CONDITION, SlotOrder, check_protocol, count_states, refuses,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub fn protocol(name: &str, text: &str, definitions: &[(&str, &str)]) -> Protocol {
    let definitions: Vec<(String, String)> =
        definitions.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let (protocol, diagnostics) = read(SourceMap::new().add(name, text), text, &definitions);
    assert!(diagnostics.is_empty(), "{name}: {diagnostics:?}");
    protocol
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/protocols")
}

pub fn model(name: &str) -> (Protocol, String) {
    let text = fs::read_to_string(folder().join(name)).expect("a readable model");
    if name.ends_with(".cub") {
        let source = SourceMap::new().add(name, text.as_str());
        let (protocol, diagnostics) = cubicle::read_within(source, &text, &[], &Budget::unlimited());
        assert!(diagnostics.is_empty(), "{name}: {diagnostics:?}");
        return (protocol, text);
    }
    (protocol(name, &text, &[]), text)
}

pub fn ask(protocol: &Protocol, engine: Engine, property: &str) -> ProtocolAnswer {
    let limits = Limits { time: Some(Duration::from_secs(120)), ..Limits::default() };
    let property = Some(property.to_string());
    let options = ProtocolOptions { engine, limits, property, order: SlotOrder::default() };
    let answer = check_protocol(protocol, &options, &mut Silent).remove(0);
    assert_eq!(answer.internal_error, None, "{engine:?}");
    answer
}

/// What a header says of a property: `safe`, `unsafe with 2`, `inconclusive`, with `n = ` and `delta = ` behind.
fn agrees(answer: &ProtocolAnswer, expected: &str, context: &str) {
    let number = |key: &str| -> Option<u64> {
        let rest = expected.split_once(key)?.1;
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    };
    match expected.split([',', ' ']).next() {
        Some("safe") => {
            assert_eq!(answer.verdict, Verdict::Holds, "{context}: {answer:?}");
            assert!(answer.certificate.is_some(), "{context}");
            for (key, found) in [("n = ", answer.numbers.n), ("delta = ", answer.numbers.delta)] {
                if let Some(wanted) = number(key) {
                    assert_eq!(found, wanted, "{context}: {key}");
                }
            }
            // The last weights bring nothing new, as many as delta says.
            if answer.answered_by == Engine::Weight {
                let numbers = &answer.numbers;
                assert_eq!(numbers.weight, numbers.n + numbers.delta, "{context}");
            }
        }
        Some("unsafe") => {
            assert_eq!(answer.verdict, Verdict::Violated, "{context}: {:?}", answer.reason);
            let run = answer.run.as_ref().expect("a run");
            assert_eq!(Some(run.initial.processes.len() as u64), number("with "), "{context}");
            assert!(answer.fewest_processes);
        }
        Some("inconclusive") => {
            assert!(matches!(answer.verdict, Verdict::Inconclusive(_)), "{context}: {:?}", answer.verdict);
            assert!(answer.reason.is_some(), "{context}");
        }
        other => panic!("{context}: what is {other:?}?"),
    }
}

#[test]
fn models_do_what_they_say() {
    let mut seen = 0;
    for entry in fs::read_dir(folder()).expect("the folder of protocols") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let (protocol, text) = model(&name);
        let expectations: Vec<(&str, &str)> = text
            .lines()
            .map(|line| line.trim_end_matches(" *)"))
            .filter_map(|line| {
                line.strip_prefix("# expect ").or(line.strip_prefix("(* expect "))?.split_once(": ")
            })
            .collect();
        for bad in &protocol.properties {
            assert!(
                expectations.iter().any(|(it, _)| *it == bad.name),
                "{name}: {} is not expected",
                bad.name
            );
        }
        for (property, expected) in &expectations {
            for engine in [Engine::Auto, Engine::Basis, Engine::Weight] {
                // What is not chosen by its size is by weight.
                let small = protocol.local_states().is_some_and(|count| count <= 16);
                if refuses(&protocol, engine).is_none() && (engine != Engine::Auto || small) {
                    let answer = ask(&protocol, engine, property);
                    agrees(&answer, expected, &format!("{name}: {property} by {engine:?}"));
                }
            }
            // Forward says the same, or nothing; and it looks at the guards themselves.
            if *property != SIDE_CONDITION && expected.starts_with("unsafe") {
                let answer = ask(&protocol, Engine::Forward, property);
                agrees(&answer, expected, &format!("{name}: {property} forward"));
            }
        }
        seen += 1;
    }
    assert!(seen >= 20, "{seen}");
}

#[test]
fn german_has_the_states_of_the_definition() {
    let (german, text) = model("german.protocol");
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("# states with 1, 2 and 3 clients, up to their names: "));
    let expected: Vec<u64> =
        line.expect("the line").split(' ').map(|n| n.parse().expect("a number")).collect();
    assert_eq!(expected, [188, 1704, 10470]);
    for (clients, expected) in (1..).zip(expected) {
        assert_eq!(count_states(&german, clients, &Budget::unlimited()), Some(expected), "{clients} clients");
    }
}

/// ghat counts local steps only: a rule that says something to the others, and be it nothing, does not count, and each of these is
/// needed. Without the guard the protocol breaks in as few steps as explicit search finds.
#[test]
fn german_needs_its_guard_and_what_leads_to_it() {
    let (_, text) = model("german.protocol");
    for rule in [
        "do answer := invalidate, must_invalidate := false",
        "memory := if granted then back else memory, granted := false",
        "do cache := S, copy := value, value := 0, answer := none",
    ] {
        let changed = text.replace(rule, &format!("{rule}\n  others do current := current"));
        assert_ne!(changed, text);
        let german = protocol("german.protocol", &changed, &[]);
        agrees(&ask(&german, Engine::Weight, SIDE_CONDITION), "unsafe with 2", rule);
    }
    let (_, text) = model("german_no_guard.protocol");
    let german = protocol(
        "german.protocol",
        &(text + "\nbad memory_only: global not granted and memory != last\n"),
        &[],
    );
    for (property, steps) in [("control", 8), ("read", 9), ("memory_only", 12)] {
        let answer = ask(&german, Engine::Forward, property);
        agrees(&answer, "unsafe with 2", property);
        assert_eq!(answer.run.expect("a run").steps.len(), steps, "{property}");
    }
}

/// With a fixed number of clients, as Promela: broken ones break with as many as their headers say, and not with fewer.
#[test]
fn promela_says_the_same_of_models() {
    for (name, property, safe, bad) in [
        ("mesi.protocol", "coherence", 3, None),
        ("mesi_broken.protocol", "coherence", 1, Some(2)),
        ("spurious.protocol", "both", 4, None),
        ("spurious_real.protocol", "both", 1, Some(2)),
        ("illinois_no_guard.protocol", "coherence", 1, Some(2)),
        ("german.protocol", "data", 1, None),
        ("german_broken.protocol", "data", 0, Some(1)),
        ("german_control.protocol", "control", 2, None),
    ] {
        let (protocol, _) = model(name);
        let wanted: Vec<_> = protocol.properties.iter().filter(|bad| bad.name == property).collect();
        let verdict = |count| by_promela(&promela::print(&protocol, count, &wanted).expect("few processes"));
        if safe > 0 {
            assert_eq!(verdict(safe), Verdict::Holds, "{name}");
        }
        if let Some(bad) = bad {
            assert_eq!(verdict(bad), Verdict::Violated, "{name}");
        }
    }
}
