//! Tasks as schedulers see them: threads and futures alike.

use crate::current::VectorClock;
use preempt::EnabledThread;
use preempt::thread::ThreadId;
use std::fmt;

/// The number of a task, in the order of creation; the main one is 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskId(usize);

impl From<usize> for TaskId {
    fn from(number: usize) -> TaskId {
        TaskId(number)
    }
}

impl From<TaskId> for usize {
    fn from(id: TaskId) -> usize {
        id.0
    }
}

impl From<ThreadId> for TaskId {
    fn from(id: ThreadId) -> TaskId {
        TaskId(id.into())
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TaskId({})", self.0)
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A task that can run.
#[derive(Debug, Clone)]
pub struct Task {
    id: TaskId,
    name: Option<String>,
    pub(crate) clock: VectorClock,
}

impl Task {
    /// The main one, which has not begun.
    pub(crate) fn main() -> Task {
        Task { id: TaskId(0), name: None, clock: VectorClock(Vec::new()) }
    }

    /// Which one.
    pub fn id(&self) -> TaskId {
        self.id
    }

    /// The name that it was given when it was spawned.
    pub fn name(&self) -> Option<String> {
        self.name.clone()
    }

    /// Schedulers are shown those that can run only.
    pub fn runnable(&self) -> bool {
        true
    }
}

impl From<&EnabledThread> for Task {
    fn from(thread: &EnabledThread) -> Task {
        let clock = VectorClock(thread.clock.clone());
        Task { id: TaskId(thread.number), name: thread.name.clone(), clock }
    }
}
