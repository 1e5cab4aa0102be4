//! The reference interpreter: the definition of what a model means.
//!
//! It is written to be read, not to be fast; everything fast is tested against it. One idea a file:
//!
//! * `state`: what a state is, and its packed form;
//! * `eval`: expressions;
//! * `ready`: can a command be executed?
//! * `apply`: what a command does;
//! * `moves`: which edges a process may take, who may run at all, and rendezvous;
//! * `exclusive`: promises about who uses a channel;
//! * `display`: states and steps for people.
//!
//! Who runs: a rendezvous is one step of the sender, and its receiver is the running process afterwards. Inside an
//! atomic sequence nobody else is offered a step; a process that blocks there gives up the processor.

mod apply;
#[cfg(all(test, feature = "generator"))]
mod audit;
mod display;
mod eval;
mod exclusive;
mod moves;
mod ready;
mod state;

pub use eval::asking;
pub use moves::{Action, ChannelEvent};
pub use state::{Channel, Frame, Machine, Process, State};

use crate::expr::Expr;
use crate::footprint::Footprint;
use crate::program::{CodeId, Init, Location, LocationId, Model};
use crate::system::{Description, Successor, System, Violation};
use eval::{Evaluation, Timeout};
use moves::{Move, timeout_in};
use preempt_core::{Budget, Change, PropertyKind, SourceMap, Span, Waiting};
use std::sync::{Mutex, PoisonError};

/// Spin numbers processes and channels with a byte, and so do we. Whoever starts more than that makes a run-time error.
pub const MAX_PROCESSES: usize = 255;
/// The same for channels.
pub const MAX_CHANNELS: usize = 255;

/// How often, in steps of a deterministic block, the budget is looked at.
const LOOK_UP_EVERY: u32 = 4096;

/// More calls than this, one inside of the other, are a run-time error.
pub const MAX_CALL_DEPTH: usize = 1_000;

/// Something that has no meaning was about to happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault(pub String);

/// A claim that counts as a process.
#[derive(Debug, Clone, Copy)]
struct Watching {
    /// It changes what the processes do, since one of them asks how many there are.
    is_felt: bool,
}

/// The definition of what a model means: from a state, every step that a process can make.
#[derive(Debug)]
pub struct Interpreter<'m> {
    model: &'m Model,
    sources: &'m SourceMap,
    initial: Machine,
    /// The claim that watches, if the model counts it. It begins before the processes, and after the globals.
    claim: Option<Watching>,
    /// For what may take long within one step.
    budget: Mutex<Budget>,
    /// Room for the steps of a process.
    spare: Mutex<Vec<Move>>,
}

