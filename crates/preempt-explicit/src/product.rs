//! The product of a model and an observer that moves in step with it, state by state.
//!
//! Before each step of the model the observer reads the state and moves: a step of the product is a step of the model with
//! one of the observer's moves. The observer's state lies in the byte vector, and its conditions are machine code like the
//! model's. It is no process, so it never counts as a switch; a run that it cannot follow is none that it looks for.
//!
//! What a run of the product means is defined by [`Monitored`]. There are several kinds of monitor, and only replaying asks
//! which: so they hide behind [`Definition`], and neither the product nor what searches it is compiled once for each.

use crate::Unsupported;
use crate::native::Native;
use crate::observer::{FromObserverState, ObserverAutomaton, Reading};
use crate::reduction::Reduction;
use crate::reduction::visible::VisibleLocations;
use crate::replay::{Ending, LassoPath, ReplayError, ReplayOptions, Replayer, StatePath};
use crate::search::{Counterexample, spins};
use crate::store::packed::pieces::Part;
use crate::successors::{Event, Successors};
use preempt_core::{Budget, Property, PropertyKind, SourceMap, StopReason, Trace};
use preempt_model::interpreter::State;
use preempt_model::monitor::{Monitor, Monitored};
use preempt_model::system::Violation;
use preempt_model::{Interpreter, Model, System};
use std::io::{Read, Write};

/// What the product means. `native` says which states byte vectors stand for.
trait Definition {
    fn replay(
        &self,
        native: &Native<'_>,
        path: &StatePath,
        options: ReplayOptions,
        budget: &Budget,
    ) -> Result<Counterexample, ReplayError>;

    fn replay_lasso(
        &self,
        native: &Native<'_>,
        path: &LassoPath,
        budget: &Budget,
    ) -> Result<Trace, StopReason>;

    fn violation_in(&self, native: &Native<'_>, state: &[u8], ending: Ending) -> Option<Property>;

    /// What an accepted run violates.
    fn violation(&self) -> Violation;

    fn work_within(&self, budget: &Budget);
}

fn product_state<P: FromObserverState>(native: &Native<'_>, state: &[u8]) -> (State, P) {
    (native.state_of(state), P::from_number(native.observer_state(state)))
}

impl<'m, M: Monitor<Interpreter<'m>, Place: FromObserverState>> Definition
    for Monitored<'_, Interpreter<'m>, M>
{
    fn replay(
        &self,
        native: &Native<'_>,
        path: &StatePath,
        options: ReplayOptions,
        budget: &Budget,
    ) -> Result<Counterexample, ReplayError> {
        let state_of = &|state: &[u8]| product_state(native, state);
        Replayer { system: self, state_of, budget }.counterexample(path, options)
    }

    fn replay_lasso(
        &self,
        native: &Native<'_>,
        path: &LassoPath,
        budget: &Budget,
    ) -> Result<Trace, StopReason> {
        let state_of = &|state: &[u8]| product_state(native, state);
        Replayer { system: self, state_of, budget }.lasso(path)
    }

    fn violation_in(&self, native: &Native<'_>, state: &[u8], ending: Ending) -> Option<Property> {
        let state_of = &|state: &[u8]| product_state(native, state);
        Replayer { system: self, state_of, budget: &self.budget() }.violation(state, ending)
    }

    fn violation(&self) -> Violation {
        self.monitor.violation()
    }

    fn work_within(&self, budget: &Budget) {
        System::work_within(self, budget);
    }
}

/// A model in machine code with an observer beside it.
pub struct Product<'a, 'm> {
    native: Native<'m>,
    definition: Box<dyn Definition + 'a>,
    observer: ObserverAutomaton,
    /// Are the model's own violations a matter of this check too?
    judges_system: bool,
    readings: Vec<Reading>,
    arrival: Vec<u8>,
    /// The steps that the observer may see; where nothing is left out, that does not matter.
    visible: Option<VisibleLocations>,
}

impl<'a, 'm: 'a> Product<'a, 'm> {
    pub fn new<M: Monitor<Interpreter<'m>, Place: FromObserverState>>(
        model: &'m Model,
        sources: &'m SourceMap,
        observer: ObserverAutomaton,
        definition: Monitored<'a, Interpreter<'m>, M>,
    ) -> Result<Product<'a, 'm>, Unsupported> {
        let conditions = Some(observer.conditions.clone());
        let native = Native::with_conditions(model, sources, conditions, &definition.budget())?;
        let judges_system = definition.monitor.judges_system();
        let definition = Box::new(definition);
        let (readings, arrival) = (Vec::new(), Vec::new());
        Ok(Product { native, definition, observer, judges_system, readings, arrival, visible: None })
    }

    /// Steps that the observer cannot see need not be tried in every order, if it does not count steps either.
    pub fn reduced(self, model: &Model, reduction: Reduction) -> Self {
        if reduction == Reduction::None {
            return self;
        }
        let visible = VisibleLocations::new(model, &self.observer.conditions, self.observer.heeds_labels);
        Product { native: self.native.reduced(reduction), visible: Some(visible), ..self }
    }
}

