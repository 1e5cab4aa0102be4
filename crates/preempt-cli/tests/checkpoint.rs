//! A search that was stopped, even by `kill -9`, goes on from its checkpoint and ends as if nothing had happened.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_preempt"));
    command.args(arguments);
    command
}

fn preempt(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the command starts")
}

fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("checkpoint");
    std::fs::create_dir_all(&folder).expect("a folder for files");
    let path = folder.join(name);
    let _ = std::fs::remove_file(&path);
    path
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a name in Unicode")
}

fn model(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/promela").join(name)
}

/// Everything in a result but the time.
fn result(output: &Output) -> Value {
    let mut value: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    value["stats"]["seconds"] = Value::Null;
    // The memory depends on when its pieces were asked for.
    value["stats"]["peak_bytes"] = Value::Null;
    value["stats"]["memory"] = Value::Null;
    value
}

#[test]
fn a_search_goes_on_where_a_limit_stopped_it() {
    let large = model("bcs_worst_case.pml");
    let broken = model("raft_election_broken.pml");
    let whole = ["--format", "json", "--property", "safety", "--reduction", "none"];
    let count = ["count", text(&large), "--format", "json"];
    let all = ["check", text(&broken), "--all-errors", "--format", "json"];
    let check = [&["check", text(&broken)], whole.as_slice()].concat();
    for (number, arguments) in [count.to_vec(), all.to_vec(), check].into_iter().enumerate() {
        let expected = preempt(&arguments);
        let file = scratch(&format!("limit-{number}"));
        // Again and again, a little further each time.
        let mut last = None;
        for states in ["100", "1000", "5000", "20000"] {
            let mut stopped =
                [arguments.as_slice(), &["--max-states", states, "--checkpoint", text(&file)]].concat();
            if last.is_some() {
                stopped.extend(["--resume", text(&file)]);
            }
            let output = preempt(&stopped);
            if output.status.code() != Some(3) {
                break;
            }
            last = Some(output);
        }
        assert!(last.is_some(), "{arguments:?} was never stopped");
        let resumed = preempt(&[arguments.as_slice(), &["--resume", text(&file)]].concat());
        assert_eq!(result(&resumed), result(&expected), "{arguments:?}");
        assert_eq!(resumed.status.code(), expected.status.code());
    }
}

#[test]
fn a_search_survives_being_killed() {
    let large = model("bcs_worst_case.pml");
    let arguments = ["count", text(&large), "--format", "json"];
    let expected = preempt(&arguments);
    let file = scratch("killed");
    let mut child =
        command(&[arguments.as_slice(), &["--checkpoint", text(&file), "--checkpoint-every", "0s"]].concat())
            .stdout(Stdio::null())
            .spawn()
            .expect("the command starts");
    let started = Instant::now();
    while !file.exists() && started.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = child.kill();
    let _ = child.wait();
    let resumed = preempt(&[arguments.as_slice(), &["--resume", text(&file)]].concat());
    assert_eq!(result(&resumed), result(&expected));
}

#[test]
fn what_is_no_checkpoint_is_refused() {
    let (peterson, large) = (model("peterson.pml"), model("bcs_worst_case.pml"));
    let file = scratch("good");
    let stopped = preempt(&["count", text(&large), "--max-states", "500", "--checkpoint", text(&file)]);
    assert_eq!(stopped.status.code(), Some(3));
    let good = std::fs::read(&file).expect("a checkpoint was written");
    let refused = |name: &str, bytes: &[u8], model: &Path, more: &[&str], why: &str| {
        let file = scratch(name);
        std::fs::write(&file, bytes).expect("a file can be written");
        let output = preempt(&[&["count", text(model), "--resume", text(&file)], more].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{name}: {said}");
        assert!(said.contains(why), "{name}: {said}");
        assert!(output.stdout.is_empty());
    };
    refused("other-model", &good, &peterson, &[], "another model");
    refused("other-bound", &good, &large, &["--bound", "2"], "other options");
    refused("empty", b"", &large, &[], "no checkpoint");
    refused("text", b"this is a letter to my aunt, and nothing else", &large, &[], "no checkpoint");
    for cut in [30, good.len() / 3, good.len() / 2, good.len() - 1] {
        refused("cut", &good[..cut], &large, &[], "ends too early");
    }
    // A flipped bit is noticed wherever it is, and never crashes.
    for place in (0..good.len()).step_by(good.len() / 40) {
        let mut bytes = good.clone();
        bytes[place] ^= 0x10;
        refused("flipped", &bytes, &large, &[], "checkpoint");
    }
}
