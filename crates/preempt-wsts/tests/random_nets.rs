//! All engines agree with each other and with brute force on random small nets.

use crate::support;

use preempt_core::{Limits, Rng, Silent, Verdict};
use preempt_net::{Move, Net, Problem, Range, Transition};
use preempt_wsts::{CoverOptions, CoverReport, Engine, check, checker};
use std::collections::BTreeSet;
use std::time::Duration;
use support::{Brute, Kind, brute_force, random_problem};

fn ask(problem: &Problem, engine: Engine, unreduced: bool) -> CoverReport {
    let limits = Limits { time: Some(Duration::from_secs(5)), states: Some(30_000), ..Limits::default() };
    let checked = check(problem, &CoverOptions { engine, limits, unreduced }, &mut Silent);
    assert_eq!(checked.internal_error, None, "{engine:?} on {problem:#?}");
    match checked.outcome.verdict {
        Verdict::Holds => {
            let certificate = checked.certificate.as_ref().expect("a proof has a certificate");
            checker::verify(problem, certificate).expect("the certificate is good");
        }
        Verdict::Violated => {
            let run = checked.run.as_ref().expect("a violation has a run");
            assert!(problem.is_counterexample(&run.initial, &run.transitions));
            assert!(checked.outcome.counterexample.is_some());
        }
        Verdict::Inconclusive(_) => {}
    }
    checked
}

/// The engines that are compared on each net; those by weight take turns with the others, for they are slower.
fn engines(seed: u64) -> Vec<Engine> {
    let mut engines = vec![Engine::Basis, Engine::Auto, Engine::Prechecks];
    match seed % 16 {
        0 => engines.push(Engine::Weight),
        8 => engines.push(Engine::WeightPlain),
        _ => {}
    }
    engines
}

/// Verdicts by engine are compared; returns how many were decided and how many of them are violations.
fn campaign(seeds: std::ops::Range<u64>, kind: Kind) -> (usize, usize) {
    let (mut decided, mut violated) = (0, 0);
    for seed in seeds {
        let problem = random_problem(&mut Rng::new(seed), kind);
        let brute = brute_force(&problem, 3, 14, 4000);
        let ask_it = |engine| ask(&problem, engine, seed % 4 == 1).outcome.verdict;
        let verdicts: Vec<Verdict> = engines(seed).into_iter().map(ask_it).collect();
        // Forward ends by itself only if there are few states.
        let limits = Limits { states: Some(300), time: Some(Duration::from_secs(1)), ..Limits::default() };
        let options = CoverOptions { engine: Engine::Forward, limits, ..CoverOptions::default() };
        let forward = check(&problem, &options, &mut Silent);
        assert_eq!(forward.internal_error, None, "seed {seed}");
        for verdict in verdicts.iter().chain([&forward.outcome.verdict]) {
            match (verdict, brute) {
                (Verdict::Holds, Brute::Covered) | (Verdict::Violated, Brute::Never) => {
                    panic!("seed {seed}: {verdicts:?}, but brute force says {brute:?}\n{problem:#?}")
                }
                _ => {}
            }
        }
        let conclusive: Vec<&Verdict> = verdicts
            .iter()
            .chain([&forward.outcome.verdict])
            .filter(|v| matches!(v, Verdict::Holds | Verdict::Violated))
            .collect();
        assert!(
            conclusive.windows(2).all(|pair| pair[0] == pair[1]),
            "seed {seed}: {verdicts:?}\n{problem:#?}"
        );
        if brute == Brute::Covered && kind != Kind::Testing {
            assert_eq!(verdicts[0], Verdict::Violated, "seed {seed}");
        }
        decided += usize::from(!conclusive.is_empty());
        violated += usize::from(conclusive.first() == Some(&&Verdict::Violated));
    }
    (decided, violated)
}

#[test]
fn plain_nets() {
    let (decided, violated) = campaign(0..3000, Kind::Plain);
    assert!(decided > 2950 && violated > 500 && violated < 2500, "{decided} {violated}");
}

#[test]
fn nets_with_resets_transfers_and_copies() {
    let (decided, violated) = campaign(0..3000, Kind::Moving);
    assert!(decided > 2900 && violated > 500 && violated < 2500, "{decided} {violated}");
}

#[test]
fn nets_with_tests_for_few_tokens() {
    let (decided, violated) = campaign(0..1500, Kind::Testing);
    assert!(decided > 1000 && violated > 100, "{decided} {violated}");
}

/// `PREEMPT_CASES=30000` for a night; other nets than those above.
#[test]
fn a_campaign_as_long_as_is_asked_for() {
    let cases = std::env::var("PREEMPT_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(200);
    for kind in [Kind::Plain, Kind::Moving, Kind::Testing] {
        let (decided, _) = campaign(1_000_000..1_000_000 + cases, kind);
        assert!(decided > 0);
    }
}

/// Whoever adds something to nets or engines has to produce it here: without it, this does not compile.
#[test]
fn the_campaigns_meet_everything() {
    let mut met: BTreeSet<&str> = BTreeSet::new();
    for kind in [Kind::Plain, Kind::Moving, Kind::Testing] {
        for seed in 0..300 {
            let problem = random_problem(&mut Rng::new(seed), kind);
            let Problem { net: Net { places: _, transitions }, initial, targets, spans: _ } = &problem;
            for Range { low, high } in initial {
                met.insert(match (low, high) {
                    (_, None) => "unbounded beginning",
                    (low, Some(high)) if low == high => "certain beginning",
                    (_, Some(_)) => "beginning within a range",
                });
            }
            met.insert(if targets.len() > 1 { "several targets" } else { "one target" });
            for Transition { name: _, consume, produce, moves, at_most } in transitions {
                let both = consume.iter().any(|(place, _)| produce.get(place) > 0);
                let heavy = consume.iter().chain(produce.iter()).any(|(_, weight)| weight > 1);
                let flags = [
                    (consume.iter().next().is_none(), "arc from nowhere"),
                    (produce.iter().next().is_none(), "arc to nowhere"),
                    (both, "read arc"),
                    (heavy, "weight"),
                    (at_most.iter().any(|(_, most)| *most == 0), "zero test"),
                    (at_most.iter().any(|(_, most)| *most > 0), "test for few"),
                ];
                met.extend(flags.into_iter().filter(|(is, _)| *is).map(|(_, name)| name));
                for Move { from: _, to } in moves {
                    met.insert(match to.len() {
                        0 => "reset",
                        1 => "transfer",
                        _ => "copy",
                    });
                }
            }
            for engine in engines(seed).into_iter().chain([Engine::Forward]) {
                met.insert(match engine {
                    Engine::Auto => "auto",
                    Engine::Prechecks => "prechecks",
                    Engine::Basis => "basis",
                    Engine::Weight => "weight engine",
                    Engine::WeightPlain => "weight engine, plain",
                    Engine::Forward => "forward",
                });
            }
        }
    }
    let all = [
        "unbounded beginning",
        "certain beginning",
        "beginning within a range",
        "several targets",
        "one target",
        "arc from nowhere",
        "arc to nowhere",
        "read arc",
        "weight",
        "zero test",
        "test for few",
        "reset",
        "transfer",
        "copy",
        "auto",
        "prechecks",
        "basis",
        "weight engine",
        "weight engine, plain",
        "forward",
    ];
    assert_eq!(all.into_iter().filter(|name| !met.contains(name)).collect::<Vec<_>>(), [""; 0], "never met");
}
