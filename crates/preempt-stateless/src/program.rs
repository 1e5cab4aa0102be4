//! Small programs as data: threads as lists of operations on mutexes, reader-writer locks, atomics, condition
//! variables, channels and park tokens. They are what the algorithms are tested on.

use crate::executable::{Executable, Flow, Move, Need, ObjectId, Operation, RunEnd, derive_name};

/// One operation. Numbers name objects of each kind, and threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    Lock(u8),
    Unlock(u8),
    /// Takes the mutex, or may also fail for no reason. If it fails, the next so many operations are left out.
    TryWeak(u8, u8),
    /// If the mutex is held, the next so many operations are left out.
    TryLock(u8, u8),
    ReadLock(u8),
    ReadUnlock(u8),
    WriteLock(u8),
    WriteUnlock(u8),
    Load(u8),
    Store(u8, u8),
    Add(u8),
    /// Loads; unless it finds the value, the next so many operations are left out.
    When(u8, u8, u8),
    /// Loads, and repeats itself with a yield before until it finds the value.
    SpinUntil(u8, u8),
    /// Gives the mutex back, waits to be notified, takes the mutex again.
    Wait {
        condvar: u8,
        mutex: u8,
    },
    /// The same, but it may also wake up without a notification.
    WaitWeak {
        condvar: u8,
        mutex: u8,
    },
    NotifyOne(u8),
    NotifyAll(u8),
    Send(u8),
    Receive(u8),
    Park,
    Unpark(u8),
    Join(u8),
    /// Starts a thread that does not run from the start.
    Spawn(u8),
    Yield,
    Local,
    /// Fails if the atomic has the value.
    FailIf(u8, u8),
}

