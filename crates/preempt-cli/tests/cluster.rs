//! `preempt cluster` with processes on this machine: the result of one process, whatever their number; what happens when one
//! of them is killed; and who is refused.
//!
//! Long runs: PREEMPT_MODELS=all takes every sample model, PREEMPT_PROGRAMS=N so many random ones, PREEMPT_KILLS=N kills so often.

use preempt_cluster::handshake::{End, Identity, Secret, shake_hands};
use preempt_model::generator::{faulty_program_from_seed, program_from_seed};
use serde_json::Value;
use std::fmt::Write as _;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_preempt"));
    command.args(arguments);
    command
}

fn preempt(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the command starts")
}

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|number| number.parse().ok()).unwrap_or(usual)
}

/// An empty folder.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cluster").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder for files");
    folder
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a name in Unicode")
}

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/promela")
}

/// A file with so many addresses of this machine at which nobody listens.
fn hosts(folder: &Path, count: usize) -> PathBuf {
    let listeners: Vec<TcpListener> =
        (0..count).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
    let mut text = String::from("# on this machine\n");
    for listener in &listeners {
        writeln!(text, "{}", listener.local_addr().expect("an address")).expect("memory");
    }
    let path = folder.join(format!("hosts-{count}"));
    std::fs::write(&path, text).expect("a file");
    path
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Everything in a result that does not depend on how it was found.
fn result(output: &Output, name: &str) -> Value {
    let mut value: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{name}: {:?}: {}", output.status, said(output)));
    for number in ["seconds", "peak_bytes", "memory", "depth", "revisits"] {
        value["stats"][number] = Value::Null;
    }
    for own in ["executed", "notes"] {
        value[own] = Value::Null;
    }
    value
}

/// One process and several, with the same options; the exit status is that of the verdict.
fn same(folder: &Path, file: &Path, options: &[&str], counts: &[usize]) -> Value {
    let name = format!("{} {options:?}", file.display());
    let is_count = options.contains(&"--count");
    let own: Vec<&str> = options.iter().copied().filter(|it| *it != "--count").collect();
    let alone: &[&str] = match is_count {
        true => &["count", text(file), "--search", "fewest-preemptions", "--format", "json"],
        false => &["check", text(file), "--reduction", "none", "--format", "json"],
    };
    let expected = preempt(&[alone, &own].concat());
    let expected_result = result(&expected, &name);
    for count in counts {
        let hosts = hosts(folder, *count);
        let together = ["cluster", text(file), "--hosts", text(&hosts), "--format", "json"];
        let found = preempt(&[&together, options].concat());
        let name = format!("{name}, {count} processes");
        assert_eq!(result(&found, &name), expected_result, "{name}: {}", said(&found));
        assert_eq!(found.status.code(), expected.status.code(), "{name}");
    }
    expected_result
}

#[test]
fn several_processes_say_what_one_says() {
    let folder = scratch("same");
    let all = std::env::var("PREEMPT_MODELS").is_ok_and(|it| it == "all");
    let mut files: Vec<PathBuf> = std::fs::read_dir(models())
        .expect("models")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|it| it == "pml"))
        .collect();
    files.sort();
    let few = ["peterson_broken.pml", "raft_election_broken.pml", "bakery.pml"];
    files.retain(|path| all || few.iter().any(|name| path.ends_with(name)));
    let (mut violated, mut compared) = (0, 0);
    for file in &files {
        let every: &[&[&str]] = &[
            &["--property", "safety"],
            &["--property", "safety", "--bound", "1"],
            &["--property", "safety", "--cost", "switches"],
            &["--property", "safety", "--cost", "steps"],
            &["--count"],
            &["--property", "safety", "--symmetry", "auto"],
        ];
        // All of them are for the long run.
        let chosen = if all { every } else { &every[compared % 4..compared % 4 + 1] };
        let counts: &[usize] = if all { &[1, 2, 4] } else { &[2] };
        for options in chosen {
            let result = same(&folder, file, options, counts);
            violated += usize::from(result["verdict"] == "violated");
        }
        compared += 1;
    }
    assert!(compared == files.len() && compared >= 3 && violated > 0, "{violated} of {compared}");
}

