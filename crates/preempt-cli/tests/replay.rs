//! The way back: every counterexample that is found in the sample models is written to a file, read again by a fresh
//! process, executed step by step, and breaks the same property there.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn preempt(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_preempt")).args(arguments).output().expect("it runs")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a name in Unicode")
}

fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("replay");
    std::fs::create_dir_all(&folder).expect("a folder for files");
    folder.join(name)
}

/// Everything that a model says about itself, asked one by one: its names are in its header.
fn properties(source: &str) -> Vec<Vec<String>> {
    let mut asked = vec![vec!["--property".to_string(), "safety".into()]];
    for line in source.lines() {
        let Some(rest) = line.trim().strip_prefix("// property ") else { continue };
        let Some((name, _)) = rest.split_once(':') else { continue };
        asked.push(match name {
            "non-progress" => vec!["--non-progress".into()],
            name => vec!["--property".into(), name.into()],
        });
    }
    asked
}

#[test]
fn every_counterexample_replays_from_its_file() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/promela");
    let mut replayed = 0;
    for entry in std::fs::read_dir(models).expect("there are models").flatten() {
        let model = entry.path();
        if model.extension().is_none_or(|extension| extension != "pml") {
            continue;
        }
        let source = std::fs::read_to_string(&model).expect("a readable model");
        for (number, property) in properties(&source).iter().enumerate() {
            let name = model.file_stem().map_or(String::new(), |name| name.to_string_lossy().into_owned());
            let file = scratch(&format!("{name}-{number}.json"));
            let mut arguments = vec!["check", text(&model), "--trace", text(&file), "--format", "json"];
            arguments.extend(property.iter().map(String::as_str));
            let checked = preempt(&arguments);
            if checked.status.code() != Some(1) {
                continue;
            }
            let again = preempt(&["replay", text(&model), text(&file), "--format", "json"]);
            let told =
                String::from_utf8_lossy(&again.stdout).into_owned() + &String::from_utf8_lossy(&again.stderr);
            assert_eq!(again.status.code(), Some(1), "{name} {property:?}: {told}");
            for field in ["\"property\"", "\"preemptions\"", "\"switches\"", "\"length\"", "\"loop_start\""] {
                assert_eq!(
                    line_with(&checked.stdout, field),
                    line_with(&again.stdout, field),
                    "{name} {property:?}"
                );
            }
            replayed += 1;
        }
    }
    assert!(replayed >= 30, "only {replayed} counterexamples");
}

/// The first line with the field, from there to its end.
fn line_with(json: &[u8], field: &str) -> Option<String> {
    let json = String::from_utf8_lossy(json).into_owned();
    let start = json.find(field)?;
    json[start..].lines().next().map(str::to_string)
}

#[test]
fn a_run_that_does_not_fit_says_where_and_why() {
    let model = scratch("changed.pml");
    let file = scratch("changed.json");
    std::fs::write(&model, "byte x;\nactive proctype P() { x = 1; x = 2; assert(x == 1) }\n")
        .expect("a model");
    assert_eq!(preempt(&["check", text(&model), "--trace", text(&file)]).status.code(), Some(1));
    std::fs::write(&model, "byte x;\nactive proctype P() { x = 1; x = 3; assert(x == 1) }\n")
        .expect("a model");
    let again = preempt(&["replay", text(&model), text(&file)]);
    assert_eq!(again.status.code(), Some(2));
    let told = String::from_utf8_lossy(&again.stderr);
    assert!(told.contains("does not fit the model at step 2: P(0) cannot do `x = 2` here"), "{told}");
    assert!(told.contains("it can do: x = 3"), "{told}");
}

#[test]
fn a_file_that_is_no_counterexample_is_refused() {
    let model = scratch("holds.pml");
    std::fs::write(&model, "byte x;\nactive proctype P() { x = 1 }\n").expect("a model");
    for (content, said) in
        [("", "not a result of preempt"), ("{}", "schema"), ("{\"schema\": 99}", "schema 99")]
    {
        let file = scratch("nothing.json");
        std::fs::write(&file, content).expect("a file");
        let again = preempt(&["replay", text(&model), text(&file)]);
        assert_eq!(again.status.code(), Some(2));
        let told = String::from_utf8_lossy(&again.stderr).into_owned();
        assert!(told.contains(said), "{told}");
    }
}

#[test]
fn a_formula_from_the_command_line_replays_too() {
    let model = scratch("formula.pml");
    let file = scratch("formula.json");
    std::fs::write(&model, "byte x;\nactive proctype P() { do :: x = 1 - x od }\n").expect("a model");
    let checked = preempt(&["check", text(&model), "--ltl", "<> [] (x == 0)", "--trace", text(&file)]);
    assert_eq!(checked.status.code(), Some(1), "{}", String::from_utf8_lossy(&checked.stderr));
    let again = preempt(&["replay", text(&model), text(&file)]);
    assert_eq!(again.status.code(), Some(1), "{}", String::from_utf8_lossy(&again.stderr));
    assert!(String::from_utf8_lossy(&again.stdout).contains("repeat for ever"));
}

/// The processes count the claim, so these runs exist only while it watches; they are told, guided and written for Spin in
/// the model that they belong to.
#[test]
fn a_run_that_only_a_watched_model_has() {
    let model = scratch("watched.pml");
    let text_of_model = "byte x;
active proctype P() { do :: _nr_pr == 2 -> x = 1; assert(x < 1) :: _nr_pr == 1 -> x = 0 od }
ltl p { [] (x == 0) }
never n { do :: x == 1 -> break :: else od }
";
    std::fs::write(&model, text_of_model).expect("a model");
    let file = scratch("watched.json");
    let trail = scratch("watched.trail");
    assert_eq!(preempt(&["check", text(&model), "--property", "safety"]).status.code(), Some(0));
    let asked: [&[&str]; 4] = [
        &["--property", "p"],
        &["--property", "n"],
        // Its claim never looks at x.
        &["--ltl", "[] (x < 2)"],
        &["--non-progress"],
    ];
    for question in asked {
        let mut arguments = vec!["check", text(&model), "--trace", text(&file), "--trail", text(&trail)];
        arguments.extend(question);
        let checked = preempt(&arguments);
        let told = |output: &Output| {
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
        };
        assert_eq!(checked.status.code(), Some(1), "{question:?}: {}", told(&checked));
        let again = preempt(&["replay", text(&model), text(&file)]);
        assert_eq!(again.status.code(), Some(1), "{question:?}: {}", told(&again));
        let guided = preempt(&["simulate", text(&model), "--guided", text(&file)]);
        assert!(told(&guided).contains("x = 1"), "{question:?}: {}", told(&guided));
        assert!(!told(&guided).contains("does not fit"), "{question:?}: {}", told(&guided));
        let written = std::fs::read_to_string(&trail).expect("a trail");
        assert!(written.lines().count() >= 2, "{question:?}: {written}");
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/promela/peterson.pml");
    let run = |seed: &str| preempt(&["simulate", text(&model), "--seed", seed, "--steps", "40"]).stdout;
    assert_eq!(run("7"), run("7"));
    assert_ne!(run("7"), run("8"));
}