/// A program and the state of its current run.
#[derive(Debug, Clone, Default)]
pub struct Program {
    pub code: Vec<Vec<Op>>,
    /// Is a thread that never finishes a failure?
    pub deadlock_fails: bool,
    /// How many threads run from the start; the others are spawned.
    initial: usize,
    state: State,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct State {
    threads: Vec<Running>,
    held: [bool; 8],
    writer: [bool; 8],
    readers: [u8; 8],
    atomics: [u8; 8],
    /// Who waits, by number of the running thread.
    waiting: [u128; 8],
    /// Each lets one of these threads through; oldest first.
    permits: [Vec<u128>; 8],
    messages: [u8; 8],
    parked: Vec<bool>,
    failed: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Running {
    /// Which list it runs.
    list: usize,
    name: u64,
    at: usize,
    /// Waits to take the mutex again.
    notified: bool,
    /// Its spin loop is about to yield.
    spinning: bool,
    children: u64,
}

const MUTEX: u64 = 1 << 8;
const RWLOCK: u64 = 2 << 8;
const ATOMIC: u64 = 3 << 8;
const CONDVAR: u64 = 4 << 8;
const CHANNEL: u64 = 5 << 8;
const TOKEN: u64 = 6 << 8;
const WRITER: u128 = 1 << 64;

fn object(kind: u64, number: u8) -> ObjectId {
    ObjectId(kind | u64::from(number))
}

impl Program {
    /// All lists run from the start.
    pub fn new(code: Vec<Vec<Op>>) -> Program {
        let initial = code.len();
        Program { code, initial, ..Program::default() }.begun()
    }

    /// The first list runs from the start and spawns the others.
    pub fn with_main(code: Vec<Vec<Op>>) -> Program {
        Program { code, initial: 1, ..Program::default() }.begun()
    }

    #[must_use]
    pub fn failing_on_deadlock(mut self) -> Program {
        self.deadlock_fails = true;
        self
    }

    fn begun(mut self) -> Program {
        self.start();
        self
    }

    fn op(&self, thread: usize) -> Option<Op> {
        let running = &self.state.threads[thread];
        self.code[running.list].get(running.at).copied()
    }

    fn add_thread(&mut self, list: usize, name: u64) {
        self.state.threads.push(Running { list, name, ..Running::default() });
        self.state.parked.push(false);
    }

    /// The running thread that runs this list, if it was spawned.
    fn running(&self, list: u8) -> Option<usize> {
        self.state.threads.iter().position(|running| running.list == usize::from(list))
    }

    fn all_finished(&self) -> bool {
        (0..self.state.threads.len()).all(|thread| self.op(thread).is_none())
    }

    fn apply(&mut self, thread: usize, op: Op, varied: bool) {
        let i = |n: u8| usize::from(n);
        let bit = 1 << thread;
        let mut jump = 1;
        let state = &mut self.state;
        match op {
            Op::Lock(m) => state.held[i(m)] = true,
            Op::Unlock(m) => state.held[i(m)] = false,
            Op::TryLock(m, skip) | Op::TryWeak(m, skip) if varied || state.held[i(m)] => jump += i(skip),
            Op::TryLock(m, _) | Op::TryWeak(m, _) => state.held[i(m)] = true,
            Op::ReadLock(l) => state.readers[i(l)] += 1,
            Op::ReadUnlock(l) => state.readers[i(l)] -= 1,
            Op::WriteLock(l) => state.writer[i(l)] = true,
            Op::WriteUnlock(l) => state.writer[i(l)] = false,
            Op::Load(_) | Op::Join(_) | Op::Yield | Op::Local => {}
            Op::Store(a, value) => state.atomics[i(a)] = value,
            Op::Add(a) => state.atomics[i(a)] = state.atomics[i(a)].wrapping_add(1),
            Op::When(a, value, skip) => {
                if state.atomics[i(a)] != value {
                    jump += i(skip);
                }
            }
            Op::SpinUntil(a, value) => {
                let running = &mut state.threads[thread];
                if running.spinning {
                    running.spinning = false;
                    jump = 0;
                } else if state.atomics[i(a)] != value {
                    running.spinning = true;
                    jump = 0;
                }
            }
            Op::Wait { condvar, mutex } | Op::WaitWeak { condvar, mutex } => {
                let running = &mut state.threads[thread];
                if running.notified {
                    running.notified = false;
                    state.held[i(mutex)] = true;
                    state.waiting[i(condvar)] &= !bit;
                    // The oldest permit that lets it through; it is no candidate for the others any more.
                    let permits = &mut state.permits[i(condvar)];
                    let own = permits.iter().position(|permit| permit & bit != 0);
                    if let Some(own) = own.filter(|_| !varied) {
                        permits.remove(own);
                    }
                    permits.iter_mut().for_each(|permit| *permit &= !bit);
                    permits.retain(|permit| *permit != 0);
                } else {
                    running.notified = true;
                    state.held[i(mutex)] = false;
                    state.waiting[i(condvar)] |= bit;
                    jump = 0;
                }
            }
            // Which waiter wakes is left open: the permit is for any of those who wait now.
            Op::NotifyOne(c) => {
                let waiting = state.waiting[i(c)];
                if waiting != 0 {
                    state.permits[i(c)].push(waiting);
                }
            }
            Op::NotifyAll(c) => {
                let waiting = state.waiting[i(c)];
                let each = (0..128).map(|t| 1 << t).filter(|one: &u128| waiting & one != 0);
                state.permits[i(c)].extend(each);
            }
            Op::Send(c) => state.messages[i(c)] += 1,
            Op::Receive(c) => state.messages[i(c)] -= 1,
            Op::Park => state.parked[thread] = false,
            Op::Unpark(other) => {
                if let Some(other) = self.running(other) {
                    self.state.parked[other] = true;
                }
            }
            Op::Spawn(list) => {
                let running = &mut state.threads[thread];
                running.children += 1;
                let name = derive_name(running.name, running.children);
                self.add_thread(i(list), name);
            }
            Op::FailIf(a, value) => state.failed |= state.atomics[i(a)] == value,
        }
        self.state.threads[thread].at += jump;
    }
}

impl Executable for Program {
    fn start(&mut self) {
        self.state = State::default();
        for list in 0..self.initial {
            self.add_thread(list, list as u64 + 1);
        }
    }

    fn threads(&self) -> usize {
        self.state.threads.len()
    }

    fn name(&self, thread: usize) -> u64 {
        self.state.threads[thread].name
    }

    fn next(&self, thread: usize) -> Option<Operation> {
        let running = &self.state.threads[thread];
        let op = self.op(thread)?;
        let new = |code| Operation::local(code);
        Some(match op {
            Op::Lock(m) => {
                new(0).writes(object(MUTEX, m)).needs(Need::Clear { object: object(MUTEX, m), mask: 1 })
            }
            Op::Unlock(m) => new(1).writes(object(MUTEX, m)).releasing(),
            Op::TryLock(m, _) => new(2).writes(object(MUTEX, m)),
            Op::TryWeak(m, _) => new(2).writes(object(MUTEX, m)).varying(true),
            Op::ReadLock(l) => {
                new(3).reads(object(RWLOCK, l)).needs(Need::Clear { object: object(RWLOCK, l), mask: WRITER })
            }
            Op::ReadUnlock(l) => new(4).reads(object(RWLOCK, l)).releasing(),
            Op::WriteLock(l) => {
                let mask = u128::MAX;
                new(5).writes(object(RWLOCK, l)).needs(Need::Clear { object: object(RWLOCK, l), mask })
            }
            Op::WriteUnlock(l) => new(6).writes(object(RWLOCK, l)).releasing(),
            Op::Load(a) | Op::When(a, ..) | Op::FailIf(a, _) => new(7).reads(object(ATOMIC, a)),
            Op::SpinUntil(..) if running.spinning => new(8).yielding(),
            Op::SpinUntil(a, _) => new(7).reads(object(ATOMIC, a)),
            Op::Store(a, _) | Op::Add(a) => new(9).writes(object(ATOMIC, a)),
            Op::Wait { condvar, mutex } | Op::WaitWeak { condvar, mutex } if running.notified => {
                let (condvar, mutex) = (object(CONDVAR, condvar), object(MUTEX, mutex));
                let woken = Need::Set { object: condvar, mask: 1 << thread };
                new(10)
                    .writes(condvar)
                    .writes(mutex)
                    .needs(Need::Clear { object: mutex, mask: 1 })
                    .needs(woken)
                    .varying(matches!(op, Op::WaitWeak { .. }))
            }
            Op::Wait { condvar, mutex } | Op::WaitWeak { condvar, mutex } => {
                new(11).writes(object(CONDVAR, condvar)).writes(object(MUTEX, mutex)).releasing()
            }
            Op::NotifyOne(c) => new(12).writes(object(CONDVAR, c)).releasing(),
            Op::NotifyAll(c) => new(13).writes(object(CONDVAR, c)).releasing(),
            Op::Send(c) => new(14).writes(object(CHANNEL, c)).releasing(),
            Op::Receive(c) => {
                let (object, mask) = (object(CHANNEL, c), u128::MAX);
                new(15).writes(object).needs(Need::Set { object, mask })
            }
            Op::Park => {
                let object = object(TOKEN, running.list as u8);
                new(16).writes(object).needs(Need::Set { object, mask: 1 })
            }
            Op::Unpark(other) => new(17).writes(object(TOKEN, other)).releasing(),
            Op::Join(other) => new(18).needs(Need::Finished(self.running(other).unwrap_or(usize::MAX))),
            Op::Spawn(_) => new(19).releasing(),
            Op::Yield => new(20).yielding(),
            Op::Local => new(21),
        })
    }

    fn enabled(&self, thread: usize) -> bool {
        let finished = |other: usize| other < self.threads() && self.op(other).is_none();
        self.next(thread).is_some_and(|operation| operation.enabled(|object| self.gate(object), finished))
    }

    fn gate(&self, object: ObjectId) -> u128 {
        let state = &self.state;
        let n = (object.0 & 0xff) as usize;
        match object.0 & !0xff {
            MUTEX => u128::from(state.held[n]),
            RWLOCK => u128::from(state.readers[n]) + if state.writer[n] { WRITER } else { 0 },
            CONDVAR => state.permits[n].iter().fold(0, |all, permit| all | permit),
            CHANNEL => u128::from(state.messages[n]),
            TOKEN => self.running(n as u8).map_or(0, |thread| u128::from(state.parked[thread])),
            _ => 0,
        }
    }

    fn step(&mut self, step: Move) -> Flow {
        if let Some(op) = self.op(step.thread) {
            self.apply(step.thread, op, step.way != 0);
        }
        if self.state.failed { Flow::Stop } else { Flow::Continue }
    }

    fn end(&mut self) -> RunEnd {
        let stuck = self.deadlock_fails && !self.all_finished();
        if self.state.failed || stuck { RunEnd::Failed } else { RunEnd::Fine }
    }
}
