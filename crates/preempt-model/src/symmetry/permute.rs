//! The check of the guess: a program is the same program after its processes have changed their places.
//!
//! Every expression is rewritten under generators of the group. Constants that stand for an identity are renamed; everything
//! else stays, and what must not be done with an identity is an error. Then what can be done at each location must be the
//! same set of commands. So `turn == 0` alone breaks the symmetry, but `cs[0] + cs[1] + cs[2] <= 1` does not, nor do three
//! alternatives that choose one of three processes.

use super::typing::{IdType, Kind, Typing};
use super::{reachable, runs};
use crate::Type;
use crate::command::{Block, BlockEdge, Command, Pattern};
use crate::expr::{BinaryOp, Expr, Index, Place, Scope};
use crate::program::{CodeId, CodeKind, Edge, Init, LocationId, TemplateId};
use preempt_core::{SourceId, Span};
use std::collections::BTreeSet;

/// What stands where an expression stands.
#[derive(Debug, Clone, Copy)]
enum Expected {
    /// A number.
    Plain,
    Id(IdType),
    /// It does not matter: it is only shown, or it is a channel.
    Anything,
}

/// Does every generator of the group leave the program as it is? If not, the reason.
pub fn verify(typing: &Typing<'_>) -> Result<(), String> {
    if typing.hides_identities() {
        return Err("a hidden variable holds their numbers".into());
    }
    let count = typing.count;
    let turn = |k: usize| (k + 1) % count;
    let swap = |k: usize| if k < 2 { 1 - k } else { k };
    let generators: &[&dyn Fn(usize) -> usize] = if typing.rotates { &[&turn] } else { &[&turn, &swap] };
    let mut started = BTreeSet::new();
    for generator in generators {
        for (number, code) in typing.model.codes.iter().enumerate() {
            let id = CodeId(number as u16);
            if code.kind == CodeKind::Observer {
                continue;
            }
            let permuting = Permuting { typing, code: id, generator: *generator };
            let starter =
                typing.starters.iter().find(|(pid, _)| typing.begun.processes[*pid].frames[0].code == id);
            let locations = match starter {
                Some((_, done)) => done.clone(),
                None => reachable(typing.model, id, [code.entry].into()),
            };
            for location in locations {
                permuting.location(location)?;
                for edge in &code.location(location).edges {
                    runs(&edge.command, &mut |code| {
                        started.insert(code.0);
                        false
                    });
                }
            }
            if let Some(provided) = &code.provided {
                permuting.is_the_same(provided, Expected::Plain)?;
            }
        }
        for code in &started {
            Permuting { typing, code: CodeId(*code), generator: *generator }.begins_the_same()?;
        }
        exclusives(typing, *generator)?;
    }
    Ok(())
}

fn exclusives(typing: &Typing<'_>, generator: &dyn Fn(usize) -> usize) -> Result<(), String> {
    let all = &typing.model.exclusives;
    let mut before: Vec<String> = Vec::new();
    let mut after: Vec<String> = Vec::new();
    for promise in all {
        let permuting = Permuting { typing, code: promise.code, generator };
        let show = |channel: &Expr| format!("{:?} {} {channel:?}", promise.code, promise.receive);
        before.push(show(&promise.channel));
        after.push(show(&permuting.expr(&promise.channel, Expected::Anything)?));
    }
    before.sort();
    after.sort();
    if before == after { Ok(()) } else { Err("one of them alone uses a channel".into()) }
}

struct Permuting<'a, 'm> {
    typing: &'a Typing<'m>,
    code: CodeId,
    generator: &'a dyn Fn(usize) -> usize,
}

