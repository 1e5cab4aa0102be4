//! Small nets with known answers, each for one trap that a coverability checker can fall into.

use preempt_core::{Limits, Rng, Silent, SourceMap, StopReason, Verdict};
use preempt_net::{Problem, spec};
use preempt_wsts::certificate::RefutationStep;
use preempt_wsts::{CoverOptions, CoverReport, Engine, check};
use std::time::{Duration, Instant};

fn read(text: &str) -> Problem {
    let mut sources = SourceMap::new();
    let (problem, diagnostics) = spec::read(sources.add("net.spec", text), text);
    assert!(!diagnostics.iter().any(|d| d.is_error()), "{diagnostics:?}");
    problem
}

fn ask(text: &str, engine: Engine) -> CoverReport {
    let limits = Limits { time: Some(Duration::from_secs(120)), ..Limits::default() };
    let checked =
        check(&read(text), &CoverOptions { engine, limits, ..CoverOptions::default() }, &mut Silent);
    assert_eq!(checked.internal_error, None);
    checked
}

fn expect(text: &str, verdict: Verdict) {
    for engine in [Engine::Auto, Engine::Basis] {
        assert_eq!(ask(text, engine).outcome.verdict, verdict, "{engine:?}: {text}");
    }
}

/// The incidence matrix is zero, and still tokens move.
#[test]
fn a_transfer_covers_although_no_firing_changes_anything() {
    let net = "vars p q rules true -> q' = q + p, p' = 0; init p = 2, q = 0 target q >= ";
    expect(&format!("{net} 1"), Verdict::Violated);
    expect(&format!("{net} 2"), Verdict::Violated);
    expect(&format!("{net} 3"), Verdict::Holds);
    assert_eq!(ask(&format!("{net} 3"), Engine::Prechecks).outcome.verdict, Verdict::Holds);
}

/// Two places exchange their tokens: effects are simultaneous.
#[test]
fn a_rotation_does_not_merge() {
    let net = "vars a b rules true -> a' = b, b' = a; init a = 1, b = 0 target a >= 1, b >= 1";
    expect(net, Verdict::Holds);
}

#[test]
fn a_reset_forgets() {
    let net = "vars a b rules a >= 1 -> a' = 0, b' = b + 1; init a = 5, b = 0 target b >= 2";
    expect(net, Verdict::Holds);
    expect(&net.replace("a' = 0", "a' = a - 1"), Verdict::Violated);
}

/// Only one solution of the state inequation is not its maximal support: every transition counts that some
/// solution uses.
#[test]
fn the_maximal_support_is_used() {
    let net = "vars s a b c rules s >= 1 -> s' = s - 1, a' = a + 1; a >= 1 -> a' = a - 1, b' = b + 1;
               s >= 1 -> s' = s - 1, c' = c + 1; b >= 1, c >= 1 -> ; init s = 2, a = 0, b = 0, c = 0
               target b >= 1, c >= 1";
    expect(net, Verdict::Violated);
    expect(&net.replace("s = 2", "s = 1"), Verdict::Holds);
}

/// The state inequation has a solution for two processes inside, but in it nobody has the turn; yet one of the
/// places of the turn is always marked.
#[test]
fn a_trap_is_needed() {
    let net = include_str!("../../../models/nets/peterson.spec");
    let certificate = ask(net, Engine::Prechecks).certificate.expect("a proof");
    assert!(certificate.refutations[0].steps.iter().any(|step| matches!(step, RefutationStep::Trap(_))));
}

/// The weights are 1009, 1 and 1013: as floating-point numbers they look like no small fractions.
#[test]
fn exact_weights_are_found_where_floating_point_fails() {
    let net = "vars a b c rules a >= 1 -> a' = a - 1, b' = b + 1009; b >= 1013 -> b' = b - 1013, c' = c + 1;
               init a = 1, b = 0, c = 0 target c >= 1";
    assert_eq!(ask(net, Engine::Prechecks).outcome.verdict, Verdict::Holds);
    expect(&net.replace("1013", "1009"), Verdict::Violated);
}

/// What has enough tokens and what is of no use is left out of the search; the run still names what it needs.
#[test]
fn a_reduced_net_gives_runs_of_the_whole() {
    let net = "vars fuel read waste a b rules
               fuel >= 2, read >= 3, a >= 1 -> fuel' = fuel - 2, a' = a - 1, b' = b + 1, waste' = waste + 1;
               fuel >= 2, read >= 4, a >= 1 -> fuel' = fuel - 2, a' = a - 1, b' = b + 1;
               waste >= 1 -> waste' = waste - 1;
               init fuel >= 1, read in [2, 5], waste = 0, a = 3, b = 0 target b >= 2, fuel >= 3";
    for engine in [Engine::Basis, Engine::Forward] {
        let run = ask(net, engine).run.expect("a run");
        assert_eq!(run.initial.iter().collect::<Vec<_>>(), [(0, 7), (1, 3), (3, 3)], "{engine:?}");
    }
    expect(&net.replace("[2, 5]", "[1, 2]"), Verdict::Holds);
}

