//! Error projection: every statement that lies on some error trace within K contexts of each thread.
//!
//! A. Lal, N. Kidd, T. Reps and T. Touili, "Abstract error projection" (SAS 2007; reference 11 of paper 002, section 4), on the reduced system
//! of Fig. 4. A rule lies on an error trace if a configuration to which it can be applied is reached from the beginning and what
//! it leads to reaches an error. Both are known: post* has the one, pre* the other, each as an automaton whose weights relate
//! tuples of shared states. That the same stack lies below is said by reading it with both automata at once, and that calls and
//! returns match by composing weights level by level: for a pair (q, r) of states the *bracket* B(q, r) holds the pairs (a, b) such that,
//! if what is above leads from a to b, the whole is a run with fitting rounds. Brackets are computed once, from the bottom of
//! the stack upwards, and serve every rule.
//!
//! A run ends where it goes wrong. So for every K' up to K and every thread the reduced system is made anew: the thread goes
//! wrong in its last round, those before it have K' rounds, and those after it one less (`Turns`). Cost: K times the threads
//! analyses in both directions, and a fix-point over pairs of states of the automata.

use crate::automaton::{Automaton, NOTHING};
use crate::check::{PushdownOptions, prepare, reason};
use crate::program::{Lowered, unsupported};
use crate::semiring::{Semiring, Unfinished, go_on};
use crate::symbolic::analysis::{backward, forward, open};
use crate::symbolic::relations::Relations;
use crate::symbolic::{Reduced, Turns, reduce};
use crate::system::{State, Word};
use preempt_bdd::{Bdd, TableOptions};
use preempt_core::{Budget, Progress, SourceMap, StopReason, run_supervised};
use preempt_model::{Interpreter, Model, System};
use preempt_symbolic::Unsupported;
pub use preempt_symbolic::threads::EdgeAt;
use preempt_symbolic::threads::Threads;
use std::collections::{BTreeMap, BTreeSet};

/// The edges of the program that lie on some error trace, or why that is not known.
pub type Projected = Result<BTreeSet<EdgeAt>, StopReason>;

/// Every edge that lies on an error trace with at most so many contexts of each thread (two, if the options do not say).
///
/// ```
/// use preempt_core::Silent;
/// use preempt_pushdown::{PushdownOptions, projection::project};
///
/// let text = "decl x, y; void main() begin x := F; y := F; if * then x := T; else y := T; fi assert(!x); end";
/// let loaded = preempt_boolean::load("p.bp", text, &Default::default());
/// let model = loaded.model.expect("there are no mistakes in it");
/// let edges = project(&model, &loaded.sources, &PushdownOptions::default(), &mut Silent)?.expect("no limit is reached");
/// let texts: Vec<&str> = edges
///     .iter()
///     .map(|(code, location, edge)| &*model.code(*code).location(*location).edges[*edge as usize].text)
///     .collect();
/// assert!(texts.contains(&"x := T") && !texts.contains(&"y := T"), "{texts:?}");
/// # Ok::<(), preempt_symbolic::Unsupported>(())
/// ```
pub fn project(
    model: &Model,
    sources: &SourceMap,
    options: &PushdownOptions,
    progress: &mut dyn Progress,
) -> Result<Projected, Unsupported> {
    if let Some(what) = unsupported(model) {
        return Err(Unsupported(what.to_string()));
    }
    let budget = Budget::within(&options.limits);
    let owned = (model.clone(), sources.clone(), options.clone(), budget.clone());
    let snapshot = || budget.counters().snapshot();
    run_supervised(&budget, progress, snapshot, move || {
        let (model, sources, options, budget) = &owned;
        let prepared = match prepare(model, sources, options.instances, budget)? {
            Ok(prepared) => prepared,
            Err(reason) => return Ok(Err(reason)),
        };
        let found = prepared.lowered.as_ref().map_err(|unfinished| *unfinished).and_then(|lowered| {
            let contexts = options.contexts.unwrap_or(USUAL_CONTEXTS);
            let contexts = if lowered.system.threads.len() < 2 { 1 } else { contexts };
            edges(lowered, contexts as usize, options.table, budget)
        });
        Ok(match found {
            Ok(mut edges) => {
                if !edges.is_empty() {
                    edges.extend(prelude(&prepared.interpreter, &prepared.threads));
                }
                Ok(edges)
            }
            Err(unfinished) => Err(reason(unfinished, budget)),
        })
    })
    .unwrap_or_else(|reason| Ok(Err(reason)))
}

/// Contexts of each thread where nobody says how many.
pub const USUAL_CONTEXTS: u32 = 2;

/// The steps before the analysis begins lie on every trace.
fn prelude(interpreter: &Interpreter<'_>, threads: &Threads) -> Vec<EdgeAt> {
    let mut edges = Vec::new();
    let mut state = interpreter.initial_states().swap_remove(0);
    for (pid, action) in &threads.prelude {
        if let Some((code, location)) = interpreter.place_of(&state, *pid) {
            edges.push((code, location, action.edge));
        }
        let next = interpreter.successors(&state, *pid).into_iter().find(|next| next.action == *action);
        let Some(next) = next.and_then(|next| next.state) else { break };
        state = next;
    }
    edges
}