impl Permuting<'_, '_> {
    /// The same can be done there.
    fn location(&self, location: LocationId) -> Result<(), String> {
        let edges = &self.typing.model.code(self.code).location(location).edges;
        let says = |why: String, edge: &Edge| match edge.text.is_empty() {
            true => why,
            false => format!("{why} in `{}`", edge.text.split_whitespace().collect::<Vec<_>>().join(" ")),
        };
        // The order decides what `else` means, and nothing more.
        let elses = |place: usize| edges[..place].iter().filter(|it| it.command == Command::Else).count();
        let show = |place: usize, edge: &Edge, command: &Command| {
            let command = self.normal_command(command);
            format!("{} {command:?} {:?} {} {:?}", elses(place), edge.target, edge.atomic, edge.escape)
        };
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for (place, edge) in edges.iter().enumerate() {
            let command = self.command(&edge.command).map_err(|why| says(why, edge))?;
            before.push(show(place, edge, &edge.command));
            after.push(show(place, edge, &command));
        }
        let first = before.iter().zip(edges).find(|(text, _)| !after.contains(text));
        let (mut before_sorted, mut after_sorted) = (before.clone(), after.clone());
        before_sorted.sort();
        after_sorted.sort();
        match first {
            _ if before_sorted == after_sorted => Ok(()),
            Some((_, edge)) => Err(says("one of them is meant by its number".into(), edge)),
            None => Err("one of them is meant by its number".into()),
        }
    }

    fn is_the_same(&self, expr: &Expr, expected: Expected) -> Result<(), String> {
        match self.normal(&self.expr(expr, expected)?) == self.normal(expr) {
            true => Ok(()),
            false => Err("one of them is meant by its number".into()),
        }
    }

    /// A process of this code may be started at any time, and its variables begin with what does not mean anybody.
    fn begins_the_same(&self) -> Result<(), String> {
        let code = self.typing.model.code(self.code);
        for slot in code.parameters.len() as u32..code.slots {
            let Some(id) = self.typing.slot(self.code, slot) else { continue };
            let value = code.init.iter().rev().find_map(|init| match init {
                Init::Set { slot: at, value, ty, .. } if *at == slot => Some(Some((value, *ty))),
                Init::Channel { slot: at, .. } if *at == slot => Some(None),
                _ => None,
            });
            match value {
                Some(Some((value, ty))) => {
                    self.stored_value(value, ty, Some(id))?;
                    self.is_the_same(value, Expected::Id(id))?;
                }
                None if id.index(0, self.typing.count).is_none() => {}
                _ => return Err(format!("a variable of {} begins with one of their numbers", code.name)),
            }
        }
        Ok(())
    }

    fn expr(&self, expr: &Expr, expected: Expected) -> Result<Expr, String> {
        self.fits(expr, expected)?;
        // What constants there mean follows from what is beside them.
        let expected = match (expected, self.typing.kind(expr, self.code)?) {
            (Expected::Anything, Kind::Id(id)) => Expected::Id(id),
            _ => expected,
        };
        if let Kind::Const(value) = self.typing.kind(expr, self.code)? {
            return Ok(Expr::Const(self.renamed(value, expected)));
        }
        let boxed = |expr: &Expr, expected| self.expr(expr, expected).map(Box::new);
        Ok(match expr {
            Expr::Const(value) => Expr::Const(self.renamed(*value, expected)),
            Expr::Load(place) => Expr::load(self.place(place)?),
            Expr::Unary(op, inner) => Expr::Unary(*op, boxed(inner, Expected::Plain)?),
            Expr::Binary(op, left, right) => {
                let (left_kind, right_kind) =
                    (self.typing.kind(left, self.code)?, self.typing.kind(right, self.code)?);
                let of = match (op, left_kind, right_kind) {
                    (BinaryOp::Eq | BinaryOp::Ne, Kind::Id(id), _)
                    | (BinaryOp::Eq | BinaryOp::Ne, _, Kind::Id(id)) => Expected::Id(id),
                    // An identity that is moved by a constant: the constant is a distance, not an identity.
                    (_, Kind::Id(_), _) | (_, _, Kind::Id(_)) => {
                        let inner = |expr: &Expr, kind| match kind {
                            Kind::Id(_) => boxed(expr, Expected::Anything),
                            _ => Ok(Box::new(expr.clone())),
                        };
                        return Ok(Expr::Binary(*op, inner(left, left_kind)?, inner(right, right_kind)?));
                    }
                    _ => Expected::Plain,
                };
                Expr::Binary(*op, boxed(left, of)?, boxed(right, of)?)
            }
            Expr::Conditional(condition, then, otherwise) => Expr::Conditional(
                boxed(condition, Expected::Plain)?,
                boxed(then, expected)?,
                boxed(otherwise, expected)?,
            ),
            Expr::Len(channel) => Expr::Len(boxed(channel, Expected::Anything)?),
            Expr::Probe(probe, channel) => Expr::Probe(*probe, boxed(channel, Expected::Anything)?),
            Expr::Poll { channel, random, pattern } => Expr::Poll {
                pattern: self.pattern(channel, pattern)?,
                channel: boxed(channel, Expected::Anything)?,
                random: *random,
            },
            Expr::Enabled(who) => Expr::Enabled(Box::new(self.who(who)?)),
            Expr::PcValue(who) => Expr::PcValue(Box::new(self.who(who)?)),
            Expr::At { code, pid, label } => {
                let pid = self.whose(*code, pid.as_deref())?;
                Expr::At { code: *code, pid, label: *label }
            }
            Expr::Remote { code, pid, place } => {
                if place.indices.iter().any(|index| !matches!(index.value, Expr::Const(_))) {
                    return Err("an array of another process is read".into());
                }
                let pid = self.whose(*code, pid.as_deref())?;
                let place = Box::new(Permuting { code: *code, ..*self }.place(place)?);
                Expr::Remote { code: *code, pid, place }
            }
            Expr::Priority(_) | Expr::LastPid => {
                return self.typing.kind(expr, self.code).map(|_| expr.clone());
            }
            Expr::Timeout
            | Expr::NonProgress
            | Expr::SelfPid
            | Expr::ProcessCount
            | Expr::Any { .. }
            | Expr::NewPid => expr.clone(),
        })
    }

