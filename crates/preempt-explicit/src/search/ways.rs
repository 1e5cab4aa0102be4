//! How each state was reached, so that a run can be told: one way per (state, last process), and only those after
//! which somebody ran. Paths are not stored: the interpreter takes each step of the way again.

use super::frontier::{Item, NOBODY};
use super::notes::{Note, Notes, ProcessSet};
use crate::store::{Opened, StateNumber, Store};
use crate::successors::Successors;
use preempt_model::Interpreter;
use preempt_model::interpreter::{Action, State};
use preempt_model::search::stable::{Event, expand};

/// Where a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// In the middle of an expansion, with one of its violations, counted from 0.
    During { state: StateNumber, process: u8, violation: u32 },
    /// In a state, after `last` has run.
    In { state: StateNumber, last: u8 },
}

pub type Run = Vec<(usize, Action)>;

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

    pub fn bytes(&self) -> u64 {
        self.notes.bytes()
    }

    /// All steps from the initial state.
    pub fn run<S: Successors>(
        &self,
        store: &Store,
        system: &mut S,
        interpreter: &Interpreter<'_>,
        end: End,
    ) -> Option<Run> {
        let mut opened = Opened::default();
        let mut state_of = |system: &mut S, number: StateNumber| {
            store.open(system, number, &mut opened);
            system.interpreted(&opened.bytes)
        };
        let mut segments: Vec<Run> = Vec::new();
        // What led somewhere was noted before it: one look through the notes, from the end, is enough.
        let mut notes = self.notes.backwards();
        let (mut state, mut way) = match end {
            End::During { state, process, violation } => {
                let from = state_of(system, state);
                segments.push(path_to_violation(interpreter, &from, process, violation)?);
                (state, notes.find(|note| note.let_run(state, process))?.item)
            }
            End::In { state, last } => {
                let is_meant = |note: &Note| note.item.state == state && note.item.last == last;
                (state, notes.find(is_meant)?.item)
            }
        };
        while way.by != NOBODY {
            let (from, to) = (state_of(system, way.from), state_of(system, state));
            segments.push(path_between(interpreter, &from, way.by, &to, way.last)?);
            state = way.from;
            way = notes.find(|note| note.let_run(state, way.by))?.item;
        }
        Some(segments.into_iter().rev().flatten().collect())
    }
}

fn path_to_violation(interpreter: &Interpreter<'_>, from: &State, process: u8, wanted: u32) -> Option<Run> {
    let mut seen = 0;
    let mut found = None;
    expand(interpreter, from, usize::from(process), |event| {
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
fn path_between(
    interpreter: &Interpreter<'_>,
    from: &State,
    process: u8,
    to: &State,
    last: u8,
) -> Option<Run> {
    let mut found: Option<Run> = None;
    expand(interpreter, from, usize::from(process), |event| {
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
