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
fn every_theorem_of_paper_003_names_a_test_that_exists() {
    let page = read("results/paper-003.md");
    let tests =
        named_tests(&page).into_iter().map(|(file, test)| (format!("preempt-stateless/tests/{file}"), test));
    // Some name what is tested.
    let tests: Vec<_> = tests.filter(|(file, _)| root().join("crates").join(file).exists()).collect();
    assert!(tests.len() >= 10, "{tests:?}");
    for (file, test) in tests {
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

/// What `spin --` and `pan --` of Spin 6.5.2 list.
const SPIN: &str = "A a B b C c Dyyy d Eyyy e f F g h i I J jN k L l M m N nN O o1 o2 o3 o4 o5 o6 o7 Pxxx p pp qN r replay run search \
                    bfs bfspar dfspar bcs bitstate bit biterateN link collapse noreduce hc noclaim p_permute p_rotateN p_reverse rhash \
                    ltl safety S1 S2 s swarmN T t tN Uyyy uN v w X Y Z V";
const PAN: &str = "a A b cN D d e E f hN hash i I J l mN n QN q r rN C PN g S RSn rhash T t_reverse tsuf V v wN x kN MN G N noclaim";

#[test]
fn every_option_of_spin_has_its_row() {
    let page = read("docs/src/from-spin.md");
    let (spin, pan) = page.split_once("an option of `pan`").expect("there are both");
    for (section, options) in [(spin, SPIN), (pan, PAN)] {
        for option in options.split_whitespace() {
            let named = ['`', ' ', ','].iter().any(|end| section.contains(&format!("`-{option}{end}")));
            assert!(named, "nothing is said of -{option}");
        }
    }
}
