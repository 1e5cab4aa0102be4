//! Small nets with known answers, each for one trap that a coverability checker can fall into.

use preempt_core::{Limits, Silent, SourceMap, StopReason, Verdict};
use preempt_net::{Problem, spec};
use preempt_wsts::certificate::Step;
use preempt_wsts::{Checked, Engine, Options, check};
use std::time::{Duration, Instant};

fn read(text: &str) -> Problem {
    let mut sources = SourceMap::new();
    let (problem, diagnostics) = spec::read(sources.add("net.spec", text), text);
    assert!(!diagnostics.iter().any(|d| d.is_error()), "{diagnostics:?}");
    problem
}

fn ask(text: &str, engine: Engine) -> Checked {
    let limits = Limits { time: Some(Duration::from_secs(120)), ..Limits::default() };
    let checked = check(&read(text), &Options { engine, limits }, &mut Silent);
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
    assert!(certificate.refutations[0].steps.iter().any(|step| matches!(step, Step::Trap(_))));
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
        let checked = check(&problem, &Options { engine, ..Options::default() }, &mut Silent);
        assert_eq!(checked.outcome.verdict, Verdict::Holds, "{engine:?}");
    }
}

/// The zero test makes it safe; a run of the relaxation is not told as one of the net.
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
    let checked = check(&read(net), &Options { engine: Engine::Forward, limits }, &mut Silent);
    assert!(matches!(checked.outcome.verdict, Verdict::Inconclusive(_)));
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());

    struct Impatient;
    impl preempt_core::Observer for Impatient {
        fn progress(&mut self, _: &preempt_core::Progress) {}
        fn cancelled(&self) -> bool {
            true
        }
    }
    let start = Instant::now();
    let options = Options { engine: Engine::Forward, ..Options::default() };
    let checked = check(&read(net), &options, &mut Impatient);
    assert_eq!(checked.outcome.verdict, Verdict::Inconclusive(StopReason::Interrupted));
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}
