//! The depth-first searches of Holzmann and Florian, "Model checking with bounded context switching" (2011), as they
//! are published, one file a figure. They are here for comparison: the search in order of cost does the same with less
//! work.
//!
//! * [`fig2_naive_bounded`]: each state once, whatever it cost to reach it; it misses errors within the bound;
//! * [`fig3_context_bounded`]: a state again whenever it is reached with fewer preemptions, or by another process;
//! * [`fig5_with_reduction`]: the same with partial-order reduction. It hides switches that a run really has, so
//!   [`cheapest_order`] puts the steps of the run that is shown into another order, with fewer of them.
//!
//! Fig. 1 is `depth_first.rs`. What the figures have in common is in this file: a search of *visits*, which are states
//! with the number of preemptions, the process that ran last, and whether its step was a safe one.

mod cheapest_order;
mod fig2_naive_bounded;
mod fig3_context_bounded;
mod fig5_with_reduction;

use super::tally::Tally;
use super::verdict::{executed_again, lost, reported};
use super::ways::{Run, path_between, path_to_violation};
use super::{Counterexample, SearchOptions, SearchReport};
use crate::CheckError;
use crate::store::{Opened, StateNumber, Store};
use crate::successors::{Event, Successors};
use cheapest_order::cheapest_order;
use fig2_naive_bounded::NaiveBounded;
use fig3_context_bounded::ContextBounded;
use fig5_with_reduction::WithReduction;
use preempt_core::{Memory, Progress, StopReason, Verdict};
use preempt_model::System;
use preempt_model::search::RunCost;
use std::collections::{HashMap, HashSet};

/// Which figure, and what may be added to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Published {
    pub figure: Figure,
    /// Section 3.1: leaving a process all of whose steps lead back to the path is free.
    pub cycles: bool,
    /// Spin's `-DREACH -i`: go on after an error, with runs that are shorter.
    pub shortening: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    NaiveBounded,
    ContextBounded,
    WithReduction,
}

/// How a state is reached: with so many preemptions, `last` running, after a safe step or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visit {
    pub preemptions: u32,
    pub last: u8,
    pub safe: bool,
}

/// What a figure decides.
trait Rules {
    /// CONSTRAINT: is the visit to be made? If so, it is remembered.
    fn admits(&mut self, state: StateNumber, visit: Visit) -> bool;

    /// Memory used for what it remembers.
    fn bytes(&self) -> u64;

    /// Does it use ample sets?
    fn reduces(&self) -> bool {
        false
    }

    /// Does the process that ran go on before the others have their turn?
    fn goes_on_first(&self) -> bool {
        true
    }
}

pub(super) fn search<S: Successors>(
    system: S,
    published: Published,
    options: &SearchOptions,
    progress: &mut dyn Progress,
) -> Result<SearchReport, CheckError> {
    new_search(system, published, options).run(progress)
}

/// Every visit that a published search makes, in order, errors passed over: what the paper proves is about these.
pub(crate) fn visits<S: Successors>(
    system: S,
    published: Published,
    options: &SearchOptions,
    progress: &mut dyn Progress,
) -> Result<Visits<S::Reference>, CheckError> {
    let mut search = new_search(system, published, options);
    search.log = Some(Vec::new());
    search.tally.begin(&mut search.system, progress);
    let stopped = search.walk_everything(progress);
    if let Some(trouble) = search.system.trouble() {
        return Err(trouble.into());
    }
    let mut opened = Opened::default();
    let mut state_of = |number: StateNumber| {
        search.store.open(&search.system, number, &mut opened);
        search.system.state_of(&opened.bytes)
    };
    let log = search.log.take().unwrap_or_default();
    let made = log.into_iter().map(|(state, visit)| (state_of(state), visit)).collect();
    Ok(Visits { made, complete: stopped.is_none() && search.tally.conclude() == Verdict::Holds })
}

/// What a published search visited.
#[derive(Debug, Clone)]
pub struct Visits<M: System> {
    pub made: Vec<(M::State, Visit)>,
    /// No limit was reached.
    pub complete: bool,
}

fn new_search<S: Successors>(system: S, published: Published, options: &SearchOptions) -> PaperSearch<'_, S> {
    let rules: Box<dyn Rules> = match published.figure {
        Figure::NaiveBounded => Box::new(NaiveBounded::default()),
        Figure::ContextBounded => Box::new(ContextBounded::default()),
        Figure::WithReduction => Box::new(WithReduction::default()),
    };
    PaperSearch {
        system,
        rules,
        published,
        options,
        bound: options.bound.unwrap_or(u32::MAX),
        store: Store::new(),
        tally: Tally::new(options.limits),
        seen: HashSet::new(),
        depths: HashMap::new(),
        path: Vec::new(),
        waiting: 0,
        on_path: HashMap::new(),
        longest: options.limits.depth.unwrap_or(u64::MAX),
        errors: Vec::new(),
        shown: None,
        most_bytes: 0,
        log: None,
    }
}

