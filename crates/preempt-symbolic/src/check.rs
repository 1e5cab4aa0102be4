//! The answer: K = 1, 2, 3, ... until something goes wrong, the bound or a limit is reached, or nothing new can come.

use crate::concrete;
use crate::configurations::{Configurations, Round};
use crate::fig3;
use crate::fig5::{Analysis, Found, Method};
use crate::graph::{Graph, raw};
use crate::handoff::Handoff;
use crate::liveness::Liveness;
use crate::path::{Goal, path};
use crate::schedule::{Contexts, schedule};
use crate::stop::{Result, Stop, Unsupported, Watch, unsupported};
use crate::threads::{Thread, Threads};
use crate::vars::{Copy, Order, Shape, Vars};
use preempt_bdd::Bdd;
use preempt_core::{
    Budget, Guarantee, Limits, Outcome, Progress, Property, SourceMap, Stats, StopReason, Trace, Verdict,
    run_supervised,
};
use preempt_model::search::replay;
use preempt_model::{CodeId, Command, Expr, Interpreter, Model, System};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

#[derive(Debug, Clone)]
pub struct SymbolicOptions {
    /// Contexts of each thread; `None` for as many as it takes.
    pub contexts: Option<u32>,
    pub method: Method,
    /// How many threads a start that can be repeated is good for.
    pub instances: u32,
    pub order: Order,
    pub table: preempt_bdd::TableOptions,
    pub limits: Limits,
}

