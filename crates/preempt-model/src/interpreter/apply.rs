//! What a command does to the state. It is called only for commands that are ready.

use super::eval::{Evaluation, Picks, Timeout};
use super::moves::ChannelEvent;
use super::state::{Frame, Machine, Process};
use super::{Fault, Interpreter, LOOK_UP_EVERY, MAX_CALL_DEPTH, MAX_PROCESSES, display};
use crate::command::{Block, Command, Pattern};
use crate::coverage::{EdgeMarks, TAKEN, note};
use crate::expr::{Expr, Place, Scope};
use crate::program::{CodeId, Init, LocationId};
use crate::system::System;
use preempt_core::Span;

/// Who executes, and what it may ask of the world around it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Actor<'a> {
    pub process: usize,
    pub timeout: Timeout,
    pub picks: &'a Picks,
    /// Where the edges inside a deterministic block are noted, if somebody wants to know.
    pub marks: Option<&'a EdgeMarks>,
}

/// What happened besides the change of state.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Effect {
    /// The first assertion that failed: its text and place.
    pub failed: Option<(String, Span)>,
    pub output: String,
    /// Messages sent and received, in order.
    pub events: Vec<ChannelEvent>,
}

impl<'m> Interpreter<'m> {
    fn evaluation<'a>(&'a self, machine: &'a Machine, actor: Actor<'a>) -> Evaluation<'a> {
        Evaluation::new(self, machine, actor.process, actor.timeout).choosing(actor.picks)
    }

    /// `text` and `span` say what is executed, for the message if an assertion fails.
    pub(super) fn apply(
        &self,
        machine: &mut Machine,
        actor: Actor<'_>,
        command: &Command,
        (text, span): (&str, Span),
    ) -> Result<Effect, Fault> {
        let mut effect = Effect::default();
        match command {
            Command::Guard(_) | Command::Else => {}
            Command::Assign(assignments) => self.assign(machine, actor, assignments)?,
            Command::Assert(condition) => {
                if !self.evaluation(machine, actor).holds(condition)? {
                    effect.failed = Some((text.to_string(), span));
                }
            }
            Command::Print { format, args } => {
                let evaluation = self.evaluation(machine, actor);
                let values = args.iter().map(|arg| evaluation.value(arg)).collect::<Result<Vec<_>, _>>()?;
                effect.output = display::formatted(self.model, format, args, &values);
            }
            Command::Send { channel, sorted, fields } => {
                let evaluation = self.evaluation(machine, actor);
                let index = evaluation.channel_index(channel)?;
                let sent =
                    fields.iter().map(|field| evaluation.value(field)).collect::<Result<Vec<_>, _>>()?;
                let message = self.message(machine, index, &sent)?;
                effect.events.push(ChannelEvent {
                    process: actor.process,
                    send: true,
                    channel: index,
                    message: message.clone(),
                });
                let messages = &mut machine.channels[index].messages;
                let position = match sorted {
                    // As in Spin, a message finds its place by what was sent, not by what the fields keep of it.
                    true => messages.iter().position(|other| sent < *other).unwrap_or(messages.len()),
                    false => messages.len(),
                };
                messages.insert(position, message);
            }
            Command::Receive { channel, random, keep, pattern } => {
                let evaluation = self.evaluation(machine, actor);
                let index = evaluation.channel_index(channel)?;
                let position = evaluation
                    .find_message(&machine.channels[index], *random, pattern)?
                    .ok_or_else(|| Fault("nothing to receive".into()))?;
                let message = machine.channels[index].messages[position].clone();
                if !keep {
                    machine.channels[index].messages.remove(position);
                }
                self.bind(machine, actor, pattern, &message)?;
                if !keep {
                    let process = actor.process;
                    effect.events.push(ChannelEvent { process, send: false, channel: index, message });
                }
            }
            Command::Run { code, args, priority, result } => {
                let evaluation = self.evaluation(machine, actor);
                let values = args.iter().map(|arg| evaluation.value(arg)).collect::<Result<Vec<_>, _>>()?;
                let new_pid = self.start_process(machine, *code, &values, *priority)? as i32;
                if let Some((place, value)) = result {
                    let evaluation = Evaluation { new_pid, ..self.evaluation(machine, actor) };
                    let value = evaluation.value(value)?;
                    let offset = evaluation.offset(place)?;
                    store(machine, actor.process, place, offset, value);
                }
            }
            Command::End => {
                if let Some(process) = machine.processes.pop() {
                    let own = self.model.code(process.frames[0].code).channel_count();
                    machine.channels.truncate(machine.channels.len() - own);
                }
            }
            Command::SetPriority { pid, priority } => {
                let evaluation = self.evaluation(machine, actor);
                let (pid, priority) = (evaluation.value(pid)?, evaluation.value(priority)?);
                if !(1..=255).contains(&priority) {
                    return Err(Fault(format!("priority {priority} is out of range: it is 1 to 255")));
                }
                if let Some(process) =
                    usize::try_from(pid).ok().and_then(|pid| machine.processes.get_mut(pid))
                {
                    process.priority = priority as u8;
                }
            }
            Command::Deterministic(block) => effect = self.run_block(machine, actor, block, 0)?,
            Command::Call { code, args, .. } => {
                let evaluation = self.evaluation(machine, actor);
                let values = args.iter().map(|arg| evaluation.value(arg)).collect::<Result<Vec<_>, _>>()?;
                if machine.processes[actor.process].frames.len() >= MAX_CALL_DEPTH {
                    return Err(Fault(format!("calls are nested deeper than {MAX_CALL_DEPTH}")));
                }
                self.enter(machine, actor.process, *code, &values)?;
            }
            Command::Return(values) => {
                let evaluation = self.evaluation(machine, actor);
                let values =
                    values.iter().map(|value| evaluation.value(value)).collect::<Result<Vec<_>, _>>()?;
                self.leave(machine, actor, &values)?;
            }
        }
        Ok(effect)
    }

    fn assign(
        &self,
        machine: &mut Machine,
        actor: Actor<'_>,
        assignments: &[(Place, Expr)],
    ) -> Result<(), Fault> {
        let evaluation = self.evaluation(machine, actor);
        let computed = assignments
            .iter()
            .map(|(place, value)| Ok((place, evaluation.offset(place)?, evaluation.value(value)?)))
            .collect::<Result<Vec<_>, Fault>>()?;
        for (place, offset, value) in computed {
            store(machine, actor.process, place, offset, value);
        }
        Ok(())
    }

    /// The message as the channel keeps it: each field cut to its type.
    pub(super) fn message(&self, machine: &Machine, channel: usize, sent: &[i32]) -> Result<Vec<i32>, Fault> {
        let types = &self.model.template(machine.channels[channel].template).fields;
        if types.len() != sent.len() {
            let (sent, expected) = (sent.len(), types.len());
            return Err(Fault(format!("{sent} fields are sent, the channel takes {expected}")));
        }
        Ok(sent.iter().zip(types).map(|(value, ty)| ty.wrap(*value)).collect())
    }

    /// Fields are received one after the other: in `c ? i, a[i]` the index is the value just received.
    pub(super) fn bind(
        &self,
        machine: &mut Machine,
        actor: Actor<'_>,
        pattern: &[Pattern],
        message: &[i32],
    ) -> Result<(), Fault> {
        for (part, value) in pattern.iter().zip(message) {
            if let Pattern::Bind(place) = part {
                let offset = self.evaluation(machine, actor).offset(place)?;
                store(machine, actor.process, place, offset, *value);
            }
        }
        Ok(())
    }

    pub(super) fn start_process(
        &self,
        machine: &mut Machine,
        code: CodeId,
        arguments: &[i32],
        priority: u8,
    ) -> Result<usize, Fault> {
        let pid = machine.processes.len();
        if pid >= MAX_PROCESSES {
            return Err(Fault(format!("too many processes: there can be {MAX_PROCESSES}")));
        }
        machine.processes.push(Process { priority, frames: Vec::new() });
        self.enter(machine, pid, code, arguments)?;
        Ok(pid)
    }

    fn enter(
        &self,
        machine: &mut Machine,
        process: usize,
        code: CodeId,
        arguments: &[i32],
    ) -> Result<(), Fault> {
        let definition = self.model.code(code);
        let mut locals = vec![0; definition.slots as usize];
        for ((local, ty), argument) in locals.iter_mut().zip(&definition.parameters).zip(arguments) {
            *local = ty.wrap(*argument);
        }
        let frame = Frame { code, location: definition.entry, locals, called_from: (LocationId(0), 0) };
        machine.processes[process].frames.push(frame);
        for init in &definition.init {
            let (slot, value) = match init {
                Init::Set { slot, ty, value, .. } => {
                    let evaluation = Evaluation::new(self, machine, process, Timeout::False);
                    (*slot, ty.wrap(evaluation.value(value)?))
                }
                Init::Channel { slot, template, .. } => (*slot, machine.new_channel(*template)?),
            };
            machine.processes[process].frame_mut().locals[slot as usize] = value;
        }
        Ok(())
    }

    fn leave(&self, machine: &mut Machine, actor: Actor<'_>, values: &[i32]) -> Result<(), Fault> {
        let process = &mut machine.processes[actor.process];
        if process.frames.len() < 2 {
            return Err(Fault("return outside of a procedure".into()));
        }
        let Some(frame) = process.frames.pop() else { return Ok(()) };
        let (location, edge) = frame.called_from;
        let caller = self.model.code(process.frame().code);
        if let Command::Call { results, .. } = &caller.location(location).edges[edge as usize].command {
            let evaluation = self.evaluation(machine, actor);
            let offsets =
                results.iter().map(|place| evaluation.offset(place)).collect::<Result<Vec<_>, Fault>>()?;
            for ((place, offset), value) in results.iter().zip(offsets).zip(values) {
                store(machine, actor.process, place, offset, *value);
            }
        }
        Ok(())
    }

    /// Node by node, always the first alternative that is ready. Once begun, the block must not block. One that does
    /// not end goes on until the budget does; what is returned then counts for nothing.
    pub(super) fn run_block(
        &self,
        machine: &mut Machine,
        actor: Actor<'_>,
        block: &Block,
        entry: usize,
    ) -> Result<Effect, Fault> {
        let mut effect = Effect::default();
        let mut node = Some(entry);
        for steps in 1u32.. {
            let Some(current) = node else { return Ok(effect) };
            if steps.is_multiple_of(LOOK_UP_EVERY) && self.budget().exhausted().is_some() {
                break;
            }
            let edge = self
                .first_ready(machine, actor, block, current)?
                .ok_or_else(|| Fault("a statement blocks inside a d_step sequence".into()))?;
            if let Some(mark) =
                actor.marks.and_then(|marks| marks.inner().get(number_of(block, current, edge)))
            {
                note(mark, TAKEN);
            }
            if let Some(command) = &edge.command {
                if self.evaluation(machine, actor).offers_rendezvous(command)?.is_some() {
                    return Err(Fault("a rendezvous is attempted inside a d_step sequence".into()));
                }
                let inner = self.apply(machine, actor, command, (&edge.text, edge.span))?;
                effect.output += &inner.output;
                effect.events.extend(inner.events);
                effect.failed = effect.failed.take().or(inner.failed);
            }
            node = edge.next;
        }
        Err(Fault("the d_step sequence was not executed to its end".into()))
    }

    fn first_ready<'b>(
        &self,
        machine: &Machine,
        actor: Actor<'_>,
        block: &'b Block,
        node: usize,
    ) -> Result<Option<&'b crate::command::BlockEdge>, Fault> {
        let evaluation = self.evaluation(machine, actor);
        for edge in &block.nodes[node] {
            let ready = match (&edge.command, edge.next) {
                (Some(command), _) => evaluation.ready(command, true)?,
                // A way that only leads on is taken if what it leads to is ready.
                (None, Some(next)) if block.nodes[node].len() > 1 => {
                    self.first_ready(machine, actor, block, next)?.is_some()
                }
                (None, _) => true,
            };
            if ready {
                return Ok(Some(edge));
            }
        }
        Ok(None)
    }
}

/// The number of a block's edge, counted node by node.
fn number_of(block: &Block, node: usize, edge: &crate::command::BlockEdge) -> usize {
    let before: usize = block.nodes[..node].iter().map(Vec::len).sum();
    before + block.nodes[node].iter().position(|other| std::ptr::eq(other, edge)).unwrap_or(0)
}

fn store(machine: &mut Machine, process: usize, place: &Place, offset: usize, value: i32) {
    let value = place.ty.wrap(value);
    match place.scope {
        Scope::Global => machine.globals[offset] = value,
        Scope::Hidden => machine.hidden[offset] = value,
        Scope::Local => machine.processes[process].frame_mut().locals[offset] = value,
        Scope::Nowhere => {}
    }
}
