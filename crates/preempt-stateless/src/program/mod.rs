//! Small programs as data: threads as lists of operations on mutexes, reader-writer locks, atomics, condition
//! variables, channels and park tokens. They are what the algorithms are tested on.

mod op;

pub use op::Op;

use crate::executable::{Executable, Flow, Move, RunEnd};
use crate::operation::{Need, ObjectId, Operation};
use crate::stamp::derive_name;
use op::Code;

/// A program and the state of its current run.
///
/// ```
/// use preempt_stateless::program::{Op, Program};
/// use preempt_stateless::{ExplorationLimits, Strategy, explore};
///
/// // Two threads that take two locks in different orders.
/// let lists = vec![
///     vec![Op::Lock(0), Op::Lock(1), Op::Unlock(1), Op::Unlock(0)],
///     vec![Op::Lock(1), Op::Lock(0), Op::Unlock(0), Op::Unlock(1)],
/// ];
/// let mut program = Program::new(lists).failing_on_deadlock();
/// let found = explore(&mut program, Strategy::Marking, &ExplorationLimits::default(), &mut ());
/// assert_eq!(found.failure.map(|failing| failing.preemptions), Some(1));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// The lists of operations.
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
    /// Who waits, as a set of numbers of threads.
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

    /// A thread that never finishes is a failure.
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

    fn apply(&mut self, thread: usize, op: Op, spurious: bool) {
        let i = |n: u8| usize::from(n);
        let bit = 1 << thread;
        let mut jump = 1;
        let state = &mut self.state;
        match op {
            Op::Lock(m) => state.held[i(m)] = true,
            Op::Unlock(m) => state.held[i(m)] = false,
            Op::TryLock(m, skip) | Op::TryWeak(m, skip) if spurious || state.held[i(m)] => jump += i(skip),
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
                    if let Some(own) = own.filter(|_| !spurious) {
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
        let new = |code: Code| Operation::new(code);
        Some(match op {
            Op::Lock(m) => new(Code::Lock)
                .writes(object(MUTEX, m))
                .needs(Need::Clear { object: object(MUTEX, m), mask: 1 }),
            Op::Unlock(m) => new(Code::Unlock).writes(object(MUTEX, m)).releasing(),
            Op::TryLock(m, _) => new(Code::TryLock).writes(object(MUTEX, m)),
            Op::TryWeak(m, _) => new(Code::TryLock).writes(object(MUTEX, m)).may_be_spurious(true),
            Op::ReadLock(l) => new(Code::ReadLock)
                .reads(object(RWLOCK, l))
                .needs(Need::Clear { object: object(RWLOCK, l), mask: WRITER }),
            Op::ReadUnlock(l) => new(Code::ReadUnlock).reads(object(RWLOCK, l)).releasing(),
            Op::WriteLock(l) => {
                let mask = u128::MAX;
                new(Code::WriteLock)
                    .writes(object(RWLOCK, l))
                    .needs(Need::Clear { object: object(RWLOCK, l), mask })
            }
            Op::WriteUnlock(l) => new(Code::WriteUnlock).writes(object(RWLOCK, l)).releasing(),
            Op::Load(a) | Op::When(a, ..) | Op::FailIf(a, _) => new(Code::Load).reads(object(ATOMIC, a)),
            Op::SpinUntil(..) if running.spinning => new(Code::SpinYield).yielding(),
            Op::SpinUntil(a, _) => new(Code::Load).reads(object(ATOMIC, a)),
            Op::Store(a, _) | Op::Add(a) => new(Code::Store).writes(object(ATOMIC, a)),
            Op::Wait { condvar, mutex } | Op::WaitWeak { condvar, mutex } if running.notified => {
                let (condvar, mutex) = (object(CONDVAR, condvar), object(MUTEX, mutex));
                let woken = Need::Set { object: condvar, mask: 1 << thread };
                new(Code::Wake)
                    .writes(condvar)
                    .writes(mutex)
                    .needs(Need::Clear { object: mutex, mask: 1 })
                    .needs(woken)
                    .may_be_spurious(matches!(op, Op::WaitWeak { .. }))
            }
            Op::Wait { condvar, mutex } | Op::WaitWeak { condvar, mutex } => {
                new(Code::Wait).writes(object(CONDVAR, condvar)).writes(object(MUTEX, mutex)).releasing()
            }
            Op::NotifyOne(c) => new(Code::NotifyOne).writes(object(CONDVAR, c)).releasing(),
            Op::NotifyAll(c) => new(Code::NotifyAll).writes(object(CONDVAR, c)).releasing(),
            Op::Send(c) => new(Code::Send).writes(object(CHANNEL, c)).releasing(),
            Op::Receive(c) => {
                let (object, mask) = (object(CHANNEL, c), u128::MAX);
                new(Code::Receive).writes(object).needs(Need::Set { object, mask })
            }
            Op::Park => {
                let object = object(TOKEN, running.list as u8);
                new(Code::Park).writes(object).needs(Need::Set { object, mask: 1 })
            }
            Op::Unpark(other) => new(Code::Unpark).writes(object(TOKEN, other)).releasing(),
            Op::Join(other) => {
                new(Code::Join).needs(Need::Finished(self.running(other).unwrap_or(usize::MAX)))
            }
            Op::Spawn(_) => new(Code::Spawn).releasing(),
            Op::Yield => new(Code::Yield).yielding(),
            Op::Local => new(Code::Local),
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
            self.apply(step.thread, op, step.choice != 0);
        }
        if self.state.failed { Flow::Stop } else { Flow::Continue }
    }

    fn end(&mut self) -> RunEnd {
        let stuck = self.deadlock_fails && !self.all_finished();
        if self.state.failed || stuck { RunEnd::Failed } else { RunEnd::Fine }
    }
}
