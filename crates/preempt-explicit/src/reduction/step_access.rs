//! What one step touches: a command, on its own side of a rendezvous; and everything that may happen in one step from a
//! location, through an atomic sequence and through whoever receives what is sent.

use super::access::{Access, Bits};
use super::constants::{Known, with_known};
use super::exact::with_progress;
use super::futures::{ModelFacts, processes};
use preempt_model::footprint::Channels;
use preempt_model::{Code, CodeId, Command, Expr, Footprint, Model, Scope};
use std::collections::HashSet;

impl ModelFacts {
    pub(super) fn nothing(&self) -> Access {
        Access::new(self.slots, self.codes, self.channels)
    }

    /// What each command touches, on its own side of a rendezvous.
    pub(super) fn edges_of(&self, model: &Model, id: CodeId, known: Known<'_>) -> Vec<Vec<Access>> {
        let of_edge = |edge: &preempt_model::Edge| {
            let command = with_known(&edge.command, known, &self.fixed);
            let mut access = self.command(model, Some(id), &command);
            let mut meeting = access.sends.clone();
            meeting.absorb(&access.receives);
            meeting.keep(&self.rendezvous);
            access.polls.absorb(&meeting);
            if front(&command).is_none() {
                access.never_waits();
            }
            access
        };
        let code = model.code(id);
        code.locations.iter().map(|location| location.edges.iter().map(of_edge).collect()).collect()
    }

    /// What a step from each location touches: through an atomic sequence also what comes later, and through a
    /// rendezvous also what the receiver does.
    pub(super) fn steps(&self, model: &Model, id: CodeId, edges: &[Vec<Access>]) -> Vec<Access> {
        let code = model.code(id);
        (0..code.locations.len()).map(|location| self.step(model, id, location, edges)).collect()
    }

    fn step(&self, model: &Model, id: CodeId, location: usize, edges: &[Vec<Access>]) -> Access {
        let mut all = self.nothing();
        let first = (true, id.0, location);
        let mut met: HashSet<(bool, u16, usize)> = HashSet::from([first]);
        let mut open = vec![first];
        let mut again = false;
        while let Some((own, number, at)) = open.pop() {
            let code = &model.codes[usize::from(number)];
            let accesses = if own { &edges[at] } else { &self.edges[usize::from(number)][at] };
            let is_first = (own, number, at) == first;
            let mut here = self.held_back(model, code);
            for (edge, access) in code.locations[at].edges.iter().zip(accesses) {
                here.absorb(access);
                let target = (own, number, edge.target.0 as usize);
                again |= edge.atomic && target == first;
                if edge.atomic && met.insert(target) {
                    open.push(target);
                }
                let mut meeting = access.sends.clone();
                meeting.keep(&self.rendezvous);
                for (other, place, partner) in self.receivers(model, &meeting) {
                    let receiver = &model.codes[usize::from(other)];
                    here.absorb(&self.held_back(model, receiver));
                    let mut received = self.edges[usize::from(other)][place][partner].clone();
                    received.never_waits();
                    here.absorb(&received);
                    let taken = &receiver.locations[place].edges[partner];
                    if taken.atomic && met.insert((false, other, taken.target.0 as usize)) {
                        open.push((false, other, taken.target.0 as usize));
                    }
                }
            }
            if !is_first || !decides_by_waiting(&code.locations[at]) {
                here.never_waits();
            }
            all.absorb(&here);
        }
        if again {
            all.never_waits();
        }
        all
    }

    /// What the clause that may hold a process back reads.
    pub(super) fn held_back(&self, model: &Model, code: &Code) -> Access {
        match &code.provided {
            Some(clause) => self.command(model, None, &Command::Guard(clause.clone())),
            None => self.nothing(),
        }
    }

    /// Edges that may take a message offered on one of these channels: code, location, edge.
    fn receivers(&self, model: &Model, channels: &Bits) -> Vec<(u16, usize, usize)> {
        let mut found = Vec::new();
        if !channels.meets(channels) {
            return found;
        }
        for (number, code) in processes(model).filter(|(number, _)| *number < self.edges.len()) {
            for (place, location) in code.locations.iter().enumerate() {
                let takes = |edge: usize| {
                    matches!(
                        location.edges[edge].command,
                        Command::Receive { .. } | Command::Deterministic(_)
                    ) && self.edges[number][place][edge].receives.meets(channels)
                };
                found.extend(
                    (0..location.edges.len())
                        .filter(|edge| takes(*edge))
                        .map(|edge| (number as u16, place, edge)),
                );
            }
        }
        found
    }

