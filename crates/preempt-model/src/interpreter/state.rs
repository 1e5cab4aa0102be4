//! A state: open for reading and changing (`Machine`), and packed for storing and comparing (`State`).

use super::{Fault, MAX_CHANNELS};
use crate::program::{CodeId, LocationId, Model, TemplateId};
use std::collections::VecDeque;

/// A packed state: equal states have equal bytes. Hidden variables are part of it only inside an atomic sequence.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct State(Box<[u8]>);

/// A state that is open: with its parts as they are computed with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// Slot by slot.
    pub globals: Vec<i32>,
    /// Slot by slot; forgotten when another process may run.
    pub hidden: Vec<i32>,
    /// Channel number `n` is `channels[n - 1]`.
    pub channels: Vec<Channel>,
    /// By their numbers.
    pub processes: Vec<Process>,
    /// The process that alone may run.
    pub exclusive: Option<usize>,
    /// The process that moved last; always 0 unless the model asks for it.
    pub last: u8,
}

/// A channel and what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Channel {
    /// What it is made from.
    pub template: TemplateId,
    /// The oldest first.
    pub messages: VecDeque<Vec<i32>>,
}

/// A process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// From 1 to 255.
    pub priority: u8,
    /// The process's own code first, then the procedures that it is in. Never empty.
    pub frames: Vec<Frame>,
}

/// One call of a code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// What is executed.
    pub code: CodeId,
    /// Where it stands.
    pub location: LocationId,
    /// Slot by slot.
    pub locals: Vec<i32>,
    /// The edge of the frame below that called: its location and its number there.
    pub called_from: (LocationId, u32),
}

impl Process {
    /// Of the procedure that it is in, or of its own code.
    pub fn frame(&self) -> &Frame {
        self.frames.last().expect("a process has its own frame as long as it lives")
    }

    /// The same, to be changed.
    pub fn frame_mut(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a process has its own frame as long as it lives")
    }
}

impl Machine {
    pub(super) fn new_channel(&mut self, template: TemplateId) -> Result<i32, Fault> {
        if self.channels.len() >= MAX_CHANNELS {
            return Err(Fault(format!("too many channels: there can be {MAX_CHANNELS}")));
        }
        self.channels.push(Channel { template, messages: VecDeque::new() });
        Ok(self.channels.len() as i32)
    }

    /// About how much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        let frames = self.processes.iter().flat_map(|process| &process.frames);
        let locals: usize = frames.map(|frame| size_of::<Frame>() + 4 * frame.locals.len()).sum();
        let messages = self.channels.iter().flat_map(|channel| &channel.messages);
        let messages: usize = messages.map(|message| size_of::<Vec<i32>>() + 4 * message.len()).sum();
        let channels = size_of::<Channel>() * self.channels.len() + messages;
        let processes = size_of::<Process>() * self.processes.len() + locals;
        size_of::<Machine>() + 4 * (self.globals.len() + self.hidden.len()) + channels + processes
    }

    pub(super) fn freeze(&self, model: &Model) -> State {
        let mut bytes = Vec::with_capacity(16 + self.globals.len() + 8 * self.processes.len());
        // The two numbers that a search asks for often come first, one byte each.
        bytes.push(self.processes.len() as u8);
        bytes.push(self.exclusive.map_or(0, |process| process as u8 + 1));
        bytes.push(self.last);
        self.globals.iter().for_each(|value| write(&mut bytes, *value));
        if self.exclusive.is_some() {
            self.hidden.iter().for_each(|value| write(&mut bytes, *value));
        }
        for process in &self.processes {
            bytes.push(process.priority);
            write(&mut bytes, process.frames.len() as i32);
            for frame in &process.frames {
                write(&mut bytes, i32::from(frame.code.0));
                write(&mut bytes, frame.location.0 as i32);
                write(&mut bytes, frame.called_from.0.0 as i32);
                write(&mut bytes, frame.called_from.1 as i32);
                frame.locals.iter().for_each(|value| write(&mut bytes, *value));
            }
        }
        write(&mut bytes, self.channels.len() as i32);
        for channel in &self.channels {
            write(&mut bytes, i32::from(channel.template.0));
            write(&mut bytes, channel.messages.len() as i32);
            channel.messages.iter().flatten().for_each(|value| write(&mut bytes, *value));
        }
        debug_assert!(channel_widths_fit(self, model));
        State(bytes.into_boxed_slice())
    }

    pub(super) fn thaw(state: &State, model: &Model, initial_hidden: &[i32]) -> Machine {
        let mut reader = Reader { bytes: &state.0, position: 3 };
        let processes = state.process_count();
        let exclusive = state.exclusive();
        let globals = reader.many(model.global_slots as usize);
        let hidden =
            if exclusive.is_some() { reader.many(initial_hidden.len()) } else { initial_hidden.to_vec() };
        let processes = (0..processes).map(|_| reader.process(model)).collect();
        let channels = (0..reader.read()).map(|_| reader.channel(model)).collect();
        Machine { globals, hidden, channels, processes, exclusive, last: state.0[2] }
    }
}

