//! A model as something that runs step by step, so that the algorithms can be judged by searches that share no code with
//! them: the states in which its runs end within a bound must be those of exhaustive search.
//!
//! All that the processes share is one object. A step that may change it writes it, any other step reads it: so steps
//! that only look or are local are independent of each other. The gate says which processes can move; it changes when
//! the object is written, and when a process arrives somewhere, which adds to it as readers of a lock do.
//!
//! In a *coarse* run every step writes. That is needed where a step depends on more than values: on where others stand
//! (remote references, `timeout`) or on an atomic sequence of theirs.
//!
//! Not every system fits: runs must end, a process must have one way on at a time, and a step moves one process. What
//! does not fit is noted, and the run ends there.

use crate::executable::{Executable, Flow, Move, Need, ObjectId, Operation, RunEnd, derive_name};
use crate::explore::{Exploration, Limits, Strategy, Terminal, explore};
use preempt_model::expr::Scope;
use preempt_model::footprint::{Channels, Footprint};
use preempt_model::system::{System, Violation};

const SHARED: ObjectId = ObjectId(1);

/// Why a system cannot be run like this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unfit {
    /// Not exactly one initial state.
    InitialStates,
    /// A process had a choice.
    Choice,
    /// A step moved two processes.
    Rendezvous,
    /// More than 100 processes, or one that took the number of another.
    Processes,
    /// Steps depend on more than values: only a coarse run is right.
    Coarse,
}

/// A system and its current run.
#[derive(Debug)]
pub struct SystemRun<'a, S: System> {
    system: &'a S,
    coarse: bool,
    initial: Option<S::State>,
    /// `None` after a step that has no meaning.
    state: Option<S::State>,
    threads: Vec<Process>,
    /// Who can move: now, and at the start.
    ready: u128,
    ready_at_start: u128,
    violation: Option<Violation>,
    unfit: Option<Unfit>,
    ends: Vec<S::State>,
}

#[derive(Debug, Clone, Copy)]
struct Process {
    name: u64,
    children: u64,
}

