//! Certificates survive being written and read, and the checker accepts no wrong one.

#[path = "../../preempt-promela/tests/mutation/mod.rs"]
mod mutation;
use crate::support;

use num_bigint::BigUint;
use preempt_core::{Budget, Limits, Rng, Silent};
use preempt_net::predecessor::predecessors;
use preempt_net::{Marking, Problem, Range};
use preempt_wsts::certificate::{Certificate, Combination, InductiveBasis, RefutationStep};
use preempt_wsts::{CoverOptions, Engine, check, checker};
use std::time::Duration;
use support::{Brute, Kind, brute_force, random_problem};

fn certificate(problem: &Problem, engine: Engine) -> Option<Certificate> {
    let limits = Limits { time: Some(Duration::from_secs(5)), states: Some(20_000), ..Limits::default() };
    check(problem, &CoverOptions { engine, limits, ..CoverOptions::default() }, &mut Silent).certificate
}

fn combination_mut(step: &mut RefutationStep) -> Option<&mut Combination> {
    match step {
        RefutationStep::Unused(combination) | RefutationStep::Contradiction(combination) => Some(combination),
        _ => None,
    }
}

/// One small change at random; does it change anything?
fn mutate(certificate: &mut Certificate, rng: &mut Rng) -> bool {
    let before = certificate.clone();
    if let Some(basis) = &mut certificate.basis {
        match rng.below(4) {
            0 if !basis.elements.is_empty() => {
                let at = rng.below(basis.elements.len());
                basis.elements.remove(at);
            }
            1 if !basis.elements.is_empty() => {
                let at = rng.below(basis.elements.len());
                let place = rng.below(4) as u32;
                let more = basis.elements[at].get(place) + 1;
                basis.elements[at].set(place, more);
            }
            2 if !basis.bounds.is_empty() => {
                let at = rng.below(basis.bounds.len());
                basis.bounds[at].push((rng.below(2) as u32, BigUint::from(1u32)));
            }
            _ => basis.empty.push(rng.below(2) as u32),
        }
    }
    if !certificate.refutations.is_empty() {
        let at = rng.below(certificate.refutations.len());
        let steps = &mut certificate.refutations[at].steps;
        let step = rng.below(steps.len().max(1));
        match (rng.below(3), steps.get_mut(step)) {
            (0, Some(_)) => {
                steps.remove(step);
            }
            (_, Some(RefutationStep::Empty(places) | RefutationStep::Trap(places))) => {
                places.push(rng.below(2) as u32)
            }
            (_, Some(step)) => {
                if let Some(combination) = combination_mut(step) {
                    combination.places.push((rng.below(2) as u32, BigUint::from(1u32)));
                }
            }
            _ => {}
        }
    }
    *certificate != before
}

#[test]
fn written_certificates_are_read_back() {
    let (mut bases, mut refutations) = (0, 0);
    for seed in 0..400 {
        let problem = random_problem(&mut Rng::new(seed), Kind::Moving);
        for engine in [Engine::Basis, Engine::Prechecks] {
            let Some(certificate) = certificate(&problem, engine) else { continue };
            bases += usize::from(certificate.basis.is_some());
            refutations += certificate.refutations.len();
            let text = certificate.write(&problem.net);
            assert_eq!(Certificate::parse(&problem.net, &text).as_ref(), Ok(&certificate), "{text}");
        }
    }
    assert!(bases > 50 && refutations > 50, "{bases} {refutations}");
}

/// Each kind of argument is found somewhere.
#[test]
fn every_kind_of_step_is_used() {
    let mut counts = [0; 4];
    for seed in 0..6000 {
        let problem = random_problem(&mut Rng::new(seed), Kind::Plain);
        let Some(certificate) = certificate(&problem, Engine::Prechecks) else { continue };
        for step in certificate.refutations.iter().flat_map(|refutation| &refutation.steps) {
            counts[match step {
                RefutationStep::Empty(_) => 0,
                RefutationStep::Trap(_) => 1,
                RefutationStep::Unused(_) => 2,
                RefutationStep::Contradiction(_) => 3,
            }] += 1;
        }
    }
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
}

#[test]
fn a_broken_text_is_an_error_with_its_line() {
    let net = random_problem(&mut Rng::new(1), Kind::Plain).net;
    let wrong = |text: &str| Certificate::parse(&net, text).expect_err("it is wrong");
    assert_eq!(wrong("hello"), "line 1: expected `preempt certificate 1`");
    assert_eq!(
        wrong("preempt certificate 1\nrefute 1\nempty nowhere"),
        "line 3: there is no place `nowhere`"
    );
    assert_eq!(wrong("preempt certificate 1\nelement 1*p0"), "line 2: `element` does not belong here");
    assert_eq!(wrong("preempt certificate 1\nbasis\nelement x*p0"), "line 3: `x` is not a number");
}

