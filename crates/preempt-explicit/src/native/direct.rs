//! Steps that lead straight from one stable state to the next, written where they will be looked up: one copy for each, and
//! no list between. An atomic sequence without a circle is one, too: as long as there is one way to go on, it goes on where
//! the state lies. What is not direct (other atomic sequences, `unless`, priorities, choices of values) goes through
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
        let is_simple = |edge: &NativeEdge| {
            let is_special = edge.chooses || edge.escape.is_some();
            !is_special && (!edge.sends || !(goes_on_alone || edge.atomic && has_rendezvous))
        };
        for code in &mut self.edges {
            let mut longest = vec![Longest::Unknown; code.len()];
            for start in 0..code.len() {
                find_longest(code, start, &is_simple, has_rendezvous, &mut longest);
            }
            let is_direct = |edge: &NativeEdge| {
                let ends = |target: u32| longest[target as usize].is_within(LONGEST);
                is_simple(edge) && (!edge.atomic || ends(edge.target))
            };
            let direct: Vec<bool> =
                code.iter().map(|location| is_plain && location.edges.iter().all(is_direct)).collect();
            code.iter_mut().zip(direct).for_each(|(location, direct)| location.direct = direct);
        }
    }
}

/// Atomic sequences of more steps are not followed in place.
const LONGEST: u32 = 200;

/// How many steps an atomic sequence can have from some location on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Longest {
    Unknown,
    /// It is being found out: whoever comes here again goes round.
    Open,
    Steps(u32),
    /// There is no such number, or it has steps that are not simple.
    Nothing,
}

impl Longest {
    fn is_within(self, most: u32) -> bool {
        matches!(self, Longest::Steps(steps) if steps <= most)
    }
}

/// Depth first along atomic edges, without recursion.
fn find_longest(
    code: &[LocationEdges],
    start: usize,
    is_simple: &dyn Fn(&NativeEdge) -> bool,
    has_rendezvous: bool,
    longest: &mut [Longest],
) {
    let mut path = vec![(start, 0)];
    while let Some((at, next)) = path.last_mut() {
        let (here, edges) = (*at, &code[*at].edges);
        if *next == 0 {
            if longest[here] != Longest::Unknown {
                path.pop();
                continue;
            }
            longest[here] = Longest::Open;
        }
        if let Some(edge) = edges.get(*next) {
            *next += 1;
            let target = edge.target as usize;
            if edge.atomic && target < code.len() && longest[target] == Longest::Unknown {
                path.push((target, 0));
            }
            continue;
        }
        let mut most = Some(0);
        for edge in edges {
            let after = match edge.atomic {
                false => Some(0),
                true => match longest.get(edge.target as usize) {
                    Some(Longest::Steps(steps)) => Some(*steps),
                    _ => None,
                },
            };
            let may_follow = is_simple(edge) && (!edge.sends || !has_rendezvous);
            most = most.zip(after.filter(|_| may_follow)).map(|(most, after)| most.max(after + 1));
        }
        longest[here] = most.map_or(Longest::Nothing, Longest::Steps);
        path.pop();
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
        let (mut moved, mut is_entered) = (false, false);
        for edge in &location.edges {
            // Whatever is taken points the context at a successor.
            if !std::mem::replace(&mut is_entered, true) {
                moves.enter(actor, Timeout::Evaluated, true);
            }
            let mut is_taken = false;
            let answer = moves.ready_entered(actor, edge, !moved);
            if answer != NO {
                is_taken = take(&mut moves, actor, (edge, answer), state, sink);
                is_entered = false;
            }
            edge.note(is_taken);
            moved |= is_taken;
        }
        let context = moves.context;
        self.out_of_layouts |= context.out_of_layouts;
        self.context = Some(context);
        Some(moved)
    }
}

