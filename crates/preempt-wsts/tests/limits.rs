//! Limits are kept in every phase, and what was cut short is never an answer.

use crate::support;

use preempt_core::{Budget, Limits, Progress, Rng, Silent, Snapshot, SourceMap, StopReason, Verdict};
use preempt_net::{Problem, spec};
use preempt_wsts::certificate::{Certificate, InductiveBasis};
use preempt_wsts::{CoverOptions, Engine, check, checker};
use std::time::{Duration, Instant};
use support::{Brute, Kind, brute_force, random_problem};

fn read(text: &str) -> Problem {
    let (problem, diagnostics) = spec::read(SourceMap::new().add("net.spec", text), text);
    assert!(diagnostics.iter().all(|diagnostic| !diagnostic.is_error()), "{diagnostics:?}");
    problem
}

/// A basis that grows without a visible end, and a run that nobody can tell.
const BY_FOUR: &str = "vars a rules true -> a' = a + 4; init a = 0 target a >= 4294967295";
/// Four thousand million combinations by which two places can give what the third needs.
const SPLIT: &str = "vars a b c rules true -> a' = a + 1, b' = b + 1; true -> c' = a + b + c, a' = 0, b' = 0;
                     init a = 0, b = 0, c = 0 target c >= 4294967295";
/// A million steps backward and forward.
const MILLION: &str =
    "vars p a rules p >= 1 -> p' = p - 1, a' = a + 1; init a = 0, p = 1000000 target a >= 1000000";

#[test]
fn time_is_kept_by_every_engine() {
    for net in [BY_FOUR, SPLIT, MILLION] {
        let problem = read(net);
        for engine in Engine::ALL.into_iter().filter(|engine| engine.refuses(&problem).is_none()) {
            let limits = Limits { time: Some(Duration::from_millis(60)), ..Limits::default() };
            let begin = Instant::now();
            let checked =
                check(&problem, &CoverOptions { engine, limits, ..CoverOptions::default() }, &mut Silent);
            let Verdict::Inconclusive(reason) = checked.outcome.verdict else {
                panic!("{engine:?}: {:?}", checked.outcome.verdict)
            };
            // Some engines know before that they will find nothing.
            assert!(
                matches!(reason, StopReason::Time | StopReason::Partial | StopReason::Memory),
                "{reason:?}"
            );
            assert!(begin.elapsed() < Duration::from_secs(2), "{engine:?}: {:?}", begin.elapsed());
        }
    }
}

#[test]
fn memory_is_counted_where_it_is_used() {
    for net in [SPLIT, MILLION] {
        let limits = Limits { memory_bytes: Some(2_000_000), ..Limits::default() };
        let options = CoverOptions { engine: Engine::Basis, limits, ..CoverOptions::default() };
        let checked = check(&read(net), &options, &mut Silent);
        assert_eq!(checked.outcome.verdict, Verdict::Inconclusive(StopReason::Memory));
    }
}

/// A run is an answer although it takes more memory to tell it than there is.
#[test]
fn a_run_that_is_too_long_to_show_is_still_a_run() {
    let problem = read("vars a rules true -> a' = a + 1; init a = 0 target a >= 20000");
    let limits = Limits { memory_bytes: Some(1_000_000), ..Limits::default() };
    let options = CoverOptions { engine: Engine::Forward, limits, ..CoverOptions::default() };
    let checked = check(&problem, &options, &mut Silent);
    assert_eq!(checked.outcome.verdict, Verdict::Violated);
    assert_eq!(checked.run.map(|run| run.transitions.len()), Some(20_000));
    assert!(checked.outcome.counterexample.is_none());
}

/// Says to stop after it has been called so often, and why.
struct Impatient(u32, StopReason);

impl Progress for Impatient {
    fn update(&mut self, _: &Snapshot) {
        self.0 = self.0.saturating_sub(1);
    }

