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
//! [`Waiting`]: super::futures::Waiting

use super::access::Access;
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
    /// For each process of the state that is looked at.
    here: Vec<Here>,
    key: Vec<i32>,
    conflicts: Conflicts,
}

/// A process: who it is, where it stands, whether it can move, and which of the sends and receives that it has there wait.
#[derive(Debug, Clone, Copy)]
struct Here {
    number: u32,
    location: u32,
    /// The location among those of all processes.
    place: usize,
    moves: bool,
    waits: u64,
}

/// The bit in [`Here::waits`] of the one with this number: those that are too many share the last one, as if each of them waited
/// with the others. Then there are only more members.
fn waiting_bit(number: usize) -> u64 {
    1 << number.min(63)
}

/// A step, and what lets those sends and receives go on that wait.
fn with_waits(location: &LocationAccess, waits: u64) -> Access {
    let mut access = location.step.clone();
    for (_, edge) in location.waiting.iter().enumerate().filter(|(at, _)| waits & waiting_bit(*at) != 0) {
        let bits = if edge.send { &mut access.full } else { &mut access.empty };
        bits.absorb(&edge.channels);
    }
    access
}

/// Of which places it is known whether somebody there conflicts with what somebody at another place may ever do: a row for each
/// place and each of two questions, with two bits for each other place.
#[derive(Debug, Clone, Default)]
struct Conflicts(Vec<Vec<u64>>);

impl Conflicts {
    fn between(&mut self, row: usize, column: usize, find_out: impl FnOnce() -> bool) -> bool {
        let (word, shift) = (column / 32, 2 * (column % 32));
        if self.0.len() <= row {
            self.0.resize(row + 1, Vec::new());
        }
        let row = &mut self.0[row];
        if row.len() <= word {
            row.resize(word + 1, 0);
        }
        let known = row[word] >> shift & 3;
        if known != 0 {
            return known == 2;
        }
        let conflicts = find_out();
        row[word] |= (1 + u64::from(conflicts)) << shift;
        conflicts
    }
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
            conflicts: Conflicts::default(),
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
        let future =
            |at: &Here| self.processes[at.number as usize].locations[at.location as usize].future.flags;
        // Who moved last is changed by every step, which matters only as long as somebody may ask.
        if self.model.remembers_last && self.here.iter().any(|at| future(at).asks_last) {
            return None;
        }
        // Who may run depends on everybody, unless all are alike and will be.
        let unlike = |(process, at)| query(StateQuery::Priority(process)) != 1 || future(at).prioritises;
        if self.model.has_priorities && self.here.iter().enumerate().any(unlike) {
            return None;
        }
        self.ask_everything(query);
        self.least(cycles)
    }

    /// Asks for everything on which the choice depends.
    fn ask_everything(&mut self, query: &mut dyn FnMut(StateQuery) -> i32) {
        for process in 0..self.here.len() {
            let moves = query(StateQuery::CanMove(process)) != 0;
            let waiting = if moves { &*self.location(process).waiting } else { &[] };
            let mut waits = 0;
            for (at, edge) in waiting.iter().enumerate() {
                if query(StateQuery::IsReady(process, edge.edge)) == 0 {
                    waits |= waiting_bit(at);
                }
            }
            (self.here[process].moves, self.here[process].waits) = (moves, waits);
        }
    }

    /// The set in which the fewest can move; `None` for everybody.
    fn least(&mut self, cycles: Cycles) -> Option<Vec<u8>> {
        let mut best: Option<Vec<u8>> = None;
        for start in (0..self.here.len()).rev() {
            if !self.here[start].moves {
                continue;
            }
            let most = best.as_ref().map_or(usize::MAX, Vec::len);
            if let Some(moving) = self.closure(start, most, cycles) {
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
    fn closure(&mut self, start: usize, most: usize, cycles: Cycles) -> Option<Vec<u8>> {
        let PersistentSets { here, processes, conflicts, .. } = self;
        let location = |at: &Here| &processes[at.number as usize].locations[at.location as usize];
        let is_barred = |at: &Here| {
            let location = location(at);
            location.seen || cycles == Cycles::InGraphs && location.goes_back
        };
        if is_barred(&here[start]) {
            return None;
        }
        let mut members = vec![start as u8];
        let mut others: Vec<u8> =
            (0..here.len() as u8).filter(|other| usize::from(*other) != start).collect();
        let mut moving = Vec::new();
        let mut next = 0;
        while let Some(member) = members.get(next).copied() {
            next += 1;
            let at = &here[usize::from(member)];
            let own = location(at);
            if at.moves {
                moving.push(member);
                if is_barred(at) || moving.len() >= most {
                    return None;
                }
            }
            let waits = (at.waits != 0).then(|| with_waits(own, at.waits));
            let access = waits.as_ref().unwrap_or(if at.moves { &own.step } else { &own.needs });
            // Nobody else can die before the newest does.
            let newest = here.len() - 1;
            let waits_for_death = usize::from(member) < newest && (own.ends || own.step.flags.ends);
            others.retain(|other| {
                let (number, other) = (usize::from(*other), &here[usize::from(*other)]);
                let future = &location(other).future;
                let dies = waits_for_death && (number == newest || at.moves && future.flags.ends);
                let conflict = || access.conflicts_with(future);
                let joins = dies
                    || match waits {
                        Some(_) => conflict(),
                        None => {
                            conflicts.between(2 * at.place + usize::from(at.moves), other.place, conflict)
                        }
                    };
                if joins {
                    members.push(number as u8);
                }
                !joins
            });
        }
        (!others.is_empty()).then_some(moving)
    }

    fn location(&self, process: usize) -> &LocationAccess {
        let Here { number, location, .. } = self.here[process];
        &self.processes[number as usize].locations[location as usize]
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
                    let mut process = self.facts.process(self.model, *code, known);
                    process.first_place = self.processes.last().map_or(0, Process::end);
                    self.processes.push(process);
                    let number = self.processes.len() as u32 - 1;
                    self.numbers.insert(key.clone(), number);
                    number
                }
            };
            self.key = std::mem::take(&mut key.2);
            let place = self.processes[number as usize].first_place + location.0 as usize;
            self.here.push(Here { number, location: location.0, place, moves: false, waits: 0 });
        }
    }
}
