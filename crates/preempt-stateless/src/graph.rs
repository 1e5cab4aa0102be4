//! The happens-before graph of the current run (Musuvathi and Qadeer 2007, paper 001, sections 2 and 3.3), grown and shrunk
//! a step at a time.
//!
//! Graph identity uses *all* conflicts: a write is ordered after every earlier access to the object, a read after the
//! last write, whatever memory orderings the program names. (Only the detection of data races, which is not here,
//! looks at those.) Two runs with the same graph do the same, so one of them is enough.
//!
//! A step that ends the run depends on every other: whatever was done before it could not have been done after it.
//!
//! A step costs a vector clock and an entry in the log of each object that it touches; going back removes them.

use crate::counts::Counts;
use crate::executable::{Executable, Flow, Move};
use crate::operation::{ObjectId, Operation};
use crate::racing::{Racing, UsedObject};
use crate::runner::{Diverged, Runner};
use crate::stamp::Stamp;
use std::collections::HashMap;

/// A step that was done.
#[derive(Debug, Clone)]
pub struct Event {
    /// What was done.
    pub operation: Operation,
    /// By which choice.
    pub choice: u8,
    /// For each access the number of writes to the object before it: the `m` of paper 001's actions.
    pub versions: [u32; 3],
    /// Identifies the step and what it saw.
    pub stamp: Stamp,
    /// How many steps of each thread happened before or are this one; threads beyond its end: none.
    pub clock: Counts,
    /// How often its thread had yielded before it.
    pub yields_before: u32,
    /// For each access: it touches the n-th object that its thread has used (see `racing.rs`).
    pub(crate) places: [u32; 3],
    /// How many its thread had used before.
    pub(crate) objects_before: u32,
    /// Nobody needs to be let in before it (see `racing.rs`).
    pub(crate) hidden: bool,
}

/// What one thread did, and what it would do next.
#[derive(Debug, Clone)]
pub struct ThreadLog {
    /// As [`Executable::name`].
    pub name: u64,
    /// The step that created it: thread and index.
    pub parent: Option<(usize, u32)>,
    /// Its steps.
    pub events: Vec<Event>,
    /// Its next operation; `None` once it has finished.
    pub pending: Option<Operation>,
    pub(crate) pending_places: [u32; 3],
    pub(crate) pending_hidden: bool,
    /// How many objects it has used.
    pub(crate) objects: u32,
    /// Those, and those that it is about to use.
    pub(crate) used: Vec<UsedObject>,
    /// Nothing is known to be shared with others (see `private.rs`).
    pub(crate) private: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Write {
    pub thread: usize,
    pub index: u32,
    /// The object's gate after it.
    pub gate: u128,
    /// What it made.
    pub version: Stamp,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Read {
    pub thread: usize,
    pub index: u32,
    /// What it added to the gate (wrapping).
    pub delta: u128,
}

#[derive(Debug, Clone)]
pub(crate) struct ObjectLog {
    /// The object's gate at the start.
    pub initial: u128,
    pub writes: Vec<Write>,
    /// Those that saw version 0, version 1, ...; one list more than there are writes.
    pub reads: Vec<Vec<Read>>,
    /// Who has used it, and as the n-th of its objects.
    pub places: Vec<(usize, u32)>,
}

/// The graph of the steps done so far.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    pub(crate) threads: Vec<ThreadLog>,
    pub(crate) objects: HashMap<ObjectId, ObjectLog, foldhash::fast::FixedState>,
    path: Vec<Move>,
    stamp: Stamp,
    pub(crate) racing: Racing,
}

/// The gates of an operation's objects before its step, kept until the gates after it are known.
#[derive(Debug)]
struct Before([u128; 3]);

impl Graph {
    /// The graph without steps, with the threads that exist from the start.
    pub fn new(program: &impl Executable) -> Graph {
        let mut graph = Graph::default();
        graph.add_threads(program, None);
        let pending = graph.threads.iter().filter_map(|log| log.pending.as_ref());
        for access in pending.flat_map(Operation::accesses) {
            graph.objects.insert(access.object, ObjectLog::new(program.gate(access.object)));
        }
        graph
    }

