//! A modelled thread as the runtime keeps it, and the operation that it is about to do.

use super::clock::Clock;
use super::context::Context;
use crate::local::Locals;
use corosensei::Yielder;
use preempt_stateless::{ObjectId, Operation};
use std::panic::Location;

/// A place in the code of the program under test.
pub(crate) type CodeLocation = &'static Location<'static>;

/// A thread of the program under test.
pub(crate) struct Thread {
    /// Does not depend on the interleaving: made of the parent's name and how many it had spawned before.
    pub name: u64,
    pub label: Option<String>,
    pub pending: Option<Pending>,
    pub finished: bool,
    pub panicked: bool,
    /// Somebody joined it and was given its panic.
    pub handled: bool,
    /// It may wait for ever when everybody else has finished.
    pub daemon: bool,
    /// A destructor of one of its thread-local values has panicked: no join is given that.
    pub fatal: bool,
    pub(super) children: u64,
    /// Of `park` and `unpark`.
    pub(super) token: Option<ObjectId>,
    /// Whether it has ended, where that is a step.
    pub(super) ended: Option<ObjectId>,
    /// A task that nobody can wait for any more.
    pub detached: bool,
    /// Which locks it holds for reading, under [`Context::stricter`].
    pub reading: Vec<ObjectId>,
    /// How many of its steps were spurious.
    pub spurious_steps: u32,
    /// After so many steps of the run it was spawned.
    pub born: usize,
    /// Where it was spawned.
    pub origin: Option<CodeLocation>,
    /// Where its last operation was.
    pub at: Option<CodeLocation>,
    pub clock: Clock,
    /// What an acquire fence would make known, and what a release fence has promised (C++20, atomics.fences).
    pub acquirable: Clock,
    pub fenced: Clock,
    pub locals: Locals,
    /// The size of its stack.
    pub stack: usize,
    /// What destructors wanted to do while the thread was panicking.
    pub deferred: Vec<Deferred>,
    /// Suspends its coroutine; null before it runs.
    pub yielder: *const Yielder<(), ()>,
}

impl Thread {
    /// A thread that has not run yet.
    pub(super) fn new(name: u64, label: Option<String>, clock: Clock, stack: usize) -> Thread {
        Thread {
            name,
            label,
            pending: None,
            finished: false,
            panicked: false,
            handled: false,
            daemon: false,
            fatal: false,
            children: 0,
            token: None,
            ended: None,
            detached: false,
            reading: Vec::new(),
            spurious_steps: 0,
            born: 0,
            origin: None,
            at: None,
            clock,
            acquirable: Clock::default(),
            fenced: Clock::default(),
            locals: Locals::default(),
            stack,
            deferred: Vec::new(),
            yielder: std::ptr::null(),
        }
    }
}

/// An operation that a thread is about to do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pending {
    pub operation: Operation,
    pub label: Label,
    pub location: CodeLocation,
}

/// How an operation is shown to people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Label {
    pub verb: &'static str,
    pub object: Option<ObjectId>,
}

/// An operation that has to wait until its thread is not panicking any more: coroutines must not be switched while
/// one of them unwinds, since the panic count belongs to the OS thread.
pub(crate) struct Deferred {
    pub pending: Pending,
    pub effect: Box<dyn FnOnce(&mut Context)>,
}
