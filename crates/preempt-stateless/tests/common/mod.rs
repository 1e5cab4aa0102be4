//! What the tests share: the oracle that enumerates every run, random programs, and sets of graphs.
#![allow(dead_code)]

use preempt_core::Rng;
use preempt_stateless::program::{Op, Program};
use preempt_stateless::{
    BoundFunction, Executable, Exploration, ExplorationLimits, Flow, Graph, Move, Strategy, explore,
};
use std::collections::{BTreeMap, BTreeSet};

/// A graph without any hash: for every thread, by name, what its steps were, by which choices, and
/// which versions they saw.
pub type Key = BTreeMap<u64, Vec<(u32, u8, Vec<(u64, bool, u32)>)>>;

pub fn key(graph: &Graph) -> Key {
    let mut key = Key::new();
    for log in graph.threads() {
        let steps = log.events.iter().map(|event| {
            let accesses = event.operation.accesses().zip(event.versions);
            let accesses = accesses.map(|(a, version)| (a.object.0, a.write, version)).collect();
            (event.operation.code, event.choice, accesses)
        });
        key.insert(log.name, steps.collect());
    }
    key
}

/// Every complete graph with its context bound, up to `most` preemptions, by brute force: no graph structure, no
/// reduction, nothing shared with the algorithms but the interpreter. A node is the graph so far and who moved last.
pub fn oracle(program: &Program, most: u32, fair: Option<u32>) -> BTreeMap<Key, u32> {
    oracle_by(BoundFunction::Preemptions, program, most, fair)
}

/// The same for another cost.
pub fn oracle_by(
    function: BoundFunction,
    program: &Program,
    most: u32,
    fair: Option<u32>,
) -> BTreeMap<Key, u32> {
    #[derive(Clone)]
    struct Node {
        program: Program,
        key: Key,
        versions: BTreeMap<u64, u32>,
        yields: BTreeMap<u64, u32>,
        /// Who has created a thread, and how often it had yielded.
        created: BTreeMap<u64, (u64, u32)>,
        last: Option<usize>,
        stopped: bool,
    }
    let mut begun = program.clone();
    begun.start();
    let mut key = Key::new();
    for thread in 0..begun.threads() {
        key.insert(begun.name(thread), Vec::new());
    }
    let (versions, yields) = (BTreeMap::new(), BTreeMap::new());
    let created = BTreeMap::new();
    let root = Node { program: begun, key, versions, yields, created, last: None, stopped: false };
    let mut terminals = BTreeMap::new();
    let mut best: BTreeMap<(Key, Option<usize>), u32> = BTreeMap::new();
    let mut levels = vec![Vec::new(); most as usize + 8];
    levels[0].push(root);
    for cost in 0..=most {
        while let Some(node) = levels[cost as usize].pop() {
            let known = best.entry((node.key.clone(), node.last)).or_insert(u32::MAX);
            if *known <= cost {
                continue;
            }
            *known = cost;
            let program = &node.program;
            let enabled: Vec<usize> = (0..program.threads()).filter(|&t| program.enabled(t)).collect();
            let other = (0..program.threads())
                .flat_map(|thread| program.other_choices(thread).map(move |choice| Move { thread, choice }));
            let mut moves: Vec<Move> = enabled.iter().copied().map(Move::from).chain(other).collect();
            if node.stopped {
                moves.clear();
            }
            if moves.is_empty() {
                let least = terminals.entry(node.key.clone()).or_insert(cost);
                *least = cost.min(*least);
                continue;
            }
            let yields = |thread: usize| node.yields.get(&program.name(thread)).copied().unwrap_or(0);
            let unfairness = |thread: usize| {
                let ahead = |&other: &usize| {
                    let mut created = node.created.get(&program.name(other));
                    while created.is_some_and(|(by, _)| *by != program.name(thread)) {
                        created = created.and_then(|(by, _)| node.created.get(by));
                    }
                    (yields(thread) - created.map_or(0, |(_, before)| *before)).saturating_sub(yields(other))
                };
                enabled.iter().map(ahead).max().unwrap_or(0)
            };
            for step in moves {
                let thread = step.thread;
                if fair.is_some_and(|fair| unfairness(thread) > fair) {
                    continue;
                }
                let price = match (function, node.last) {
                    (BoundFunction::Preemptions, Some(last)) => {
                        u32::from(last != thread && enabled.contains(&last))
                    }
                    (BoundFunction::ContextSwitches, Some(last)) => u32::from(last != thread),
                    (BoundFunction::Depth, _) => 1,
                    (BoundFunction::Delays, last) => {
                        let threads = program.threads();
                        let turn = |thread: usize| (thread + threads - last.unwrap_or(0)) % threads;
                        enabled.iter().filter(|&&other| turn(other) < turn(thread)).count() as u32
                    }
                    (_, None) => 0,
                };
                let mut next = node.clone();
                let operation = program.next(thread).expect("enabled");
                let name = program.name(thread);
                let mut accesses = Vec::new();
                for access in operation.accesses() {
                    let version = next.versions.entry(access.object.0).or_insert(0);
                    accesses.push((access.object.0, access.write, *version));
                    *version += u32::from(access.write);
                }
                next.key.entry(name).or_default().push((operation.code, step.choice, accesses));
                *next.yields.entry(name).or_insert(0) += u32::from(operation.yields);
                next.stopped = next.program.step(step) == Flow::Stop;
                for child in program.threads()..next.program.threads() {
                    let child = next.program.name(child);
                    next.key.entry(child).or_default();
                    next.created.insert(child, (name, next.yields[&name]));
                }
                next.last = Some(thread);
                levels[(cost + price) as usize].push(next);
            }
        }
    }
    terminals
}

