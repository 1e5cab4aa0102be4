//! How wide each variable is kept: the narrowest whole number of bytes that holds every value its type lets in.

use preempt_model::command::{Command, Pattern};
use preempt_model::{Expr, Init, Model, Place, Scope, Type, Variable};

/// How a number lies in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// 1, 2 or 4.
    pub bytes: u8,
    pub signed: bool,
}

impl Kind {
    pub const BYTE: Kind = Kind { bytes: 1, signed: false };
    pub const SHORT: Kind = Kind { bytes: 2, signed: false };
    pub const WORD: Kind = Kind { bytes: 4, signed: true };

    pub fn of(ty: Type) -> Kind {
        match ty.bits {
            0..=8 => Kind { bytes: 1, signed: ty.signed },
            9..=16 => Kind { bytes: 2, signed: ty.signed },
            _ => Kind::WORD,
        }
    }

    /// Wide enough for every number below `count`.
    pub fn below(count: usize) -> Kind {
        match count {
            0..=0x100 => Kind::BYTE,
            0x101..=0x1_0000 => Kind::SHORT,
            _ => Kind::WORD,
        }
    }

    pub fn read(self, bytes: &[u8], at: usize) -> i32 {
        match (self.bytes, self.signed) {
            (1, false) => i32::from(bytes[at]),
            (1, true) => i32::from(bytes[at] as i8),
            (2, false) => i32::from(u16::from_le_bytes([bytes[at], bytes[at + 1]])),
            (2, true) => i32::from(i16::from_le_bytes([bytes[at], bytes[at + 1]])),
            _ => i32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]),
        }
    }

    pub fn write(self, bytes: &mut [u8], at: usize, value: i32) {
        let width = usize::from(self.bytes);
        bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
    }
}

/// The slots of one scope, laid out one after the other.
#[derive(Debug, Clone, Default)]
pub struct Slots {
    pub kinds: Vec<Kind>,
    pub offsets: Vec<u32>,
    pub size: u32,
}

impl Slots {
    fn new(kinds: Vec<Kind>, start: u32) -> Slots {
        let mut at = start;
        let offsets = kinds
            .iter()
            .map(|kind| {
                at += u32::from(kind.bytes);
                at - u32::from(kind.bytes)
            })
            .collect();
        Slots { kinds, offsets, size: at - start }
    }

    pub fn read(&self, bytes: &[u8], base: usize, slot: usize) -> i32 {
        self.kinds[slot].read(bytes, base + self.offsets[slot] as usize)
    }

    pub fn write(&self, bytes: &mut [u8], base: usize, slot: usize, value: i32) {
        self.kinds[slot].write(bytes, base + self.offsets[slot] as usize, value);
    }

    /// By how many bytes each index of the place moves; `None` if that is not the same everywhere.
    pub fn strides(&self, place: &Place) -> Option<Vec<u32>> {
        let first = place.slot as usize;
        let strides = place.indices.iter().map(|index| {
            let second = if index.length > 1 { first + index.stride as usize } else { first };
            self.offsets[second] - self.offsets[first]
        });
        let strides: Vec<u32> = strides.collect();
        let mut counters = vec![0u32; place.indices.len()];
        loop {
            let (mut slot, mut offset) = (first, self.offsets[first]);
            for ((counter, index), stride) in counters.iter().zip(&place.indices).zip(&strides) {
                slot += (counter * index.stride) as usize;
                offset += counter * stride;
            }
            if self.offsets[slot] != offset || self.kinds[slot] != self.kinds[first] {
                return None;
            }
            let turning = counters.iter_mut().zip(&place.indices).find_map(|(counter, index)| {
                *counter += 1;
                if *counter < index.length {
                    return Some(());
                }
                *counter = 0;
                None
            });
            if turning.is_none() {
                return Some(strides);
            }
        }
    }
}

/// What decides how one scope is laid out.
pub struct Facts<'m> {
    pub slots: u32,
    pub variables: &'m [Variable],
    pub parameters: &'m [Type],
    pub inits: Vec<&'m Init>,
    pub places: Vec<&'m Place>,
}

