//! Depth-first search without a store of states: each state once, along one path of whole states. Within a bound it is
//! one of the searches of paper 000: Fig. 2, or Fig. 3 with the replicated storage of its section 3.2.

use super::paths::Reached;
use super::{Ending, Turn, Variety, hashed_report, note, reduction_for, replayed};
use crate::CheckError;
use crate::reduction::Reduction;
use crate::search::tally::Tally;
use crate::search::{Counterexample, Goal, SearchOptions, SearchReport};
use crate::store::hash::StateHash;
use crate::store::known::Known;
use crate::store::sketch::Sketch;
use crate::successors::{Event, Successors};
use preempt_core::{Budget, Memory, Progress, PropertyKind, Rng, StopReason, Verdict};
use preempt_model::search::RunCost;
use std::collections::HashSet;

/// When is a state to be visited?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// If it never was.
    Once,
    /// If it never was with so few preemptions. When it is, a copy is stored for this and every higher number up to the
    /// bound, so that it matches then; who ran last is not stored.
    Replicated,
}

pub struct DepthFirst<'a, S, K> {
    system: S,
    known: K,
    rule: Rule,
    options: &'a SearchOptions,
    goal: Goal,
    reduction: Reduction,
    tally: Tally,
    seed: u64,
    processes: Turn,
    transitions: Turn,
    chance: Rng,
    sketch: Option<&'a mut Sketch>,
    /// Four stacks: the states on the path; the arrivals and the processes of each that were not tried yet; and the
    /// bytes of all these states.
    path: Vec<Frame>,
    arrivals: Vec<Arrival>,
    todo: Vec<u8>,
    bytes: Vec<u8>,
    most_bytes: u64,
    scratch: Vec<(usize, usize, u8, u32)>,
    scratch_bytes: Vec<u8>,
    /// With the strong reduction: the states on the path.
    on_path: HashSet<StateHash>,
}

struct Frame {
    start: usize,
    end: usize,
    /// The process that was running when the state was reached.
    last: u8,
    preemptions: u32,
    steps: u64,
    /// The process that was expanded last.
    process: u8,
    moved: bool,
    last_moved: bool,
    /// The exact reduction lets the running process go on alone, if it can move.
    runs_alone: bool,
    /// Those whom the strong reduction leaves out; and does a step lead away from the path? If none does, they are tried.
    left_out: Box<[u8]>,
    leaves_path: bool,
    /// The first of its arrivals, and of its processes.
    first_arrival: usize,
    first_todo: usize,
}

struct Arrival {
    start: usize,
    preemptions: u32,
    runs: u8,
    steps: u32,
}

enum Ended {
    Stopped(StopReason),
    Violated(Ending),
}

/// Stands before the number of preemptions in what is known of a state.
const COPY: u64 = 1 << 32;

impl<'a, S: Successors, K: Known> DepthFirst<'a, S, K> {
    pub fn new(
        system: S,
        known: K,
        rule: Rule,
        variety: Variety<'a>,
        options: &'a SearchOptions,
        goal: Goal,
    ) -> Self {
        DepthFirst {
            system,
            known,
            rule,
            options,
            goal,
            reduction: reduction_for(options, goal),
            tally: Tally::new(options.limits),
            seed: variety.seed,
            processes: variety.processes,
            transitions: variety.transitions,
            chance: Rng::new(variety.seed),
            sketch: variety.sketch,
            path: Vec::new(),
            arrivals: Vec::new(),
            todo: Vec::new(),
            bytes: Vec::new(),
            most_bytes: 0,
            scratch: Vec::new(),
            scratch_bytes: Vec::new(),
            on_path: HashSet::new(),
        }
    }

    pub fn run(mut self, progress: &mut dyn Progress) -> Result<SearchReport, CheckError> {
        let mut ended = None;
        self.tally.begin(&mut self.system, progress);
        for state in self.system.initial() {
            self.bytes.clear();
            self.bytes.extend_from_slice(&state);
            let arrival = Arrival { start: 0, preemptions: 0, runs: u8::MAX, steps: 0 };
            ended = self.enter(&arrival, 0).or_else(|| self.search(progress));
            if ended.is_some() {
                break;
            }
        }
        if let Some(trouble) = self.system.trouble() {
            return Err(trouble.into());
        }
        let (verdict, errors) = match (ended, self.tally.budget.stopped()) {
            (Some(Ended::Stopped(reason)), _) | (_, Some(reason)) => {
                (Verdict::Inconclusive(reason), Vec::new())
            }
            (Some(Ended::Violated(ending)), None) => {
                let budget = self.tally.begin_telling(&mut self.system, progress);
                match self.told(ending, &budget) {
                    Ok(error) => (Verdict::Violated, vec![error]),
                    Err(reason) => (Verdict::Inconclusive(reason), Vec::new()),
                }
            }
            (None, None) => (self.tally.conclude(), Vec::new()),
        };
        let store = self.known.bytes() + self.system.bytes();
        let memory = Memory { store, frontier: self.most_bytes, parents: 0 };
        Ok(hashed_report(self.options, self.known.reach(), verdict, errors, self.tally, memory))
    }

