//! Processes that can be interchanged: which there are, and what of a state must be renamed with them.
//!
//! **What it computes.** For a row of processes of the same code, a *typing*: which variables, message fields and array
//! indices hold the identity of one of them. A permutation of the processes then acts on states: it moves their own
//! variables and the elements of arrays that are indexed by them, and renames every identity that is stored. Under a
//! typing that was *verified*, every permutation maps runs to runs: so of all states that are permutations of each other
//! a search needs one (Ip and Dill, *Better verification through symmetry*, 1996; Emerson and Sistla, *Symmetry and model
//! checking*, 1996).
//!
//! **Why it is right.** The typing is guessed ([`infer`]): numbers of processes, and parameters that number them, flow
//! along assignments, comparisons, messages and indices. What makes it sound is the check of the guess ([`permute`]): for
//! generators of the group, each constant that stands where an identity is expected is renamed, and what can be done at
//! each location must then be the same as before, up to the order of alternatives and of operands. By induction over
//! expressions, what a command does in the permuted state is the permuted outcome. Arithmetic, comparison by order and
//! whatever else depends on the number of a process is an error of the check, and its words are the reason that is shown.
//!
//! Nothing is asked of the initial state: two states that are permutations of each other have the same future, whether
//! both can be reached or not. What must hold is that the processes live for ever once they were started. Processes end
//! only when all that were started after them have ended, which tells them apart: so a code that can end has no symmetry.
//!
//! Identities may also be moved round in a circle only, by `(i + 1) % N`: then the rotations are the group.
//!
//! **What it costs.** A few passes over the program.

mod infer;
mod permute;
mod typing;

pub use typing::{Family, IdType};

use crate::interpreter::Machine;
use crate::program::{CodeId, CodeKind, LocationId};
use crate::search::stable::{Event, expand};
use crate::system::System;
use crate::{Command, Interpreter, Model};
use std::collections::BTreeSet;

/// Processes that can be interchanged, and where their identities are in a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interchangeable {
    /// The number of the first process; the others follow it.
    pub first: usize,
    /// How many there are.
    pub count: usize,
    /// What they execute.
    pub code: CodeId,
    /// Only in a circle: by how far each is moved is the same for all.
    pub rotates: bool,
    /// Processes that start them, and at which of their locations they are done with that.
    pub starters: Vec<(usize, BTreeSet<LocationId>)>,
    /// Parameters by which they know who they are. A state counts if each has its own.
    pub numbers: Vec<(u32, IdType)>,
    /// The global variables.
    pub globals: Vec<Family>,
    /// The variables of each code.
    pub locals: Vec<Vec<Family>>,
    /// What the fields of each template's messages hold.
    pub fields: Vec<Vec<Option<IdType>>>,
    /// Channels that belong to the processes: the numbers of each family.
    pub channels: Vec<IdType>,
}

/// What is known of the symmetry of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Symmetry {
    /// Each group for itself.
    pub groups: Vec<Interchangeable>,
    /// Processes of the same code that cannot be interchanged: the code's name, and why.
    pub broken: Vec<(String, String)>,
}

impl Symmetry {
    /// What of the model can be interchanged.
    pub fn of(interpreter: &Interpreter<'_>) -> Symmetry {
        let model = interpreter.model();
        let begun = begun(interpreter);
        let mut found = Symmetry::default();
        for (first, count, code) in rows(model, &begun) {
            match group(model, &begun, (first, count, code)) {
                Ok(group) => found.groups.push(group),
                Err(why) => found.broken.push((model.code(code).name.clone(), why)),
            }
        }
        found
    }
}

/// Neighbours of the same code.
fn rows(model: &Model, begun: &Machine) -> Vec<(usize, usize, CodeId)> {
    let codes: Vec<CodeId> = begun.processes.iter().map(|process| process.frames[0].code).collect();
    let mut found = Vec::new();
    let mut first = 0;
    for row in codes.chunk_by(|left, right| left == right) {
        if row.len() > 1 && model.code(row[0]).kind == CodeKind::Process {
            found.push((first, row.len(), row[0]));
        }
        first += row.len();
    }
    found
}

fn group(
    model: &Model,
    begun: &Machine,
    (first, count, code): (usize, usize, CodeId),
) -> Result<Interchangeable, String> {
    let starters = why_not_at_all(model, begun, (first, count, code))?;
    let attempt = |rotates| {
        let mut typing = typing::Typing::new(model, begun, (first, count, code), rotates, &starters);
        infer::infer(&mut typing)?;
        typing.lay_axes()?;
        permute::verify(&typing)?;
        Ok(Interchangeable {
            first,
            count,
            code,
            rotates,
            starters: starters.clone(),
            numbers: typing.numbers(),
            globals: typing.global_families(),
            locals: typing.local_families(),
            fields: typing.fields.clone(),
            channels: typing.channel_families()?,
        })
    };
    attempt(false).or_else(|why: String| attempt(true).map_err(|_: String| why))
}

