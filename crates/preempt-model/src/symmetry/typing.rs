//! Which slots hold identities, and which arrays are indexed by them.

use super::infer::assigned;
use crate::expr::{BinaryOp, Expr, Place, Scope};
use crate::interpreter::Machine;
use crate::program::{CodeId, Init, LocationId, TemplateId};
use crate::{Model, ValueKind};
use std::collections::{BTreeMap, BTreeSet};

/// How an identity is written as a number: the `k`-th process is `offset + stride * k`. Other numbers mean nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IdType {
    /// Of the first process.
    pub offset: i32,
    /// From one to the next.
    pub stride: i32,
}

impl IdType {
    /// Which of so many processes the number means.
    pub fn index(self, value: i32, count: usize) -> Option<usize> {
        let distance = i64::from(value) - i64::from(self.offset);
        let stride = i64::from(self.stride);
        let index = distance / stride;
        (distance >= 0 && distance % stride == 0 && index < count as i64).then_some(index as usize)
    }

    /// How the `k`-th process is written.
    pub fn value(self, index: usize) -> i32 {
        self.offset.wrapping_add(self.stride.wrapping_mul(index as i32))
    }

    fn shifted(self, by: i32) -> IdType {
        IdType { offset: self.offset.wrapping_add(by), ..self }
    }
}

/// Slots that are moved together: one for each process (one axis), for each two of them (two), or just one (none).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Family {
    /// The slot of the first process.
    pub origin: u32,
    /// By how many slots each axis moves.
    pub axes: Vec<u32>,
    /// What the slots hold.
    pub holds: Option<IdType>,
}

/// A slot by whose it is: of the globals, of what is hidden, or of a code.
pub(super) type Slot = (Scope, u16, u32);

/// An axis of an array: how far apart its elements are, which index is the first process, and which process this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Coordinate {
    pub stride: u32,
    pub offset: i32,
    pub index: usize,
}

/// What an expression's value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A number that has nothing to do with identities.
    Plain,
    Id(IdType),
    Const(i32),
    /// One of several constants.
    Consts,
    /// The number of a process that is never renamed.
    Other,
    Any(i32, i32),
}

pub(super) struct Typing<'m> {
    pub model: &'m Model,
    pub begun: &'m Machine,
    pub first: usize,
    pub count: usize,
    pub code: CodeId,
    pub rotates: bool,
    pub starters: &'m [(usize, BTreeSet<LocationId>)],
    slots: BTreeMap<Slot, IdType>,
    pub fields: Vec<Vec<Option<IdType>>>,
    /// Of the arrays that are indexed by identities.
    axes: BTreeMap<Slot, Vec<Coordinate>>,
    assigned: BTreeSet<Slot>,
}

/// An array of more elements is not for identities.
const MOST_SLOTS: usize = 4096;

