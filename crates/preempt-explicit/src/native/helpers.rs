//! What machine code leaves to Rust: rare questions, and whatever changes the layout.
//!
//! Every helper is given the context that the machine code was entered with; the context points at the state, at its
//! layout and at the program.
#![allow(
    unsafe_code,
    reason = "called from machine code, with pointers that the caller of the machine code vouches for"
)]

use super::actor::Actor;
use super::context::{Context, Event, FAULT, NO, YES};
use super::layout::{Full, Layout};
use super::moves::{Moves, Timeout};
use super::program::Program;
use preempt_model::{CodeId, TemplateId};

/// What every helper relies on: machine code passes on the context it was given, which nobody else uses meanwhile. Its
/// pointers were set by `Context::new` and `Context::point_at` to a program that outlives it, to a layout of that program,
/// which is never moved nor changed, and to a state of that layout with room for what the command may add. An index of a
/// channel is one that machine code has compared with the number of channels.
macro_rules! parts {
    ($context:ident) => {{
        // SAFETY: it is the context that machine code was given.
        let context = unsafe { &mut *$context };
        // SAFETY: layouts are never moved nor changed.
        let layout: &Layout = unsafe { &*context.layout };
        // SAFETY: the program outlives its machine code, which is running.
        let program: &Program = unsafe { &*context.program };
        (context, layout, program)
    }};
}

/// `Expr::Any`.
pub unsafe extern "C" fn pick(context: *mut Context, low: i32, high: i32) -> i32 {
    // SAFETY: it is the context that machine code was given.
    let context = unsafe { &mut *context };
    if context.chooses { context.picks.pick(low, high) } else { low }
}

pub unsafe extern "C" fn timeout(context: *mut Context) -> i32 {
    let (context, layout, program) = parts!(context);
    if !context.asks_timeout {
        return NO;
    }
    let mut moves = Moves::new(program);
    let nobody = (0..layout.bases.len()).all(|process| {
        // SAFETY: the state is the one that the context points at, and the machine code that asks waits for the answer.
        let actor = unsafe { Actor::new(context.state, layout, process) };
        !moves.has_move(actor, Timeout::Never)
    });
    i32::from(nobody)
}

/// Copies the state to where its successor is to lie, and points the context there.
pub unsafe extern "C" fn copy_state(context: *mut Context) -> i32 {
    let (context, layout, _) = parts!(context);
    // SAFETY: whoever entered the step function has left room for the successor there, which lies apart from the state.
    unsafe { std::ptr::copy_nonoverlapping(context.state, context.out, layout.size as usize) };
    context.state = context.out;
    YES
}

/// An assertion has failed in an atomic sequence, and the process goes on.
pub unsafe extern "C" fn note_failure(context: *mut Context) -> i32 {
    let (context, _, _) = parts!(context);
    context.failures.push(context.steps as u32);
    context.failed = 0;
    YES
}

/// May a deterministic block go on?
pub unsafe extern "C" fn is_within_budget(context: *mut Context) -> i32 {
    let (_, _, program) = parts!(context);
    i32::from(program.exhausted_with(0).is_none())
}

/// Could the process move? A fault if that is being asked already, as the interpreter has it.
pub unsafe extern "C" fn enabled(context: *mut Context, pid: i32) -> i32 {
    let (context, layout, program) = parts!(context);
    let living = usize::try_from(pid).ok().filter(|pid| *pid < layout.bases.len());
    // SAFETY: as in `timeout`.
    let actor = |pid| unsafe { Actor::new(context.state, layout, pid) };
    let could = |pid| Moves::new(program).could_move(actor(pid), None);
    preempt_model::interpreter::asking(|| i32::from(living.is_some_and(could))).unwrap_or(FAULT)
}

pub unsafe extern "C" fn non_progress(context: *mut Context) -> i32 {
    let (context, layout, program) = parts!(context);
    let progresses = |process: usize| {
        // SAFETY: as in `timeout`.
        let location = program.location_of(unsafe { Actor::new(context.state, layout, process) });
        program.locations[usize::from(layout.codes[process].0)][location as usize].progress
    };
    i32::from(!(0..layout.bases.len()).any(progresses))
}

/// The number of a process's location, or a fault.
pub unsafe extern "C" fn pc_value(context: *mut Context, pid: i32) -> i32 {
    let (context, layout, program) = parts!(context);
    let Some(pid) = usize::try_from(pid).ok().filter(|pid| *pid < layout.bases.len()) else { return FAULT };
    // SAFETY: as in `timeout`.
    let location = program.location_of(unsafe { Actor::new(context.state, layout, pid) });
    program.locations[usize::from(layout.codes[pid].0)][location as usize].number as i32
}