/// What breaks every symmetry of these processes; else those who start them, with the locations at which they are done.
fn why_not_at_all(
    model: &Model,
    begun: &Machine,
    (first, count, code): (usize, usize, CodeId),
) -> Result<Vec<(usize, BTreeSet<LocationId>)>, String> {
    if model.has_priorities {
        return Err("processes have priorities".into());
    }
    if model.remembers_last {
        return Err("the model asks which process moved last".into());
    }
    if begun.processes.iter().any(|process| process.frames.len() > 1) || calls(model) {
        return Err("there are procedures".into());
    }
    if begun.processes.iter().filter(|process| process.frames[0].code == code).count() > count {
        return Err("others are started between them".into());
    }
    let own = reachable(model, code, [model.code(code).entry].into());
    if edges_at(model, code, &own).any(|command| matches!(command, Command::End)) {
        return Err("they end, and they can end in the order of their numbers only".into());
    }
    let mut starters = Vec::new();
    for (number, starter) in model.codes.iter().enumerate() {
        let id = CodeId(number as u16);
        let all: BTreeSet<_> = (0..starter.locations.len() as u32).map(LocationId).collect();
        let starts = |command: &Command| runs(command, &mut |started| started == code);
        if starter.kind == CodeKind::Observer || !edges_at(model, id, &all).any(starts) {
            continue;
        }
        let mut of_it = begun.processes.iter().enumerate().filter(|(_, it)| it.frames[0].code == id);
        let may_be_started = model.edges().any(|edge| runs(&edge.command, &mut |started| started == id));
        let (Some((pid, _)), None, false) = (of_it.next(), of_it.next(), may_be_started) else {
            return Err(format!("{} may start another one at any time", starter.name));
        };
        let done = all.into_iter().filter(|from| {
            let later = reachable(model, id, [*from].into());
            !edges_at(model, id, &later).any(starts)
        });
        if pid >= first && pid < first + count {
            return Err("they start each other".into());
        }
        starters.push((pid, done.collect()));
    }
    Ok(starters)
}

fn calls(model: &Model) -> bool {
    model.edges().any(|edge| matches!(edge.command, Command::Call { .. } | Command::Return(_)))
}

/// Does the command start such a code?
fn runs(command: &Command, is_it: &mut dyn FnMut(CodeId) -> bool) -> bool {
    match command {
        Command::Run { code, .. } => is_it(*code),
        Command::Deterministic(block) => {
            block.nodes.iter().flatten().filter_map(|edge| edge.command.as_ref()).any(|it| runs(it, is_it))
        }
        _ => false,
    }
}

fn edges_at<'m>(
    model: &'m Model,
    code: CodeId,
    at: &BTreeSet<LocationId>,
) -> impl Iterator<Item = &'m Command> {
    let at: Vec<LocationId> = at.iter().copied().collect();
    let edges = at.into_iter().flat_map(move |location| &model.code(code).location(location).edges);
    edges.map(|edge| &edge.command)
}

/// Where a process of the code can come to from these locations.
fn reachable(model: &Model, code: CodeId, from: BTreeSet<LocationId>) -> BTreeSet<LocationId> {
    let mut waiting: Vec<LocationId> = from.iter().copied().collect();
    let mut found = from;
    while let Some(location) = waiting.pop() {
        let Some(location) = model.code(code).locations.get(location.0 as usize) else { continue };
        for edge in &location.edges {
            if (edge.target.0 as usize) < model.code(code).locations.len() && found.insert(edge.target) {
                waiting.push(edge.target);
            }
        }
    }
    found
}

/// At most so many steps are made to start processes.
const STARTING_STEPS: usize = 2_000;

/// The state in which those are started who are started first: as long as somebody who may start others can do only one
/// thing. It is looked at for a guess only.
fn begun(interpreter: &Interpreter<'_>) -> Machine {
    let model = interpreter.model();
    let mut state = interpreter.initial_states().swap_remove(0);
    for _ in 0..STARTING_STEPS {
        let may_start = |process: &usize| {
            interpreter.place_of(&state, *process).is_some_and(|(code, location)| {
                let later = reachable(model, code, [location].into());
                edges_at(model, code, &later).any(|command| runs(command, &mut |_| true))
            })
        };
        let Some(starter) = (0..state.process_count()).find(may_start) else { break };
        let mut next = Vec::new();
        expand(interpreter, &state, starter, |event| match event {
            Event::Arrival { state, .. } => next.push(state),
            Event::Violation { .. } => {}
        });
        let [only] = next.as_slice() else { break };
        state = only.clone();
    }
    interpreter.open(&state)
}