impl<'m> Typing<'m> {
    pub fn new(
        model: &'m Model,
        begun: &'m Machine,
        (first, count, code): (usize, usize, CodeId),
        rotates: bool,
        starters: &'m [(usize, BTreeSet<LocationId>)],
    ) -> Typing<'m> {
        let fields = model.templates.iter().map(|it| vec![None; it.fields.len()]).collect();
        let assigned = assigned(model);
        let (slots, axes) = (BTreeMap::new(), BTreeMap::new());
        let mut typing =
            Typing { model, begun, first, count, code, rotates, starters, slots, fields, axes, assigned };
        typing.numbered_parameters();
        typing
    }

    /// Numbers of processes themselves.
    pub fn pid(&self) -> IdType {
        IdType { offset: self.first as i32, stride: 1 }
    }

    /// Parameters that number the processes, and channels of their own.
    fn numbered_parameters(&mut self) {
        let code = self.model.code(self.code);
        for slot in 0..code.slots {
            let own =
                code.init.iter().any(|init| matches!(init, Init::Channel { slot: at, .. } if *at == slot));
            let parameter = code.parameters.get(slot as usize);
            let processes = &self.begun.processes[self.first..self.first + self.count];
            let value = |k: usize| processes[k].frames[0].locals[slot as usize];
            let stride = value(1).wrapping_sub(value(0));
            let id = IdType { offset: value(0), stride };
            let is_channel = own || parameter.is_some_and(|ty| ty.kind == ValueKind::Channel);
            let fits = stride == 1 || is_channel && stride > 0;
            if (own || parameter.is_some()) && fits && (0..self.count).all(|k| value(k) == id.value(k)) {
                self.slots.insert((Scope::Local, self.code.0, slot), id);
            }
        }
    }

    fn key(&self, scope: Scope, code: CodeId, slot: u32) -> Slot {
        (scope, if scope == Scope::Local { code.0 } else { 0 }, slot)
    }

    /// The slots that a place can mean, with the values of its indices.
    pub fn reach(&self, place: &Place) -> Vec<(u32, Vec<i32>)> {
        let mut found = vec![(place.slot, Vec::new())];
        for index in &place.indices {
            let values = match index.value {
                Expr::Const(only) if only >= 0 && (only as u32) < index.length => {
                    only as u32..only as u32 + 1
                }
                _ => 0..index.length,
            };
            let more = |(slot, before): &(u32, Vec<i32>)| {
                let (slot, before) = (*slot, before.clone());
                let step = move |value: u32| {
                    let at = before.iter().copied().chain([value as i32]).collect();
                    (slot + value * index.stride, at)
                };
                values.clone().map(step).collect::<Vec<_>>()
            };
            found = found.iter().flat_map(more).take(MOST_SLOTS).collect();
        }
        found
    }

    pub fn holds(&self, place: &Place, code: CodeId) -> Option<IdType> {
        let holds = |(slot, _): (u32, _)| self.slots.get(&self.key(place.scope, code, slot)).copied();
        self.reach(place).into_iter().find_map(holds)
    }

    /// Do all slots that the place can mean hold the same?
    pub fn is_even(&self, place: &Place, code: CodeId) -> bool {
        let holds = |(slot, _): &(u32, _)| self.slots.get(&self.key(place.scope, code, *slot)).copied();
        let all: BTreeSet<_> = self.reach(place).iter().map(holds).collect();
        all.len() <= 1
    }

    /// Every slot of the place holds this. Says whether that is news.
    pub fn set(&mut self, place: &Place, code: CodeId, id: IdType) -> Result<bool, String> {
        if place.scope == Scope::Nowhere {
            return Ok(false);
        }
        let mut news = false;
        for (slot, _) in self.reach(place) {
            news |= self.set_slot(self.key(place.scope, code, slot), id)?;
        }
        Ok(news)
    }

    pub fn set_slot(&mut self, slot: Slot, id: IdType) -> Result<bool, String> {
        match self.slots.insert(slot, id) {
            None => Ok(true),
            Some(known) if known == id => Ok(false),
            Some(_) => Err(format!("{} holds their numbers in two ways", self.name(slot))),
        }
    }

    pub fn slot(&self, code: CodeId, slot: u32) -> Option<IdType> {
        self.slots.get(&(Scope::Local, code.0, slot)).copied()
    }

    /// For people.
    pub fn name(&self, (scope, code, slot): Slot) -> String {
        let variables = match scope {
            Scope::Global => &self.model.globals,
            Scope::Hidden => &self.model.hidden,
            Scope::Local | Scope::Nowhere => &self.model.codes[usize::from(code)].variables,
        };
        let has = |it: &&crate::Variable| (it.slot..it.slot + it.length.unwrap_or(1)).contains(&slot);
        variables.iter().find(has).map_or_else(|| "a parameter".into(), |it| it.name.clone())
    }

    /// The templates of the channels that an expression can mean; without better knowledge, all with so many fields.
    pub fn templates(&self, channel: &Expr, code: CodeId, fields: usize) -> Vec<TemplateId> {
        if let Expr::Load(place) = channel
            && let Some(known) = self.made_at(place, code)
        {
            return known;
        }
        let alike = self.model.templates.iter().enumerate().filter(|(_, it)| it.fields.len() == fields);
        alike.map(|(number, _)| TemplateId(number as u16)).collect()
    }

    /// What the channels of a place are made from, if it has its own and nothing is assigned to it.
    fn made_at(&self, place: &Place, code: CodeId) -> Option<Vec<TemplateId>> {
        let inits = match place.scope {
            Scope::Local => &self.model.code(code).init,
            Scope::Global => &self.model.init,
            Scope::Hidden | Scope::Nowhere => return None,
        };
        let template_of = |slot: u32| {
            inits.iter().find_map(|init| match init {
                Init::Channel { hidden: false, slot: at, template } if *at == slot => Some(*template),
                _ => None,
            })
        };
        let reach = self.reach(place);
        if reach.iter().any(|(slot, _)| self.assigned.contains(&self.key(place.scope, code, *slot))) {
            return None;
        }
        reach.iter().map(|(slot, _)| template_of(*slot)).collect()
    }

    /// An array of channels, one for each process: which numbers they have.
    pub fn channels_of(&self, place: &Place, code: CodeId) -> Option<IdType> {
        let axis =
            place.indices.iter().position(|it| matches!(self.kind(&it.value, code), Ok(Kind::Id(_))))?;
        let Ok(Kind::Id(by)) = self.kind(&place.indices[axis].value, code) else { return None };
        let templates = self.made_at(place, code).filter(|_| place.scope == Scope::Global)?;
        templates.windows(2).all(|two| two[0] == two[1]).then_some(())?;
        let number = |k: usize| {
            let mut of_it = self.reach(place).into_iter().filter(|(_, at)| at[axis] == by.value(k));
            let (slot, _) = of_it.next().filter(|_| place.indices.len() == 1)?;
            self.begun.globals.get(slot as usize).copied()
        };
        let id = IdType { offset: number(0)?, stride: number(1)?.wrapping_sub(number(0)?) };
        (id.stride > 0 && (0..self.count).all(|k| number(k) == Some(id.value(k)))).then_some(id)
    }

    /// What an expression's value is. An error says what is done with an identity that breaks the symmetry.
    pub fn kind(&self, expr: &Expr, code: CodeId) -> Result<Kind, String> {
        let plain = |kind: Kind, what: &str| match kind {
            Kind::Id(_) => Err(what.to_string()),
            _ => Ok(()),
        };
        Ok(match expr {
            Expr::Const(value) => Kind::Const(*value),
            Expr::Load(place) => self.holds(place, code).map_or(Kind::Plain, Kind::Id),
            Expr::Remote { code, place, .. } => self.holds(place, *code).map_or(Kind::Plain, Kind::Id),
            Expr::SelfPid if code == self.code => Kind::Id(self.pid()),
            Expr::SelfPid | Expr::NewPid => Kind::Other,
            Expr::Any { low, high } => Kind::Any(*low, *high),
            Expr::LastPid => return Err("the model asks which process moved last".into()),
            Expr::Priority(_) => return Err("processes have priorities".into()),
            Expr::Unary(_, inner) => {
                plain(self.kind(inner, code)?, "their numbers are computed with")?;
                Kind::Plain
            }
            Expr::Conditional(_, then, otherwise) => {
                match (self.kind(then, code)?, self.kind(otherwise, code)?) {
                    (Kind::Id(id), _) | (_, Kind::Id(id)) => Kind::Id(id),
                    (Kind::Const(_) | Kind::Consts, Kind::Const(_) | Kind::Consts) => Kind::Consts,
                    (Kind::Other, Kind::Other | Kind::Const(_)) | (Kind::Const(_), Kind::Other) => {
                        Kind::Other
                    }
                    _ => Kind::Plain,
                }
            }
            Expr::Binary(BinaryOp::Rem, left, right)
                if self.rotates && self.turns_round(left, right, code)? =>
            {
                Kind::Id(IdType { offset: 0, stride: 1 })
            }
            Expr::Binary(op, left, right) => binary(*op, self.kind(left, code)?, self.kind(right, code)?)?,
            _ => Kind::Plain,
        })
    }

    /// Is it the identity of the next process in the circle, or of one further on?
    fn turns_round(&self, left: &Expr, right: &Expr, code: CodeId) -> Result<bool, String> {
        let Kind::Id(id) = self.kind(left, code)? else { return Ok(false) };
        let all = *right == Expr::Const(self.count as i32);
        Ok(all && id.offset >= 0 && id.stride == 1 && self.is_always_somebody(left, code))
    }

    /// Does the expression mean one of the processes in every state? Whatever is stored may also mean nobody.
    pub fn is_always_somebody(&self, expr: &Expr, code: CodeId) -> bool {
        match expr {
            Expr::SelfPid => code == self.code,
            Expr::Load(place) => {
                let is_own = place.scope == Scope::Local && code == self.code && place.indices.is_empty();
                is_own && self.numbers().iter().any(|(slot, _)| *slot == place.slot)
            }
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub, left, right) => {
                matches!(**right, Expr::Const(_)) && self.is_always_somebody(left, code)
                    || matches!(**left, Expr::Const(_)) && self.is_always_somebody(right, code)
            }
            Expr::Binary(BinaryOp::Rem, left, right) => self.turns_round(left, right, code) == Ok(true),
            _ => false,
        }
    }

    /// Parameters that number the processes and are never assigned: the slot, and what it holds.
    pub fn numbers(&self) -> Vec<(u32, IdType)> {
        let parameters = 0..self.model.code(self.code).parameters.len() as u32;
        let number = |slot: u32| {
            let key = (Scope::Local, self.code.0, slot);
            let id = self.slots.get(&key)?;
            (!self.assigned.contains(&key)).then_some((slot, *id))
        };
        parameters.filter_map(number).collect()
    }

    /// Looks at every place where an array is indexed by an identity.
    pub fn lay_axes(&mut self) -> Result<(), String> {
        let mut found: BTreeMap<Slot, Vec<Coordinate>> = BTreeMap::new();
        for (code, place) in super::infer::places(self.model) {
            let by = |value: &Expr| match self.kind(value, code) {
                Ok(Kind::Id(id)) => Some(id),
                _ => None,
            };
            let axes: Vec<Option<IdType>> = place.indices.iter().map(|it| by(&it.value)).collect();
            if axes.iter().all(Option::is_none) {
                continue;
            }
            if place.scope == Scope::Hidden {
                return Err("a hidden variable is indexed by their numbers".into());
            }
            for (axis, index) in axes.iter().zip(&place.indices) {
                let Some(id) = axis else { continue };
                let inside = id.stride == 1
                    && id.offset >= 0
                    && (id.offset as u64 + self.count as u64) <= u64::from(index.length);
                if !inside {
                    return Err(format!("{} does not have an element for each of them", index.array));
                }
            }
            for (slot, at) in self.reach(place) {
                let coordinate = |((axis, index), value): ((&Option<IdType>, &crate::Index), i32)| {
                    let id = (*axis)?;
                    let process = id.index(value, self.count)?;
                    Some(Coordinate { stride: index.stride, offset: id.offset, index: process })
                };
                let label: Vec<_> = axes.iter().zip(&place.indices).zip(at).filter_map(coordinate).collect();
                let key = self.key(place.scope, code, slot);
                if found.insert(key, label.clone()).is_some_and(|known| known != label) {
                    return Err(format!("{} is indexed by their numbers in two ways", self.name(key)));
                }
                let mut strides: Vec<u32> = label.iter().map(|it| it.stride).collect();
                strides.sort_unstable();
                strides.dedup();
                if strides.len() < label.len() || label.len() > 2 {
                    return Err(format!("{} has too many indices", self.name(key)));
                }
            }
        }
        self.axes = found;
        Ok(())
    }

    pub fn coordinates(&self, scope: Scope, code: CodeId, slot: u32) -> &[Coordinate] {
        self.axes.get(&self.key(scope, code, slot)).map_or(&[], Vec::as_slice)
    }

    fn families(&self, scope: Scope, code: CodeId, slots: u32) -> Vec<Family> {
        let family = |slot: u32| {
            let label = self.coordinates(scope, code, slot);
            let is_origin = label.iter().all(|it| it.index == 0);
            let holds = self.slots.get(&self.key(scope, code, slot)).copied();
            let axes = label.iter().map(|it| it.stride).collect();
            is_origin.then_some(Family { origin: slot, axes, holds })
        };
        (0..slots).filter_map(family).collect()
    }

    pub fn global_families(&self) -> Vec<Family> {
        self.families(Scope::Global, CodeId(0), self.model.global_slots)
    }

    pub fn local_families(&self) -> Vec<Vec<Family>> {
        let codes = self.model.codes.iter().enumerate();
        codes.map(|(number, code)| self.families(Scope::Local, CodeId(number as u16), code.slots)).collect()
    }

    /// The global channels that are moved with the processes. All of a kind are moved, or none.
    pub fn channel_families(&self) -> Result<Vec<IdType>, String> {
        let made = self.model.init.iter().filter_map(|init| match init {
            Init::Channel { hidden: false, slot, .. } => Some(*slot),
            _ => None,
        });
        let mut found = BTreeSet::new();
        for slot in made {
            let key = (Scope::Global, 0, slot);
            let Some(id) = self.slots.get(&key) else { continue };
            let number = self.begun.globals.get(slot as usize).copied().unwrap_or(0);
            let is_moved = id.index(number, self.count).is_some();
            if is_moved != (self.coordinates(Scope::Global, CodeId(0), slot).len() == 1) {
                return Err(format!("{} holds a channel of theirs", self.name(key)));
            }
            found.insert(*id);
        }
        let all: Vec<IdType> = found.into_iter().collect();
        let numbers: Vec<i32> = all.iter().flat_map(|id| (0..self.count).map(|k| id.value(k))).collect();
        let distinct: BTreeSet<i32> = numbers.iter().copied().collect();
        match distinct.len() == numbers.len() {
            true => Ok(all),
            false => Err("channels belong to them in two ways".into()),
        }
    }

    /// Every hidden variable that holds an identity is a mistake: what it begins with would have to be renamed.
    pub fn hides_identities(&self) -> bool {
        self.slots.keys().any(|(scope, ..)| *scope == Scope::Hidden)
    }
}

fn binary(op: BinaryOp, left: Kind, right: Kind) -> Result<Kind, String> {
    use BinaryOp::{Add, Eq, Ge, Gt, Le, Lt, Ne, Sub};
    Ok(match (op, left, right) {
        (Add, Kind::Id(id), Kind::Const(by)) | (Add, Kind::Const(by), Kind::Id(id)) => {
            Kind::Id(id.shifted(by))
        }
        (Sub, Kind::Id(id), Kind::Const(by)) => Kind::Id(id.shifted(by.wrapping_neg())),
        (Eq | Ne, ..) => Kind::Plain,
        (Lt | Le | Gt | Ge, Kind::Id(_), _) | (Lt | Le | Gt | Ge, _, Kind::Id(_)) => {
            return Err("their numbers are compared by order".into());
        }
        (_, Kind::Id(_), _) | (_, _, Kind::Id(_)) => return Err("their numbers are computed with".into()),
        (op, Kind::Const(left), Kind::Const(right)) => op.apply(left, right).map_or(Kind::Plain, Kind::Const),
        _ => Kind::Plain,
    })
}
