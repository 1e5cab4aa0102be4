//! A model as something that runs step by step, so that the algorithms can be judged by searches that share no code with
//! them: the states in which its runs end within a bound must be those of exhaustive search.
//!
//! **What depends on what.** Values that processes share are one object. A step that may change what others can do
//! writes it, any other step reads it: so steps that only look or are local are independent of each other. Whether a
//! step writes follows from where its process stands, since it must not depend on what others do meanwhile. Besides
//! shared values these are written: who runs alone (so every step into, within and out of an atomic sequence writes)
//! and who waits for a rendezvous (so arriving there writes).
//!
//! **Choices.** The gate has a byte for each process: how many transitions it has now. It changes when the object is
//! written, and when a process moves by itself, which adds to it as readers of a lock do. Which transition a process takes is
//! part of the action: in the same place, after the same write, its choices are the same.
//!
//! **Rendezvous.** Two steps between which nobody else can move: the sender offers, its receiver accepts. The sender
//! cannot go on before that, so the switch to the receiver is free, and the receiver is the running process afterwards:
//! a rendezvous costs what `preempt-model` says.
//!
//! **Processes** are threads that live and die; a number that is used again is another thread.
//!
//! In a *coarse* run every step writes. That is needed where a step depends on what is local to others: where they stand
//! (remote references, `timeout`, priorities) or who was last.

mod error;

pub use error::SystemRunError;

use crate::executable::{Executable, Flow, Move, RunEnd};
use crate::explore::{Exploration, ExplorationLimits, ExplorationStop, RunObserver, Strategy, explore};
use crate::operation::{Need, ObjectId, Operation};
use crate::stamp::derive_name;
use preempt_core::StopReason;
use preempt_model::expr::Scope;
use preempt_model::footprint::{Channels, Footprint};
use preempt_model::system::{Successor, System, Violation};

/// What is shared: three objects that every step touches alike, since one gate has bytes for 16 processes.
const SHARED: [ObjectId; 3] = [ObjectId(1), ObjectId(2), ObjectId(3)];
const PER_OBJECT: usize = 16;

/// The kinds of operations: a step that may change what others can do, and one that cannot.
const WRITING_STEP: u32 = 1;
const READING_STEP: u32 = 0;

/// So many processes may live at a time.
pub const MAX_PROCESSES: usize = PER_OBJECT * SHARED.len();

/// Where a run ended, and what was wrong with its last step if something was.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FinalState<S> {
    /// If the last step has no meaning, the state before it.
    pub state: S,
    /// What was wrong.
    pub violation: Option<Violation>,
}

/// Where each run ended, in the order of the runs.
pub type FinalStates<S> = Vec<FinalState<<S as System>::State>>;

/// A system and its current run.
#[derive(Debug)]
pub struct SystemRun<'a, S: System> {
    system: &'a S,
    coarse: bool,
    initial: Option<S::State>,
    state: Option<S::State>,
    /// A rendezvous half done.
    offer: Option<Offer<S>>,
    threads: Vec<Process>,
    /// The threads that live, by the number that the system gives them.
    alive: Vec<usize>,
    /// How many transitions each of them has.
    choices: Vec<u8>,
    violation: Option<Violation>,
    error: Option<SystemRunError>,
    final_states: FinalStates<S>,
}

#[derive(Debug)]
struct Offer<S: System> {
    receiver: usize,
    successor: Successor<S::State, S::Action>,
}

#[derive(Debug, Clone, Copy)]
struct Process {
    name: u64,
    children: u64,
    /// `None` once it has ended.
    number: Option<usize>,
    /// Does its next step write?
    writes: bool,
}