    /// The graph of a run.
    ///
    /// # Errors
    /// If the program cannot do these steps.
    pub fn of_run(program: &mut impl Executable, schedule: &[Move]) -> Result<Graph, Diverged> {
        let mut runner = Runner::new(program);
        let mut graph = Graph::new(runner.program());
        for &step in schedule {
            graph.follow(&mut runner, step)?;
        }
        Ok(graph)
    }

    /// Who did the steps, in the order in which this run did them.
    pub fn path(&self) -> &[Move] {
        &self.path
    }

    /// Of all its steps.
    pub fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// In the order in which the run created them.
    pub fn threads(&self) -> &[ThreadLog] {
        &self.threads
    }

    /// The i-th step of the run: its thread and event.
    pub fn steps(&self) -> impl Iterator<Item = (usize, &Event)> + '_ {
        let mut done = vec![0; self.threads.len()];
        self.path.iter().map(move |&Move { thread, .. }| {
            let event = &self.threads[thread].events[done[thread]];
            done[thread] += 1;
            (thread, event)
        })
    }

    /// To be called before the program does its step.
    fn before(&self, program: &impl Executable, operation: &Operation) -> Before {
        let mut gates = [0; 3];
        for (gate, access) in gates.iter_mut().zip(&operation.accesses) {
            *gate = access.map_or(0, |access| program.gate(access.object));
        }
        Before(gates)
    }

    /// To be called after the program has done a step that was pending here.
    fn push(&mut self, program: &impl Executable, step: Move, flow: Flow, before: &Before) {
        let Move { thread, choice } = step;
        let Some(operation) = self.threads[thread].pending else { return };
        let index = self.threads[thread].events.len() as u32;
        let mut clock = self.clock_of_next(thread, &operation);
        if flow == Flow::Stop {
            // Nobody moves after it, so everything that was done happened before it.
            clock = self.whole().counts;
            clock[thread] += 1;
        }
        let (mut versions, mut seen) = ([0; 3], [Stamp::EMPTY; 3]);
        for (i, access) in operation.accesses.iter().enumerate() {
            let Some(log) = access.and_then(|access| self.objects.get(&access.object)) else { continue };
            versions[i] = log.writes.len() as u32;
            seen[i] = log.writes.last().map_or(Stamp::EMPTY, |write| write.version);
        }
        let stamp = stamp_of(self.threads[thread].name, index, choice, &operation, seen);
        let ThreadLog { pending_places: places, pending_hidden: hidden, objects: objects_before, .. } =
            self.threads[thread];
        for (i, access) in operation.accesses.iter().enumerate() {
            let Some(access) = access else { continue };
            let log = self.objects.entry(access.object).or_insert_with(|| ObjectLog::new(0));
            let gate = program.gate(access.object);
            if places[i] == self.threads[thread].objects {
                self.threads[thread].objects += 1;
                log.places.push((thread, places[i]));
            }
            if access.write {
                log.writes.push(Write { thread, index, gate, version: stamp.version(i) });
                log.reads.push(Vec::new());
            } else if let Some(reads) = log.reads.last_mut() {
                reads.push(Read { thread, index, delta: gate.wrapping_sub(before.0[i]) });
            }
        }
        let log = &mut self.threads[thread];
        let yields_before = log.yields();
        log.events.push(Event {
            operation,
            choice,
            versions,
            stamp,
            clock,
            yields_before,
            places,
            objects_before,
            hidden,
        });
        log.pending = program.next(thread);
        self.stamp = self.stamp.toggle(stamp);
        self.path.push(step);
        self.place_pending(thread);
        let from = self.threads.len();
        self.add_threads(program, Some((thread, index)));
        self.learn(thread, flow, from);
    }

    fn place_pending(&mut self, thread: usize) {
        self.place_accesses(thread);
        self.threads[thread].pending_hidden = self.hides_pending(&self.threads[thread]);
    }

    /// One more step of the program and of the graph.
    pub(crate) fn follow<E: Executable>(
        &mut self,
        runner: &mut Runner<'_, E>,
        step: Move,
    ) -> Result<Flow, Diverged> {
        let thread = step.thread;
        runner.repeat()?;
        let Some(next) = self.threads.get(thread).and_then(|log| log.pending.as_ref()) else {
            let found = runner.next(step).map(|operation| operation.code);
            return Err(Diverged { step: runner.len(), thread, expected: None, found });
        };
        let before = self.before(runner.program(), next);
        // The thread must stand before the operation that it stood before when a run was here first.
        let flow = runner.step_by(step, next)?;
        self.push(runner.program(), step, flow, &before);
        Ok(flow)
    }

