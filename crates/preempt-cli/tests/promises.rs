//! What is promised is kept by a test: every promise of the README and of the guide's page of promises names one that
//! exists.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// `file.rs::test`, wherever a text has it.
fn named_tests(text: &str) -> Vec<(String, String)> {
    let word = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    text.match_indices(".rs::")
        .map(|(at, _)| {
            let (before, after) = (&text[..at + 3], &text[at + 5..]);
            let start = before.rfind(|c| !word(c)).map_or(0, |at| at + 1);
            let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
            (before[start..].to_string(), after[..end].to_string())
        })
        .collect()
}

fn assert_exists(file: &str, test: &str) {
    let source = read(&format!("crates/{file}"));
    let place = source.find(&format!("fn {test}(")).unwrap_or_else(|| panic!("{file} has no test {test}"));
    // Between the function before and this one.
    let before = &source[..place];
    let since = before.rfind("fn ").unwrap_or(0);
    assert!(before[since..].contains("#[test]"), "{file}: {test} is no test");
}

#[test]
fn every_promise_names_a_test_that_exists() {
    let page = read("docs/src/trust.md");
    let mut promises = 0;
    for line in page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| ---")) {
        if line == "| promise | test |" {
            continue;
        }
        let tests = named_tests(line);
        assert!(!tests.is_empty(), "nobody keeps: {line}");
        promises += 1;
    }
    assert!(promises >= 40, "only {promises} promises");
    for (file, test) in named_tests(&page) {
        assert_exists(&file, &test);
    }
}

#[test]
fn the_guarantees_of_the_readme_name_their_tests() {
    let readme = read("README.md");
    let section = readme.split("\n## ").find(|section| section.starts_with("What it guarantees"));
    let section = section.expect("the README says what is guaranteed");
    let mut bullets = 0;
    for bullet in section.split("\n- ").skip(1) {
        let says_what_is_not = bullet.contains("<!-- not promised -->");
        assert!(says_what_is_not || !named_tests(bullet).is_empty(), "nobody keeps: {bullet}");
        bullets += 1;
    }
    assert!(bullets >= 7, "only {bullets} guarantees");
    for (file, test) in named_tests(&readme) {
        assert_exists(&file, &test);
    }
}