    fn stop(&self) -> Option<StopReason> {
        (self.0 == 0).then_some(self.1)
    }
}

#[test]
fn what_the_listener_says_is_the_reason() {
    for (reason, engine) in [
        (StopReason::Memory, Engine::Basis),
        (StopReason::Interrupted, Engine::Auto),
        (StopReason::Time, Engine::Forward),
    ] {
        for after in [0, 2] {
            let begin = Instant::now();
            let options = CoverOptions { engine, ..CoverOptions::default() };
            let checked = check(&read(MILLION), &options, &mut Impatient(after, reason));
            assert_eq!(checked.outcome.verdict, Verdict::Inconclusive(reason), "{engine:?}");
            assert!(begin.elapsed() < Duration::from_secs(2), "{engine:?}: {:?}", begin.elapsed());
        }
    }
}

/// Whatever stops an engine wherever it is: it says what is true, or that it does not know.
#[test]
fn an_engine_that_is_cut_short_says_nothing_false() {
    let (mut cut, mut answered) = (0, 0);
    for seed in 0..150 {
        let mut rng = Rng::new(seed);
        let problem = random_problem(&mut rng, [Kind::Plain, Kind::Moving, Kind::Testing][seed as usize % 3]);
        let truth = brute_force(&problem, 3, 14, 3000);
        let engine = Engine::ALL[rng.below(6)];
        if engine.refuses(&problem).is_some() {
            continue;
        }
        let limits = match rng.below(3) {
            0 => Limits { states: Some(rng.below_u64(4)), ..Limits::default() },
            1 => Limits { memory_bytes: Some(rng.below_u64(2000)), ..Limits::default() },
            _ => Limits { time: Some(Duration::from_micros(rng.below_u64(300))), ..Limits::default() },
        };
        let unreduced = rng.one_in(2);
        match check(&problem, &CoverOptions { engine, limits, unreduced }, &mut Silent).outcome.verdict {
            Verdict::Inconclusive(_) => cut += 1,
            Verdict::Holds => {
                assert_ne!(truth, Brute::Covered, "seed {seed}, {engine:?}");
                answered += 1;
            }
            Verdict::Violated => {
                assert_ne!(truth, Brute::Never, "seed {seed}, {engine:?}");
                answered += 1;
            }
        }
    }
    assert!(cut > 15 && answered > 15, "{cut} {answered}");
}

/// Numbers as large as they can be: no overflow, and no more memory than for small ones.
#[test]
fn certificates_with_the_largest_numbers_are_checked() {
    let problem = read(SPLIT);
    let forged = |tokens: &[u64]| {
        let elements = tokens.iter().map(|n| preempt_net::Marking::from_pairs([(2, *n)])).collect();
        let basis = InductiveBasis { elements, ..InductiveBasis::default() };
        Certificate { refutations: Vec::new(), basis: Some(basis) }
    };
    let why = checker::verify(&problem, &forged(&[u64::MAX])).expect_err("the target is not in the set");
    assert!(why.contains("the target"), "{why}");
    let why =
        checker::verify(&problem, &forged(&[4_294_967_295, u64::MAX])).expect_err("it is not inductive");
    assert!(why.contains("leads from"), "{why}");
    let text = "preempt certificate 1\nbasis\nempty\nelement 18446744073709551615*c 18446744073709551615*c";
    let read_back = Certificate::parse(&problem.net, text).expect("as large as can be");
    assert!(checker::verify(&problem, &read_back).is_err());
    let long = format!("preempt certificate 1\nbasis\nbound {}*c", "9".repeat(1_000_000));
    assert!(Certificate::parse(&problem.net, &long).expect_err("a million digits").contains("too long"));
    // A budget that is exhausted is no judgement.
    let budget = Budget::unlimited();
    budget.stop(StopReason::Interrupted);
    assert_eq!(checker::verify_within(&problem, &read_back, &budget), Err(StopReason::Interrupted));
}
