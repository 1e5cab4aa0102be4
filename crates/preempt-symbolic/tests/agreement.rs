//! Random Boolean programs with recursion: eager, lazy and the sequentialized program give the same answer.
//!
//! `PREEMPT_CASES=500 cargo test --release` for more of them.

use preempt_boolean::generator::{self, Shape};
use preempt_boolean::{load, print, sequentialize};
use preempt_core::{Budget, Silent, SourceMap, Verdict};
use preempt_model::Model;
use preempt_symbolic::{Method, SharedStates, SymbolicOptions, check};

const TABLE: preempt_bdd::TableOptions = preempt_bdd::TableOptions { nodes: 1 << 22, cache: 1 << 16 };

fn model(text: &str) -> (Model, SourceMap) {
    let loaded = load("test.bp", text, &preempt_boolean::BooleanOptions::default());
    (loaded.model.unwrap_or_else(|| panic!("{:?}\n{text}", loaded.diagnostics)), loaded.sources)
}

fn fails(program: &(Model, SourceMap), contexts: u32, method: Method) -> bool {
    carried(program, contexts, method, SharedStates::Auto)
}

fn carried(
    (model, sources): &(Model, SourceMap),
    contexts: u32,
    method: Method,
    shared: SharedStates,
) -> bool {
    let contexts = Some(contexts);
    let options = SymbolicOptions { contexts, method, shared, table: TABLE, ..SymbolicOptions::default() };
    match check(model, sources, &options, &mut Silent).unwrap().outcome.verdict {
        Verdict::Violated => true,
        Verdict::Holds => false,
        Verdict::Inconclusive(reason) => panic!("{reason:?}"),
    }
}

#[test]
fn eager_lazy_and_sequentialized_agree_on_recursive_programs() {
    let cases = std::env::var("PREEMPT_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(6);
    let (mut compared, mut failing) = (0, 0);
    for seed in 0..cases {
        for (threads, contexts) in [(2, 1), (2, 2), (3, 2)] {
            let shape = Shape { statements: 3, ..Shape::recursive(threads) };
            let text = print::program(&generator::program(seed, &shape));
            let concurrent = model(&text);
            let lazy = fails(&concurrent, contexts, Method::Lazy);
            assert_eq!(fails(&concurrent, contexts, Method::Eager), lazy, "eager, seed {seed}\n{text}");
            let numbered = carried(&concurrent, contexts, Method::Lazy, SharedStates::Numbers);
            assert_eq!(numbered, lazy, "shared states by number, seed {seed}\n{text}");
            let Ok(program) = sequentialize::to_boolean(
                &concurrent.0,
                &concurrent.1,
                contexts as usize,
                &Budget::unlimited(),
            ) else {
                continue;
            };
            let sequential = model(&print::program(&program));
            for method in [Method::Lazy, Method::Eager] {
                assert_eq!(
                    fails(&sequential, 1, method),
                    lazy,
                    "sequentialized, {method:?}, seed {seed}\n{text}"
                );
            }
            compared += 1;
            failing += usize::from(lazy);
        }
    }
    println!("{compared} compared, {failing} failing");
    assert!(compared > cases as usize && failing > compared / 20 && failing < compared * 19 / 20);
}
