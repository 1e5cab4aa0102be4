//! Numbers that independent programs have computed for the systems of paper 004: verdicts, n, delta, heights, the smallest
//! number of processes, sizes of bases and of state spaces.

use super::models::read as read_net;
use super::protocols::{ask, model, protocol};
use preempt_core::{Budget, SourceMap, Verdict};
use preempt_net::channels::State;
use preempt_net::protocol::Protocol;
use preempt_net::protocol::guards::{reduced, side_condition};
use preempt_net::{channels, grammar};
use preempt_wsts::channels::{ChannelCertificate, ChannelEngine, ChannelVerdict};
use preempt_wsts::grammars::{GrammarEngine, GrammarVerdict};
use preempt_wsts::protocol::{SIDE_CONDITION, count_states};
use preempt_wsts::{CoverOptions, Engine, check};

/// What is found, and the processes that it takes if it is bad.
fn verdict(protocol: &Protocol, engine: Engine, property: &str) -> (Verdict, u64, Option<usize>) {
    let answer = ask(protocol, engine, property);
    (answer.verdict, answer.numbers.n, answer.run.map(|run| run.initial.processes.len()))
}

const SAFE: Option<usize> = None;
const WITH_2: Option<usize> = Some(2);
const WITH_3: Option<usize> = Some(3);