    /// Is the expression of the kind that is expected?
    fn fits(&self, expr: &Expr, expected: Expected) -> Result<(), String> {
        let kind = self.typing.kind(expr, self.code)?;
        let count = self.typing.count;
        match (kind, expected) {
            (Kind::Id(_), Expected::Plain) => Err("their numbers are used as numbers".into()),
            (Kind::Id(found), Expected::Id(wanted)) if found != wanted => {
                Err("their numbers are written in two ways".into())
            }
            (Kind::Plain, Expected::Id(_)) => Err("a number is used as one of theirs".into()),
            (Kind::Other, Expected::Id(wanted)) if wanted != self.typing.pid() => {
                Err("numbers of other processes are used as theirs".into())
            }
            (Kind::Any(low, high), Expected::Id(id)) => {
                let all = id.stride == 1 && low <= id.offset && high >= id.value(count - 1);
                let none = (0..count).all(|k| id.value(k) < low || id.value(k) > high);
                if all || none { Ok(()) } else { Err("some of them are chosen from, not all".into()) }
            }
            _ => Ok(()),
        }
    }

    fn renamed(&self, value: i32, expected: Expected) -> i32 {
        match expected {
            Expected::Id(id) => {
                id.index(value, self.typing.count).map_or(value, |k| id.value((self.generator)(k)))
            }
            Expected::Plain | Expected::Anything => value,
        }
    }

    /// A process by its number, whoever it is.
    fn who(&self, expr: &Expr) -> Result<Expr, String> {
        self.expr(expr, Expected::Id(self.typing.pid()))
    }

    fn whose(&self, code: CodeId, pid: Option<&Expr>) -> Result<Option<Box<Expr>>, String> {
        match pid {
            Some(pid) => Ok(Some(Box::new(self.who(pid)?))),
            None if code == self.typing.code => Err("the first of them is asked".into()),
            None => Ok(None),
        }
    }

    fn place(&self, place: &Place) -> Result<Place, String> {
        let count = self.typing.count;
        if let Some(id) = self.typing.holds(place, self.code)
            && place.scope != Scope::Nowhere
            && [0, count - 1].into_iter().any(|k| place.ty.wrap(id.value(k)) != id.value(k))
        {
            return Err("a variable is too small for their numbers".into());
        }
        if !self.typing.is_even(place, self.code) {
            return Err("an array holds their numbers and others".into());
        }
        let reach = self.typing.reach(place);
        // An element that is meant by a constant is a slot of its own.
        let named = |slot: u32| {
            let label = self.typing.coordinates(place.scope, self.code, slot).iter().copied();
            label
                .filter(|axis| place.indices.iter().all(|index| index.stride != axis.stride))
                .collect::<Vec<_>>()
        };
        let by_name = named(reach[0].0);
        if reach.iter().any(|(slot, _)| named(*slot) != by_name) {
            return Err("some of them are meant by their numbers".into());
        }
        let moved = by_name
            .iter()
            .map(|axis| ((self.generator)(axis.index) as i64 - axis.index as i64) * i64::from(axis.stride));
        let slot = (i64::from(place.slot) + moved.sum::<i64>()) as u32;
        let mut indices = Vec::new();
        for index in &place.indices {
            let axis = reach.iter().find_map(|(slot, _)| {
                let label = self.typing.coordinates(place.scope, self.code, *slot);
                label.iter().find(|it| it.stride == index.stride).copied()
            });
            let expected = match axis {
                Some(axis) => Expected::Id(IdType { offset: axis.offset, stride: 1 }),
                None => Expected::Plain,
            };
            let value = self.expr(&index.value, expected)?;
            indices.push(Index { value, ..index.clone() });
        }
        Ok(Place { slot, indices, ..place.clone() })
    }

