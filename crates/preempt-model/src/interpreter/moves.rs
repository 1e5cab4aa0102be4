//! Which steps a process can make, and who may run at all.

use super::apply::{Actor, Effect};
use super::eval::{Evaluation, Picks, Timeout};
use super::state::Machine;
use super::{Fault, Interpreter};
use crate::command::{Block, Command, Pattern};
use crate::coverage::{EdgeMarks, REFUSED, TAKEN};
use crate::program::Edge;
use crate::system::{System, Violation};
use preempt_core::PropertyKind;

/// Which edge of its location a process takes; for a rendezvous, also who receives and by which edge.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Action {
    /// By its number at the location.
    pub edge: u32,
    /// The receiver's process and edge.
    pub partner: Option<(u32, u32)>,
    /// The values of `Expr::Any`, in the order of evaluation.
    pub picks: Vec<i32>,
}

#[derive(Debug, Clone)]
pub(super) struct Move {
    pub action: Action,
    /// `None` if the step cannot be completed.
    pub machine: Option<Machine>,
    pub runs: usize,
    pub violation: Option<Violation>,
    pub output: String,
    pub events: Vec<ChannelEvent>,
}

/// A message was put into a channel or taken out of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelEvent {
    /// Who did it.
    pub process: usize,
    /// Put in; else taken out.
    pub send: bool,
    /// The channel's number less one.
    pub channel: usize,
    /// As the channel keeps it.
    pub message: Vec<i32>,
}

/// One edge as a process would take it: all that says which step is meant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attempt<'a> {
    pub machine: &'a Machine,
    pub process: usize,
    pub timeout: Timeout,
    /// Among the edges of its location.
    pub number: u32,
    pub edge: &'a Edge,
    pub picks: &'a Picks,
}

impl Attempt<'_> {
    fn action(&self, partner: Option<(u32, u32)>) -> Action {
        Action { edge: self.number, partner, picks: self.picks.values() }
    }
}

/// A rendezvous half done: a message offered on this channel, waiting for one that takes it.
#[derive(Debug)]
pub(super) struct Offer {
    channel: usize,
    message: Vec<i32>,
}

/// How often, in ways of one command, the budget is looked at.
const LOOK_UP_EVERY: u32 = 256;

/// Of steps from this state: each has its successor open, and will have it packed.
fn bytes_of(steps: &[Move], from: &Machine) -> u64 {
    (steps.len() * (size_of::<Move>() + 2 * from.bytes())) as u64
}

/// Inside an atomic sequence nobody waits for a timeout yet: the process first gives up the processor.
pub(super) fn timeout_in(machine: &Machine) -> Timeout {
    if machine.exclusive.is_some() { Timeout::False } else { Timeout::Ask }
}

