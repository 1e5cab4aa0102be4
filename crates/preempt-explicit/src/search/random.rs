//! Random walks: from an initial state on, one of the ways on by chance, again and again. Nothing is stored but the way
//! itself, so a walk can be as long as one likes; nothing is proved.

use super::hashed::paths::{Reached, Step, states_along};
use super::hashed::{Ending, replayed};
use super::tally::Tally;
use super::verdict::{lost, reported};
use super::{Counterexample, SearchOptions, SearchReport};
use crate::CheckError;
use crate::store::sketch::Sketch;
use crate::successors::{Event, Successors};
use preempt_core::{Budget, Coverage, Memory, Progress, PropertyKind, Rng, StopReason, Verdict};
use preempt_model::search::RunCost;

/// Which walks, and how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Walks {
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

pub struct Random<'a, S> {
    system: S,
    walks: Walks,
    options: &'a SearchOptions,
    chance: Rng,
    tally: Tally,
    sketch: &'a mut Sketch,
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
        to: Reached,
        step: Step,
        steps: u32,
    },
}

impl<'a, S: Successors> Random<'a, S> {
    pub fn new(system: S, walks: Walks, options: &'a SearchOptions, sketch: &'a mut Sketch) -> Self {
        Random {
            system,
            walks,
            options,
            chance: Rng::new(walks.seed),
            tally: Tally::new(options.limits),
            sketch,
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
        self.tally.begin(&mut self.system, progress);
        while ended.is_none() && self.tally.stats.executions < most && !initial.is_empty() {
            let number = self.chance.below(initial.len());
            ended = self.walk(number as u32, initial[number].clone(), progress).err();
            self.tally.stats.executions += 1;
            // A walk may end where it begins.
            let cost = RunCost { preemptions: 0, steps: 0 };
            let bytes = self.bytes_used();
            let reason = self.tally.reason_to_stop(cost, || bytes, 0, progress);
            ended = ended.or(reason.map(Ended::Stopped));
        }
        if let Some(trouble) = self.system.trouble() {
            return Err(trouble.into());
        }
        let (verdict, errors) = match (ended, self.tally.budget.stopped()) {
            (Some(Ended::Stopped(reason)), _) | (_, Some(reason)) => {
                (Verdict::Inconclusive(reason), Vec::new())
            }
            (Some(Ended::Violated(initial, ending)), None) => {
                let budget = self.tally.begin_telling(&mut self.system, progress);
                match self.told(initial, ending, &budget) {
                    Ok(error) => (Verdict::Violated, vec![error]),
                    Err(reason) => (Verdict::Inconclusive(reason), Vec::new()),
                }
            }
            (None, None) => (Verdict::Inconclusive(StopReason::Partial), Vec::new()),
        };
        let memory = Memory { store: self.system.bytes(), frontier: self.bytes_used(), parents: 0 };
        let mut stats = self.tally.stats.clone();
        stats.time = self.tally.elapsed();
        stats.states = self.sketch.estimate();
        // Which states were new at which level, is not known.
        stats.levels.clear();
        stats.coverage = Some(Coverage { states_are_estimated: true, ..Coverage::default() });
        let report = reported(self.options, verdict, errors, stats, memory);
        Ok(SearchReport { simplest: false, ..report })
    }

    /// One walk, to its end.
    fn walk(&mut self, initial: u32, state: Vec<u8>, progress: &mut dyn Progress) -> Result<(), Ended> {
        self.steps.clear();
        let stay = STAYS[self.chance.below(STAYS.len())];
        let longest = self.options.limits.depth.unwrap_or(USUAL_DEPTH);
        let mut cost = RunCost { preemptions: 0, steps: 0 };
        let mut at = Reached { state, last: u8::MAX };
        loop {
            self.sketch.add(&at.state);
            if S::JUDGES_STATES && self.system.state_violation(&at.state).is_some() {
                return Err(Ended::Violated(initial, Ending::InState));
            }
            let (attempt, preempts) = self.somebody(&at, stay, cost.preemptions);
            match attempt {
                Attempt::Moved { to, step, steps } => {
                    cost.steps += u64::from(steps);
                    cost.preemptions += u32::from(preempts);
                    if cost.steps > longest {
                        return Ok(());
                    }
                    self.steps.push(step);
                    self.tally.transition(cost);
                    self.tally.stats.depth = self.tally.stats.depth.max(cost.steps);
                    at = to;
                }
                Attempt::Wrong(ending) => return Err(Ended::Violated(initial, ending)),
                Attempt::Blocked => {
                    let count = self.system.process_count(&at.state);
                    let nobody = !(0..count).any(|process| self.system.can_move(&at.state, process));
                    // Without its budget the system has no moves either.
                    let undone = self.tally.budget.stopped().is_some();
                    let dead = nobody && !undone && !self.system.may_end(&at.state);
                    return if dead { Err(Ended::Violated(initial, Ending::InState)) } else { Ok(()) };
                }
            }
            let (used, system) = (self.bytes_used(), &self.system);
            let bytes = || used + system.bytes();
            if let Some(reason) = self.tally.reason_to_stop(cost, bytes, 0, progress) {
                return Err(Ended::Stopped(reason));
            }
        }
    }

    /// Somebody moves, if anybody can within the bound; and whether that is a preemption.
    fn somebody(&mut self, at: &Reached, stay: usize, preemptions: u32) -> (Attempt, bool) {
        let count = self.system.process_count(&at.state);
        let last = usize::from(at.last);
        let runs = last < count;
        let at_bound = self.options.bound.is_some_and(|bound| preemptions >= bound);
        if runs && (at_bound || self.chance.below(32) < stay) {
            let attempt = self.attempt(at, last);
            if !matches!(attempt, Attempt::Blocked) {
                return (attempt, false);
            }
        }
        let mut order: Vec<usize> = (0..count).collect();
        self.chance.shuffle(&mut order);
        for process in order {
            let preempts = runs && process != last && self.system.can_move(&at.state, last);
            if preempts && at_bound {
                continue;
            }
            let attempt = self.attempt(at, process);
            if !matches!(attempt, Attempt::Blocked) {
                return (attempt, preempts);
            }
        }
        (Attempt::Blocked, false)
    }

    /// One of the process's ways on; a violation on any of them is not passed by.
    fn attempt(&mut self, at: &Reached, process: usize) -> Attempt {
        let (arrivals, bytes) = (&mut self.arrivals, &mut self.bytes);
        arrivals.clear();
        bytes.clear();
        let mut wrong: Option<PropertyKind> = None;
        let moved = self.system.expand(&at.state, process, &mut |event| match event {
            Event::Arrival { state, runs, steps } => {
                arrivals.push((bytes.len(), state.len(), runs, steps));
                bytes.extend_from_slice(state);
            }
            Event::Violation { kind, .. } => wrong = wrong.or(Some(kind)),
        });
        let process = process as u8;
        if let Some(kind) = wrong {
            *self.tally.stats.violations.entry(kind).or_default() += 1;
            return Attempt::Wrong(Ending::During { process, violation: 0 });
        }
        if !moved || arrivals.is_empty() {
            return Attempt::Blocked;
        }
        let choice = self.chance.below(arrivals.len());
        let (start, length, last, steps) = arrivals[choice];
        let to = Reached { state: bytes[start..start + length].to_vec(), last };
        Attempt::Moved { to, step: Step { process, choice: choice as u32 }, steps }
    }

    fn told(&mut self, initial: u32, ending: Ending, budget: &Budget) -> Result<Counterexample, StopReason> {
        let states = states_along(&mut self.system, initial, &self.steps, budget);
        let states = states.ok_or_else(|| lost(budget))?;
        let processes: Vec<u8> = self.steps.iter().map(|step| step.process).collect();
        let error = replayed(&self.system, &states, &processes, ending, self.options.fair_switch, budget)?;
        self.tally.stats.violations.entry(error.property.kind).or_insert(1);
        Ok(error)
    }

    fn bytes_used(&self) -> u64 {
        (self.steps.capacity() * size_of::<Step>() + self.bytes.capacity()) as u64
    }
}
