//! Backward by weight: the diagrams against states one by one, the verdicts against the other engines, and what the
//! optimisation of section 4.1 spares.

use crate::support;

use preempt_core::{Limits, Rng, Silent, Verdict};
use preempt_net::{Marking, Problem, WellStructured};
use preempt_wsts::weight::explicit::Explicit;
use preempt_wsts::weight::{WeightOutcome, by_weight};
use preempt_wsts::{CoverOptions, CoverReport, Engine, check};
use std::collections::BTreeSet;
use std::time::Duration;
use support::{Kind, cases, random_problem};

fn decide(problem: &Problem, engine: Engine) -> CoverReport {
    // Nodes of diagrams, or elements of bases: most have far fewer.
    let limits = Limits { time: Some(Duration::from_secs(20)), states: Some(20_000), ..Limits::default() };
    let checked = check(problem, &CoverOptions { engine, limits, ..CoverOptions::default() }, &mut Silent);
    assert_eq!(checked.internal_error, None, "{engine:?} on {problem:#?}");
    checked
}

fn decided(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Holds | Verdict::Violated)
}

#[test]
fn weights_and_bases_agree() {
    let mut counts = [0usize; 4];
    for seed in 0..cases(1000) {
        let kind = [Kind::Plain, Kind::Moving][seed as usize % 2];
        let problem = random_problem(&mut Rng::new(seed), kind);
        let basis = decide(&problem, Engine::Basis).outcome.verdict;
        for (at, engine) in [Engine::Weight, Engine::WeightPlain].into_iter().enumerate() {
            if engine.refuses(&problem).is_some() {
                continue;
            }
            let verdict = decide(&problem, engine).outcome.verdict;
            if decided(basis) && decided(verdict) {
                assert_eq!(verdict, basis, "seed {seed} by {engine:?}: {problem:#?}");
                counts[2 * at + usize::from(verdict == Verdict::Violated)] += 1;
            }
        }
    }
    assert!(counts.iter().all(|count| *count > 50), "{counts:?}");
}

/// The same n, and the same smallest elements, as with sets of markings.
#[test]
fn diagrams_are_the_sets_they_stand_for() {
    let mut compared = 0;
    for seed in 0..300 {
        let problem = random_problem(&mut Rng::new(seed), Kind::Plain);
        let weight = |target: &Marking| target.weight();
        if problem.net.deflation().unwrap_or(9) > 2 || problem.targets.iter().map(weight).max() > Some(3) {
            continue;
        }
        let below = |marking: &Marking| problem.initial_covering(marking).is_some();
        let system =
            Explicit { system: &problem.net, targets: problem.targets.clone(), below_initial: &below };
        let mut rounds = 0;
        let found = by_weight(&system, false, &mut |_, _| {
            rounds += 1;
            Ok(())
        });
        let checked = decide(&problem, Engine::WeightPlain);
        let (Ok(found), Some(diagrams)) = (found, checked.diagrams) else { panic!("seed {seed}") };
        if !decided(checked.outcome.verdict) {
            continue;
        }
        assert_eq!(diagrams.rounds, rounds, "seed {seed}");
        match found {
            WeightOutcome::Reached { weight, .. } => assert_eq!(weight, diagrams.n, "seed {seed}"),
            WeightOutcome::Converged { set, n } => {
                assert_eq!(n, diagrams.n, "seed {seed}");
                assert_eq!(diagrams.height, diagrams.bound(), "seed {seed}");
                let least = |m: &&Marking| !set.iter().any(|other| other != *m && m.covers(other));
                let least: BTreeSet<Marking> = set.iter().filter(least).cloned().collect();
                let basis = checked.certificate.and_then(|it| it.basis).expect("a proof").elements;
                assert_eq!(BTreeSet::from_iter(basis), least, "seed {seed}");
            }
        }
        compared += 1;
    }
    assert!(compared > 100, "{compared}");
}

/// "Fewest" is true: no run keeps below, by visiting every marking with fewer tokens.
#[test]
fn fewest_tokens_are_fewest() {
    let mut proven = 0;
    for seed in 0..cases(400) {
        let problem = random_problem(&mut Rng::new(seed), Kind::Plain);
        let checked = decide(&problem, Engine::WeightPlain);
        let Some(run) = checked.run.filter(|_| checked.fewest_tokens) else { continue };
        let markings = problem.replay(&run.initial, &run.transitions).expect("it replays");
        let most = markings.iter().map(Marking::weight).max().unwrap_or(0);
        if most == 0 || most > 7 {
            continue;
        }
        assert!(!support::covered_within(&problem, most - 1), "seed {seed}: fewer than {most} do");
        proven += 1;
    }
    assert!(proven > 15, "{proven}");
}

/// Section 4.1: starting from the lifted set spares backward images.
#[test]
fn lifting_spares_rounds() {
    let text = include_str!("../../../models/nets/central_server.spec");
    let mut sources = preempt_core::SourceMap::new();
    let (problem, _) = preempt_net::spec::read(sources.add("net.spec", text), text);
    let limits = Limits { time: Some(Duration::from_secs(60)), ..Limits::default() };
    let by =
        |engine| check(&problem, &CoverOptions { engine, limits, ..CoverOptions::default() }, &mut Silent);
    let (lifted, plain) = (by(Engine::Weight), by(Engine::WeightPlain));
    assert_eq!(lifted.outcome.verdict, Verdict::Holds);
    let (lifted, plain) = (lifted.diagrams.expect("numbers"), plain.diagrams.expect("numbers"));
    assert!(lifted.rounds < plain.rounds, "{lifted:?} {plain:?}");
}
