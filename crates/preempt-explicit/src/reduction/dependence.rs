//! On what a step depends: variables, channels and processes that decide what a process can do where it stands, together with
//! those that its steps may change. Two states that agree in all of these have the same steps, to the same effect.
//!
//! The facts about commands are those of [`super::step_access`], which the strong reduction rests on. Here they are put together
//! for the processes that there are: through an atomic sequence also what comes later, through a rendezvous also what
//! those may do who can receive on that channel.

use super::access::{Access, Bits};
use super::constants::{Known, deciding};
use super::futures::ModelFacts;
use preempt_model::{CodeId, Command, Expr, LocationId, Model, Scope};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What is known of a model, as far as it was asked.
#[derive(Debug)]
pub struct Dependences<'m> {
    model: &'m Model,
    facts: ModelFacts,
    /// By code: the locals that say which process this is, and whether its number does.
    deciding: Vec<(Vec<u32>, bool)>,
    /// What each command of a process touches, by location.
    edges: HashMap<Identity, Arc<Vec<Vec<Access>>>>,
}

/// Who a process is, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Identity {
    code: CodeId,
    pid: Option<u8>,
    /// Locals that never change, with their values.
    locals: Vec<(u32, i32)>,
}

/// What decides a step, or may be changed by it, beside the set of processes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dependence {
    /// Of globals.
    pub slots: Vec<usize>,
    /// Channels that exist from the beginning, by their numbers from 0 on.
    pub channels: Vec<usize>,
    /// Those that processes have made, too.
    pub made_channels: bool,
    /// Everything that these processes have, the one that moves among them.
    pub processes: Vec<usize>,
    /// The process asks whether nobody can move without a timeout.
    pub asks_timeout: bool,
}

/// The slots of a code's parameters that never change and decide which channel or which element of an array is meant.
pub fn fixed_parameters(model: &Model, code: CodeId) -> Vec<u32> {
    let mut fixed = deciding(model, code).0;
    fixed.retain(|slot| (*slot as usize) < model.code(code).parameters.len());
    fixed
}

/// The slots of a code's locals that never change and decide which channel or which element of an array is meant.
pub fn known_locals(model: &Model, code: CodeId) -> Vec<u32> {
    deciding(model, code).0
}

