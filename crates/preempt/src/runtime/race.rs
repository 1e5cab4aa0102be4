//! Data races on cells: two accesses, one of them a write, that the program's own orderings do not order.
//!
//! An access is no scheduling point. Every happens-before graph of the other operations is run, and whether two
//! accesses are ordered depends on the graph alone, so a race is found whichever of the two comes first in the run.

use super::clock::Clock;
use super::context::{Context, Location_};
use super::failure::{Access, Failed};
use preempt_stateless::ObjectId;
use std::collections::HashMap;

#[derive(Debug, Clone, Copy)]
struct Seen {
    thread: usize,
    time: u32,
    location: Location_,
}

impl Seen {
    fn before(&self, clock: &Clock) -> bool {
        clock.get(self.thread) >= self.time
    }
}

#[derive(Debug, Default)]
struct Cell {
    write: Option<Seen>,
    /// The last one of each thread since the last write.
    reads: Vec<Seen>,
}

#[derive(Debug, Default)]
pub(crate) struct Cells(HashMap<ObjectId, Cell, foldhash::fast::FixedState>);

impl Context {
    /// The running thread accesses the cell.
    pub fn access_cell(&mut self, id: ObjectId, write: bool, location: Location_) {
        if self.cutting {
            return;
        }
        self.used(id);
        let thread = self.current;
        let clock = &self.threads[thread].clock;
        let cell = self.cells.0.entry(id).or_default();
        let now = Seen { thread, time: clock.get(thread), location };
        let against =
            |seen: &Seen, wrote: bool| Access { thread: seen.thread, write: wrote, location: seen.location };
        let conflict = cell
            .write
            .iter()
            .filter(|seen| !seen.before(clock))
            .map(|seen| against(seen, true))
            .chain(
                cell.reads
                    .iter()
                    .filter(|seen| write && !seen.before(clock))
                    .map(|seen| against(seen, false)),
            )
            .next();
        if let Some(first) = conflict {
            let second = Access { thread, write, location };
            self.failed.push(Failed::Race { first, second });
        }
        if write {
            cell.write = Some(now);
            cell.reads.clear();
        } else {
            cell.reads.retain(|seen| seen.thread != thread);
            cell.reads.push(now);
        }
    }
}

/// The accesses to an atomic that are not atomic (`with_mut`, `unsync_load`, `get_mut`).
#[derive(Debug, Clone, Default)]
pub(crate) struct Plain {
    write: Option<Seen>,
    reads: Vec<Seen>,
}

impl Plain {
    /// An access that does not happen before.
    fn against(&self, clock: &Clock, write: bool) -> Option<Access> {
        let seen = |seen: &Seen, write| Access { thread: seen.thread, write, location: seen.location };
        let written = self.write.iter().find(|write| !write.before(clock)).map(|write| seen(write, true));
        written.or_else(|| {
            let mut reads = self.reads.iter().filter(|_| write);
            reads.find(|read| !read.before(clock)).map(|read| seen(read, false))
        })
    }
}

impl Context {
    /// The running thread accesses the atomic's value with an access that is not atomic.
    pub fn access_plainly(&mut self, id: ObjectId, write: bool, location: Location_) {
        if self.cutting || self.threads.is_empty() {
            return;
        }
        let thread = self.current;
        let clock = &self.threads[thread].clock;
        let object = self.objects.get_mut(id);
        let stored = object.readers.ahead_of(clock).map(|other| (other, true));
        let atomic =
            stored.or_else(|| object.loads.ahead_of(clock).filter(|_| write).map(|other| (other, false)));
        let plain = object.plain.get_or_insert_default();
        let conflict = plain.against(clock, write);
        let now = Seen { thread, time: clock.get(thread), location };
        if write {
            plain.write = Some(now);
            plain.reads.clear();
        } else {
            plain.reads.retain(|seen| seen.thread != thread);
            plain.reads.push(now);
        }
        let conflict = conflict.or_else(|| {
            atomic.map(|(other, write)| Access {
                thread: other,
                write,
                location: self.last_use(id, other, location),
            })
        });
        if let Some(first) = conflict {
            let second = Access { thread, write, location };
            self.failed.push(Failed::Race { first, second });
        }
    }

    /// The running thread accesses the atomic, as a step; that it does is noted for accesses that are not atomic.
    #[inline]
    pub fn access_atomically(&mut self, id: ObjectId, write: bool) {
        let Context { threads, objects, current, .. } = self;
        let (clock, object) = (&threads[*current].clock, objects.get_mut(id));
        let noted = if write { &mut object.readers } else { &mut object.loads };
        noted.set(*current, clock.get(*current));
        if let Some(first) = object.plain.as_ref().and_then(|plain| plain.against(clock, write)) {
            let location = threads[*current].at.unwrap_or(first.location);
            let second = Access { thread: *current, write, location };
            self.failed.push(Failed::Race { first, second });
        }
    }

    /// Where the thread has last used the object, as far as the steps of the run were recorded.
    fn last_use(&self, id: ObjectId, thread: usize, otherwise: Location_) -> Location_ {
        let mut steps = self.steps.iter().flatten().rev();
        let own = steps.find(|step| step.thread == thread && step.object == Some(id));
        own.map(|step| step.location).or(self.threads[thread].at).unwrap_or(otherwise)
    }
}