struct PaperSearch<'a, S: Successors> {
    system: S,
    rules: Box<dyn Rules>,
    published: Published,
    options: &'a SearchOptions,
    bound: u32,
    store: Store,
    tally: Tally,
    /// States that were visited at all.
    seen: HashSet<StateNumber>,
    /// The lowest depth of each, where runs are to be shortened.
    depths: HashMap<StateNumber, u64>,
    path: Vec<Frame>,
    /// Steps of the states on the path that are still to be looked at.
    waiting: usize,
    on_path: HashMap<StateNumber, u32>,
    /// No run may be longer.
    longest: u64,
    errors: Vec<Counterexample>,
    /// The run of the last error, and whether it ends with a state that is wrong.
    shown: Option<(Run<S::Reference>, bool)>,
    most_bytes: u64,
    /// Every visit, where that is asked for.
    log: Option<Vec<(StateNumber, Visit)>>,
}

struct Frame {
    state: StateNumber,
    last: u8,
    steps: u64,
    /// Still to be looked at, the next one last.
    todo: Vec<Step>,
    /// The process of the step that was taken last.
    process: u8,
}

/// A step, and the visit to which it leads.
#[derive(Debug, Clone, Copy)]
struct Step {
    to: StateNumber,
    process: u8,
    visit: Visit,
    steps: u32,
}

/// What one process can do in a state.
#[derive(Default)]
struct Moves {
    /// Target, who runs then, and after how many steps.
    arrivals: Vec<(StateNumber, u8, u32)>,
    violations: u32,
    moved: bool,
}

/// Prefixes that are looked at to put the steps of a run into a cheaper order.
const ORDERED_PREFIXES: usize = 50_000;

/// Nobody has run yet.
const NOBODY: u8 = u8::MAX;

enum Stop {
    Reason(StopReason),
    Violated,
}