impl<'m> Dependences<'m> {
    /// `None` where who may run depends on everybody.
    pub fn new(model: &'m Model) -> Option<Dependences<'m>> {
        let calls = |command: &Command| matches!(command, Command::Call { .. } | Command::Return(_));
        if model.has_priorities || model.edges().any(|edge| calls(&edge.command)) {
            return None;
        }
        let deciding = (0..model.codes.len()).map(|code| deciding(model, CodeId(code as u16))).collect();
        Some(Dependences { model, facts: ModelFacts::new(model, &[]), deciding, edges: HashMap::new() })
    }

    /// `local` gives the values of locals that never change, as far as they are known.
    pub fn identity(&self, code: CodeId, process: usize, local: impl Fn(u32) -> Option<i32>) -> Identity {
        let (locals, by_number) = &self.deciding[usize::from(code.0)];
        let locals = locals.iter().filter_map(|slot| Some((*slot, local(*slot)?))).collect();
        Identity { code, pid: by_number.then_some(process as u8), locals }
    }

    /// Of a process that stands at this location, among all others. `None` if it may be anything.
    pub fn of(&mut self, all: &[Identity], process: usize, location: LocationId) -> Option<Dependence> {
        let edges: Vec<_> = all.iter().map(|identity| self.edges(identity)).collect();
        let (model, facts) = (self.model, &self.facts);
        let first = (process, location.0 as usize);
        let (mut met, mut open) = (HashSet::from([first]), vec![first]);
        let mut step = facts.nothing();
        let mut processes = HashSet::from([process]);
        let mut asks_timeout = false;
        while let Some((who, at)) = open.pop() {
            let code = model.code(all[who].code);
            step.absorb(&facts.held_back(model, code));
            for (edge, access) in code.locations.get(at)?.edges.iter().zip(edges[who].get(at)?) {
                step.absorb(access);
                match asked(&edge.command) {
                    Asks::Everything => return None,
                    // It is none in the middle of a step.
                    Asks::Timeout => asks_timeout |= (who, at) == first,
                    Asks::Nothing => {}
                }
                let target = (who, edge.target.0 as usize);
                if edge.atomic && !self.waits_for_sender(&edge.command, access) && met.insert(target) {
                    open.push(target);
                }
                let mut meeting = access.sends.clone();
                meeting.keep(&facts.rendezvous);
                if !meeting.meets(&meeting) {
                    continue;
                }
                for other in (0..all.len()).filter(|other| *other != who) {
                    let receiver = model.code(all[other].code);
                    for (place, location) in receiver.locations.iter().enumerate() {
                        for (taken, access) in location.edges.iter().zip(&edges[other][place]) {
                            let may_take =
                                matches!(taken.command, Command::Receive { .. } | Command::Deterministic(_));
                            if !may_take || !access.receives.meets(&meeting) {
                                continue;
                            }
                            if matches!(asked(&taken.command), Asks::Everything) {
                                return None;
                            }
                            processes.insert(other);
                            step.absorb(&facts.held_back(model, receiver));
                            step.absorb(access);
                            let target = (other, taken.target.0 as usize);
                            if taken.atomic && met.insert(target) {
                                open.push(target);
                            }
                        }
                    }
                }
            }
        }
        if step.flags.everything || step.flags.prioritises {
            return None;
        }
        let is_seen = |identity: &Identity| step.looks.contains(usize::from(identity.code.0));
        processes.extend((0..all.len()).filter(|process| is_seen(&all[*process])));
        self.add_promises(all, &step, &mut processes);
        Some(self.dependence(&step, processes, asks_timeout))
    }

    /// What each command of a process touches, by location.
    fn edges(&mut self, identity: &Identity) -> Arc<Vec<Vec<Access>>> {
        if let Some(known) = self.edges.get(identity) {
            return Arc::clone(known);
        }
        let Identity { code, pid, locals } = identity;
        let made = Arc::new(self.facts.edges_of(self.model, *code, Known { pid: *pid, locals }));
        self.edges.insert(identity.clone(), Arc::clone(&made));
        made
    }

    /// A receive that is only ever made together with a send does not go on by itself.
    fn waits_for_sender(&self, command: &Command, access: &Access) -> bool {
        let mut buffered = access.receives.clone();
        buffered.remove(&self.facts.rendezvous);
        let is_known = !access.receives.contains(0) && !buffered.meets(&buffered);
        matches!(command, Command::Receive { .. }) && is_known
    }

    /// Whether a promise about a channel is broken depends on which channel its process means.
    fn add_promises(&self, all: &[Identity], step: &Access, processes: &mut HashSet<usize>) {
        if !step.sends.meets(&step.sends) && !step.receives.meets(&step.receives) {
            return;
        }
        for promise in &self.model.exclusives {
            for (holder, identity) in all.iter().enumerate().filter(|(_, it)| it.code == promise.code) {
                let mut is_known = true;
                promise.channel.visit(&mut |expr| {
                    if let Expr::Load(place) = expr {
                        let is_fixed = identity.locals.iter().any(|(slot, _)| *slot == place.slot);
                        is_known &= place.scope != Scope::Local || place.indices.is_empty() && is_fixed;
                    }
                });
                if !is_known {
                    processes.insert(holder);
                }
            }
        }
    }

    fn dependence(&self, step: &Access, processes: HashSet<usize>, asks_timeout: bool) -> Dependence {
        let mut slots = step.reads.clone();
        slots.absorb(&step.writes);
        let mut channels = step.sends.clone();
        for more in [&step.receives, &step.polls, &step.full, &step.empty] {
            channels.absorb(more);
        }
        let all =
            |bits: &Bits, count: usize| (0..count).filter(|bit| bits.contains(*bit)).collect::<Vec<_>>();
        let numbers = all(&channels, self.facts.channels);
        Dependence {
            slots: all(&slots, self.facts.slots),
            made_channels: numbers.first() == Some(&0),
            channels: numbers.into_iter().filter_map(|number| number.checked_sub(1)).collect(),
            processes: processes.into_iter().collect(),
            asks_timeout,
        }
    }
}

enum Asks {
    Nothing,
    Timeout,
    /// Something about all processes.
    Everything,
}

fn asked(command: &Command) -> Asks {
    let mut asks = Asks::Nothing;
    command.visit(&mut |expr| match expr {
        Expr::NonProgress | Expr::Enabled(_) | Expr::Priority(_) => asks = Asks::Everything,
        Expr::Timeout if !matches!(asks, Asks::Everything) => asks = Asks::Timeout,
        _ => {}
    });
    asks
}
