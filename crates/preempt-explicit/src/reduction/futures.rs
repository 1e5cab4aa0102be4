//! What a process may do next, and what it may ever do, from each location of its code on: what persistent sets are computed
//! from. A future is a fixed point over the locations of a code (what is done there, and the futures of where that leads, and
//! of whatever is started there), computed once for each code, and once more for each process of which something is known.

use super::access::{Access, Bits};
use super::constants::{Channels as FixedChannels, Known, expr_with_known};
use super::exact::{back_edges, in_one_step, with_progress};
use super::step_access::{decides_by_waiting, front};
use preempt_model::{Code, CodeId, CodeKind, Command, Expr, Init, Model};
use std::collections::BTreeSet;

/// One process, as far as it is known what it uses.
#[derive(Debug, Clone)]
pub(super) struct Process {
    /// By location.
    pub locations: Vec<LocationAccess>,
    /// How many locations the processes before it have.
    pub first_place: usize,
}

impl Process {
    /// How many there are up to its last one.
    pub fn end(&self) -> usize {
        self.first_place + self.locations.len()
    }
}

#[derive(Debug, Clone)]
pub(super) struct LocationAccess {
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
pub(super) struct ModelFacts {
    pub fixed: FixedChannels,
    pub slots: usize,
    pub codes: usize,
    /// Those that exist from the beginning, by their numbers from 1 on; 0 stands for all others.
    pub channels: usize,
    /// The channels on which sender and receiver meet.
    pub rendezvous: Bits,
    /// The codes of which others see where their processes stand, or what they keep.
    pub observed: BTreeSet<u16>,
    /// Commands and futures of processes of which nothing is known, by code and location.
    pub edges: Vec<Vec<Vec<Access>>>,
    futures: Vec<Vec<Access>>,
    seen: Access,
    /// By code and location: may a step from there go back in the graph of its process, or of its receiver?
    goes_back: Vec<Vec<bool>>,
}

impl ModelFacts {
    /// `visible` is what an observer reads.
    pub fn new(model: &Model, visible: &[Expr]) -> ModelFacts {
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
        let mut facts = ModelFacts {
            fixed: FixedChannels::new(model),
            slots,
            codes,
            channels,
            rendezvous,
            observed: observed_codes(model, visible),
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
        let locations = steps.into_iter().zip(futures).enumerate().map(|(number, (step, future))| {
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
            LocationAccess { step, needs, waiting, ends, goes_back, seen, future }
        });
        Process { locations: locations.collect(), first_place: 0 }
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
}

/// Codes of processes, with their numbers.
pub(super) fn processes(model: &Model) -> impl Iterator<Item = (usize, &Code)> {
    model.codes.iter().enumerate().filter(|(_, code)| code.kind == CodeKind::Process)
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
fn observed_codes(model: &Model, visible: &[Expr]) -> BTreeSet<u16> {
    let mut found = BTreeSet::new();
    let mut look = |expr: &Expr| match expr {
        Expr::PcValue(_) => found.extend(0..model.codes.len() as u16),
        Expr::At { code, .. } | Expr::Remote { code, .. } => {
            found.insert(code.0);
        }
        Expr::NonProgress => found.extend(with_progress(model).map(|code| code.0)),
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
