//! Data races on random programs: what a check says is what brute force finds, which runs every interleaving of the same
//! program as data and asks of every two accesses to a cell whether C++20's happens-before orders them.

mod model;
mod real;

use preempt::cell::UnsafeCell;
use preempt::sync::atomic::{AtomicU8, Ordering, Ordering::*, fence};
use preempt::sync::mpsc::{Receiver, Sender, channel};
use preempt::sync::{Arc, Condvar, Mutex, OnceLock, RwLock};
use preempt::{Checker, FailureKind, Verdict, thread};
use preempt_core::Rng;
use std::time::Duration;

#[derive(Debug, Clone, Copy)]
enum Op {
    Access {
        cell: usize,
        write: bool,
    },
    Load(usize, Ordering),
    Store(usize, Ordering),
    Add(usize, Ordering),
    /// Exchanges 1 for 2; with the orderings of success and failure.
    Exchange(usize, Ordering, Ordering),
    /// Loads, and accesses the cell if it was not 0.
    Guarded {
        atomic: usize,
        order: Ordering,
        cell: usize,
        write: bool,
    },
    Fence(Ordering),
    /// Takes the lock, accesses the cell, gives the lock back.
    Locked {
        cell: usize,
    },
    /// The same with a wait that times out in between, after which the cell is accessed again.
    Waiting {
        cell: usize,
    },
    /// The same as `Locked` if the lock is free.
    TryLocked {
        cell: usize,
    },
    /// Whoever comes first writes the cell, the others read it.
    Once {
        cell: usize,
    },
    Swap(usize, Ordering),
    Read {
        cell: usize,
    },
    Write {
        cell: usize,
    },
    Send,
    /// Accesses the cell if there was a message.
    Receive {
        cell: usize,
    },
    /// Accesses the cell if there was a token.
    Park {
        cell: usize,
    },
    /// Gives the first thread a token.
    Unpark,
    Spawn(usize),
    Join(usize),
}

fn pick<T: Copy>(rng: &mut Rng, among: &[T]) -> T {
    among[rng.below(among.len())]
}

fn random_op(rng: &mut Rng, thread: usize) -> Op {
    let (cell, atomic, write) = (rng.below(2), rng.below(2), rng.below(3) > 0);
    let loads = [Relaxed, Acquire, Acquire, SeqCst];
    match rng.below(19) {
        0..4 => Op::Access { cell, write },
        4 => Op::Load(atomic, pick(rng, &loads)),
        5 => Op::Store(atomic, pick(rng, &[Relaxed, Release, Release, SeqCst])),
        6 => Op::Add(atomic, pick(rng, &[Relaxed, Acquire, Release, AcqRel, SeqCst])),
        7 => Op::Exchange(atomic, pick(rng, &[Relaxed, Acquire, Release, AcqRel]), pick(rng, &loads)),
        8 | 9 => Op::Guarded { atomic, order: pick(rng, &loads), cell, write },
        10 => Op::Fence(pick(rng, &[Acquire, Release, AcqRel, SeqCst])),
        11 if rng.below(3) == 0 => Op::Waiting { cell },
        11 => Op::Locked { cell },
        12 => Op::Read { cell },
        13 => Op::Write { cell },
        16 => Op::TryLocked { cell },
        17 => Op::Once { cell },
        18 => Op::Swap(atomic, pick(rng, &[Relaxed, Acquire, Release, AcqRel, SeqCst])),
        14 if thread == 1 => Op::Receive { cell },
        14 => Op::Send,
        _ if thread > 0 => Op::Park { cell },
        _ => Op::Access { cell, write },
    }
}

/// Main starts one or two threads, works, and joins them.
fn random_program(seed: u64) -> Vec<Vec<Op>> {
    let mut rng = Rng::new(seed);
    let children = 1 + rng.below(2);
    let most = if children == 1 { 4 } else { 3 };
    let list = |rng: &mut Rng, thread: usize, most: usize| -> Vec<Op> {
        (0..1 + rng.below(most)).map(|_| random_op(rng, thread)).collect()
    };
    let mut main = Vec::new();
    for child in 1..=children {
        main.extend(list(&mut rng, 0, 1));
        main.push(Op::Spawn(child));
    }
    if rng.below(3) == 0 {
        main.push(Op::Unpark);
    }
    main.extend(list(&mut rng, 0, if children == 1 { 2 } else { 1 }));
    main.extend((1..=children).map(Op::Join));
    main.push(Op::Access { cell: 0, write: true });
    let children = (1..=children).map(|child| list(&mut rng, child, most));
    std::iter::once(main).chain(children.collect::<Vec<_>>()).collect()
}

/// How many programs, and from which seed on: `PREEMPT_CASES=20000` or `PREEMPT_CASES=1000000+20000` for a long run.
fn seeds() -> std::ops::Range<u64> {
    let text = std::env::var("PREEMPT_CASES").unwrap_or_else(|_| "1000".into());
    let (first, many) = text.split_once('+').unwrap_or(("0", &text));
    let number = |text: &str| text.parse::<u64>().expect("PREEMPT_CASES is a number, or a seed + a number");
    number(first)..number(first) + number(many)
}

#[test]
fn races_are_those_of_brute_force() {
    let (mut racy, mut fine) = (0, 0);
    let seeds = seeds();
    let many = seeds.end - seeds.start;
    for seed in seeds {
        let program: &'static [Vec<Op>] = random_program(seed).leak();
        let expected = model::State::new(program).races(program);
        let report = Checker::new().run(move || real::run(program));
        match (&report.failure, expected) {
            (Some(failure), true) => {
                assert_eq!(failure.kind, FailureKind::DataRace, "seed {seed}: {program:?}\n{failure}");
                racy += 1;
            }
            (None, false) => {
                assert_eq!(report.verdict, Verdict::Holds, "seed {seed}: {program:?}\n{report}");
                fine += 1;
            }
            _ => panic!("seed {seed}: races: {expected}, but\n{report}\n{program:#?}"),
        }
    }
    println!("{racy} programs with a race, {fine} without");
    assert!(racy > many / 4 && fine > many / 7, "{racy} and {fine}");
}
