//! From the interpreter's states to flat ones and back.

use super::layout::{LAYOUT_BYTES, Layout, Layouts, Shape};
use crate::Unsupported;
use preempt_model::interpreter::{Channel, Frame, Machine, Process};
use preempt_model::{LocationId, Model};

/// A state with what is known about it only in the middle of an atomic sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlatState {
    pub bytes: Vec<u8>,
    pub hidden: Vec<u8>,
    pub exclusive: Option<u8>,
}

pub fn flatten(shape: &Shape, layouts: &Layouts, machine: &Machine) -> Result<FlatState, Unsupported> {
    let mut number = 0;
    for process in &machine.processes {
        let [frame] = process.frames.as_slice() else {
            return Err(Unsupported("procedures".into()));
        };
        number = layouts.with_one_more(shape, number, frame.code)?.number;
    }
    let layout = layouts.get(number);
    let mut bytes = vec![0; layout.size as usize];
    bytes[..LAYOUT_BYTES].copy_from_slice(&number.to_le_bytes());
    if let Some(at) = shape.last {
        bytes[at as usize] = machine.last;
    }
    for (slot, value) in machine.globals.iter().enumerate() {
        shape.globals.write(&mut bytes, 0, slot, *value);
    }
    for (process, base) in machine.processes.iter().zip(&layout.bases) {
        let (frame, base) = (&process.frames[0], *base as usize);
        let code = shape.code(frame.code);
        code.location.write(&mut bytes, base, frame.location.0 as i32);
        if let Some(at) = code.priority {
            bytes[base + at as usize] = process.priority;
        }
        for (slot, value) in frame.locals.iter().enumerate() {
            code.locals.write(&mut bytes, base, slot, *value);
        }
    }
    for (channel, offset) in machine.channels.iter().zip(&layout.channel_offsets) {
        let template = shape.template(channel.template);
        if template.capacity == 0 {
            continue;
        }
        let start = *offset as usize;
        template.length.write(&mut bytes, start, channel.messages.len() as i32);
        let start = start + usize::from(template.length.bytes);
        for (position, message) in channel.messages.iter().enumerate() {
            let start = start + position * template.message as usize;
            for ((format, at), value) in template.fields.iter().zip(message) {
                format.write(&mut bytes, start + *at as usize, *value);
            }
        }
    }
    let mut hidden = vec![0; shape.hidden.size as usize];
    for (slot, value) in machine.hidden.iter().enumerate() {
        shape.hidden.write(&mut hidden, 0, slot, *value);
    }
    Ok(FlatState { bytes, hidden, exclusive: machine.exclusive.map(|process| process as u8) })
}

pub fn unflatten(model: &Model, shape: &Shape, layout: &Layout, state: &FlatState) -> Machine {
    let bytes = &state.bytes;
    let globals = (0..model.global_slots as usize).map(|slot| shape.globals.read(bytes, 0, slot)).collect();
    let hidden =
        (0..model.hidden_slots as usize).map(|slot| shape.hidden.read(&state.hidden, 0, slot)).collect();
    let processes = layout.codes.iter().zip(&layout.bases).map(|(code, base)| {
        let (own, base) = (shape.code(*code), *base as usize);
        let frame = Frame {
            code: *code,
            location: LocationId(own.location.read(bytes, base) as u32),
            locals: (0..model.code(*code).slots as usize)
                .map(|slot| own.locals.read(bytes, base, slot))
                .collect(),
            called_from: (LocationId(0), 0),
        };
        Process { priority: own.priority.map_or(1, |at| bytes[base + at as usize]), frames: vec![frame] }
    });
    let channels = layout.channel_templates.iter().zip(&layout.channel_offsets).map(|(template, offset)| {
        let own = shape.template(*template);
        let start = *offset as usize;
        let length = if own.capacity == 0 { 0 } else { own.length.read(bytes, start) as usize };
        let start = start + usize::from(own.length.bytes);
        let message = |position: usize| {
            let start = start + position * own.message as usize;
            own.fields.iter().map(|(format, at)| format.read(bytes, start + *at as usize)).collect()
        };
        Channel { template: *template, messages: (0..length).map(message).collect() }
    });
    Machine {
        globals,
        hidden,
        processes: processes.collect(),
        channels: channels.collect(),
        exclusive: state.exclusive.map(usize::from),
        last: shape.last.map_or(0, |at| bytes[at as usize]),
    }
}
