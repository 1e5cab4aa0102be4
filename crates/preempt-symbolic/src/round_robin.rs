//! Lal and Reps 2009 (paper 002), Fig. 5: threads that share variables, round robin, with a bound on the contexts of each.
//!
//! For each thread j and each number k of contexts it computes E_j, the relation between the shared states at the starts of
//! the thread's contexts and those at their ends. By Theorem 2 (proved for two threads; `handoff` says what more threads
//! need) the shared states after k rounds are exactly those that fitting E_1, ..., E_n lead to, so that a bad node which
//! is met in context k means a run with k contexts of each thread, and none met means that there is no such run.
//!
//! *Lazy*: a thread is analysed in its context k when it is known what the threads before it do in that context and those
//! after it in the contexts before (rules R8 to R12); E contains only what can happen. As everything comes in the order
//! of the round robin, nothing has to be done twice. *Eager* (section 7): each thread is analysed as if the others could do
//! anything (a universal E); then R11 and the rule Checker tell what fits. Threads with the same code are analysed once.
//!
//! The cost is exponential in k, since E relates k shared states with k others: each context makes the Bluetooth driver
//! with three threads three to four times as slow. It is linear in the number of threads in the paper's bound, and about
//! twofold with every thread in our measurements, where composing the relations E takes most of the time; eager costs
//! hardly more than lazy (`results/paper-002.md`).

use crate::error::Result;
use crate::graph::Programs;
use crate::handoff::Handoff;
use crate::rules::{Failure, Key, Rules};
use crate::vars::{Copy, Vars};
use preempt_bdd::{Bdd, Cube};

/// When a thread is analysed: after it is known what the others do, or before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// After: only what can happen is looked at.
    #[default]
    Lazy,
    /// Before: as if the others could do anything. Equal threads are analysed once.
    Eager,
}

pub(crate) struct Analysis<'a> {
    vars: &'a Vars,
    method: Method,
    programs: &'a Programs,
    /// H and S: for each thread if lazy, for each program if eager.
    rules: Vec<Rules<'a>>,
    pub handoff: Handoff<'a>,
    /// What E does not tell: entry, parameters, locals.
    inside: Cube,
}

/// Something goes wrong in thread `thread` in its context `context`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FailingContext {
    pub thread: usize,
    pub context: usize,
    pub node: Key,
    pub edge: u32,
    /// Starts and ends of the thread's contexts with which it does, and which fit the other threads: over
    /// `Start(0..=context)` and `Now(0..=context)`.
    pub vectors: Bdd,
}

impl<'a> Analysis<'a> {
    pub fn new(vars: &'a Vars, programs: &'a Programs, initial: Bdd, method: Method) -> Result<Analysis<'a>> {
        let used: Vec<usize> = match method {
            Method::Lazy => programs.of_thread.clone(),
            Method::Eager => (0..programs.graphs.len()).collect(),
        };
        let rules =
            used.iter().map(|&graph| Rules::new(vars, &programs.graphs[graph])).collect::<Result<_>>()?;
        let entry = vars.all_shared(Copy::Entry);
        let params = (0..vars.param_count()).map(|slot| vars.param(slot));
        let inside = vars.space.cube(entry.chain(params).chain(vars.locals().iter().copied()))?;
        let handoff = Handoff::new(vars, programs.of_thread.len(), initial);
        Ok(Analysis { vars, method, programs, rules, handoff, inside })
    }

    /// Context `k` of every thread, after those before it. The first thing that goes wrong, if something does.
    pub fn round(&mut self, k: usize) -> Result<Option<FailingContext>> {
        if k > 0 {
            self.handoff.close(k - 1)?;
        }
        match self.method {
            Method::Lazy => self.lazy_round(k),
            Method::Eager => self.eager_round(k),
        }
    }

    fn lazy_round(&mut self, k: usize) -> Result<Option<FailingContext>> {
        for thread in 0..self.programs.of_thread.len() {
            let valid = self.handoff.valid(thread, k)?;
            self.seed(thread, k, Some(&valid))?;
            if let Some(failure) = self.rules[thread].saturate(k, Some(&valid), true)? {
                return Ok(Some(self.failing(thread, k, failure)?));
            }
            let effect = self.effect(thread, k)?;
            self.handoff.push(k, effect)?;
        }
        Ok(None)
    }

    fn eager_round(&mut self, k: usize) -> Result<Option<FailingContext>> {
        for program in 0..self.rules.len() {
            self.seed(program, k, None)?;
            self.rules[program].saturate(k, None, false)?;
        }
        let effects =
            (0..self.rules.len()).map(|program| self.effect(program, k)).collect::<Result<Vec<_>>>()?;
        for thread in 0..self.programs.of_thread.len() {
            self.vars.poll()?;
            let program = self.programs.of_thread[thread];
            let valid = self.handoff.valid(thread, k)?;
            for (&key, facts) in &self.rules[program].h[k] {
                let facts = facts.and(&valid)?;
                if let Some(failure) = self.rules[program].failure(k, key, &facts)? {
                    return Ok(Some(self.failing(thread, k, failure)?));
                }
            }
            self.handoff.push(k, effects[program].clone())?;
        }
        Ok(None)
    }

    fn failing(&self, thread: usize, context: usize, failure: Failure) -> Result<FailingContext> {
        let vectors = failure.states.exists(&self.inside)?;
        Ok(FailingContext { thread, context, node: failure.key, edge: failure.edge, vectors })
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
