//! The strategy: K = 1, 2, 3, ... contexts of each thread, until something goes wrong, the bound or a limit is reached, or
//! nothing new can come.
//!
//! A program with one thread has one context, and Fig. 3 of Lal and Reps 2009 (paper 002) decides it. Otherwise the rules
//! of Fig. 5 go round by round. They cannot tell that there is nothing more to come; `configurations` can, where no
//! procedure recurses. Most violations take few contexts, and threads apart are cheaper than all of them together: so the
//! rules come first, and after two rounds the configurations go ahead.

use crate::baton::Baton;
use crate::check::{SharedStates, SymbolicOptions};
use crate::codes::reads_pid;
use crate::concrete::Executor;
use crate::configurations::{Configurations, Round};
use crate::error::{AnalysisError, Result};
use crate::graph::{Graph, Programs, raw};
use crate::handoff::Handoff;
use crate::numbers::{Numbering, Slots, few};
use crate::places::own;
use crate::round_robin::{Analysis, FailingContext, Method};
use crate::sequential;
use crate::threads::Thread;
use crate::vars::{Copy, Shape, VariableOrder, Vars};
use preempt_bdd::{Bdd, TableOptions};
use preempt_core::{Budget, Guarantee, Property, SourceMap, StopReason, Trace, Verdict};
use preempt_model::Model;
use preempt_rounds::{Setting, scout};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What is analysed.
#[derive(Clone, Copy)]
pub(crate) struct Program<'a> {
    /// As it was written: runs are executed by this one.
    pub written: &'a Model,
    pub sources: &'a SourceMap,
    /// With leaves in the place of their calls.
    pub expanded: &'a Model,
}

pub(crate) struct Driver<'a> {
    program: Program<'a>,
    options: &'a SymbolicOptions,
    budget: &'a Budget,
    pub setting: Setting<'a>,
    baton: Option<Arc<Baton>>,
    shape: Shape,
    /// Rounds that were completed.
    rounds: u32,
    /// Configurations have shown that something will go wrong.
    fails: bool,
    pub nodes: u64,
}

/// What is known at the end.
pub(crate) struct Conclusion {
    pub verdict: Verdict,
    pub guarantee: Guarantee,
    pub contexts: u32,
    pub violation: Option<(Property, Trace)>,
}

/// How an analysis with a fixed set of variables ends.
enum End {
    Conclusion(Conclusion),
    /// There are no variables for the next round.
    NoRoom,
    /// These shared states have no number.
    Unnumbered(BTreeSet<Slots>),
    /// Nothing goes wrong in the shared states that have a number, and it is to be known of all.
    NotByNumber,
}

/// After so many times with more numbers, shared states are carried as bits: a search that found most of them was good
/// enough, and one that did not was not. Without a search each time brings what one more step leads to.
const MOST_NUMBERINGS: usize = 2;
const MOST_NUMBERINGS_ALONE: usize = 64;

/// How many contexts there is room for at first, if nobody says how many there are to be.
const FIRST_ROOM: usize = 4;

/// The table in which an order is tried.
const TRIAL: TableOptions = TableOptions { nodes: 1 << 19, cache: 1 << 16 };

/// Rounds in which the rules come before the configurations.
const RULES_FIRST: usize = 2;

