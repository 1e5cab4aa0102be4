//! The reduction that decides the verdict with few states: persistent sets of processes, from footprints.
//!
//! In a state some processes are a *persistent set* if nothing that the others may ever do conflicts with what these do
//! next: then it is enough to try these (Godefroid, "Partial-Order Methods", 1996). A set is found by closure: take a
//! process that can move; whoever may, now or later, conflict with the next step of a member becomes a member too. For a
//! member that cannot move, only those who could let it move become members (a necessary enabling set). Every process
//! that can move is tried as the first, and the set in which the fewest can move is taken.
//!
//! What conflicts depends on the state: see [`Access::conflicts_with`] for channels, and [`Waiting`] for what cannot be
//! sent or received yet. Only the newest process can die, so a death conflicts with nobody else's. While a member can
//! move, nobody sees a timeout; so `timeout` conflicts with nothing, but if only a timeout lets anybody move, everybody
//! is tried.
//!
//! So that nobody is put off for ever, every cycle must have a state in which everybody is tried. There are two rules
//! ([`Cycles`]): by the graphs of the processes, which serves every search, or by the path of a depth-first search, which
//! leaves fewer states. What `visible` reads is not changed by a set that leaves somebody out.
//!
//! Nothing is promised about preemptions.
//!
//! [`Access::conflicts_with`]: super::access::Access::conflicts_with
//! [`Waiting`]: super::futures::Waiting

use super::constants::{Known, deciding};
use super::futures::{LocationAccess, ModelFacts, Process};
use preempt_model::{CodeId, Command, Expr, LocationId, Model, Scope};
use std::collections::HashMap;

/// What the processes of a model may do, as far as they were met.
#[derive(Debug, Clone)]
pub struct PersistentSets<'m> {
    model: &'m Model,
    facts: ModelFacts,
    /// By code: the locals that say which process this is, and whether its number does.
    deciding: Vec<(Vec<u32>, bool)>,
    processes: Vec<Process>,
    numbers: HashMap<(CodeId, u8, Vec<i32>), u32, foldhash::fast::FixedState>,
    /// For each process of the state that is looked at: who it is, where it stands, whether it can move.
    here: Vec<(u32, u32, Option<bool>)>,
    key: Vec<i32>,
}

/// Who sees to it that nobody is put off for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cycles {
    /// The sets: where a member may take a back edge of its graph, everybody is tried. As static as in the exact
    /// reduction, it serves every order, and runs without end.
    InGraphs,
    /// A depth-first search, which tries everybody if all that a set leads to are states on its current path. It is
    /// enough for what is wrong in a state or with a step: the state that one step leads to is finished earlier.
    OnPath,
}

/// A question about the state that is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateQuery {
    /// Can the process move, without a timeout? Not 0 if so.
    CanMove(usize),
    /// Is this edge of its location ready?
    IsReady(usize, usize),
    /// The value of one of its locals.
    Local(usize, u32),
    Priority(usize),
}

