//! Expressions: C's 32-bit arithmetic, with a fault where C has undefined behaviour that matters.

use super::{Channel, Fault, Interpreter, Machine};
use crate::command::Pattern;
use crate::expr::{BinaryOp, Expr, Place, Probe, Scope};
use crate::program::CodeId;
use std::cell::{Cell, RefCell};

/// One evaluation: by which process, in which state, and what is known about the rest of the world.
#[derive(Debug, Clone)]
pub(super) struct Evaluation<'a> {
    pub interpreter: &'a Interpreter<'a>,
    pub machine: &'a Machine,
    pub process: usize,
    pub timeout: Timeout,
    pub new_pid: i32,
    /// `None` where there is nothing to choose.
    pub picks: Option<&'a Picks>,
}

/// What `timeout` is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Timeout {
    False,
    /// To be found out: it holds if nobody can move without it.
    Ask,
}

/// The values that `Expr::Any` takes in one execution of a command: the first time the lowest, then counting up
/// from the back, so that every combination that matters is met once.
#[derive(Debug, Default)]
pub(super) struct Picks {
    /// Value and highest value of each.
    made: RefCell<Vec<(i32, i32)>>,
    next: Cell<usize>,
}

impl Picks {
    fn pick(&self, low: i32, high: i32) -> i32 {
        let position = self.next.replace(self.next.get() + 1);
        let mut made = self.made.borrow_mut();
        if position == made.len() {
            made.push((low, high));
        }
        made[position].0
    }

    /// Evaluate again from the beginning, with the same picks.
    pub fn rewind(&self) {
        self.next.set(0);
    }

    /// Turns to the next combination; false if there is none.
    pub fn advance(&self) -> bool {
        self.rewind();
        let mut made = self.made.borrow_mut();
        while let Some((value, high)) = made.pop() {
            if value < high {
                made.push((value + 1, high));
                return true;
            }
        }
        false
    }

    pub fn values(&self) -> Vec<i32> {
        self.made.borrow().iter().map(|(value, _)| *value).collect()
    }

    /// Picks that repeat these values.
    pub fn repeating(values: &[i32]) -> Picks {
        Picks {
            made: RefCell::new(values.iter().map(|value| (*value, *value)).collect()),
            next: Cell::new(0),
        }
    }
}

thread_local! {
    static ASKING: Cell<bool> = const { Cell::new(false) };
}

/// Answers `enabled`, unless that is what is being answered: processes that ask for each other, or for themselves, would
/// go round in circles. Then there is no answer, which is a fault of the process that is asked for: it could move.
pub fn asking(answer: impl FnOnce() -> i32) -> Option<i32> {
    if ASKING.replace(true) {
        return None;
    }
    let answer = answer();
    ASKING.set(false);
    Some(answer)
}

impl<'a> Evaluation<'a> {
    pub fn new(
        interpreter: &'a Interpreter<'a>,
        machine: &'a Machine,
        process: usize,
        timeout: Timeout,
    ) -> Self {
        Evaluation { interpreter, machine, process, timeout, new_pid: 0, picks: None }
    }

    pub fn choosing(self, picks: &'a Picks) -> Self {
        Evaluation { picks: Some(picks), ..self }
    }

    /// For initial values of globals: no process is there yet.
    pub fn outside(interpreter: &'a Interpreter<'a>, machine: &'a Machine) -> Self {
        Evaluation::new(interpreter, machine, usize::MAX, Timeout::False)
    }

    pub fn holds(&self, expr: &Expr) -> Result<bool, Fault> {
        Ok(self.value(expr)? != 0)
    }

    pub fn value(&self, expr: &Expr) -> Result<i32, Fault> {
        Ok(match expr {
            Expr::Const(value) => *value,
            Expr::Load(place) => self.load(place)?,
            Expr::Unary(op, inner) => op.apply(self.value(inner)?),
            Expr::Binary(BinaryOp::And, left, right) => i32::from(self.holds(left)? && self.holds(right)?),
            Expr::Binary(BinaryOp::Or, left, right) => i32::from(self.holds(left)? || self.holds(right)?),
            Expr::Binary(op, left, right) => arithmetic(*op, self.value(left)?, self.value(right)?)?,
            Expr::Conditional(condition, then, otherwise) => {
                self.value(if self.holds(condition)? { then } else { otherwise })?
            }
            Expr::Len(channel) => self.channel(channel)?.messages.len() as i32,
            Expr::Probe(probe, channel) => i32::from(self.probe(*probe, channel)?),
            Expr::Poll { channel, random, pattern } => {
                let channel = self.channel(channel)?;
                if self.interpreter.model.template(channel.template).capacity == 0 {
                    return Err(Fault("a rendezvous channel cannot be polled".into()));
                }
                // A poll may leave out the last fields; a receive may not.
                let width = channel.messages.front().map_or(0, Vec::len);
                let mut pattern = pattern.clone();
                while pattern.len() < width {
                    pattern.push(Pattern::Bind(Place::nowhere()));
                }
                i32::from(self.find_message(channel, *random, &pattern)?.is_some())
            }
            Expr::Timeout => match self.timeout {
                Timeout::False => 0,
                Timeout::Ask => i32::from(self.interpreter.nobody_can_move(self.machine)),
            },
            Expr::NonProgress => i32::from(!self.machine.processes.iter().any(|process| {
                let frame = process.frame();
                self.interpreter.model.code(frame.code).location(frame.location).progress
            })),
            Expr::Enabled(pid) => {
                let pid = usize::try_from(self.value(pid)?).ok();
                let living = pid.filter(|pid| *pid < self.machine.processes.len());
                let could = |pid| self.interpreter.could_move(self.machine, pid, None);
                let asked = asking(|| i32::from(living.is_some_and(could)));
                asked.ok_or_else(|| Fault("`enabled` asks for a process that asks the same".into()))?
            }
            Expr::PcValue(pid) => {
                let frame = self.process(self.value(pid)?)?.frame();
                self.interpreter.model.code(frame.code).location(frame.location).number as i32
            }
            Expr::Priority(pid) => i32::from(self.process(self.value(pid)?)?.priority),
            Expr::SelfPid => self.process as i32,
            Expr::ProcessCount => {
                self.machine.processes.len() as i32 + i32::from(self.interpreter.claim.is_some())
            }
            Expr::LastPid => i32::from(self.machine.last),
            Expr::At { code, pid, label } => match self.find_process(*code, pid.as_deref())? {
                Some(process) => {
                    let (_, labelled) = &self.interpreter.model.code(*code).labels[*label as usize];
                    i32::from(self.machine.processes[process].frames[0].location == *labelled)
                }
                None => 0,
            },
            Expr::Remote { code, pid, place } => match self.find_process(*code, pid.as_deref())? {
                Some(process) => self.remote(process, place)?,
                None => 0,
            },
            Expr::Any { low, high } => self.picks.map_or(*low, |picks| picks.pick(*low, *high)),
            Expr::NewPid => self.new_pid,
        })
    }