impl<'a, S: System> SystemRun<'a, S> {
    pub fn new(system: &'a S, coarse: bool) -> SystemRun<'a, S> {
        let mut states = system.initial_states();
        let initial = if states.len() == 1 { states.pop() } else { None };
        let unfit = initial.is_none().then_some(Unfit::InitialStates);
        let (state, violation) = (initial.clone(), None);
        let mut run = SystemRun {
            system,
            coarse,
            initial,
            state,
            threads: Vec::new(),
            ready: 0,
            ready_at_start: 0,
            violation,
            unfit,
            ends: Vec::new(),
        };
        run.start();
        run
    }

    /// The states in which runs have ended, in the order of the runs.
    pub fn ends(&self) -> &[S::State] {
        &self.ends
    }

    pub fn unfit(&self) -> Option<Unfit> {
        self.unfit
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

    fn refuse(&mut self, reason: Unfit) {
        self.unfit.get_or_insert(reason);
        self.ready = 0;
    }

    /// Finds out who can move.
    fn look(&mut self) {
        self.ready = 0;
        let Some(state) = self.here() else { return };
        let alone = self.system.exclusive(&state);
        if alone.is_some() && !self.coarse {
            return self.refuse(Unfit::Coarse);
        }
        let count = self.system.process_count(&state);
        if count > 100 {
            return self.refuse(Unfit::Processes);
        }
        for process in (0..count).filter(|process| alone.is_none_or(|alone| alone == *process)) {
            let successors = self.system.successors(&state, process);
            match successors.as_slice() {
                [] => {}
                [one] if one.state.is_none() || one.runs == process => self.ready |= 1 << process,
                [_] => return self.refuse(Unfit::Rendezvous),
                _ => return self.refuse(Unfit::Choice),
            }
        }
    }

    /// May the process's step change what is shared? `None` if it depends on more than that.
    fn writes(&self, state: &S::State, process: usize) -> Option<bool> {
        let Some(footprint) = self.system.footprint(state, process) else { return Some(true) };
        let Footprint { may_write, sends, receives, processes, .. } = footprint;
        let own = |scope: &Scope| matches!(scope, Scope::Local | Scope::Nowhere);
        let writes = !may_write.0.iter().all(|(scope, _)| own(scope))
            || sends != Channels::None
            || receives != Channels::None
            || processes.writes;
        match processes.timeout || (processes.reads && !writes) {
            true => None,
            false => Some(writes),
        }
    }
}

impl<S: System> Executable for SystemRun<'_, S> {
    fn start(&mut self) {
        self.state.clone_from(&self.initial);
        self.violation = None;
        let count = self.initial.as_ref().map_or(0, |state| self.system.process_count(state));
        self.threads = (0..count as u64).map(|number| Process { name: number + 1, children: 0 }).collect();
        self.look();
        self.ready_at_start = self.ready;
    }

    fn threads(&self) -> usize {
        self.threads.len()
    }

    fn name(&self, thread: usize) -> u64 {
        self.threads[thread].name
    }

    fn next(&self, thread: usize) -> Option<Operation> {
        let state = self.state.as_ref().filter(|state| thread < self.system.process_count(state))?;
        let writes = self.coarse || self.writes(state, thread) != Some(false);
        let operation = Operation::local(u32::from(writes)).releasing();
        let operation = if writes { operation.writes(SHARED) } else { operation.reads(SHARED) };
        // Gates start at zero, so this one says who differs from the start.
        let (object, mask) = (SHARED, 1 << thread);
        let need = match self.ready_at_start & mask != 0 {
            true => Need::Clear { object, mask },
            false => Need::Set { object, mask },
        };
        Some(operation.needs(need))
    }

    fn enabled(&self, thread: usize) -> bool {
        self.ready & 1 << thread != 0
    }

    fn gate(&self, object: ObjectId) -> u128 {
        if object == SHARED { self.ready ^ self.ready_at_start } else { 0 }
    }

    fn step(&mut self, step: Move) -> Flow {
        let thread = step.thread;
        let Some(state) = self.here() else { return Flow::Stop };
        if !self.coarse && self.writes(&state, thread).is_none() {
            self.refuse(Unfit::Coarse);
            return Flow::Stop;
        }
        let Some(successor) = self.system.successors(&state, thread).pop() else { return Flow::Stop };
        self.violation = successor.violation;
        self.state = successor.state;
        if let Some(after) = &self.state {
            self.violation = self.violation.take().or_else(|| self.system.state_violation(after));
            let (before, count) = (self.system.process_count(&state), self.system.process_count(after));
            if count > before && before < self.threads.len() {
                self.refuse(Unfit::Processes);
                return Flow::Stop;
            }
            while self.threads.len() < count {
                let parent = &mut self.threads[thread];
                parent.children += 1;
                let name = derive_name(parent.name, parent.children);
                self.threads.push(Process { name, children: 0 });
            }
        }
        self.look();
        let over = self.state.is_none() || self.violation.is_some() || self.unfit.is_some();
        if over { Flow::Stop } else { Flow::Continue }
    }

    fn end(&mut self) -> RunEnd {
        let stuck =
            self.violation.is_none() && self.state.as_ref().is_some_and(|state| !self.system.may_end(state));
        let here = self.here();
        self.ends.extend(here);
        if stuck || self.violation.is_some() { RunEnd::Failed } else { RunEnd::Fine }
    }
}

/// Explores a system; also returns the states in which its runs ended.
///
/// # Errors
/// If it does not fit.
pub fn explore_system<S: System>(
    system: &S,
    strategy: Strategy,
    limits: &Limits,
    terminal: &mut impl Terminal,
) -> Result<(Exploration, Vec<S::State>), Unfit> {
    for coarse in [false, true] {
        let mut run = SystemRun::new(system, coarse);
        let found = explore(&mut run, strategy, limits, terminal);
        match run.unfit() {
            None => return Ok((found, run.ends)),
            Some(Unfit::Coarse) if !coarse => {}
            Some(reason) => return Err(reason),
        }
    }
    Err(Unfit::Coarse)
}
