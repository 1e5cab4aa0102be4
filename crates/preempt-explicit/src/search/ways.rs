//! How each state was reached, so that a run can be told: one way per (state, last process), and only those after
//! which somebody ran. Paths are not stored: the system's
//! definition takes each step of the way again.

use super::frontier::{Item, NOBODY, Who};
use crate::store::records::{Parent, Records};
use crate::store::{Opened, StateNumber, Store};
use crate::successors::Successors;
use preempt_model::System;
use preempt_model::search::stable::{Event, expand};
use std::collections::HashMap;

/// Where a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// In the middle of an expansion, with one of its violations, counted from 0.
    During { state: StateNumber, process: u8, violation: u32 },
    /// In a state, after `last` has run.
    In { state: StateNumber, last: u8 },
}

/// Some steps of a system.
pub type Path<S> = Vec<(usize, <S as System>::Action)>;

/// A run from one of the initial states.
pub struct Run<S: System> {
    pub initial: S::State,
    pub steps: Path<S>,
}

/// The ways that do not fit into the states' records.
#[derive(Debug, Default)]
pub struct Ways {
    more: HashMap<StateNumber, Vec<Parent>, foldhash::fast::FixedState>,
    kept: u64,
}

impl Ways {
    /// Somebody ran because of this item, or a run ends with it.
    pub fn note(&mut self, records: &mut Records, item: &Item) {
        let state = item.state;
        let mut parent =
            Parent { from: item.from, process: item.by, last: item.last, continues: false, others: 0 };
        let number = match item.who {
            Who::Last | Who::Nobody => 0,
            Who::Others => 1 + self.all(records, state).map(|parent| parent.others).max().unwrap_or(0),
        };
        let mark = |parent: &mut Parent| match item.who {
            Who::Last => parent.continues = true,
            Who::Others if parent.others == 0 => parent.others = number,
            Who::Others | Who::Nobody => {}
        };
        match records.parent(state) {
            None => {
                mark(&mut parent);
                records.set_parent(state, parent);
            }
            // The way already known is not dearer: this process came here in the order of cost.
            Some(mut first) if first.last == item.last => {
                mark(&mut first);
                records.set_parent(state, first);
            }
            Some(_) => {
                let more = self.more.entry(state).or_default();
                match more.iter_mut().find(|known| known.last == item.last) {
                    Some(known) => mark(known),
                    None => {
                        mark(&mut parent);
                        more.push(parent);
                        self.kept += 1;
                    }
                }
            }
        }
    }

    fn all<'a>(&'a self, records: &Records, state: StateNumber) -> impl Iterator<Item = Parent> + use<'a> {
        records.parent(state).into_iter().chain(self.more.get(&state).into_iter().flatten().copied())
    }

    /// The way to the state after which the process ran there.
    fn before(&self, records: &Records, state: StateNumber, process: u8) -> Option<Parent> {
        let all = || self.all(records, state);
        all().find(|way| way.continues && way.last == process).or_else(|| {
            all().filter(|way| way.others > 0 && way.last != process).min_by_key(|way| way.others)
        })
    }

    pub fn bytes(&self) -> u64 {
        // An entry of the table with its list, and the list itself.
        self.more.capacity() as u64 * 33 + self.kept * size_of::<Parent>() as u64 * 2
    }

    /// The initial state, and all steps from there.
    pub fn run<S: Successors>(&self, store: &Store, system: &mut S, end: End) -> Option<Run<S::Meaning>> {
        let mut opened = Opened::default();
        let mut state_of = |system: &mut S, number: StateNumber| {
            store.open(system, number, &mut opened);
            system.state_of(&opened.bytes)
        };
        let mut segments = Vec::new();
        let (mut number, mut way) = match end {
            End::During { state, process, violation } => {
                let from = state_of(system, state);
                segments.push(path_to_violation(system.meaning(), &from, process, violation)?);
                (state, self.before(&store.records, state, process)?)
            }
            End::In { state, last } => (state, self.all(&store.records, state).find(|way| way.last == last)?),
        };
        let mut state = state_of(system, number);
        while way.process != NOBODY {
            let from = state_of(system, way.from);
            segments.push(path_between(system.meaning(), &from, way.process, &state, way.last)?);
            (number, state) = (way.from, from);
            way = self.before(&store.records, number, way.process)?;
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
