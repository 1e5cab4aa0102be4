//! Lal and Reps 2009 (paper 002), Fig. 3: the analysis of a sequential program with procedures, eager and lazy.
//!
//! It computes for each node the states in which the program can be there. H says how a node is reached from the entry of
//! its procedure, S sums up whole calls: the functional approach of Sharir and Pnueli 1981, which is exact for programs
//! with finitely many values although the stack is not bounded, because what a call does depends only on the values at
//! its entry. The rules only add, and there are finitely many facts, so that they end. Cost (section 4): linear in the
//! statements, cubic in the shared states and quadratic in the local ones, if every set were listed; diagrams keep it
//! far below.
//!
//! There is one context. Lazy: R0' begins with the thread's own code, R7 analyses a procedure for the states in which it
//! is called, and R8 reads what is reachable off H. Eager: R0 begins with every procedure in every state, so that
//! summaries hold for all inputs, and a second phase (R4 to R6) finds what is reachable.

use crate::error::Result;
use crate::graph::Graph;
use crate::rules::{Failure, Rules};
use crate::vars::{Copy, Vars};
use preempt_bdd::Bdd;
use std::collections::BTreeMap;

/// R for each (procedure, node), over `Now` and the locals.
pub(crate) type Reachable = BTreeMap<(usize, usize), Bdd>;

/// R0', R1, R2, R3, R7; then R8.
pub(crate) fn lazy<'a>(
    vars: &'a Vars,
    graph: &'a Graph,
    initial: &Bdd,
    stop_at_failure: bool,
) -> Result<(Rules<'a>, Option<Failure>)> {
    let mut rules = Rules::new(vars, graph)?;
    let start = initial.and(&graph.start)?.and(&vars.shared_equal(Copy::Start(0), Copy::Now(0))?)?;
    rules.add(0, (0, 0, graph.procedures[0].entry), start)?;
    let failure = rules.saturate(0, None, stop_at_failure)?;
    Ok((rules, failure))
}

/// R8: the entry is forgotten.
#[cfg(test)]
pub(crate) fn reachable(rules: &Rules<'_>) -> Result<Reachable> {
    let vars = rules.vars;
    let cube = forget_entry(vars)?;
    let mut reachable = Reachable::new();
    for (&(procedure, _, node), facts) in &rules.h[0] {
        reachable.insert((procedure, node), facts.exists(&cube)?);
    }
    Ok(reachable)
}

/// R0 to R3, then R4 to R6.
pub(crate) fn eager(vars: &Vars, graph: &Graph, initial: &Bdd) -> Result<Reachable> {
    let mut rules = Rules::new(vars, graph)?;
    rules.on_call = false;
    for (number, procedure) in graph.procedures.iter().enumerate() {
        // R0: any shared state, any parameters; locals begin as the procedure says
        let start = match number {
            0 => graph.start.and(&vars.shared_equal(Copy::Start(0), Copy::Now(0))?)?,
            _ => rules.begin(0, number, &vars.space.yes())?,
        };
        rules.add(0, (number, 0, procedure.entry), start)?;
    }
    rules.saturate(0, None, false)?;

    let entry_cube = vars.shared_cube([Copy::Entry])?;
    let first = vars.space.cube(vars.all_shared(Copy::Start(0)))?;
    let to_entry = vars.shared_renaming([(Copy::Now(0), Copy::Entry)]);
    let from_start = vars.shared_renaming([(Copy::Entry, Copy::Start(0))]);
    let now_and_locals =
        vars.space.cube(vars.all_shared(Copy::Now(0)).chain(vars.locals().iter().copied()))?;
    // What procedures are entered with: `Entry` and parameters. R4
    let mut entered: BTreeMap<usize, Bdd> = BTreeMap::from([(0, initial.clone())]);
    let mut waiting = entered.clone();
    let mut reachable = Reachable::new();
    while let Some((procedure, new)) = waiting.pop_first() {
        vars.poll()?;
        for node in 0..graph.procedures[procedure].nodes.len() {
            let Some(facts) = rules.h[0].get(&(procedure, 0, node)) else { continue };
            // R5
            let here = match procedure {
                0 => facts.and_exists(&new.rename(&from_start)?, &first)?,
                _ => facts.and_exists(&new, &entry_cube)?.exists(&vars.own_params)?,
            };
            let known = reachable.entry((procedure, node)).or_insert_with(|| vars.space.no());
            let fresh = here.minus(known)?;
            *known = known.or(&fresh)?;
            for call in &graph.procedures[procedure].nodes[node].calls {
                // R6
                let called = call.arguments.and_exists(vars, &fresh, 0, &vars.all_locals)?;
                let called = called.rename(&to_entry)?.rename(&vars.params_become_own)?;
                debug_assert!(called.exists(&now_and_locals)? == called);
                let known = entered.entry(call.callee).or_insert_with(|| vars.space.no());
                let fresh = called.minus(known)?;
                if !fresh.is_false() {
                    *known = known.or(&fresh)?;
                    let more = waiting.remove(&call.callee).unwrap_or_else(|| vars.space.no());
                    waiting.insert(call.callee, more.or(&fresh)?);
                }
            }
        }
    }
    Ok(reachable)
}

/// A node at which something goes wrong.
pub(crate) fn failing(vars: &Vars, graph: &Graph, reachable: &Reachable) -> Result<bool> {
    for (&(procedure, node), states) in reachable {
        for (_, bad) in &graph.procedures[procedure].nodes[node].bad {
            if !states.disjoint(&bad.at(vars, 0)?)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

#[cfg(test)]
fn forget_entry(vars: &Vars) -> Result<preempt_bdd::Cube> {
    let shared = vars.all_shared(Copy::Entry).chain(vars.all_shared(Copy::Start(0)));
    let params = (0..vars.param_count()).map(|slot| vars.param(slot));
    Ok(vars.space.cube(shared.chain(params))?)
}
