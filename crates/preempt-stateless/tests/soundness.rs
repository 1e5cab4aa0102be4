//! On random programs, the complete happens-before graphs that are reached within each bound are exactly those that
//! brute force finds: none is missing, none is beyond the bound, and the default runs none of them twice.

use crate::common;

use common::*;
use preempt_stateless::explore::preemptions_of;
use preempt_stateless::{ExplorationLimits, Graph, Strategy};
use std::collections::BTreeSet;

const MOST: u32 = 4;

fn compare(strategy: Strategy, shape: ProgramShape, seeds: std::ops::Range<u64>, fair: Option<u32>) {
    let (mut programs, mut graphs, mut executions, mut pruned) = (0, 0, 0, 0);
    for seed in seeds {
        let program = random_program(seed, shape);
        let expected = oracle(&program, MOST, fair);
        for bound in 0..=MOST {
            let limits = ExplorationLimits {
                preemptions: Some(bound),
                fair,
                stop_at_failure: false,
                ..ExplorationLimits::default()
            };
            let (found, report) = reached(&program, strategy, &limits);
            let want: BTreeSet<Key> =
                expected.iter().filter(|(_, cost)| **cost <= bound).map(|(key, _)| key.clone()).collect();
            let missing = want.difference(&found).count();
            let beyond = found.difference(&want).count();
            assert!(
                missing == 0 && beyond == 0,
                "seed {seed}, bound {bound}: {missing} of {} graphs are missing, {beyond} are beyond the bound\n{:?}",
                want.len(),
                program.code
            );
            assert_eq!(report.stop, None, "seed {seed}");
            // Without a step cut for its preemptions, a larger bound has nothing to add.
            let complete = report.exhaustive || fair.is_some() || report.complete_to == Some(bound);
            assert!(complete, "seed {seed}: {report:?}");
            if strategy == Strategy::Marking {
                assert_eq!(report.executions, want.len() as u64, "seed {seed}, bound {bound}");
                pruned += report.pruned;
            }
            executions += report.executions;
            graphs += want.len();
        }
        programs += 1;
    }
    println!("{strategy:?}: {programs} programs, {graphs} graphs, {executions} executions, {pruned} pruned");
}

fn shape(threads: usize, length: usize, kinds: u32) -> ProgramShape {
    ProgramShape { threads, length, kinds }
}

const ALL: u32 = LOCKS | TRY | RWLOCK | ATOMICS | CONDVAR | CHANNEL | PARK | JOIN;

#[test]
fn marking_on_locks() {
    compare(Strategy::Marking, shape(3, 4, LOCKS | TRY), 0..250, None);
}

#[test]
fn marking_on_everything() {
    compare(Strategy::Marking, shape(3, 4, ALL | MAIN), 0..600, None);
}

/// Steps that race with none are no scheduling points, and what races may come to light late: nothing is lost.
#[test]
fn marking_on_private_work() {
    compare(Strategy::Marking, shape(3, 3, LOCKS | ATOMICS | PRIVATE), 0..150, None);
    compare(Strategy::Marking, shape(3, 3, ALL | MAIN | PRIVATE), 0..150, None);
    compare(Strategy::Marking, shape(3, 3, LOCKS | CONDVAR | WEAK | MAIN | PRIVATE), 0..50, None);
    compare(Strategy::Marking, shape(3, 3, LOCKS | ATOMICS | YIELD | PRIVATE), 0..100, Some(0));
    compare(Strategy::Marking, shape(3, 3, ATOMICS | CHANNEL | FAIL | MAIN | PRIVATE), 0..100, None);
}

/// Threads that share nothing are left until somebody waits for them.
#[test]
fn marking_on_private_threads() {
    compare(Strategy::Marking, shape(4, 2, ATOMICS | JOIN | MAIN | PRIVATE), 0..50, None);
    compare(Strategy::Marking, shape(4, 2, LOCKS | PARK | WEAK | JOIN | MAIN | PRIVATE), 0..25, None);
    compare(Strategy::Marking, shape(3, 3, ATOMICS | JOIN | YIELD | MAIN | PRIVATE), 0..30, Some(1));
    compare(Strategy::Marking, shape(2, 2, ATOMICS | YIELD | MAIN | PRIVATE), 0..150, Some(0));
    compare(Strategy::Marking, shape(2, 3, ATOMICS | YIELD | MAIN | PRIVATE), 0..150, Some(1));
    compare(Strategy::Marking, shape(4, 2, ATOMICS | CHANNEL | JOIN | FAIL | MAIN | PRIVATE), 0..25, None);
}