/// The complete graphs that a strategy reaches within a bound, and what it reports.
pub fn reached(
    program: &Program,
    strategy: Strategy,
    limits: &ExplorationLimits,
) -> (BTreeSet<Key>, Exploration) {
    let mut found = BTreeSet::new();
    let mut program = program.clone();
    let exploration = explore(&mut program, strategy, limits, &mut |graph: &Graph| {
        found.insert(key(graph));
    });
    (found, exploration)
}

/// What a random program may contain.
#[derive(Debug, Clone, Copy)]
pub struct ProgramShape {
    pub threads: usize,
    pub length: usize,
    /// Which kinds of blocks: one bit each, in the order of `block`.
    pub kinds: u32,
}

/// Well-formed: locks are released by who took them, in any nesting.
pub fn random_program(seed: u64, shape: ProgramShape) -> Program {
    let mut rng = Rng::new(seed);
    let threads = 2 + rng.below(shape.threads - 1);
    let lists = (0..threads).map(|own| {
        let mut code = Vec::new();
        let length = 1 + rng.below(shape.length);
        // A thread that shares nothing, or nothing but what `private` does in some branch.
        if shape.kinds & PRIVATE != 0 && rng.below(3) == 0 {
            (0..length).for_each(|_| private(&mut rng, &mut code, own as u8, threads));
            return code;
        }
        while code.len() < length {
            block(&mut rng, &mut code, Author { own, threads, kinds: shape.kinds }, 0);
            if shape.kinds & PRIVATE != 0 {
                private(&mut rng, &mut code, own as u8, threads);
            }
        }
        code
    });
    let lists: Vec<Vec<Op>> = lists.collect();
    if shape.kinds & MAIN != 0 && rng.below(2) == 0 {
        return with_main(lists, &mut rng);
    }
    Program::new(lists)
}

pub const LOCKS: u32 = 1;
pub const TRY: u32 = 2;
pub const RWLOCK: u32 = 4;
pub const ATOMICS: u32 = 8;
pub const CONDVAR: u32 = 16;
pub const CHANNEL: u32 = 32;
pub const PARK: u32 = 64;
pub const JOIN: u32 = 128;
pub const YIELD: u32 = 256;
pub const MAIN: u32 = 512;
/// Locks that may not be taken for no reason, and waits that end for no reason.
pub const WEAK: u32 = 1024;
/// Steps that end the run.
pub const FAIL: u32 = 2048;

/// Work on objects that nobody else uses, unless some other thread does in some branch.
pub const PRIVATE: u32 = 4096;

fn private(rng: &mut Rng, code: &mut Vec<Op>, own: u8, threads: usize) {
    let other = rng.below(threads) as u8;
    match rng.below(8) {
        0 => code.extend([Op::Add(2 + own), Op::Add(2 + own)]),
        1 => code.extend([Op::Lock(2 + own), Op::Add(2 + own), Op::Unlock(2 + own)]),
        2 => code.extend([Op::Send(2 + own), Op::Receive(2 + own), Op::Local]),
        3 => code.extend([Op::Load(7), Op::Local, Op::Load(7)]),
        4 => code.extend([Op::When(0, 1, 1), Op::Load(2 + other)]),
        5 => code.extend([Op::TryLock(0, 2), Op::Add(2 + other), Op::Unlock(0)]),
        6 => code.push(Op::Load(6)),
        _ => {}
    }
}

