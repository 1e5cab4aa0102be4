//! No option is passed over in silence: each is either used by an engine or refused by it, in words that name it. The
//! table below decides, and whoever adds an option must decide too.

use crate::common;

use clap::CommandFactory;
use common::{each, file, folder, preempt};
use preempt_cli::args::Cli;

const PROMELA: &str = "byte x; active proctype P() { x = 1; progress: skip } ltl p { <> (x == 1) }\n";
const SAFE: &str = "byte x; active proctype P() { x = 1; progress: skip }\n";
const BOOLEAN: &str = "decl g; void main() begin g := 0; end\n";
const NET: &str = "vars\n a\nrules\n a >= 1 -> a' = a-1;\ninit\n a = 1\ntarget\n a >= 2\n";
/// The ways to an answer: for Promela explicit, reference, symbolic; for Boolean programs symbolic (the default) and explicit;
/// for nets.
const WAYS: [(char, &str, &[&str]); 6] = [
    ('e', "safe.pml", &["--engine", "explicit"]),
    ('r', "safe.pml", &["--engine", "reference"]),
    ('s', "safe.pml", &["--engine", "symbolic"]),
    ('b', "program.bp", &["--engine", "symbolic"]),
    ('x', "program.bp", &["--engine", "explicit"]),
    ('n', "net.spec", &[]),
];

/// Every option of `check`, an example of its use, and where it may be used.
const TABLE: [(&str, &str, &str); 47] = [
    ("-D", "-DN=3", "ers"),
    ("--dialect", "--dialect satabs", "bx"),
    ("--error-label", "--error-label E", "bx"),
    ("--input", "", "ersbxn"),
    ("--bound", "--bound 2", "erx"),
    ("--engine", "", "ersbxn"),
    ("--search", "--search depth-first", "ex"),
    ("--store", "--store compact", "ex"),
    ("--fingerprint-bits", "--store compact --fingerprint-bits 96", "ex"),
    ("--hashes", "--store bitstate --hashes 2", "ex"),
    ("--seed", "--search random --seed 3 --walks 2", "ex"),
    ("--walks", "--search random --walks 2", "ex"),
    ("--cost", "--cost switches", "ex"),
    ("--paper-cycles", "--search context-bounded --bound 1 --paper-cycles", "ex"),
    ("--iterative-shortening", "--search depth-first --iterative-shortening", "ex"),
    ("--successors", "--successors native", "ex"),
    ("--statics", "--statics on", "ex"),
    ("--fair-switch", "--fair-switch", "erx"),
    ("--checkpoint", "--checkpoint OUT", "ex"),
    ("--checkpoint-every", "--checkpoint OUT --checkpoint-every 5s", "ex"),
    ("--resume", "--resume SAVED", "e"),
    ("--max-states", "--max-states 100k", "erxn"),
    ("--max-time", "--max-time 1m", "ersbxn"),
    ("--max-depth", "--max-depth 100", "erx"),
    ("--max-memory", "--max-memory 1G", "ersbxn"),
    ("--contexts", "--contexts 2", "sb"),
    ("--method", "--method eager", "sb"),
    ("--instances", "--instances 2", "sb"),
    ("--bdd-nodes", "--bdd-nodes 10k", "sb"),
    ("--bdd-cache", "--bdd-cache 10k", "sb"),
    ("--bdd-order", "--bdd-order declared", "sb"),
    ("--format", "--format json", "ersbxn"),
    ("--color", "--color never", "ersbxn"),
    ("--property", "--property safety", "ersbx"),
    ("--ltl", "--ltl <>(x==1)", "er"),
    ("--non-progress", "--non-progress", "erx"),
    ("--weak-fairness", "--weak-fairness", "erx"),
    ("--all-errors", "--all-errors", "ex"),
    ("--reduction", "--reduction strong", "ex"),
    ("--stutter-invariant", "--stutter-invariant", "ex"),
    ("--shortest", "--shortest", "erx"),
    ("--full", "--full", "ersbxn"),
    ("--properties", "", "n"),
    ("--certificate", "--certificate OUT", "n"),
    ("--trace", "--trace OUT", "ersbxn"),
    ("--trail", "--trail OUT", "ers"),
    ("--help", "", "ersbxn"),
];

#[test]
fn every_option_is_used_or_refused() {
    let folder = folder("options");
    for (name, text) in
        [("safe.pml", SAFE), ("model.pml", PROMELA), ("program.bp", BOOLEAN), ("net.spec", NET)]
    {
        file(&folder, name, text);
    }
    let path = |name: &str| folder.join(name).to_str().expect("a name in Unicode").to_string();
    let (out, saved) = (path("out"), path("saved"));
    let stopped = ["check", &path("safe.pml"), "--max-states", "0", "--checkpoint", &saved];
    assert_eq!(preempt(&stopped).status.code(), Some(3));
    each(&TABLE, |(option, example, where_used)| {
        for (way, model, more) in WAYS {
            let model = path(model);
            // One file for each who writes.
            let out = format!("{out}{option}-{way}");
            let mut arguments = vec!["check", &model];
            arguments.extend(more);
            arguments.extend(example.split_whitespace().map(|word| match word {
                "OUT" => out.as_str(),
                "SAVED" => saved.as_str(),
                word => word,
            }));
            let output = preempt(&arguments);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            if where_used.contains(way) {
                assert!(matches!(output.status.code(), Some(0 | 3)), "{arguments:?}: {said}");
            } else if !example.is_empty() {
                assert_eq!(output.status.code(), Some(2), "{arguments:?} is passed over in silence");
                // Its own name, or that of an option that it needs.
                let mut names = example.split_whitespace().filter(|word| word.starts_with('-'));
                assert!(
                    said.contains(option) || names.any(|name| said.contains(name)),
                    "{arguments:?}: {said}"
                );
            }
        }
    });
}

#[test]
fn the_table_has_every_option() {
    let command = Cli::command();
    let check = command.find_subcommand("check").expect("there is check");
    for option in check.get_arguments().filter(|argument| !argument.is_positional()) {
        let long = option.get_long().map(|name| format!("--{name}"));
        let name = long.or(option.get_short().map(|name| format!("-{name}"))).expect("it has a name");
        assert!(TABLE.iter().any(|(known, _, _)| *known == name), "{name}: where is it used?");
    }
}

#[test]
fn questions_of_a_net_need_a_net() {
    let folder = folder("options-nets");
    let nets = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cmd/nets.in");
    let (net, questions) = (format!("{nets}/token.pnml"), format!("{nets}/more.xml"));
    let model = file(&folder, "model.pml", PROMELA);
    let asked = ["check", &net, "--properties", &questions, "--property", "arrives"];
    assert_eq!(preempt(&asked).status.code(), Some(1));
    for engine in ["explicit", "reference", "symbolic"] {
        let output = preempt(&["check", &model, "--engine", engine, "--properties", &questions]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    }
}

/// Nobody types these on purpose. None of them may panic, hang or abort.
#[test]
fn hostile_command_lines_are_answered() {
    let folder = folder("options-hostile");
    let safe = file(&folder, "safe.pml", SAFE);
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
