//! The rounds: K = 1, 2, 3, ... contexts of each thread, in round-robin order, over configurations one by one.
//!
//! A context may be empty, so that the configurations after thread t's context in round K contain those before it. So a thread
//! goes on only from configurations that are new since its last context; they are a suffix of all in the order in which they
//! were met, and one number for each thread says where it begins. Every configuration is expanded once by every thread. The
//! first violation is met in the first round that has one: the contexts are the fewest, and the chain of predecessors is a
//! schedule within them. When all threads have gone on from all configurations, nothing new comes in any later round: then
//! the answer does not depend on the number of contexts. Where stacks are bounded, this always comes to pass; Lal and Reps
//! 2009 (paper 002) name it as a thing to explore (section 7).

use crate::configurations::Configurations;
use crate::error::Result;
use crate::intern::{OVER, WAITING};
use crate::search::Start;
use crate::turns::{Stop, Turns};

/// How the rounds have ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Thread `thread` fails, going on from configuration `from`.
    Failure { from: usize, thread: usize },
    /// No configuration is left from which a thread has not gone on.
    Nothing,
    /// As many rounds as there were to be.
    Bound,
}

pub(crate) struct RoundRobin {
    pub configurations: Configurations,
    start: Start,
    most: Option<u32>,
    /// The round and the thread whose context it is.
    pub round: u32,
    thread: usize,
    /// The configuration that it goes on from next.
    next: usize,
    /// For each thread: from so many configurations, the first ones, it has gone on.
    done: Vec<usize>,
    /// A start was left out, because there was no thread left for it.
    pub cut: bool,
    /// There is one round only, and what has become of threads after their turn is forgotten.
    forgets: bool,
}

impl RoundRobin {
    pub fn new(start: Start, most: Option<u32>) -> RoundRobin {
        let threads = start.cells.len() - 1;
        let mut configurations = Configurations::new(&(0..threads).collect::<Vec<_>>());
        configurations.insert(&start.cells, configurations.hash(&start.cells), (0, 0));
        RoundRobin {
            configurations,
            start,
            most,
            round: 1,
            thread: 0,
            next: 0,
            done: vec![0; threads],
            cut: false,
            forgets: false,
        }
    }

    /// One round, to know whether something goes wrong in it. Who has had its turn does not matter any more, so that there are
    /// no more configurations than shared states and places of one thread. They are none of the program's, and no run leads to
    /// them.
    pub fn once(start: Start) -> RoundRobin {
        RoundRobin { forgets: true, ..RoundRobin::new(start, Some(1)) }
    }

    /// Expands so many configurations, or fewer if it comes to an end.
    pub fn advance(&mut self, turns: &mut Turns<'_>, work: usize) -> Result<Option<End>> {
        let mut cells = Vec::new();
        for _ in 0..work {
            while self.next == self.configurations.len() {
                if let Some(end) = self.next_context() {
                    return Ok(Some(end));
                }
            }
            let (from, thread) = (self.next, self.thread);
            self.next += 1;
            if !self.start.may_move(from, thread) {
                continue;
            }
            let (shared, stack) =
                (self.configurations.get(from)[0], self.configurations.get(from)[thread + 1]);
            if !Turns::moves(stack) {
                continue;
            }
            let turn = turns.turn(self.start.kinds[thread], shared, stack)?;
            for started in &turns.content(turn).fails {
                cells.clear();
                cells.extend_from_slice(self.configurations.get(from));
                match self.start.begin(turns, &mut cells, *started) {
                    true => return Ok(Some(End::Failure { from, thread })),
                    false => self.cut = true,
                }
            }
            let before = self.configurations.hash(self.configurations.get(from));
            for stop in &turns.content(turn).stops {
                cells.clear();
                cells.extend_from_slice(self.configurations.get(from));
                if !self.start.apply(turns, &mut cells, thread, stop) {
                    self.cut = true;
                    continue;
                }
                if self.forgets {
                    // A thread that was not started yet still has its place to be started in.
                    let over = cells[1..=thread].iter_mut().filter(|stack| **stack != WAITING);
                    over.for_each(|stack| *stack = OVER);
                }
                let hash = match stop.started {
                    crate::turns::NOBODY if !self.forgets => {
                        let change = |place: usize, old: u32, new: u32| {
                            let store = &self.configurations;
                            store.share(place, new).wrapping_sub(store.share(place, old))
                        };
                        let changes = change(0, shared, stop.shared);
                        before.wrapping_add(changes).wrapping_add(change(thread + 1, stack, stop.stack))
                    }
                    _ => self.configurations.hash(&cells),
                };
                self.configurations.insert(&cells, hash, (from, thread));
            }
        }
        Ok(None)
    }

    /// The context of a thread is over.
    fn next_context(&mut self) -> Option<End> {
        let all = self.configurations.len();
        self.done[self.thread] = all;
        if self.done.iter().all(|done| *done == all) {
            return Some(End::Nothing);
        }
        self.thread += 1;
        if self.thread == self.done.len() {
            if self.most == Some(self.round) {
                return Some(End::Bound);
            }
            self.thread = 0;
            self.round += 1;
        }
        self.next = self.done[self.thread];
        None
    }
}

impl Start {
    /// Whoever begins in the middle of an atomic sequence goes first.
    pub fn may_move(&self, from: usize, thread: usize) -> bool {
        from > 0 || self.exclusive.is_none_or(|first| first == thread)
    }

    /// The configuration after a turn of a thread; false if there is no room for what it starts.
    pub fn apply(&self, turns: &Turns<'_>, cells: &mut [u32], thread: usize, stop: &Stop) -> bool {
        cells[0] = stop.shared;
        cells[thread + 1] = stop.stack;
        self.begin(turns, cells, stop.started)
    }

    /// Every thread that was started takes the first place of its site that is free.
    pub fn begin(&self, turns: &Turns<'_>, cells: &mut [u32], started: u32) -> bool {
        turns.starts(started).all(|(site, stack)| {
            let free =
                |(thread, of): (usize, &Option<usize>)| *of == Some(site) && cells[thread + 1] == WAITING;
            let place = self.sites.iter().enumerate().position(free);
            place.map(|thread| cells[thread + 1] = stack).is_some()
        })
    }
}
