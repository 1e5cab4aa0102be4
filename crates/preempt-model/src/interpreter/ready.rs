//! Can a command be executed? CheckOptions changes nothing.

use super::Fault;
use super::eval::Evaluation;
use crate::command::{Block, Command};
use crate::expr::Expr;

impl Evaluation<'_> {
    /// A rendezvous send counts as ready: whether somebody receives is not the command's to know.
    /// `nothing_earlier`: no earlier edge of the location is ready, which is what `else` asks.
    pub fn ready(&self, command: &Command, nothing_earlier: bool) -> Result<bool, Fault> {
        Ok(match command {
            Command::Guard(expr) => self.holds(expr)?,
            Command::Else => nothing_earlier,
            Command::Send { channel, .. } => !self.is_full(self.channel(channel)?),
            Command::Receive { channel, random, pattern, keep } => {
                let channel = self.channel(channel)?;
                if self.interpreter.model.template(channel.template).capacity == 0 {
                    if *keep {
                        return Err(Fault("a rendezvous channel cannot be polled".into()));
                    }
                    return Ok(false);
                }
                self.find_message(channel, *random, pattern)?.is_some()
            }
            Command::End => self.process + 1 == self.machine.processes.len(),
            Command::Deterministic(block) => self.block_ready(block, 0, nothing_earlier, 0)?,
            Command::Assign(_)
            | Command::Assert(_)
            | Command::Print { .. }
            | Command::Run { .. }
            | Command::SetPriority { .. }
            | Command::Call { .. }
            | Command::Return(_) => true,
        })
    }

    /// A block is ready if one of the ways into it is. Nodes that only lead on are looked through.
    fn block_ready(
        &self,
        block: &Block,
        node: usize,
        nothing_earlier: bool,
        depth: usize,
    ) -> Result<bool, Fault> {
        if depth > block.nodes.len() {
            return Err(Fault("the d_step sequence never begins: its first statements only jump".into()));
        }
        let alternatives = &block.nodes[node];
        // A lone `else` belongs to the choice that the block is part of, otherwise to the block's own choice.
        let mut nothing_earlier = nothing_earlier || alternatives.len() > 1;
        for edge in alternatives {
            let ready = match (&edge.command, edge.next) {
                (Some(command), _) => self.ready(command, nothing_earlier)?,
                (None, Some(next)) => self.block_ready(block, next, nothing_earlier, depth + 1)?,
                (None, None) => true,
            };
            if ready {
                return Ok(true);
            }
            nothing_earlier |= alternatives.len() > 1;
        }
        Ok(false)
    }

    /// The channel of a rendezvous that this command offers to begin, if it does.
    pub fn offers_rendezvous(&self, command: &Command) -> Result<Option<usize>, Fault> {
        match command {
            Command::Send { channel, .. } => self.rendezvous_channel(channel),
            _ => Ok(None),
        }
    }

    pub fn rendezvous_channel(&self, channel: &Expr) -> Result<Option<usize>, Fault> {
        let index = self.channel_index(channel)?;
        let template = self.machine.channels[index].template;
        Ok((self.interpreter.model.template(template).capacity == 0).then_some(index))
    }
}
