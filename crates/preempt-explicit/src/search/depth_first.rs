//! Depth-first search: each state once, one path at a time. It needs little memory beside the store and finds
//! *a* violation, not the simplest.

use super::tally::Tally;
use super::verdict::{executed_again, lost, reported};
use super::ways::{Run, path_between, path_to_violation};
use super::{Counterexample, Goal, SearchOptions, SearchReport};
use crate::CheckError;
use crate::reduction::Reduction;
use crate::store::{Opened, StateNumber, Store};
use crate::successors::{Event, Successors};
use preempt_core::{Budget, Memory, Progress, PropertyKind, StopReason, Verdict};
use preempt_model::search::RunCost;

pub(super) struct DepthFirst<'a, S> {
    system: S,
    options: &'a SearchOptions,
    goal: Goal,
    store: Store,
    tally: Tally,
    /// The states on the current path.
    path: Vec<Frame>,
    /// Arrivals of the states on the path that were not looked at yet: those of the last state at the end.
    arrivals: Vec<Arrival>,
    bytes: Vec<u8>,
    most_bytes: u64,
    on_path: OnPath,
}

/// The states on the current path, as bits.
#[derive(Default)]
struct OnPath(Vec<u64>);

impl OnPath {
    fn set(&mut self, state: StateNumber, is_on: bool) {
        let (word, bit) = (state as usize / 64, 1 << (state % 64));
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        if is_on { self.0[word] |= bit } else { self.0[word] &= !bit }
    }

    fn contains(&self, state: StateNumber) -> bool {
        self.0.get(state as usize / 64).is_some_and(|word| word & (1 << (state % 64)) != 0)
    }
}

struct Frame {
    state: StateNumber,
    /// The process that was running when the state was reached.
    last: u8,
    steps: u64,
    /// How many of its processes, from the first on, are still to be expanded.
    processes: u8,
    /// The strong reduction tries only these of them; everybody if there are none.
    chosen: Option<Box<[u8]>>,
    /// Those that were tried, if everybody is tried after all.
    tried: Option<Box<[u8]>>,
    /// Does a step lead away from the current path?
    leaves_path: bool,
    /// The one that was expanded last.
    process: u8,
    moved: bool,
    /// The exact reduction lets the running process go on alone, if it can move.
    runs_alone: bool,
    /// The first of its arrivals.
    first: usize,
}

struct Arrival {
    start: usize,
    runs: u8,
    steps: u32,
}

/// How a path ends in a violation: in its last state, or during a step of a process from there.
enum Found {
    InState,
    During(u8, u32),
}

impl<'a, S: Successors> DepthFirst<'a, S> {
    pub fn new(system: S, options: &'a SearchOptions, goal: Goal) -> Self {
        DepthFirst {
            system,
            options,
            goal,
            store: Store::new(),
            tally: Tally::new(options.limits),
            path: Vec::new(),
            arrivals: Vec::new(),
            bytes: Vec::new(),
            most_bytes: 0,
            on_path: OnPath::default(),
        }
    }

    pub fn run(mut self, progress: &mut dyn Progress) -> Result<SearchReport, CheckError> {
        let mut ended = None;
        self.tally.begin(&mut self.system, progress);
        for state in self.system.initial() {
            ended = self.enter(&state, &Opened::default(), (u8::MAX, 0));
            if ended.is_none() {
                ended = self.search(progress);
            }
            if ended.is_some() {
                break;
            }
        }
        if let Some(trouble) = self.system.trouble() {
            return Err(trouble.into());
        }
        let verdict = match (ended, self.tally.budget.stopped()) {
            (Some(Ended::Stopped(reason)), _) | (_, Some(reason)) => Verdict::Inconclusive(reason),
            (Some(Ended::Violated(found)), None) => {
                let budget = self.tally.begin_telling(&mut self.system, progress);
                match self.told(found, &budget) {
                    Ok(error) => return Ok(self.report(Verdict::Violated, vec![error])),
                    Err(reason) => Verdict::Inconclusive(reason),
                }
            }
            (None, None) => self.tally.conclude(),
        };
        Ok(self.report(verdict, Vec::new()))
    }

