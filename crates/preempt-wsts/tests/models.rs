//! Every net in `models/nets` does what its header says, by every engine; and Bingham's family for large k.

use preempt_core::{Limits, Silent, SourceMap, Verdict};
use preempt_net::{Marking, Problem, decode, spec};
use preempt_wsts::{CoverOptions, CoverReport, Engine, check};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;

pub fn read(name: &str, text: &str) -> Problem {
    let mut sources = SourceMap::new();
    let (problem, diagnostics) = spec::read(sources.add(name, text), text);
    assert!(!diagnostics.iter().any(|d| d.is_error()), "{name}: {diagnostics:?}");
    problem
}

const A_MINUTE: Limits =
    Limits { states: None, depth: None, time: Some(Duration::from_secs(60)), memory_bytes: None };
/// So many markings, elements or nodes of diagrams for an engine that need not find anything: it would go on for ever.
const A_FEW: Limits = Limits { states: Some(30_000), ..A_MINUTE };

fn ask(problem: &Problem, engine: Engine, limits: Limits) -> CoverReport {
    let checked = check(problem, &CoverOptions { engine, limits, ..CoverOptions::default() }, &mut Silent);
    assert_eq!(checked.internal_error, None, "{engine:?}");
    checked
}

#[test]
fn models_do_what_they_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/nets");
    let (mut seen, mut by_weight) = (0, 0);
    for entry in fs::read_dir(&folder).expect("the folder of nets") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let text = decode(&fs::read(&path).expect("a readable file"));
        let expected = match text.lines().find_map(|line| line.strip_prefix("# expect: ")) {
            Some("safe") => Verdict::Holds,
            Some("unsafe") => Verdict::Violated,
            other => panic!("{name}: what is expected? {other:?}"),
        };
        let problem = read(&name, &text);
        for engine in [Engine::Auto, Engine::Basis] {
            assert_eq!(ask(&problem, engine, A_MINUTE).outcome.verdict, expected, "{name} by {engine:?}");
        }
        // The others say the same or nothing.
        for engine in [Engine::Prechecks, Engine::Forward, Engine::Weight, Engine::WeightPlain] {
            if engine.refuses(&problem).is_some() {
                continue;
            }
            let verdict = ask(&problem, engine, A_FEW).outcome.verdict;
            let agrees = verdict == expected || matches!(verdict, Verdict::Inconclusive(_));
            assert!(agrees, "{name} by {engine:?}: {verdict:?}");
            by_weight += usize::from(engine == Engine::Weight && verdict == expected);
        }
        // What is printed is the same problem.
        let again = read(&name, &spec::print(&problem).expect("its numbers are small"));
        assert_eq!(again.net, problem.net, "{name}");
        assert_eq!((&again.initial, &again.targets), (&problem.initial, &problem.targets), "{name}");
        seen += 1;
    }
    assert!(seen >= 40, "{seen}");
    assert!(by_weight >= 20, "{by_weight}");
}

/// ME-k: `tokens` may be behind the door at once; the target is two at the end of a corridor of length k.
fn me_k(k: usize, tokens: usize) -> Problem {
    let mut text = String::from("vars in_ notin");
    (0..=k).for_each(|i| {
        let _ = write!(text, " x{i}");
    });
    text.push_str("\nrules\n");
    for (from, to) in [(0, 1), (1, 0)] {
        let _ = writeln!(
            text,
            "notin >= 1, x{from} >= 1 -> notin' = notin - 1, in_' = in_ + 1, x{from}' = x{from} - 1, x{to}' = x{to} + 1;"
        );
    }
    for i in 1..=k {
        let _ = writeln!(
            text,
            "in_ >= 1, x{i} >= 1 -> in_' = in_ - 1, notin' = notin + 1, x{i}' = x{i} - 1, x0' = x0 + 1;"
        );
        if i < k {
            let next = i + 1;
            let _ = writeln!(text, "x{i} >= 1 -> x{i}' = x{i} - 1, x{next}' = x{next} + 1;");
        }
    }
    let _ = write!(text, "init in_ = 0, notin = {tokens}, x0 >= 1");
    (1..=k).for_each(|i| {
        let _ = write!(text, ", x{i} = 0");
    });
    let _ = write!(text, "\ntarget x{k} >= 2");
    read("me_k", &text)
}

#[test]
fn binghams_family() {
    for k in [2, 10, 50, 100, 250] {
        assert_eq!(ask(&me_k(k, 1), Engine::Auto, A_MINUTE).outcome.verdict, Verdict::Holds, "k = {k}");
    }
    for k in [2, 10, 50] {
        assert_eq!(ask(&me_k(k, 1), Engine::Basis, A_MINUTE).outcome.verdict, Verdict::Holds, "k = {k}");
        for engine in [Engine::Auto, Engine::Basis, Engine::Forward] {
            let run = ask(&me_k(k, 2), engine, A_MINUTE).run.expect("two can be there");
            assert_eq!(run.transitions.len(), 2 * k, "k = {k} by {engine:?}");
        }
    }
}

/// Thousands of targets: whatever two tokens there are in the last part of the corridor, and forty places at once.
#[test]
fn thousands_of_targets_are_one_question() {
    for (tokens, expected) in [(1, Verdict::Holds), (2, Verdict::Violated)] {
        let mut problem = me_k(250, tokens);
        let at = |x: u32| problem.net.places.iter().position(|name| *name == format!("x{x}")).unwrap() as u32;
        let places: Vec<u32> = (1..=250).map(at).collect();
        let pairs = places.iter().enumerate().flat_map(|(at, one)| {
            places[at..].iter().map(|other| Marking::from_pairs([(*one, 1), (*other, 1)]))
        });
        let mut targets: Vec<Marking> = pairs.collect();
        targets.drain(..targets.len() - 8_968);
        targets.extend((0..21).map(|at| places[at..at + 40].iter().map(|place| (*place, 3)).collect()));
        assert_eq!(targets.len(), 8_989);
        problem.targets = targets;
        assert_eq!(ask(&problem, Engine::Auto, A_MINUTE).outcome.verdict, expected);
    }
}
