//! The steps of one process: the order of edges, escapes and `else`, as `interpreter/moves.rs` defines them, around the
//! machine code of each edge. Rendezvous are in [`super::offers`], who may run at all in [`super::scheduling`].
#![allow(unsafe_code, reason = "states are handed to machine code as pointers")]

use super::actor::Actor;
use super::context::{Context, FAULT, NO, OFFERS, YES};
use super::layout::Layout;
use super::program::{Apply, LocationEdges, NativeEdge, Program, Ready};
use crate::budget::Every;
use preempt_core::PropertyKind;
use preempt_model::interpreter::MAX_PROCESSES;

/// How often, in choices of one command, the budget is looked at.
pub const LOOK_EVERY: u32 = 256;

/// Steps, and the states that they lead to.
#[derive(Debug, Default)]
pub struct StepList {
    /// Each state with its hidden variables before it.
    pub bytes: Vec<u8>,
    pub steps: Vec<Step>,
}

/// One step.
#[derive(Debug, Clone)]
pub struct Step {
    /// Where the state begins, and how long it is; 0 if the run ends here.
    pub start: usize,
    pub size: usize,
    pub exclusive: Option<u8>,
    pub runs: u8,
    pub violation: Option<PropertyKind>,
    pub edge: u32,
    pub partner: Option<(u32, u32)>,
    /// Kept only where something was chosen.
    pub picks: Vec<i32>,
}

impl StepList {
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.steps.clear();
    }

    pub fn state(&self, step: &Step) -> &[u8] {
        &self.bytes[step.start..step.start + step.size]
    }

    /// The memory that it takes.
    pub fn memory(&self) -> u64 {
        let picks: usize = self.steps.first().map_or(0, |step| step.picks.len() * 4);
        (self.bytes.capacity() + self.steps.capacity() * (size_of::<Step>() + picks)) as u64
    }
}

/// What `timeout` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timeout {
    /// True if nobody could move without it.
    Evaluated,
    /// False: while it is being evaluated, in the middle of an atomic sequence, and for whoever takes an offered message.
    Never,
}

/// A step that is being made.
#[derive(Debug, Clone, Copy)]
pub struct Made {
    /// Where its state begins.
    pub start: usize,
    /// The process that runs afterwards, and whether it goes on alone.
    pub runs: usize,
    pub atomic: bool,
    pub edge: usize,
    pub partner: Option<(u32, u32)>,
}

/// Computes steps with the machine code of a program.
pub struct Moves<'p> {
    pub program: &'p Program,
    pub context: Box<Context>,
}

