//! No option is passed over in silence: with every input and every engine each is either used, or refused in words that
//! name it. The table of options says which, and whoever adds a row is in it.

use crate::common;

use common::{each, file, folder, preempt};
use preempt_cli::options::rows;
use preempt_workbench::settings::{RuleKind, Setting, Value};
use preempt_workbench::{ENGINES, FRONT_ENDS, FrontEnd, Plan, Request, Verb};
use std::path::Path;

const PROMELA: &str = "byte x; active proctype P() { x = 1; progress: skip }\n";
const BOOLEAN: &str = "decl g; void main() begin g := 0; end\n";
const NET: &str = "vars\n a\nrules\n a >= 1 -> a' = a-1;\ninit\n a = 1\ntarget\n a >= 2\n";
const PNML: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cmd/nets.in/token.pnml");
const QUESTIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cmd/nets.in/questions.xml");

/// An example of the option, with what it needs.
fn example(verb: Verb, row: &'static Setting, value: &str) -> Vec<(&'static Setting, String)> {
    let mut options = vec![(row, value.to_string())];
    let needs = row.rules.iter().filter(|rule| rule.kind == RuleKind::Needs);
    for rule in needs.filter(|rule| rule.own.is_empty() || rule.own.contains(&value)) {
        let other = rows(verb).find(|it| it.name == rule.other).expect("a rule is about an option");
        options.extend(example(verb, other, rule.values.first().unwrap_or(&other.example)));
    }
    options
}

/// Every value of an option that has few, and an example of the others.
fn values(row: &Setting) -> Vec<&'static str> {
    match row.value {
        Value::OneOf(_, words) => words.to_vec(),
        _ => vec![row.example],
    }
}

