//! Commands as functions of the state: when a command can be executed, what it does, and where it goes wrong.

use crate::error::{Result, unsupported};
use crate::value::{Evaluator, Valuation};
use preempt_bdd::Bdd;
use preempt_model::{Block, Command, Expr, Place};
use std::collections::BTreeMap;

/// A command that is executed: conditions are over the state before it and the bits of nondeterministic values.
pub(crate) struct Effect {
    pub after: Valuation,
    /// It has no meaning here, and the run ends.
    pub fault: Bdd,
    /// An assertion fails, and the run goes on.
    pub failed: Bdd,
}

/// After so many nodes a deterministic block is given up.
const MOST_NODES: usize = 20_000;

impl Evaluator<'_> {
    /// When can the command be executed, and where does evaluating that have no meaning?
    pub fn ready(&self, state: &Valuation, command: &Command, nothing_earlier: &Bdd) -> Result<(Bdd, Bdd)> {
        let space = &self.vars.space;
        Ok(match command {
            Command::Guard(expr) => self.holds(state, expr)?,
            Command::Else => (nothing_earlier.clone(), space.no()),
            Command::Deterministic(block) => self.block_ready(state, (block, 0), nothing_earlier, 0)?,
            // A thread that has ended stays where it is.
            Command::End => (space.no(), space.no()),
            Command::Send { .. } | Command::Receive { .. } => return unsupported("channels"),
            Command::SetPriority { .. } => return unsupported("priorities"),
            Command::Assign(_)
            | Command::Assert(_)
            | Command::Print { .. }
            | Command::Run { .. }
            | Command::Call { .. }
            | Command::Return(_) => (space.yes(), space.no()),
        })
    }

    fn block_ready(
        &self,
        state: &Valuation,
        (block, node): (&Block, usize),
        nothing_earlier: &Bdd,
        depth: usize,
    ) -> Result<(Bdd, Bdd)> {
        let space = &self.vars.space;
        if depth > block.nodes.len() {
            return Ok((space.no(), space.yes()));
        }
        let several = block.nodes[node].len() > 1;
        let nothing_earlier = if several { space.yes() } else { nothing_earlier.clone() };
        let (mut ready, mut fault) = (space.no(), space.no());
        for edge in &block.nodes[node] {
            let (here, wrong) = match (&edge.command, edge.next) {
                (Some(command), _) => self.ready(state, command, &nothing_earlier)?,
                (None, Some(next)) => self.block_ready(state, (block, next), &nothing_earlier, depth + 1)?,
                (None, None) => (space.yes(), space.no()),
            };
            // the first that is ready decides; what comes after it is not looked at
            let looked_at = ready.or(&fault)?.not()?;
            fault = fault.or(&looked_at.and(&wrong)?)?;
            ready = ready.or(&looked_at.and(&here)?.minus(&wrong)?)?;
        }
        Ok((ready, fault))
    }

    pub fn apply(&self, state: &Valuation, command: &Command) -> Result<Effect> {
        let space = &self.vars.space;
        let mut effect = Effect { after: state.clone(), fault: space.no(), failed: space.no() };
        match command {
            Command::Guard(_) | Command::Else => {}
            Command::Assign(assignments) => self.assign(&mut effect, state, assignments)?,
            Command::Assert(condition) => {
                let (holds, fault) = self.holds(state, condition)?;
                effect.failed = holds.not()?.minus(&fault)?;
                effect.fault = fault;
            }
            Command::Print { args, .. } => {
                for arg in args {
                    effect.fault = effect.fault.or(&self.value(state, arg)?.fault)?;
                }
            }
            Command::Deterministic(block) => effect = self.block(state, block)?,
            Command::Run { .. } => return unsupported("starting a process inside a deterministic block"),
            Command::Call { .. } | Command::Return(_) => {
                return unsupported("calls inside a deterministic block");
            }
            Command::Send { .. } | Command::Receive { .. } => return unsupported("channels"),
            Command::SetPriority { .. } => return unsupported("priorities"),
            Command::End => return unsupported("a process that ends inside a deterministic block"),
        }
        Ok(effect)
    }

    fn assign(&self, effect: &mut Effect, state: &Valuation, assignments: &[(Place, Expr)]) -> Result<()> {
        let mut computed = Vec::new();
        for (place, expr) in assignments {
            let (slots, fault) = self.slots(state, place)?;
            let value = self.value(state, expr)?;
            effect.fault = effect.fault.or(&fault)?.or(&value.fault)?;
            computed.push((place, slots, value.word));
        }
        for (place, slots, word) in computed {
            self.store(&mut effect.after, place, &slots, &word)?;
        }
        Ok(())
    }

    /// Node by node, always the first alternative that is ready; paths that meet are merged.
    fn block(&self, state: &Valuation, block: &Block) -> Result<Effect> {
        let space = &self.vars.space;
        let mut waiting = BTreeMap::from([(0, (space.yes(), state.clone()))]);
        let mut done: Option<(Bdd, Valuation)> = None;
        let (mut fault, mut failed) = (space.no(), space.no());
        let order = order(block);
        for _ in 0..MOST_NODES {
            // the node that comes first, so that what can meet does
            let Some(&node) = waiting.keys().min_by_key(|node| order[**node]) else {
                let after = done.map_or_else(|| state.clone(), |(_, after)| after);
                return Ok(Effect { after, failed: failed.minus(&fault)?, fault });
            };
            space.go_on()?;
            let Some((mut here, state)) = waiting.remove(&node) else { continue };
            for edge in &block.nodes[node] {
                if here.is_false() {
                    break;
                }
                let (ready, wrong) = match (&edge.command, edge.next) {
                    (Some(command), _) => self.ready(&state, command, &space.yes())?,
                    (None, Some(next)) if block.nodes[node].len() > 1 => {
                        self.block_ready(&state, (block, next), &space.yes(), 0)?
                    }
                    (None, _) => (space.yes(), space.no()),
                };
                fault = fault.or(&here.and(&wrong)?)?;
                let taken = here.and(&ready)?.minus(&wrong)?;
                here = here.minus(&ready)?.minus(&wrong)?;
                if taken.is_false() {
                    continue;
                }
                let mut path = (taken, state.clone());
                if let Some(command) = &edge.command {
                    let effect = self.apply(&state, command)?;
                    fault = fault.or(&path.0.and(&effect.fault)?)?;
                    failed = failed.or(&path.0.and(&effect.failed)?)?;
                    path = (path.0.minus(&effect.fault)?, effect.after);
                }
                match edge.next {
                    Some(next) => {
                        let met = meet(waiting.remove(&next), path)?;
                        waiting.insert(next, met);
                    }
                    None => done = Some(meet(done.take(), path)?),
                }
            }
            // nothing is ready: the block must not block
            fault = fault.or(&here)?;
        }
        unsupported("a deterministic block with so long a loop")
    }
}