impl<'a, S: System> SystemRun<'a, S> {
    /// Stands before the first step of a run. In a coarse run every step writes.
    pub fn new(system: &'a S, coarse: bool) -> SystemRun<'a, S> {
        let mut states = system.initial_states();
        let initial = if states.len() == 1 { states.pop() } else { None };
        let error = initial.is_none().then_some(SystemRunError::InitialStates);
        let mut run = SystemRun {
            system,
            coarse,
            initial,
            state: None,
            offer: None,
            threads: Vec::new(),
            alive: Vec::new(),
            choices: Vec::new(),
            violation: None,
            error,
            final_states: Vec::new(),
        };
        run.start();
        run
    }

    /// Where runs have ended.
    pub fn final_states(&self) -> &[FinalState<S::State>] {
        &self.final_states
    }

    /// Why the system cannot be run like this, if it cannot.
    pub fn error(&self) -> Option<SystemRunError> {
        self.error
    }

    /// The state to move from: a process whose atomic sequence is stuck lets others run.
    fn here(&self) -> Option<S::State> {
        let state = self.state.as_ref()?;
        match self.system.exclusive(state) {
            Some(alone) if self.system.successors(state, alone).is_empty() => {
                Some(self.system.release(state))
            }
            _ => Some(state.clone()),
        }
    }

    fn refuse(&mut self, reason: SystemRunError) {
        self.error.get_or_insert(reason);
        self.choices.fill(0);
    }

    /// Finds out who can move.
    fn look(&mut self) {
        self.choices.clear();
        self.choices.resize(self.alive.len(), 0);
        if self.error.is_some() {
            return;
        }
        if let Some(offer) = &self.offer {
            self.choices[offer.receiver] = 1;
            return;
        }
        let Some(state) = self.here() else { return };
        let alone = self.system.exclusive(&state);
        for process in (0..self.alive.len()).filter(|process| alone.is_none_or(|alone| alone == *process)) {
            match u8::try_from(self.system.successors(&state, process).len()) {
                Ok(choices) => self.choices[process] = choices,
                Err(_) => return self.refuse(SystemRunError::Choice),
            }
        }
    }

    /// A thread has come to another place: what is its next step?
    fn arrive(&mut self, thread: usize, state: &S::State) {
        let Some(number) = self.threads[thread].number else { return };
        let inside = self.system.exclusive(state) == Some(number);
        let writes = match self.system.footprint(state, number) {
            Some(footprint) if !self.coarse => writes(&footprint),
            _ => Some(true),
        };
        self.threads[thread].writes = inside || writes != Some(false);
        if writes.is_none() {
            self.refuse(SystemRunError::Coarse);
        }
    }

    /// The processes of the state: `parent` has started those that are new.
    fn count(&mut self, parent: Option<usize>, state: &S::State) {
        let count = self.system.process_count(state);
        for ended in self.alive.drain(count.min(self.alive.len())..) {
            self.threads[ended].number = None;
        }
        while self.alive.len() < count {
            let name = match parent {
                None => self.threads.len() as u64 + 1,
                Some(parent) => {
                    let parent = &mut self.threads[parent];
                    parent.children += 1;
                    derive_name(parent.name, parent.children)
                }
            };
            let (thread, number) = (self.threads.len(), Some(self.alive.len()));
            self.threads.push(Process { name, children: 0, number, writes: true });
            self.alive.push(thread);
            self.arrive(thread, state);
        }
        if count > MAX_PROCESSES {
            self.refuse(SystemRunError::Processes);
        }
    }

    fn offers(&self, number: usize, successor: &Successor<S::State, S::Action>) -> bool {
        successor.runs != number && successor.state.is_some() && successor.runs < self.alive.len()
    }

    fn complete(&mut self, thread: usize, successor: Successor<S::State, S::Action>) {
        let Successor { state, violation, .. } = successor;
        self.violation = violation;
        if let Some(after) = state {
            self.violation = self.violation.take().or_else(|| self.system.state_violation(&after));
            self.count(Some(thread), &after);
            self.arrive(thread, &after);
            self.state = Some(after);
        } else if self.violation.is_none() {
            self.state = None;
        }
    }
}

/// May the step change what others can do? `None` if it depends on more than the others' writes.
fn writes(footprint: &Footprint) -> Option<bool> {
    let Footprint { may_write, sends, receives, processes, .. } = footprint;
    let own = |scope: &Scope| matches!(scope, Scope::Local | Scope::Nowhere);
    let writes = !may_write.0.iter().all(|(scope, _)| own(scope))
        || *sends != Channels::None
        || *receives != Channels::None
        || processes.writes
        || footprint.enters_atomic
        || footprint.leads_to_rendezvous;
    if processes.timeout || processes.places { None } else { Some(writes) }
}

impl<S: System> Executable for SystemRun<'_, S> {
    fn start(&mut self) {
        self.state.clone_from(&self.initial);
        (self.violation, self.offer) = (None, None);
        self.threads.clear();
        self.alive.clear();
        if let Some(initial) = self.initial.clone() {
            self.count(None, &initial);
        }
        self.look();
    }

    fn threads(&self) -> usize {
        self.threads.len()
    }

    fn name(&self, thread: usize) -> u64 {
        self.threads[thread].name
    }

    fn next(&self, thread: usize) -> Option<Operation> {
        let Process { number, writes, .. } = self.threads[thread];
        let number = number?;
        let operation = Operation::new(if writes { WRITING_STEP } else { READING_STEP }).releasing();
        let operation = SHARED.into_iter().fold(operation, |operation, object| match writes {
            true => operation.writes(object),
            false => operation.reads(object),
        });
        let object = SHARED[number / PER_OBJECT % SHARED.len()];
        let shift = 8 * (number % PER_OBJECT) as u32;
        Some(operation.needs(Need::Set { object, mask: 0xff << shift }).choosing(object, shift))
    }

    fn enabled(&self, thread: usize) -> bool {
        self.threads[thread].number.is_some_and(|number| self.choices[number] > 0)
    }

    fn gate(&self, object: ObjectId) -> u128 {
        let Some(part) = SHARED.iter().position(|shared| *shared == object) else { return 0 };
        let bytes = self.choices.iter().skip(part * PER_OBJECT).take(PER_OBJECT);
        bytes.rev().fold(0, |gate, choices| gate << 8 | u128::from(*choices))
    }

