//! Every Boolean program in `models/boolean` says in its header what to expect of it, state by state:
//!
//! ```text
//! // expect: holds
//! // expect: violated assertion preemptions=1 steps=17
//! // contexts: 3
//! // large: WHY
//! // recursive: NAME
//! ```
//!
//! How many rounds it takes (`// rounds:`) is asked elsewhere. What is large is only read.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn preempt(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_preempt")).args(arguments).output().expect("it runs")
}

fn models() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/boolean");
    let entries = std::fs::read_dir(folder).expect("there are models").flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "bp"));
    files.sort();
    assert!(files.len() > 50);
    files
}

/// The rest of the header line that begins with this word.
fn said<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let mut header = text.lines().take_while(|line| line.starts_with("//"));
    header.find_map(|line| line.strip_prefix("// ")?.strip_prefix(word)?.strip_prefix(':').map(str::trim))
}

fn number(result: &Value, place: &str) -> u64 {
    result.pointer(place).and_then(Value::as_u64).unwrap_or(u64::MAX)
}

/// What `check` finds, as the header says it.
fn found(file: &str, arguments: &[&str]) -> (String, Value) {
    let output = preempt(&[&["check", file, "--format", "json"], arguments].concat());
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(complaint.is_empty(), "{file}: {complaint}");
    let result: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let verdict = result["verdict"].as_str().unwrap_or("none").to_string();
    let found = match verdict.as_str() {
        "violated" => format!(
            "violated {} preemptions={} steps={}",
            result["property"]["kind"].as_str().unwrap_or("?"),
            number(&result, "/counterexample/preemptions"),
            number(&result, "/counterexample/length")
        ),
        other => other.to_string(),
    };
    (found, result)
}

#[test]
fn the_headers_say_what_is_found() {
    let mut wrong = Vec::new();
    for file in models() {
        let text = std::fs::read_to_string(&file).expect("a readable model");
        let file = file.to_str().expect("a name in Unicode");
        let Some(expected) = said(&text, "expect") else {
            wrong.push(format!("{file}: no `// expect:` line"));
            continue;
        };
        if let Some(name) = said(&text, "recursive") {
            let output = preempt(&["check", "--engine", "explicit", file]);
            let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
            if output.status.code() != Some(2) || !complaint.contains(&format!("`{name}` calls itself")) {
                wrong.push(format!("{file}: not refused: {complaint}"));
            }
            continue;
        }
        if said(&text, "large").is_some() {
            continue;
        }
        let (found_, _) = found(file, &["--engine", "explicit"]);
        if found_ != expected {
            wrong.push(format!("{file}: expected {expected}, found {found_}"));
        }
        if let Some(contexts) = said(&text, "contexts") {
            let (_, result) = found(file, &["--engine", "explicit", "--cost", "switches"]);
            let switches = number(&result, "/counterexample/switches");
            if contexts.parse() != Ok(switches + 1) {
                wrong.push(format!("{file}: expected {contexts} contexts, found {}", switches + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn both_engines_agree_and_counterexamples_replay() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("boolean");
    std::fs::create_dir_all(&folder).expect("a folder for files");
    for name in ["bluetooth_v1_1a1s", "bluetooth_v2_1a1s", "lock_broken", "two_locks_broken", "lock"] {
        let model = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../models/boolean/{name}.bp"));
        let model = model.to_str().expect("a name in Unicode");
        let trace = folder.join(format!("{name}.json"));
        let trace = trace.to_str().expect("a name in Unicode");
        let (explicit, _) = found(model, &["--engine", "explicit", "--trace", trace]);
        let (reference, _) = found(model, &["--engine", "reference"]);
        assert_eq!(explicit, reference, "{name}");
        if explicit.starts_with("violated") {
            let again = preempt(&["replay", model, trace]);
            assert_eq!(again.status.code(), Some(1), "{name}: {}", String::from_utf8_lossy(&again.stderr));
        }
    }
}

/// What no run executes is the same whether states are visited one by one or turn by turn.
#[test]
fn rounds_list_the_statements_that_states_list() {
    fn missing(result: &Value) -> BTreeSet<String> {
        let parts = result["executed"]["parts"].as_array().expect("it is told");
        let lists = parts.iter().flat_map(|part| [&part["never_reached"], &part["never_true"]]);
        let units = lists.flat_map(|list| list.as_array().expect("a list"));
        units.map(|unit| format!("{} {}", unit["location"], unit["text"])).collect()
    }
    let mut listed = 0;
    for name in ["lock", "two_locks", "readers_writer", "peterson_3", "bakery_2_3", "msmie_3_1_1"] {
        let file = format!("{}/../../models/boolean/{name}.bp", env!("CARGO_MANIFEST_DIR"));
        let asked = |how: [&str; 2]| -> Value {
            let output = preempt(&["check", &file, "--format", "json", how[0], how[1]]);
            serde_json::from_slice(&output.stdout).expect("JSON")
        };
        let (rounds, states) = (asked(["--method", "rounds"]), asked(["--engine", "explicit"]));
        assert_eq!(rounds["verdict"], "holds", "{name}");
        assert_eq!(missing(&rounds), missing(&states), "{name}");
        listed += missing(&rounds).len();
    }
    assert!(listed > 0);
}