/// In the order of the table, as the command has them.
fn in_order(verb: Verb, options: &mut [(&'static Setting, String)]) {
    options.sort_by_key(|(row, _)| rows(verb).position(|it| it.name == row.name));
}

fn plan(
    verb: Verb,
    options: &[(&'static Setting, String)],
    front_end: &'static FrontEnd,
) -> Result<Plan, String> {
    let mut request = Request::new(verb);
    for (row, value) in options {
        request.give(row, value.into());
    }
    Plan::new(request, front_end).map_err(|error| error.to_string())
}

#[test]
fn every_option_with_every_input_and_engine_is_taken_or_refused_by_name() {
    let (mut taken, mut refused) = (0, 0);
    for verb in Verb::ALL {
        let engine = rows(verb).find(|row| row.name == "engine");
        for front_end in FRONT_ENDS {
            let engines = ENGINES.iter().filter(|it| it.takes_verb(front_end.kind, verb).is_ok());
            let chosen: Vec<Option<&str>> = match engine {
                Some(_) => engines.map(|it| Some(it.name)).chain([None]).collect(),
                None => vec![None],
            };
            // What cannot be done at all needs no options to be refused.
            if plan(verb, &[], front_end).is_err() {
                continue;
            }
            for row in rows(verb).filter(|row| row.name != "engine") {
                for value in values(row) {
                    for name in &chosen {
                        let mut options = example(verb, row, value);
                        let named: Vec<String> = options.iter().map(|(row, _)| row.flag()).collect();
                        options.extend(engine.zip(*name).map(|(row, name)| (row, name.to_string())));
                        match plan(verb, &options, front_end) {
                            Ok(_) => taken += 1,
                            // Its own name, or that of an option that it needs.
                            Err(why) => {
                                refused += 1;
                                let is_named = named.iter().any(|flag| why.contains(flag.as_str()));
                                assert!(is_named, "{} {options:?}: {why}", verb.name());
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(taken > 300 && refused > 300, "{taken} taken, {refused} refused");
}

/// What the table takes an engine does, and what it refuses the command refuses.
#[test]
fn the_command_does_what_the_table_says() {
    let folder = folder("options");
    let inputs =
        [("promela", "safe.pml", PROMELA), ("boolean", "program.bp", BOOLEAN), ("spec", "net.spec", NET)];
    let mut ways: Vec<(&'static FrontEnd, String, &str)> = Vec::new();
    for (name, model, text) in inputs {
        let front_end = FrontEnd::find(name).expect("it is registered");
        let model = file(&folder, model, text);
        for engine in ENGINES.iter().filter(|it| it.takes_verb(front_end.kind, Verb::Check).is_ok()) {
            ways.push((front_end, model.clone(), engine.name));
        }
    }
    let pnml = FrontEnd::find("pnml").expect("it is registered");
    ways.push((pnml, PNML.to_string(), "coverability"));
    let saved = folder.join("saved").to_str().expect("a name in Unicode").to_string();
    let stopped = ["check", &ways[0].1, "--max-states", "0", "--checkpoint", &saved];
    assert_eq!(preempt(&stopped).status.code(), Some(3));
    let all: Vec<&'static Setting> =
        rows(Verb::Check).filter(|row| !["engine", "input"].contains(&row.name)).collect();
    each(&all, |row| {
        for (front_end, model, engine) in &ways {
            // A checkpoint is of one model.
            if row.name == "resume" && !(front_end.name == "promela" && *engine == "explicit") {
                continue;
            }
            let by_engine = rows(Verb::Check).find(|row| row.name == "engine").expect("it is an option");
            let mut options = example(Verb::Check, row, row.example);
            options.push((by_engine, engine.to_string()));
            in_order(Verb::Check, &mut options);
            let planned = plan(Verb::Check, &options, front_end);
            let mut arguments = vec!["check".to_string(), model.clone()];
            for (row, value) in &options {
                // One file for each who writes.
                let value = match value.as_str() {
                    "OUT" => format!("{}/{}-{}-{engine}", folder.display(), row.name, front_end.name),
                    "SAVED" => saved.clone(),
                    "properties.xml" => QUESTIONS.to_string(),
                    value => value.to_string(),
                };
                arguments.extend(match row.value {
                    Value::Flag => vec![row.flag()],
                    Value::Definition => vec![format!("{}{value}", row.flag())],
                    _ => vec![row.flag(), value],
                });
            }
            // A net without a target of its own needs a file of properties for anything.
            if front_end.name == "pnml" && row.name != "properties" {
                arguments.extend(["--properties".into(), QUESTIONS.into()]);
            }
            let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let output = preempt(&words);
            let (status, said) = (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned());
            match planned {
                // The net has no property of that name: that is found when it is read.
                Ok(_) if front_end.name == "pnml" && row.name == "property" => {
                    assert_eq!(status, Some(2), "{said}")
                }
                Ok(_) => assert!(matches!(status, Some(0 | 3)), "{arguments:?}: {said}"),
                Err(why) => {
                    assert_eq!(status, Some(2), "{arguments:?} is passed over in silence");
                    let message = why.split(" (").next().unwrap_or(&why);
                    assert!(said.contains(message), "{arguments:?}: {said}\n{why}");
                }
            }
        }
    });
}

#[test]
fn questions_of_a_net_need_a_net() {
    let folder = folder("options-nets");
    let more = Path::new(QUESTIONS).with_file_name("more.xml");
    let more = more.to_str().expect("a name in Unicode");
    let model = file(&folder, "model.pml", PROMELA);
    let asked = ["check", PNML, "--properties", more, "--property", "arrives"];
    assert_eq!(preempt(&asked).status.code(), Some(1));
    assert_eq!(preempt(&["check", PNML, "--property", "arrives"]).status.code(), Some(2));
    for engine in ["explicit", "reference", "symbolic"] {
        let output = preempt(&["check", &model, "--engine", engine, "--properties", more]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    }
}

/// The older name of an option is understood.
#[test]
fn an_option_that_was_renamed_is_still_known() {
    let folder = folder("options-renamed");
    let model = file(&folder, "model.pml", PROMELA);
    assert_eq!(preempt(&["check", &model, "--statics", "on"]).status.code(), Some(0));
    assert_eq!(preempt(&["check", &model, "--simplify", "on"]).status.code(), Some(0));
    let net = file(&folder, "net", NET);
    assert_eq!(preempt(&["check", &net, "--input", "net"]).status.code(), Some(0));
}
/// Nobody types these on purpose. None of them may panic, hang or abort.
#[test]
fn hostile_command_lines_are_answered() {
    let folder = folder("options-hostile");
    let safe = file(&folder, "safe.pml", PROMELA);
    let program = file(&folder, "program.bp", BOOLEAN);
    let most = u64::MAX.to_string();
    let cases: [(&[&str], &[i32]); 21] = [
        (&["check", ""], &[2]),
        (&["check", "."], &[2]),
        (&["check", "/dev/null"], &[2]),
        (&["check", &safe, "--property", ""], &[2]),
        (&["check", &safe, "--ltl", ""], &[2]),
        (&["check", &safe, "--ltl", "  "], &[2]),
        (&["check", &safe, "--bound", "4294967295"], &[0]),
        (&["check", &safe, "--bound", "4294967296"], &[2]),
        (&["check", &safe, "--max-time", &most, "--max-states", &most, "--max-depth", &most], &[0]),
        (&["check", &safe, "--max-memory", &most], &[0]),
        (&["check", &safe, "--max-memory", "0"], &[0, 3]),
        (&["check", &safe, "--max-time", "0"], &[3]),
        (
            &["check", &safe, "--search", "random", "--seed", &most, "--max-depth", &most, "--walks", "2"],
            &[3],
        ),
        (&["check", &safe, "--store", "bitstate", "--max-memory", &most], &[2]),
        (&["check", &program, "--bdd-nodes", &most], &[2]),
        (&["check", &program, "--bdd-cache", "2G"], &[2]),
        (&["check", &program, "--bdd-nodes", "0", "--bdd-cache", "0"], &[0]),
        (&["check", &program, "--contexts", "4294967295"], &[2]),
        (&["sequentialize", &program, "--contexts", &most], &[2]),
        (&["simulate", &safe, "--steps", &most, "--seed", &most], &[0]),
        (&["replay", &safe, "/dev/null"], &[2]),
    ];
    for (arguments, expected) in cases {
        let output = preempt(arguments);
        let status = output.status.code().unwrap_or(-1);
        assert!(expected.contains(&status), "{arguments:?}: {output:?}");
    }
}

#[cfg(unix)]
#[test]
fn names_need_not_be_unicode() {
    use std::os::unix::ffi::OsStrExt;
    let folder = folder("options-names");
    let broken = folder.join(std::ffi::OsStr::from_bytes(b"x\xff.pml"));
    std::fs::write(&broken, common::BROKEN).expect("a file can be written");
    let trace = folder.join(std::ffi::OsStr::from_bytes(b"t\xfe.json"));
    let output =
        common::command(&["check"]).arg(&broken).arg("--trace").arg(&trace).output().expect("it runs");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(!String::from_utf8_lossy(&output.stdout).contains("see it again"), "{output:?}");
    let output = common::command(&["replay"]).arg(&broken).arg(&trace).output().expect("it runs");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}