fn with_main(lists: Vec<Vec<Op>>, rng: &mut Rng) -> Program {
    let mut main = Vec::new();
    let n = lists.len() as u8;
    let yields = lists.iter().flatten().any(|op| matches!(op, Op::Yield));
    for list in 1..=n {
        if yields && rng.below(3) == 0 {
            main.push(Op::Yield);
        }
        main.push(Op::Spawn(list));
        if rng.below(4) == 0 {
            main.push(Op::Add(0));
        }
    }
    if yields && rng.below(3) == 0 {
        // As one who spins until something has happened that does not race with anything so far.
        main.extend([Op::Load(7), Op::Yield, Op::Load(7), Op::Yield]);
    }
    main.extend((1..=n).map(Op::Join));
    if rng.below(2) == 0 {
        main.push(Op::Load(2));
    }
    let mut code = vec![main];
    // Threads refer to each other by list: shift them past the main list; what names a thread that may not be there
    // yet is left out, since whether it is there would depend on the interleaving.
    code.extend(lists.into_iter().map(|list| {
        list.into_iter()
            .map(|op| match op {
                Op::Unpark(_) | Op::Join(_) | Op::Park => Op::Local,
                other => other,
            })
            .collect::<Vec<_>>()
    }));
    Program::with_main(code)
}

/// Who the block is for.
#[derive(Debug, Clone, Copy)]
struct Author {
    own: usize,
    threads: usize,
    kinds: u32,
}

fn block(rng: &mut Rng, code: &mut Vec<Op>, author: Author, depth: u32) {
    let Author { own, threads, kinds } = author;
    let kind = loop {
        let kind = match rng.below(if kinds & FAIL == 0 { 10 } else { 11 }) {
            9 => WEAK,
            10 => FAIL,
            bit => 1 << bit,
        };
        if kinds & kind != 0 {
            break kind;
        }
    };
    let which = rng.below(2) as u8;
    let other = (own + 1 + rng.below(threads - 1)) % threads;
    let mut inner = Vec::new();
    if depth < 2 && rng.below(3) == 0 {
        block(rng, &mut inner, author, depth + 1);
    }
    match kind {
        LOCKS => {
            // Not twice the same: that would only deadlock.
            code.push(Op::Lock(which));
            code.extend(inner.into_iter().filter(|op| !locks(op, which)));
            code.push(Op::Unlock(which));
        }
        TRY => {
            let inner: Vec<Op> = inner.into_iter().filter(|op| !locks(op, which)).collect();
            code.push(Op::TryLock(which, inner.len() as u8 + 1));
            code.extend(inner);
            code.push(Op::Unlock(which));
        }
        RWLOCK if rng.below(2) == 0 => code.extend([Op::ReadLock(which), Op::ReadUnlock(which)]),
        RWLOCK => code.extend([Op::WriteLock(which), Op::WriteUnlock(which)]),
        ATOMICS => match rng.below(4) {
            0 => code.push(Op::Load(which)),
            1 => code.push(Op::Store(which, 1)),
            2 => code.push(Op::Add(which)),
            _ => {
                code.push(Op::When(which, 1, inner.len() as u8));
                code.extend(inner);
            }
        },
        CONDVAR => match rng.below(4) {
            0 => code.push(Op::NotifyAll(which)),
            1 | 2 => code.push(Op::NotifyOne(which)),
            _ => code.extend([Op::Lock(which), Op::Wait { condvar: which, mutex: which }, Op::Unlock(which)]),
        },
        CHANNEL if rng.below(3) == 0 => code.push(Op::Receive(which)),
        CHANNEL => code.push(Op::Send(which)),
        PARK if rng.below(3) == 0 => code.push(Op::Park),
        PARK => code.push(Op::Unpark(other as u8)),
        JOIN => code.push(if own > 0 && rng.below(3) == 0 { Op::Join(other as u8) } else { Op::Local }),
        FAIL => code.push(Op::FailIf(which, 1)),
        WEAK => match rng.below(2) {
            0 => code.extend([Op::TryWeak(which, 1), Op::Unlock(which)]),
            _ => {
                let wait = Op::WaitWeak { condvar: which, mutex: which };
                code.extend([Op::Lock(which), wait, Op::Unlock(which)]);
            }
        },
        _ => code.push(Op::Yield),
    }
}

fn locks(op: &Op, mutex: u8) -> bool {
    match op {
        Op::Lock(m) | Op::Unlock(m) | Op::TryLock(m, _) | Op::TryWeak(m, _) => *m == mutex,
        Op::Wait { mutex: m, .. } | Op::WaitWeak { mutex: m, .. } => *m == mutex,
        _ => false,
    }
}
