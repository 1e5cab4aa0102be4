//! Which bytes of a state decide what a process does there, and which its steps may change.

use super::compiled::Native;
use super::layout::{Layout, Shape};
use super::own_elements::own_elements;
use crate::reduction::dependence::{Dependence, Dependences, Identity, fixed_parameters};
use crate::successors::Decided;
use preempt_model::{CodeId, Expr, LocationId, Model, Scope};
use std::collections::HashMap;
use std::ops::Range;

/// What steps depend on, found out when it is asked for.
#[derive(Debug, Default)]
pub enum KnownDependences<'m> {
    #[default]
    NotAsked,
    /// Nothing can be said of this model.
    Nothing,
    Some(Box<Asked<'m>>),
}

#[derive(Debug)]
pub struct Asked<'m> {
    dependences: Dependences<'m>,
    /// By layout: who the processes are.
    identities: HashMap<u16, Vec<Identity>>,
    /// By layout, process and location, for these.
    known: HashMap<(u16, u8, u32), Option<Dependence>>,
}

/// By code: where in a segment the parameters lie that never change and say which channel or element is meant.
pub fn fixed_stretches(model: &Model, shape: &Shape) -> Vec<Vec<Range<usize>>> {
    let of_code = |code: usize| {
        let locals = &shape.codes[code].locals;
        let fixed = fixed_parameters(model, CodeId(code as u16)).into_iter();
        fixed
            .filter(|slot| (*slot as usize) < locals.offsets.len())
            .map(|slot| locals.stretch(slot as usize))
            .collect()
    };
    (0..shape.codes.len()).map(of_code).collect()
}

/// More variables than this are not kept apart.
const MOST_APART: usize = 16;

/// Stretches of the globals that are kept apart: wide numbers, and the elements of arrays that belong to one process.
pub fn apart(model: &Model, shape: &Shape) -> Vec<Range<usize>> {
    let mut found = wide_globals(model, shape);
    for row in own_elements(model) {
        let mut stretches: Vec<_> = row.iter().map(|slot| shape.globals.stretch(*slot as usize)).collect();
        stretches.sort_unstable_by_key(|stretch| stretch.start);
        let is_whole = stretches.windows(2).all(|two| two[0].end == two[1].start);
        if let (true, Some(first), Some(last)) = (is_whole, stretches.first(), stretches.last()) {
            found.push(first.start..last.end);
        }
    }
    found
}

/// Where global numbers of more than a byte lie, if there are few: each takes many values, and together they would take
/// nearly as many as there are states.
fn wide_globals(model: &Model, shape: &Shape) -> Vec<Range<usize>> {
    let is_wide = |slot: usize| shape.globals.formats.get(slot).is_some_and(|format| format.bytes > 1);
    let numbers = model.globals.iter().filter(|variable| variable.length.is_none());
    let slots: Vec<usize> = numbers.map(|it| it.slot as usize).filter(|slot| is_wide(*slot)).collect();
    if slots.len() > MOST_APART {
        return Vec::new();
    }
    slots.iter().map(|slot| shape.globals.stretch(*slot)).collect()
}

