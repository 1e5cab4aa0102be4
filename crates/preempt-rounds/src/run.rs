//! From a failure to a run of the program that the reference interpreter has executed.
//!
//! A chain of predecessors leads from the first configuration to the failing one, a turn of a thread each. A turn is found
//! again by a search through the thread's own steps, breadth first, on whole states of the interpreter: which values
//! nondeterministic expressions took, and what the locals were that rounds have forgotten, is known by nobody else. Where
//! threads were sorted, the thread that moves is any that stands where the sorted one does. If a turn cannot be found, the
//! search has made a mistake, and it is an internal error.

use crate::configurations::Configurations;
use crate::error::{Ended, Result, go_on};
use crate::intern::{OVER, WAITING};
use crate::search::{Setting, Start};
use crate::symmetry::{Order, Sorted};
use crate::turns::{Stop, Turns};
use preempt_core::{Budget, Property, Trace};
use preempt_model::System;
use preempt_model::interpreter::{Action, State};
use preempt_model::search::replay;
use std::collections::HashMap;

/// The configurations on the way to a failure, and the place of the thread that goes on from each.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    steps: Vec<(Vec<u32>, usize)>,
    /// Equal threads have changed places on the way.
    sorted: bool,
}

/// Real threads on the way along a chain.
struct Walk<'a> {
    start: &'a Start,
    /// For telling sorted configurations apart as they were told.
    sorted: Sorted,
    /// The stack of each thread.
    at: Vec<u32>,
    /// Who went last.
    last: usize,
}

impl Chain {
    pub fn of(configurations: &Configurations, from: usize, thread: usize, sorted: bool) -> Chain {
        let mut chain = vec![(configurations.get(from).to_vec(), thread)];
        let mut here = from;
        while here > 0 {
            let (parent, thread) = configurations.parent(here);
            chain.push((configurations.get(parent).to_vec(), thread));
            here = parent;
        }
        chain.reverse();
        Chain { steps: chain, sorted }
    }

    /// The threads that go on, each with the stop that its turn leads to; the last one fails.
    fn turns(&self, start: &Start, turns: &mut Turns<'_>) -> Result<Vec<(usize, Option<Stop>)>> {
        let sorted = Sorted::new(start.clone(), Order::Turns);
        let mut walk = Walk { start, sorted, at: start.cells[1..].to_vec(), last: 0 };
        let mut result = Vec::new();
        for (index, (cells, place)) in self.steps.iter().enumerate() {
            let thread = match self.sorted {
                true => walk.real(cells[place + 1], *place),
                false => *place,
            };
            walk.last = thread;
            let Some((next, _)) = self.steps.get(index + 1) else {
                result.push((thread, None));
                break;
            };
            let turn = turns.turn(start.kinds[*place], cells[0], cells[place + 1])?;
            let leads = |stop: &&Stop| {
                let mut after = cells.clone();
                start.apply(turns, &mut after, *place, stop)
                    && (after == *next || walk.sorted.sorted(after) == walk.sorted.sorted(next.clone()))
            };
            let stop = *turns
                .content(turn)
                .stops
                .iter()
                .find(leads)
                .unwrap_or_else(|| panic!("internal error: a turn on the way to a violation is lost"));
            walk.at[thread] = stop.stack;
            for (site, stack) in turns.starts(stop.started) {
                let free =
                    (0..walk.at.len()).find(|it| start.sites[*it] == Some(site) && walk.at[*it] == WAITING);
                if let Some(free) = free {
                    walk.at[free] = stack;
                }
            }
            result.push((thread, Some(stop)));
        }
        Ok(result)
    }

    /// In how many rounds the threads come in this order.
    pub fn rounds(&self, start: &Start, turns: &mut Turns<'_>) -> Result<u32> {
        let order = self.turns(start, turns)?;
        let back = order.windows(2).filter(|pair| pair[1].0 < pair[0].0).count();
        Ok(back as u32 + 1)
    }
}

impl Walk<'_> {
    /// One of those that stand there and may have changed places: whoever went last, so that there is no switch, or else the
    /// next one in the order of the rounds, so that no new round begins.
    fn real(&self, stack: u32, place: usize) -> usize {
        let same = |thread: &usize| {
            let start = self.start;
            self.at[*thread] == stack
                && start.codes[*thread] == start.codes[place]
                && start.kinds[*thread] == start.kinds[place]
                && start.sites[*thread] == start.sites[place]
        };
        (self.last..self.at.len())
            .chain(0..self.last)
            .find(same)
            .unwrap_or_else(|| panic!("internal error: nobody stands where a thread went on"))
    }
}

/// What is violated, and the run that does it.
pub(crate) fn execute(
    setting: &Setting<'_>,
    start: &Start,
    turns: &mut Turns<'_>,
    chain: &Chain,
    budget: &Budget,
) -> Result<(Property, Trace)> {
    let mut run = Run::begin(setting);
    let threads = &setting.threads.all;
    // The process of each thread, once it has been started.
    let mut pids: Vec<Option<usize>> = threads.iter().map(|thread| thread.pid).collect();
    for (thread, stop) in chain.turns(start, turns)? {
        go_on(budget)?;
        let Some(pid) = pids[thread] else { panic!("internal error: a thread moves before it is started") };
        let processes = run.processes();
        run.turn(turns, pid, stop, budget)?;
        let Some(stop) = stop else { continue };
        for (number, (site, _)) in turns.starts(stop.started).enumerate() {
            let waits =
                |it: &usize| threads[*it].waits.is_some_and(|(of, _)| of == site) && pids[*it].is_none();
            if let Some(started) = (0..threads.len()).find(waits) {
                pids[started] = Some(processes + number);
            }
        }
    }
    run.finish(budget)
}

