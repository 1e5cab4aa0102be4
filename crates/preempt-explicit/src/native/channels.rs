//! Channels: which one is meant, what is in it, and changing that.

use super::channel_facts::Known;
use super::context::Context;
use super::emitter::Emitter;
use super::helpers;
use super::slots::NumberFormat;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Value, types};
use preempt_model::{Expr, Pattern, TemplateId};
use std::mem::offset_of;

/// A channel that is there.
#[derive(Debug, Clone, Copy)]
pub struct ChannelRef {
    pub index: Value,
    /// Where it lies and what it looks like, if its template is known.
    pub known: Option<KnownChannel>,
}

#[derive(Debug, Clone, Copy)]
pub struct KnownChannel {
    pub pointer: Value,
    pub offset: i32,
    pub template: TemplateId,
}

/// Which message.
#[derive(Debug, Clone, Copy)]
pub enum Position {
    Oldest,
    At(Value),
}

/// How many fields a pattern must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// As many as the message: a receive.
    Whole,
    /// A poll may leave out the last ones.
    Beginning,
}

impl Emitter<'_, '_> {
    /// Leaves with a fault if the expression names no channel.
    pub fn channel(&mut self, channel: &Expr) -> ChannelRef {
        match self.facts.about(self.shape, self.code, channel) {
            Known::Global { index, at } => {
                let index = self.constant(index as i32);
                let known =
                    KnownChannel { pointer: self.state, offset: at.offset as i32, template: at.template };
                ChannelRef { index, known: Some(known) }
            }
            Known::Own(at) => {
                let number = self.value(channel);
                let index = self.builder.ins().iadd_imm_s(number, -1);
                let known =
                    KnownChannel { pointer: self.base, offset: at.offset as i32, template: at.template };
                ChannelRef { index, known: Some(known) }
            }
            Known::Template(template) => {
                let index = self.checked_index(channel);
                let flags = MemFlagsData::new().with_notrap();
                let context = self.context;
                let table = self.builder.ins().load(
                    types::I64,
                    flags,
                    context,
                    offset_of!(Context, channel_offsets) as i32,
                );
                let distance = self.scaled(index, 4);
                let entry = self.add_address(table, distance);
                let offset = self.load(NumberFormat::WORD, entry, 0);
                let pointer = self.segment(offset);
                ChannelRef { index, known: Some(KnownChannel { pointer, offset: 0, template }) }
            }
            Known::Nothing => ChannelRef { index: self.checked_index(channel), known: None },
        }
    }

