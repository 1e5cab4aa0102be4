//! Data races on random programs: what a check says is what brute force finds, which runs every interleaving of the same
//! program as data and asks of every two accesses to a cell whether C++20's happens-before orders them.

use preempt::cell::UnsafeCell;
use preempt::sync::atomic::{AtomicU8, Ordering, Ordering::*, fence};
use preempt::sync::mpsc::{Receiver, Sender, channel};
use preempt::sync::{Arc, Condvar, Mutex, RwLock};
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

fn pick<T: Copy>(chance: &mut Rng, among: &[T]) -> T {
    among[chance.below(among.len())]
}

fn random_op(chance: &mut Rng, thread: usize) -> Op {
    let (cell, atomic, write) = (chance.below(2), chance.below(2), chance.below(3) > 0);
    let loads = [Relaxed, Acquire, Acquire, SeqCst];
    match chance.below(16) {
        0..4 => Op::Access { cell, write },
        4 => Op::Load(atomic, pick(chance, &loads)),
        5 => Op::Store(atomic, pick(chance, &[Relaxed, Release, Release, SeqCst])),
        6 => Op::Add(atomic, pick(chance, &[Relaxed, Acquire, Release, AcqRel, SeqCst])),
        7 => Op::Exchange(atomic, pick(chance, &[Relaxed, Acquire, Release, AcqRel]), pick(chance, &loads)),
        8 | 9 => Op::Guarded { atomic, order: pick(chance, &loads), cell, write },
        10 => Op::Fence(pick(chance, &[Acquire, Release, AcqRel, SeqCst])),
        11 if chance.below(3) == 0 => Op::Waiting { cell },
        11 => Op::Locked { cell },
        12 => Op::Read { cell },
        13 => Op::Write { cell },
        14 if thread == 1 => Op::Receive { cell },
        14 => Op::Send,
        _ if thread > 0 => Op::Park { cell },
        _ => Op::Access { cell, write },
    }
}

/// Main starts one or two threads, works, and joins them.
fn random_program(seed: u64) -> Vec<Vec<Op>> {
    let mut chance = Rng::new(seed);
    let children = 1 + chance.below(2);
    let most = if children == 1 { 4 } else { 3 };
    let list = |chance: &mut Rng, thread: usize, most: usize| -> Vec<Op> {
        (0..1 + chance.below(most)).map(|_| random_op(chance, thread)).collect()
    };
    let mut main = Vec::new();
    for child in 1..=children {
        main.extend(list(&mut chance, 0, 1));
        main.push(Op::Spawn(child));
    }
    if chance.below(3) == 0 {
        main.push(Op::Unpark);
    }
    main.extend(list(&mut chance, 0, if children == 1 { 2 } else { 1 }));
    main.extend((1..=children).map(Op::Join));
    main.push(Op::Access { cell: 0, write: true });
    let children = (1..=children).map(|child| list(&mut chance, child, most));
    std::iter::once(main).chain(children.collect::<Vec<_>>()).collect()
}

mod real {
    use super::*;

    struct Share(UnsafeCell<u8>);

    // SAFETY: whether its accesses are ordered is what the tests ask; nobody holds references to the value.
    unsafe impl Sync for Share {}

    struct Objects {
        cells: [Share; 2],
        atomics: [AtomicU8; 2],
        mutex: Mutex<()>,
        condvar: Condvar,
        rwlock: RwLock<()>,
        sender: Sender<u8>,
        receiver: Receiver<u8>,
        /// What tells whether a token was there: it is set before each `unpark`.
        tokens: std::sync::atomic::AtomicU8,
    }

    impl Objects {
        fn access(&self, cell: usize, write: bool) {
            // SAFETY: see above.
            unsafe {
                match write {
                    true => self.cells[cell].0.with_mut(|value| *value = 1),
                    false => drop(self.cells[cell].0.with(|value| (*value).to_string())),
                }
            }
        }

