//! What a process may do next, and what it may ever do, from each location of its code on.

use super::access::{Access, Bits};
use super::constants::{Channels as FixedChannels, Known, expr_with_known, with_known};
use super::exact::{back_edges, in_one_step};
use preempt_model::footprint::Channels;
use preempt_model::{Code, CodeId, CodeKind, Command, Expr, Footprint, Init, Model, Scope};
use std::collections::{BTreeSet, HashSet};

/// One process, as far as it is known what it uses.
#[derive(Debug, Clone)]
pub(super) struct Process {
    /// By location.
    pub places: Vec<Place>,
}

#[derive(Debug, Clone)]
pub(super) struct Place {
    /// What a step from here touches, if whatever can be sent or received is not kept waiting.
    pub step: Access,
    /// What could let a process move that cannot.
    pub needs: Access,
    /// Edges that may have to wait for a channel.
    pub waiting: Vec<Waiting>,
    /// May the process end here?
    pub ends: bool,
    /// May a step from here go back in the graph of its process?
    pub goes_back: bool,
    /// Does a step from here change what an observer reads?
    pub seen: bool,
    pub future: Access,
}

#[derive(Debug, Clone)]
pub(super) struct Waiting {
    pub edge: usize,
    pub send: bool,
    pub channels: Bits,
}

/// What is the same for all processes.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    pub fixed: FixedChannels,
    slots: usize,
    codes: usize,
    /// Those that exist from the beginning, by their numbers from 1 on; 0 stands for all others.
    channels: usize,
    /// The channels on which sender and receiver meet.
    rendezvous: Bits,
    /// The codes of which others see where their processes stand, or what they keep.
    watched: BTreeSet<u16>,
    /// Commands and futures of processes of which nothing is known, by code and location.
    edges: Vec<Vec<Vec<Access>>>,
    futures: Vec<Vec<Access>>,
    seen: Access,
    /// By code and location: may a step from there go back in the graph of its process, or of its receiver?
    goes_back: Vec<Vec<bool>>,
}

impl Facts {
    /// `visible` is what an observer reads.
    pub fn new(model: &Model, visible: &[Expr]) -> Facts {
        let made: Vec<_> = model
            .init
            .iter()
            .filter_map(|init| match init {
                Init::Channel { template, .. } => Some(model.template(*template).capacity),
                Init::Set { .. } => None,
            })
            .collect();
        let mut rendezvous = Bits::new(made.len() + 1);
        if model.templates.iter().any(|template| template.capacity == 0) {
            rendezvous.insert(0);
        }
        made.iter().enumerate().filter(|(_, capacity)| **capacity == 0).for_each(|(number, _)| {
            rendezvous.insert(number + 1);
        });
        let (slots, codes, channels) = (model.global_slots as usize, model.codes.len(), made.len() + 1);
        let mut facts = Facts {
            fixed: FixedChannels::new(model),
            slots,
            codes,
            channels,
            rendezvous,
            watched: watched(model, visible),
            edges: Vec::new(),
            futures: Vec::new(),
            seen: Access::new(slots, codes, channels),
            goes_back: Vec::new(),
        };
        for expr in visible {
            let guard = Command::Guard(expr.clone());
            let seen = facts.command(model, None, &guard);
            facts.seen.absorb(&seen);
            // Whether anybody can move, and whether all are far from progress, may change with any step.
            expr.visit(&mut |inner| {
                facts.seen.flags.everything |= matches!(inner, Expr::Timeout | Expr::NonProgress);
            });
        }
        facts.edges = (0..model.codes.len())
            .map(|code| facts.edges_of(model, CodeId(code as u16), Known::NOTHING))
            .collect();
        facts.goes_back = facts.back_steps(model);
        let steps: Vec<Vec<Access>> = (0..model.codes.len())
            .map(|code| facts.steps(model, CodeId(code as u16), &facts.edges[code]))
            .collect();
        facts.futures = steps;
        loop {
            let mut changed = false;
            for (number, code) in processes(model) {
                let mut futures = std::mem::take(&mut facts.futures[number]);
                changed |= facts.grow(model, code, &mut futures, Some(number));
                facts.futures[number] = futures;
            }
            if !changed {
                return facts;
            }
        }
    }

    /// Everything about a process of which `known` is known.
    pub fn process(&self, model: &Model, id: CodeId, known: Known<'_>) -> Process {
        let code = model.code(id);
        let edges = self.edges_of(model, id, known);
        let steps = self.steps(model, id, &edges);
        let mut futures = steps.clone();
        while self.grow(model, code, &mut futures, None) {}
        let places = steps.into_iter().zip(futures).enumerate().map(|(number, (step, future))| {
            let location = &code.locations[number];
            let free = decides_by_waiting(location);
            let (mut needs, mut waiting) = (self.nothing(), Vec::new());
            if let Some(clause) = &code.provided {
                let clause = expr_with_known(clause, known, &self.fixed);
                needs.absorb(&self.command(model, None, &Command::Guard(clause)));
            }
            for (edge, (it, access)) in location.edges.iter().zip(&edges[number]).enumerate() {
                needs.reads.absorb(&access.reads);
                needs.looks.absorb(&access.looks);
                needs.polls.absorb(&access.polls);
                needs.polls.absorb(&access.receives);
                needs.full.absorb(&access.sends);
                needs.flags.everything |= access.flags.everything;
                needs.flags.asks |= access.flags.asks;
                let front = front(&it.command);
                if free && matches!(front, Some(Command::Send { .. } | Command::Receive { .. })) {
                    let send = matches!(front, Some(Command::Send { .. }));
                    let channels = if send { &access.sends } else { &access.receives };
                    waiting.push(Waiting { edge, send, channels: channels.clone() });
                }
            }
            let ends = location.edges.iter().any(|edge| edge.command == Command::End);
            let seen = step.is_seen(&self.seen);
            let goes_back = self.goes_back[usize::from(id.0)][number];
            Place { step, needs, waiting, ends, goes_back, seen, future }
        });
        Process { places: places.collect() }
    }

