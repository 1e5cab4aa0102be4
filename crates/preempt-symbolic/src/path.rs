//! The steps of one thread, when it is known which shared state each of its contexts begins and ends with.
//!
//! The rules are applied once more, to these states only, and what they add is logged. A fact is explained by facts that
//! were added before it (its *stamp* is smaller), so that going back ends; a call is explained by its caller and by the
//! facts at its return (`returns`). To log while the verdict was computed would keep every set that was ever new, for all
//! threads and all states, to explain a single run.

mod returns;

use crate::error::Result;
use crate::graph::Graph;
use crate::rules::{Key, Rules};
use crate::schedule::{Contexts, Shared, point};
use crate::vars::{Copy, Vars};
use preempt_bdd::{Bdd, Variable};

/// One step of a thread: which edge it takes, and what is known of the state after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Taken {
    pub context: usize,
    pub edge: u32,
    pub shared: Shared,
    /// Of the procedure in which the thread is after the step, where they are known.
    pub locals: Option<Vec<u64>>,
}

/// A single fact: a member of H.
#[derive(Debug, Clone)]
struct Fact {
    context: usize,
    key: Key,
    entry: Shared,
    params: Vec<u64>,
    now: Shared,
    locals: Vec<u64>,
    /// It is a member of what was logged before this.
    stamp: usize,
}

struct Explainer<'a> {
    vars: &'a Vars,
    graph: &'a Graph,
    rules: Rules<'a>,
    contexts: &'a Contexts,
}

/// Where the thread's run is to end.
pub(crate) enum Goal {
    /// After its last context.
    End,
    /// With this edge of this node, which goes wrong.
    Failure(Key, u32),
}

/// The thread's steps, those of its last context last. `None` if there are none, which would be a mistake here.
pub(crate) fn path(
    vars: &Vars,
    graph: &Graph,
    contexts: &Contexts,
    goal: &Goal,
) -> Result<Option<Vec<Taken>>> {
    let count = contexts.starts.len();
    let mut rules = Rules::new(vars, graph)?;
    rules.log = Some(Vec::new());
    for k in 0..count {
        let starts = point(vars, Copy::Start, &contexts.starts[..=k])?;
        let valid = starts.and(&point(vars, Copy::Now, &contexts.ends[..k])?)?;
        let same = vars.shared_equal(Copy::Start(k), Copy::Now(k))?.and(&valid)?;
        if k == 0 {
            let start = graph.start.and(&same)?;
            rules.add(0, (0, 0, graph.procedures[0].entry), start)?;
        } else {
            for (key, facts) in crate::round_robin::left(&rules, k - 1)? {
                rules.add(k, key, facts.and(&same)?)?;
            }
        }
        rules.saturate(k, Some(&valid), false)?;
    }
    let last = count - 1;
    let end = vars.space.point(&zip(vars.all_shared(Copy::Now(last)), &contexts.ends[last]))?;
    let explainer = Explainer { vars, graph, rules, contexts };
    let stamp = explainer.rules.log.as_ref().map_or(0, Vec::len);
    match goal {
        Goal::End => {
            for (&key, facts) in &explainer.rules.h[last] {
                let node = &graph.procedures[key.0].nodes[key.2];
                let mut facts = facts.and(&end)?;
                if node.exclusive {
                    facts = facts.and(&node.blocked.at(vars, last)?)?;
                }
                if !facts.is_false() {
                    let fact = explainer.fact(last, key, &facts, stamp)?;
                    return Ok(Some(explainer.explain(fact, true)?.0));
                }
            }
            Ok(None)
        }
        Goal::Failure(key, edge) => {
            let node = &graph.procedures[key.0].nodes[key.2];
            for (number, bad) in node.bad.iter().filter(|(number, _)| number == edge) {
                let Some(facts) = explainer.rules.h[last].get(key) else { continue };
                let facts = facts.and(&bad.at(vars, last)?)?.and(&end)?;
                if !facts.is_false() {
                    let fact = explainer.fact(last, *key, &facts, stamp)?;
                    let (mut steps, _) = explainer.explain(fact.clone(), true)?;
                    steps.push(Taken { context: last, edge: *number, shared: fact.now, locals: None });
                    return Ok(Some(steps));
                }
            }
            Ok(None)
        }
    }
}

