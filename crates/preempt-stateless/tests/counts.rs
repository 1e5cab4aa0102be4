//! No repetition: the default runs exactly as many executions as there are complete happens-before graphs within the
//! bound, on programs whose graphs can be counted by hand or were counted by independent tools.

use crate::common;

use preempt_core::Rng;
use preempt_stateless::explore::preemptions_of;
use preempt_stateless::program::{Op, Program};
use preempt_stateless::{
    Exploration, ExplorationLimits, Graph, Move, Strategy, cheapest_linearisation, explore,
};

/// A main thread that starts the others and waits for them, as a Rust test does.
fn spawned(lists: Vec<Vec<Op>>) -> Program {
    let n = lists.len() as u8;
    let main = (1..=n).map(Op::Spawn).chain((1..=n).map(Op::Join)).collect();
    Program::with_main(std::iter::once(main).chain(lists).collect())
}

fn run(lists: Vec<Vec<Op>>, most: Option<u32>) -> Exploration {
    let limits = ExplorationLimits { preemptions: most, ..ExplorationLimits::default() };
    let report = explore(&mut spawned(lists), Strategy::Marking, &limits, &mut ());
    assert_eq!(report.stop, None);
    assert_eq!(report.pruned, 0, "{report:?}");
    println!("{:?} executions, {} pruned, {} marks", report.per_bound, report.pruned, report.visits);
    report
}

/// Cumulative executions for the bounds 0, 1, 2, ...; where the search ended early, nothing more was to be found.
fn counts<const N: usize>(lists: Vec<Vec<Op>>) -> [u64; N] {
    let report = run(lists, Some(N as u32 - 1));
    std::array::from_fn(|bound| *report.per_bound.get(bound).unwrap_or(&report.executions))
}

fn section(mutex: u8) -> [Op; 2] {
    [Op::Lock(mutex), Op::Unlock(mutex)]
}

#[test]
fn three_threads_with_two_critical_sections() {
    let lists = vec![[section(0), section(0)].concat(); 3];
    assert_eq!(counts(lists.clone()), [6, 24, 60, 90]);
    let all = run(lists, None);
    assert!(all.exhaustive);
    assert_eq!(all.executions, 90);
}

#[test]
fn n_threads_with_one_section_have_n_factorial_orders() {
    for (n, factorial) in [(1, 1), (2, 2), (3, 6), (4, 24), (5, 120), (6, 720)] {
        assert_eq!(run(vec![section(0).to_vec(); n], None).executions, factorial, "{n} threads");
    }
}

#[test]
fn readers_are_independent() {
    let reader = vec![Op::ReadLock(0), Op::ReadUnlock(0)];
    assert_eq!(counts(vec![reader.clone(); 3]), [1, 1, 1, 1]);
    let writer = vec![Op::WriteLock(0), Op::WriteUnlock(0)];
    assert_eq!(counts(vec![reader.clone(), reader, writer]), [4, 4, 4, 4]);
}

#[test]
fn counter_with_load_and_store() {
    let list = vec![Op::Load(0), Op::Store(0, 1)];
    assert_eq!(counts(vec![list; 3]), [6, 24, 36, 36]);
}

#[test]
fn an_indexer_without_conflicts_runs_once() {
    let list = |own: u8| vec![Op::Add(own), Op::Add(own), Op::Load(own)];
    assert_eq!(counts((0..4).map(list).collect()), [1, 1, 1]);
}

#[test]
fn ordered_philosophers() {
    let philosopher = |a: u8, b: u8| vec![Op::Lock(a), Op::Lock(b), Op::Unlock(b), Op::Unlock(a)];
    let lists = vec![philosopher(0, 1), philosopher(1, 2), philosopher(0, 2)];
    assert_eq!(counts(lists), [6, 6, 6, 6]);
}

/// Flanagan and Godefroid's file system: thread t uses inode t % 2 and, if it is unused, looks for a free block.
#[test]
fn file_system_with_four_threads_and_four_blocks() {
    let thread = |t: u8| {
        let inode = t % 2;
        // Locks 0 and 1 are inodes, 2 to 5 blocks; atomics 0 and 1 are inodes, 2 to 5 whether a block is busy.
        let (first, second) = (2 + inode * 2, 3 + inode * 2);
        vec![
            Op::Lock(inode),
            Op::When(inode, 0, 10),
            Op::Lock(first),
            Op::When(first, 0, 4),
            Op::Store(first, 1),
            Op::Store(inode, 1),
            Op::Local,
            Op::Local,
            Op::Unlock(first),
            Op::Lock(second),
            Op::Unlock(second),
            Op::Local,
            Op::Unlock(inode),
        ]
    };
    assert_eq!(counts((0..4).map(thread).collect()), [4, 4, 4]);
}

/// Paper 001, Fig. 1: with sleep sets and bound 0 the run that ends with y = 1 would be lost.
#[test]
fn the_example_against_sleep_sets() {
    let lists = vec![vec![Op::Store(0, 1), Op::Store(1, 1)], vec![Op::Store(1, 2)]];
    for strategy in [Strategy::Marking, Strategy::Basic, Strategy::Bpor] {
        let limits = ExplorationLimits { preemptions: Some(0), ..ExplorationLimits::default() };
        let (found, _) = common::reached(&Program::new(lists.clone()), strategy, &limits);
        assert_eq!(found.len(), 2, "{strategy:?}");
    }
}