        fn run(self: &Arc<Self>, program: &'static [Vec<Op>], thread: usize) {
            let mut children = Vec::new();
            for &op in &program[thread] {
                match op {
                    Op::Access { cell, write } => self.access(cell, write),
                    Op::Load(a, order) => _ = self.atomics[a].load(order),
                    Op::Store(a, order) => self.atomics[a].store(1, order),
                    Op::Add(a, order) => _ = self.atomics[a].fetch_add(1, order),
                    Op::Exchange(a, success, failure) => {
                        _ = self.atomics[a].compare_exchange(1, 2, success, failure);
                    }
                    Op::Guarded { atomic, order, cell, write } => {
                        if self.atomics[atomic].load(order) != 0 {
                            self.access(cell, write);
                        }
                    }
                    Op::Fence(order) => fence(order),
                    Op::Locked { cell } => {
                        let _guard = self.mutex.lock().unwrap();
                        self.access(cell, true);
                    }
                    Op::Waiting { cell } => {
                        let guard = self.mutex.lock().unwrap();
                        self.access(cell, true);
                        let _guard = self.condvar.wait_timeout(guard, Duration::from_millis(1)).unwrap();
                        self.access(cell, true);
                    }
                    Op::Read { cell } => {
                        let _guard = self.rwlock.read().unwrap();
                        self.access(cell, false);
                    }
                    Op::Write { cell } => {
                        let _guard = self.rwlock.write().unwrap();
                        self.access(cell, true);
                    }
                    Op::Send => self.sender.send(1).unwrap(),
                    Op::Receive { cell } => {
                        if self.receiver.try_recv().is_ok() {
                            self.access(cell, true);
                        }
                    }
                    Op::Park { cell } => {
                        thread::park_timeout(Duration::from_millis(1));
                        if thread == 1 && self.tokens.swap(0, Relaxed) == 2 {
                            self.access(cell, true);
                        }
                    }
                    Op::Unpark => {
                        let child: &thread::JoinHandle<()> = &children[0];
                        child.thread().unpark();
                        // No step: it is done together with the `unpark`, and nothing else can be in between.
                        self.tokens.store(2, Relaxed);
                    }
                    Op::Spawn(child) => {
                        let this = Arc::clone(self);
                        children.push(thread::spawn(move || this.run(program, child)));
                    }
                    Op::Join(_) => children.remove(0).join().unwrap(),
                }
            }
        }
    }

    pub fn run(program: &'static [Vec<Op>]) {
        let (sender, receiver) = channel();
        let objects = Arc::new(Objects {
            cells: [0, 1].map(|_| Share(UnsafeCell::new(0))),
            atomics: [0, 1].map(|_| AtomicU8::new(0)),
            mutex: Mutex::new(()),
            condvar: Condvar::new(),
            rwlock: RwLock::new(()),
            sender,
            receiver,
            tokens: std::sync::atomic::AtomicU8::new(0),
        });
        objects.run(program, 0);
    }
}

mod model {
    use super::*;

    /// A set of events of a run.
    type Events = u128;

    #[derive(Clone, Default)]
    struct Atomic {
        value: u8,
        /// Whom a reader that acquires synchronises with: the releases (and the release fences before relaxed writes)
        /// whose release sequences the newest write is part of.
        heads: Events,
    }

    #[derive(Clone, Default)]
    struct Thread {
        at: usize,
        /// Inside an operation of several steps.
        part: usize,
        started: bool,
        last: Events,
        /// Release fences so far.
        fences: Events,
        /// Whom an acquire fence would synchronise with.
        read: Events,
    }

    #[derive(Clone)]
    pub struct State {
        threads: Vec<Thread>,
        atomics: [Atomic; 2],
        held: bool,
        unlocks: Events,
        readers: u8,
        writer: bool,
        read_unlocks: Events,
        write_unlocks: Events,
        messages: Vec<Events>,
        token: bool,
        unparks: Events,
        /// For each event: all that happen before it, and itself.
        past: Vec<Events>,
        accesses: Vec<(usize, usize, bool)>,
        pub race: bool,
    }

    fn acquires(order: Ordering) -> bool {
        matches!(order, Acquire | AcqRel | SeqCst)
    }

    fn releases(order: Ordering) -> bool {
        matches!(order, Release | AcqRel | SeqCst)
    }

    impl State {
        pub fn new(program: &[Vec<Op>]) -> State {
            let mut threads = vec![Thread::default(); program.len()];
            threads[0].started = true;
            State {
                threads,
                atomics: Default::default(),
                held: false,
                unlocks: 0,
                readers: 0,
                writer: false,
                read_unlocks: 0,
                write_unlocks: 0,
                messages: Vec::new(),
                token: false,
                unparks: 0,
                past: Vec::new(),
                accesses: Vec::new(),
                race: false,
            }
        }

        /// An event of the thread, after its last one and after those that it synchronises with.
        fn event(&mut self, thread: usize, with: Events) -> Events {
            let before = with | self.threads[thread].last;
            let known = (0..self.past.len()).filter(|event| before >> event & 1 == 1);
            let past = known.fold(0, |all, event| all | self.past[event]);
            let own = 1 << self.past.len();
            self.past.push(past | own);
            self.threads[thread].last = own;
            own
        }

        fn access(&mut self, thread: usize, cell: usize, write: bool) {
            let event = self.event(thread, 0);
            let past = self.past[event.ilog2() as usize];
            self.race |= self
                .accesses
                .iter()
                .any(|&(before, its, wrote)| its == cell && (wrote || write) && past >> before & 1 == 0);
            self.accesses.push((event.ilog2() as usize, cell, write));
        }

        fn load(&mut self, thread: usize, atomic: usize, order: Ordering) -> u8 {
            let heads = self.atomics[atomic].heads;
            self.event(thread, if acquires(order) { heads } else { 0 });
            self.threads[thread].read |= heads;
            self.atomics[atomic].value
        }

        fn store(&mut self, thread: usize, atomic: usize, order: Ordering, value: u8, modify: bool) {
            let event = self.event(thread, 0);
            let own = self.threads[thread].fences | if releases(order) { event } else { 0 };
            let Atomic { heads, value: old } = &mut self.atomics[atomic];
            *heads = if modify { *heads | own } else { own };
            *old = value;
        }

