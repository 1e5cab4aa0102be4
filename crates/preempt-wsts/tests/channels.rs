//! Lossy channel systems: the models, the numbers of the alternating bit protocol, and random systems against every state one by one.

use crate::support::cases;
use preempt_core::{Budget, Limits, Rng, SourceMap};
use preempt_net::channels::{
    Bad, ChannelSystem, Condition, Rule, State, Step, Value, dead_rules, read_within,
};
use preempt_wsts::channels::{
    ChannelCertificate, ChannelEngine, ChannelReport, ChannelVerdict, check, checker,
};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

fn read(text: &str) -> ChannelSystem {
    let mut map = SourceMap::new();
    let (system, mistakes) = read_within(map.add("x.channels", text), text, &Budget::unlimited());
    assert!(mistakes.is_empty(), "{mistakes:?}");
    system
}

fn decide(system: &ChannelSystem, engine: ChannelEngine) -> ChannelReport {
    let limits = Limits { time: Some(Duration::from_secs(300)), ..Limits::default() };
    let found = check(system, engine, &Budget::within(&limits));
    assert_eq!(found.internal_error, None, "{system:?}");
    found
}

fn models(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(folder);
    let mut all: Vec<(String, String)> = std::fs::read_dir(folder)
        .expect("there are models")
        .map(|entry| {
            let path = entry.expect("a file").path();
            (path.display().to_string(), std::fs::read_to_string(path).expect("it can be read"))
        })
        .collect();
    all.sort();
    all
}

const ABP: &str = include_str!("../../../models/channels/alternating_bit.channels");

#[test]
fn every_model_is_what_its_header_says() {
    for (name, text) in models("channels") {
        let safe = text.contains("# expect: safe");
        assert!(safe || text.contains("# expect: unsafe"), "{name}");
        let system = read(&text);
        for engine in [ChannelEngine::Basis, ChannelEngine::Weight] {
            if engine == ChannelEngine::Basis && system.too_large_to_list().is_some() {
                continue;
            }
            let found = decide(&system, engine);
            match found.verdict {
                ChannelVerdict::Safe(certificate) => {
                    assert!(safe, "{name}");
                    let again =
                        ChannelCertificate::parse(&system, &certificate.write()).expect("it was written");
                    assert_eq!(checker::verify(&system, &again), Ok(()), "{name}");
                }
                ChannelVerdict::Reached(run) => {
                    assert!(!safe, "{name}");
                    assert!(run.replay(&system).is_some());
                }
                ChannelVerdict::Unknown(reason) => panic!("{name}: {reason:?} by {engine:?}"),
            }
        }
    }
}

fn random_value(rng: &mut Rng, variables: usize, parameters: usize, fields: usize) -> Value {
    let flipped = rng.one_in(3);
    match rng.below(4) {
        0 if parameters > 0 => Value::Parameter(rng.below(parameters), flipped),
        1 if fields > 0 => Value::Received(rng.below(fields), flipped),
        2 => Value::Constant(rng.below_u64(2)),
        _ => Value::Variable(rng.below(variables), flipped),
    }
}

fn random_system(rng: &mut Rng) -> ChannelSystem {
    let variables = 1 + rng.below(3);
    let channels: Vec<Vec<u64>> = (0..1 + rng.below(2)).map(|_| vec![2; 1 + rng.below(2)]).collect();
    let condition = |rng: &mut Rng, parameters: usize, fields: usize| Condition {
        left: random_value(rng, variables, parameters, fields),
        equal: rng.one_in(2),
        right: random_value(rng, variables, parameters, fields),
    };
    let mut rules = Vec::new();
    for number in 0..1 + rng.below(4) {
        let parameters = rng.below(2);
        let receive = rng.one_in(2).then(|| rng.below(channels.len()));
        let fields = receive.map_or(0, |channel| channels[channel].len());
        let guard = (0..rng.below(3)).map(|_| condition(rng, parameters, fields)).collect();
        let mut assign = Vec::new();
        let mut send = Vec::new();
        for variable in 0..variables {
            if rng.one_in(2) {
                assign.push((variable, random_value(rng, variables, parameters, fields)));
            }
        }
        for (channel, of) in channels.iter().enumerate() {
            if receive != Some(channel) && rng.one_in(2) {
                send.push((
                    channel,
                    of.iter().map(|_| random_value(rng, variables, parameters, fields)).collect(),
                ));
            }
        }
        let span = preempt_core::Span::new(SourceMap::new().add("x", ""), 0, 0);
        rules.push(Rule {
            name: format!("r{number}"),
            parameters: vec![2; parameters],
            guard,
            receive,
            assign,
            send,
            span,
        });
    }
    let bad = (0..1 + rng.below(2)).map(|_| {
        let conditions = (0..1 + rng.below(2)).map(|_| condition(rng, 0, 0)).collect();
        let words = channels.iter().enumerate().filter(|_| rng.one_in(3));
        let words: Vec<(usize, &Vec<u64>)> = words.collect();
        let mut message =
            |of: &Vec<u64>| of.iter().map(|_| random_value(rng, variables, 0, 0)).collect::<Vec<Value>>();
        let words = words.into_iter().map(|(at, of)| (at, vec![message(of), message(of)])).collect();
        Bad { conditions, words }
    });
    let bad = bad.collect();
    let initial = (0..variables)
        .map(|at| Condition { left: Value::Variable(at, false), equal: true, right: Value::Constant(0) })
        .collect();
    ChannelSystem {
        variables: (0..variables).map(|at| (format!("v{at}"), 2)).collect(),
        channels: channels.into_iter().enumerate().map(|(at, of)| (format!("c{at}"), of)).collect(),
        rules,
        initial,
        bad,
    }
}

