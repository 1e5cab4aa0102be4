//! Random protocols: both engines agree with each other and with states one by one for small numbers of processes; every
//! certificate passes the checker, and one that says too little fails. `PREEMPT_CASES=5000` for a long run.

use super::protocols::protocol;
use super::support;
use preempt_core::{Budget, Limits, Rng, Silent, Verdict};
use preempt_model::Interpreter;
use preempt_model::check::{Check, CheckOptions};
use preempt_net::protocol::unused::unused_rules;
use preempt_net::protocol::{Bad, Protocol, ProtocolState, promela};
use preempt_promela::{Additions, load};
use preempt_wsts::Engine;
use preempt_wsts::protocol::certificate::{CertificateSet, ProtocolCertificate, parse, write};
use preempt_wsts::protocol::{ProtocolAnswer, ProtocolOptions, SlotOrder, check_protocol, checker};
use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write;
use std::time::Duration;

/// So many processes are tried one by one.
const FEW: usize = 4;

fn cases() -> u64 {
    support::cases(250)
}

/// The parts of a random protocol: local states `a`, `b`, `c` (and a bit; or over two blocks, of which a rule touches one), a
/// global part of two values, rules of every kind.
fn random(seed: u64, guarded: bool) -> String {
    let mut rng = Rng::new(seed.wrapping_mul(0x9E37_79B9).wrapping_add(17));
    let blocks = rng.below(4) == 0;
    let bit = !blocks && rng.below(3) == 0;
    let global = rng.below(2) == 0;
    let (s, parameter) = if blocks { ("s[k]", "(k : 1 .. 2)") } else { ("s", "") };
    // Fewer states in a block: the classical algorithm has to number the states of both together.
    let mut text =
        String::from(if blocks { "local s[1 .. 2] : { a, b } = a\n" } else { "local s : { a, b, c } = a\n" });
    if bit {
        text.push_str("local x : bool = false\n");
    }
    if global {
        text.push_str("global g : 0 .. 1 = 0\n");
    }
    let states = if blocks { 2 } else { 3 };
    let state = |rng: &mut Rng| ["a", "b", "c"][rng.below(states)];
    let condition = |rng: &mut Rng| {
        let mut text = match rng.below(5) {
            0 => format!("{s} in {{ {}, {} }}", state(rng), state(rng)),
            1 => format!("{s} != {}", state(rng)),
            _ => format!("{s} = {}", state(rng)),
        };
        if bit && rng.below(3) == 0 {
            let _ = write!(text, " {} {}x", ["and", "or"][rng.below(2)], ["", "not "][rng.below(2)]);
        }
        text
    };
    let effects = |rng: &mut Rng| {
        let mut text = format!("{s} := {}", state(rng));
        if bit && rng.below(2) == 0 {
            let _ = write!(text, ", x := {}", ["true", "false", "not x", "s = a"][rng.below(4)]);
        }
        text
    };
    for rule in 0..2 + rng.below(4) {
        let _ = write!(text, "rule r{rule}{parameter} when {}", condition(&mut rng));
        if global && rng.below(2) == 0 {
            let _ = write!(text, " when g = {}", rng.below(2));
        }
        // Pairs of processes over blocks have too many local states for the classical algorithm.
        let pair = rng.below(4) == 0 && !blocks;
        if pair {
            let _ = write!(text, " with {}", condition(&mut rng));
        }
        if guarded && rng.below(2) == 0 {
            let _ = write!(text, " all others {}", condition(&mut rng));
        }
        let _ = write!(text, " do {}", effects(&mut rng));
        if global && rng.below(3) == 0 {
            text.push_str([", g := 0", ", g := 1", ", g := 1 - g"][rng.below(3)]);
        }
        if pair {
            let _ = write!(text, " partner do {}", effects(&mut rng));
        }
        if rng.below(3) == 0 {
            let _ = write!(text, " others where {} do {}", condition(&mut rng), effects(&mut rng));
            if rng.below(2) == 0 {
                let value = ["a", "b", &format!("mover.{s}")][rng.below(3)].to_string();
                let _ = write!(text, " others do {s} := {value}");
            }
        }
        text.push('\n');
    }
    let _ = write!(text, "bad it{parameter}:");
    for pattern in 0..1 + rng.below(2) {
        text.push_str(if pattern > 0 { " | " } else { " " });
        if global && rng.below(3) == 0 {
            let _ = write!(text, "global g = {}, ", rng.below(2));
        }
        let count = ["one", "two", "three"][rng.below(3)];
        let _ = write!(text, "{count} with {}", condition(&mut rng));
        if rng.below(2) == 0 {
            let _ = write!(text, ", one with {}", condition(&mut rng));
        }
    }
    text
}