#[test]
fn random_programs() {
    let folder = scratch("random");
    let file = folder.join("random.pml");
    let count = number("PREEMPT_PROGRAMS", 0);
    for seed in 0..count {
        let program = match seed % 3 {
            0 => faulty_program_from_seed(5_000_000 + seed),
            _ => program_from_seed(5_000_000 + seed),
        };
        std::fs::write(&file, program.to_promela()).expect("a file");
        let small = preempt(&["count", text(&file), "--max-states", "20k"]);
        if small.status.code() == Some(3) || small.status.code() == Some(2) {
            continue;
        }
        let every: &[&[&str]] = &[
            &["--property", "safety"],
            &["--property", "safety", "--bound", "1"],
            &["--property", "safety", "--cost", "switches"],
            &["--property", "safety", "--cost", "steps", "--bound", "20"],
        ];
        let chosen = [every[0], every[1 + seed as usize % 3]];
        chosen.iter().for_each(|options| {
            same(&folder, &file, options, &[1, 2, 4]);
        });
    }
}

/// A claim that a finite run violates, with a bound and without.
#[test]
fn claims_of_finite_runs_and_what_is_refused() {
    let folder = scratch("claims");
    let file = folder.join("claim.pml");
    let model =
        "byte x; active [2] proctype P() { byte i; do :: i < 3 -> i++; x = x + i :: i == 3 -> break od }
        never { do :: x > 9 -> break :: else od }";
    std::fs::write(&file, model).expect("a file");
    for options in [&["--property", "never"][..], &["--property", "never", "--bound", "1"]] {
        let found = same(&folder, &file, options, &[2]);
        assert_eq!(found["verdict"], "violated");
    }
    let forever = folder.join("forever.pml");
    std::fs::write(&forever, "bit x; active proctype P() { do :: x = 1 - x od } ltl { <> [] (x == 1) }")
        .expect("a file");
    let hosts = hosts(&folder, 2);
    let refused = |file: &Path, options: &[&str], why: &str| {
        let found = preempt(&[&["cluster", text(file), "--hosts", text(&hosts)], options].concat());
        assert_eq!(found.status.code(), Some(2), "{}", said(&found));
        assert!(said(&found).contains(why) && found.stdout.is_empty(), "{why}: {}", said(&found));
    };
    refused(&forever, &["--property", "ltl_0"], "runs without end");
    refused(&forever, &[], "several processes answer one question");
    refused(&file, &["--count", "--property", "never"], "--count and --property do not go together");
    refused(&file, &["--index", "2", "--secret", text(&file)], "there are 2 hosts");
    refused(&file, &["--index", "1"], "need a --secret");
    let elsewhere = folder.join("elsewhere");
    std::fs::write(&elsewhere, "127.0.0.1:1\n192.0.2.7:2101\n").expect("a file");
    let found = preempt(&["cluster", text(&file), "--hosts", text(&elsewhere)]);
    assert!(said(&found).contains("with --index N") && found.status.code() == Some(2), "{}", said(&found));
    std::fs::write(&elsewhere, "\n# nobody\n").expect("a file");
    let found = preempt(&["cluster", text(&file), "--hosts", text(&elsewhere)]);
    assert!(said(&found).contains("there is no address in it"), "{}", said(&found));
}

/// The processes that a command has started.
fn children(of: &Child) -> Vec<u32> {
    let path = format!("/proc/{0}/task/{0}/children", of.id());
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().filter_map(|number| number.parse().ok()).collect()
}

const GROWS: &str = "byte a, b, c;
    active [2] proctype P() { do :: a = (a + 1) % 100 :: b = (b + 1) % 100 :: c = (c + 1) % 40 od }";

