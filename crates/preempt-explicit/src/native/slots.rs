//! How wide each variable is kept: the narrowest whole number of bytes that holds every value its type lets in.

use crate::reduction::assigned::assigned_places;
use preempt_model::{Expr, Init, Model, Place, Scope, Type, Variable};
use std::ops::Range;

/// How a number lies in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberFormat {
    /// 1, 2 or 4.
    pub bytes: u8,
    pub signed: bool,
}

impl NumberFormat {
    pub const BYTE: NumberFormat = NumberFormat { bytes: 1, signed: false };
    pub const SHORT: NumberFormat = NumberFormat { bytes: 2, signed: false };
    pub const WORD: NumberFormat = NumberFormat { bytes: 4, signed: true };

    pub fn for_type(ty: Type) -> NumberFormat {
        match ty.bits {
            0..=8 => NumberFormat { bytes: 1, signed: ty.signed },
            9..=16 => NumberFormat { bytes: 2, signed: ty.signed },
            _ => NumberFormat::WORD,
        }
    }

    /// Wide enough for every number below `count`.
    pub fn for_numbers_below(count: usize) -> NumberFormat {
        match count {
            0..=0x100 => NumberFormat::BYTE,
            0x101..=0x1_0000 => NumberFormat::SHORT,
            _ => NumberFormat::WORD,
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
    pub formats: Vec<NumberFormat>,
    pub offsets: Vec<u32>,
    pub size: u32,
}

impl Slots {
    /// One after the other, these last and in this order.
    fn new(formats: Vec<NumberFormat>, start: u32, last: &[u32]) -> Slots {
        let mut at = start;
        let mut offsets = vec![0; formats.len()];
        let mut is_last = vec![false; formats.len()];
        last.iter().for_each(|slot| is_last[*slot as usize] = true);
        let first = (0..formats.len() as u32).filter(|slot| !is_last[*slot as usize]);
        for slot in first.chain(last.iter().copied()) {
            offsets[slot as usize] = at;
            at += u32::from(formats[slot as usize].bytes);
        }
        Slots { formats, offsets, size: at - start }
    }

    /// Where a slot lies.
    pub fn stretch(&self, slot: usize) -> Range<usize> {
        let start = self.offsets[slot] as usize;
        start..start + usize::from(self.formats[slot].bytes)
    }

    pub fn read(&self, bytes: &[u8], base: usize, slot: usize) -> i32 {
        self.formats[slot].read(bytes, base + self.offsets[slot] as usize)
    }

    pub fn write(&self, bytes: &mut [u8], base: usize, slot: usize, value: i32) {
        self.formats[slot].write(bytes, base + self.offsets[slot] as usize, value);
    }

    /// By how many bytes each index of the place moves; `None` if that is not the same everywhere.
    pub fn strides(&self, place: &Place) -> Option<Vec<u32>> {
        let first = place.slot as usize;
        let strides = place.indices.iter().map(|index| {
            let second = if index.length > 1 { first + index.stride as usize } else { first };
            self.offsets[second].checked_sub(self.offsets[first])
        });
        let strides: Vec<u32> = strides.collect::<Option<_>>()?;
        let mut counters = vec![0u32; place.indices.len()];
        loop {
            let (mut slot, mut offset) = (first, self.offsets[first]);
            for ((counter, index), stride) in counters.iter().zip(&place.indices).zip(&strides) {
                slot += (counter * index.stride) as usize;
                offset += counter * stride;
            }
            if self.offsets[slot] != offset || self.formats[slot] != self.formats[first] {
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
pub struct ScopeFacts<'m> {
    pub slots: u32,
    pub variables: &'m [Variable],
    pub parameters: &'m [Type],
    pub inits: Vec<&'m Init>,
    pub places: Vec<&'m Place>,
    /// Slots that never change lie behind all others, apart from them where states are cut into pieces.
    pub fixed: Vec<u32>,
    /// Elements that lie together, before those.
    pub rows: Vec<Vec<u32>>,
}

/// Where everything that is stored in a slot fits its format; everything is a word if the narrow layout is not regular.
pub fn lay_out(facts: &ScopeFacts<'_>, start: u32) -> Slots {
    let mut formats: Vec<Option<NumberFormat>> = vec![None; facts.slots as usize];
    let mut hold = |slot: u32, ty: Type| {
        if let Some(known) = formats.get_mut(slot as usize) {
            let format = NumberFormat::for_type(ty);
            *known =
                Some(if known.is_none_or(|known| known == format) { format } else { NumberFormat::WORD });
        }
    };
    for variable in facts.variables {
        (0..variable.length.unwrap_or(1)).for_each(|i| hold(variable.slot + i, variable.ty));
    }
    facts.parameters.iter().enumerate().for_each(|(slot, ty)| hold(slot as u32, *ty));
    for init in &facts.inits {
        match init {
            Init::Set { slot, ty, .. } => hold(*slot, *ty),
            Init::Channel { slot, .. } => hold(*slot, Type::CHANNEL),
        }
    }
    for place in facts.places.iter().filter(|place| place.indices.is_empty()) {
        hold(place.slot, place.ty);
    }
    let formats: Vec<NumberFormat> =
        formats.into_iter().map(|format| format.unwrap_or(NumberFormat::WORD)).collect();
    // Elements of an array stay together, whichever of them never change.
    let mut last = facts.fixed.clone();
    let arrays = || facts.places.iter().filter(|place| !place.indices.is_empty());
    last.retain(|slot| !arrays().any(|place| place.range().contains(slot)));
    let is_regular = |slots: &Slots| {
        facts.places.iter().all(|place| {
            slots.strides(place).is_some()
                && (place.indices.is_empty()
                    || slots.formats[place.slot as usize] == NumberFormat::for_type(place.ty))
        })
    };
    if !facts.rows.is_empty() {
        let behind: Vec<u32> = facts.rows.iter().flatten().chain(&last).copied().collect();
        let by_rows = Slots::new(formats.clone(), start, &behind);
        if is_regular(&by_rows) {
            return by_rows;
        }
    }
    let narrow = Slots::new(formats, start, &last);
    if is_regular(&narrow) {
        return narrow;
    }
    Slots::new(vec![NumberFormat::WORD; facts.slots as usize], start, &last)
}

/// Every place that the model or an observer names, with the code whose locals it means.
pub fn places<'m>(model: &'m Model, conditions: &'m [Expr]) -> Vec<(usize, &'m Place)> {
    let mut found = Vec::new();
    for condition in conditions {
        condition.visit(&mut |expr| read(usize::MAX, expr, &mut found));
    }
    for (number, code) in model.codes.iter().enumerate() {
        for edge in code.locations.iter().flat_map(|location| &location.edges) {
            assigned_places(&edge.command, &mut |place| found.push((number, place)));
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

pub fn is_in(place: &Place, scope: Scope) -> bool {
    place.scope == scope
}
