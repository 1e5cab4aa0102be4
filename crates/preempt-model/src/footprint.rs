//! What a command may touch: the facts that partial-order reduction rests on.
//!
//! Every set is safe in one direction: what a command may read, write or use is never left out, and what it must
//! write is never claimed wrongly. `interpreter/audit.rs` audits this by changing everything that a footprint does
//! not name and looking whether the outcome changes.

use crate::command::{Command, Pattern};
use crate::expr::{Expr, Place, Scope};
use crate::program::{Code, CodeId, Edge, Init, LocationId, Model};
use std::collections::BTreeSet;

/// What a command may touch. It may name too much, and never too little.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Footprint {
    /// What it may look at.
    pub may_read: Slots,
    /// What it may change.
    pub may_write: Slots,
    /// Written whenever the command is executed.
    pub must_write: Slots,
    /// Puts messages in at this end.
    pub sends: Channels,
    /// Takes messages out at the other.
    pub receives: Channels,
    /// Looks at how full they are, or at their messages.
    pub polls: Channels,
    /// Which of the processes, and what about them.
    pub processes: Processes,
    /// Of a location only: afterwards the process may be in an atomic sequence.
    pub enters_atomic: bool,
    /// Of a location only: afterwards the process may stand where a rendezvous can move it.
    pub leads_to_rendezvous: bool,
}

/// Slots of the globals, the hidden variables and the running code's locals.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Slots(pub BTreeSet<(Scope, u32)>);

/// Channels by the variable that named them: those that a global chan variable holds from the beginning and for
/// ever are known; any other way to name a channel may mean every channel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Channels {
    /// No channel.
    #[default]
    None,
    /// Channel numbers.
    These(BTreeSet<u32>),
    /// Any channel.
    All,
}

/// How a command depends on, or changes, which processes there are and where they stand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Processes {
    /// Asks how many there are, where one stands, what it could do, or who ran last.
    pub reads: bool,
    /// Of these, all but how many there are: what a step of another process changes that is local to it.
    pub places: bool,
    /// Starts one, ends its own, or changes a priority.
    pub writes: bool,
    /// Holds only if nobody else can move, or depends on whether somebody can: that is, on anything.
    pub timeout: bool,
}

impl Footprint {
    /// Of one command, wherever it stands.
    pub fn of(model: &Model, command: &Command) -> Footprint {
        let mut footprint = Footprint::of_own_side(model, command);
        // A rendezvous also moves its receiver, and writes what that receives.
        if footprint.sends.any(model, |capacity| capacity == 0) {
            footprint.receivers(model);
        }
        footprint
    }

    /// Without what a rendezvous does on the receiver's side.
    pub fn of_own_side(model: &Model, command: &Command) -> Footprint {
        let mut footprint = Footprint::default();
        footprint.command(model, command, true);
        footprint
    }

    /// Of all edges of a location together: what any of them may do, and what all of them must.
    pub fn of_location(model: &Model, code: CodeId, location: LocationId) -> Footprint {
        let code = model.code(code);
        let mut union = Footprint::default();
        for (i, edge) in code.location(location).edges.iter().enumerate() {
            let one = Footprint::of(model, &edge.command);
            union.must_write = match i {
                0 => one.must_write.clone(),
                _ => Slots(&union.must_write.0 & &one.must_write.0),
            };
            union.absorb(one);
            union.enters_atomic |= edge.atomic;
            union.leads_to_rendezvous |= leads_to_rendezvous(model, code, edge);
        }
        if let Some(provided) = &code.provided {
            union.read(model, provided);
        }
        // Who may run depends on everybody else's priority and on whether they could move, which is anything.
        union.processes.reads |= model.has_priorities;
        union.processes.places |= model.has_priorities;
        union.processes.timeout |= model.has_priorities;
        union
    }

    /// Everything but `must_write`.
    fn absorb(&mut self, other: Footprint) {
        self.may_read.0.extend(other.may_read.0);
        self.may_write.0.extend(other.may_write.0);
        self.sends.absorb(other.sends);
        self.receives.absorb(other.receives);
        self.polls.absorb(other.polls);
        self.processes.reads |= other.processes.reads;
        self.processes.places |= other.processes.places;
        self.processes.writes |= other.processes.writes;
        self.processes.timeout |= other.processes.timeout;
    }

