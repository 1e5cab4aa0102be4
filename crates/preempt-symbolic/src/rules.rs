//! The rules that stay within a thread: R1, R2, R3 and R7 of Fig. 3, R1', R2', R3' and R7' of Fig. 5 of Lal and Reps 2009
//! (paper 002).
//!
//! H holds, for each node, how the thread can get there: over the shared state at the start of each context (`Start`,
//! g0), the shared state and parameters at the entry of the procedure (`Entry`, g1 and l1), and the shared state at the
//! end of each context with the current one last (`Now`, g2) and the locals (l2). With one context, this is Fig. 3.
//!
//! Two points in which Fig. 5 as printed is not enough:
//!
//! * A summary must know in which context its procedure was entered: a summary of a call that began in context 1
//!   changes the shared state of context 1, which for a caller that is already in context 2 is over. So H and S are
//!   kept apart by the context of the entry, and only the entry's own context is part of g1.
//! * R2' may join a caller with a summary that was found under another history g0. What comes out is true of the thread
//!   but need not fit the other threads; `valid` (see `handoff`) keeps what does.
//!
//! They are applied to what is new, until nothing is: a worklist over nodes, in which an order saves most of the work. A
//! node comes after those that lead to it, so that many small sets arrive as one; callers come before callees, so that a
//! callee is entered once with everything; and summaries are delivered when nothing else is left to do, those of the
//! innermost procedures first, so that they are fewer and larger.

use crate::error::Result;
use crate::graph::{Call, Graph, Return};
use crate::vars::{Copy, Vars};
use preempt_bdd::{Bdd, Cube, Renaming};
use std::collections::BTreeMap;

/// Procedure, context of its entry, node.
pub(crate) type Key = (usize, usize, usize);

/// Procedure, context of its entry, context of its exit, and whether it is left inside an atomic sequence.
pub(crate) type SummaryKey = (usize, usize, usize, bool);

/// A fact as it was added: in which context, where, and what was new.
pub(crate) type Entry = (usize, Key, Bdd);

pub(crate) struct Rules<'a> {
    pub vars: &'a Vars,
    pub graph: &'a Graph,
    /// H for each context.
    pub h: Vec<BTreeMap<Key, Bdd>>,
    pub s: BTreeMap<SummaryKey, Bdd>,
    /// Are procedures analysed only for the states in which they are called (R7)?
    pub on_call: bool,
    /// Everything in the order in which it was added, if somebody wants to know.
    pub log: Option<Vec<Entry>>,
    /// What is new in H and in S: procedure, context of its entry, rank of the node, node. Callers go first, and within
    /// a procedure what comes earlier, so that everything that enters a callee enters it together; summaries are
    /// delivered when nothing else is left to do, those of the innermost procedures first.
    waiting: BTreeMap<(usize, usize, usize, usize), Bdd>,
    pending: BTreeMap<(usize, usize, bool), Bdd>,
    /// For each procedure the nodes and calls that call it.
    callers: Vec<Vec<(usize, usize, usize)>>,
    forget_caller: Cube,
    entered: BTreeMap<usize, Bdd>,
    joins: BTreeMap<usize, Join>,
    summaries: BTreeMap<usize, Cube>,
}

/// How callers in one context meet summaries: in `Next` and in the parameters handed over.
struct Join {
    caller: Renaming,
    summary: Renaming,
    forgotten: Cube,
}

/// Where something goes wrong.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Failure {
    pub key: Key,
    pub edge: u32,
    /// The part of H at the node that fails.
    pub states: Bdd,
}

