//! Rules R2 and R3 of Lal and Reps 2009 (paper 002), Fig. 5, backwards: how a fact after a call came about.
//!
//! The fact after the return follows from a fact of the caller and a summary, and the summary from a fact at the return of
//! the callee. Both are found together, since they must agree on shared state, parameters and results; then the callee
//! is explained from its return back to its entry.

use super::{Explainer, Fact, Taken, zip};
use crate::error::Result;
use crate::graph::Call;
use crate::rules::Key;
use crate::vars::Copy;
use preempt_bdd::{Bdd, Variable};

/// A call that may have led to a fact: who calls, in which context, and whether it returns inside an atomic sequence.
struct Candidate<'c> {
    caller: Key,
    from: usize,
    call: &'c Call,
    exclusive: bool,
}

/// A return of the callee.
struct Exit {
    key: Key,
    edge: u32,
    /// The facts there, with the results.
    facts: Bdd,
}

impl Explainer<'_> {
    /// R2 and R3 backwards: the caller's fact, and the steps from the call to the return.
    pub fn before_return(&self, fact: &Fact) -> Result<Option<(Fact, Vec<Taken>)>> {
        let (procedure, entry, node) = fact.key;
        for (other, content) in self.graph.procedures[procedure].nodes.iter().enumerate() {
            for call in &content.calls {
                for exclusive in [false, true] {
                    if call.targets[usize::from(exclusive)] != node {
                        continue;
                    }
                    for from in entry..=fact.context {
                        let caller = (procedure, entry, other);
                        let explained = self.through(fact, &Candidate { caller, from, call, exclusive })?;
                        if explained.is_some() {
                            return Ok(explained);
                        }
                    }
                }
            }
        }
        Ok(None)
    }

    /// A call whose return leads to the fact.
    fn through(&self, fact: &Fact, candidate: &Candidate<'_>) -> Result<Option<(Fact, Vec<Taken>)>> {
        let Candidate { caller, from, call, exclusive } = *candidate;
        let vars = self.vars;
        let k = fact.context;
        let callers = self.known(from, caller, fact.stamp)?.and(&self.same_activation(fact)?)?;
        if callers.is_false() {
            return Ok(None);
        }
        // The caller before the call: over `Now(from)`, locals and the parameters handed over.
        let callers = call.arguments.and(vars, &callers, from)?;
        // Forget the caller's own entry, which the callee's takes the place of.
        let callers = callers.exists(&vars.shared_cube([Copy::Entry])?)?.exists(&vars.own_params)?;
        // After the return and before its results are stored: over `Now(k)`, locals and results.
        let after = match &call.results {
            Some(results) => results.before(vars, k, (&fact.now, &fact.locals))?,
            None => self.state(k, &fact.now, &fact.locals)?,
        };
        let after = after.rename(&vars.shared_renaming([(Copy::Now(k), Copy::Next)]))?;
        for (exit, content) in self.graph.procedures[call.callee].nodes.iter().enumerate() {
            for leaving in content.returns.iter().filter(|leaving| leaving.exclusive == exclusive) {
                let key = (call.callee, from, exit);
                let inside = self.known(k, key, fact.stamp)?;
                if inside.is_false() {
                    continue;
                }
                let inside = leaving.values.and(vars, &inside, k)?;
                // The callee: entry and parameters become the caller's state at the call, `Now(k)` becomes `Next`.
                let history = (0..k).map(Copy::Now).chain((0..=k).map(Copy::Start));
                let forgotten = inside.exists(&vars.shared_cube(history)?)?.exists(&vars.all_locals)?;
                let pairs = vars.all_shared(Copy::Entry).zip(vars.all_shared(Copy::Now(from)));
                let moved = vars.all_shared(Copy::Now(k)).zip(vars.all_shared(Copy::Next));
                let params = self.params().zip((0..vars.param_count()).map(|slot| vars.param_handed(slot)));
                let summary = forgotten.rename(&vars.space.renaming(pairs.chain(moved).chain(params)))?;
                let all = callers.and(&summary)?.and(&after)?;
                if all.is_false() {
                    continue;
                }
                let exit = Exit { key, edge: leaving.edge, facts: inside };
                return Ok(Some(self.split(fact, candidate, &exit, &all)?));
            }
        }
        Ok(None)
    }

    /// One member of `all`, which says how caller, callee and the fact fit together: the caller's fact before the call,
    /// and the steps from the call to the return.
    fn split(
        &self,
        fact: &Fact,
        candidate: &Candidate<'_>,
        exit: &Exit,
        all: &Bdd,
    ) -> Result<(Fact, Vec<Taken>)> {
        let Candidate { caller, from, call, .. } = *candidate;
        let vars = self.vars;
        let k = fact.context;
        let handed: Vec<Variable> = (0..vars.param_count()).map(|slot| vars.param_handed(slot)).collect();
        let groups = [
            vars.all_shared(Copy::Now(from)).collect::<Vec<_>>(),
            vars.locals().to_vec(),
            handed,
            vars.all_shared(Copy::Next).collect(),
            vars.results().to_vec(),
        ];
        let values = vars.space.pick(all, &groups.concat()).unwrap_or_default();
        let mut rest = values.as_slice();
        let [now, locals, params, left, results] = groups.each_ref().map(|group| {
            let (these, others) = rest.split_at(group.len().min(rest.len()));
            rest = others;
            these.to_vec()
        });
        // the callee, from its entry to its return
        let entry = vars.space.point(&zip(vars.all_shared(Copy::Entry), &now))?;
        let own = vars.space.point(&zip(self.params(), &params))?;
        let end = vars.space.point(&zip(vars.all_shared(Copy::Now(k)), &left))?;
        let results = vars.space.point(&zip(vars.results().iter().copied(), &results))?;
        let inside = exit.facts.and(&entry)?.and(&own)?.and(&end)?.and(&results)?;
        let last = self.fact(k, exit.key, &inside, fact.stamp)?;
        let (inner, begin) = self.explain(last, false)?;
        let mut steps =
            vec![Taken { context: from, edge: call.edge, shared: now.clone(), locals: Some(begin.locals) }];
        steps.extend(inner);
        steps.push(Taken {
            context: k,
            edge: exit.edge,
            shared: fact.now.clone(),
            locals: Some(fact.locals.clone()),
        });
        // the caller before the call
        let before = self.known(from, caller, fact.stamp)?.and(&self.same_activation(fact)?)?;
        let before = before.and(&self.state(from, &now, &locals)?)?;
        Ok((self.fact(from, caller, &before, fact.stamp)?, steps))
    }
}