    /// `certain`: the command is executed whenever the step is taken.
    fn command(&mut self, model: &Model, command: &Command, certain: bool) {
        match command {
            Command::Guard(expr) | Command::Assert(expr) => self.read(model, expr),
            // `else` looks at the other edges of its location, whose footprints the location unites.
            Command::Else => {}
            Command::Assign(assignments) => {
                for (place, value) in assignments {
                    self.read(model, value);
                    self.write(model, place, certain);
                }
            }
            Command::Print { args, .. } => args.iter().for_each(|arg| self.read(model, arg)),
            Command::Send { channel, sorted, fields } => {
                self.read(model, channel);
                fields.iter().for_each(|field| self.read(model, field));
                let channels = Channels::named_by(model, channel);
                // A sorted send looks at the messages, and may come before the one that would be received.
                if *sorted {
                    self.polls.absorb(channels.clone());
                }
                self.sends.absorb(channels);
            }
            Command::Receive { channel, pattern, .. } => {
                self.read(model, channel);
                for part in pattern {
                    match part {
                        Pattern::Match(expr) => self.read(model, expr),
                        Pattern::Bind(place) => self.write(model, place, certain),
                    }
                }
                self.receives.absorb(Channels::named_by(model, channel));
            }
            Command::Run { code, args, result, .. } => {
                args.iter().for_each(|arg| self.read(model, arg));
                self.begins(model, *code);
                if let Some((place, value)) = result {
                    self.read(model, value);
                    self.write(model, place, certain);
                }
                self.processes.reads = true;
                self.processes.writes = true;
            }
            Command::End => {
                // Its channels go with it, and what is in them.
                if model.codes.iter().any(|code| code.channel_count() > 0) {
                    self.sends = Channels::All;
                    self.receives = Channels::All;
                }
                self.processes.reads = true;
                self.processes.writes = true;
            }
            Command::SetPriority { pid, priority } => {
                self.read(model, pid);
                self.read(model, priority);
                self.processes.reads = true;
                self.processes.writes = true;
            }
            Command::Deterministic(block) => {
                let straight = block.nodes.iter().all(|node| node.len() == 1)
                    && block
                        .nodes
                        .iter()
                        .enumerate()
                        .all(|(i, node)| node[0].next.is_none_or(|next| next > i));
                for (number, node) in block.nodes.iter().enumerate() {
                    for command in node.iter().filter_map(|edge| edge.command.as_ref()) {
                        let mut inner = Footprint::default();
                        inner.command(model, command, certain && straight);
                        // Within a block a full or empty channel makes nobody wait: it decides what is done.
                        if !straight || number > 0 {
                            inner.polls.absorb(inner.sends.clone());
                            inner.polls.absorb(inner.receives.clone());
                        }
                        self.must_write.0.append(&mut inner.must_write.0);
                        self.absorb(inner);
                    }
                }
            }
            // The places of the results are written, and their indices read, on the way back.
            Command::Call { code, args, .. } => {
                args.iter().for_each(|arg| self.read(model, arg));
                self.begins(model, *code);
            }
            Command::Return(values) => {
                values.iter().for_each(|value| self.read(model, value));
                // The places of the results are the caller's; any of them may be meant.
                for edge in model.edges() {
                    if let Command::Call { results, .. } = &edge.command {
                        results.iter().for_each(|place| self.write(model, place, false));
                    }
                }
            }
        }
    }

    /// The initial values of a code, and the channels that it makes.
    fn begins(&mut self, model: &Model, code: CodeId) {
        for init in &model.code(code).init {
            match init {
                Init::Set { value, .. } => self.read(model, value),
                Init::Channel { .. } => {
                    self.sends = Channels::All;
                    self.receives = Channels::All;
                }
            }
        }
    }

    /// What a rendezvous does on the receiver's side, whoever that is.
    fn receivers(&mut self, model: &Model) {
        self.processes.reads = true;
        self.processes.writes = true;
        for edge in model.edges() {
            if matches!(edge.command, Command::Receive { .. } | Command::Deterministic(_)) {
                let mut other = Footprint::default();
                other.command(model, &edge.command, false);
                self.absorb(other);
            }
        }
    }

    fn write(&mut self, model: &Model, place: &Place, certain: bool) {
        self.indices(model, place);
        if place.scope == Scope::Nowhere {
            return;
        }
        let range = place.range();
        if certain && range.len() == 1 {
            self.must_write.0.insert((place.scope, place.slot));
        }
        self.may_write.0.extend(range.map(|slot| (place.scope, slot)));
    }

    fn indices(&mut self, model: &Model, place: &Place) {
        place.indices.iter().for_each(|index| self.read(model, &index.value));
    }

    fn read(&mut self, model: &Model, expr: &Expr) {
        expr.visit(&mut |inner| match inner {
            Expr::Load(place) => {
                self.may_read.0.extend(place.range().map(|slot| (place.scope, slot)));
            }
            Expr::Len(channel) | Expr::Probe(_, channel) | Expr::Poll { channel, .. } => {
                self.polls.absorb(Channels::named_by(model, channel));
            }
            Expr::Timeout => {
                self.processes.timeout = true;
                self.processes.reads = true;
                self.processes.places = true;
            }
            Expr::ProcessCount => self.processes.reads = true,
            Expr::NonProgress
            | Expr::PcValue(_)
            | Expr::Priority(_)
            | Expr::LastPid
            | Expr::At { .. }
            | Expr::Remote { .. } => {
                self.processes.reads = true;
                self.processes.places = true;
            }
            Expr::Enabled(_) => {
                // What another process could do may depend on anything.
                self.processes.reads = true;
                self.processes.places = true;
                self.processes.timeout = true;
            }
            Expr::Const(_)
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Conditional(..)
            | Expr::SelfPid
            | Expr::Any { .. }
            | Expr::NewPid => {}
        });
    }
}

