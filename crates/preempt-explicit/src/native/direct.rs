//! Steps that lead straight from one stable state to the next, written where they will be looked up: one copy for each, and
//! no list between. An atomic sequence without a circle is one, too: as long as there is one way to go on, it goes on where
//! the state lies. They are computed by [`super::step_function`], from locations that [`super::direct_locations`] has found. What is not
//! direct (other atomic sequences, `unless`, priorities, choices of values) goes through [`super::sequence`], which has the same steps in
//! the same order.
#![allow(unsafe_code, reason = "states are handed to machine code as pointers")]

use super::actor::Actor;
use super::compiled::Native;
use super::context::{Context, ENDS, FAULT, GOES_ON, NO, OFFERS, UNDONE, YES};
use super::layout::Layout;
use super::moves::{Moves, Timeout};
use super::program::{Entry, LocationEdges, NativeEdge, Program};
use super::sequence::layout_of;
use crate::successors::Sink;
use preempt_core::PropertyKind;
use preempt_model::interpreter::MAX_PROCESSES;

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
        if process >= layout.bases.len() {
            return None;
        }
        // SAFETY: machine code that expands only reads the state, which stays where it is. There are no hidden variables before it
        // where a location is direct, and only then it is entered.
        let actor = unsafe { Actor::new(state.as_ptr().cast_mut(), layout, process) };
        let location = program.location_of(actor);
        let location: &LocationEdges =
            program.edges[usize::from(layout.codes[process].0)].get(location as usize)?;
        let begin = location.expanding?;
        let context = self.context.take().unwrap_or_else(|| Box::new(Context::new(program)));
        let mut moves = Moves::with(program, context);
        let moved = expand(&mut moves, actor, (location, begin), sink);
        let context = moves.context;
        self.out_of_layouts |= context.out_of_layouts;
        self.context = Some(context);
        Some(moved)
    }
}

/// Takes one edge after the other, as the step function finds those that are ready. Says whether there are any.
#[inline]
fn expand(
    moves: &mut Moves<'_>,
    actor: Actor<'_>,
    (location, begin): (&LocationEdges, Entry),
    sink: &mut impl Sink,
) -> bool {
    let layout = actor.layout();
    let room = layout.size as usize + if location.grows { room_to_grow(moves, layout) } else { 0 };
    let (mut first, mut moved) = (0, false);
    while first < location.edges.len() {
        let buffer = sink.buffer();
        buffer.reserve(room);
        let start = buffer.len();
        moves.enter(actor, Timeout::Evaluated, true);
        // SAFETY: it lies within the room that was reserved, or right behind it.
        moves.context.out = unsafe { buffer.as_mut_ptr().add(start) };
        (moves.context.failed, moves.context.steps) = (0, 1);
        // SAFETY: the code belongs to the program, and the context points at the actor's state, which is only read. There is room for
        // its successor, and for the processes that may be started on the way.
        let answer = unsafe { begin.later(first).begin(&mut moves.context, actor, !moved) };
        if answer == NO {
            location.edges[first..].iter().for_each(|edge| edge.note(false));
            break;
        }
        let taken = moves.context.taken as usize;
        let edge = &location.edges[taken];
        let is_taken = match answer {
            OFFERS => offer(moves, actor, edge, sink),
            ENDS => end(moves, actor, edge, sink),
            _ => arrive(moves, (actor, start), answer, sink),
        };
        location.edges[first..taken].iter().for_each(|edge| edge.note(false));
        edge.note(is_taken);
        moved |= is_taken;
        first = taken + 1;
    }
    moved
}

/// For the processes that may be started.
fn room_to_grow(moves: &Moves<'_>, layout: &Layout) -> usize {
    (MAX_PROCESSES - layout.bases.len()) * moves.program.shape.largest_segment as usize
}

