//! The parts of a search over states, each on the same models of some ten thousand states: reading a model, making machine code
//! of it, and visiting every state in each order and store. `cargo bench` in this folder compares with the run before.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use preempt_core::{Cost, Silent, SourceMap};
use preempt_explicit::{Goal, Order, Reduction, SearchOptions, Storage, explore};
use preempt_model::Model;
use preempt_promela::{Additions, load};
use std::hint::black_box;

/// With remembered steps, with channels, and with atomic sequences.
const MODELS: [&str; 3] = ["cache_4", "exchange", "kernel"];

fn text(name: &str) -> String {
    let path = format!("{}/../models/{name}.pml", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn model(name: &str, text: &str) -> (Model, SourceMap) {
    let loaded = load(name, text, &Additions::default(), &mut |other| Err(format!("there is no {other}")));
    (loaded.model.expect("there is no mistake in it"), loaded.sources)
}

fn states(model: &Model, sources: &SourceMap, options: &SearchOptions, goal: Goal) -> u64 {
    explore(model, sources, options, goal, &mut Silent).expect("a supported model").outcome.stats.states
}

fn reading(criterion: &mut Criterion) {
    for name in MODELS {
        let text = text(name);
        criterion.bench_function(&format!("read/{name}"), |bench| bench.iter(|| model(name, black_box(&text))));
    }
}

/// A search that ends after its first states: nearly all of it is machine code being made.
fn compiling(criterion: &mut Criterion) {
    for name in MODELS {
        let (model, sources) = model(name, &text(name));
        let mut options = SearchOptions { gives_up: true, ..SearchOptions::default() };
        options.limits.states = Some(1);
        criterion.bench_function(&format!("compile/{name}"), |bench| {
            bench.iter(|| states(&model, &sources, &options, Goal::Count));
        });
    }
}

fn searching(criterion: &mut Criterion) {
    let plain = || SearchOptions { in_order_first: 0, ..SearchOptions::default() };
    let bitstate = Storage::Bitstate { hashes: 3, bits: Some(1 << 23) };
    let ways: [(&str, Goal, SearchOptions); 8] = [
        ("any order", Goal::Count, SearchOptions { levels: false, ..plain() }),
        ("by level", Goal::Count, plain()),
        ("by level, two threads", Goal::Count, SearchOptions { threads: 2, ..plain() }),
        ("by level, reduced", Goal::First, SearchOptions { reduction: Reduction::Exact, ..plain() }),
        ("by cost", Goal::Count, SearchOptions { in_order_first: u64::MAX, ..plain() }),
        ("by steps, two threads", Goal::Count, SearchOptions { cost: Cost::Steps, threads: 2, ..plain() }),
        ("bitstate", Goal::Count, SearchOptions { store: bitstate, ..plain() }),
        ("depth first", Goal::Count, SearchOptions { order: Order::DepthFirst, ..plain() }),
    ];
    for name in MODELS {
        let (model, sources) = model(name, &text(name));
        let all = states(&model, &sources, &plain(), Goal::Count);
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(all)).sample_size(20);
        for (way, goal, options) in &ways {
            group.bench_function(*way, |bench| {
                let search = |options: SearchOptions| states(&model, &sources, &options, *goal);
                bench.iter_batched(|| options.clone(), search, BatchSize::PerIteration);
            });
        }
    }
}

criterion_group!(parts, reading, compiling, searching);
criterion_main!(parts);