/// A linear program of this size takes many seconds; a limit does not wait for its end.
#[test]
fn a_linear_program_is_interrupted() {
    let mut rng = Rng::new(7);
    let places = 900;
    let mut text = String::from("vars");
    (0..places).for_each(|place| text.push_str(&format!(" p{place}")));
    text.push_str("\nrules\n");
    for _ in 0..6000 {
        let mut used: Vec<usize> = Vec::new();
        while used.len() < 6 {
            let place = rng.below(places);
            if !used.contains(&place) {
                used.push(place);
            }
        }
        let (takes, gives) = used.split_at(used.len() / 2);
        let guards: Vec<String> = takes.iter().map(|p| format!("p{p} >= {}", 1 + p % 3)).collect();
        let mut effects: Vec<String> =
            takes.iter().map(|p| format!("p{p}' = p{p} - {}", 1 + p % 3)).collect();
        effects.extend(gives.iter().map(|p| format!("p{p}' = p{p} + {}", 2 + p % 4)));
        text.push_str(&format!("{} -> {};\n", guards.join(", "), effects.join(", ")));
    }
    let initial: Vec<String> = (0..places).map(|p| format!("p{p} = {}", 5 + p % 7)).collect();
    text.push_str(&format!("init {} target p0 >= 50, p1 >= 50, p2 >= 50", initial.join(", ")));
    let problem = read(&text);
    let start = Instant::now();
    let limits = Limits { time: Some(Duration::from_millis(600)), ..Limits::default() };
    let options = CoverOptions { engine: Engine::Prechecks, limits, ..CoverOptions::default() };
    let checked = check(&problem, &options, &mut Silent);
    assert_eq!(checked.outcome.verdict, Verdict::Inconclusive(StopReason::Time));
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}

/// Read, checked and certified in seconds on a machine that has nothing else to do: 1,000 places and 20,000 transitions.
#[test]
fn large_nets_are_checked_fast() {
    let mut text = String::from("vars");
    (0..1000).for_each(|place| text.push_str(&format!(" p{place}")));
    text.push_str("\nrules\n");
    for t in 0..20_000u32 {
        // A token walks, and some steps look whether another one is there.
        let (a, b, c) = (t % 1000, (t % 1000 * 7 + t / 1000 * 13 + 1) % 1000, t * 31 % 1000);
        let read = if c != a && c != b && t % 3 == 0 { format!(", p{c} >= 1") } else { String::new() };
        if a != b {
            text.push_str(&format!("p{a} >= 1{read} -> p{a}' = p{a} - 1, p{b}' = p{b} + 1;\n"));
        }
    }
    text.push_str("init p0 = 3");
    (1..1000).for_each(|place| text.push_str(&format!(", p{place} = 0")));
    let checked = ask(&format!("{text}\ntarget p1 >= 2, p2 >= 2"), Engine::Auto);
    assert_eq!(checked.outcome.verdict, Verdict::Holds);
    let checked = ask(&format!("{text}\ntarget p1 >= 2"), Engine::Auto);
    assert_eq!(checked.outcome.verdict, Verdict::Violated);
}

#[test]
fn a_parametric_place_counts_what_it_needs() {
    let net = "vars idle busy rules idle >= 1 -> idle' = idle - 1, busy' = busy + 1;
               init idle >= 1, busy = 0 target busy >= 7";
    expect(net, Verdict::Violated);
    for engine in [Engine::Forward, Engine::Basis] {
        let run = ask(net, engine).run.expect("a run");
        assert_eq!(run.initial.get(0), 7, "{engine:?}");
        assert_eq!(run.transitions.len(), 7);
    }
}

#[test]
fn an_empty_target_is_covered_at_once_and_no_target_never() {
    expect("vars x rules init x = 0 target x >= 0", Verdict::Violated);
    let mut problem = read("vars x rules init x = 0 target x >= 0");
    problem.targets.clear();
    for engine in [Engine::Auto, Engine::Basis, Engine::Prechecks] {
        let checked = check(&problem, &CoverOptions { engine, ..CoverOptions::default() }, &mut Silent);
        assert_eq!(checked.outcome.verdict, Verdict::Holds, "{engine:?}");
    }
}

/// The zero test makes it safe; a run of the relaxation is not taken for one of the net.
#[test]
fn a_zero_test_is_not_forgotten() {
    let net = "vars free r w rules free >= 1 -> r' = r + 1; r >= 1 -> r' = r - 1;
               free >= 1, r = 0 -> free' = free - 1, w' = w + 1; w >= 1 -> w' = w - 1, free' = free + 1;
               init free = 1, r = 0, w = 0 target r >= 1, w >= 1";
    expect(net, Verdict::Holds);
    // Tokens would have to be lost to get there.
    let never = "vars a b c rules a = 0 -> b' = b + 1; init a = 1, b = 0, c = 0 target b >= 1";
    let checked = ask(never, Engine::Auto);
    assert!(matches!(checked.outcome.verdict, Verdict::Inconclusive(StopReason::Partial)));
}

#[test]
fn limits_and_cancelling_are_obeyed() {
    // Tokens are added and moved without end, and what the target needs never comes together.
    let net = "vars a b c y z rules true -> b' = b + 1; true -> a' = a + b, b' = 0;
               y >= 1 -> y' = y - 1, z' = z + 1; z >= 1 -> z' = z - 1, y' = y + 1;
               a >= 1, z >= 2 -> c' = c + 1; init a = 0, b = 0, c = 0, y = 1, z = 0 target c >= 1";
    let limits = Limits { time: Some(Duration::from_millis(300)), ..Limits::default() };
    let start = Instant::now();
    let checked = check(
        &read(net),
        &CoverOptions { engine: Engine::Forward, limits, ..CoverOptions::default() },
        &mut Silent,
    );
    assert!(matches!(checked.outcome.verdict, Verdict::Inconclusive(_)));
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());

    struct Impatient;
    impl preempt_core::Progress for Impatient {
        fn update(&mut self, _: &preempt_core::Snapshot) {}
        fn stop(&self) -> Option<preempt_core::StopReason> {
            Some(preempt_core::StopReason::Interrupted)
        }
    }
    let start = Instant::now();
    let options = CoverOptions { engine: Engine::Forward, ..CoverOptions::default() };
    let checked = check(&read(net), &options, &mut Impatient);
    assert_eq!(checked.outcome.verdict, Verdict::Inconclusive(StopReason::Interrupted));
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}
