//! The product of a model and an observer ([`Observed`]), with what it means.
//!
//! What a run of the product means is defined by [`Monitored`]. There are several kinds of monitor, and only replaying asks
//! which: so they hide behind [`Definition`], and neither the product nor what searches it is compiled once for each.

use crate::Unsupported;
use crate::native::Native;
use crate::observed::Observed;
use crate::observer::{FromObserverState, ObserverAutomaton};
use crate::reduction::Reduction;
use crate::replay::{Ending, LassoPath, ReplayError, ReplayOptions, Replayer, StatePath};
use crate::search::Counterexample;
use crate::store::packed::pieces::Part;
use crate::successors::{Event, Parallel, Replayable, Successors};
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

/// A model in machine code with an observer beside it, and its definition.
pub struct Product<'a, 'm> {
    pub observed: Observed<'m>,
    definition: Box<dyn Definition + 'a>,
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
        let observed = Observed::new(native, observer, definition.monitor.judges_system());
        Ok(Product { observed, definition: Box::new(definition) })
    }

    /// Steps that the observer cannot see need not be tried in every order, if it does not count steps either.
    pub fn reduced(self, model: &Model, reduction: Reduction) -> Self {
        Product { observed: self.observed.reduced(model, reduction), ..self }
    }
}

impl Product<'_, '_> {
    /// A path with a cycle at its end, executed by the definition.
    pub fn replay_lasso(&self, path: &LassoPath, budget: &Budget) -> Result<Trace, StopReason> {
        self.definition.replay_lasso(&self.observed.native, path, budget)
    }

    /// What an accepted run violates.
    pub fn accepted_violation(&self) -> Violation {
        self.definition.violation()
    }
}

impl Successors for Product<'_, '_> {
    fn judges_states(&self) -> bool {
        self.observed.judges_states()
    }

    fn initial(&mut self) -> Vec<Vec<u8>> {
        self.observed.initial()
    }

    fn process_count(&self, state: &[u8]) -> usize {
        self.observed.process_count(state)
    }

    fn expand(&mut self, state: &[u8], process: usize, visit: &mut dyn FnMut(Event<'_>)) -> bool {
        self.observed.expand(state, process, visit)
    }

    fn can_move(&mut self, state: &[u8], process: usize) -> bool {
        self.observed.can_move(state, process)
    }

    fn work_within(&mut self, budget: &Budget) {
        self.observed.work_within(budget);
        self.definition.work_within(budget);
    }

    fn bytes(&self) -> u64 {
        self.observed.bytes()
    }

    fn may_end(&self, state: &[u8]) -> bool {
        self.observed.may_end(state)
    }

    fn state_violation(&mut self, state: &[u8]) -> Option<PropertyKind> {
        self.observed.state_violation(state)
    }

    fn runs_alone(&self, state: &[u8], process: usize) -> bool {
        self.observed.runs_alone(state, process)
    }

    fn class_of(&self, state: &[u8]) -> u32 {
        self.observed.class_of(state)
    }

    fn class_size(&self, class: u32) -> Option<usize> {
        self.observed.class_size(class)
    }

    fn header(&self) -> usize {
        self.observed.header()
    }

    fn write_class(&self, class: u32, state: &mut [u8]) {
        self.observed.write_class(class, state);
    }

    fn describe_class(&self, class: u32) -> Option<Vec<u16>> {
        self.observed.describe_class(class)
    }

    fn class_described(&self, description: &[u16]) -> Option<u32> {
        self.observed.class_described(description)
    }

    fn fingerprint(&self, state: &[u8]) -> u64 {
        self.observed.fingerprint(state)
    }

    fn identity(&self) -> u64 {
        self.observed.identity()
    }

    fn save(&self, out: &mut dyn Write) -> std::io::Result<()> {
        self.observed.save(out)
    }

    fn restore(&mut self, input: &mut dyn Read) -> std::io::Result<()> {
        self.observed.restore(input)
    }

    fn is_possible(&self, state: &[u8]) -> bool {
        self.observed.is_possible(state)
    }

    fn error(&self) -> Option<Unsupported> {
        self.observed.error()
    }

    fn parts(&self, class: u32) -> Vec<Part> {
        self.observed.parts(class)
    }
}

impl Replayable for Product<'_, '_> {
    fn replay(
        &self,
        path: &StatePath,
        options: ReplayOptions,
        budget: &Budget,
    ) -> Result<Counterexample, ReplayError> {
        self.definition.replay(&self.observed.native, path, options, budget)
    }

    fn violation(&self, state: &[u8], ending: Ending) -> Option<Property> {
        self.definition.violation_in(&self.observed.native, state, ending)
    }
}

impl<'m> Parallel for Product<'_, 'm> {
    type Worker = Observed<'m>;

    fn worker(&self) -> Option<Observed<'m>> {
        self.observed.another()
    }
}