/// Everything that can be reached with at most so many messages on their way.
fn brute_force(system: &ChannelSystem, most: usize) -> BTreeSet<State> {
    use preempt_net::WellStructured;
    let steps = system.rules();
    let start =
        State { control: vec![0; system.variables.len()], words: vec![Vec::new(); system.channels.len()] };
    let mut seen = BTreeSet::from([start.clone()]);
    let mut open = vec![start];
    while let Some(state) = open.pop() {
        let mut after: Vec<State> =
            steps.iter().filter_map(|step| ChannelSystem::fire(system, &state, step)).collect();
        for (channel, word) in state.words.iter().enumerate() {
            after.extend((0..word.len()).map(|at| {
                let mut lost = state.clone();
                lost.words[channel].remove(at);
                lost
            }));
        }
        for state in after {
            if state.words.iter().map(Vec::len).sum::<usize>() <= most && seen.insert(state.clone()) {
                open.push(state);
            }
        }
    }
    seen
}

/// A rule that is listed as never used is used nowhere.
#[test]
fn dead_rules_are_used_by_nobody() {
    use preempt_net::WellStructured;
    let [mut listed, mut exact] = [0; 2];
    for seed in 0..cases(300) {
        let system = random_system(&mut Rng::new(seed));
        let dead = dead_rules(&system, &Budget::unlimited()).expect("it is small");
        let states = brute_force(&system, 3);
        let used =
            |step: &Step| states.iter().any(|state| ChannelSystem::fire(&system, state, step).is_some());
        let used: BTreeSet<usize> =
            system.rules().iter().filter(|step| used(step)).map(|step| step.rule).collect();
        assert!(dead.iter().all(|rule| !used.contains(rule)), "seed {seed}: {dead:?} and {used:?}");
        listed += dead.len();
        exact += usize::from(dead.len() + used.len() == system.rules.len());
    }
    assert!(listed > 20 && exact > 100, "{listed} listed, {exact} exact");
}

#[test]
fn random_systems_agree_with_brute_force() {
    let cases = cases(300);
    let [mut reached, mut safe, mut removed] = [0; 3];
    for seed in 0..cases {
        let system = random_system(&mut Rng::new(seed));
        let bad = brute_force(&system, 4).iter().any(|state| system.is_bad(state));
        for engine in [ChannelEngine::Basis, ChannelEngine::Weight] {
            match decide(&system, engine).verdict {
                ChannelVerdict::Reached(_) => {
                    reached += 1;
                    // With few messages nearly everything is near.
                    assert!(
                        bad || brute_force(&system, 6).iter().any(|state| system.is_bad(state)),
                        "seed {seed}"
                    );
                }
                ChannelVerdict::Safe(certificate) => {
                    safe += 1;
                    assert!(!bad, "seed {seed} by {engine:?}: {system:?}");
                    let ChannelCertificate::Basis(elements) = certificate else { continue };
                    for at in (0..elements.len()).take(3) {
                        let mut fewer = elements.clone();
                        fewer.remove(at);
                        let fewer = ChannelCertificate::Basis(fewer);
                        assert!(checker::verify(&system, &fewer).is_err(), "seed {seed}");
                        removed += 1;
                    }
                }
                ChannelVerdict::Unknown(reason) => panic!("seed {seed} by {engine:?}: {reason:?}"),
            }
        }
    }
    assert!(reached > cases / 4 && safe > cases / 8 && removed > 20, "{reached} {safe} {removed}");
}

