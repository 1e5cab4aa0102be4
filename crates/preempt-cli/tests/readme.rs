//! What the first page shows is what a newcomer will see; and so do pages of the guide with transcripts.
//!
//! A page has nothing in it for this test: commands and what they print stand there as on a terminal. Times and sizes, which
//! differ from machine to machine, are not compared, and after a line with … nothing is.

use preempt_cli::options::rows;
use preempt_workbench::Verb;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A command of a page, and what the page says that it prints.
struct Transcript {
    line: usize,
    command: String,
    printed: Vec<String>,
}

fn transcripts(page: &str) -> Vec<Transcript> {
    let mut found: Vec<Transcript> = Vec::new();
    let mut inside = false;
    for (number, line) in page.lines().enumerate() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if let (true, Some(command)) = (inside, line.strip_prefix("$ ")) {
            found.push(Transcript { line: number + 1, command: command.into(), printed: Vec::new() });
        } else if let (true, Some(last)) = (inside, found.last_mut()) {
            last.printed.push(line.trim_end().to_string());
        }
    }
    found
}

/// Words, with those in quotes as one.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (number, part) in command.split('\'').enumerate() {
        match number % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_string)),
            _ => words.push(part.to_string()),
        }
    }
    words
}

/// Without what is different each time: a number before a unit of time or memory.
fn comparable(line: &str) -> String {
    let units = ["s", "s,", "ms", "bytes", "KiB", "MiB", "GiB", "states/s)"];
    let words: Vec<&str> = line.split(' ').collect();
    let measured = |number: usize| words.get(number + 1).is_some_and(|unit| units.contains(unit));
    let shown = words.iter().enumerate().map(|(number, word)| if measured(number) { "#" } else { word });
    shown.collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn prints_what_it_says(name: &str, least: usize) {
    let page = std::fs::read_to_string(root().join(name)).expect("the page exists");
    let transcripts = transcripts(&page);
    assert!(transcripts.len() >= least, "{name}: only {} transcripts", transcripts.len());
    for Transcript { line, command, printed } in transcripts {
        let mut words = words(&command).into_iter();
        assert_eq!(words.next().as_deref(), Some("preempt"), "{name}:{line}: `{command}`");
        let output = Command::new(env!("CARGO_BIN_EXE_preempt"))
            .args(words)
            .current_dir(root())
            .env("NO_COLOR", "1")
            .env("COLUMNS", "80")
            .output()
            .expect("the command starts");
        // On a terminal, what is noted comes before the result.
        let found =
            [output.stderr, output.stdout].map(|text| String::from_utf8_lossy(&text).to_string()).concat();
        let mut found: Vec<String> =
            found.trim_end().lines().map(|line| comparable(line.trim_end())).collect();
        let mut wanted: Vec<String> = printed.join("\n").trim_end().lines().map(comparable).collect();
        if let Some(end) = wanted.iter().position(|line| line == "…") {
            wanted.truncate(end);
            found.truncate(end);
        }
        assert_eq!(wanted, found, "{name}:{line}: `{command}`");
    }
}

#[test]
fn the_readme_shows_what_is_printed() {
    prints_what_it_says("README.md", 1);
}

#[test]
fn the_guide_shows_what_is_printed() {
    prints_what_it_says("docs/src/liveness.md", 1);
}

/// What the page says to write instead of Spin's options can be written.
#[test]
fn options_for_users_of_spin_exist() {
    let page = std::fs::read_to_string(root().join("docs/src/from-spin.md")).expect("the page exists");
    let known: Vec<String> = Verb::ALL
        .into_iter()
        .flat_map(|verb| rows(verb).map(|row| row.flag()))
        .chain(["--version".into()])
        .collect();
    let right =
        page.lines().filter(|line| line.starts_with("| `-")).filter_map(|line| line.split(" | ").nth(1));
    let mut named = 0;
    for word in right.flat_map(|cell| cell.split([' ', '`', ';', ':', '|'])) {
        if word.starts_with("--") {
            assert!(known.iter().any(|flag| flag == word), "{word} is no option");
            named += 1;
        }
    }
    assert!(named > 30, "only {named} options on the page");
}