    fn search(&mut self, progress: &mut dyn Progress) -> Option<Ended> {
        let mut opened = Opened::default();
        let mut open_is = None;
        while let Some(frame) = self.path.last_mut() {
            let (number, steps) = (frame.state, frame.steps);
            if open_is != Some(number) {
                self.store.open(&self.system, number, &mut opened);
                open_is = Some(number);
            }
            if self.arrivals.len() > frame.first {
                let Some(arrival) = self.arrivals.pop() else { continue };
                let state = self.bytes.split_off(arrival.start);
                let cost = (arrival.runs, steps + u64::from(arrival.steps));
                self.tally.transition(RunCost { preemptions: 0, steps: cost.1 });
                if let Some(ended) = self.enter(&state, &opened, cost) {
                    return Some(ended);
                }
            } else if frame.runs_alone {
                frame.runs_alone = false;
                frame.process = frame.last;
                if let Some(ended) = self.expand(&opened.bytes) {
                    return Some(ended);
                }
                if let Some(frame) = self.path.last_mut().filter(|frame| frame.moved) {
                    frame.processes = 0;
                }
            } else if frame.processes > 0 {
                // The newest process first, as Spin does.
                frame.processes -= 1;
                frame.process = frame.processes;
                let left_out = frame.chosen.as_ref().is_some_and(|chosen| !chosen.contains(&frame.process));
                if left_out || frame.tried.as_ref().is_some_and(|tried| tried.contains(&frame.process)) {
                    continue;
                }
                if let Some(ended) = self.expand(&opened.bytes) {
                    return Some(ended);
                }
            } else if frame.chosen.is_some() && !frame.leaves_path {
                // All that was tried closes a cycle; those left out must not be put off for ever. It is enough that
                // one step does not: where it leads to is finished before this state is.
                frame.tried = frame.chosen.take();
                frame.processes = self.system.process_count(&opened.bytes) as u8;
            } else {
                let dead = !frame.moved && !self.system.may_end(&opened.bytes);
                // Without its budget the system has no moves either.
                if dead && self.tally.budget.stopped().is_none() {
                    *self.tally.stats.violations.entry(PropertyKind::Deadlock).or_default() += 1;
                    if self.goal != Goal::Count {
                        return Some(Ended::Violated(Found::InState));
                    }
                }
                self.on_path.set(number, false);
                self.path.pop();
            }
            let cost = RunCost { preemptions: 0, steps };
            let used = self.path_bytes();
            self.most_bytes = self.most_bytes.max(used);
            let (store, system, waiting) = (&self.store, &self.system, self.path.len() as u64);
            let bytes = || store.bytes() + system.bytes() + used;
            if let Some(reason) = self.tally.reason_to_stop(cost, bytes, waiting, progress) {
                return Some(Ended::Stopped(reason));
            }
        }
        None
    }