    fn search(&mut self, progress: &mut dyn Progress) -> Option<Ended> {
        while let Some(frame) = self.path.last() {
            let (steps, preemptions) = (frame.steps, frame.preemptions);
            let ended = if self.arrivals.len() > frame.first_arrival {
                let Some(arrival) = self.arrivals.pop() else { continue };
                let steps = steps + u64::from(arrival.steps);
                self.tally.transition(RunCost { preemptions: arrival.preemptions, steps });
                self.enter(&arrival, steps)
            } else if self.todo.len() > frame.first_todo {
                let Some(process) = self.todo.pop() else { continue };
                self.expand(process)
            } else if !frame.left_out.is_empty() && !frame.leaves_path {
                // As in the search with the exact store: nobody is put off for ever.
                let Some(frame) = self.path.last_mut() else { continue };
                self.todo.extend(std::mem::take(&mut frame.left_out));
                continue;
            } else {
                self.leave()
            };
            if ended.is_some() {
                return ended;
            }
            let used = self.path_bytes();
            self.most_bytes = self.most_bytes.max(used);
            let (known, system, waiting) = (&self.known, &self.system, self.path.len() as u64);
            let bytes = || known.bytes() + system.bytes() + used;
            let cost = RunCost { preemptions, steps };
            if let Some(reason) = self.tally.reason_to_stop(cost, bytes, waiting, progress) {
                return Some(Ended::Stopped(reason));
            }
        }
        None
    }

    /// Arrives in the state that lies at the end of the bytes; if it is to be visited, it becomes the end of the path.
    fn enter(&mut self, arrival: &Arrival, steps: u64) -> Option<Ended> {
        let hash = StateHash::of(&self.bytes[arrival.start..], self.seed);
        let visits = self.tally.is_within_depth(steps) && self.is_to_be_visited(hash, arrival, steps);
        if let Some(frame) = self.path.last_mut() {
            frame.leaves_path |= visits || !self.on_path.contains(&hash);
        }
        if !visits {
            self.bytes.truncate(arrival.start);
            return None;
        }
        let state = &self.bytes[arrival.start..];
        let last = usize::from(arrival.runs);
        let count = self.system.process_count(state);
        let first_todo = self.todo.len();
        let runs_alone = self.reduction == Reduction::Exact && self.system.runs_alone(state, last);
        let chosen = match self.reduction {
            Reduction::Strong => self.system.persistent_on_path(state),
            _ => None,
        };
        let mut left_out = Box::default();
        if self.reduction == Reduction::Strong {
            self.on_path.insert(hash);
        }
        match chosen {
            Some(mut chosen) => {
                chosen.sort_unstable();
                left_out = (0..count as u8).filter(|process| !chosen.contains(process)).collect();
                self.todo.extend(chosen);
            }
            None => self.todo.extend((0..count).map(|process| process as u8)),
        }
        let todo = &mut self.todo[first_todo..];
        turn(self.processes, todo, &mut self.chance);
        // Whether leaving it is a preemption, must be known before the others are tried: it comes first, at the end.
        if (runs_alone || self.options.bound.is_some())
            && let Some(place) = todo.iter().position(|process| *process == arrival.runs)
        {
            todo[place..].rotate_left(1);
        }
        let kind = if S::JUDGES_STATES { self.system.state_violation(state) } else { None };
        self.path.push(Frame {
            start: arrival.start,
            end: self.bytes.len(),
            last: arrival.runs,
            preemptions: arrival.preemptions,
            steps,
            process: 0,
            moved: false,
            last_moved: false,
            runs_alone,
            left_out,
            leaves_path: false,
            first_arrival: self.arrivals.len(),
            first_todo,
        });
        kind.and_then(|kind| self.found(kind, Ending::InState))
    }