pub unsafe extern "C" fn priority(context: *mut Context, pid: i32) -> i32 {
    let (context, layout, program) = parts!(context);
    let Some(pid) = usize::try_from(pid).ok().filter(|pid| *pid < layout.bases.len()) else { return FAULT };
    // SAFETY: as in `timeout`.
    i32::from(program.priority_of(unsafe { Actor::new(context.state, layout, pid) }))
}

pub unsafe extern "C" fn set_priority(context: *mut Context, pid: i32, priority: i32) -> i32 {
    let (context, layout, program) = parts!(context);
    if !(1..=255).contains(&priority) {
        return FAULT;
    }
    if let Some(pid) = usize::try_from(pid).ok().filter(|pid| *pid < layout.bases.len())
        && let Some(at) = program.shape.code(layout.codes[pid]).priority
    {
        // SAFETY: the priority is a byte of the segment of a living process, which is part of the state.
        unsafe { *context.state.add((layout.bases[pid] + at) as usize) = priority as u8 };
    }
    YES
}

/// Where the segment of the process that a remote reference means begins; -1 if there is none. Without a number
/// (`any` is not 0) it is the first process of that code.
pub unsafe extern "C" fn find_process(context: *mut Context, code: i32, pid: i32, any: i32) -> i32 {
    let (_, layout, _) = parts!(context);
    let code = CodeId(code as u16);
    let found = if any != 0 {
        layout.codes.iter().position(|own| *own == code)
    } else {
        usize::try_from(pid).ok().filter(|pid| layout.codes.get(*pid) == Some(&code))
    };
    found.map_or(-1, |process| layout.bases[process] as i32)
}

/// The code and arguments (in the context) of a new process; its number, or a fault.
pub unsafe extern "C" fn run(context: *mut Context, code: i32, count: i32, priority: i32) -> i32 {
    let (this, layout, program) = parts!(context);
    let code = CodeId(code as u16);
    let pid = layout.bases.len();
    let next = match program.layouts.with_one_more(&program.shape, layout.number, code) {
        Ok(next) => next,
        Err(full) => {
            this.out_of_layouts |= full == Full::Numbers;
            return FAULT;
        }
    };
    let shape = program.shape.code(code);
    // SAFETY: the caller has left room for every process that can be started.
    let segment = unsafe {
        let start = this.state.add(layout.size as usize);
        std::ptr::write_bytes(start, 0, shape.size as usize);
        std::slice::from_raw_parts_mut(start, shape.size as usize)
    };
    let (entry, parameters) = &program.entries[usize::from(code.0)];
    shape.location.write(segment, 0, *entry as i32);
    if let Some(at) = shape.priority {
        segment[at as usize] = priority as u8;
    }
    for (slot, (ty, value)) in parameters.iter().zip(&this.message[..count as usize]).enumerate() {
        shape.locals.write(segment, 0, slot, ty.wrap(*value));
    }
    let first_channel = layout.channel_offsets.len();
    this.relayout(next);
    let Some(init) = program.inits[usize::from(code.0)] else { return pid as i32 };
    let before = (this.process, this.chooses, this.asks_timeout);
    (this.process, this.chooses, this.asks_timeout) = (pid as i32, false, false);
    this.offer_channel = first_channel as i32;
    let (state, segment) = (this.state, segment.as_mut_ptr());
    // SAFETY: the new segment is part of the state; no reference to the context is used from here on.
    unsafe {
        let status = init(context, state, segment);
        ((*context).process, (*context).chooses, (*context).asks_timeout) = before;
        if status == FAULT { FAULT } else { pid as i32 }
    }
}

/// A channel whose template is not known when code is made. It must not outlive the helper that asks for it: it points
/// into the state.
struct Channel<'p> {
    template: TemplateId,
    shape: &'p super::layout::TemplateShape,
    start: *mut u8,
}

impl<'p> Channel<'p> {
    /// # Safety
    /// The context points at a state of this layout.
    unsafe fn at(context: &Context, layout: &Layout, program: &'p Program, index: i32) -> Channel<'p> {
        let template = layout.channel_templates[index as usize];
        let offset = layout.channel_offsets[index as usize] as usize;
        Channel {
            template,
            shape: program.shape.template(template),
            // SAFETY: the state has this layout, which says where each of its channels lies.
            start: unsafe { context.state.add(offset) },
        }
    }

    /// # Safety
    /// The state is still there, and nothing else refers to this part of it.
    unsafe fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the bytes of the channel are part of the state, from `start` on.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.shape.size as usize) }
    }

    /// # Safety
    /// As for [`Channel::bytes`].
    unsafe fn length(&mut self) -> usize {
        if self.shape.capacity == 0 {
            return 0;
        }
        let format = self.shape.length;
        // SAFETY: as the caller promises.
        format.read(unsafe { self.bytes() }, 0) as usize
    }

    fn message_at(&self, position: usize) -> usize {
        usize::from(self.shape.length.bytes) + position * self.shape.message as usize
    }
}

