//! The rules of the code map, checked: who may depend on whom, where `unsafe` and serialisation may live, and
//! how long a file may be. `ARCHITECTURE.md` says why.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const LONGEST_FILE: usize = 800;

const FRONT_ENDS: [&str; 4] = ["preempt-promela", "preempt-boolean", "preempt-remopla", "preempt-net"];
const ENGINES: [&str; 7] = [
    "preempt-explicit",
    "preempt-stateless",
    "preempt-bdd",
    "preempt-rounds",
    "preempt-symbolic",
    "preempt-pushdown",
    "preempt-wsts",
];
/// Nets and protocols are well-structured systems, and one engine works on their data types; the other makes nets of threads.
const ENGINES_ON_NETS: [(&str, &str); 2] =
    [("preempt-wsts", "preempt-net"), ("preempt-rounds", "preempt-net")];
/// Native code and the state store; coroutines and mirrors of the standard library.
const MAY_BE_UNSAFE: [&str; 3] = ["preempt-explicit", "preempt", "classic-bugs"];
const SERIALISES: &str = "preempt-report";
/// What the command may know of this workspace: it reads, watches and prints, and the workbench decides.
const COMMAND_KNOWS: [&str; 4] = ["preempt-cluster", "preempt-core", "preempt-report", "preempt-workbench"];
/// Who brings the processes of a search together: the only one that needs a network.
const CARRIES_MAIL: &str = "preempt-cluster";

/// A crate's manifest: its dependencies with the table they stand in.
struct Manifest {
    name: String,
    dependencies: Vec<Dependency>,
}

