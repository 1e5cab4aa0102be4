//! Probabilistic concurrency testing keeps its promise: a bug of depth d is hit with probability 1/(n k^(d-1)) in each run.

use preempt_stateless::program::{Op, Program};
use preempt_stateless::{ExplorationLimits, Strategy, explore};

/// Two threads that count together: who sees the right number goes on to the next, each twice at most. The bug needs
/// `depth` orderings between steps of different threads, one after the other. With it the length of the longest run.
fn ping_pong(depth: u32) -> (Program, u64) {
    let (a, b): (Vec<Op>, Vec<Op>) = match depth {
        2 => (vec![Op::Store(0, 1), Op::FailIf(0, 2)], vec![Op::When(0, 1, 1), Op::Store(0, 2)]),
        3 => (
            vec![Op::Store(0, 1), Op::When(0, 2, 1), Op::Store(0, 3)],
            vec![Op::When(0, 1, 1), Op::Store(0, 2), Op::FailIf(0, 3)],
        ),
        _ => (
            vec![Op::Store(0, 1), Op::When(0, 2, 1), Op::Store(0, 3), Op::FailIf(0, 4)],
            vec![Op::When(0, 1, 1), Op::Store(0, 2), Op::When(0, 3, 1), Op::Store(0, 4)],
        ),
    };
    let steps = a.len() + b.len();
    (Program::new(vec![a, b]), steps as u64)
}

fn failures(program: &mut Program, depth: u32, runs: u64) -> u64 {
    let limits =
        ExplorationLimits { executions: Some(runs), stop_at_failure: false, ..ExplorationLimits::default() };
    explore(program, Strategy::Pct { seed: 2010, depth }, &limits, &mut ()).failures
}

/// The seed is fixed, and 60 of 100 that are expected at least lie four standard deviations below.
#[test]
fn a_bug_is_hit_as_often_as_its_depth_promises() {
    for depth in [2, 3, 4] {
        let (mut program, steps) = ping_pong(depth);
        let one_in = 2 * steps.pow(depth - 1);
        let found = failures(&mut program, depth, 100 * one_in);
        assert!(found >= 60, "depth {depth}: {found} in {} runs", 100 * one_in);
        // With a change less it cannot happen: the bug has this depth and no smaller one.
        assert_eq!(failures(&mut program, depth - 1, 1000), 0, "depth {depth}");
    }
}

/// A, B, A by two changes: who fell first outranks who fell later in half of the cases.
#[test]
fn who_fell_first_may_go_on_before_who_fell_later() {
    // B's last step is the one before which it falls; A sees what B has done, and B has not ended.
    let a = vec![Op::Store(0, 1), Op::FailIf(0, 2)];
    let b = vec![Op::When(0, 1, 2), Op::Store(0, 2), Op::Store(0, 3)];
    assert!(failures(&mut Program::new(vec![a, b]), 3, 1000) > 10);
}