fn channel_widths_fit(machine: &Machine, model: &Model) -> bool {
    machine.channels.iter().all(|channel| {
        let width = model.template(channel.template).fields.len();
        channel.messages.iter().all(|message| message.len() == width)
    })
}

impl State {
    /// How many there are.
    pub fn process_count(&self) -> usize {
        usize::from(self.0[0])
    }

    /// The packed form itself.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// From bytes that [`State::as_bytes`] gave.
    pub fn from_bytes(bytes: &[u8]) -> State {
        State(bytes.into())
    }

    pub(super) fn byte_count(&self) -> usize {
        size_of::<State>() + self.0.len()
    }

    /// The process that alone may run.
    pub fn exclusive(&self) -> Option<usize> {
        usize::from(self.0[1]).checked_sub(1)
    }
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("State(")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}

/// Small numbers of either sign in one byte (zigzag, then seven bits a byte).
fn write(bytes: &mut Vec<u8>, value: i32) {
    let mut rest = ((value << 1) ^ (value >> 31)) as u32;
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

struct Reader<'b> {
    bytes: &'b [u8],
    position: usize,
}

impl Reader<'_> {
    fn byte(&mut self) -> u8 {
        self.position += 1;
        self.bytes[self.position - 1]
    }

    fn read(&mut self) -> i32 {
        let mut value = 0u32;
        for shift in (0..).step_by(7) {
            let byte = self.byte();
            value |= u32::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                break;
            }
        }
        ((value >> 1) as i32) ^ -((value & 1) as i32)
    }

    fn many(&mut self, count: usize) -> Vec<i32> {
        (0..count).map(|_| self.read()).collect()
    }

    fn process(&mut self, model: &Model) -> Process {
        let priority = self.byte();
        let frames = (0..self.read())
            .map(|_| {
                let code = CodeId(self.read() as u16);
                let location = LocationId(self.read() as u32);
                let called_from = (LocationId(self.read() as u32), self.read() as u32);
                Frame { code, location, locals: self.many(model.code(code).slots as usize), called_from }
            })
            .collect();
        Process { priority, frames }
    }

    fn channel(&mut self, model: &Model) -> Channel {
        let template = TemplateId(self.read() as u16);
        let width = model.template(template).fields.len();
        Channel { template, messages: (0..self.read()).map(|_| self.many(width)).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_survives_packing() {
        for value in [0, 1, -1, 63, 64, -64, -65, 127, 128, 255, 8191, i32::MAX, i32::MIN] {
            let mut bytes = Vec::new();
            write(&mut bytes, value);
            assert_eq!(Reader { bytes: &bytes, position: 0 }.read(), value);
        }
    }
}
