//! How each state was reached: one predecessor for each state and process that ran in it, and only where somebody ran.
//!
//! Paths are not stored. Who ran and why is written to a log, a few bytes each time; from the end of a run it is read
//! backwards, once, since what led somewhere was logged before it.

use super::cost_store::End;
use super::expansion_log::{ExpansionLog, LogEntry, ProcessSet};
use super::frontier::Item;
use crate::replay::{Ending, NOBODY, PathState, StatePath};
use crate::store::{Opened, Store};
use crate::successors::Successors;
use preempt_core::Budget;
use std::io::{Read, Result, Write};

#[derive(Debug, Default)]
pub struct Predecessors {
    log: ExpansionLog,
}

impl Predecessors {
    /// Because of this item these processes ran, or it is the end of a run.
    #[inline]
    pub fn log(&mut self, item: &Item, ran: ProcessSet) {
        self.log.push(&LogEntry { item: *item, ran });
    }

    pub fn save(&self, out: &mut dyn Write) -> Result<()> {
        self.log.save(out)
    }

    pub fn restore(&mut self, input: &mut dyn Read, is_possible: &dyn Fn(&Item) -> bool) -> Result<()> {
        self.log = ExpansionLog::restore(input, is_possible)?;
        Ok(())
    }

    pub fn bytes(&self) -> u64 {
        self.log.bytes()
    }

    /// The path from an initial state; `None` if the budget ends, or there is none.
    pub fn path_to<S: Successors + ?Sized>(
        &self,
        store: &Store,
        system: &S,
        end: &End,
        budget: &Budget,
    ) -> Option<StatePath> {
        let mut log = self.log.backwards();
        let last = match end.ending {
            Ending::During { process, .. } => log.find(|entry| entry.let_run(end.site, process)),
            Ending::InState => log.find(|entry| entry.ends(end.site, end.last)),
        };
        let (mut item, mut opened, mut states) = (last?.item, Opened::default(), Vec::new());
        loop {
            store.open(system, item.state, &mut opened);
            states.push(PathState { bytes: opened.bytes.clone(), by: item.by, last: item.last });
            if item.by == NOBODY {
                states.reverse();
                return Some(StatePath { states, ending: end.ending });
            }
            if budget.exhausted().is_some() {
                return None;
            }
            let (from, by) = (item.from, item.by);
            item = log.find(|entry| entry.let_run(from, by))?.item;
        }
    }
}