    /// CONSTRAINT, but for the bound; what is to be visited is known from now on.
    fn is_to_be_visited(&mut self, hash: StateHash, arrival: &Arrival, steps: u64) -> bool {
        let preemptions = arrival.preemptions;
        let (visits, is_new) = match (self.rule, self.options.bound) {
            (Rule::Replicated, Some(bound)) => {
                let copy = |number: u32| hash.with(COPY + u64::from(number));
                // Whoever was visited at all has the highest of the copies.
                let is_new = self.known.meet(copy(bound), 0).1;
                let visits =
                    if preemptions < bound { self.known.remember(copy(preemptions)) } else { is_new };
                if visits {
                    (preemptions + 1..bound).for_each(|number| {
                        self.known.remember(copy(number));
                    });
                }
                (visits, is_new)
            }
            _ => {
                let is_new = self.known.meet(hash, 0).1;
                (is_new, is_new)
            }
        };
        if is_new {
            self.tally.new_state(RunCost { preemptions, steps });
            note(&mut self.sketch, &self.bytes[arrival.start..]);
        }
        self.tally.stats.revisits += u64::from(visits && !is_new);
        visits
    }

    /// Expands a process in the last state.
    fn expand(&mut self, process: u8) -> Option<Ended> {
        let frame = self.path.last_mut()?;
        let switches = frame.last != u8::MAX && process != frame.last;
        // Without a bound nobody comes first, and preemptions are not counted.
        let counted = self.options.bound.is_some() && switches && frame.last_moved;
        let preemptions = frame.preemptions + u32::from(counted);
        if self.options.bound.is_some_and(|bound| preemptions > bound) {
            return None;
        }
        frame.process = process;
        let (list, bytes) = (&mut self.scratch, &mut self.scratch_bytes);
        list.clear();
        bytes.clear();
        let mut kinds = Vec::new();
        let state = &self.bytes[frame.start..frame.end];
        let moved = self.system.expand(state, usize::from(process), &mut |event| match event {
            Event::Arrival { state, runs, steps } => {
                list.push((bytes.len(), state.len(), runs, steps));
                bytes.extend_from_slice(state);
            }
            Event::Violation { kind, .. } => kinds.push(kind),
        });
        frame.moved |= moved;
        if process == frame.last && moved {
            frame.last_moved = true;
            if frame.runs_alone {
                self.todo.truncate(frame.first_todo);
            }
        }
        turn(self.transitions, list, &mut self.chance);
        for (start, length, runs, steps) in list.drain(..) {
            self.arrivals.push(Arrival { start: self.bytes.len(), preemptions, runs, steps });
            self.bytes.extend_from_slice(&bytes[start..start + length]);
        }
        let mut ended = None;
        for (number, kind) in kinds.into_iter().enumerate() {
            let found = self.found(kind, Ending::During { process, violation: number as u32 });
            ended = ended.or(found);
        }
        ended
    }

    /// Everything was tried in the last state.
    fn leave(&mut self) -> Option<Ended> {
        let frame = self.path.last()?;
        let state = &self.bytes[frame.start..frame.end];
        // Without its budget the system has no moves either.
        let undone = self.tally.budget.stopped().is_some();
        if !undone && !frame.moved && !self.system.may_end(state) {
            let ended = self.found(PropertyKind::Deadlock, Ending::InState);
            if ended.is_some() {
                return ended;
            }
        }
        let frame = self.path.pop()?;
        if self.reduction == Reduction::Strong {
            self.on_path.remove(&StateHash::of(&self.bytes[frame.start..frame.end], self.seed));
        }
        self.bytes.truncate(frame.start);
        None
    }

    fn found(&mut self, kind: PropertyKind, ending: Ending) -> Option<Ended> {
        *self.tally.stats.violations.entry(kind).or_default() += 1;
        (self.goal != Goal::Count).then_some(Ended::Violated(ending))
    }

    fn path_bytes(&self) -> u64 {
        (self.path.capacity() * size_of::<Frame>()
            + self.arrivals.capacity() * size_of::<Arrival>()
            + self.todo.capacity()
            + self.bytes.capacity()
            + self.on_path.capacity() * size_of::<(StateHash, u64)>()) as u64
    }

    fn told(&self, ending: Ending, budget: &Budget) -> Result<Counterexample, StopReason> {
        let reached =
            |frame: &Frame| Reached { state: self.bytes[frame.start..frame.end].to_vec(), last: frame.last };
        let states: Vec<Reached> = self.path.iter().map(reached).collect();
        let processes: Vec<u8> = self.path.iter().map(|frame| frame.process).collect();
        replayed(&self.system, &states, &processes, ending, self.options.fair_switch, budget)
    }
}

/// Puts what is taken from the end into the order that is wanted.
fn turn<T>(turn: Turn, list: &mut [T], chance: &mut Rng) {
    match turn {
        Turn::Usual => {}
        Turn::Reversed => list.reverse(),
        Turn::Shuffled => chance.shuffle(list),
    }
}