impl<'a> Rules<'a> {
    pub fn new(vars: &'a Vars, graph: &'a Graph) -> Result<Rules<'a>> {
        let mut callers = vec![Vec::new(); graph.procedures.len()];
        for (number, procedure) in graph.procedures.iter().enumerate() {
            for (node, content) in procedure.nodes.iter().enumerate() {
                for (index, call) in content.calls.iter().enumerate() {
                    callers[call.callee].push((number, node, index));
                }
            }
        }
        let entry = vars.all_shared(Copy::Entry);
        let params = (0..vars.param_count()).map(|slot| vars.param(slot));
        let forget_caller = vars.space.cube(entry.chain(params).chain(vars.locals().iter().copied()))?;
        Ok(Rules {
            vars,
            graph,
            h: vec![BTreeMap::new(); vars.contexts],
            s: BTreeMap::new(),
            on_call: true,
            log: None,
            waiting: BTreeMap::new(),
            pending: BTreeMap::new(),
            callers,
            forget_caller,
            entered: BTreeMap::new(),
            joins: BTreeMap::new(),
            summaries: BTreeMap::new(),
        })
    }

    /// Adds facts of context `k`; what is new waits for the rules to be applied to it.
    pub fn add(&mut self, k: usize, key: Key, facts: Bdd) -> Result<()> {
        let known = self.h[k].get(&key);
        let new = match known {
            Some(known) => facts.minus(known)?,
            None => facts,
        };
        if new.is_false() {
            return Ok(());
        }
        let all = match known {
            Some(known) => known.or(&new)?,
            None => new.clone(),
        };
        self.h[k].insert(key, all);
        if let Some(log) = &mut self.log {
            log.push((k, key, new.clone()));
        }
        let place = (key.0, key.1, self.graph.procedures[key.0].ranks[key.2], key.2);
        let waiting = match self.waiting.remove(&place) {
            Some(waiting) => waiting.or(&new)?,
            None => new,
        };
        self.waiting.insert(place, waiting);
        Ok(())
    }

    /// Applies the rules in context `k` until nothing is new, or until something fails if that is enough.
    /// `valid`: which starts and ends of contexts fit the other threads.
    pub fn saturate(
        &mut self,
        k: usize,
        valid: Option<&Bdd>,
        stop_at_failure: bool,
    ) -> Result<Option<Failure>> {
        loop {
            self.vars.poll()?;
            let Some(((procedure, entry, _, node), new)) = self.waiting.pop_first() else {
                let Some((&summary, _)) = self.pending.last_key_value() else { break };
                self.deliver(k, summary, valid)?;
                continue;
            };
            let key = (procedure, entry, node);
            let content = &self.graph.procedures[procedure].nodes[node];
            if stop_at_failure && let Some(failure) = self.failure(k, key, &new)? {
                self.waiting.clear();
                self.pending.clear();
                return Ok(Some(failure));
            }
            for step in &content.steps {
                // R1
                let after = step.relation.image(self.vars, &new, k)?;
                self.add(k, (procedure, entry, step.target), after)?;
            }
            for call in &content.calls {
                if self.on_call {
                    self.enter(k, call, &new)?;
                }
                for exclusive in [false, true] {
                    if let Some(summary) = self.s.get(&(call.callee, k, k, exclusive)).cloned() {
                        let target = call.targets[usize::from(exclusive)];
                        let after = self.join((k, k), &new, call, &summary)?;
                        self.add(k, (procedure, entry, target), after)?;
                    }
                }
            }
            for exit in &content.returns {
                self.leave(k, (procedure, entry), exit, &new)?;
            }
        }
        Ok(None)
    }

    pub fn failure(&self, k: usize, key: Key, facts: &Bdd) -> Result<Option<Failure>> {
        let content = &self.graph.procedures[key.0].nodes[key.2];
        for (edge, bad) in &content.bad {
            let states = facts.and(&bad.at(self.vars, k)?)?;
            if !states.is_false() {
                return Ok(Some(Failure { key, edge: *edge, states }));
            }
        }
        Ok(None)
    }

    /// R7: a procedure is entered with these arguments in this shared state.
    fn enter(&mut self, k: usize, call: &Call, caller: &Bdd) -> Result<()> {
        let callee = call.callee;
        let called = call.arguments.and_exists(self.vars, caller, k, &self.forget_caller)?;
        let called = called.rename(&self.vars.params_become_own)?;
        let begun = self.begin(k, callee, &called)?;
        self.add(k, (callee, k, self.graph.procedures[callee].entry), begun)
    }

    /// From shared state and parameters to the facts at the entry of a procedure: entry and now are the same.
    pub fn begin(&mut self, k: usize, procedure: usize, called: &Bdd) -> Result<Bdd> {
        if !self.entered.contains_key(&k) {
            self.entered.insert(k, self.vars.shared_equal(Copy::Entry, Copy::Now(k))?);
        }
        let init = self.graph.procedures[procedure].init.at(self.vars, k)?;
        Ok(called.and(&init)?.and(&self.entered[&k])?)
    }

    /// R3.
    fn leave(
        &mut self,
        k: usize,
        (procedure, entry): (usize, usize),
        exit: &Return,
        facts: &Bdd,
    ) -> Result<()> {
        let exclusive = exit.exclusive;
        if !self.summaries.contains_key(&entry) {
            // What was before the entry is the caller's.
            let starts = (0..=entry).map(Copy::Start);
            let history = starts.chain((0..entry).map(Copy::Now));
            let shared = history.flat_map(|copy| self.vars.all_shared(copy).collect::<Vec<_>>());
            let cube = self.vars.space.cube(shared.chain(self.vars.locals().iter().copied()))?;
            self.summaries.insert(entry, cube);
        }
        let summary = exit.values.and_exists(self.vars, facts, k, &self.summaries[&entry])?;
        let key = (procedure, entry, k, exclusive);
        let new = match self.s.get(&key) {
            Some(known) => summary.minus(known)?,
            None => summary,
        };
        if new.is_false() {
            return Ok(());
        }
        let all = match self.s.get(&key) {
            Some(known) => known.or(&new)?,
            None => new.clone(),
        };
        self.s.insert(key, all);
        let place = (procedure, entry, exclusive);
        let pending = match self.pending.remove(&place) {
            Some(pending) => pending.or(&new)?,
            None => new,
        };
        self.pending.insert(place, pending);
        Ok(())
    }

    /// R2 for every caller that has been waiting for a summary.
    fn deliver(&mut self, k: usize, summary: (usize, usize, bool), valid: Option<&Bdd>) -> Result<()> {
        let (procedure, entry, exclusive) = summary;
        let Some(new) = self.pending.remove(&summary) else { return Ok(()) };
        for (caller, node, index) in self.callers[procedure].clone() {
            let call = &self.graph.procedures[caller].nodes[node].calls[index];
            let target = call.targets[usize::from(exclusive)];
            for caller_entry in 0..=entry {
                let Some(before) = self.h[entry].get(&(caller, caller_entry, node)).cloned() else {
                    continue;
                };
                let mut after = self.join((entry, k), &before, call, &new)?;
                if let Some(valid) = valid.filter(|_| entry < k) {
                    after = after.and(valid)?;
                }
                self.add(k, (caller, caller_entry, target), after)?;
            }
        }
        Ok(())
    }

    /// R2: a call in context `from` that returns in context `to`.
    fn join(&mut self, (from, to): (usize, usize), caller: &Bdd, call: &Call, summary: &Bdd) -> Result<Bdd> {
        let vars = self.vars;
        if let std::collections::btree_map::Entry::Vacant(entry) = self.joins.entry(from) {
            let entered = vars.all_shared(Copy::Entry).zip(vars.all_shared(Copy::Next));
            let params = (0..vars.param_count()).map(|slot| (vars.param(slot), vars.param_handed(slot)));
            let handed = (0..vars.param_count()).map(|slot| vars.param_handed(slot));
            entry.insert(Join {
                caller: vars.shared_renaming([(Copy::Now(from), Copy::Next)]),
                summary: vars.space.renaming(entered.chain(params)),
                forgotten: vars.space.cube(vars.all_shared(Copy::Next).chain(handed))?,
            });
        }
        let Join { caller: leaves, summary: meets, forgotten } = &self.joins[&from];
        let caller = call.arguments.and(vars, caller, from)?.rename(leaves)?;
        let mut after = caller.and_exists(&summary.rename(meets)?, forgotten)?;
        if let Some(results) = &call.results {
            after = results.image(vars, &after, to)?;
        }
        Ok(after.exists(&vars.all_results)?)
    }
}
