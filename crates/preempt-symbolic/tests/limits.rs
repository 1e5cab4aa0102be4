//! Limits are kept while graphs and relations are built, and a table that cannot be is an error.

use preempt_core::{Limits, Progress, Silent, Snapshot, StopReason, Verdict};
use preempt_model::Model;
use preempt_promela::{Additions, load};
use preempt_symbolic::{SymbolicOptions, check};
use std::time::{Duration, Instant};

fn with_model<T>(text: &str, ask: impl FnOnce(&Model, &preempt_core::SourceMap) -> T) -> T {
    let loaded = load("m.pml", text, &Additions::default(), &mut |name| Err(name.to_string()));
    ask(&loaded.model.expect("it is correct"), &loaded.sources)
}

/// The diagram of a product is larger than any table.
const PRODUCT: &str = "int x, y; active proctype P() { do :: x++ :: break od; y = x * x; assert(y != 49) }
                       active proctype Q() { do :: x = x + 3 :: break od; y = x * x * x }";
const DIVISION: &str =
    "int x = 1, y; active proctype P() { do :: x++ :: break od; y = y / x; assert(y != 49) }
                        active proctype Q() { do :: y = y % x :: break od }";
const ARRAY: &str =
    "int a[2000]; int i; active proctype P() { do :: a[i] = a[i+1] + 1; i++ :: break od; assert(a[3] != 7) }
                     active proctype Q() { do :: i = a[i] :: break od }";

#[test]
fn time_is_kept_while_relations_are_built() {
    for text in [PRODUCT, DIVISION, ARRAY] {
        let table = preempt_bdd::TableOptions { nodes: 1 << 20, cache: 1 << 16 };
        let limits = Limits { time: Some(Duration::from_millis(100)), ..Limits::default() };
        let options = SymbolicOptions { table, limits, ..SymbolicOptions::default() };
        let begin = Instant::now();
        let report = with_model(text, |model, sources| check(model, sources, &options, &mut Silent))
            .expect("supported");
        assert!(matches!(
            report.outcome.verdict,
            Verdict::Inconclusive(StopReason::Time | StopReason::Memory)
        ));
        assert!(begin.elapsed() < Duration::from_secs(4), "{text}: {:?}", begin.elapsed());
    }
}

struct Impatient(StopReason);

impl Progress for Impatient {
    fn update(&mut self, _: &Snapshot) {}

    fn stop(&self) -> Option<StopReason> {
        Some(self.0)
    }
}

#[test]
fn what_the_listener_says_is_the_reason() {
    for reason in [StopReason::Memory, StopReason::Interrupted] {
        let ask = |model: &Model, sources: &_| {
            check(model, sources, &SymbolicOptions::default(), &mut Impatient(reason))
        };
        let report = with_model(PRODUCT, ask).expect("supported");
        assert_eq!(report.outcome.verdict, Verdict::Inconclusive(reason));
    }
}

/// A full table is not an answer, however early it is full.
#[test]
fn a_table_that_is_full_is_inconclusive() {
    let limits = Limits { time: Some(Duration::from_secs(5)), ..Limits::default() };
    for nodes in [1, 10, 100, 1000] {
        let table = preempt_bdd::TableOptions { nodes, cache: 16 };
        let options = SymbolicOptions { table, limits, ..SymbolicOptions::default() };
        let text = "byte x; active proctype P() { x++; assert(x != 2) } active proctype Q() { x++ }";
        let report = with_model(text, |model, sources| check(model, sources, &options, &mut Silent))
            .expect("supported");
        assert_ne!(report.outcome.verdict, Verdict::Holds, "{nodes} nodes");
    }
}

#[test]
fn a_table_beyond_memory_is_an_error() {
    for table in [
        preempt_bdd::TableOptions { nodes: 1 << 40, cache: 1 << 10 },
        preempt_bdd::TableOptions { nodes: 1 << 10, cache: 1 << 45 },
        preempt_bdd::TableOptions { nodes: usize::MAX, cache: usize::MAX },
    ] {
        let options = SymbolicOptions { table, ..SymbolicOptions::default() };
        let refused = with_model(PRODUCT, |model, sources| check(model, sources, &options, &mut Silent));
        let why = refused.expect_err("more than there is").to_string();
        assert!(why.contains("a table of"), "{why}");
    }
}
