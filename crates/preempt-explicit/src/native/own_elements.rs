//! Elements of arrays that are as good as variables of the processes: every process uses only the one with its own number.
//!
//! All arrays of one length lie together element by element, so that what belongs to one process is one piece of a state: a
//! step of that process then depends on this piece and on none of the others'.

use super::slots::places;
use crate::reduction::dependence::known_locals;
use preempt_model::{CodeId, Expr, Model, Place, Scope};
use std::collections::BTreeMap;

/// More pieces than this make keys wider than they are worth.
const MOST_ROWS: usize = 32;

/// Slots of globals that belong to one process each, by process.
pub fn own_elements(model: &Model) -> Vec<Vec<u32>> {
    let known: Vec<Vec<u32>> =
        (0..model.codes.len()).map(|code| known_locals(model, CodeId(code as u16))).collect();
    let all = places(model, &[]);
    let mut by_length: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for array in &model.globals {
        let Some(length) = array.length.filter(|length| *length > 1) else { continue };
        let slots = array.slot..array.slot + length;
        let is_used = |place: &Place| {
            let range = place.range();
            place.scope == Scope::Global && range.start < slots.end && slots.start < range.end
        };
        let mut uses = all.iter().filter(|(_, place)| is_used(place)).peekable();
        let is_own = |(code, place): &(usize, &Place)| match &place.indices[..] {
            [index] if place.range() == slots => {
                index.stride == 1 && known.get(*code).is_some_and(|known| names_own(&index.value, known))
            }
            _ => false,
        };
        if uses.peek().is_some() && uses.all(is_own) {
            by_length.entry(length).or_default().push(array.slot);
        }
    }
    let row = |arrays: &[u32], number: u32| arrays.iter().map(|first| first + number).collect();
    let rows = by_length.iter().flat_map(|(length, arrays)| (0..*length).map(|number| row(arrays, number)));
    let rows: Vec<Vec<u32>> = rows.collect();
    if rows.len() > MOST_ROWS { Vec::new() } else { rows }
}

/// Does nothing but the process's number, and what it never changes, decide the value? And at least one of these.
fn names_own(value: &Expr, known: &[u32]) -> bool {
    let (mut is_fixed, mut is_own) = (true, false);
    value.visit(&mut |inner| match inner {
        Expr::SelfPid => is_own = true,
        Expr::Load(place) if place.scope == Scope::Local && place.indices.is_empty() => {
            is_fixed &= known.contains(&place.slot);
            is_own = true;
        }
        Expr::Const(_) | Expr::Unary(..) | Expr::Binary(..) => {}
        _ => is_fixed = false,
    });
    is_fixed && is_own
}