fn meet(there: Option<(Bdd, Valuation)>, (taken, state): (Bdd, Valuation)) -> Result<(Bdd, Valuation)> {
    Ok(match there {
        None => (taken, state),
        Some((other, before)) => (other.or(&taken)?, Valuation::choose(&taken, &state, &before)?),
    })
}

/// Nodes in the order of the last visit of a search through the block, reversed: a node before those it leads to.
fn order(block: &Block) -> Vec<usize> {
    fn visit(block: &Block, node: usize, seen: &mut [bool], finished: &mut Vec<usize>) {
        let mut stack = vec![(node, 0)];
        seen[node] = true;
        while let Some((node, next)) = stack.pop() {
            let successors: Vec<usize> = block.nodes[node].iter().filter_map(|edge| edge.next).collect();
            match successors.get(next) {
                Some(&successor) => {
                    stack.push((node, next + 1));
                    if !seen[successor] {
                        seen[successor] = true;
                        stack.push((successor, 0));
                    }
                }
                None => finished.push(node),
            }
        }
    }
    let mut seen = vec![false; block.nodes.len()];
    let mut finished = Vec::new();
    visit(block, 0, &mut seen, &mut finished);
    let mut order = vec![usize::MAX; block.nodes.len()];
    for (position, node) in finished.into_iter().rev().enumerate() {
        order[node] = position;
    }
    order
}
