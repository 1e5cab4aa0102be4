//! Which channel an expression names, as far as that can be known before the model runs.

use super::layout::{ChannelAt, Shape};
use crate::reduction::assigned::assigned_places;
use preempt_model::{CodeId, Expr, Init, Model, Place, Scope, TemplateId};
use std::collections::{HashMap, HashSet};

/// Variables that hold the channel made with them for ever.
#[derive(Debug)]
pub struct ChannelFacts {
    /// By slot: the channel's index.
    globals: HashMap<u32, usize>,
    /// By code and slot: which of the process's own channels.
    locals: HashMap<(CodeId, u32), usize>,
    /// The template that all channels look like, if they do.
    only: Option<TemplateId>,
}

/// What is known about a channel when code is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// It exists from the beginning.
    Global {
        index: usize,
        at: ChannelAt,
    },
    /// The process made it; only its place and template are known.
    Own(ChannelAt),
    Template(TemplateId),
    Nothing,
}

impl ChannelFacts {
    pub fn new(model: &Model, shape: &Shape) -> ChannelFacts {
        let mut assigned: HashSet<(Option<CodeId>, u32)> = HashSet::new();
        for (number, code) in model.codes.iter().enumerate() {
            let own = CodeId(number as u16);
            for edge in code.locations.iter().flat_map(|location| &location.edges) {
                assigned_places(&edge.command, &mut |place: &Place| {
                    let owner = match place.scope {
                        Scope::Global => None,
                        Scope::Local => Some(own),
                        Scope::Hidden | Scope::Nowhere => return,
                    };
                    assigned.extend(place.range().map(|slot| (owner, slot)));
                });
            }
        }
        // A second initial value takes the place of the first.
        let constants = |inits: &[Init], owner: Option<CodeId>| {
            let mut found: HashMap<u32, usize> = HashMap::new();
            let mut count = 0;
            for init in inits {
                match init {
                    Init::Set { hidden: false, slot, .. } => {
                        found.remove(slot);
                    }
                    Init::Set { .. } => {}
                    Init::Channel { hidden, slot, .. } => {
                        if !hidden && !assigned.contains(&(owner, *slot)) {
                            found.insert(*slot, count);
                        }
                        count += 1;
                    }
                }
            }
            found
        };
        let globals = constants(&model.init, None);
        let mut locals = HashMap::new();
        for (number, code) in model.codes.iter().enumerate() {
            let own = CodeId(number as u16);
            locals.extend(constants(&code.init, Some(own)).into_iter().map(|(slot, i)| ((own, slot), i)));
        }
        let alike = |template: &usize| {
            shape.templates[*template] == shape.templates[0]
                && model.templates[*template].fields == model.templates[0].fields
        };
        let only = (!model.templates.is_empty()
            && (0..model.templates.len()).all(|template| alike(&template)))
        .then_some(TemplateId(0));
        ChannelFacts { globals, locals, only }
    }

    pub fn about(&self, shape: &Shape, code: CodeId, channel: &Expr) -> Known {
        let rest = self.only.map_or(Known::Nothing, Known::Template);
        let Expr::Load(place) = channel else { return rest };
        match (place.scope, place.indices.is_empty()) {
            (Scope::Global, true) => self
                .globals
                .get(&place.slot)
                .map_or(rest, |index| Known::Global { index: *index, at: shape.global_channels[*index] }),
            (Scope::Global, false) => {
                let mut templates = place
                    .range()
                    .map(|slot| self.globals.get(&slot).map(|index| shape.global_channels[*index].template));
                let first = templates.next().flatten();
                let same = first.filter(|_| templates.all(|template| template == first));
                same.map_or(rest, Known::Template)
            }
            (Scope::Local, true) => match self.locals.get(&(code, place.slot)) {
                Some(own) => Known::Own(shape.code(code).channels[*own]),
                None => rest,
            },
            _ => rest,
        }
    }
}