    /// Takes the last step back.
    pub(crate) fn pop(&mut self) {
        let Some(Move { thread, .. }) = self.path.pop() else { return };
        let Some(event) = self.threads[thread].events.pop() else { return };
        let index = self.threads[thread].events.len() as u32;
        while self.threads.last().is_some_and(|log| log.parent == Some((thread, index))) {
            self.threads.pop();
        }
        for access in event.operation.accesses() {
            let Some(log) = self.objects.get_mut(&access.object) else { continue };
            if access.write {
                log.writes.pop();
                log.reads.pop();
            } else if let Some(reads) = log.reads.last_mut() {
                reads.pop();
            }
            if log
                .places
                .last()
                .is_some_and(|(user, place)| *user == thread && *place >= event.objects_before)
            {
                log.places.pop();
            }
        }
        let beyond = event.operation.accesses().zip(event.places).map(|(_, place)| place + 1).max();
        self.threads[thread].used.truncate(beyond.unwrap_or(0).max(event.objects_before) as usize);
        self.threads[thread].objects = event.objects_before;
        self.threads[thread].pending_places = event.places;
        self.threads[thread].pending_hidden = event.hidden;
        self.stamp = self.stamp.toggle(event.stamp);
        self.threads[thread].pending = Some(event.operation);
    }

    fn add_threads(&mut self, program: &impl Executable, parent: Option<(usize, u32)>) {
        for thread in self.threads.len()..program.threads() {
            let (name, pending) = (program.name(thread), program.next(thread));
            let private = self.is_private(name);
            let log = ThreadLog {
                name,
                parent,
                events: Vec::new(),
                pending,
                pending_places: [0; 3],
                pending_hidden: false,
                objects: 0,
                used: Vec::new(),
                private,
            };
            self.threads.push(log);
            self.place_pending(thread);
        }
    }

    /// Its own past, the step that created it, what its accesses conflict with, and a thread whose end it awaits.
    fn clock_of_next(&self, thread: usize, operation: &Operation) -> Counts {
        let log = &self.threads[thread];
        let mut clock = Counts::zero(self.threads.len());
        let mut join = |thread: usize, index: u32| {
            let event = &self.threads[thread].events[index as usize];
            for (mine, theirs) in clock.iter_mut().zip(&*event.clock) {
                *mine = (*mine).max(*theirs);
            }
        };
        match (log.events.len(), log.parent) {
            (0, Some((parent, index))) => join(parent, index),
            (0, None) => {}
            (n, _) => join(thread, n as u32 - 1),
        }
        for access in operation.accesses() {
            let Some(object) = self.objects.get(&access.object) else { continue };
            if let Some(write) = object.writes.last() {
                join(write.thread, write.index);
            }
            if access.write {
                for read in object.reads.last().into_iter().flatten() {
                    join(read.thread, read.index);
                }
            }
        }
        for need in operation.needs.iter().flatten() {
            if let crate::operation::Need::Finished(other) = *need {
                match self.threads[other].events.len() {
                    0 => self.threads[other].parent.into_iter().for_each(|(p, index)| join(p, index)),
                    n => join(other, n as u32 - 1),
                }
            }
        }
        clock[thread] = log.events.len() as u32 + 1;
        clock
    }
}

impl ObjectLog {
    fn new(initial: u128) -> ObjectLog {
        ObjectLog { initial, writes: Vec::new(), reads: vec![Vec::new()], places: Vec::new() }
    }
}

impl ThreadLog {
    pub(crate) fn yields(&self) -> u32 {
        self.events.last().map_or(0, |last| last.yields_before + u32::from(last.operation.yields))
    }

    /// How often the thread has yielded in its first `count` steps.
    pub fn yields_within(&self, count: u32) -> u32 {
        match self.events.get(count as usize) {
            Some(event) => event.yields_before,
            None => self.yields(),
        }
    }
}

pub(crate) fn stamp_of(name: u64, index: u32, choice: u8, operation: &Operation, seen: [Stamp; 3]) -> Stamp {
    let accesses = operation.accesses.iter().zip(seen);
    Stamp::action(
        name,
        index,
        choice,
        accesses.filter_map(|(access, seen)| Some((access.as_ref()?.write, seen))),
    )
}
