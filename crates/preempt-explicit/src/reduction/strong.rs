//! The reduction that decides the verdict with few states: persistent sets of processes, from footprints.
//!
//! In a state some processes are a *persistent set* if nothing that the others may ever do conflicts with what these do
//! next: then it is enough to try these (Godefroid, "Partial-Order Methods", 1996). A set is found by closure: take a
//! process that can move; whoever may, now or later, conflict with the next step of a member becomes a member too.
//! This covers what could enable a member that cannot move, since enabling it is a conflict with it.
//!
//! So that nobody is put off for ever, every cycle must have a state in which everybody is tried. A cycle of states
//! has a cycle in the graph of each process that moves in it, and thereby one of its back edges: where a member may
//! take one, everybody is tried. Like that of the exact reduction the rule is static, so it serves every order.
//!
//! Nothing is promised about preemptions.

use super::exact::{Watched, back_edges};
use preempt_model::footprint::Channels;
use preempt_model::{Code, CodeId, CodeKind, Command, Footprint, Init, LocationId, Model, Scope};

/// Which steps conflict with which futures, for all locations of all codes.
#[derive(Debug, Clone)]
pub struct PersistentSets {
    /// The number of each code's first location.
    first: Vec<usize>,
    /// By location of the step: the locations from which something may happen that conflicts with it.
    conflicts: Vec<Bits>,
    /// May a step from here go back?
    goes_back: Vec<bool>,
}

impl PersistentSets {
    /// `None` if every step of the model is seen by everybody.
    pub fn new(model: &Model) -> Option<PersistentSets> {
        let watched = Watched::new(model);
        let all_seen = watched.everybody || !watched.codes.is_empty() || !model.exclusives.is_empty();
        if all_seen || model.codes.iter().any(|code| code.provided.is_some()) {
            return None;
        }
        let mut first = Vec::new();
        let mut count = 0;
        for code in &model.codes {
            first.push(count);
            count += code.locations.len();
        }
        let objects = Objects::new(model);
        let mut steps: Vec<Access> = Vec::new();
        let mut goes_back = vec![false; count];
        for (number, code) in model.codes.iter().enumerate() {
            let id = CodeId(number as u16);
            let own: Vec<Access> = (0..code.locations.len())
                .map(|location| objects.of_location(model, id, LocationId(location as u32)))
                .collect();
            let back = back_edges(code);
            for location in 0..code.locations.len() {
                let reached = in_one_step(code, location);
                goes_back[first[number] + location] = reached.iter().any(|at| back.contains(at));
                let mut access = objects.nothing();
                for at in reached {
                    access.absorb(&own[at]);
                }
                steps.push(access);
            }
        }
        let futures = futures(model, &first, &steps);
        let conflicts = steps
            .iter()
            .map(|step| {
                let mut bits = Bits::new(count);
                let others = futures.iter().enumerate().filter(|(_, future)| step.conflicts_with(future));
                others.for_each(|(location, _)| bits.insert(location));
                bits
            })
            .collect();
        Some(PersistentSets { first, conflicts, goes_back })
    }

    /// The smallest persistent set found, or `None` for everybody. `places` is where each process stands; `can_move`
    /// says whether it can.
    pub fn choose(
        &self,
        places: &[(CodeId, LocationId)],
        mut can_move: impl FnMut(usize) -> bool,
    ) -> Option<Vec<u8>> {
        let number =
            |(code, location): &(CodeId, LocationId)| self.first[usize::from(code.0)] + location.0 as usize;
        let at: Vec<usize> = places.iter().map(number).collect();
        let movable: Vec<bool> = (0..at.len()).map(&mut can_move).collect();
        let mut best: Option<Vec<u8>> = None;
        for start in (0..at.len()).filter(|process| movable[*process]) {
            let mut members = vec![start as u8];
            let mut next = 0;
            let most = best.as_ref().map_or(at.len(), Vec::len);
            while next < members.len() && members.len() < most {
                let step = at[usize::from(members[next])];
                next += 1;
                for (other, place) in at.iter().enumerate() {
                    let is_new = !members.contains(&(other as u8));
                    if is_new && self.conflicts[step].contains(*place) {
                        members.push(other as u8);
                    }
                }
            }
            let goes_back =
                |member: &u8| movable[usize::from(*member)] && self.goes_back[at[usize::from(*member)]];
            if members.len() < most && !members.iter().any(goes_back) {
                let alone = members.len() == 1;
                best = Some(members);
                if alone {
                    break;
                }
            }
        }
        best
    }
}

/// The locations at which commands may be executed in one step: further ones only through an atomic sequence.
fn in_one_step(code: &Code, location: usize) -> Vec<usize> {
    let mut reached = vec![location];
    let mut next = 0;
    while next < reached.len() {
        let edges = &code.locations[reached[next]].edges;
        next += 1;
        for target in edges.iter().filter(|edge| edge.atomic).map(|edge| edge.target.0 as usize) {
            if !reached.contains(&target) {
                reached.push(target);
            }
        }
    }
    reached
}