#[test]
fn a_process_is_killed_and_the_search_goes_on_later() {
    let folder = scratch("killed");
    let file = folder.join("grows.pml");
    std::fs::write(&file, GROWS).expect("a file");
    let alone = preempt(&["count", text(&file), "--search", "fewest-preemptions", "--format", "json"]);
    let expected = result(&alone, "alone");
    let (mut resumed, mut killed, mut chance) = (0, 0, 12345u64);
    let kills = number("PREEMPT_KILLS", 1);
    for attempt in 0..4 * kills {
        if killed == kills && resumed > 0 {
            break;
        }
        let count = if attempt % 2 == 0 { 2 } else { 4 };
        let saved = scratch("killed/saved");
        let hosts = hosts(&folder, count);
        let first = ["cluster", text(&file), "--count", "--format", "json", "--hosts", text(&hosts)];
        let saving = ["--checkpoint", text(&saved), "--checkpoint-every", "50ms"];
        let mut command = command(&[&first[..], &saving].concat());
        let running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let started = Instant::now();
        // The first is killed as soon as something was saved, the others at any moment.
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let wait = Duration::from_millis((chance >> 33) % 1_500);
        let is_time = || match attempt {
            0 => saved.join("manifest").exists(),
            _ => started.elapsed() >= wait,
        };
        while !is_time() && started.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(2));
        }
        let all = children(&running);
        if let Some(victim) = all.get((chance >> 20) as usize % all.len().max(1)) {
            let _ = Command::new("kill").args(["-9", &victim.to_string()]).status();
        }
        let output = running.wait_with_output().expect("it ends");
        if output.status.code() == Some(0) {
            assert_eq!(result(&output, "nobody was killed in time"), expected);
            continue;
        }
        killed += 1;
        let why = said(&output);
        assert_eq!(output.status.code(), Some(3), "{why}");
        assert!(why.contains("was killed (signal 9)") && output.stdout.is_empty(), "{why}");
        let again = if saved.join("manifest").exists() {
            assert!(why.contains(&format!("--resume {}", text(&saved))), "{why}");
            resumed += 1;
            preempt(&[&first[..], &["--resume", text(&saved)]].concat())
        } else {
            assert!(why.contains("begins anew"), "{why}");
            preempt(&first)
        };
        assert_eq!(result(&again, "continued"), expected, "{}", said(&again));
    }
    assert!(killed >= kills.min(1) && resumed > 0, "{killed} killed, {resumed} continued");
}

#[test]
fn who_does_not_belong_to_it_is_refused() {
    let folder = scratch("refused");
    let file = folder.join("m.pml");
    std::fs::write(&file, GROWS).expect("a file");
    let secret = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("a file");
        path
    };
    let known = secret("known", "correct horse battery staple\n");
    let other = secret("other", "incorrect horse battery staple\n");
    let hosts = hosts(&folder, 2);
    let process = |index: &str, secret: &Path, options: &[&str]| {
        let own = ["cluster", text(&file), "--count", "--hosts", text(&hosts), "--index", index];
        let mut command =
            command(&[&own[..], &["--secret", text(secret), "--max-time", "4s"], options].concat());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
    };
    let both = |secret: &Path, options: &[&str]| {
        let pair = [process("0", &known, &[]), process("1", secret, options)];
        pair.map(|child| child.wait_with_output().expect("it ends"))
    };
    // Whoever has another model, or asks something else, knows why it is refused; and so does the other.
    for output in both(&known, &["--bound", "1"]) {
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains("another model, or other options"), "{}", said(&output));
    }
    // Who does not know the secret may be anybody: the other goes on waiting, until its time is over.
    let [first, second] = both(&other, &[]);
    assert!(said(&second).contains("it does not know the secret"), "{}", said(&second));
    assert_eq!(second.status.code(), Some(2));
    assert!(said(&first).contains("refused a connection from 127.0.0.1"), "{}", said(&first));
    assert!(
        matches!(first.status.code(), Some(2 | 3)) && !said(&first).contains("states"),
        "{}",
        said(&first)
    );
    // Another version.
    let first = process("0", &known, &[]);
    let address = std::fs::read_to_string(&hosts).expect("the file").lines().nth(1).map(str::to_string);
    let address = address.expect("an address");
    let until = Instant::now() + Duration::from_secs(10);
    let mut stream = loop {
        match TcpStream::connect(&address) {
            Ok(stream) => break stream,
            Err(error) => assert!(Instant::now() < until, "{error}"),
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let own = Identity { version: "99.0.0".into(), model: [0; 32], number: 1, count: 2 };
    let secret = Secret::of_text(b"correct horse battery staple").expect("long enough");
    let refused = shake_hands(&mut stream, End::Caller, &own, &secret).expect_err("another version");
    assert!(refused.0.contains("another version"), "{refused}");
    let output = first.wait_with_output().expect("it ends");
    assert!(
        said(&output).contains("of another version") && output.status.code() == Some(2),
        "{}",
        said(&output)
    );
}
