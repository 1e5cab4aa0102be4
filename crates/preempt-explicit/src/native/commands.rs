//! Commands: can one be executed (`interpreter/ready.rs`), and what it does (`interpreter/apply.rs`).

use super::channels::{ChannelRef, Position, Width};
use super::context::{Context, OFFERS, YES};
use super::emitter::Emitter;
use super::helpers;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use preempt_model::command::{Command, Pattern};
use preempt_model::{Expr, Init};
use std::mem::offset_of;

impl Emitter<'_, '_> {
    /// Goes on if the command can be executed, to `no` if not. A rendezvous send counts as ready.
    pub fn ready(&mut self, command: &Command, nothing_earlier: Value, no: Block) {
        let go_on = self.new_block();
        match command {
            Command::Guard(expr) => {
                let holds = self.truth(expr);
                self.branch(holds, go_on, no);
            }
            Command::Else => self.branch(nothing_earlier, go_on, no),
            Command::Send { channel, .. } => {
                let channel = self.channel(channel);
                let full = self.is_full(&channel);
                self.branch(full, no, go_on);
            }
            Command::Receive { channel, random, pattern, keep } => {
                let channel = self.channel(channel);
                let unmet = if *keep { self.fault } else { no };
                self.leave_if_rendezvous(&channel, unmet);
                let position = self.find_message(&channel, *random, pattern, Width::Whole);
                let found = self.builder.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, position, 0);
                self.branch(found, go_on, no);
            }
            Command::Deterministic(block) => self.block_ready(block, 0, nothing_earlier, 0, (go_on, no)),
            _ => self.jump(go_on),
        }
        self.switch_to(go_on);
    }

    /// The whole answer for an edge: goes to `no` if it is not ready, or leaves, perhaps with an offer to whoever receives.
    pub fn ready_or_offer(&mut self, command: &Command, nothing_earlier: Value, no: Block) {
        self.ready(command, nothing_earlier, no);
        self.offers(command);
        self.returns_constant(YES);
    }

    /// A send that is ready, if it is a rendezvous, leaves with the message. Whatever else is ready goes on.
    pub fn offers(&mut self, command: &Command) {
        let Command::Send { channel, fields, .. } = command else { return };
        let channel = self.channel(channel);
        let (offers, go_on) = (self.new_block(), self.new_block());
        self.leave_if_rendezvous(&channel, offers);
        self.jump(go_on);
        self.switch_to(offers);
        let mut values: Vec<Value> = fields.iter().map(|field| self.value(field)).collect();
        let types = channel.known.map(|known| &self.model.template(known.template).fields);
        if let Some(types) = types.filter(|types| types.len() == values.len()) {
            for (value, ty) in values.iter_mut().zip(types) {
                *value = self.wrap(*ty, *value, None);
            }
            self.set_message(&values);
        } else {
            self.set_message(&values);
            self.call_or_fault(helpers::cut_message as *const () as usize, &[channel.index]);
        }
        self.set_context_field(offset_of!(Context, offer_channel), channel.index);
        self.returns_constant(OFFERS);
        self.switch_to(go_on);
    }

    /// What a command that is ready does.
    pub fn apply(&mut self, command: &Command) {
        match command {
            Command::Assign(assignments) => {
                let mut computed = Vec::new();
                for (place, value) in assignments {
                    let spot = self.locate(place);
                    computed.push((place, spot, self.value(value)));
                }
                for (place, spot, value) in computed {
                    self.store_spot(spot, place, value);
                }
            }
            Command::Assert(condition) => {
                let holds = self.truth(condition);
                let (failed, go_on) = (self.new_block(), self.new_block());
                self.branch(holds, go_on, failed);
                self.switch_to(failed);
                let one = self.constant(1);
                self.set_context_field(offset_of!(Context, failed), one);
                self.jump(go_on);
                self.switch_to(go_on);
            }
            Command::Print { args, .. } => {
                for arg in args {
                    self.value(arg);
                }
            }
            Command::Send { channel, sorted, fields } => {
                let channel = self.channel(channel);
                let values: Vec<Value> = fields.iter().map(|field| self.value(field)).collect();
                self.send(&channel, *sorted, &values);
                self.note_event(true, &channel);
            }
            Command::Receive { channel, random, keep, pattern } => {
                let channel = self.channel(channel);
                self.receive(&channel, *random, *keep, pattern);
            }
            Command::Run { code, args, priority, result } => {
                let values: Vec<Value> = args.iter().map(|arg| self.value(arg)).collect();
                self.set_message(&values);
                let code = self.constant(i32::from(code.0));
                let count = self.constant(values.len() as i32);
                let priority = self.constant(i32::from(*priority));
                let pid = self.call_or_fault(helpers::run as *const () as usize, &[code, count, priority]);
                if let Some((place, value)) = result {
                    self.set_context_field(offset_of!(Context, new_pid), pid);
                    let value = self.value(value);
                    let zero = self.constant(0);
                    self.set_context_field(offset_of!(Context, new_pid), zero);
                    let spot = self.locate(place);
                    self.store_spot(spot, place, value);
                }
            }
            Command::SetPriority { pid, priority } => {
                let pid = self.value(pid);
                let priority = self.value(priority);
                self.call_or_fault(helpers::set_priority as *const () as usize, &[pid, priority]);
            }
            Command::Deterministic(block) => self.run_block(block, 0),
            // Nothing to do, or (calls, returns and ends) never given to machine code.
            Command::Guard(_) | Command::Else | Command::End | Command::Call { .. } | Command::Return(_) => {}
        }
    }

    fn receive(&mut self, channel: &ChannelRef, random: bool, keep: bool, pattern: &[Pattern]) {
        let fixed = channel.known.is_some() && !random && !pattern.iter().any(chooses);
        let position = if fixed {
            // That the oldest message matches was found out when the command was ready.
            Position::Oldest
        } else {
            let position = self.find_message(channel, random, pattern, Width::Whole);
            let missing = self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, position, 0);
            self.fault_if(missing);
            Position::At(position)
        };
        let bound = |part: &Pattern| matches!(part, Pattern::Bind(_));
        let values: Vec<Option<Value>> = pattern
            .iter()
            .enumerate()
            .map(|(i, part)| bound(part).then(|| self.field(channel, position, i)))
            .collect();
        if !keep {
            self.remove(channel, position);
        }
        self.bind(pattern, &values);
        if !keep {
            self.note_event(false, channel);
        }
    }

    /// One after the other: in `c ? i, a[i]` the index is the value just received.
    pub fn bind(&mut self, pattern: &[Pattern], values: &[Option<Value>]) {
        for (part, value) in pattern.iter().zip(values) {
            if let (Pattern::Bind(place), Some(value)) = (part, value) {
                let spot = self.locate(place);
                self.store_spot(spot, place, *value);
            }
        }
    }

    fn note_event(&mut self, send: bool, channel: &ChannelRef) {
        if !self.model.exclusives.is_empty() {
            let send = self.constant(i32::from(send));
            self.call(helpers::note_event as *const () as usize, &[send, channel.index]);
        }
    }

    /// The initial values of a new process; its channels are numbered from the one in `offer_channel` on.
    pub fn initialise(&mut self, inits: &[Init]) {
        let mut made = 0;
        for init in inits {
            let (slot, value) = match init {
                Init::Set { slot, ty, value, .. } => {
                    let value = self.value(value);
                    (*slot, self.wrap(*ty, value, None))
                }
                Init::Channel { slot, .. } => {
                    made += 1;
                    let first = self.context_field(offset_of!(Context, offer_channel));
                    (*slot, self.builder.ins().iadd_imm_s(first, made))
                }
            };
            let locals = &self.shape.code(self.code).locals;
            let (format, offset) = (locals.formats[slot as usize], locals.offsets[slot as usize]);
            let base = self.base;
            self.store(format, value, base, offset as i32);
        }
    }
}

fn chooses(part: &Pattern) -> bool {
    let mut any = false;
    part.visit(&mut |expr| any |= matches!(expr, Expr::Any { .. }));
    any
}
