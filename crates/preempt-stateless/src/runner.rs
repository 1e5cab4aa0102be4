//! Drives a program along a path that grows and shrinks: going back means running again from the start.

use crate::executable::{Executable, Flow, Move, Operation};

/// The program did something else when the same steps were repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diverged {
    /// Which step of the run.
    pub step: usize,
    pub thread: usize,
    /// The kind of operation that the thread did at this point before; `None` if it could not move.
    pub expected: Option<u32>,
    /// What it would do now.
    pub found: Option<u32>,
}

/// So many steps of a thread that nobody could interrupt count as one.
const ALONE: usize = 100;

/// A program and where it stands.
#[derive(Debug)]
pub struct Runner<'a, E> {
    program: &'a mut E,
    /// The steps that are wanted, with the operations that they were when first done.
    path: Vec<(Move, Operation)>,
    /// For each of them, how many up to it were yields or had alternatives: see [`Runner::is_endless`].
    open: Vec<usize>,
    /// Does the program stand at the end of the path?
    there: bool,
    /// Runs begun so far.
    pub runs: u64,
    /// Steps done so far, repeated ones included.
    pub steps: u64,
}

impl<'a, E: Executable> Runner<'a, E> {
    pub fn new(program: &'a mut E) -> Runner<'a, E> {
        let mut runner =
            Runner { program, path: Vec::new(), open: Vec::new(), there: false, runs: 0, steps: 0 };
        runner.restart();
        runner
    }

    fn restart(&mut self) {
        self.program.start();
        self.runs += 1;
        self.there = true;
    }

    pub fn program(&self) -> &E {
        self.program
    }

    pub fn program_mut(&mut self) -> &mut E {
        self.program
    }

    pub fn len(&self) -> usize {
        self.path.len()
    }

    pub fn is_empty(&self) -> bool {
        self.path.is_empty()
    }

    pub fn schedule(&self) -> Vec<Move> {
        self.path.iter().map(|(step, _)| *step).collect()
    }

    /// Who moved last.
    pub fn last(&self) -> Option<usize> {
        self.path.last().map(|(step, _)| step.thread)
    }

    /// Forgets all steps but the first `len`. The program is run again only when something is asked of it.
    pub fn rewind(&mut self, len: usize) {
        if len < self.path.len() {
            self.path.truncate(len);
            self.open.truncate(len);
            self.there = false;
        }
    }

    /// Abandons the run that was left at a point where it could have gone on, too.
    pub fn reset(&mut self) {
        self.path.clear();
        self.open.clear();
        self.there = false;
    }

    /// Makes the program stand at the end of the path.
    pub fn arrive(&mut self) -> Result<(), Diverged> {
        if self.there {
            return Ok(());
        }
        self.restart();
        for step in 0..self.path.len() {
            let (next, ref expected) = self.path[step];
            if !self.program.stands_before(next, expected) {
                let found = self.next(next).map(|operation| operation.code);
                return Err(Diverged { step, thread: next.thread, expected: Some(expected.code), found });
            }
            self.program.step(next);
            self.steps += 1;
        }
        Ok(())
    }

    fn next(&self, step: Move) -> Option<Operation> {
        if step.thread < self.program.threads() { self.program.next(step.thread) } else { None }
    }

    /// One more step; the program must stand at the end of the path.
    pub fn step(&mut self, next: impl Into<Move>) -> Result<Flow, Diverged> {
        let next = next.into();
        self.arrive()?;
        let found = self.next(next);
        let Some(operation) = found.filter(|_| self.program.possible(next)) else {
            let (step, found) = (self.path.len(), found.map(|operation| operation.code));
            return Err(Diverged { step, thread: next.thread, expected: None, found });
        };
        self.path.push((next, operation));
        let others = || (0..self.program.threads()).any(|t| t != next.thread && self.program.enabled(t));
        let open = self.open.last().copied().unwrap_or(0) + usize::from(operation.yields || others());
        self.open.push(open);
        self.steps += 1;
        Ok(self.program.step(next))
    }

    /// Is the run so long that it will not end? A thread that works alone, without waiting for anybody, is no livelock: only
    /// steps that yield or that others could have done instead count in full.
    pub fn is_endless(&self, limit: usize) -> bool {
        self.len() >= limit
            && (self.open.last().is_some_and(|open| *open >= limit)
                || self.len() >= limit.saturating_mul(ALONE))
    }

    pub fn enabled(&self) -> Vec<usize> {
        (0..self.program.threads()).filter(|&thread| self.program.enabled(thread)).collect()
    }

    /// Every way on.
    pub fn moves(&self) -> Vec<Move> {
        let threads = 0..self.program.threads();
        let usual = threads.clone().filter(|&thread| self.program.enabled(thread)).map(Move::from);
        let ways = |thread| self.program.other_ways(thread).map(move |way| Move { thread, way });
        usual.chain(threads.flat_map(ways)).collect()
    }

    /// Would a step of `thread` leave one that could go on?
    pub fn preempts(&self, thread: usize) -> bool {
        self.last().is_some_and(|last| last != thread && self.program.enabled(last))
    }
}
