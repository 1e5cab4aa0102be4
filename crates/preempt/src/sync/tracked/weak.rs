//! Weak references whose counting is a step.

use super::Arc;
use crate::runtime::current::active;
use crate::runtime::opcode::Opcode;
use crate::runtime::operate::{operate, operate_or_defer};
use preempt_stateless::{ObjectId, Operation};
use std::fmt;

/// As `std::sync::Weak`, with steps.
pub struct Weak<T: ?Sized> {
    pub(super) inner: std::sync::Weak<T>,
    /// Of the object, which may be gone.
    pub(super) name: Option<ObjectId>,
}

impl<T> Weak<T> {
    /// As std's: it was never alive.
    pub const fn new() -> Weak<T> {
        Weak { inner: std::sync::Weak::new(), name: None }
    }
}

impl<T> Default for Weak<T> {
    fn default() -> Weak<T> {
        Weak::new()
    }
}

impl<T: ?Sized> Weak<T> {
    /// A strong reference, if there still is one.
    #[track_caller]
    pub fn upgrade(&self) -> Option<Arc<T>> {
        let upgrade = || self.inner.upgrade();
        let name = self.name.filter(|_| active());
        let done = name.and_then(|id| {
            operate(Operation::new(Opcode::Count).writes(id), "upgrade", Some(id), |context| {
                let upgraded = upgrade();
                if upgraded.is_some() {
                    context.acquire(id);
                }
                upgraded
            })
        });
        done.unwrap_or_else(upgrade).map(|inner| Arc { inner })
    }

    /// How many strong references there are.
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        self.step(Opcode::Count, "strong_count");
        self.inner.strong_count()
    }

    /// How many weak references there are.
    #[track_caller]
    pub fn weak_count(&self) -> usize {
        self.step(Opcode::Count, "weak_count");
        self.inner.weak_count()
    }

    /// As std's.
    pub fn ptr_eq(&self, other: &Weak<T>) -> bool {
        self.inner.ptr_eq(&other.inner)
    }
}

impl<T: ?Sized> Clone for Weak<T> {
    #[track_caller]
    fn clone(&self) -> Weak<T> {
        self.step(Opcode::CloneCounted, "clone Weak");
        Weak { inner: self.inner.clone(), name: self.name }
    }
}

impl<T: ?Sized> Drop for Weak<T> {
    #[track_caller]
    fn drop(&mut self) {
        self.step(Opcode::DropCounted, "drop Weak");
    }
}

impl<T: ?Sized> Weak<T> {
    /// A step that depends on a count, or changes one.
    #[track_caller]
    fn step(&self, opcode: Opcode, verb: &'static str) {
        if let Some(id) = self.name.filter(|_| active()) {
            operate_or_defer(Operation::new(opcode).writes(id), verb, Some(id), move |context| {
                if opcode == Opcode::DropCounted {
                    context.release(id);
                }
            });
        }
    }
}

impl<T: ?Sized> fmt::Debug for Weak<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(Weak)")
    }
}
