//! "See it again": the command that is printed below a counterexample shows the same one, whatever engine and whichever
//! options found it.

use crate::common;

use common::{file, folder};
use std::path::Path;
use std::process::Command;

const RACE: &str = "#ifndef N
#define N 1
#endif
byte x;
active [2] proctype P() { byte t; t = x; t = t + N; x = t; assert(t != 2 * N || x == 2 * N) }
active proctype Q() { x = 5; x = 0; (_nr_pr == 1) -> assert(x == 2 * N) }
";

/// Somebody must be preempted for ever, or nobody; with and without a stem.
const LOOPS: &str = "bit a, b;
active proctype A() { do :: a = 1; a = 0 od }
active proctype B() { do :: b = 1; b = 0 od }
ltl quiet { [] <> (a == 1) }
ltl never_both { [] !(a && b) }
";

const BOOLEAN: &str = "decl g;
void main() begin
  g := 0;
  start_thread t();
  g := 1;
  g := 0;
end
void t() begin
  if (g) then goto ERR; fi;
  return;
  ERR: skip;
end
";

const NET: &str = "vars
 a b
rules
 a >= 1 -> a' = a-1, b' = b+1;
init
 a >= 1, b = 0
target
 b >= 3
";

/// Everything about the run, and nothing about the search.
fn run(text: &str) -> Vec<&str> {
    let text = text.split("\nsearched").next().unwrap_or(text);
    text.trim_end().lines().filter(|line| !line.starts_with("  see it again: ")).collect()
}

/// Runs a command line in a shell, from the folder; its result and its status.
fn shell(folder: &Path, line: &str) -> (String, Option<i32>) {
    let line = line.replacen("preempt ", &format!("'{}' ", env!("CARGO_BIN_EXE_preempt")), 1);
    let output = Command::new("sh")
        .args(["-c", &line])
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .output()
        .expect("there is a shell");
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
}

#[test]
fn the_printed_command_shows_the_same_run() {
    let folder = folder("again");
    file(&folder, "race.pml", RACE);
    file(&folder, "-race it's.pml", RACE);
    file(&folder, "loops.pml", LOOPS);
    file(&folder, "program.bp", &BOOLEAN.replace("ERR", "SLIC_ERROR"));
    file(&folder, "program", BOOLEAN);
    file(&folder, "net.spec", NET);
    let promela = [
        "",
        "-DN=3",
        "-DN=3 --engine reference",
        "--input promela --property safety",
        "--fair-switch",
        "--fair-switch --engine reference",
        "--bound 9",
        "--cost switches",
        "--cost steps",
        "--search breadth-first",
        "--search depth-first",
        "--search depth-first --iterative-shortening",
        "--search context-bounded --bound 3",
        "--search context-bounded --bound 3 --reduction paper",
        "--search context-bounded --bound 3 --paper-cycles",
        "--search naive-bounded --bound 3",
        "--search random --seed 7 --walks 500 --max-depth 50",
        "--store compact",
        "--store compact --fingerprint-bits 96",
        "--store bitstate --hashes 2 --max-memory 1M",
        "--reduction none",
        "--reduction exact --shortest",
        "--reduction strong",
        "--statics on",
        "--successors interpreted",
        "--max-states 100k",
        "--ltl '[] (x < 2)'",
        "--ltl '[] (x < 2)' --stutter-invariant",
        "--ltl='!(x == 0)'",
        "--engine symbolic -DN=2",
        "--engine symbolic --contexts 4 --method eager",
        "--engine symbolic --bdd-order declared --instances 2",
        "--trace run.json -DN=3",
        "--trace run.json --fair-switch",
        "--trace sym.json --engine symbolic -DN=2",
    ];
    let mut lines: Vec<String> = promela
        .iter()
        .map(|options| match options.contains("symbolic") {
            true => format!("preempt check one_thread.pml {options}"),
            false => format!("preempt check race.pml {options}"),
        })
        .collect();
    // The symbolic engine takes no `_nr_pr`.
    file(&folder, "one_thread.pml", &RACE.replace("(_nr_pr == 1) -> assert(x == 2 * N)", "assert(x < N)"));
    lines.extend(
        [
            "'./-race it'\\''s.pml'",
            "loops.pml --property quiet",
            "loops.pml --property quiet --engine reference",
            "loops.pml --property never_both",
            "loops.pml --non-progress",
            "loops.pml --ltl '<> (a && b)'",
            "loops.pml --ltl '<> (a && b)' --weak-fairness",
            "loops.pml --ltl '<> (a && b)' --trace lasso.json",
            "program.bp",
            "program.bp --engine explicit",
            "program.bp --engine reference",
            "program --input boolean --error-label ERR",
            "program.bp --dialect getafix --contexts 2",
            "program --input boolean --error-label ERR --trace boolean.json",
            "net.spec",
            "net.spec --engine basis",
            "net.spec --engine forward",
            "net.spec --engine weight",
        ]
        .map(|line| format!("preempt check {line}")),
    );
    for line in lines {
        let (first, status) = shell(&folder, &line);
        assert_eq!(status, Some(1), "{line}: {first}");
        let again = first.lines().find_map(|line| line.strip_prefix("  see it again: "));
        let again = again.unwrap_or_else(|| panic!("{line} says nothing of it:\n{first}"));
        let (second, status) = shell(&folder, again);
        assert_eq!(status, Some(1), "{line}: {again}: {second}");
        let (first, second) = (run(&first), run(&second));
        if again.starts_with("preempt replay") {
            // What is replayed is promised nothing.
            assert_eq!(first[0], second[0], "{line}: {again}");
            let steps = |lines: &[&str]| lines.iter().position(|line| line.trim_start().starts_with("step "));
            assert_eq!(first[steps(&first).unwrap_or(0)..], second[steps(&second).unwrap_or(0)..], "{again}");
        } else {
            assert_eq!(first, second, "{line}: {again}");
        }
    }
}

/// A run without end and without a stem: its last switch is charged only if there is one.
#[test]
fn a_loop_without_a_stem_has_the_bound_of_its_switches() {
    let folder = folder("again-loops");
    file(&folder, "one.pml", "bit a; active proctype P() { do :: a = 1 - a od }");
    file(&folder, "two.pml", "bit a; active [2] proctype P() { do :: a == _pid -> a = 1 - a od }");
    file(
        &folder,
        "both.pml",
        "bit a, b; active proctype A() { do :: a = 1 - a od } active proctype B() { do :: b = 1 - b od }",
    );
    for (line, bound) in [
        ("one.pml --ltl '<> [] (a == 1)'", 0),
        ("two.pml --ltl '<> [] (a == 1)'", 0),
        ("both.pml --ltl '!([] <> (a && !b) && [] <> (b && !a))'", 2),
        ("both.pml --ltl '!([] <> (a && !b) && [] <> (b && !a))' --engine reference", 2),
    ] {
        let (text, _) = shell(&folder, &format!("preempt check {line}"));
        let again = text.lines().find_map(|line| line.strip_prefix("  see it again: ")).unwrap_or("");
        let question = again.strip_suffix(&format!(" --bound {bound}"));
        let question = question.unwrap_or_else(|| panic!("{line}: {again}\n{text}"));
        let (second, status) = shell(&folder, again);
        assert_eq!((run(&text), status), (run(&second), Some(1)), "{again}");
        if bound > 0 {
            let (less, status) = shell(&folder, &format!("{question} --bound {}", bound - 1));
            assert_eq!(status, Some(0), "{question}: {less}");
        }
    }
}