    fn process(&self, pid: i32) -> Result<&super::state::Process, Fault> {
        usize::try_from(pid)
            .ok()
            .and_then(|pid| self.machine.processes.get(pid))
            .ok_or_else(|| Fault(format!("there is no process {pid}")))
    }

    /// The process that a remote reference means: the given one if it runs this code, or the first that does.
    fn find_process(&self, code: CodeId, pid: Option<&Expr>) -> Result<Option<usize>, Fault> {
        let runs = |process: &super::state::Process| process.frames[0].code == code;
        Ok(match pid {
            Some(pid) => usize::try_from(self.value(pid)?)
                .ok()
                .filter(|pid| self.machine.processes.get(*pid).is_some_and(runs)),
            None => self.machine.processes.iter().position(runs),
        })
    }

    fn remote(&self, process: usize, place: &Place) -> Result<i32, Fault> {
        let offset = self.offset(place)?;
        Ok(self.machine.processes[process].frames[0].locals[offset])
    }

    fn load(&self, place: &Place) -> Result<i32, Fault> {
        let offset = self.offset(place)?;
        Ok(match place.scope {
            Scope::Global => self.machine.globals[offset],
            Scope::Hidden => self.machine.hidden[offset],
            Scope::Local => self.machine.processes[self.process].frame().locals[offset],
            Scope::Nowhere => 0,
        })
    }

    /// The slot that a place means now.
    pub fn offset(&self, place: &Place) -> Result<usize, Fault> {
        let mut slot = place.slot as usize;
        for index in &place.indices {
            let value = self.value(&index.value)?;
            match u32::try_from(value) {
                Ok(value) if value < index.length => slot += (value * index.stride) as usize,
                _ => {
                    let (array, length) = (&index.array, index.length);
                    return Err(Fault(format!(
                        "index {value} is out of range: {array} has {length} elements"
                    )));
                }
            }
        }
        Ok(slot)
    }

    pub fn channel_index(&self, channel: &Expr) -> Result<usize, Fault> {
        let number = self.value(channel)?;
        usize::try_from(number)
            .ok()
            .and_then(|number| number.checked_sub(1))
            .filter(|index| *index < self.machine.channels.len())
            .ok_or_else(|| match number {
                0 => Fault("the channel is not initialised".into()),
                _ => Fault(format!("there is no channel {number}")),
            })
    }

    pub fn channel(&self, channel: &Expr) -> Result<&'a Channel, Fault> {
        Ok(&self.machine.channels[self.channel_index(channel)?])
    }

    fn probe(&self, probe: Probe, channel: &Expr) -> Result<bool, Fault> {
        let channel = self.channel(channel)?;
        Ok(match probe {
            Probe::Full => self.is_full(channel),
            Probe::NotFull => !self.is_full(channel),
            Probe::Empty => channel.messages.is_empty(),
            Probe::NotEmpty => !channel.messages.is_empty(),
        })
    }

    /// A rendezvous channel is never full: it has room for the message that is being handed over.
    pub fn is_full(&self, channel: &Channel) -> bool {
        let capacity = self.interpreter.model.template(channel.template).capacity.max(1);
        channel.messages.len() >= capacity as usize
    }

    /// The position of the message that would be received: the oldest, or with `random` the oldest that matches.
    pub fn find_message(
        &self,
        channel: &Channel,
        random: bool,
        pattern: &[Pattern],
    ) -> Result<Option<usize>, Fault> {
        let candidates = if random { channel.messages.len() } else { channel.messages.len().min(1) };
        for position in 0..candidates {
            if self.matches(&channel.messages[position], pattern)? {
                return Ok(Some(position));
            }
        }
        Ok(None)
    }

    pub fn matches(&self, message: &[i32], pattern: &[Pattern]) -> Result<bool, Fault> {
        if message.len() != pattern.len() {
            let (sent, expected) = (message.len(), pattern.len());
            return Err(Fault(format!("the message has {sent} fields, the receive statement {expected}")));
        }
        for (field, part) in message.iter().zip(pattern) {
            if let Pattern::Match(expr) = part
                && self.value(expr)? != *field
            {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn arithmetic(op: BinaryOp, left: i32, right: i32) -> Result<i32, Fault> {
    op.apply(left, right).ok_or_else(|| {
        Fault(match op {
            BinaryOp::Rem => "remainder of a division by zero".into(),
            _ => "division by zero".into(),
        })
    })
}
