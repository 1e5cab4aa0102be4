//! The page about JSON in the guide is what `preempt` prints, with every engine: each field that is printed is documented,
//! each that is documented is printed (`null` where it does not apply), and each has a value with somebody.

use crate::common;
use crate::schema::Schema;

use common::{file, folder, preempt};
use preempt_workbench::Kind;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The fields of each kind of object, by the heading above its table.
fn documented() -> BTreeMap<String, BTreeSet<String>> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/json.md");
    let page = std::fs::read_to_string(page).expect("the guide has a page about JSON");
    let mut objects: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut object = None;
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix("### ") {
            object = match heading {
                "The result" => Some("result".to_string()),
                heading => heading.strip_prefix('`').and_then(|it| it.strip_suffix('`')).map(str::to_string),
            };
        }
        if let (Some(object), Some(cells)) = (&object, line.strip_prefix("| `")) {
            let fields = cells.split(" | ").next().unwrap_or_default().split('`');
            let fields = fields.filter(|word| !word.is_empty() && *word != ", ").map(str::to_string);
            objects.entry(object.clone()).or_default().extend(fields);
        }
    }
    objects
}

/// Objects whose fields are names of the input or of kinds, not of the format.
const OPEN: [&str; 4] = ["initial", "changed", "violations", "searches"];

/// The same kind of object under another name.
fn kind(name: &str) -> &str {
    match name {
        "violation" => "property",
        "never_reached" | "never_true" | "never_false" => "statements",
        name => name,
    }
}

/// Every object with its kind, and which of its fields have a value.
fn collect(name: &str, value: &Value, found: &mut BTreeMap<String, BTreeMap<String, bool>>, run: &str) {
    match value {
        Value::Array(list) => list.iter().for_each(|item| collect(name, item, found, run)),
        Value::Object(fields) if !OPEN.contains(&name) => {
            let documented = documented();
            let known =
                documented.get(kind(name)).unwrap_or_else(|| panic!("{run}: `{name}` is not on the page"));
            let printed: BTreeSet<String> = fields.keys().cloned().collect();
            assert_eq!(&printed, known, "{run}: the fields of `{name}`");
            for (field, value) in fields {
                let has_value =
                    found.entry(kind(name).to_string()).or_default().entry(field.clone()).or_default();
                *has_value |= !value.is_null();
                collect(field, value, found, run);
            }
        }
        _ => {}
    }
}