impl<'a> Driver<'a> {
    pub fn new(
        program: Program<'a>,
        options: &'a SymbolicOptions,
        budget: &'a Budget,
        baton: Option<Arc<Baton>>,
    ) -> Result<Driver<'a>> {
        let model = program.expanded;
        let setting = Setting::new(model, program.sources, options.instances, budget)?;
        let mut shape = Shape::of(model, &setting.threads.extra);
        shape.own = own(model, &setting.threads);
        let (rounds, fails, nodes) = (0, false, 0);
        Ok(Driver { program, options, budget, setting, baton, shape, rounds, fails, nodes })
    }

    pub fn run(&mut self) -> Result<Conclusion> {
        let sequential = self.setting.threads.all.len() < 2;
        self.shape.numbering = self.numbering().map(Arc::new);
        let mut room = match self.options.contexts {
            _ if sequential => 1,
            Some(contexts) => contexts.max(1) as usize,
            None => FIRST_ROOM,
        };
        let table = self
            .options
            .limits
            .memory_bytes
            .map_or(self.options.table, |most| self.options.table.within(most));
        let order = match self.options.order {
            // Two contexts are over before a trial would be worth it.
            VariableOrder::Trial if sequential || room <= 2 => VariableOrder::Dependencies,
            // Numbers depend on everything.
            VariableOrder::Trial if self.shape.numbering.is_some() => VariableOrder::Dependencies,
            VariableOrder::Trial => self.trial(table)?,
            order => order,
        };
        let mut enlarged = 0;
        let most = match self.options.shared {
            SharedStates::Numbers => MOST_NUMBERINGS_ALONE,
            SharedStates::Auto | SharedStates::Bits => MOST_NUMBERINGS,
        };
        loop {
            let mut vars = Vars::new(self.shape.clone(), room, order, table, self.budget)?;
            vars.baton = self.baton.clone();
            let end = match sequential {
                true => self.sequential(&vars)?,
                false => self.round_robin(&vars)?,
            };
            self.nodes = self.nodes.max(vars.space.nodes() as u64);
            match end {
                End::Conclusion(conclusion) => return Ok(conclusion),
                // Variables cannot be put between others later: begin again with more of them.
                End::NoRoom => room *= 2,
                End::NotByNumber => self.shape.numbering = None,
                End::Unnumbered(states) => {
                    enlarged += 1;
                    let known = self.shape.numbering.take().filter(|_| enlarged <= most);
                    self.shape.numbering = known.and_then(|known| known.with(&states)).map(Arc::new);
                }
            }
        }
    }

    /// Numbers for shared states, if they are to be carried so: where there are few, and no other way of looking at
    /// configurations is lost by it.
    fn numbering(&self) -> Option<Numbering> {
        let (shape, threads) = (&self.shape, &self.setting.threads);
        let whole = self.options.contexts.is_none() && !shape.own.is_empty();
        if whole
            || self.options.method == Method::Eager
            || !threads.extra.is_empty()
            || shape.shared.is_empty()
        {
            return None;
        }
        let slots = |globals: &[i32]| -> Slots {
            globals.iter().zip(&shape.shared).map(|(value, ty)| raw(*value, *ty)).collect()
        };
        let initial = slots(&threads.initial.globals);
        match self.options.shared {
            SharedStates::Bits => None,
            SharedStates::Numbers => Numbering::of([initial].into()),
            SharedStates::Auto => {
                let found = scout(&self.setting, few(&shape.shared), self.budget)?;
                Numbering::of(found.iter().map(|state| slots(state)).chain([initial]).collect())
            }
        }
    }

    /// The order with which one context of each thread takes fewer nodes: it is the better one for more contexts, too
    /// (`results/paper-002.md`). An order with which the small table is too small has lost.
    fn trial(&self, table: TableOptions) -> Result<VariableOrder> {
        let table = TableOptions { nodes: table.nodes.min(TRIAL.nodes), cache: table.cache.min(TRIAL.cache) };
        let (mut best, mut fewest) = (VariableOrder::Dependencies, u64::MAX);
        for order in [VariableOrder::Dependencies, VariableOrder::Declared] {
            match self.one_context(order, table) {
                Ok(nodes) if nodes < fewest => (best, fewest) = (order, nodes),
                Ok(_) => {}
                Err(AnalysisError::TableFull) if self.budget.exhausted().is_none() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(best)
    }

    /// How many nodes one context of each thread takes.
    fn one_context(&self, order: VariableOrder, table: TableOptions) -> Result<u64> {
        let mut vars = Vars::new(self.shape.clone(), 1, order, table, self.budget)?;
        vars.baton = self.baton.clone();
        let programs = self.programs(&vars)?;
        let initial = self.initial(&vars)?;
        Analysis::new(&vars, &programs, initial, self.options.method)?.round(0)?;
        Ok(vars.space.nodes() as u64)
    }

    /// The shared states that the threads begin with, over `Start(0)`.
    fn initial(&self, vars: &Vars) -> Result<Bdd> {
        let mut values: Vec<u64> = self
            .setting
            .threads
            .initial
            .globals
            .iter()
            .zip(&vars.shape.shared)
            .map(|(value, ty)| raw(*value, *ty))
            .collect();
        values.resize(vars.shape.shared.len(), 0);
        let point: Vec<_> = vars.all_shared(Copy::Start(0)).zip(vars.encode(values)).collect();
        Ok(vars.space.point(&point)?)
    }

    /// One program for each kind of thread.
    fn programs(&self, vars: &Vars) -> Result<Programs> {
        let mut kinds: Vec<Thread> = Vec::new();
        let mut programs = Programs { graphs: Vec::new(), of_thread: Vec::new() };
        for thread in &self.setting.threads.all {
            let mut kind = Thread { name: String::new(), ..thread.clone() };
            if !reads_pid(self.program.expanded, thread.code) {
                kind.pid = None;
            }
            let number = kinds.iter().position(|known| *known == kind);
            programs.of_thread.push(number.unwrap_or(kinds.len()));
            if number.is_none() {
                programs.graphs.push(Graph::new(
                    vars,
                    self.program.expanded,
                    &self.setting.threads,
                    thread,
                    &self.setting.liveness,
                )?);
                kinds.push(kind);
            }
        }
        Ok(programs)
    }

    /// Fig. 3: without other threads there is one context.
    fn sequential(&mut self, vars: &Vars) -> Result<End> {
        let programs = self.programs(vars)?;
        let Some(graph) = programs.graphs.first().filter(|graph| graph.can_fail()) else {
            return Ok(self.cannot_fail(vars));
        };
        let initial = self.initial(vars)?;
        if self.options.method == Method::Eager {
            let to_entry = vars.shared_renaming([(Copy::Start(0), Copy::Entry)]);
            let reachable = sequential::eager(vars, graph, &initial.rename(&to_entry)?)?;
            if !sequential::failing(vars, graph, &reachable)? {
                return Ok(End::Conclusion(self.holds(Guarantee::Exhaustive, 1)));
            }
        }
        let (_, failure) = sequential::lazy(vars, graph, &initial, true)?;
        let Some(failure) = failure else {
            return Ok(match unnumbered(vars) {
                Some(states) => End::Unnumbered(states),
                None => End::Conclusion(self.holds(Guarantee::Exhaustive, 1)),
            });
        };
        let vectors = failure.states;
        let failing =
            FailingContext { thread: 0, context: 0, node: failure.key, edge: failure.edge, vectors };
        let handoff = Handoff::new(vars, 1, initial);
        Ok(End::Conclusion(self.violated(vars, &programs, &handoff, &failing)?))
    }

    /// Fig. 5, round by round.
    fn round_robin(&mut self, vars: &Vars) -> Result<End> {
        let programs = self.programs(vars)?;
        if !programs.graphs.iter().any(Graph::can_fail) {
            return Ok(self.cannot_fail(vars));
        }
        let initial = self.initial(vars)?;
        let mut configurations = match self.options.contexts {
            // The bound is wanted, not whether it matters.
            Some(_) => None,
            None if self.fails => None,
            None => {
                let graphs: Vec<&Graph> = (0..programs.of_thread.len()).map(|it| programs.of(it)).collect();
                Configurations::new(vars, &graphs, &initial)?
            }
        };
        let mut analysis = Analysis::new(vars, &programs, initial, self.options.method)?;
        let counters = self.budget.counters();
        for k in 0..vars.contexts {
            counters.level.set(k as u64 + 1);
            // Either nothing more is to come, or the configurations say in which round it will.
            if k == RULES_FIRST && !self.fails {
                match self.decided(&mut configurations)? {
                    Some(Round::Nothing) => {
                        return Ok(End::Conclusion(self.holds(Guarantee::Exhaustive, self.rounds)));
                    }
                    Some(Round::Failure) => self.fails = true,
                    Some(Round::New) | None => {}
                }
            }
            if let Some(failing) = analysis.round(k)? {
                let violated = self.violated(vars, &programs, &analysis.handoff, &failing)?;
                return Ok(End::Conclusion(violated));
            }
            if let Some(states) = unnumbered(vars) {
                return Ok(End::Unnumbered(states));
            }
            self.rounds = self.rounds.max(k as u32 + 1);
            counters.states.set(shared_states(vars, &analysis.handoff, k)?);
            if k < RULES_FIRST
                && let Some(whole) = &mut configurations
            {
                match whole.round() {
                    Ok(Round::Nothing) => {
                        return Ok(End::Conclusion(self.holds(Guarantee::Exhaustive, self.rounds)));
                    }
                    // A table that is too small for configurations may be large enough for the threads apart.
                    Err(AnalysisError::TableFull) => configurations = None,
                    Err(error) => return Err(error),
                    Ok(Round::New | Round::Failure) => {}
                }
            }
        }
        Ok(match self.options.contexts {
            Some(contexts) => End::Conclusion(self.holds(Guarantee::Contexts(contexts), contexts)),
            None => End::NoRoom,
        })
    }

    /// Rounds of configurations until it is known how they end; `None` if there is no room for them.
    fn decided(&mut self, whole: &mut Option<Configurations<'_>>) -> Result<Option<Round>> {
        let Some(configurations) = whole else { return Ok(None) };
        loop {
            self.budget.counters().level.add(1);
            match configurations.round() {
                Ok(Round::New) => self.rounds += 1,
                Ok(round) => return Ok(Some(round)),
                Err(AnalysisError::TableFull) => {
                    *whole = None;
                    return Ok(None);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// No command of any thread can go wrong, however many threads there are, in any shared state that these variables tell.
    fn cannot_fail(&self, vars: &Vars) -> End {
        if vars.numbered.is_some() {
            return End::NotByNumber;
        }
        let verdict = Verdict::conclude(false, None);
        let guarantee = Guarantee::Exhaustive;
        End::Conclusion(Conclusion { verdict, guarantee, contexts: 1, violation: None })
    }

    fn holds(&self, guarantee: Guarantee, contexts: u32) -> Conclusion {
        // Threads beyond those looked at may do what these do not.
        let undone = (!self.setting.threads.complete).then_some(StopReason::Partial);
        let verdict = Verdict::conclude(false, undone);
        Conclusion { verdict, guarantee, contexts, violation: None }
    }

    pub fn stopped(&self, reason: StopReason) -> Conclusion {
        Conclusion {
            verdict: Verdict::Inconclusive(reason),
            guarantee: Guarantee::Contexts(self.rounds),
            contexts: self.rounds,
            violation: None,
        }
    }

    fn violated(
        &self,
        vars: &Vars,
        programs: &Programs,
        handoff: &Handoff<'_>,
        failing: &FailingContext,
    ) -> Result<Conclusion> {
        let executor = Executor {
            vars,
            program: self.program,
            interpreter: &self.setting.interpreter,
            threads: &self.setting.threads,
            liveness: &self.setting.liveness,
        };
        let contexts = failing.context as u32 + 1;
        Ok(Conclusion {
            verdict: Verdict::Violated,
            guarantee: Guarantee::Contexts(contexts),
            contexts,
            violation: Some(executor.counterexample(programs, handoff, failing)?),
        })
    }
}

/// Shared states without a number that were met: what follows from them is not known.
fn unnumbered(vars: &Vars) -> Option<BTreeSet<Slots>> {
    vars.numbered.as_ref().map(|numbered| numbered.met()).filter(|met| !met.is_empty())
}

/// How many shared states there are after a round.
fn shared_states(vars: &Vars, handoff: &Handoff<'_>, k: usize) -> Result<u64> {
    let variables: Vec<_> = vars.all_shared(Copy::Start(k)).collect();
    let count = vars.space.count(&handoff.reachable(k)?, &variables);
    Ok(count.and_then(|count| u64::try_from(count).ok()).unwrap_or(u64::MAX))
}
