//! Every model in `models/` says in its header what to expect of it; here each of them is one test case.
//!
//! The header is the block of `//` lines at the top. Its prose is for people; these lines are for us:
//!
//! ```text
//! // expect: holds
//! // expect: violated assertion preemptions=2 steps=7
//! // plain: states=69 transitions=107
//! // bounded: 0=28 1=50
//! // property NAME: holds
//! // property NAME: holds under weak fairness
//! // property NAME: violated
//! // warns: TEXT
//! ```
//!
//! `expect` is about assertions, run-time errors and invalid end states, and the cost is that of the simplest
//! run. `plain` is what Spin counts with every optimisation off (its transitions are ours and one more), `bounded`
//! the states that need at most so many preemptions. There is a `property` line for each formula and claim, one
//! called `trace` for a trace assertion, and there may be one for `acceptance` and for `non-progress` cycles;
//! `violated` means even under weak fairness. A model is read without a word on stderr, unless `warns` gives a
//! part of what is said.

#[path = "common/model_header.rs"]
mod model_header;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use libtest_mimic::{Arguments, Failed, Trial};
use model_header::{Expected, Header, NON_PROGRESS, Property};
use serde_json::Value;

fn main() {
    let arguments = Arguments::from_args();
    let root = root();
    let mut files = Vec::new();
    collect(&root.join("models"), &mut files);
    files.sort();
    assert!(!files.is_empty(), "there are no models");

    let options = Options::of_the_command();
    let mut trials: Vec<Trial> = files
        .into_iter()
        .map(|file| {
            let name = file.strip_prefix(&root).unwrap_or(&file).display().to_string();
            Trial::test(name.clone(), move || model(&name, &file, options))
        })
        .collect();
    trials.push(Trial::test("headers", headers));
    libtest_mimic::run(&arguments, trials).exit()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("crates/ lies in the workspace")
        .to_path_buf()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry.expect("a folder can be listed").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "pml") {
            files.push(path);
        }
    }
}

/// What the command can do: the same test serves while it grows.
#[derive(Clone, Copy)]
struct Options {
    property: bool,
    weak_fairness: bool,
}

impl Options {
    fn of_the_command() -> Options {
        let help = preempt(&["check", "--help"]);
        let help = String::from_utf8_lossy(&help.stdout);
        Options { property: help.contains("--property"), weak_fairness: help.contains("--weak-fairness") }
    }
}

