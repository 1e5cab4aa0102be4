//! `xr` and `xs`: promises that a process alone receives from, or sends to, a channel.

use super::Interpreter;
use super::eval::{Evaluation, Timeout};
use super::moves::{ChannelEvent, Move};
use super::state::Machine;
use crate::system::Violation;
use preempt_core::PropertyKind;

impl Interpreter<'_> {
    /// The first promise of another living process that one of the step's events breaks.
    pub(super) fn broken_promise(&self, machine: &Machine, step: &Move) -> Option<Violation> {
        if self.model.exclusives.is_empty() {
            return None;
        }
        step.events.iter().find_map(|event| self.broken_by(machine, event))
    }

    fn broken_by(&self, machine: &Machine, event: &ChannelEvent) -> Option<Violation> {
        for promise in self.model.exclusives.iter().filter(|promise| promise.receive != event.send) {
            let holders = (0..machine.processes.len()).filter(|process| {
                *process != event.process && machine.processes[*process].frames[0].code == promise.code
            });
            for holder in holders {
                let evaluation = Evaluation::new(self, machine, holder, Timeout::False);
                if evaluation.channel_index(&promise.channel) == Ok(event.channel) {
                    let verb = if event.send { "sends to" } else { "receives from" };
                    let name = format!(
                        "{} {verb} a channel that {} has for itself",
                        super::display::process_name(self.model, machine, event.process),
                        super::display::process_name(self.model, machine, holder),
                    );
                    return Some(self.violation(PropertyKind::Exclusive, name, promise.span));
                }
            }
        }
        None
    }
}