fn zip(variables: impl Iterator<Item = Variable>, values: &[u64]) -> Vec<(Variable, u64)> {
    variables.zip(values.iter().copied()).collect()
}

impl<'a> Explainer<'a> {
    /// Everything logged for a node before a stamp.
    fn known(&self, context: usize, key: Key, stamp: usize) -> Result<Bdd> {
        let mut known = self.vars.space.no();
        for (k, place, facts) in self.rules.log.iter().flatten().take(stamp) {
            if (*k, *place) == (context, key) {
                known = known.or(facts)?;
            }
        }
        Ok(known)
    }

    /// When a fact was added.
    fn stamp(&self, context: usize, key: Key, point: &Bdd, before: usize) -> Result<usize> {
        for (number, (k, place, facts)) in self.rules.log.iter().flatten().take(before).enumerate() {
            if (*k, *place) == (context, key) && !facts.disjoint(point)? {
                return Ok(number);
            }
        }
        Ok(before)
    }

    fn params(&self) -> impl Iterator<Item = Variable> + '_ {
        (0..self.vars.param_count()).map(|slot| self.vars.param(slot))
    }

    /// One member of a set of facts of a node.
    fn fact(&self, context: usize, key: Key, facts: &Bdd, before: usize) -> Result<Fact> {
        let vars = self.vars;
        let now = vars.all_shared(Copy::Now(context));
        let variables: Vec<Variable> = vars
            .all_shared(Copy::Entry)
            .chain(self.params())
            .chain(now)
            .chain(vars.locals().iter().copied())
            .collect();
        let values = vars.space.pick(facts, &variables).unwrap_or_else(|| vec![0; variables.len()]);
        let (entry, rest) = values.split_at(vars.shared_count());
        let (params, rest) = rest.split_at(vars.param_count());
        let (now, locals) = rest.split_at(vars.shared_count());
        let point =
            vars.space.point(&variables.iter().copied().zip(values.iter().copied()).collect::<Vec<_>>())?;
        let stamp = self.stamp(context, key, &point, before)?;
        Ok(Fact {
            context,
            key,
            entry: entry.to_vec(),
            params: params.to_vec(),
            now: now.to_vec(),
            locals: locals.to_vec(),
            stamp,
        })
    }

    /// The same entry and parameters: facts of the same activation of a procedure.
    fn same_activation(&self, fact: &Fact) -> Result<Bdd> {
        if fact.key.0 == 0 {
            return Ok(self.vars.space.yes());
        }
        let entry = zip(self.vars.all_shared(Copy::Entry), &fact.entry);
        Ok(self.vars.space.point(&entry)?.and(&self.vars.space.point(&zip(self.params(), &fact.params))?)?)
    }

    fn state(&self, k: usize, now: &[u64], locals: &[u64]) -> Result<Bdd> {
        let vars = self.vars;
        let state = vars.space.point(&zip(vars.all_shared(Copy::Now(k)), now))?;
        Ok(state.and(&vars.space.point(&zip(vars.locals().iter().copied(), locals))?)?)
    }

    /// The steps to a fact, and the fact that they begin with: at the beginning of the thread, or (unless `whole`) at
    /// the entry of the fact's procedure.
    fn explain(&self, fact: Fact, whole: bool) -> Result<(Vec<Taken>, Fact)> {
        let mut steps = Vec::new();
        let mut fact = fact;
        loop {
            self.vars.poll()?;
            if self.is_entry(&fact)? {
                if fact.key.0 == 0 || !whole {
                    break;
                }
                let (caller, edge) = self.caller(&fact)?;
                let locals = Some(fact.locals);
                steps.push(Taken { context: fact.context, edge, shared: fact.now, locals });
                fact = caller;
            } else if let Some(before) = self.before_switch(&fact)? {
                fact = before;
            } else if let Some((before, edge)) = self.before_step(&fact)? {
                let locals = Some(fact.locals);
                steps.push(Taken { context: fact.context, edge, shared: fact.now, locals });
                fact = before;
            } else if let Some((before, inner)) = self.before_return(&fact)? {
                steps.extend(inner.into_iter().rev());
                fact = before;
            } else {
                break;
            }
        }
        steps.reverse();
        Ok((steps, fact))
    }

    fn is_entry(&self, fact: &Fact) -> Result<bool> {
        let (procedure, context, node) = fact.key;
        let content = &self.graph.procedures[procedure];
        if node != content.entry || fact.context != context {
            return Ok(false);
        }
        let here = self.state(context, &fact.now, &fact.locals)?;
        if procedure == 0 {
            return Ok(fact.now == self.contexts.starts[0] && !here.disjoint(&self.graph.start)?);
        }
        let params = self.vars.space.point(&zip(self.params(), &fact.params))?;
        let init = content.init.at(self.vars, context)?;
        Ok(fact.now == fact.entry && !init.and(&params)?.disjoint(&here)?)
    }

    /// R7 backwards: who called, and by which edge.
    fn caller(&self, fact: &Fact) -> Result<(Fact, u32)> {
        let vars = self.vars;
        let k = fact.context;
        let handed = (0..vars.param_count()).map(|slot| vars.param_handed(slot));
        let now = vars.space.point(&zip(vars.all_shared(Copy::Now(k)), &fact.now))?;
        let wanted = now.and(&vars.space.point(&zip(handed, &fact.params))?)?;
        for (procedure, content) in self.graph.procedures.iter().enumerate() {
            for (node, calls) in
                content.nodes.iter().enumerate().map(|(node, content)| (node, &content.calls))
            {
                for call in calls.iter().filter(|call| call.callee == fact.key.0) {
                    for entry in 0..=k {
                        let key = (procedure, entry, node);
                        let known = self.known(k, key, fact.stamp)?;
                        let before = call.arguments.and(vars, &known.and(&wanted)?, k)?;
                        if !before.is_false() {
                            return Ok((self.fact(k, key, &before, fact.stamp)?, call.edge));
                        }
                    }
                }
            }
        }
        Ok((fact.clone(), u32::MAX))
    }

    /// R8 and R9 backwards: the thread was left here and goes on.
    fn before_switch(&self, fact: &Fact) -> Result<Option<Fact>> {
        let (procedure, entry, node) = fact.key;
        let k = fact.context;
        if k == 0 || entry == k || fact.now != self.contexts.starts[k] {
            return Ok(None);
        }
        let here =
            self.state(k - 1, &self.contexts.ends[k - 1], &fact.locals)?.and(&self.same_activation(fact)?)?;
        for (other, content) in self.graph.procedures[procedure].nodes.iter().enumerate() {
            if content.resume != node {
                continue;
            }
            let key = (procedure, entry, other);
            let mut before = self.known(k - 1, key, fact.stamp)?.and(&here)?;
            if content.exclusive {
                before = before.and(&content.blocked.at(self.vars, k - 1)?)?;
            }
            if !before.is_false() {
                return Ok(Some(self.fact(k - 1, key, &before, fact.stamp)?));
            }
        }
        Ok(None)
    }

    /// R1 backwards.
    fn before_step(&self, fact: &Fact) -> Result<Option<(Fact, u32)>> {
        let (procedure, entry, node) = fact.key;
        let same = self.same_activation(fact)?;
        for (other, content) in self.graph.procedures[procedure].nodes.iter().enumerate() {
            for step in content.steps.iter().filter(|step| step.target == node) {
                let key = (procedure, entry, other);
                let known = self.known(fact.context, key, fact.stamp)?;
                if known.is_false() {
                    continue;
                }
                let states = step.relation.before(self.vars, fact.context, (&fact.now, &fact.locals))?;
                let before = known.and(&same)?.and(&states)?;
                if !before.is_false() {
                    return Ok(Some((self.fact(fact.context, key, &before, fact.stamp)?, step.edge)));
                }
            }
        }
        Ok(None)
    }
}