impl<'m> PersistentSets<'m> {
    /// `visible` is what an observer reads. `None` if nothing can be left out of this model.
    pub fn new(model: &'m Model, visible: &[Expr]) -> Option<PersistentSets<'m>> {
        let calls = |command: &Command| matches!(command, Command::Call { .. } | Command::Return(_));
        if model.edges().any(|edge| calls(&edge.command)) {
            return None;
        }
        let deciding: Vec<_> =
            (0..model.codes.len()).map(|code| deciding(model, CodeId(code as u16))).collect();
        // A promise must be about the same channel as long as its process lives.
        for promise in &model.exclusives {
            let mut fixed = true;
            let (locals, _) = &deciding[usize::from(promise.code.0)];
            promise.channel.visit(&mut |expr| {
                if let Expr::Load(place) = expr {
                    let local = place.scope == Scope::Local;
                    fixed &= !local || (place.indices.is_empty() && locals.contains(&place.slot));
                }
            });
            if !fixed {
                return None;
            }
        }
        Some(PersistentSets {
            model,
            facts: ModelFacts::new(model, visible),
            deciding,
            processes: Vec::new(),
            numbers: HashMap::default(),
            here: Vec::new(),
            key: Vec::new(),
        })
    }

    /// The processes to be tried, the smallest set found, or `None` for everybody. `locations` is where each stands.
    pub fn choose(
        &mut self,
        locations: &[(CodeId, LocationId)],
        cycles: Cycles,
        query: &mut dyn FnMut(StateQuery) -> i32,
    ) -> Option<Vec<u8>> {
        self.look(locations, query);
        let future = |at: &(u32, u32, Option<bool>)| {
            self.processes[at.0 as usize].locations[at.1 as usize].future.flags
        };
        // Who moved last is changed by every step, which matters only as long as somebody may ask.
        if self.model.remembers_last && self.here.iter().any(|at| future(at).asks_last) {
            return None;
        }
        // Who may run depends on everybody, unless all are alike and will be.
        let unlike = |(process, at)| query(StateQuery::Priority(process)) != 1 || future(at).prioritises;
        if self.model.has_priorities && self.here.iter().enumerate().any(unlike) {
            return None;
        }
        let mut best: Option<Vec<u8>> = None;
        for start in (0..locations.len()).rev() {
            if !self.can_move(start, query) {
                continue;
            }
            let most = best.as_ref().map_or(usize::MAX, Vec::len);
            if let Some(moving) = self.closure(start, most, cycles, query) {
                let alone = moving.len() == 1;
                best = Some(moving);
                if alone {
                    break;
                }
            }
        }
        best
    }

    /// The members that can move of the least set with `start`; `None` if it is everybody, or not less than `most`.
    fn closure(
        &mut self,
        start: usize,
        most: usize,
        cycles: Cycles,
        query: &mut dyn FnMut(StateQuery) -> i32,
    ) -> Option<Vec<u8>> {
        let count = self.here.len();
        let mut is_member = vec![false; count];
        is_member[start] = true;
        let mut members = vec![start];
        let mut moving = Vec::new();
        let mut next = 0;
        while let Some(member) = members.get(next).copied() {
            next += 1;
            let moves = self.can_move(member, query);
            let location = self.location(member);
            if moves {
                moving.push(member as u8);
                let goes_back = cycles == Cycles::InGraphs && location.goes_back;
                if goes_back || location.seen || moving.len() >= most {
                    return None;
                }
            }
            let mut access = if moves { &location.step } else { &location.needs };
            let waits;
            if moves && !location.waiting.is_empty() {
                let mut with_waits = None;
                for edge in &location.waiting {
                    if query(StateQuery::IsReady(member, edge.edge)) == 0 {
                        let access = with_waits.get_or_insert_with(|| location.step.clone());
                        let bits = if edge.send { &mut access.full } else { &mut access.empty };
                        bits.absorb(&edge.channels);
                    }
                }
                if let Some(with_waits) = with_waits {
                    waits = with_waits;
                    access = &waits;
                }
            }
            // Nobody else can die before the newest does.
            let waits_for_death = member + 1 < count && (location.ends || location.step.flags.ends);
            for other in (0..count).filter(|other| *other != member) {
                if is_member[other] {
                    continue;
                }
                let future = &self.location(other).future;
                let newest = waits_for_death && (other + 1 == count || moves && future.flags.ends);
                if newest || access.conflicts_with(future) {
                    is_member[other] = true;
                    members.push(other);
                }
            }
        }
        (members.len() < count).then_some(moving)
    }

    fn location(&self, process: usize) -> &LocationAccess {
        let (number, location, _) = self.here[process];
        &self.processes[number as usize].locations[location as usize]
    }

    fn can_move(&mut self, process: usize, query: &mut dyn FnMut(StateQuery) -> i32) -> bool {
        let known = &mut self.here[process].2;
        *known.get_or_insert_with(|| query(StateQuery::CanMove(process)) != 0)
    }

    /// Finds out who the processes are.
    fn look(&mut self, locations: &[(CodeId, LocationId)], query: &mut dyn FnMut(StateQuery) -> i32) {
        self.here.clear();
        for (process, (code, location)) in locations.iter().enumerate() {
            let (locals, by_number) = &self.deciding[usize::from(code.0)];
            let pid = if *by_number { process as u8 } else { 0 };
            self.key.clear();
            self.key.extend(locals.iter().map(|slot| query(StateQuery::Local(process, *slot))));
            let mut key = (*code, pid, std::mem::take(&mut self.key));
            let number = match self.numbers.get(&key) {
                Some(number) => *number,
                None => {
                    let values: Vec<_> = locals.iter().copied().zip(key.2.iter().copied()).collect();
                    let known = Known { pid: by_number.then_some(pid), locals: &values };
                    self.processes.push(self.facts.process(self.model, *code, known));
                    let number = self.processes.len() as u32 - 1;
                    self.numbers.insert(key.clone(), number);
                    number
                }
            };
            self.key = std::mem::take(&mut key.2);
            self.here.push((number, location.0, None));
        }
    }
}