    /// What a command touches; `code` is whose it is, `None` for an expression that belongs to no step.
    pub(super) fn command(&self, model: &Model, code: Option<CodeId>, command: &Command) -> Access {
        let footprint = Footprint::of_own_side(model, command);
        let mut access = self.nothing();
        // Hidden variables are forgotten between steps, and locals are the process's own.
        let global = |(scope, slot): &(Scope, u32)| (*scope == Scope::Global).then_some(*slot as usize);
        footprint.may_read.0.iter().filter_map(global).for_each(|bit| access.reads.insert(bit));
        footprint.may_write.0.iter().filter_map(global).for_each(|bit| access.writes.insert(bit));
        // Channels that a process makes are 0 here, and come and go with it.
        let owner = match command {
            Command::End => code,
            Command::Run { code, .. } => Some(*code),
            _ => None,
        };
        match owner.map(|owner| model.code(owner).channel_count()) {
            Some(0) => {}
            Some(_) => [&mut access.sends, &mut access.receives].into_iter().for_each(|bits| bits.insert(0)),
            None => {
                self.channels(&footprint.sends, &mut access.sends);
                self.channels(&footprint.receives, &mut access.receives);
            }
        }
        self.channels(&footprint.polls, &mut access.polls);
        self.processes(model, command, &mut access);
        if let Some(code) = code.filter(|code| self.observed.contains(&code.0)) {
            access.moves.insert(usize::from(code.0));
        }
        // Whether a promise is broken depends on who lives, and on which channel he means.
        if !model.exclusives.is_empty()
            && (footprint.sends != Channels::None || footprint.receives != Channels::None)
        {
            access.flags.asks = true;
            for promise in &model.exclusives {
                let named = Footprint::of_own_side(model, &Command::Guard(promise.channel.clone()));
                named.may_read.0.iter().filter_map(global).for_each(|bit| access.reads.insert(bit));
            }
        }
        access
    }

    fn channels(&self, channels: &Channels, bits: &mut Bits) {
        match channels {
            Channels::None => {}
            Channels::All => (0..self.channels).for_each(|number| bits.insert(number)),
            Channels::These(numbers) => numbers.iter().for_each(|number| {
                let number = *number as usize;
                bits.insert(if number < self.channels { number } else { 0 });
            }),
        }
    }

    fn processes(&self, model: &Model, command: &Command, access: &mut Access) {
        command.visit(&mut |expr| match expr {
            Expr::Enabled(_) => access.flags.everything = true,
            Expr::LastPid => access.flags.asks_last = true,
            Expr::ProcessCount => access.flags.asks = true,
            Expr::NonProgress => {
                access.flags.asks = true;
                with_progress(model).for_each(|code| access.looks.insert(usize::from(code.0)));
            }
            // Where there are priorities that differ, nothing is left out at all.
            Expr::Priority(_) => access.flags.asks = true,
            Expr::PcValue(_) => {
                access.flags.asks = true;
                (0..self.codes).for_each(|code| access.looks.insert(code));
            }
            Expr::At { code, .. } | Expr::Remote { code, .. } => {
                access.flags.asks = true;
                access.looks.insert(usize::from(code.0));
            }
            _ => {}
        });
        match command {
            Command::Run { priority, .. } => {
                access.flags.starts = true;
                access.flags.prioritises |= *priority != 1;
            }
            Command::End => access.flags.ends = true,
            Command::SetPriority { .. } => access.flags.prioritises = true,
            Command::Deterministic(block) => {
                let inner = block.nodes.iter().flatten().filter_map(|edge| edge.command.as_ref());
                inner.for_each(|command| self.processes(model, command, access));
            }
            _ => {}
        }
    }
}

/// Is a channel that is full or empty only something to wait for here? Not where there is an `else`, or a choice that
/// takes the place of another.
pub(super) fn decides_by_waiting(location: &preempt_model::Location) -> bool {
    let is_else = |command: &Command| match command {
        Command::Deterministic(block) => {
            block.nodes.first().into_iter().flatten().any(|edge| edge.command == Some(Command::Else))
        }
        command => *command == Command::Else,
    };
    location.edges.iter().all(|edge| edge.escape.is_none() && !is_else(&edge.command))
}

/// The command that decides whether an edge can be taken: the first, if nothing but assignments follow in the same step.
pub(super) fn front(command: &Command) -> Option<&Command> {
    let Command::Deterministic(block) = command else { return Some(command) };
    let mut inner = block.nodes.iter().map(|node| match &node[..] {
        [edge] => edge.command.as_ref(),
        _ => None,
    });
    let first = inner.next().flatten();
    first.filter(|_| inner.all(|command| matches!(command, Some(Command::Assign(_)))))
}
