//! Signals to real processes: the first ends every phase within a second with what is known, the second at once.
#![cfg(unix)]

mod common;

use common::{BROKEN, ENDLESS, Ended, GROWING_NET, SQUARE, command, each, file, folder, preempt, wait};
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// "Within a second", and a machine that does other things as well.
const SOON: Duration = Duration::from_secs(4);

/// What must have happened before the signal is of interest.
const UNDER_WAY: Duration = Duration::from_millis(250);

/// Where these tests run under `nohup`, hangups are ignored here and in whatever is started from here. A handler of one's own
/// is not inherited: what is started then begins as if there were no `nohup`.
fn hear_hangups() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        ctrlc::set_handler(|| std::process::exit(130)).expect("nobody else has set a handler");
    });
}

fn started(arguments: &[&str]) -> Child {
    hear_hangups();
    let child = command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    wait_until_it_listens(&child);
    std::thread::sleep(UNDER_WAY);
    child
}

/// On Linux it can be seen whether a process has a handler for SIGINT, the second signal.
fn wait_until_it_listens(child: &Child) {
    let status = format!("/proc/{}/status", child.id());
    for _ in 0..1000 {
        let Ok(text) = std::fs::read_to_string(&status) else { return };
        let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        if caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 2 != 0)
        {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn send(signal: &str, child: &Child) {
    let status =
        Command::new("kill").args([signal, &child.id().to_string()]).status().expect("there is kill");
    assert!(status.success());
}

/// What the process says when the signal has come. Its standard input stays open until it ends.
fn interrupted(arguments: &[&str], signal: &str) -> Ended {
    let mut child = started(arguments);
    let input = child.stdin.take();
    send(signal, &child);
    let ended = wait(child);
    drop(input);
    ended
}

#[test]
fn the_first_signal_ends_every_phase_with_what_is_known() {
    let folder = folder("signals-phases");
    let endless = file(&folder, "endless.pml", ENDLESS);
    let net = file(&folder, "growing.spec", GROWING_NET);
    let square = file(&folder, "square.pml", SQUARE);
    let phases: [&[&str]; 8] = [
        &["check", "-"],
        &["count", &endless],
        &["count", &endless, "--engine", "reference"],
        &["check", &endless],
        &["check", &endless, "--ltl", "<> (x == y + 70000)"],
        &["check", &endless, "--fair-switch"],
        &["check", &net],
        &["check", &square, "--engine", "symbolic"],
    ];
    let signals = ["-INT", "-TERM", "-HUP"].into_iter().cycle();
    let cases: Vec<(&[&str], &str)> = phases.into_iter().zip(signals).collect();
    each(&cases, |(arguments, signal)| {
        let arguments = [arguments, ["--format", "json"].as_slice()].concat();
        let ended = interrupted(&arguments, signal);
        assert_eq!(ended.status, Some(3), "{arguments:?}: {ended:?}");
        assert!(ended.time < SOON, "{arguments:?}: {ended:?}");
        assert!(ended.stdout.contains("\"reason\": \"interrupted\""), "{arguments:?}: {ended:?}");
    });
}

#[test]
fn verbs_without_a_verdict_end_too() {
    let folder = folder("signals-verbs");
    let endless = file(&folder, "endless.pml", ENDLESS);
    let cases = [
        &["sequentialize", "-", "--contexts", "2"][..],
        &["simulate", &endless, "--steps", "1G"],
        &["simulate", &endless, "--interactive"],
    ];
    each(&cases, |arguments| {
        let ended = interrupted(arguments, "-INT");
        assert_eq!(ended.status, Some(3), "{arguments:?}: {ended:?}");
        assert!(ended.time < SOON, "{arguments:?}: {ended:?}");
        assert!(
            format!("{}{}", ended.stdout, ended.stderr).contains("interrupted"),
            "{arguments:?}: {ended:?}"
        );
    });
}

#[test]
fn every_signal_leaves_a_checkpoint_that_can_be_continued() {
    let folder = folder("signals-checkpoint");
    let endless = file(&folder, "endless.pml", ENDLESS);
    each(&["-INT", "-TERM", "-HUP"], |signal| {
        let saved = folder.join(format!("saved{signal}"));
        let saved = saved.to_str().expect("a name in Unicode");
        let ended = interrupted(&["count", &endless, "--checkpoint", saved, "--max-time", "20s"], signal);
        assert_eq!(ended.status, Some(3), "{signal}: {ended:?}");
        let further = preempt(&["count", &endless, "--resume", saved, "--max-time", "50ms"]);
        assert_eq!(further.status.code(), Some(3), "{signal}: {further:?}");
    });
}

#[test]
fn the_second_signal_ends_at_once() {
    // A phase that cannot look: it waits for its input. The watcher would end it after half a second.
    let mut child = started(&["check", "-"]);
    let input = child.stdin.take();
    send("-INT", &child);
    std::thread::sleep(Duration::from_millis(50));
    send("-INT", &child);
    let ended = wait(child);
    drop(input);
    assert_eq!(ended.status, Some(130), "{ended:?}");
    assert!(ended.stdout.is_empty(), "{ended:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn what_nohup_ignores_stays_ignored() {
    let folder = folder("signals-nohup");
    let endless = file(&folder, "endless.pml", ENDLESS);
    let exe = env!("CARGO_BIN_EXE_preempt");
    hear_hangups();
    let script = format!("trap '' HUP; exec '{exe}' count '{endless}' --max-time 800ms --format json");
    let child = Command::new("sh").args(["-c", &script]).stdout(Stdio::piped()).spawn().expect("a shell");
    wait_until_it_listens(&child);
    std::thread::sleep(UNDER_WAY);
    send("-HUP", &child);
    let ended = wait(child);
    assert!(ended.stdout.contains("\"reason\": \"time\""), "{ended:?}");
}

#[test]
fn a_pipe_that_nobody_reads_can_be_left() {
    // More than a pipe holds.
    let folder = folder("signals-pipe");
    let long = file(
        &folder,
        "long.pml",
        "int x; active proctype P() { do :: x < 3000 -> x++ :: else -> break od; assert(false) }",
    );
    let mut child = started(&["check", &long, "--full"]);
    let mut reader = child.stdout.take().expect("it is piped");
    // The first byte, and no more.
    reader.read_exact(&mut [0]).expect("it begins to print");
    send("-INT", &child);
    let ended = wait(child);
    drop(reader);
    assert_eq!(ended.status, Some(130), "{ended:?}");
    let broken = file(&folder, "broken.pml", BROKEN);
    assert_eq!(preempt(&["check", &broken]).status.code(), Some(1));
}