    /// A variable of this type keeps apart whom the value means, nobody included.
    fn keeps(&self, ty: Type, value: &Expr) -> bool {
        let kept = |value: i32| ty.wrap(value) == value;
        let wider = |from: Type| {
            let sign = i32::from(ty.signed != from.signed);
            (!from.signed || ty.signed) && i32::from(from.bits) + sign <= i32::from(ty.bits)
        };
        if let Ok(Kind::Const(value)) = self.typing.kind(value, self.code) {
            return kept(value);
        }
        match value {
            Expr::Const(value) => kept(*value),
            Expr::Load(place) | Expr::Remote { place, .. } => wider(place.ty),
            Expr::SelfPid | Expr::NewPid => kept(i32::from(u8::MAX)),
            Expr::Conditional(_, then, otherwise) => self.keeps(ty, then) && self.keeps(ty, otherwise),
            Expr::Any { low, high } => kept(*low) && kept(*high),
            // Who is nobody could become somebody by going round.
            other => self.typing.is_always_somebody(other, self.code),
        }
    }

    /// What is stored where one of the processes is meant, or nobody.
    fn stored_value(&self, value: &Expr, ty: Type, holds: Option<IdType>) -> Result<Expr, String> {
        let Some(id) = holds else { return self.expr(value, Expected::Plain) };
        let fits = [0, self.typing.count - 1].into_iter().all(|k| ty.wrap(id.value(k)) == id.value(k));
        match fits && self.keeps(ty, value) {
            true => self.expr(value, Expected::Id(id)),
            false => Err("their numbers may not fit a variable".into()),
        }
    }

    fn field(&self, template: TemplateId, number: usize) -> Result<Expected, String> {
        let Some(id) = self.typing.fields[usize::from(template.0)][number] else {
            return Ok(Expected::Plain);
        };
        let ty = self.typing.model.template(template).fields[number];
        match [0, self.typing.count - 1].into_iter().all(|k| ty.wrap(id.value(k)) == id.value(k)) {
            true => Ok(Expected::Id(id)),
            false => Err("a field of a message is too small for their numbers".into()),
        }
    }

    /// What must be true of an expression for every template that its channel can have.
    fn message(&self, channel: &Expr, fields: &[Expr]) -> Result<Vec<Expr>, String> {
        let mut permuted = fields.to_vec();
        for template in self.typing.templates(channel, self.code, fields.len()) {
            for (number, field) in
                fields.iter().enumerate().take(self.typing.fields[usize::from(template.0)].len())
            {
                let ty = self.typing.model.template(template).fields[number];
                let holds = self.typing.fields[usize::from(template.0)][number];
                permuted[number] = self.stored_value(field, ty, holds)?;
            }
        }
        Ok(permuted)
    }

