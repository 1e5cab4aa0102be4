//! The steps of one process: the order of edges, escapes, who may run, and rendezvous, as
//! `interpreter/moves.rs` defines them, around the machine code of each edge.
#![allow(unsafe_code, reason = "states are handed to machine code as pointers")]

use super::context::{Context, Event, FAULT, NO, OFFERS, UNDONE, YES};
use super::program::{Apply, LocationEdges, NativeEdge, Program, Ready};
use crate::layout::Layout;
use preempt_core::PropertyKind;
use preempt_model::interpreter::MAX_PROCESSES;

/// How often, in ways of one command, the budget is looked at.
const LOOK_UP_EVERY: u32 = 256;

/// The steps found, and the states that they lead to.
#[derive(Debug, Default)]
pub struct Found {
    /// Each state with its hidden variables before it.
    pub bytes: Vec<u8>,
    pub steps: Vec<Step>,
}

impl Found {
    /// The memory that it takes.
    pub fn memory(&self) -> u64 {
        let picks: usize = self.steps.first().map_or(0, |step| step.picks.len() * 4);
        (self.bytes.capacity() + self.steps.capacity() * (size_of::<Step>() + picks)) as u64
    }
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

impl Found {
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.steps.clear();
    }

    pub fn state(&self, step: &Step) -> &[u8] {
        &self.bytes[step.start..step.start + step.size]
    }
}

/// What is known about the world around the process.
#[derive(Debug, Clone, Copy)]
pub struct Ask {
    /// Is `timeout` to be found out, or false?
    pub timeout: bool,
}

/// A rendezvous half done; the message itself waits in the context.
#[derive(Debug, Clone, Copy)]
pub struct Offer {
    channel: i32,
    length: i32,
}

pub struct Moves<'p> {
    pub program: &'p Program,
    pub context: Box<Context>,
    offered: Vec<i32>,
}

impl<'p> Moves<'p> {
    pub fn new(program: &'p Program) -> Moves<'p> {
        Moves::with(program, Box::new(Context::new(program)))
    }

    /// With a context that was made for the same program.
    pub fn with(program: &'p Program, context: Box<Context>) -> Moves<'p> {
        Moves { program, context, offered: Vec::new() }
    }

    /// Appends every step that the process can make.
    ///
    /// # Safety
    /// `state` has this layout, which is one of the program's, the hidden variables lie before it, and it is not part of
    /// `found`. The context was made for the program. The same holds for everything unsafe below.
    pub unsafe fn moves(
        &mut self,
        state: *mut u8,
        layout: &Layout,
        process: usize,
        ask: Ask,
        found: &mut Found,
    ) {
        // SAFETY: as the caller promises.
        if unsafe { !self.may_run(state, layout, process, None) } {
            return;
        }
        // SAFETY: as the caller promises.
        let edges = unsafe { self.edges(state, layout, process) };
        let mut escape = None;
        let mut nothing_earlier = true;
        for (number, edge) in edges.iter().enumerate() {
            if escape.is_some() && edge.escape != escape {
                break;
            }
            let before = found.steps.len();
            self.context.picks.clear();
            let mut tried = 0u32;
            loop {
                // SAFETY: as the caller promises.
                unsafe { self.take(state, layout, process, ask, (number, edge), nothing_earlier, found) };
                if !self.context.picks.advance() {
                    break;
                }
                // A command that chooses n values has 2^n ways and more. Whoever asked sees that the budget has run out.
                tried += 1;
                if tried.is_multiple_of(LOOK_UP_EVERY)
                    && self.program.budget.exhausted_with(found.memory()).is_some()
                {
                    return;
                }
            }
            if found.steps.len() > before {
                nothing_earlier = false;
                escape = edge.escape;
            }
        }
    }

    #[inline]
    unsafe fn location(&self, state: *const u8, layout: &Layout, process: usize) -> &'p LocationEdges {
        // SAFETY: as the caller promises.
        let location = unsafe { self.program.location_of(state, layout, process) };
        &self.program.edges[usize::from(layout.codes[process].0)][location as usize]
    }

    #[inline]
    unsafe fn edges(&self, state: *const u8, layout: &Layout, process: usize) -> &'p [NativeEdge] {
        // SAFETY: as the caller promises.
        unsafe { &self.location(state, layout, process).edges }
    }

    /// Is an edge ready for its process? The context is left pointing at the state.
    #[expect(clippy::too_many_arguments, reason = "all of it says what is asked")]
    unsafe fn ready(
        &mut self,
        state: *mut u8,
        layout: &Layout,
        process: usize,
        ask: Ask,
        chooses: bool,
        edge: &NativeEdge,
        nothing_earlier: bool,
    ) -> i32 {
        match edge.ready {
            Ready::Always => YES,
            Ready::Else => i32::from(nothing_earlier),
            Ready::End => i32::from(process + 1 == layout.bases.len()),
            Ready::Code(ready) => {
                self.enter(state, layout, process, ask, chooses);
                // SAFETY: the segment of the process is part of the state, and the context points at both.
                unsafe {
                    let base = state.add(layout.bases[process] as usize);
                    ready(&mut *self.context, state, base, i32::from(nothing_earlier))
                }
            }
        }
    }

