//! The command as people and shells meet it: transcripts, pipes that close, disks that are full.

use std::process::{Command, Stdio};

fn preempt() -> Command {
    Command::new(env!("CARGO_BIN_EXE_preempt"))
}

#[test]
fn transcripts() {
    trycmd::TestCases::new().env("NO_COLOR", "1").env("COLUMNS", "80").case("tests/cmd/*.md");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    for arguments in [["completions", "bash"], ["man", "check"], ["check", "--help"]] {
        let mut child = preempt()
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
        assert!(output.stderr.is_empty(), "{arguments:?}: {output:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_cannot_be_written_is_a_failure() {
    let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux has it");
    let output = preempt().arg("engines").stdout(full).output().expect("it runs");
    assert_eq!(output.status.code(), Some(4));
    assert!(
        String::from_utf8_lossy(&output.stderr).starts_with("error: cannot write the result"),
        "{output:?}"
    );
}

#[test]
fn every_shell_gets_its_completions_and_every_command_its_page() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = preempt().args(["completions", shell]).output().expect("it runs");
        assert!(String::from_utf8_lossy(&output.stdout).contains("fair-switch"), "{shell}");
    }
    for page in ["check", "count", "simulate", "replay", "sequentialize", "engines", "completions"] {
        let output = preempt().args(["man", page]).output().expect("it runs");
        assert!(String::from_utf8_lossy(&output.stdout).contains(".SH NAME"), "{page}");
    }
}