    fn checked_index(&mut self, channel: &Expr) -> Value {
        let number = self.value(channel);
        let index = self.builder.ins().iadd_imm_s(number, -1);
        let count = self.context_field(offset_of!(Context, channel_count));
        let wrong = self.builder.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, index, count);
        self.fault_if(wrong);
        index
    }

    pub fn length(&mut self, channel: &ChannelRef) -> Value {
        let Some(known) = channel.known else {
            return self.call(helpers::channel_length as *const () as usize, &[channel.index]);
        };
        let template = self.shape.template(known.template);
        if template.capacity == 0 {
            return self.constant(0);
        }
        self.load(template.length, known.pointer, known.offset)
    }

    /// A rendezvous channel is never full.
    pub fn is_full(&mut self, channel: &ChannelRef) -> Value {
        let length = self.length(channel);
        let capacity = match channel.known {
            Some(known) => {
                let capacity = self.shape.template(known.template).capacity;
                self.constant(capacity.max(1) as i32)
            }
            None => {
                let capacity = self.call(helpers::channel_capacity as *const () as usize, &[channel.index]);
                let one = self.constant(1);
                self.builder.ins().umax(capacity, one)
            }
        };
        self.builder.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, length, capacity)
    }

    /// Is it a rendezvous channel? Either known now, or a condition to be asked.
    pub fn is_rendezvous(&mut self, channel: &ChannelRef) -> Result<bool, Value> {
        match channel.known {
            Some(known) => Ok(self.shape.template(known.template).capacity == 0),
            None => {
                let capacity = self.call(helpers::channel_capacity as *const () as usize, &[channel.index]);
                Err(self.builder.ins().icmp_imm_s(IntCC::Equal, capacity, 0))
            }
        }
    }

    /// Goes to `target` if it is a rendezvous channel, on otherwise.
    pub fn leave_if_rendezvous(&mut self, channel: &ChannelRef, target: Block) {
        let go_on = self.new_block();
        match self.is_rendezvous(channel) {
            Ok(true) => self.jump(target),
            Ok(false) => self.jump(go_on),
            Err(condition) => self.branch(condition, target, go_on),
        }
        self.switch_to(go_on);
    }

    pub fn fault_if_rendezvous(&mut self, channel: &ChannelRef) {
        self.leave_if_rendezvous(channel, self.fault);
    }

    /// The position of the message that would be received, or -1.
    pub fn find_message(
        &mut self,
        channel: &ChannelRef,
        random: bool,
        pattern: &[Pattern],
        width: Width,
    ) -> Value {
        let length = self.length(channel);
        let (done, result) = self.new_join();
        let missing = self.new_block();
        if random {
            let (next, position) = self.new_join();
            let (compare, other) = (self.new_block(), self.new_block());
            let zero = self.constant(0);
            self.jump_with(next, zero);
            self.switch_to(next);
            let more = self.builder.ins().icmp(IntCC::UnsignedLessThan, position, length);
            self.branch(more, compare, missing);
            self.switch_to(compare);
            self.matches(channel, Position::At(position), (pattern, width), other);
            self.jump_with(done, position);
            self.switch_to(other);
            let following = self.builder.ins().iadd_imm_s(position, 1);
            self.jump_with(next, following);
        } else {
            let some = self.new_block();
            self.branch(length, some, missing);
            self.switch_to(some);
            self.matches(channel, Position::Oldest, (pattern, width), missing);
            let zero = self.constant(0);
            self.jump_with(done, zero);
        }
        self.switch_to(missing);
        let none = self.constant(-1);
        self.jump_with(done, none);
        self.switch_to(done);
        result
    }

    /// Goes on if the message matches, to `no` if it does not.
    fn matches(
        &mut self,
        channel: &ChannelRef,
        position: Position,
        (pattern, width): (&[Pattern], Width),
        no: Block,
    ) {
        self.check_width(channel, pattern.len(), width);
        for (field, part) in pattern.iter().enumerate() {
            if let Pattern::Match(expr) = part {
                let wanted = self.value(expr);
                let there = self.field(channel, position, field);
                self.go_on_if_equal(wanted, there, no);
            }
        }
    }

    pub fn go_on_if_equal(&mut self, left: Value, right: Value, no: Block) {
        let equal = self.builder.ins().icmp(IntCC::Equal, left, right);
        let go_on = self.new_block();
        self.branch(equal, go_on, no);
        self.switch_to(go_on);
    }

    fn check_width(&mut self, channel: &ChannelRef, wanted: usize, width: Width) {
        let wrong = match channel.known {
            Some(known) => {
                let there = self.shape.template(known.template).fields.len();
                if there == wanted || width == Width::Beginning && there > wanted {
                    return;
                }
                self.constant(1)
            }
            None => {
                let there = self.call(helpers::channel_width as *const () as usize, &[channel.index]);
                let wrong = match width {
                    Width::Whole => IntCC::NotEqual,
                    Width::Beginning => IntCC::UnsignedLessThan,
                };
                self.builder.ins().icmp_imm_s(wrong, there, wanted as i64)
            }
        };
        self.fault_if(wrong);
    }

    /// One field of a message that has it.
    pub fn field(&mut self, channel: &ChannelRef, position: Position, field: usize) -> Value {
        let Some(known) = channel.known else {
            let number = self.constant(field as i32);
            let position = match position {
                Position::Oldest => self.constant(0),
                Position::At(position) => position,
            };
            return self
                .call(helpers::channel_field as *const () as usize, &[channel.index, position, number]);
        };
        let template = self.shape.template(known.template);
        let Some((format, at)) = template.fields.get(field).copied() else {
            // Never reached: the width was checked before.
            return self.constant(0);
        };
        let start = known.offset + i32::from(template.length.bytes) + at as i32;
        let pointer = match position {
            Position::Oldest => known.pointer,
            Position::At(position) => {
                let distance = self.scaled(position, template.message);
                self.add_address(known.pointer, distance)
            }
        };
        self.load(format, pointer, start)
    }

    /// Takes a message out.
    pub fn remove(&mut self, channel: &ChannelRef, position: Position) {
        if let Some(known) = channel.known
            && self.shape.template(known.template).capacity == 1
        {
            let template = self.shape.template(known.template);
            let zero = self.constant(0);
            self.store(template.length, zero, known.pointer, known.offset);
            for (format, at) in &template.fields {
                let start = known.offset + i32::from(template.length.bytes) + *at as i32;
                self.store(*format, zero, known.pointer, start);
            }
            return;
        }
        let position = match position {
            Position::Oldest => self.constant(0),
            Position::At(position) => position,
        };
        self.call(helpers::remove as *const () as usize, &[channel.index, position]);
    }

    /// Puts a message into a channel that has room for it.
    pub fn send(&mut self, channel: &ChannelRef, sorted: bool, fields: &[Value]) {
        let known = channel.known.filter(|known| {
            let template = self.shape.template(known.template);
            !sorted && template.capacity > 0 && template.fields.len() == fields.len()
        });
        let Some(known) = known else {
            self.set_message(fields);
            let sorted = self.constant(i32::from(sorted));
            self.call_or_fault(helpers::send as *const () as usize, &[channel.index, sorted]);
            return;
        };
        let template = self.shape.template(known.template);
        let length = self.length(channel);
        let distance = self.scaled(length, template.message);
        let pointer = self.add_address(known.pointer, distance);
        let types = &self.model.template(known.template).fields;
        for (((format, at), ty), value) in template.fields.iter().zip(types).zip(fields) {
            let value = self.wrap(*ty, *value, Some(*format));
            let start = known.offset + i32::from(template.length.bytes) + *at as i32;
            self.store(*format, value, pointer, start);
        }
        let longer = self.builder.ins().iadd_imm_s(length, 1);
        self.store(template.length, longer, known.pointer, known.offset);
    }
}
