//! Spin's static optimisations, as a change of the model before the search: what is found in the changed model is found in
//! the model.
//!
//! *Dead variables*: a local that is assigned to before it is read again is set to zero as soon as that is certain, so
//! that states which differ only in it become one. The graph stays what it is: every run keeps its steps, its
//! preemptions and its verdict. (There may be a few states more where a variable begins with another value than zero and
//! is dead from the beginning.)
//!
//! *Private steps are merged*: an edge to a place from which the exact reduction lets a process run on alone
//! ([`PrivateLocations`]) becomes part of an atomic sequence, so that the place itself is no state any more. By the same
//! argument as there, verdict and fewest preemptions stay what they are, and steps may be added.
//!
//! Edges keep their numbers, so a run of the changed model is replayed by executing its edges in the model itself.

use super::assigned::assigned_places;
use super::exact::PrivateLocations;
use preempt_model::command::{Block, BlockEdge, Command};
use preempt_model::{Code, CodeId, CodeKind, Edge, Expr, Footprint, LocationId, Model, Place, Scope, Type};
use std::collections::BTreeSet;

/// The model with its dead variables reset and its private steps merged.
pub fn simplified(model: &Model) -> Model {
    let mut changed = model.clone();
    // Results of calls are written on the way back, by nobody's command.
    let calls = |command: &Command| matches!(command, Command::Call { .. } | Command::Return(_));
    if model.edges().any(|edge| calls(&edge.command)) {
        return changed;
    }
    let private = PrivateLocations::new(model);
    let looked_into = looked_into(model);
    for (number, code) in changed.codes.iter_mut().enumerate() {
        let id = CodeId(number as u16);
        if code.kind != CodeKind::Process {
            continue;
        }
        if !looked_into.contains(&id) {
            reset_dead(model, id, code);
        }
        for edge in code.locations.iter_mut().flat_map(|location| &mut location.edges) {
            edge.atomic |= edge.command != Command::End && private.contains(id, edge.target);
        }
    }
    changed
}

/// The codes whose locals others read.
fn looked_into(model: &Model) -> BTreeSet<CodeId> {
    let mut found = BTreeSet::new();
    let mut look = |expr: &Expr| {
        if let Expr::Remote { code, .. } = expr {
            found.insert(*code);
        }
    };
    model.edges().for_each(|edge| edge.command.visit(&mut look));
    model.codes.iter().filter_map(|code| code.provided.as_ref()).for_each(|clause| clause.visit(&mut look));
    found
}

type Locals = BTreeSet<u32>;

/// Adds to each edge that what dies on it is set to zero.
fn reset_dead(model: &Model, id: CodeId, code: &mut Code) {
    let original = model.code(id);
    let mut assigned = Locals::new();
    for edge in original.locations.iter().flat_map(|location| &location.edges) {
        assigned_places(&edge.command, &mut |place| {
            if place.scope == Scope::Local {
                assigned.extend(place.range());
            }
        });
    }
    let live = live(model, id);
    for (at, location) in code.locations.iter_mut().enumerate() {
        for edge in &mut location.edges {
            let footprint = Footprint::of_own_side(model, &edge.command);
            let touched = locals(&footprint.may_write.0);
            let dies = live[at]
                .union(&touched)
                .filter(|slot| assigned.contains(slot) && !live[edge.target.0 as usize].contains(slot));
            let zeros: Vec<_> = dies
                .filter_map(|slot| {
                    Some((Place::scalar(Scope::Local, *slot, type_of(original, *slot)?), Expr::Const(0)))
                })
                .collect();
            // Nothing can be done in the same step as the first half of a rendezvous.
            if !zeros.is_empty() && !footprint.sends.any(model, |capacity| capacity == 0) {
                followed_by(edge, zeros);
            }
        }
    }
}

fn locals(slots: &BTreeSet<(Scope, u32)>) -> Locals {
    slots.iter().filter(|(scope, _)| *scope == Scope::Local).map(|(_, slot)| *slot).collect()
}

/// By location: the locals that may be read before they are assigned to.
fn live(model: &Model, id: CodeId) -> Vec<Locals> {
    let code = model.code(id);
    let footprints: Vec<Vec<_>> = code
        .locations
        .iter()
        .map(|location| {
            let of = |edge: &Edge| {
                let footprint = Footprint::of_own_side(model, &edge.command);
                (edge.target, locals(&footprint.may_read.0), locals(&footprint.must_write.0))
            };
            location.edges.iter().map(of).collect()
        })
        .collect();
    // What holds the process back, and what it promises, is read everywhere.
    let mut always = Locals::new();
    let promises = model.exclusives.iter().filter(|promise| promise.code == id);
    for expr in code.provided.iter().chain(promises.map(|promise| &promise.channel)) {
        always.extend(locals(&Footprint::of_own_side(model, &Command::Guard(expr.clone())).may_read.0));
    }
    let mut live = vec![always; code.locations.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for at in (0..code.locations.len()).rev() {
            for (LocationId(target), reads, writes) in &footprints[at] {
                let later = live[*target as usize].difference(writes).copied();
                let all: Locals = reads.iter().copied().chain(later).collect();
                let before = live[at].len();
                live[at].extend(all);
                changed |= live[at].len() > before;
            }
        }
    }
    live
}

fn type_of(code: &Code, slot: u32) -> Option<Type> {
    let holds = |from: u32, length: Option<u32>| (from..from + length.unwrap_or(1)).contains(&slot);
    let variable = code.variables.iter().find(|variable| holds(variable.slot, variable.length));
    variable.map(|variable| variable.ty).or_else(|| code.parameters.get(slot as usize).copied())
}

/// In the same step, after the command.
fn followed_by(edge: &mut Edge, zeros: Vec<(Place, Expr)>) {
    let command = std::mem::replace(&mut edge.command, Command::SKIP);
    let then = |command: Command, next: Option<usize>| BlockEdge {
        command: Some(command),
        next,
        span: edge.span,
        text: edge.text.clone(),
    };
    edge.command = match command {
        Command::Assign(mut assignments) => {
            assignments.extend(zeros);
            Command::Assign(assignments)
        }
        Command::Deterministic(mut block) => {
            let end = block.nodes.len();
            for inner in block.nodes.iter_mut().flatten() {
                inner.next = inner.next.or(Some(end));
            }
            block.nodes.push(vec![then(Command::Assign(zeros), None)]);
            Command::Deterministic(block)
        }
        command @ (Command::Guard(_)
        | Command::Else
        | Command::Assert(_)
        | Command::Print { .. }
        | Command::Send { .. }
        | Command::Receive { .. }) => Command::Deterministic(Box::new(Block {
            nodes: vec![vec![then(command, Some(1))], vec![then(Command::Assign(zeros), None)]],
        })),
        other => other,
    };
}