pub unsafe extern "C" fn channel_length(context: *mut Context, index: i32) -> i32 {
    let (context, layout, program) = parts!(context);
    // SAFETY: the context points at a state of this layout.
    unsafe { Channel::at(context, layout, program, index).length() as i32 }
}

pub unsafe extern "C" fn channel_capacity(context: *mut Context, index: i32) -> i32 {
    let (context, layout, program) = parts!(context);
    // SAFETY: the context points at a state of this layout.
    unsafe { Channel::at(context, layout, program, index).shape.capacity as i32 }
}

pub unsafe extern "C" fn channel_width(context: *mut Context, index: i32) -> i32 {
    let (context, layout, program) = parts!(context);
    // SAFETY: the context points at a state of this layout.
    unsafe { Channel::at(context, layout, program, index).shape.fields.len() as i32 }
}

pub unsafe extern "C" fn channel_field(context: *mut Context, index: i32, position: i32, field: i32) -> i32 {
    let (context, layout, program) = parts!(context);
    // SAFETY: the context points at a state of this layout.
    let mut channel = unsafe { Channel::at(context, layout, program, index) };
    let (format, at) = channel.shape.fields[field as usize];
    let at = channel.message_at(position as usize) + at as usize;
    // SAFETY: nothing else refers to the state here.
    format.read(unsafe { channel.bytes() }, at)
}

/// Cuts the message in the context to the channel's types; a fault if it has another number of fields.
pub unsafe extern "C" fn cut_message(context: *mut Context, index: i32) -> i32 {
    let (context, layout, program) = parts!(context);
    let types = &program.fields[usize::from(layout.channel_templates[index as usize].0)];
    if types.len() != context.message_length as usize {
        return FAULT;
    }
    types.iter().zip(&mut context.message).for_each(|(ty, value)| *value = ty.wrap(*value));
    YES
}

/// Puts the message in the context into a channel that has room for it.
pub unsafe extern "C" fn send(context: *mut Context, index: i32, sorted: i32) -> i32 {
    let (context, layout, program) = parts!(context);
    // SAFETY: the context points at a state of this layout.
    let mut channel = unsafe { Channel::at(context, layout, program, index) };
    let types = &program.fields[usize::from(channel.template.0)];
    if types.len() != context.message_length as usize {
        return FAULT;
    }
    let shape = channel.shape;
    // SAFETY: nothing else refers to the state here.
    let length = unsafe { channel.length() };
    let sent = &context.message[..types.len()];
    let first = channel.message_at(0);
    // SAFETY: nothing else refers to the state here.
    let bytes = unsafe { channel.bytes() };
    let size = shape.message as usize;
    let mut position = length;
    if sorted != 0 {
        let other = |position: usize| {
            let start = first + position * size;
            shape.fields.iter().map(move |(format, at)| (*format, start + *at as usize))
        };
        position = (0..length)
            .find(|position| {
                sent.iter().copied().lt(other(*position).map(|(format, at)| format.read(bytes, at)))
            })
            .unwrap_or(length);
        let start = first + position * size;
        bytes.copy_within(start..first + length * size, start + size);
    }
    for (((format, at), ty), value) in shape.fields.iter().zip(types).zip(sent) {
        format.write(bytes, first + position * size + *at as usize, ty.wrap(*value));
    }
    shape.length.write(bytes, 0, length as i32 + 1);
    YES
}

/// Takes a message out.
pub unsafe extern "C" fn remove(context: *mut Context, index: i32, position: i32) -> i32 {
    let (context, layout, program) = parts!(context);
    // SAFETY: the context points at a state of this layout.
    let mut channel = unsafe { Channel::at(context, layout, program, index) };
    let shape = channel.shape;
    // SAFETY: nothing else refers to the state here.
    let length = unsafe { channel.length() };
    let (first, size) = (channel.message_at(0), shape.message as usize);
    // SAFETY: nothing else refers to the state here.
    let bytes = unsafe { channel.bytes() };
    let start = first + position as usize * size;
    bytes.copy_within(start + size..first + length * size, start);
    bytes[first + (length - 1) * size..first + length * size].fill(0);
    shape.length.write(bytes, 0, length as i32 - 1);
    YES
}

/// Remembers a send or a receive, for promises about who uses a channel.
pub unsafe extern "C" fn note_event(context: *mut Context, send: i32, channel: i32) -> i32 {
    // SAFETY: it is the context that machine code was given.
    let context = unsafe { &mut *context };
    context.events.push(Event { process: context.process, send: send != 0, channel });
    YES
}