const SEVERAL: &str = "byte x; chan c = [0] of { byte };
active proctype A() { x = 1; printf(\"one\\n\"); c!x; if :: x = 2 :: x = 3 fi; assert(x != 3) }
active proctype B() { byte y; c?y; (y == 7) }
ltl p { [] (x != 1) }
ltl loops { <> (x == 9) }
";
const RACE: &str = "byte x; inline add(t) { t = x; x = t + 1 }\nactive [2] proctype P() { byte t; add(t); assert(x != 1) }\n";
const SAFE: &str = "byte x; active [2] proctype P() { x = 1 }\n";
const LOOP: &str = "decl g; void main() begin g := 0; while (*) do start_thread main(); od; end\n";
const FORKS: &str = "decl g; void f() begin g := 0; assert(!g); end void main() begin while (*) do start_thread f(); od; end\n";
const CHOICE: &str = "decl g; void main() begin g := *; assert(g); end\n";
const NET: &str =
    "vars\n a b\nrules\n a >= 1 -> a' = a-1, b' = b+1;\ninit\n a >= 1, b = 0\ntarget\n b >= 3\n";
const MUTEX: &str = "vars\n idle lock inside\nrules\n idle >= 1, lock >= 1 -> idle' = idle-1, lock' = lock-1, inside' = inside+1;\n \
                     inside >= 1 -> inside' = inside-1, idle' = idle+1, lock' = lock+1;\ninit\n idle >= 1, lock = 1, inside = 0\n\
                     target\n inside >= 2\n";

#[test]
fn the_page_has_every_field_that_is_printed_and_no_other() {
    let folder = folder("json-page");
    let path = |name: &str, text: &str| file(&folder, name, text);
    let (several, race, safe) =
        (path("several.pml", SEVERAL), path("race.pml", RACE), path("safe.pml", SAFE));
    let (program, choice) = (path("loop.bp", LOOP), path("choice.bp", CHOICE));
    let forks = path("forks.bp", FORKS);
    let (net, mutex) = (path("net.spec", NET), path("mutex.spec", MUTEX));
    let stored = folder.join("run.json").to_str().expect("a name in Unicode").to_string();
    let nets = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cmd/nets.in");
    let (pnml, questions) = (format!("{nets}/token.pnml"), format!("{nets}/questions.xml"));
    let mixed = format!("{nets}/mixed.formula");
    let protocol = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/protocols/seize.protocol");
    let mut runs: Vec<Vec<&str>> = vec![
        vec!["check", &several],
        vec!["check", &several, "--all-errors"],
        vec!["check", &several, "--engine", "reference"],
        vec!["check", &several, "--property", "loops"],
        vec!["check", &several, "--property", "safety", "--reduction", "strong"],
        vec!["check", &several, "--ltl", "[] (x != 1)", "--weak-fairness", "--reduction", "strong"],
        vec!["check", &race, "--trace", &stored],
        vec!["replay", &race, &stored],
        vec!["check", &race, "--search", "context-bounded", "--bound", "0", "--reduction", "paper"],
        vec!["check", &race, "--engine", "symbolic", "--contexts", "2"],
        vec!["check", &race, "--engine", "symbolic", "--method", "lazy"],
        vec!["check", &choice, "--engine", "explicit"],
        vec!["check", &safe, "--bound", "1"],
        vec!["check", &safe, "--store", "compact", "--bound", "1"],
        vec!["check", &safe, "--store", "bitstate", "--max-memory", "1M"],
        vec!["check", &safe, "--search", "random", "--walks", "3"],
        vec!["check", &safe, "--search", "swarm", "--max-time", "300ms"],
        vec!["check", &safe, "--max-states", "1"],
        vec!["check", &safe, "--max-time", "0s"],
        vec!["count", &safe],
        vec!["count", &safe, "--engine", "reference"],
        vec!["check", &program],
        vec!["check", &forks, "--instances", "2"],
        vec!["check", &choice, "--method", "pushdown", "--direction", "backward", "--error-projection"],
        vec!["check", &net],
        vec!["check", &mutex],
        vec!["check", protocol],
        vec!["check", &pnml, "--properties", &questions],
        vec!["check", &pnml, "--properties", &mixed],
    ];
    // Everybody by name.
    for engine in preempt_workbench::ENGINES {
        let inputs = if (engine.takes)(Kind::Net).is_ok() { vec![&net, &mutex] } else { vec![&choice] };
        runs.extend(inputs.into_iter().map(|input| vec!["check", input, "--engine", engine.name]));
    }
    let mut found = BTreeMap::new();
    let schema = Schema::of_results();
    let mut engines = BTreeSet::new();
    for run in runs {
        let arguments = [run.as_slice(), &["--format", "json"]].concat();
        let output = preempt(&arguments);
        let shown = arguments.join(" ");
        let said = String::from_utf8_lossy(&output.stderr);
        let result: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{shown}: {error}: {said}"));
        engines.extend(result["engine"].as_str().map(str::to_string));
        collect("result", &result, &mut found, &shown);
        assert_eq!(schema.mistakes(&result), Vec::<String>::new(), "{shown}: against the schema");
    }
    for engine in preempt_workbench::ENGINES {
        assert!(engines.contains(engine.name), "nobody has looked at what {} prints", engine.name);
    }
    for (object, fields) in documented() {
        for field in fields {
            let has_value = found.get(&object).and_then(|fields| fields.get(&field)).copied();
            assert_eq!(has_value, Some(true), "nobody has a value for `{field}` of `{object}`");
        }
    }
}