impl Default for SymbolicOptions {
    fn default() -> SymbolicOptions {
        SymbolicOptions {
            contexts: None,
            method: Method::Lazy,
            instances: 4,
            order: Order::Dependencies,
            table: preempt_bdd::TableOptions::default(),
            limits: Limits::default(),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct SymbolicReport {
    pub outcome: Outcome,
    /// The contexts of each thread that were looked at, or that the violation takes.
    pub contexts: u32,
    /// The threads in the order of the round robin.
    pub threads: Vec<String>,
    /// Are these all threads that there can be?
    pub complete: bool,
    /// Nodes in the table at the end.
    pub nodes: u64,
}

/// Looks for failing assertions and run-time errors within a number of contexts of each thread.
pub fn check(
    model: &Model,
    sources: &SourceMap,
    options: &SymbolicOptions,
    progress: &mut dyn Progress,
) -> std::result::Result<SymbolicReport, Unsupported> {
    if let Some(why) = options.table.refused() {
        return Err(Unsupported(why.to_string()));
    }
    let (begin, budget, told) = (Instant::now(), Budget::within(&options.limits), Arc::new(Mutex::default()));
    let snapshot = || *told.lock().unwrap_or_else(PoisonError::into_inner);
    // An operation on diagrams cannot be interrupted, so that its thread may outlive the question.
    let owned = (model.clone(), sources.clone(), options.clone(), budget.clone(), Arc::clone(&told));
    let examined = run_supervised(&budget, progress, snapshot, move || {
        let (model, sources, options, budget, told) = &owned;
        examined(model, sources, options, budget, &mut Watch::new(budget, told))
    });
    let mut report = examined.unwrap_or_else(|reason| Ok(nothing_done(reason)))?;
    report.outcome.stats.time = begin.elapsed();
    Ok(report)
}

fn examined(
    model: &Model,
    sources: &SourceMap,
    options: &SymbolicOptions,
    budget: &Budget,
    watch: &mut Watch<'_>,
) -> std::result::Result<SymbolicReport, Unsupported> {
    // A table that is full because nobody wants to know any more is not full.
    let reason = |stop: Stop| match stop {
        Stop::Unsupported(what) => Err(Unsupported(what)),
        Stop::Full => Ok(budget.stopped().unwrap_or(StopReason::Memory)),
        Stop::Limit(reason) => Ok(reason),
    };
    let mut check = match Check::new(model, sources, options, budget) {
        Ok(check) => check,
        Err(stop) => return Ok(nothing_done(reason(stop)?)),
    };
    let answer = match check.answer(watch) {
        Ok(answer) => answer,
        Err(stop) => check.stopped(reason(stop)?),
    };
    Ok(check.report(answer, watch))
}

/// A limit was reached before anything was looked at, or nobody knows how far it came.
fn nothing_done(reason: StopReason) -> SymbolicReport {
    let outcome = Outcome {
        verdict: Verdict::Inconclusive(reason),
        guarantee: bounded(0),
        violation: None,
        counterexample: None,
        stats: Stats::default(),
    };
    SymbolicReport { outcome, contexts: 0, threads: Vec::new(), complete: true, nodes: 0 }
}

struct Check<'a> {
    model: &'a Model,
    options: &'a SymbolicOptions,
    budget: &'a Budget,
    interpreter: Interpreter<'a>,
    threads: Threads,
    liveness: Liveness,
    shape: Shape,
    /// Rounds that were completed.
    rounds: u32,
    /// Configurations have shown that something will go wrong.
    fails: bool,
    nodes: u64,
}

struct Answer {
    verdict: Verdict,
    guarantee: Guarantee,
    contexts: u32,
    violation: Option<(Property, Trace)>,
}

/// How many contexts there is room for at first, if nobody says how many there are to be.
const FIRST_ROOM: usize = 4;

/// Rounds in which the rules come before the configurations.
const RULES_FIRST: usize = 2;

impl<'a> Check<'a> {
    fn new(
        model: &'a Model,
        sources: &'a SourceMap,
        options: &'a SymbolicOptions,
        budget: &'a Budget,
    ) -> Result<Check<'a>> {
        if model.has_priorities {
            return unsupported("priorities");
        }
        let threads = Threads::of(model, sources, options.instances, budget)?;
        let mut shape = Shape::of(model, &threads.extra);
        shape.own = own_codes(model, &threads);
        let interpreter = match Interpreter::new(model, sources) {
            Ok(interpreter) => interpreter,
            Err(fault) => return unsupported(fault.0),
        };
        let liveness = Liveness::of(model, budget)?;
        let (rounds, fails, nodes) = (0, false, 0);
        Ok(Check { model, options, budget, interpreter, threads, liveness, shape, rounds, fails, nodes })
    }

    fn answer(&mut self, watch: &mut Watch<'_>) -> Result<Answer> {
        let sequential = self.threads.all.len() < 2;
        let mut room = match self.options.contexts {
            _ if sequential => 1,
            Some(contexts) => contexts.max(1) as usize,
            None => FIRST_ROOM,
        };
        loop {
            let table = self
                .options
                .limits
                .memory_bytes
                .map_or(self.options.table, |most| self.options.table.within(most));
            let vars = Vars::new(self.shape.clone(), room, self.options.order, table, self.budget)?;
            let answer = match sequential {
                true => Some(self.sequential(&vars, watch)?),
                false => self.rounds(&vars, watch)?,
            };
            self.nodes = self.nodes.max(vars.space.nodes() as u64);
            if let Some(answer) = answer {
                return Ok(answer);
            }
            // Variables cannot be put between others later: begin again with more of them.
            room *= 2;
        }
    }

    /// The shared states that the threads begin with, over `Start(0)`.
    fn initial(&self, vars: &Vars) -> Result<Bdd> {
        let mut values: Vec<u64> = self
            .threads
            .initial
            .globals
            .iter()
            .zip(&vars.shape.shared)
            .map(|(value, ty)| raw(*value, *ty))
            .collect();
        values.resize(vars.shared_count(), 0);
        let point: Vec<_> = vars.all_shared(Copy::Start(0)).zip(values).collect();
        Ok(vars.space.point(&point)?)
    }

    /// One program for each kind of thread, and for each thread the number of its program.
    fn programs(&self, vars: &Vars) -> Result<(Vec<Graph>, Vec<usize>)> {
        let mut kinds: Vec<Thread> = Vec::new();
        let (mut graphs, mut programs) = (Vec::new(), Vec::new());
        for thread in &self.threads.all {
            let mut kind = Thread { name: String::new(), ..thread.clone() };
            if !asks_for_pid(self.model, thread.code) {
                kind.pid = None;
            }
            let number = kinds.iter().position(|known| *known == kind);
            programs.push(number.unwrap_or(kinds.len()));
            if number.is_none() {
                graphs.push(Graph::new(vars, self.model, &self.threads, thread, &self.liveness)?);
                kinds.push(kind);
            }
        }
        Ok((graphs, programs))
    }

    /// Fig. 3: without other threads there is one context.
    fn sequential(&mut self, vars: &Vars, watch: &mut Watch<'_>) -> Result<Answer> {
        let (graphs, _) = self.programs(vars)?;
        let Some(graph) = graphs.first().filter(|graph| graph.can_fail()) else {
            return Ok(self.cannot_fail());
        };
        let initial = self.initial(vars)?;
        if self.options.method == Method::Eager {
            let to_entry = vars.shared_renaming([(Copy::Start(0), Copy::Entry)]);
            let reachable = fig3::eager(vars, graph, &initial.rename(&to_entry)?, watch)?;
            if !fig3::failing(vars, graph, &reachable)? {
                return Ok(self.holds(Guarantee::Exhaustive, 1));
            }
        }
        let (_, failure) = fig3::lazy(vars, graph, &initial, true, watch)?;
        let Some(failure) = failure else { return Ok(self.holds(Guarantee::Exhaustive, 1)) };
        let found =
            Found { thread: 0, context: 0, node: failure.key, edge: failure.edge, vectors: failure.states };
        let handoff = Handoff::new(vars, 1, initial);
        self.violated(vars, &graphs, &[0], &handoff, &found, watch)
    }

    /// Fig. 5, round by round. `None` if there is no room for the next round.
    fn rounds(&mut self, vars: &Vars, watch: &mut Watch<'_>) -> Result<Option<Answer>> {
        let (graphs, programs) = self.programs(vars)?;
        if !graphs.iter().any(Graph::can_fail) {
            return Ok(Some(self.cannot_fail()));
        }
        let initial = self.initial(vars)?;
        let mut configurations = match self.options.contexts {
            // The bound is asked for, not whether it matters.
            Some(_) => None,
            None if self.fails => None,
            None => {
                let graphs: Vec<&Graph> = programs.iter().map(|&program| &graphs[program]).collect();
                Configurations::new(vars, &graphs, &initial)?
            }
        };
        let mut analysis = Analysis::new(vars, &graphs, &programs, initial, self.options.method)?;
        for k in 0..vars.contexts {
            watch.snapshot.level = k as u32 + 1;
            // Most violations take few contexts, and the threads apart are cheaper than all of them together. After
            // that, configurations go ahead: either nothing more is to come, or they say in which round it will.
            if k == RULES_FIRST && !self.fails {
                match self.decided(&mut configurations, watch)? {
                    Some(Round::Nothing) => return Ok(Some(self.holds(Guarantee::Exhaustive, self.rounds))),
                    Some(Round::Failure) => self.fails = true,
                    Some(Round::New) | None => {}
                }
            }
            if let Some(found) = analysis.round(k, watch)? {
                return Ok(Some(self.violated(
                    vars,
                    &graphs,
                    &programs,
                    &analysis.handoff,
                    &found,
                    watch,
                )?));
            }
            self.rounds = self.rounds.max(k as u32 + 1);
            watch.snapshot.states = shared_states(vars, &analysis.handoff, k)?;
            if k < RULES_FIRST
                && let Some(whole) = &mut configurations
            {
                match whole.round(watch) {
                    Ok(Round::Nothing) => return Ok(Some(self.holds(Guarantee::Exhaustive, self.rounds))),
                    // A table that is too small for configurations may be large enough for the threads apart.
                    Err(Stop::Full) => configurations = None,
                    Err(stop) => return Err(stop),
                    Ok(Round::New | Round::Failure) => {}
                }
            }
        }
        Ok(self.options.contexts.map(|contexts| self.holds(bounded(contexts), contexts)))
    }

    /// Rounds of configurations until the answer is known; `None` if there is no room for them.
    fn decided(
        &mut self,
        whole: &mut Option<Configurations<'_>>,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Round>> {
        let Some(configurations) = whole else { return Ok(None) };
        loop {
            watch.snapshot.level += 1;
            match configurations.round(watch) {
                Ok(Round::New) => self.rounds += 1,
                Ok(round) => return Ok(Some(round)),
                Err(Stop::Full) => {
                    *whole = None;
                    return Ok(None);
                }
                Err(stop) => return Err(stop),
            }
        }
    }

    /// No command of any thread can go wrong, however many threads there are.
    fn cannot_fail(&self) -> Answer {
        let verdict = Verdict::conclude(false, None);
        Answer { verdict, guarantee: Guarantee::Exhaustive, contexts: 1, violation: None }
    }

    fn holds(&self, guarantee: Guarantee, contexts: u32) -> Answer {
        // Threads beyond those looked at may do what these do not.
        let undone = (!self.threads.complete).then_some(StopReason::Partial);
        let verdict = Verdict::conclude(false, undone);
        Answer { verdict, guarantee, contexts, violation: None }
    }

    fn stopped(&self, reason: StopReason) -> Answer {
        Answer {
            verdict: Verdict::Inconclusive(reason),
            guarantee: bounded(self.rounds),
            contexts: self.rounds,
            violation: None,
        }
    }

    /// From the failure to a run that the reference interpreter has executed.
    fn violated(
        &self,
        vars: &Vars,
        graphs: &[Graph],
        programs: &[usize],
        handoff: &Handoff<'_>,
        found: &Found,
        watch: &mut Watch<'_>,
    ) -> Result<Answer> {
        let contexts: Vec<Contexts> = schedule(vars, handoff, found)?;
        let mut paths = Vec::new();
        for (thread, contexts) in contexts.iter().enumerate() {
            if contexts.starts.is_empty() {
                paths.push(Vec::new());
                continue;
            }
            let goal = if thread == found.thread { Goal::Failure(found.node, found.edge) } else { Goal::End };
            let steps = path(vars, &graphs[programs[thread]], contexts, &goal, watch)?;
            paths.push(steps.unwrap_or_else(|| panic!("internal error: the way of thread {thread} is lost")));
        }
        let run = concrete::run(vars, &self.interpreter, &self.threads, &self.liveness, &paths, found.thread)
            .unwrap_or_else(|reason| panic!("internal error: the run found cannot be executed: {reason}"));
        let initial = self.interpreter.initial_states().swap_remove(0);
        let replayed = replay(&self.interpreter, &initial, &run, false)
            .unwrap_or_else(|misfit| panic!("internal error: the run found does not replay: {misfit:?}"));
        let violation =
            replayed.violation.unwrap_or_else(|| panic!("internal error: the run found violates nothing"));
        let contexts = found.context as u32 + 1;
        let property = Property::from(violation);
        Ok(Answer {
            verdict: Verdict::Violated,
            guarantee: bounded(contexts),
            contexts,
            violation: Some((property, replayed.trace)),
        })
    }

    fn report(self, answer: Answer, watch: &Watch<'_>) -> SymbolicReport {
        let (violation, counterexample) = answer.violation.unzip();
        let mut stats = Stats { states: watch.snapshot.states, ..Stats::default() };
        // a node, and its place in the table that finds it
        stats.peak_bytes = self.nodes * 24;
        if let Some(property) = &violation {
            stats.violations.insert(property.kind, 1);
        }
        let outcome = Outcome {
            verdict: answer.verdict,
            guarantee: answer.guarantee,
            violation,
            counterexample,
            stats,
        };
        SymbolicReport {
            outcome,
            contexts: answer.contexts,
            threads: self.threads.all.iter().map(|thread| thread.name.clone()).collect(),
            complete: self.threads.complete,
            nodes: self.nodes,
        }
    }
}

/// How many shared states there are after a round.
fn shared_states(vars: &Vars, handoff: &Handoff<'_>, k: usize) -> Result<u64> {
    let variables: Vec<_> = vars.all_shared(Copy::Now(k)).collect();
    let count = vars.space.count(&handoff.reachable(k)?, &variables);
    Ok(count.and_then(|count| u64::try_from(count).ok()).unwrap_or(u64::MAX))
}

fn bounded(contexts: u32) -> Guarantee {
    Guarantee::Contexts(contexts)
}

/// The codes that a thread of this code can be in.
fn codes(model: &Model, code: CodeId) -> Vec<CodeId> {
    let mut seen = BTreeSet::from([code]);
    let mut waiting = vec![code];
    while let Some(code) = waiting.pop() {
        for edge in model.code(code).locations.iter().flat_map(|location| &location.edges) {
            if let Command::Call { code, .. } = &edge.command
                && seen.insert(*code)
            {
                waiting.push(*code);
            }
        }
    }
    seen.into_iter().collect()
}

fn asks_for_pid(model: &Model, code: CodeId) -> bool {
    let mut asks = false;
    for code in codes(model, code) {
        let definition = model.code(code);
        let edges = definition.locations.iter().flat_map(|location| &location.edges);
        edges.for_each(|edge| edge.command.visit(&mut |expr| asks |= *expr == Expr::SelfPid));
        if let Some(provided) = &definition.provided {
            provided.visit(&mut |expr| asks |= *expr == Expr::SelfPid);
        }
        for init in &definition.init {
            if let preempt_model::Init::Set { value, .. } = init {
                value.visit(&mut |expr| asks |= *expr == Expr::SelfPid);
            }
        }
    }
    asks
}

/// The codes of each thread, if none of them can be in snapshot twice; otherwise nothing.
pub(crate) fn own_codes(model: &Model, threads: &Threads) -> Vec<Vec<CodeId>> {
    let calls_itself = |code: CodeId| {
        let edges = model.code(code).locations.iter().flat_map(|location| &location.edges);
        edges
            .filter_map(|edge| match &edge.command {
                Command::Call { code: callee, .. } => Some(*callee),
                _ => None,
            })
            .any(|callee| codes(model, callee).contains(&code))
    };
    let own: Vec<Vec<CodeId>> = threads.all.iter().map(|thread| codes(model, thread.code)).collect();
    if own.len() < 2 || own.iter().flatten().any(|code| calls_itself(*code)) { Vec::new() } else { own }
}
