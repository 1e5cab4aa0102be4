//! A search that outgrows its memory goes on with its states outside: the same numbers at every level, the same verdict and the same
//! run as in memory.

use preempt_core::{Cost, Limits, Silent, SourceMap, Verdict};
use preempt_explicit::{
    Goal, InMemory, Reduction, Scratch, ScratchFile, SearchOptions, SearchReport, SuccessorSource, explore,
};
use preempt_model::Model;
use preempt_model::generator::{faulty_program_from_seed, program_from_seed};
use std::io::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fn programs(few: u64) -> u64 {
    std::env::var("PREEMPT_PROGRAMS").ok().and_then(|number| number.parse().ok()).unwrap_or(few)
}

/// So little that the search leaves memory at once, and writes its states out all the time.
fn on_disk(scratch: &Arc<dyn Scratch>) -> SearchOptions {
    let limits = Limits { memory_bytes: Some(1 << 30), ..Limits::default() };
    SearchOptions {
        limits,
        scratch: Some(Arc::clone(scratch)),
        memory_on_disk: Some(1),
        ..SearchOptions::default()
    }
}

fn search(model: &Model, sources: &SourceMap, options: &SearchOptions, goal: Goal) -> SearchReport {
    explore(model, sources, options, goal, &mut Silent).expect("a supported model")
}

#[test]
fn the_same_numbers_and_runs() {
    let scratch: Arc<dyn Scratch> = Arc::new(InMemory);
    let (mut compared, mut violated) = (0, 0);
    for seed in 0..programs(9) {
        let program = match seed % 3 {
            0 => faulty_program_from_seed(7_000_000 + seed),
            _ => program_from_seed(7_000_000 + seed),
        };
        let (model, sources) = program.to_model();
        let limits = Limits { states: Some(1_500), ..Limits::default() };
        let small = SearchOptions { limits, ..SearchOptions::default() };
        let Ok(whole) = explore(&model, &sources, &small, Goal::Count, &mut Silent) else { continue };
        if matches!(whole.outcome.verdict, Verdict::Inconclusive(_)) {
            continue;
        }
        compared += 1;
        for bound in [None, Some(1)] {
            for successors in [SuccessorSource::Native, SuccessorSource::Interpreted] {
                let counted = |options: SearchOptions| {
                    let options = SearchOptions { bound, successors, ..options };
                    let stats = search(&model, &sources, &options, Goal::Count).outcome.stats;
                    (stats.states, stats.transitions, stats.violations, stats.levels)
                };
                let name = format!("seed {seed} within {bound:?}");
                assert_eq!(counted(on_disk(&scratch)), counted(SearchOptions::default()), "{name}");
                for (cost, reduction) in [
                    (Cost::Preemptions, Reduction::None),
                    (Cost::Preemptions, Reduction::Exact),
                    (Cost::Switches, Reduction::None),
                    (Cost::Steps, Reduction::None),
                ] {
                    let found = |options: SearchOptions| {
                        let bound = bound.filter(|_| cost != Cost::Steps);
                        let options = SearchOptions { bound, successors, cost, reduction, ..options };
                        let found = search(&model, &sources, &options, Goal::First).outcome;
                        let cost = found.counterexample.map(|run| (run.preemptions(), run.steps.len()));
                        (found.verdict, found.violation, cost)
                    };
                    let expected = found(SearchOptions::default());
                    violated += u32::from(expected.0 == Verdict::Violated);
                    assert_eq!(found(on_disk(&scratch)), expected, "{cost:?}, {reduction:?}: {name}");
                }
            }
        }
    }
    assert!(compared * 2 > programs(9) && violated > 0);
}

/// Runs are written and merged again and again, and states are found in them.
#[test]
fn many_runs() {
    let text = "byte a, b, c; active [2] proctype P() { do :: a = (a + 1) % 40 :: b = (b + 3) % 50 :: c = (c + 7) % 30 od }";
    let additions = preempt_promela::Additions::default();
    let loaded = preempt_promela::load("m.pml", text, &additions, &mut |_| Err(String::new()));
    let (model, sources) = (loaded.model.expect("a model"), loaded.sources);
    let scratch: Arc<dyn Scratch> = Arc::new(InMemory);
    let options = SearchOptions { memory_on_disk: Some(300_000), ..on_disk(&scratch) };
    let stats = |options: &SearchOptions| search(&model, &sources, options, Goal::Count).outcome.stats;
    let (inside, outside) = (stats(&SearchOptions::default()), stats(&options));
    assert_eq!((outside.states, outside.transitions), (inside.states, inside.transitions));
    assert_eq!(outside.levels, inside.levels);
    assert!(outside.states > 50_000);
}

/// A disk that is full after so many writes.
#[derive(Debug)]
struct Full(Arc<AtomicU64>);

struct FullFile(Box<dyn ScratchFile>, Arc<AtomicU64>);

impl Scratch for Full {
    fn file(&self) -> Result<Box<dyn ScratchFile>> {
        Ok(Box::new(FullFile(InMemory.file()?, Arc::clone(&self.0))))
    }
}

impl ScratchFile for FullFile {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        match self.1.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)) {
            Ok(_) => self.0.write_at(at, bytes),
            Err(_) => Err(Error::other("the disk is full")),
        }
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        self.0.read_at(at, buffer)
    }
}

#[test]
fn a_full_disk_proves_nothing() {
    let text = "byte a, b; active [2] proctype P() { do :: a++ :: b = (b + 1) % 20 od }";
    let additions = preempt_promela::Additions::default();
    let loaded = preempt_promela::load("m.pml", text, &additions, &mut |_| Err(String::new()));
    let (model, sources) = (loaded.model.expect("a model"), loaded.sources);
    for writes in [0, 1, 2, 5] {
        let scratch: Arc<dyn Scratch> = Arc::new(Full(Arc::new(AtomicU64::new(writes))));
        let options = SearchOptions { memory_on_disk: Some(60_000), ..on_disk(&scratch) };
        let verdict = search(&model, &sources, &options, Goal::First).outcome.verdict;
        assert!(matches!(verdict, Verdict::Inconclusive(_)), "{writes}: {verdict:?}");
    }
}