/// Everything that may happen from each location on, what it starts included.
fn futures(model: &Model, first: &[usize], steps: &[Access]) -> Vec<Access> {
    let mut futures = steps.to_vec();
    let mut changed = true;
    while changed {
        changed = false;
        for (number, code) in
            model.codes.iter().enumerate().filter(|(_, code)| code.kind != CodeKind::Observer)
        {
            for (location, it) in code.locations.iter().enumerate() {
                let own = first[number] + location;
                for edge in &it.edges {
                    let mut later = vec![first[number] + edge.target.0 as usize];
                    started(&edge.command, &mut |code| {
                        let entry = model.code(code).entry.0 as usize;
                        later.push(first[usize::from(code.0)] + entry);
                    });
                    for target in later.into_iter().filter(|target| *target != own) {
                        let other = futures[target].clone();
                        changed |= futures[own].absorb(&other);
                    }
                }
            }
        }
    }
    futures
}

/// The codes that a command starts or calls.
fn started(command: &Command, visit: &mut dyn FnMut(CodeId)) {
    match command {
        Command::Run { code, .. } | Command::Call { code, .. } => visit(*code),
        Command::Deterministic(block) => {
            let inner = block.nodes.iter().flatten().filter_map(|edge| edge.command.as_ref());
            inner.for_each(|command| started(command, visit));
        }
        _ => {}
    }
}

/// What a step reads and writes: variables, channels, and which processes there are.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Access {
    reads: Bits,
    writes: Bits,
    /// Depends on whether anybody can move.
    everything: bool,
}

impl Access {
    fn absorb(&mut self, other: &Access) -> bool {
        let more = other.everything && !self.everything;
        self.everything |= other.everything;
        let read = self.reads.absorb(&other.reads);
        let written = self.writes.absorb(&other.writes);
        more || read || written
    }

    fn conflicts_with(&self, other: &Access) -> bool {
        self.everything
            || other.everything
            || self.writes.meets(&other.writes)
            || self.writes.meets(&other.reads)
            || self.reads.meets(&other.writes)
    }
}

/// How variables and channels are numbered as bits.
struct Objects {
    globals: usize,
    hidden: usize,
    /// Those that exist from the beginning, by their numbers from 1 on; 0 stands for all others.
    channels: usize,
}

impl Objects {
    fn new(model: &Model) -> Objects {
        let made = model.init.iter().filter(|init| matches!(init, Init::Channel { .. })).count();
        Objects {
            globals: model.global_slots as usize,
            hidden: model.hidden_slots as usize,
            channels: made + 1,
        }
    }

    fn nothing(&self) -> Access {
        let bits = Bits::new(self.globals + self.hidden + self.channels + 1);
        Access { reads: bits.clone(), writes: bits, everything: false }
    }

    fn of_location(&self, model: &Model, code: CodeId, location: LocationId) -> Access {
        let footprint = Footprint::of_location(model, code, location);
        let mut access = self.nothing();
        access.everything = footprint.processes.timeout;
        let slot = |(scope, slot): &(Scope, u32)| match scope {
            Scope::Global => Some(*slot as usize),
            Scope::Hidden => Some(self.globals + *slot as usize),
            Scope::Local | Scope::Nowhere => None,
        };
        footprint.may_read.0.iter().filter_map(slot).for_each(|bit| access.reads.insert(bit));
        footprint.may_write.0.iter().filter_map(slot).for_each(|bit| access.writes.insert(bit));
        self.channels(&footprint.sends, &mut access.writes);
        self.channels(&footprint.receives, &mut access.writes);
        self.channels(&footprint.polls, &mut access.reads);
        let processes = self.globals + self.hidden + self.channels;
        if footprint.processes.reads {
            access.reads.insert(processes);
        }
        if footprint.processes.writes {
            access.writes.insert(processes);
        }
        access
    }

    fn channels(&self, channels: &Channels, bits: &mut Bits) {
        let first = self.globals + self.hidden;
        (0..self.channels).filter(|number| channels.contains(*number as u32)).for_each(|number| {
            bits.insert(first + number);
        });
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(count: usize) -> Bits {
        Bits(vec![0; count.div_ceil(64)])
    }

    fn insert(&mut self, bit: usize) {
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    fn contains(&self, bit: usize) -> bool {
        self.0[bit / 64] & (1 << (bit % 64)) != 0
    }

    fn absorb(&mut self, other: &Bits) -> bool {
        let mut changed = false;
        for (own, more) in self.0.iter_mut().zip(&other.0) {
            changed |= *more & !*own != 0;
            *own |= more;
        }
        changed
    }

    fn meets(&self, other: &Bits) -> bool {
        self.0.iter().zip(&other.0).any(|(own, other)| own & other != 0)
    }
}