    fn pattern(&self, channel: &Expr, pattern: &[Pattern]) -> Result<Vec<Pattern>, String> {
        let mut permuted = pattern.to_vec();
        for template in self.typing.templates(channel, self.code, pattern.len()) {
            for (number, part) in
                pattern.iter().enumerate().take(self.typing.fields[usize::from(template.0)].len())
            {
                let expected = self.field(template, number)?;
                permuted[number] = match part {
                    Pattern::Match(expr) => Pattern::Match(self.expr(expr, expected)?),
                    Pattern::Bind(place) => {
                        let holds = self.typing.holds(place, self.code);
                        let agrees = match expected {
                            Expected::Id(id) => holds == Some(id),
                            Expected::Plain | Expected::Anything => holds.is_none(),
                        };
                        if !agrees && place.scope != Scope::Nowhere {
                            return Err("a message holds their numbers in two ways".into());
                        }
                        let from = Place {
                            ty: self.typing.model.template(template).fields[number],
                            ..place.clone()
                        };
                        let is_id = matches!(expected, Expected::Id(_)) && place.scope != Scope::Nowhere;
                        if is_id && !self.keeps(place.ty, &Expr::load(from)) {
                            return Err("their numbers may not fit a variable".into());
                        }
                        Pattern::Bind(self.place(place)?)
                    }
                };
            }
        }
        Ok(permuted)
    }

    fn stored(&self, place: &Place, value: &Expr) -> Result<(Place, Expr), String> {
        let value = match place.scope {
            Scope::Nowhere => self.expr(value, Expected::Anything)?,
            _ => self.stored_value(value, place.ty, self.typing.holds(place, self.code))?,
        };
        Ok((self.place(place)?, value))
    }

    fn command(&self, command: &Command) -> Result<Command, String> {
        Ok(match command {
            Command::Guard(expr) => Command::Guard(self.expr(expr, Expected::Plain)?),
            Command::Assert(expr) => Command::Assert(self.expr(expr, Expected::Plain)?),
            Command::Else => Command::Else,
            Command::Assign(assignments) => {
                let permuted = assignments.iter().map(|(place, value)| self.stored(place, value));
                Command::Assign(permuted.collect::<Result<_, _>>()?)
            }
            // What is printed is not part of a state; only whether it has a value matters.
            Command::Print { args, .. } => {
                for arg in args.iter().filter(|arg| !self.never_fails(arg)) {
                    self.is_the_same(arg, Expected::Anything)?;
                }
                command.clone()
            }
            Command::Send { channel, sorted, fields } => {
                let templates = self.typing.templates(channel, self.code, fields.len());
                let named =
                    |it: &TemplateId| self.typing.fields[usize::from(it.0)].iter().any(Option::is_some);
                if *sorted && templates.iter().any(named) {
                    return Err("messages with their numbers are sorted".into());
                }
                let channel_permuted = self.expr(channel, Expected::Anything)?;
                Command::Send {
                    channel: channel_permuted,
                    sorted: *sorted,
                    fields: self.message(channel, fields)?,
                }
            }
            Command::Receive { channel, random, keep, pattern } => Command::Receive {
                pattern: self.pattern(channel, pattern)?,
                channel: self.expr(channel, Expected::Anything)?,
                random: *random,
                keep: *keep,
            },
            Command::Run { code, args, priority, result } => {
                let mut permuted = Vec::new();
                for (slot, arg) in args.iter().enumerate() {
                    let holds = self.typing.slot(*code, slot as u32);
                    let ty = self.typing.model.code(*code).parameters.get(slot).copied().unwrap_or(Type::INT);
                    permuted.push(self.stored_value(arg, ty, holds)?);
                }
                let stored = result.as_ref().map(|(place, value)| self.stored(place, value));
                Command::Run { code: *code, args: permuted, priority: *priority, result: stored.transpose()? }
            }
            Command::End => Command::End,
            Command::SetPriority { .. } => return Err("processes have priorities".into()),
            Command::Deterministic(block) => {
                let mut nodes = Vec::new();
                for node in &block.nodes {
                    let mut edges = Vec::new();
                    for edge in node {
                        let command = edge.command.as_ref().map(|it| self.command(it)).transpose()?;
                        edges.push(BlockEdge { command, ..edge.clone() });
                    }
                    nodes.push(edges);
                }
                Command::Deterministic(Box::new(Block { nodes }))
            }
            Command::Call { .. } | Command::Return(_) => return Err("there are procedures".into()),
        })
    }

