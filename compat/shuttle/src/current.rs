//! The running thread or task, and the run that it is part of.

pub use crate::labels::{ChildLabelFn, Labels, TaskName};
pub use crate::task::TaskId;

use crate::labels::{self, Tags};
use std::any::Any;
use std::cmp::Ordering;
use std::fmt::Debug;
use std::ops::Deref;
use std::sync::Arc;

/// How many operations of each thread happen before something, by number of the thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VectorClock(pub(crate) Vec<u32>);

impl VectorClock {
    /// Of the thread with this number.
    pub fn get(&self, thread: usize) -> u32 {
        self.0.get(thread).copied().unwrap_or(0)
    }
}

impl From<&[u32]> for VectorClock {
    fn from(times: &[u32]) -> VectorClock {
        VectorClock(times.to_vec())
    }
}

impl<const N: usize> From<&[u32; N]> for VectorClock {
    fn from(times: &[u32; N]) -> VectorClock {
        VectorClock(times.to_vec())
    }
}

impl Deref for VectorClock {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.0
    }
}

impl PartialOrd for VectorClock {
    /// `None`: neither happens before the other.
    fn partial_cmp(&self, other: &VectorClock) -> Option<Ordering> {
        let entries = 0..self.0.len().max(other.0.len());
        let mut orders = entries.map(|thread| self.get(thread).cmp(&other.get(thread)));
        orders.try_fold(Ordering::Equal, |so_far, order| match (so_far, order) {
            (Ordering::Equal, order) => Some(order),
            (so_far, Ordering::Equal) => Some(so_far),
            (so_far, order) => (so_far == order).then_some(so_far),
        })
    }
}

/// What happens before this, as far as what the program synchronises with says so.
pub fn clock() -> VectorClock {
    clock_for(me())
}

/// As [`clock`], where this thread stands.
pub fn clock_for(task: TaskId) -> VectorClock {
    VectorClock(preempt::thread::clock_of(usize::from(task).into()))
}

/// How many steps the run has done: a time stamp. The beginning of the main task is one.
pub fn context_switches() -> usize {
    preempt::thread::steps_done() + 1
}

/// The steps so far do not count any more for [`crate::Config::max_steps`].
pub fn reset_step_count() {
    preempt::thread::reset_step_count();
}

/// The running one.
pub fn me() -> TaskId {
    preempt::thread::current().id().into()
}

/// The running one, if there is a run.
pub fn get_current_task() -> Option<TaskId> {
    preempt::thread::is_modelled().then(me)
}

/// The labels of a task. A new one has those that its parent had when it was spawned.
pub fn with_labels_for_task<F, T>(task: TaskId, f: F) -> T
where
    F: FnOnce(&mut Labels) -> T,
{
    labels::with(task, f)
}

/// The label of this type.
pub fn get_label_for_task<T: Clone + Debug + 'static>(task: TaskId) -> Option<T> {
    with_labels_for_task(task, |labels| labels.get().cloned())
}

/// Sets the label of this type; returns the one before.
pub fn set_label_for_task<T: Clone + Debug + 'static>(task: TaskId, value: T) -> Option<T> {
    with_labels_for_task(task, |labels| labels.insert(value))
}

/// Removes the label of this type.
pub fn remove_label_for_task<T: Clone + Debug + 'static>(task: TaskId) -> Option<T> {
    with_labels_for_task(task, Labels::remove)
}

/// The name that a task was given by [`set_name_for_task`], or when it was spawned.
pub fn get_name_for_task(task: TaskId) -> Option<TaskName> {
    get_label_for_task::<TaskName>(task)
        .or_else(|| preempt::thread::name_of(usize::from(task).into()).map(TaskName::from))
}

/// Gives a task a name; returns the one before.
pub fn set_name_for_task(task: TaskId, name: impl Into<TaskName>) -> Option<TaskName> {
    set_label_for_task::<TaskName>(task, name.into())
}

/// What may be a [`Tag`].
pub trait Taggable: Debug {}

/// Something that a task carries, for people.
pub trait Tag: Taggable {
    /// To find out its type.
    fn as_any(&self) -> &dyn Any;
}

impl<T: Taggable + Any> Tag for T {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Sets the tag; returns the one before.
pub fn set_tag_for_task(task: TaskId, tag: Arc<dyn Tag>) -> Option<Arc<dyn Tag>> {
    with_labels_for_task(task, |labels| labels.insert(Tags(tag))).map(|before| before.0)
}

/// The tag.
pub fn get_tag_for_task(task: TaskId) -> Option<Arc<dyn Tag>> {
    with_labels_for_task(task, |labels| labels.get::<Tags>().map(|tag| Arc::clone(&tag.0)))
}

/// As [`set_tag_for_task`], of the running one.
pub fn set_tag_for_current_task(tag: Arc<dyn Tag>) -> Option<Arc<dyn Tag>> {
    set_tag_for_task(me(), tag)
}

/// As [`get_tag_for_task`], of the running one.
pub fn get_tag_for_current_task() -> Option<Arc<dyn Tag>> {
    get_tag_for_task(me())
}

pub(crate) use crate::labels::begin_run;