/// Where everything that is stored in a slot fits its kind; everything is a word if the narrow layout is not regular.
pub fn lay_out(facts: &Facts<'_>, start: u32) -> Slots {
    let mut kinds: Vec<Option<Kind>> = vec![None; facts.slots as usize];
    let mut note = |slot: u32, ty: Type| {
        if let Some(known) = kinds.get_mut(slot as usize) {
            let kind = Kind::of(ty);
            *known = Some(if known.is_none_or(|known| known == kind) { kind } else { Kind::WORD });
        }
    };
    for variable in facts.variables {
        (0..variable.length.unwrap_or(1)).for_each(|i| note(variable.slot + i, variable.ty));
    }
    facts.parameters.iter().enumerate().for_each(|(slot, ty)| note(slot as u32, *ty));
    for init in &facts.inits {
        match init {
            Init::Set { slot, ty, .. } => note(*slot, *ty),
            Init::Channel { slot, .. } => note(*slot, Type::CHANNEL),
        }
    }
    for place in facts.places.iter().filter(|place| place.indices.is_empty()) {
        note(place.slot, place.ty);
    }
    let kinds: Vec<Kind> = kinds.into_iter().map(|kind| kind.unwrap_or(Kind::WORD)).collect();
    let narrow = Slots::new(kinds, start);
    let regular = |place: &&Place| {
        narrow.strides(place).is_some()
            && (place.indices.is_empty() || narrow.kinds[place.slot as usize] == Kind::of(place.ty))
    };
    if facts.places.iter().all(regular) {
        return narrow;
    }
    Slots::new(vec![Kind::WORD; facts.slots as usize], start)
}

/// Every place that the model or an observer names, with the code whose locals it means.
pub fn places<'m>(model: &'m Model, conditions: &'m [Expr]) -> Vec<(usize, &'m Place)> {
    let mut found = Vec::new();
    for condition in conditions {
        condition.visit(&mut |expr| read(usize::MAX, expr, &mut found));
    }
    for (number, code) in model.codes.iter().enumerate() {
        for edge in code.locations.iter().flat_map(|location| &location.edges) {
            written(&edge.command, &mut |place| found.push((number, place)));
            edge.command.visit(&mut |expr| read(number, expr, &mut found));
        }
        for init in &code.init {
            if let Init::Set { value, .. } = init {
                value.visit(&mut |expr| read(number, expr, &mut found));
            }
        }
        if let Some(provided) = &code.provided {
            provided.visit(&mut |expr| read(number, expr, &mut found));
        }
    }
    for promise in &model.exclusives {
        promise.channel.visit(&mut |expr| read(usize::from(promise.code.0), expr, &mut found));
    }
    found
}

fn read<'m>(code: usize, expr: &'m Expr, found: &mut Vec<(usize, &'m Place)>) {
    match expr {
        Expr::Load(place) => found.push((code, place)),
        Expr::Remote { code, place, .. } => found.push((usize::from(code.0), place)),
        _ => {}
    }
}

/// The places that a command stores to.
pub fn written<'m>(command: &'m Command, visit: &mut dyn FnMut(&'m Place)) {
    match command {
        Command::Assign(assignments) => assignments.iter().for_each(|(place, _)| visit(place)),
        Command::Receive { pattern, .. } => pattern.iter().for_each(|part| {
            if let Pattern::Bind(place) = part {
                visit(place);
            }
        }),
        Command::Run { result: Some((place, _)), .. } => visit(place),
        Command::Call { results, .. } => results.iter().for_each(visit),
        Command::Deterministic(block) => {
            let commands = block.nodes.iter().flatten().filter_map(|edge| edge.command.as_ref());
            commands.for_each(|command| written(command, visit));
        }
        _ => {}
    }
}

pub fn is_in(place: &Place, scope: Scope) -> bool {
    place.scope == scope
}