/// Steps that may happen spuriously.
#[test]
fn spurious_steps() {
    let kinds = LOCKS | TRY | ATOMICS | CONDVAR | WEAK | MAIN;
    compare(Strategy::Marking, shape(3, 4, kinds), 0..60, None);
    compare(Strategy::Basic, shape(3, 4, kinds), 0..25, None);
    compare(Strategy::Bpor, shape(3, 4, kinds), 0..25, None);
    compare(Strategy::CbDfs, shape(3, 3, kinds), 0..6, None);
}

/// Runs that end in the middle: a failing step is the last one, whatever the others had left to do.
#[test]
fn failing_runs() {
    let kinds = LOCKS | ATOMICS | CHANNEL | FAIL | MAIN;
    compare(Strategy::Marking, shape(3, 4, kinds), 0..120, None);
    compare(Strategy::Basic, shape(3, 4, kinds), 0..60, None);
    compare(Strategy::Bpor, shape(3, 4, kinds), 0..40, None);
    compare(Strategy::CbDfs, shape(3, 3, kinds), 0..12, None);
    let kinds = LOCKS | ATOMICS | YIELD | FAIL;
    compare(Strategy::Marking, shape(3, 4, kinds), 0..80, Some(0));
    compare(Strategy::Bpor, shape(3, 4, kinds), 0..30, Some(0));
}

/// Several searches that share the table run every graph once between them, at every bound.
#[test]
fn searches_side_by_side() {
    let (mut executions, mut pruned) = (0, 0);
    for (seed, fair) in (0..400).flat_map(|seed| [(seed, None), (seed, Some(0))]) {
        let kinds = if fair.is_some() { LOCKS | ATOMICS | YIELD } else { ALL | MAIN | WEAK };
        let program = random_program(seed, shape(3, 4, kinds));
        let limits = ExplorationLimits { preemptions: Some(3), fair, ..ExplorationLimits::default() };
        let alone = preempt_stateless::explore(&mut program.clone(), Strategy::Marking, &limits, &mut ());
        for threads in [2, 3] {
            let together = preempt_stateless::parallel::explore(|| program.clone(), &limits, threads);
            assert_eq!(together.per_bound, alone.per_bound, "seed {seed}");
            assert_eq!(together.executions, alone.executions, "seed {seed}");
            // Which steps the fair bound cuts depends on the path to them, and so on who comes first. But whoever says
            // that nothing was cut must have run everything.
            if fair.is_none() {
                assert_eq!(together.exhaustive, alone.exhaustive, "seed {seed}");
            } else if together.exhaustive {
                let limits = ExplorationLimits { fair: None, ..limits };
                let all =
                    preempt_stateless::explore(&mut program.clone(), Strategy::Marking, &limits, &mut ());
                assert_eq!(together.executions, all.executions, "seed {seed}");
            }
            assert_eq!(together.stop, None, "seed {seed}");
            (executions, pruned) = (executions + together.executions, pruned + together.pruned);
        }
    }
    println!("side by side: {executions} executions, {pruned} pruned");
}

#[test]
fn marking_under_both_bounds() {
    compare(Strategy::Marking, shape(3, 4, LOCKS | ATOMICS | YIELD), 0..600, Some(0));
    compare(Strategy::Marking, shape(3, 4, LOCKS | ATOMICS | CHANNEL | YIELD), 0..600, Some(1));
}

#[test]
fn basic_on_everything() {
    compare(Strategy::Basic, shape(3, 4, ALL | MAIN), 0..500, None);
}

#[test]
fn bpor_on_locks() {
    compare(Strategy::Bpor, shape(3, 4, LOCKS | TRY), 0..120, None);
}

#[test]
fn bpor_on_everything() {
    compare(Strategy::Bpor, shape(3, 4, ALL | MAIN), 0..300, None);
}

