//! A reference-counted pointer, as std's `Arc`.
//!
//! **The bug.** Who drops a reference releases what it did with the value (`fetch_sub` with `Release`). Who drops the last one
//! must acquire that before it runs the destructor, by a fence, since a release alone acquires nothing. Without the fence the
//! destructor may run while, as far as the memory model goes, another thread still reads. Values are the same either way, and
//! no assertion fails: what is wrong is a data race.

use crate::Variant;
use preempt::cell::UnsafeCell;
use preempt::sync::atomic::{AtomicUsize, Ordering, fence};
use std::ptr::NonNull;

struct Inner<T> {
    count: AtomicUsize,
    value: UnsafeCell<T>,
    variant: Variant,
}

/// A shared value, dropped with the last of its references.
#[derive(Debug)]
pub struct Shared<T> {
    inner: NonNull<Inner<T>>,
}

// SAFETY: as for std's `Arc`: references give out shared access, and the last one drops the value in its thread.
unsafe impl<T: Send + Sync> Send for Shared<T> {}
// SAFETY: as for `Send`.
unsafe impl<T: Send + Sync> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// The first reference.
    pub fn new(value: T, variant: Variant) -> Shared<T> {
        let inner = Inner { count: AtomicUsize::new(1), value: UnsafeCell::new(value), variant };
        Shared { inner: NonNull::from(Box::leak(Box::new(inner))) }
    }

    fn inner(&self) -> &Inner<T> {
        // SAFETY: it lives as long as there is a reference.
        unsafe { self.inner.as_ref() }
    }

    /// Looks at the value.
    pub fn with<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        // SAFETY: nobody changes the value while there are references.
        self.inner().value.with(|value| look(unsafe { &*value }))
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Shared<T> {
        self.inner().count.fetch_add(1, Ordering::Relaxed);
        Shared { inner: self.inner }
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        if self.inner().count.fetch_sub(1, Ordering::Release) > 1 {
            return;
        }
        if self.inner().variant == Variant::Mended {
            fence(Ordering::Acquire);
        }
        // The destructor changes the value: say so.
        self.inner().value.with_mut(|_| ());
        // SAFETY: this was the last reference.
        drop(unsafe { Box::from_raw(self.inner.as_ptr()) });
    }
}
