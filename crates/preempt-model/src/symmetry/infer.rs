//! The guess: identities flow along assignments, comparisons, messages, arguments and indices.

use super::typing::{IdType, Kind, Slot, Typing};
use crate::command::{Command, Pattern};
use crate::expr::{BinaryOp, Expr, Place, Scope};
use crate::program::{CodeId, Init};
use crate::{Index, Model};
use std::collections::{BTreeMap, BTreeSet};

/// Passes over the program; each but the last finds something new.
const MOST_PASSES: usize = 64;

/// Every code with its number.
fn codes(model: &Model) -> impl Iterator<Item = (CodeId, &crate::Code)> {
    model.codes.iter().enumerate().map(|(number, code)| (CodeId(number as u16), code))
}

/// Calls `visit` for the command and every command inside it.
fn each_command<'m>(command: &'m Command, visit: &mut dyn FnMut(&'m Command)) {
    visit(command);
    if let Command::Deterministic(block) = command {
        let inner = block.nodes.iter().flatten().filter_map(|edge| edge.command.as_ref());
        inner.for_each(|command| each_command(command, visit));
    }
}

/// Where commands store to.
fn targets(command: &Command) -> Vec<&Place> {
    match command {
        Command::Assign(assignments) => assignments.iter().map(|(place, _)| place).collect(),
        Command::Receive { pattern, .. } => pattern
            .iter()
            .filter_map(|part| match part {
                Pattern::Bind(place) => Some(place),
                Pattern::Match(_) => None,
            })
            .collect(),
        Command::Run { result: Some((place, _)), .. } => vec![place],
        _ => Vec::new(),
    }
}

fn commands(model: &Model) -> Vec<(CodeId, &Command)> {
    let mut found = Vec::new();
    for (id, code) in codes(model) {
        for edge in code.locations.iter().flat_map(|location| &location.edges) {
            each_command(&edge.command, &mut |command| found.push((id, command)));
        }
    }
    found
}

/// Every expression with the code that evaluates it, those inside others included.
fn expressions(model: &Model) -> Vec<(CodeId, &Expr)> {
    let mut found = Vec::new();
    for (id, code) in codes(model) {
        code.visit(&mut |expr| found.push((id, expr)));
    }
    for promise in &model.exclusives {
        promise.channel.visit(&mut |expr| found.push((promise.code, expr)));
    }
    found
}

/// Every place that is read or written, with the code whose locals and numbers it means. A variable of another process
/// belongs to that one's code; its indices are evaluated by whoever looks, so they must not be identities.
pub fn places(model: &Model) -> Vec<(CodeId, &Place)> {
    let mut found: Vec<(CodeId, &Place)> = Vec::new();
    for (code, command) in commands(model) {
        found.extend(targets(command).into_iter().map(|place| (code, place)));
    }
    for (code, expr) in expressions(model) {
        match expr {
            Expr::Load(place) => found.push((code, place)),
            Expr::Remote { code, place, .. } => found.push((*code, place)),
            Expr::Poll { pattern, .. } => found.extend(pattern.iter().filter_map(|part| match part {
                Pattern::Bind(place) => Some((code, place)),
                Pattern::Match(_) => None,
            })),
            _ => {}
        }
    }
    found
}

/// The slots that commands store to.
pub fn assigned(model: &Model) -> BTreeSet<Slot> {
    let mut found = BTreeSet::new();
    for (code, command) in commands(model) {
        for place in targets(command) {
            let owner = if place.scope == Scope::Local { code.0 } else { 0 };
            found.extend(place.range().map(|slot| (place.scope, owner, slot)));
        }
    }
    found
}

/// Finds out what holds identities. What it finds is verified afterwards.
pub fn infer(typing: &mut Typing<'_>) -> Result<(), String> {
    let model = typing.model;
    for _ in 0..MOST_PASSES {
        let mut news = false;
        for (code, command) in commands(model) {
            news |= follow(typing, code, command)?;
        }
        for (id, code) in codes(model) {
            for init in &code.init {
                if let Init::Set { hidden: false, slot, ty, value } = init {
                    let place = Place::scalar(Scope::Local, *slot, *ty);
                    news |= same(typing, id, &place, value)?;
                }
            }
        }
        for (code, expr) in expressions(model) {
            news |= compare(typing, code, expr)?;
        }
        for (code, place) in places(model) {
            if let Some(id) = typing.holds(place, code) {
                news |= typing.set(place, code, id)?;
            }
        }
        news |= indices(typing)?;
        if !news {
            return Ok(());
        }
    }
    Err("what holds their numbers is not clear".into())
}

/// What is stored in a place is of the same kind.
fn same(typing: &mut Typing<'_>, code: CodeId, place: &Place, value: &Expr) -> Result<bool, String> {
    let mut news = false;
    if let Ok(Kind::Id(id)) = typing.kind(value, code) {
        news |= typing.set(place, code, id)?;
    }
    if let Some(id) = typing.holds(place, code) {
        news |= expect(typing, code, value, id)?;
    }
    Ok(news)
}