    /// The command without what does not matter: where it stands, and the order of operands.
    fn normal_command(&self, command: &Command) -> Command {
        match command {
            Command::Guard(expr) => Command::Guard(self.normal(expr)),
            Command::Assert(expr) => Command::Assert(self.normal(expr)),
            Command::Assign(assignments) => {
                let mut normal: Vec<_> =
                    assignments.iter().map(|(place, value)| (place.clone(), self.normal(value))).collect();
                let never_fails = assignments.iter().all(|(place, value)| {
                    self.never_fails(&Expr::load(place.clone())) && self.never_fails(value)
                });
                // All values are computed first; different places can be assigned in any order.
                let targets: BTreeSet<String> =
                    normal.iter().map(|(place, _)| format!("{place:?}")).collect();
                let constant =
                    |place: &Place| place.indices.iter().all(|it| matches!(it.value, Expr::Const(_)));
                let apart = targets.len() == normal.len() && normal.iter().all(|(place, _)| constant(place));
                if never_fails && apart {
                    normal.sort_by_key(|pair| format!("{pair:?}"));
                }
                Command::Assign(normal)
            }
            Command::Deterministic(block) => {
                let nowhere = Span::new(SourceId(0), 0, 0);
                let edge = |edge: &BlockEdge| BlockEdge {
                    command: edge.command.as_ref().map(|it| self.normal_command(it)),
                    next: edge.next,
                    span: nowhere,
                    text: String::new(),
                };
                let nodes = block.nodes.iter().map(|node| node.iter().map(edge).collect()).collect();
                Command::Deterministic(Box::new(Block { nodes }))
            }
            other => other.clone(),
        }
    }

    /// Operands of what can be joined in any order, in one order.
    fn normal(&self, expr: &Expr) -> Expr {
        use BinaryOp::{Add, And, BitAnd, BitOr, BitXor, Eq, Mul, Ne, Or};
        match expr {
            _ if matches!(self.typing.kind(expr, self.code), Ok(Kind::Const(_))) => {
                self.expr(expr, Expected::Plain).unwrap_or_else(|_| expr.clone())
            }
            Expr::Binary(op @ (Add | Mul | BitAnd | BitOr | BitXor | And | Or), ..) => {
                let mut operands = Vec::new();
                operands_of(*op, expr, &mut operands);
                let mut normal: Vec<Expr> = operands.iter().map(|operand| self.normal(operand)).collect();
                if operands.iter().all(|operand| self.never_fails(operand)) {
                    normal.sort_by_key(|operand| format!("{operand:?}"));
                }
                let joined = normal.into_iter().reduce(|left, right| Expr::binary(*op, left, right));
                joined.unwrap_or_else(|| expr.clone())
            }
            Expr::Binary(op, left, right) => {
                let (mut left, mut right) = (self.normal(left), self.normal(right));
                let swaps = matches!(op, Eq | Ne) && self.never_fails(&left) && self.never_fails(&right);
                if swaps && format!("{left:?}") > format!("{right:?}") {
                    std::mem::swap(&mut left, &mut right);
                }
                Expr::binary(*op, left, right)
            }
            Expr::Unary(op, inner) => Expr::Unary(*op, Box::new(self.normal(inner))),
            Expr::Conditional(condition, then, otherwise) => Expr::Conditional(
                Box::new(self.normal(condition)),
                Box::new(self.normal(then)),
                Box::new(self.normal(otherwise)),
            ),
            other => other.clone(),
        }
    }

    /// Evaluating it has a value in every state, whatever was evaluated before.
    fn never_fails(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Const(_) | Expr::SelfPid | Expr::ProcessCount => true,
            Expr::Load(place) => place.indices.iter().all(|index| match &index.value {
                Expr::Const(at) => *at >= 0 && (*at as u32) < index.length,
                value => matches!(value, Expr::SelfPid) && self.code == self.typing.code,
            }),
            Expr::At { code, pid: Some(pid), .. } => match **pid {
                Expr::Const(pid) => {
                    *code == self.typing.code && self.typing.pid().index(pid, self.typing.count).is_some()
                }
                _ => false,
            },
            Expr::Unary(_, inner) => self.never_fails(inner),
            Expr::Binary(BinaryOp::Div | BinaryOp::Rem, ..) => false,
            Expr::Binary(_, left, right) => self.never_fails(left) && self.never_fails(right),
            _ => false,
        }
    }
}

fn operands_of<'e>(op: BinaryOp, expr: &'e Expr, found: &mut Vec<&'e Expr>) {
    match expr {
        Expr::Binary(inner, left, right) if *inner == op => {
            operands_of(op, left, found);
            operands_of(op, right, found);
        }
        other => found.push(other),
    }
}
