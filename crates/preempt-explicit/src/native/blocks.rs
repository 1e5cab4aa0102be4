//! Deterministic blocks: several commands as one step, as loops and jumps of machine code.

use super::emitter::Emitter;
use super::helpers;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as Label, InstBuilder, Value, types};
use preempt_model::command::{Block, Command};

/// After so many steps of a block the budget is looked at.
const LOOK_UP_EVERY: i64 = 1 << 16;

impl Emitter<'_, '_> {
    /// Goes to the first target if one of the ways into the block is ready, else to the second.
    pub fn block_ready(
        &mut self,
        block: &Block,
        node: usize,
        nothing_earlier: Value,
        depth: usize,
        (yes, no): (Label, Label),
    ) {
        if depth > block.nodes.len() {
            return self.jump(self.fault);
        }
        let alternatives = &block.nodes[node];
        // A lone `else` belongs to the choice that the block is part of, otherwise to the block's own choice.
        let nothing_earlier = if alternatives.len() > 1 { self.constant(1) } else { nothing_earlier };
        for edge in alternatives {
            let next = self.new_block();
            match (&edge.command, edge.next) {
                (Some(command), _) => {
                    self.ready(command, nothing_earlier, next);
                    self.jump(yes);
                }
                (None, Some(target)) => {
                    self.block_ready(block, target, nothing_earlier, depth + 1, (yes, next));
                }
                (None, None) => self.jump(yes),
            }
            self.switch_to(next);
        }
        self.jump(no);
    }

    /// Node by node, always the first alternative that is ready; goes on after the block. One that does not end goes on
    /// until the budget does.
    pub fn run_block(&mut self, block: &Block, entry: usize) {
        let labels: Vec<Label> = block.nodes.iter().map(|_| self.new_block()).collect();
        let exit = self.new_block();
        let steps = self.builder.declare_var(types::I32);
        let zero = self.constant(0);
        self.builder.def_var(steps, zero);
        self.jump(labels[entry]);
        let mut number = 0;
        for (node, label) in labels.iter().enumerate() {
            self.switch_to(*label);
            let taken = self.builder.use_var(steps);
            let more = self.builder.ins().iadd_imm_s(taken, 1);
            self.builder.def_var(steps, more);
            let many = self.builder.ins().icmp_imm_u(IntCC::Equal, taken, LOOK_UP_EVERY);
            let (look, go_on) = (self.new_block(), self.new_block());
            self.branch(many, look, go_on);
            self.switch_to(look);
            let zero = self.constant(0);
            self.builder.def_var(steps, zero);
            let within = self.call(helpers::is_within_budget as *const () as usize, &[]);
            self.branch(within, go_on, self.undone);
            self.switch_to(go_on);
            for edge in &block.nodes[node] {
                let (body, other) = (self.new_block(), self.new_block());
                let alone = block.nodes[node].len() == 1;
                match (&edge.command, edge.next) {
                    (Some(command), _) => {
                        let nothing_earlier = self.constant(1);
                        self.ready(command, nothing_earlier, other);
                        self.jump(body);
                    }
                    // A way that only leads on is taken if what it leads to is ready.
                    (None, Some(next)) if !alone => self.some_ready(block, next, 0, (body, other)),
                    (None, _) => self.jump(body),
                }
                self.switch_to(body);
                self.note_inner(number);
                number += 1;
                if let Some(command) = &edge.command {
                    if let Command::Send { channel, .. } = command {
                        let channel = self.channel(channel);
                        self.fault_if_rendezvous(&channel);
                    }
                    self.apply(command);
                }
                self.jump(edge.next.map_or(exit, |next| labels[next]));
                self.switch_to(other);
            }
            // Once begun, the block must not block.
            self.jump(self.fault);
        }
        self.switch_to(exit);
    }

    fn some_ready(&mut self, block: &Block, node: usize, depth: usize, (yes, no): (Label, Label)) {
        if depth > block.nodes.len() {
            return self.jump(self.fault);
        }
        let alone = block.nodes[node].len() == 1;
        for edge in &block.nodes[node] {
            let other = self.new_block();
            match (&edge.command, edge.next) {
                (Some(command), _) => {
                    let nothing_earlier = self.constant(1);
                    self.ready(command, nothing_earlier, other);
                    self.jump(yes);
                }
                (None, Some(next)) if !alone => self.some_ready(block, next, depth + 1, (yes, other)),
                (None, _) => self.jump(yes),
            }
            self.switch_to(other);
        }
        self.jump(no);
    }
}