/// May a rendezvous move a process that has taken this edge, as sender or receiver?
fn leads_to_rendezvous(model: &Model, code: &Code, edge: &Edge) -> bool {
    if model.templates.iter().all(|template| template.capacity > 0) {
        return false;
    }
    let target = match &edge.command {
        Command::End => return false,
        // The caller stands where any call leads to.
        Command::Return(_) => return true,
        Command::Call { code, .. } => model.code(*code).location(model.code(*code).entry),
        _ => code.location(edge.target),
    };
    target.edges.iter().any(|edge| {
        let Footprint { sends, receives, .. } = Footprint::of(model, &edge.command);
        sends.any(model, |capacity| capacity == 0) || receives.any(model, |capacity| capacity == 0)
    })
}

impl Channels {
    fn named_by(model: &Model, channel: &Expr) -> Channels {
        let place = match channel {
            Expr::Const(number) if *number > 0 => {
                return Channels::These(BTreeSet::from([*number as u32]));
            }
            Expr::Load(place) => place,
            _ => return Channels::All,
        };
        if place.scope != Scope::Global || model.edges().any(|edge| writes(&edge.command, place)) {
            return Channels::All;
        }
        let mut numbers = BTreeSet::new();
        let mut number = 0;
        for init in &model.init {
            match init {
                Init::Channel { slot, hidden, .. } => {
                    number += 1;
                    if !hidden && place.range().contains(slot) {
                        numbers.insert(number);
                    }
                }
                // `chan a = b`: another name for a channel.
                Init::Set { slot, hidden: false, value, .. } if place.range().contains(slot) => {
                    // What was declared before, so that this ends.
                    let is_earlier = |of: &Place| of.scope == Scope::Global && of.range().end <= *slot;
                    match value {
                        Expr::Const(0) => {}
                        Expr::Load(of) if !is_earlier(of) => return Channels::All,
                        _ => match Channels::named_by(model, value) {
                            Channels::These(more) => numbers.extend(more),
                            all => return all,
                        },
                    }
                }
                Init::Set { .. } => {}
            }
        }
        Channels::These(numbers)
    }

    /// Has one of them a capacity of which this is true?
    pub fn any(&self, model: &Model, test: impl Fn(u32) -> bool) -> bool {
        match self {
            Channels::None => false,
            Channels::All => model.templates.iter().any(|template| test(template.capacity)),
            Channels::These(numbers) => {
                let mut made = model.init.iter().filter_map(|init| match init {
                    Init::Channel { template, .. } => Some(template),
                    Init::Set { .. } => None,
                });
                let mut known = 0;
                (1..).zip(&mut made).any(|(number, template)| {
                    known = number;
                    numbers.contains(&number) && test(model.template(*template).capacity)
                }) || (numbers.iter().any(|number| *number > known) && Channels::All.any(model, test))
            }
        }
    }

    fn absorb(&mut self, other: Channels) {
        match (&mut *self, other) {
            (_, Channels::None) | (Channels::All, _) => {}
            (Channels::None, other) | (_, other @ Channels::All) => *self = other,
            (Channels::These(these), Channels::These(others)) => these.extend(others),
        }
    }

    /// May it be this channel?
    pub fn contains(&self, number: u32) -> bool {
        match self {
            Channels::None => false,
            Channels::All => true,
            Channels::These(numbers) => numbers.contains(&number),
        }
    }
}

/// Can the command change a slot that `place` may mean?
fn writes(command: &Command, place: &Place) -> bool {
    let overlaps = |other: &Place| {
        let (a, b) = (place.range(), other.range());
        other.scope == place.scope && a.start < b.end && b.start < a.end
    };
    match command {
        Command::Assign(assignments) => assignments.iter().any(|(target, _)| overlaps(target)),
        Command::Receive { pattern, .. } => {
            pattern.iter().any(|part| matches!(part, Pattern::Bind(target) if overlaps(target)))
        }
        Command::Run { result: Some((target, _)), .. } => overlaps(target),
        Command::Call { results, .. } => results.iter().any(overlaps),
        Command::Deterministic(block) => block
            .nodes
            .iter()
            .flatten()
            .filter_map(|edge| edge.command.as_ref())
            .any(|inner| writes(inner, place)),
        _ => false,
    }
}
