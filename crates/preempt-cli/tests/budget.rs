//! Limits are kept by every phase: the time from the first byte read to the last byte written (a second more at most),
//! and the memory of the whole process (1.3 times and 100 MB at most).

mod common;

use common::{ENDLESS, GROWING_NET, SQUARE, command, each, file, folder, wait};
use std::process::Stdio;
use std::time::Duration;

/// Without the limits each of these takes from twenty seconds to for ever, and some of them gigabytes.
const SOON: Duration = Duration::from_secs(5);

fn under(arguments: &[&str], limits: &[&str]) -> common::Ended {
    let mut child = command(&[arguments, limits].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let input = child.stdin.take();
    let ended = wait(child);
    drop(input);
    ended
}

#[test]
fn time_is_kept_by_every_phase() {
    let folder = folder("budget-time");
    let endless = file(&folder, "endless.pml", ENDLESS);
    let net = file(&folder, "growing.spec", GROWING_NET);
    let square = file(&folder, "square.pml", SQUARE);
    let atomic = "int x; active proctype P() { atomic { do :: x++ od } }";
    let atomic = file(&folder, "atomic.pml", atomic);
    let block = "int x; active proctype P() { d_step { do :: x = 1 - x od } }";
    let block = file(&folder, "block.pml", block);
    // One assignment with 2^40 outcomes.
    let (names, stars) = ((1..=40).map(|number| format!("g{number}")).collect::<Vec<_>>(), vec!["*"; 40]);
    let (names, stars) = (names.join(","), stars.join(","));
    let outcomes = format!("decl {names}; void main() begin {names} := {stars}; end");
    let outcomes = file(&folder, "outcomes.bp", &outcomes);
    let cases = [
        &["check", "-"][..],
        &["count", "-"],
        &["sequentialize", "-", "--contexts", "2"],
        &["certify", &net, "/dev/stdin"],
        &["check", &endless, "--fair-switch"],
        &["check", &endless, "--engine", "reference", "--fair-switch"],
        &["check", &endless, "--non-progress"],
        &["check", &endless, "--weak-fairness", "--ltl", "<> [] (x == 3)"],
        &["check", &endless, "--search", "swarm"],
        &["check", &endless, "--store", "bitstate"],
        &["count", &atomic],
        &["check", &square, "--engine", "symbolic"],
        &["check", &net],
        &["simulate", &endless, "--steps", "1G"],
        &["simulate", &endless, "--interactive"],
        &["simulate", &block],
        &["simulate", &outcomes],
        &["check", &outcomes, "--engine", "explicit"],
        &["check", &outcomes, "--engine", "reference"],
    ];
    each(&cases, |arguments| {
        let ended = under(arguments, &["--max-time", "200ms"]);
        assert!(ended.time < SOON, "{arguments:?}: {ended:?}");
        assert_eq!(ended.status, Some(3), "{arguments:?}: {ended:?}");
        let told = format!("{}{}", ended.stdout, ended.stderr);
        assert!(told.contains("--max-time") || told.contains("visits only part"), "{arguments:?}: {ended:?}");
    });
}

#[cfg(target_os = "linux")]
#[test]
fn memory_is_kept_by_every_phase() {
    let folder = folder("budget-memory");
    let endless = file(&folder, "endless.pml", ENDLESS);
    let big = "int a[60000]; active proctype P() { byte i; do :: a[i] = i; i++ od }";
    let big = file(&folder, "big.pml", big);
    let square = file(&folder, "square.pml", SQUARE);
    let cases = [
        // Whatever comes from there never ends.
        &["check", "/dev/zero", "--input", "promela"][..],
        &["check", &endless, "--fair-switch"],
        &["count", &endless, "--engine", "reference"],
        &["count", &endless, "--successors", "interpreted"],
        &["simulate", &big, "--steps", "1G"],
        &["check", &square, "--engine", "symbolic"],
    ];
    each(&cases, |arguments| {
        let ended = under(arguments, &["--max-memory", "20M", "--max-time", "15s"]);
        assert_eq!(ended.status, Some(3), "{arguments:?}: {ended:?}");
        assert!(ended.peak < (26 << 20) + (100 << 20), "{arguments:?}: {ended:?}");
    });
}

#[test]
fn an_answer_that_is_cut_short_is_a_result_as_any_other() {
    let ended = under(&["check", "-", "--format", "json"], &["--max-time", "1ms"]);
    let result: serde_json::Value = serde_json::from_str(&ended.stdout).expect("one JSON object");
    assert_eq!((result["verdict"].as_str(), result["reason"].as_str()), (Some("inconclusive"), Some("time")));
    assert_eq!(ended.status, Some(3));
    // What writes a program has no verdict: nothing stands on stdout, and nothing in the file.
    let folder = folder("budget-cut");
    let out = folder.join("out.bp");
    let out = out.to_str().expect("a name in Unicode");
    let ended = under(&["sequentialize", "-", "--contexts", "2", "-o", out], &["--max-time", "1ms"]);
    assert_eq!((ended.status, ended.stdout.as_str()), (Some(3), ""), "{ended:?}");
    assert!(common::names(&folder).is_empty());
}
