//! What a step function does where it begins: asking, taking an edge into a copy, executing it, and going on alone.

use super::{Labels, Part, is_asked};
use crate::native::context::{Context, ENDS, GOES_ON, YES};
use crate::native::direct_locations::is_always_ready;
use crate::native::emitter::Emitter;
use crate::native::helpers;
use crate::native::slots::NumberFormat;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::Switch;
use preempt_model::Edge;
use preempt_model::command::Command;
use preempt_model::coverage::{EdgeMarks, REFUSED, TAKEN};
use std::mem::offset_of;

/// What a step function is told when it expands, or is asked.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    /// Is no edge ready before the one that it begins with?
    pub nothing_earlier: Value,
    /// Is this all, whether the edge is ready?
    pub only: Value,
}

/// Writes the parts of a function.
pub struct Writer<'w, 'p, 'a, 'f> {
    pub emitter: &'w mut Emitter<'a, 'f>,
    pub part: &'w Part<'p, 'a>,
    pub labels: &'w [Labels],
}

impl<'a> Writer<'_, '_, 'a, '_> {
    /// A location of the part, and where it is in the code.
    pub fn edges(&self, location: usize) -> &'a [Edge] {
        &self.part.locations[self.part.range.start + location].edges
    }

    fn marks(&self, (location, number): (usize, usize)) -> Option<&'a EdgeMarks> {
        (self.part.marks)(self.part.range.start + location, number)
    }

    /// Takes an edge into a copy of the state, if it is ready, or else goes on to the next.
    pub fn expand(&mut self, (location, number): (usize, usize), asked: Asked, nothing: Block) {
        let labels = &self.labels[location];
        let (command, next) = (&self.edges(location)[number].command, labels.expanding[number + 1]);
        let emitter = &mut *self.emitter;
        emitter.switch_to(labels.expanding[number]);
        let taken = emitter.constant(number as i32);
        emitter.set_context_field(offset_of!(Context, taken), taken);
        let Some(body) = labels.bodies[number] else { return emitter.returns_constant(ENDS) };
        if is_asked(command) {
            let (no, yes, go_on) = (emitter.new_block(), emitter.new_block(), emitter.new_block());
            emitter.ready(command, asked.nothing_earlier, no);
            emitter.offers(command);
            emitter.branch(asked.only, yes, go_on);
            emitter.switch_to(yes);
            emitter.returns_constant(YES);
            emitter.switch_to(no);
            emitter.branch(asked.only, nothing, next);
            emitter.switch_to(go_on);
        } else {
            emitter.ready(command, asked.nothing_earlier, next);
        }
        emitter.call(helpers::copy_state as *const () as usize, &[]);
        let out = emitter.context_pointer(offset_of!(Context, out));
        let distance = emitter.builder.ins().isub(emitter.base, emitter.state);
        let base = emitter.add_address(out, distance);
        emitter.jump_to_place(body, (out, base));
    }

    /// Executes an edge in a state, and goes on alone if it is atomic. The process's new location is always written, since others
    /// may ask for it.
    pub fn execute(&mut self, (location, number): (usize, usize), label: Block) {
        let edge = &self.edges(location)[number];
        let marks = self.marks((location, number));
        let emitter = &mut *self.emitter;
        (emitter.state, emitter.base) = emitter.enter_place(label);
        emitter.marks = marks;
        emitter.apply(&edge.command);
        emitter.marks = None;
        let format = emitter.shape.code(emitter.code).location;
        let (target, base) = (emitter.constant(edge.target.0 as i32), emitter.base);
        emitter.store(format, target, base, 0);
        let is_followed = self.part.duties.get(edge.target.0 as usize).is_some_and(|it| it.goes_on);
        if edge.atomic && is_followed {
            self.follow(edge);
        } else {
            self.emitter.returns_constant(YES);
        }
    }

    /// The process goes on alone, unless this edge was all that was asked for.
    fn follow(&mut self, edge: &Edge) {
        let Writer { emitter, part, labels } = self;
        let out = emitter.context_pointer(offset_of!(Context, out));
        let (alone, done) = (emitter.new_block(), emitter.new_block());
        emitter.branch(out, alone, done);
        emitter.switch_to(done);
        emitter.returns_constant(YES);
        emitter.switch_to(alone);
        if matches!(edge.command, Command::Assert(_) | Command::Deterministic(_)) {
            let failed = emitter.context_field(offset_of!(Context, failed));
            let (note, go_on) = (emitter.new_block(), emitter.new_block());
            emitter.branch(failed, note, go_on);
            emitter.switch_to(note);
            emitter.call(helpers::note_failure as *const () as usize, &[]);
            emitter.jump(go_on);
            emitter.switch_to(go_on);
        }
        if let Some(at) = emitter.shape.last {
            let (process, state) = (emitter.context_field(offset_of!(Context, process)), emitter.state);
            emitter.store(NumberFormat::BYTE, process, state, at as i32);
        }
        // From here on there is no timeout.
        let (never, context) = (emitter.builder.ins().iconst(types::I8, 0), emitter.context);
        let flags = MemFlagsData::new().with_notrap();
        emitter.builder.ins().store(flags, never, context, offset_of!(Context, asks_timeout) as i32);
        let target = edge.target.0 as usize;
        let here = target.checked_sub(part.range.start).and_then(|target| labels.get(target));
        match here.and_then(|labels| labels.going_on) {
            Some(label) => emitter.jump_to_place(label, (emitter.state, emitter.base)),
            None => leave_at(emitter, target),
        }
    }

    /// The process is alone, and takes the edge that is ready, if there is one; of several, whoever asked takes one after the other.
    pub fn go_on(&mut self, location: usize, label: Block) {
        let at = self.part.range.start + location;
        let edges = self.edges(location);
        let place = self.emitter.enter_place(label);
        (self.emitter.state, self.emitter.base) = place;
        if edges.iter().any(|edge| edge.command == Command::End) {
            return leave_at(self.emitter, at);
        }
        if let [edge] = edges
            && is_always_ready(&edge.command)
        {
            self.note((location, 0), TAKEN);
            return self.take_alone((location, 0), place);
        }
        // Whether it has a meaning that an edge is ready is for whoever asked, too.
        let several = self.emitter.new_block();
        self.emitter.fault = several;
        // The edge that is ready, or -1.
        let mut found: Option<Value> = None;
        let mut ways = Vec::new();
        for (number, edge) in edges.iter().enumerate() {
            let emitter = &mut *self.emitter;
            let (no, (next, after)) = (emitter.new_block(), emitter.new_join());
            let nothing = emitter.constant(-1);
            let earlier = found.unwrap_or(nothing);
            let nothing_earlier = match found {
                Some(found) => emitter.builder.ins().icmp_imm_s(IntCC::Equal, found, -1),
                None => emitter.constant(1),
            };
            emitter.ready(&edge.command, nothing_earlier, no);
            if found.is_some() {
                let only = emitter.new_block();
                emitter.branch(nothing_earlier, only, several);
                emitter.switch_to(only);
            }
            self.note((location, number), TAKEN);
            if edges[number + 1..].iter().all(|edge| edge.command == Command::Else) {
                (number + 1..edges.len()).for_each(|other| self.note((location, other), REFUSED));
                self.take_alone((location, number), place);
            } else {
                let way = self.emitter.constant(number as i32);
                self.emitter.jump_with(next, way);
                ways.push((number, self.emitter.new_block()));
            }
            self.emitter.switch_to(no);
            self.note((location, number), REFUSED);
            self.emitter.jump_with(next, earlier);
            self.emitter.switch_to(next);
            found = Some(after);
        }
        let blocked = self.emitter.new_block();
        if let Some(found) = found {
            let mut switch = Switch::new();
            ways.iter().for_each(|(number, way)| switch.set_entry(*number as u128, *way));
            switch.emit(&mut self.emitter.builder, found, blocked);
        } else {
            self.emitter.jump(blocked);
        }
        for (number, way) in ways {
            self.emitter.switch_to(way);
            self.take_alone((location, number), place);
        }
        self.emitter.switch_to(blocked);
        self.emitter.returns_constant(YES);
        self.emitter.switch_to(several);
        leave_at(self.emitter, at);
    }

    fn take_alone(&mut self, (location, number): (usize, usize), place: (Value, Value)) {
        let emitter = &mut *self.emitter;
        let steps = emitter.context_field(offset_of!(Context, steps));
        let more = emitter.builder.ins().iadd_imm_s(steps, 1);
        emitter.set_context_field(offset_of!(Context, steps), more);
        if let Some(body) = self.labels[location].bodies[number] {
            emitter.jump_to_place(body, place);
        }
    }

    fn note(&mut self, at: (usize, usize), mark: u8) {
        if let Some(marks) = self.marks(at) {
            self.emitter.note(marks.mark(), mark);
        }
    }
}

/// Leaves; the process goes on alone from this location of its code.
fn leave_at(emitter: &mut Emitter<'_, '_>, location: usize) {
    let at = emitter.constant(location as i32);
    emitter.set_context_field(offset_of!(Context, at), at);
    emitter.returns_constant(GOES_ON);
}