/// A protocol; with how many processes it is bad, and B'; n of B'; whether the side condition fails; and what is without guards.
type Row = (&'static str, Option<usize>, Option<usize>, u64, Option<Option<usize>>, Option<Option<usize>>);

const GUARDS: [Row; 11] = [
    ("mesi", SAFE, SAFE, 2, Some(SAFE), Some(WITH_2)),
    ("mesi_no_eviction", SAFE, SAFE, 2, Some(WITH_2), Some(WITH_2)),
    ("mesi_broken", WITH_2, WITH_2, 2, Some(SAFE), Some(WITH_2)),
    ("moesi", SAFE, SAFE, 2, Some(SAFE), Some(WITH_2)),
    ("moesi_broken", WITH_2, WITH_2, 2, Some(SAFE), Some(WITH_2)),
    ("synapse", SAFE, SAFE, 2, None, None),
    ("synapse_broken", WITH_2, WITH_2, 2, None, None),
    ("illinois", SAFE, SAFE, 2, Some(SAFE), Some(WITH_2)),
    ("berkeley", SAFE, SAFE, 2, None, None),
    ("berkeley_broken", WITH_2, WITH_2, 2, None, None),
    ("spurious", SAFE, WITH_3, 3, Some(WITH_2), Some(WITH_3)),
];

#[test]
fn guards_and_what_is_left_without_them() {
    for (name, itself, without_guards, n, side, dropped) in GUARDS {
        let (guarded, text) = model(&format!("{name}.protocol"));
        assert_eq!(guarded.is_guarded(), side.is_some(), "{name}");
        let property = guarded.properties[0].name.clone();
        // The protocol itself, state by state, with two to seven processes.
        let (found, _, processes) = verdict(&guarded, Engine::Forward, &property);
        assert_eq!((found == Verdict::Violated, processes), (itself.is_some(), itself), "{name}");
        let reduced = reduced(&guarded).protocol;
        let mut engines = vec![(&reduced, &property, without_guards, Some(n))];
        let side_condition = SIDE_CONDITION.to_string();
        engines.extend(side.map(|side| (&guarded, &side_condition, side, None)));
        let open = without(&text, "all others", " do ");
        let open = protocol(name, &open, &[]);
        engines.extend(dropped.map(|dropped| (&open, &property, dropped, None)));
        for (protocol, property, expected, n) in engines {
            for engine in [Engine::Basis, Engine::Weight] {
                let (found, last, processes) = verdict(protocol, engine, property);
                let wanted = if expected.is_some() { Verdict::Violated } else { Verdict::Holds };
                assert_eq!((found, processes), (wanted, expected), "{name}: {property} by {engine:?}");
                assert_eq!(n.unwrap_or(last), last, "{name}: {property} by {engine:?}");
            }
        }
    }
}

/// Without what stands between the words, the first of them included.
fn without(text: &str, from: &str, to: &str) -> String {
    let mut parts = text.split(from);
    let mut left = parts.next().unwrap_or_default().to_string();
    for part in parts {
        left.push_str(part.find(to).map_or("", |at| &part[at..]));
    }
    left
}

/// The smallest delta for each kind of rule, with the global part as it is and changed.
#[test]
fn every_kind_of_rule_has_its_delta() {
    for (rule, unchanged, changed) in [
        ("when not x do x := true", 0, 1),
        ("when not x with x do x := true partner do x := false", 1, 2),
        ("when not x do x := true others do x := false", 1, 1),
    ] {
        let text =
            |rule: &str| format!("global g : bool local x : bool rule r {rule} bad b: global g, one with x");
        assert_eq!(protocol("p", &text(rule), &[]).deflation(), unchanged, "{rule}");
        let rule = rule.replacen("do ", "do g := not g, ", 1);
        assert_eq!(protocol("p", &text(&rule), &[]).deflation(), changed, "{rule}");
    }
}

/// Table 2: three slots of three bits for each block, and one image for each weight.
#[test]
fn mesi_over_blocks_is_as_high_as_its_blocks() {
    let (_, text) = model("mesi_blocks.protocol");
    for m in 1..=6u64 {
        let mesi = protocol("mesi_blocks", &text, &[("m", &m.to_string())]);
        let answer = ask(&mesi, Engine::Weight, "coherence");
        let numbers = &answer.numbers;
        assert_eq!(answer.verdict, Verdict::Holds, "{m}");
        assert_eq!((numbers.n, numbers.delta, numbers.weight, numbers.height), (2, 1, 3, 9 * m));
        assert_eq!((numbers.images, reduced(&mesi).protocol.local_states()), (2, Some(8u64.pow(m as u32))));
        // An independent program's, slot by slot: 9 and 27 nodes, then 53 and 149, ..., 5,797 and 27,685.
        let sizes: Vec<u64> = numbers.sizes.iter().map(|(_, nodes)| *nodes).collect();
        assert!(sizes[0] <= 10 * m && sizes[1] <= 20 * m, "{m}: {sizes:?}");
    }
}

/// Table 4: the states of B' and B'' with few clients, up to their names. What else there is stands in the model's header.
#[test]
fn german_has_its_states_without_guards() {
    let (german, _) = model("german.protocol");
    let reduced = reduced(&german).protocol;
    let with_error = side_condition(&german, &Budget::unlimited()).expect("it is small");
    for (clients, expected) in [(1, 188), (2, 1886), (3, 12_344)] {
        for protocol in [&reduced, &with_error] {
            assert_eq!(count_states(protocol, clients, &Budget::unlimited()), Some(expected), "{clients}");
        }
    }
}

const ABP: &str = include_str!("../../../models/channels/alternating_bit.channels");

fn channel_system(text: &str) -> channels::ChannelSystem {
    let (system, mistakes) =
        channels::read_within(SourceMap::new().add("x", text), text, &Budget::unlimited());
    assert!(mistakes.is_empty(), "{mistakes:?}");
    system
}

/// Table 3: the elements of weight 0, 1 and 2 of the minimal basis, for d values; with what is bad as it stands, and one step
/// before, when the acknowledgement is on its way.
#[test]
fn the_alternating_bit_protocol_has_its_bases() {
    let of = |d: u64| [6 * d * d - 4 * d, 2 * d * d * d + 8 * d * d - 2 * d, 2 * d * d * d + 2 * d, 0];
    assert_eq!(
        [of(2), of(3), of(4), of(5)],
        [[16, 44, 20, 0], [42, 120, 60, 0], [80, 248, 136, 0], [130, 440, 260, 0]]
    );
    let before = "bad sAck != sBit, sent != rcvd, ack has (sBit)";
    let questions = [
        (None, [of(2), of(3), of(4)]),
        (Some(before), [[12, 52, 20, 0], [30, 156, 60, 0], [56, 344, 136, 0]]),
    ];
    for (bad, expected) in questions {
        for (d, expected) in (2..).zip(expected) {
            let mut text = ABP.replace("const last = 2", &format!("const last = {}", d - 1));
            if let Some(bad) = bad {
                text = format!("{}{bad}", &text[..text.find("bad ").expect("what is bad")]);
            }
            let system = channel_system(&text);
            for engine in [ChannelEngine::Basis, ChannelEngine::Weight] {
                // Both engines where both are quick.
                if d > 3 && engine == ChannelEngine::Basis {
                    continue;
                }
                let found = preempt_wsts::channels::check(&system, engine, &Budget::unlimited());
                let ChannelVerdict::Safe(ChannelCertificate::Basis(elements)) = found.verdict else {
                    panic!("{d} by {engine:?}")
                };
                let of_weight = |weight: usize| {
                    let weigh = |state: &&State| state.words.iter().map(Vec::len).sum::<usize>() == weight;
                    elements.iter().filter(weigh).count() as u64
                };
                assert_eq!([0, 1, 2, 3].map(of_weight), expected, "{d} by {engine:?}");
                if let Some(diagrams) = found.diagrams {
                    assert_eq!((diagrams.n, diagrams.delta, diagrams.weight), (2, 1, 3), "{d}");
                }
            }
        }
    }
}

/// With so many messages on their way, and not with fewer.
#[test]
fn broken_alternating_bits_need_few_messages() {
    for (text, weight) in [
        (include_str!("../../../models/channels/alternating_bit_any_ack.channels"), 1),
        (include_str!("../../../models/channels/alternating_bit_no_wait.channels"), 0),
    ] {
        let system = channel_system(text);
        let found = preempt_wsts::channels::check(&system, ChannelEngine::Weight, &Budget::unlimited());
        assert!(matches!(found.verdict, ChannelVerdict::Reached(_)));
        assert_eq!(found.diagrams.expect("by diagrams").n, weight);
    }
}

#[test]
fn brackets_can_be_read_the_wrong_way() {
    for word in ["b a", "b b a a", "a a b", "b a b a"] {
        let text = format!("start S\nS -> a S b | S S | eps\nbad {word}");
        let (grammar, mistakes) =
            grammar::read_within(SourceMap::new().add("x", &*text), &text, &Budget::unlimited());
        assert!(mistakes.is_empty());
        let found = preempt_wsts::grammars::check(&grammar, GrammarEngine::Basis, &Budget::unlimited());
        assert!(matches!(found, Ok(GrammarVerdict::Derived(_))), "{word}");
    }
}

/// Table 1: what the engine by weight needs on the published nets, which those of `models/nets` are like.
#[test]
fn nets_of_table_1_have_its_heights() {
    for (name, places, transitions, n, height) in [
        ("central_server", 14, 13, 4, 20),
        ("multi_pool", 18, 21, 5, 24),
        ("mesh_2x2", 32, 32, 5, 30),
        ("mesh_3x2", 52, 54, 5, 36),
    ] {
        let file = format!("{}/../../models/nets/table1_{name}.spec", env!("CARGO_MANIFEST_DIR"));
        let problem = read_net(name, &std::fs::read_to_string(file).expect("a net"));
        assert_eq!((problem.net.places.len(), problem.net.transitions.len()), (places, transitions));
        let options = CoverOptions { engine: Engine::Weight, ..CoverOptions::default() };
        let report = check(&problem, &options, &mut preempt_core::Silent);
        assert_eq!(report.outcome.verdict, Verdict::Holds, "{name}");
        let diagrams = report.diagrams.expect("by weight");
        assert_eq!((diagrams.n, diagrams.delta, diagrams.height), (n, 1, height), "{name}");
    }
}