    /// Arrives in a state; if it is new, it becomes the end of the path.
    fn enter(&mut self, state: &[u8], like: &Opened, (last, steps): (u8, u64)) -> Option<Ended> {
        if !self.tally.is_within_depth(steps) {
            return None;
        }
        let processes = self.system.process_count(state);
        let key = self.store.encode(&self.system, state, like);
        let found = key.and_then(|key| self.store.insert(key, key.hash(), processes));
        let Some((number, is_new)) = found else {
            return Some(Ended::Stopped(StopReason::Memory));
        };
        if let Some(frame) = self.path.last_mut() {
            frame.leaves_path |= is_new || !self.on_path.contains(number);
        }
        if !is_new {
            return None;
        }
        self.on_path.set(number, true);
        self.tally.new_state(RunCost { preemptions: 0, steps });
        let reduction = match (self.goal, self.options.reduction) {
            (Goal::First, reduction) | (Goal::Count, reduction @ Reduction::Strong) => reduction,
            _ => Reduction::None,
        };
        let runs_alone = reduction == Reduction::Exact && self.system.runs_alone(state, usize::from(last));
        let chosen = match reduction {
            Reduction::Strong => self.system.persistent_on_path(state).map(Vec::into_boxed_slice),
            Reduction::None | Reduction::Exact => None,
        };
        self.path.push(Frame {
            state: number,
            last,
            steps,
            processes: processes as u8,
            process: 0,
            moved: false,
            runs_alone,
            chosen,
            tried: None,
            leaves_path: false,
            first: self.arrivals.len(),
        });
        let kind = if S::JUDGES_STATES { self.system.state_violation(state) } else { None };
        if let Some(kind) = kind {
            *self.tally.stats.violations.entry(kind).or_default() += 1;
        }
        (kind.is_some() && self.goal != Goal::Count).then_some(Ended::Violated(Found::InState))
    }

    /// Expands the process that the last frame names.
    fn expand(&mut self, state: &[u8]) -> Option<Ended> {
        let frame = self.path.last_mut()?;
        let (arrivals, bytes) = (&mut self.arrivals, &mut self.bytes);
        let mut kinds = Vec::new();
        frame.moved |= self.system.expand(state, usize::from(frame.process), &mut |event| match event {
            Event::Arrival { state, runs, steps } => {
                arrivals.push(Arrival { start: bytes.len(), runs, steps });
                bytes.extend_from_slice(state);
            }
            Event::Violation { kind, .. } => kinds.push(kind),
        });
        let process = frame.process;
        for kind in &kinds {
            *self.tally.stats.violations.entry(*kind).or_default() += 1;
        }
        (!kinds.is_empty() && self.goal != Goal::Count).then_some(Ended::Violated(Found::During(process, 0)))
    }

    fn path_bytes(&self) -> u64 {
        (self.path.len() * size_of::<Frame>()
            + self.arrivals.len() * size_of::<Arrival>()
            + self.bytes.len()
            + self.on_path.0.len() * size_of::<u64>()) as u64
    }

    /// The path from the first state on, and what ends it.
    fn told(&self, found: Found, budget: &Budget) -> Result<Counterexample, StopReason> {
        let mut opened = Opened::default();
        let mut states = Vec::new();
        for frame in &self.path {
            self.store.open(&self.system, frame.state, &mut opened);
            states.push(self.system.state_of(&opened.bytes));
        }
        let system = self.system.reference();
        let mut steps = Vec::new();
        for (i, pair) in states.windows(2).enumerate() {
            let (process, last) = (self.path[i].process, self.path[i + 1].last);
            let path = path_between(system, &pair[0], process, &pair[1], last);
            steps.extend(path.filter(|_| budget.exhausted().is_none()).ok_or_else(|| lost(budget))?);
        }
        let in_state = match found {
            Found::InState => true,
            Found::During(process, violation) => {
                let end = states.last();
                let path = end.and_then(|end| path_to_violation(system, end, process, violation));
                steps.extend(path.ok_or_else(|| lost(budget))?);
                false
            }
        };
        let initial = states.into_iter().next().ok_or_else(|| lost(budget))?;
        executed_again(system, &Run { initial, steps }, in_state, self.options.fair_switch, budget)
    }

    fn report(mut self, verdict: Verdict, errors: Vec<Counterexample>) -> SearchReport {
        self.tally.stats.time = self.tally.elapsed();
        let memory =
            Memory { store: self.store.bytes() + self.system.bytes(), frontier: self.most_bytes, parents: 0 };
        reported(self.options, verdict, errors, self.tally.stats, memory)
    }
}

enum Ended {
    Stopped(StopReason),
    Violated(Found),
}