/// The expression must be of this kind: so what is it made of?
fn expect(typing: &mut Typing<'_>, code: CodeId, expr: &Expr, id: IdType) -> Result<bool, String> {
    let shifted = |by: i32| IdType { offset: id.offset.wrapping_add(by), ..id };
    match expr {
        Expr::Load(place) => typing.set(place, code, id),
        Expr::Remote { code, place, .. } => typing.set(place, *code, id),
        Expr::Conditional(_, then, otherwise) => {
            Ok(expect(typing, code, then, id)? | expect(typing, code, otherwise, id)?)
        }
        Expr::Binary(op, left, right) => match (op, &**left, &**right) {
            (BinaryOp::Add, inner, Expr::Const(by)) | (BinaryOp::Add, Expr::Const(by), inner) => {
                expect(typing, code, inner, shifted(by.wrapping_neg()))
            }
            (BinaryOp::Sub, inner, Expr::Const(by)) => expect(typing, code, inner, shifted(*by)),
            _ => Ok(false),
        },
        _ => Ok(false),
    }
}

fn compare(typing: &mut Typing<'_>, code: CodeId, expr: &Expr) -> Result<bool, String> {
    let pid = typing.pid();
    match expr {
        Expr::Binary(BinaryOp::Eq | BinaryOp::Ne, left, right) => {
            let mut news = false;
            if let Ok(Kind::Id(id)) = typing.kind(left, code) {
                news |= expect(typing, code, right, id)?;
            }
            if let Ok(Kind::Id(id)) = typing.kind(right, code) {
                news |= expect(typing, code, left, id)?;
            }
            Ok(news)
        }
        Expr::Enabled(who) | Expr::PcValue(who) => expect(typing, code, who, pid),
        Expr::At { code: of, pid: Some(who), .. } | Expr::Remote { code: of, pid: Some(who), .. }
            if *of == typing.code =>
        {
            expect(typing, code, who, pid)
        }
        Expr::Poll { channel, pattern, .. } => message(typing, code, channel, pattern),
        Expr::Load(place) => match typing.channels_of(place, code) {
            Some(id) => typing.set(place, code, id),
            None => Ok(false),
        },
        _ => Ok(false),
    }
}

fn message(
    typing: &mut Typing<'_>,
    code: CodeId,
    channel: &Expr,
    pattern: &[Pattern],
) -> Result<bool, String> {
    let mut news = false;
    for template in typing.templates(channel, code, pattern.len()) {
        for (field, part) in pattern.iter().enumerate() {
            news |= match part {
                Pattern::Match(expr) => in_field(typing, code, (template.0, field), expr)?,
                Pattern::Bind(place) => {
                    let place_holds = typing.holds(place, code).filter(|_| place.scope != Scope::Nowhere);
                    let found = typing.fields[usize::from(template.0)][field];
                    let mut news = false;
                    if let Some(id) = place_holds {
                        news |= set_field(typing, (template.0, field), id)?;
                    }
                    if let Some(id) = found {
                        news |= typing.set(place, code, id)?;
                    }
                    news
                }
            };
        }
    }
    Ok(news)
}

fn in_field(typing: &mut Typing<'_>, code: CodeId, field: (u16, usize), expr: &Expr) -> Result<bool, String> {
    let mut news = false;
    if let Ok(Kind::Id(id)) = typing.kind(expr, code) {
        news |= set_field(typing, field, id)?;
    }
    if let Some(id) = typing.fields[usize::from(field.0)][field.1] {
        news |= expect(typing, code, expr, id)?;
    }
    Ok(news)
}

fn set_field(typing: &mut Typing<'_>, (template, field): (u16, usize), id: IdType) -> Result<bool, String> {
    let known = &mut typing.fields[usize::from(template)][field];
    match *known {
        None => {
            *known = Some(id);
            Ok(true)
        }
        Some(known) if known == id => Ok(false),
        Some(_) => Err("a message holds their numbers in two ways".into()),
    }
}

fn follow(typing: &mut Typing<'_>, code: CodeId, command: &Command) -> Result<bool, String> {
    let mut news = false;
    match command {
        Command::Assign(assignments) => {
            for (place, value) in assignments {
                news |= same(typing, code, place, value)?;
            }
        }
        Command::Send { channel, fields, .. } => {
            for template in typing.templates(channel, code, fields.len()) {
                for (number, field) in fields.iter().enumerate() {
                    news |= in_field(typing, code, (template.0, number), field)?;
                }
            }
        }
        Command::Receive { channel, pattern, .. } => news |= message(typing, code, channel, pattern)?,
        Command::Run { code: started, args, .. } => {
            for (slot, arg) in args.iter().enumerate() {
                let slot = slot as u32;
                if let Some(id) = typing.slot(*started, slot) {
                    news |= *started != typing.code && expect(typing, code, arg, id)?;
                } else if let Ok(Kind::Id(id)) = typing.kind(arg, code) {
                    news |= typing.set_slot((Scope::Local, started.0, slot), id)?;
                }
            }
        }
        _ => {}
    }
    Ok(news)
}

/// What indexes an array that identities index elsewhere is one.
fn indices(typing: &mut Typing<'_>) -> Result<bool, String> {
    let model = typing.model;
    let key = |code: CodeId, place: &Place, index: &Index| {
        let owner = if place.scope == Scope::Local { code.0 } else { 0 };
        (place.scope, owner, place.slot, index.stride)
    };
    let mut known: BTreeMap<(Scope, u16, u32, u32), IdType> = BTreeMap::new();
    let all = places(model);
    for (code, place) in &all {
        for index in &place.indices {
            if let Ok(Kind::Id(id)) = typing.kind(&index.value, *code) {
                known.insert(key(*code, place, index), id);
            }
        }
    }
    let mut news = false;
    for (code, place) in &all {
        for index in &place.indices {
            if let Some(id) = known.get(&key(*code, place, index)) {
                news |= expect(typing, *code, &index.value, *id)?;
            }
        }
    }
    Ok(news)
}
