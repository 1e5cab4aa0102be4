//! The receiving half of a rendezvous: does an edge take the message that is offered, and what does taking it do?

use super::context::{Context, NO, YES};
use super::emitter::Emitter;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as Label, InstBuilder, Value};
use preempt_model::Expr;
use preempt_model::command::{Block, Command, Pattern};
use std::mem::offset_of;

/// One way in which an edge takes an offer.
#[derive(Debug, Clone, Copy)]
pub struct Acceptance<'m> {
    pub pattern: &'m [Pattern],
    /// A deterministic block that begins with the receive goes on here.
    pub rest: Option<(&'m Block, usize)>,
}

/// All ways, in the order in which they are tried.
pub fn acceptances(command: &Command) -> Vec<Acceptance<'_>> {
    let mut found = Vec::new();
    match command {
        Command::Receive { pattern, keep: false, .. } => found.push(Acceptance { pattern, rest: None }),
        Command::Deterministic(block) => {
            each_entry(block, 0, 0, &mut |_, pattern, next| {
                found.push(Acceptance { pattern, rest: next.map(|next| (block.as_ref(), next)) });
            });
        }
        _ => {}
    }
    found
}

/// The receives with which a block may begin; nodes that only lead on are looked through.
fn each_entry<'m>(
    block: &'m Block,
    node: usize,
    depth: usize,
    visit: &mut dyn FnMut(&'m Expr, &'m [Pattern], Option<usize>),
) {
    if depth > block.nodes.len() {
        return;
    }
    for edge in &block.nodes[node] {
        match (&edge.command, edge.next) {
            (Some(Command::Receive { channel, pattern, keep: false, .. }), next) => {
                visit(channel, pattern, next)
            }
            (Some(_), _) | (None, None) => {}
            (None, Some(next)) => each_entry(block, next, depth + 1, visit),
        }
    }
}

impl Emitter<'_, '_> {
    /// Returns which acceptance takes the offer, counted from one.
    pub fn accept(&mut self, command: &Command) {
        let mut receives: Vec<(&Expr, &[Pattern])> = Vec::new();
        match command {
            Command::Receive { channel, pattern, .. } => receives.push((channel, pattern)),
            Command::Deterministic(block) => {
                each_entry(block, 0, 0, &mut |channel, pattern, _| receives.push((channel, pattern)));
            }
            _ => {}
        }
        for (number, (channel, pattern)) in receives.into_iter().enumerate() {
            let other = self.new_block();
            self.takes_offer(channel, pattern, other);
            self.returns_constant(YES + number as i32);
            self.switch_to(other);
        }
        self.returns_constant(NO);
    }

    fn takes_offer(&mut self, channel: &Expr, pattern: &[Pattern], no: Label) {
        // A channel that is no channel is the receiver's own fault, found when it moves itself.
        let fault = std::mem::replace(&mut self.fault, no);
        let channel = self.channel(channel);
        self.fault = fault;
        let offered = self.context_field(offset_of!(Context, offer_channel));
        self.go_on_if_equal(channel.index, offered, no);
        let width = self.context_field(offset_of!(Context, message_length));
        let wrong = self.builder.ins().icmp_imm_s(IntCC::NotEqual, width, pattern.len() as i64);
        self.fault_if(wrong);
        for (field, part) in pattern.iter().enumerate() {
            if let Pattern::Match(expr) = part {
                let wanted = self.value(expr);
                let there = self.message_field(field);
                self.go_on_if_equal(wanted, there, no);
            }
        }
    }

    /// The offered message is received.
    pub fn take(&mut self, acceptance: Acceptance<'_>) {
        let values: Vec<Option<Value>> =
            (0..acceptance.pattern.len()).map(|field| Some(self.message_field(field))).collect();
        self.bind(acceptance.pattern, &values);
        if let Some((block, node)) = acceptance.rest {
            self.run_block(block, node);
        }
    }
}
