//! How each state was reached, so that a run can be shown: one parent per (state, last process). One parent per
//! state would give runs with too many switches.

use super::RunCost;
use super::stable::{Event, expand};
use crate::system::System;
use std::collections::HashMap;

pub(super) type StateNumber = u32;

/// The process that was running when a state was entered; `None` for an initial state.
pub(super) type Last = Option<u16>;

#[derive(Debug, Default)]
pub(super) struct Trail {
    /// By state and the process running on arrival: where it came from.
    arrivals: HashMap<(StateNumber, u16), Arrival, foldhash::fast::RandomState>,
    /// By state and process expanded there: which arrival made it run.
    expanded: HashMap<(StateNumber, u16), Last, foldhash::fast::RandomState>,
}

#[derive(Debug, Clone, Copy)]
struct Arrival {
    cost: RunCost,
    from: StateNumber,
    process: u16,
    /// Which of the arrivals of that expansion, in order.
    which: u32,
}

/// Where a run ends: with one of the violations of an expansion, counted from 0, or in a state.
#[derive(Debug, Clone, Copy)]
pub(super) enum End {
    During { state: StateNumber, process: usize, violation: u32 },
    In { state: StateNumber, last: Last },
}

impl Trail {
    /// Keeps the cheapest arrival.
    pub fn arrived(
        &mut self,
        (state, runs): (StateNumber, usize),
        cost: RunCost,
        (from, process): (StateNumber, usize),
        which: u32,
    ) {
        let arrival = Arrival { cost, from, process: process as u16, which };
        self.arrivals
            .entry((state, runs as u16))
            .and_modify(|known| {
                if cost < known.cost {
                    *known = arrival;
                }
            })
            .or_insert(arrival);
    }

    pub fn expanded(&mut self, state: StateNumber, process: usize, last: Last) {
        self.expanded.entry((state, process as u16)).or_insert(last);
    }

    /// The initial state of the run and its steps; not all of them if the system's budget ends.
    pub fn run<S: System>(
        &self,
        system: &S,
        state_of: impl Fn(StateNumber) -> S::State,
        end: End,
    ) -> (StateNumber, Vec<(usize, S::Action)>) {
        let budget = system.budget();
        let mut segments = Vec::new();
        let (mut state, mut last) = match end {
            End::In { state, last } => (state, last),
            End::During { state, process, violation } => {
                segments.push(path_to_violation(system, &state_of(state), process, violation));
                (state, self.last_before(state, process as u16))
            }
        };
        while let Some(runs) = last {
            if budget.exhausted().is_some() {
                break;
            }
            let Some(arrival) = self.arrivals.get(&(state, runs)) else { break };
            segments.push(path_of(system, &state_of(arrival.from), arrival));
            state = arrival.from;
            last = self.last_before(state, arrival.process);
        }
        (state, segments.into_iter().rev().flatten().collect())
    }

    fn last_before(&self, state: StateNumber, process: u16) -> Last {
        self.expanded.get(&(state, process)).copied().flatten()
    }

    /// Memory used, in bytes.
    pub fn bytes(&self) -> u64 {
        bytes_of_table::<((StateNumber, u16), Arrival)>(self.arrivals.capacity())
            + bytes_of_table::<((StateNumber, u16), Last)>(self.expanded.capacity())
    }
}

/// A hash table with room for so many entries: an eighth is left free, and each has a byte of its hash beside it.
pub(super) fn bytes_of_table<T>(capacity: usize) -> u64 {
    (capacity as u64 * 8 / 7) * (size_of::<T>() as u64 + 1)
}

fn path_to_violation<S: System>(
    system: &S,
    from: &S::State,
    process: usize,
    wanted: u32,
) -> Vec<(usize, S::Action)> {
    let mut seen = 0;
    let mut found = Vec::new();
    expand(system, from, process, |event| {
        if let Event::Violation { path, .. } = event {
            if seen == wanted {
                found = path.to_vec();
            }
            seen += 1;
        }
    });
    found
}

/// Paths are not stored: the expansion is done again and its arrivals are counted.
fn path_of<S: System>(system: &S, from: &S::State, arrival: &Arrival) -> Vec<(usize, S::Action)> {
    let mut seen = 0;
    let mut found = Vec::new();
    expand(system, from, usize::from(arrival.process), |event| {
        if let Event::Arrival { path, .. } = event {
            if seen == arrival.which {
                found = path.to_vec();
            }
            seen += 1;
        }
    });
    found
}