/// The smallest number of processes, up to a few, with which a bad state is reached: with names, by the definition alone.
fn by_hand(protocol: &Protocol) -> Option<usize> {
    (1..=FEW).find(|count| reached_with(protocol, *count))
}

/// Is a bad state reached with exactly so many processes?
fn reached_with(protocol: &Protocol, count: usize) -> bool {
    let mut found = false;
    reachable(protocol, count, |state| {
        found |= protocol.is_bad(state, &protocol.properties[0]);
        found
    });
    found
}

/// Meets every state that is reached with exactly so many processes, until it is enough.
fn reachable(protocol: &Protocol, count: usize, mut enough: impl FnMut(&ProtocolState) -> bool) {
    let locals: Vec<u64> = (0..protocol.local_states().expect("few")).collect();
    let mut open: VecDeque<ProtocolState> = VecDeque::new();
    for global in 0..protocol.global_states().expect("few") {
        let mut states = vec![Vec::new()];
        for _ in 0..count {
            let with = |state: &Vec<u64>| {
                let state = state.clone();
                locals.iter().map(move |local| [state.as_slice(), &[*local]].concat()).collect::<Vec<_>>()
            };
            states = states.iter().flat_map(with).collect();
        }
        let states = states.into_iter().map(|processes| ProtocolState { global, processes });
        open.extend(states.filter(|state| protocol.is_initial(state)));
    }
    let mut seen: BTreeSet<ProtocolState> = open.iter().cloned().collect();
    while let Some(state) = open.pop_front() {
        if enough(&state) {
            return;
        }
        for rule in 0..protocol.rules.len() {
            for (_, after) in protocol.steps_of(&state, rule) {
                if seen.insert(after.clone()) {
                    open.push_back(after);
                }
            }
        }
    }
}

fn ask(protocol: &Protocol, engine: Engine, context: &str) -> ProtocolAnswer {
    let limits = Limits { time: Some(Duration::from_secs(60)), ..Limits::default() };
    let options = ProtocolOptions { engine, limits, order: SlotOrder::default(), property: None };
    let answer = check_protocol(protocol, &options, &mut Silent).remove(0);
    assert_eq!(answer.internal_error, None, "{engine:?}\n{context}");
    answer
}

fn count(answer: &ProtocolAnswer) -> Option<usize> {
    answer.run.as_ref().map(|run| run.initial.processes.len())
}

#[test]
fn engines_agree_on_random_protocols() {
    let (mut safe, mut bad) = (0, 0);
    for seed in 0..cases() {
        let text = random(seed, false);
        let protocol = protocol("random", &text, &[]);
        let (basis, weight) = (ask(&protocol, Engine::Basis, &text), ask(&protocol, Engine::Weight, &text));
        assert_eq!(basis.verdict, weight.verdict, "{text}");
        assert_eq!(count(&basis), count(&weight), "{text}");
        let expected = by_hand(&protocol);
        match basis.verdict {
            Verdict::Violated => {
                bad += 1;
                let found = count(&basis).expect("a run");
                assert_eq!(expected, Some(found).filter(|found| *found <= FEW), "{text}");
                let forward = ask(&protocol, Engine::Forward, &text);
                if forward.verdict == Verdict::Violated {
                    assert_eq!(count(&forward), Some(found), "{text}");
                }
            }
            Verdict::Holds => {
                safe += 1;
                assert_eq!(expected, None, "{text}");
                assert_eq!(basis.numbers.n, weight.numbers.n, "{text}");
                for answer in [&basis, &weight] {
                    mutated(&protocol, answer.certificate.as_ref().expect("a certificate"), seed, &text);
                }
            }
            Verdict::Inconclusive(reason) => panic!("{reason:?}\n{text}"),
        }
    }
    assert!(safe > cases() / 10 && bad > cases() / 10, "{safe} safe, {bad} bad");
}

