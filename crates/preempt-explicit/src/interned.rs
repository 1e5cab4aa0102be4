//! Any system as a source of successors: its states are kept as they are and numbered, and the number is the byte
//! vector. It is for protocols written as Rust types, for what machine code does not do, and for comparison with it. Other
//! threads may compute its steps ahead ([`ahead`]).

mod ahead;

use crate::replay::{Ending, ReplayError, ReplayOptions, Replayer, StatePath};
use crate::search::{Counterexample, ProcessSet};
use crate::store::index::{Index, prefetch};
use crate::successors::{Event, Replayable, Successors};
use ahead::Ahead;
use preempt_core::{Budget, Property, PropertyKind};
use preempt_model::System;
use preempt_model::search::stable;
use std::hash::BuildHasher;

pub struct Interned<'a, S: System> {
    system: &'a S,
    states: Vec<S::State>,
    /// The states' numbers by their hashes.
    numbers: Index,
    hasher: foldhash::fast::RandomState,
    /// Of the states themselves.
    state_bytes: u64,
    budget: Budget,
    runs_alone: RunsAlone<'a, S>,
    /// With several threads.
    ahead: Option<Ahead<'a, S::State>>,
}

/// The exact reduction, for a system that knows about it.
pub type RunsAlone<'a, S> = Option<Box<dyn Fn(&<S as System>::State, usize) -> bool + 'a>>;

/// What a state refers to is allocated by itself.
const BYTES_OF_AN_ALLOCATION: u64 = 24;

impl<S: System> std::fmt::Debug for Interned<'_, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Interned").field("states", &self.states.len()).finish_non_exhaustive()
    }
}

impl<'a, S: System> Interned<'a, S> {
    pub fn new(system: &'a S, runs_alone: RunsAlone<'a, S>) -> Interned<'a, S> {
        Interned {
            system,
            states: Vec::new(),
            numbers: Index::default(),
            hasher: foldhash::fast::RandomState::default(),
            state_bytes: 0,
            budget: system.budget(),
            runs_alone,
            ahead: None,
        }
    }

    fn number(&mut self, state: S::State) -> [u8; 4] {
        let hash = self.hasher.hash_one(&state);
        self.number_hashed(state, hash).0
    }

    /// And the state itself if it was numbered before.
    fn number_hashed(&mut self, state: S::State, hash: u64) -> ([u8; 4], Option<S::State>) {
        let (states, hasher) = (&mut self.states, &self.hasher);
        if let Some(number) = self.numbers.find(hash, |number| states[number as usize] == state) {
            return (number.to_le_bytes(), Some(state));
        }
        let number = states.len() as u32;
        self.state_bytes += self.system.state_bytes(&state) as u64 + BYTES_OF_AN_ALLOCATION;
        states.push(state);
        let prefetched = |number: u32| prefetch(&states[number as usize]);
        self.numbers.insert(hash, number, prefetched, |number| hasher.hash_one(&states[number as usize]));
        (number.to_le_bytes(), None)
    }

    fn at(&self, state: &[u8]) -> &S::State {
        &self.states[number_in(state) as usize]
    }
}

fn number_in(state: &[u8]) -> u32 {
    u32::from_le_bytes([state[0], state[1], state[2], state[3]])
}

impl<S: System> Successors for Interned<'_, S> {
    fn judges_states(&self) -> bool {
        true
    }

    fn initial(&mut self) -> Vec<Vec<u8>> {
        let states = self.system.initial_states();
        states.into_iter().map(|state| self.number(state).to_vec()).collect()
    }

    fn process_count(&self, state: &[u8]) -> usize {
        self.system.process_count(self.at(state))
    }

    fn expand(&mut self, state: &[u8], process: usize, visit: &mut dyn FnMut(Event<'_>)) -> bool {
        if self.budget.stopped().is_some() {
            return true;
        }
        if let Some(moved) = self.answer(number_in(state), process as u8, visit) {
            return moved;
        }
        let (state, budget) = (self.at(state).clone(), self.budget.clone());
        stable::expand_within(self.system, &budget, &state, process, |event| match event {
            stable::Event::Arrival { path, state, runs } => {
                let state = self.number(state);
                visit(Event::Arrival { state: &state, runs: runs as u8, steps: path.len() as u32 });
            }
            stable::Event::Violation { path, violation } => {
                visit(Event::Violation { kind: violation.kind, steps: path.len() as u32 });
            }
        })
    }

    fn can_move(&mut self, state: &[u8], process: usize) -> bool {
        !self.system.successors(self.at(state), process).is_empty()
    }

    fn work_within(&mut self, budget: &Budget) {
        self.budget = budget.clone();
        self.system.work_within(budget);
        self.ahead.iter().for_each(|ahead| ahead.work_within(budget));
    }

    fn is_helped(&self) -> bool {
        self.ahead.is_some()
    }

    fn announce(&mut self, some: &[(Vec<u8>, ProcessSet)]) {
        let Some(ahead) = &mut self.ahead else { return };
        for (state, processes) in some {
            let number = number_in(state);
            ahead.announce(number, &self.states[number as usize], processes);
        }
        ahead.give();
    }

    fn may_end(&self, state: &[u8]) -> bool {
        self.system.may_end(self.at(state))
    }

    fn state_violation(&mut self, state: &[u8]) -> Option<PropertyKind> {
        self.system.state_violation(self.at(state)).map(|violation| violation.kind)
    }

    fn runs_alone(&self, state: &[u8], process: usize) -> bool {
        self.runs_alone.as_ref().is_some_and(|runs_alone| runs_alone(self.at(state), process))
    }

    fn class_of(&self, _: &[u8]) -> u32 {
        0
    }

    fn class_size(&self, _: u32) -> Option<usize> {
        Some(size_of::<u32>())
    }

    fn header(&self) -> usize {
        0
    }

    fn write_class(&self, _: u32, _: &mut [u8]) {}

    fn fingerprint(&self, state: &[u8]) -> u64 {
        foldhash::quality::FixedState::default().hash_one(self.at(state))
    }

    fn bytes(&self) -> u64 {
        let unused = (self.states.capacity() - self.states.len()) * size_of::<S::State>();
        self.state_bytes + self.numbers.bytes() + unused as u64
    }
}

impl<S: System> Replayable for Interned<'_, S> {
    fn replay(
        &self,
        path: &StatePath,
        options: ReplayOptions,
        budget: &Budget,
    ) -> Result<Counterexample, ReplayError> {
        let (system, state_of) = (self.system, &|state: &[u8]| self.at(state).clone());
        Replayer { system, state_of, budget }.counterexample(path, options)
    }

    fn violation(&self, state: &[u8], ending: Ending) -> Option<Property> {
        let (system, state_of) = (self.system, &|state: &[u8]| self.at(state).clone());
        Replayer { system, state_of, budget: &self.budget }.violation(state, ending)
    }
}