/// A run of the interpreter that grows turn by turn.
pub(crate) struct Run<'a> {
    setting: &'a Setting<'a>,
    state: State,
    steps: Vec<(usize, Action)>,
}

impl<'a> Run<'a> {
    /// After what the first process does alone.
    pub fn begin(setting: &'a Setting<'a>) -> Run<'a> {
        let state = setting.interpreter.initial_states().remove(0);
        let mut run = Run { setting, state, steps: Vec::new() };
        for (pid, action) in &setting.threads.prelude {
            let successors = setting.interpreter.successors(&run.state, *pid);
            let next = successors.into_iter().find(|next| next.action == *action).and_then(|next| next.state);
            run.state = next.unwrap_or_else(|| panic!("internal error: the first steps cannot be repeated"));
            run.steps.push((*pid, action.clone()));
        }
        run
    }

    /// How many processes there are.
    pub fn processes(&self) -> usize {
        self.setting.interpreter.process_count(&self.state)
    }

    /// The whole run, replayed, and what it violates.
    pub fn finish(self, budget: &Budget) -> Result<(Property, Trace)> {
        let interpreter = &self.setting.interpreter;
        let initial = interpreter.initial_states().remove(0);
        let replayed = match replay(interpreter, &initial, &self.steps, false) {
            Ok(replayed) => replayed,
            Err(misfit) => match budget.exhausted() {
                Some(reason) => return Err(Ended::Stopped(reason)),
                None => panic!("internal error: the run found does not replay: {misfit:?}"),
            },
        };
        let violation = replayed.violation;
        let violation = violation.unwrap_or_else(|| panic!("internal error: the run found violates nothing"));
        Ok((Property::from(violation), replayed.trace))
    }

    /// The steps of a process to the next stop of its thread, or to the violation.
    pub fn turn(
        &mut self,
        turns: &mut Turns<'_>,
        pid: usize,
        goal: Option<Stop>,
        budget: &Budget,
    ) -> Result<()> {
        let interpreter = &self.setting.interpreter;
        // A process that is blocked in its atomic sequence has given up the processor.
        if interpreter
            .exclusive(&self.state)
            .is_some_and(|holder| holder != pid && interpreter.successors(&self.state, holder).is_empty())
        {
            self.state = interpreter.release(&self.state);
        }
        let processes = interpreter.process_count(&self.state);
        let mut found: Vec<(State, usize, Option<Action>)> = vec![(self.state.clone(), 0, None)];
        let mut seen = HashMap::from([(self.state.clone(), ())]);
        let mut next = 0usize;
        let last = loop {
            if next.is_multiple_of(256) {
                go_on(budget)?;
            }
            let Some((state, ..)) = found.get(next).cloned() else {
                if let Some(reason) = budget.stopped() {
                    return Err(Ended::Stopped(reason));
                }
                panic!("internal error: a turn on the way to a violation cannot be executed");
            };
            let here = next;
            next += 1;
            if let Some(stop) = goal.filter(|_| here > 0)
                && self.arrived(turns, &state, pid, processes, &stop)
            {
                break here;
            }
            let mut failed = None;
            for successor in interpreter.successors(&state, pid) {
                let ends = self.ends(&state, pid, &successor.action);
                if goal.is_none() && successor.violation.is_some() {
                    failed = Some(successor.action);
                    break;
                }
                let Some(state) = successor.state.filter(|_| !ends) else { continue };
                if seen.insert(state.clone(), ()).is_none() {
                    found.push((state, here, Some(successor.action)));
                }
            }
            if let Some(action) = failed {
                self.follow(&found, here, pid);
                self.steps.push((pid, action));
                return Ok(());
            }
        };
        self.follow(&found, last, pid);
        self.state = found[last].0.clone();
        Ok(())
    }

    fn ends(&self, state: &State, pid: usize, action: &Action) -> bool {
        let Some((code, location)) = self.setting.interpreter.place_of(state, pid) else { return true };
        let edge = &self.setting.model.code(code).location(location).edges[action.edge as usize];
        matches!(edge.command, preempt_model::Command::End)
    }

    fn follow(&mut self, found: &[(State, usize, Option<Action>)], to: usize, pid: usize) {
        let mut actions = Vec::new();
        let mut here = to;
        while let (_, parent, Some(action)) = &found[here] {
            actions.push((pid, action.clone()));
            here = *parent;
        }
        self.steps.extend(actions.into_iter().rev());
    }

    /// Is this what the turn leads to, as far as it matters?
    fn arrived(
        &self,
        turns: &mut Turns<'_>,
        state: &State,
        pid: usize,
        processes: usize,
        stop: &Stop,
    ) -> bool {
        let interpreter = &self.setting.interpreter;
        let machine = interpreter.open(state);
        if machine.exclusive.is_some() && !interpreter.successors(state, pid).is_empty() {
            return false;
        }
        if machine.globals != turns.rules.shared.word(stop.shared) {
            return false;
        }
        let started: Vec<u32> = turns.starts(stop.started).map(|(_, stack)| stack).collect();
        if machine.processes.len() != processes + started.len() {
            return false;
        }
        let stack = turns.stack(&machine.processes[pid]);
        let new = &machine.processes[processes..];
        // Who is over is not asked where it stands.
        (stop.stack == OVER || stack == stop.stack)
            && new.iter().zip(started).all(|(process, stack)| turns.stack(process) == stack)
    }
}