impl Interpreter<'_> {
    pub(super) fn moves(&self, machine: &Machine, process: usize) -> Vec<Move> {
        self.moves_with(machine, process, timeout_in(machine))
    }

    fn moves_with(&self, machine: &Machine, process: usize, timeout: Timeout) -> Vec<Move> {
        let mut found = Vec::new();
        self.moves_into(machine, process, timeout, &mut found);
        found
    }

    /// The same, into room that was used before: if it were given back between any two states that are kept, it would
    /// leave holes there.
    pub(super) fn moves_into(
        &self,
        machine: &Machine,
        process: usize,
        timeout: Timeout,
        found: &mut Vec<Move>,
    ) {
        if !self.may_run(machine, process, None) {
            return;
        }
        let mut in_time = true;
        self.each_edge(machine, process, |number, edge, nothing_earlier| {
            let before = found.len();
            let picks = Picks::default();
            let mut tried = 0u32;
            while in_time {
                let attempt = Attempt { machine, process, timeout, number, edge, picks: &picks };
                self.take(attempt, nothing_earlier, found);
                if !picks.advance() {
                    break;
                }
                // A command that chooses n values has 2^n ways and more.
                tried += 1;
                in_time = !tried.is_multiple_of(LOOK_UP_EVERY)
                    || self.budget().exhausted_with(bytes_of(found, machine)).is_none();
            }
            let is_taken = found.len() > before;
            if let Some(marks) = self.marks_of(machine, process, number).filter(|_| in_time) {
                marks.set(if is_taken { TAKEN } else { REFUSED });
            }
            is_taken
        });
        // A step that the budget did not let end is no fault.
        if !in_time || found.iter().any(|step| step.machine.is_none()) && self.budget().stopped().is_some() {
            found.clear();
        }
    }

    /// Where it is noted that a process takes this edge of its location, if somebody wants to know.
    fn marks_of(&self, machine: &Machine, process: usize, edge: u32) -> Option<&EdgeMarks> {
        let frame = machine.processes[process].frame();
        self.model.marks.as_ref()?.edge(frame.code.0.into(), frame.location.0 as usize, edge as usize)
    }

    /// Offers the edges of the process's location in order. `visit` says whether the edge could be taken.
    fn each_edge(&self, machine: &Machine, process: usize, mut visit: impl FnMut(u32, &Edge, bool) -> bool) {
        let frame = machine.processes[process].frame();
        let mut escape = None;
        let mut nothing_earlier = true;
        for (number, edge) in self.model.code(frame.code).location(frame.location).edges.iter().enumerate() {
            if escape.is_some() && edge.escape != escape {
                break;
            }
            if visit(number as u32, edge, nothing_earlier) {
                nothing_earlier = false;
                escape = edge.escape;
            }
        }
    }

    /// One edge with one set of picks: no move, one, or for a rendezvous one for each possible receiver.
    pub(super) fn take(&self, attempt: Attempt<'_>, nothing_earlier: bool, found: &mut Vec<Move>) {
        let Attempt { machine, process, timeout, number, edge, picks } = attempt;
        let evaluation = Evaluation::new(self, machine, process, timeout).choosing(picks);
        let offer = match self.ready_or_offer(&evaluation, &edge.command, nothing_earlier) {
            Ok(None) => return,
            Ok(Some(offer)) => offer,
            Err(fault) => return found.push(self.faulty(&attempt, None, edge, fault)),
        };
        if let Some(offer) = offer {
            return self.rendezvous(&attempt, &offer, found);
        }
        picks.rewind();
        let mut next = machine.clone();
        let actor = Actor { process, timeout, picks, marks: self.marks_of(machine, process, number) };
        let depth = next.processes[process].frames.len();
        let effect = match self.apply(&mut next, actor, &edge.command, (&edge.text, edge.span)) {
            Ok(effect) => effect,
            Err(fault) => return found.push(self.faulty(&attempt, None, edge, fault)),
        };
        self.move_to_target(&mut next, process, depth, (number, edge));
        self.pass_on(&mut next, process, edge);
        found.push(self.finished(next, process, attempt.action(None), effect));
    }

    /// `Some(None)`: the command can be executed. `Some(Some(offer))`: it needs a partner.
    fn ready_or_offer(
        &self,
        evaluation: &Evaluation<'_>,
        command: &Command,
        nothing_earlier: bool,
    ) -> Result<Option<Option<Offer>>, Fault> {
        if !evaluation.ready(command, nothing_earlier)? {
            return Ok(None);
        }
        let Some(channel) = evaluation.offers_rendezvous(command)? else { return Ok(Some(None)) };
        let Command::Send { fields, .. } = command else { return Ok(Some(None)) };
        let sent = fields.iter().map(|field| evaluation.value(field)).collect::<Result<Vec<_>, _>>()?;
        let message = self.message(evaluation.machine, channel, &sent)?;
        Ok(Some(Some(Offer { channel, message })))
    }

    fn rendezvous(&self, attempt: &Attempt<'_>, offer: &Offer, found: &mut Vec<Move>) {
        let Attempt { machine, process: sender, number, edge, picks, .. } = *attempt;
        for receiver in (0..machine.processes.len()).filter(|receiver| *receiver != sender) {
            if !self.may_run(machine, receiver, Some(offer)) {
                continue;
            }
            self.each_edge(machine, receiver, |partner, taken, _| {
                let evaluation = Evaluation::new(self, machine, receiver, Timeout::False);
                let acceptance = match accepted(&evaluation, &taken.command, offer) {
                    Ok(None) => return false,
                    Ok(Some(acceptance)) => acceptance,
                    Err(fault) => {
                        let partner = Some((receiver as u32, partner));
                        found.push(self.faulty(attempt, partner, taken, fault));
                        return true;
                    }
                };
                let mut next = machine.clone();
                let marks = self.marks_of(machine, receiver, partner);
                if let Some(marks) = marks {
                    marks.set(TAKEN);
                }
                let actor = Actor { process: receiver, timeout: Timeout::False, picks, marks };
                self.move_to_target(&mut next, sender, usize::MAX, (number, edge));
                let received = self.receive_offer(&mut next, actor, acceptance, offer);
                self.move_to_target(&mut next, receiver, usize::MAX, (partner, taken));
                let partner = Some((receiver as u32, partner));
                found.push(match received {
                    // Atomicity passes to the receiver: it goes on alone only if it is in an atomic sequence itself.
                    Ok(mut effect) => {
                        let event = |process, send| ChannelEvent {
                            process,
                            send,
                            channel: offer.channel,
                            message: offer.message.clone(),
                        };
                        effect.events.splice(0..0, [event(sender, true), event(receiver, false)]);
                        self.pass_on(&mut next, receiver, taken);
                        self.finished(next, receiver, attempt.action(partner), effect)
                    }
                    Err(fault) => self.faulty(attempt, partner, taken, fault),
                });
                true
            });
        }
    }

    fn receive_offer(
        &self,
        machine: &mut Machine,
        actor: Actor<'_>,
        acceptance: Acceptance<'_>,
        offer: &Offer,
    ) -> Result<Effect, Fault> {
        self.bind(machine, actor, acceptance.pattern, &offer.message)?;
        match acceptance.rest {
            Some((block, node)) => self.run_block(machine, actor, block, node),
            None => Ok(Effect::default()),
        }
    }

    /// After the command: the frame that executed it stands at the edge's target, if it is still there.
    fn move_to_target(
        &self,
        machine: &mut Machine,
        process: usize,
        depth: usize,
        (number, edge): (u32, &Edge),
    ) {
        let Some(process) = machine.processes.get_mut(process) else { return };
        let depth = depth.min(process.frames.len());
        match &edge.command {
            Command::Call { .. } => {
                let from = process.frames[depth - 1].location;
                process.frame_mut().called_from = (from, number);
                process.frames[depth - 1].location = edge.target;
            }
            // The caller already stands where the call leads to.
            Command::Return(_) | Command::End => {}
            _ => process.frames[depth - 1].location = edge.target,
        }
    }

    /// Whoever has run along this edge keeps the processor if it stands in an atomic sequence then.
    fn pass_on(&self, machine: &mut Machine, runs: usize, edge: &Edge) {
        machine.exclusive = (edge.atomic && runs < machine.processes.len()).then_some(runs);
        if self.model.remembers_last {
            machine.last = runs as u8;
        }
    }

    fn finished(&self, machine: Machine, runs: usize, action: Action, effect: Effect) -> Move {
        let Effect { failed, output, events } = effect;
        let violation = failed.map(|(name, span)| self.violation(PropertyKind::Assertion, name, span));
        Move { action, machine: Some(machine), runs, violation, output, events }
    }

    /// The step cannot be completed: what is wrong is on `edge`, its own or that of its partner.
    fn faulty(&self, attempt: &Attempt<'_>, partner: Option<(u32, u32)>, edge: &Edge, fault: Fault) -> Move {
        Move {
            action: attempt.action(partner),
            machine: None,
            runs: attempt.process,
            violation: Some(self.violation(PropertyKind::RuntimeError, fault.0, edge.span)),
            output: String::new(),
            events: Vec::new(),
        }
    }

    /// Its `provided` clause holds, and no process of higher priority could move instead.
    fn may_run(&self, machine: &Machine, process: usize, offer: Option<&Offer>) -> bool {
        if !self.is_provided(machine, process) {
            return false;
        }
        if !self.model.has_priorities {
            return true;
        }
        let priority = machine.processes[process].priority;
        !(0..machine.processes.len()).any(|other| {
            machine.processes[other].priority > priority
                && self.is_provided(machine, other)
                && self.could_move(machine, other, offer)
        })
    }

    /// A clause that cannot be evaluated does not hold the process back: its next step will say what is wrong.
    fn is_provided(&self, machine: &Machine, process: usize) -> bool {
        let code = self.model.code(machine.processes[process].frames[0].code);
        match &code.provided {
            Some(clause) => {
                Evaluation::new(self, machine, process, Timeout::False).holds(clause).unwrap_or(true)
            }
            None => true,
        }
    }

    /// Is one of its commands ready, were it alone to decide? A rendezvous send is, even if nobody receives.
    pub(super) fn could_move(&self, machine: &Machine, process: usize, offer: Option<&Offer>) -> bool {
        let mut could = false;
        self.each_edge(machine, process, |_, edge, nothing_earlier| {
            let evaluation = Evaluation::new(self, machine, process, Timeout::False);
            let ready = match offer {
                None => evaluation.ready(&edge.command, nothing_earlier).unwrap_or(true),
                Some(offer) => !matches!(accepted(&evaluation, &edge.command, offer), Ok(None)),
            };
            could |= ready;
            ready
        });
        could
    }

    /// What `timeout` means.
    pub(super) fn nobody_can_move(&self, machine: &Machine) -> bool {
        (0..machine.processes.len())
            .all(|process| self.moves_with(machine, process, Timeout::False).is_empty())
    }
}

