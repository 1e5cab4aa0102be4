//! The program as data: every interleaving, and C++20's happens-before.

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
    initialising: bool,
    initialised: Option<Events>,
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
            initialising: false,
            initialised: None,
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

    /// A store ends the release sequence before it.
    fn store(&mut self, thread: usize, atomic: usize, order: Ordering, value: u8) {
        self.atomics[atomic].heads = 0;
        self.modify(thread, atomic, order, value);
    }

    /// A read-modify-write continues it.
    fn modify(&mut self, thread: usize, atomic: usize, order: Ordering, value: u8) {
        let event = self.event(thread, 0);
        let own = self.threads[thread].fences | if releases(order) { event } else { 0 };
        let Atomic { heads, value: old } = &mut self.atomics[atomic];
        *heads |= own;
        *old = value;
    }

    fn can_move(&self, program: &[Vec<Op>], thread: usize) -> bool {
        let Thread { at, part, started, .. } = self.threads[thread];
        let finished = |child: usize| self.threads[child].at == program[child].len();
        started
            && match (program[thread].get(at), part) {
                (None, _) => false,
                (Some(Op::Locked { .. }), 0) | (Some(Op::Waiting { .. }), 0 | 2) => !self.held,
                (Some(Op::Once { .. }), 0) => !self.initialising,
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
            Op::Store(a, order) => self.store(thread, a, order, 1),
            Op::Add(a, order) => {
                let old = self.load(thread, a, order);
                self.modify(thread, a, order, old + 1);
            }
            Op::Swap(a, order) => {
                self.load(thread, a, order);
                self.modify(thread, a, order, 1);
            }
            Op::Exchange(a, success, failure) => match self.atomics[a].value {
                1 => {
                    self.load(thread, a, success);
                    self.modify(thread, a, success, 2);
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
            Op::TryLocked { .. } if part == 0 && self.held => _ = self.event(thread, 0),
            Op::Once { cell } if part == 0 => match self.initialised {
                Some(by) => {
                    self.event(thread, by);
                    self.access(thread, cell, false);
                }
                None => {
                    parts = 2;
                    self.event(thread, 0);
                    self.initialising = true;
                    self.access(thread, cell, true);
                }
            },
            Op::Once { .. } => {
                parts = 2;
                self.initialised = Some(self.event(thread, 0));
                self.initialising = false;
            }
            Op::Locked { cell } | Op::Waiting { cell } | Op::TryLocked { cell } => {
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
