//! Observers that follow a run and judge it: never claims, Büchi automata, labels.
//!
//! An observer stands at a *place* and reads a state each time the system is about to move on from it. It reads only
//! stable states: in the middle of an atomic sequence nobody looks. It is no process: it does not count as a switch,
//! and where it cannot go on, the run is simply not one that it looks for.

mod automaton;
mod claim;
mod labels;
mod trace;

pub use automaton::BuchiMonitor;
pub use claim::{ClaimMonitor, Followed};
pub use labels::{AcceptanceMonitor, NonProgressMonitor, Stage};
pub use trace::Traced;

use crate::system::{Description, Successor, System, Violation};
use preempt_core::{Budget, Change, Waiting};
use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::Hash;

/// An observer: it reads every stable state of a run, and says which runs are wrong. Several threads may ask it.
pub trait Monitor<S: System>: Sync {
    /// Where it can stand.
    type Place: Copy + Eq + Hash + Debug + Send;

    /// Where it stands before the first state.
    fn start(&self) -> Self::Place;

    /// Everywhere it may stand before the first state.
    fn starts(&self) -> Vec<Self::Place> {
        vec![self.start()]
    }

    /// Where it can go on reading this state. None: this run is of no interest any more.
    fn read(&self, state: &S::State, place: Self::Place) -> Vec<Reading<Self::Place>>;

    /// A run that passes such a state and place infinitely often is a violation.
    fn accepts(&self, state: &S::State, place: Self::Place) -> bool;

    /// Is a run in which nobody can move any more continued by its last state for ever?
    fn stutters(&self) -> bool {
        true
    }

    /// Are the system's own violations found along with it? They are looked for without an observer, unless it changes
    /// what the system does.
    fn judges_system(&self) -> bool {
        false
    }

    /// What an accepted run violates.
    fn violation(&self) -> Violation;
}

/// What comes of reading one state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading<P> {
    /// `None`: the observer has seen enough, and that is a violation.
    pub place: Option<P>,
    /// The observer's own assertion that fails here.
    pub violation: Option<Violation>,
}

impl<P> Reading<P> {
    fn on(place: P) -> Reading<P> {
        Reading { place: Some(place), violation: None }
    }
}

/// Does the monitor find its violation in a run through these states? `loop_start` is the state to which the last one
/// leads back; without it the last state is repeated for ever, if the monitor looks at that.
pub fn finds_violation<S: System, M: Monitor<S>>(
    monitor: &M,
    states: &[S::State],
    loop_start: Option<usize>,
) -> bool {
    let Some(last) = states.len().checked_sub(1) else { return false };
    let next = |position: usize| match (position < last, loop_start) {
        (true, _) => Some(position + 1),
        (false, Some(start)) => Some(start),
        (false, None) => monitor.stutters().then_some(last),
    };
    // Everything that can be reached, and from each accepting place everything that can be reached again.
    let explore = |from: Vec<(usize, M::Place)>| -> Option<HashSet<(usize, M::Place)>> {
        let mut reached = HashSet::new();
        let mut waiting = from;
        while let Some((position, place)) = waiting.pop() {
            for reading in monitor.read(&states[position], place) {
                let (Some(place), None) = (reading.place, reading.violation) else { return None };
                if let Some(next) = next(position)
                    && reached.insert((next, place))
                {
                    waiting.push((next, place));
                }
            }
        }
        Some(reached)
    };
    let starts: Vec<_> = monitor.starts().into_iter().map(|place| (0, place)).collect();
    let Some(mut reached) = explore(starts.clone()) else { return true };
    reached.extend(starts);
    reached
        .into_iter()
        .filter(|(position, place)| monitor.accepts(&states[*position], *place))
        .any(|node| explore(vec![node]).is_some_and(|again| again.contains(&node)))
}

/// A system with an observer that moves in step with it: for what the observer finds in a finite run.
#[derive(Debug, Clone, Copy)]
pub struct Monitored<'a, S, M> {
    /// What is observed.
    pub system: &'a S,
    /// Who observes it.
    pub monitor: &'a M,
}

impl<S: System, M: Monitor<S>> Monitored<'_, S, M> {
    /// Nobody can move any more, and the monitor looks at that.
    fn rests(&self, state: &S::State) -> bool {
        self.monitor.stutters()
            && (0..self.system.process_count(state))
                .all(|process| self.system.successors(state, process).is_empty())
    }
}

impl<S: System, M: Monitor<S>> System for Monitored<'_, S, M> {
    type State = (S::State, M::Place);
    /// Which of the observer's readings goes with the step.
    type Action = (u32, S::Action);

    fn initial_states(&self) -> Vec<Self::State> {
        let with_places =
            |state: S::State| self.monitor.starts().into_iter().map(move |place| (state.clone(), place));
        self.system.initial_states().into_iter().flat_map(with_places).collect()
    }

    fn process_count(&self, (state, _): &Self::State) -> usize {
        self.system.process_count(state)
    }

    fn successors(
        &self,
        (state, place): &Self::State,
        process: usize,
    ) -> Vec<Successor<Self::State, Self::Action>> {
        let successors = self.system.successors(state, process);
        let places = match self.system.exclusive(state) {
            Some(_) => vec![Some(*place)],
            None if successors.is_empty() => return Vec::new(),
            None => self.monitor.read(state, *place).into_iter().map(|reading| reading.place).collect(),
        };
        let mut found = Vec::new();
        for (number, place) in places.iter().enumerate() {
            let Some(place) = place else { continue };
            for successor in &successors {
                found.push(Successor {
                    action: (number as u32, successor.action.clone()),
                    state: successor.state.clone().map(|state| (state, *place)),
                    runs: successor.runs,
                    violation: successor.violation.clone().filter(|_| self.monitor.judges_system()),
                });
            }
        }
        found
    }

    fn exclusive(&self, (state, _): &Self::State) -> Option<usize> {
        self.system.exclusive(state)
    }

    fn release(&self, (state, place): &Self::State) -> Self::State {
        (self.system.release(state), *place)
    }

    fn state_violation(&self, (state, place): &Self::State) -> Option<Violation> {
        if self.system.exclusive(state).is_some() {
            return None;
        }
        let mut waiting = vec![*place];
        let mut passed = HashSet::from([*place]);
        while let Some(place) = waiting.pop() {
            for reading in self.monitor.read(state, place) {
                match reading {
                    Reading { violation: Some(violation), .. } => return Some(violation),
                    Reading { place: None, .. } => return Some(self.monitor.violation()),
                    // A state of rest is read again and again.
                    Reading { place: Some(place), .. } => {
                        if passed.insert(place) {
                            waiting.push(place);
                        }
                    }
                }
            }
            if !self.rests(state) {
                break;
            }
        }
        None
    }

    fn waiting(&self, (state, _): &Self::State, process: usize) -> Option<Waiting> {
        self.system.waiting(state, process)
    }

    fn process_name(&self, (state, _): &Self::State, process: usize) -> String {
        self.system.process_name(state, process)
    }

    fn describe(&self, (state, _): &Self::State, process: usize, action: &Self::Action) -> Description {
        self.system.describe(state, process, &action.1)
    }

    fn variables(&self, (state, _): &Self::State) -> Vec<Change> {
        self.system.variables(state)
    }

    fn work_within(&self, budget: &Budget) {
        self.system.work_within(budget);
    }

    fn budget(&self) -> Budget {
        self.system.budget()
    }

    fn state_bytes(&self, (state, _): &Self::State) -> usize {
        self.system.state_bytes(state) + size_of::<M::Place>()
    }
}
