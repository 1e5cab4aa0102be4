//! Data races: two accesses to the same memory, one of them a write and one of them not atomic, that the program's own
//! orderings do not order.
//!
//! **What it computes.** Vector clocks (`clock.rs`) follow what releases make known to acquires. Of each cell the last write
//! and the last read of each thread since are kept; an access races with one of them that its thread does not know of.
//!
//! **Why it is right.** An access is no scheduling point. Every happens-before graph of the other operations is run, and
//! whether two accesses are ordered depends on the graph alone, so a race is found whichever of the two comes first in the
//! run. `tests/races` compares with C++20's happens-before, written down apart.
//!
//! **What it costs.** A comparison with the last write and each thread's last read, and no scheduling.

use super::clock::Clock;
use super::context::Context;
use super::failure::{Access, RunFailure};
use super::thread::CodeLocation;
use preempt_stateless::ObjectId;
use std::collections::HashMap;

/// An access, and when it was: the time of its thread.
#[derive(Debug, Clone, Copy)]
struct TimedAccess {
    access: Access,
    time: u32,
}

impl TimedAccess {
    fn happens_before(&self, clock: &Clock) -> bool {
        clock.get(self.access.thread) >= self.time
    }
}

/// The accesses to a cell, or to an atomic by what is not atomic (`with_mut`, `unsync_load`, `get_mut`).
#[derive(Debug, Clone, Default)]
pub(crate) struct Accesses {
    write: Option<TimedAccess>,
    /// The last one of each thread since the last write.
    reads: Vec<TimedAccess>,
}

impl Accesses {
    /// One that conflicts with an access now and does not happen before it.
    fn race(&self, clock: &Clock, write: bool) -> Option<Access> {
        let reads = self.reads.iter().filter(|_| write);
        let mut conflicting = self.write.iter().chain(reads);
        conflicting.find(|other| !other.happens_before(clock)).map(|other| other.access)
    }

    fn add(&mut self, access: Access, time: u32) {
        let now = TimedAccess { access, time };
        if access.write {
            self.write = Some(now);
            self.reads.clear();
        } else {
            self.reads.retain(|other| other.access.thread != access.thread);
            self.reads.push(now);
        }
    }
}

/// The cells that a run has used.
#[derive(Debug, Default)]
pub(crate) struct Cells(HashMap<ObjectId, Accesses, foldhash::fast::FixedState>);

impl Context {
    /// The running thread accesses the cell.
    pub fn access_cell(&mut self, id: ObjectId, write: bool, location: CodeLocation) {
        self.access_cell_at(id, write, location, self.time());
    }

    /// As [`Context::access_cell`], at a time that may be past.
    pub fn access_cell_at(&mut self, id: ObjectId, write: bool, location: CodeLocation, time: u32) {
        if self.cutting {
            return;
        }
        self.used(id);
        let access = Access { thread: self.current, write, location, object: id, after: Some(self.done()) };
        let clock = &self.threads[self.current].clock;
        let cell = self.cells.0.entry(id).or_default();
        let race = cell.race(clock, write);
        cell.add(access, time);
        self.failed.extend(race.map(|first| RunFailure::Race { first, second: access }));
    }

    /// The running thread accesses the atomic's value with an access that is not atomic.
    pub fn access_plainly(&mut self, id: ObjectId, write: bool, location: CodeLocation) {
        if self.cutting || self.threads.is_empty() {
            return;
        }
        let access = Access { thread: self.current, write, location, object: id, after: Some(self.done()) };
        let clock = &self.threads[self.current].clock;
        let object = self.objects.get_mut(id);
        let stored = object.readers.ahead_of(clock).map(|other| (other, true));
        let atomic =
            stored.or_else(|| object.loads.ahead_of(clock).filter(|_| write).map(|other| (other, false)));
        let plain = object.plain.get_or_insert_default();
        let race = plain.race(clock, write);
        plain.add(access, clock.get(access.thread));
        let race = race.or_else(|| {
            let (thread, write) = atomic?;
            let location = self.last_use(id, thread, location);
            Some(Access { thread, write, location, object: id, after: None })
        });
        self.failed.extend(race.map(|first| RunFailure::Race { first, second: access }));
    }

    /// The running thread accesses the atomic, as a step; when it does is kept for accesses that are not atomic.
    #[inline]
    pub fn access_atomically(&mut self, id: ObjectId, write: bool) {
        let Context { threads, objects, current, .. } = self;
        let (clock, object) = (&threads[*current].clock, objects.get_mut(id));
        let last = if write { &mut object.readers } else { &mut object.loads };
        last.set(*current, clock.get(*current));
        if let Some(first) = object.plain.as_ref().and_then(|plain| plain.race(clock, write)) {
            let location = threads[*current].at.unwrap_or(first.location);
            let second = Access { thread: *current, write, location, object: id, after: None };
            self.failed.push(RunFailure::Race { first, second });
        }
    }

    /// Where the thread has last used the object, as far as the steps of the run were recorded.
    fn last_use(&self, id: ObjectId, thread: usize, otherwise: CodeLocation) -> CodeLocation {
        let mut steps = self.steps.iter().flatten().rev();
        let own = steps.find(|step| step.thread == thread && step.object == Some(id));
        own.map(|step| step.location).or(self.threads[thread].at).unwrap_or(otherwise)
    }
}
