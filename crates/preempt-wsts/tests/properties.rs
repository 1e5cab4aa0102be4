//! Properties: formulas that are not upward closed against every marking one by one, an answer for each property of a file, and
//! very many targets at once.

use crate::support;

use preempt_core::{Budget, Limits, Rng, Silent, Verdict};
use preempt_net::formula::{Formula, Linear};
use preempt_net::{Marking, Net, NetProperty, Problem, Quantifier, Question, Range, Transition};
use preempt_wsts::reachable::{Reachability, Reason, reachable};
use preempt_wsts::{Answer, CoverOptions, Engine, answer_each, check, checker};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use support::{Kind, random_problem};

fn random_formula(rng: &mut Rng, places: u32, transitions: usize, depth: u32) -> Formula {
    match rng.below(if depth == 0 { 3 } else { 6 }) {
        0 => Formula::Fireable(rng.below(transitions)),
        1 if rng.one_in(2) => Formula::Deadlock,
        3 => random_formula(rng, places, transitions, depth - 1).negated(),
        kind @ (4 | 5) => {
            let parts = (0..2).map(|_| random_formula(rng, places, transitions, depth - 1)).collect();
            if kind == 4 { Formula::All(parts) } else { Formula::Any(parts) }
        }
        _ => {
            let weights: Vec<(u32, i64)> = (0..places).map(|p| (p, rng.below(4) as i64 - 2)).collect();
            Formula::AtMost(Linear::new(weights, rng.below(7) as i64 - 4))
        }
    }
}

/// Every marking with few tokens; and whether that is all there is.
fn markings(problem: &Problem) -> (BTreeSet<Marking>, bool) {
    let mut starts = vec![Marking::new()];
    let mut whole = true;
    for (place, range) in (0u32..).zip(&problem.initial) {
        let high = range.high.unwrap_or_else(|| {
            whole = false;
            range.low + 2
        });
        let more = |start: &Marking| -> Vec<Marking> {
            (range.low..=high).map(|n| start.plus(&Marking::from_pairs([(place, n)]))).collect()
        };
        starts = starts.iter().flat_map(more).collect();
    }
    let mut seen: BTreeSet<Marking> = starts.iter().cloned().collect();
    while let Some(marking) = starts.pop() {
        for after in problem.net.transitions.iter().filter_map(|t| t.fire(&marking)) {
            if after.weight() > 8 || seen.len() > 2000 {
                whole = false;
            } else if seen.insert(after.clone()) {
                starts.push(after);
            }
        }
    }
    (seen, whole)
}

#[test]
fn what_is_said_of_reachability_is_so() {
    let cases = std::env::var("PREEMPT_CASES").ok().and_then(|it| it.parse().ok()).unwrap_or(400);
    let [mut reached, mut visited, mut equation, mut unknown] = [0; 4];
    for seed in 0..cases {
        let mut rng = Rng::new(seed);
        let kind = [Kind::Plain, Kind::Moving, Kind::Testing][seed as usize % 3];
        let problem = random_problem(&mut rng, kind);
        let formula =
            random_formula(&mut rng, problem.net.places.len() as u32, problem.net.transitions.len(), 2);
        let (all, whole) = markings(&problem);
        let there = all.iter().any(|marking| formula.holds(&problem.net, marking));
        let budget = Budget::within(&Limits { states: Some(20_000), ..Limits::default() });
        match reachable(&problem, &formula, &budget) {
            Reachability::Reached(run) => {
                reached += 1;
                let end = problem.end_of(&run.initial, &run.transitions).expect("it replays");
                assert!(problem.is_initial(&run.initial) && formula.holds(&problem.net, &end), "seed {seed}");
                assert!(there || !whole, "seed {seed}");
            }
            Reachability::Unreachable(reason) => {
                assert!(!there, "seed {seed}: {reason:?} {formula:?} {problem:?}");
                match reason {
                    Reason::Visited => visited += 1,
                    Reason::StateEquation => equation += 1,
                }
            }
            Reachability::Unknown(_) => unknown += 1,
        }
    }
    assert!(reached > cases / 4 && visited > 5 && equation > 5, "{reached} {visited} {equation} {unknown}");
}

/// A philosopher each: a left and a right fork. Deadlock can be reached, and not where one of them is left-handed.
#[test]
fn deadlocks_are_found_or_refuted() {
    let philosophers = |left_handed: bool| {
        let count = 5u32;
        let places: Vec<String> = ["think", "one", "eat", "fork"]
            .iter()
            .flat_map(|kind| (0..count).map(move |at| format!("{kind}{at}")))
            .collect();
        let (think, one, eat, fork) = (0, count, 2 * count, 3 * count);
        let mut transitions = Vec::new();
        for at in 0..count {
            let mut forks = [fork + at, fork + (at + 1) % count];
            if left_handed && at == 0 {
                forks.reverse();
            }
            let mut add = |consume: &[u32], produce: &[u32]| {
                let marking = |places: &[u32]| Marking::from_pairs(places.iter().map(|place| (*place, 1)));
                let (consume, produce) = (marking(consume), marking(produce));
                transitions.push(Transition { consume, produce, ..Transition::default() });
            };
            add(&[think + at, forks[0]], &[one + at]);
            add(&[one + at, forks[1]], &[eat + at]);
            add(&[eat + at], &[think + at, forks[0], forks[1]]);
        }
        let tokens = |place: u32| u64::from(place < count || place >= 3 * count);
        let initial = (0..4 * count).map(|place| Range::exactly(tokens(place))).collect();
        Problem { net: Net { places, transitions }, initial, targets: Vec::new(), spans: Vec::new() }
    };
    let asked = |left_handed| reachable(&philosophers(left_handed), &Formula::Deadlock, &Budget::unlimited());
    assert!(matches!(asked(false), Reachability::Reached(run) if run.transitions.len() == 5));
    assert!(matches!(asked(true), Reachability::Unreachable(_)));
}

