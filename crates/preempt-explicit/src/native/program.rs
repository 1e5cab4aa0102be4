//! Everything that is compiled for a model, and the tables beside it. [`super::compiler`] makes it.

use super::actor::Actor;
use super::context::{Context, Function, StepFunction};
use super::direct_locations::EdgeFacts;
use super::layout::{Layouts, Shape};
use cranelift_jit::JITModule;
use preempt_core::{Budget, StopReason};
use preempt_model::coverage::{Marks, REFUSED, TAKEN, note};
use preempt_model::{CodeId, Type};
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::sync::{PoisonError, RwLock};

pub struct Program {
    pub shape: Shape,
    /// Grows while code runs; see the helpers that start processes.
    pub layouts: Layouts,
    /// By code and location.
    pub edges: Vec<Vec<LocationEdges>>,
    pub locations: Vec<Vec<LocationFacts>>,
    /// By code: where it begins, and the types of its parameters.
    pub entries: Vec<(u32, Vec<Type>)>,
    pub inits: Vec<Option<Function>>,
    pub provided: Vec<Option<Function>>,
    /// By template.
    pub fields: Vec<Vec<Type>>,
    pub exclusive_uses: Vec<ExclusiveUse>,
    /// What an observer reads; `None` where only the interpreter knows.
    pub conditions: Vec<Option<Function>>,
    pub has_priorities: bool,
    /// Is there anything that can keep a process from running?
    pub may_be_held_back: bool,
    /// For what may take long.
    pub(super) budget: RwLock<Budget>,
    /// Who wants to know which edges were taken.
    pub(super) marks: Option<Marks>,
    pub(super) code: Option<MachineCode>,
}

/// Keeps machine code alive, and does nothing else until it is freed.
pub struct MachineCode(pub(super) JITModule);

// SAFETY: the module is not looked at while it is kept, and freeing it does not depend on the thread.
#[allow(unsafe_code)]
unsafe impl Send for MachineCode {}
// SAFETY: as above: nothing can be asked of it through a shared reference.
#[allow(unsafe_code)]
unsafe impl Sync for MachineCode {}

#[derive(Debug, Clone, Copy)]
pub struct LocationFacts {
    pub number: u32,
    pub end: bool,
    pub progress: bool,
    pub accept: bool,
}

/// A process says that it alone sends to a channel, or receives from it (`xs`, `xr`); `channel` gives its number.
#[derive(Debug, Clone, Copy)]
pub struct ExclusiveUse {
    pub code: CodeId,
    pub receive: bool,
    pub channel: Function,
}

#[derive(Debug)]
pub struct LocationEdges {
    pub edges: Vec<NativeEdge>,
    /// May one of them take an offered message?
    pub receives: bool,
    /// May processes be started by a step from here?
    pub grows: bool,
    /// Where the step function begins with the first edge, the others follow: if every step from here leads straight to a stable
    /// state ([`super::direct_locations`]), and a process can stand here in one.
    pub expanding: Option<Entry>,
    /// Where it begins if the process is alone.
    pub going_on: Option<Entry>,
}

#[derive(Debug)]
pub struct NativeEdge {
    pub facts: EdgeFacts,
    pub ready: Ready,
    pub apply: Apply,
    pub accept: Option<Function>,
    /// By acceptance.
    pub takes: Vec<Function>,
    /// Marks of [`preempt_model::coverage`], handed over when the program goes away.
    pub seen: AtomicU8,
}

impl NativeEdge {
    /// A process stood before the edge, and took it or not.
    #[inline]
    pub fn note(&self, is_taken: bool) {
        note(&self.seen, if is_taken { TAKEN } else { REFUSED });
    }
}

#[derive(Debug, Clone, Copy)]
pub enum Ready {
    Always,
    Else,
    End,
    Code(Entry),
}

#[derive(Debug, Clone, Copy)]
pub enum Apply {
    /// The process only comes to stand at the target.
    Nothing,
    End,
    /// That includes that it comes to stand there.
    Code(Entry),
}

/// A place at which a step function begins.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    pub function: StepFunction,
    pub number: i32,
}

impl Entry {
    /// Is the edge ready, to which this belongs?
    ///
    /// # Safety
    /// The code belongs to a program that is there, and the context points at the actor's state.
    #[inline]
    #[allow(unsafe_code)]
    pub unsafe fn asks(self, context: &mut Context, actor: Actor<'_>, nothing_earlier: bool) -> i32 {
        let Entry { function, number } = self;
        // SAFETY: as the caller promises.
        unsafe { function(context, actor.state(), actor.base(), number, i32::from(nothing_earlier), 1) }
    }

    /// Begins there, in an actor's state.
    ///
    /// # Safety
    /// As for [`Entry::asks`], and there is room for what the step function does to the state.
    #[inline]
    #[allow(unsafe_code)]
    pub unsafe fn begin(self, context: &mut Context, actor: Actor<'_>, nothing_earlier: bool) -> i32 {
        let Entry { function, number } = self;
        // SAFETY: as the caller promises.
        unsafe { function(context, actor.state(), actor.base(), number, i32::from(nothing_earlier), 0) }
    }

    /// The entry for a later edge of the location.
    pub fn later(self, edge: usize) -> Entry {
        Entry { number: self.number + edge as i32, ..self }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.hand_over_marks();
        if let Some(MachineCode(module)) = self.code.take() {
            // SAFETY: the functions are reached only through this program, which is going away, and none of them is
            // running: whoever runs one borrows the program.
            #[allow(unsafe_code)]
            unsafe {
                module.free_memory();
            }
        }
    }
}

impl Program {
    /// Tells whoever wants to know which edges were taken so far.
    fn hand_over_marks(&self) {
        let Some(marks) = &self.marks else { return };
        for (code, locations) in self.edges.iter().enumerate() {
            for (location, edges) in locations.iter().enumerate() {
                for (number, edge) in edges.edges.iter().enumerate() {
                    if let Some(mark) = marks.edge(code, location, number) {
                        mark.set(edge.seen.load(Relaxed));
                    }
                }
            }
        }
    }

    /// From now on, what may take long looks at this budget.
    pub fn work_within(&self, budget: &Budget) {
        *self.budget.write().unwrap_or_else(PoisonError::into_inner) = budget.clone();
    }

    /// Has the budget run out, where so many bytes are used beside what it knows of?
    pub fn exhausted_with(&self, bytes: u64) -> Option<StopReason> {
        self.budget.read().unwrap_or_else(PoisonError::into_inner).exhausted_with(bytes)
    }

    /// Where a process stands.
    #[inline]
    #[allow(unsafe_code)]
    pub fn location_of(&self, actor: Actor<'_>) -> u32 {
        let format = self.shape.code(actor.layout().codes[actor.process()]).location;
        let at = actor.base();
        // SAFETY: a segment begins with its location, in this format; bytes need no alignment.
        unsafe {
            match format.bytes {
                1 => u32::from(*at),
                2 => u32::from(at.cast::<u16>().read_unaligned()),
                _ => at.cast::<u32>().read_unaligned(),
            }
        }
    }

    #[allow(unsafe_code)]
    pub fn priority_of(&self, actor: Actor<'_>) -> u8 {
        let at = self.shape.code(actor.layout().codes[actor.process()]).priority;
        // SAFETY: the shape says where the byte lies in the segment.
        at.map_or(1, |at| unsafe { *actor.base().add(at as usize) })
    }
}
