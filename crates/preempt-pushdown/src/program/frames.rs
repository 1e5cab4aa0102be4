//! What a state and a symbol of a program's pushdown system stand for, and the steps of the interpreter that rules are.

use crate::system::Word;
use preempt_model::interpreter::{Action as Step, Frame as Activation, Machine, Process, State};
use preempt_model::{Command, Interpreter, LocationId, Model, Place, Scope, System};
use preempt_symbolic::liveness::Liveness;
use preempt_symbolic::threads::{EdgeAt, Threads};
use std::hash::{Hash, Hasher};

/// An activation of a procedure or of a thread's own code, without what no longer matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body(pub Activation);

impl Hash for Body {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.0.code, self.0.location, &self.0.locals).hash(state);
    }
}

/// A symbol of the stack.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Frame {
    /// Executing; `true`: within an atomic sequence.
    Running(Body, bool),
    /// Called something by this edge of this location, and waits for it to return.
    Calling(Body, LocationId, u32),
    /// A thread that has not been started yet.
    Waiting(usize),
    /// Something has gone wrong.
    Bad,
}

/// A state: what the threads share.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Shared {
    /// The values of the shared variables.
    pub globals: Vec<i32>,
    /// How many threads were started at each place that starts some.
    pub started: Vec<u32>,
    /// What a thread begins with that was started and has not begun.
    pub mail: Vec<Option<Body>>,
    /// A procedure is returning by this edge: its last frame.
    pub returning: Option<(Body, u32)>,
}

/// What a rule is to the interpreter.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Action {
    /// Nothing that it sees: a thread begins, or the first half of a return.
    Silent,
    /// A step, at this place.
    Step(EdgeAt, Told),
}

impl Action {
    /// The edge of the program that it takes.
    pub fn edge(&self) -> Option<EdgeAt> {
        match self {
            Action::Silent => None,
            Action::Step(at, _) => Some(*at),
        }
    }
}

/// A step by its edge and by the values that it chose.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Told(pub Step);

/// A rule that can be applied: the state that it leads to, the word, and what it is.
pub(crate) type Made = (Shared, Vec<Frame>, Action);

/// Makes rules of steps.
pub(crate) struct Maker<'a> {
    pub model: &'a Model,
    pub interpreter: &'a Interpreter<'a>,
    pub threads: &'a Threads,
    pub liveness: &'a Liveness,
}