/// The anchors of other tools: increments, readers and one writer.
#[test]
fn numbers_that_other_tools_report() {
    for (n, traces) in [(1, 2), (2, 4), (3, 8), (4, 16)] {
        // readers N: every reader reads before or after the write.
        let mut lists = vec![vec![Op::Load(0)]; n];
        lists.push(vec![Op::Store(0, 1)]);
        assert_eq!(run(lists, None).executions, traces, "{n} readers");
    }
    for n in 1..5 {
        // One thread writes n times and the other reads once, before, between or after.
        let lists = vec![vec![Op::Store(0, 1); n], vec![Op::Load(0)]];
        assert_eq!(run(lists, None).executions, n as u64 + 1);
    }
}

/// Paper 001, Theorem 5: the context bound of a graph made of a directed graph is the size of its smallest feedback
/// vertex set. A vertex is a thread: it stores, and then loads what the sources of its edges have stored. (The paper's
/// threads have one action for all their edges; several in a row cost the same.)
fn feedback(vertices: usize, edges: &[(usize, usize)]) -> u32 {
    let list = |v: usize| {
        let loads = edges.iter().filter(|(_, w)| *w == v).map(|(u, _)| Op::Load(*u as u8));
        std::iter::once(Op::Store(v as u8, 1)).chain(loads).collect::<Vec<_>>()
    };
    let lists: Vec<Vec<Op>> = (0..vertices).map(list).collect();
    // The run in which every load sees the store: all stores first.
    let rest = lists.iter().enumerate().flat_map(|(v, list)| vec![v; list.len() - 1]);
    let schedule: Vec<Move> = (0..vertices).chain(rest).map(Move::from).collect();
    let mut program = Program::new(lists);
    let (order, cost) = cheapest_linearisation(&mut program, &schedule).expect("a run");
    assert_eq!(preemptions_of(&mut program, &order), Some(cost), "the cheapest order costs what was said");
    let (graph, cheap) = (Graph::of_run(&mut program, &schedule), Graph::of_run(&mut program, &order));
    assert_eq!(graph.map(|g| g.stamp()), cheap.map(|g| g.stamp()), "and is a run with the same graph");
    cost
}

/// By trying every set of vertices.
fn smallest_feedback_set(vertices: usize, edges: &[(usize, usize)]) -> u32 {
    let acyclic = |removed: u32| {
        let mut left: Vec<usize> = (0..vertices).filter(|v| removed & 1 << v == 0).collect();
        loop {
            let before = left.len();
            let kept = left.clone();
            left.retain(|v| edges.iter().any(|(u, w)| w == v && kept.contains(u)));
            if left.len() == before {
                return left.is_empty();
            }
        }
    };
    (0..1_u32 << vertices).filter(|&set| acyclic(set)).map(u32::count_ones).min().unwrap_or(0)
}

#[test]
fn context_bounds_are_feedback_vertex_sets() {
    assert_eq!(feedback(2, &[(0, 1)]), 0);
    assert_eq!(feedback(3, &[(0, 1), (1, 2), (2, 0)]), 1);
    assert_eq!(feedback(4, &[(0, 1), (1, 0), (2, 3), (3, 2)]), 2);
    assert_eq!(feedback(4, &[(0, 1), (1, 0), (0, 2), (2, 0), (0, 3), (3, 0)]), 1);
    let mut sizes = [0; 8];
    for seed in 0..600 {
        let mut rng = Rng::new(seed);
        let vertices = 3 + rng.below(6);
        let one_in = 2 + rng.below(vertices);
        let pairs = (0..vertices).flat_map(|u| (0..vertices).map(move |v| (u, v))).filter(|(u, v)| u != v);
        let edges: Vec<(usize, usize)> = pairs.filter(|_| rng.below(one_in) == 0).take(18).collect();
        let size = smallest_feedback_set(vertices, &edges);
        assert_eq!(feedback(vertices, &edges), size, "seed {seed}: {edges:?}");
        sizes[size as usize] += 1;
    }
    println!("sizes of smallest sets: {sizes:?}");
    assert!(sizes[..4].iter().all(|many| *many > 10), "{sizes:?}");
}

/// Every strategy finds a failure that needs one preemption; those that promise it, with one.
#[test]
fn all_strategies_find_a_failure() {
    let lists = || vec![vec![Op::Store(0, 1), Op::Store(0, 0)], vec![Op::FailIf(0, 1)]];
    let sure = [Strategy::Marking, Strategy::Basic, Strategy::Bpor, Strategy::CbDfs];
    for strategy in sure {
        let report = explore(&mut spawned(lists()), strategy, &ExplorationLimits::default(), &mut ());
        let failing = report.failure.expect("found");
        assert_eq!(failing.preemptions, 1, "{strategy:?}");
        assert_eq!(report.complete_to, Some(0), "{strategy:?}");
        assert_eq!(preemptions_of(&mut spawned(lists()), &failing.schedule), Some(1), "{strategy:?}");
    }
    for strategy in [Strategy::Dpor, Strategy::Random(1), Strategy::Pct { seed: 1, depth: 2 }] {
        let report = explore(&mut spawned(lists()), strategy, &ExplorationLimits::default(), &mut ());
        assert!(report.failure.is_some(), "{strategy:?}");
    }
}
