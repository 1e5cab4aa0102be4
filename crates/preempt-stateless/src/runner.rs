//! Drives a program along a path that grows and shrinks: going back means running again from the start.

use crate::executable::{Executable, Flow, Move};
use crate::explore::ExplorationStop;
use crate::operation::Operation;

/// The program did something else when the same steps were repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diverged {
    /// Which step of the run.
    pub step: usize,
    /// Whose step.
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
    /// For each of them, how many up to it were yields or could have been another thread's: see [`Runner::is_endless`].
    contested: Vec<usize>,
    /// Does the program stand at the end of the path?
    at_end: bool,
    /// Who can move there by the usual choice, if somebody has asked: the first, and whether there are more.
    movers: Option<(Option<usize>, bool)>,
    /// Runs begun so far.
    pub runs: u64,
    /// Steps done so far, repeated ones included.
    pub steps: u64,
}

impl<'a, E: Executable> Runner<'a, E> {
    /// Starts the program.
    pub fn new(program: &'a mut E) -> Runner<'a, E> {
        let (path, contested) = (Vec::new(), Vec::new());
        let mut runner = Runner { program, path, contested, at_end: false, movers: None, runs: 0, steps: 0 };
        runner.restart();
        runner
    }

    fn restart(&mut self) {
        self.program.start();
        self.runs += 1;
        self.at_end = true;
    }

    /// The program where it stands, which may be elsewhere than the path ends (see [`Runner::rewind`]).
    pub fn program(&self) -> &E {
        self.program
    }

    /// As [`Runner::program`].
    pub fn program_mut(&mut self) -> &mut E {
        self.program
    }

    /// The number of steps of the path.
    pub fn len(&self) -> usize {
        self.path.len()
    }

    /// Has the path no steps?
    pub fn is_empty(&self) -> bool {
        self.path.is_empty()
    }

    /// The steps of the path.
    pub fn schedule(&self) -> Vec<Move> {
        self.path.iter().map(|(step, _)| *step).collect()
    }

    /// Who moved last.
    pub fn last(&self) -> Option<usize> {
        self.path.last().map(|(step, _)| step.thread)
    }

    /// Who moved last, if it was a yield.
    pub(crate) fn last_yielded(&self) -> Option<usize> {
        self.path.last().filter(|(_, operation)| operation.yields).map(|(step, _)| step.thread)
    }

    /// Forgets all steps but the first `len`. The program is run again only when it has to go on from there.
    pub fn rewind(&mut self, len: usize) {
        if len < self.path.len() {
            self.path.truncate(len);
            self.contested.truncate(len);
            (self.at_end, self.movers) = (false, None);
        }
    }

    /// Abandons the run that was left at a point where it could have gone on, too.
    pub fn reset(&mut self) {
        self.path.clear();
        self.contested.clear();
        (self.at_end, self.movers) = (false, None);
    }

    /// Makes the program stand at the end of the path, before a search looks at it.
    ///
    /// # Errors
    /// If it does something else than it did before, or has given up.
    pub fn arrive(&mut self) -> Result<(), ExplorationStop> {
        // Asked first: a program that has given up need not do again what it did.
        if self.program.gave_up() {
            return Err(ExplorationStop::GaveUp);
        }
        Ok(self.repeat()?)
    }

    /// Runs the path again unless the program stands at its end.
    pub(crate) fn repeat(&mut self) -> Result<(), Diverged> {
        if self.at_end {
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

    /// What the thread would do next.
    pub(crate) fn next(&self, step: Move) -> Option<Operation> {
        if step.thread < self.program.threads() { self.program.next(step.thread) } else { None }
    }

    /// One more step.
    ///
    /// # Errors
    /// If the thread cannot do it.
    pub fn step(&mut self, next: impl Into<Move>) -> Result<Flow, Diverged> {
        let next = next.into();
        self.repeat()?;
        match self.next(next) {
            Some(operation) => self.step_by(next, &operation),
            None => Err(Diverged { step: self.path.len(), thread: next.thread, expected: None, found: None }),
        }
    }

    /// As [`Runner::step`], if the next operation of the thread is known. The program must stand at the end of the path.
    pub(crate) fn step_by(&mut self, next: Move, operation: &Operation) -> Result<Flow, Diverged> {
        let (step, thread) = (self.path.len(), next.thread);
        if !self.program.stands_before(next, operation) {
            let found = self.next(next);
            let expected = (found.as_ref() != Some(operation)).then_some(operation.code);
            return Err(Diverged { step, thread, expected, found: found.map(|found| found.code) });
        }
        self.path.push((next, *operation));
        let has_rival = match self.movers.take() {
            Some((first, more)) => more || first.is_some_and(|first| first != thread),
            None => self.program.has_rival(thread),
        };
        let contested = operation.yields || has_rival;
        self.contested.push(self.contested.last().copied().unwrap_or(0) + usize::from(contested));
        self.steps += 1;
        Ok(self.program.step(next))
    }

    /// Is the run so long that it will not end? A thread that works alone, without waiting for anybody, is no livelock: only
    /// steps that yield or that others could have done instead count in full.
    pub fn is_endless(&self, limit: usize) -> bool {
        if self.len() < limit {
            return false;
        }
        let from = self.program.counts_from().min(self.len());
        let contested = |len: usize| len.checked_sub(1).map_or(0, |last| self.contested[last]);
        let (steps, rivalled) = (self.len() - from, contested(self.len()) - contested(from));
        steps >= limit && rivalled >= limit || steps >= limit.saturating_mul(ALONE)
    }

    /// The threads that can move.
    pub fn enabled(&self) -> Vec<usize> {
        (0..self.program.threads()).filter(|&thread| self.program.enabled(thread)).collect()
    }

    /// Every possible move where the program stands: at the end of the path.
    pub fn moves(&mut self) -> Vec<Move> {
        let mut moves = Vec::new();
        self.add_moves(&mut moves);
        moves
    }

    /// As [`Runner::moves`], into a list that is used again.
    pub(crate) fn add_moves(&mut self, moves: &mut Vec<Move>) {
        moves.clear();
        self.program.add_moves(moves);
        let mut usual = moves.iter().filter(|step| step.choice == 0).map(|step| step.thread);
        self.movers = self.at_end.then(|| (usual.next(), usual.next().is_some()));
    }

    /// Would a step of `thread` leave one that could go on?
    pub fn preempts(&self, thread: usize) -> bool {
        self.last().is_some_and(|last| last != thread && self.program.enabled(last))
    }
}