fn model(name: &str, file: &Path, options: Options) -> Result<(), Failed> {
    let text = fs::read_to_string(file)?;
    let header = Header::read(name, &text)?;
    let file = file.to_str().ok_or("the path is not UTF-8")?;
    let run = |arguments: &[&str]| Run::of(file, arguments, &header.warnings);

    let mut wrong = Vec::new();
    plain_counts(&header, &run(&["count"])?, &mut wrong);
    for &(bound, states) in &header.bounded {
        let found = run(&["count", "--bound", &bound.to_string()])?.number("/stats/states");
        differs(&mut wrong, &format!("states within {bound} preemptions"), states, found);
    }
    // Without an option to leave them out, formulas and claims are not part of a check.
    let only_safety: &[&str] = if options.property { &["check", "--property", "safety"] } else { &["check"] };
    safety(&header, &run(only_safety)?, &mut wrong);
    work_within_bounds(&header, &run, &mut wrong)?;
    for other in OTHER_WAYS {
        let run = run(&[&["check", "--property", "safety"], other.arguments].concat())?;
        let mut found = Vec::new();
        match other.simplest {
            true => safety(&header, &run, &mut found),
            false => verdict(&header, &run, &mut found),
        }
        wrong.extend(found.into_iter().map(|what| format!("{}: {what}", other.arguments.join(" "))));
    }
    if options.property {
        for property in &header.properties {
            check_property(property, options, &run, &mut wrong)?;
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// Another way to the same answer.
struct OtherWay {
    arguments: &'static [&'static str],
    /// Does it promise the simplest run?
    simplest: bool,
}

const OTHER_WAYS: [OtherWay; 7] = [
    OtherWay { arguments: &["--engine", "reference"], simplest: true },
    OtherWay { arguments: &["--reduction", "none"], simplest: true },
    OtherWay { arguments: &["--successors", "interpreted", "--shortest"], simplest: true },
    OtherWay { arguments: &["--search", "breadth-first"], simplest: false },
    OtherWay { arguments: &["--reduction", "strong"], simplest: false },
    OtherWay { arguments: &["--search", "depth-first"], simplest: false },
    OtherWay { arguments: &["--search", "depth-first", "--reduction", "none"], simplest: false },
];

/// A bound costs nothing: no transition more than without one, and nothing is done twice.
fn work_within_bounds(
    header: &Header,
    run: &impl Fn(&[&str]) -> Result<Run, Failed>,
    wrong: &mut Vec<String>,
) -> Result<(), Failed> {
    for bound in ["0", "1", "2", "3"] {
        let run = run(&["count", "--bound", bound])?;
        differs(wrong, &format!("revisits within {bound}"), 0, run.number("/stats/revisits"));
        let transitions = run.number("/stats/transitions").unwrap_or(u64::MAX);
        if transitions >= header.transitions {
            wrong.push(format!("{transitions} transitions within {bound}, more than in the whole"));
        }
    }
    Ok(())
}

fn verdict(header: &Header, run: &Run, wrong: &mut Vec<String>) {
    let holds = matches!(header.expected, Expected::Holds);
    differs(wrong, "verdict", if holds { "holds" } else { "violated" }, run.text("/verdict"));
    differs(wrong, "exit status", i32::from(!holds), run.exit);
}

fn plain_counts(header: &Header, run: &Run, wrong: &mut Vec<String>) {
    differs(wrong, "states", header.states, run.number("/stats/states"));
    let transitions = run.number("/stats/transitions").map(|ours| ours + 1);
    differs(wrong, "transitions (with Spin's first)", header.transitions, transitions);
}

fn safety(header: &Header, run: &Run, wrong: &mut Vec<String>) {
    match &header.expected {
        Expected::Holds => {}
        Expected::Violated { kind, preemptions, steps } => {
            differs(wrong, "kind", kind.as_str(), run.text("/property/kind"));
            differs(wrong, "preemptions", *preemptions, run.number("/counterexample/preemptions"));
            differs(wrong, "steps", *steps, run.number("/counterexample/length"));
        }
    }
    verdict(header, run, wrong);
}

/// A formula or claim, without and with the assumption of fairness.
fn check_property(
    property: &Property,
    options: Options,
    run: &impl Fn(&[&str]) -> Result<Run, Failed>,
    wrong: &mut Vec<String>,
) -> Result<(), Failed> {
    let Property { name, holds, holds_if_fair } = property;
    let mut compare = |expected: bool, extra: &[&str]| -> Result<Run, Failed> {
        let what: &[&str] =
            if name == NON_PROGRESS { &["check", "--non-progress"] } else { &["check", "--property", name] };
        let run = run(&[what, extra].concat())?;
        let assuming = extra.iter().map(|word| format!(" {word}")).collect::<String>();
        let (verdict, exit) = if expected { ("holds", 0) } else { ("violated", 1) };
        differs(wrong, &format!("verdict on {name}{assuming}"), verdict, run.text("/verdict"));
        differs(wrong, &format!("exit status for {name}{assuming}"), exit, run.exit);
        Ok(run)
    };
    // Fairness can only excuse a run that goes on for ever.
    let simplest = compare(*holds, &[])?;
    let endless = simplest.number("/counterexample/loop_start").is_some();
    if options.weak_fairness && endless {
        compare(*holds_if_fair, &["--weak-fairness"])?;
    }
    compare(*holds, &["--reduction", "none"])?;
    if endless {
        let steps = |run: &Run| run.number("/counterexample/length");
        let expected = steps(&compare(*holds, &["--engine", "reference"])?).unwrap_or(0);
        differs(wrong, &format!("steps of the run that violates {name}"), expected, steps(&simplest));
    }
    Ok(())
}

fn differs<T: PartialEq + std::fmt::Display>(
    wrong: &mut Vec<String>,
    what: &str,
    expected: T,
    found: Option<T>,
) {
    match found {
        Some(found) if found == expected => {}
        Some(found) => wrong.push(format!("{what}: expected {expected}, found {found}")),
        None => wrong.push(format!("{what}: expected {expected}, found nothing")),
    }
}

/// One run of the command and the object it printed.
struct Run {
    exit: Option<i32>,
    result: Value,
}

impl Run {
    fn of(file: &str, arguments: &[&str], warnings: &[String]) -> Result<Run, Failed> {
        let arguments = [arguments, &["--format", "json", file]].concat();
        let output = preempt(&arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        let command = arguments.join(" ");
        if let Some(missing) = warnings.iter().find(|warning| !said.contains(warning.as_str())) {
            return Err(format!("preempt {command}: does not warn of `{missing}`\n{said}").into());
        }
        if warnings.is_empty() && !said.is_empty() {
            return Err(format!("preempt {command}:\n{said}").into());
        }
        let result = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("preempt {command}: {error}\n{said}"))?;
        Ok(Run { exit: output.status.code(), result })
    }

    fn number(&self, place: &str) -> Option<u64> {
        self.result.pointer(place)?.as_u64()
    }

    fn text(&self, place: &str) -> Option<&str> {
        self.result.pointer(place)?.as_str()
    }
}

fn preempt(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_preempt")).args(arguments).output().expect("the command starts")
}

/// A header that says nothing, or says it wrongly, is a failure with file and line.
fn headers() -> Result<(), Failed> {
    let good = "// Prose: like this.\n// expect: violated deadlock preemptions=1 steps=2\n\
                // plain: states=3 transitions=4\n// bounded: 0=1 12=3\n// property p: holds under weak fairness\n\
                \nltl p { <> x }\n";
    let header = Header::read("good.pml", good)?;
    assert_eq!(header.expected, Expected::Violated { kind: "deadlock".into(), preemptions: 1, steps: 2 });
    assert_eq!((header.states, header.transitions), (3, 4));
    assert_eq!(header.bounded, [(0, 1), (12, 3)]);

    let bad = [
        ("expect: violated", "bad.pml:2: malformed: // expect: violated"),
        ("expect: violated deadlock preemptions=1", "bad.pml:2: malformed"),
        ("expect: violated nonsense preemptions=1 steps=2", "bad.pml:2: malformed"),
        ("plain: states=3", "bad.pml:2: malformed"),
        ("plain: states=3 transitions=4 more=5", "bad.pml:2: malformed"),
        ("plain: states=3 transitions=many", "bad.pml:2: malformed"),
        ("bounded: 1", "bad.pml:2: malformed"),
        ("property p holds", "bad.pml:2: malformed"),
        ("property p: perhaps", "bad.pml:2: malformed"),
        ("warns:", "bad.pml:2: malformed"),
        ("expect: holds", "bad.pml:3: said twice"),
    ];
    for (line, message) in bad {
        let text = format!("// Prose.\n// {line}\n// expect: holds\n");
        let error = Header::read("bad.pml", &text).err().ok_or(line)?;
        assert!(error.starts_with(message), "{line}: {error}");
    }
    let incomplete = [
        ("// expect: holds\n", "bad.pml: no `// plain:` line"),
        ("// plain: states=1 transitions=1\n", "bad.pml: no `// expect:` line"),
        ("byte x;\n// expect: holds\n", "bad.pml:2: stands below the header"),
        ("// property p: holds\n", "bad.pml: there is no formula or claim `p`"),
        ("never p {\n", "bad.pml: no `// property p:` line"),
    ];
    for (text, message) in incomplete {
        let error = Header::read("bad.pml", text).err().ok_or(text)?;
        assert!(error.starts_with(message), "{text}: {error}");
    }
    Ok(())
}