/// The step function has left with this answer; the state that begins here is not yet part of the buffer. Says whether there was a step.
#[inline(always)]
fn arrive(
    moves: &mut Moves<'_>,
    (actor, start): (Actor<'_>, usize),
    answer: i32,
    sink: &mut impl Sink,
) -> bool {
    if !moves.context.failures.is_empty() {
        let failures = moves.context.failures.drain(..);
        failures.for_each(|steps| sink.violated(PropertyKind::Assertion, steps));
    }
    let (process, steps) = (actor.process(), moves.context.steps as u32);
    match answer {
        YES => {
            if settle(moves, process, (start, steps), sink).is_some() {
                sink.arrived(start, process as u8, steps);
            }
        }
        GOES_ON => {
            let at = moves.context.at as u32;
            if let Some(after) = settle(moves, process, (start, steps), sink) {
                go_on(moves, (after, process), at, (start, steps), sink);
            }
        }
        UNDONE => return false,
        _ => sink.violated(PropertyKind::RuntimeError, steps),
    }
    true
}

/// The process ends, if it is the last.
fn end(moves: &mut Moves<'_>, actor: Actor<'_>, edge: &NativeEdge, sink: &mut impl Sink) -> bool {
    if moves.ready_entered(actor, edge, true) == NO {
        return false;
    }
    let (layout, process) = (actor.layout(), actor.process());
    let buffer = sink.buffer();
    let start = buffer.len();
    // SAFETY: the actor's invariant; the buffer lies apart from the state.
    buffer.extend_from_slice(unsafe {
        std::slice::from_raw_parts(actor.state().cast_const(), layout.size as usize)
    });
    step_in_place(moves, (layout, process), (edge, YES), (start, 1), sink);
    true
}

/// A step, the so-many-th, was made to the state that begins here: its length, who moved last, and a failed assertion. Its layout, if the
/// process is still there; if not, it has arrived.
#[inline(always)]
fn settle<'p>(
    moves: &mut Moves<'p>,
    process: usize,
    (start, steps): (usize, u32),
    sink: &mut impl Sink,
) -> Option<&'p Layout> {
    // SAFETY: the context points at the layout of the new state; layouts are never moved or removed.
    let after: &'p Layout = unsafe { &*moves.context.layout };
    // SAFETY: the state has shrunk, or grown into room that was reserved for it and has been written.
    unsafe { sink.buffer().set_len(start + after.size as usize) };
    if let Some(at) = moves.program.shape.last {
        sink.buffer()[start + at as usize] = process as u8;
    }
    if moves.context.failed != 0 {
        moves.context.failed = 0;
        sink.violated(PropertyKind::Assertion, steps);
    }
    if process < after.bases.len() {
        return Some(after);
    }
    sink.arrived(start, process as u8, steps);
    None
}

/// The process goes on alone from the state that begins here, the last in the buffer, in which it stands at this location after
/// so many steps.
fn go_on(
    moves: &mut Moves<'_>,
    (layout, process): (&Layout, usize),
    at: u32,
    (start, steps): (usize, u32),
    sink: &mut impl Sink,
) {
    let locations = &moves.program.edges[usize::from(layout.codes[process].0)];
    let location = &locations[at as usize];
    // SAFETY: the state lies in the buffer, in this layout, and nothing is added to it while the actor is used.
    let actor = unsafe { Actor::new(sink.buffer().as_mut_ptr().add(start), layout, process) };
    moves.enter(actor, Timeout::Never, true);
    let first = moves.context.ready.len();
    for (number, edge) in location.edges.iter().enumerate() {
        let nothing_earlier = moves.context.ready.len() == first;
        let answer = moves.ready_entered(actor, edge, nothing_earlier);
        edge.note(answer != NO);
        if answer != NO {
            moves.context.ready.push((number as u32, answer));
        }
    }
    let end = moves.context.ready.len();
    if first == end {
        return sink.arrived(start, process as u8, steps);
    }
    for one in first..end {
        // Without a step: whoever asked sees that the budget has run out.
        if moves.context.look.is_due() && moves.program.exhausted_with(sink.buffer().len() as u64).is_some() {
            break;
        }
        let (number, answer) = moves.context.ready[one];
        let edge = &location.edges[number as usize];
        let buffer = sink.buffer();
        let copy = buffer.len();
        buffer.extend_from_within(start..start + layout.size as usize);
        let made = step_in_place(moves, (layout, process), (edge, answer), (copy, steps + 1), sink);
        match made {
            Some(after) if edge.facts.atomic => {
                follow(
                    moves,
                    (after, process),
                    &locations[edge.facts.target as usize],
                    (copy, steps + 1),
                    sink,
                );
            }
            Some(_) => sink.arrived(copy, process as u8, steps + 1),
            None => {}
        }
    }
    moves.context.ready.truncate(first);
}

