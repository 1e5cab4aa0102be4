//! Expansions inside an argument, moved to where the argument is put.

use std::collections::HashMap;

use preempt_core::{ExpansionId, SourceMap};

/// Moves tokens from the text around a call into the call's expansion: what stood directly there now belongs to
/// it, and expansions that happened there get copies which do.
#[derive(Debug)]
pub struct Reparent {
    pub from: ExpansionId,
    pub to: ExpansionId,
    pub known: HashMap<ExpansionId, ExpansionId>,
}

impl Reparent {
    pub fn of(&mut self, sources: &mut SourceMap, id: ExpansionId) -> ExpansionId {
        // Outermost last, so that copies are made from the outside in.
        let mut chain = Vec::new();
        let mut at = id;
        let mut moved = loop {
            if at == self.from || at == ExpansionId::NONE || at == self.to {
                break self.to;
            }
            if let Some(known) = self.known.get(&at) {
                break *known;
            }
            match sources.expansion(at) {
                Some(expansion) => {
                    let outer = expansion.call.expansion;
                    chain.push((at, expansion.clone()));
                    at = outer;
                }
                None => break self.to,
            }
        };
        for (old, mut expansion) in chain.into_iter().rev() {
            expansion.call.expansion = moved;
            moved = sources.add_expansion(expansion);
            self.known.insert(old, moved);
        }
        moved
    }
}