impl Native<'_> {
    /// As [`crate::successors::Expander::decided_by`] has it.
    pub(super) fn stretches(
        &mut self,
        state: &[u8],
        process: usize,
        is_known: &dyn Fn(&Range<usize>) -> bool,
    ) -> Option<Decided> {
        if matches!(self.dependences, KnownDependences::NotAsked) {
            self.dependences = match Dependences::new(self.interpreter.model()) {
                None => KnownDependences::Nothing,
                Some(dependences) => KnownDependences::Some(Box::new(Asked {
                    dependences,
                    identities: HashMap::new(),
                    known: HashMap::new(),
                })),
            };
        }
        let program = &self.program;
        let (shape, layout) = (&program.shape, program.layouts.of_state(state));
        let (code, base) = (*layout.codes.get(process)?, layout.bases[process] as usize);
        let KnownDependences::Some(asked) = &mut self.dependences else { return None };
        let location = shape.code(code).location;
        if !is_known(&(base..base + usize::from(location.bytes))) {
            return None;
        }
        let at = LocationId(location.read(state, base) as u32);
        let identity = |process: usize| {
            let (code, base) = (layout.codes[process], layout.bases[process] as usize);
            let locals = &shape.code(code).locals;
            asked.dependences.identity(code, process, |slot| {
                let start = base + *locals.offsets.get(slot as usize)? as usize;
                let stretch = start..start + usize::from(locals.formats[slot as usize].bytes);
                is_known(&stretch).then(|| locals.read(state, base, slot as usize))
            })
        };
        let identities: Vec<Identity> = (0..layout.codes.len()).map(identity).collect();
        if asked.identities.get(&layout.number) != Some(&identities) {
            asked.known.retain(|(number, ..), _| *number != layout.number);
            asked.identities.insert(layout.number, identities.clone());
        }
        let key = (layout.number, process as u8, at.0);
        let dependences = &mut asked.dependences;
        let found = asked.known.entry(key).or_insert_with(|| dependences.of(&identities, process, at));
        found.as_ref().map(|found| decided(shape, layout, found))
    }
}

impl Native<'_> {
    /// Adds the stretches of a state on which the value of an observer's condition depends, in all states of its class. `None`
    /// if it may be anything.
    pub(crate) fn read_by(
        &self,
        state: &[u8],
        condition: &Expr,
        stretches: &mut Vec<Range<usize>>,
    ) -> Option<()> {
        let (shape, layout) = (&self.program.shape, self.program.layouts.of_state(state));
        let mut is_known = true;
        condition.visit(&mut |expr| match expr {
            Expr::Load(place) if place.scope == Scope::Global => {
                stretches.extend(place.range().map(|slot| shape.globals.stretch(slot as usize)));
            }
            // Hidden variables are what they were in the beginning.
            Expr::Load(place) => is_known &= place.scope == Scope::Hidden,
            Expr::At { code, .. } | Expr::Remote { code, .. } => {
                let all = layout.codes.iter().enumerate().filter(|(_, other)| *other == code);
                stretches.extend(all.map(|(process, _)| segment(layout, process)));
            }
            Expr::Len(_) | Expr::Probe(..) | Expr::Poll { .. } => {
                stretches
                    .extend((0..layout.channel_offsets.len()).map(|number| channel(shape, layout, number)));
            }
            Expr::Const(_)
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Conditional(..)
            | Expr::SelfPid
            | Expr::ProcessCount
            | Expr::LastPid => {}
            Expr::Timeout
            | Expr::NonProgress
            | Expr::Enabled(_)
            | Expr::PcValue(_)
            | Expr::Priority(_)
            | Expr::Any { .. }
            | Expr::NewPid => is_known = false,
        });
        is_known.then_some(())
    }
}

/// Everything that a process has.
fn segment(layout: &Layout, process: usize) -> Range<usize> {
    let end = layout.bases.get(process + 1).copied().unwrap_or(layout.size);
    layout.bases[process] as usize..end as usize
}

/// Everything that is in a channel.
fn channel(shape: &Shape, layout: &Layout, number: usize) -> Range<usize> {
    let start = layout.channel_offsets[number] as usize;
    start..start + shape.template(layout.channel_templates[number]).size as usize
}

fn decided(shape: &Shape, layout: &Layout, found: &Dependence) -> Decided {
    let Dependence { slots, channels, made_channels, processes, asks_timeout } = found;
    let global = shape.global_channels.len();
    let channel = |number: usize| channel(shape, layout, number);
    let mut stretches: Vec<Range<usize>> =
        processes.iter().map(|process| segment(layout, *process)).collect();
    stretches.extend(slots.iter().map(|slot| shape.globals.stretch(*slot)));
    stretches.extend(channels.iter().filter(|number| **number < global).map(|number| channel(*number)));
    if *made_channels {
        stretches.extend((global..layout.channel_offsets.len()).map(channel));
    }
    // Every step says who made it.
    stretches.extend(shape.last.map(|at| at as usize..at as usize + 1));
    Decided { stretches, asks_timeout: *asks_timeout }
}