impl Product<'_, '_> {
    /// The processes to which a reduction restricts itself here; `None` for everybody. Their steps are not seen.
    pub fn reduced_to(&mut self, state: &[u8]) -> Option<Vec<u8>> {
        self.visible.as_ref()?;
        let count = self.native.process_count(state);
        let alone = (0..count)
            .find(|process| self.runs_alone(state, *process) && self.native.can_move(state, *process));
        let chosen =
            alone.map_or_else(|| self.native.persistent(state), |process| Some(vec![process as u8]))?;
        let mut may_show = |process: &u8| {
            let process = usize::from(*process);
            self.is_seen(state, process) && self.native.can_move(state, process)
        };
        (!chosen.iter().any(&mut may_show)).then_some(chosen)
    }

    /// May the process's next step be seen?
    fn is_seen(&self, state: &[u8], process: usize) -> bool {
        let Some(visible) = &self.visible else { return true };
        self.native.location(state, process).is_none_or(|(code, at)| visible.contains(code, at))
    }

    /// Is a run accepted that passes this state infinitely often?
    pub fn accepts(&self, state: &[u8]) -> bool {
        self.observer.states[usize::from(self.native.observer_state(state))].accepts
            || self.observer.heeds_labels && self.native.stands_at_accept(state)
    }

    /// If nobody can move in the state: the same state with the observer's next states.
    pub fn repetitions(&mut self, state: &[u8]) -> Vec<Vec<u8>> {
        if !self.observer.stutters || !self.rests(state) {
            return Vec::new();
        }
        let mut readings = Vec::new();
        let at = self.native.observer_state(state);
        self.observer.read(&mut self.native, state, at, &mut readings);
        let with_observer_at = |at: u16| {
            let mut state = state.to_vec();
            self.native.set_observer_state(&mut state, at);
            state
        };
        readings.into_iter().flatten().map(with_observer_at).collect()
    }

    /// Could the process move, whatever the observer says?
    pub fn could_move(&mut self, state: &[u8], process: usize) -> bool {
        self.native.can_move(state, process)
    }

    /// Does the process only spin, whatever the observer says?
    pub fn spins(&mut self, budget: &Budget, state: &[u8], process: usize) -> bool {
        spins(&mut self.native, budget, state, process)
    }

    /// A path with a cycle at its end, executed by the definition.
    pub fn replay_lasso(&self, path: &LassoPath, budget: &Budget) -> Result<Trace, StopReason> {
        self.definition.replay_lasso(&self.native, path, budget)
    }

    /// What an accepted run violates.
    pub fn accepted_violation(&self) -> Violation {
        self.definition.violation()
    }

    fn rests(&mut self, state: &[u8]) -> bool {
        (0..self.native.process_count(state)).all(|process| !self.native.can_move(state, process))
    }
}

impl Successors for Product<'_, '_> {
    fn judges_states(&self) -> bool {
        true
    }

    fn initial(&mut self) -> Vec<Vec<u8>> {
        let mut states = Vec::new();
        for state in self.native.initial() {
            for at in &self.observer.starts {
                let mut state = state.clone();
                self.native.set_observer_state(&mut state, *at);
                states.push(state);
            }
        }
        states
    }

    fn process_count(&self, state: &[u8]) -> usize {
        self.native.process_count(state)
    }