/// As [`go_on`], as far as the step function goes.
fn follow(
    moves: &mut Moves<'_>,
    (layout, process): (&Layout, usize),
    location: &LocationEdges,
    (start, steps): (usize, u32),
    sink: &mut impl Sink,
) {
    let Some(begin) = location.going_on else { return };
    let room = room_to_grow(moves, layout);
    if location.grows {
        sink.buffer().reserve(room);
    }
    let state = sink.buffer().as_mut_ptr();
    // SAFETY: the state lies in the buffer, in this layout, with room for the processes that may be started, and nothing is added to it
    // while the actor is used.
    let actor = unsafe { Actor::new(state.add(start), layout, process) };
    moves.enter(actor, Timeout::Never, true);
    moves.context.out = actor.state();
    (moves.context.failed, moves.context.steps) = (0, steps as i32);
    // SAFETY: the code belongs to the program, and the context points at the actor's state.
    let answer = unsafe { begin.begin(&mut moves.context, actor, true) };
    arrive(moves, (actor, start), answer, sink);
}

/// Makes a step, the so-many-th, that is ready in the state that begins here, the last in the buffer. Its layout then, if the process is
/// still there and the run goes on.
fn step_in_place<'p>(
    moves: &mut Moves<'p>,
    (layout, process): (&Layout, usize),
    (edge, answer): (&NativeEdge, i32),
    (start, steps): (usize, u32),
    sink: &mut impl Sink,
) -> Option<&'p Layout> {
    if answer == FAULT {
        sink.violated(PropertyKind::RuntimeError, steps);
        return None;
    }
    if edge.facts.grows {
        let room = room_to_grow(moves, layout);
        sink.buffer().reserve(room);
    }
    // SAFETY: the state lies there in this layout, with room for the processes that the edge may start, and nothing is
    // added to the buffer while the actor is used.
    let next = unsafe { Actor::new(sink.buffer().as_mut_ptr().add(start), layout, process) };
    moves.enter(next, Timeout::Never, true);
    moves.context.failed = 0;
    match moves.apply(next, edge) {
        YES => settle(moves, process, (start, steps), sink),
        applied => {
            if applied != UNDONE {
                sink.violated(PropertyKind::RuntimeError, steps);
            }
            None
        }
    }
}

/// A rendezvous: whoever takes the message runs afterwards.
fn offer(moves: &mut Moves<'_>, actor: Actor<'_>, edge: &NativeEdge, sink: &mut impl Sink) -> bool {
    let mut found = std::mem::take(&mut moves.context.offers);
    found.clear();
    moves.rendezvous(actor, (0, edge), &mut found);
    for step in &found.steps {
        if let Some(kind) = step.violation {
            sink.violated(kind, 1);
        }
        if step.size > 0 {
            let start = sink.buffer().len();
            sink.buffer().extend_from_slice(found.state(step));
            sink.arrived(start, step.runs, 1);
        }
    }
    let moved = !found.steps.is_empty();
    moves.context.offers = found;
    moved
}