    fn step(&mut self, step: Move) -> Flow {
        let Move { thread, choice } = step;
        let (Some(state), Some(number)) = (self.here(), self.threads[thread].number) else {
            return Flow::Stop;
        };
        if let Some(offer) = self.offer.take() {
            self.complete(thread, offer.successor);
        } else {
            let mut successors = self.system.successors(&state, number);
            if usize::from(choice) >= successors.len() {
                return Flow::Stop;
            }
            let successor = successors.swap_remove(choice.into());
            self.state = Some(state);
            if self.offers(number, &successor) {
                if let Some(after) = &successor.state {
                    self.arrive(thread, after);
                }
                self.offer = Some(Offer { receiver: successor.runs, successor });
            } else {
                self.complete(thread, successor);
            }
        }
        self.look();
        let over = self.state.is_none() || self.violation.is_some() || self.error.is_some();
        if over { Flow::Stop } else { Flow::Continue }
    }

    fn gave_up(&self) -> bool {
        self.error.is_some()
    }

    fn end(&mut self) -> RunEnd {
        let stuck = self.state.as_ref().is_some_and(|state| !self.system.may_end(state));
        let violation = self.violation.clone();
        let failed = stuck || violation.is_some();
        let state = if violation.is_some() { self.state.clone() } else { self.here() };
        self.final_states.extend(state.map(|state| FinalState { state, violation }));
        if failed { RunEnd::Failed } else { RunEnd::Fine }
    }
}

/// Explores a system; also returns where its runs ended.
///
/// One step may take long by itself (a d_step has no end, say), so the system looks at the clock, too. If it had to give
/// up a step, what was found counts for nothing.
///
/// # Errors
/// If the system cannot be run step by step: see [`SystemRunError`].
///
/// Two processes that take a number each from a counter, the one before the other:
///
/// ```
/// use preempt_model::system::{Description, Successor, System};
/// use preempt_stateless::system::explore_system;
/// use preempt_stateless::{ExplorationLimits, Strategy};
///
/// struct Counter;
///
/// impl System for Counter {
///     /// What each process has taken, from 1 on.
///     type State = [u8; 2];
///     type Action = ();
///
///     fn initial_states(&self) -> Vec<[u8; 2]> {
///         vec![[0, 0]]
///     }
///     fn process_count(&self, _: &[u8; 2]) -> usize {
///         2
///     }
///     fn successors(&self, taken: &[u8; 2], process: usize) -> Vec<Successor<[u8; 2], ()>> {
///         if taken[process] > 0 {
///             return Vec::new();
///         }
///         let mut after = *taken;
///         after[process] = taken[1 - process] + 1;
///         vec![Successor { action: (), state: Some(after), runs: process, violation: None }]
///     }
///     fn process_name(&self, _: &[u8; 2], process: usize) -> String {
///         format!("process {process}")
///     }
///     fn describe(&self, _: &[u8; 2], _: usize, _: &()) -> Description {
///         Description { text: "take a number".into(), ..Description::default() }
///     }
/// }
///
/// let limits = ExplorationLimits::default();
/// let (found, ends) = explore_system(&Counter, Strategy::Marking, &limits, &mut ()).unwrap();
/// assert_eq!((found.executions, found.exhaustive), (2, true));
/// let mut taken: Vec<[u8; 2]> = ends.into_iter().map(|end| end.state).collect();
/// taken.sort();
/// assert_eq!(taken, [[1, 2], [2, 1]]);
/// ```
pub fn explore_system<S: System>(
    system: &S,
    strategy: Strategy,
    limits: &ExplorationLimits,
    observer: &mut impl RunObserver,
) -> Result<(Exploration, FinalStates<S>), SystemRunError> {
    let whole = system.budget();
    let budget = whole.part(&preempt_core::Limits { time: limits.time, ..preempt_core::Limits::default() });
    system.work_within(&budget);
    let found = explored(system, strategy, limits, observer);
    system.work_within(&whole);
    let Some(reason) = budget.stopped() else { return found };
    let stop = if reason == StopReason::Time { ExplorationStop::Time } else { ExplorationStop::Elsewhere };
    Ok((Exploration { stop: Some(stop), ..Exploration::default() }, Vec::new()))
}

fn explored<S: System>(
    system: &S,
    strategy: Strategy,
    limits: &ExplorationLimits,
    observer: &mut impl RunObserver,
) -> Result<(Exploration, FinalStates<S>), SystemRunError> {
    for coarse in [false, true] {
        let mut run = SystemRun::new(system, coarse);
        let found = explore(&mut run, strategy, limits, observer);
        match run.error() {
            None => return Ok((found, run.final_states)),
            Some(SystemRunError::Coarse) if !coarse => {}
            Some(reason) => return Err(reason),
        }
    }
    Err(SystemRunError::Coarse)
}