    #[inline]
    fn enter(&mut self, state: *mut u8, layout: &Layout, process: usize, ask: Ask, chooses: bool) {
        self.context.point_at(state, layout);
        self.context.process = process as i32;
        self.context.asks_timeout = ask.timeout;
        self.context.chooses = chooses;
    }

    #[expect(clippy::too_many_arguments, reason = "all of it says which step is meant")]
    unsafe fn take(
        &mut self,
        state: *mut u8,
        layout: &Layout,
        process: usize,
        ask: Ask,
        (number, edge): (usize, &NativeEdge),
        nothing_earlier: bool,
        found: &mut Found,
    ) {
        // SAFETY: as the caller promises.
        match unsafe { self.ready(state, layout, process, ask, true, edge, nothing_earlier) } {
            NO => return,
            FAULT => return self.faulty(process, number, None, found),
            // SAFETY: as the caller promises.
            OFFERS => return unsafe { self.rendezvous(state, layout, process, (number, edge), found) },
            _ => {}
        }
        self.context.picks.rewind();
        // SAFETY: as the caller promises.
        let start = unsafe { self.copy(state, layout, edge.grows, found) };
        // SAFETY: the copy begins there.
        let next = unsafe { found.bytes.as_mut_ptr().add(start) };
        self.enter(next, layout, process, ask, true);
        self.context.failed = 0;
        self.context.events.clear();
        // SAFETY: the segment of the process is part of the copy.
        let base = unsafe { next.add(layout.bases[process] as usize) };
        match edge.apply {
            // SAFETY: as above.
            Apply::Nothing => unsafe { self.stand_at(base, layout, process, edge.target) },
            Apply::End => {
                // SAFETY: no machine code is running that could add one.
                let layouts = unsafe { &*self.program.layouts.get() };
                self.context.relayout(layouts.without_last(layout.number));
            }
            Apply::Code(apply) => {
                // SAFETY: the context points at the copy, which has room for every process that the edge may start.
                let applied = unsafe { apply(&mut *self.context, next, base) };
                if applied == FAULT || applied == UNDONE {
                    found.bytes.truncate(start - self.hidden());
                    // Without a step: whoever asked sees that the budget has run out.
                    if applied == FAULT {
                        self.faulty(process, number, None, found);
                    }
                    return;
                }
                // SAFETY: the segment stays where it is: processes are started behind it.
                unsafe { self.stand_at(base, layout, process, edge.target) };
            }
        }
        // SAFETY: the context points at the copy at `start`.
        unsafe { self.finish(state, layout, start, process, edge.atomic, (number, None), found) };
    }

    fn hidden(&self) -> usize {
        self.program.shape.hidden.size as usize
    }

    /// A copy of the state to be changed, with room for the processes that may be started: where it begins.
    unsafe fn copy(&self, state: *const u8, layout: &Layout, grows: bool, found: &mut Found) -> usize {
        let hidden = self.hidden();
        let size = hidden + layout.size as usize;
        let room = match grows {
            true => (MAX_PROCESSES - layout.bases.len()) * self.program.shape.largest_segment as usize,
            false => 0,
        };
        found.bytes.reserve(size + room);
        // SAFETY: the hidden variables and the state lie together, and not in `found`.
        unsafe { found.bytes.extend_from_slice(std::slice::from_raw_parts(state.sub(hidden), size)) };
        found.bytes.len() - layout.size as usize
    }

    /// # Safety
    /// The segment of the process begins at `base`.
    unsafe fn stand_at(&self, base: *mut u8, layout: &Layout, process: usize, target: u32) {
        let width = usize::from(self.program.shape.code(layout.codes[process]).location.bytes);
        // SAFETY: a segment begins with its location, which is as wide as that.
        unsafe { std::ptr::copy_nonoverlapping(target.to_le_bytes().as_ptr(), base, width) };
    }

