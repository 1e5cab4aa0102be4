//! A model in machine code with an observer that moves in step with it, state by state.
//!
//! Before each step of the model the observer reads the state and moves: a step here is a step of the model with
//! one of the observer's moves. The observer's state lies in the byte vector, and its conditions are machine code like the
//! model's. It is no process, so it never counts as a switch; a run that it cannot follow is none that it looks for.
//!
//! What a run means is not known here but in [`crate::product`], so that every thread can have one of these.

use crate::Unsupported;
use crate::native::Native;
use crate::observer::{ObserverAutomaton, Reading};
use crate::reduction::Reduction;
use crate::reduction::visible::VisibleLocations;
use crate::replay::NOBODY;
use crate::search::Spinning;
use crate::store::packed::pieces::Part;
use crate::successors::{Decided, Event, Expander, Sink, Successors};
use preempt_core::{Budget, PropertyKind};
use preempt_model::Model;
use std::io::{Read, Write};
use std::ops::Range;

/// The model and the observer, as one system.
pub struct Observed<'m> {
    pub native: Native<'m>,
    observer: ObserverAutomaton,
    /// Are the model's own violations a matter of this check too?
    judges_system: bool,
    readings: Vec<Reading>,
    arrival: Vec<u8>,
    reduction: Reduction,
    /// The steps that the observer may see; where nothing is left out, that does not matter.
    visible: Option<VisibleLocations>,
    spinning: Spinning,
}

/// The steps from one state, or from several one after the other.
#[derive(Debug, Default)]
pub struct Steps {
    /// Of all states that they lead to.
    bytes: Vec<u8>,
    pub arrivals: Vec<StepTo>,
    /// The processes that cannot move.
    pub resting: Vec<u8>,
    /// Some step has no end: it fails, or goes round in an atomic sequence for ever.
    pub has_dead_ends: bool,
}

/// One of them: `by` makes it, and afterwards `runs` is running, after so many steps of the model.
#[derive(Debug, Clone, Copy)]
pub struct StepTo {
    start: usize,
    length: usize,
    pub by: u8,
    pub runs: u8,
    pub steps: u32,
}

impl Steps {
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.arrivals.clear();
        self.resting.clear();
        self.has_dead_ends = false;
    }

    /// Where a step leads to.
    pub fn state(&self, step: &StepTo) -> &[u8] {
        &self.bytes[step.start..step.start + step.length]
    }
}

impl<'m> Observed<'m> {
    pub fn new(native: Native<'m>, observer: ObserverAutomaton, judges_system: bool) -> Observed<'m> {
        let (readings, arrival) = (Vec::new(), Vec::new());
        let reduction = Reduction::None;
        let spinning = Spinning::default();
        Observed { native, observer, judges_system, readings, arrival, reduction, visible: None, spinning }
    }

    /// Steps that the observer cannot see need not be tried in every order, if it does not count steps either.
    pub fn reduced(self, model: &Model, reduction: Reduction) -> Self {
        if reduction == Reduction::None {
            return self;
        }
        let visible = VisibleLocations::new(model, &self.observer.conditions, self.observer.heeds_labels);
        Observed { native: self.native.reduced(reduction), reduction, visible: Some(visible), ..self }
    }

    /// The same for another thread.
    pub fn another(&self) -> Option<Observed<'m>> {
        let native = self.native.another()?.reduced(self.reduction);
        let (observer, reduction, visible) = (self.observer.clone(), self.reduction, self.visible.clone());
        Some(Observed { visible, reduction, ..Observed::new(native, observer, self.judges_system) })
    }

    /// Every step from a state, the first process's first; if `reduces`, without those that the reduction leaves out. If nobody
    /// can move, the state repeats itself by [`NOBODY`].
    pub fn steps_from(&mut self, state: &[u8], reduces: bool) -> Steps {
        let mut steps = Steps::default();
        self.add_steps_from(state, reduces, &mut steps);
        steps
    }

    /// The same, behind those of other states.
    pub fn add_steps_from(&mut self, state: &[u8], reduces: bool, steps: &mut Steps) {
        let (arrivals, resting) = (steps.arrivals.len(), steps.resting.len());
        let chosen = if reduces { self.reduced_to(state) } else { None };
        self.add_steps(state, &mut chosen.into_iter().flatten(), steps);
        // A step that leads nowhere does not stand for those of the others.
        if steps.arrivals.len() == arrivals {
            steps.resting.truncate(resting);
            self.add_steps(state, &mut (0..self.native.process_count(state) as u8), steps);
        }
        if steps.arrivals.len() == arrivals {
            for repeated in self.repetitions(state) {
                let start = steps.bytes.len();
                steps.bytes.extend_from_slice(&repeated);
                let length = repeated.len();
                steps.arrivals.push(StepTo { start, length, by: NOBODY, runs: NOBODY, steps: 0 });
            }
        }
    }