/// What is listed as used by no run whatever is used by none with few processes, which are tried one by one here.
#[test]
fn unused_rules_are_used_by_nobody() {
    let (mut listed, mut only_by_few) = (0, 0);
    for seed in 0..cases() {
        let text = random(seed, seed % 2 == 0);
        let protocol = protocol("random", &text, &[]);
        let unused = unused_rules(&protocol, &Budget::unlimited()).expect("it is small");
        assert!(unused.processes >= 3, "{} processes\n{text}", unused.processes);
        let mut used = BTreeSet::new();
        for count in 1..=unused.processes {
            reachable(&protocol, count, |state| {
                let can_be_used = |rule: &usize| !protocol.steps_of(state, *rule).is_empty();
                used.extend((0..protocol.rules.len()).filter(can_be_used));
                false
            });
        }
        let by_few: BTreeSet<usize> = (0..protocol.rules.len()).filter(|rule| !used.contains(rule)).collect();
        assert_eq!(unused.by_few, by_few, "{text}");
        assert!(unused.by_any.is_subset(&by_few), "{text}");
        listed += unused.by_any.len();
        only_by_few += by_few.len() - unused.by_any.len();
    }
    assert!(listed > 10 && only_by_few > 0, "{listed} never, {only_by_few} only by few");
}

#[test]
fn guards_are_answered_as_they_are() {
    let (mut safe, mut bad) = (0u64, 0u64);
    for seed in 0..cases() {
        let text = random(seed, true);
        let protocol = protocol("random", &text, &[]);
        let (basis, weight) = (ask(&protocol, Engine::Basis, &text), ask(&protocol, Engine::Weight, &text));
        let expected = by_hand(&protocol);
        for answer in [&basis, &weight] {
            match answer.verdict {
                Verdict::Violated => {
                    bad += 1;
                    let found = count(answer).expect("a run");
                    assert_eq!(expected, Some(found).filter(|found| *found <= FEW), "{text}");
                }
                Verdict::Holds => {
                    safe += 1;
                    assert_eq!(expected, None, "{text}");
                }
                Verdict::Inconclusive(_) => {
                    assert!(answer.reason.is_some(), "{text}");
                }
            }
        }
        // They may find different runs of B', of which one can be rebuilt; but never safe and unsafe.
        let both = [basis.verdict, weight.verdict];
        assert!(!(both.contains(&Verdict::Holds) && both.contains(&Verdict::Violated)), "{text}");
    }
    assert!(safe > cases() / 10 && bad > cases() / 10, "{safe}, {bad}");
}

/// A fixed number of processes as Promela, by the reference engine for Promela, guards and all.
#[test]
fn promela_says_the_same() {
    let (mut violated, mut holding) = (0, 0);
    for seed in 0..cases() / 4 {
        let text = random(seed, true);
        let protocol = protocol("random", &text, &[]);
        let properties: Vec<&Bad> = protocol.properties.iter().collect();
        for count in 1..=3 {
            let model = promela::print(&protocol, count, &properties).expect("few processes");
            let verdict = by_promela(&model);
            let expected = reached_with(&protocol, count);
            assert_eq!(
                verdict,
                if expected { Verdict::Violated } else { Verdict::Holds },
                "{count}\n{text}\n{model}"
            );
            *if expected { &mut violated } else { &mut holding } += 1;
        }
    }
    assert!(violated > 20 && holding > 20, "{violated} {holding}");
}

