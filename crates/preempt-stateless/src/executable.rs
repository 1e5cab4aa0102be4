//! What the algorithms need to know of a program: nothing but how to run it, step by step.

use crate::operation::{ObjectId, Operation};
use std::ops::Range;

/// A transition: a thread does its next operation, by the usual choice (0) or another. Musuvathi and Qadeer 2007 (paper 001)
/// assume that the successor of a state by a thread is unique, so the choice is part of the action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Move {
    /// Who moves.
    pub thread: usize,
    /// By which of its choices (see [`crate::Choices`]).
    pub choice: u8,
}

impl From<usize> for Move {
    fn from(thread: usize) -> Move {
        Move { thread, choice: 0 }
    }
}

/// Does the run go on after a step?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// It does, if somebody can move.
    Continue,
    /// Something went wrong that ends the run here, whoever else could move.
    Stop,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunEnd {
    /// As it should.
    Fine,
    /// With a failure.
    Failed,
}

/// Something that runs step by step. Threads are numbered in the order in which the run created them.
///
/// **Invariant:** what a thread does next depends only on the steps that happened before it (its own, and those that
/// its accesses see), never on the interleaving of the others. The algorithms notice a breach when they repeat a
/// prefix and find another operation, and report it.
///
/// [`crate::program::Program`] is one for small programs as data, [`crate::system::SystemRun`] one for models. A program of
/// one's own, two threads that each store to the same variable once:
///
/// ```
/// use preempt_stateless::{Executable, ExplorationLimits, Flow, Move, ObjectId, Operation, RunEnd, Strategy, explore};
///
/// #[derive(Default)]
/// struct TwoStores {
///     stored: [bool; 2],
///     last: usize,
/// }
///
/// impl Executable for TwoStores {
///     fn start(&mut self) {
///         *self = TwoStores::default();
///     }
///     fn threads(&self) -> usize {
///         2
///     }
///     fn name(&self, thread: usize) -> u64 {
///         thread as u64
///     }
///     fn next(&self, thread: usize) -> Option<Operation> {
///         (!self.stored[thread]).then(|| Operation::new(0_u32).writes(ObjectId(1)))
///     }
///     fn enabled(&self, thread: usize) -> bool {
///         !self.stored[thread]
///     }
///     fn gate(&self, _: ObjectId) -> u128 {
///         0 // Nothing blocks.
///     }
///     fn step(&mut self, step: Move) -> Flow {
///         (self.stored[step.thread], self.last) = (true, step.thread);
///         Flow::Continue
///     }
///     fn end(&mut self) -> RunEnd {
///         if self.last == 0 { RunEnd::Failed } else { RunEnd::Fine }
///     }
/// }
///
/// let limits = ExplorationLimits::default();
/// let found = explore(&mut TwoStores::default(), Strategy::Marking, &limits, &mut ());
/// assert_eq!(found.failure.unwrap().schedule, [1, 0].map(Move::from));
/// ```
pub trait Executable {
    /// Abandons the current run, if any, and stands before the first step of a new one.
    fn start(&mut self);

    /// How many threads exist so far.
    fn threads(&self) -> usize;

    /// A name for the thread that does not depend on the interleaving: two runs with the same happens-before graph
    /// must use the same names, or they count as different. "The second thread that this thread created" is such a
    /// name; "the second thread" is not.
    fn name(&self, thread: usize) -> u64;

    /// The thread's next operation, also if it is disabled; `None` once it has finished.
    fn next(&self, thread: usize) -> Option<Operation>;

    /// Can the thread do its next operation now, by its usual choice?
    ///
    /// Other choices do not count here: a thread that could only wake up spuriously is not preempted.
    fn enabled(&self, thread: usize) -> bool;

    /// By which other choices can the thread do its next operation now?
    fn other_choices(&self, thread: usize) -> Range<u8> {
        self.next(thread).map_or(1..1, |next| next.other_choices(|object| self.gate(object), |_| false))
    }

    /// Adds every possible move to the list: by usual choices first, in the order of the threads.
    fn add_moves(&self, moves: &mut Vec<Move>) {
        let threads = 0..self.threads();
        moves.extend(threads.clone().filter(|&thread| self.enabled(thread)).map(Move::from));
        moves.extend(
            threads.flat_map(|thread| self.other_choices(thread).map(move |choice| Move { thread, choice })),
        );
    }

    /// Can another thread than this one do its next operation now, by its usual choice?
    fn has_rival(&self, thread: usize) -> bool {
        (0..self.threads()).any(|other| other != thread && self.enabled(other))
    }

    /// Can the thread do its next operation by this choice?
    fn possible(&self, step: Move) -> bool {
        match step.choice {
            0 => self.enabled(step.thread),
            choice => self.other_choices(step.thread).contains(&choice),
        }
    }

    /// Is this the thread's next operation, and possible by this choice?
    fn stands_before(&self, step: Move, operation: &Operation) -> bool {
        step.thread < self.threads()
            && self.next(step.thread).as_ref() == Some(operation)
            && self.possible(step)
    }

    /// The object's gate now (see [`crate::Need`]).
    fn gate(&self, object: ObjectId) -> u128;

    /// The thread does its next operation; it must be possible.
    fn step(&mut self, step: Move) -> Flow;

    /// Called when nobody can move, or after [`Flow::Stop`]: was this run a failure?
    fn end(&mut self) -> RunEnd;

    /// So many steps of this run do not count when it is asked whether the run will end: whoever said so has come further since.
    fn counts_from(&self) -> usize {
        0
    }

    /// Has it turned out that the program cannot be run like this? What was explored counts for nothing then, and no
    /// further run is begun.
    fn gave_up(&self) -> bool {
        false
    }
}
