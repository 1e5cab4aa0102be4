//! The path of a depth-first search by numbers in the exact store. Successors are stored as soon as they are met, while the
//! state before them is open: then only what the step has changed is looked up.

use super::path_store::{Admission, PathStore};
use crate::search::holzmann_florian::{RevisitRule, Visit};
use crate::store::known::Reach;
use crate::store::{Opened, StateNumber, Store};
use crate::successors::Successors;
use std::collections::HashMap;

pub struct ExactPathStore {
    states: Store,
    rule: Rule,
    /// With iterative shortening: the fewest steps in which each state was reached. One that is reached sooner is visited.
    depths: Option<HashMap<StateNumber, u64>>,
    on_path: NumberSet,
    opened: Opened,
    open_is: Option<StateNumber>,
}

/// When is a state to be visited?
enum Rule {
    /// If it never was (Figs. 1 and 2).
    Once(NumberSet),
    /// As a figure has it that knows more of a visit.
    Figure(Box<dyn RevisitRule>),
}

impl ExactPathStore {
    /// Without a rule each state is visited once.
    pub fn new(rule: Option<Box<dyn RevisitRule>>, shortening: bool) -> ExactPathStore {
        ExactPathStore {
            states: Store::new(),
            rule: rule.map_or_else(|| Rule::Once(NumberSet::default()), Rule::Figure),
            depths: shortening.then(HashMap::new),
            on_path: NumberSet::default(),
            opened: Opened::default(),
            open_is: None,
        }
    }
}

impl PathStore for ExactPathStore {
    type State = StateNumber;

    #[inline]
    fn keep<S: Successors + ?Sized>(&mut self, system: &S, state: &[u8]) -> Option<StateNumber> {
        let key = self.states.encode(system, state, &self.opened)?;
        let (number, _) = self.states.insert(key, key.hash(), system.process_count(state))?;
        Some(number)
    }

    #[inline]
    fn admit<S: Successors + ?Sized>(
        &mut self,
        _: &S,
        state: StateNumber,
        visit: Visit,
        steps: u64,
    ) -> Admission {
        let admission = match &mut self.rule {
            Rule::Once(visited) => {
                let is_new = visited.insert(state);
                Admission { visits: is_new, is_new }
            }
            Rule::Figure(rule) => rule.admit(state, visit),
        };
        let Some(depths) = &mut self.depths else { return admission };
        let known = depths.entry(state).or_insert(u64::MAX);
        let is_sooner = steps < *known;
        *known = steps.min(*known);
        Admission { visits: admission.visits || is_sooner, ..admission }
    }

    /// It was stored for ever.
    fn discard(&mut self, _: StateNumber) {}

    #[inline]
    fn enter(&mut self, state: StateNumber) -> bool {
        !self.on_path.insert(state)
    }

    #[inline]
    fn leave(&mut self, state: StateNumber, was_on_path: bool) {
        if !was_on_path {
            self.on_path.remove(state);
        }
    }

    #[inline]
    fn is_on_path(&self, state: StateNumber) -> bool {
        self.on_path.contains(state)
    }

    #[inline]
    fn open<S: Successors + ?Sized>(&mut self, system: &S, state: StateNumber) -> &[u8] {
        if self.open_is != Some(state) {
            self.states.open(system, state, &mut self.opened);
            self.open_is = Some(state);
        }
        &self.opened.bytes
    }

    fn bytes(&self) -> u64 {
        let rule = match &self.rule {
            Rule::Once(visited) => visited.bytes(),
            Rule::Figure(rule) => rule.bytes(),
        };
        let depths = self.depths.as_ref().map_or(0, |depths| 16 * depths.capacity() as u64);
        self.states.bytes() + rule + depths
    }

    fn path_bytes(&self) -> u64 {
        self.on_path.bytes()
    }

    fn reach(&self) -> Reach {
        Reach::Whole
    }
}

/// A set of states by their numbers, one bit each.
#[derive(Debug, Default)]
struct NumberSet(Vec<u64>);

impl NumberSet {
    /// True if it was not there.
    #[inline]
    fn insert(&mut self, state: StateNumber) -> bool {
        let (word, bit) = (state as usize / 64, 1 << (state % 64));
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        let is_new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        is_new
    }

    #[inline]
    fn remove(&mut self, state: StateNumber) {
        if let Some(word) = self.0.get_mut(state as usize / 64) {
            *word &= !(1 << (state % 64));
        }
    }

    #[inline]
    fn contains(&self, state: StateNumber) -> bool {
        self.0.get(state as usize / 64).is_some_and(|word| word & (1 << (state % 64)) != 0)
    }

    fn bytes(&self) -> u64 {
        8 * self.0.capacity() as u64
    }
}