pub fn by_promela(text: &str) -> Verdict {
    let loaded = load("p.pml", text, &Additions::default(), &mut |name| Err(name.to_string()));
    assert!(!loaded.diagnostics.iter().any(|d| d.is_error()), "{:?}\n{text}", loaded.diagnostics);
    let model = loaded.model.expect("a model");
    let interpreter = Interpreter::new(&model, &loaded.sources).expect("initial values");
    let mut asking = CheckOptions::default();
    asking.search.limits = Limits { states: Some(500_000), ..Limits::default() };
    Check::Safety.check(&interpreter, &asking, &mut Silent).expect("an answer").verdict
}

/// What is read back is the same and is accepted; with less in it, or with an initial state in it, it is not.
fn mutated(protocol: &Protocol, certificate: &ProtocolCertificate, seed: u64, context: &str) {
    let bad = &protocol.properties[0];
    let verify = |certificate: &ProtocolCertificate| {
        checker::verify(protocol, bad, certificate, &Budget::unlimited()).expect("no limit")
    };
    let again = parse(&write(std::slice::from_ref(certificate))).expect("what was written");
    assert_eq!(again.as_slice(), std::slice::from_ref(certificate), "{context}");
    assert_eq!(verify(certificate), Ok(()), "{context}");
    let mut rng = Rng::new(seed);
    let mut changed = certificate.clone();
    match &mut changed.set {
        CertificateSet::Elements(elements) if !elements.is_empty() => {
            // Everything that leads to a bad state is in every set that is accepted: less never is. What lies above a lighter
            // element may lie above others, too, as soon as there are enough processes.
            let heaviest: Vec<usize> = (0..elements.len())
                .filter(|at| elements[*at].processes.len() as u64 == certificate.weight)
                .collect();
            if !heaviest.is_empty() {
                elements.remove(heaviest[rng.below(heaviest.len())]);
                assert!(verify(&changed).is_err(), "{context}");
            }
            let mut initial = certificate.clone();
            let CertificateSet::Elements(elements) = &mut initial.set else { return };
            let begins = (0..protocol.global_states().unwrap_or(0)).find_map(|global| {
                let state = ProtocolState { global, processes: vec![0] };
                protocol.is_initial(&state).then_some(state)
            });
            elements.extend(begins);
            assert!(verify(&initial).is_err(), "{context}");
        }
        CertificateSet::Diagram(diagram) if diagram.root > 1 => {
            // A node less: its child in its place.
            let at = rng.below(diagram.nodes.len());
            let (level, low, high) = diagram.nodes[at];
            if low == 1 {
                diagram.nodes[at] = (level, 0, high);
            } else if high == 1 {
                diagram.nodes[at] = (level, low, 0);
            } else {
                diagram.root = 0;
            }
            assert!(verify(&changed).is_err(), "{context}");
            changed = certificate.clone();
            if let CertificateSet::Diagram(diagram) = &mut changed.set {
                diagram.root = 1;
            }
            assert!(verify(&changed).is_err(), "everything, with initial states\n{context}");
        }
        _ => {}
    }
}

/// A certificate of a safe protocol shows nothing about an unsafe one.
#[test]
fn no_certificate_shows_what_is_not_so() {
    let mut certificates: Vec<ProtocolCertificate> = Vec::new();
    let mut tried = 0;
    for seed in 0..cases() {
        let text = random(seed, seed % 2 == 0);
        let protocol = protocol("random", &text, &[]);
        let answer = ask(&protocol, Engine::Weight, &text);
        if answer.verdict == Verdict::Violated {
            for certificate in &certificates {
                let verified =
                    checker::verify(&protocol, &protocol.properties[0], certificate, &Budget::unlimited());
                assert!(matches!(verified, Ok(Err(_))), "{text}");
                tried += 1;
            }
        }
        certificates.extend(answer.certificate);
        if certificates.len() > 20 {
            certificates.remove(0);
        }
    }
    assert!(tried > 100, "{tried}");
}
