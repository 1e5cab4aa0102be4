//! Labels of tasks: values of any type, one of each, which a new task takes over from its parent.

use crate::current::{Tag, TaskId};
use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// A value that can be cloned without its type being known.
trait Label: Any {
    fn boxed(&self) -> Box<dyn Label>;
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

impl<T: Clone + 'static> Label for T {
    fn boxed(&self) -> Box<dyn Label> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// At most one value of each type.
#[derive(Default)]
pub struct Labels(HashMap<TypeId, Box<dyn Label>>);

impl Labels {
    /// None.
    pub fn new() -> Labels {
        Labels::default()
    }

    /// Sets the one of this type; returns the one before.
    pub fn insert<T: Clone + 'static>(&mut self, value: T) -> Option<T> {
        let before = self.0.insert(TypeId::of::<T>(), Box::new(value));
        before.and_then(|before| before.into_any().downcast().ok()).map(|before| *before)
    }

    /// The one of this type.
    pub fn get<T: 'static>(&self) -> Option<&T> {
        // Of the box's content: a box is a label, too.
        self.0.get(&TypeId::of::<T>()).and_then(|label| (**label).as_any().downcast_ref())
    }

    /// The one of this type, to change it.
    pub fn get_mut<T: 'static>(&mut self) -> Option<&mut T> {
        self.0.get_mut(&TypeId::of::<T>()).and_then(|label| (**label).as_any_mut().downcast_mut())
    }

    /// The one of this type, which is this if there was none.
    pub fn get_or_insert<T: Clone + 'static>(&mut self, value: T) -> &mut T {
        self.get_or_insert_with(|| value)
    }

    /// The one of this type, which is made by this if there was none.
    pub fn get_or_insert_with<T: Clone + 'static, F: FnOnce() -> T>(&mut self, f: F) -> &mut T {
        if self.get::<T>().is_none() {
            self.insert(f());
        }
        self.get_mut().expect("it was there, or has been inserted")
    }

    /// The one of this type, which is the default if there was none.
    pub fn get_or_insert_default<T: Default + Clone + 'static>(&mut self) -> &mut T {
        self.get_or_insert_with(T::default)
    }

    /// Removes the one of this type.
    pub fn remove<T: 'static>(&mut self) -> Option<T> {
        let removed = self.0.remove(&TypeId::of::<T>());
        removed.and_then(|removed| removed.into_any().downcast().ok()).map(|removed| *removed)
    }

    /// Removes all.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Takes over all of another, in the place of its own.
    pub fn extend(&mut self, other: Labels) {
        self.0.extend(other.0);
    }
}

impl Clone for Labels {
    fn clone(&self) -> Labels {
        Labels(self.0.iter().map(|(id, label)| (*id, (**label).boxed())).collect())
    }
}

impl fmt::Debug for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Labels").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// The name of a task, for people.
#[derive(Clone, PartialEq, Eq)]
pub struct TaskName(String);

impl From<String> for TaskName {
    fn from(name: String) -> TaskName {
        TaskName(name)
    }
}

impl From<&str> for TaskName {
    fn from(name: &str) -> TaskName {
        TaskName(name.to_string())
    }
}

impl From<TaskName> for String {
    fn from(name: TaskName) -> String {
        name.0
    }
}

impl<'a> From<&'a TaskName> for &'a String {
    fn from(name: &'a TaskName) -> &'a String {
        &name.0
    }
}

impl fmt::Debug for TaskName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A label that changes the labels of the children of its task when they are spawned.
#[derive(Clone)]
#[allow(clippy::type_complexity, reason = "as shuttle has it")]
pub struct ChildLabelFn(pub Arc<dyn Fn(TaskId, &mut Labels) + 'static>);

impl fmt::Debug for ChildLabelFn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ChildLabelFn")
    }
}

/// The label that a tag is.
#[derive(Debug, Clone)]
pub(crate) struct Tags(pub Arc<dyn Tag>);

thread_local! {
    /// Of the tasks of the current run, by number: all of them share a thread of the system.
    static LABELS: RefCell<HashMap<usize, Labels>> = RefCell::default();
    static RANDOM: Cell<bool> = const { Cell::new(true) };
}

/// A run begins, and nobody has labels. May it use random numbers?
pub(crate) fn begin_run(random: bool) {
    LABELS.with_borrow_mut(HashMap::clear);
    RANDOM.set(random);
    preempt::thread::on_spawn(inherit);
}

fn inherit(parent: usize, child: usize) {
    let inherited = LABELS.with_borrow(|all| all.get(&parent).cloned());
    let Some(mut labels) = inherited else { return };
    // It may ask for labels itself.
    if let Some(ChildLabelFn(change)) = labels.get::<ChildLabelFn>().cloned() {
        change(TaskId::from(child), &mut labels);
    }
    LABELS.with_borrow_mut(|all| all.insert(child, labels));
}

/// May the current run use random numbers?
pub(crate) fn allows_random() -> bool {
    RANDOM.get()
}

/// Uses the labels of a task.
pub(crate) fn with<T>(task: TaskId, f: impl FnOnce(&mut Labels) -> T) -> T {
    LABELS.with_borrow_mut(|all| f(all.entry(usize::from(task)).or_default()))
}