    /// A cycle of states has a back edge of a process that moves in it, or one starts another: processes can take turns in
    /// starting each other and ending. The receiver of a rendezvous moves with the sender; of its steps nothing is known
    /// here, so a send may go back.
    fn back_steps(&self, model: &Model) -> Vec<Vec<bool>> {
        let of_code = |(number, code): (usize, &Code)| {
            let back = back_edges(code);
            let may: Vec<bool> = (0..code.locations.len())
                .map(|at| {
                    let meets =
                        self.edges[number][at].iter().any(|access| access.sends.meets(&self.rendezvous));
                    let mut starts = false;
                    let edges = &code.locations[at].edges;
                    edges.iter().for_each(|edge| started(&edge.command, &mut |_| starts = true));
                    meets || starts || back.contains(&at)
                })
                .collect();
            let through = |at: usize| in_one_step(code, at).into_iter().any(|at| may[at]);
            (0..code.locations.len()).map(through).collect()
        };
        model.codes.iter().enumerate().map(of_code).collect()
    }

    fn nothing(&self) -> Access {
        Access::new(self.slots, self.codes, self.channels)
    }

    /// What each command touches, on its own side of a rendezvous.
    fn edges_of(&self, model: &Model, id: CodeId, known: Known<'_>) -> Vec<Vec<Access>> {
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
    fn steps(&self, model: &Model, id: CodeId, edges: &[Vec<Access>]) -> Vec<Access> {
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
    fn held_back(&self, model: &Model, code: &Code) -> Access {
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

    /// One round: each location's future has that of where it leads to, and of what is started there.
    fn grow(&self, model: &Model, code: &Code, futures: &mut [Access], own: Option<usize>) -> bool {
        let mut changed = false;
        for at in (0..code.locations.len()).rev() {
            for edge in &code.locations[at].edges {
                let target = edge.target.0 as usize;
                if target != at && edge.command != Command::End {
                    let later = futures[target].clone();
                    changed |= futures[at].absorb(&later);
                }
                started(&edge.command, &mut |code| {
                    let (number, entry) = (usize::from(code.0), model.code(code).entry.0 as usize);
                    if Some(number) != own {
                        changed |= futures[at].absorb(&self.futures[number][entry]);
                    } else {
                        let later = futures[entry].clone();
                        changed |= futures[at].absorb(&later);
                    }
                });
            }
        }
        changed
    }

    /// What a command touches; `code` is whose it is, `None` for an expression that belongs to no step.
    fn command(&self, model: &Model, code: Option<CodeId>, command: &Command) -> Access {
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
        self.processes(command, &mut access);
        if let Some(code) = code.filter(|code| self.watched.contains(&code.0)) {
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

    fn processes(&self, command: &Command, access: &mut Access) {
        command.visit(&mut |expr| match expr {
            Expr::Enabled(_) => access.flags.everything = true,
            Expr::LastPid => access.flags.asks_last = true,
            Expr::ProcessCount | Expr::NonProgress => access.flags.asks = true,
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
                inner.for_each(|command| self.processes(command, access));
            }
            _ => {}
        }
    }
}

/// Codes of processes, with their numbers.
fn processes(model: &Model) -> impl Iterator<Item = (usize, &Code)> {
    model.codes.iter().enumerate().filter(|(_, code)| code.kind == CodeKind::Process)
}

/// Is a channel that is full or empty only something to wait for here? Not where there is an `else`, or a choice that
/// takes the place of another.
fn decides_by_waiting(location: &preempt_model::Location) -> bool {
    let is_else = |command: &Command| match command {
        Command::Deterministic(block) => {
            block.nodes.first().into_iter().flatten().any(|edge| edge.command == Some(Command::Else))
        }
        command => *command == Command::Else,
    };
    location.edges.iter().all(|edge| edge.escape.is_none() && !is_else(&edge.command))
}

/// The command that decides whether an edge can be taken: the first, if nothing but assignments follow in the same step.
fn front(command: &Command) -> Option<&Command> {
    let Command::Deterministic(block) = command else { return Some(command) };
    let mut inner = block.nodes.iter().map(|node| match &node[..] {
        [edge] => edge.command.as_ref(),
        _ => None,
    });
    let first = inner.next().flatten();
    first.filter(|_| inner.all(|command| matches!(command, Some(Command::Assign(_)))))
}

/// The codes that a command starts.
fn started(command: &Command, visit: &mut dyn FnMut(CodeId)) {
    match command {
        Command::Run { code, .. } => visit(*code),
        Command::Deterministic(block) => {
            let inner = block.nodes.iter().flatten().filter_map(|edge| edge.command.as_ref());
            inner.for_each(|command| started(command, visit));
        }
        _ => {}
    }
}

/// The codes that an expression of the model or of an observer looks into.
fn watched(model: &Model, visible: &[Expr]) -> BTreeSet<u16> {
    let mut found = BTreeSet::new();
    let mut look = |expr: &Expr| match expr {
        Expr::PcValue(_) => found.extend(0..model.codes.len() as u16),
        Expr::At { code, .. } | Expr::Remote { code, .. } => {
            found.insert(code.0);
        }
        _ => {}
    };
    for (_, code) in processes(model) {
        for edge in code.locations.iter().flat_map(|location| &location.edges) {
            edge.command.visit(&mut look);
        }
        code.provided.iter().for_each(|clause| clause.visit(&mut look));
    }
    visible.iter().for_each(|expr| expr.visit(&mut look));
    found
}
