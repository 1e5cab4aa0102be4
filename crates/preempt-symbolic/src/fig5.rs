//! Paper 002, Fig. 5: threads that share variables, round robin, with a bound on the contexts of each.
//!
//! Lazy: a thread is analysed in its context k when it is known what the threads before it do in that context and those
//! after it in the contexts before (rules R8 to R12); E contains only what can happen. As everything comes in the order
//! of the round robin, nothing has to be done twice.
//!
//! Eager (section 7): each thread is analysed as if the others could do anything (a universal E); then R11 and the rule
//! Checker tell what fits. Threads with the same code are analysed once.

use crate::graph::Graph;
use crate::handoff::Handoff;
use crate::rules::{Failure, Key, Rules};
use crate::stop::{Result, Watch};
use crate::vars::{Copy, Vars};
use preempt_bdd::{Bdd, Cube};

/// How the others are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    #[default]
    Lazy,
    Eager,
}

pub(crate) struct Analysis<'a> {
    vars: &'a Vars,
    method: Method,
    /// For each thread the number of its program.
    programs: &'a [usize],
    /// H and S: for each thread if lazy, for each program if eager.
    rules: Vec<Rules<'a>>,
    pub handoff: Handoff<'a>,
    /// What E does not tell: entry, parameters, locals.
    inside: Cube,
}

/// Something goes wrong in thread `thread` in its context `context`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    pub thread: usize,
    pub context: usize,
    pub node: Key,
    pub edge: u32,
    /// Starts and ends of the thread's contexts with which it does, and which fit the other threads: over
    /// `Start(0..=context)` and `Now(0..=context)`.
    pub vectors: Bdd,
}

impl<'a> Analysis<'a> {
    pub fn new(
        vars: &'a Vars,
        graphs: &'a [Graph],
        programs: &'a [usize],
        initial: Bdd,
        method: Method,
    ) -> Result<Analysis<'a>> {
        let used: Vec<usize> = match method {
            Method::Lazy => programs.to_vec(),
            Method::Eager => (0..graphs.len()).collect(),
        };
        let rules = used.iter().map(|&graph| Rules::new(vars, &graphs[graph])).collect::<Result<_>>()?;
        let entry = vars.all_shared(Copy::Entry);
        let params = (0..vars.param_count()).map(|slot| vars.param(slot));
        let inside = vars.space.cube(entry.chain(params).chain(vars.locals().iter().copied()))?;
        let handoff = Handoff::new(vars, programs.len(), initial);
        Ok(Analysis { vars, method, programs, rules, handoff, inside })
    }

    /// Context `k` of every thread, after those before it. The first thing that goes wrong, if something does.
    pub fn round(&mut self, k: usize, watch: &mut Watch<'_>) -> Result<Option<Found>> {
        if k > 0 {
            self.handoff.close(k - 1)?;
        }
        match self.method {
            Method::Lazy => self.lazy_round(k, watch),
            Method::Eager => self.eager_round(k, watch),
        }
    }

    fn lazy_round(&mut self, k: usize, watch: &mut Watch<'_>) -> Result<Option<Found>> {
        for thread in 0..self.programs.len() {
            let valid = self.handoff.valid(thread, k)?;
            self.seed(thread, k, Some(&valid))?;
            if let Some(failure) = self.rules[thread].saturate(k, Some(&valid), true, watch)? {
                return Ok(Some(self.found(thread, k, failure)?));
            }
            let effect = self.effect(thread, k)?;
            self.handoff.push(k, effect)?;
        }
        Ok(None)
    }

    fn eager_round(&mut self, k: usize, watch: &mut Watch<'_>) -> Result<Option<Found>> {
        for program in 0..self.rules.len() {
            self.seed(program, k, None)?;
            self.rules[program].saturate(k, None, false, watch)?;
        }
        let effects =
            (0..self.rules.len()).map(|program| self.effect(program, k)).collect::<Result<Vec<_>>>()?;
        for thread in 0..self.programs.len() {
            watch.look()?;
            let program = self.programs[thread];
            let valid = self.handoff.valid(thread, k)?;
            for (&key, facts) in &self.rules[program].h[k] {
                let facts = facts.and(&valid)?;
                if let Some(failure) = self.rules[program].failure(k, key, &facts)? {
                    return Ok(Some(self.found(thread, k, failure)?));
                }
            }
            self.handoff.push(k, effects[program].clone())?;
        }
        Ok(None)
    }

    fn found(&self, thread: usize, context: usize, failure: Failure) -> Result<Found> {
        let vectors = failure.states.exists(&self.inside)?;
        Ok(Found { thread, context, node: failure.key, edge: failure.edge, vectors })
    }

    /// R10 and R12 for the first context, R8 and R9 for later ones.
    fn seed(&mut self, rules: usize, k: usize, valid: Option<&Bdd>) -> Result<()> {
        let vars = self.vars;
        let same = vars.shared_equal(Copy::Start(k), Copy::Now(k))?;
        let rules = &mut self.rules[rules];
        if k == 0 {
            let start = rules.graph.start.and(valid.unwrap_or(&vars.space.yes()))?.and(&same)?;
            return rules.add(0, (0, 0, rules.graph.procedures[0].entry), start);
        }
        for (key, facts) in left(rules, k - 1)? {
            let mut facts = facts;
            if let Some(valid) = valid {
                facts = facts.and(valid)?;
            }
            rules.add(k, key, facts.and(&same)?)?;
        }
        Ok(())
    }

    /// R11.
    fn effect(&self, rules: usize, k: usize) -> Result<Bdd> {
        let mut effect = self.vars.space.no();
        for (_, facts) in left(&self.rules[rules], k)? {
            effect = effect.or(&facts.exists(&self.inside)?)?;
        }
        Ok(effect)
    }
}

/// Where the context can end, and where the thread goes on then: anywhere but inside an atomic sequence, unless it is
/// blocked there.
pub(crate) fn left(rules: &Rules<'_>, k: usize) -> Result<Vec<(Key, Bdd)>> {
    let mut ends = Vec::new();
    for (&(procedure, entry, node), facts) in &rules.h[k] {
        let content = &rules.graph.procedures[procedure].nodes[node];
        let facts = match content.exclusive {
            true => facts.and(&content.blocked.at(rules.vars, k)?)?,
            false => facts.clone(),
        };
        ends.push(((procedure, entry, content.resume), facts));
    }
    Ok(ends)
}
