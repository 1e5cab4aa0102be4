//! Steps that lead straight from one stable state to the next, written where they will be looked up: one copy for each, and
//! no list between. What is not direct (atomic sequences, `unless`, priorities, choices of values) goes through
//! [`super::sequence`], which has the same steps in the same order.
#![allow(unsafe_code, reason = "states are handed to machine code as pointers")]

use super::actor::Actor;
use super::compiled::Native;
use super::context::{Context, FAULT, NO, OFFERS, UNDONE, YES};
use super::layout::Layout;
use super::moves::{Moves, Timeout};
use super::program::{Apply, LocationEdges, NativeEdge, Program};
use super::sequence::layout_of;
use crate::successors::Sink;
use preempt_core::PropertyKind;
use preempt_model::Model;
use preempt_model::interpreter::MAX_PROCESSES;

impl Program {
    /// Says of every location whether all its steps are direct.
    pub(super) fn find_direct(&mut self, model: &Model) {
        let is_plain =
            !self.may_be_held_back && self.exclusive_uses.is_empty() && self.shape.hidden.size == 0;
        let all = || self.edges.iter().flatten().flat_map(|location| &location.edges);
        let has_rendezvous = model.templates.iter().any(|template| template.capacity == 0);
        // Whoever takes a message may go on alone.
        let goes_on_alone = has_rendezvous && all().any(|edge| edge.accept.is_some() && edge.atomic);
        let is_direct = |edge: &NativeEdge| {
            let is_special = edge.atomic || edge.chooses || edge.escape.is_some();
            !is_special && (!edge.sends || !goes_on_alone)
        };
        for location in self.edges.iter_mut().flatten() {
            location.direct = is_plain && location.edges.iter().all(is_direct);
        }
    }
}

impl Native<'_> {
    /// Everything that a process can do, if all of it is direct. Says whether it could move at all.
    #[inline]
    pub(super) fn expand_directly(
        &mut self,
        state: &[u8],
        process: usize,
        sink: &mut impl Sink,
    ) -> Option<bool> {
        let program: &Program = &self.program;
        let layout = layout_of(program, state);
        // SAFETY: machine code that asks whether a step is ready only reads the state, which stays where it is. There are no
        // hidden variables before it where a location is direct, and only then it is entered.
        let actor = unsafe { Actor::new(state.as_ptr().cast_mut(), layout, process) };
        if process >= layout.bases.len() {
            return None;
        }
        let location = program.location_of(actor);
        let location: &LocationEdges =
            program.edges[usize::from(layout.codes[process].0)].get(location as usize)?;
        if !location.direct {
            return None;
        }
        let context = self.context.take().unwrap_or_else(|| Box::new(Context::new(program)));
        let mut moves = Moves::with(program, context);
        moves.offers = std::mem::take(&mut self.offers);
        let mut moved = false;
        for edge in &location.edges {
            let is_taken = take(&mut moves, actor, edge, !moved, state, sink);
            edge.note(is_taken);
            moved |= is_taken;
        }
        let Moves { context, offers, .. } = moves;
        self.out_of_layouts |= context.out_of_layouts;
        (self.context, self.offers) = (Some(context), offers);
        Some(moved)
    }
}

/// Takes an edge, if it is ready. Says whether it was.
#[inline]
fn take(
    moves: &mut Moves<'_>,
    actor: Actor<'_>,
    edge: &NativeEdge,
    nothing_earlier: bool,
    state: &[u8],
    sink: &mut impl Sink,
) -> bool {
    match moves.ready(actor, Timeout::Evaluated, true, edge, nothing_earlier) {
        NO => return false,
        FAULT => {
            sink.violated(PropertyKind::RuntimeError);
            return true;
        }
        OFFERS => return offer(moves, actor, edge, sink),
        _ => {}
    }
    let (program, layout) = (moves.program, actor.layout());
    let room = match edge.grows {
        true => (MAX_PROCESSES - layout.bases.len()) * program.shape.largest_segment as usize,
        false => 0,
    };
    let buffer = sink.buffer();
    let start = buffer.len();
    buffer.reserve(state.len() + room);
    buffer.extend_from_slice(state);
    // SAFETY: the copy is a state of the same layout, with room for the processes that the edge may start. Nothing is added
    // to the buffer while the actor for it is used.
    let next = unsafe { Actor::new(buffer.as_mut_ptr().add(start), layout, actor.process()) };
    moves.enter(next, Timeout::Evaluated, true);
    moves.context.failed = 0;
    match edge.apply {
        Apply::Nothing => moves.stand_at(next, edge.target),
        Apply::End => moves.context.relayout(program.layouts.without_last(layout.number)),
        Apply::Code(apply) => {
            // SAFETY: the code belongs to the program, and the context points at the copy.
            let applied = unsafe { apply(&mut *moves.context, next.state(), next.base()) };
            if applied != YES {
                sink.buffer().truncate(start);
                // Without a step: whoever asked sees that the budget has run out.
                if applied != UNDONE {
                    sink.violated(PropertyKind::RuntimeError);
                }
                return applied != UNDONE;
            }
            moves.stand_at(next, edge.target);
        }
    }
    // SAFETY: the context points at the layout of the new state; layouts are never moved or removed.
    let after: &Layout = unsafe { &*moves.context.layout };
    // SAFETY: the state has shrunk, or grown into room that was reserved for it and has been written.
    unsafe { sink.buffer().set_len(start + after.size as usize) };
    if let Some(at) = program.shape.last {
        sink.buffer()[start + at as usize] = actor.process() as u8;
    }
    if moves.context.failed != 0 {
        sink.violated(PropertyKind::Assertion);
    }
    sink.arrived(start, actor.process() as u8);
    true
}

/// A rendezvous: whoever takes the message runs afterwards.
fn offer(moves: &mut Moves<'_>, actor: Actor<'_>, edge: &NativeEdge, sink: &mut impl Sink) -> bool {
    let mut found = std::mem::take(&mut moves.offers);
    found.clear();
    moves.rendezvous(actor, (0, edge), &mut found);
    for step in &found.steps {
        if let Some(kind) = step.violation {
            sink.violated(kind);
        }
        if step.size > 0 {
            let start = sink.buffer().len();
            sink.buffer().extend_from_slice(found.state(step));
            sink.arrived(start, step.runs);
        }
    }
    let moved = !found.steps.is_empty();
    moves.offers = found;
    moved
}
