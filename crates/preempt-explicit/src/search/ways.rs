//! How each state was reached, so that a run can be told: one way per (state, last process), and only those after
//! which somebody ran. Paths are not stored: the system's definition takes each step of the way again.

use super::frontier::{Item, NOBODY};
use super::notes::{Note, Notes, ProcessSet};
use crate::store::{Opened, StateNumber, Store};
use crate::successors::Successors;
use preempt_core::Budget;
use preempt_model::System;
use preempt_model::search::stable::{Event, expand};
use std::io::{Read, Result, Write};

/// Where a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// In the middle of an expansion, with one of its violations, counted from 0.
    During { state: StateNumber, process: u8, violation: u32 },
    /// In a state, after `last` has run.
    In { state: StateNumber, last: u8 },
}

impl End {
    pub fn state(self) -> StateNumber {
        let (End::During { state, .. } | End::In { state, .. }) = self;
        state
    }
}

/// Some steps of a system.
pub type Path<S> = Vec<(usize, <S as System>::Action)>;

/// A run from one of the initial states.
pub struct Run<S: System> {
    pub initial: S::State,
    pub steps: Path<S>,
}

/// Why somebody ran, each time.
#[derive(Debug, Default)]
pub struct Ways {
    notes: Notes,
}

impl Ways {
    /// The processes `ran` ran because of this item; for [`Who::Last`] it is that process.
    #[inline]
    pub fn note(&mut self, item: &Item, ran: ProcessSet) {
        self.notes.push(&Note { item: *item, ran });
    }

    pub fn save(&self, out: &mut dyn Write) -> Result<()> {
        self.notes.save(out)
    }

    pub fn restore(&mut self, input: &mut dyn Read, is_possible: &dyn Fn(&Item) -> bool) -> Result<()> {
        self.notes = Notes::restore(input, is_possible)?;
        Ok(())
    }

    pub fn bytes(&self) -> u64 {
        self.notes.bytes()
    }

    /// The initial state, and all steps from there; `None` if the budget ends.
    pub fn run<S: Successors>(
        &self,
        store: &Store,
        system: &mut S,
        end: End,
        budget: &Budget,
    ) -> Option<Run<S::Reference>> {
        let mut opened = Opened::default();
        let mut state_of = |system: &mut S, number: StateNumber| {
            store.open(system, number, &mut opened);
            system.state_of(&opened.bytes)
        };
        let mut segments = Vec::new();
        // What led somewhere was noted before it: one look through the notes, from the end, is enough.
        let mut notes = self.notes.backwards();
        let (mut number, mut way) = match end {
            End::During { state, process, violation } => {
                let from = state_of(system, state);
                segments.push(path_to_violation(system.reference(), &from, process, violation)?);
                (state, notes.find(|note| note.let_run(state, process))?.item)
            }
            End::In { state, last } => (state, notes.find(|note| note.ends(state, last))?.item),
        };
        let mut state = state_of(system, number);
        while way.by != NOBODY {
            if budget.exhausted().is_some() {
                return None;
            }
            let from = state_of(system, way.from);
            segments.push(path_between(system.reference(), &from, way.by, &state, way.last)?);
            (number, state) = (way.from, from);
            way = notes.find(|note| note.let_run(number, way.by))?.item;
        }
        Some(Run { initial: state, steps: segments.into_iter().rev().flatten().collect() })
    }
}

/// The process's way from a state to one of its violations, counted from 0.
pub fn path_to_violation<S: System>(
    system: &S,
    from: &S::State,
    process: u8,
    wanted: u32,
) -> Option<Path<S>> {
    let mut seen = 0;
    let mut found = None;
    expand(system, from, usize::from(process), |event| {
        if let Event::Violation { path, .. } = event {
            if seen == wanted {
                found = Some(path.to_vec());
            }
            seen += 1;
        }
    });
    found
}

/// The shortest of the process's ways from one stable state to the other.
pub fn path_between<S: System>(
    system: &S,
    from: &S::State,
    process: u8,
    to: &S::State,
    last: u8,
) -> Option<Path<S>> {
    let mut found: Option<Path<S>> = None;
    expand(system, from, usize::from(process), |event| {
        if let Event::Arrival { path, state, runs } = event
            && state == *to
            && runs == usize::from(last)
            && found.as_ref().is_none_or(|known| path.len() < known.len())
        {
            found = Some(path.to_vec());
        }
    });
    found
}