    /// The step is made: `state` is where it began, the context points at where it leads to.
    ///
    /// # Safety
    /// As for [`Moves::moves`], and the context points at what [`Moves::copy`] made at `start`.
    #[expect(clippy::too_many_arguments, reason = "all of it says which step is meant")]
    unsafe fn finish(
        &mut self,
        state: *mut u8,
        layout: &Layout,
        start: usize,
        runs: usize,
        atomic: bool,
        (edge, partner): (usize, Option<(u32, u32)>),
        found: &mut Found,
    ) {
        // SAFETY: layouts are never moved nor changed.
        let after: &Layout = unsafe { &*self.context.layout };
        let size = after.size as usize;
        // SAFETY: the state has shrunk, or it has grown into room that was reserved and that `run` has written.
        unsafe { found.bytes.set_len(start + size) };
        if let Some(at) = self.program.shape.last {
            found.bytes[start + at as usize] = runs as u8;
        }
        let failed = self.context.failed != 0;
        let mut violation = failed.then_some(PropertyKind::Assertion);
        if violation.is_none() && !self.context.events.is_empty() {
            let events = std::mem::take(&mut self.context.events);
            // SAFETY: as the caller promises.
            let broken = events.iter().any(|event| unsafe { self.breaks_promise(state, layout, *event) });
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

    fn faulty(&mut self, process: usize, edge: usize, partner: Option<(u32, u32)>, found: &mut Found) {
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

    /// Offers the message in the context to every other process.
    unsafe fn rendezvous(
        &mut self,
        state: *mut u8,
        layout: &Layout,
        sender: usize,
        (number, edge): (usize, &NativeEdge),
        found: &mut Found,
    ) {
        let offer = Offer { channel: self.context.offer_channel, length: self.context.message_length };
        for receiver in (0..layout.bases.len()).filter(|receiver| *receiver != sender) {
            // SAFETY: as the caller promises.
            let location = unsafe { self.location(state, layout, receiver) };
            if !location.receives {
                continue;
            }
            // SAFETY: as the caller promises.
            if unsafe { !self.may_run(state, layout, receiver, Some(&offer)) } {
                continue;
            }
            let mut escape = None;
            for (partner, taken) in location.edges.iter().enumerate() {
                if escape.is_some() && taken.escape != escape {
                    break;
                }
                // SAFETY: as the caller promises.
                let way = unsafe { self.accepts(state, layout, receiver, taken, &offer) };
                if way == NO {
                    continue;
                }
                escape = taken.escape;
                let with = Some((receiver as u32, partner as u32));
                if way == FAULT {
                    self.faulty(sender, number, with, found);
                    continue;
                }
                // SAFETY: as the caller promises.
                let start = unsafe { self.copy(state, layout, taken.grows, found) };
                // SAFETY: the copy begins there.
                let next = unsafe { found.bytes.as_mut_ptr().add(start) };
                self.enter(next, layout, receiver, Ask { timeout: false }, true);
                self.context.failed = 0;
                self.context.events.clear();
                if !self.program.promises.is_empty() {
                    let event = |process: usize, send| Event {
                        process: process as i32,
                        send,
                        channel: offer.channel,
                    };
                    self.context.events.extend([event(sender, true), event(receiver, false)]);
                }
                // Taking the message may send others through the context.
                let length = offer.length as usize;
                self.offered.clear();
                self.offered.extend_from_slice(&self.context.message[..length]);
                // SAFETY: both segments are part of the copy that the context points at, which has room for every process
                // that the receiver may start.
                let received = unsafe {
                    let sending = next.add(layout.bases[sender] as usize);
                    self.stand_at(sending, layout, sender, edge.target);
                    let receiving = next.add(layout.bases[receiver] as usize);
                    let received = taken.takes[(way - YES) as usize](&mut *self.context, next, receiving);
                    self.stand_at(receiving, layout, receiver, taken.target);
                    received
                };
                self.context.message[..length].copy_from_slice(&self.offered);
                if received == FAULT || received == UNDONE {
                    found.bytes.truncate(start - self.hidden());
                    if received == FAULT {
                        self.faulty(sender, number, with, found);
                    }
                } else {
                    // SAFETY: the context points at the copy at `start`.
                    unsafe {
                        self.finish(state, layout, start, receiver, taken.atomic, (number, with), found)
                    };
                }
            }
        }
    }

    /// Which of its ways takes the offer, if one does.
    unsafe fn accepts(
        &mut self,
        state: *mut u8,
        layout: &Layout,
        process: usize,
        edge: &NativeEdge,
        offer: &Offer,
    ) -> i32 {
        let Some(accept) = edge.accept else { return NO };
        self.enter(state, layout, process, Ask { timeout: false }, false);
        self.context.offer_channel = offer.channel;
        self.context.message_length = offer.length;
        // SAFETY: the segment of the process is part of the state, and the context points at both.
        unsafe { accept(&mut *self.context, state, state.add(layout.bases[process] as usize)) }
    }

    /// Its `provided` clause holds, and no process of higher priority could move instead.
    unsafe fn may_run(
        &mut self,
        state: *mut u8,
        layout: &Layout,
        process: usize,
        offer: Option<&Offer>,
    ) -> bool {
        if !self.program.may_be_held_back {
            return true;
        }
        // SAFETY: as the caller promises.
        if unsafe { !self.is_provided(state, layout, process) } {
            return false;
        }
        if !self.program.has_priorities {
            return true;
        }
        let program = self.program;
        // SAFETY: as the caller promises.
        let priority = |process| unsafe { program.priority_of(state, layout, process) };
        let own = priority(process);
        // SAFETY: as the caller promises.
        !(0..layout.bases.len()).any(|other| unsafe {
            priority(other) > own
                && self.is_provided(state, layout, other)
                && self.could_move(state, layout, other, offer)
        })
    }

    /// A clause that cannot be evaluated does not hold the process back.
    unsafe fn is_provided(&mut self, state: *mut u8, layout: &Layout, process: usize) -> bool {
        let Some(clause) = self.program.provided[usize::from(layout.codes[process].0)] else { return true };
        self.enter(state, layout, process, Ask { timeout: false }, false);
        // SAFETY: the segment of the process is part of the state, and the context points at both.
        unsafe { clause(&mut *self.context, state, state.add(layout.bases[process] as usize)) != NO }
    }

    /// Is one of its commands ready, were it alone to decide? A rendezvous send is, even if nobody receives.
    unsafe fn could_move_with(
        &mut self,
        state: *mut u8,
        layout: &Layout,
        process: usize,
        offer: Option<&Offer>,
    ) -> bool {
        // SAFETY: as the caller promises.
        let edges = unsafe { self.edges(state, layout, process) };
        // SAFETY: as the caller promises.
        edges.iter().any(|edge| unsafe {
            match offer {
                // Nothing earlier is ready, or we would not have come here.
                None => self.ready(state, layout, process, Ask { timeout: false }, false, edge, true) != NO,
                Some(offer) => self.accepts(state, layout, process, edge, offer) != NO,
            }
        })
    }

    /// # Safety
    /// As for [`Moves::moves`].
    pub unsafe fn could_move(
        &mut self,
        state: *mut u8,
        layout: &Layout,
        process: usize,
        offer: Option<&Offer>,
    ) -> bool {
        // SAFETY: as the caller promises.
        unsafe { self.could_move_with(state, layout, process, offer) }
    }

    /// Can the process make a step at all?
    ///
    /// # Safety
    /// As for [`Moves::moves`].
    pub unsafe fn has_move(&mut self, state: *mut u8, layout: &Layout, process: usize, ask: Ask) -> bool {
        // SAFETY: as the caller promises.
        if unsafe { !self.may_run(state, layout, process, None) } {
            return false;
        }
        let mut found = Found::default();
        // SAFETY: as the caller promises.
        let edges = unsafe { self.edges(state, layout, process) };
        let mut tried = 0u32;
        edges.iter().any(|edge| {
            self.context.picks.clear();
            loop {
                // SAFETY: as the caller promises.
                match unsafe { self.ready(state, layout, process, ask, true, edge, true) } {
                    NO => {}
                    OFFERS => {
                        // SAFETY: as the caller promises, and `found` is our own.
                        unsafe { self.rendezvous(state, layout, process, (0, edge), &mut found) };
                        if !found.steps.is_empty() {
                            return true;
                        }
                    }
                    _ => return true,
                }
                tried += 1;
                let in_time =
                    !tried.is_multiple_of(LOOK_UP_EVERY) || self.program.budget.exhausted().is_none();
                if !in_time || !self.context.picks.advance() {
                    return false;
                }
            }
        })
    }

    /// Is one edge of its location ready, without a timeout?
    ///
    /// # Safety
    /// As for [`Moves::moves`].
    pub unsafe fn is_ready(&mut self, state: *mut u8, layout: &Layout, process: usize, edge: usize) -> bool {
        // SAFETY: as the caller promises.
        let edge = unsafe { &self.edges(state, layout, process)[edge] };
        // SAFETY: as the caller promises.
        unsafe { self.ready(state, layout, process, Ask { timeout: false }, false, edge, true) != NO }
    }

    unsafe fn breaks_promise(&mut self, state: *mut u8, layout: &Layout, event: Event) -> bool {
        let program = self.program;
        let promises = program.promises.iter().filter(|promise| promise.receive != event.send);
        for promise in promises {
            for holder in 0..layout.bases.len() {
                if holder as i32 == event.process || layout.codes[holder] != promise.code {
                    continue;
                }
                self.enter(state, layout, holder, Ask { timeout: false }, false);
                // SAFETY: the segment of the holder is part of the state, and the context points at both.
                let channel = unsafe {
                    let base = state.add(layout.bases[holder] as usize);
                    (promise.channel)(&mut *self.context, state, base)
                };
                if channel == event.channel + 1 {
                    return true;
                }
            }
        }
        false
    }
}