fn edges(
    lowered: &Lowered,
    contexts: usize,
    table: TableOptions,
    budget: &Budget,
) -> Result<BTreeSet<EdgeAt>, Unfinished> {
    let system = &lowered.system;
    let mut tags: BTreeSet<u32> = BTreeSet::new();
    for contexts in 1..=contexts {
        for failing in (0..system.threads.len()).filter(|thread| system.threads[*thread].bad.is_some()) {
            let relations = Relations::new(system.states, contexts, table, budget)?;
            let reduced = reduce(system, Turns { contexts, failing: Some(failing) }, &relations)?;
            let beginnings = relations.beginnings(system.initial, &open(system))?;
            let reached = forward(system, &reduced, &relations, &beginnings, budget)?.automaton;
            let reaching = backward(system, &reduced, &relations, budget)?;
            let both = Both { reduced: &reduced, relations: &relations, reached, reaching, budget };
            both.collect(lowered, &beginnings, &mut tags)?;
        }
    }
    Ok(tags.into_iter().filter_map(|tag| lowered.statements[tag as usize]).collect())
}

/// What can be reached, and what can reach an error.
struct Both<'a> {
    reduced: &'a Reduced,
    relations: &'a Relations,
    reached: Automaton<Bdd>,
    reaching: Automaton<Bdd>,
    budget: &'a Budget,
}

/// B(q, r).
type Brackets = BTreeMap<(State, State), Bdd>;

impl Both<'_> {
    /// From the bottom of the stack upwards.
    fn brackets(&self, beginnings: &Bdd) -> Result<Brackets, Unfinished> {
        let mut below: BTreeMap<State, Vec<usize>> = BTreeMap::new();
        for (edge, transition) in self.reached.transitions.iter().enumerate() {
            if transition.from >= self.reached.controls && transition.symbol != NOTHING {
                below.entry(transition.to).or_default().push(edge);
            }
        }
        let mut reading: BTreeMap<State, BTreeMap<u32, Vec<usize>>> = BTreeMap::new();
        for (edge, transition) in self.reaching.transitions.iter().enumerate() {
            reading.entry(transition.to).or_default().entry(transition.symbol).or_default().push(edge);
        }
        let whole = beginnings.and(&self.relations.fitting()?)?;
        let mut brackets = Brackets::new();
        let mut waiting = Brackets::new();
        for &q in &self.reached.finals {
            for &r in &self.reaching.finals {
                brackets.insert((q, r), whole.clone());
                waiting.insert((q, r), whole.clone());
            }
        }
        while let Some(((q, r), news)) = waiting.pop_first() {
            go_on(self.budget)?;
            for &first in below.get(&q).map_or(&[][..], Vec::as_slice) {
                let first = &self.reached.transitions[first];
                let same = reading.get(&r).and_then(|symbols| symbols.get(&first.symbol));
                for &last in same.map_or(&[][..], Vec::as_slice) {
                    let last = &self.reaching.transitions[last];
                    let more = self.relations.wrap(&news, &first.weight, &last.weight)?;
                    let key = (first.from, last.from);
                    let fresh = match brackets.get(&key) {
                        Some(known) => more.minus(known)?,
                        None => more,
                    };
                    if fresh.is_false() {
                        continue;
                    }
                    for map in [&mut brackets, &mut waiting] {
                        let all = match map.get(&key) {
                            Some(known) => known.or(&fresh)?,
                            None => fresh.clone(),
                        };
                        map.insert(key, all);
                    }
                }
            }
        }
        Ok(brackets)
    }

    /// The tags of all rules that lie on an error trace.
    fn collect(
        &self,
        lowered: &Lowered,
        beginnings: &Bdd,
        tags: &mut BTreeSet<u32>,
    ) -> Result<(), Unfinished> {
        let brackets = self.brackets(beginnings)?;
        for (rule, origin) in self.reduced.pds.rules.iter().zip(&self.reduced.origins) {
            let Some((thread, index)) = origin else { continue };
            let tag = lowered.system.threads[*thread].tags[*index];
            if tag == 0 || tags.contains(&tag) {
                continue;
            }
            go_on(self.budget)?;
            let (state, symbol) = rule.from;
            for &edge in self.reached.leaving(state) {
                let before = &self.reached.transitions[edge];
                if before.symbol != symbol {
                    continue;
                }
                let path = self.relations.after(&before.weight, &rule.label)?;
                if !path.is_false() && self.goes_on(before.to, &path, rule.to, rule.word, &brackets)? {
                    tags.insert(tag);
                    break;
                }
            }
        }
        Ok(())
    }

    /// Does what the rule leads to reach an error, with what lies below `q`?
    fn goes_on(
        &self,
        q: State,
        path: &Bdd,
        state: State,
        word: Word,
        brackets: &Brackets,
    ) -> Result<bool, Unfinished> {
        let fits = |r: State, weight: &Bdd| -> Result<bool, Unfinished> {
            Ok(match brackets.get(&(q, r)) {
                Some(bracket) => !bracket.disjoint(weight)?,
                None => false,
            })
        };
        let read = |from: State, symbol: u32| {
            let edges = self.reaching.leaving(from).iter().map(|edge| &self.reaching.transitions[*edge]);
            edges.filter(move |transition| transition.symbol == symbol)
        };
        match word {
            Word::Pop => fits(state, path),
            Word::Step(next) => {
                for transition in read(state, next) {
                    if fits(transition.to, &self.relations.extend(path, &transition.weight)?)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Word::Push(top, below) => {
                for called in read(state, top) {
                    let path = self.relations.extend(path, &called.weight)?;
                    for after in read(called.to, below) {
                        if fits(after.to, &self.relations.extend(&path, &after.weight)?)? {
                            return Ok(true);
                        }
                    }
                }
                Ok(false)
            }
        }
    }
}
