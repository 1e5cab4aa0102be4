//! On the sample models (and on every file of the folder that `PREEMPT_MODELS` names) the engine does exactly the
//! reference search's work: the same states and transitions at each level, the same violations, the same cost.

use preempt_core::{Limits, Outcome, Silent, Verdict};
use preempt_explicit::{SearchOptions, check, count};
use preempt_model::{Interpreter, search};
use std::path::{Path, PathBuf};

fn cost(outcome: &Outcome) -> Option<(usize, usize)> {
    outcome.counterexample.as_ref().map(|trace| (trace.preemptions(), trace.steps.len()))
}

/// True if the model was small enough to be compared.
fn compare(path: &Path, limits: Limits) -> bool {
    let Ok(text) = std::fs::read_to_string(path) else { return false };
    let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
    let mut read = |name: &str| std::fs::read_to_string(folder.join(name)).map_err(|error| error.to_string());
    let name = path.display().to_string();
    let loaded = preempt_promela::load(&name, &text, &preempt_promela::Additions::default(), &mut read);
    let Some(model) = loaded.model else { return false };
    let Ok(interpreter) = Interpreter::new(&model, &loaded.sources) else { return false };
    for bound in [None, Some(0), Some(1)] {
        let reference = search::ReferenceOptions { bound, limits, ..search::ReferenceOptions::default() };
        let expected = search::count(&interpreter, &reference, &mut Silent);
        if matches!(expected.verdict, Verdict::Inconclusive(_)) {
            println!("{name}: too large");
            return false;
        }
        let options = SearchOptions { bound, limits, ..SearchOptions::default() };
        let found = match count(&model, &loaded.sources, &options, &mut Silent) {
            Ok(found) => found,
            Err(error) => {
                println!("{name}: {error}");
                return false;
            }
        };
        assert_eq!(found.verdict, expected.verdict, "{name}");
        assert_eq!(found.stats.levels, expected.stats.levels, "{name}: within {bound:?}");
        assert_eq!(found.stats.violations, expected.stats.violations, "{name}: within {bound:?}");
        let expected = search::check(&interpreter, &reference, &mut Silent);
        let found =
            check(&model, &loaded.sources, &options, &mut Silent).expect("it was counted a moment ago");
        assert_eq!(cost(&found), cost(&expected), "{name}: within {bound:?}");
        assert_eq!(found.guarantee, expected.guarantee, "{name}");
    }
    println!("{name}: the same");
    true
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder can be read");
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.is_file());
    files.sort();
    files
}

#[test]
fn sample_models() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/promela");
    // The reference search takes its time; the headers of larger models have Spin's counts.
    let limits = Limits { states: Some(5_000), ..Limits::default() };
    let files = files(&folder);
    let compared = files.iter().filter(|path| compare(path, limits)).count();
    assert!(compared * 2 > files.len() && compared > 30, "{compared} of {}", files.len());
}

#[test]
fn models_of_a_folder() {
    let Ok(folder) = std::env::var("PREEMPT_MODELS") else { return };
    let limits = Limits { states: Some(20_000), ..Limits::default() };
    files(Path::new(&folder)).iter().for_each(|path| _ = compare(path, limits));
}

#[test]
fn limits_are_verdicts() {
    let text = "byte x, y; active proctype A() { do :: x++ :: y++ od }";
    let mut read = |_: &str| Err("there are no other files".to_string());
    let loaded = preempt_promela::load("grow.pml", text, &preempt_promela::Additions::default(), &mut read);
    let model = loaded.model.expect("it is a model");
    let with = |limits: Limits| {
        let options = SearchOptions { limits, ..SearchOptions::default() };
        count(&model, &loaded.sources, &options, &mut Silent).expect("it is supported").verdict
    };
    assert_eq!(with(Limits::default()), Verdict::Holds);
    let reason = |verdict| matches!(verdict, Verdict::Inconclusive(_));
    assert!(reason(with(Limits { states: Some(1000), ..Limits::default() })));
    assert!(reason(with(Limits { depth: Some(10), ..Limits::default() })));
    assert!(reason(with(Limits { memory_bytes: Some(1000), ..Limits::default() })));
    assert!(reason(with(Limits { time: Some(std::time::Duration::ZERO), ..Limits::default() })));
}