/// Nothing that is said about an unsafe net is accepted: certificates of its safe relatives, changed at random.
#[test]
fn no_certificate_passes_for_an_unsafe_net() {
    let mut tried = 0;
    for seed in 0..2500 {
        let mut rng = Rng::new(seed);
        let safe = random_problem(&mut rng, Kind::Moving);
        let engine = [Engine::Basis, Engine::Prechecks, Engine::Auto][rng.below(3)];
        let Some(certificate) = certificate(&safe, engine) else { continue };
        // Give it more tokens, or one transition more.
        let mut wrong = safe.clone();
        let place = rng.below(wrong.initial.len());
        let more = wrong.initial[place].low + 2;
        wrong.initial[place] = if rng.one_in(2) { Range::exactly(more) } else { Range::at_least(0) };
        if rng.one_in(2) {
            let other = random_problem(&mut rng, Kind::Moving);
            let here = |t: &&preempt_net::Transition| {
                let places = wrong.net.places.len() as u32;
                t.consume.plus(&t.produce).iter().all(|(p, _)| p < places)
                    && t.moves.iter().all(|m| m.from < places && m.to.iter().all(|to| *to < places))
            };
            let added: Vec<_> = other.net.transitions.iter().filter(here).cloned().collect();
            wrong.net.transitions.extend(added);
        }
        if brute_force(&wrong, 3, 14, 3000) != Brute::Covered {
            continue;
        }
        for _ in 0..8 {
            assert!(checker::verify(&wrong, &certificate).is_err(), "seed {seed}");
            let mut changed = certificate.clone();
            for _ in 0..1 + rng.below(3) {
                mutate(&mut changed, &mut rng);
            }
            assert!(checker::verify(&wrong, &changed).is_err(), "seed {seed}: {changed:?}");
            tried += 1;
        }
    }
    assert!(tried > 1000, "{tried}");
}

/// By the definition: the targets are above the basis, no initial marking is, and no predecessor leads out of it.
fn is_inductive(problem: &Problem, basis: &InductiveBasis) -> bool {
    let above = |marking: &Marking| basis.elements.iter().any(|small| marking.covers(small));
    let possible = |marking: &Marking| marking.iter().all(|(place, _)| !basis.empty.contains(&place));
    let inside = |marking: &Marking| !possible(marking) || above(marking);
    let transitions = &problem.net.transitions;
    problem.targets.iter().all(inside)
        && basis.elements.iter().all(|small| problem.initial_covering(small).is_none())
        && basis
            .elements
            .iter()
            .all(|small| transitions.iter().all(|t| predecessors(t, small).iter().all(inside)))
}

/// Without one of its elements a basis without bounds proves what is left of it, which is nothing as a rule. (Pairs that are
/// never there together may be more than is needed.)
#[test]
fn an_element_less_is_noticed() {
    let mut refused = 0;
    for seed in 0..2500 {
        let problem = random_problem(&mut Rng::new(seed), Kind::Moving);
        let Some(certificate) = certificate(&problem, Engine::Basis) else { continue };
        let Some(basis) = &certificate.basis else { continue };
        if !basis.bounds.is_empty() {
            continue;
        }
        assert!(is_inductive(&problem, basis), "seed {seed}");
        for at in 0..basis.elements.len() {
            let mut less = certificate.clone();
            let Some(basis) = &mut less.basis else { continue };
            basis.elements.remove(at);
            let expected = is_inductive(&problem, basis);
            assert_eq!(checker::verify(&problem, &less).is_ok(), expected, "seed {seed}, element {at}");
            refused += usize::from(!expected);
        }
    }
    assert!(refused > 50, "{refused}");
}

#[test]
fn a_refutation_without_its_end_is_noticed() {
    for seed in 0..500 {
        let problem = random_problem(&mut Rng::new(seed), Kind::Plain);
        let Some(mut certificate) = certificate(&problem, Engine::Prechecks) else { continue };
        if let Some(refutation) = certificate.refutations.first_mut() {
            refutation.steps.pop();
            assert!(checker::verify(&problem, &certificate).is_err(), "seed {seed}");
        }
    }
}

/// Texts of certificates, changed sign by sign: read or refused, and never accepted for a net whose target is covered.
#[test]
fn no_text_passes_for_an_unsafe_net() {
    let mut noise = Rng::new(0x9E37_79B9_7F4A_7C15);
    let signs: Vec<char> = "0123456789*@%;p \n".chars().collect();
    let (mut tried, mut parsed, mut accepted) = (0, 0, 0);
    for seed in 0..600 {
        let mut rng = Rng::new(seed);
        let kind = if rng.one_in(2) { Kind::Plain } else { Kind::Moving };
        let safe = random_problem(&mut rng, kind);
        let engine = [Engine::Basis, Engine::Prechecks][rng.below(2)];
        let Some(certificate) = certificate(&safe, engine) else { continue };
        let written = certificate.write(&safe.net);
        let mut other = safe.clone();
        let place = rng.below(other.initial.len());
        other.initial[place] = Range::exactly(other.initial[place].low + rng.below_u64(3));
        // The judge knows nothing of certificates.
        let truth = brute_force(&other, 3, 14, 3000);
        for _ in 0..12 {
            // The first line stays, or nothing behind it would be read.
            let (head, body) = written.split_once('\n').expect("a header");
            let mut body = body.to_string();
            for _ in 0..rng.below(3) {
                mutation::mutate(&mut body, &mut noise, &signs);
            }
            if rng.one_in(3) {
                body = body.replacen("1*", "18446744073709551615*", 1 + rng.below(3));
            }
            let text = format!("{head}\n{body}");
            tried += 1;
            let Ok(forged) = Certificate::parse(&other.net, &text) else { continue };
            parsed += 1;
            let budget =
                Budget::within(&Limits { time: Some(Duration::from_millis(20)), ..Limits::default() });
            if checker::verify_within(&other, &forged, &budget) == Ok(Ok(())) {
                assert_ne!(truth, Brute::Covered, "seed {seed}: {text}");
                accepted += 1;
            }
        }
    }
    assert!(parsed * 5 > tried && accepted > 20, "{tried} {parsed} {accepted}");
}
