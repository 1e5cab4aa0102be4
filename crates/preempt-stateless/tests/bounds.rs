//! Paper 003's Algorithm 1 with other bound functions, and what it explores at every point.

use crate::common;

use common::*;
use preempt_stateless::bpor::explored_sets;
use preempt_stateless::persistent::{is_fair_bound_persistent, is_preemption_bound_persistent};
use preempt_stateless::program::{Op, Program};
use preempt_stateless::{BoundFunction, ExplorationLimits, Move, Strategy};
use std::collections::BTreeSet;

const ALL: u32 = LOCKS | TRY | RWLOCK | ATOMICS | CONDVAR | CHANNEL | PARK | JOIN;

fn compare(function: BoundFunction, bounds: impl Iterator<Item = u32> + Clone, seeds: u64) {
    let mut graphs = 0;
    for seed in 0..seeds {
        let kinds = if seed % 2 == 0 { ALL | MAIN } else { ALL | FAIL };
        let program = random_program(seed, ProgramShape { threads: 3, length: 3, kinds });
        for bound in bounds.clone() {
            let expected = oracle_by(function, &program, bound, None);
            let want: BTreeSet<Key> = expected.into_keys().collect();
            let limits = ExplorationLimits {
                preemptions: Some(bound),
                stop_at_failure: false,
                ..ExplorationLimits::default()
            };
            let (found, report) = reached(&program, Strategy::BporBy(function), &limits);
            assert_eq!(found, want, "{function:?} {bound}, seed {seed}: {:?}", program.code);
            assert_eq!(report.stop, None);
            graphs += want.len();
        }
    }
    println!("{function:?}: {graphs} graphs");
}

#[test]
fn context_switches() {
    compare(BoundFunction::ContextSwitches, 0..5, 200);
}

#[test]
fn delays() {
    compare(BoundFunction::Delays, 0..4, 200);
}

#[test]
fn depth() {
    compare(BoundFunction::Depth, [1, 2, 3, 4, 6, 9, 12].into_iter(), 100);
}

/// Whatever the measure, once nothing is cut everything has been seen.
#[test]
fn all_measures_end_with_everything() {
    let lists = vec![vec![Op::Load(0), Op::Store(0, 1)]; 2];
    for function in [
        BoundFunction::Preemptions,
        BoundFunction::ContextSwitches,
        BoundFunction::Delays,
        BoundFunction::Depth,
    ] {
        let (found, report) =
            reached(&Program::new(lists.clone()), Strategy::BporBy(function), &ExplorationLimits::default());
        assert_eq!(found.len(), 4, "{function:?}");
        assert!(report.exhaustive, "{function:?}: {report:?}");
    }
}

#[test]
fn what_is_explored_is_preemption_bound_persistent() {
    let mut sets = 0;
    for seed in 0..300 {
        let program = random_program(seed, ProgramShape { threads: 3, length: 3, kinds: ALL });
        for bound in 0..3 {
            for explored in explored_sets(&mut program.clone(), &ExplorationLimits::default(), Some(bound)) {
                let (path, threads) = (&explored.path, &explored.threads);
                let persistent = is_preemption_bound_persistent(&program, path, threads, bound);
                assert!(persistent, "seed {seed}, bound {bound}: {explored:?}\n{:?}", program.code);
                sets += 1;
            }
        }
    }
    println!("{sets} sets");
}

#[test]
fn what_is_explored_is_fair_bound_persistent() {
    let mut sets = 0;
    for seed in 0..300 {
        let program = random_program(
            seed,
            ProgramShape { threads: 3, length: 3, kinds: LOCKS | ATOMICS | CHANNEL | YIELD },
        );
        for bound in 0..2 {
            let limits = ExplorationLimits { fair: Some(bound), ..ExplorationLimits::default() };
            for explored in explored_sets(&mut program.clone(), &limits, None) {
                let (path, threads) = (&explored.path, &explored.threads);
                let persistent = is_fair_bound_persistent(&program, path, threads, bound);
                assert!(persistent, "seed {seed}, bound {bound}: {explored:?}\n{:?}", program.code);
                sets += 1;
            }
        }
    }
    println!("{sets} sets");
}

/// The predicates can fail: a set that leaves out a thread whose step conflicts is not persistent.
#[test]
fn sets_that_are_not_persistent() {
    let conflict = Program::new(vec![vec![Op::Store(0, 1)], vec![Op::Load(0)]]);
    assert!(!is_preemption_bound_persistent(&conflict, &[], &[0], 0));
    assert!(is_preemption_bound_persistent(&conflict, &[], &[0, 1], 0));
    assert!(!is_fair_bound_persistent(&conflict, &[], &[0], 0));
    let apart = Program::new(vec![vec![Op::Store(0, 1); 2], vec![Op::Load(1)]]);
    assert!(is_preemption_bound_persistent(&apart, &[], &[0], 0));
    // Requirement 1: after a step of thread 0, one of thread 1 costs more than going on.
    assert!(!is_preemption_bound_persistent(&apart, &[Move::from(0)], &[1], 1));
    assert!(is_preemption_bound_persistent(&apart, &[Move::from(0)], &[0], 1));
    // Requirement 2 of definition 1.10: with a release, everybody.
    let release = Program::new(vec![vec![Op::Send(0)], vec![Op::Load(1)]]);
    assert!(!is_fair_bound_persistent(&release, &[], &[0], 0));
    assert!(is_fair_bound_persistent(&release, &[], &[0, 1], 0));
}