/// How a command takes an offered message.
#[derive(Debug, Clone, Copy)]
struct Acceptance<'c> {
    pattern: &'c [Pattern],
    /// A deterministic block that begins with the receive goes on here.
    rest: Option<(&'c Block, usize)>,
}

fn accepted<'c>(
    evaluation: &Evaluation<'_>,
    command: &'c Command,
    offer: &Offer,
) -> Result<Option<Acceptance<'c>>, Fault> {
    match command {
        Command::Receive { channel, pattern, keep: false, .. } => {
            // A channel that is no channel is the receiver's own fault, found when it moves itself.
            let meets = evaluation.channel_index(channel).is_ok_and(|index| index == offer.channel);
            let taken = meets && evaluation.matches(&offer.message, pattern)?;
            Ok(taken.then_some(Acceptance { pattern, rest: None }))
        }
        Command::Deterministic(block) => accepted_by_block(evaluation, block, 0, 0, offer),
        _ => Ok(None),
    }
}

fn accepted_by_block<'c>(
    evaluation: &Evaluation<'_>,
    block: &'c Block,
    node: usize,
    depth: usize,
    offer: &Offer,
) -> Result<Option<Acceptance<'c>>, Fault> {
    if depth > block.nodes.len() {
        return Ok(None);
    }
    for edge in &block.nodes[node] {
        let acceptance = match (&edge.command, edge.next) {
            (Some(command), next) => accepted(evaluation, command, offer)?.map(|acceptance| Acceptance {
                rest: acceptance.rest.or(next.map(|next| (block, next))),
                ..acceptance
            }),
            (None, Some(next)) => accepted_by_block(evaluation, block, next, depth + 1, offer)?,
            (None, None) => None,
        };
        if acceptance.is_some() {
            return Ok(acceptance);
        }
    }
    Ok(None)
}
