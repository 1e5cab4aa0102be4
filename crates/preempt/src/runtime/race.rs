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