struct Dependency {
    name: String,
    /// Only for tests: free of the order, since a test may look at the whole from below.
    dev: bool,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("crates/ lies in the workspace")
        .to_path_buf()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The members in the order of the list in the workspace's manifest.
fn members() -> Vec<String> {
    let text = read(&root().join("Cargo.toml"));
    let list = text
        .split_once("\nmembers = [")
        .and_then(|(_, rest)| rest.split_once(']'))
        .expect("a list of members");
    list.0.split('"').skip(1).step_by(2).map(str::to_string).collect()
}

/// Enough of TOML for our own manifests: a table header, then `name = ...` or `name.workspace = true`.
fn manifest(member: &str) -> Manifest {
    let text = read(&root().join(member).join("Cargo.toml"));
    let mut manifest = Manifest { name: String::new(), dependencies: Vec::new() };
    let mut table = String::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(header) = line.strip_prefix('[') {
            table = header.trim_matches(['[', ']']).to_string();
            // `[dependencies.name]`, also for one target only
            if let Some((kind, name)) = table.rsplit_once("dependencies.") {
                manifest.dependencies.push(Dependency { name: name.into(), dev: kind.ends_with("dev-") });
            }
            continue;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let key = key.trim();
        if table == "package" && key == "name" {
            manifest.name = value.trim().trim_matches('"').to_string();
        }
        if table.ends_with("dependencies") {
            let name = key.split('.').next().unwrap_or(key).to_string();
            manifest.dependencies.push(Dependency { name, dev: table.ends_with("dev-dependencies") });
        }
    }
    assert!(!manifest.name.is_empty(), "{member} has no name");
    manifest
}

fn manifests() -> Vec<Manifest> {
    members().iter().map(|member| manifest(member)).collect()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in entries.map(|entry| entry.expect("a readable entry").path()) {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn folders_are_named_after_their_crates_and_all_are_members() {
    let members = members();
    for member in &members {
        assert_eq!(manifest(member).name, member.rsplit('/').next().unwrap_or_default(), "{member}");
    }
    for entry in fs::read_dir(root().join("crates")).expect("there are crates") {
        let folder = entry.expect("a readable entry").path();
        let name = format!("crates/{}", folder.file_name().unwrap_or_default().to_string_lossy());
        assert!(!folder.join("Cargo.toml").exists() || members.contains(&name), "{name} is not a member");
    }
}

/// A file that no program names is never compiled, and a test that is never run cannot fail.
#[test]
fn every_file_of_tests_belongs_to_a_test_program() {
    let mut files = 0;
    for member in members() {
        let (folder, own) = (root().join(&member).join("tests"), root().join(&member).join("Cargo.toml"));
        let own = read(&own);
        if !own.contains("autotests = false") {
            continue;
        }
        let all = read(&folder.join("all.rs"));
        for entry in fs::read_dir(&folder).expect("there are tests") {
            let path = entry.expect("a readable entry").path();
            let name = path.file_stem().unwrap_or_default().to_string_lossy().to_string();
            if path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let named = own.contains(&format!("[[test]]\nname = \"{name}\"\n"))
                || own.contains(&format!("path = \"tests/{name}.rs\"\n"));
            let module = all.lines().any(|line| line == format!("mod {name};"));
            assert!(named != module, "{} belongs to no test program, or to two", path.display());
            files += 1;
        }
    }
    assert!(files > 60, "only {files} files");
}

#[test]
fn dependencies_point_up_the_list() {
    let manifests = manifests();
    let order: BTreeMap<&str, usize> =
        manifests.iter().enumerate().map(|(i, manifest)| (manifest.name.as_str(), i)).collect();
    for (own, manifest) in manifests.iter().enumerate() {
        for dependency in &manifest.dependencies {
            let Some(other) = order.get(dependency.name.as_str()) else { continue };
            let (from, to) = (&manifest.name, &dependency.name);
            if dependency.dev {
                println!("for its tests only: {from} -> {to}");
                continue;
            }
            assert!(
                *other < own,
                "{from} depends on {to}, which does not stand above it in the list of members"
            );
        }
    }
}

#[test]
fn front_ends_and_engines_do_not_name_each_other() {
    let is_end = |name: &str| FRONT_ENDS.contains(&name);
    let is_engine = |name: &str| ENGINES.contains(&name);
    for manifest in manifests() {
        for dependency in manifest.dependencies.iter().filter(|dependency| !dependency.dev) {
            let (from, to) = (manifest.name.as_str(), dependency.name.as_str());
            if ENGINES_ON_NETS.contains(&(from, to)) {
                continue;
            }
            assert!(!(is_end(from) && is_engine(to)), "the front end {from} names the engine {to}");
            assert!(!(is_engine(from) && is_end(to)), "the engine {from} names the front end {to}");
            assert!(!(is_end(from) && is_end(to)), "the front end {from} names the front end {to}");
        }
    }
}

/// Without comments and unit tests.
fn code(path: &Path) -> String {
    let text = read(path);
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// What `preempt check` promises is decided in the library, where everybody can have it.
#[test]
fn the_command_names_no_engine_and_no_search() {
    let manifest = manifest("crates/preempt-cli");
    for dependency in manifest.dependencies.iter().filter(|dependency| !dependency.dev) {
        let name = dependency.name.as_str();
        assert!(
            !name.starts_with("preempt") || COMMAND_KNOWS.contains(&name),
            "the command depends on {name}"
        );
    }
    let mut files = Vec::new();
    sources(&root().join("crates/preempt-cli/src"), &mut files);
    let crates = FRONT_ENDS.iter().chain(&ENGINES).map(|name| name.replace('-', "_"));
    let searches =
        ["fewest-preemptions", "breadth-first", "depth-first", "context-bounded", "swarm", "bitstate"];
    let words: Vec<String> = crates.chain(searches.map(str::to_string)).collect();
    for path in files {
        let code = code(&path);
        let named = words.iter().find(|word| code.contains(word.as_str()));
        assert_eq!(named, None, "{}", path.display());
    }
}

/// Engines and front ends open no connection, and whoever does knows none of them but the one whose mail it carries.
#[test]
fn one_crate_knows_the_network() {
    for manifest in manifests() {
        let from = manifest.name.as_str();
        for dependency in manifest.dependencies.iter().filter(|dependency| !dependency.dev) {
            let to = dependency.name.as_str();
            assert!(!to.starts_with("timely") || from == CARRIES_MAIL, "{from} depends on {to}");
            let is_ours = to.starts_with("preempt");
            assert!(from != CARRIES_MAIL || !is_ours || to == "preempt-explicit", "{from} depends on {to}");
        }
    }
    for member in members() {
        let mut files = Vec::new();
        sources(&root().join(&member).join("src"), &mut files);
        for path in files.iter().filter(|_| !member.ends_with(CARRIES_MAIL)) {
            assert!(!code(path).contains("std::net::"), "{}", path.display());
        }
    }
}

/// Inputs and engines meet in the workbench's plan: its engines know models and nets, not who has read them.
#[test]
fn no_engine_of_the_workbench_names_a_front_end() {
    let mut files = Vec::new();
    sources(&root().join("crates/preempt-workbench/src/engine"), &mut files);
    assert!(files.len() >= 5, "{files:?}");
    for path in files {
        let code = code(&path);
        let names =
            ["preempt_promela", "preempt_boolean", "\"promela\"", "\"boolean\"", "\"spec\"", "\"pnml\""];
        let named = names.iter().find(|name| code.contains(*name));
        assert_eq!(named, None, "{}", path.display());
    }
}

#[test]
fn the_shared_words_depend_on_nothing_of_ours_and_only_reports_serialise() {
    for manifest in manifests() {
        for dependency in manifest.dependencies.iter().filter(|dependency| !dependency.dev) {
            let (from, to) = (manifest.name.as_str(), dependency.name.as_str());
            assert!(!(from == "preempt-core" && to.starts_with("preempt")), "{from} depends on {to}");
            assert!(!to.starts_with("serde") || from == SERIALISES, "{from} depends on {to}");
        }
    }
}

#[test]
fn unsafe_code_is_forbidden_but_where_it_is_the_matter() {
    for member in members() {
        let manifest = manifest(&member);
        if MAY_BE_UNSAFE.contains(&manifest.name.as_str()) {
            continue;
        }
        let src = root().join(&member).join("src");
        for name in ["lib.rs", "main.rs"] {
            let path = src.join(name);
            let forbids = !path.exists() || read(&path).contains("#![forbid(unsafe_code)]");
            assert!(forbids, "{} does not forbid unsafe code", path.display());
        }
    }
}

/// "Holds" is said in one place, `Verdict::conclude`, which asks what was left undone. Elsewhere engines may only look
/// whether it was said: in a comparison, or in a pattern.
#[test]
fn no_engine_says_holds_by_itself() {
    let mut looked_at = 0;
    for member in ENGINES.iter().chain(&["preempt-model", "preempt"]) {
        let mut files = Vec::new();
        sources(&root().join("crates").join(member).join("src"), &mut files);
        let is_code = |path: &PathBuf| !path.iter().any(|part| part == "tests");
        for path in files.into_iter().filter(is_code) {
            let text = read(&path);
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
                let (before, after) = line.split_once("=>").unwrap_or(("", line));
                let is_pattern = before.contains("Verdict::Holds") || line.contains("Verdict::Holds |");
                let rest = if is_pattern { after } else { line };
                let rest = rest.replace("== Verdict::Holds", "").replace("!= Verdict::Holds", "");
                let rest = rest.replace("Verdict::Holds |", "");
                assert!(!rest.contains("Verdict::Holds"), "{}: {}", path.display(), line.trim());
                looked_at += usize::from(line.contains("Verdict::"));
            }
        }
    }
    assert!(looked_at > 20, "{looked_at} lines with verdicts");
}

#[test]
fn no_source_file_is_too_long() {
    let mut files = Vec::new();
    sources(&root().join("crates"), &mut files);
    assert!(!files.is_empty());
    for file in files {
        let lines = read(&file).lines().count();
        assert!(lines <= LONGEST_FILE, "{}: {lines} lines, more than {LONGEST_FILE}", file.display());
    }
}