/// A diagram that was changed somewhere is no proof, unless it is a set that nothing enters all the same; and a set that a run
/// leads through is never one.
#[test]
fn changed_diagrams_are_refused() {
    let safe = read(&ABP.replace("const last = 2", "const last = 14"));
    let ChannelVerdict::Safe(ChannelCertificate::Diagram(proof)) =
        decide(&safe, ChannelEngine::Weight).verdict
    else {
        panic!("its smallest states are too many to be listed")
    };
    let again = ChannelCertificate::parse(&safe, &ChannelCertificate::Diagram(proof.clone()).write());
    assert_eq!(again, Ok(ChannelCertificate::Diagram(proof.clone())));
    let mut rng = Rng::new(5);
    let mut refused = 0;
    for _ in 0..12 {
        let mut changed = proof.clone();
        let at = rng.below(changed.nodes.len());
        let (_, low, high) = &mut changed.nodes[at];
        if rng.one_in(2) {
            *low = usize::from(rng.one_in(2))
        } else {
            *high = usize::from(rng.one_in(2))
        }
        if changed != proof {
            refused += usize::from(checker::verify(&safe, &ChannelCertificate::Diagram(changed)).is_err());
        }
    }
    assert!(refused >= 4, "{refused}");
    // The same diagram, for a protocol that is broken.
    let broken = ABP.replace("const last = 2", "const last = 14").replace("do sAck := b", "do sAck := sBit");
    assert!(checker::verify(&read(&broken), &ChannelCertificate::Diagram(proof)).is_err());
}

/// With 255 values, and nodes in proportion to the bits of the data.
#[test]
fn data_costs_its_bits() {
    let nodes = |last: u64| {
        let system = read(&ABP.replace("const last = 2", &format!("const last = {last}")));
        let begin = std::time::Instant::now();
        let found = decide(&system, ChannelEngine::Weight);
        println!("{} values in {:?}", last + 1, begin.elapsed());
        match found.verdict {
            ChannelVerdict::Safe(ChannelCertificate::Diagram(proof)) => proof.nodes.len(),
            other => panic!("{last}: {other:?}"),
        }
    };
    let [small, middle, large] = [14, 62, 254].map(nodes);
    assert!(large - middle <= 2 * (middle - small), "{small} {middle} {large}");
}

#[test]
fn mistakes_have_a_place() {
    let check = |text: &str, expected: &str| {
        let mut map = SourceMap::new();
        let (_, mistakes) = read_within(map.add("x", text), text, &Budget::unlimited());
        let found: Vec<String> = mistakes.iter().map(|mistake| mistake.message.clone()).collect();
        assert!(found.iter().any(|message| message == expected), "{text}: {found:?}");
    };
    check("", "nothing is bad in this file");
    check("var x", "expected `:`, but the file ends");
    check("var x : 1..2", "values begin with 0");
    check("var x : 0..9999999", "there are too many values");
    check("var x : 0..99999999999", "this number is too large");
    check("var x : 0..1 var x : 0..1", "`x` is declared twice");
    check("var x : 0..1 bad y = 0", "there is no variable `y`");
    check("var x : 0..1 rule r do x := 2", "this value may be too large");
    check("var x : 0..2 rule r do x := !x", "only what has two values can be flipped");
    check("var x : 0..1 rule r do x := 0, x := 1", "`x` is assigned twice");
    check("channel c : 0..1 rule r do send d(0)", "there is no channel `d`");
    check("channel c : 0..1, 0..1 rule r do send c(0)", "expected `,`");
    check(
        "channel c : 0..1 rule r when recv c(a) do send c(a)",
        "a rule does not send to the channel it receives from",
    );
    let text = ABP;
    for at in 0..text.len() {
        let mut map = SourceMap::new();
        for broken in [text[..at].to_string(), format!("{}é{}", &text[..at], &text[at..])] {
            let (_, mistakes) = read_within(map.add("x", broken.as_str()), &broken, &Budget::unlimited());
            assert!(mistakes.iter().all(|it| it.span.is_none_or(|span| span.end as usize <= broken.len())));
        }
    }
}
