//! Random walks: from an initial state on, a random successor, again and again. Nothing is stored but the steps of the walk
//! itself, so it can be as long as one likes; nothing is proved.
//!
//! A walk that switches at every step hardly ever lets a process get far, and one that never switches finds nothing that
//! needs it: so each walk has its own probability of going on with the process that runs ([`STAYS`]).

use super::by_cost::path_tree::{Step, states_along};
use super::report::{Findings, report};
use super::statistics::Statistics;
use super::{Counterexample, SearchOptions, SearchReport};
use crate::CheckError;
use crate::budget::SearchBudget;
use crate::replay::{Ending, NOBODY, ReplayError, ReplayOptions, StatePath};
use crate::store::known::Reach;
use crate::store::sketch::Sketch;
use crate::successors::{Event, Replayable};
use preempt_core::{Budget, Coverage, Memory, Progress, PropertyKind, Rng, Snapshot, StopReason, Verdict};
use preempt_model::search::RunCost;

/// Which walks, and how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Walks {
    /// The same seed gives the same walks.
    pub seed: u64,
    /// A thousand if there is no limit of time either.
    pub most: Option<u64>,
}

/// Walks where nothing else limits them.
const USUAL_WALKS: u64 = 1000;

/// Steps of a walk where nothing else limits them: it may go round for ever.
const USUAL_DEPTH: u64 = 10_000;

/// How likely the running process goes on if it can, in 32nds. Each walk takes one of them: few switches find what
/// many do not, and the other way round.
const STAYS: [usize; 4] = [0, 16, 28, 31];

/// How often, in steps, the clock, the memory and the observer of the search are looked at.
const LOOK_EVERY: u32 = 16;

/// How different the states are that were met is estimated no more often than each so many of them.
const ESTIMATE_EVERY: u64 = 64;

/// A state on the walk, and who was running when it was reached.
struct Position {
    state: Vec<u8>,
    last: u8,
}

pub struct Random<'a, S: ?Sized> {
    system: &'a mut S,
    walks: Walks,
    options: &'a SearchOptions,
    rng: Rng,
    statistics: Statistics,
    budget: SearchBudget,
    sketch: &'a mut Sketch,
    /// States, each time that one was met.
    met: u64,
    /// When there can be more different ones among them than the limit allows.
    estimate_at: u64,
    steps: Vec<Step>,
    /// Of the process that is looked at: its arrivals, and their bytes.
    arrivals: Vec<(usize, usize, u8, u32)>,
    bytes: Vec<u8>,
}

enum Ended {
    Stopped(StopReason),
    /// From this initial state, along the steps taken.
    Violated(u32, Ending),
}

/// What became of an attempt to move.
enum Attempt {
    Blocked,
    Wrong(Ending),
    /// To this state, by this process with its choice.
    Moved {
        to: Position,
        step: Step,
        steps: u32,
    },
}

impl<'a, S: Replayable + ?Sized> Random<'a, S> {
    pub fn new(system: &'a mut S, walks: Walks, options: &'a SearchOptions, sketch: &'a mut Sketch) -> Self {
        Random {
            system,
            walks,
            options,
            rng: Rng::new(walks.seed),
            statistics: Statistics::default(),
            budget: SearchBudget::new(options.limits, LOOK_EVERY),
            sketch,
            met: 0,
            estimate_at: options.limits.states.unwrap_or(u64::MAX),
            steps: Vec::new(),
            arrivals: Vec::new(),
            bytes: Vec::new(),
        }
    }

    pub fn run(mut self, progress: &mut dyn Progress) -> Result<SearchReport, CheckError> {
        let initial = self.system.initial();
        let timed = self.options.limits.time.is_some();
        let most = self.walks.most.unwrap_or(if timed { u64::MAX } else { USUAL_WALKS });
        let mut ended = None;
        self.system.work_within(self.budget.begin(progress));
        while ended.is_none() && self.statistics.stats.executions < most && !initial.is_empty() {
            let number = self.rng.below(initial.len());
            ended = self.walk(number as u32, initial[number].clone(), progress).err();
            self.statistics.stats.executions += 1;
            // A walk may end where it begins.
            let reason = self.poll(RunCost { preemptions: 0, steps: 0 }, progress);
            ended = ended.or(reason.map(Ended::Stopped));
        }
        if let Some(error) = self.system.error() {
            return Err(error.into());
        }
        let (verdict, errors) = match (ended, self.budget.stopped()) {
            (Some(Ended::Stopped(reason)), _) | (_, Some(reason)) => {
                (Verdict::Inconclusive(reason), Vec::new())
            }
            (Some(Ended::Violated(initial, ending)), None) => {
                let budget = self.budget.for_replay(progress);
                self.system.work_within(&budget);
                match self.replay(initial, ending, &budget) {
                    Ok(error) => (Verdict::Violated, vec![error]),
                    Err(error) => (Verdict::Inconclusive(error.stop_reason()), Vec::new()),
                }
            }
            (None, None) => (Verdict::Inconclusive(StopReason::Partial), Vec::new()),
        };
        let memory = Memory { store: self.system.bytes(), frontier: self.bytes_used(), parents: 0 };
        let mut stats = self.statistics.stats.clone();
        stats.time = self.budget.elapsed();
        stats.states = self.sketch.estimate();
        // Which states were new at which level, is not known.
        stats.levels.clear();
        stats.coverage = Some(Coverage { states_are_estimated: true, ..Coverage::default() });
        let report = report(self.options, Findings { verdict, errors, stats, memory, reach: Reach::Whole });
        Ok(SearchReport { simplest: false, ..report })
    }