impl<'m> Interpreter<'m> {
    /// Fails if the initial values themselves have no meaning, as in `byte x = 1 / 0`.
    pub fn new(model: &'m Model, sources: &'m SourceMap) -> Result<Interpreter<'m>, Fault> {
        let empty = Machine {
            globals: vec![0; model.global_slots as usize],
            hidden: vec![0; model.hidden_slots as usize],
            channels: Vec::new(),
            processes: Vec::new(),
            exclusive: None,
            last: 0,
        };
        let (budget, spare) = (Mutex::default(), Mutex::default());
        let mut interpreter = Interpreter { model, sources, initial: empty, claim: None, budget, spare };
        let mut machine = interpreter.initial.clone();
        for init in &model.init {
            interpreter.initialise_global(&mut machine, init)?;
        }
        interpreter.initial.hidden = machine.hidden.clone();
        let is_felt = model.counts_claim && model.processes_count();
        interpreter.claim = model.counts_claim.then_some(Watching { is_felt });
        for start in &model.start {
            let arguments = vec![0; model.code(start.code).parameters.len()];
            interpreter.start_process(&mut machine, start.code, &arguments, start.priority)?;
        }
        interpreter.initial = machine;
        Ok(interpreter)
    }

    /// The same for a variant of the model, within the same budget.
    pub fn of<'v>(&self, variant: &'v Model) -> Result<Interpreter<'v>, Fault>
    where
        'm: 'v,
    {
        let other = Interpreter::new(variant, self.sources)?;
        other.work_within(&self.budget());
        Ok(other)
    }

    /// What is executed.
    pub fn model(&self) -> &'m Model {
        self.model
    }

    /// Where its statements stand.
    pub fn sources(&self) -> &'m SourceMap {
        self.sources
    }

    /// Do the processes behave otherwise because a claim watches them? Then what goes wrong in them is not what goes wrong
    /// without it, and has to be looked for as well.
    pub fn feels_claim(&self) -> bool {
        self.claim.is_some_and(|claim| claim.is_felt)
    }

    fn initialise_global(&self, machine: &mut Machine, init: &Init) -> Result<(), Fault> {
        let (hidden, slot, value) = match init {
            Init::Set { hidden, slot, ty, value } => {
                (*hidden, *slot, ty.wrap(Evaluation::outside(self, machine).value(value)?))
            }
            Init::Channel { hidden, slot, template } => (*hidden, *slot, machine.new_channel(*template)?),
        };
        let slots = if hidden { &mut machine.hidden } else { &mut machine.globals };
        slots[slot as usize] = value;
        Ok(())
    }

    /// Every step that the process can make, each with the messages that it sends and receives.
    pub fn successors_with_events(
        &self,
        state: &State,
        process: usize,
    ) -> Vec<(Successor<State, Action>, Vec<ChannelEvent>)> {
        self.each_successor(state, process, |successor, events| (successor, events))
    }

    fn each_successor<T>(
        &self,
        state: &State,
        process: usize,
        make: impl Fn(Successor<State, Action>, Vec<ChannelEvent>) -> T,
    ) -> Vec<T> {
        let machine = self.thaw(state);
        if machine.exclusive.is_some_and(|holder| holder != process) || process >= machine.processes.len() {
            return Vec::new();
        }
        // Nobody waits for it: several threads may ask at the same time.
        let spare = || self.spare.try_lock().ok();
        let mut steps = spare().map(|mut spare| std::mem::take(&mut *spare)).unwrap_or_default();
        self.moves_into(&machine, process, timeout_in(&machine), &mut steps);
        let made = steps.drain(..).map(|step| {
            let broken = self.broken_promise(&machine, &step);
            let successor = Successor {
                action: step.action,
                state: step.machine.map(|next| next.freeze(self.model)),
                runs: step.runs,
                violation: step.violation.or(broken),
            };
            make(successor, step.events)
        });
        let made = made.collect();
        if let Some(mut spare) = spare() {
            *spare = steps;
        }
        made
    }

    /// The value of an expression that belongs to no process.
    pub fn value(&self, state: &State, expr: &Expr) -> Result<i32, Fault> {
        let machine = self.thaw(state);
        Evaluation { timeout: Timeout::Ask, ..Evaluation::outside(self, &machine) }.value(expr)
    }

    /// Does an expression that belongs to no process hold? Only globals and remote references have a meaning in it.
    pub fn holds(&self, state: &State, expr: &Expr) -> Result<bool, Fault> {
        Ok(self.value(state, expr)? != 0)
    }

    /// The code that a process executes, and where it stands in it.
    pub fn place_of(&self, state: &State, process: usize) -> Option<(CodeId, LocationId)> {
        let machine = self.thaw(state);
        machine.processes.get(process).map(|process| (process.frame().code, process.frame().location))
    }

    pub(crate) fn stands_at_accept(&self, state: &State) -> bool {
        self.some_location(state, |location| location.accept)
    }

    pub(crate) fn stands_at_progress(&self, state: &State) -> bool {
        self.some_location(state, |location| location.progress)
    }

    fn some_location(&self, state: &State, test: impl Fn(&Location) -> bool) -> bool {
        let machine = self.thaw(state);
        machine.processes.iter().any(|process| {
            let frame = process.frame();
            test(self.model.code(frame.code).location(frame.location))
        })
    }

    /// The state opened: for engines that keep states in a form of their own.
    pub fn open(&self, state: &State) -> Machine {
        self.thaw(state)
    }

    /// The way back from [`Interpreter::open`].
    pub fn close(&self, machine: &Machine) -> State {
        machine.freeze(self.model)
    }

    fn thaw(&self, state: &State) -> Machine {
        Machine::thaw(state, self.model, &self.initial.hidden)
    }

    fn violation(&self, kind: PropertyKind, name: String, span: Span) -> Violation {
        Violation { kind, name, location: Some(self.sources.location(span)) }
    }
}

impl System for Interpreter<'_> {
    type State = State;
    type Action = Action;

    fn initial_states(&self) -> Vec<State> {
        vec![self.initial.freeze(self.model)]
    }

    fn process_count(&self, state: &State) -> usize {
        state.process_count()
    }

    fn successors(&self, state: &State, process: usize) -> Vec<Successor<State, Action>> {
        self.each_successor(state, process, |successor, _| successor)
    }

    fn exclusive(&self, state: &State) -> Option<usize> {
        state.exclusive()
    }

    fn release(&self, state: &State) -> State {
        let mut machine = self.thaw(state);
        machine.exclusive = None;
        machine.freeze(self.model)
    }

    fn may_end(&self, state: &State) -> bool {
        let machine = self.thaw(state);
        let frames = machine.processes.iter().flat_map(|process| &process.frames);
        // A caller stands where its call comes back to.
        frames.into_iter().all(|frame| self.model.code(frame.code).location(frame.location).end)
    }

    fn waiting(&self, state: &State, process: usize) -> Option<Waiting> {
        display::waiting(self, &self.thaw(state), process)
    }

    fn process_name(&self, state: &State, process: usize) -> String {
        display::process_name(self.model, &self.thaw(state), process)
    }

    fn describe(&self, state: &State, process: usize, action: &Action) -> Description {
        display::describe(self, &self.thaw(state), process, action)
    }

    fn variables(&self, state: &State) -> Vec<Change> {
        display::variables(self.model, &self.thaw(state))
    }

    fn state_bytes(&self, state: &State) -> usize {
        state.byte_count()
    }

    fn work_within(&self, budget: &Budget) {
        *self.budget.lock().unwrap_or_else(PoisonError::into_inner) = budget.clone();
    }

    fn budget(&self) -> Budget {
        self.budget.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn footprint(&self, state: &State, process: usize) -> Option<Footprint> {
        let machine = self.thaw(state);
        let frame = machine.processes.get(process)?.frame();
        Some(Footprint::of_location(self.model, frame.code, frame.location))
    }
}