#[test]
fn one_property_does_not_spoil_another() {
    // A token goes round; and one place grows for ever.
    let text =
        "vars a b c rules a >= 1 -> a' = a - 1, b' = b + 1; b >= 1 -> b' = b - 1, a' = a + 1, c' = c + 1;
                init a = 1, b = 0, c = 0 target c >= 1";
    let (problem, _) = preempt_net::spec::read(preempt_core::SourceMap::new().add("x", text), text);
    let property = |question| NetProperty { id: "x".into(), quantifier: Quantifier::Reachable, question };
    let equal = |place, n| {
        let sum = |sign: i64| Formula::AtMost(Linear::new([(place, sign)], sign * n));
        Formula::All(vec![sum(1), sum(-1)])
    };
    let properties = [
        property(Question::Cover(vec![Marking::from_pairs([(2, 3)])])),
        property(Question::Cover(vec![Marking::from_pairs([(0, 1), (1, 1)])])),
        property(Question::Unsupported("it is written in another language".into())),
        property(Question::Reach(equal(2, 4))),
        property(Question::Reach(Formula::All(vec![equal(0, 0), equal(1, 0)]))),
        property(Question::Reach(Formula::Deadlock)),
    ];
    let options = CoverOptions {
        limits: Limits { time: Some(Duration::from_secs(20)), ..Limits::default() },
        ..CoverOptions::default()
    };
    let answers = answer_each(&problem, &properties.iter().collect::<Vec<_>>(), &options, &mut Silent);
    assert!(matches!(&answers[0], Answer::Reached(run) if run.transitions.len() >= 6), "{answers:?}");
    assert!(matches!(answers[1], Answer::Unreachable(_)), "{answers:?}");
    assert!(matches!(answers[2], Answer::Unsupported(_)), "{answers:?}");
    assert!(matches!(&answers[3], Answer::Reached(run) if run.transitions.len() == 8), "{answers:?}");
    assert!(matches!(answers[4], Answer::Unreachable("by the state equation")), "{answers:?}");
    assert!(matches!(answers[5], Answer::Unreachable(_)), "{answers:?}");
}

/// Bingham's ME-k with every pair of places behind the door as a target: weights that refute one refute many.
#[test]
fn thousands_of_targets_are_refuted_together() {
    let k = 140u32;
    let marking = |places: &[u32]| Marking::from_pairs(places.iter().map(|place| (*place, 1)));
    let mut transitions = Vec::new();
    let mut add = |consume: &[u32], produce: &[u32]| {
        transitions.push(Transition {
            consume: marking(consume),
            produce: marking(produce),
            ..Transition::default()
        });
    };
    // notin, in, x0, x1, ...
    let x = |at: u32| 2 + at;
    add(&[0, x(0)], &[1, x(1)]);
    (1..k).for_each(|at| add(&[x(at)], &[x(at + 1)]));
    (1..=k).for_each(|at| add(&[1, x(at)], &[0, x(0)]));
    let mut initial = vec![Range::exactly(0); k as usize + 3];
    (initial[0], initial[2]) = (Range::exactly(1), Range::at_least(1));
    let mut targets = Vec::new();
    for a in 1..=k {
        targets.extend((a..=k).map(|b| marking(&[x(0), x(a)]).plus(&marking(&[x(b)]))));
    }
    assert!(targets.len() > 8_989);
    let net = Net { places: (0..k + 3).map(|place| format!("p{place}")).collect(), transitions };
    let problem = Problem { net, initial, targets, spans: Vec::new() };
    // Asked side by side, a search may be done before them.
    for engine in [Engine::Prechecks, Engine::Auto] {
        let begin = Instant::now();
        let found = check(&problem, &CoverOptions { engine, ..CoverOptions::default() }, &mut Silent);
        assert_eq!(found.outcome.verdict, Verdict::Holds);
        let certificate = found.certificate.expect("a proof");
        if found.answered_by == Engine::Prechecks {
            assert!(certificate.write(&problem.net).len() < 1 << 20);
        }
        assert!(engine == Engine::Auto || found.answered_by == engine);
        assert_eq!(checker::verify(&problem, &certificate), Ok(()));
        println!("{} targets in {:?} by {engine:?}", problem.targets.len(), begin.elapsed());
    }
}