    /// One walk, to its end.
    fn walk(&mut self, initial: u32, state: Vec<u8>, progress: &mut dyn Progress) -> Result<(), Ended> {
        self.steps.clear();
        let stay = STAYS[self.rng.below(STAYS.len())];
        let longest = self.options.limits.depth.unwrap_or(USUAL_DEPTH);
        let mut cost = RunCost { preemptions: 0, steps: 0 };
        let mut at = Position { state, last: NOBODY };
        loop {
            self.sketch.add(self.system.fingerprint(&at.state));
            self.met += 1;
            if self.system.judges_states() && self.system.state_violation(&at.state).is_some() {
                return Err(Ended::Violated(initial, Ending::InState));
            }
            let left = longest.saturating_sub(cost.steps);
            let (attempt, preempts) = self.somebody(&at, stay, cost.preemptions, left);
            match attempt {
                Attempt::Moved { to, step, steps } => {
                    cost.steps += u64::from(steps);
                    cost.preemptions += u32::from(preempts);
                    if cost.steps > longest {
                        return Ok(());
                    }
                    self.steps.push(step);
                    self.statistics.transition(cost);
                    self.statistics.stats.depth = self.statistics.stats.depth.max(cost.steps);
                    at = to;
                }
                Attempt::Wrong(ending) => return Err(Ended::Violated(initial, ending)),
                Attempt::Blocked => {
                    let count = self.system.process_count(&at.state);
                    let nobody = !(0..count).any(|process| self.system.can_move(&at.state, process));
                    // Without its budget the system has no moves either.
                    let undone = self.budget.stopped().is_some();
                    let dead = nobody && !undone && !self.system.may_end(&at.state);
                    return if dead { Err(Ended::Violated(initial, Ending::InState)) } else { Ok(()) };
                }
            }
            if let Some(reason) = self.poll(cost, progress) {
                return Err(Ended::Stopped(reason));
            }
        }
    }

    /// Somebody moves, if anybody can within the bound; and whether that is a preemption.
    fn somebody(&mut self, at: &Position, stay: usize, preemptions: u32, left: u64) -> (Attempt, bool) {
        let count = self.system.process_count(&at.state);
        let last = usize::from(at.last);
        let runs = last < count;
        let at_bound = self.options.bound.is_some_and(|bound| preemptions >= bound);
        if runs && (at_bound || self.rng.below(32) < stay) {
            let attempt = self.attempt(at, last, left);
            if !matches!(attempt, Attempt::Blocked) {
                return (attempt, false);
            }
        }
        let mut order: Vec<usize> = (0..count).collect();
        self.rng.shuffle(&mut order);
        for process in order {
            let preempts = runs && process != last && self.system.can_move(&at.state, last);
            if preempts && at_bound {
                continue;
            }
            let attempt = self.attempt(at, process, left);
            if !matches!(attempt, Attempt::Blocked) {
                return (attempt, preempts);
            }
        }
        (Attempt::Blocked, false)
    }

    /// A random successor of the process; a violation on the way to any of them is not passed by, if there are so many steps
    /// left.
    fn attempt(&mut self, at: &Position, process: usize, left: u64) -> Attempt {
        let (arrivals, bytes) = (&mut self.arrivals, &mut self.bytes);
        arrivals.clear();
        bytes.clear();
        let mut wrong: Option<(PropertyKind, u32)> = None;
        let mut violations = 0;
        let moved = self.system.expand(&at.state, process, &mut |event| match event {
            Event::Arrival { state, runs, steps } => {
                arrivals.push((bytes.len(), state.len(), runs, steps));
                bytes.extend_from_slice(state);
            }
            Event::Violation { kind, steps } => {
                wrong = wrong.or((u64::from(steps) <= left).then_some((kind, violations)));
                violations += 1;
            }
        });
        let process = process as u8;
        if let Some((kind, violation)) = wrong {
            *self.statistics.stats.violations.entry(kind).or_default() += 1;
            return Attempt::Wrong(Ending::During { process, violation });
        }
        if !moved || arrivals.is_empty() {
            // Also if what goes wrong lies beyond the end of the walk.
            return Attempt::Blocked;
        }
        let choice = self.rng.below(arrivals.len());
        let (start, length, last, steps) = arrivals[choice];
        let to = Position { state: bytes[start..start + length].to_vec(), last };
        Attempt::Moved { to, step: Step { process, choice: choice as u32 }, steps }
    }

    fn replay(
        &mut self,
        initial: u32,
        ending: Ending,
        budget: &Budget,
    ) -> Result<Counterexample, ReplayError> {
        let states = states_along(self.system, initial, &self.steps, budget);
        let states = states.ok_or_else(|| ReplayError::lost(budget))?;
        let options = ReplayOptions { fair_switch: self.options.fair_switch, reorder: false };
        let error = self.system.replay(&StatePath { states, ending }, options, budget)?;
        self.statistics.stats.violations.entry(error.property.kind).or_insert(1);
        Ok(error)
    }

    fn poll(&mut self, cost: RunCost, progress: &mut dyn Progress) -> Option<StopReason> {
        if let Some(most) = self.options.limits.states.filter(|_| self.met > self.estimate_at) {
            let states = self.sketch.estimate();
            self.statistics.stats.states = states;
            self.estimate_at = self.met + most.saturating_sub(states).max(ESTIMATE_EVERY);
        }
        let (used, system, stats) = (self.bytes_used(), &*self.system, &self.statistics.stats);
        self.budget.poll(stats.states, progress, || Snapshot {
            states: stats.states,
            transitions: stats.transitions,
            frontier: 0,
            depth: cost.steps,
            level: cost.preemptions,
            bytes: used + system.bytes(),
        })
    }

    fn bytes_used(&self) -> u64 {
        (self.steps.capacity() * size_of::<Step>() + self.bytes.capacity()) as u64
    }
}