impl<'p> Moves<'p> {
    pub fn new(program: &'p Program) -> Moves<'p> {
        Moves::with(program, Box::new(Context::new(program)))
    }

    /// With a context that was made for the same program.
    pub fn with(program: &'p Program, context: Box<Context>) -> Moves<'p> {
        Moves { program, context }
    }

    /// Appends every step that the process can make. The state must not be part of the list.
    pub fn moves(&mut self, actor: Actor<'_>, timeout: Timeout, found: &mut StepList) {
        if !self.may_run(actor, None) {
            return;
        }
        let mut escape = None;
        let mut nothing_earlier = true;
        for (number, edge) in self.location(actor).edges.iter().enumerate() {
            if escape.is_some() && edge.facts.escape != escape {
                break;
            }
            let before = found.steps.len();
            self.context.picks.clear();
            let mut look = Every::new(LOOK_EVERY);
            loop {
                self.take(actor, timeout, (number, edge), nothing_earlier, found);
                if !self.context.picks.advance() {
                    break;
                }
                // A command that chooses n values has 2^n steps and more. Whoever asked sees that the budget has run out.
                if look.is_due() && self.program.exhausted_with(found.memory()).is_some() {
                    return;
                }
            }
            edge.note(found.steps.len() > before);
            if found.steps.len() > before {
                nothing_earlier = false;
                escape = edge.facts.escape;
            }
        }
    }

    /// Where the process stands.
    #[inline]
    pub fn location(&self, actor: Actor<'_>) -> &'p LocationEdges {
        let location = self.program.location_of(actor);
        &self.program.edges[usize::from(actor.layout().codes[actor.process()].0)][location as usize]
    }

    /// Is an edge ready for its process? The context is left pointing at the state.
    pub fn ready(
        &mut self,
        actor: Actor<'_>,
        timeout: Timeout,
        chooses: bool,
        edge: &NativeEdge,
        nothing_earlier: bool,
    ) -> i32 {
        if let Ready::Code(_) = edge.ready {
            self.enter(actor, timeout, chooses);
        }
        self.ready_entered(actor, edge, nothing_earlier)
    }

    /// As [`Moves::ready`], of a state that the context points at.
    #[inline]
    pub fn ready_entered(&mut self, actor: Actor<'_>, edge: &NativeEdge, nothing_earlier: bool) -> i32 {
        match edge.ready {
            Ready::Always => YES,
            Ready::Else => i32::from(nothing_earlier),
            Ready::End => i32::from(actor.process() + 1 == actor.process_count()),
            // SAFETY: the code belongs to the program, and the context points at the actor's state.
            Ready::Code(entry) => unsafe { entry.asks(&mut self.context, actor, nothing_earlier) },
        }
    }

    /// From here on the context is about this process in this state.
    #[inline]
    pub fn enter(&mut self, actor: Actor<'_>, timeout: Timeout, chooses: bool) {
        self.context.point_at(actor.state(), actor.layout());
        self.context.process = actor.process() as i32;
        self.context.asks_timeout = timeout == Timeout::Evaluated;
        self.context.chooses = chooses;
    }

    /// Takes an edge, if it is ready.
    fn take(
        &mut self,
        actor: Actor<'_>,
        timeout: Timeout,
        (number, edge): (usize, &NativeEdge),
        nothing_earlier: bool,
        found: &mut StepList,
    ) {
        let process = actor.process();
        match self.ready(actor, timeout, true, edge, nothing_earlier) {
            NO => return,
            FAULT => return self.faulty(process, number, None, found),
            OFFERS => return self.rendezvous(actor, (number, edge), found),
            _ => {}
        }
        self.context.picks.rewind();
        let (start, next) = self.copy(actor, edge.facts.grows, found);
        self.enter(next, timeout, true);
        self.context.failed = 0;
        self.context.events.clear();
        let applied = self.apply(next, edge);
        if applied != YES {
            found.bytes.truncate(start - self.hidden());
            // Without a step: whoever asked sees that the budget has run out.
            if applied == FAULT {
                self.faulty(process, number, None, found);
            }
            return;
        }
        let made = Made { start, runs: process, atomic: edge.facts.atomic, edge: number, partner: None };
        self.finish(actor, made, found);
    }

    /// Executes an edge that is ready, in a state that the context points at and that has room for the processes that the edge may start:
    /// [`YES`], or why not.
    #[inline]
    pub fn apply(&mut self, next: Actor<'_>, edge: &NativeEdge) -> i32 {
        match edge.apply {
            Apply::Nothing => self.stand_at(next, edge.facts.target),
            Apply::End => {
                let after = self.program.layouts.without_last(next.layout().number);
                self.context.relayout(after);
            }
            Apply::Code(entry) => {
                self.context.out = std::ptr::null_mut();
                // SAFETY: the code belongs to the program, and the context points at the actor's state.
                return unsafe { entry.begin(&mut self.context, next, true) };
            }
        }
        YES
    }

    /// So many bytes of hidden variables lie before a state.
    pub fn hidden(&self) -> usize {
        self.program.shape.hidden.size as usize
    }

    /// A copy of the state to be changed, with room for the processes that may be started, and where it begins.
    pub fn copy<'l>(&self, actor: Actor<'l>, grows: bool, found: &mut StepList) -> (usize, Actor<'l>) {
        let (hidden, layout) = (self.hidden(), actor.layout());
        let size = hidden + layout.size as usize;
        let room = match grows {
            true => (MAX_PROCESSES - layout.bases.len()) * self.program.shape.largest_segment as usize,
            false => 0,
        };
        found.bytes.reserve(size + room);
        // SAFETY: the actor's invariant: the hidden variables and the state lie together, and not in the list. The copy is
        // a state of the same layout, and nothing is added to the list while the actor for it is used.
        unsafe {
            let bytes = std::slice::from_raw_parts(actor.state().sub(hidden), size);
            found.bytes.extend_from_slice(bytes);
            let start = found.bytes.len() - layout.size as usize;
            (start, Actor::new(found.bytes.as_mut_ptr().add(start), layout, actor.process()))
        }
    }

    /// The process now stands at this location.
    pub fn stand_at(&self, actor: Actor<'_>, target: u32) {
        let code = self.program.shape.code(actor.layout().codes[actor.process()]);
        let at = actor.base();
        // SAFETY: a segment begins with its location, in this format; bytes need no alignment.
        unsafe {
            match code.location.bytes {
                1 => *at = target as u8,
                2 => at.cast::<u16>().write_unaligned(target as u16),
                _ => at.cast::<u32>().write_unaligned(target),
            }
        }
    }

    /// The step is made: the actor is where it began, the context points at where it leads to.
    pub fn finish(&mut self, actor: Actor<'_>, made: Made, found: &mut StepList) {
        let Made { start, runs, atomic, edge, partner } = made;
        // SAFETY: the context points at the layout of the new state; layouts are never moved or removed.
        let after: &Layout = unsafe { &*self.context.layout };
        let size = after.size as usize;
        // SAFETY: the state has shrunk, or grown into room that was reserved for it and has been written.
        unsafe { found.bytes.set_len(start + size) };
        if let Some(at) = self.program.shape.last {
            found.bytes[start + at as usize] = runs as u8;
        }
        let failed = self.context.failed != 0;
        let mut violation = failed.then_some(PropertyKind::Assertion);
        if violation.is_none() && !self.context.events.is_empty() {
            let events = std::mem::take(&mut self.context.events);
            let broken = events.iter().any(|event| self.breaks_exclusive_use(actor, *event));
            violation = broken.then_some(PropertyKind::Exclusive);
            self.context.events = events;
        }
        found.steps.push(Step {
            start,
            size,
            exclusive: (atomic && runs < after.bases.len()).then_some(runs as u8),
            runs: runs as u8,
            violation,
            edge: edge as u32,
            partner,
            picks: self.context.picks.values(),
        });
    }

    /// The step has no meaning: the run ends here.
    pub fn faulty(&mut self, process: usize, edge: usize, partner: Option<(u32, u32)>, found: &mut StepList) {
        found.steps.push(Step {
            start: 0,
            size: 0,
            exclusive: None,
            runs: process as u8,
            violation: Some(PropertyKind::RuntimeError),
            edge: edge as u32,
            partner,
            picks: self.context.picks.values(),
        });
    }
}