impl Maker<'_> {
    /// Without the values of locals that are not read again. `pending`: results that will be written.
    pub fn body(&self, mut activation: Activation, pending: &[Place]) -> Body {
        activation.called_from = (LocationId(0), 0);
        let live = self.liveness.at(activation.code, activation.location);
        for (slot, value) in activation.locals.iter_mut().enumerate() {
            let written = |place: &Place| {
                place.scope == Scope::Local && place.slot as usize == slot && place.indices.is_empty()
            };
            if !live[slot] || pending.iter().any(written) {
                *value = 0;
            }
        }
        Body(activation)
    }

    /// Everything that can be done with this frame on the top of the stack; nothing if it is blocked.
    pub fn rules(&self, thread: usize, shared: &Shared, frame: &Frame) -> Vec<Made> {
        match frame {
            Frame::Bad => Vec::new(),
            Frame::Waiting(_) => {
                let Some(body) = &shared.mail[thread] else { return Vec::new() };
                let mut taken = shared.clone();
                taken.mail[thread] = None;
                vec![(taken, vec![Frame::Running(body.clone(), false)], Action::Silent)]
            }
            Frame::Running(body, exclusive) => match &shared.returning {
                Some(_) => Vec::new(),
                None => self.steps(shared, body, *exclusive),
            },
            Frame::Calling(body, location, edge) => match &shared.returning {
                Some((returning, by)) => self.returns(shared, body, (*location, *edge), returning, *by),
                None => Vec::new(),
            },
        }
    }

    fn machine(&self, shared: &Shared, frames: Vec<Activation>, exclusive: bool) -> State {
        self.interpreter.close(&Machine {
            globals: shared.globals.clone(),
            hidden: Vec::new(),
            channels: Vec::new(),
            processes: vec![Process { priority: 1, frames }],
            exclusive: exclusive.then_some(0),
            last: 0,
        })
    }

    fn steps(&self, shared: &Shared, body: &Body, exclusive: bool) -> Vec<Made> {
        let Body(activation) = body;
        let edges = &self.model.code(activation.code).location(activation.location).edges;
        let is_return = |edge: u32| matches!(edges[edge as usize].command, Command::Return(_));
        let is_called = self.model.code(activation.code).kind == preempt_model::CodeKind::Procedure;
        let mut made = Vec::new();
        if is_called {
            for edge in (0..edges.len() as u32).filter(|edge| is_return(*edge)) {
                let returning = Some((body.clone(), edge));
                made.push((Shared { returning, ..shared.clone() }, Vec::new(), Action::Silent));
            }
        }
        let state = self.machine(shared, vec![activation.clone()], exclusive);
        for successor in self.interpreter.successors(&state, 0) {
            let edge = successor.action.edge;
            if is_called && is_return(edge) || matches!(edges[edge as usize].command, Command::End) {
                continue;
            }
            let at = (activation.code, activation.location, edge);
            let action = Action::Step(at, Told(successor.action.clone()));
            let next = match (&successor.state, &successor.violation) {
                (Some(next), None) => self.interpreter.open(next),
                _ => {
                    made.push((shared.clone(), vec![Frame::Bad], action));
                    continue;
                }
            };
            if let Some(rule) = self.outcome(shared, at, next, action) {
                made.push(rule);
            }
        }
        made
    }

    /// The rule for a step that led to this machine.
    fn outcome(&self, shared: &Shared, at: EdgeAt, next: Machine, action: Action) -> Option<Made> {
        let mut after = Shared { globals: next.globals, returning: None, ..shared.clone() };
        let exclusive = next.exclusive == Some(0);
        let mut processes = next.processes.into_iter();
        let mut frames = processes.next()?.frames;
        if let Some(started) = processes.next() {
            let (number, site) = self.threads.site(at)?;
            let instance = after.started[number] + 1;
            if instance > site.instances {
                // There are no more threads to be looked at.
                return None;
            }
            let waits = Some((number, instance));
            let thread = self.threads.all.iter().position(|thread| thread.waits == waits)?;
            after.started[number] = instance;
            after.mail[thread] = started.frames.into_iter().next().map(|frame| self.body(frame, &[]));
        }
        let top = frames.pop()?;
        let mut word = vec![Frame::Running(self.body(top, &[]), exclusive)];
        if let Some(caller) = frames.pop() {
            let (code, location, edge) = at;
            let command = &self.model.code(code).location(location).edges[edge as usize].command;
            let Command::Call { results, .. } = command else { return None };
            word.push(Frame::Calling(self.body(caller, results), location, edge));
        }
        Some((after, word, action))
    }

    /// The second half of a return: the caller takes the results.
    fn returns(
        &self,
        shared: &Shared,
        caller: &Body,
        called_from: (LocationId, u32),
        returning: &Body,
        by: u32,
    ) -> Vec<Made> {
        let (location, edge) = called_from;
        let calls = &self.model.code(caller.0.code).location(location).edges[edge as usize].command;
        if !matches!(calls, Command::Call { code, .. } if *code == returning.0.code) {
            return Vec::new();
        }
        let last = Activation { called_from, ..returning.0.clone() };
        let state = self.machine(shared, vec![caller.0.clone(), last], false);
        let at = (returning.0.code, returning.0.location, by);
        let mut made = Vec::new();
        for successor in self.interpreter.successors(&state, 0).into_iter().filter(|it| it.action.edge == by)
        {
            let action = Action::Step(at, Told(successor.action.clone()));
            let before = Shared { returning: None, ..shared.clone() };
            match (&successor.state, &successor.violation) {
                (Some(next), None) => {
                    let next = self.interpreter.open(next);
                    made.extend(self.outcome(&before, at, next, action));
                }
                _ => made.push((before, vec![Frame::Bad], action)),
            }
        }
        made
    }
}

/// The word over numbers.
pub(crate) fn word(symbols: &[u32]) -> Option<Word> {
    match symbols {
        [] => Some(Word::Pop),
        [only] => Some(Word::Step(*only)),
        [top, below] => Some(Word::Push(*top, *below)),
        _ => None,
    }
}