    fn expand(&mut self, state: &[u8], process: usize, visit: &mut dyn FnMut(Event<'_>)) -> bool {
        self.readings.clear();
        let at = self.native.observer_state(state);
        self.observer.read(&mut self.native, state, at, &mut self.readings);
        // What it has found is a matter of the state, and a run that it does not look for leads nowhere.
        self.readings.retain(Result::is_ok);
        if self.readings.is_empty() {
            return false;
        }
        let mut found = std::mem::take(&mut self.arrival);
        let (readings, range) = (&self.readings, self.native.observer_range());
        let judges_system = self.judges_system;
        let mut wrong: Vec<(PropertyKind, u32)> = Vec::new();
        let moved = self.native.expand(state, process, &mut |event| {
            let (state, runs, steps) = match event {
                Event::Arrival { state, runs, steps } => (state, runs, steps),
                Event::Violation { kind, steps } => {
                    if judges_system {
                        wrong.push((kind, steps));
                    }
                    return;
                }
            };
            for at in readings.iter().flatten() {
                found.clear();
                found.extend_from_slice(state);
                found[range.clone()].copy_from_slice(&at.to_le_bytes());
                visit(Event::Arrival { state: &found, runs, steps });
            }
        });
        self.arrival = found;
        // As in the definition, all of them with each reading.
        for (kind, steps) in readings.iter().flat_map(|_| wrong.iter().copied()) {
            visit(Event::Violation { kind, steps });
        }
        moved
    }

    fn can_move(&mut self, state: &[u8], process: usize) -> bool {
        let mut readings = Vec::new();
        let at = self.native.observer_state(state);
        self.observer.read(&mut self.native, state, at, &mut readings);
        readings.iter().any(Result::is_ok) && self.native.can_move(state, process)
    }

    fn work_within(&mut self, budget: &Budget) {
        self.native.work_within(budget);
        self.definition.work_within(budget);
    }

    fn bytes(&self) -> u64 {
        self.native.bytes()
    }

    fn may_end(&self, _: &[u8]) -> bool {
        true
    }

    fn state_violation(&mut self, state: &[u8]) -> Option<PropertyKind> {
        let first = self.native.observer_state(state);
        let mut waiting = vec![first];
        let mut passed = vec![first];
        let mut readings = Vec::new();
        while let Some(at) = waiting.pop() {
            readings.clear();
            self.observer.read(&mut self.native, state, at, &mut readings);
            for reading in &readings {
                match *reading {
                    Err(kind) => return Some(kind),
                    // A state of rest is read again and again.
                    Ok(next) => {
                        if !passed.contains(&next) {
                            passed.push(next);
                            waiting.push(next);
                        }
                    }
                }
            }
            if !waiting.is_empty() && !self.rests(state) {
                break;
            }
        }
        None
    }

    fn runs_alone(&self, state: &[u8], process: usize) -> bool {
        self.native.runs_alone(state, process) && !self.is_seen(state, process)
    }

    fn class_of(&self, state: &[u8]) -> u32 {
        self.native.class_of(state)
    }

    fn class_size(&self, class: u32) -> Option<usize> {
        self.native.class_size(class)
    }

    fn header(&self) -> usize {
        self.native.header()
    }

    fn write_class(&self, class: u32, state: &mut [u8]) {
        self.native.write_class(class, state);
    }

    fn parts(&self, class: u32) -> Vec<Part> {
        self.native.parts(class)
    }

    fn describe_class(&self, class: u32) -> Option<Vec<u16>> {
        self.native.describe_class(class)
    }

    fn class_described(&self, description: &[u16]) -> Option<u32> {
        self.native.class_described(description)
    }

    fn fingerprint(&self, state: &[u8]) -> u64 {
        self.native.fingerprint(state)
    }

    fn replay(
        &self,
        path: &StatePath,
        options: ReplayOptions,
        budget: &Budget,
    ) -> Result<Counterexample, ReplayError> {
        self.definition.replay(&self.native, path, options, budget)
    }

    fn violation(&self, state: &[u8], ending: Ending) -> Option<Property> {
        self.definition.violation_in(&self.native, state, ending)
    }

    fn identity(&self) -> u64 {
        self.native.identity()
    }

    fn save(&self, out: &mut dyn Write) -> std::io::Result<()> {
        self.native.save(out)
    }

    fn restore(&mut self, input: &mut dyn Read) -> std::io::Result<()> {
        self.native.restore(input)
    }

    fn is_possible(&self, state: &[u8]) -> bool {
        usize::from(self.native.observer_state(state)) < self.observer.states.len()
            && self.native.is_possible(state)
    }

    fn error(&self) -> Option<Unsupported> {
        self.native.error()
    }
}
