//! The running thread or task.

pub use preempt::thread::ThreadId as TaskId;

/// The running one.
pub fn me() -> TaskId {
    preempt::thread::current().id()
}

/// A name that a thread was given.
pub type TaskName = String;

/// The name of the running thread, if it is this one.
pub fn get_name_for_task(task: TaskId) -> Option<TaskName> {
    let current = preempt::thread::current();
    (current.id() == task).then(|| current.name().map(str::to_string)).flatten()
}

/// The running one.
pub fn get_current_task() -> Option<TaskId> {
    Some(me())
}
