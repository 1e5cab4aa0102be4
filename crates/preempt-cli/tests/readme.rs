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
    // How fast it was is told only if it took long enough.
    let line =
        line.split_once(" (").filter(|(_, speed)| speed.ends_with(" states/s)")).map_or(line, |it| it.0);
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
    for (page, least) in [
        ("liveness", 1),
        ("tutorial-promela", 3),
        ("tutorial-boolean", 3),
        ("tutorial-nets", 3),
        ("ltl", 1),
        ("coverage", 2),
    ] {
        prints_what_it_says(&format!("docs/src/{page}.md"), least);
    }
}

/// Every line of a page that calls the command, with its number.
fn commands(page: &str) -> Vec<(usize, String)> {
    let mut inside = false;
    let mut found = Vec::new();
    for (number, line) in page.lines().enumerate() {
        if line.starts_with("```") {
            inside = !inside && ["```sh", "```console", "```text"].contains(&line);
        } else if inside {
            let line = line.strip_prefix("$ ").unwrap_or(line);
            let line = line.split(" | ").next().unwrap_or(line).split(" > ").next().unwrap_or(line);
            let line = line.split("   #").next().unwrap_or(line);
            if line.starts_with("preempt ") {
                found.push((number + 1, line.trim().to_string()));
            }
        }
    }
    found
}

/// A folder in which the models are found as in the repository, and files can be written.
fn scratch() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guide");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    #[cfg(unix)]
    std::os::unix::fs::symlink(root().join("models"), folder.join("models")).expect("a link");
    folder
}

/// Every command of the guide has options that exist; and if its input is one of ours, it runs.
#[cfg(unix)]
#[test]
fn every_command_of_the_guide_runs() {
    let known: Vec<String> = Verb::ALL
        .into_iter()
        .flat_map(|verb| rows(verb).map(|row| row.flag()))
        .chain(["--version", "--help"].map(String::from))
        .collect();
    let folder = scratch();
    let (mut ran, mut read) = (0, 0);
    let mut pages: Vec<PathBuf> = std::fs::read_dir(root().join("docs/src"))
        .expect("the guide")
        .map(|entry| entry.expect("a page").path())
        .filter(|path| path.extension().is_some_and(|it| it == "md"))
        .collect();
    pages.sort();
    for path in pages {
        let page = std::fs::read_to_string(&path).expect("a page");
        for (line, command) in commands(&page) {
            let here = format!("{}:{line}: `{command}`", path.display());
            let mut words = words(&command);
            words.remove(0);
            for word in words.iter().filter(|word| word.starts_with("--")) {
                assert!(known.contains(word), "{here}: there is no {word}");
            }
            read += 1;
            let is_ours = words.get(1).is_some_and(|file| file.starts_with("models/"));
            if !is_ours {
                continue;
            }
            if ["check", "count"].contains(&words[0].as_str()) && !words.iter().any(|it| it == "--max-time") {
                words.extend(["--max-time".to_string(), "3s".to_string()]);
            }
            let output = Command::new(env!("CARGO_BIN_EXE_preempt"))
                .args(words)
                .current_dir(&folder)
                .output()
                .expect("the command starts");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{here}: {said}");
            ran += 1;
        }
    }
    assert!(ran > 25 && read > 45, "{ran} ran, {read} were read");
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