#[test]
fn bpor_under_both_bounds() {
    compare(Strategy::Bpor, shape(3, 4, LOCKS | ATOMICS | YIELD), 0..120, Some(0));
    compare(Strategy::Bpor, shape(3, 4, LOCKS | ATOMICS | CHANNEL | YIELD), 0..120, Some(1));
}

#[test]
fn cb_dfs_on_everything() {
    compare(Strategy::CbDfs, shape(3, 3, ALL | MAIN), 0..40, None);
}

#[test]
fn dpor_without_a_bound() {
    for (fair, kinds) in [(None, ALL), (Some(0), LOCKS | ATOMICS | YIELD), (Some(1), LOCKS | CHANNEL | YIELD)]
    {
        for seed in 0..400 {
            let program = random_program(seed, shape(3, 4, kinds));
            let expected: BTreeSet<Key> = oracle(&program, 30, fair).into_keys().collect();
            let limits = ExplorationLimits { fair, ..ExplorationLimits::default() };
            let (found, _) = reached(&program, Strategy::Dpor, &limits);
            assert!(
                found == expected,
                "seed {seed}, fair {fair:?}: {} of {}\n{:?}",
                found.len(),
                expected.len(),
                program.code
            );
        }
    }
}

/// What a failing run is shown as: the same graph, with as few preemptions as brute force finds, and so many when it is run.
#[test]
fn cheapest_linearisations() {
    let mut graphs = 0;
    let (mixed, private) = (ALL | MAIN | WEAK | FAIL, LOCKS | ATOMICS | FAIL | PRIVATE);
    let yields = LOCKS | ATOMICS | YIELD;
    for (kinds, fair) in [(mixed, None), (private, None), (yields, Some(0))] {
        for seed in 0..150 {
            let program = random_program(seed, shape(3, 3, kinds));
            let expected = oracle(&program, 20, fair);
            let limits = ExplorationLimits { fair, stop_at_failure: false, ..ExplorationLimits::default() };
            let mut again = program.clone();
            let mut compare = |graph: &Graph| {
                let (order, cost) = graph.cheapest_linearisation(fair).expect("the run itself is one");
                assert_eq!(expected.get(&key(graph)), Some(&cost), "seed {seed}: {:?}", program.code);
                assert_eq!(preemptions_of(&mut again, &order), Some(cost), "seed {seed}");
                let cheapest = Graph::of_run(&mut again, &order).expect("a run");
                assert_eq!(key(&cheapest), key(graph), "seed {seed}");
                graphs += 1;
            };
            preempt_stateless::explore(&mut program.clone(), Strategy::Marking, &limits, &mut compare);
        }
    }
    assert!(graphs > 1000, "{graphs}");
}

/// As many programs as there is time for: `PREEMPT_SEEDS=2000..4000 cargo test -p preempt-stateless campaign -- --ignored`.
#[test]
#[ignore = "runs for as long as the variable says"]
fn campaign() {
    let seeds = std::env::var("PREEMPT_SEEDS").unwrap_or_else(|_| "10000..10500".into());
    let ends: Vec<u64> = seeds.split("..").map(|end| end.parse().expect("a number")).collect();
    let seeds = ends[0]..ends[1];
    for strategy in [Strategy::Marking, Strategy::Bpor] {
        compare(strategy, shape(3, 5, ALL | MAIN), seeds.clone(), None);
        compare(strategy, shape(4, 3, ALL | MAIN | WEAK | FAIL), seeds.clone(), None);
        compare(strategy, shape(4, 2, ATOMICS | PARK | WEAK | JOIN | MAIN | PRIVATE), seeds.clone(), None);
        compare(
            strategy,
            shape(3, 4, LOCKS | TRY | RWLOCK | CONDVAR | ATOMICS | CHANNEL),
            seeds.clone(),
            None,
        );
        compare(strategy, shape(3, 4, LOCKS | ATOMICS | CHANNEL | YIELD | FAIL), seeds.clone(), Some(1));
        compare(strategy, shape(3, 2, ATOMICS | LOCKS | YIELD | MAIN | PRIVATE), seeds.clone(), Some(0));
        compare(strategy, shape(2, 3, ATOMICS | CHANNEL | YIELD | MAIN | PRIVATE), seeds.clone(), Some(1));
        compare(strategy, shape(3, 2, ATOMICS | YIELD | FAIL | MAIN | PRIVATE), seeds.clone(), Some(1));
    }
}
