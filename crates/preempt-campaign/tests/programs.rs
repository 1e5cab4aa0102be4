//! A few programs of every kind of comparison, so that none is broken; `campaign` runs as many as there is time for.

use preempt_campaign::{Kind, promela, successors};
use preempt_promela::generator::{shrink, text_of};

/// `PREEMPT_CASES=20000` for a long run.
fn cases(few: u64) -> u64 {
    std::env::var("PREEMPT_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(few)
}

fn agree(kind: Kind, few: u64) {
    let mut compared = 0;
    for seed in 0..cases(few) {
        let lines = kind.lines(seed);
        match kind.compare(&text_of(&lines), seed) {
            None => {}
            Some(Ok(number)) => compared += number,
            Some(Err(difference)) => {
                let small = shrink(&lines, &mut |text| matches!(kind.compare(text, seed), Some(Err(_))));
                panic!("seed {seed}: {difference}\n{}", text_of(&small));
            }
        }
    }
    assert!(compared >= few / 4, "{compared} comparisons");
}

#[test]
fn machine_code_and_interpreter_state_by_state() {
    agree(Kind::Successors, 200);
}

#[test]
fn every_way_to_search() {
    agree(Kind::Safety, 24);
}

#[test]
fn every_way_to_decide_runs_without_end() {
    agree(Kind::Liveness, 20);
}

#[test]
fn random_walks() {
    agree(Kind::Walks, 30);
}

#[test]
fn swarms() {
    agree(Kind::Swarm, 12);
}

#[test]
fn every_stateless_algorithm() {
    agree(Kind::Stateless, 8);
}

#[test]
fn symbolic_and_sequentialized() {
    agree(Kind::Sequential, 30);
}

#[test]
fn boolean_programs() {
    agree(Kind::Boolean, 8);
    agree(Kind::Recursive, 8);
}

/// Every model that comes with the project, in as many states as are met in a moment.
#[test]
fn sample_models_state_by_state() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["models/promela", "benches/models"] {
        let listed = std::fs::read_dir(root.join(folder)).expect("there are sample models");
        files.extend(listed.map(|entry| entry.expect("the folder can be listed").path()));
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "pml"));
    files.sort();
    assert!(files.len() > 20, "{files:?}");
    for file in files {
        let text = std::fs::read_to_string(&file).expect("the model can be read");
        let program = promela(&text).unwrap_or_else(|| panic!("{}", file.display()));
        let compared = successors::compare(&program, 300).unwrap_or_else(|difference| {
            panic!("{}: {difference}", file.display());
        });
        assert!(compared > 0, "{}", file.display());
    }
}