        fn can_move(&self, program: &[Vec<Op>], thread: usize) -> bool {
            let Thread { at, part, started, .. } = self.threads[thread];
            let finished = |child: usize| self.threads[child].at == program[child].len();
            started
                && match (program[thread].get(at), part) {
                    (None, _) => false,
                    (Some(Op::Locked { .. }), 0) | (Some(Op::Waiting { .. }), 0 | 2) => !self.held,
                    (Some(Op::Read { .. }), 0) => !self.writer,
                    (Some(Op::Write { .. }), 0) => !self.writer && self.readers == 0,
                    (Some(Op::Join(child)), _) => finished(*child),
                    _ => true,
                }
        }

        fn step(&mut self, program: &[Vec<Op>], thread: usize) {
            let Thread { at, part, .. } = self.threads[thread];
            let mut parts = 1;
            match program[thread][at] {
                Op::Access { cell, write } => self.access(thread, cell, write),
                Op::Load(a, order) => _ = self.load(thread, a, order),
                Op::Store(a, order) => self.store(thread, a, order, 1, false),
                Op::Add(a, order) => {
                    let old = self.load(thread, a, order);
                    self.store(thread, a, order, old + 1, true);
                }
                Op::Exchange(a, success, failure) => match self.atomics[a].value {
                    1 => {
                        self.load(thread, a, success);
                        self.store(thread, a, success, 2, true);
                    }
                    _ => _ = self.load(thread, a, failure),
                },
                Op::Guarded { atomic, order, cell, write } => {
                    if self.load(thread, atomic, order) != 0 {
                        self.access(thread, cell, write);
                    }
                }
                Op::Fence(order) => {
                    let read = self.threads[thread].read;
                    let event = self.event(thread, if acquires(order) { read } else { 0 });
                    if releases(order) {
                        self.threads[thread].fences |= event;
                    }
                }
                Op::Locked { cell } | Op::Waiting { cell } => {
                    parts = if matches!(program[thread][at], Op::Waiting { .. }) { 4 } else { 2 };
                    if part % 2 == 0 {
                        self.event(thread, self.unlocks);
                        self.held = true;
                        self.access(thread, cell, true);
                    } else {
                        self.unlocks |= self.event(thread, 0);
                        self.held = false;
                    }
                }
                Op::Read { cell } if part == 0 => {
                    parts = 2;
                    self.event(thread, self.write_unlocks);
                    self.readers += 1;
                    self.access(thread, cell, false);
                }
                Op::Read { .. } => {
                    parts = 2;
                    self.read_unlocks |= self.event(thread, 0);
                    self.readers -= 1;
                }
                Op::Write { cell } if part == 0 => {
                    parts = 2;
                    self.event(thread, self.write_unlocks | self.read_unlocks);
                    self.writer = true;
                    self.access(thread, cell, true);
                }
                Op::Write { .. } => {
                    parts = 2;
                    self.write_unlocks |= self.event(thread, 0);
                    self.writer = false;
                }
                Op::Send => {
                    let sent = self.event(thread, 0);
                    self.messages.push(sent);
                }
                Op::Receive { cell } => {
                    if !self.messages.is_empty() {
                        let sent = self.messages.remove(0);
                        self.event(thread, sent);
                        self.access(thread, cell, true);
                    }
                }
                Op::Park { cell } => {
                    if thread == 1 && std::mem::take(&mut self.token) {
                        self.event(thread, self.unparks);
                        self.access(thread, cell, true);
                    }
                }
                Op::Unpark => {
                    self.unparks |= self.event(thread, 0);
                    self.token = true;
                }
                Op::Spawn(child) => {
                    self.threads[child].last = self.event(thread, 0);
                    self.threads[child].started = true;
                }
                Op::Join(child) => _ = self.event(thread, self.threads[child].last),
            }
            let me = &mut self.threads[thread];
            (me.at, me.part) = if part + 1 == parts { (at + 1, 0) } else { (at, part + 1) };
        }

        /// Is there a race in some interleaving?
        pub fn races(&self, program: &[Vec<Op>]) -> bool {
            self.race
                || (0..program.len()).filter(|&thread| self.can_move(program, thread)).any(|thread| {
                    let mut next = self.clone();
                    next.step(program, thread);
                    // What is no step of the real program cannot be separated from the step before.
                    let local = |op: &Op| matches!(op, Op::Access { .. } | Op::Fence(_));
                    while next.threads[thread].part == 0
                        && program[thread].get(next.threads[thread].at).is_some_and(local)
                    {
                        next.step(program, thread);
                    }
                    next.races(program)
                })
        }
    }
}

#[test]
fn races_are_those_of_brute_force() {
    let (mut racy, mut fine) = (0, 0);
    for seed in 0..2000 {
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
    assert!(racy > 500 && fine > 300, "{racy} and {fine}");
}