    fn add_steps(&mut self, state: &[u8], processes: &mut dyn Iterator<Item = u8>, found: &mut Steps) {
        for by in processes {
            let before = found.arrivals.len();
            let moved = self.expand(state, usize::from(by), &mut |event| {
                if let Event::Arrival { state, runs, steps } = event {
                    let (start, length) = (found.bytes.len(), state.len());
                    found.arrivals.push(StepTo { start, length, by, runs, steps });
                    found.bytes.extend_from_slice(state);
                }
            });
            if found.arrivals.len() == before {
                found.resting.push(by);
                found.has_dead_ends |= moved;
            }
        }
    }

    /// The processes to which a reduction restricts itself here; `None` for everybody. Their steps are not seen.
    fn reduced_to(&mut self, state: &[u8]) -> Option<Vec<u8>> {
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
    fn repetitions(&mut self, state: &[u8]) -> Vec<Vec<u8>> {
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
        self.spinning.spins(&mut self.native, budget, state, process)
    }

    fn rests(&mut self, state: &[u8]) -> bool {
        (0..self.native.process_count(state)).all(|process| !self.native.can_move(state, process))
    }
}

impl Observed<'_> {
    /// Where it may go on from a state; what it has found is a matter of the state, and a run that it does not look for leads
    /// nowhere.
    fn read(&mut self, state: &[u8]) {
        self.readings.clear();
        let at = self.native.observer_state(state);
        self.observer.read(&mut self.native, state, at, &mut self.readings);
        self.readings.retain(Result::is_ok);
    }
}

/// Writes where the observer goes on into every successor, on its way into the sink.
struct Observing<'a, K> {
    sink: &'a mut K,
    readings: &'a [Reading],
    range: Range<usize>,
    judges_system: bool,
}

impl<K: Sink> Sink for Observing<'_, K> {
    #[inline]
    fn buffer(&mut self) -> &mut Vec<u8> {
        self.sink.buffer()
    }

    #[inline]
    fn arrived(&mut self, start: usize, runs: u8, steps: u32) {
        let end = self.sink.buffer().len();
        for (number, at) in self.readings.iter().flatten().enumerate() {
            let buffer = self.sink.buffer();
            let first = if number == 0 { start } else { buffer.len() };
            if number > 0 {
                buffer.extend_from_within(start..end);
            }
            let place = first + self.range.start..first + self.range.end;
            buffer[place].copy_from_slice(&at.to_le_bytes());
            self.sink.arrived(first, runs, steps);
        }
    }

    fn violated(&mut self, kind: PropertyKind, steps: u32) {
        if self.judges_system {
            self.readings.iter().for_each(|_| self.sink.violated(kind, steps));
        }
    }
}

impl Expander for Observed<'_> {
    fn expand_into(&mut self, state: &[u8], process: usize, sink: &mut impl Sink) -> bool {
        self.read(state);
        if self.readings.is_empty() {
            return false;
        }
        let (range, judges_system) = (self.native.observer_range(), self.judges_system);
        let mut observing = Observing { sink, readings: &self.readings, range, judges_system };
        self.native.expand_into(state, process, &mut observing)
    }

    fn place_of(&self, state: &[u8], process: usize) -> Option<usize> {
        self.native.place_of(state, process)
    }

    fn decided_by(
        &mut self,
        state: &[u8],
        process: usize,
        is_known: &dyn Fn(&Range<usize>) -> bool,
    ) -> Option<Decided> {
        let mut decided = self.native.decided_by(state, process, is_known)?;
        for condition in &self.observer.conditions {
            self.native.read_by(state, condition, &mut decided.stretches)?;
        }
        decided.stretches.push(self.native.observer_range());
        Some(decided)
    }

    fn moves_without_timeout(&mut self, state: &[u8], process: usize) -> bool {
        self.read(state);
        !self.readings.is_empty() && self.native.moves_without_timeout(state, process)
    }
}

impl Successors for Observed<'_> {
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
        self.read(state);
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
        self.read(state);
        !self.readings.is_empty() && self.native.can_move(state, process)
    }

    fn work_within(&mut self, budget: &Budget) {
        self.native.work_within(budget);
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

    fn fingerprint(&self, state: &[u8]) -> u64 {
        self.native.fingerprint(state)
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