/// Takes an edge that is ready, or offers a message. Says whether the process could move.
#[inline]
fn take(
    moves: &mut Moves<'_>,
    actor: Actor<'_>,
    (edge, answer): (&NativeEdge, i32),
    state: &[u8],
    sink: &mut impl Sink,
) -> bool {
    match answer {
        FAULT => {
            sink.violated(PropertyKind::RuntimeError, 1);
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
    let applied = apply(moves, next, edge);
    if applied != YES {
        sink.buffer().truncate(start);
        refuse(applied, 1, sink);
        return applied != UNDONE;
    }
    if let Some(after) = settle(moves, actor.process(), (start, 1), sink) {
        match edge.atomic {
            true => go_on(moves, (after, actor.process()), edge.target, (start, 1), sink),
            false => sink.arrived(start, actor.process() as u8, 1),
        }
    }
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
    let (mut layout, mut at, mut steps) = (layout, at, steps);
    let locations = &moves.program.edges[usize::from(layout.codes[process].0)];
    let first = moves.context.ready.len();
    loop {
        // SAFETY: the state lies in the buffer, in this layout, and nothing is added to it while the actor is used.
        let actor = unsafe { Actor::new(sink.buffer().as_mut_ptr().add(start), layout, process) };
        let edges = &locations[at as usize].edges;
        moves.enter(actor, Timeout::Never, true);
        let mut only = None;
        for (number, edge) in edges.iter().enumerate() {
            let answer = moves.ready_entered(actor, edge, only.is_none());
            edge.note(answer != NO);
            if answer == NO {
                continue;
            }
            // Nearly always there is one.
            match only {
                None => only = Some((number as u32, answer)),
                Some(earlier) => {
                    if moves.context.ready.len() == first {
                        moves.context.ready.push(earlier);
                    }
                    moves.context.ready.push((number as u32, answer));
                }
            }
        }
        // Without a step: whoever asked sees that the budget has run out.
        if moves.context.look.is_due() && moves.program.exhausted_with(sink.buffer().len() as u64).is_some() {
            return moves.context.ready.truncate(first);
        }
        let Some((number, answer)) = only else { return sink.arrived(start, process as u8, steps) };
        if moves.context.ready.len() > first {
            break;
        }
        let edge = &edges[number as usize];
        steps += 1;
        match step_in_place(moves, (layout, process), (edge, answer), (start, steps, true), sink) {
            Some(after) if edge.atomic => (layout, at) = (after, edge.target),
            Some(_) => return sink.arrived(start, process as u8, steps),
            None => return,
        }
    }
    let end = moves.context.ready.len();
    let size = layout.size as usize;
    steps += 1;
    for one in first..end {
        let (number, answer) = moves.context.ready[one];
        let edge = &locations[at as usize].edges[number as usize];
        let buffer = sink.buffer();
        let copy = buffer.len();
        buffer.extend_from_within(start..start + size);
        match step_in_place(moves, (layout, process), (edge, answer), (copy, steps, false), sink) {
            Some(after) if edge.atomic => go_on(moves, (after, process), edge.target, (copy, steps), sink),
            Some(_) => sink.arrived(copy, process as u8, steps),
            None => {}
        }
    }
    moves.context.ready.truncate(first);
}

/// Makes a step, the so-many-th, that is ready in the state that begins here, the last in the buffer. Its layout then, if the process is still
/// there and the run goes on. Does the context point at the state (`is_entered`)?
#[inline(always)]
fn step_in_place<'p>(
    moves: &mut Moves<'p>,
    (layout, process): (&Layout, usize),
    (edge, answer): (&NativeEdge, i32),
    (start, steps, is_entered): (usize, u32, bool),
    sink: &mut impl Sink,
) -> Option<&'p Layout> {
    if answer == FAULT {
        sink.violated(PropertyKind::RuntimeError, steps);
        return None;
    }
    let program = moves.program;
    if edge.grows {
        let room = (MAX_PROCESSES - layout.bases.len()) * program.shape.largest_segment as usize;
        sink.buffer().reserve(room);
    }
    // SAFETY: the state lies there in this layout, with room for the processes that the edge may start, and nothing is
    // added to the buffer while the actor is used.
    let next = unsafe { Actor::new(sink.buffer().as_mut_ptr().add(start), layout, process) };
    if !is_entered || edge.grows {
        moves.enter(next, Timeout::Never, true);
    }
    moves.context.failed = 0;
    match apply(moves, next, edge) {
        YES => settle(moves, process, (start, steps), sink),
        applied => {
            refuse(applied, steps, sink);
            None
        }
    }
}

/// Changes the state of an actor that the context points at, as the edge has it: [`YES`], or why not.
#[inline(always)]
fn apply(moves: &mut Moves<'_>, next: Actor<'_>, edge: &NativeEdge) -> i32 {
    match edge.apply {
        Apply::Nothing => moves.stand_at(next, edge.target),
        Apply::End => {
            let after = moves.program.layouts.without_last(next.layout().number);
            moves.context.relayout(after);
        }
        Apply::Code(apply) => {
            // SAFETY: the code belongs to the program, and the context points at the actor's state.
            let applied = unsafe { apply(&mut *moves.context, next.state(), next.base()) };
            if applied != YES {
                return applied;
            }
            moves.stand_at(next, edge.target);
        }
    }
    YES
}

/// A step that was not made has no meaning; or the budget has run out, which whoever asked sees.
fn refuse(applied: i32, steps: u32, sink: &mut impl Sink) {
    if applied != UNDONE {
        sink.violated(PropertyKind::RuntimeError, steps);
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