impl<S: Successors> PaperSearch<'_, S> {
    fn run(mut self, progress: &mut dyn Progress) -> Result<SearchReport, CheckError> {
        self.tally.begin(&mut self.system, progress);
        let stopped = self.walk_everything(progress);
        if let Some(trouble) = self.system.trouble() {
            return Err(trouble.into());
        }
        // What Fig. 2 misses within the bound, Fig. 6 shows.
        let misses = self.published.figure == Figure::NaiveBounded && self.options.bound.is_some();
        let undone = self.tally.cut_by_depth.then_some(StopReason::Depth);
        let undone = undone.or(misses.then_some(StopReason::Partial));
        let verdict = match (stopped, self.tally.budget.stopped()) {
            (Some(Stop::Reason(reason)), _) | (_, Some(reason)) => Verdict::Inconclusive(reason),
            _ => Verdict::conclude(!self.errors.is_empty(), undone),
        };
        self.tally.begin_telling(&mut self.system, progress);
        // Shortened again and again: the last one is the shortest.
        let shown = self.errors.pop().filter(|_| verdict == Verdict::Violated);
        let errors = shown.map(|error| self.with_fewer_switches(error)).into_iter().collect();
        let memory = Memory {
            store: self.store.bytes() + self.system.bytes(),
            frontier: self.most_bytes,
            parents: (self.seen.capacity() * 16) as u64,
        };
        self.tally.stats.time = self.tally.elapsed();
        let report = reported(self.options, verdict, errors, self.tally.stats, memory);
        Ok(SearchReport { simplest: false, ..report })
    }

    /// From each initial state; says why it ended early, if so.
    fn walk_everything(&mut self, progress: &mut dyn Progress) -> Option<Stop> {
        for state in self.system.initial() {
            let Some((number, _)) = self.number(&state, &Opened::default()) else {
                return Some(Stop::Reason(StopReason::Memory));
            };
            let first = Visit { preemptions: 0, last: NOBODY, safe: false };
            if self.rules.admits(number, first) {
                let walked = self.enter(number, first, 0).and_then(|()| self.walk(progress));
                if let Err(stop) = walked {
                    return Some(stop);
                }
            }
        }
        None
    }

    fn walk(&mut self, progress: &mut dyn Progress) -> Result<(), Stop> {
        while let Some(frame) = self.path.last_mut() {
            let (state, steps) = (frame.state, frame.steps);
            match frame.todo.pop() {
                Some(step) => {
                    self.waiting -= 1;
                    frame.process = step.process;
                    let steps = steps + u64::from(step.steps);
                    self.tally.transition(RunCost { preemptions: step.visit.preemptions, steps });
                    if self.is_to_be_visited(&step, steps) {
                        self.enter(step.to, step.visit, steps)?;
                    }
                }
                None => {
                    if let Some(times) = self.on_path.get_mut(&state) {
                        *times -= 1;
                    }
                    self.path.pop();
                }
            }
            let cost = RunCost { preemptions: 0, steps };
            let waits = self.waiting * size_of::<Step>() + self.on_path.capacity() * 12;
            let used = (self.path.len() * size_of::<Frame>() + waits) as u64;
            self.most_bytes = self.most_bytes.max(used);
            let (store, rules, system) = (&self.store, &self.rules, &self.system);
            let (seen, waiting) = (self.seen.capacity() + self.depths.capacity(), self.path.len() as u64);
            let bytes = || store.bytes() + used + 16 * seen as u64 + rules.bytes() + system.bytes();
            if let Some(reason) = self.tally.reason_to_stop(cost, bytes, waiting, progress) {
                return Err(Stop::Reason(reason));
            }
        }
        Ok(())
    }

    fn is_to_be_visited(&mut self, step: &Step, steps: u64) -> bool {
        if step.visit.preemptions > self.bound {
            return false;
        }
        if steps > self.longest {
            self.tally.cut_by_depth |= !self.published.shortening || self.errors.is_empty();
            return false;
        }
        let admitted = self.rules.admits(step.to, step.visit);
        if !self.published.shortening {
            return admitted;
        }
        let known = self.depths.get(&step.to).copied();
        let earlier = known.is_none_or(|known| steps < known);
        if earlier {
            self.depths.insert(step.to, steps);
        }
        admitted || earlier
    }

    fn number(&mut self, state: &[u8], like: &Opened) -> Option<(StateNumber, bool)> {
        let key = self.store.encode(&self.system, state, like)?;
        let processes = self.system.process_count(state);
        self.store.insert(key, key.hash(), processes)
    }

    /// `Search(s, n, p, safe)`: everything up to the recursive calls.
    fn enter(&mut self, state: StateNumber, visit: Visit, steps: u64) -> Result<(), Stop> {
        if self.seen.insert(state) {
            self.tally.new_state(RunCost { preemptions: visit.preemptions, steps });
        } else {
            self.tally.stats.revisits += 1;
        }
        if let Some(log) = &mut self.log {
            log.push((state, visit));
        }
        self.path.push(Frame { state, last: visit.last, steps, todo: Vec::new(), process: NOBODY });
        *self.on_path.entry(state).or_default() += 1;
        let mut opened = Opened::default();
        self.store.open(&self.system, state, &mut opened);
        if S::JUDGES_STATES && self.system.state_violation(&opened.bytes).is_some() {
            self.error(None)?;
        }
        let count = self.system.process_count(&opened.bytes);
        let moves = (0..count).map(|process| self.moves(&opened, process)).collect::<Option<Vec<_>>>();
        let moves = moves.ok_or(Stop::Reason(StopReason::Memory))?;
        for (process, it) in moves.iter().enumerate().filter(|(_, it)| it.violations > 0) {
            // A step of another process than the last one is a preemption if that one could go on.
            let switches = visit.last != NOBODY && usize::from(visit.last) != process;
            let preempts = switches && moves.get(usize::from(visit.last)).is_some_and(|last| last.moved);
            if visit.preemptions + u32::from(preempts && !visit.safe) <= self.bound {
                (0..it.violations).try_for_each(|number| self.error(Some((process as u8, number))))?;
            }
        }
        if let Some(reason) = self.tally.budget.stopped() {
            return Err(Stop::Reason(reason));
        }
        if moves.iter().all(|it| !it.moved) && !self.system.may_end(&opened.bytes) {
            self.error(None)?;
        }
        let todo = self.todo(&opened, visit, &moves);
        self.waiting += todo.len();
        if let Some(frame) = self.path.last_mut() {
            frame.todo = todo;
        }
        Ok(())
    }

    /// The recursive calls, the first one last: lines 16 to 30 of Fig. 3, lines 18 to 44 of Fig. 5.
    fn todo(&mut self, opened: &Opened, visit: Visit, moves: &[Moves]) -> Vec<Step> {
        let last = usize::from(visit.last);
        let is_on_path = |to: &StateNumber| self.on_path.get(to).is_some_and(|times| *times > 0);
        let mut cycle = false;
        if self.rules.reduces() && visit.last != NOBODY {
            let ample = (0..moves.len())
                .find(|process| moves[*process].moved && self.system.runs_alone(&opened.bytes, *process));
            if let Some(process) = ample {
                cycle = moves[process].arrivals.iter().any(|(to, ..)| is_on_path(to));
                if !cycle && visit.preemptions < self.bound {
                    return steps_of(process, &moves[process], visit.preemptions, true);
                }
            }
        }
        let own = moves.get(last);
        let blocked = own.is_none_or(|own| !own.moved);
        let caught = self.published.cycles
            && own.is_some_and(|own| {
                !own.arrivals.is_empty() && own.arrivals.iter().all(|(to, ..)| is_on_path(to))
            });
        let free = blocked || visit.safe || cycle || caught;
        let switched = visit.preemptions + u32::from(!free);
        let mut todo = Vec::new();
        if !self.rules.goes_on_first() {
            for (process, it) in moves.iter().enumerate().rev() {
                let preemptions = if process == last { visit.preemptions } else { switched };
                todo.extend(steps_of(process, it, preemptions, false));
            }
            return todo;
        }
        for (process, it) in moves.iter().enumerate().filter(|(process, _)| *process != last) {
            todo.extend(steps_of(process, it, switched, false));
        }
        // The process that ran goes on first: it stands last.
        if let Some(own) = own {
            todo.extend(steps_of(last, own, visit.preemptions, false));
        }
        todo
    }

    fn moves(&mut self, opened: &Opened, process: usize) -> Option<Moves> {
        let mut found = Vec::new();
        let mut bytes = Vec::new();
        let mut moves = Moves::default();
        moves.moved = self.system.expand(&opened.bytes, process, &mut |event| match event {
            Event::Arrival { state, runs, steps } => {
                found.push((bytes.len(), state.len(), runs, steps));
                bytes.extend_from_slice(state);
            }
            Event::Violation { .. } => moves.violations += 1,
        });
        for (start, length, runs, steps) in found {
            let (to, _) = self.number(&bytes[start..start + length], opened)?;
            moves.arrivals.push((to, runs, steps));
        }
        Some(moves)
    }

    /// The path is a run that ends in a violation: in its last state, or in a step of a process from there.
    fn error(&mut self, during: Option<(u8, u32)>) -> Result<(), Stop> {
        if self.log.is_some() {
            return Ok(());
        }
        let mut opened = Opened::default();
        let mut states = Vec::new();
        for frame in &self.path {
            self.store.open(&self.system, frame.state, &mut opened);
            states.push(self.system.state_of(&opened.bytes));
        }
        let system = self.system.reference();
        let budget = &self.tally.budget;
        let mut steps = Vec::new();
        for (i, pair) in states.windows(2).enumerate() {
            let (process, last) = (self.path[i].process, self.path[i + 1].last);
            let path = path_between(system, &pair[0], process, &pair[1], last);
            let path = path.filter(|_| budget.exhausted().is_none());
            steps.extend(path.ok_or_else(|| Stop::Reason(lost(budget)))?);
        }
        if let Some((process, violation)) = during {
            let end = states.last();
            let path = end.and_then(|end| path_to_violation(system, end, process, violation));
            steps.extend(path.ok_or_else(|| Stop::Reason(lost(budget)))?);
        }
        let initial = states.into_iter().next().ok_or_else(|| Stop::Reason(lost(budget)))?;
        if steps.len() as u64 > self.longest {
            return Ok(());
        }
        let run = Run { initial, steps };
        let error = executed_again(system, &run, during.is_none(), self.options.fair_switch, budget);
        let error = error.map_err(Stop::Reason)?;
        self.shown = Some((run, during.is_none()));
        *self.tally.stats.violations.entry(error.property.kind).or_default() += 1;
        let length = error.trace.steps.len() as u64;
        self.errors.push(error);
        if !self.published.shortening || length == 0 {
            return Err(Stop::Violated);
        }
        self.longest = length - 1;
        Ok(())
    }
}

impl<S: Successors> PaperSearch<'_, S> {
    /// The same steps in their cheapest order, if that is found within the budget and is cheaper.
    fn with_fewer_switches(&self, error: Counterexample) -> Counterexample {
        let (true, Some((run, in_state))) = (self.rules.reduces(), &self.shown) else { return error };
        let system = self.system.reference();
        let Some(other) = cheapest_order(system, run, &error.property, *in_state, ORDERED_PREFIXES) else {
            return error;
        };
        let budget = &system.budget();
        let again = executed_again(system, &other, *in_state, self.options.fair_switch, budget);
        let Ok(other) = again else { return error };
        let cost = |error: &Counterexample| (error.trace.preemptions(), error.trace.steps.len());
        if cost(&other) < cost(&error) { other } else { error }
    }
}

fn steps_of(process: usize, moves: &Moves, preemptions: u32, safe: bool) -> Vec<Step> {
    let step = |(to, runs, steps): &(StateNumber, u8, u32)| Step {
        to: *to,
        process: process as u8,
        visit: Visit { preemptions, last: *runs, safe },
        steps: *steps,
    };
    moves.arrivals.iter().rev().map(step).collect()
}
