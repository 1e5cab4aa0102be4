//! Which locals still matter where. A local that is written before it is read again, or never read again, is set to 0:
//! sets of states that differ only in such values become one, and their diagrams much smaller.
//!
//! The backward data-flow analysis of live variables, one code at a time, until nothing changes. What is not live cannot
//! change what the thread does, so that verdicts stay; a counterexample compares only what is live (`concrete`). Together
//! with relations in parts it took anderson_6 with two contexts from 11.67 s of the clock to 1.42 s of the processor
//! (`results/paper-002.md`).

use crate::error::{Result, go_on};
use preempt_core::Budget;
use preempt_model::{CodeId, Command, Edge, Footprint, LocationId, Model, Scope};

/// For each code and location: which locals may be read before they are written.
#[derive(Debug)]
pub struct Liveness(Vec<Vec<Vec<bool>>>);

impl Liveness {
    /// For all codes of a model.
    pub fn of(model: &Model, budget: &Budget) -> Result<Liveness> {
        let codes = (0..model.codes.len()).map(|code| live_in_code(model, CodeId(code as u16), budget));
        Ok(Liveness(codes.collect::<Result<_>>()?))
    }

    /// Everything matters everywhere.
    pub fn everything(model: &Model) -> Liveness {
        let all = |code: &preempt_model::Code| vec![vec![true; code.slots as usize]; code.locations.len()];
        Liveness(model.codes.iter().map(all).collect())
    }

    /// The locals that matter at a location.
    pub fn at(&self, code: CodeId, location: LocationId) -> &[bool] {
        &self.0[usize::from(code.0)][location.0 as usize]
    }

    /// The locals that are of no use after the edge, and of which it is not known that they are 0 already.
    pub fn dying(&self, model: &Model, code: CodeId, from: LocationId, edge: &Edge) -> Vec<usize> {
        let mut written = Footprint::of(model, &edge.command).may_write.0;
        if let Command::Call { results, .. } = &edge.command {
            written.extend(results.iter().flat_map(|place| place.range().map(|slot| (place.scope, slot))));
        }
        let (before, after) = (self.at(code, from), self.at(code, edge.target));
        let touched = |slot: usize| before[slot] || written.contains(&(Scope::Local, slot as u32));
        (0..after.len()).filter(|&slot| !after[slot] && touched(slot)).collect()
    }
}

fn live_in_code(model: &Model, code: CodeId, budget: &Budget) -> Result<Vec<Vec<bool>>> {
    let definition = model.code(code);
    let slots = definition.slots as usize;
    // A clause that is evaluated everywhere reads everywhere.
    let mut live = vec![vec![definition.provided.is_some(); slots]; definition.locations.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (number, location) in definition.locations.iter().enumerate().rev() {
            go_on(budget)?;
            for edge in &location.edges {
                for slot in before(model, edge, &live[edge.target.0 as usize]) {
                    changed |= !std::mem::replace(&mut live[number][slot], true);
                }
            }
        }
    }
    Ok(live)
}

/// What is read before it is written on the way through an edge.
fn before(model: &Model, edge: &Edge, after: &[bool]) -> Vec<usize> {
    let mut footprint = Footprint::of(model, &edge.command);
    let mut after = after.to_vec();
    match &edge.command {
        Command::Call { results, .. } => {
            for place in results {
                let stored = Command::Assign(vec![(place.clone(), preempt_model::Expr::Const(0))]);
                let stored = Footprint::of(model, &stored);
                footprint.may_read.0.extend(stored.may_read.0);
                footprint.must_write.0.extend(stored.must_write.0);
            }
        }
        Command::Return(_) | Command::End => after.fill(false),
        _ => {}
    }
    let reads = |slot: usize| footprint.may_read.0.contains(&(Scope::Local, slot as u32));
    let writes = |slot: usize| footprint.must_write.0.contains(&(Scope::Local, slot as u32));
    (0..after.len()).filter(|&slot| reads(slot) || after[slot] && !writes(slot)).collect()
}
