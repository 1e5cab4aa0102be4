//! Variables without an initial value begin with any value: steps at the beginning choose one. Not for variables that
//! are written before they are read, because every choice doubles the states of an engine that counts them one by one.

use preempt_core::{Budget, Span};
use preempt_model::{
    Code, Command, Edge, Expr, Init, Location, LocationId, Model, Place, Scope, Start, Type,
};
use std::collections::BTreeSet;

/// So many values are chosen in one step: 2 to this power are its outcomes.
const AT_ONCE: usize = 6;

/// `begin_with`: slots with the value that they begin with, `None` for any. `atomic`: called within an atomic block. If the budget is
/// exhausted afterwards, the code is not whole.
pub fn of_locals(code: &mut Code, begin_with: &[(u32, Option<bool>)], atomic: bool, budget: &Budget) {
    let live = live_locals(code, budget);
    forget_useless_choices(code, &live);
    let mut any = Vec::new();
    for (slot, value) in begin_with {
        match value {
            Some(value) => {
                let value = Expr::Const(i32::from(*value));
                code.init.push(Init::Set { hidden: false, slot: *slot, ty: Type::BOOL, value });
            }
            None if live[code.entry.0 as usize].contains(slot) => any.push(*slot),
            None => {}
        }
    }
    let chosen = any.iter().map(|slot| choice(Scope::Local, *slot, &code.variables)).collect();
    choose_first(code, chosen, atomic);
}

/// The first process chooses for all.
pub fn of_globals(model: &mut Model, slots: &[u32]) {
    let Some(first) = model.start.first().map(|start| start.code) else { return };
    let written = written_first(model.code(first));
    let chosen: Vec<_> = slots
        .iter()
        .filter(|slot| !written.contains(slot))
        .map(|slot| choice(Scope::Global, *slot, &model.globals))
        .collect();
    if chosen.is_empty() {
        return;
    }
    let mut code = model.code(first).clone();
    choose_first(&mut code, chosen, false);
    // If `main` is started once more, the values are no longer any.
    let again = model.edges().any(|edge| matches!(edge.command, Command::Run { code, .. } if code == first));
    if again {
        let id = preempt_model::CodeId(model.codes.len() as u16);
        model.codes.push(code);
        model.start = vec![Start { code: id, priority: 1 }];
    } else {
        model.codes[usize::from(first.0)] = code;
    }
}

struct Choice {
    place: Place,
    name: String,
    span: Span,
}

fn choice(scope: Scope, slot: u32, variables: &[preempt_model::Variable]) -> Choice {
    let variable = variables.iter().find(|variable| variable.slot == slot);
    let name = variable.map_or(String::new(), |variable| variable.name.clone());
    let span = variable.map_or(Span::new(preempt_core::SourceId(0), 0, 0), |variable| variable.span);
    Choice { place: Place::scalar(scope, slot, Type::BOOL), name, span }
}

/// Puts steps before the entry.
fn choose_first(code: &mut Code, choices: Vec<Choice>, atomic: bool) {
    for chunk in choices.rchunks(AT_ONCE) {
        let Some(first) = chunk.first() else { continue };
        let names: Vec<&str> = chunk.iter().map(|choice| choice.name.as_str()).collect();
        let any = chunk.iter().map(|choice| (choice.place.clone(), Expr::Any { low: 0, high: 1 }));
        let edge = Edge {
            command: Command::Assign(any.collect()),
            target: code.entry,
            atomic,
            escape: None,
            span: first.span,
            text: format!("decl {}", names.join(", ")),
        };
        let number = code.locations.len() as u32;
        code.locations.push(Location { number, edges: vec![edge], end: true, ..Location::default() });
        code.entry = LocationId(number);
    }
}

/// Globals that the first steps of a code write before anybody can read them.
fn written_first(code: &Code) -> BTreeSet<u32> {
    let (mut written, mut read) = (BTreeSet::new(), BTreeSet::new());
    let mut at = code.entry;
    for _ in 0..code.locations.len() {
        let [edge] = code.location(at).edges.as_slice() else { break };
        let Command::Assign(assignments) = &edge.command else { break };
        edge.command.visit(&mut |expr| {
            if let Expr::Load(place) = expr
                && place.scope == Scope::Global
                && !written.contains(&place.slot)
            {
                read.insert(place.slot);
            }
        });
        let targets = assignments.iter().map(|(place, _)| place).filter(|place| place.scope == Scope::Global);
        written.extend(targets.map(|place| place.slot).filter(|slot| !read.contains(slot)));
        at = edge.target;
    }
    written
}

/// For every location the locals whose value may still be read.
fn live_locals(code: &Code, budget: &Budget) -> Vec<BTreeSet<u32>> {
    let mut live = vec![BTreeSet::new(); code.locations.len()];
    loop {
        let mut changed = false;
        for (number, location) in code.locations.iter().enumerate().rev() {
            if budget.exhausted().is_some() {
                return live;
            }
            for edge in &location.edges {
                let mut before = match edge.command {
                    // What is live in the caller is the caller's.
                    Command::Return(_) => BTreeSet::new(),
                    _ => live[edge.target.0 as usize].clone(),
                };
                written(&edge.command).for_each(|slot| {
                    before.remove(&slot);
                });
                edge.command.visit(&mut |expr| {
                    if let Expr::Load(place) = expr
                        && place.scope == Scope::Local
                    {
                        before.extend(place.range());
                    }
                });
                let known = live[number].len();
                live[number].append(&mut before);
                changed |= live[number].len() > known;
            }
        }
        if !changed {
            return live;
        }
    }
}

fn written(command: &Command) -> impl Iterator<Item = u32> {
    let (assigned, results) = match command {
        Command::Assign(assignments) => (assignments.as_slice(), [].as_slice()),
        Command::Call { results, .. } => ([].as_slice(), results.as_slice()),
        _ => ([].as_slice(), [].as_slice()),
    };
    let places = assigned.iter().map(|(place, _)| place).chain(results);
    places.filter(|place| place.scope == Scope::Local && place.indices.is_empty()).map(|place| place.slot)
}

/// A choice for a local that nobody will read is none.
fn forget_useless_choices(code: &mut Code, live: &[BTreeSet<u32>]) {
    for edge in code.locations.iter_mut().flat_map(|location| &mut location.edges) {
        if let Command::Assign(assignments) = &mut edge.command {
            for (place, value) in assignments {
                let read = live[edge.target.0 as usize].contains(&place.slot);
                if place.scope == Scope::Local && !read && matches!(value, Expr::Any { .. }) {
                    *value = Expr::Const(0);
                }
            }
        }
    }
}
